"""The Markdown vault: the form of pages, for people and for Obsidian. This file owns that format.

A page is a pure function of its value: the same page has the same bytes. It is written whole or not at all,
and only when it changed (`sinks/page_files.py`). Agents' texts are data and escaped, so that none becomes a
heading, a link, an embedded page or HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memtape.schemas.codec import canonical
from memtape.schemas.ids import ID_CHARS
from memtape.schemas.places import place_in
from memtape.schemas.rows import (
    TOLD_LEVELS,
    TOLD_WHY,
    ConflictsPage,
    DayPage,
    IndexPage,
    ListedConflict,
    MemoryPage,
    MemoryRow,
    Page,
    ScopeMark,
    StandingPage,
    SummaryPage,
    TreePage,
    marks,
    signature,
)
from memtape.schemas.scopes import GLOBAL, PROJECT_PREFIX
from memtape.schemas.times import format_day, format_time
from memtape.schemas.visible import many, one_line
from memtape.sinks.home.folders import Home, make_folder, read_json, write_whole
from memtape.sinks.markdown import SHORT_ID_CHARS, escape, link, name_of, quote, standing
from memtape.sinks.page_files import LISTS, WATERMARK_FILE, ScopeFiles
from memtape.sinks.page_markdown import page_lines, page_zone
from memtape.sinks.zones import NOTE, NOTE_OF_GLOBAL, ZoneInPage, is_untouched, new_zone, parts

INDEX_TEXT_CHARS = 400  # How much of a text `MEMORY.md` shows; the page of the list has the whole.


def render(page: Page) -> str:
    """Return the Markdown of a page; empty for a page without content."""
    if isinstance(page, StandingPage):
        return standing(page)
    lines = _LINES[type(page)](page)
    return "\n".join(lines) + "\n" if lines else ""


def zone_for(page: Page) -> bytes | None:
    """Return the first zone of a page: for `MEMORY.md` always, for others if the log holds texts of the zone.

    The zone of a tree page is the page's text; it replaces the file's zone unless a person edited the file.
    """
    if isinstance(page, TreePage):
        return page_zone(page)
    if not isinstance(page, IndexPage) and not page.zone:
        return None
    return new_zone(page.zone, NOTE_OF_GLOBAL if page.scope == GLOBAL else NOTE)


class Vault:
    """The pages on disk of the scopes of one home."""

    def __init__(self, home: Home) -> None:
        self.home = home

    def write(self, pages: Iterable[Page], marks: Iterable[ScopeMark]) -> None:
        """Write changed pages, remove empty pages, and write each scope's watermark after its pages."""
        pages = list(pages)
        zones: dict[str, dict[str, bytes]] = {}
        for page in pages:
            if (zone := zone_for(page)) is not None:
                zones.setdefault(page.scope, {})[page.path] = zone
        for scope, files in _files(pages, marks).items():
            ScopeFiles(self.home, scope).lay(files, zones.get(scope))

    def adopt(self, pages: Iterable[Page], marks: Iterable[ScopeMark]) -> None:
        """List the files with the exact bytes of these pages as written, without writing a page."""
        for scope, files in _files(pages, marks).items():
            ScopeFiles(self.home, scope).adopt(files)

    def read(self, scope: str) -> dict[str, bytes]:
        """Return by path the bytes of a scope's pages, and of files at pages' places, without zones."""
        found = ScopeFiles(self.home, scope).read()
        found.pop(WATERMARK_FILE, None)
        return found

    def text_of(self, scope: str, path: str) -> str:
        """Return the text of a page that is there, without its zone; empty for none."""
        page = ScopeFiles(self.home, scope).page(path)
        its = None if page is None else parts(page.data)
        return "" if its is None else its.ours.decode(errors="replace")

    def listed(self, scope: str) -> list[str]:
        """Return the paths of the pages of a scope that are ours, whether they are there or not."""
        return [path for path in ScopeFiles(self.home, scope).listed() if path != WATERMARK_FILE]

    def prune(self, scope: str, paths: Collection[str]) -> None:
        """Remove the files that were written for a scope and are not among `paths`."""
        files = ScopeFiles(self.home, scope)
        files.lay({path: b"" for path in files.listed() if path not in paths})

    def scopes(self) -> list[str]:
        """Return the scopes for which there is a list of files."""
        lists = self.home.vault_notes / LISTS
        places = sorted(path.relative_to(lists).with_suffix("") for path in lists.rglob("*.json"))
        return [PROJECT_PREFIX + place.name if place.parent.name else GLOBAL for place in places]

    def is_ours(self, path: str) -> bool:
        """Return whether a file, as a path in the home, is a page as written, or a note about pages."""
        if path.split("/")[1:2] == [self.home.vault_notes.name]:
            return True
        scope, place = _scope_and_place(path)
        return scope is not None and ScopeFiles(self.home, scope).is_ours(place)

    def mark(self, scope: str) -> ScopeMark | None:
        """Return the mark up to which the pages of a scope are valid, None if missing or changed."""
        if not ScopeFiles(self.home, scope).is_ours(WATERMARK_FILE):
            return None
        return read_json(self.home.scope_folder(scope) / WATERMARK_FILE, ScopeMark)

    def zone_in(self, path: str) -> ZoneInPage | None:
        """Return the parts of a page, by its path in the home; None without a person's text in its zone."""
        scope, place = _scope_and_place(path)
        page = ScopeFiles(self.home, scope).page(place) if scope is not None and place else None
        found = parts(page.data) if page is not None else None
        if page is None or found is None or found.zone is None or is_untouched(found.zone):
            return None
        return ZoneInPage(found.ours, found.zone, 1 + page.data[: page.data.index(found.zone)].count(b"\n"))

    def covered(self, partition: int) -> int:
        """Return the offset up to which a partition's pages are known to be on disk, and on the lists."""
        try:
            return int(self._cover_path(partition).read_text())
        except (FileNotFoundError, ValueError):
            return 0

    def cover(self, partition: int, offset: int) -> None:
        """Note that a partition's pages are written up to `offset`. Without the note they are rewritten."""
        make_folder(self.home.vault_notes)
        write_whole(self._cover_path(partition), f"{offset}\n".encode())

    def uncover(self, partition: int) -> None:
        """Take the note back."""
        self._cover_path(partition).unlink(missing_ok=True)

    def _cover_path(self, partition: int) -> Path:
        return self.home.vault_notes / f"p{partition:02}"


