"""What folds, in words and by recorded vectors, what is an echo, what is hidden, in whatever order."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import builders
import msgspec
import pytest
from builders import MINUTE, START, TINY, captured, configured, embedded, make_id, pack, recalled, slots
from builders import scope_of as world
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.events import Event
from memtape.schemas.lanes import unasked_lanes
from memtape.schemas.rows import Change, MemoryRow
from memtape.schemas.settings import Settings
from memtape.state.core.partition import fold, restore, snapshot
from memtape.state.core.scope import Scope
from memtape.state.fold.candidates import Candidates
from memtape.state.fold.near_verbatim import same_specifics, specifics
from memtape.state.subjects.recalls import SESSIONS
from memtape.state.text.reading import read
from memtape.state.views.rows import row_of


def dense(*events: Event, settings: Settings | None = None) -> Scope:
    return world(*events, settings=settings or Settings(embedder=TINY))


def memories(scope: Scope) -> list[MemoryRow]:
    """Every memory of a scope, hidden ones too, in the order of births."""
    ids = [scope.captures.by_seq[memory.name].id for memory in scope.memories.by_birth.values()]
    return [row_of(scope, Change("memories", scope.name, id)) for id in ids]


def texts_of(scope: Scope) -> list[list[str]]:
    """Return the texts of each memory's members, echoes in brackets, in the order of births."""
    by_seq = scope.captures.by_seq
    memories = sorted(scope.memories.by_birth.values(), key=lambda memory: memory.birth)
    said = [([it.seq for it in memory.members], [it.seq for it in memory.echoes]) for memory in memories]
    texts = {n: capture.own.text for n, capture in by_seq.items()}
    return [[*(texts[n] for n in own), *(f"({texts[n]})" for n in echoes)] for own, echoes in said]


def only(scope: Scope) -> MemoryRow:
    (row,) = memories(scope)
    return row


def test_the_canonical_text_is_the_most_trusted_then_the_latest() -> None:
    later = captured("the repository uses tabs", 2, origin="agent", sent=START + MINUTE)
    assert only(world(captured("The repo uses tabs", 1, origin="user"), later)).text == "The repo uses tabs"
    row = only(world(captured("Use tabs", 1), captured("use tabs", 2, sent=START + MINUTE)))
    assert (row.text, row.id) == ("use tabs", make_id(1))


ECHO: dict[str, Any] = {"session": "s", "origin": "agent", "sent": START + 2 * MINUTE}
ECHOES: list[dict[str, Any]] = [{}, {"origin": "tool"}, {"origin": "model"}, {"sent": START + 31 * MINUTE}]
NO_ECHOES: list[dict[str, Any]] = [
    {"origin": "user"}, {"origin": "operator"}, {"session": "another"}, {"session": None},
    {"sent": START + 32 * MINUTE}, {"at": START},
]  # fmt: skip


@pytest.mark.parametrize("changed", [*ECHOES, *NO_ECHOES], ids=str)
def test_an_agent_repeating_what_it_was_just_shown_is_an_echo(changed: dict[str, Any]) -> None:
    shown = [captured("Use tabs.", 1), recalled([1], "r", session="s", sent=START + MINUTE)]
    row = only(world(*shown, captured("use tabs", 2, **(ECHO | changed))))
    assert (len(row.echoes), row.confirmations) == ((1, 0) if changed in ECHOES else (0, 1))
    assert row.ids == (make_id(1), make_id(2))


GIVEN_AT_START: dict[str, Any] = {"lanes": unasked_lanes("start", 900), "query": "", "session": "s"}


def test_what_a_start_has_told_is_an_echo_as_long_as_the_session_lasts() -> None:
    start = recalled([1], "start", sent=START + MINUTE, **GIVEN_AT_START)
    resumed = recalled([], "resumed", sent=START + 2 * MINUTE, **GIVEN_AT_START)
    searches = [recalled([], f"r{n}", session="s", sent=START + 3 * MINUTE) for n in range(4)]
    late = ECHO | {"sent": START + 50 * MINUTE}
    told = world(captured("Use tabs.", 1), start, resumed, *searches, captured("use tabs", 2, **late))
    assert (len(only(told).echoes), only(told).confirmations) == (1, 0)
    for other in ({"origin": "user"}, {"session": "another"}, {"at": START}):
        said = captured("use tabs", 2, **(late | other))
        assert len(only(world(captured("Use tabs.", 1), start, said)).echoes) == 0


