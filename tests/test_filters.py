"""Searching: each text once on pages, narrowed by origin and session at every door, or without a question."""

from __future__ import annotations

import itertools
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec
import pytest
from builders import slots, worlds
from click.testing import CliRunner, Result
from commanding import call as command
from commanding import document
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from met import events_of
from msgspec.structs import asdict
from overlaying import laid_over
from soaked import examples

from memtape.schemas.codec import decode
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Captured, Event, Filters, Kind, Origin, Recalled
from memtape.schemas.rows import MemoryRow, Provenance
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.schemas.times import HOUR_US, parse_time
from memtape.sinks.logs.embedded import MemoryLog
from memtape.state.core.partition import Partition, fold
from memtape.state.views.filters import NO_FILTERS, make_filters, passes
from memtape.state.views.rows import all_changes, row_of
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.doors.mcp import call
from memtape.tools.measure.comparing import recalls_of
from memtape.tools.query.results import Result as Found
from memtape.tools.query.results import result_of

ORIGINS: tuple[Origin, ...] = get_args(Origin)
SESSIONS = ("s1", "s2", "s3", "nobody's")
SCOPE = "project:mine"
Pairs = set[tuple[str, str | None]]


def asked(**fields: Any) -> Filters:
    return make_filters(0, **fields)


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
    changes = [(scope, change) for scope in partition.scopes.values() for change in all_changes(scope)]
    kinds = ("memories", "turns", "tombstones")
    rows = [row_of(scope, change) for scope, change in changes if change.table in kinds]
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
                    assert passes(result, asked(origins=[origin]))
                    assert passes(result, asked(sessions=[session]))
        assert passes(result, asked(origins=ORIGINS)) and passes(result, NO_FILTERS)


