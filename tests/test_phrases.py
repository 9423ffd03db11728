"""Words in quotation marks are found as one phrase, and `--by` finds what one person or agent said."""

from __future__ import annotations

from pathlib import Path

import pytest
from commanding import call, document
from hypothesis import given
from hypothesis import strategies as st

from memtape.state.text.phrases import has_phrases, phrases_in
from memtape.tools.client import Client

SCOPE = "project:mine"


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ('the "staging database" of "Ada"', ("staging database", "Ada")),
        ("der „neue Kran“ und «la grue»", ("neue Kran", "la grue")),
        ('a 27" monitor and a 30" screen', ()),
        ('an "open end', ()),
        ('"" " " "..." "x"', ("x",)),
        ('"same" and "same"', ("same",)),
    ],
)
def test_a_question_names_its_phrases(question: str, phrases: tuple[str, ...]) -> None:
    assert phrases_in(question) == phrases


@given(st.lists(st.text("abz \n", max_size=6), max_size=4), st.text("abz ", min_size=1, max_size=6))
def test_a_phrase_stands_in_a_text_as_whole_words_in_order(parts: list[str], phrase: str) -> None:
    words, sought = "-".join(parts).replace("-", " ").split(), phrase.split()
    runs = [words[n : n + len(sought)] for n in range(len(words) + 1)]
    if sought:
        assert has_phrases("-".join(parts).replace("-", " ").upper(), [phrase]) is (sought in runs)


def test_a_phrase_and_a_speaker_narrow_a_search_before_and_after_the_fold(tmp_path: Path) -> None:
    said = {
        "Ada": ("The port of the gate is 70.", "The gate of the port is 7028."),
        "Mira": ("Die neue Maschine läuft in den neuen Häusern.", "the PORT  of the\ngate is open"),
    }
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        for kind in ("turn", "fact"):
            for actor, texts in said.items():
                with Client(tmp_path, scope=SCOPE, origin="user", actor=actor) as own:
                    for text in texts:
                        own.capture(text, kind=kind)
        for _ in ("in the tail", "in the views"):

            def found(question: str, **narrowed: object) -> set[str]:
                results = client.search(question, 50, quiet=True, **narrowed).results  # type: ignore[arg-type]
                return {it.text for it in results}

            assert found('"port of the gate"') == {said["Ada"][0], said["Mira"][1]}
            assert found('"port of the gate" open', actors=["ADA"]) == {said["Ada"][0]}
            assert found('"gate is 70"') == {said["Ada"][0]}, "the number is a whole word"
            assert found('"in den neuen Häusern"') == {said["Mira"][0]}
            assert found('gate "no such phrase"') == set()
            assert found("port gate", actors=["Ada", "Mira"]) >= {*said["Ada"], said["Mira"][1]}
            assert found("port gate", actors=["Eve"]) == set()
            client.project()
        assert client.verify().ok
    told = call("search", '"no such phrase"', home=tmp_path, scope=SCOPE).output
    assert "without quotation marks" in told
    by = document("search", "port gate", "--by", "mira", home=tmp_path, scope=SCOPE)
    assert {it["actor"] for it in by["results"]} == {"Mira"}
    recalled = document("log", "--type", "recalled", home=tmp_path, scope=SCOPE)["events"]
    assert [it["event"]["body"]["filters"].get("actors") for it in recalled] == [None, ["mira"]]
