"""What a search finds: by words, from its own scope alone, behind the views too, by sources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from builders import START, captured, make_id, worlds
from click.testing import CliRunner
from corpora import Document, corpus_of
from hypothesis import example, given
from hypothesis import strategies as st
from overlaying import laid_over
from tables import table
from test_archiving import archive, sum_up

from memtape.schemas.codec import encode, event_of
from memtape.schemas.errors import MemtapeError, NotFound, OffsetOutOfRange
from memtape.schemas.events import Event, Kind, Origin
from memtape.schemas.log import Slot
from memtape.schemas.rows import MemoryRow
from memtape.schemas.times import parse_time
from memtape.state.core.partition import Partition, fold
from memtape.state.views.rows import ROWS, all_changes, row_of
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.query import reading, retrieval
from memtape.tools.query.ordering import SOURCE_OF, answered, source_of
from memtape.tools.query.plan import SOURCES, SearchQuery


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope="project:mine", actor="Ada", origin="user") as client:
        yield client


def found(client: Client, query: str) -> list[tuple[str, float]]:
    return [(result.text, result.score) for result in client.search(query, 50, quiet=True).results]


def best(chat: list[Document], query: str) -> int | None:
    hit = next(iter(corpus_of(chat).rank(query).hits), None)
    return None if hit is None else hit.place


def test_thousands_of_rows_of_another_scope_change_nothing(client: Client) -> None:
    texts = [f"The gauge {number % 7} reads {number} on port {number % 5}." for number in range(60)]
    client.capture_many([Line(text=text, kind="turn") for text in texts])
    before = found(client, "gauge 3 port 4 reads")
    assert len(before) == 50
    other = [Line(text=f"gauge port reads {n}", kind="turn", scope="project:other") for n in range(3_000)]
    client.capture_many(other)
    client.project()
    assert found(client, "gauge 3 port 4 reads") == before
    assert all("gauge port reads" not in text for text, _ in before)


def test_a_project_reads_global_too_and_global_reads_only_itself(client: Client, tmp_path: Path) -> None:
    client.capture("Use tabs in this project.")
    with Client(tmp_path, scope="global", origin="operator") as operator:
        operator.capture("Use tabs everywhere.")
        assert [text for text, _ in found(operator, "tabs")] == ["Use tabs everywhere."]
    texts = {text for text, _ in found(client, "tabs")}
    assert texts == {"Use tabs in this project.", "Use tabs everywhere."}


def test_what_is_not_projected_is_found_and_tombstones_hold(client: Client) -> None:
    kept, hidden = (client.capture(f"The gateway is {place}.") for place in ("at the light", "in the office"))
    said = client.capture("gateway, gateway", "turn")
    with Client(client.home, scope=client.scope, log=client.log) as other:
        other.project()
    # A projector elsewhere holds the lock, and this client has projected nothing: it can only answer from
    # views and tail.
    with client.home.lock("projector"):
        fresh = client.capture("The gateway took nine seconds.")
        client.forget(hidden.id)
        client.forget(said.id)
        with Client(client.home, scope=client.scope, log=client.log) as agent:
            agent.capture("the gateway is in the office.")
        answer = client.search("gateway", quiet=True)
        assert {result.id for result in answer.results} == {kept.id, fresh.id}
        assert [result.projected for result in answer.results if result.id == fresh.id] == [False]
        assert answer.lag == 4
        assert client.show(fresh.id).type == "captured"
        assert client.why(fresh.id).events[0].how == "waiting"
        client.restore(hidden.id)
        texts = {text for text, _ in found(client, "gateway")}
        assert "The gateway is in the office." in texts
    client.project()
    answer = client.search("gateway", quiet=True)
    assert (answer.lag, all(result.projected for result in answer.results)) == (0, True)


def test_a_repeated_event_behind_the_views_undoes_nothing(client: Client) -> None:
    """A producer that was not answered appends an event again; what came between stands."""
    said = client.capture("The gateway is in the office.")
    client.forget(said.id)
    client.restore(said.id)
    partition = said.partition
    assert partition is not None
    again = event_of(client.log.read(partition, client.log.ends()[partition] - 1, 1)[0].payload)
    assert again is not None and again.type == "restored"
    client.forget(said.id)
    client.project()
    client.log.append([again])
    with client.home.lock("projector"):
        assert found(client, "gateway") == []
    client.project()
    assert found(client, "gateway") == []


def tail_view(events: list[Event], cut: int) -> tuple[set[str], set[str]]:
    """Ids of the captures that a reader shows when the views stand at `cut`, and that the fold shows."""
    slots = [Slot(0, offset, encode(event)) for offset, event in enumerate(events)]
    partition = Partition(0)
    fold(partition, slots[:cut])
    changes = ((scope, change) for scope in partition.scopes.values() for change in all_changes(scope))
    rows = [row_of(scope, change) for scope, change in changes if change.table in ROWS]
    over = laid_over(rows, events, cut)
    shown = {row.canonical if isinstance(row, MemoryRow) else row.id for row in over}
    shown |= {wording.id for row in over if isinstance(row, MemoryRow) for wording in row.wordings}
    fold(partition, slots[cut:])
    captures = [capture for scope in partition.scopes.values() for capture in scope.captures.by_seq.values()]
    return shown, {capture.id for capture in captures if not capture.hidden}


@example([captured("One.", 1, "page", path="b"), captured("Two.", 2, "page", path="b")])
@given(worlds(max_size=12))
def test_the_tail_never_shows_what_is_forgotten(events: list[Event]) -> None:
    """Whatever stands behind the watermark, a reader shows no capture that the whole fold hides."""
    for cut in range(len(events) + 1):
        shown, visible = tail_view(events, cut)
        assert shown <= visible


def documents(*texts: str, **fields: object) -> list[Document]:
    said = {"session": None, "speaker": "Ada", "turn": False, "answers": False, "at": START, **fields}
    return [Document(text=text, **said) for text in texts]  # type: ignore[arg-type]


@pytest.mark.parametrize("case", table("searches")["chats"], ids=lambda case: case["why"])
def test_the_best_of_what_was_said_is_found(case: dict[str, Any]) -> None:
    """Each case has what was said, and questions with the place of the best answer, or none."""
    plain = {"session": None, "speaker": "Ada", "turn": False, "answers": False, "at": "2026-09-21T13:33:20Z"}
    said = [plain | (it if isinstance(it, dict) else {"text": it}) for it in case["said"]]
    chat = [Document(**it | {"at": parse_time(it["at"], 0) + place}) for place, it in enumerate(said)]
    for question, *places in case["asked"]:
        assert [best(chat, question)] == (places or [None]), question


def test_a_weak_hit_of_one_scope_is_not_as_good_as_a_whole_one_of_another() -> None:
    whole = corpus_of(documents("The staging gateway listens on port 5433.", "Something else."))
    weak = corpus_of(documents("A gateway drug.", "Something else."))
    query = "staging gateway port"
    assert next(iter(whole.rank(query).hits)).score > 2 * next(iter(weak.rank(query).hits)).score


@given(st.lists(st.text(max_size=20), max_size=12), st.text(max_size=20), st.booleans())
def test_any_text_can_be_asked_of_any_corpus(texts: list[str], query: str, answers: bool) -> None:
    who = {n: (f"s{n % 2}", f"p{n % 3}", n % 4 > 0, answers and n % 2 == 0) for n in range(len(texts))}
    chat = [Document(text, *who[n], START + n) for n, text in enumerate(texts)]
    hits = list(corpus_of(chat).rank(query).hits)
    assert len({hit.place for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


QUESTION = "Which port does the staging database listen on?"


def test_what_was_said_often_takes_one_place_and_hides_nothing(client: Client, tmp_path: Path) -> None:
    fact = client.capture("The staging database listens on port 5433.").id
    asked = [Line(text=QUESTION, kind="turn", session=f"s-{n}") for n in range(13)]
    asked.append(Line(text="  which port does  the staging database listen on?", kind="turn"))
    client.capture_many(asked)
    with Client(tmp_path, scope="global", origin="operator") as operator:
        operator.capture(QUESTION, "turn")
    for _ in ("in the tail", "in the views"):
        results = client.search(QUESTION, 5, quiet=True).results
        assert {(result.kind, result.again) for result in results} == {("turn", 14), ("fact", 0)}
        assert fact in [result.id for result in results]
        client.project()
    query = SearchQuery(QUESTION, repeats=True, limit=50)
    with_repeats = answered(client.reader, "project:mine", query).results
    assert len({result.id for result in with_repeats}) == 16  # Every turn has an id of its own.
    words = ["search", QUESTION, "--scope", "project:mine", "--home", str(tmp_path)]
    out = CliRunner().invoke(main, words).output
    assert out.lower().count("which port") == 1 and "said 15 times" in out


KINDS: tuple[Kind, ...] = get_args(Kind)
ORIGINS: tuple[Origin, ...] = ("user", "agent", "web", "tool")


def line_of(n: int) -> Line:
    text = f"{KINDS[n % 8]} {n}: the {('heron', 'otter', 'lynx')[n % 3]} likes kayaks of size {n}."
    session, tags = (None, "s1", "s2")[n % 3], (("red",), ("blue", "red"), ())[n // 16]
    return Line(text=text, kind=KINDS[n % 8], origin=ORIGINS[n % 4], session=session, tags=tags)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A home with 48 texts of all kinds, of which the last ones are not projected."""
    home = tmp_path_factory.mktemp("home")
    (home / "settings.toml").write_text("extract = false\n")
    with pytest.MonkeyPatch.context() as patch, Client(home, scope="project:mine", origin="user") as client:
        lines = [line_of(n) for n in range(48)]
        client.capture_many([*lines[:40], lines[0]])
        client.project()
        patch.setattr(client.reader, "catch_up", lambda scope: None)
        client.capture_many(lines[40:])
        yield client


