"""Where a session was left, told by rule: what was asked first, what was decided, which files, what is open, the end.

Each line is a piece of a turn under a word that says what the piece is. Only people ask, and only people and agents
decide and name files: what tools put out is nobody's word. Of tools that edit it is told which files they edited.
Which session is told of is for the caller.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from memtape.schemas.events import PEOPLE, Origin
from memtape.schemas.patterns import lazy
from memtape.state.text.courtesies import is_goodbye, is_nod
from memtape.state.text.endings import ending
from memtape.state.text.files import named_files
from memtape.state.text.statements import asked, statements

HEAD_CHARS, END_CHARS = 240, 240
DECISIONS, FILES = 4, 8
LEAST_WORDS = 4
"""A shorter answer, such as "Done.", is told only where no longer one came to the same request."""


EDITING = ("Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch", "replace", "write_file")
"""The tools of Claude Code, Codex and Gemini CLI that edit files."""
_EDITED = lazy(
    r"^(?:The file .*|File created successfully at: .*|Successfully (?:modified|overwrote|created) .*|[AMD] \S+)$",
    re.MULTILINE,
)
"""The lines in which these say which file they have edited."""


class Turn(Protocol):
    """What must be known of a turn."""

    @property
    def text(self) -> str: ...

    @property
    def origin(self) -> Origin: ...

    @property
    def actor(self) -> str: ...

    @property
    def at(self) -> int: ...


class Line(NamedTuple):
    """One line of where a session was left, and the number of the turn that it is of; `held` is a statement's text."""

    text: str
    turn: int
    held: str | None = None


def left_of(turns: Sequence[Turn]) -> list[Line]:
    """Return where a session was left, given its turns in order; of a long one its beginning and end will do."""
    people = [n for n, turn in enumerate(turns) if turn.origin in PEOPLE and turn.text.strip()]
    agents = [n for n, turn in enumerate(turns) if turn.origin == "agent" and turn.text.strip()]
    requests = [n for n in people if not is_goodbye(turns[n].text) and not is_nod(turns[n].text)]
    lines = [Line(f"asked: {_head(turns[n].text)}", n) for n in requests[:1]]
    lines += _decided(turns, sorted([*people, *agents]))
    lines += _files(turns, sorted([*people, *agents]))
    lines += [Line(f"then asked: {_head(turns[n].text)}", n) for n in requests[1:][-1:]]
    answer = _answer(turns, agents, people, requests)
    if answer is not None:
        lines.append(Line(f"last answer: {_end(turns[answer].text)}", answer))
        if all(n < answer or is_goodbye(turns[n].text) for n in people):
            lines += [Line(f"open question: {question}", answer) for question in asked(turns[answer].text)[-1:]]
    elif requests and agents:
        lines.append(Line("no answer came to the last request.", requests[-1]))
    return lines


def _answer(turns: Sequence[Turn], agents: list[int], people: list[int], requests: list[int]) -> int | None:
    """Return the last answer to the last request: the one before people said goodbye, where one came before that."""
    since = requests[-1] if requests else -1
    answers = [n for n in agents if n > since]
    parting = next((n for n in people if n > since and is_goodbye(turns[n].text)), len(turns))
    answers = [n for n in answers if n < parting] or answers
    telling = [n for n in answers if len(turns[n].text.split()) >= LEAST_WORDS] or answers
    return telling[-1] if telling else None


def _decided(turns: Sequence[Turn], spoken: Sequence[int]) -> list[Line]:
    found = {
        one.text: n
        for n in spoken
        for one in statements(turns[n].text, turns[n].at, of_agent=turns[n].origin == "agent")
        if one.label in ("decision", "correction")
    }
    return [Line(f"decided: {text}", n, text) for text, n in list(found.items())[-DECISIONS:]]


def _files(turns: Sequence[Turn], spoken: Sequence[int]) -> list[Line]:
    """Return one line with the files that are named or edited most, of equals the last first."""
    named: Counter[str] = Counter()
    last: dict[str, int] = {}
    found = [(n, path) for n in spoken for path in named_files(turns[n].text)]
    said = dict.fromkeys(path for _, path in found)
    for n, turn in enumerate(turns):
        if turn.origin == "tool" and turn.actor in EDITING:
            # A tool names the whole path of what people and agents name from the project on.
            paths = named_files("\n".join(_EDITED.findall(turn.text)))
            found += [(n, next((it for it in said if path.endswith(f"/{it}")), path)) for path in paths]
    for n, path in sorted(found):
        named[path] += 1
        last[path] = n
    if not named:
        return []
    chosen = sorted(named, key=lambda path: (-named[path], -last[path], path))[:FILES]
    return [Line(f"files: {', '.join(chosen)}", max(last[path] for path in chosen))]


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
