"""What a reducer gets beside the event: when and under what it is folded, and the other subjects, read only.

A subject that stands earlier in the table has taken in the event already. What the event did there stands here too, so
that no state has to keep what one event alone is about.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from memtape.schemas.rows import Counters
from memtape.schemas.settings import Settings

OthersT_co = TypeVar("OthersT_co", covariant=True)


class Context(Generic[OthersT_co]):
    """`scope` is a name; `seq` counts its events; `offset` is where the event stands; `at` is its clamped time in us.

    `clock` is that of the partition, 0 before its first `configured`. `of` has the other subjects; each reducer says in
    a protocol which it needs. `flipped` are the seqs of captures that the event has hidden or shown, `embedded` the seq
    of the capture that it gave its first vector under an embedder, `used` the seqs of the captures that it says, or
    shows, to have been used. `touched` are the names of the memories that it touched, `gone` the births of those that
    it made one with others, and `dropped` the clusters about which something was decided that does not hold.
    """

    __slots__ = (
        "at",
        "clock",
        "counters",
        "dropped",
        "embedded",
        "flipped",
        "gone",
        "of",
        "offset",
        "scope",
        "seq",
        "settings",
        "touched",
        "used",
    )

    def __init__(
        self,
        scope: str,
        seq: int,
        offset: int,
        at: int,
        settings: Settings,
        counters: Counters,
        of: OthersT_co,
        clock: int,
    ) -> None:
        self.scope = scope
        self.seq = seq
        self.offset = offset
        self.at = at
        self.settings = settings
        self.counters = counters
        self.of = of
        self.clock = clock
        self.flipped: list[int] = []
        self.embedded: int | None = None
        self.used: list[int] = []
        self.touched: list[str] = []
        self.gone: list[int] = []
        self.dropped: list[tuple[str, ...]] = []