def ids(mixed: Client, **fields: Any) -> list[str]:
    """Texts stand for ids: of turns that say the same either may be told."""
    return [it.text for it in mixed.search("kayaks", 1_000, **fields, quiet=True).results]


NARROWED = {"kinds": KINDS, "tags": ("red", "blue", "none"), "origins": ORIGINS,
            "sessions": ("s1", "s2", "nobody's")}  # fmt: skip
FILTERS = [(field, value) for field, values in NARROWED.items() for value in values]


@given(st.sampled_from(FILTERS), st.sets(st.sampled_from(KINDS), max_size=4))
def test_what_is_left_out_is_what_would_pass(mixed: Client, by: tuple[str, str], kinds: set[Kind]) -> None:
    """Beside any other filter, in rows and behind them, and nothing else moves."""
    name, value = by
    others: dict[str, Any] = {} if name == "kinds" else {"kinds": sorted(kinds)}
    whole = ids(mixed, **others)
    let, left = ids(mixed, **{name: [value]}, **others), ids(mixed, **{f"not_{name}": [value]}, **others)
    assert sorted(let + left) == sorted(whole) and not set(let) & set(left)


@given(st.integers(1, 60))
def test_the_counts_of_sources_are_those_of_what_is_found(mixed: Client, limit: int) -> None:
    whole, answer = (mixed.search("kayaks", most, quiet=True) for most in (1_000, limit))
    assert answer.sources.keys() == set(SOURCES)
    for source, its in answer.sources.items():
        assert its.found == whole.sources[source].found
        assert its.returned == sum(source_of(it) == source for it in answer.results) <= its.found
    assert sum(its.found for its in whole.sources.values()) == len(whole.results)
    assert sum(it.again for it in whole.results) == 1