TABS = captured("Use tabs.", 1)
SHOWING = recalled([1], "r", session="s", sent=START + MINUTE)
OTHERS = {
    "of two searches": [recalled([], f"r{n}", session="s", sent=START + MINUTE) for n in range(2)],
    "of three searches": [recalled([], f"r{n}", session="s", sent=START + MINUTE) for n in range(3)],
    "of five starts": [recalled([], f"start {n}", sent=START + MINUTE, **GIVEN_AT_START) for n in range(5)],
}


@pytest.mark.parametrize("others", OTHERS)
def test_of_the_last_three_recalls_alone_comes_an_echo_and_starts_push_none_out(others: str) -> None:
    row = only(world(TABS, SHOWING, *OTHERS[others], captured("use tabs", 2, **ECHO)))
    assert len(row.echoes) == (others != "of three searches")


def test_an_id_may_be_forgotten_before_it_comes() -> None:
    events = [builders.forgotten([1, 2], "f"), captured("Use tabs.", 1), captured("Hello.", 2, "turn")]
    scope = world(*events)
    assert all(capture.hidden for capture in scope.captures.by_seq.values())
    assert only(world(*events, captured("use tabs.", 3))).hidden
    scope = world(builders.forgotten([1], "f"), builders.restored([1], "u"), captured("Use tabs.", 1))
    assert not only(scope).hidden


def test_dead_members_are_never_name_canonical_or_candidate() -> None:
    first = captured("The repo uses tabs", 1, origin="operator")
    second = captured("The repository uses tabs", 2)
    events = [first, second, builders.forgotten([1], "f")]
    row = only(world(*events))
    assert (row.id, row.text) == (make_id(2), "The repository uses tabs")
    assert (row.hidden, row.confirmations) == (False, 0)
    assert only(world(*events, builders.restored([1], "u"))).id == make_id(1)
    # With nothing of a memory alive, a similar text finds no candidate, and the very text still joins.
    dead = [captured("The repo uses tabs", 1), builders.forgotten([1], "f")]
    assert len(memories(world(*dead, captured("The repository uses tabs", 2)))) == 2
    assert only(world(*dead, captured("the repo uses tabs", 2))).hidden


def test_global_belongs_to_operators() -> None:
    events = [captured(f"from {it}", it, scope="global", origin=it) for it in ("agent", "operator")]
    partition = builders.partition_of(*events)
    scope = partition.scopes["global"]
    assert [scope.captures.body(it).text for it in scope.captures.by_seq.values()] == ["from operator"]
    assert partition.counters.ignored == 1


def test_recalls_are_kept_of_the_sessions_that_recalled_last_also_after_a_restore() -> None:
    """A session that recalls again is among the last; a restored state gives up the same session."""
    said = captured("Use tabs.", "it")
    shown = [recalled(["it"], f"r{n}", session=f"s{n}", sent=START + n) for n in range(SESSIONS)]
    again = recalled(["it"], "again", session="s0", sent=START + SESSIONS)
    more = recalled(["it"], "more", session="another", sent=START + SESSIONS)
    partition = builders.partition_of(said, *shown, again)
    other = restore(snapshot(partition))
    for state in (partition, other):
        fold(state, slots([more], start=SESSIONS + 3))
        kept = state.scopes["project:test"].recalls.latest
        assert len(kept) == SESSIONS and "s0" in kept and "another" in kept and "s1" not in kept
        echo = captured("use tabs", "echo", origin="agent", session="s0", sent=START + MINUTE)
        fold(state, slots([echo], start=SESSIONS + 4))
        (memory,) = state.scopes["project:test"].memories.by_birth.values()
        assert [join.how for join in memory.echoes] == ["echo"]
    assert snapshot(partition) == snapshot(other)


def test_a_second_event_of_an_id_is_counted_and_changes_nothing() -> None:
    first = captured("Use tabs.", 1)
    partition = builders.partition_of(first, first, captured("Use spaces.", 1))
    counters = partition.counters
    assert (counters.events, counters.duplicates, counters.divergent) == (1, 1, 1)
    assert partition.scopes["project:test"].seq == 1


