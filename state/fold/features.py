"""The features by which the learned judge judges a pair of texts: counts and shares of words, as integers.

Features carry over to other subjects and writers: none is a word of its own. Words are compared by stems;
numbers, names, denials and words that bound a statement are counted by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.fold.near_verbatim import tokens_of
from memtape.state.text.lexicon import SEARCH_STOP, cues, word_list, word_pairs
from memtape.state.text.reading import Reading, kept
from memtape.state.text.terms import ENGLISH, worded_terms

NO_COSINE = -1
"""The feature of a pair without vectors."""

_NUMBERS = word_pairs("numbers") | word_pairs("numbers of a value") | word_pairs("numbers of times")
_SYNONYMS = word_pairs("stems used for one another")
_DENYING = word_list("negations") | word_list("words that deny") | word_list("further words that deny")
_ENDING, _BOUNDING = map(word_list, ("stems of an end", "words that bound a statement"))
_ORDINAL = lazy(r"(\d[\d.,:]*?)(?:st|nd|rd|th|k|s)?")


class WordReading(NamedTuple):
    """The words of a text in normal form and order; those of content once, and those of each class."""

    words: tuple[str, ...]
    content: tuple[str, ...]
    numbers: frozenset[str]
    names: frozenset[str]
    light: frozenset[str]
    denials: int
    endings: int
    changes: bool
    breaks: int
    runs: frozenset[str]


@kept
def words_of(reading: Reading) -> WordReading:
    """Return the words of a text as the learned judge compares them."""
    tokens = [token for token in tokens_of(reading)[0] if any(map(str.isalnum, token))]
    lower = [token.lower().strip("'`\"") for token in tokens]
    words, content, numbers, names, light = list[str](), list[str](), list[str](), list[str](), list[str]()
    for place, (token, low) in enumerate(zip(tokens, lower, strict=True)):
        word = _NUMBERS.get(low, low)
        if any(map(str.isdigit, word)):
            ordinal = _ORDINAL.fullmatch(word)
            word = word if ordinal is None else ordinal[1]
            numbers.append(word)
        elif low in SEARCH_STOP or low in _DENYING:
            words.append(word)
            light.append(word)
            continue
        else:
            word = _stem(word)
            if (place and token[:1].isupper()) or not low.isalpha():
                names.append(word)
        words.append(word)
        content.append(word)
    return WordReading(
        tuple(words),
        tuple(dict.fromkeys(content)),
        frozenset(numbers),
        frozenset(names),
        frozenset(light),
        denials=sum(low in _DENYING for low in lower),
        endings=sum(word in _ENDING for word in words),
        changes=cues("claims").is_changed.search(reading.text) is not None,
        breaks=sum(map(reading.text.count, (",", ";", " and "))),
        runs=_runs(reading.text.lower()),
    )


def _stem(word: str) -> str:
    found = worded_terms(word.removesuffix("'s"), ENGLISH)
    stem = found[0][1] if found else word
    return _SYNONYMS.get(stem, stem)


def _runs(text: str) -> frozenset[str]:
    """Return the runs of three characters of a text."""
    text = f" {text} "
    return frozenset(text[at : at + 3] for at in range(len(text) - 2))


def _is_kin(one: str, other: str) -> bool:
    """Return whether two different stems look alike: one beginning, one in the other, or half of the runs."""
    shorter = min(len(one), len(other))
    if shorter < 3 or any(map(str.isdigit, one + other)):
        return False
    if one[:4] == other[:4] or one[:shorter] == other[:shorter]:
        return True
    if shorter >= 4 and (one in other or other in one):
        return True
    first, second = _runs(one), _runs(other)
    return shorter >= 5 and len(first & second) * 4 >= len(first) + len(second)


class Features(NamedTuple):
    """The features of a pair. Shares are in hundredths, `cosine` is in ten-thousandths or `NO_COSINE`."""

    cosine: int
    # Words of content: those of both, those that look alike, and those of one text alone.
    shared: int
    kin: int
    share_of_shorter: int
    share_of_longer: int
    older_alone: int
    newer_alone: int
    # The order of the shared words, and which ends of the texts they are.
    inverted: int
    begins_alike: int
    ends_older: int
    ends_newer: int
    # Numbers and names.
    numbers_shared: int
    numbers_of_older: int
    numbers_of_newer: int
    names_shared: int
    names_of_older: int
    names_of_newer: int
    # Denials, changes, bounds and other light words.
    denied_once: int
    ended_once: int
    denials_of_older: int
    denials_of_newer: int
    tells_change: int
    light_of_older: int
    light_of_newer: int
    bounds_differ: int
    # The form: lengths in words, runs of characters, words before and behind the first and last difference.
    length_of_older: int
    length_of_newer: int
    breaks_more: int
    runs_shared: int
    same_before: int
    same_behind: int
    between_of_older: int
    between_of_newer: int


def features_of(older: Reading, newer: Reading, cosine: int | None) -> Features:
    """Return the features of an earlier and a later text, with their cosine in ten-thousandths if known."""
    old, new = words_of(older), words_of(newer)
    known = NO_COSINE if cosine is None else cosine
    return Features(known, *_of_content(old, new), *_of_classes(old, new), *_of_form(old, new))


def specifics_differ(older: Reading, newer: Reading) -> bool:
    """Return whether one text alone has a number or a name, or alone denies or ends something."""
    row = features_of(older, newer, None)
    alone = row.numbers_of_older + row.numbers_of_newer + row.names_of_older + row.names_of_newer
    return bool(alone or row.denied_once or row.ended_once)


def _of_content(old: WordReading, new: WordReading) -> Iterator[int]:
    """Yield the features of the words of content, and of their order."""
    shared = [word for word in old.content if word in new.content]
    left = [word for word in old.content if word not in new.content]
    free = [word for word in new.content if word not in old.content]
    kin = 0
    for word in left:
        other = next((it for it in free if _is_kin(word, it)), None)
        if other is not None:
            free.remove(other)
            kin += 1
    shorter, longer = sorted((len(old.content), len(new.content)))
    yield from (len(shared), kin)
    yield from (_share(len(shared) + kin, shorter), _share(len(shared) + kin, longer))
    yield from (len(left) - kin, len(free))
    places = [new.content.index(word) for word in shared]
    order = [first > second for first, second in combinations(places, 2)]
    yield _share(sum(order), len(order))
    yield old.content[:1] == new.content[:1] != ()
    yield any(word in new.content for word in old.content[-1:])
    yield any(word in old.content for word in new.content[-1:])


def _of_classes(old: WordReading, new: WordReading) -> Iterator[int]:
    """Yield the features of numbers, names, denials and other light words."""
    yield len(old.numbers & new.numbers)
    yield from (len(old.numbers - new.numbers), len(new.numbers - old.numbers))
    in_old, in_new = frozenset(old.content), frozenset(new.content)
    yield len((old.names & in_new) | (new.names & in_old))
    yield from (len(old.names - in_new), len(new.names - in_old))
    denials = old.denials + old.endings, new.denials + new.endings
    yield (old.denials + new.denials) % 2
    yield bool(denials[0]) is not bool(denials[1])
    yield from denials
    yield new.changes
    yield from (len(old.light - new.light), len(new.light - old.light))
    yield len((frozenset(old.words) ^ frozenset(new.words)) & _BOUNDING)


def _of_form(old: WordReading, new: WordReading) -> Iterator[int]:
    """Yield the features of lengths, marks, runs of characters, and the places of the differences."""
    yield from (len(old.words), len(new.words), new.breaks - old.breaks)
    yield _share(2 * len(old.runs & new.runs), len(old.runs) + len(new.runs))
    before = _same(old.words, new.words)
    rests = old.words[before:][::-1], new.words[before:][::-1]
    behind = _same(*rests)
    yield from (before, behind, *(len(rest) - behind for rest in rests))


def _share(part: int, whole: int) -> int:
    return 100 * part // max(1, whole)


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words two texts share at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
