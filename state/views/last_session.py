"""Where a session was left, told by rule: what was asked first, what was decided, which files, what is open, the end.

Each line is a piece of a turn under a word that says what the piece is. Which session is told of is for the caller.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from memtape.schemas.events import Origin
from memtape.schemas.patterns import lazy
from memtape.state.text.endings import ending
from memtape.state.text.statements import asked, statements

HEAD_CHARS, END_CHARS = 240, 240
DECISIONS, FILES = 4, 8
LEAST_WORDS = 4
"""A shorter turn, such as "go on", asks for nothing by itself."""
_FILE = lazy(r"(?<![\w/:.@-])(?:[.~]{0,2}/)?(?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z][A-Za-z0-9]{0,4}\b(?!\w*[/(@])")
_NO_FILE = lazy(r"\A(?:e\.g|i\.e|[A-Z][\w-]*\.(?:js|io|com|org|net)|\w+\.(?:com|org|net|io|dev|ai)|[a-z]\.[a-z])\Z")


class Turn(Protocol):
    """What must be known of a turn."""

    @property
    def text(self) -> str: ...

    @property
    def origin(self) -> Origin: ...

    @property
    def at(self) -> int: ...


class Line(NamedTuple):
    """One line of where a session was left, and the number of the turn that it is of; `held` is a statement's text."""

    text: str
    turn: int
    held: str | None = None


def left_of(turns: Sequence[Turn]) -> list[Line]:
    """Return where a session was left, given its turns in order; of a long one its beginning and end will do."""
    people = [n for n, turn in enumerate(turns) if turn.origin != "agent" and _says_something(turn.text)]
    agents = [n for n, turn in enumerate(turns) if turn.origin == "agent" and _says_something(turn.text)]
    lines = [Line(f"asked: {_head(turns[n].text)}", n) for n in people[:1]]
    lines += _decided(turns)
    lines += _files(turns)
    lines += [Line(f"then asked: {_head(turns[n].text)}", n) for n in people[1:][-1:]]
    lines += [Line(f"last answer: {_end(turns[n].text)}", n) for n in agents[-1:]]
    if agents and agents[-1] > max(people, default=-1):
        lines += [Line(f"open question: {question}", agents[-1]) for question in asked(turns[agents[-1]].text)[-1:]]
    elif people and agents:
        lines.append(Line("no answer came to the last request.", people[-1]))
    return lines


def _decided(turns: Sequence[Turn]) -> list[Line]:
    found = {
        one.text: n
        for n, turn in enumerate(turns)
        for one in statements(turn.text, turn.at, of_agent=turn.origin == "agent")
        if one.label in ("decision", "correction")
    }
    return [Line(f"decided: {text}", n, text) for text, n in list(found.items())[-DECISIONS:]]


def _files(turns: Sequence[Turn]) -> list[Line]:
    """Return one line with the files that are named most, of equals the last named first."""
    named: Counter[str] = Counter()
    last: dict[str, int] = {}
    for n, turn in enumerate(turns):
        for path in dict.fromkeys(_FILE.findall(turn.text)):
            if not _NO_FILE.match(path):
                named[path] += 1
                last[path] = n
    if not named:
        return []
    chosen = sorted(named, key=lambda path: (-named[path], -last[path], path))[:FILES]
    return [Line(f"files: {', '.join(chosen)}", max(last[path] for path in chosen))]


def _says_something(text: str) -> bool:
    return len(text.split()) >= LEAST_WORDS


def _head(text: str) -> str:
    """Return the beginning of a text up to a whole word."""
    joined = " ".join(text.split())
    return joined if len(joined) <= HEAD_CHARS else f"{joined[:HEAD_CHARS].rpartition(' ')[0] or joined[:HEAD_CHARS]} …"


def _end(text: str) -> str:
    """Return the end of a text from a whole sentence on, else its beginning."""
    joined = " ".join(text.split())
    if len(joined) <= END_CHARS:
        return joined
    last = ending(joined, END_CHARS)
    return f"… {last}" if last else _head(text)
