"""The sessions of a scope's texts: the texts of each, and the turns around each text.

Earlier results are extended after texts were added or hidden: only the sessions of these are read again.
Nothing here reads a text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtape.state.index.entries import TURN, number_of
from memtape.state.index.parts import Ints, MaskedSegment, column_of, joined, starts_of
from memtape.state.index.segments import NO_SESSION, Flags
from memtape.state.index.sorted_values import firsts, is_one_of

NOBODY = -1
"""The place of no turn. As an index it is the last slot: arrays over places have one slot more."""


class TextSessions:
    """The sessions of N texts.

    `number` (N) is equal for texts of one session: the place of one of them. A text without a session is one
    by itself. `after` and `before` (N + 1) have the place of the next and of the previous shown turn, by time
    and id, `after_that` and `before_that` (N + 1) those at distance two, `NOBODY` for none. `again` has the
    places with changed neighbours since the known sessions, ascending: all places without known ones.
    """

    def __init__(self, parts: Sequence[MaskedSegment], known: TextSessions | None = None) -> None:
        """Find the sessions of parts; `known` are those of texts that may begin with the same segments."""
        self._parts = parts
        self.starts = starts_of(parts)
        self.shown: Flags = joined([part.shown for part in parts], np.bool_)
        pairs = zip(parts, () if known is None else known._parts, strict=False)
        alike = [part.segment is other.segment for part, other in pairs]
        self._same = alike.index(False) if False in alike else len(alike)
        """With so many of the same segments both begin."""
        self._base = base = self.starts[self._same]
        """So many texts stand where they stood."""
        self._keys, self._firsts = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        self.number: Ints = np.zeros(0, np.int64)
        self._count(known)
        lines = self._lines()
        # The sessions whose turns must be ordered over several parts, or again.
        touched = np.zeros(len(self.number), np.bool_)
        if known is not None:
            touched[self.number[:base][self.shown[:base] != known.shown[:base]]] = True
            for numbers in (known.number[base:], self.number[base:]):
                touched[numbers[numbers < base]] = True
        # The turns of a session stand together, so that each is met once in a segment.
        each = [own[firsts(own)] for own in (self.number[rows] for rows in lines)]
        every = np.sort(joined(each, np.int64))
        touched[every[~firsts(every)]] = True
        moved = np.flatnonzero(touched[self.number[:base]])
        self.again: Ints = np.append(moved, np.arange(base, len(self.number)))
        old = () if known is None else (known.before, known.before_that, known.after, known.after_that)
        nobody = np.full(len(self.number) + 1 - base, NOBODY)
        links = [np.append(its[:base], nobody) for its in old] or [nobody.copy() for _ in range(4)]
        for link in links:
            link[moved] = NOBODY
        self.before: Ints = links[0]
        self.before_that: Ints = links[1]
        self.after: Ints = links[2]
        self.after_that: Ints = links[3]
        self._link(moved, lines, touched)

    def number_of(self, session: str) -> int | None:
        """Return the number of a session, None if it has no text."""
        key = np.uint64(number_of(session))
        place = int(np.searchsorted(self._keys, key))
        return int(self._firsts[place]) if place < len(self._keys) and self._keys[place] == key else None

    def _count(self, known: TextSessions | None) -> None:
        """Number the sessions: first those of the unchanged parts, then those of each further part."""
        numbers = []
        if known is not None:
            numbers.append(known.number[: self._base])
            early = known._firsts < self._base
            self._keys, self._firsts = known._keys[early], known._firsts[early]
        for part, start in zip(self._parts[self._same :], self.starts[self._same :], strict=False):
            own, session = part.segment.session_keys, part.segment.sessions
            sizes = np.bincount(session, minlength=len(own))
            is_held = sizes > 0
            first = np.full(len(own), NOBODY)
            first[is_held] = start + part.segment.order[(np.cumsum(sizes) - sizes)[is_held]].astype(np.int64)
            is_met = is_one_of(own, self._keys)
            first[is_met] = self._firsts[np.searchsorted(self._keys, own[is_met])]
            number = first[session]
            if len(own) and own[0] == NO_SESSION:
                alone = np.flatnonzero(session == 0)
                number[alone] = start + alone
                is_held[0] = False
            numbers.append(number)
            is_new = is_held & ~is_met
            keys, firsts_of_keys = np.append(self._keys, own[is_new]), np.append(self._firsts, first[is_new])
            order = np.argsort(keys)
            self._keys, self._firsts = keys[order], firsts_of_keys[order]
        self.number = joined(numbers, np.int64)

    def _lines(self) -> list[Ints]:
        """Return the shown turns of sessions of each new part, in its order by session, time and id."""
        lines = []
        for part, start in zip(self._parts[self._same :], self.starts[self._same :], strict=False):
            segment = part.segment
            alone = (segment.session_keys == NO_SESSION)[segment.sessions]
            turns = part.shown & (segment.flags & TURN != 0) & ~alone
            lines.append(start + segment.order[turns[segment.order]].astype(np.int64))
        return lines

    def _link(self, old: Ints, lines: Sequence[Ints], touched: Flags) -> None:
        """Link the turns of new parts in their order, and sort the turns of touched sessions."""
        gathered = [old[self.shown[old] & (column_of(self._parts, self.starts, "flags", old) & TURN != 0)]]
        ordered = list[Ints]()
        for rows in lines:
            apart = touched[self.number[rows]]
            ordered.append(rows[~apart])
            gathered.append(rows[apart])
        rows = np.sort(np.concatenate(gathered))
        ids = column_of(self._parts, self.starts, "ids", rows).reshape(-1, 2)
        at = column_of(self._parts, self.starts, "at", rows)
        ordered.append(rows[np.lexsort((ids[:, 1], ids[:, 0], at, self.number[rows]))])
        for rows in ordered:
            sessions = self.number[rows]
            for step, back, forward in ((1, self.before, self.after), (2, self.before_that, self.after_that)):
                same = sessions[step:] == sessions[:-step]
                forward[rows[:-step][same]] = rows[step:][same]
                back[rows[step:][same]] = rows[:-step][same]
