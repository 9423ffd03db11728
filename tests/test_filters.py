"""What a search is narrowed to by origin and session: in rows, behind them, in the past, at every door, on the log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec
import pytest
from builders import slots, worlds
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from met import events_of
from msgspec.structs import asdict
from overlaying import laid_over

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Captured, Event, Filters, Origin, Recalled
from memtape.schemas.rows import MemoryRow, Provenance
from memtape.schemas.scopes import partition_of
from memtape.state.core.partition import Partition, fold
from memtape.state.views.filters import NO_FILTERS, make_filters, passes
from memtape.state.views.rows import all_changes, row_of
from memtape.tools.ask.comparing import recalls_of
from memtape.tools.ask.results import Result as Found
from memtape.tools.ask.results import result_of
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.doors.mcp import call

ORIGINS: tuple[Origin, ...] = get_args(Origin)
SESSIONS = ("s1", "s2", "s3", "nobody's")
SCOPE = "project:mine"
Pairs = set[tuple[str, str | None]]


def asked(**fields: Any) -> Filters:
    return make_filters(0, **fields)


# In any world.


@given(worlds(max_size=14), st.data())
def test_what_passes_has_a_capture_that_does_and_what_has_a_living_one_passes(
    events: list[Event], data: st.DataObject
) -> None:
    """At any position of the watermark, the tail included, and by one capture for both filters."""
    placed = slots(events)
    made: dict[str, tuple[Origin, str | None]] = {}
    for event in events:
        if isinstance(event.body, Captured):
            made.setdefault(event.id, (event.actor.origin, event.session))
    cut = data.draw(st.integers(0, len(events)))
    partition = Partition(0)
    fold(partition, placed[:cut])
    captures = [capture for scope in partition.scopes.values() for capture in scope.captures.by_seq.values()]
    living = {capture.id for capture in captures if not capture.hidden}
    rows = [row_of(scope, change) for scope in partition.scopes.values() for change in _rows(scope)]
    memories = [row for row in rows if isinstance(row, MemoryRow)]
    ids_of = {row.id: row.ids for row in memories}
    for result in map(result_of, laid_over(rows, events, cut)):
        ids = ids_of.get(result.id, (result.id,))
        for origin in ORIGINS[:4]:
            for session in ("s1", "s2"):
                wanted = (origin, session)
                narrowed = passes(result, asked(origins=[origin], sessions=[session]))
                if any(made[id] == wanted for id in ids if id in living or not result.projected):
                    assert narrowed
                if narrowed:
                    assert any(made[id] == wanted for id in ids)
                    assert passes(result, asked(origins=[origin])) and passes(result, asked(sessions=[session]))
        assert passes(result, asked(origins=ORIGINS)) and passes(result, NO_FILTERS)


def _rows(scope: Any) -> Iterator[Any]:
    return (change for change in all_changes(scope) if change.table in ("memories", "turns", "tombstones"))


def test_a_forgotten_capture_lends_its_origin_to_nothing(tmp_path: Path) -> None:
    with Client(tmp_path, scope=SCOPE) as client:
        client.capture_many([Line(text="Use tabs in the staging database.", origin="user", session="s1")])
        other = client.capture_many([Line(text="use tabs in the staging db", origin="agent", session="s2")])[0]
        (whole,) = client.search("tabs").results
        assert whole.provenance == (Provenance("user", "s1"), Provenance("agent", "s2"))
        # What the user said in s1 was not said by the user in s2.
        assert texts(client, origins=["user"], sessions=["s2"]) == []
        assert len(texts(client, origins=["user"], sessions=["s1", "s2"])) == 1
        client.forget(other.id, only=True)
        assert texts(client, origins=["agent"]) == texts(client, sessions=["s2"]) == []
        assert texts(client, sessions=["s1"]) == ["Use tabs in the staging database."]
        client.restore(other.id)
        assert len(texts(client, sessions=["s2"])) == 1


def texts(client: Client, **fields: Any) -> list[str]:
    return [result.text for result in client.search("tabs", **fields, quiet=True).results]


# In one home, whose views are behind, and in its past.

ANIMALS = ("heron", "otter", "lynx", "marten", "stoat", "badger", "weasel", "kestrel", "curlew", "plover")


class World(NamedTuple):
    """A home of which the last captures are not projected, and with what each result was captured."""

    client: Client
    past: str
    made: dict[str, Pairs]
    of_past: dict[str, Pairs]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    home = tmp_path_factory.mktemp("home")
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        operator = stack.enter_context(Client(home, scope="global", origin="operator"))
        client = stack.enter_context(Client(home, scope=SCOPE))
        kinds, sessions = ("fact", "turn", "fact", "insight"), ("s1", "s2", None)
        lines = [
            Line(text=f"The {ANIMALS[n * 7 % 10]} likes kayaks.", kind=kinds[n // 10], origin=ORIGINS[n % 6],
                 session=sessions[n % 3])
            for n in range(40)
        ]  # fmt: skip
        client.capture_many([*lines, *lines[3:9]])
        operator.capture_many([Line(text="Herons like kayaks everywhere.", session="s3")])
        client.project()
        past = ",".join(f"{number}:{end}" for number, end in enumerate(client.log.ends()))
        of_past = captured_with(client)
        patch.setattr(client.reader, "catch_up", lambda scope: None)  # Nothing behind the watermark is projected.
        # Turns that say the same would take one place, of which a filter may leave another one.
        later = [(line, "Again: " if line.kind == "turn" else "") for line in lines[::5]]
        client.capture_many(msgspec.structs.replace(it, session="s3", text=f"{so}{it.text}") for it, so in later)
        yield World(client, past, captured_with(client), of_past)


def captured_with(client: Client) -> dict[str, Pairs]:
    """Return with which origins and sessions each result was captured, by the log and `why`."""
    found: dict[str, Pairs] = {}
    for result in client.search("kayaks", 1_000, quiet=True).results:
        events = [behind.event for behind in client.why(result.id).events]
        of_it = [event for event in events if isinstance(event.body, Captured)]
        found[result.id] = {(event.actor.origin, event.session) for event in of_it}
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    query=st.sampled_from(("kayaks", "What does the heron like?", "otter, lynx and kayaks")),
    origins=st.sets(st.sampled_from(ORIGINS), max_size=3),
    sessions=st.sets(st.sampled_from(SESSIONS), max_size=3),
    kinds=st.sets(st.sampled_from(("fact", "turn", "insight")), max_size=2),
    in_past=st.booleans(),
)
def test_to_be_narrowed_is_to_be_restricted(
    world: World, query: str, origins: set[str], sessions: set[str], kinds: set[str], in_past: bool
) -> None:
    """A filter takes results away; what is left keeps what it is worth by itself.

    Where it stands hangs also on what is later and about the same, which may be taken away.
    """
    as_of, made = (world.past, world.of_past) if in_past else (None, world.made)
    filters = asked(origins=sorted(origins), sessions=sorted(sessions), kinds=sorted(kinds))
    whole = world.client.search(query, 1_000, quiet=True, as_of=as_of)
    narrowed = world.client.search(query, 1_000, **asdict(filters), quiet=True, as_of=as_of)
    assert whole.lag == (0 if in_past else 8) and len(whole.results) > 10

    def is_wanted(origin: str, session: str | None) -> bool:
        return (not origins or origin in origins) and (not sessions or session in sessions)

    of_kinds = [result for result in whole.results if not kinds or result.kind in kinds]
    expected = [(it.id, worth(it)) for it in of_kinds if any(is_wanted(*pair) for pair in made[it.id])]
    assert sorted((result.id, worth(result)) for result in narrowed.results) == sorted(expected)
    scores = [result.score for result in narrowed.results]
    assert scores == sorted(scores, reverse=True)
    best = world.client.search(query, 1, **asdict(filters), quiet=True, as_of=as_of).results
    assert [result.id for result in best] == [result.id for result in narrowed.results[:1]], "a filter uses up no limit"


def worth(result: Found) -> float:
    """What a result is worth by itself, wherever it stands."""
    assert result.why is not None
    return round(result.why.relevance * result.why.age * result.why.use * result.why.confidence, 8)


# At every door.


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with Client(tmp_path, scope=SCOPE) as client:
        client.capture_many([Line(text="Tabs, says Ada.", origin="user", session="s1")])
        client.capture_many([Line(text="Tabs, says an operator.", origin="operator", session="s2")])
        client.capture_many([Line(text="Tabs, guesses an agent.", kind="turn", origin="agent", session="s1")])
    return tmp_path


def run(home: Path, *words: str, **env: str) -> Result:
    asked_of = ["search", "tabs", "--scope", SCOPE, "--home", str(home), "--json", *words]
    return CliRunner().invoke(main, asked_of, env={"MEMTAPE_SESSION": "", **env})


def test_every_door_is_narrowed_alike_and_says_so_on_the_log(home: Path) -> None:
    narrowings: tuple[dict[str, list[str]], ...] = (
        {"origins": ["user", "operator"], "sessions": []},
        {"origins": [], "sessions": ["s1"]},
        {"origins": ["agent"], "sessions": ["s1", "s2"]},
        {"origins": [], "sessions": ["s9"]},
    )
    for fields, count in zip(narrowings, (2, 2, 1, 0), strict=True):
        words = [f"--from-{name[:-1]}={value}" for name, values in fields.items() for value in values]
        by_command = json.loads(run(home, *words).stdout)
        with Client(home, scope=SCOPE) as client:
            by_client = client.search("tabs", **fields)
            by_agent = call(client, "search_memories", {"query": "tabs", **fields})
            ids = [result.id for result in by_client.results]
            assert [result["id"] for result in by_command["results"]] == ids and len(ids) == count
            assert all(f"`{id}`" in by_agent for id in ids) and by_agent.count("> Tabs") == count
            recorded = [event.body.filters for event in events_of(client.log) if isinstance(event.body, Recalled)]
            assert recorded[-3:] == [asked(**fields)] * 3


def test_who_asks_is_no_filter(home: Path) -> None:
    """Also where the shell has a session: it is that of the search, and narrows nothing."""
    for words, env in (((), {"MEMTAPE_SESSION": "s2"}), (("--session", "s2", "--origin", "agent"), {})):
        told = json.loads(run(home, *words, **env).stdout)
        assert len(told["results"]) == 3
        with Client(home, scope=SCOPE) as client:
            event = [event for event in events_of(client.log) if event.type == "recalled"][-1]
            assert isinstance(event.body, Recalled) and event.body.filters == NO_FILTERS
            assert event.session == "s2" and event.id == told["recall_id"] and event.actor.origin == "agent"


def test_what_there_is_not_is_refused_in_a_sentence(home: Path) -> None:
    wrong = run(home, "--from-origin", "robot")
    assert wrong.exit_code == 2 and "'robot' is not one of 'agent', 'model', 'operator'" in wrong.stderr
    with Client(home, scope=SCOPE) as client:
        ends = client.log.ends()
        for fields, said in (
            ({"origins": ["robot"]}, "no origin 'robot'"),
            ({"kinds": ["rumour"]}, "no kind 'rumour'"),
            ({"sessions": [""]}, "sessions"),
            ({"sessions": ["x" * 201]}, "sessions"),
            ({"sessions": ["s"] * 65}, "sessions"),
        ):
            for quiet in (True, False):
                with pytest.raises(MemtapeError, match=said) as told:
                    client.search("tabs", **fields, quiet=quiet)
                assert told.value.hint and len(str(told.value)) < 200
        with pytest.raises(MemtapeError, match="robot"):
            call(client, "search_memories", {"query": "tabs", "origins": ["robot"]})
        assert client.log.ends() == ends


def test_no_secret_goes_to_the_log_by_a_filter(home: Path) -> None:
    key = "ghp_" + "a1B2" * 9
    with Client(home, scope=SCOPE, session=f"of {key}") as client:
        client.capture("Tabs of a secret session.")
        assert len(texts(client, sessions=[f"of {key}"])) == 1
        client.search("tabs", sessions=[f"of {key}"])
        slots = client.log.read(partition_of(SCOPE, client.log.partitions), 0, 99)
        assert slots and not any(key.encode() in slot.payload for slot in slots)


# On the log, and under other rules.


def test_what_was_asked_is_asked_again_as_it_was_narrowed(home: Path) -> None:
    with Client(home, scope=SCOPE) as client:
        narrowed = client.search("tabs", origins=["user"], sessions=["s1"])
        assert len(narrowed.results) == 1
        told = client.compare(["memtape", "bm25"])
        assert [its["overlap"]["5"] for its in told["retrievers"].values()] == [1.0, 1.0]
        client.search("tabs")
        filters = [recall.body.filters for recall in recalls_of(client.log, SCOPE)]
        assert filters == [asked(origins=["user"], sessions=["s1"]), NO_FILTERS]
        told = client.compare(["memtape"])
        assert told["recalls"] == 2 and told["retrievers"]["memtape"]["overlap"]["5"] == 1
