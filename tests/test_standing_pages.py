"""Standing pages: what is open and what closes it, and pages within their length."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import builders
import pytest
from builders import START, captured, configured, forgotten, histories, make_id, slots
from commanding import call
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from memtape import Client
from memtape.schemas.events import Event, Kind, make_tick
from memtape.schemas.places import ZONE_END, ZONE_START
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import _PAGE
from memtape.sinks.vault import Vault
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.text.open_ends import open_ends, said_of
from memtape.state.text.reading import read
from memtape.state.text.terms import terms
from memtape.state.views.context import Known, items_of, known_of
from memtape.state.views.markdown import PageLine, standing
from memtape.state.views.pages import page, pages_of
from memtape.state.views.rows import all_changes, memory_row
from memtape.state.views.standing_pages import ESSENTIALS, LIMITS, RECENT, THREADS, essential_lines

SCOPE = "project:test"
MINUTE = 60_000_000
TASK = "We still need to renew the certificate of api.example.org."


def state_of(events: list[Event]) -> Partition:
    late = make_tick(0, START + 90 * DAY_US)
    rest = slots([configured(), late, *events])
    partition = Partition(0, erasures_of(rest))
    fold(partition, rest)
    return partition


def written(events: list[Event], path: str) -> str:
    """What a page says once these events are folded."""
    return page(state_of(events).scopes[SCOPE], path, Settings()).text


def turn(text: str, id: object, *, by: str = "user", after: int = 0, **fields: Any) -> Event:
    fields = {"actor": {"user": "Ada", "agent": "codex"}.get(by, by), "session": "s", **fields}
    return captured(text, id, "turn", origin=by, sent=START + after * MINUTE, **fields)


@pytest.mark.parametrize(("text", "kind"), table("open-ends")["cases"])
def test_what_a_person_leaves_open(text: str, kind: str) -> None:
    assert [end.kind for end in open_ends(read(text), START, of_agent=False)] == [kind] * (kind != "")


@given(st.text(), st.booleans())
def test_what_is_open_stands_in_the_text(text: str, of_agent: bool) -> None:
    for end in open_ends(read(text), START, of_agent=of_agent):
        assert 0 <= end.start < end.end <= len(text) and said_of(text, end, START)


LEFT_OPEN = (
    TASK, "TODO: write the migration for the ledger table.", "Remind me to call the landlord tomorrow.",
    "I'll send Kelly the draft of the contract by Monday.", "We still need to renew the lease of the flat.",
)  # fmt: skip
CLOSING = (*" ".join(LEFT_OPEN).split(), "renewed", "sent", "called", "written", "Verträge", "nothing")


@given(
    st.lists(st.sampled_from(LEFT_OPEN), min_size=1, max_size=5, unique=True),
    st.lists(st.sampled_from(CLOSING), max_size=12).map(" ".join),
)
def test_the_index_of_open_ends_finds_what_a_look_at_each_finds(left: list[str], said: str) -> None:
    scope = state_of([turn(text, number) for number, text in enumerate(left)]).scopes[SCOPE]
    threads = scope.threads
    assert len(threads.open) == len(left)
    while threads.open:
        near, its = threads.near(frozenset(terms(said)), scope), threads.told(scope).items()
        held = {key: sum(term in terms(said) for term in told.terms) for key, told in its}
        assert sorted(near) == sorted(key for key, told in its if held[key] >= told.least)
        threads.close([next(iter(threads.open))])


ENDINGS: dict[str, tuple[bool, Event]] = {
    "a later statement": (True, turn("I renewed the certificate of api.example.org.", 1, after=1)),
    "an agent": (True, turn("Renewed the certificate of api.example.org.", 1, by="agent", after=1)),
    "forgotten": (True, forgotten(["task"], "f", sent=START + MINUTE)),
    "withdrawn": (True, builders.withdrawn(["task"], "w", sent=START + MINUTE)),
    "archived": (True, builders.archived(["task"], "a", sent=START + MINUTE)),
    "thirty days": (True, turn("Something else entirely.", 1, after=31 * 24 * 60)),
    "a plan": (False, turn("I will renew the certificate of api.example.org.", 1, after=1)),
    "what is not done": (False, turn("I have not renewed the certificate of api.example.org.", 1, after=1)),
    "another thing": (False, turn("I renewed my passport.", 1, after=1)),
    "a question": (False, turn("Was the certificate of api.example.org renewed?", 1, after=1)),
    "29 days": (False, turn("Something else entirely.", 1, after=29 * 24 * 60)),
}


@pytest.mark.parametrize("how", ENDINGS)
def test_what_closes_a_task(how: str) -> None:
    is_closed, ending = ENDINGS[how]
    assert TASK[:-1] in written([turn(TASK, "task")], THREADS)
    assert (TASK[:-1] in written([turn(TASK, "task"), ending], THREADS).replace("\\", "")) is not is_closed


HELLO = [turn("Hello, the tests are green.", 0, by="agent"), turn("I see, that is good news.", 1, after=1)]
ASK = turn("Which port does the staging API listen on?", "q", after=2)
ELSEWHERE = turn("Another subject here.", 5, session="t", after=4)
MOVE = turn("Please move the ledger.", 0)
AGENT_ASK = turn("The tests are green. Which of the two ledger tables should stay?", "q", by="agent", after=1)
OFFER = turn("The tests are green. Would you like me to move the ledger table too?", "q", by="agent", after=1)
PROMISE = turn("I'll add the ledger migration once the schema is settled.", "p", by="agent")


@pytest.mark.parametrize(
    ("events", "left"),
    [
        # A question is open until somebody answers, where answers are captured at all; thanks are none.
        ([*HELLO, ASK], "Which port"),
        ([*HELLO, ASK, ELSEWHERE], "(Ada, since 2026-09-21)"),
        ([*HELLO, ASK, turn("Thanks!", 4, by="agent", after=3), ELSEWHERE], "Which port"),
        ([*HELLO, ASK, turn("It listens on 8081.", 3, by="agent", after=3), ELSEWHERE], ""),
        ([ASK, ELSEWHERE], ""),
        # What an agent asks at the end of its turn is open until somebody goes on, and its offers are not.
        ([MOVE, AGENT_ASK], "(agent codex, since"),
        ([MOVE, OFFER], ""),
        ([MOVE, AGENT_ASK, turn("The first one.", 2, after=2)], ""),
        ([MOVE, AGENT_ASK, turn("I go on with the first one.", 2, by="agent", after=2)], ""),
        # What an agent promised ends when that agent speaks again in the session.
        ([PROMISE, turn("Fine.", 1, after=1)], "codex"),
        ([PROMISE, turn("Here is a summary of it all.", 2, by="agent", after=2)], ""),
    ],
)
def test_what_stays_open(events: list[Event], left: str) -> None:
    said = written(events, THREADS)
    assert left in said if left else said == ""


def test_essentials_choose_facts_as_a_start_does() -> None:
    """The same facts in the same order, wherever no time passes between."""
    given = {n: {"importance_given": (n * 37) % 100, "sent": START + n * DAY_US} for n in range(40)}
    events = [captured(f"Fact {n} tells thing{n}.", n, **fields) for n, fields in given.items()]
    events += [captured("Said by a model.", "m", origin="model", sent=START + 40 * DAY_US)]
    order, rule = "Never mention thing7 again.", "Always run the tests."
    events += [captured(rule, "rule"), captured(order, "o", "turn"), builders.pinned([3], "p")]
    scope = state_of(events).scopes[SCOPE]
    seqs = (scope.memories.by_birth[birth].name for birth in scope.leading.worthiest(scope))
    names = [scope.captures.by_seq[seq].id for seq in seqs]
    rows = [row for name in names if (row := memory_row(scope, name))]
    known = [known_of(row) for row in rows]
    orders = [
        Known(id="o", scope=SCOPE, kind="turn", text=order, at=START, last_at=START, order=0, actor="Ada",
              origin="user"),
    ]  # fmt: skip
    now = max(row.last_at for row in rows)
    told = [item.id for item in items_of([*reversed(known), *orders], now) if item.section == "facts"]
    essentials = page(scope, ESSENTIALS, Settings())
    ids = [(line.id, line.section == "Standing instructions") for line in essential_lines(scope)]
    assert [id for id, is_rule in ids if not is_rule] == told
    assert [id for id, is_rule in ids if is_rule] == [make_id("rule")]
    assert "Always run the tests." in essentials.text and "thing7" not in essentials.text


def test_what_people_want_left_out_stands_on_no_page_for_as_long_as_they_want_it() -> None:
    events = [captured("Ada's divorce is on Monday.", "f")]
    events += [turn("Remind me to call the divorce lawyer tomorrow.", "t")]
    events += [turn("The divorce is settled by now.", "r", after=1)]
    paths = (ESSENTIALS, THREADS, RECENT)
    assert all("divorce" in written(events, path) for path in paths)
    events += [turn("Never mention my divorce again.", "o", after=2)]
    assert not any("divorce" in written(events, path) for path in paths)
    events = [configured(), captured("Ada's divorce is on Monday.", "f"),
              captured("The reef is charted.", "g"), captured("Finish the divorce", "aim", kind="goal"),
              turn("Never mention my divorce again.", "o", after=2)]  # fmt: skip
    partition, told = Partition(0), list[int]()
    for slot in slots([*events, forgotten(["o"], "x")]):
        pages = {one.path: one for one in pages_of(partition, fold(partition, [slot]))}
        told.append(pages["MEMORY.md"].text.count("ivorce") if "MEMORY.md" in pages else 0)
    assert [bool(count) for count in told] == [False, True, True, True, False, True]
    assert told[-1] == told[3]


@pytest.mark.parametrize("name", table("open-ends")["hostile"])
def test_a_name_makes_no_path_no_link_and_no_heading(name: str, tmp_path: Path) -> None:
    events = [captured(f"Text {n}.", n, actor=name, origin="agent") for n in range(3)]
    partition = state_of(events)
    pages = pages_of(partition, all_changes(partition.scopes[SCOPE]))
    Vault(Home(tmp_path)).write(pages, [])
    for one in pages:
        assert _PAGE.fullmatch(one.path), one.path
        headings = re.findall(r"^#.*$", one.text, re.M)
        assert all(re.match(r"#{1,3} [^#]", it) for it in headings)
        assert not re.search(r"(?<!\\)\[\[|(?<!\\)<b>|\u202e", one.text)
    folder = Home(tmp_path).scope_folder(SCOPE)
    assert all(folder in path.parents for path in tmp_path.rglob("*.md"))


@given(histories(), st.data())
def test_a_restored_state_writes_the_same_pages(events: list[Event], data: st.DataObject) -> None:
    rest = slots([configured(), *events])
    at = data.draw(st.integers(0, len(rest)))
    whole, half = Partition(0, erasures_of(rest)), Partition(0, erasures_of(rest))
    fold(whole, rest)
    fold(half, rest[:at])
    half = restore(snapshot(half))
    fold(half, rest[at:])
    for name, scope in whole.scopes.items():
        changes = all_changes(scope)
        assert pages_of(whole, changes) == pages_of(half, all_changes(half.scopes[name]))


@given(histories())
def test_memory_md_links_to_what_there_is(events: list[Event]) -> None:
    partition = state_of(events)
    for scope in partition.scopes.values():
        pages = pages_of(partition, all_changes(scope))
        there = {one.path for one in pages if one.text}
        for one in pages:
            if one.path == "MEMORY.md":
                first = re.search(r"^Read first: .*$", one.text, re.M)
                told = set(re.findall(r"\]\((.*?)\)", first[0])) if first else set()
                assert {path for path in there if path in LIMITS} == told
            if one.path.startswith("pages/"):  # What a person wrote there leads where that person says.
                continue
            for path in re.findall(r"\]\((?:\.\./)?([^)#]*\.md)", one.text):
                assert path in there or path.startswith(("logs/", "memories/")) or f"memories/{path}" in there


lines = st.builds(PageLine, section=st.sampled_from(("One", "Two", "")), text=st.text(max_size=600),
                  told=st.tuples(st.text(max_size=300)), id=st.uuids().map(str),
                  path=st.sampled_from(("", "memories/001.md", "logs/2026-09-21.md")))  # fmt: skip


@given(st.lists(lines, max_size=60), st.text(max_size=90), st.integers(1_500, 10_000), st.integers(0, 10**6))
def test_a_page_keeps_to_its_limit(found: list[PageLine], title: str, limit: int, more: int) -> None:
    said = standing(title, found, ("One", "Two", ""), limit, more=more, how="`memtape archive --list`")
    assert len(said) <= limit
    shown = said.count("](") + len(re.findall(r"(?<!\\)`[0-9a-f]{8}-[0-9a-f-]{27}`\n", said))
    if found and len(found) + more > shown:
        assert f"\n{len(found) + more - shown:,} more: " in said


def test_a_zone_in_each_page_stays_and_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path))

    def capture(*texts: str, kind: Kind = "fact") -> list[str]:
        with Client(tmp_path, scope=SCOPE, actor="Ada", origin="user", session="s") as client:
            return [client.capture(text, kind=kind).id for text in texts]

    capture(*(f"Marisol said that reef {n} is fine." for n in range(3)), TASK, kind="turn")
    capture("The reef is charted.")
    (old,) = capture("Old stuff that is over.")
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        client.archive([old])
    call("run", "--once")
    folder, paths = Home(tmp_path).scope_folder(SCOPE), [*LIMITS]
    said = {path: f"The zone of {path.replace('/', ' ')} says hello." for path in paths}
    for path in paths:
        zone = f"{ZONE_START}\n- {said[path]}\n{ZONE_END}\n"
        (folder / path).write_text(f"{(folder / path).read_text()}\n{zone}")
    capture("Marisol said that reef 9 is fine.", kind="turn")
    capture("The reef is charted anew.")
    call("run", "--once")
    for path in paths:
        assert (folder / path).read_text().count(said[path]) >= 1
        assert f"- {said[path]}\n{ZONE_END}" in (folder / path).read_text()
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        assert {it.text for it in client.search("zone says hello", limit=30).results} >= set(said.values())
    call("verify")


def test_a_start_tells_open_questions_and_promises_of_turns(tmp_path: Path) -> None:
    with Client(tmp_path, scope=SCOPE, actor="Ada", origin="user", session="s") as client:
        client.capture("Please move the ledger.", kind="turn")
    with Client(tmp_path, scope=SCOPE, actor="codex", origin="agent", session="s") as client:
        client.capture("It is done. Which of the two `ledger` tables should stay?", kind="turn")
        client.project()
    with Client(tmp_path, scope=SCOPE, actor="codex", origin="agent", session="t") as client:
        found = [it for it in client.context().items if it.section == "tasks"]
    asked = "Which of the two `ledger` tables should stay?"
    assert [it.text for it in found] == [asked]
