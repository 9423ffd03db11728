"""The Markdown of a scope's index, of its lists of memories and days, of its conflicts and summaries.

A page is the lines of its file without the zone, none for a page without content. The same state has the same
lines. `pages` names the page of each path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import islice

from memtape.schemas import rows as values
from memtape.schemas.ids import ID_CHARS
from memtape.schemas.places import CONFLICTS_PATH, INDEX_PATH, place_in
from memtape.schemas.rows import ConflictRow, MemoryRow, marks, signature
from memtape.schemas.settings import Settings
from memtape.schemas.times import format_day, format_time
from memtape.schemas.visible import many, one_line
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.covers import has_ended, is_shown
from memtape.state.subjects.edges import PER_ITEM, strongest
from memtape.state.subjects.lifecycle import Summary
from memtape.state.subjects.memories import memories_of, memory_of
from memtape.state.subjects.validity import successor, valid_from
from memtape.state.views import standing_pages as standing
from memtape.state.views.markdown import SHORT_ID_CHARS, escape, link, name_of, quote
from memtape.state.views.rows import captions, conflict_row, memory_row, summary_row

SUMMARIES_ON_INDEX = DAYS_ON_INDEX = 7
MEMORY_PAGES_ON_INDEX = 10
CONFLICTS_ON_PAGE, SETTLED_ON_PAGE = 100, 50
INDEX_LINES_BESIDE_FACTS = 40
"""Headings, goal, plan, notes, links and marks of the zone, which share the page's lines with the facts."""
INDEX_TEXT_CHARS = 400  # How much of a text `MEMORY.md` shows; the page of the list has the whole.


# --- MEMORY.md ---


def index_lines(scope: Scope, settings: Settings) -> list[str]:
    """Return goal and plan, the leading facts, links to the rest, and the number of pending conflicts."""
    lines = [f"# Memory of {escape(scope.name)}", ""]
    if project := values.project_told(scope.lifecycle.mark()):
        lines += [project, ""]
    lines += _links("Read first", standing.shown_on_index(scope))
    names = standing.names_left_out(scope)
    for title in ("Goal", "Plan"):
        if (row := standing.current_row(scope, title.lower(), names)) is not None:
            lines += [f"## {title}", "", _short(scope, row), ""]
    if facts := leading_facts(scope, settings, names):
        lines += ["## What holds", "", *(f"- {_short(scope, row)}" for row in facts), ""]
    if pending := len(scope.conflicts.pending):
        lines += [f"{many(pending, 'conflict waits', 'conflicts wait')}: {link(CONFLICTS_PATH)}", ""]
    if (memories := _shown_count(scope)) > len(facts):
        lines += [f"{memories} memories in all.", ""]
    lines += _links("Every memory", _latest_memory_pages(scope))
    by_seq = scope.captures.by_seq
    days = (day for day, seqs in scope.captures.days.items() if not all(by_seq[seq].hidden for seq in seqs))
    lines += _links("Daily logs", [f"logs/{day}.md" for day in nlargest(DAYS_ON_INDEX, days)])
    latest = nlargest(SUMMARIES_ON_INDEX, scope.lifecycle.summaries.values(), key=lambda it: it.group)
    if paths := [summary_path(it) for it in latest]:
        named = (f"[{name_of(path)[: -ID_CHARS - 1]}]({path})" for path in paths)  # Without ids.
        lines += ["Summaries: " + " · ".join(named), ""]
    return lines[:-1]


def leading_facts(scope: Scope, settings: Settings, names: list[frozenset[str]]) -> list[MemoryRow]:
    """Return the leading facts and insights of the index, except those in the zone of the page.

    Lines captured from the zone count as lines of the page. An order about memory is no fact, and a subject
    that people ordered to leave out, by `names`, is only in their own zone.
    """
    theirs = standing.zone_captures(scope, INDEX_PATH)
    births = dict.fromkeys(scope.memories.birth_of.get(capture.seq) for capture in theirs)
    led = (birth for birth in scope.leading.births(scope) if birth not in births)
    taken = sum(scope.captures.body(capture).text.count("\n") + 1 for capture in theirs)
    room = settings.memory_page_lines - INDEX_LINES_BESIDE_FACTS - taken
    told = islice(standing.told_rows(scope, led, names), max(0, room))
    return sorted(told, key=lambda row: row.contradicts is not None)


def _shown_count(scope: Scope) -> int:
    """Return the number of living memories without covered ones and texts of ended decisions."""
    covered = (id for cover in scope.covers.holding.values() if cover.op != "add" for id in cover.ids)
    hidden = {it.birth: it for it in memories_of(scope, (*covered, *scope.captures.decided))}
    not_shown = sum(it.lives and not is_shown(scope, scope.covers, it) for it in hidden.values())
    return sum(1 for _ in scope.memories.living()) - not_shown


def _links(title: str, paths: Sequence[str]) -> list[str]:
    return [f"{title}: " + " · ".join(map(link, paths)), ""] if paths else []


