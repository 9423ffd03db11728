"""The standing pages of a scope, as Markdown: essentials, open ends, recent and archived texts.

First come the places of captures and memories in the vault, shared by all pages.

The same texts are left out of a start: `context` chooses the instructions, `leading` the worthiest memories,
and both leave out subjects that people ordered to leave out. `markdown` writes a page and cuts it to its
length; `pages` decides which change touches which page.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from memtape.schemas.events import OWN_TAGS, STATED_TAG
from memtape.schemas.patterns import lazy
from memtape.schemas.places import ARCHIVE, ESSENTIALS, LIMITS, RECENT, THREADS
from memtape.schemas.rows import MemoryRow, made_from, marks, signature
from memtape.schemas.times import format_day
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.covers import is_shown
from memtape.state.subjects.lifecycle import is_archived, living_of, spoken_of
from memtape.state.subjects.memories import Memory
from memtape.state.subjects.threads import text_of
from memtape.state.subjects.validity import holds
from memtape.state.text.instructions import heard_in
from memtape.state.text.open_ends import EndKind
from memtape.state.text.orders import named_by
from memtape.state.text.reading import read
from memtape.state.views.context import INSTRUCTING, Known, instructions_of, is_left_out
from memtape.state.views.markdown import PageLine
from memtape.state.views.markdown import standing as written
from memtape.state.views.rows import memory_row

MEMORIES_PER_PAGE = 500
ENTRIES_PER_PAGE = 500
FACTS, INSTRUCTIONS, RECENT_TURNS, ARCHIVED = 90, 40, 24, 120
"""Candidates per page, more than most pages have room for."""
LOOKED_AT = 1_000
"""Among so many of the latest turns the recent ones are looked for, where many are hidden or archived."""
LEAST_RECURRING = 3  # Facts on a page with a common name that form a section.
_GOAL, _PLAN, _RULES, _PINNED = "Goal", "Plan", "Standing instructions", "Pinned"
_DECIDED, _WANTED, _WHO, _ALSO = "Decided", "Preferences and conventions", "Who is who", "Also"
_OPEN: dict[EndKind, str] = {
    "question": "Questions without an answer", "promise": "Promises", "task": "Tasks"
}  # fmt: skip
_OF_CATEGORY = {"preference": _WANTED, "identity": _WHO}
_SEARCH = "`memtape search`"
_UNDO = "memtape archive --undo"
_BACK = f"To bring one back: `{_UNDO} ID`. All that went by age: `{_UNDO} --all-of age`."
_WHY = {"age": "by age", "asked": "since somebody asked for it"}


def day_path(scope: Scope, capture: Capture) -> str:
    """Return the path of the daily log of a turn or an entry of the journal."""
    day = format_day(capture.at)
    part = bisect_left(scope.captures.days[day], capture.seq) // ENTRIES_PER_PAGE
    return f"logs/{day}.md" if not part else f"logs/{day}.{part + 1}.md"


def zone_captures(scope: Scope, path: str) -> list[Capture]:
    """Return the living captures from the zone of a page, in the order of the log."""
    captures = map(scope.captures.by_seq.__getitem__, scope.captures.zones.get(path, ()))
    return [capture for capture in captures if not capture.hidden]


def is_told(scope: Scope, memory: Memory) -> bool:
    """Return whether a memory is shown by itself, holds, and is not archived."""
    is_valid = is_shown(scope, scope.covers, memory) and holds(scope, memory)
    return is_valid and not is_archived(scope, memory.birth)


def place_of(scope: Scope, capture: Capture) -> str:
    """Return the path of the page with a turn, or with the memory of a capture."""
    memory = scope.memories.of(capture.seq)
    if memory is None:
        return day_path(scope, capture)
    return memory_path(scope.captures.by_seq[memory.name].ordinal)


def memory_path(ordinal: int) -> str:
    """Return the path of the page of the list with the memory of an ordinal."""
    return f"memories/{ordinal // MEMORIES_PER_PAGE + 1:03}.md"


def current_row(scope: Scope, family: str, names: list[frozenset[str]]) -> MemoryRow | None:
    """Return the row of the goal or plan in force, unless archived, or to be left out by these names."""
    birth = scope.validity.current.get(family)
    if birth is None or is_archived(scope, birth):
        return None
    row = memory_row(scope, scope.captures.by_seq[scope.memories.by_birth[birth].name].id)
    return None if row is None or is_left_out(read(row.text), names) else row


def told_rows(scope: Scope, births: Iterable[int], names: list[frozenset[str]]) -> Iterator[MemoryRow]:
    """Yield the rows of the memories shown by themselves that hold, except subjects to leave out."""
    for memory in map(scope.memories.by_birth.__getitem__, births):
        spoken = scope.captures.by_seq[memory.canonical]
        if is_told(scope, memory) and not is_left_out(read(scope.captures.body(spoken).text), names):
            row = memory_row(scope, scope.captures.by_seq[memory.name].id)
            if row is not None:
                yield row


def shown_on_index(scope: Scope) -> tuple[str, ...]:
    """Return the paths of the standing pages with content, in order."""
    names = names_left_out(scope)
    found: dict[str, Iterator[object]] = {
        ESSENTIALS: chain(_aims(scope, names), _facts(scope, names), _rules(scope, names, {})),
        THREADS: _open_ends(scope),
        RECENT: _recent(scope),
        ARCHIVE: filter(None, (spoken_of(scope, unit) for unit in scope.lifecycle.archived)),
    }
    return tuple(path for path, lines in found.items() if next(lines, None) is not None)


def names_left_out(scope: Scope) -> list[frozenset[str]]:
    """Return the terms of each order to leave a subject out."""
    ordering = (scope.captures.body(capture).text for capture in _living(scope, scope.instructions.orders))
    return [named_by(order) for text in ordering for order in heard_in(read(text)).orders]


def essential_lines(scope: Scope) -> list[PageLine]:
    """Return goal, plan, standing instructions and facts, most important first, chosen as for a start."""
    names, said = names_left_out(scope), dict[str, None]()
    lines = [*_aims(scope, names), *_rules(scope, names, said)]
    facts = islice((row for row in _facts(scope, names) if row.id not in said), FACTS)
    return [*lines, *_sectioned(scope, sorted(facts, key=lambda row: row.contradicts is not None))]


def _essentials(scope: Scope) -> str:
    lines = essential_lines(scope)
    named = dict.fromkeys(line.section for line in lines)
    first = [it for it in (_GOAL, _PLAN, _RULES, _PINNED, _DECIDED, _WANTED, _WHO) if it in named]
    about = [it for it in named if it not in first and it != _ALSO]
    sections = (*first, *about, _ALSO)
    return written(f"What to know of {scope.name}", lines, sections, LIMITS[ESSENTIALS])


def _aims(scope: Scope, names: list[frozenset[str]]) -> Iterator[PageLine]:
    for title, family in ((_GOAL, "goal"), (_PLAN, "plan")):
        row = current_row(scope, family, names)
        if row is not None:
            yield _line(scope, title, row)


def _rules(scope: Scope, names: list[frozenset[str]], said: dict[str, None]) -> Iterator[PageLine]:
    """Yield standing instructions, and add to `said` the ids that need no further line."""
    rules, ids = instructions_of(list(islice(_wanted(scope), INSTRUCTIONS)))
    said |= ids
    for item in rules:
        capture = scope.captures.get(item.id)
        if capture is not None and not is_left_out(read(item.text), names):
            yield PageLine(_RULES, item.text, (), item.id, place_of(scope, capture))


def _facts(scope: Scope, names: list[frozenset[str]]) -> Iterator[MemoryRow]:
    """Yield the valid facts, by worth, except tasks, orders about memory and subjects to leave out."""
    rows = told_rows(scope, scope.leading.worthiest(scope), names)
    return (row for row in rows if row.tags[:2] != (STATED_TAG, "task"))


def _sectioned(scope: Scope, rows: list[MemoryRow]) -> Iterator[PageLine]:
    """Yield the lines of facts, each under its section: by people's tag, category, or a recurring name.

    The names of a fact are its own tags, and the names and identifiers of its text, judged by words.
    """
    sections: dict[str, str] = {}
    names: dict[str, list[str]] = {}
    for row in rows:
        is_decided = row.tags[:2] in ((STATED_TAG, "decision"), (STATED_TAG, "correction"))
        section = _PINNED if row.pinned else _DECIDED if is_decided else _OF_CATEGORY.get(row.category)
        if section is not None:
            sections[row.id] = section
            continue
        tags = () if row.tags[:1] and row.tags[0] in OWN_TAGS else row.tags
        names[row.id] = [*dict.fromkeys(tags), *dict.fromkeys(_NAME.findall(row.text))]
    counts = Counter(name for its in names.values() for name in its)
    for id, its in names.items():
        recurring = [name for name in its if counts[name] >= LEAST_RECURRING]
        best = max(recurring, key=lambda name: (counts[name], name), default=None)
        sections[id] = _ALSO if best is None else f"About {best}"
    return (_line(scope, sections[row.id], row) for row in rows)


_NAME = lazy(
    r"(?<![\w/.-])(?:[A-Za-z][\w.-]*[_/.][\w/.-]*\w|[A-Z]+[a-z]*[A-Z]\w*|(?<=[a-z,;] )[A-Z][a-z]{2,})"
    r"(?![\w/])"
)


def _open_ends(scope: Scope) -> Iterator[PageLine]:
    """Yield the open ends, latest first, each text once, except those forgotten or replaced since."""
    told, names = dict[str, None](), names_left_out(scope)
    open_now = ((seq, end) for (seq, _), end in scope.threads.open.items())
    found = sorted(open_now, key=lambda it: (-scope.captures.by_seq[it[0]].at, -it[0]))
    for seq, end in found:
        capture = scope.captures.by_seq[seq]
        if not _is_open(scope, capture):
            continue
        text = text_of(scope, seq, end)
        stated = map(scope.captures.by_seq.__getitem__, scope.captures.stated.get(seq, ()))
        alike = (it for it in stated if scope.captures.body(it).text == text)
        if text in told or not all(_is_open(scope, it) for it in alike) or is_left_out(read(text), names):
            continue
        told[text] = None
        since = (f"{signature(capture.actor.name, capture.actor.origin)}, since {format_day(capture.at)}",)
        yield PageLine(_OPEN[end.kind], text, since, capture.id, place_of(scope, capture))


def _is_open(scope: Scope, capture: Capture) -> bool:
    """Return whether a capture's open end is listed: it is shown, and a memory that holds, if a memory."""
    if capture.hidden:
        return False
    memory = scope.memories.of(capture.seq)
    return not is_archived(scope, capture.seq) if memory is None else is_told(scope, memory)


