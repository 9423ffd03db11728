"""Statements are told from talk by rule, and captured: each once, by who said it, and gone with its turn.

What counts as a statement somebody labelled in 300 turns who did not see the rule: `data/statements.jsonl`.
Turns of corpora are named there, and not held; `python tests/bench/statements.py` measures these.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import met
import pytest
from bench.statements import counts_of, labelled_turns
from bench.typed import score
from builders import START
from click.testing import CliRunner
from commanding import document
from hypothesis import example, given
from hypothesis import strategies as st
from tables import DATA, rows, table

from memtape.flows.workers.extract import Extraction
from memtape.flows.workers.turns import statement_id
from memtape.schemas.events import STATED_TAG, Captured, Event, Withdrawn
from memtape.schemas.times import MAX_TIME_US, MIN_TIME_US, parse_time
from memtape.sinks.home.marks import OffsetMarks
from memtape.state.fold.near_verbatim import key_of, tokens_of
from memtape.state.text import instructions, orders
from memtape.state.text import statements as statements_of
from memtape.state.text.instructions import Heard, heard_in
from memtape.state.text.opposites import oppose
from memtape.state.text.reading import read
from memtape.state.text.replacements import replaces
from memtape.state.text.statements import MOST_CHARS, MOST_STATEMENTS, Statement, dated, stated_in, statements
from memtape.state.text.worth import cues_of, worth_of
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.doors import cli
from memtape.tools.keep.erasing import plan

TOLD = table("told-statements")
STATED, TALK = TOLD["stated"], TOLD["talk"]
pieces = st.lists(
    st.one_of(
        st.sampled_from([text for text, _ in STATED]), st.sampled_from(TALK), st.text(max_size=40),
        st.sampled_from(["```py\nport = 5433\n```", "> The port is 543 in a.toml.", "\n\n", "“", '"', "~~~"]),
    ),
    max_size=8,
)  # fmt: skip
talk = st.tuples(pieces, st.sampled_from([" ", "\n", ", "])).map(lambda made: made[1].join(made[0]))


def test_a_text_that_is_read_no_further_has_nothing_to_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """On every labelled text the rules find the same where each passes the looks for single words before."""
    kept = [path.stem for path in sorted(DATA.glob("*.jsonl")) if not path.name.startswith("fold")]
    every = (text for name in kept for row in rows(name) for text in row.values())
    said = dict.fromkeys(text for text in every if isinstance(text, str))

    def found() -> list[tuple[Heard, list[Statement]]]:
        return [(hear(read(text)), stated_in(read(text), 0, of_agent=False)) for text in said]

    abroad = instructions._ABROAD
    hear = vars(heard_in)["__wrapped__"]
    with_looks = found()
    looks = ((instructions, "may_instruct"), (orders, "may_order"))
    for module, look in (*looks, (statements_of, "_may_state"), (statements_of, "may_identify")):
        monkeypatch.setattr(module, look, lambda *_: True)
    monkeypatch.setattr(instructions, "_has_form_abroad", lambda said: any(it.search(said) for it in abroad))
    assert found() == with_looks and sum(it.instructs for it, _ in with_looks) > 100


def test_what_holds_of_a_project_is_a_statement_and_what_states_nothing_is_left() -> None:
    left = [
        said for said in TOLD["told_of_a_project"] if len(statements(read(said), START, of_agent=False)) != 1
    ]
    made_up = (*TALK, *TOLD["told_of_nothing"], *TOLD["sounds_stated"])
    assert left == [said for said in made_up if statements(read(said), START, of_agent=False)] == []


def test_nine_of_ten_statements_of_each_label_are_right_on_turns_of_others() -> None:
    """A label whose rule is right less often is dropped: a rule that cannot tell must not tell."""
    told: dict[str, list[bool]] = {}
    for row in rows("statements-of-others"):
        for it in statements(read(row["text"]), START, of_agent=False):
            told.setdefault(it.label, []).append(row["label"] == "fact")
    for turn in labelled_turns(DATA / "statements.jsonl", ()):
        for it in statements(read(turn.text), START, of_agent=turn.role == "agent"):
            is_met = any(it.start < other.end and other.start < it.end for other in turn.expected)
            told.setdefault(it.label, []).append(is_met)
    assert {label: right for label, right in told.items() if sum(right) < 0.9 * len(right)} == {}
    assert sum(map(len, told.values())) > 30


@pytest.mark.parametrize(("text", "label"), STATED)
def test_what_somebody_states_is_told_and_not_in_forms_of_others(text: str, label: str) -> None:
    assert [found.label for found in statements(read(text), START, of_agent=False)] == [label]
    assert [
        form for form in TOLD["forms"] if statements(read(form.format(text)), START, of_agent=False)
    ] == []


@given(talk, st.integers(MIN_TIME_US, MAX_TIME_US), st.booleans())
@example("I told Ann tomorrow I'll move to Rome. It is 5 km away.", MAX_TIME_US, False)
def test_a_statement_is_a_piece_of_its_turn_and_no_two_share_any(text: str, at: int, of_agent: bool) -> None:
    found = statements(read(text), at, of_agent=of_agent)
    assert found == statements(read(text), at, of_agent=of_agent) and len(found) <= MOST_STATEMENTS
    ends = [0]
    for one in found:
        piece = text[one.start : one.end]
        assert one.start >= ends[-1] and 0 < len(piece) <= MOST_CHARS
        assert one.text == dated(" ".join(piece.split()), at)
        assert "```" not in piece
        ends.append(one.end)


@given(talk, talk)
def test_what_an_agent_promises_prefers_or_is_told_states_nothing(text: str, other: str) -> None:
    found = statements(read(f"{text} {other}"), START, of_agent=True)
    assert {it.label for it in found} <= {"decision", "fact"}


def test_days_are_named_by_their_dates() -> None:
    assert dated("Yesterday, and the day after tomorrow; in 3 days, 2 days ago", START) == (
        "Yesterday (2026-09-20), and the day after tomorrow (2026-09-23); in 3 days (2026-09-24), "
        "2 days ago (2026-09-19)"
    )
    assert dated("tomorrow (2026-09-22)", START) == "tomorrow (2026-09-22)"


MONDAY = parse_time("2026-11-23T09:00:00Z", 0)


@pytest.mark.parametrize(("text", "dates"), TOLD["days"])
def test_days_of_a_week_that_are_ahead_are_named_by_their_dates(text: str, dates: list[str]) -> None:
    named = dated(text, MONDAY)
    assert re.findall(r"\((.{10})\)", named) == (dates or re.findall(r"\((.{10})\)", text))
    bare = (re.sub(r" \(.{10}\)", "", it) for it in (named, text))
    assert dated(named, MONDAY) == named and next(bare) == next(bare)


def test_what_is_done_to_it_comes_with_what_it_is_or_not_at_all() -> None:
    for alone in TOLD["needs_before"]:
        for before in ("", "ok. ", "Is it late? ", "Thanks! "):
            assert statements(read(before + alone), START, of_agent=False) == []
            assert heard_in(read(before + alone)).standing == () or before
    for said, label in TOLD["whole"]:
        found = statements(read(said), START, of_agent=False)
        assert [(it.text, it.label) for it in found] == ([(said, label)] if label else [])
        assert heard_in(read(said)).standing == ((said,) if label == "instruction" else ())
    secret = "Ben has moved to 5 Elm Road. Please don't remember this."
    assert (
        heard_in(read(secret)).orders == ("Please don't remember this.",)
        and heard_in(read(secret)).standing == ()
    )
    taken = statements(read(secret), START, of_agent=False)
    assert tuple(one.text for one in taken if one.label == "instruction") == heard_in(read(secret)).orders


def test_most_of_what_is_told_of_labelled_turns_is_right() -> None:
    """Of both halves, of which one was never looked at while the rule was made."""
    counts = counts_of(labelled_turns(DATA / "statements.jsonl", ()))
    for coding in (counts["coding", "dev"], counts["coding", "test"]):
        assert coding["turns"] == 50 and coding["right"] >= 0.85 * coding["told"]
        assert coding["met"] >= 0.5 * coding["expected"]


def said(client: Client, *texts: str, **fields: object) -> list[str]:
    made = [Line(text=text, kind="turn", **fields) for text in texts]  # type: ignore[arg-type]
    return [receipt.id for receipt in client.capture_many(made)]


def tagged(client: Client, tag: str) -> list[Event]:
    """Return the captures of a log whose first tag this is, as they stand there."""
    events = met.events_of(client.log)
    return [event for event in events if isinstance(event.body, Captured) and tag in event.body.tags[:1]]


def stated(client: Client) -> list[Event]:
    return tagged(client, STATED_TAG)


def erase(client: Client, id: str) -> None:
    client.erase(plan(client.home, client.log, client.scope, [id], only=False))


def texts(events: list[Event]) -> list[str]:
    return sorted(event.body.text for event in events if isinstance(event.body, Captured))


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "home", scope="project:talk", origin="user", actor="Ada", session="s")


def test_a_statement_is_captured_as_its_speaker_said_it_and_why_says_from_which_turn(client: Client) -> None:
    with client:
        (turn,) = said(client, "Hi! We decided to keep Postgres for the ledger. Can you look?", at=START)
        client.reader.project()
        (event,) = stated(client)
        assert isinstance(event.body, Captured)
        assert (event.actor.name, event.actor.origin, event.at, event.session) == ("Ada", "user", START, "s")
        assert (event.body.kind, event.body.tags) == ("fact", (STATED_TAG, "decision"))
        assert event.refs == (turn,) and event.id == statement_id("project:talk", turn, 0)
        assert event.body.text == "We decided to keep Postgres for the ledger."
        assert len(client.search("postgres ledger").results) == 1, "a turn and its statement are one result"
        said(client, "We decided to keep Postgres for the ledger.", at=START + 1)
        client.reader.project()
        assert len(client.search("postgres ledger").results) == 2
        home = str(client.home.path)
    why = CliRunner().invoke(cli.main, ["show", "--why", event.id, "--home", home, "--scope", "project:talk"])
    assert why.exit_code == 0 and f"taken from {turn[-8:]}" in why.output


def test_nothing_is_captured_twice_whoever_reads_the_log(client: Client) -> None:
    home = client.home
    with client:
        said(client, *(text for text, _ in STATED))
        client.reader.project()
        before = texts(stated(client))
        assert len(before) == len(STATED)
        home.statements_path.unlink()
        client.reader.project()
        marks = OffsetMarks(home.path / "other.json", client.log)
        other = Extraction(client.log, print, marks, lambda: START, lambda: True)
        other.once()
        assert texts(stated(client)) == before and not other.done
        said(client, "We agreed on trunk-based development.")
        other.once()
        assert len(stated(client)) == len(before) + 1


def test_a_statement_is_erased_with_its_turn_in_every_byte(client: Client) -> None:
    with client:
        kept = "We decided to keep Postgres."
        turn, _ = said(client, "We decided to name the service Quetzalcoatl-7.", kept)
        client.reader.project()
        assert len(stated(client)) == 2
        erase(client, turn)
        assert texts(stated(client)) == ["We decided to keep Postgres."]
        for path in client.home.path.rglob("*"):
            assert not path.is_file() or b"quetzalcoatl" not in path.read_bytes().lower(), path
        client.reader.project()
        assert texts(stated(client)) == ["We decided to keep Postgres."]


def test_only_what_people_and_agents_say_for_good_is_stated_without_secrets(client: Client) -> None:
    with_secret = f"Remember that the key is {'AKIA' + 'Q3EGVNPZ7WJ5TXRD'} and the port is 5433."
    with client:
        for origin in ("tool", "web", "model"):
            said(client, "We decided to keep Postgres for the ledger.", origin=origin)
        client.capture("We decided to drop Redis for the queue.")
        turns = "We decided to keep Postgres.", "We decided to drop Redis today.", with_secret
        forgotten, erased, kept = said(client, *turns)
        (withdrawn,) = said(client, "We decided to keep Kafka for events.")
        client.forget(forgotten)
        client.append("withdrawn", Withdrawn(ids=(withdrawn,), on=True), client.scope)
        erase(client, erased)
        client.reader.project()
        (event,) = stated(client)
        assert event.refs == (kept,)
        (text,) = texts([event])
        assert "AKIA" not in text and "port is 5433" in text
    client.home.settings_path.write_text("extract = false\n")
    with Client(client.home.path, scope="project:talk", origin="user") as without:
        said(without, "We decided to use NATS for events.")
        without.reader.project()
        assert len(stated(without)) == 1


def test_a_worker_that_dies_between_pages_goes_on(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtape.flows.workers.extract.PAGE_SLOTS", 3)
    with client:
        said(client, *(f"We decided to use port {5000 + n} for tests." for n in range(20)))
        log, notes, appended = client.log, list[str](), list[int]()
        marks = OffsetMarks(client.home.statements_path, log)
        worker = Extraction(log, notes.append, marks, lambda: START, lambda: True)

        def dying(events: list[Event]) -> object:
            appended.append(len(events))
            if len(appended) == 3:
                raise OSError("the disk is full")
            return append(events)

        append = log.append
        monkeypatch.setattr(log, "append", dying)
        worker.once()
        assert "the disk is full" in notes[0]
        worker.once()
        assert len(stated(client)) == len({event.id for event in stated(client)}) == 20


def test_many_turns_are_in_the_views_before_any_is_read_and_each_run_reads_on(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtape.flows.workers.extract.PAGE_SLOTS", 3)
    monkeypatch.setattr("memtape.flows.workers.worker.PASS_S", 0.0)
    monkeypatch.setattr("memtape.tools.keep.owner.FEW_EVENTS", -1)
    with client:
        client.home.settings_path.write_text("catch_up = false\n")
        said(client, *(f"We decided to use port {5000 + n} for tests." for n in range(7)))
        client.project()
        assert not stated(client)
        counts, left = list[int](), ["extract"]
        while left == ["extract"]:
            left = document("run", "--once", "--no-embed", home=client.home.path)["unfinished"]
            counts.append(len(stated(client)))
        assert not left and counts[:3] == [3, 6, 7]


# --- What no rule was written with ---

AT = 1_790_000_000_000_000


def form_of(text: str) -> tuple[str, ...]:
    tokens, english = tokens_of(read(text))
    return key_of(tokens, english=english)


FINDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], bool]]] = {
    "wishes": (lambda it: oppose(read(it["a"]), read(it["b"])), lambda it: it["opposed"]),
    "form": (lambda it: form_of(it["a"]) == form_of(it["b"]), lambda it: it["same"]),
    "statements": (
        lambda it: statements(read(it["text"]), AT, of_agent=False),
        lambda it: it["label"] != "none",
    ),
    "replaces": (lambda it: replaces(read(it["a"]), read(it["b"])), lambda it: True),
}
"""What the rules find of each file, and whether that is right."""


@pytest.mark.parametrize(
    ("writer", "half", "least", "most"),
    [("t0", "dev", 65, 2), ("t0", "held out", 45, 2), ("t1", "dev", 115, 6), ("t2", "held out", 95, 11)],
)
def test_messages_are_understood_as_developers_type_them(
    writer: str, half: str, least: int, most: int
) -> None:
    told = score(writer, half)
    assert told.right >= least and told.wrong <= most, told


@pytest.mark.parametrize("name", FINDS)
def test_nothing_is_found_wrongly_of_cases_of_a_writer_who_knew_no_rule(name: str) -> None:
    """Nobody reads these files while a rule is made or changed."""
    finds, is_right = FINDS[name]
    found = [it for it in rows(f"held-out/{name}") if finds(it)]
    assert [it for it in found if not is_right(it)] == [] and len(found) >= 8 * (name == "replaces")


def test_the_head_weighs_the_cues_of_a_sentence_and_nothing_else() -> None:
    assert list(cues_of("We dropped 2 ports", is_first=True, is_of_thing=True)) == [
        "we", "dropped", "0", "ports", "^ we", "we dropped", "dropped 0", "0 ports", "ports $", ">3",
        "<first>", "<thing>", "<past>",
    ]  # fmt: skip
    typed = "the invoices are all made by the cron box, never by the api"
    taken = statements(read(typed), START, of_agent=False)
    assert [(it.text, it.label) for it in taken] == [(typed, "fact")]
    assert worth_of(typed, is_first=True, is_of_thing=False) > worth_of(
        "lol ok", is_first=True, is_of_thing=False
    )
    assert statements(read(typed), START, of_agent=True) == []
