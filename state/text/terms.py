"""The terms of search: words without the commonest, in one form for all their inflections.

A text is stemmed in the language of its script or its commonest words. Marks on Latin letters are dropped,
since people leave them out. Ideographs, kana and hangul become overlapping pairs (`text.words`), which no
stemmer touches. docs/benchmarks.md says why some of the lists are those of a library and others are not.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

from Stemmer import Stemmer

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import SEARCH_STOP, common_words, word_pairs
from memtape.state.text.normal import runs, words, words_of_run

ENGLISH = "english"

_LANGUAGES = {
    ENGLISH: "en",
    "german": "de",
    "spanish": "es",
    "french": "fr",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
    "swedish": "sv",
    "russian": "ru",
}
"""The languages recognized by their commonest words, each with its ISO code."""

IRREGULAR = word_pairs("irregular forms")
"""English forms not joined by stemming, each with its plain form."""

_CLITIC = lazy(r"(?:['’](?:s|re|ve|ll|d|m)|n['’]t)\Z")
_LETTERS = lazy(r"[^\W\d_]+")
_SCRIPTS = {
    "russian": lazy(r"[а-яё]"),
    "greek": lazy(r"[α-ω]"),
    "arabic": lazy(r"[ء-ي]"),
    "armenian": lazy(r"[ա-և]"),
}
"""Languages recognized by their script, in lower case."""
TOLD_LANGUAGES = (*_LANGUAGES, *_SCRIPTS)
"""Every language that can be recognized; English first. The index stores their places: add at the end."""
_LATIN = lazy(r"[a-zà-žß]+")
_LONG_NUMBER = 7  # Digits of a number that is written in groups; fewer are a range, as in 10-12.


def languages_told(text: str) -> list[str]:
    """Return the possible languages of a text by its script or commonest words, English first, if any."""
    lower = text.lower()
    for language, letter in _SCRIPTS.items() if not text.isascii() else ():
        if letter.search(lower):
            return [language]
    common, counts = _common(), dict.fromkeys(_LANGUAGES, 0)
    for word in dict.fromkeys(_LETTERS.findall(lower)):
        for language in common.get(word, ()):
            counts[language] += 1
    most = max(counts.values())
    return [language for language, count in counts.items() if count == most] if most else []


@cache
def _common() -> dict[str, tuple[str, ...]]:
    """Return the commonest words of the known languages, each with the languages that have it."""
    having: dict[str, tuple[str, ...]] = {}
    for language, code in _LANGUAGES.items():
        for word in dict.fromkeys(common_words()[code]):
            having[word] = (*having.get(word, ()), language)
    return having


def is_common(word: str) -> bool:
    """Return whether a word, in lower case, is among the commonest of a known language."""
    return word in _common()


def language_of(text: str) -> str:
    """Return the language of a text by itself, English if possible."""
    return next(iter(languages_told(text)), ENGLISH)


def terms(text: str, language: str | None = None) -> list[str]:
    """Return the terms of a text in order; of a text of common words alone, the common words."""
    return [term for _, term in worded_terms(text, language or language_of(text))]


def worded_terms(text: str, language: str) -> list[tuple[str, str]]:
    """Return each word of a text with its term, in order; of one of common words alone, these as they are."""
    found: list[tuple[str, str]] = []
    for run in runs(text):
        terms_of = _terms_of_run if len(run) <= _SHORT else _terms_of_run.__wrapped__
        found += terms_of(run, language)
    return found or [(word, word) for word in words(text)]


_SHORT = 40  # Maximum length of runs in the cache; longer ones are rare and would fill the memory.


@lru_cache(maxsize=65_536)
def _terms_of_run(run: str, language: str) -> tuple[tuple[str, str], ...]:
    return tuple((word, _stem(word, language)) for word in words_of_run(run) if word not in SEARCH_STOP)


def _stem(word: str, language: str) -> str:
    bare = _CLITIC.sub("", word) or word
    if language == ENGLISH:
        bare = IRREGULAR.get(bare, bare)
    if not bare.isalpha():
        return _joined(bare)
    # A stemmer holds the word that it is at, so that two threads must not share one.
    stem = str(Stemmer(language, 0).stemWord(bare))
    if stem.isascii() or not _LATIN.fullmatch(stem):
        return stem
    return "".join(char for char in unicodedata.normalize("NFD", stem) if not unicodedata.combining(char))


def _joined(word: str) -> str:
    """Return an identifier without its separators: AB-12, ab_12 and AB12 are one; so are long numbers."""
    bare = word.replace("-", "").replace("_", "")
    is_number = bare.isdigit()
    is_one = (is_number and len(bare) >= _LONG_NUMBER) or (not is_number and any(map(str.isdigit, bare)))
    return bare if is_one else word