def test_tiers_are_those_that_texts_and_summaries_have_come_to(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:mine", origin="user", session="s-now") as client:
        moved = sum_up(client)
        young = client.capture("The lighthouse gateway is painted white.").id

        def found(*tiers: str, **more: Any) -> list[tuple[str, bool]]:
            results = client.search("lighthouse gateway", tiers=tiers, **more, quiet=True).results
            return [(it.id, bool(it.sums)) for it in results]

        assert sorted(id for id, _ in found("mid")) == sorted(moved)
        assert [id for id, is_summary in found("short") if not is_summary] == [young]
        assert found("long") == [] and {*found("short", "mid"), *found("long")} == set(found())
        archive(client, moved)
        # What is archived is told by a summary of a day, which is of the tier that its texts have come to.
        assert [is_summary for _, is_summary in found("mid")] == [True]
        assert found("short") == [(young, False)] and found("long") == []
        assert not any(is_summary for _, is_summary in (*found(not_tags=["x"]), *found(not_origins=["web"])))
        assert not any(is_summary for _, is_summary in found(not_sessions=["s-old"]))
        assert any(is_summary for _, is_summary in found(not_sessions=["s-new"], not_kinds=["fact"]))


def test_every_kind_has_a_source() -> None:
    assert SOURCE_OF.keys() == set(KINDS) and {*SOURCE_OF.values(), "summaries"} == set(SOURCES)


def test_a_question_takes_one_thread_of_algebra_and_leaves_the_others(client: Client) -> None:
    if (found := retrieval._thread_counts()) is None:
        pytest.skip("numpy has another library for algebra")
    get, put = found
    before = get()
    put(2)
    try:
        views = client.reader
        assert views.reading(lambda _: (views.reading(lambda _: get()), get())) == (1, 1)
        assert get() == 2
        with pytest.raises(NotFound):
            client.show(make_id("nothing"))
        assert get() == 2
    finally:
        put(before)


def test_a_search_waits_for_the_views_of_a_position(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "INLINE_EVENTS", 0)  # As in a long log: a search projects nothing by itself.
    client.home.settings_path.write_text("catch_up = false\n")
    receipt = client.capture("The gauge of the boiler reads seven bar.")
    position = f"{receipt.partition}/{receipt.offset}"
    assert [it.projected for it in client.search("boiler gauge").results] == [False]
    assert [it.projected for it in client.search("boiler gauge", at_least=position).results] == [True]
    with pytest.raises(OffsetOutOfRange, match="There is no position 0/999999"):
        client.search("boiler gauge", at_least="0/999999")
    with pytest.raises(MemtapeError, match="3 days is no position"):
        client.search("boiler gauge", at_least="3 days")
    monkeypatch.setattr(reading, "POSITION_WAIT_S", 0.0)
    receipt = client.capture("The gauge of the pump reads two bar.")
    with client.home.lock("projector"), pytest.raises(MemtapeError, match="do not have") as refusal:
        client.search("pump gauge", at_least=f"{receipt.partition}/{receipt.offset}")
    assert "status()" in refusal.value.hint


def test_an_emoji_is_searched_as_a_word_is(home: Path) -> None:
    with Client(home, scope="project:a", origin="user") as client:
        launch = client.capture("We launched 🚀 the new site.").id
        client.capture("The harbour is closed on Sundays.")
        both = client.capture("Deployed 🚀👍🏽 again.").id
        assert {it.id for it in client.search("🚀").results} == {launch, both}
        assert [it.id for it in client.search("👍").results] == [both]
        assert client.search("launched 🚀").results[0].id == launch
        client.project()
        assert {it.id for it in client.search("🚀").results} == {launch, both} and client.verify().ok
