"""What an export has: the events of projects as JSON lines, and the memories of one as Markdown.

The lines are events as on the log, so that an import makes the same memories of them, on a log of any kind
and number of partitions.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtape.schemas.codec import encode
from memtape.schemas.log import Log, events_between
from memtape.sinks.home.folders import Home
from memtape.sinks.vault import render
from memtape.state.core.erasures import erasures_of
from memtape.state.views.pages import pages_at
from memtape.state.views.standing_pages import MEMORIES_PER_PAGE, memory_path
from memtape.tools.keep.states import partition_now


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
        yield render(page).encode() + b"\n"