def _recent(scope: Scope) -> Iterator[PageLine]:
    """Yield the latest turns, newest first: the valid decisions of each, else its beginning."""
    by_seq, names = scope.captures.by_seq, names_left_out(scope)
    latest = _living(scope, islice(reversed(scope.captures.spoken), LOOKED_AT))
    for capture in islice((it for it in latest if not is_archived(scope, it.seq)), RECENT_TURNS):
        stated = map(by_seq.__getitem__, scope.captures.stated.get(capture.seq, ()))
        bodies = [scope.captures.body(it) for it in stated if _is_open(scope, it)]
        decided = [it.text for it in bodies if it.tags[1:2] in (("decision",), ("correction",))]
        texts = [f"decided: {text}" for text in decided] or [scope.captures.body(capture).text]
        for text in (text for text in texts if not is_left_out(read(text), names)):
            yield PageLine("", text, _who_when(capture), capture.id, day_path(scope, capture))


def _archive(scope: Scope) -> str:
    """Return the units archived by themselves, in sections by month and reason, the latest first."""
    spoken = ((unit, it, spoken_of(scope, unit)) for unit, it in scope.lifecycle.archived.items())
    found = [(unit, it, capture) for unit, it, capture in spoken if capture is not None]
    found.sort(key=lambda one: (-one[1].at, one[0]))
    sections = [f"{format_day(it.at)[:7]}, {_WHY[it.why]}" for _, it, _ in found]
    counts, lines = Counter(sections), list[PageLine]()
    for (unit, it, capture), section in zip(found[:ARCHIVED], sections, strict=False):
        first = next(iter(living_of(scope, unit)), capture)
        said = (*_who_when(capture), *("left the views",) * it.purged)
        title, text = f"{section}: {counts[section]:,}", scope.captures.body(capture).text
        lines.append(PageLine(title, text, said, first.id))
    return written(
        f"Archived in {scope.name}",
        lines,
        tuple(dict.fromkeys(line.section for line in lines)),
        LIMITS[ARCHIVE],
        about=_BACK,
        more=len(found) - len(lines),
        how="`memtape archive --list --limit 1000`",
    )