def _scope_and_place(path: str) -> tuple[str | None, str]:
    """Return the scope of a file by its path in the home, None for a file of no scope, and its path there."""
    match path.split("/")[1:]:
        case ["global", *rest]:
            return GLOBAL, "/".join(rest)
        case ["projects", name, *rest]:
            return PROJECT_PREFIX + name, "/".join(rest)
    return None, ""


def _files(pages: Iterable[Page], marks: Iterable[ScopeMark]) -> dict[str, dict[str, bytes]]:
    """Return the bytes of files by scope and path, empty for a page without content."""
    files: dict[str, dict[str, bytes]] = {}
    for page in pages:
        files.setdefault(page.scope, {})[page.path] = render(page).encode()
    for mark in marks:
        files.setdefault(mark.scope, {})[WATERMARK_FILE] = canonical(mark) + b"\n"
    return files


def _index(page: IndexPage) -> list[str]:
    lines = [f"# Memory of {escape(page.scope)}", ""]
    if page.project:
        lines += [page.project, ""]
    lines += _links("Read first", page.standing)
    for title, row in (("Goal", page.goal), ("Plan", page.plan)):
        if row is not None:
            lines += [f"## {title}", "", _short(row, page.places), ""]
    if page.facts:
        lines += ["## What holds", "", *(f"- {_short(row, page.places)}" for row in page.facts), ""]
    if page.conflicts:
        lines += [f"{many(page.conflicts, 'conflict waits', 'conflicts wait')}: {link('conflicts.md')}", ""]
    if page.memories > len(page.facts):
        lines += [f"{page.memories} memories in all.", ""]
    lines += _links("Every memory", page.memory_pages)
    lines += _links("Daily logs", page.day_pages)
    if page.summary_pages:
        names = ((name_of(path)[: -ID_CHARS - 1], path) for path in page.summary_pages)  # Without ids.
        lines += ["Summaries: " + " · ".join(f"[{name}]({path})" for name, path in names), ""]
    return lines[:-1]


def _links(title: str, paths: Sequence[str]) -> list[str]:
    return [f"{title}: " + " · ".join(map(link, paths)), ""] if paths else []


def _memories(page: MemoryPage) -> list[str]:
    if not page.rows:
        return []
    lines = [f"# Memories of {escape(page.scope)}, page {page.number}", ""]
    for row in page.rows:
        lines += [f"## {format_day(row.first_at)} {row.kind}{_confirmed(row)}", ""]
        lines += [*quote(row.text), "", f"`{row.id}` {_said_by(row)}"]
        if row.tags:
            lines.append("tags: " + ", ".join(escape(one_line(tag)) for tag in row.tags))
        if row.source:
            lines.append("source: " + escape(one_line(row.source)))
        if place := place_in(row.path):
            lines.append("of " + escape(one_line(place.told())))
        links = (f"[`{id}`]({path.removeprefix('memories/')})" for id, path in page.links.get(row.id, ()))
        if used_with := ", ".join(links):
            lines.append(f"used with {used_with}")
        lines += map(escape, marks(row))
        lines[-1] += f" ^{row.id}"  # The name of a block, to which Obsidian's links lead.
        lines.append("")
    return lines[:-1]