def _latest_memory_pages(scope: Scope) -> list[str]:
    """Return the paths of the last pages of the list with content, in order."""
    ordinals, paths = scope.captures.ordinals, []
    for number in range((len(ordinals) - 1) // standing.MEMORIES_PER_PAGE, -1, -1):
        seqs = ordinals[number * standing.MEMORIES_PER_PAGE : (number + 1) * standing.MEMORIES_PER_PAGE]
        found = ((seq, memory) for seq in seqs if (memory := scope.memories.of(seq)) is not None)
        named = (memory for seq, memory in found if memory.lives and memory.name == seq)
        if not all(has_ended(scope, scope.covers, memory) for memory in named):
            paths.append(standing.memory_path(number * standing.MEMORIES_PER_PAGE))
        if len(paths) == MEMORY_PAGES_ON_INDEX:
            break
    return paths[::-1]


def _short(scope: Scope, row: MemoryRow) -> str:
    who = one_line(signature(row.actor, row.origin))
    told = [*(() if who == one_line(row.actor) else (who,)), *marks(row)]
    noted = "".join(f" ({escape(mark)})" for mark in told)
    place = standing.memory_path(scope.captures.by_seq[row.seq].ordinal)
    whole = f"[{row.id[:SHORT_ID_CHARS]}]({place}#^{row.id})"
    return f"{escape(one_line(row.text, INDEX_TEXT_CHARS))}{_confirmed(row)}{noted} {whole}"


# --- The list of memories ---


def memory_lines(scope: Scope, number: int) -> list[str]:
    """Return a page of the consolidated list: memories in the order of their captures."""
    first = (number - 1) * standing.MEMORIES_PER_PAGE
    seqs = scope.captures.ordinals[first : first + standing.MEMORIES_PER_PAGE]
    shown = (it for it in map(scope.captures.by_seq.__getitem__, seqs) if not it.hidden)
    lines = [f"# Memories of {escape(scope.name)}, page {number}", ""]
    for row in filter(None, (memory_row(scope, capture.id) for capture in shown)):
        lines += [f"## {format_day(row.first_at)} {row.kind}{_confirmed(row)}", ""]
        lines += [*quote(row.text), "", f"`{row.id}` {_said_by(row)}"]
        if row.tags:
            lines.append("tags: " + ", ".join(escape(one_line(tag)) for tag in row.tags))
        if row.source:
            lines.append("source: " + escape(one_line(row.source)))
        if place := place_in(row.path):
            lines.append("of " + escape(one_line(place.told())))
        links = (f"[`{id}`]({path.removeprefix('memories/')})" for id, path in used_with(scope, row.id))
        if told := ", ".join(links):
            lines.append(f"used with {told}")
        lines += map(escape, marks(row))
        lines[-1] += f" ^{row.id}"  # The name of a block, to which Obsidian's links lead.
        lines.append("")
    return lines[:-1] if len(lines) > 2 else []


def used_with(scope: Scope, id: str) -> list[tuple[str, str]]:
    """Return the living memories used with a memory, by id and page, the strongest edge first."""
    by_seq, edges, ties = scope.captures.by_seq, scope.edges, list[tuple[int, int, int]]()
    found = memory_of(scope, id) if edges.pairs else None
    for seq in (join.seq for join in found.joins) if found is not None else ():
        for other in edges.of.get(seq, ()):
            memory = scope.memories.of(other)
            if memory is not None and memory is not found and memory.lives:
                edge = edges.pairs[min(seq, other), max(seq, other)]
                ties.append((memory.name, edge.weight, edge.at))
    names = list(dict.fromkeys(strongest(ties, len(ties))))[:PER_ITEM]
    return [(by_seq[seq].id, standing.memory_path(by_seq[seq].ordinal)) for seq in names]


def _confirmed(row: MemoryRow) -> str:
    if not row.confirmations:
        return ""
    times = "once" if row.confirmations == 1 else f"{row.confirmations} times"
    return f" (confirmed {times}, last {format_day(row.last_at)})"


def _said_by(row: MemoryRow) -> str:
    return f"by {escape(one_line(row.actor))} ({row.origin}) on {format_day(row.at)}"


# --- Days ---


def day_lines(scope: Scope, name: str) -> list[str]:
    """Return the texts of a UTC day (or a part of a very long day), in order of time."""
    day, _, part = name.partition(".")
    first = (int(part or 1) - 1) * standing.ENTRIES_PER_PAGE
    seqs = scope.captures.days[day][first : first + standing.ENTRIES_PER_PAGE]
    said = map(scope.captures.by_seq.__getitem__, seqs)
    entries = sorted((it for it in said if not it.hidden), key=lambda it: (it.at, it.seq))
    lines = [f"# {day} in {escape(scope.name)}", ""] if entries else []
    session: str | None = None
    for entry in entries:
        if entry.session is not None and entry.session != session:
            lines += [f"## Session {escape(one_line(entry.session))}", ""]
        session, body, mark = entry.session, scope.captures.body(entry), _entry_mark(scope, entry)
        kind = "" if entry.kind == "turn" else f" {entry.kind}"
        who = f"{escape(one_line(entry.actor.name))}** ({entry.actor.origin})"
        noted = f" ({escape(mark)})" if mark else ""
        lines += [f"**{format_time(entry.at)[11:16]} {who}{kind} `{entry.id}`{noted}", ""]
        lines += quote(body.text)
        lines += [f"> (shows: {escape(one_line(caption))})" for caption in captions(body)]
        lines.append("")
    return lines[:-1]


def _entry_mark(scope: Scope, entry: Capture) -> str:
    """Return the mark of a daily log's entry that was replaced, as a whole or in one of its statements."""
    seqs = (entry.seq,) if entry.family else scope.captures.stated.get(entry.seq, ())
    for seq in (seq for seq in seqs if not scope.captures.by_seq[seq].hidden):
        memory = scope.memories.of(seq)
        after = None if memory is None or not memory.lives else successor(scope, memory)
        if memory is not None and after is not None:
            time = max(valid_from(scope, memory), valid_from(scope, after))
            told = values.replaced(time, scope.captures.by_seq[after.name].id)
            return told if entry.family else f"says what was {told}"
    return ""


# --- Conflicts ---


def conflict_lines(scope: Scope) -> list[str]:
    """Return the pending conflicts by falling gravity, then the settled ones, latest first."""
    shown = [it.id for it in scope.conflicts.by_id.values() if it.status != "expired"]
    rows = sorted((row for id in shown if (row := conflict_row(scope, id)) is not None), key=values.by_weight)
    pending = [row for row in rows if row.status == "pending"]
    settled = rows[len(pending) :]
    lines = [f"# Conflicts of {escape(scope.name)}", ""] if rows else []
    if pending:
        told = many(len(pending[:CONFLICTS_ON_PAGE]), "pair tells", "pairs tell")
        lines += [f"{told} different values of one thing. Nothing changes until you say which one holds.", ""]
    for row in pending[:CONFLICTS_ON_PAGE]:
        lines += [*_conflict(scope, row), f"`memtape settle {row.id} --keep A`, or `B`, or `both`", ""]
    for row in settled[:SETTLED_ON_PAGE]:
        kept = "both are kept" if row.kept is None else f"{'A' if row.kept == row.a else 'B'} is kept"
        told = f"On {format_day(row.settled_at or 0)}: {kept}. To settle again:"
        lines += [*_conflict(scope, row), f"{told} `memtape settle {row.id} --keep both`", ""]
        lines += [*quote(row.note), ""] if row.note else []
    if more := len(pending[CONFLICTS_ON_PAGE:]) + len(settled[SETTLED_ON_PAGE:]):
        lines += [f"{more} more: `memtape settle --all`", ""]
    return lines[:-1]


def _conflict(scope: Scope, row: ConflictRow) -> Iterator[str]:
    state = f"{row.severity}, {values.TOLD_WHY[row.why]}" if row.status == "pending" else "settled"
    yield from (f"## {format_day(row.raised_at)} {state}", "")
    for name, memory in (("A", memory_of(scope, row.a)), ("B", memory_of(scope, row.b))):
        said = None if memory is None or not memory.lives else scope.captures.by_seq[memory.name]
        its = None if said is None else memory_row(scope, said.id)
        if said is None or its is None:
            yield from (f"{name}: no longer shown", "")
            continue
        yield from (*quote(f"{name}: {its.text}"), "")
        yield f"[`{its.id}`]({standing.memory_path(said.ordinal)}) {_said_by(its)}{_confirmed(its)}"
        yield ""


# --- Summaries ---


def summary_lines(scope: Scope, id: str) -> list[str]:
    """Return a summary with links to the pages of its sources; none without a visible source."""
    row = summary_row(scope, id)
    if row is None:
        return []
    of = f", {escape(one_line(row.label))}" if row.label else ""
    lines = [f"# {format_day(row.since)} in {escape(scope.name)}: {many(len(row.sources), row.kind)} of a "]
    lines[0] += f"{values.TOLD_LEVELS[row.level]}{of}"
    lines += ["", *(f"- {escape(line)}" for line in row.text.split("\n")), ""]
    if row.keywords:
        lines += ["Keywords: " + ", ".join(map(escape, row.keywords)), ""]
    first, last = format_time(row.first_at), format_time(row.last_at)
    lines += [f"Summed up by rule, from {first} to {last} `{row.id}`", ""]
    places = dict.fromkeys(standing.place_of(scope, it) for it in scope.captures.found(row.sources))
    return [*lines, "Whole in: " + " · ".join(f"[{name_of(path)}](../{path})" for path in places)]


def summary_path(summary: Summary) -> str:
    """Return the path of the page of a summary, with its day and kind, and the whole id."""
    start, level, kind, _ = summary.group
    return f"summaries/{format_day(start)}-{values.TOLD_LEVELS[level]}-{kind}-{summary.id}.md"
