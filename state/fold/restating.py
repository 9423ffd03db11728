"""Whether two English texts whose vectors are similar say the same in other words or in another order.

Their words are the same, but for words that say little; the classes of `sayings` agree; and nobody has taken another's
part: no two words stand the other way round. The verdict is the same whichever text comes first. It is no equivalence:
of three texts the first and the last may be too far apart. So a text is compared with the most similar ones, in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from memtape.state.fold import classes
from memtape.state.fold.amounts import READ
from memtape.state.fold.sayings import Saying, aside, light, measured, saying, stem, verb_keys
from memtape.state.fold.synonyms import concept

LEAST_SHARED = 5
"""Texts of fewer words in common are told by their form alone: in a short sentence the place of a word says more."""
_DEADLINES = frozenset(["by", "before", "after", "until", "since", "from", "to"])
_OPPOSED = frozenset([("from", "to"), ("before", "after"), ("above", "below"), ("since", "until")])
_DAYS = frozenset(["today", "tomorrow", "yesterday", "tonight"])
_MODE = {"can": "may"}
_ORDERED = frozenset(["must", "forbid", "should"])
_ROLE, _NEXT, _NEAR, _BOUND, _WITHIN = 2, 2, 1, 3, 3
"""What of the place of a word tells how much of the part that it has."""

_TELLING = frozenset(["of", "to", "for", "from", "at"])
_LEAST, _LEAST_FLIPPED = 4, 1
"""So much more of their places must speak for an exchange of two words, less where they have another order."""

Features = dict[str, int]


def restates(a: str, b: str) -> bool:
    """Tell whether two texts whose vectors are similar say the same, in a tenth of a millisecond or two."""
    return _says_the_same(saying(a), saying(b))


def _says_the_same(a: Saying | None, b: Saying | None) -> bool:
    """Tell whether two texts say the same; False where one cannot be read."""
    if a is None or b is None or a.marks != b.marks or not (_same_modes(a, b) and _same_time(a, b)):
        return False
    if a.persons and b.persons and frozenset(a.persons).isdisjoint(b.persons):
        return False
    names = a.names | b.names
    one, other = _Read(a, names), _Read(b, names)
    alone = one.alone(other), other.alone(one)
    if all(alone) or not all(map(all, alone)):
        return False
    shared = [key for key in one.at if key in other.at]
    if len(shared) < LEAST_SHARED:
        return False
    verbs = verb_keys() | frozenset(word.key for word in (*a.words, *b.words) if word.participle)
    if not (_same_bounds(one, other) and _same_clauses(one, other) and _same_roles(one, other, shared)):
        return False
    return _same_parts(one, other, shared, verbs)


class _Read:
    """A saying under the names of both texts that are compared: the keys of its words, and where each stands."""

    def __init__(self, saying: Saying, names: frozenset[str]) -> None:
        self.words = saying.words
        self.compares = "more" in saying.marks or "less" in saying.marks
        self.keys = [word.raw if word.raw.lower() in names else word.key for word in saying.words]
        self.at: dict[str, list[int]] = {}
        for index, key in enumerate(self.keys):
            self.at.setdefault(key, []).append(index)
        self.names = names
        self.raws = dict.fromkeys(word.raw for word in saying.words)
        self.joined = {one.raw + other.raw: None for one, other in pairwise(saying.words)}

    def alone(self, other: _Read) -> list[bool]:
        """Return of each word that the other lacks, and that says something, whether it says little."""
        found = []
        for index, (key, word) in enumerate(zip(self.keys, self.words, strict=True)):
            if key in other.at or word.raw in other.joined or any(it in other.raws for it in self._joins(index)):
                continue
            if self.is_value(index):
                found.append(False)
            elif stem(word.raw) not in aside():
                compares = self.compares and stem(word.raw) in measured()
                found.append(compares or stem(word.raw) in light())
        return found

    def within(self) -> dict[str, dict[str, None]]:
        """Return the keys of the words of each kind of clause, by what opens it; the main one is none."""
        found: dict[str, dict[str, None]] = {}
        for key, word in zip(self.keys, self.words, strict=True):
            if word.within:
                found.setdefault(word.within, {})[key] = None
        return found

    def is_value(self, index: int) -> bool:
        """Tell whether a word is a name, a number, a time, or a piece of code."""
        raw = self.words[index].raw
        return raw.lower() in self.names or not raw.isalpha() or not raw.islower() or raw[:1] == READ

    def is_joined(self, place: int, second: str) -> bool:
        """Tell whether a word stands right behind another, under the same preposition."""
        return place + 1 in self.at[second] and self.words[place].role == self.words[place + 1].role

    def tells(self, place: int, second: str) -> bool:
        """Tell whether a word tells by a preposition of what another one is that stands right before."""
        return place - 1 in self.at[second] and self.words[place].role in _TELLING

    def _joins(self, index: int) -> Iterator[str]:
        for start in (index - 1, index):
            if 0 <= start < len(self.words) - 1:
                yield self.words[start].raw + self.words[start + 1].raw


def _same_modes(a: Saying, b: Saying) -> bool:
    """Tell whether both texts say that something must, should or may be; an order says that it must or should.

    That something can be is said by saying it, and that it will be is for `_same_time`.
    """
    one, other = ([_MODE.get(mode, mode) for mode in saying.modes if mode != "will"] for saying in (a, b))
    if one == other:
        return True
    if one and other:
        return False
    rest, stated = (one, b) if one else (other, a)
    return (rest == ["may"] and "can" in (*a.modes, *b.modes)) or (
        len(rest) == 1 and stated.order and rest[0] in _ORDERED
    )


def _same_time(a: Saying, b: Saying) -> bool:
    """Tell whether neither text tells of the past, or both do."""
    for one, other in ((a, b), (b, a)):
        if other.past:
            continue
        if "" in one.past or not all(key in other.ended for key in one.past):
            return False
    timed = any(word.raw[:1] == READ for word in a.words)
    return ("will" in a.modes) is ("will" in b.modes) or timed or bool(a.past)


def _same_bounds(one: _Read, other: _Read) -> bool:
    """Tell whether what is denied or limited is the same word, or the word after it."""
    for first, second in ((one, other), (other, one)):
        reach = [key for index, word in enumerate(second.words) if word.bound for key in second.keys[index : index + 3]]
        for index, word in enumerate(first.words):
            if word.bound and not any(key in reach for key in first.keys[index : index + 2]):
                return False
    return True


def _same_clauses(one: _Read, other: _Read) -> bool:
    """Tell whether what stands behind `if`, `because`, `before` and the like is mostly the same."""
    inside, others = one.within(), other.within()
    for opener, keys in inside.items():
        behind = others.get(opener, {})
        if behind and 2 * sum(key in behind for key in keys) < min(len(keys), len(behind)):
            return False
    return True


def _same_roles(one: _Read, other: _Read, shared: Sequence[str]) -> bool:
    """Tell whether no word comes from where it goes in the other text, and no time is a deadline in one text alone.

    An adverb of a noun (`the often late bus`) is none of a verb. Before a plan a time says when the plan was made.
    """
    planned = any(not word.noun and concept(word.raw) in classes.PLANNING for word in (*one.words, *other.words))
    for key in shared:
        first, second = one.words[one.at[key][0]], other.words[other.at[key][0]]
        adverbs = first.raw in classes.ADVERBS or second.raw in classes.ADVERBS
        timed = key[:1] == READ or key in _DAYS or adverbs
        if planned and timed and (0 in one.at[key]) is not (0 in other.at[key]):
            return False
        if first.noun is not second.noun and (adverbs or first.raw.endswith("ly") or second.raw.endswith("ly")):
            return False
        roles, others = ([text.words[index].role for index in text.at[key]] for text in (one, other))
        if any(role in others for role in roles):
            continue
        if any((a, b) in _OPPOSED or (b, a) in _OPPOSED for a in roles for b in others):
            return False
        if key[:1] == READ and key[1:2].isupper() and not _DEADLINES.isdisjoint((*roles, *others)):
            return False
    return True


def _same_parts(one: _Read, other: _Read, shared: Sequence[str], verbs: frozenset[str]) -> bool:
    """Tell whether no two words have the part of each other in the other text."""
    mine, others = ({key: _features(text, key, verbs) for key in shared} for text in (one, other))
    for x, y in combinations(shared, 2):
        acts = [("as verb" in of[x], "as verb" in of[y]) for of in (mine, others)]
        one_acts = any(of_x is not of_y for of_x, of_y in acts)
        if (one_acts and acts[0] == acts[1]) or _follow(one, other, x, y):
            continue  # A verb has no noun's part, and two words may name one thing.
        if not one_acts and _is_compound(one, other, x, y):
            continue
        near = (f"near {x}", f"near {y}")
        straight = _common(mine[x], others[x], near) + _common(mine[y], others[y], near)
        crossed = _common(mine[x], others[y], near) + _common(mine[y], others[x], near)
        flipped = (one.at[x][0] < one.at[y][0]) is not (other.at[x][0] < other.at[y][0])
        values = all(one.is_value(one.at[key][0]) or other.is_value(other.at[key][0]) for key in (x, y))
        least = (0 if flipped else 1) if values else (_LEAST_FLIPPED if flipped and not one_acts else _LEAST)
        if crossed - straight >= least:
            return False
    return True


def _follow(one: _Read, other: _Read, x: str, y: str) -> bool:
    """Tell whether two words stand side by side in both texts, in one order."""
    return any(
        all(any(place + 1 in text.at[last] for place in text.at[first]) for text in (one, other))
        for first, last in ((x, y), (y, x))
    )


def _is_compound(one: _Read, other: _Read, x: str, y: str) -> bool:
    """Tell whether one text has as a compound what the other says by a preposition: `Berlin trip`, `trip to Berlin`."""
    for a, b in ((one, other), (other, one)):
        for first, second in ((x, y), (y, x)):
            joined = any(a.is_joined(place, second) for place in a.at[first])
            if joined and any(b.tells(place, second) for place in b.at[first]):
                return True
    return False


def _features(text: _Read, key: str, verbs: frozenset[str]) -> Features:
    """Return what the places of a word tell of its part: its role, what is bound to it, and what stands near."""
    found: Features = {}
    for index in text.at[key]:
        word = text.words[index]
        found["as " + _part(text, index, verbs)] = _ROLE
        found["within " + word.within] = _WITHIN
        for bound in word.bound:
            found["bound " + bound] = _BOUND
        for distance, weight in ((2, _NEAR), (1, _NEXT)):
            for place in (index - distance, index + distance):
                if 0 <= place < len(text.keys):
                    found["near " + text.keys[place]] = weight
    return found


def _part(text: _Read, index: int, verbs: frozenset[str]) -> str:
    """Return whether a word stands for who does something or for what is done to, else its preposition."""
    word = text.words[index]
    if word.role == "by" and word.raw[:1] != READ and not word.raw.endswith("ing"):
        return "who"
    if word.role:
        return word.role
    clause = [place for place, other in enumerate(text.words) if other.clause == word.clause]
    done = (place for place in clause if text.words[place].participle)
    verb = next(done, next((place for place in clause if _is_verb(text, place, verbs)), -1))
    if verb == index or verb < 0:
        return "verb" if verb == index else ""
    return "who" if index < verb and not text.words[verb].participle else "what"


def _is_verb(text: _Read, place: int, verbs: frozenset[str]) -> bool:
    word = text.words[place]
    return not word.role and not word.noun and word.key in verbs and word.raw not in text.names


def _common(one: Features, other: Features, left_out: Sequence[str]) -> int:
    return sum(min(weight, other.get(name, 0)) for name, weight in one.items() if name not in left_out)
