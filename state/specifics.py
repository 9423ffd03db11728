"""The guard of dense folding: whether two texts whose vectors are similar say the same, with the same specifics.

As in `text`, nothing is dropped by default. A text becomes a row of tokens, and what may differ between paraphrases is
brought to one form by rules and lists: numbers, dates, times, synonyms, passives, words of politeness. All else counts
as it stands, whatever class it is of: so names, versions, paths, code, negations, antonyms and quantities need no list
that could have a gap. Tokens must agree as multisets, and their order may differ by a phrase moved from end to end and
not otherwise, which keeps who does what to whom. When in doubt the answer is no: a wrong fold loses a fact.

Whether vectors are similar is decided elsewhere, and word lists live in `specifics_lexicon`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from snowballstemmer import stemmer

from recollect.state import lexicon
from recollect.state import specifics_lexicon as words
from recollect.state.terms import IRREGULAR
from recollect.state.text import content_key

Tokens = tuple[str, ...]


class Specifics(NamedTuple):
    """What a text says, ready to be compared: `bag` is sorted, and `order` holds the same and what only places it."""

    key: Tokens
    language: str
    bag: Tokens
    order: Tokens
    capitals: frozenset[str]
    smalls: frozenset[str]
    front: int = 0
    """How many tokens of `order` a comma closed off in front; it tells what belongs to the phrase there."""


def same_specifics(a: str, b: str) -> bool:
    """Tell whether neither text has specifics that the other lacks; their similarity is for vectors to say."""
    return agree(specifics(a), specifics(b))


def agree(a: Specifics, b: Specifics) -> bool:
    """Tell whether two texts have the same specifics, in about a microsecond where they plainly do or do not."""
    if a.key == b.key:
        return True
    if a.bag != b.bag or not a.bag or a.language != b.language:
        return False
    if not (a.capitals.isdisjoint(b.smalls) and b.capitals.isdisjoint(a.smalls)):
        return False
    if a.front and b.front and a.front != b.front:
        return False
    return a.order == b.order or _is_moved(a, b) or _is_moved(b, a)


_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_HAN = re.compile(r"[\u3400-\u9fff]")


def specifics(text: str) -> Specifics:
    """Return what a text says in the form that `agree` compares; to be computed once a text."""
    key = content_key(text)
    if not text.isascii() and (_KANA.search(text) or _HAN.search(text)):
        return _of_ideographs(key)
    found = frozenset(key)
    language = _language(found)
    if not found.isdisjoint(_ABOUT_WORDS):
        return Specifics(key, language, tuple(sorted(key)), key, frozenset(), frozenset())
    smalls, capitals = _cases(key)
    tokens = list(key)
    if found.isdisjoint(lexicon.ABOUT_NAMES):
        synonyms = _SYNONYMS[language]
        tokens = [synonyms.get(token, token) for token in tokens]
    if found.isdisjoint(_LITERAL):
        tokens = _dated(_READERS[language](tokens), language)
    order, front = _without_front_comma(_formed(tokens, language))
    bag = tuple(sorted(token for token in order if token not in _PLACING[language]))
    return Specifics(key, language, bag, order, capitals, smalls, front)


_ABOUT_WORDS = lexicon.ABOUT_WORDS - frozenset(["write", "writes", "means", "stands", "american", "british"])
# What is named or typed to the letter: in a text with one of these no word stands for another, and with one of those
# that remain here, nothing is read at all.
_LITERAL = lexicon.ABOUT_NAMES - frozenset(
    """
    name called named option options level mean number numbers text role account key keys password secret function
    functions folder folders file files column columns branch branches
    """.split()
)
_SYNONYMS = {"en": words.READINGS_EN, "de": words.READINGS_DE, "es": words.READINGS_ES}
_PLACING = {"en": frozenset[str](), "de": words.CHANCE_ARTICLES_DE, "es": frozenset[str](), "": frozenset[str]()}


def _language(found: frozenset[str]) -> str:
    german, spanish = len(found & words.GERMAN), len(found & words.SPANISH)
    if not found.isdisjoint(lexicon.ENGLISH) and max(german, spanish) < 2:
        return "en"
    if german == spanish == 0:
        return "en"
    return "de" if german >= spanish else "es"


def _cases(key: Tokens) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words in lower case and those with a capital; of one that opens the text, a small letter says nothing.

    Unless the word is a name as well: there the normal text keeps the capital, so that its lack tells something.
    """
    smalls, capitals = [], []
    for index, token in enumerate(key):
        if token.isalpha():
            if token[:1] != token[:1].lower():
                capitals.append(token.lower())
            elif index or token in lexicon.NAMES:
                smalls.append(token)
    return frozenset(smalls), frozenset(capitals)


