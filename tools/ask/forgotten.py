"""Captures that may be hidden, since the same text was forgotten: from the log, so a capture need not wait.

No view is read, and nothing of them is imported. The answer errs on the side of hiding: a repetition may have
ended a ban, which only the views know.
"""

from __future__ import annotations

from collections.abc import Mapping

from memtape.schemas.codec import event_of
from memtape.schemas.events import Captured, Forgotten
from memtape.schemas.log import Log
from memtape.schemas.scopes import partition_of
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.logs.memory import MemoryLog
from memtape.state.text.normal import normal_text

MOST_READ = 200
"""Where more was forgotten than so many captures, reading them all costs more than to ask the views."""


def may_be_hidden(log: Log, scope: str, texts: Mapping[str, str]) -> list[str]:
    """Return which captures of a scope a tombstone may hide; `texts` has the text of each by its id."""
    if not isinstance(log, (EmbeddedLog, MemoryLog)):  # A topic would be read from its beginning; its ids are kept.
        return list(texts) if log.matching("", [scope], ["forgotten"], 1) else []
    partition = partition_of(scope, log.partitions)
    events = [event_of(it.payload) for it in log.read(partition, 0, MOST_READ, scope=scope, types=("forgotten",))]
    bodies = (event.body for event in events if event is not None)
    ids = dict.fromkeys(id for body in bodies if isinstance(body, Forgotten) for id in body.ids)
    if max(len(events), len(ids)) >= MOST_READ:
        return list(texts)
    said: dict[str, None] = {}
    for offset in log.known(scope, list(ids)).values() if ids else ():
        event = event_of(log.read(partition, offset, 1)[0].payload)
        if event is not None and isinstance(event.body, Captured):
            said[normal_text(event.body.text)] = None
    return [id for id, text in texts.items() if id in ids or (said and normal_text(text) in said)]
