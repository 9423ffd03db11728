"""What is put before an agent that did not ask: the rule, its weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from memtape.schemas.events import STATED_TAG
from memtape.schemas.rows import Provenance
from memtape.state.ranking.lexical import Weighed
from memtape.state.ranking.sure import LEAST_BESIDE, LEAST_HELD, sure_for
from memtape.tools.agents.offering import MOST, offered
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client

HEAD = "From this project's memory"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope="project:mine", actor="Ada", origin="user") as client:
        yield client


def talk(client: Client) -> None:
    """Capture what two people say to each other in two sessions."""
    said = (("Ben", "Guess what, I sold my old violin to a museum in Ghent."),
            ("Ada", "Congratulations! I went kayaking with my cousin Otto on the Mosel last weekend."),
            ("Ben", "Was it cold?"), ("Ada", "Freezing, and Otto lost a paddle."),
            ("Ben", "I will bake rye bread for the picnic on Sunday."),
            ("Ada", "Then I bring cheese and my telescope."))  # fmt: skip
    for number, (actor, text) in enumerate(said):
        session = f"s-{number // 3}"
        client.capture_many([Line(text=text, kind="turn", actor=actor, origin="user", session=session)])
    client.project()


def given_for(client: Client, prompt: str, session: str = "now") -> str:
    return offered(client, prompt, session)[0]


@pytest.mark.parametrize(("prompt", "text"), table("sentences")["answered"])
def test_a_question_is_given_what_answers_it(client: Client, prompt: str, text: str) -> None:
    talk(client)
    told = given_for(client, prompt)
    assert told.startswith(HEAD) and text in told


@pytest.mark.parametrize("prompt", table("sentences")["unanswered"])
def test_what_the_memory_does_not_answer_is_given_nothing(client: Client, prompt: str) -> None:
    talk(client)
    assert given_for(client, prompt) == ""


def test_a_memory_is_given_whomever_the_prompt_names_and_no_question(client: Client) -> None:
    talk(client)
    client.capture("Ben prefers the violin strings of Otto.", "fact")
    assert "strings" in given_for(client, "Which violin strings does Ben like?")
    asked = "Where does the harpsichord of Mira hang now?"
    for origin in ("user", "operator"):
        client.capture_many([Line(text=asked, kind="turn", actor="Ben", origin=origin, session=origin)])
    assert given_for(client, "Where does the harpsichord of Mira hang now, and since when?") == ""


def test_a_young_scope_gives_what_it_has_and_at_most_so_many(client: Client) -> None:
    client.capture("The staging kayak listens on port 5433.")
    for prompt in ("On which port does the staging kayak listen?", "Is the staging port ok?"):
        assert "5433" in given_for(client, prompt)
    for prompt in ("Who plays the staging violin?", "staging"):  # One word of several, and no question.
        assert given_for(client, prompt) == ""
    assert "5433" in given_for(client, "Which kayak is it?")
    for number in range(9):
        client.capture(f"The violin in museum {number} of Ghent is {number} years old.")
    assert given_for(client, "How old is the violin in the Ghent museum?").count("\n- ") == MOST


def test_what_was_replaced_is_not_given_and_what_holds_is_as_sure(client: Client) -> None:
    old = client.capture("The staging kayak database listens on port 5433.").id
    text = "The staging kayak database listens on port 5433, I think."
    client.capture_many([Line(text=text, kind="turn", session="x")])
    new = client.update(old, "We moved it to Ghent, port 5434.").id
    client.update(new, "We moved it to Bruges, port 5435.")
    client.project()
    told = given_for(client, "On which port does the staging kayak database listen?")
    assert "5435" in told and "on port 5433" not in told and "to Ghent" not in told


candidates = st.builds(
    SimpleNamespace, kind=st.sampled_from(["turn", "fact"]), origin=st.sampled_from(["user", "agent"]),
    actor=st.sampled_from(["Ada", "Ben"]), tags=st.sampled_from([(), (STATED_TAG, "fact"), ("a", "b")]),
    text=st.sampled_from(["The violin is in Ghent.", "Otto lost a paddle.", "Where is it?", "A violin?"]),
    provenance=st.sampled_from([(Provenance("user", "mine"),), (Provenance("user", "other"),), ()]),
)  # fmt: skip
shares = st.sampled_from([0.0, 0.2, LEAST_BESIDE, 0.4, LEAST_HELD, 0.9, 1.0])
names = st.sampled_from([None, "Ada", "Ben"])


@given(st.lists(st.tuples(candidates, shares), max_size=8), names, st.integers(1, 5))
def test_what_is_sure_holds(found: list[tuple[Any, float]], named: str | None, limit: int) -> None:
    results = [result for result, _ in found]
    share_of = {id(result): share for result, share in found}
    weighed = [Weighed(share, named) for _, share in found]
    sure = sure_for("Is the violin there?", "mine")(results, weighed, limit)
    numbers = [next(n for n, result in enumerate(results) if result is one) for one in sure]
    assert numbers == sorted(set(numbers)) and len(sure) <= limit
    for result in sure:
        assert share_of[id(result)] >= LEAST_BESIDE
        assert not any(known.session == "mine" for known in result.provenance)
        if result.origin == "user" and (result.kind == "turn" or STATED_TAG in result.tags):
            assert "?" not in result.text and named in (None, result.actor)
    assert not sure or max(share_of[id(result)] for result in sure) >= LEAST_HELD


@given(st.text(max_size=120))
def test_of_any_prompt_a_text_holds_a_share(tmp_path_factory: pytest.TempPathFactory, prompt: str) -> None:
    from corpora import Document, corpus_of

    texts = ("Ben sold his violin to a museum.", "Otto lost a paddle.", prompt)
    corpus = corpus_of([Document(it, "s", "Ben", True, False, n, id=str(n)) for n, it in enumerate(texts)])
    weighed = corpus.words.weighed(prompt, range(3))
    assert len(weighed) == 3 and all(0 <= its.share <= 1 for its in weighed)
    assert [its.share for its in corpus.words.weighed("unheard wordless blurbs", range(3))][:2] == [0, 0]
