"""Conflicts: when people are asked which of two memories holds, and what an answer does, also replayed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import builders
import pytest
from builders import MINUTE, START, captured, configured, forgotten, linked, make_id, settled, slots, used
from builders import scope_of as world
from commanding import call as command
from commanding import document
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tables import table

from memtape import Client
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Event, Input, Operation, Settled
from memtape.schemas.settings import Settings
from memtape.state.core.digests import state_leaves
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.core.scope import Scope
from memtape.state.subjects.conflicts import ConflictState
from memtape.state.subjects.validity import holds, successor
from memtape.state.text.opposites import oppose
from memtape.state.text.reading import read
from memtape.state.views.pages import page
from memtape.state.views.rows import memory_row
from memtape.tools.capture.injected import without_injected
from memtape.tools.doors.mcp import call

OLD, NEW, THIRD = (f"The staging database listens on port {port}." for port in (5433, 5434, 5435))


def said(text: str, id: object, minute: int, **fields: Any) -> Event:
    return captured(text, id, sent=START + minute * MINUTE, **fields)


def uses(ids: list[object], minute: int, **fields: Any) -> Event:
    return used(ids, f"use {minute}", sent=START + minute * MINUTE, **fields)


PAIR = [said(OLD, "old", 1), said(NEW, "new", 2)]
RAISED = [*PAIR, uses(["old"], 3), uses(["new"], 4)]
BY_AGENT = said(NEW, "new", 2, origin="agent", actor="claude")


def raised(*events: Event) -> list[ConflictState]:
    return list(world(*events).conflicts.by_id.values())


def state_of(*events: Event) -> list[tuple[str, str, str]]:
    return [(it.why, it.severity, it.status) for it in raised(*events)]


@pytest.mark.parametrize(("one", "other", "is_opposed"), table("sentences")["opposed"])
def test_opposed_wishes_are_asked_about(one: str, other: str, is_opposed: bool, tmp_path: Path) -> None:
    """And a start tells neither without the other, until somebody says that both hold."""
    events = [said(one, "one", 1), said(other, "other", 2)]
    assert state_of(*events) == ([("opposed", "medium", "pending")] if is_opposed else [])
    assert raised(events[0], said(other, "other", 2, actor="Ben")) == [], "each is the wish of another person"
    with Client(tmp_path, scope="project:p", actor="Ada", origin="user") as client:
        for text in (one, one, other, other):
            client.capture(text)
        client.project()
        told = client.context().text
        assert told.count("ask which holds") == 2 * is_opposed
        for conflict in client.conflicts().conflicts:
            client.settle(conflict.id, "both")
        client.project()
        assert "ask which holds" not in client.context().text and client.verify().ok


WISHES = st.sampled_from(["Never push to main.", "Push to main.", "Answer at length.", "Keep answers short."])


@given(WISHES, WISHES | st.just("No."))
def test_being_opposed_is_mutual_and_nothing_opposes_itself(one: str, other: str) -> None:
    assert oppose(read(one), read(other)) is oppose(read(other), read(one))
    assert not oppose(read(one), read(one))


def test_nobody_is_asked_before_both_sides_were_affirmed_since_both_are_known() -> None:
    elsewhere = used(["old"], "elsewhere", scope="global", origin="operator")
    for affirmed in (PAIR, [*PAIR, uses(["old"], 3)], [*PAIR, said(NEW, "again", 3)],
                     [PAIR[0], uses(["old"], 2), PAIR[1], uses(["new"], 3)],
                     [PAIR[0], said(OLD, "again", 2), said(NEW, "new", 3), uses(["new"], 4)],
                     [*PAIR, elsewhere, uses(["new"], 4)]):  # fmt: skip
        assert raised(*affirmed) == []
    assert state_of(*PAIR, uses(["old", "new"], 3)) == [("both_affirmed", "medium", "pending")]
    asked = [
        builders.recalled(["old", "new"], "asked", sent=START + 3 * MINUTE, session="s"),
        said("Port 5433 before, 5434 now.", "told", 4, kind="turn", origin="agent", session="s"),
    ]
    assert world(*PAIR, *asked).usage.own.keys() == {0, 1}, "the answer carries both"
    assert raised(*PAIR, *asked) == []


@pytest.mark.parametrize("first", [("old", OLD), ("new", NEW)])
@pytest.mark.parametrize("how", ["used", "confirmed"])
def test_people_are_asked_once_both_sides_were_affirmed(first: tuple[str, str], how: str) -> None:
    name, text = first
    other, its = ("new", NEW) if name == "old" else ("old", OLD)
    affirmed = uses([name], 3) if how == "used" else said(text, "again", 3)
    (conflict,) = raised(*PAIR, affirmed, said(its, "too", 4))
    evidence = {name: affirmed.id, other: make_id("too")}
    assert conflict.ids == (make_id("old"), make_id("new"))
    assert conflict.evidence == ((evidence["old"],), (evidence["new"],))
    assert (conflict.why, conflict.severity, conflict.status) == ("both_affirmed", "medium", "pending")


def test_an_agent_is_asked_about_once_it_was_affirmed_and_a_user_at_once() -> None:
    assert raised(PAIR[0], BY_AGENT) == []
    again = said(NEW, "again", 3, origin="agent")
    (conflict,) = raised(PAIR[0], BY_AGENT, again)
    assert (conflict.why, conflict.evidence) == ("weaker", ((), (again.id,)))
    assert state_of(PAIR[0], BY_AGENT, uses(["new"], 3)) == [("weaker", "medium", "pending")]
    assert raised(PAIR[0], BY_AGENT, uses(["old"], 3)) == []
    operator = said(OLD, "old", 1, origin="operator")
    assert state_of(operator, PAIR[1]) == [("weaker", "high", "pending")]
    assert raised(said(OLD, "old", 1), said(NEW, "new", 2, origin="operator")) == []


def test_what_is_answered_elsewhere_is_not_asked_or_expires() -> None:
    word = linked("old", "replaced_by", "new", "word", sent=START + 3 * MINUTE)
    assert raised(*PAIR, word, uses(["old", "new"], 4)) == []
    assert raised(*PAIR, linked("old", "holds", None, "word"), uses(["old", "new"], 4)) == []
    third = said(THIRD, "third", 3)
    assert raised(*PAIR, third, uses(["old", "new"], 4)) == [], "both are past"
    (asked,) = raised(*PAIR, third, uses(["new", "third"], 4))
    assert asked.ids == (make_id("new"), make_id("third"))
    word = linked("old", "replaced_by", "new", "word")
    for ending in (forgotten(["old"], "gone"), said(THIRD, "third", 5), word):
        (first, *_) = raised(*RAISED, ending)
        assert (first.status, first.settled_at, first.kept) == ("expired", ending.at, None)


KILN, FRIDAY = "The kiln is fired on Mondays by Mira.", "On Fridays Tomas has the kiln burning."
ALIKE = [said(KILN, "old", 1), said(FRIDAY, "new", 2)]


def opposed(by: str, *others: str, id: str = "model", minute: int = 5, seqs: Sequence[int] = (0, 1)) -> Event:
    """Return the decision that these captures cannot both hold, as they were seen."""
    ids = tuple(map(make_id, (by, *others)))
    conflict = Operation(by=ids[0], ids=ids[1:], op="conflict")
    said = builders.decided((by, *others), [conflict], id, origin="model", sent=START + minute * MINUTE)
    inputs = tuple(Input(id=id, seq=seq) for id, seq in zip(ids, seqs, strict=True))
    return replace(said, body=replace(said.body, inputs=inputs))


def test_people_are_asked_once_where_a_model_says_that_what_it_saw_cannot_hold() -> None:
    said_so = opposed("new", "old", seqs=(1, 0))
    (conflict,) = raised(*ALIKE, said_so)
    assert conflict.ids == (make_id("old"), make_id("new")), "whichever the model named first"
    assert (conflict.why, conflict.severity, conflict.status) == ("model", "medium", "pending")
    assert conflict.evidence == ((said_so.id,), (said_so.id,))
    again = [opposed("old", "new", id="again", minute=6), uses(["old", "new"], 7)]
    assert state_of(*ALIKE, said_so, *again) == [("model", "medium", "pending")]
    kept = settled(("old", "new"), ["old"], "done", sent=START + 8 * MINUTE)
    more = opposed("old", "new", id="more", minute=9)
    assert state_of(*ALIKE, said_so, kept, more) == [("model", "medium", "accepted")]
    scope = world(*ALIKE, said_so, kept)
    one, other = (scope.memory_of(make_id(name)) for name in ("old", "new"))
    assert one is not None and other is not None and holds(scope, one) and successor(scope, other) is one
    for events in ([*ALIKE, opposed("old", "new", seqs=(0, 7))],
        [*ALIKE, forgotten(["old"], "gone"), opposed("old", "new")], [*PAIR, opposed("old", "new")],
        [*ALIKE, linked("old", "holds", None, "word"), opposed("old", "new")],
        [*ALIKE, said(KILN, "again", 3), opposed("old", "again", seqs=(0, 0))],
        [*ALIKE, opposed("old", "nobody")]):  # fmt: skip
        assert raised(*events) == []


@st.composite
def disputes(draw: st.DrawFn, max_size: int = 30) -> list[Event]:
    """Three values of one thing, said, affirmed, hidden, settled and taken apart in any order by anyone."""
    events: list[Event] = []
    names = st.integers(0, 8)
    rare = ["forgotten", "restored", "unfolded", "linked", "settled", "decided", "decided"]
    types = ["captured"] * 5 + ["used"] * 4 + rare
    for number in range(draw(st.integers(0, max_size))):
        sent = START + number * MINUTE
        common: dict[str, Any] = {"sent": sent, "actor": draw(st.sampled_from(("Ada", "Ben")))}
        common["origin"] = draw(st.sampled_from(("user", "user", "agent", "operator")))
        some = draw(st.lists(names, min_size=1, max_size=3))
        pair = tuple(draw(st.lists(names, min_size=2, max_size=2, unique=True)))
        match draw(st.sampled_from(types)):
            case "captured":
                at = sent - draw(st.sampled_from((0, 0, 3_000 * MINUTE)))
                text = draw(st.sampled_from((OLD, NEW, THIRD, KILN, FRIDAY)))
                made = captured(text, draw(names), at=at, **common)
            case "used":
                made = used(list(some), f"w{number}", **common)
            case "forgotten" | "restored" | "unfolded" as type:
                made = getattr(builders, type)(some, f"{type} {number}", **common)
            case "linked":
                to = pair[1] if draw(st.booleans()) else None
                relation = "holds" if to is None else "replaced_by"
                made = linked(pair[0], relation, to, f"l{number}", draw(st.booleans()), **common)
            case "decided":
                op = draw(st.sampled_from(("conflict", "outdate")))
                sides = Operation(by=make_id(pair[0]), ids=(make_id(pair[1]),), op=op)
                made = builders.decided(pair, [sides], f"d{number}", **common)
            case _:
                keep = draw(st.sampled_from((pair[:1], pair[1:], pair)))
                made = settled((pair[0], pair[1]), list(keep), f"s{number}", **common)
        events.append(made)
    return builders.as_seen(events)


anything = st.one_of(disputes(), builders.histories())


@given(anything)
def test_no_pair_is_asked_about_twice_and_what_waits_has_living_sides(events: list[Event]) -> None:
    """Nor has anything else replaced a side of what waits."""
    rest = slots([configured(), *events])
    partition = Partition(0, erasures_of(rest))
    known: dict[str, list[str]] = {}
    closed: dict[tuple[str, str], list[Any]] = {}
    for slot in rest:
        fold(partition, [slot])
        for name, scope in partition.scopes.items():
            conflicts, before = scope.conflicts.by_id, known.get(name, [])
            for id, conflict in conflicts.items():
                was = closed.setdefault((name, id), [conflict.raised_at, conflict.status])
                assert conflict.raised_at == was[0] and (was[1] == "pending" or conflict.status != "pending")
                was[1] = conflict.status
            known[name] = list(conflicts)
            assert known[name][: len(before)] == before
            for id in known[name][len(before) :]:
                new = pair_of(scope, conflicts[id])
                assert len(new) == 2
                assert [other for other in conflicts if pair_of(scope, conflicts[other]) == new] == [id]
                assert conflicts[id].status in ("pending", "accepted", "dismissed")
    for scope in partition.scopes.values():
        for conflict in scope.conflicts.pending:
            one, other = (scope.memory_of(side) for side in conflict.ids)
            assert one is not None and other is not None and one is not other
            assert one.canonical >= 0 and other.canonical >= 0
            assert successor(scope, one) in (None, other) and successor(scope, other) in (None, one)


def pair_of(scope: Scope, conflict: ConflictState) -> frozenset[int]:
    return frozenset(memory.birth for id in conflict.ids if (memory := scope.memory_of(id)) is not None)


@given(anything, st.data())
def test_a_state_restored_anywhere_settles_the_same(events: list[Event], data: st.DataObject) -> None:
    whole = [*events, *RAISED, settled(("old", "new"), ["old"], "done", sent=START + 90 * MINUTE)]
    rest = slots([configured(), *whole])
    cut = data.draw(st.integers(0, len(rest)))
    partition = Partition(0, erasures_of(rest))
    fold(partition, rest[:cut])
    partition = restore(snapshot(partition))
    fold(partition, rest[cut:])
    assert state_leaves([partition]) == state_leaves([builders.partition_of(*whole)])


@pytest.mark.parametrize("keep", [["old"], ["new"], ["old", "new"]])
def test_an_answer_does_what_it_says_and_another_one_overrules_it(keep: list[str]) -> None:
    for before in ([], [["old"]], [["new"]], [["old", "new"]], [["new"], ["old"]]):
        answers = [settled(("new", "old"), list(names), f"a{n}") for n, names in enumerate([*before, keep])]
        scope = world(*RAISED, *answers)
        (conflict,) = scope.conflicts.by_id.values()
        expected = ("accepted", make_id(keep[0])) if len(keep) == 1 else ("dismissed", None)
        assert (conflict.status, conflict.kept) == expected
        for name in ("old", "new"):
            row = memory_row(scope, make_id(name))
            assert row is not None and row.contradicts is None and (row.valid_to is None) is (name in keep)
            assert row.replaced_by == (None if name in keep else make_id(keep[0]))


def test_an_answer_is_of_people_alone_and_holds_until_more_is_said() -> None:
    for origin in ("agent", "tool", "web", "model"):
        partition = builders.partition_of(*RAISED, settled(("old", "new"), ["old"], "done", origin=origin))
        scope = partition.scopes["project:test"]
        assert [it.status for it in scope.conflicts.by_id.values()] == ["pending"]
        assert not scope.validity.said and partition.counters.ignored == 1
    done = settled(("old", "new"), ["new"], "done")
    agent = linked("old", "holds", None, "word", origin="agent", sent=START + 9 * MINUTE)
    by_agents = [said(OLD, "old", 1, origin="agent"), said(NEW, "new", 2, origin="agent"), *RAISED[2:]]
    for events in ([said(OLD, "old", 1, origin="operator"), PAIR[1], done], [*by_agents, done, agent]):
        row = memory_row(world(*events), make_id("old"))
        assert row is not None and row.replaced_by == make_id("new"), "no agent undoes it"
    later = said("The staging database now listens on port 5435.", "later", 9)
    for keep in (["old"], ["old", "new"]):
        scope = world(*RAISED, settled(("old", "new"), list(keep), "done"), later)
        kept = scope.memory_of(make_id("old"))
        assert kept is not None and not holds(scope, kept)
        assert successor(scope, kept) is scope.memory_of(make_id("later"))


def test_a_page_tells_what_waits_and_what_was_settled_and_nothing_of_what_is_hidden() -> None:
    def told(*events: Event) -> str:
        return page(world(*events), "conflicts.md", Settings()).text

    loud = [said("The *staging* database listens on port 5433.", "old", 1), PAIR[1], *RAISED[2:]]
    text = told(*loud)
    assert "> A: The \\*staging\\* database listens on port 5433." in text and "](memories/001.md)" in text
    assert "settle" in text and "medium, both were affirmed" in text
    ids = (make_id("old"), make_id("new"))
    done = builders.event("settled", Settled(ids=ids, keep=ids[1:], note="We *moved*."), "n")
    assert "B is kept" in told(*RAISED, done) and "> We \\*moved\\*." in told(*RAISED, done)
    hidden = told(*RAISED, done, forgotten(["old"], "gone"))
    assert "5433" not in hidden and "A: no longer shown" in hidden
    assert told(*RAISED, forgotten(["old"], "gone")) == "" == told(*PAIR)
    index = page(world(*RAISED), "MEMORY.md", Settings()).text
    assert "1 conflict waits: [conflicts](conflicts.md)" in index
    assert "conflict" not in page(world(*RAISED, done), "MEMORY.md", Settings()).text


def run(home: Path, *words: str, code: int = 0) -> str:
    return command(*words, home=home, scope="project:a", code=code).output


def listed(home: Path, *words: str) -> Any:
    return document("settle", *words, home=home, scope="project:a")


def clients(home: Path) -> tuple[Client, Client]:
    user = Client(home, scope="project:a", actor="Ada", origin="user")
    return user, Client(home, scope="project:a", actor="claude", origin="agent")


def test_a_home_asks_is_answered_undone_and_made_anew(tmp_path: Path) -> None:
    home = tmp_path / "home"
    user, agent = clients(home)
    with user, agent:
        old = user.capture(OLD).id
        new = agent.capture(NEW).id
        assert listed(home)["conflicts"] == [] and "No conflict waits." in run(home, "settle")
        agent.use([new])
        (found,) = user.conflicts().conflicts
        assert (found.a.id, found.a.text, found.a.actor, found.a.origin) == (old, OLD, "Ada", "user")
        assert (found.b.id, found.b.text, found.why, found.severity) == (new, NEW, "weaker", "medium")
        told = run(home, "settle")
        assert all(it in told for it in (OLD, NEW, f"memtape settle {found.id[-8:]}", "claude (agent)"))
        assert "1 conflict waits" in command("status", home=home).output
        assert user.status().scopes["project:a"].conflicts == 1
        context = user.context().text
        assert context.endswith("\n1 conflict waits for the user: memtape settle\n")
        assert without_injected(context).strip() == ""
        assert user.context(form="agents").text.count("conflict waits") == 0
        assert "1 conflict waits" in call(agent, "get_context", {})

        with pytest.raises(MemtapeError, match="Only people settle"):
            agent.settle(found.id, "B")
        refused = run(home, "settle", found.id, "--keep", "B", "--origin", "agent", code=1)
        assert "Only people settle" in refused
        done = run(home, "settle", found.id[:8], "--keep", "B", "--note", "We moved.", "--origin", "user")
        assert f'Kept: "{NEW}"' in done and f'Replaced by it: "{OLD}"' in done
        assert "Undo: memtape settle" in done
        assert [result.id for result in user.search("staging port").results] == [new, old]
        assert user.show(old).memory.replaced_by == new  # type: ignore[union-attr]
        assert listed(home)["pending"] == 0
        (after,) = listed(home, "--all")["conflicts"]
        assert (after["status"], after["kept"], after["note"]) == ("accepted", "B", "We moved.")
        assert "B is kept: We moved." in run(home, "settle", "--all")
        assert "conflict" not in user.context().text

        assert "Both are kept" in run(home, "settle", found.id, "--keep", "both", "--origin", "user")
        assert user.show(old).memory.valid_to is None is user.show(new).memory.valid_to  # type: ignore[union-attr]
        run(home, "settle", found.id, "--keep", "A", "--origin", "user")
        assert user.show(new).memory.replaced_by == old  # type: ignore[union-attr]
        assert "It waits again." in run(home, "settle", found.id, "--keep", "none", "--origin", "user")
        assert user.show(old).memory.valid_to is None is user.show(new).memory.valid_to  # type: ignore[union-attr]
        assert (user.conflicts().pending, user.conflicts().conflicts[0].id) == (1, found.id)
        run(home, "settle", found.id, "--keep", "A", "--origin", "user")
        assert user.show(new).memory.replaced_by == old  # type: ignore[union-attr]
        before = listed(home, "--all")
        assert user.verify().ok
    assert "is served" in command("rebuild", home=home).output
    assert listed(home, "--all") == before


def test_an_erased_side_takes_the_question_the_answer_and_its_note_along(tmp_path: Path) -> None:
    home = tmp_path / "home"
    user, agent = clients(home)
    with user, agent:
        old = user.capture(OLD).id
        user.capture(NEW)
        user.capture(NEW)
        user.use([old])
        (found,) = user.conflicts().conflicts
        assert found.why == "both_affirmed"
        user.settle(found.id, "B", note="Marisol Ferreira moved it to 5434 herself.")
        assert user.conflicts().pending == 0
    assert "Ferreira" in (home / "vault/projects/a/conflicts.md").read_text()
    run(home, "erase", old, "--yes")
    assert listed(home, "--all")["conflicts"] == []
    held = [path for path in home.rglob("*") if path.is_file() and b"Ferreira" in path.read_bytes()]
    assert held == [] and not (home / "vault/projects/a/conflicts.md").exists()
    with Client(home, scope="project:a") as client:
        assert client.verify().ok


def test_what_cannot_be_settled_is_told_in_a_sentence(tmp_path: Path) -> None:
    user, agent = clients(tmp_path)
    with user, agent:
        old = user.capture(OLD).id
        new = user.capture(NEW).id
        user.use([old, new])
        (found,) = user.conflicts().conflicts
        for wrong in ("0" * 8, found.id[:4]):
            with pytest.raises(MemtapeError, match="has no conflict"):
                user.settle(wrong, "A")
        user.forget(old)
        assert user.conflicts().pending == 0
        assert [it.status for it in user.conflicts(settled=True).conflicts] == ["expired"]
        assert "no longer shown" in run(tmp_path, "settle", "--all")
        with pytest.raises(MemtapeError, match="no longer shown"):
            user.settle(found.id, "A")
