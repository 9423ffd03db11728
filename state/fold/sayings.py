"""What an English text says, taken apart so that it can be compared with a text that says it in another order and in
other words: its words, each with what joins it to the rest, and the classes of words that must agree.

`restating` compares two of these. What folds by an equal form alone is a matter of `paraphrase`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from Stemmer import Stemmer

from memtape.schemas.patterns import lazy
from memtape.state.fold import classes, phrases, thesaurus
from memtape.state.fold.amounts import READ, UNITS_OF_TIME
from memtape.state.fold.near_verbatim import read, said
from memtape.state.fold.paraphrase import phrased, with_times
from memtape.state.fold.synonyms import GROUPS
from memtape.state.text import lexicon
from memtape.state.text.markup import without_markup
from memtape.state.text.terms import IRREGULAR

MOST_TOKENS = 80
"""A longer text says too much for a rule to follow."""


class Word(NamedTuple):
    """A word that says something."""

    raw: str
    key: str
    """What stands for the word and for all that say about the same; of what is no word, the word itself."""
    role: str
    """The preposition before it."""
    clause: int
    within: str
    """What opens the clause: `if`, `because`, `before`; "" in the main one."""
    noun: bool
    """It stands behind an article or its like."""
    participle: bool
    """It stands behind a form of `be`, so that something is done to what stands before it."""
    bound: tuple[str, ...]


class Saying(NamedTuple):
    """The words of a text in their order, and the classes that whatever says the same has in common with it."""

    words: tuple[Word, ...]
    names: frozenset[str]
    """Words that have a capital inside a sentence, in lower case."""
    marks: tuple[str, ...]
    """What joins, limits and compares, each once and in one order."""
    modes: tuple[str, ...]
    """Whether something must, should or may be."""
    past: tuple[str, ...]
    """Keys of the verbs that may tell of the past; "" where one does without doubt."""
    ended: frozenset[str]
    """Keys of all words in -ed and of participles."""
    persons: tuple[str, ...]
    order: bool


# --- Words in one form ---

_SUFFIXES = ("ment", "anc", "enc", "ur")
_EQUAL = {
    "decis": "decid", "submiss": "submit", "permiss": "permit", "convers": "convert", "extens": "extend",
    "expans": "expand", "descript": "describ", "deliveri": "deliv", "deliver": "deliv", "recoveri": "recov",
    "recover": "recov", "discoveri": "discov", "discover": "discov", "analysi": "analyz", "analys": "analyz",
    "registr": "regist", "explan": "explain", "receipt": "receiv", "retent": "retain", "subscript": "subscrib",
    "mainten": "maintain", "sale": "sell", "loss": "lose", "choic": "choos", "growth": "grow", "flight": "fli",
    "usag": "use", "allergi": "allerg", "goe": "go", "doe": "do", "storag": "store", "coverag": "cover",
    "payment": "pay",
}  # fmt: skip
"""What stemming leaves of a noun, and of its verb."""
_APART = lexicon.word_set(
    """
    product products production customer customers custom customs international internal internally intern interns
    important import imports engine engines engineer engineers authority authorities university universal universe
    paste pasted past organic organ organs experiment experiments experience department departments apartment apartments
    statement statements argument arguments pressure general generic locale locales local activity active policy police
    message messages element elements
    """
)
"""Words that stemming would take for another word."""
_MADE = lazy(r"([a-z]{4,})i[sz](?:e[ds]?|ing|ations?)")


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return what the inflections of a word, and the noun that is made of a verb, have in common."""
    if word in _APART:
        return word.removesuffix("s") + "~"
    made = _MADE.fullmatch(word)
    if made:
        return made[1] + "iz"
    stemmer = Stemmer("english", 0)
    again = word[:2] == "re" and word[2:] in IRREGULAR
    found = str(stemmer.stemWord("re" + IRREGULAR[word[2:]] if again else IRREGULAR.get(word, word)))
    for suffix in _SUFFIXES:
        if found.endswith(suffix) and len(found) - len(suffix) >= 4:
            found = str(stemmer.stemWord(found.removesuffix(suffix)))
            break
    return _EQUAL.get(found, found)


@cache
def _stands_for() -> dict[str, str]:
    """Return what stands for the stem of each word that has a line in common with another."""
    found: dict[str, str] = {}
    for line in (*thesaurus.GROUPS.splitlines(), *GROUPS.splitlines()):
        stems = [stem(word) for word in line.split()]
        first = next((found[it] for it in stems if it in found), stems[0] if stems else "")
        for it in stems:
            found.setdefault(it, first)
    return found