# --- Numbers, dates, times ---

_INTEGER = re.compile(r"\d{1,4}")
_DAY = re.compile(r"([1-9]|[12]\d|3[01])(?:st|nd|rd|th)?")
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_SHORT_DATE = re.compile(r"(\d\d?)\.(\d\d?)")
_THOUSANDS = {"en": re.compile(r"\d{1,3}(?:,\d{3})+"), "de": re.compile(r"\d{1,3}(?:\.\d{3})+")}
_THOUSANDS["es"] = _THOUSANDS["de"]
_DECIMAL_COMMA = re.compile(r"\d+,\d+")
_CLOCK = re.compile(r"(\d\d?):(\d\d)")
_MONEY = re.compile(r"([$€£¥])(\d[\d.,]*)|(\d[\d.,]*)([$€£¥])")


def _dated(tokens: list[str], language: str) -> list[str]:
    """Return tokens with numbers, sums, dates and times each in one form."""
    read: list[str] = []
    index = 0
    while index < len(tokens):
        found = _date_at(tokens, index, language) or _time_at(tokens, index, language)
        if found:
            read.append(found[0])
            index = found[1]
        else:
            read += _number(tokens, index, language)
            index += 1
    return read


def _number(tokens: list[str], index: int, language: str) -> Tokens:
    token = tokens[index]
    lower = token.lower()
    if lower in words.NUMBERS[language] and index and tokens[index - 1] not in ("called", "named", "heißt", "llama"):
        return (words.NUMBERS[language][lower],)
    if language == "en" and lower == "twice" and index:
        return ("2", "times")
    if language == "en" and lower == "noon":
        return ("T12:00",)
    days = words.WEEKDAYS[language]
    if lower in days:
        return (f"W{days[lower]}",)
    if token[-1] == "s" and lower in words.EVERY_WEEKDAY[language]:
        return ("every", f"W{words.EVERY_WEEKDAY[language][lower]}")
    if lower in words.CURRENCIES and index and tokens[index - 1][0].isdigit():
        return (words.CURRENCIES[lower],)
    if not any(letter.isdigit() for letter in token):
        return (token,)
    money = _MONEY.fullmatch(token)
    if money:
        return _plain_number(money[2] or money[3], language), money[1] or money[4]
    return (_plain_number(token, language),)


def _plain_number(token: str, language: str) -> str:
    if _THOUSANDS[language].fullmatch(token):
        return token.replace("," if language == "en" else ".", "")
    if language != "en" and _DECIMAL_COMMA.fullmatch(token):
        return token.replace(",", ".")
    return token


def _date_at(tokens: list[str], index: int, language: str) -> tuple[str, int] | None:
    """Return the date that starts at a token and where it ends: day and month in any order, with or without a year."""
    token = tokens[index]
    if not (token[0].isdigit() or _month(token, language)):
        return None
    iso = _ISO_DATE.fullmatch(token)
    if iso:
        return f"D{int(iso[1])}-{int(iso[2])}-{int(iso[3])}", index + 1
    if language == "de" and index and tokens[index - 1] in ("am", "vom", "zum", "bis"):
        short = _SHORT_DATE.fullmatch(token)
        if short and int(short[2]) <= 12:
            return f"D-{int(short[2])}-{int(short[1])}", index + 1
    rest = tokens[index : index + 6]
    day = _DAY.fullmatch(token)
    at = 1
    if day:
        while at < len(rest) and rest[at] in (".", "of", "de"):
            at += 1
        month = _month(rest[at], language) if at < len(rest) else 0
    else:
        month = _month(token, language)
        day = _DAY.fullmatch(rest[1]) if len(rest) > 1 else None
        if not day and month and (token.lower() != "may" or (index and tokens[index - 1] in ("in", "since", "until"))):
            return f"M{month}", index + 1
    if not (day and month):
        return None
    at += 1
    if at < len(rest) and rest[at] in (",", "de") and at + 1 < len(rest) and _is_year(rest[at + 1]):
        at += 1
    year = rest[at] if at < len(rest) and _is_year(rest[at]) else ""
    return f"D{year}-{month}-{int(day[1])}", index + at + bool(year)