@given(st.integers(-9, 9), st.integers(-9, 9))
def test_a_time_makes_no_repetition_another_event(given: int, again: int) -> None:
    repeated = captured("Use tabs.", 1, at=START + again, sent=START + 7)
    partition = builders.partition_of(captured("Use tabs.", 1, at=START + given), repeated)
    assert (partition.counters.duplicates, partition.counters.divergent) == (1, 0)


@given(st.permutations(range(5)))
def test_a_verdict_does_not_depend_on_the_order_in_which_texts_were_put(order: list[int]) -> None:
    texts = ["The build takes 5 minutes", "The build takes 6 minutes on CI", "The deploy takes 7 minutes"]
    texts += ["The build takes 9 minutes", "Five minutes is what the build takes"]
    candidates = Candidates()
    for birth in order:
        candidates.put(birth, texts[birth], birth)
    assert candidates.judge("the build takes five minutes!")[:2] == ("similar", 0)
    assert candidates.judge("The build takes 8 minutes").how == "new"


EAST, NEAR_EAST, NORTH = [2000, 0, 0], [1950, 400, 0], [0, 2000, 0]
FACT, AGAIN, OTHER = "the job needs 5 minutes", "Our job needs five minutes.", "the job needs 6 minutes"
RESTATED = "The job, please, needs  5 minutes!"


@pytest.mark.parametrize("vector", [EAST, NORTH])
def test_what_differs_in_form_alone_folds_whatever_its_vector(vector: list[int]) -> None:
    ports = "The API listens on port 8080", "the API listens on the port 8080."
    for one, other in ((FACT, RESTATED), ports):
        events = [captured(one), embedded(one, EAST), captured(other), embedded(other, vector)]
        assert texts_of(dense(*events)) == [[one, other]]


def test_other_specifics_never_fold_whatever_the_vectors() -> None:
    events = [captured(FACT), captured(OTHER), embedded(FACT, EAST), embedded(OTHER, NEAR_EAST)]
    for order in (events, [*events[:2], *reversed(events[2:])]):
        assert texts_of(dense(*order)) == [[FACT], [OTHER]]


def test_vectors_of_another_embedder_are_never_compared() -> None:
    scope = dense(captured(FACT), embedded(FACT, EAST), captured(AGAIN), embedded(AGAIN, EAST, "other@1/3"))
    assert texts_of(scope) == [[FACT], [AGAIN]]
    assert set(scope.embeddings.vectors) == {TINY, "other@1/3"}


def test_the_first_vector_of_a_text_counts() -> None:
    second = embedded(FACT, NORTH)
    for event in (second, msgspec.structs.replace(second, id=make_id("stranger"))):
        scope = dense(captured(FACT), embedded(FACT, EAST), event, captured(AGAIN), embedded(AGAIN, EAST))
        assert scope.embeddings.vectors[TINY][0] == pack(EAST)
        assert texts_of(scope) == [[FACT, AGAIN]]


def test_an_agent_that_repeats_what_it_was_shown_is_an_echo_also_when_its_vector_comes_late() -> None:
    shown = [captured(FACT), embedded(FACT, EAST), recalled([FACT], "r", session="s")]
    said = captured(AGAIN, origin="agent", session="s")
    later = [recalled([], f"r{number}", session="s") for number in range(5)]
    assert texts_of(dense(*shown, said, *later, embedded(AGAIN, EAST))) == [[FACT, f"({AGAIN})"]]
    told = captured(AGAIN, origin="user", session="s")
    assert texts_of(dense(*shown, told, *later, embedded(AGAIN, EAST))) == [[FACT, AGAIN]]


def test_a_switch_keeps_past_folds_and_compares_by_the_new_vectors() -> None:
    past = [captured(FACT), embedded(FACT, EAST), captured(AGAIN), embedded(AGAIN, EAST)]
    new = [embedded(name, vector, "other@1/3") for name, vector in ((FACT, NORTH), (AGAIN, EAST))]
    switch = configured(Settings(embedder="other@1/3"), 1)
    third = "A job needs five minutes"
    scope = dense(*past, *new, switch, captured(third, "third"), embedded("third", EAST, "other@1/3"))
    assert texts_of(scope) == [[FACT, AGAIN, third]]