def key(word: str) -> str:
    """Return what stands for a word of lower case, and for all that say about the same."""
    found = stem(word)
    return _stands_for().get(found, found)


@cache
def aside() -> frozenset[str]:
    """Return the stems of words that say nothing more."""
    return frozenset(map(stem, thesaurus.ASIDE.split()))


@cache
def light() -> frozenset[str]:
    """Return the stems of words that one of two texts may have alone."""
    return frozenset(map(stem, thesaurus.LIGHT.split()))


@cache
def measured() -> frozenset[str]:
    """Return the stems of words that one of two texts may have alone where both say more or less than something."""
    return frozenset(map(stem, thesaurus.MEASURED.split()))


@cache
def verb_keys() -> frozenset[str]:
    """Return the keys of common verbs."""
    return frozenset(key(verb) for verb in (*classes.VERB_WORDS, *thesaurus.VERBS.split()))


# --- Classes of words ---

_MARKS = {
    "only": "only", "even": "even", "most": "most", "few": "few", "a-few": "some", "many": "many", "several": "some",
    "some": "some", "half": "half", "either": "either", "none": "none", "nobody": "none",
    "nothing": "none", "neither": "none", "one-of": "one-of", "more": "more", "less": "less", "fewer": "less",
    "least": "least", "at-least": "at-least", "at-most": "at-most", "enough": "enough", "than": "than", "if": "if",
    "when": "if", "unless": "unless", "or": "or", "because": "because", "since": "because",
    "until": "until", "till": "until", "before": "before", "after": "after",
    "except": "except", "above": "above", "below": "below", "beneath": "below", "under": "below", "behind": "behind",
    "against": "against", "off": "off", "out": "out", "down": "down", "another": "other", "other": "other",
    "outside": "outside", "approximately": "about", "almost": "almost",
    "nearly": "almost",
    "nolonger": "nolonger", "again": "again",
    "rarely": "rarely", "seldom": "rarely", "hardly": "rarely", "barely": "rarely", "?": "?",
}  # fmt: skip
_MODES = {
    "must": "must", "have-to": "have-to", "should": "should", "ought": "should", "may": "may", "can": "can",
    "cannot": "can", "might": "might", "could": "might", "perhaps": "might", "maybe": "might", "possibly": "might",
    "will": "will", "shall": "will",
}  # fmt: skip
_NEGATING = lexicon.word_set(
    "not never no cannot nor neither nobody nothing none without nolonger hardly barely rarely seldom"
)
_UNIVERSAL = lexicon.word_set("all every each any always everyone everybody everything")
_SAID_ALONG = lexicon.word_set("the a an us let and would but both yet while whereas although though besides")
_PRONOUNS = lexicon.word_set(
    "we you i it they he she me us them him her our your my its their his this that these those who whom whose which"
    " what where how why mine yours"
)
_ARTICLES = lexicon.word_set("the a an every each all")
_OWNERS = lexicon.word_set("my your his her their our its")
_PERSONS = {
    "i": "i", "me": "i", "my": "i", "mine": "i", "you": "you", "your": "you", "yours": "you", "he": "he", "him": "he",
    "his": "he", "she": "she", "her": "she", "they": "they", "them": "they", "their": "they",
}  # fmt: skip
_PAST = lexicon.word_set("was were did had")
_HAVE = lexicon.word_set("has have had having")
_STOPS = lexicon.word_set(". ; : , ? ! ( ) - – — -- ...")
_OPENING = lexicon.word_set(
    "if when unless while whereas because since although though until till before after so but that which who"
)
_WITHIN = {
    "if": "if",
    "when": "if",
    "unless": "if",
    "because": "because",
    "since": "because",
    "until": "until",
    "till": "until",
    "before": "before",
    "after": "after",
    "while": "while",
    "whereas": "while",
    "although": "although",
    "though": "although",
}
_ADVERBIAL = lexicon.word_set("out up down off")
_UNSAID = lexicon.word_set("\" ' « » “ ” ‘ ’ [ ] { } * ** _ … · • | ! / \\")
_VIA = {"over": "with", "through": "with", "via": "with", "using": "with", "by": "by"}
_BOUNDS = {"over": "more", "above": "more", "under": "less", "below": "less", "beyond": "more"}
_ABOUT = lexicon.word_set("about around roughly circa")
_STATES = lexicon.word_set("stay stays stayed remain remains remained keep keeps kept get gets got become becomes")
"""Behind one of these something is done to what stands before, as behind a form of `be`."""
_COUNTED = dict(
    zip(
        "two three four five six seven eight nine ten eleven twelve first second third fourth fifth".split(),
        "2 3 4 5 6 7 8 9 10 11 12 1st 2nd 3rd 4th 5th".split(),
        strict=True,
    )
)
_CONDITIONS = {"whenever": "if", "once": "if"}
_NUMBERED = lazy(r"[a-z]{3,}-\d+")
_VERSION = lazy(r"v(\d[\w.]*)")
_PLAIN = lazy(r"[a-zà-ž]+(?:['’-][a-zà-ž]+)*")
_CAPITAL = lazy(r"(?<=[\w,;:)] )[\"'(*_`]*([A-Z][\w'’]*)")
_SHORT = 3
_OTHER_SCRIPT = lazy(r"[^\W\d_a-zA-ZÀ-ž]")
_EDGES = "\"'«»“”‘’.,;:!?()[]{}*"
_PHRASES = classes.phrases(phrases.PHRASES)


