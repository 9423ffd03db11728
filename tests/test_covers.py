"""Covers form no circle, and every walk of what stands for what ends: whatever decisions are on the log."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable

import msgspec
from builders import START, TINY, as_seen, captured, configured, decided, embedded, make_id, slots, unfolded
from hypothesis import example, given
from hypothesis import strategies as st

from memtape.schemas.events import Decided, Event, Operation
from memtape.schemas.settings import Settings
from memtape.state.consolidation.clusters import plan
from memtape.state.core.partition import Partition, fold
from memtape.state.core.scope import Scope
from memtape.state.subjects.covers import Cover
from memtape.state.views.resolution import named_by_decision
from memtape.state.views.rows import all_changes, memory_row, row_of

TEXTS = ("The kiln is hot.", "Novels are read at night.", "The ferry is late.", "Our ferry is late.")
Step = tuple[str, int, int]
"""What happens to two texts: one is said again, removed for the other, unfolded, or gets a vector."""
STEPS = st.tuples(
    st.sampled_from(("say", "say", "remove", "remove", "remove", "replace", "unfold", "vector")),
    st.integers(0, len(TEXTS) - 1),
    st.integers(0, len(TEXTS) - 1),
)
CIRCLE = [("remove", 0, 1), ("say", 1, 1), ("remove", 1, 0)]


def name_of_decision(number: int) -> str:
    """Return a name whose id does not end in 0, for which `as_seen` would write what is outdated."""
    return next(name for name in (f"d{number}{mark}" for mark in "abcdef") if not make_id(name).endswith("0"))


def made_text(said: Event, name: str, sent: int) -> Event:
    """Return the text that a decision has announced by this name."""
    assert isinstance(said.body, Decided)
    text = captured(f"Made as {name}.", name, sent=sent)
    return msgspec.structs.replace(text, refs=(said.id, *said.body.operations[0].ids))


def folded(steps: Iterable[Step]) -> Scope:
    """Return the scope of a history in which all texts are said, and then each step is taken."""
    names: list[list[str]] = [[f"{text}/"] for text in range(len(TEXTS))]
    events = [captured(text, names[number][0]) for number, text in enumerate(TEXTS)]
    for number, (what, one, other) in enumerate(steps):
        sent = START + 1 + number
        if what == "say":
            names[one].append(f"{one}/{number}")
            events.append(captured(TEXTS[one], names[one][-1], sent=sent, at=sent))
        elif what == "unfold":
            events.append(unfolded([names[one][-1]], f"u{number}", sent=sent))
        elif what == "vector":
            events.append(embedded(names[one][0], [2000, 0, 0] if one > 1 else [0, 2000, 0]))
        else:
            events += decision(what, names[one][-1], names[other][-1], number, sent)
    partition = Partition(0)
    fold(partition, slots([configured(Settings(embedder=TINY)), *as_seen(events)]))
    return partition.scopes["project:test"]


def decision(what: str, survivor: str, removed: str, number: int, sent: int) -> list[Event]:
    """Return a decision that covers `removed`, and `survivor` too, by each other or by a text it makes."""
    ids, name = tuple(map(make_id, (survivor, removed))), name_of_decision(number)
    if what == "remove":
        operation = Operation(by=ids[0], ids=ids[1:], op="remove")
        return [decided((survivor, removed), [operation], name, sent=sent)] if survivor != removed else []
    operation = Operation(by=make_id(f"m{number}"), ids=tuple(dict.fromkeys(ids)), op="replace")
    said = decided((survivor, removed), [operation], name, sent=sent)
    return [said, made_text(said, f"m{number}", sent)]


def circles(scope: Scope, covers: Iterable[Cover]) -> bool:
    """Return whether the memories that covers lead from and to form a circle."""

    def birth(id: str) -> int:
        memory = scope.memory_of(id)
        return -1 if memory is None else memory.birth

    below: dict[int, set[int]] = {}
    for cover in covers:
        below.setdefault(birth(cover.by), set()).update(map(birth, cover.ids))
    while leaves := [at for at, its in below.items() if below.keys().isdisjoint(its)]:
        for at in leaves:
            del below[at]
    return bool(below)


@given(st.lists(STEPS, max_size=14))
@example(CIRCLE)
@example([("remove", 3, 2), ("vector", 2, 2), ("vector", 3, 3), ("remove", 2, 3)])
def test_covers_form_no_circle_and_every_walk_of_them_ends(steps: list[Step]) -> None:
    scope = folded(steps)
    assert not circles(scope, (cover for cover in scope.covers.holding.values() if cover.op != "add"))
    for memory in scope.memories.by_birth.values():
        parts = scope.covers.parts(scope, memory)
        assert parts[0] is memory and len({part.birth for part in parts}) == len(parts)
    for capture in scope.captures.by_seq.values():
        named = named_by_decision(scope, capture.id, False)
        assert capture.id in named and len(set(named)) == len(named)
    for change in all_changes(scope):
        if change.table == "memories":
            row_of(scope, change)
    plan(scope)
    assert all(len(set(ids)) == len(ids) for ids in scope.covers.made_of.values()), "each input is kept once"


def test_the_later_decision_of_a_circle_counts_and_deep_covers_are_walked() -> None:
    scope = folded(CIRCLE)
    first, other, again = make_id("0/"), make_id("1/"), make_id("1/1")
    assert named_by_decision(scope, other, False) == (other, again, first)
    assert named_by_decision(scope, first, False) == (first,), "what it once stood for stands by itself"
    deep = 200
    events, below = [captured(TEXTS[0], "m-1"), captured(TEXTS[1], "other")], "m-1"
    for number in range(deep):
        by = f"m{number}"
        operation = Operation(by=make_id(by), ids=(make_id(below),), op="replace")
        said = decided([below], [operation], name_of_decision(number))
        events += [said, made_text(said, by, START)]
        below = by
    partition = Partition(0)
    fold(partition, slots(as_seen(events)))
    scope = partition.scopes["project:test"]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + deep // 2)
    try:
        named, row = named_by_decision(scope, make_id(below), False), memory_row(scope, make_id(below))
    finally:
        sys.setrecursionlimit(limit)
    assert len(named) == deep + 1 and row is not None and len(row.made_of) == deep