def test_what_is_said_while_folding_is_off_is_compared_once_it_has_a_vector() -> None:
    """Also where the vector came for the same words elsewhere, and where unfolding ended the wait."""
    off = configured(Settings(embedder=TINY, fold_cosine_hundredths=-1), 1)
    on = configured(Settings(embedder=TINY), 2)
    twice = [captured(FACT, 1), off, captured(FACT, 2), on]
    late = [captured(AGAIN), embedded(AGAIN, EAST)]
    assert texts_of(dense(*twice, embedded(1, EAST), *late)) == [[FACT, FACT, AGAIN]]
    apart = builders.unfolded([1], "x")
    assert texts_of(dense(*twice, embedded(2, EAST), apart, *late)) == [[FACT, AGAIN], [FACT]]


@pytest.mark.parametrize(("cosines", "found"), [({TINY: 100}, 2), ({"other@1/3": 100}, 1), ({}, 1)])
def test_an_embedder_has_its_own_threshold(cosines: dict[str, int], found: int) -> None:
    settings = Settings(embedder=TINY, fold_cosines_hundredths=cosines)
    said = [captured(FACT), embedded(FACT, EAST), captured(AGAIN), embedded(AGAIN, NEAR_EAST)]
    assert len(texts_of(dense(*said, settings=settings))) == found


COMPONENTS = st.integers(-2_000, 2_000)
VECTORS = st.tuples(COMPONENTS, COMPONENTS, COMPONENTS).filter(any)
LONG = "The nightly job of Ada copies the orders table to the archive in Bern"
TEXTS = st.sampled_from(
    (FACT, AGAIN, OTHER, RESTATED, "a deploy takes five minutes", "five builds take a minute", LONG,
     f"{LONG} every 5 minutes", f"That {LONG[4:]}"),
)  # fmt: skip
PUT = st.lists(st.tuples(st.integers(0, 9), TEXTS, VECTORS), max_size=25)


@given(PUT, TEXTS, VECTORS, st.integers(1, 100))
def test_the_verdict_is_that_of_comparing_one_by_one(
    put: list[tuple[int, str, tuple[int, ...]]], text: str, vector: tuple[int, ...], hundredths: int
) -> None:
    """In exact fractions, whatever was put, replaced and dropped before."""
    plain = Candidates()
    held: dict[int, tuple[str, tuple[int, ...]]] = {}
    for birth, said, other in put:
        if birth in held and held[birth][0] == said:
            plain.drop(birth)
            del held[birth]
        else:
            plain.put(birth, said, birth, pack(list(other)))
            held[birth] = (said, other)

    def cosine_square(other: tuple[int, ...]) -> Fraction:
        dot = sum(a * b for a, b in zip(vector, other, strict=True))
        return Fraction(max(dot, 0) ** 2, sum(a * a for a in vector) * sum(b * b for b in other))

    least = Fraction(hundredths**2, 10_000)
    similar = {birth for birth, (_, other) in held.items() if cosine_square(other) >= least}
    similar = {birth for birth in similar if cosine_square(held[birth][1])}
    form_of = {birth: specifics(read(said)).form for birth, (said, _) in held.items()}
    worded = {birth for birth, form in form_of.items() if form == specifics(read(text)).form}
    folding = {birth for birth in similar if same_specifics(held[birth][0], text)}
    verdict = plain.judge(text, pack(list(vector)), hundredths)
    if worded:
        assert verdict == ("similar", min(worded), 10_000)
        return
    assert verdict.how == ("similar" if folding else "new")
    if folding:
        best = max(cosine_square(held[birth][1]) for birth in folding)
        assert verdict.birth in folding
        found = cosine_square(held[verdict.birth][1])
        # Nearness is compared in whole numbers of 24 bits, so that very nearly equal ones may count as equal.
        assert best - found <= Fraction(1, sum(a * a for a in vector))
        assert abs(Fraction(verdict.similarity, 10_000) ** 2 - found) <= Fraction(3, 10_000)
