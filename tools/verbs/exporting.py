"""Export a project: its events as JSON lines, or its memories as Markdown. Both can be imported again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from memtape.schemas.codec import encode
from memtape.schemas.errors import InvalidUse
from memtape.schemas.log import Log, events_between
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.visible import many, visible_json
from memtape.sinks.home.files import write_new
from memtape.sinks.home.folders import Home
from memtape.state.core.erasures import erasures_of
from memtape.state.views.pages import pages_at
from memtape.state.views.standing_pages import MEMORIES_PER_PAGE, memory_path
from memtape.tools.capture.profiles import check_kept
from memtape.tools.doors.terminal import say_all
from memtape.tools.keep.states import partition_now
from memtape.tools.verb import Verb, said

if TYPE_CHECKING:
    from memtape.tools.world import World

MARKDOWN = (".md", ".markdown")


class Exported(msgspec.Struct, frozen=True):
    """An export: the new file, and the number of its events, or of its pages of Markdown.

    `left_global` says that `global` holds texts, which the project is given too, and that they are not in it.
    """

    file: str
    events: int = 0
    pages: int = 0
    left_global: bool = False


def export(
    world: World,
    file: Annotated[
        str | None, said("A new file: .jsonl, or .md for Markdown.", argument=True, path="new")
    ] = None,
    every: Annotated[bool, said("Every project, and global.", option="--all")] = False,
) -> Exported | None:
    """Export the memories of this project: JSON lines with all of their history, or Markdown to read.

        memtape export memory.jsonl
        memtape export --all > everything.jsonl
        memtape export memory.md

    The lines are the events of the log: what was said, with its time and speaker, and what was decided of it.
    `memtape import memory.jsonl` makes the same memories of them in another home, on a log of any kind; it
    adds nothing twice. What is forgotten is among the lines, and stays forgotten. What is erased is not.
    An import of the Markdown has the shown memories, each with its id, kind, tags, speaker and day. Without a
    file the lines are printed. Memories of global, as rules for all projects, go with --all alone.

    Raises `MemtapeError` for a file that is there.
    """
    check_kept(world.home, "An export")
    world.rights.check_reader(None if every else world.scope)
    is_markdown = file is not None and Path(file).suffix.lower() in MARKDOWN
    if is_markdown and every:
        raise InvalidUse("Markdown has the memories of one project; --all goes with JSON lines.")
    if is_markdown:
        parts = memory_pages(world.home, world.log, world.scope)
    else:
        parts = event_lines(world.log, None if every else world.scope)
    left = not every and bool(world.log.matching("", [GLOBAL], ("captured",), 1))
    if file is None:
        for line in parts:
            sys.stdout.buffer.write(visible_json(line))
        say_all(_left(left), err=True)
        return None
    count = write_new(Path(file), parts)
    return Exported(file, 0 if is_markdown else count, count if is_markdown else 0, left)


def event_lines(log: Log, scope: str | None) -> Iterator[bytes]:
    """Yield the events of a scope, or of all scopes, that are not erased: JSON, a line each, in log order."""
    for number, end in enumerate(log.ends()):
        erasures = erasures_of(log.erased(number))
        for _, event in events_between(log, number, 0, end, scope):
            is_said = event.scope is not None and event.body is not None and event.type != "erased"
            if is_said and not erasures.covers(event):
                yield encode(event) + b"\n"


def memory_pages(home: Home, log: Log, scope: str) -> Iterator[bytes]:
    """Yield the Markdown of a scope's memories, as the vault has it, a page each; forgotten ones are left
    out.
    """
    partition = partition_now(home, log, scope)
    known = partition.scopes.get(scope)
    firsts = range(0, len(known.captures.ordinals) if known else 0, MEMORIES_PER_PAGE)
    for page in pages_at(partition, [(scope, memory_path(first)) for first in firsts]):
        yield page.text.encode() + b"\n"


def _export_lines(world: World, asked: Any, done: Exported) -> Iterator[str]:
    what = many(done.pages, "page") if done.pages else many(done.events, "event")
    yield f"Exported {what} to {done.file}."
    yield from _left(done.left_global)


def _left(is_left: bool) -> Iterator[str]:
    if is_left:
        yield "Not in it is global, which this project is given too. --all exports all projects and global."


VERBS = (Verb("export", export, lines=_export_lines, answers=Exported),)