def _is_year(token: str) -> bool:
    return len(token) == 4 and token.isdigit() and token[:2] in ("19", "20")


def _month(token: str, language: str) -> int:
    lower = token.lower()
    found = words.MONTHS[language].get(lower, 0)
    return found or (words.SHORT_MONTHS.get(lower, 0) if language == "en" else 0)


def _time_at(tokens: list[str], index: int, language: str) -> tuple[str, int] | None:
    """Return the time of day at a token and where it ends; `9:00` alone is no time, since it may be of the evening."""
    token = tokens[index]
    if not token[0].isdigit():
        return None
    clock = _CLOCK.fullmatch(token)
    if not clock and not (_INTEGER.fullmatch(token) and index + 1 < len(tokens)):
        return None
    hour, minute = (int(clock[1]), int(clock[2])) if clock else (int(token), 0)
    after = tokens[index + 1].lower() if index + 1 < len(tokens) else ""
    if after in ("am", "pm") and language == "en" and 1 <= hour <= 12:
        return f"T{hour % 12 + 12 * (after == 'pm'):02}:{minute:02}", index + 2
    if after == "uhr" and language == "de" and hour < 24:
        return f"T{hour:02}:{minute:02}", index + 2
    if clock and (hour > 12 or clock[1][0] == "0") and hour < 24:
        return f"T{hour:02}:{minute:02}", index + 1
    return None


# --- English ---


def _phrased(tokens: list[str], phrases: dict[str, tuple[tuple[Tokens, Tokens], ...]]) -> list[str]:
    """Return tokens with phrases in their readings."""
    read: list[str] = []
    index = 0
    while index < len(tokens):
        for phrase, reading in phrases.get(tokens[index], ()):
            if tuple(tokens[index : index + len(phrase)]) == phrase and not _after_negation(read, phrase):
                read += reading
                index += len(phrase)
                break
        else:
            read.append(tokens[index])
            index += 1
    return read


def _after_negation(before: list[str], phrase: Tokens) -> bool:
    return phrase[0] in words.NOT_AFTER_NEGATION and any(word in ("not", "never", "no") for word in before[-2:])


def _english(tokens: list[str]) -> list[str]:
    tokens = _without_opener(tokens)
    if not words.PHRASES_EN.keys().isdisjoint(tokens):
        tokens = _phrased(tokens, words.PHRASES_EN)
    tokens = _with_light_left_out(_possessive(tokens))
    return _there_is(_active(_plain_verbs(tokens)))


def _without_opener(tokens: list[str]) -> list[str]:
    for phrase, _ in words.OPENERS_EN.get(tokens[0], ()) if tokens else ():
        size = len(phrase)
        if tuple(tokens[:size]) == phrase and len(tokens) > size + 1:
            rest = tokens[size:]
            return rest[1:] if rest[0] == "," else rest
    return tokens


def _with_light_left_out(tokens: list[str]) -> list[str]:
    """Leave out light words, `the` where it tells nothing, and an `about` of numbers goes by one name."""
    read: list[str] = []
    last = len(tokens) - 1
    for index, token in enumerate(tokens):
        after = tokens[index + 1] if index < last else ""
        if token == "the" and _is_idle_the(tokens[index - 1] if index else "", after):
            continue
        if token in words.LIGHT_EN or (index == last and token in ("too", "please")):
            continue
        if token == "," and tokens[index + 1 :] == ["please"]:
            continue
        if token == "around" and after and (after[0].isdigit() or after in words.NUMBERS["en"]):
            token = "about"
        elif token == "a" and after in words.UNITS_OF_TIME and _follows_amount(tokens, index):
            token = "per"
        elif token == "each" and after != "other":
            token = "every"
        elif token == "on" and _opens_date(tokens, index + 1):
            continue
        read.append(token)
    return read


def _is_idle_the(before: str, after: str) -> bool:
    if not after or after in words.AFTER_THE or before in words.BE:
        return False
    return not after[0].isdigit() and after not in words.NUMBERS["en"]


