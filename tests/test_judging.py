"""What a judge says of two memories: it marks, covers or asks, and hides nothing that people said.

A verdict counts while both texts are what they were; people overrule it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import builders
import pytest
from builders import (
    JUDGED,
    MINUTE,
    START,
    captured,
    forgotten,
    histories,
    linked,
    make_id,
    settled,
    unfolded,
    withdrawn,
)
from builders import scope_of as world
from hypothesis import given
from msgspec.structs import replace

from memtape.schemas.codec import encode
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import Event, Input, Operation, Unfolded
from memtape.state.consolidation import pairs
from memtape.state.consolidation.pairs import conclusion_of, waiting
from memtape.state.core.scope import Scope
from memtape.state.subjects import passes
from memtape.state.subjects.covers import is_shown
from memtape.state.subjects.memories import Memory
from memtape.state.subjects.validity import contradicted, successor, ties_of

TOMAS, ILSE, FERRY = ("Tomas steers the night ferry.", "Ilse has the helm of the night ferry since spring.",
                      "The night ferry carries no lorries.")  # fmt: skip


def said(text: str, id: object, minute: int, **fields: Any) -> Event:
    return captured(text, id, sent=START + minute * MINUTE, **fields)


def judged(op: str, by: str, *others: str, seqs: Sequence[int] = (0, 1), minute: int = 5) -> Event:
    """Return a verdict by a judge that saw these captures at these seqs; "apart" has no operation."""
    ids = tuple(map(make_id, (by, *others)))
    operations = [] if op == "apart" else [Operation(by=ids[0], ids=ids[1:], op=op)]  # type: ignore[arg-type]
    made = builders.decided((by, *others), operations, f"{op} {minute}", origin="model", actor="head/1",
                            sent=START + minute * MINUTE)  # fmt: skip
    inputs = tuple(Input(id=id, seq=seq) for id, seq in zip(ids, seqs, strict=True))
    return replace(made, body=replace(made.body, inputs=inputs))


PAIR = [said(TOMAS, "old", 1), said(ILSE, "new", 2)]
VERDICT = judged("outdate", "new", "old", seqs=(1, 0))


def memory(scope: Scope, name: str) -> Memory:
    found = scope.memory_of(make_id(name))
    assert found is not None
    return found


def is_replaced(*events: Event, old: str = "old", new: str = "new") -> bool:
    scope = world(*events)
    return successor(scope, memory(scope, old)) is memory(scope, new)


def test_a_newer_value_in_other_words_replaces_once_a_judge_says_so() -> None:
    assert not is_replaced(*PAIR) and is_replaced(*PAIR, VERDICT)
    assert is_replaced(*PAIR, judged("outdate", "old", "new"), old="new", new="old"), "the judge says which"


@pytest.mark.parametrize("seqs", [(0, 0), (1, 1), (7, 0)])
def test_a_verdict_on_texts_that_have_changed_does_nothing(seqs: tuple[int, int]) -> None:
    scope = world(*PAIR, judged("outdate", "new", "old", seqs=seqs))
    assert not scope.validity.newer and not scope.passes.judged and scope.passes.dropped == 1
    assert not world(*PAIR, judged("apart", "new", "old", seqs=seqs)).passes.judged


@pytest.mark.parametrize(("ending", "goes_on"), [
    (said(ILSE, "again", 6), True), (said(TOMAS, "again", 6), False),
    (said(TOMAS, "again", 6, origin="agent"), True),
    (forgotten(["old"], "gone"), False), (forgotten(["new"], "gone"), False),
    (withdrawn(["new"], "gone"), False), (unfolded(["old"], "apart"), False),
    (unfolded(["new"], "apart"), False), (linked("old", "holds", None, "word"), False),
    (linked("new", "replaced_by", "old", "word"), False), (settled(("old", "new"), ["old"], "word"), False),
    (judged("apart", "old", "new", minute=6), False),
    (judged("outdate", "old", "new", minute=6), False)])  # fmt: skip
def test_what_changes_a_side_or_is_said_by_people_ends_a_verdict(ending: Event, goes_on: bool) -> None:
    assert is_replaced(*PAIR, VERDICT, ending) is goes_on


def test_a_side_that_comes_back_is_judged_anew() -> None:
    back = builders.restored(["old"], "back", sent=START + 7 * MINUTE)
    assert not is_replaced(*PAIR, VERDICT, forgotten(["old"], "gone", sent=START + 6 * MINUTE), back)


def test_nobody_who_is_trusted_more_is_replaced_and_people_are_asked() -> None:
    pair = [PAIR[0], said(ILSE, "new", 2, origin="agent", actor="claude")]
    scope = world(*pair, VERDICT)
    assert successor(scope, memory(scope, "old")) is None
    assert contradicted(scope, memory(scope, "new")) is memory(scope, "old")
    affirmed = said(ILSE, "again", 6, origin="agent", actor="claude")
    (asked,) = world(*pair, VERDICT, affirmed).conflicts.by_id.values()
    assert (asked.why, asked.status) == ("weaker", "pending")
    (at_once,) = world(said(TOMAS, "old", 1, origin="operator"), PAIR[1], VERDICT).conflicts.by_id.values()
    assert at_once.why == "weaker"


def test_a_verdict_never_crosses_scopes() -> None:
    elsewhere = said(ILSE, "new", 2, scope="project:other")
    scope = world(PAIR[0], elsewhere, said(FERRY, "third", 3), VERDICT)
    assert not scope.validity.newer and not scope.passes.judged


def test_what_the_texts_say_goes_before_a_judge() -> None:
    ports = [said(f"The staging database listens on port 543{n}.", f"{n}", n) for n in (1, 2)]
    assert is_replaced(*ports, old="1", new="2")
    backwards = judged("outdate", "1", "2")
    assert is_replaced(*ports, backwards, old="1", new="2")
    assert not is_replaced(*ports, backwards, old="2", new="1")


def test_only_a_text_that_is_trusted_as_much_stands_for_another() -> None:
    agents = said(ILSE, "new", 2, origin="agent", actor="claude")
    for by, other, seqs, stands in (("old", "new", (0, 1), True), ("new", "old", (1, 0), False)):
        scope = world(PAIR[0], agents, judged("remove", by, other, seqs=seqs))
        assert is_shown(scope, scope.covers, memory(scope, other)) is not stands
        assert bool(scope.covers.holding) is stands


def test_what_was_judged_is_known_while_both_texts_are_what_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    third = said(FERRY, "third", 3)
    apart = judged("apart", "old", "new", "third", seqs=(0, 1, 2))
    known = world(*PAIR, third, apart).passes.judged
    assert len(known) == 3
    assert world(*PAIR, third, apart, said(FERRY, "again", 6)).passes.judged == known
    monkeypatch.setattr(passes, "MOST_JUDGED", 2)
    assert list(world(*PAIR, third, apart).passes.judged) == list(known)[1:]


@pytest.mark.parametrize("operations", [
    [Operation(by=make_id("old"), ids=(make_id("old"),), op="outdate")],
    [Operation(by=make_id("nobody"), ids=(make_id("old"),), op="outdate")],
    [Operation(by=make_id("new"), ids=(make_id("old"),), op="outdate"),
     Operation(by=make_id("new"), ids=(make_id("third"),), op="remove")]])  # fmt: skip
def test_no_event_outdates_itself_by_what_is_no_input_or_covers_too(operations: list[Operation]) -> None:
    with pytest.raises(InvalidEvent):
        encode(builders.decided(("old", "new", "third"), operations, "wrong"))


FRIDAYS = ("We deploy on Fridays.", "Releases go out each Friday.")
APART = ("The staging database listens on port 5432.", "Marta paints the boathouse.")


def waits(*events: Event) -> list[tuple[str, str]]:
    return [(pair.earlier.text, pair.later.text) for pair in waiting(world(*events))]


def test_neighbours_wait_until_a_decision_or_a_change() -> None:
    events = [said(text, name, n) for n, (name, text) in enumerate(zip("abcd", FRIDAYS + APART, strict=True))]
    assert waits(*events) == [FRIDAYS]
    (pair,) = waiting(world(*events))
    for verdict in ("apart", "outdate", "conflict", "remove"):
        decision = judged(verdict, "b", "a", seqs=(1, 0), minute=9)
        assert waits(*events, decision) == []
    known = [*events, judged("apart", "a", "b", minute=9)]
    assert waits(*known, said(FRIDAYS[1], "again", 10)) == []
    other = "Releases now go out each Friday at noon."
    assert waits(*known, said(other, "more", 10)) == [(FRIDAYS[1], other)]
    changed = waiting(world(*events[1:], said(FRIDAYS[0], "anew", 9)))
    assert len(changed) == 1 and changed[0].key != pair.key


@pytest.mark.parametrize("away", [
    said(FRIDAYS[0], "a", 1, kind="journal"), said(FRIDAYS[0], "a", 1, kind="turn"),
    said("Always deploy on Fridays.", "a", 1), said(f"{FRIDAYS[0]} " + "And so on. " * 100, "a", 1),
])  # fmt: skip
def test_only_short_facts_that_order_nothing_wait(away: Event) -> None:
    assert waits(away, said(FRIDAYS[1], "b", 2)) == []


@pytest.mark.parametrize("ended", [
    forgotten(["a"], "gone"), unfolded(["a", "b"], "x"), builders.pinned(["a"], "pin"),
    linked("a", "replaced_by", "b", "word"), withdrawn(["b"], "gone")])  # fmt: skip
def test_nobody_is_asked_about_what_is_not_shown_or_was_said_by_people(ended: Event) -> None:
    pair = [said(FRIDAYS[0], "a", 1), said(FRIDAYS[1], "b", 2)]
    cover = judged("remove", "b", "a", seqs=(1, 0))
    is_of_covers = isinstance(ended.body, Unfolded)
    assert waits(*pair, *([cover] if is_of_covers else []), ended) == []


def test_vectors_find_what_shares_no_word_and_each_memory_has_few_neighbours() -> None:
    texts = ("Backups leave at dusk.", "Copies are made each evening.", "Ilse sails.")
    events = [said(text, n, n) for n, text in enumerate(texts)]
    vectors = ([1980, 200, 0], [1950, 400, 0], [0, 0, 2000])
    events += [builders.embedded(n, vector, sent=START + MINUTE) for n, vector in enumerate(vectors)]
    assert waits(*events) == [texts[:2]]
    many = [said(f"{FRIDAYS[0][:-1]} from dock {n}.", n, n) for n in range(12)]
    found = waiting(world(*many))
    counts = Counter(side.id for pair in found for side in (pair.earlier, pair.later))
    assert min(counts.values()) > 0 and len(found) <= 12 * pairs.NEIGHBOURS
    assert [it.weight for it in found] == sorted((it.weight for it in found), reverse=True)


@given(histories(of=(JUDGED,)))
def test_what_waits_is_shown_untied_and_undecided(events: list[Event]) -> None:
    for scope in builders.partition_of(*events).scopes.values():
        for pair in waiting(scope):
            one, other = (scope.memory_of(it.id) for it in (pair.earlier, pair.later))
            assert one is not None and other is not None and one is not other and pair.weight > 0
            assert all(it.lives and is_shown(scope, scope.covers, it) for it in (one, other))
            assert other.birth not in ties_of(scope.validity, one.birth)
            decided = conclusion_of(pair, "apart", None)
            assert [it.seq for it in decided.cluster] == sorted((one.canonical, other.canonical))
