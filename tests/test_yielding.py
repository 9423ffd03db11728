"""Answers before questions: what only asks, or was said a moment ago in the session that searches, stands below."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from builders import data_of
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.times import US_PER_S
from memtape.state.ranking.yielding import below
from memtape.state.text.asking import only_asks
from memtape.tools.capture.lines import Line
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client

PROMPTS = (
    "Which port does the staging database listen on?",
    "What was the port of the staging database again?",
    "staging database port?",
)
ASKED, SAID = "staging database port", data_of("asking")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope="project:mine", actor="Ada", origin="user") as client:
        yield client


def say(client: Client, text: str, session: str, *, by_agent: bool = False, ago_s: int = 0) -> str:
    line = Line(
        text=text,
        kind="turn",
        actor="claude" if by_agent else "Ada",
        origin="agent" if by_agent else "user",
        session=session,
        at=now_us() - ago_s * US_PER_S,
    )
    return client.capture_many([line])[0].id


def places(client: Client, query: str = ASKED, session: str | None = None) -> list[str]:
    client.session = session
    return [result.text for result in client.search(query, 50, quiet=True).results]


@pytest.mark.parametrize("projected", [False, True])
def test_three_prompts_about_a_port_stand_below_the_port(client: Client, projected: bool) -> None:
    say(
        client,
        "We moved staging: its database now listens on 5433, the port of production is 5432.",
        "s-0",
        ago_s=9_000,
    )
    for number, prompt in enumerate(PROMPTS):
        say(client, prompt, f"s-{number}", ago_s=5_000)
    fact = "The staging database listens on port 5433."
    client.capture(fact)
    if projected:
        client.project()
    for query in (ASKED, *PROMPTS):
        found = places(client, query)
        assert set(found[-3:]) == set(PROMPTS) and fact in found[:2], "nothing is lost, and answers come first"


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
        answers = [m for m in range(size) if not yields[m] and held and 2 * (answering[m] & own[n]).sum() >= held]
        if yields[n] and answers:
            below_all, below_best = (lowered[n] < pick(lowered[m] for m in answers) for pick in (min, max))
            assert below_all if asks[n] else below_best
        else:
            assert lowered[n] == scores[n], "what nothing answers stays where it is"


@pytest.mark.parametrize("text", [*PROMPTS, *SAID["asks"]])
def test_a_question_only_asks(text: str) -> None:
    assert only_asks(text)


@pytest.mark.parametrize("text", SAID["tells"])
def test_what_tells_something_does_not_only_ask(text: str) -> None:
    assert not only_asks(text)


@given(st.text(max_size=200))
def test_of_any_text_it_can_be_told_whether_it_asks(text: str) -> None:
    assert only_asks(text) in (True, False)
    assert not only_asks(f"{text}\nThe port is 5433.")
