"""The near-verbatim key: equal for texts that differ in form alone. Two texts with one key are one memory.

A text goes through two steps. `tokens_of` brings each spelling to one form in its place: short forms, British
spellings, numbers, units and dates. `key_of` leaves out words without content: punctuation between words,
articles, politeness. Both steps are for English; in other languages only marks are left out. All other words
keep their places, so that equal keys state the same of the same things. Synonyms are not handled here.

`specifics` is the guard of folding by vectors. A cosine separates neither synonyms from opposites nor two
numbers. So every number, unit, name, identifier, date, negation, quantifier and content word must be in both
texts, in the same order. Only light words may differ.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text import lexicon
from memtape.state.text.markdown import without_markup
from memtape.state.text.normal import content_key
from memtape.state.text.reading import Reading, kept, read
from memtape.state.text.terms import ENGLISH, is_common, language_of

Tokens = tuple[str, ...]


# --- One form for each thing, in its place ---

_ABOUT_WORDS = lexicon.word_list("words about words")
"""Words that make the form of a text its content."""
_HYPHENATED = lazy(r"[a-z]{2,}(?:-[a-z]{2,})+")
_CODE = lazy(r"`([a-z][a-z\d]*(?:[-_./][a-z\d]+)*(?: [a-z][a-z\d]*(?:[-_./][a-z\d]+)*)*)`")
"""Words without capitals or other marks: backticks around them only say that they are typed."""
_GLUED = lazy(r"(\d[\d.,]*)-?([A-Za-z]+)")
_BRITISH_WORDS = lexicon.word_pairs("British spellings")
_BRITISH = tuple(
    (lazy(pattern), american)
    for pattern, american in (
        (r"([a-z]{3,})is(e[drs]?|ing|ations?)", r"\1iz\2"),
        (r"([a-z]{2,})ys(e[drs]?|ing)", r"\1yz\2"),
        (r"([a-z]{2,})our(s|ed|ing|ites?|able|hood)?", r"\1or\2"),
        (r"([a-z]{3,})ogue(s?)", r"\1og\2"),
        (r"([a-z]{4,}l)l(ed|ing|ers?)", r"\1\2"),
    )
)
"""Endings of British spellings, each with the American one. No two words become one."""
_NUMBERS = lexicon.word_pairs("numbers")
_MONTHS = lexicon.word_pairs("months")
_NAMING = ("called", "named")
_ON = ("on", "by", "until", "till", "since", "before", "after", "from", "to", "due", "is", "was")
_DAY, _YEAR = lazy(r"0?([1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"), lazy(r"\d{4}")
_RANGE, _CLOCK = lazy(r"(\d{1,2}(?::\d\d)?)-(\d{1,2}(?::\d\d)?)"), lazy(r"0(\d:\d\d)")
_UNITS = lexicon.word_pairs("units")
_OF_DECADES, _S_IS, _WISHED, _S_HAS = map(
    lexicon.word_list, ("words before a decade", "words before short is", "wishes", "words behind short has")
)
_SHORT_FORMS = lexicon.word_pairs("short forms")
_TELLING = lexicon.word_list("words before a name or a value")
"""Words before a name or a value, where a short form may be the very string."""


def tokens_of(reading: Reading) -> tuple[list[str], bool]:
    """Return the tokens of a text, each thing in one form in English, and whether it may be English."""
    text = without_markup(reading.text)
    tokens = list(content_key(text))
    if language_of(text) != ENGLISH or not _ABOUT_WORDS.isdisjoint(map(str.lower, tokens)):
        return tokens, False
    forms = [form for pair in pairwise(["", *tokens]) for form in _forms(*pair)]
    names_letter = any(
        len(token) == 1 and token.isalpha() and token not in ("a", "A", "I") for token in tokens
    )
    if not names_letter:  # "Write colour with a u."
        forms = [it if before in _NAMING else _american(it) for before, it in pairwise(["", *forms])]
    return _with_dates(_with_amounts(_contracted(forms))), True


def _forms(before: str, token: str) -> tuple[str, ...]:
    """Return a token in full, split at hyphens, without the backticks of plain words."""
    lower = token.lower()
    if token == "&" or (token == "+" and len(before) > 1 and before.isalpha()):
        return ("and",)
    if token == "I" or lower in lexicon.CONTRACTIONS:
        return (lower,)
    if token in _SHORT_FORMS and before not in _TELLING:
        return (_SHORT_FORMS[token],)
    if "-" in token and _HYPHENATED.fullmatch(token) and token.partition("-")[0] not in _NEGATIONS:
        return tuple(token.split("-"))
    if token[:1].isdigit():
        clock = _CLOCK.sub(r"\1", token)
        ends = _RANGE.fullmatch(clock)
        return (clock,) if ends is None else (ends[1], "to", ends[2])
    code = _CODE.fullmatch(token)
    words = () if code is None else tuple(code[1].split())
    is_prose = all(map(is_common, words)) or not {"a", "an", "the"}.isdisjoint(words)
    return words if words and not is_prose else (token,)


@lru_cache(maxsize=32_768)
def _american(word: str) -> str:
    """Return a word in small letters as Americans spell it."""
    if word in _BRITISH_WORDS:
        return _BRITISH_WORDS[word]
    found = ((pattern.fullmatch(word), american) for pattern, american in _BRITISH)
    return next((match.expand(american) for match, american in found if match is not None), word)


def _with_amounts(tokens: list[str]) -> list[str]:
    """Return tokens with numbers in digits, apart from their units, and the units in one form."""
    found: list[str] = []
    for token in tokens:
        before = found[-1] if found else ""
        glued = _GLUED.fullmatch(token)
        if token in _NUMBERS and before and before not in _NAMING:
            found.append(_NUMBERS[token])
        elif token in _UNITS and before[:1].isdigit():
            found.append(_UNITS[token])
        elif glued and glued[2] in _UNITS and not (glued[2] == "s" and before in _OF_DECADES):
            found += (glued[1], _UNITS[glued[2]])
        else:
            found.append(token)
    return found


def _with_dates(tokens: list[str]) -> list[str]:
    """Return tokens with each day of a month as the day, the month and the year: `12 May 2026`."""
    found: list[str] = []
    rest = list(tokens)
    while rest:
        day, month, size = _date_of(found, rest)
        found += (day, month) if size else rest[:1]
        rest = rest[size or 1 :]
        if size and rest[:1] == [","] and len(rest) > 1 and _YEAR.fullmatch(rest[1]):
            rest = rest[1:]
    return found


def _date_of(before: list[str], tokens: list[str]) -> tuple[str, str, int]:
    """Return the day and the month at the beginning of tokens, and how many tokens they are, 0 without.

    Only behind a word of time: "12 may apply" has no month, and "June 5 apples" is no date.
    """
    behind = before[-2:-1] if before[-1:] == ["the"] else before[-1:]
    if not any(word in _ON for word in behind):
        return "", "", 0
    first, second, third = (token.lower() for token in (*tokens, "", "")[:3])
    day, month, size = (first, third, 3) if second == "of" else (first, second, 2)
    if first in _MONTHS:
        day, month, size = second, first, 2
    number = _DAY.fullmatch(day)
    return (number[1], _MONTHS[month], size) if number and month in _MONTHS else ("", "", 0)


def _contracted(tokens: list[str]) -> list[str]:
    """Return tokens with contractions in full, even those with another reading elsewhere: `it's been`."""
    found: list[str] = []
    for index, token in enumerate(tokens):
        after = tokens[index + 1] if index + 1 < len(tokens) else ""
        if token in lexicon.CONTRACTIONS:
            found += lexicon.CONTRACTIONS[token]
        elif token == "let's":
            found += ("let", "us")
        elif token.endswith("'d") and after in _WISHED:
            found += (token[:-2], "would")
        elif token.endswith("'s") and token[:-2] in _S_IS:
            found += (token[:-2], "has" if after in _S_HAS else "is")
        elif token == "each" and after.isalpha() and after != "other" and after not in lexicon.SEARCH_STOP:
            found.append("every")
        elif token == "can" and after == "not" and "only" not in tokens[index + 2 : index + 3]:
            found.append("cannot")
        elif token == "not" and found[-1:] == ["cannot"] and tokens[index - 1] == "can":
            continue
        else:
            found.append(token)
    return found


# --- Words without content ---

_FINITE = lexicon.word_list("verbs of statements")
_MARKS = lexicon.word_list("marks without content")
_MARKS |= {" ...", " ;", " :", " ,", ' "', " '"}
_SAID_ALONE, _NEGATIONS, _BE = map(lexicon.word_list, ("words said alone", "negations", "forms of be"))
_QUANTITIES = lexicon.word_list("words of a quantity")
_AFTER_ARTICLE_LETTER = lexicon.word_list("words behind the letter a")
_ATTITUDES = lexicon.word_list("verbs of an attitude")
"""Of these an article makes another object: who likes dogs may not like the dogs."""
_PLEASED = lexicon.word_list("whom one pleases")
_TITLES = ("Mr", "Mrs", "Ms", "Dr", "Prof", "mr", "mrs", "ms", "dr", "prof")
_SAID = (["say"], ["says"], ["said"], ["saying"])
_ASKED = tuple([word, "you", "please"] for word in ("could", "can", "would", "will"))
_OPENERS, _THANKS = map(lexicon.phrases, ("words of introduction", "words of thanks"))


def key_of(tokens: list[str], *, english: bool) -> Tokens:
    """Return the key of the tokens of `tokens_of`; all of them if nothing else would be left."""
    if not english:
        return tuple(token for token in tokens if token not in _MARKS) or tuple(tokens)
    kept = _without_courtesy(tokens)
    kept = [token for index, token in enumerate(kept) if not _is_mark(kept, index)]
    kept = [token for index, token in enumerate(kept) if not _is_article(kept, index)]
    return tuple(kept) or tuple(tokens)


def _without_courtesy(tokens: list[str]) -> list[str]:
    """Return tokens without words of politeness or introduction."""
    if tokens[:3] in _ASKED and len(tokens) > 4:
        tokens = tokens[2:-1] if tokens[-1] == "?" else tokens[2:]
    for opener in _OPENERS:
        size = len(opener)
        if tuple(tokens[:size]) == opener and len(tokens) > size + 2:
            if opener[-1] == "that" and _FINITE.isdisjoint(tokens) and _BE.isdisjoint(tokens):
                break
            tokens = tokens[size + (tokens[size] in (",", ":")) :]
            first = tokens[0].lower()
            if tokens[0][1:] == first[1:] and (len(first) > 1 or first == "a") and first not in lexicon.NAMES:
                tokens = [first, *tokens[1:]]
            break
    for thanks in _THANKS:
        size = len(thanks)
        if (
            tuple(tokens[-size:]) == thanks
            and len(tokens) > size + 2
            and tokens[-size - 1] in (",", ".", "-", "–", "—")
        ):
            tokens = tokens[: -size - 1]
            break
    if "please" not in tokens and "kindly" not in tokens:
        return tokens
    kept = []
    for index, token in enumerate(tokens):
        after = tokens[index + 1] if index + 1 < len(tokens) else ""
        polite = token == "please" and after not in _PLEASED and tokens[index - 1 : index] not in _SAID
        if not polite and not (token == "kindly" and index == 0 and after):
            kept.append(token)
    return kept


def _is_mark(tokens: list[str], index: int) -> bool:
    """Return whether a token is punctuation without meaning at its place."""
    token = tokens[index]
    before = tokens[index - 1] if index else ""
    if token == "." and before in _TITLES:
        return True
    if token not in _MARKS:
        return False
    after = tokens[index + 1 : index + 2]
    if token == "," and after not in (["and"], ["or"]):
        named = any(word[:1].isupper() and word[1:].islower() for word in (before, *after))
        # The comma before the last but one item of a list separates two items.
        behind = tokens[index + 2 : index + 4]
        listed = behind[:1] in (["and"], ["or"]) or behind in ([",", "and"], [",", "or"])
        return not (named or listed) and before not in _SAID_ALONE and index + 2 != len(tokens)
    if token == "-":
        return not (before[:1].isdigit() or (after != [] and after[0][:1].isdigit()))
    return True


def _is_article(tokens: list[str], index: int) -> bool:
    """Return whether a token is an article without meaning."""
    token = tokens[index]
    if token not in ("the", "a", "an") or index + 1 == len(tokens):
        return False
    before, after = tokens[index - 1] if index else "", tokens[index + 1]
    if before in _NEGATIONS or after in _NEGATIONS or after in _QUANTITIES or before in _ATTITUDES:
        return False
    if token == "the":
        return before not in _BE
    return after not in _AFTER_ARTICLE_LETTER and len(after) > 1 and before != "of"


_LIGHT = frozenset(("our", "that"))  # English words without which a text names the same things.


class Specifics(NamedTuple):
    """The form of a text (`near_verbatim`), and its specifics: the form without light words."""

    form: Tokens
    kept: Tokens


@kept
def specifics(reading: Reading) -> Specifics:
    """Return the form and the specifics of a text; texts of one form have the same specifics."""
    tokens, english = tokens_of(reading)
    form = key_of(tokens, english=english)
    own = tuple(token for token in form if token not in _LIGHT) if english else form
    return Specifics(form, own or form)


def same_specifics(a: str, b: str) -> bool:
    """Return whether two texts have the same specifics; whether they are similar, vectors say."""
    return specifics(read(a)).kept == specifics(read(b)).kept
