"""The erasures of a partition, and the point where the bodies of erased events are dropped.

An erasure counts as if its events had never been said, before and after it on the log. So readers learn the
erasures of a partition first and fold it then. It bans ids, never a text.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memtape.schemas.codec import event_of
from memtape.schemas.events import Erased, Event, may_write
from memtape.schemas.log import Slot


class Erasures(msgspec.Struct, array_like=True):
    """The erased ids, by scope: ids named by an `erased` event, and ids of events derived from these."""

    named: dict[str, dict[str, None]] = {}
    derived: dict[str, dict[str, None]] = {}

    @property
    def count(self) -> int:
        """The number of named ids. The number only grows: equal numbers of a log mean equal erasures."""
        return sum(map(len, self.named.values()))

    def learn(self, event: Event) -> bool:
        """Take in an event; whether it erases something that was not known to be erased."""
        if not isinstance(event.body, Erased) or event.scope is None or not may_write(event):
            return False
        named = self.named.setdefault(event.scope, {})
        before = len(named)
        named.update(dict.fromkeys(event.body.ids))
        return len(named) > before

    def covers(self, event: Event) -> bool:
        """Return whether an event is erased: named, or derived from an erased one. Call in log order."""
        named = self.named.get(event.scope or "")
        if not named or isinstance(event.body, Erased):
            return False
        if event.id in named:
            return True
        derived = self.derived.setdefault(event.scope or "", {})
        if event.id not in derived and not any(ref in named or ref in derived for ref in event.refs):
            return False
        derived[event.id] = None
        return True


def erasures_of(slots: Iterable[Slot]) -> Erasures:
    """Return the erasures by `erased` events among a partition's ordered slots: the first of each id."""
    erasures, seen = Erasures(), dict[tuple[str | None, str], None]()
    for slot in slots:
        event = event_of(slot.payload)
        if event is not None and (event.scope, event.id) not in seen:
            seen[event.scope, event.id] = None
            erasures.learn(event)
    return erasures