def test_a_forgotten_capture_lends_its_origin_to_nothing(tmp_path: Path) -> None:
    with Client(tmp_path, scope=SCOPE) as client:
        client.capture_many([Line(text="Use tabs in the staging database.", origin="user", session="s1")])
        again = Line(text="use tabs in the staging db", origin="agent", session="s2")
        other = client.capture_many([again])[0]
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
        lines = [Line(text=f"The {ANIMALS[n * 7 % 10]} likes kayaks.", kind=kinds[n // 10],
                      origin=ORIGINS[n % 6], session=sessions[n % 3]) for n in range(40)]  # fmt: skip
        client.capture_many([*lines, *lines[3:9]])
        operator.capture_many([Line(text="Herons like kayaks everywhere.", session="s3")])
        client.project()
        past = ",".join(f"{number}/{end}" for number, end in enumerate(client.log.ends()))
        of_past = captured_with(client)
        patch.setattr(client.reader, "catch_up", lambda scope: None)  # What is behind stays behind.
        # Turns that say the same would take one place, of which a filter may leave another one.
        later = [(line, "Again: " if line.kind == "turn" else "") for line in lines[::5]]
        again = [msgspec.structs.replace(it, session="s3", text=f"{so}{it.text}") for it, so in later]
        client.capture_many(again)
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
    assert [it.id for it in best] == [it.id for it in narrowed.results[:1]], "a filter uses up no limit"


def worth(result: Found) -> float:
    """What a result is worth by itself, wherever it stands."""
    assert result.why is not None
    return round(result.why.relevance * result.why.age * result.why.use * result.why.confidence, 8)


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
    for origins, sessions, count in (
        (["user", "operator"], [], 2), ([], ["s1"], 2), (["agent"], ["s1", "s2"], 1), ([], ["s9"], 0)
    ):  # fmt: skip
        fields: dict[str, list[str]] = {"origins": origins, "sessions": sessions}
        words = [f"--from-{name[:-1]}={value}" for name, values in fields.items() for value in values]
        by_command = json.loads(run(home, *words).stdout)
        with Client(home, scope=SCOPE) as client:
            by_client = client.search("tabs", **fields)
            by_agent = call(client, "search_memories", {"query": "tabs", **fields})
            ids = [result.id for result in by_client.results]
            assert [result["id"] for result in by_command["results"]] == ids and len(ids) == count
            assert all(f"`{id}`" in by_agent for id in ids) and by_agent.count("> Tabs") == count
            bodies = [event.body for event in events_of(client.log)]
            recorded = [body.filters for body in bodies if isinstance(body, Recalled)]
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
    assert wrong.exit_code == 2 and "'robot' is not one of 'operator', 'user', 'agent'" in wrong.stderr
    with Client(home, scope=SCOPE) as client:
        ends = client.log.ends()
        for fields, said in (({"origins": ["robot"]}, "no origin 'robot'"),
            ({"kinds": ["rumour"]}, "no kind 'rumour'"), ({"sessions": [""]}, "sessions"),
            ({"sessions": ["x" * 201]}, "sessions"), ({"sessions": ["s"] * 65}, "sessions")):  # fmt: skip
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


def test_what_was_asked_is_asked_again_as_it_was_narrowed(home: Path) -> None:
    with Client(home, scope=SCOPE) as client:
        narrowed = client.search("tabs", origins=["user"], sessions=["s1"])
        assert len(narrowed.results) == 1
        told = client.compare(["memtape", "bm25"])
        assert [its["overlap"]["5"] for its in told["retrievers"].values()] == [1.0, 1.0]
        client.search("tabs")
        filters = [body.filters for body, _, _ in recalls_of(client.log, SCOPE)]
        assert filters == [asked(origins=["user"], sessions=["s1"]), NO_FILTERS]
        told = client.compare(["memtape"])
        assert told["recalls"] == 2 and told["retrievers"]["memtape"]["overlap"]["5"] == 1


START = 1_790_000_000_000_000
KINDS: tuple[Kind, ...] = ("turn", "turn", "fact", "journal", "insight", "document")
QUERY = "What of the heron and the otter?"


@pytest.mark.parametrize("first", [1, 7])
def test_pages_of_any_length_are_the_whole(client: Client, first: int) -> None:
    client.capture_many([Line(text=f"Staging port {n} is a journal's.", kind="journal") for n in range(4)])
    whole = [it.id for it in client.search("staging port", 100, quiet=True).results]
    page = client.search("staging port", first)
    given_ids, limit = [it.id for it in page.results], first
    while page.next:
        limit += 2
        page = client.search("staging port", limit, cursor=page.next)
        assert len(page.results) <= limit
        given_ids += [it.id for it in page.results]
    assert given_ids == whole


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    (tmp_path / "settings.toml").write_text("extract = false\n")
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        said = {f"The staging port of service {n} is 54{n:02}.": f"s{n % 3}" for n in range(23)}
        client.capture_many(Line(text=text, kind="turn", session=session) for text, session in said.items())
        yield client


def test_a_cursor_of_another_question_scope_or_home_is_refused(client: Client, tmp_path: Path) -> None:
    cursor = client.search("staging port", 5).next
    assert cursor is not None and len(cursor) < 120 and re.fullmatch(r"[\w-]+", cursor)
    other = Client(tmp_path, scope="project:other", log=client.log)
    elsewhere = Client(tmp_path / "elsewhere", scope=SCOPE)
    for by, query, more in (
        (client, "staging ports", {}), (other, "staging port", {}), (elsewhere, "staging port", {}),
        (client, "staging port", {"not_kinds": ["page"]}), (client, "staging port", {"since": "2026-01-01"}),
        (client, "staging port", {"archived": True}),
        (client, "staging port", {"without": ["fresh"]}), (client, "staging port", {"as_of": "1h"}),
    ):  # fmt: skip
        with pytest.raises(MemtapeError, match="page by page" if "as_of" in more else "another question"):
            by.search(query, 5, cursor=cursor, quiet=True, **more)
    other.close()
    elsewhere.close()


@given(st.data())
@examples(200)
def test_a_damaged_cursor_is_refused(data: st.DataObject) -> None:
    from memtape.tools.query.plan import Cursor, SearchQuery, checked, continued, read, written

    question = MemoryLog(), SCOPE, SearchQuery("staging port")
    made = checked(Cursor(1, 2, b"aaaaabbbbb"), *question)
    text = written(made)
    assert read(text) == read(f" {text}\n") == made
    assert continued(made, *question) == question[2]._replace(now=2, given={b"aaaaa", b"bbbbb"})
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from("Aa09-_=+/é \0"))
    cut = (text[:place] + other + text[place + 1 :], text[:place], text + other, other)
    for bad in (*cut, data.draw(st.text())):
        if bad.strip() != text:
            with pytest.raises(MemtapeError, match="cursor is damaged"):
                continued(read(bad), *question)


def test_an_age_may_be_asked_again_and_another_may_not(client: Client) -> None:
    def asked(since: str, cursor: str | None = None) -> Any:
        return client.search("staging port", 5, since=since, cursor=cursor)

    page = asked("3d")
    assert asked("3d", page.next).after == 5
    for other in ("2d", "4d", "2026-01-01"):
        with pytest.raises(MemtapeError, match="another question"):
            asked(other, page.next)


