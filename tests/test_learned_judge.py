"""The learned judge decides pairs that no rule tells, of writers from whom it has not learned."""

from __future__ import annotations

from collections import Counter

import pytest
from bench.judging import HELD_BACK, Pair, found_by, rows
from hypothesis import given
from hypothesis import strategies as st

from memtape.state.fold.features import Features, features_of
from memtape.state.fold.learned_judge import DECIDES, PROPOSES, Judgement, judge
from memtape.state.text.certainty import CERTAIN, certainty_of
from memtape.state.text.reading import Reading, read

TRAPS = ("added", "converse", "differs", "negation", "topic")
HELD = [row for row in rows("pairs") if row["writer"] in HELD_BACK]
texts = st.sampled_from([row["a"] for row in HELD]) | st.text()


def test_of_writers_who_are_held_back_much_is_found_and_little_wrongly() -> None:
    decided, pairs = Counter[tuple[str, str]](), Counter[str]()
    for row in HELD:
        pairs[row["kind"]] += 1
        found = judge(read(row["a"]), read(row["b"]))
        decided[row["kind"], found.verdict] += found.is_decided
    assert decided["moderate", "same"] * 3 >= pairs["moderate"]
    assert sum(decided[kind, "same"] for kind in TRAPS) * 50 <= sum(pairs[kind] for kind in TRAPS)
    assert decided["value", "same"] * 50 <= pairs["value"]
    assert decided["near", "replaces"] == decided["moderate", "replaces"] == 0 < decided["value", "replaces"]
    assert decided["negation", "contradicts"] >= 5


@given(texts, texts, st.none() | st.integers(-CERTAIN, CERTAIN))
def test_any_two_texts_have_a_verdict_that_follows_from_them_alone(
    one: str, other: str, cosine: int | None
) -> None:
    found = judge(Reading(one), Reading(other), cosine)
    assert found == judge(read(one), read(other), cosine) and 0 <= found.certainty <= CERTAIN
    assert found.verdict == "apart" or found.certainty >= PROPOSES[found.verdict]
    assert not (found.verdict == "apart" and found.is_decided)
    assert all(isinstance(it, int) for it in features_of(read(one), read(other), cosine))


def test_a_verdict_is_decided_only_where_it_is_surer_than_proposed() -> None:
    assert DECIDES.keys() == PROPOSES.keys() == {"same", "replaces", "contradicts"}
    assert all(PROPOSES[verdict] < least <= CERTAIN for verdict, least in DECIDES.items())
    assert Judgement("same", DECIDES["same"]).is_decided
    assert not Judgement("same", DECIDES["same"] - 1).is_decided


@given(st.integers(-200_000, 200_000))
def test_a_certainty_rises_with_its_margin_and_is_half_at_none(margin: int) -> None:
    assert certainty_of(0) == CERTAIN // 2 and certainty_of(margin) <= certainty_of(margin + 1)
    assert certainty_of(margin) + certainty_of(-margin) in (CERTAIN, CERTAIN - 1)


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        ("We use Redis.", "We no longer use Redis.", {"denied_once": 1, "denials_of_newer": 1}),
        ("Call at two.", "Call at 2.", {"numbers_shared": 1, "numbers_of_newer": 0}),
        ("Ask Ben.", "Ask Ann.", {"names_shared": 0, "names_of_older": 1, "names_of_newer": 1}),
        ("Ben checks Ann.", "Ann checks Ben.", {"shared": 3, "inverted": 100}),
        ("Tests are run.", "Run the tests daily.", {"shared": 2, "newer_alone": 1, "begins_alike": 0}),
    ],
)
def test_features_count_what_their_names_say(older: str, newer: str, expected: dict[str, int]) -> None:
    found = features_of(read(older), read(newer), None)
    assert {name: int(getattr(found, name)) for name in expected} == expected
    assert found.cosine == -1 and len(found) == len(Features._fields)


def test_what_is_found_is_counted_by_kind() -> None:
    pair = Pair("The port is 5433.", "the port is 5433", "near", "same", CERTAIN)
    other = pair._replace(newer="The port of staging is 5433.", kind="added")
    lines = list(found_by([pair, other], lambda _: Judgement("same", CERTAIN)))
    assert [" ".join(line.split()) for line in lines] == [
        "added 1 decided same, 1 pairs, 1 proposed same", "near 1 by rule, 1 pairs",
    ]  # fmt: skip
