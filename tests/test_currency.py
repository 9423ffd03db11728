"""What stands first: of memories about one thing the latest, and answers before questions and fresh talk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from memtape.schemas.times import DAY_US, HOUR_US, US_PER_S
from memtape.state.ranking.currency import FoundMemory, Likeness, about_one, are_changes, latest_first, memory
from memtape.state.ranking.yielding import below
from memtape.state.subjects.captures import TRUST
from memtape.state.text.questions import only_asks
from memtape.state.text.reading import read
from memtape.tools.capture.writing import Line, now_us
from memtape.tools.client import Client

AT = 1_700_000_000_000_000
CASES = table("currency")


def told(text: str, at: int, held: float, origin: Any = "user") -> FoundMemory:
    return memory("fact", TRUST[origin], AT + at, read(text), held, {})


def order(*found: FoundMemory) -> list[int]:
    return [placed.number for placed in latest_first(found)]


@pytest.mark.parametrize(("older", "newer", "is_first"), CASES["first"])
def test_another_value_of_one_class_of_one_thing_stands_first(older: str, newer: str, is_first: bool) -> None:
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
        assert next(latest_first([older, newer], lambda one, other, it=likeness: it)).number == first
    older = told("We bank with Commerzbank.", 0, 0.0)
    newer = told("Our account is at Sparkasse.", DAY_US, 0.0)
    for likeness, first in ((Likeness.NONE, 0), (Likeness.ALIKE, 1)):
        assert next(latest_first([older, newer], lambda one, other, it=likeness: it)).number == first


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
        return memory("fact", 1, AT, read(text), 0, asked).held

    asked = {"own": 0.5, "search": 0.25, "index": 0.25}
    assert by_kin("For the search indexer, Tomasz is the owner.", asked) == 0.5
    assert by_kin("He owns the search indexer.", asked) == 0
    assert by_kin("The CRM admin is Sofia.", {"administ": 1.0}) == 1
    assert by_kin("The port is open.", {"portal": 1.0}) == 0


def test_a_search_serves_the_later_value_and_marks_the_earlier(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:p", origin="user") as client:
        texts = "Our kiln is fired by Marta.", "Ines fires our kiln."
        lines = [Line(text=text, kind="fact", at=AT + n * DAY_US) for n, text in enumerate(texts)]
        older, newer = (receipt.id for receipt in client.capture_many(lines))
        client.project()
        found = client.search("Who fires our kiln?").results
        assert [(it.id, it.newer) for it in found] == [(newer, None), (older, newer)]
        assert f"older than {newer}" in found[1].marks and found[1].valid_to is None
        told = Line(text="Karl fires our kiln.", kind="fact", at=AT + 9 * DAY_US, origin="agent")
        client.capture_many([told])
        marks = {it.text: it.marks for it in client.search("Who fires our kiln?").results}
        assert not any("older" in mark for mark in marks[told.text]), "the latest, below what people said"


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
def test_a_value_of_one_thing_is_not_older_than_that_of_another(one: str, other: str, is_marked: Any) -> None:
    """Whichever was said later; and however much of the question each holds."""
    for texts in ((one, other), (other, one)):
        for held in ((1.0, 1.0),) if is_marked else ((1.0, 0.4), (0.4, 1.0), (1.0, 1.0)):
            pairs = enumerate(zip(texts, held, strict=True))
            found = [told(text, n * DAY_US, share) for n, (text, share) in pairs]
            placed = list(latest_first(found))
            assert any(it.above for it in placed) is is_marked


PROMPTS = ("Which port does the staging database listen on?",
           "What was the port of the staging database again?", "staging database port?")  # fmt: skip
ASKED, SAID = "staging database port", table("asking")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope="project:mine", actor="Ada", origin="user") as client:
        yield client


def say(client: Client, text: str, session: str, *, by_agent: bool = False, ago_s: int = 0) -> str:
    by: Any = {"actor": "claude", "origin": "agent"} if by_agent else {"actor": "Ada", "origin": "user"}
    line = Line(text=text, kind="turn", session=session, at=now_us() - ago_s * US_PER_S, **by)
    return client.capture_many([line])[0].id


def places(client: Client, query: str = ASKED, session: str | None = None) -> list[str]:
    client.session = session
    return [result.text for result in client.search(query, 50, quiet=True).results]


@pytest.mark.parametrize("projected", [False, True])
def test_three_prompts_about_a_port_stand_below_the_port(client: Client, projected: bool) -> None:
    moved = "We moved staging: its database now listens on 5433, the port of production is 5432."
    say(client, moved, "s-0", ago_s=9_000)
    for number, prompt in enumerate(PROMPTS):
        say(client, prompt, f"s-{number}", ago_s=5_000)
    fact = "The staging database listens on port 5433."
    client.capture(fact)
    if projected:
        client.project()
    for query in (ASKED, *PROMPTS):
        found = places(client, query)
        assert set(found[-3:]) == set(PROMPTS) and fact in found[:2], "answers come first, nothing is lost"


def test_an_answer_is_known_by_the_question_before_it(client: Client) -> None:
    for number, prompt in enumerate(PROMPTS[:2]):
        say(client, prompt, f"s-{number}", ago_s=5_000)
        say(client, f"{5433 + number}.", f"s-{number}", by_agent=True, ago_s=4_999)
    say(client, PROMPTS[2], "s-2", ago_s=4_000)
    found = places(client)
    assert set(found[:2]) == {"5433.", "5434."} and set(found[2:]) == set(PROMPTS)


def test_what_a_session_has_just_said_is_not_its_own_first_hit(client: Client) -> None:
    old = "The staging database listens on port 5433."
    new = "I am looking into the port of the staging database now; the staging database port is odd."
    say(client, old, "before", ago_s=900)
    say(client, new, "mine")
    assert places(client, session="other")[0] == new and places(client)[0] == new
    assert places(client, session="mine") == [old, new]


SIZES = st.integers(1, 8)


@given(st.data(), SIZES, st.integers(1, 4))
def test_each_that_yields_stands_below_all_that_answer_it_and_others_stay(
    data: st.DataObject, size: int, terms: int
) -> None:
    flags = st.lists(st.booleans(), min_size=size, max_size=size)
    rows = st.lists(st.lists(st.booleans(), min_size=terms, max_size=terms), min_size=size, max_size=size)
    asks, said = np.array(data.draw(flags)), np.array(data.draw(flags))
    own = np.array(data.draw(rows))
    answering = own | np.array(data.draw(rows))
    scores = np.array(data.draw(st.lists(st.integers(1, 1_000), min_size=size, max_size=size))) / 1_000
    lowered = below(scores, asks, said, own, answering)
    yields = asks | said
    assert (lowered[~yields] == scores[~yields]).all() and (lowered <= scores).all() and (lowered >= 0).all()
    for n in range(size):
        held = own[n].sum()
        answers = [m for m in range(size) if not yields[m] and 2 * (answering[m] & own[n]).sum() >= held > 0]
        if yields[n] and answers:
            below_all, below_best = (lowered[n] < pick(lowered[m] for m in answers) for pick in (min, max))
            assert below_all if asks[n] else below_best
        else:
            assert lowered[n] == scores[n], "what nothing answers stays where it is"


@pytest.mark.parametrize("text", [*PROMPTS, *SAID["asks"], *SAID["tells"]])
def test_a_question_only_asks_and_what_tells_something_does_not(text: str) -> None:
    assert only_asks(read(text)) is (text not in SAID["tells"])


@given(st.text(max_size=200))
def test_of_any_text_it_can_be_told_whether_it_asks(text: str) -> None:
    assert only_asks(read(text)) in (True, False)
    assert not only_asks(read(f"{text}\nThe port is 5433."))
