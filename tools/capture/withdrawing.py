"""Withdrawn and returned texts of files: the difference between their texts then and now, as events.

Opens no file, and does not know the reading of files.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping

from memtape.schemas.events import MAX_IDS, Restored, Withdrawn
from memtape.schemas.log import Log, events_between
from memtape.schemas.places import part_id
from memtape.schemas.scopes import partition_of
from memtape.tools.capture.writing import Writer

Said = Mapping[str, Collection[str]]
"""Ids of texts by scope: for each text the id of it whole and of its first part."""

PAGE_PARTS = 250


def withdraw(writer: Writer, texts: Said, *, on: bool = True, dry_run: bool = False) -> int:
    """Append that sources say texts of the log no longer, or with `on=False` again; return how many changed."""
    count = 0
    for scope, ids in texts.items():
        stand = writer.log.known(scope, list(ids))
        withdrawn = withdrawn_and_shown(writer.log, scope)[0] if stand else {}
        changed = [id for id in stand if (id in withdrawn) is not on]
        count += len(changed)
        named = [] if dry_run else [part for id in changed for part in _parts(writer.log, scope, id)]
        for first in range(0, len(named), MAX_IDS):
            writer.append("withdrawn", Withdrawn(ids=tuple(named[first : first + MAX_IDS]), on=on), scope)
    return count


def withdrawn_and_shown(log: Log, scope: str) -> tuple[dict[str, None], dict[str, None]]:
    """Return the ids withdrawn in a scope at the end of the log, and those that a person restored after that."""
    withdrawn, shown = dict[str, None](), dict[str, None]()
    partition = partition_of(scope, log.partitions)
    for _, event in events_between(log, partition, 0, sys.maxsize, scope, ("withdrawn", "restored")):
        body = event.body
        if not isinstance(body, Withdrawn | Restored):
            continue
        on, ids = isinstance(body, Withdrawn) and body.on, body.ids
        restored = [id for id in ids if id in withdrawn] if isinstance(body, Restored) else []
        shown = {id: None for id in shown if id not in ids} | dict.fromkeys(restored)
        withdrawn = withdrawn | dict.fromkeys(ids) if on else {id: None for id in withdrawn if id not in ids}
    return withdrawn, shown


def _parts(log: Log, scope: str, id: str) -> list[str]:
    """Return an id and the ids of the document's other parts, if it names a first part; erased parts
    included.
    """
    found, page = [id], [id] * PAGE_PARTS
    while len(page) == PAGE_PARTS:
        numbers = range(len(found) + 1, len(found) + 1 + PAGE_PARTS)
        page = list(log.known(scope, [part_id(scope, id, number) for number in numbers]))
        found += page
    return found
