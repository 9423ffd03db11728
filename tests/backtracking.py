"""A matcher of regular expressions that goes back as `re` does, and counts the steps of it.

It walks the tree that `re` parses. A step is a node tried at a place, or a character that a repeat takes or
gives back. A branch that cannot begin with the next character takes none; nothing is kept between places.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from typing import Any

sre = "re._{}" if sys.version_info >= (3, 11) else "sre_{}"
tree: Any = importlib.import_module(sre.format("parser" if sys.version_info >= (3, 11) else "parse"))
ops: Any = importlib.import_module(sre.format("constants"))
End = Callable[[int], int]
"""What is tried from a place on: it returns where the whole match ends, -1 where there is none."""
Matcher = Callable[[int, End], int]
SINGLE = (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN)
REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT)
LOOKS = (ops.ASSERT, ops.ASSERT_NOT)
CATEGORIES = {ops.CATEGORY_DIGIT: str.isdecimal, ops.CATEGORY_SPACE: str.isspace,
              ops.CATEGORY_WORD: lambda it: it.isalnum() or it == "_"}  # fmt: skip


class TooManySteps(Exception):
    """A search took more steps than it was given."""


class Chars(dict[str, bool]):
    """Which characters a node for one character takes."""

    def __init__(self, op: Any, value: Any, flags: int) -> None:
        self._op, self._value, self._flags = op, value, flags

    def __missing__(self, char: str) -> bool:
        given = (char, char.lower(), char.upper()) if self._flags & re.IGNORECASE else (char,)
        if self._op is ops.ANY:
            found = char != "\n" or bool(self._flags & re.DOTALL)
        elif self._op is ops.IN:
            negated = self._value[0][0] is ops.NEGATE
            rest = self._value[negated:]
            found = any(_is_in(its, *node) for its in given if len(its) == 1 for node in rest) != negated
        else:
            found = any(its == chr(self._value) for its in given) == (self._op is ops.LITERAL)
        self[char] = found
        return found


def _is_in(char: str, op: Any, value: Any) -> bool:
    if op is ops.LITERAL:
        return ord(char) == value
    if op is ops.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    assert op is ops.CATEGORY, op
    kind = getattr(ops, str(value).replace("_NOT_", "_"))  # What a category is the opposite of.
    return bool(CATEGORIES[kind](char)) == (kind is value)


class Backtracking:
    """A pattern, matched at all places of a text as `finditer` does; an unknown node fails an assertion."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.parsed = tree.parse(pattern, flags)
        self.flags = self.parsed.state.flags
        self.steps = self._most = 0
        self._text = ""
        self._groups: dict[int, tuple[int, int]] = {}
        self._referred = {value for op, value in nodes_of(self.parsed) if op is ops.GROUPREF}
        self._begins = Beginning(self.parsed, self.flags)
        self._match = self._sequence(list(self.parsed), self.flags)

    def spans(self, text: str, most: int = sys.maxsize) -> list[tuple[int, int]]:
        """Return where the pattern matches; raise `TooManySteps` beyond `most`."""
        self.steps, self._most, self._text = 0, most, text
        found, place, last = list[tuple[int, int]](), 0, -1
        while place <= len(text):
            self._step()
            end = -1
            if self._begins.may(text[place : place + 1]):
                self._groups = {}
                barred = place if place == last else -1
                end = self._match(place, lambda at, barred=barred: -1 if at == barred else at)
            if end < 0:
                place += 1
                continue
            found.append((place, end))
            place, last = end, end if end == place else -1
        return found

    def match(self, text: str, most: int = sys.maxsize) -> int:
        """Return where a match ends that begins with the text; raise `TooManySteps` beyond `most`."""
        self.steps, self._most, self._text = 0, most, text
        self._groups = {}
        return self._match(0, lambda at: at)

    def _step(self, count: int = 1) -> None:
        self.steps += count
        if self.steps > self._most:
            raise TooManySteps

    def _sequence(self, items: list[Any], flags: int) -> Matcher:
        made = [self._node(op, value, flags) for op, value in items]
        if len(made) == 1:
            return made[0]
        if not made:
            return lambda at, end: end(at)

        def match(at: int, end: End, number: int = 0) -> int:
            if number == len(made) - 1:
                return made[number](at, end)
            return made[number](at, lambda after: match(after, end, number + 1))

        return match

    def _node(self, op: Any, value: Any, flags: int) -> Matcher:
        if op in SINGLE:
            return self._single(Chars(op, value, flags))
        if op is ops.SUBPATTERN:
            return self._group(value[0], self._sequence(list(value[3]), (flags | value[1]) & ~value[2]))
        if op is ops.BRANCH:
            return self._branch(value[1], flags)
        if op in REPEATS:
            return self._repeat(op, *value, flags)
        if op in LOOKS:
            return self._look(op is ops.ASSERT, value[0], value[1], flags)
        if op is ops.GROUPREF:
            return self._reference(value, flags)
        assert op is ops.AT, op
        return self._anchor(value, flags)

    def _single(self, chars: Chars) -> Matcher:
        def match(at: int, end: End) -> int:
            self._step()
            return end(at + 1) if at < len(self._text) and chars[self._text[at]] else -1

        return match

    def _group(self, number: int | None, inner: Matcher) -> Matcher:
        if number not in self._referred:
            return inner

        def match(at: int, end: End) -> int:
            def closed(after: int) -> int:
                before = self._groups
                self._groups = {**before, number: (at, after)}  # type: ignore[dict-item]
                if (found := end(after)) < 0:
                    self._groups = before
                return found

            return inner(at, closed)

        return match

    def _reference(self, number: int, flags: int) -> Matcher:
        def match(at: int, end: End) -> int:
            if number not in self._groups:
                return -1
            first, last = self._groups[number]
            self._step(1 + last - first)
            said, again = self._text[first:last], self._text[at : at + last - first]
            same = said.lower() == again.lower() if flags & re.IGNORECASE else said == again
            return end(at + last - first) if same else -1

        return match

    def _branch(self, branches: list[Any], flags: int) -> Matcher:
        made = [(Beginning(it, flags), self._sequence(list(it), flags)) for it in branches]
        by_char: dict[str, list[Matcher]] = {}

        def match(at: int, end: End) -> int:
            char = self._text[at : at + 1]
            if char not in by_char:
                by_char[char] = [branch for begins, branch in made if begins.may(char)]
            self._step()
            for branch in by_char[char]:
                found = branch(at, end)
                if found >= 0:
                    return found
            return -1

        return match

    def _repeat(self, op: Any, least: int, most: int, inner: Any, flags: int) -> Matcher:
        if len(inner) == 1 and inner[0][0] in SINGLE:
            return self._run(op, least, most, Chars(*inner[0], flags))
        return self._loop(op, least, most, self._sequence(list(inner), flags))

    def _run(self, op: Any, least: int, most: int, chars: Chars) -> Matcher:
        """Return what repeats one character."""

        def greedy(at: int, end: End) -> int:
            text, last = self._text, min(len(self._text), at + most)
            after = at
            while after < last and chars[text[after]]:
                after += 1
            self._step(1 + after - at)
            for there in range(after, at + least - 1, -1):
                self._step()
                if (found := end(there)) >= 0:
                    return found
            return -1

        def lazy(at: int, end: End) -> int:
            text, last = self._text, min(len(self._text), at + most)
            after = at
            while True:
                self._step()
                if after - at >= least and (found := end(after)) >= 0:
                    return found
                if after >= last or not chars[text[after]]:
                    return -1
                after += 1

        return lazy if op is ops.MIN_REPEAT else greedy

    def _loop(self, op: Any, least: int, most: int, body: Matcher) -> Matcher:
        def match(at: int, end: End, count: int = 0) -> int:
            self._step()

            def again() -> int:
                if count >= most:
                    return -1
                return body(at, lambda to: -1 if to == at and count >= least else match(to, end, count + 1))

            if count < least:
                return again()
            if op is ops.MIN_REPEAT:
                return found if (found := end(at)) >= 0 else again()
            return found if (found := again()) >= 0 else end(at)

        return match

    def _look(self, wanted: bool, direction: int, inner: Any, flags: int) -> Matcher:
        look = self._sequence(list(inner), flags)
        width = inner.getwidth()[0] if direction < 0 else 0

        def match(at: int, end: End) -> int:
            self._step()
            begin = at - width
            found = begin >= 0 and look(begin, lambda to: to if direction > 0 or to == at else -1) >= 0
            return end(at) if found == wanted else -1

        return match

    def _anchor(self, where: Any, flags: int) -> Matcher:
        many = bool(flags & re.MULTILINE)
        is_word = Chars(ops.IN, [(ops.CATEGORY, ops.CATEGORY_WORD)], 0)

        def holds(at: int) -> bool:
            text = self._text
            if where in (ops.AT_BEGINNING, ops.AT_BEGINNING_STRING):
                return at == 0 or (many and where is ops.AT_BEGINNING and text[at - 1] == "\n")
            if where is ops.AT_END_STRING:
                return at == len(text)
            if where is ops.AT_END:
                return at == len(text) or (text[at] == "\n" and (many or at == len(text) - 1))
            before = at > 0 and is_word[text[at - 1]]
            differs = before != (at < len(text) and is_word[text[at]])
            assert where in (ops.AT_BOUNDARY, ops.AT_NON_BOUNDARY), where
            return differs == (where is ops.AT_BOUNDARY)

        def match(at: int, end: End) -> int:
            self._step()
            return end(at) if holds(at) else -1

        return match


