"""Of memories about the same thing the latest stands first: by words of one family, by values of one class, by whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import data_of

from memtape.schemas.times import DAY_US, HOUR_US
from memtape.state.ranking.currency import FoundMemory, Likeness, about_one, are_changes, latest_first, memory
from memtape.state.subjects.captures import TRUST
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client

AT = 1_700_000_000_000_000
CASES = data_of("currency")


def told(text: str, at: int, held: float, origin: Any = "user") -> FoundMemory:
    return memory("fact", TRUST[origin], AT + at, text, held, {})


def order(*found: FoundMemory) -> list[int]:
    return [placed.number for placed in latest_first(found)]


@pytest.mark.parametrize(("older", "newer", "is_first"), CASES["first"])
def test_another_value_of_one_class_of_the_same_thing_stands_first(older: str, newer: str, is_first: bool) -> None:
    """Though it holds less of the question; what else is told of the thing stands where it was found."""
    assert order(told(older, 0, 1.0), told(newer, DAY_US, 0.3)) == ([1, 0] if is_first else [0, 1])


def test_texts_are_about_one_thing_that_are_alike_or_each_others_nearest() -> None:
    cosines = np.array([[1, 0.41, 0.1, 0.3], [0.41, 1, 0.2, 0.1], [0.1, 0.2, 1, 0.26], [0.3, 0.1, 0.26, 1]])
    about = about_one(cosines)
    assert (about == about.T).all()
    assert [(one, other) for one, other in zip(*np.nonzero(about), strict=True) if one < other] == [(0, 1)]
    assert about_one(np.array([[1, 0.26], [0.26, 1]])).tolist() == [[False, True], [True, False]]
    assert not about_one(np.array([[1, 0.24], [0.24, 1]])).any()


def test_a_change_is_told_though_its_subject_has_other_words() -> None:
    texts = ["The daily sync is at 9:15.", "Stand-up moved to 16:00.", "Lunch is at 12:30."]
    cosines = np.array([[1.0, 0.26, 0.26], [0.26, 1.0, 0.24], [0.26, 0.24, 1.0]])
    assert are_changes(cosines, texts).tolist() == [[False] * 3, [True, True, False], [False] * 3]
    older, newer = told(texts[0], 0, 0.0), told(texts[1], DAY_US, 0.0)
    for likeness, first in ((Likeness.ALIKE, 0), (Likeness.CHANGE, 1)):
        assert latest_first([older, newer], lambda one, other, it=likeness: it)[0].number == first  # type: ignore[misc]
    older, newer = told("We bank with Commerzbank.", 0, 0.0), told("Our account is at Sparkasse.", DAY_US, 0.0)
    for likeness, first in ((Likeness.NONE, 0), (Likeness.ALIKE, 1)):
        assert latest_first([older, newer], lambda one, other, it=likeness: it)[0].number == first  # type: ignore[misc]


def test_what_is_said_in_one_sitting_stands_side_by_side() -> None:
    texts = "The main database is MariaDB.", "The database password is in the vault under db/main."
    assert order(told(texts[0], 0, 1.0), told(texts[1], HOUR_US - 1, 1.0)) == [0, 1]
    assert order(told(texts[0], 0, 1.0), told(texts[1], HOUR_US, 1.0)) == [1, 0]


@pytest.mark.parametrize("weaker", ["agent", "tool", "web", "model"])
def test_what_people_said_stands_above_another_value_by_who_is_trusted_less(weaker: str) -> None:
    said = told("The payments API listens on 7001.", 0, 0.6)
    guessed = told("The payments API is probably served on port 3000.", DAY_US, 1.0, weaker)
    assert order(guessed, said) == [1, 0]
    assert order(guessed._replace(values=()), said) == [0, 1]


def test_words_of_one_family_hold_of_a_question_what_a_text_has_not() -> None:
    def by_kin(text: str, asked: dict[str, float]) -> float:
        return memory("fact", 1, AT, text, 0, asked).held

    asked = {"own": 0.5, "search": 0.25, "index": 0.25}
    assert by_kin("For the search indexer, Tomasz is the owner.", asked) == 0.5
    assert by_kin("He owns the search indexer.", asked) == 0
    assert by_kin("The CRM admin is Sofia.", {"administ": 1.0}) == 1
    assert by_kin("The port is open.", {"portal": 1.0}) == 0


def test_a_search_serves_the_later_value_and_marks_the_earlier(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:p", origin="user") as client:
        texts = "Our kiln is fired by Marta.", "Ines fires our kiln."
        older, newer = (
            client.capture_many([Line(text=text, kind="fact", at=AT + n * DAY_US)])[0].id
            for n, text in enumerate(texts)
        )
        client.project()
        found = client.search("Who fires our kiln?").results
        assert [(it.id, it.newer) for it in found] == [(newer, None), (older, newer)]
        assert f"older than {newer}" in found[1].marks and found[1].valid_to is None


def test_what_a_project_tells_otherwise_stands_above_what_holds_everywhere(tmp_path: Path) -> None:
    texts = [f"The staging database listens on port {port}." for port in (5433, 5434)]
    with Client(tmp_path, scope="global", origin="operator") as everywhere:
        older = everywhere.capture(texts[0], at=AT).id
    for origin, is_first in (("agent", False), ("user", True)):
        with Client(tmp_path, scope=f"project:{origin}", origin=origin) as client:
            newer = client.capture(texts[1], at=AT + 3 * DAY_US).id
            client.project()
            found = {it.id: it for it in client.search("Which port has the staging database?").results}
            assert found.keys() == {older, newer} and found[older].valid_to is None
            told = f"project:{origin} tells otherwise since 2023-11-17: {newer}"
            assert (told in found[older].marks, found[older].newer == newer) == (is_first, is_first)
            assert list(found) == [newer, older] or not is_first
    with Client(tmp_path, scope="project:other", origin="user") as other:
        (only,) = other.search("Which port has the staging database?").results
        assert only.id == older and not any("otherwise" in mark for mark in only.marks)


@pytest.mark.parametrize(("one", "other", "is_marked"), CASES["marked"])
def test_a_value_of_one_thing_is_not_older_than_that_of_another(one: str, other: str, is_marked: bool) -> None:
    """Whichever was said later; and however much of the question each holds."""
    for texts in ((one, other), (other, one)):
        for held in ((1.0, 1.0),) if is_marked else ((1.0, 0.4), (0.4, 1.0), (1.0, 1.0)):
            found = [told(text, n * DAY_US, share) for n, (text, share) in enumerate(zip(texts, held, strict=True))]
            placed = latest_first(found)
            assert any(it.above for it in placed) is is_marked