WORDS = ("heron", "otter", "heron and the otter", "otters, herons and the otter")
HAPPENS = ("capture", "global", "forget", "use", "tick", "project")


@examples(4)
@given(data=st.data())
def test_pages_give_each_text_that_lives_once(data: st.DataObject) -> None:
    """Whatever was captured, forgotten or used between; where nothing was, in the order of one long page."""
    draw = data.draw
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as place, ExitStack() as on:
        (Path(place) / "settings.toml").write_text("extract = false\n")
        mine = on.enter_context(Client(place, scope=SCOPE, origin="user"))
        everywhere = on.enter_context(Client(place, scope=GLOBAL, origin="operator", log=mine.log))
        count = iter(range(1_000))

        def fill(to: Client, most: int) -> None:
            for n in itertools.islice(count, draw(st.integers(1, most))):
                words = draw(st.sampled_from(WORDS))
                text = f"{draw(st.sampled_from(KINDS))} n{n} of {words} {'quarry ' * (n % 7)}"
                kind, at = draw(st.sampled_from(KINDS)), START - n * HOUR_US
                to.capture_many([Line(text=text, kind=kind, session=f"s{n % 3}", at=at)])

        def whole() -> list[Found]:
            return [it for it in mine.search(QUERY, 1_000, quiet=True).results if not it.sums]

        fill(mine, 14)
        fill(everywhere, 4)
        first, size = whole(), draw(st.integers(1, 5))
        found, given_ids, gone, stirred = mine.search(QUERY, size), list[str](), set[str](), False
        while True:
            results = [it for it in found.results if not it.sums]
            given_ids += [it.id for it in results]
            assert found.after == len(given_ids) - len(results) and gone.isdisjoint(it.id for it in results)
            if found.next is None:
                break
            assert len(results) == size
            for what in draw(st.lists(st.sampled_from(HAPPENS), max_size=3)):
                stirred, it = True, draw(st.sampled_from(first))
                match what:
                    case "capture":
                        fill(mine, 3)
                    case "global":
                        fill(everywhere, 1)
                    case "forget" if it.id not in gone:
                        (everywhere if it.scope == GLOBAL else mine).forget(it.id)
                        gone |= {it.id} - set(given_ids)
                    case "use" if it.id not in gone and it.scope == SCOPE:
                        mine.use([it.id])
                    case "project":
                        mine.project()
            found = mine.search(QUERY, size, cursor=found.next)
        assert len(given_ids) == len(set(given_ids))
        assert {it.id for it in first} <= set(given_ids) | gone
        assert stirred or given_ids == [it.id for it in first]


def test_a_page_is_on_the_log_as_one_and_is_not_compared(client: Client) -> None:
    first = client.search("staging port", 5)
    second = client.search("staging port", 5, cursor=first.next)
    slots = client.log.read(partition_of(SCOPE, client.log.partitions), 0, 999, types=["recalled"])
    bodies = [body for slot in slots if isinstance(body := decode(slot.payload).body, Recalled)]
    assert [body.after for body in bodies] == [0, 5] and bodies[0].now == bodies[1].now
    assert bodies[1].results == tuple(it.id for it in second.results)
    assert client.compare(["memtape"])["recalls"] == 1


def test_every_door_turns_pages(client: Client) -> None:
    order = [it.id for it in client.search("staging port", 100, quiet=True).results]
    ask = partial(command, "search", "staging port", "--limit", 5, home=client.home.path, scope=SCOPE)
    told = json.loads(ask("--json").stdout)
    assert told["sources"]["turns"] == {"found": 23, "returned": 5}
    more = json.loads(ask("--json", "--cursor", told["next"]).stdout)
    assert [it["id"] for it in more["results"]] == order[5:10]
    text = ask("--cursor", told["next"])
    assert text.stdout.startswith(" 6. ") and "--cursor" in text.stderr
    answer = call(client, "search_memories", {"query": "staging port", "limit": 5})
    cursor = re.search(r"cursor=([\w-]+)", answer)
    answer = call(client, "search_memories", {"query": "staging port", "limit": 5, "cursor": cursor[1]})
    assert all(f"`{id}`" in answer for id in order[5:10])
    assert "damaged" in ask("--cursor", "nonsense", code=1).stderr


DAY = "2026-03-0{}T10:00:00Z"


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope="project:mine", actor="Ada", origin="user") as ada:
        yield ada