class Beginning:
    """By which characters a part of a pattern may begin."""

    def __init__(self, items: Any, flags: int) -> None:
        self._sets: list[Chars] = []
        self._can_be_empty = self._add(items, flags)
        self._known: dict[str, bool] = {}

    def may(self, char: str) -> bool:
        """Whether the part may match where a character stands next, or none."""
        if char not in self._known:
            self._known[char] = self._can_be_empty or (char != "" and any(its[char] for its in self._sets))
        return self._known[char]

    def _add(self, items: Any, flags: int) -> bool:
        """Take in what may begin a sequence, and return whether all of it can be empty."""
        for op, value in items:
            if op in SINGLE:
                self._sets.append(Chars(op, value, flags))
                return False
            if op is ops.SUBPATTERN:
                empty = self._add(value[3], (flags | value[1]) & ~value[2])
            elif op is ops.BRANCH:
                added = [self._add(branch, flags) for branch in value[1]]
                empty = any(added)
            elif op in REPEATS:
                empty = self._add(value[2], flags) or value[0] == 0
            else:
                empty = True
                if op is ops.GROUPREF:
                    return True
            if not empty:
                return False
        return True


def parts_of(op: Any, value: Any) -> list[Any]:
    """Return the sequences within a node."""
    if op is ops.BRANCH:
        return list(value[1])
    if op is ops.SUBPATTERN:
        return [value[3]]
    if op in REPEATS:
        return [value[2]]
    if op in LOOKS:
        return [value[1]]
    return []


def nodes_of(items: Any) -> list[tuple[Any, Any]]:
    """Return all nodes of a sequence."""
    found = []
    for op, value in items:
        found.append((op, value))
        for part in parts_of(op, value):
            found += nodes_of(part)
    return found