def _who_when(capture: Capture) -> tuple[str]:
    return (f"{signature(capture.actor.name, capture.actor.origin)}, {format_day(capture.at)}",)


def _living(scope: Scope, seqs: Iterable[int]) -> Iterator[Capture]:
    return (capture for capture in map(scope.captures.by_seq.__getitem__, seqs) if not capture.hidden)


def _wanted(scope: Scope) -> Iterator[Known]:
    """Yield people's standing instructions, the latest on the log first: turns, and canonical texts."""
    for capture in _living(scope, reversed(scope.instructions.wanted)):
        memory = scope.memories.of(capture.seq)
        speaks = capture.kind == "turn" if memory is None else memory.canonical == capture.seq
        if speaks and _is_open(scope, capture):
            body = scope.captures.body(capture)
            name = capture if memory is None else scope.captures.by_seq[memory.name]
            by, told = capture.actor, {"last_at": capture.at, "order": capture.seq}
            yield made_from(Known, body, by, capture, id=name.id, scope=scope.name, actor=by.name, **told)


def _line(scope: Scope, section: str, row: MemoryRow) -> PageLine:
    told = () if row.origin in INSTRUCTING else (signature(row.actor, row.origin),)
    about = tuple(mark for mark in marks(row) if mark != "pinned" or section != _PINNED)
    path = memory_path(scope.captures.by_seq[row.seq].ordinal)
    return PageLine(section, row.text, told + about, row.id, path)


def _threads(scope: Scope) -> str:
    lines, sections = [*_open_ends(scope)], tuple(_OPEN.values())
    return written(f"Open in {scope.name}", lines, sections, LIMITS[THREADS], how=_SEARCH)


def _latest(scope: Scope) -> str:
    return written(f"Lately in {scope.name}", [*_recent(scope)], ("",), LIMITS[RECENT])


STANDING: dict[str, Callable[[Scope], str]] = {
    ESSENTIALS: _essentials, THREADS: _threads, RECENT: _latest, ARCHIVE: _archive,
}  # fmt: skip
"""The function that writes each standing page, empty without content, by its path."""