@lru_cache(maxsize=8_192)
def saying(text: str) -> Saying | None:
    """Return what a text says; None where it is not English, or longer than a rule can follow."""
    tokens, english = read(text)
    if not english or len(tokens) > MOST_TOKENS or _OTHER_SCRIPT.search(text):
        return None
    tokens = [part for token in said(tokens) for part in _parts(token)]
    tokens = phrased(with_times(phrased(tokens)), _PHRASES)
    if classes.ENGLISH.isdisjoint(tokens):
        return None
    names = (found.lower().removesuffix("'s") for found in _CAPITAL.findall(without_markup(text)))
    return _Reader(tokens, frozenset(names)).saying()


def _parts(token: str) -> list[str]:
    """Return what a piece of code or a version consists of."""
    if token[:1] == "`":
        return token.strip("`").split() or [token]
    if _NUMBERED.fullmatch(token):
        return token.split("-")
    version = _VERSION.fullmatch(token)
    if version:
        return ["version", version[1]]
    return [token[1:]] if token[:1] == "#" and token[1:].isdigit() else [token]


def _lowered(token: str) -> str:
    """Return a word in lower case unless its capitals tell something: those of a short word, or inside of a word."""
    shouted = token.isupper() and len(token) > _SHORT and token.isalpha()
    return token.lower() if shouted or (token[1:].islower() and token.isalpha()) else token