def _follows_amount(tokens: list[str], index: int) -> bool:
    return any(token[-1].isdigit() or token in words.NUMBERS["en"] for token in tokens[max(0, index - 2) : index])


def _opens_date(tokens: list[str], index: int) -> bool:
    """Tell whether a date with its day follows, of which `on` says nothing; or a weekday that repeats."""
    if index >= len(tokens):
        return False
    found = _date_at(tokens, index, "en")
    return (found is not None and found[0][0] == "D") or tokens[index].lower() in words.EVERY_WEEKDAY["en"]


def _possessive(tokens: list[str]) -> list[str]:
    """Bring `the wife of the user` to `user's wife`, and `X's name is Y` to `X is called Y`."""
    for index in range(len(tokens) - 4):
        owned, owner = tokens[index + 1], tokens[index + 4]
        framed = tokens[index] == "the" and tokens[index + 2 : index + 4] == ["of", "the"]
        nouns = owned.isalpha() and owner.isalpha() and owned not in words.NOT_OWNED
        if framed and nouns and (index == 0 or tokens[index - 1] in words.BE):
            return [*tokens[:index], owner + "'s", owned, *tokens[index + 5 :]]
    for index in range(len(tokens) - 2):
        if tokens[index].endswith("'s") and tokens[index + 1 : index + 3] == ["name", "is"]:
            return [*tokens[:index], tokens[index].removesuffix("'s"), "is", "called", *tokens[index + 3 :]]
    return tokens


def _plain_verbs(tokens: list[str]) -> list[str]:
    """Bring progressives of what lasts to the present, and `gets built` to `is built`."""
    read: list[str] = []
    for index, token in enumerate(tokens):
        after = tokens[index + 1] if index + 1 < len(tokens) else ""
        if token in words.BE_PRESENT and after in words.LASTING:
            continue
        if token in words.LASTING and index and tokens[index - 1] in words.BE_PRESENT:
            read.append(("=s:" if tokens[index - 1] == "is" else "=") + _stem(token))
        elif token in words.GETS and _participle(after):
            read.append(words.GETS[token])
        else:
            read.append(token)
    return read


def _participle(word: str) -> bool:
    return word in IRREGULAR or _base(word) != word or (len(word) > 4 and word.endswith("ed"))


def _base(word: str) -> str:
    """Return the plain form of an irregular one, also of one done again: `rebuilt` is `rebuild`."""
    if word.startswith("re") and word[2:] in IRREGULAR:
        return "re" + IRREGULAR[word[2:]]
    return IRREGULAR.get(word, word)


def _is_plural(agent: list[str]) -> bool:
    last = agent[-1]
    return "and" in agent or last in ("we", "they", "you", "people") or (last[-1] == "s" and last[-2:] not in _SINGULAR)


_SINGULAR = ("ss", "us", "is", "'s")


def _active(tokens: list[str]) -> list[str]:
    """Bring `S is maintained by A` to `A maintains S`, where the sentence has one clause and nothing else moves."""
    if "by" not in tokens:
        return tokens
    at = tokens.index("by")
    if at < 3 or not _participle(tokens[at - 1]) or tokens[at - 2] not in words.BE:
        return tokens
    subject, verb, agent = tokens[: at - 2], tokens[at - 1], tokens[at + 1 :]
    if tokens[at - 2] not in words.BE_PRESENT | words.BE_PAST or "," in tokens or tokens.count("by") > 1:
        return tokens
    said = frozenset(tokens) - frozenset(["and"])
    if not said.isdisjoint(words.BINDERS) or not said.isdisjoint(["?", ";", ":", "."]) or not agent:
        return tokens
    if subject[0] in words.MARKERS["en"] or not frozenset(agent).isdisjoint(words.MARKERS["en"]):
        return tokens
    if not (words.QUANTIFIERS.isdisjoint(subject) or words.QUANTIFIERS.isdisjoint(agent)):
        return tokens
    mark = "+" if tokens[at - 2] in words.BE_PAST else "=" if _is_plural(agent) else "=s:"
    return [*agent, mark + _stem(_base(verb)), *subject]


