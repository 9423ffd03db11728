"""Statements are told from talk by rule, and captured: each once, by who said it, and gone with its turn.

What counts as a statement was labelled in 300 turns by somebody who did not see the rule: `data/statements.jsonl`.
Turns of corpora are named there, and not held; `python tests/bench/statements.py` measures these.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from bench.statements import counts_of, labelled_turns
from builders import START
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from memtape.flows.workers.extract import Extraction
from memtape.flows.workers.turns import statement_id
from memtape.schemas.codec import event_of
from memtape.schemas.events import STATED_TAG, Captured, Event
from memtape.schemas.times import MAX_TIME_US, MIN_TIME_US, parse_time
from memtape.sinks.home.marks import OffsetMarks
from memtape.state.text import instructions, orders
from memtape.state.text import statements as statements_of
from memtape.state.text.instructions import Heard, heard_in
from memtape.state.text.statements import MOST_CHARS, MOST_STATEMENTS, Statement, dated, stated_in, statements
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.commands import cli
from memtape.tools.keep.erasing import plan

DATA = Path(__file__).parent / "data"
STATED = (
    ("Remember that the staging database listens on port 5433.", "remember"),
    ("From now on use tabs in this repository.", "instruction"),
    ("We decided to keep Postgres for the ledger.", "decision"),
    ("I prefer small commits with a body.", "preference"),
    ("No, the staging port is 5434.", "correction"),
    ("I'll renew the TLS certificate by Friday.", "task"),
    ("The billing worker reads its queue in services/billing/worker.py.", "fact"),
    ("My daughter starts school in September.", "fact"),
    ("Do not start a broker in unit tests, use the fixture in tests/kafka_broker.py.", "instruction"),
    ("One topic per log, that's settled.", "decision"),
    ("Let's freeze main on Wednesday at 18:00 UTC.", "decision"),
    ("And Jonas owns the Kafka side.", "fact"),
)
TALK = (
    "ok", "continue", "Thanks, that looks great!", "Can you run the tests?", "What port does staging use?",
    "If we used Redis, we could drop the table.", "Maybe we should switch to uv.", "He said the port is 5433.",
    "sounds good to me", "It listens on port 5433.", "It works now.",
)  # fmt: skip
pieces = st.lists(
    st.one_of(
        st.sampled_from([text for text, _ in STATED]), st.sampled_from(TALK), st.text(max_size=40),
        st.sampled_from(["```py\nport = 5433\n```", "> The port is 5433 in config.toml.", "\n\n", "“", '"', "~~~"]),
    ),
    max_size=8,
)  # fmt: skip
talk = st.tuples(pieces, st.sampled_from([" ", "\n", ", "])).map(lambda made: made[1].join(made[0]))


TOLD_OF_NOTHING = (
    "In the film we agreed to rob the bank at noon.",
    "In my dream I decided to sell the house and buy a lighthouse.",
    "In the tutorial we settled on Flask and port 5000.",
    "We decided to become pirates, said no intern of ours.",
    "Sure, we agreed to work on Sundays, nobody ever complained.",
    "We dropped the hint three times and he missed it.", "I dropped my phone in the sink this morning.",
    "We moved on to the next slide after that.", "I switched off the lights at 10 pm.",
    "We replaced him in the second half of the match.", "In the game we chose the red team and lost 3 to 1.",
    "In this example the service listens on port 9090.", "I just fixed the typo in src/app.py, run it again.",
    "warning: unused variable `x` in src/main.rs is ignored by default",
    "We agreed to disagree, said the king in the story.", "My brother joked that we decided to move to Mars.",
    "We moved heaven and earth to get tickets for Friday.",
    "In the series the captain decided to use the old engine.", "I found a bug in parser.py yesterday.",
    "Yeah right, we decided to rewrite it all in Perl.",
)  # fmt: skip
"""What is made up, joked, or just done: nothing of it holds."""
SOUNDS_STATED = (
    "Don't worry about the broker in tests.", "Do not start the broker yet.", "Don't you add anything to it!",
    "Status: build passed, no errors.", "The view must be amazing up there.", "You must be proud of that 1 prize.",
    "Yes, it should be fine in 0.8.", "Let's move on to the next topic.", "I wonder how beautiful it is.",
    "We freeze in winter, brr.", "Great as it is.", "Let's set off early then.",
)  # fmt: skip
TOLD_OF_A_PROJECT = (
    "We decided to use Postgres for the ledger.", "We agreed that releases happen on Tuesdays.",
    "We settled on Zod for validation in the API.", "Our staging cluster runs in eu-west-3.",
    "The gateway listens on port 8443.", "I prefer tabs over spaces in this repo.",
    "My wife is allergic to hazelnuts.", "From now on, run the tests before each commit.",
    "Remember that the demo is on 4 May.", "We're moving away from Jenkins to Buildkite.",
    "The invoice service is owned by Petra.", "We won't support Python 3.8 in this release.",
)  # fmt: skip


def test_a_text_that_is_read_no_further_has_nothing_to_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """On every labelled text the rules find the same where each text passes the looks for single words before them."""
    kept = [path for path in sorted(DATA.glob("*.jsonl")) if not path.name.startswith("fold")]
    rows = (json.loads(line) for path in kept for line in path.read_text().splitlines())
    said = dict.fromkeys(text for row in rows for text in row.values() if isinstance(text, str))

    def found() -> list[tuple[Heard, list[Statement]]]:
        return [(hear(text), stated_in(text, 0, of_agent=False)) for text in said]

    abroad = instructions._ABROAD
    hear = vars(heard_in)["__wrapped__"]
    with_looks = found()
    for module, look in ((instructions, "may_instruct"), (instructions, "may_order"), (statements_of, "_may_state")):
        monkeypatch.setattr(module, look, lambda _: True)
    monkeypatch.setattr(orders, "may_order", lambda _: True)
    monkeypatch.setattr(instructions, "_has_form_abroad", lambda said: any(it.search(said) for it in abroad))
    monkeypatch.setattr(statements_of, "may_identify", lambda _: True)
    assert found() == with_looks and sum(it.instructs for it, _ in with_looks) > 100


def test_what_holds_of_a_project_is_a_statement_and_what_states_nothing_is_left() -> None:
    left = [said for said in TOLD_OF_A_PROJECT if len(statements(said, START, of_agent=False)) != 1]
    made_up = (*TALK, *TOLD_OF_NOTHING, *SOUNDS_STATED)
    assert left == [said for said in made_up if statements(said, START, of_agent=False)] == []


def test_nine_of_ten_statements_of_each_label_are_right_on_turns_of_others() -> None:
    """A label whose rule is right less often is dropped: a rule that cannot tell must not tell."""
    told: dict[str, list[bool]] = {}
    rows = (DATA / "statements-of-others.jsonl").read_bytes().splitlines()
    for row in map(msgspec.json.decode, rows):
        for it in statements(row["text"], START, of_agent=False):
            told.setdefault(it.label, []).append(row["label"] == "fact")
    for turn in labelled_turns(DATA / "statements.jsonl", ()):
        for it in statements(turn.text, START, of_agent=turn.role == "agent"):
            is_met = any(it.start < other.end and other.start < it.end for other in turn.expected)
            told.setdefault(it.label, []).append(is_met)
    assert {label: right for label, right in told.items() if sum(right) < 0.9 * len(right)} == {}
    assert sum(map(len, told.values())) > 30


FORMS = (
    "```\n{}\n```", "> {}", "~~~ text\n{}\n~~~", "<pre>{}</pre>", "$ {}", "ERROR: {}", "| {} |", "Did you say {}?",
    'The ticket says: "{0} {0} {0}"',
)  # fmt: skip
"""Code, quotations, output and questions."""


@pytest.mark.parametrize(("text", "label"), STATED)
def test_what_somebody_states_is_told_with_what_it_does_and_not_in_forms_of_others(text: str, label: str) -> None:
    assert [found.label for found in statements(text, START, of_agent=False)] == [label]
    assert [form for form in FORMS if statements(form.format(text), START, of_agent=False)] == []


@given(talk, st.integers(MIN_TIME_US, MAX_TIME_US), st.booleans())
@example("I told Ann tomorrow I'll move to Rome. It is 5 km away.", MAX_TIME_US, False)
def test_a_statement_is_a_piece_of_its_turn_and_no_two_share_any(text: str, at: int, of_agent: bool) -> None:
    found = statements(text, at, of_agent=of_agent)
    assert found == statements(text, at, of_agent=of_agent) and len(found) <= MOST_STATEMENTS
    ends = [0]
    for one in found:
        piece = text[one.start : one.end]
        assert one.start >= ends[-1] and 0 < len(piece) <= MOST_CHARS
        assert one.text == dated(" ".join(piece.split()), at)
        assert "```" not in piece
        ends.append(one.end)


@given(talk, talk)
def test_what_an_agent_promises_prefers_or_is_told_states_nothing(text: str, other: str) -> None:
    assert {found.label for found in statements(f"{text} {other}", START, of_agent=True)} <= {"decision", "fact"}


def test_days_are_named_by_their_dates() -> None:
    assert dated("Yesterday, and the day after tomorrow; in 3 days, 2 days ago", START) == (
        "Yesterday (2026-09-20), and the day after tomorrow (2026-09-23); in 3 days (2026-09-24), "
        "2 days ago (2026-09-19)"
    )
    assert dated("tomorrow (2026-09-22)", START) == "tomorrow (2026-09-22)"


MONDAY = parse_time("2026-11-23T09:00:00Z", 0)


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("I have to send the list by Wednesday noon.", ["2026-11-25"]),
        ("Let's freeze main on Wednesday at 18:00 UTC.", ["2026-11-25"]),
        ("I promised Tomas a demo next Tuesday at 15:00.", ["2026-12-01"]),
        ("The freeze moves too, to Friday 18:00 UTC.", ["2026-11-27"]),
        ("I'll be back on Sunday, or next Monday.", ["2026-11-29", "2026-11-30"]),
        ("The demo is next Thursday.", []),  # Of this week or the next: people mean either.
        ("I'll do that on Monday.", []),  # Said on a Monday: today or in a week.
        ("We met on Wednesday and I was late.", []),
        ("Mira asked on Friday whether we will move.", []),
        ("We release on Thursday, 26 November 2026, and on Friday (2026-11-27) we rest.", []),
        ("We always deploy on Fridays and on Friday's eve, so you must wait.", []),
    ],
)
def test_days_of_a_week_that_are_ahead_are_named_by_their_dates(text: str, dates: list[str]) -> None:
    named = dated(text, MONDAY)
    assert re.findall(r"\((.{10})\)", named) == (dates or re.findall(r"\((.{10})\)", text))
    assert dated(named, MONDAY) == named and re.sub(r" \(.{10}\)", "", named) == re.sub(r" \(.{10}\)", "", text)


def test_what_is_done_to_it_comes_with_what_it_is_or_not_at_all() -> None:
    for alone in ("We have to renew it before Friday.", "Please always keep to that when you write pages here.",
                  "I'll send this to Mira tomorrow.", "Never run them on main."):  # fmt: skip
        for before in ("", "ok. ", "Is it late? ", "Thanks! "):
            assert statements(before + alone, START, of_agent=False) == []
            assert heard_in(before + alone).standing == () or before
    said = "The certificate expires on 2027-01-15. We have to renew it before."
    assert [(one.text, one.label) for one in statements(said, START, of_agent=False)] == [(said, "task")]
    said = "Our pages are in plain English. Please always keep to that when you write here."
    assert [(one.text, one.label) for one in statements(said, START, of_agent=False)] == [(said, "instruction")]
    assert heard_in(said).standing == (said,)
    whole = "Run the slow tests and never skip them."
    assert [one.text for one in statements(whole, START, of_agent=False)] == [whole]
    secret = "Ben has moved to 5 Elm Road. Please don't remember this."
    assert heard_in(secret).orders == ("Please don't remember this.",) and heard_in(secret).standing == ()
    taken = statements(secret, START, of_agent=False)
    assert tuple(one.text for one in taken if one.label == "instruction") == heard_in(secret).orders

    found = statements("The gateway is new. It listens on port 8443.", START, of_agent=False)
    assert [one.text for one in found] == ["The gateway is new. It listens on port 8443."]
    assert statements("Is the gateway new? It listens on port 8443.", START, of_agent=False) == []
    assert statements("The gateway:\n```\nx = 1\n```\nIt listens on port 8443.", START, of_agent=False) == []


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
    log = client.log
    events = [event_of(slot.payload) for n in range(log.partitions) for slot in log.read(n, 0, 100_000)]
    return [event for event in events if event and isinstance(event.body, Captured) and tag in event.body.tags[:1]]


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
        (turn,) = said(client, "Hi! We decided to keep Postgres for the ledger. Can you look at the tests?", at=START)
        client.reader.project()
        (event,) = stated(client)
        assert isinstance(event.body, Captured)
        assert (event.actor.name, event.actor.origin, event.at, event.session) == ("Ada", "user", START, "s")
        assert (event.body.kind, event.body.tags) == ("fact", (STATED_TAG, "decision"))
        assert event.refs == (turn,) and event.id == statement_id("project:talk", turn, 0)
        assert event.body.text == "We decided to keep Postgres for the ledger."
        assert len(client.search("postgres ledger").results) == 1, "a turn and what was taken from it are one result"
        said(client, "We decided to keep Postgres for the ledger.", at=START + 1)
        client.reader.project()
        assert len(client.search("postgres ledger").results) == 2
        home = str(client.home.path)
    why = CliRunner().invoke(cli.main, ["show", "--why", event.id, "--home", home, "--scope", "project:talk"])
    assert why.exit_code == 0 and f"taken from {turn}" in why.output


def test_nothing_is_captured_twice_whoever_reads_the_log(client: Client) -> None:
    home = client.home
    with client:
        said(client, *(text for text, _ in STATED))
        client.reader.project()
        before = texts(stated(client))
        assert len(before) == len(STATED)
        home.statements_path.unlink()
        client.reader.project()
        other = Extraction(
            client.log, OffsetMarks(home.path / "other.json", client.log), lambda: START, lambda: True, print
        )
        other.once()
        assert texts(stated(client)) == before and not other.done
        said(client, "We agreed on trunk-based development.")
        other.once()
        assert len(stated(client)) == len(before) + 1


def test_a_statement_is_erased_with_its_turn_in_every_byte(client: Client) -> None:
    with client:
        turn, _ = said(client, "We decided to name the service Quetzalcoatl-7.", "We decided to keep Postgres.")
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
        client.forget(forgotten)
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


def test_a_worker_that_dies_between_its_pages_goes_on(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtape.flows.workers.extract.PAGE_SLOTS", 3)
    with client:
        said(client, *(f"We decided to use port {5000 + n} for tests." for n in range(20)))
        log, notes, appended = client.log, list[str](), list[int]()
        marks = OffsetMarks(client.home.statements_path, log)
        worker = Extraction(log, marks, lambda: START, lambda: True, notes.append)

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