def talk(ada: Client) -> list[str]:
    """Capture two sessions, a fact between them, and a turn of no session; return the ids of all."""
    return [receipt.id for receipt in ada.capture_many([
        Line(text="ok", kind="turn", session="one", at=DAY.format(1)),
        Line(text="Please mend the tide gauge.\nIt is broken.", kind="turn", session="one", at=DAY.format(2)),
        Line(text="Done.", kind="turn", session="one", at=DAY.format(3), actor="codex", origin="agent"),
        Line(text="The gauge needs a new float.", kind="fact", at=DAY.format(4)),
        Line(text="Is the gauge at the pier?", kind="turn", session="two", at=DAY.format(5)),
        Line(text="It is.", kind="turn", session="two", at=DAY.format(6), actor="claude", origin="agent"),
        Line(text="Said by the way.", kind="turn", at=DAY.format(7)),
        Line(text="Floats come from Ghent.", kind="insight", at=DAY.format(8)),
    ])]  # fmt: skip


@pytest.mark.parametrize("projected", [False, True])
def test_a_project_is_looked_through_without_a_question(ada: Client, projected: bool, tmp_path: Path) -> None:
    assert list(ada.recent().results) == ada.sessions() == ada.timeline("1d") == ada.given() == []
    ids = talk(ada)
    if projected:
        ada.project()
    assert [result.id for result in ada.recent(2, kinds=["turn"]).results] == [ids[6], ids[5]]
    for around, limit, told in (
        (ids[3], 3, ids[2:5]), (ids[0], 3, ids[:3]), (ids[7], 3, ids[5:]), (ids[3][:33], 100, ids),
        ("2026-03-05", 2, ids[3:5]), ("2020-01-01", 2, ids[:2]), ("2 days ago", 2, ids[6:]),
    ):  # fmt: skip
        assert [result.id for result in ada.timeline(around, limit)] == told, around
    two, one = ada.sessions()
    assert (two.id, two.agents, two.turns) == ("two", ("claude",), 2)
    assert two.asked == "Is the gauge at the pier?"
    assert (one.id, one.agents, one.turns) == ("one", ("codex",), 3)
    assert one.asked == "Please mend the tide gauge."
    assert (one.since, one.until) == (parse_time(DAY.format(1), 0), parse_time(DAY.format(3), 0))
    assert [session.id for session in ada.sessions(1)] == ["two"]
    for ask in (
        lambda: ada.recent(0), lambda: ada.timeline("yesterday or so"),
        lambda: ada.timeline("01234567-89ab-7def-8123-456789abcdef"),
    ):  # fmt: skip
        with pytest.raises(MemtapeError):
            ask()
    around = ["show", "2026-03-05", "--around", "--limit", "2"]
    for words, key in ((["search"], "results"), (["log", "--sessions"], "sessions"), (around, "timeline")):
        assert len(document(*words, home=tmp_path, scope=SCOPE)[key]) == 2
        assert command(*words, home=tmp_path, scope=SCOPE).stdout
    words = ["update", ids[3], "The gauge hangs on a chain, and Otto sells them.", "--origin", "user"]
    assert f"it replaced {ids[3][-8:]}." in command(*words, home=tmp_path, scope=SCOPE).output
    ada.forget(ids[7])
    assert ids[7] not in [result.id for result in ada.recent().results]


def test_an_update_takes_the_place_of_a_memory_in_one_call(ada: Client) -> None:
    old = ada.capture("The staging proxy listens on port 5433.", tags=("infra",), source="a mail").id
    done = ada.update(old, "Staging has moved to Hamburg, behind the blue proxy.")
    assert done.replaced == old and done.scope == "project:mine"
    new = ada.show(done.id).memory
    assert new is not None and (new.kind, new.tags, new.source) == ("fact", ("infra",), "a mail")
    before = ada.show(old).memory
    assert before is not None and before.replaced_by == done.id and new.valid_to is None
    again = ada.update(done.id, "staging has moved to Hamburg, behind blue proxy")
    held = ada.show(done.id).memory
    assert again.replaced is None and held is not None and again.id in held.ids and held.valid_to is None


def test_who_is_trusted_less_replaces_nothing_and_captures_nothing(ada: Client, tmp_path: Path) -> None:
    old = ada.capture("The staging proxy listens on port 5433.").id
    turn = ada.capture("Staging moved.", "turn").id
    with Client(tmp_path, scope="project:mine", origin="agent") as agent:
        ends = agent.log.ends()
        for id in (old, turn):
            with pytest.raises(MemtapeError):
                agent.update(id, "The staging proxy listens on port 6000.")
        for text in ("x" * 70_000, ""):
            with pytest.raises(MemtapeError):
                ada.update(old, text)
        assert agent.log.ends() == ends