def _there_is(tokens: list[str]) -> list[str]:
    """Bring `there are 12 nodes in the cluster` to `cluster has 12 nodes`."""
    if tokens[:2] not in (["there", "are"], ["there", "is"]) or tokens.count("in") != 1:
        return tokens
    at = tokens.index("in")
    place = tokens[at + 1 :]
    if len(place) == 1 and place[0].isalpha() and frozenset(tokens).isdisjoint(words.NOT_MOVED) and at > 2:
        return [*place, "has", *tokens[2:at]]
    return tokens


# --- German and Spanish ---


def _german(tokens: list[str]) -> list[str]:
    tokens = _phrased(tokens, words.PHRASES_DE)
    read = [token for token in tokens if token not in words.LIGHT_DE]
    if read[:1] == ["der"] and _opens_noun(read, 0):
        read = read[1:]
    read = [token for at, token in enumerate(read) if token not in words.ARTICLES_DE or not _opens_noun(read, at)]
    read = _german_active(read)
    return _each_day(read)


def _opens_noun(tokens: list[str], at: int) -> bool:
    """Tell whether an article has its noun after it, and is no pronoun: `mag das`, `die Frau, die`."""
    after = tokens[at + 1 : at + 3]
    return bool(after) and (at == 0 or tokens[at - 1] != ",") and any(word[0].isupper() for word in after)


def _each_day(tokens: list[str]) -> list[str]:
    return ["every" if token in ("jeden", "jede", "jedes") else token for token in tokens]


def _german_active(tokens: list[str]) -> list[str]:
    """Bring `S wurde von A geschrieben` to `A hat S geschrieben`, and `S wird von A gepflegt` to `A pflegt S`."""
    if len(tokens) != 5 or tokens[2] != "von" or tokens[1] not in ("wird", "wurde"):
        return tokens
    subject, voice, _, agent, verb = tokens
    if voice == "wurde":
        return [agent, "hat", "den", subject, verb]
    return [agent, verb[2:], subject] if verb.startswith("ge") and verb.endswith("t") else tokens


def _spanish(tokens: list[str]) -> list[str]:
    tokens = _phrased(tokens, words.PHRASES_ES)
    read = [token for token in tokens if token not in words.LIGHT_ES]
    if read and read[-1] == ",":
        read = read[:-1]
    return read[1:] if read and read[0] == "," else read


_READERS = {"en": _english, "de": _german, "es": _spanish}


# --- Words ---

_STEMMER = stemmer("english")


@lru_cache(32_768)
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word))


def _formed(tokens: list[str], language: str) -> list[str]:
    """Return tokens in one form for what inflections say the same; tenses, plurals and words in capitals stay apart."""
    if language != "en":
        return [_lowered(token) for token in tokens]
    return [_english_form(token) for token in tokens]


def _lowered(token: str) -> str:
    """Return a word in lower case that has its first letter alone in capitals."""
    return token.lower() if token[1:].islower() and token.isalpha() else token


@lru_cache(32_768)
def _english_form(token: str) -> str:
    """Return a verb as its stem with a mark of its form, so that forms made of passives and progressives meet it."""
    token = _lowered(token)
    if not token.isalpha() or not token.islower():
        return token
    if token in words.VERBS_IN_S:
        return "=s:" + _stem(token)
    if token in _PLAIN_VERBS:
        return "=" + _stem(token)
    if token not in _NO_VERBS and _participle(token):
        return "+" + _stem(_base(token))
    return token


_NO_VERBS = frozenset(
    "children men women people feet teeth mice geese wives lives better best worse worst left".split()
)
_PLAIN_VERBS = frozenset(
    [word[:-1] for word in words.VERBS_IN_S]
    + [word[:-2] for word in words.VERBS_IN_S if word.endswith("es")]
    + [word[:-3] + "y" for word in words.VERBS_IN_S if word.endswith("ies")]
)


# --- Order ---


def _without_front_comma(order: list[str]) -> tuple[Tokens, int]:
    """Leave out the one comma that closes a phrase in front, and tell where it was."""
    at = order.index(",") if order.count(",") == 1 else 0
    if not (0 < at < len(order) - 1) or order[0] not in _FRONT:
        return tuple(order), 0
    return tuple(order[:at] + order[at + 1 :]), at


_FRONT = words.MARKERS["en"] | frozenset(["to"])


