"""Folding by recorded vectors: what folds, what waits; and that no order of looking changes it."""

from __future__ import annotations

from fractions import Fraction

import msgspec
import pytest
from builders import TINY, captured, configured, embedded, make_id, pack, recalled, slots, unfolded
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.events import Event
from memtape.schemas.settings import Settings
from memtape.state.core.partition import Partition, fold
from memtape.state.core.scope import Scope
from memtape.state.fold.candidates import Candidates
from memtape.state.fold.near_verbatim import same_specifics, specifics
from memtape.state.subjects.memories import Memory

EAST, NEAR_EAST, NORTH = [4000, 0, 0], [3900, 800, 0], [0, 4000, 0]


def scope_of(*events: Event, settings: Settings | None = None) -> Scope:
    partition = Partition(0)
    fold(partition, slots([configured(settings or Settings(embedder=TINY)), *events]))
    return partition.scopes["project:test"]


def memories(scope: Scope) -> list[list[str]]:
    """The texts of each memory's members, echoes marked, in the order of births."""
    by_seq = scope.captures.by_seq

    def texts(memory: Memory) -> list[str]:
        said = [by_seq[join.seq].own.text for join in memory.members]
        return said + [f"({by_seq[join.seq].own.text})" for join in memory.echoes]

    return [texts(memory) for memory in sorted(scope.memories.by_birth.values(), key=lambda memory: memory.birth)]


FACT, AGAIN, OTHER = "the job needs 5 minutes", "Our job needs five minutes.", "the job needs 6 minutes"
RESTATED = "The job, please, needs  5 minutes!"


@pytest.mark.parametrize("vector", [EAST, NORTH])
def test_what_differs_in_form_alone_folds_whatever_its_vector(vector: list[int]) -> None:
    for one, other in ((FACT, RESTATED), ("The API listens on port 8080", "the API listens on the port 8080.")):
        events = [captured(one), embedded(one, EAST), captured(other), embedded(other, vector)]
        assert memories(scope_of(*events)) == [[one, other]]


def test_other_specifics_never_fold_whatever_the_vectors() -> None:
    events = [captured(FACT), captured(OTHER), embedded(FACT, EAST), embedded(OTHER, NEAR_EAST)]
    for order in (events, [*events[:2], *reversed(events[2:])]):
        assert memories(scope_of(*order)) == [[FACT], [OTHER]]


def test_vectors_of_another_embedder_are_never_compared() -> None:
    scope = scope_of(captured(FACT), embedded(FACT, EAST), captured(AGAIN), embedded(AGAIN, EAST, "other@1/3"))
    assert memories(scope) == [[FACT], [AGAIN]]
    assert set(scope.embeddings.vectors) == {TINY, "other@1/3"}


def test_the_first_vector_of_a_text_counts() -> None:
    scope = scope_of(
        captured(FACT), embedded(FACT, EAST), embedded(FACT, NORTH), captured(AGAIN), embedded(AGAIN, EAST)
    )
    assert scope.embeddings.vectors[TINY][0] == pack(EAST)
    assert memories(scope) == [[FACT, AGAIN]]
    # Also where somebody gives the second an id of its own.
    stranger = msgspec.structs.replace(embedded(FACT, NORTH), id=make_id("stranger"))
    scope = scope_of(captured(FACT), embedded(FACT, EAST), stranger)
    assert scope.embeddings.vectors[TINY][0] == pack(EAST)


def test_an_agent_that_repeats_what_it_was_shown_is_an_echo_also_when_its_vector_comes_late() -> None:
    shown = [captured(FACT), embedded(FACT, EAST), recalled([FACT], "r", session="s")]
    said = captured(AGAIN, origin="agent", session="s")
    later = [recalled([], f"r{number}", session="s") for number in range(5)]
    assert memories(scope_of(*shown, said, *later, embedded(AGAIN, EAST))) == [[FACT, f"({AGAIN})"]]
    told = captured(AGAIN, origin="user", session="s")
    assert memories(scope_of(*shown, told, *later, embedded(AGAIN, EAST))) == [[FACT, AGAIN]]


def test_a_switch_keeps_past_folds_and_compares_by_the_new_vectors() -> None:
    past = [captured(FACT), embedded(FACT, EAST), captured(AGAIN), embedded(AGAIN, EAST)]
    new = [embedded(name, vector, "other@1/3") for name, vector in ((FACT, NORTH), (AGAIN, EAST))]
    switch = configured(Settings(embedder="other@1/3"), 1)
    third = "A job needs five minutes"
    scope = scope_of(*past, *new, switch, captured(third, "third"), embedded("third", EAST, "other@1/3"))
    assert memories(scope) == [[FACT, AGAIN, third]]


def test_what_is_said_while_folding_is_off_is_compared_as_soon_as_its_text_has_a_vector() -> None:
    """Also where the vector came for the same words, said and waiting elsewhere; and where unfolding ended the wait."""
    off = configured(Settings(embedder=TINY, fold_cosine_hundredths=-1), 1)
    on = configured(Settings(embedder=TINY), 2)
    twice = [captured(FACT, 1), off, captured(FACT, 2), on]
    late = [captured(AGAIN), embedded(AGAIN, EAST)]
    assert memories(scope_of(*twice, embedded(1, EAST), *late)) == [[FACT, FACT, AGAIN]]
    assert memories(scope_of(*twice, embedded(2, EAST), unfolded([1], "x"), *late)) == [[FACT, AGAIN], [FACT]]


@pytest.mark.parametrize(("cosines", "found"), [({TINY: 100}, 2), ({"other@1/3": 100}, 1), ({}, 1)])
def test_an_embedder_has_its_own_threshold(cosines: dict[str, int], found: int) -> None:
    settings = Settings(embedder=TINY, fold_cosines_hundredths=cosines)
    said = [captured(FACT), embedded(FACT, EAST), captured(AGAIN), embedded(AGAIN, NEAR_EAST)]
    assert len(memories(scope_of(*said, settings=settings))) == found


COMPONENTS = st.integers(-2_000, 2_000)
VECTORS = st.tuples(COMPONENTS, COMPONENTS, COMPONENTS).filter(any)
LONG = "The nightly job of Ada copies the orders table to the archive in Bern"
TEXTS = st.sampled_from(
    (FACT, AGAIN, OTHER, RESTATED, "a deploy takes five minutes", "five builds take a minute", LONG,
     f"{LONG} every 5 minutes", f"That {LONG[4:]}"),
)  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 9), TEXTS, VECTORS), max_size=25), TEXTS, VECTORS, st.integers(1, 100))
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

    similar = {birth for birth, (_, other) in held.items() if cosine_square(other) >= Fraction(hundredths**2, 10_000)}
    similar = {birth for birth in similar if cosine_square(held[birth][1])}
    form_of = {birth: specifics(said).form for birth, (said, _) in held.items()}
    worded = {birth for birth, form in form_of.items() if form == specifics(text).form}
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