class _Reader:
    """A text that is read from its first token to its last."""

    def __init__(self, tokens: list[str], names: frozenset[str]) -> None:
        self._tokens = tokens
        self._names = names
        self._negated = not _NEGATING.isdisjoint(tokens)
        self._words: list[Word] = []
        self._bound: list[str] = []
        self._role = ""
        self._within = ""
        self._filled = self._be = self._have = self._tells_cause = self._denied = self._article = False
        self._clause = 0
        self._marks: list[str] = []
        self._modes: list[str] = []
        self._past: list[str] = []
        self._ended: list[str] = []
        self._persons: list[str] = []

    def saying(self) -> Saying:
        for index, token in enumerate(self._tokens):
            self._read(token, *self._tokens[index + 1 : index + 2])
        first = self._words[0] if self._words else None
        order = first is not None and first.raw in self._tokens[:4] and self._is_order(first)
        several = (self._marks, self._modes, self._past, self._persons)
        marks, modes, past, persons = (tuple(sorted(dict.fromkeys(found))) for found in several)
        return Saying(tuple(self._words), self._names, marks, modes, past, frozenset(self._ended), persons, order)

    def _is_order(self, first: Word) -> bool:
        """Tell whether the text begins with a verb in its plain form."""
        before = self._tokens[: self._tokens.index(first.raw)]
        return first.key in verb_keys() and first.raw in _PLAIN_VERBS and all(token in _ORDERING for token in before)

    def _read(self, token: str, after: str = "") -> None:
        token = "at-most" if token in ("until", "till") and after[:1].isdigit() else token
        if token in _ABOUT and (after[:1].isdigit() or after in _COUNTED):
            self._marks.append("about")
            return
        if token in _BOUNDS and after[:1].isdigit():
            self._marks += (_BOUNDS[token], "than")
            return
        token = _CONDITIONS.get(token, token) if after not in ("per", "a", "an", "every") else token
        if token in _MARKS:
            self._marks.append(_MARKS[token])
        if token in _MODES:
            self._modes.append(self._mode(_MODES[token]))
        if token in _PERSONS:
            self._persons.append(_PERSONS[token])
        if self._denied and token in _UNIVERSAL and token != "any":
            self._marks.append("all")
        if token in _NEGATING:
            self._denied = True
            self._bound.append("not")
        elif token in ("only", "even"):
            self._bound.append(token)
        if token in ("every", "each") and after[:2] == READ + "W":
            self._marks.append("weekly")
        if token in _STOPS or token in _OPENING:
            self._open(token)
        elif token in classes.BE or token in _PAST or token in _HAVE or token in _MODES:
            self._role, self._filled = "", False
            self._have = token in _HAVE or (self._have and token == "been")
            self._be = token in classes.BE
            self._past += [""] if token in _PAST else []
        elif token == "to" and key(after) in verb_keys() and after.isalpha():
            self._role, self._filled = "", False
        elif token in classes.ROLES and token != "like" and token not in _ADVERBIAL:
            self._role, self._filled = _VIA.get(token, classes.ROLES[token]), False
        elif token in _PRONOUNS or token in _ARTICLES:
            self._article = token in _ARTICLES or token in _OWNERS
            if self._filled:
                self._role, self._filled = "", False
            if token in ("a", "an") and after in UNITS_OF_TIME:
                self._add("1")
        elif not (token in _MARKS or token in _NEGATING or token in _UNIVERSAL or token in _SAID_ALONG):
            self._add(token)

    def _open(self, token: str) -> None:
        """Begin a clause, or end one at a mark."""
        self._clause += 1
        self._role, self._filled, self._be, self._have, self._denied = "", False, False, False, False
        if token in _STOPS and token != "-":
            self._within = ""
        elif token in _WITHIN:
            self._within = _WITHIN[token]
            self._role = self._within if self._within in ("before", "after", "until") else ""
        elif token == "so" and self._words and not self._tells_cause:
            self._marks.append("because")
            self._words = [word._replace(within="because") for word in self._words]
        self._tells_cause = self._tells_cause or token in ("so", "because", "since")

    def _mode(self, mode: str) -> str:
        if self._negated and mode in ("must", "may", "can"):
            return "forbid"
        return "must" if mode == "have-to" and not self._negated else mode

    def _add(self, token: str) -> None:
        if token[:1] == READ and token[1:2] == "W" and token[-1] == "s":
            token = token[:-1]
            self._marks.append("weekly")
        if token in _UNSAID:
            return
        raw = _lowered(token.strip(_EDGES).removesuffix("'s") or token)
        plain = _PLAIN.fullmatch(raw) is not None
        raw = _COUNTED.get(raw, raw)
        plain = raw.isalpha() and plain
        stands = key(raw) if plain else raw
        ended = plain and (raw.endswith("ed") or raw in classes.PARTICIPLES or raw in classes.IRREGULAR_PAST)
        if ended:
            self._ended.append(stands)
            certain = raw in classes.IRREGULAR_PAST and raw not in classes.PARTICIPLES
            if self._have or (not self._be and not certain and raw.endswith("ed")):
                self._past.append(stands)
            elif certain and not self._be:
                self._past.append("")
        if plain and stands in verb_keys() and self._filled:
            self._role = ""
        self._words.append(
            Word(
                raw,
                stands,
                self._role,
                self._clause,
                self._within,
                self._article,
                ended and self._be,
                tuple(self._bound),
            )
        )
        self._article = False
        self._denied = self._denied and stands in verb_keys()
        self._bound = []
        self._filled = True
        self._be = raw in _STATES or (self._be and raw.endswith("ly"))
        self._have = self._have and raw.endswith("ly")


_PLAIN_VERBS = frozenset(
    """
    use run keep store save send take make get give go read write call open close start stop restart deploy build test
    check fix delete remove add create update change move set put ask answer reply tell buy sell pay manage handle
    review approve reject sign join leave visit help host require allow block log retry merge push pull commit release
    ship plan schedule cancel book show display print return raise lower reduce increase connect link load fetch
    download upload install configure enable disable monitor watch track report turn switch reset clear clean drop
    purge archive restore sync copy rename replace convert format validate verify ensure avoid follow notify prefer
    bake cook page wear wait skip include document wrap mention submit do let bring
    """.split()
)
_ORDERING = lexicon.word_set("do not never always please only so then")