def _is_moved(a: Specifics, b: Specifics) -> bool:
    """Tell whether `b` is `a` with one phrase moved to the front, an adverb moved, or the two sides of `is` swapped."""
    x, y, language = a.order, b.order, a.language
    if language not in ("en", "de", "es"):
        return False
    if words.BINDERS.isdisjoint(x) and not (_is_attributive(x) or _is_attributive(y)):
        x, y = _without_adverbs(x), _without_adverbs(y)
        if x == y:
            return True
    for size in range(1, len(y) - 1):
        if b.front and size != b.front:
            continue
        phrase, rest = y[:size], y[size:]
        if _can_front(phrase, words.MARKERS[language]) and _is_free(phrase, rest):
            if x[-size:] == phrase and x[-size - 1] not in words.EVENTS and rest == x[:-size]:
                return True
            if language == "de" and _is_inverted(x, phrase, rest):
                return True
    return _is_swapped_copula(x, y)


def _is_attributive(order: Tokens) -> bool:
    """Tell whether an adverb may belong to a participle before a noun: `the manually created job fails`."""
    for index, token in enumerate(order[:-1]):
        if token in words.MOVING_ADVERBS and (order[index + 1][0] == "+" or order[index + 1].endswith("ing")):
            return any(after[0] in "=+" or after in words.BE for after in order[index + 2 :])
    return False


def _without_adverbs(order: Tokens) -> Tokens:
    return tuple(token for token in order if token not in words.MOVING_ADVERBS)


def _can_front(phrase: Tokens, markers: frozenset[str]) -> bool:
    first = phrase[0]
    if first[0] in "WD" and len(first) > 1 and first[1:2] in "12345670-":
        return len(phrase) == 1
    if first in words.MARKERS_OF_TIME:
        return _tells_time(phrase)
    return first in markers and (len(phrase) > 1 or first in words.TIMES or first in words.MOVING_ADVERBS)


def _tells_time(phrase: Tokens) -> bool:
    return any(
        token in words.TIMES or token in words.MOVING_ADVERBS or (token[0] in "WDMT" and token[1:2] in _DIGITS)
        for token in phrase
    )


_DIGITS = frozenset("0123456789-")
_CLAUSES = frozenset("if when while because although unless once whenever wenn weil si cuando before after".split())


def _is_free(phrase: Tokens, rest: Tokens) -> bool:
    """Tell whether the rest is one clause, and the phrase one with it, so that it says the same at either end."""
    if not words.BINDERS.isdisjoint(rest):
        return False
    inner = phrase[1:]
    return words.BINDERS.isdisjoint(inner) and (phrase[0] in _CLAUSES or words.BINDERS.isdisjoint(phrase[:1]))


def _is_inverted(straight: Tokens, phrase: Tokens, rest: Tokens) -> bool:
    """Tell whether German's verb stands before the subject after a phrase in front, and after it in the other.

    There the phrase comes after the verb: before it, it would belong to the subject.
    """
    verb, rest = rest[0], rest[1:]
    rest = rest[1:] if rest[:1] == ("der",) else rest
    if verb not in straight[1:]:
        return False
    at, size = straight.index(verb), len(phrase)
    subject, after = straight[:at], straight[at + 1 :]
    if after[:size] == phrase and subject + after[size:] == rest:
        return True
    return after[-size:] == phrase and subject + after[:-size] == rest and straight[-size - 1] not in words.EVENTS


def _is_swapped_copula(x: Tokens, y: Tokens) -> bool:
    """Tell whether `teal is user's favourite` stands on its head: one side a single word, the other owned."""
    if x.count("is") != 1 or y.count("is") != 1 or not words.BINDERS.isdisjoint(x):
        return False
    at, other = x.index("is"), y.index("is")
    left, right = x[:at], x[at + 1 :]
    if y[:other] != right or y[other + 1 :] != left or not left or not right:
        return False
    single, owned = (left, right) if len(left) == 1 else (right, left)
    return len(single) == 1 and len(owned) > 1 and owned[0].endswith("'s")


# --- Chinese and Japanese ---

