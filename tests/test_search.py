"""What a search finds: by words, from its own scope alone, and also what no view holds yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import START, captured, worlds
from click.testing import CliRunner
from corpora import Document, corpus_of
from hypothesis import example, given
from hypothesis import strategies as st
from overlaying import laid_over
from tables import table

from memtape.schemas.codec import encode, event_of
from memtape.schemas.events import Event
from memtape.schemas.log import Slot
from memtape.schemas.rows import MemoryRow
from memtape.schemas.times import parse_time
from memtape.state.core.partition import Partition, fold
from memtape.state.views.rows import ROWS, all_changes, row_of
from memtape.tools.ask.ordering import SearchQuery
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.commands.cli import main


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
    client.capture_many([Line(text=f"The gauge {n % 7} reads {n} on port {n % 5}.", kind="turn") for n in range(60)])
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
    assert {text for text, _ in found(client, "tabs")} == {"Use tabs in this project.", "Use tabs everywhere."}


def test_what_is_not_projected_is_found_and_tombstones_hold(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, hidden = client.capture("The gateway is at the lighthouse."), client.capture("The gateway is in the office.")
    said = client.capture("gateway, gateway", "turn")
    client.project()
    # A projector elsewhere holds the lock, so that this client can only answer from views and tail.
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
    partition = said.position.partition
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
    """Ids of the captures whose texts a reader shows when the views stand at `cut`, and those that the fold shows."""
    slots = [Slot(0, offset, encode(event)) for offset, event in enumerate(events)]
    partition = Partition(0)
    fold(partition, slots[:cut])
    rows = [
        row_of(scope, change)
        for scope in partition.scopes.values()
        for change in all_changes(scope)
        if change.table in ROWS
    ]
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


def test_a_turn_is_found_by_the_question_that_it_answers() -> None:
    chat = documents("Where did you leave the violin?", "In the attic.", "Fine.", "Bye.", turn=True, session="s")
    alone = documents("In the attic.", "Unrelated words of others.", turn=True, session="t")
    hits = list(corpus_of([*chat, *alone]).rank("violin").hits)
    assert [hit.place for hit in hits[:2]] == [1, 0]
    assert all(hit.place < 4 for hit in hits)


def test_who_is_named_when_and_what_kind_of_answer_is_asked_for_moves_the_order() -> None:
    said = [
        *documents("I bought a kayak.", turn=True, session="a", speaker="Ada"),
        *documents("I bought a kayak.", turn=True, session="b", speaker="Ben"),
        *documents("I bought a kayak last week.", turn=True, session="c", speaker="Cleo"),
    ]
    assert (best(said, "What did Ben buy?"), best(said, "When was the kayak bought?")) == (1, 2)
    dated = [*documents("We met.", at=START), *documents("We met.", at=START + 86_400_000_000 * 40)]
    assert (best(dated, "who met in September"), best(dated, "met on 31 October")) == (0, 1)


def test_with_an_assistant_the_users_own_words_come_first_unless_the_answer_is_asked_for() -> None:
    chat = [
        *documents("My budget is 400 euros.", turn=True, session="s", speaker="Ada"),
        *documents("With a budget of 400 euros take the blue one.", turn=True, session="s", speaker="AI", answers=True),
    ]
    assert best(chat, "budget of 400 euros") == 0
    assert best(chat, "which one did you recommend for my budget of 400 euros") == 1


def test_what_an_assistant_was_asked_for_is_found_and_memories_stand_with_peoples_words() -> None:
    chat = [
        Document("Which port does the staging database use?", "s", "Ada", True, False, START),
        Document("Let me look that up.", "s", "code", True, True, START + 1),
        Document("The staging database listens on port 5433.", None, "Ada", False, False, START + 2),
    ]
    assert best(chat, "which port does the staging database listen on") == 2
    assert best(chat, "code of the lookup") is None  # Whose name it is says nothing, and no text holds it.
    advice = [
        Document("I want to sleep better.", "s", "Ada", True, False, START),
        Document("For better sleep, no coffee after noon.", "s", "code", True, True, START + 1),
        Document("Better sleep at last!", "t", "Ada", True, False, START + 2),
        Document("Good to hear.", "t", "code", True, True, START + 3),
    ]
    assert best(advice, "what did the assistant suggest for better sleep") == 1


@pytest.mark.parametrize(
    "day",
    ["on 8 May 2023", "on May 8th", "on the 8th of May", "on 2023-05-08", "on 08.05.2023", "on 05/08/2023", "in May"],
)
def test_a_day_is_found_as_people_write_it(day: str) -> None:
    bought = {"a chair": "2023-06-08", "a lamp": "2023-05-08", "a desk": "2022-07-21", "roses": "2023-07-05"}
    days = {what: parse_time(said, 0) for what, said in bought.items()}
    chat = [Document(f"I bought {what}.", what, "Ada", True, False, at, id=what) for what, at in days.items()]
    assert best(chat, f"What did I buy {day}?") == 1
    assert best(chat, "5 lamps") == 1  # A number alone is no day.
    assert best(chat, "may I ask about the lamp") == 1


@pytest.mark.parametrize("said", table("searches")["languages"])
def test_short_texts_of_other_languages_are_found_by_their_own_forms(said: list[str]) -> None:
    query, *texts = said
    assert best(documents(*texts), query) == 0


def test_a_weak_hit_of_one_scope_is_not_as_good_as_a_whole_one_of_another() -> None:
    whole = corpus_of(documents("The staging gateway listens on port 5433.", "Something else."))
    weak = corpus_of(documents("A gateway drug.", "Something else."))
    query = "staging gateway port"
    assert next(iter(whole.rank(query).hits)).score > 2 * next(iter(weak.rank(query).hits)).score


@given(st.lists(st.text(max_size=20), max_size=12), st.text(max_size=20), st.booleans())
def test_any_text_can_be_asked_of_any_corpus(texts: list[str], query: str, answers: bool) -> None:
    places = enumerate(texts)
    chat = [
        Document(text, f"s{n % 2}", f"p{n % 3}", n % 4 > 0, answers and n % 2 == 0, START + n) for n, text in places
    ]
    hits = list(corpus_of(chat).rank(query).hits)
    assert len({hit.place for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


QUESTION = "Which port does the staging database listen on?"


def test_what_was_said_often_takes_one_place_and_hides_nothing(client: Client, tmp_path: Path) -> None:
    fact = client.capture("The staging database listens on port 5433.").id
    asked = [Line(text=QUESTION, kind="turn", session=f"s-{n}") for n in range(13)]
    client.capture_many([*asked, Line(text="  which port does  the staging database listen on?", kind="turn")])
    with Client(tmp_path, scope="global", origin="operator") as operator:
        operator.capture(QUESTION, "turn")
    for _ in ("in the tail", "in the views"):
        results = client.search(QUESTION, 5, quiet=True).results
        assert {(result.kind, result.again) for result in results} == {("turn", 14), ("fact", 0)}
        assert fact in [result.id for result in results]
        client.project()
    with_repeats = client.reader.retriever.answer("project:mine", SearchQuery(QUESTION, repeats=True, limit=50)).results
    assert len({result.id for result in with_repeats}) == 16  # Measures go by ids, and every turn has its own.
    out = CliRunner().invoke(main, ["search", QUESTION, "--scope", "project:mine", "--home", str(tmp_path)]).output
    assert out.count("Which port") == 1 and "said 15 times" in out