def _day(page: DayPage) -> list[str]:
    if not page.entries:
        return []
    lines = [f"# {page.day} in {escape(page.scope)}", ""]
    session: str | None = None
    for entry in page.entries:
        if entry.session is not None and entry.session != session:
            lines += [f"## Session {escape(one_line(entry.session))}", ""]
        session = entry.session
        kind = "" if entry.kind == "turn" else f" {entry.kind}"
        who = f"{escape(one_line(entry.actor.name))}** ({entry.actor.origin})"
        noted = f" ({escape(entry.mark)})" if entry.mark else ""
        lines += [f"**{format_time(entry.at)[11:16]} {who}{kind} `{entry.id}`{noted}", ""]
        lines += quote(entry.text)
        lines += [f"> (shows: {escape(one_line(caption))})" for caption in entry.captions]
        lines.append("")
    return lines[:-1]


def _conflicts(page: ConflictsPage) -> list[str]:
    if not page.pending and not page.settled:
        return []
    lines = [f"# Conflicts of {escape(page.scope)}", ""]
    if page.pending:
        told = many(len(page.pending), "pair tells", "pairs tell")
        lines += [f"{told} different values of one thing. Nothing changes until you say which one holds.", ""]
    for listed in page.pending:
        lines += [*_conflict(listed), f"`memtape settle {listed.row.id} --keep A`, or `B`, or `both`", ""]
    for listed in page.settled:
        row = listed.row
        kept = "both are kept" if row.kept is None else f"{'A' if row.kept == row.a else 'B'} is kept"
        told = f"On {format_day(row.settled_at or 0)}: {kept}."
        lines += [*_conflict(listed), f"{told} To settle again: `memtape settle {row.id} --keep both`", ""]
        lines += [*quote(row.note), ""] if row.note else []
    if page.more:
        lines += [f"{page.more} more: `memtape settle --all`", ""]
    return lines[:-1]


def _summary(page: SummaryPage) -> list[str]:
    row = page.row
    if row is None:
        return []
    of = f", {escape(one_line(row.label))}" if row.label else ""
    lines = [f"# {format_day(row.since)} in {escape(page.scope)}: {many(len(row.sources), row.kind)} of a "]
    lines[0] += f"{TOLD_LEVELS[row.level]}{of}"
    lines += ["", *(f"- {escape(line)}" for line in row.text.split("\n")), ""]
    if row.keywords:
        lines += ["Keywords: " + ", ".join(map(escape, row.keywords)), ""]
    first, last = format_time(row.first_at), format_time(row.last_at)
    lines += [f"Summed up by rule, from {first} to {last} `{row.id}`", ""]
    lines += ["Whole in: " + " · ".join(f"[{name_of(path)}](../{path})" for path in page.places), ""]
    return lines[:-1]


def _conflict(listed: ListedConflict) -> Iterator[str]:
    row = listed.row
    state = f"{row.severity}, {TOLD_WHY[row.why]}" if row.status == "pending" else "settled"
    yield f"## {format_day(row.raised_at)} {state}"
    yield ""
    for name, side in (("A", listed.a), ("B", listed.b)):
        if side is None:
            yield from (f"{name}: no longer shown", "")
            continue
        memory, path = side
        yield from (*quote(f"{name}: {memory.text}"), "")
        yield from (f"[`{memory.id}`]({path}) {_said_by(memory)}{_confirmed(memory)}", "")


def _short(row: MemoryRow, places: Mapping[str, str]) -> str:
    who = one_line(signature(row.actor, row.origin))
    told = [*(() if who == one_line(row.actor) else (who,)), *marks(row)]
    noted = "".join(f" ({escape(mark)})" for mark in told)
    link = f" [{row.id[:SHORT_ID_CHARS]}]({places[row.id]}#^{row.id})" if row.id in places else ""
    return f"{escape(one_line(row.text, INDEX_TEXT_CHARS))}{_confirmed(row)}{noted}{link}"


def _confirmed(row: MemoryRow) -> str:
    if not row.confirmations:
        return ""
    times = "once" if row.confirmations == 1 else f"{row.confirmations} times"
    return f" (confirmed {times}, last {format_day(row.last_at)})"


def _said_by(row: MemoryRow) -> str:
    return f"by {escape(one_line(row.actor))} ({row.origin}) on {format_day(row.at)}"


_LINES: dict[type[Page], Callable[[Any], list[str]]] = {
    IndexPage: _index, MemoryPage: _memories, DayPage: _day, ConflictsPage: _conflicts, SummaryPage: _summary,
    TreePage: page_lines,
}  # fmt: skip