_HAN_DIGITS = {digit: str(value) for value, digit in enumerate("一二三四五六七八九", 1)} | {"两": "2", "十": "10"}
_COUNTED = re.compile(
    r"(?<![一二三四五六七八九十百千万\d周第])([一二三四五六七八九十两])(?=[次个点天分秒小年月人台条倍岁件時回日本])"
)
_PLEASE = re.compile(r"^请(?=总是|始终|用|不要|勿|在|将|把|先|记住|务必)")
_DAY_OF_MONTH = re.compile(r"(?<=月)(\d+)号")
_JA_WEEKDAY = re.compile(r"(?<![\u3400-\u9fff])([月火水木金土日])曜(?!日)")
_POLITE = re.compile(r"([いきぎしちにびみりえけげせてねべめれ])(ます|ません)(?=$|[。、がけのか])")
_JA_CHUNK = re.compile(r".*?(?:から|まで|[はがをへに])(?=.)")
_WIDE = "\u3040-\u30ff\u3400-\u9fff"
# Tokens are joined without a space beside ideographs, unless one was written there, which is a token too.
_JOIN = "\x1f"
_JOINS = re.compile(rf"(?<=[{_WIDE} ])\x1f|\x1f(?=[{_WIDE} ])")


def _of_ideographs(key: Tokens) -> Specifics:
    """Return the specifics of a text with ideographs or kana, letter by letter, in one form for what is the same."""
    if any(token in ("「", "『", '"', "`") or "`" in token for token in key):
        return Specifics(key, "zh", tuple(sorted(key)), key, frozenset(), frozenset())
    text = _JOINS.sub("", _JOIN.join(key)).replace(_JOIN, " ")
    japanese = _KANA.search(text) is not None
    text = _japanese(text) if japanese else _chinese(text)
    order = _ja_chunks(text) if japanese else _zh_chunks(text)
    return Specifics(key, "ja" if japanese else "zh", tuple(sorted(order)), order, frozenset(), frozenset())


def _chinese(text: str) -> str:
    for word, reading in words.HAN_READINGS:
        text = text.replace(word, reading)
    text = _PLEASE.sub("", text)
    text = _DAY_OF_MONTH.sub(r"\1日", text)
    return _COUNTED.sub(lambda found: _HAN_DIGITS[found[1]], text)


def _japanese(text: str) -> str:
    for word, reading in words.KANA_READINGS:
        text = text.replace(word, reading)
    text = _JA_WEEKDAY.sub(r"\1曜日", text)
    text = _POLITE.sub(_plain_form, text)
    return text[:-2] + "だ" if text.endswith("です") else text


def _plain_form(found: re.Match[str]) -> str:
    """Return the plain form of a polite verb: `始まります` is `始まる`, `います` is `いる`, `します` is `する`."""
    syllable, ending = found[1], found[2]
    before = found.string[found.start() - 1 : found.start()]
    negated = ending == "ません"
    if syllable == "い" and before in tuple("てでにがもは"):
        return "いない" if negated else "いる"
    if syllable == "し":
        return "しない" if negated else "する"
    if syllable not in words.KANA_ROWS:
        return syllable + ("ない" if negated else "る")
    if syllable == "り" and before in ("あ", "") and negated:
        return "ない"
    return words.KANA_NEGATED[syllable] + "ない" if negated else words.KANA_ROWS[syllable]


def _zh_chunks(text: str) -> Tokens:
    """Return the text, and apart from it a word of time that stands before or after a short subject."""
    found = [word for word in words.HAN_TIMES if word in text]
    if len(found) != 1 or text.count(found[0]) != 1 or any(binder in text for binder in "说告让如因但，,；吗？?"):
        return (text,)
    before, _, after = text.partition(found[0])
    return (before + after, found[0]) if len(before) <= 3 and after else (text,)


def _ja_chunks(text: str) -> Tokens:
    """Return the phrases before the predicate, sorted, since their particles say what they are, and then it.

    Only where each particle stands once: of two phrases with one particle, the order may tell which is which.
    """
    if any(binder in text for binder in ("、", "と", "?", "？", "が、", "て、", "の")):
        return (text,)
    times = [word for word in words.KANA_TIMES if text.count(word) == 1 and len(word) > 1]
    bare = text.replace(times[0], "") if len(times) == 1 and times[0] + "は" not in text else text
    chunks = _JA_CHUNK.findall(bare)
    last = bare[sum(map(len, chunks)) :]
    ends = [chunk[-1] for chunk in chunks]
    if len(dict.fromkeys(ends)) != len(ends) or any(len(chunk) < 2 for chunk in chunks):
        return (text,)
    return (*sorted(chunks), last, *(times if bare != text else ()))
