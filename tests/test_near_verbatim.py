"""What differs in form alone is one memory, and nothing else is: changes of form and of meaning, by many sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtape.state.fold.candidates import Candidates
from memtape.state.fold.near_verbatim import same_specifics, specifics
from memtape.state.text import lexicon
from memtape.state.text.markdown import without_markup
from memtape.state.text.terms import ENGLISH, language_of

PAIRS = [json.loads(line) for line in (Path(__file__).parent / "data" / "fold_pairs.jsonl").read_text().splitlines()]
TEXTS = sorted({pair[side] for pair in PAIRS for side in "ab"})
SENTENCES = [
    text for text in TEXTS if len(text.split()) > 4 and language_of(text) == ENGLISH and not set("\"'`«?") & set(text)
]
ABOUT_WORDS = lexicon.word_list("words about words")
PLAIN = [text for text in SENTENCES if ABOUT_WORDS.isdisjoint(re.findall(r"\w+", text.lower()))]
WORDS = re.compile(r"(?<=[a-z] )[a-z]{4,}(?= [a-z])")
LEAD_INS = ("-", "Note", "Remember", "Please", "Actually,", "FYI:", "Don't", "Make", "Be")
SAID_ALONG = ("please", "already", "located", "actually", "called", "named")
Change = Callable[[str, int], str]


def same(a: str, b: str) -> bool:
    return specifics(a).form == specifics(b).form


def at_word(change: Callable[[str], str]) -> Change:
    """Return the change of the word at a place; words of two readings stay as they are."""

    def changed(text: str, place: int) -> str:
        found = [word for word in WORDS.finditer(text) if word[0] not in lexicon.NAMES]
        if not found:
            return text
        word = found[place % len(found)]
        return text[: word.start()] + change(word[0]) + text[word.end() :]

    return changed


FORMS: dict[str, Change] = {
    "bold": at_word("**{}**".format),
    "italic": at_word("_{}_".format),
    "no stop": lambda text, place: text.removesuffix("."),
    "a stop": lambda text, place: text if text[-1] in ".!" else text + ".",
    "spaces": lambda text, place: "  " + text.replace(" ", " \n"),
    "a heading": lambda text, place: "## " + text,
    "a lead-in": lambda text, place: "Reminder: " + text if text.split()[0] not in LEAD_INS else text,
    "contracted": lambda text, place: text.replace(" do not ", " don't ").replace(" is not ", " isn't "),
    "another apostrophe": lambda text, place: text.replace("'", "’"),
}


@pytest.mark.parametrize("form", FORMS)
@given(text=st.sampled_from(PLAIN), place=st.integers(0, 20))
def test_another_form_is_the_same_memory(form: str, text: str, place: int) -> None:
    assert same(FORMS[form](text, place), text)


NUMBER = re.compile(r"(?<![\w.,:-])\d+(?![\w.,:-])")
OTHERS: dict[str, Change] = {
    "a number": lambda text, place: NUMBER.sub(lambda found: str(int(found[0]) + 1), text, count=1),
    "a negation": lambda text, place: re.sub(
        r"\b(is|are|was|can|must|should|will)\b(?! not)", r"\1 not", text, count=1
    ),
    "a tense": lambda text, place: re.sub(r"\b(is|are)\b", "was", text, count=1),
    "another word": at_word(lambda word: "kiosk" if word != "kiosk" else "banana"),
    "a word less": at_word(lambda word: "" if len(word) > 4 and word not in SAID_ALONG else word),
    "a word more": at_word(lambda word: f"{word} backup"),
    "another name": lambda text, place: re.sub(r"\b(Anna|Ada|Ben|Tom|Mira|Oslo|Redis)\b", "Zoltan", text, count=1),
}


@pytest.mark.parametrize("other", OTHERS)
@given(data=st.data(), place=st.integers(0, 20))
def test_another_meaning_is_another_memory(other: str, data: st.DataObject, place: int) -> None:
    """On the floor and, whatever the vectors say, under every embedder."""
    change = OTHERS[other]
    text = data.draw(st.sampled_from([text for text in SENTENCES if change(text, place).split() != text.split()]))
    changed = change(text, place)
    assert not same(text, changed)
    assert not same_specifics(text, changed)


@given(st.lists(st.sampled_from(TEXTS), max_size=12), st.sampled_from(TEXTS))
def test_the_index_finds_what_comparing_one_by_one_finds(put: list[str], text: str) -> None:
    keys = Candidates()
    held = dict(enumerate(put))
    for birth in held:
        keys.put(birth, held[birth], birth)
    for birth in list(held)[::3]:
        keys.drop(birth)
        del held[birth]
    equal = [birth for birth in held if same(held[birth], text)]
    assert keys.judge(text).birth == min(equal, default=-1)


@given(st.sampled_from(TEXTS) | st.text(), st.sampled_from(TEXTS) | st.text())
def test_comparing_is_symmetric(a: str, b: str) -> None:
    assert same(a, b) == same(b, a)
    assert same(a, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The worker reads queue eu-7 behind the gateway.", "The worker reads queue eu-7, behind the gateway."),
        ("Keep a 30s timeout", "Keep a 30 second timeout"),
        ("It's a read-only replica", "It is a read only replica"),
        ("Run `make check` before the push", "Run make check before the push"),
        ("The header is `no-cache` there", "The header is no-cache there"),
        ("Der Server steht **in** Frankfurt, nicht in Bonn", "Der Server steht in Frankfurt nicht in Bonn"),
    ],
)
def test_forms_that_are_one(a: str, b: str) -> None:
    assert same(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("She needs Polish lessons", "She needs polish lessons"),
        ("The branch is Main", "The branch is main"),
        ("No, the port is open", "No port is open"),
        ("She has a few friends", "She has few friends"),
        ("She is a founder", "She is the founder"),
        ("He has lived in Rome", "He lived in Rome"),
        ("In the 90s it was fast", "In the 90 seconds it was fast"),
        ("Add 5 - 3 to it", "Add 5 3 to it"),
        ("Rule 12 may apply to us", "Rule May 12 apply to us"),
        ("Er mag die Leiter", "Er mag Leiter"),
        ("Delete *.py there", "Delete .py there"),
        ("Use `a_b_c` there", "Use `abc` there"),
        ("The dose is 5 mg of it", "The dose is 5 Mg of it"),
        ("The disk has 5 MB for it", "The disk has 5 Mb for it"),
        ("Mark approved the release", "mark approved the release"),
        ("The header is no-cache there", "The header is no cache there"),
        ("Use `the` there", "Use the there"),
        ("The header is `No-Cache` there", "The header is `no-cache` there"),
    ],
)
def test_forms_that_are_not_one(a: str, b: str) -> None:
    assert not same(a, b)


def test_markup_of_code_stays() -> None:
    assert (
        without_markup("# Use **this**, _that_ and `**x**` of a_b_c * 2 * 3")
        == "Use this, that and `**x**` of a_b_c * 2 * 3"
    )
