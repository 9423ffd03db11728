"""Texts: their normal form, the key of their content, their words and their languages."""

import re
import unicodedata
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables import rows, table

from memtape.state.text.lexicon import common_words
from memtape.state.text.normal import _ASCII_WORD, _WORD, content_key, normal_text, words
from memtape.state.text.terms import _LANGUAGES, _SCRIPTS, TOLD_LANGUAGES, languages_told

CASES = table("texts")
TEXTS = sorted({pair[side] for pair in rows("fold_pairs") for side in "ab"})

# What texts are made of in the laws below: pieces that rules look at, and whatever hypothesis thinks of.
PIECES = st.sampled_from(
    """
    the The a A an I it IT us US May polish Polish user User user's don't Can't `Code` `a ``B C`` ( ) [x] " ' “q” … .
    ! ? , : - -- – / . .. 5 5% 12km two Two GB PM -1 $5 getUser user_id src/Main.py C++ .env ü Straße nicht más 苹果
    。 ！ サーバー は Ａ５ 한국어 हिन्दी 🍕 Σίσυφος İ ǅ e\u0301 か\u3099 \u00ad please note that fyi: colour db in named
    word
    """.split()
)
TEXT = st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=12).map(" ".join) | st.text()
ANY_TEXT = TEXT | st.text(st.characters(exclude_categories=()))
SPACES = st.text(" \t\n\r\u00a0\u2003\u2028\u3000", min_size=1, max_size=3)


# --- Laws ---


@given(ANY_TEXT)
def test_nothing_raises(text: str) -> None:
    assert isinstance(normal_text(text), str)
    assert all(content_key(text))
    assert all(words(text))


@given(TEXT)
@example("ΑΣ'Α ΟΔΟΣ")
@example("Note: The Office. `Unclosed Code")
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert normal_text(normal_text(text)) == normal_text(text)


@given(TEXT)
def test_composition_does_not_matter(text: str) -> None:
    assert normal_text(unicodedata.normalize("NFD", text)) == normal_text(text)


@given(st.lists(TEXT.map(lambda text: "".join(text.split())).filter(bool), min_size=1), st.data())
def test_the_width_of_white_space_does_not_matter(chunks: list[str], data: st.DataObject) -> None:
    wide = "".join(chunk + data.draw(SPACES) for chunk in chunks)
    assert normal_text(wide) == normal_text(" ".join(chunks))
    assert content_key(wide) == content_key(" ".join(chunks))


@given(TEXT)
def test_equal_normal_texts_have_equal_keys(text: str) -> None:
    assert content_key(normal_text(text)) == content_key(text)


@given(TEXT.filter(lambda text: any(map(str.isalnum, text))))
def test_a_text_that_says_something_has_a_key(text: str) -> None:
    assert content_key(text) != ()


@given(TEXT, TEXT, st.permutations("0123456789"))
def test_one_digit_makes_a_difference(before: str, after: str, digits: list[str]) -> None:
    one, other = (before + digit + after for digit in digits[:2])
    assert normal_text(one) != normal_text(other)
    assert content_key(one) != content_key(other)


@pytest.mark.parametrize(
    "word", "not never no without only all some in on by was must they few more than ? , =".split()
)
def test_one_word_makes_a_difference(word: str) -> None:
    for text in TEXTS:
        key = content_key(text)
        chunks = text.split()
        longer = [" ".join([*chunks[:at], word, *chunks[at:]]) for at in range(len(chunks) + 1)]
        assert [other for other in longer if content_key(other) == key] == []


@given(TEXT)
def test_words_are_plain_and_lower_case(text: str) -> None:
    for word in words(text):
        assert word == word.lower()
        assert not re.search(r"\s", word)


# --- The normal text ---


def test_words_that_open_a_sentence_are_lower_case() -> None:
    for text, normal in {
        "The  Server\tRuns\non Port 8080.": "the Server Runs on Port 8080.",
        "Die Maße": "die Maße",
        "¿Cómo está Rosa?": "¿cómo está Rosa?",
        "(See the Wiki.) It helps.": "(see the Wiki.) it helps.",
        "- The user's Cat": "- the user's Cat",
    }.items():
        assert normal_text(text) == normal
    for text in ("It is late", "Who called?", "Go home", "Us too", "Fine. It is late"):
        assert normal_text(text) == text.lower(), "a capital that only opens a sentence"


@pytest.mark.parametrize(
    "text",
    """
    getUser README.md src/Main.py C:\\Temp user@Host Foo::Bar Run() MAX_RETRIES $HOME #Tag @Bob v2B x=Y {Name} [Name]
    <Name> "Save" --Force C# Q&A 5K GHz `Code` JSONDecoder McDonald US WHO IT PATH POST
    """.split(),
)
def test_case_stays_in_code_and_identifiers(text: str) -> None:
    assert normal_text(text) == text
    assert normal_text(f"the value of {text} here") == f"the value of {text} here"


def test_case_stays_within_code_spans() -> None:
    for code in ("`Foo Bar Baz`", "``Foo ` Bar Baz``", "```py Foo Bar ```", "`Foo` and `Bar`", "`Foo Bar without end"):
        assert normal_text(f"Then say {code}") == f"then say {code}"


@pytest.mark.parametrize(("a", "b"), CASES["apart"])
def test_case_stays_where_it_tells_words_apart(a: str, b: str) -> None:
    assert normal_text(a) != normal_text(b)


# --- The key ---


def test_keys() -> None:
    for text, key in {
        "": "",
        "It costs 5% of the data centre": "it costs 5 % of the data centre",
        "Call `user_id` or `main`": "call user_id or `main`",
        "我有两只猫。": "我 有 两 只 猫",
        "ポートは８０８０です": "ポ ー ト は 8080 で す",
    }.items():
        assert content_key(text) == tuple(key.split())
    for a, b in {
        "git add .": "git add.",
        "what is 5!": "what is 5",
        "rm / tmp": "rm /tmp",
        "We eat at ten.": "We eat at ten?",
        "南京市 长江大桥": "南京 市长 江大桥",
    }.items():
        assert content_key(a) != content_key(b)


# --- Words to search by ---


@pytest.mark.parametrize("text", CASES["words"])
def test_words(text: str) -> None:
    assert words(text) == CASES["words"][text].split()


def test_words_of_a_name_are_found_in_all_its_spellings() -> None:
    for one, other in product(["getUserName", "get_user_name", "get-user-name", "get.user.name"], repeat=2):
        assert {"get", "user", "name"} <= set(words(one)) & set(words(other))


@given(st.lists(st.sampled_from("the Ada's getUserName docs/a.md a_b don't -- v1.2.3 @ x".split())).map(" ".join))
def test_ascii_has_the_words_that_any_text_has(text: str) -> None:
    assert _ASCII_WORD.findall(text) == _WORD.findall(text)


def test_languages_keep_their_numbers() -> None:
    assert TOLD_LANGUAGES[:9] == tuple("english german spanish french italian portuguese dutch swedish russian".split())


@given(st.lists(st.sampled_from("the und der los les of это στο 密 and die que il di".split())).map(" ".join))
def test_a_language_is_told_by_the_most_of_its_commonest_words(text: str) -> None:
    held = set(text.split())
    counts = {name: len(held & set(common_words()[code])) for name, code in _LANGUAGES.items()}
    most = max(counts.values())
    by_words = [name for name, count in counts.items() if count == most] if most else []
    by_script = [[name] for name, letter in _SCRIPTS.items() if letter.search(text)]
    assert languages_told(text) == (by_script or [by_words])[0]
