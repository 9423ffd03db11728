"""The input of a reducer beside the event: the time, the settings, and the other subjects, read-only.

Earlier subjects of the table have applied the event already. Their effects are here too, so that no state
stores details of a single event.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from memtape.schemas.rows import Counters
from memtape.schemas.settings import Settings

OthersT_co = TypeVar("OthersT_co", covariant=True)


class Context(Generic[OthersT_co]):
    """The place and effects of one event: `seq` counts the events of the scope `scope`.

    `offset` is the event's offset, `at` its clamped time in us. `clock` is that of the partition, 0 before
    its first `configured`. `of` has the other subjects; each reducer's protocol names those it reads.
    `flipped` are the seqs of captures hidden or shown by the event, `embedded` the seq of the capture that
    got its first vector by an embedder, `used` the seqs of captures reported or found to be used. `touched`
    are the names of changed memories, `gone` the births of memories merged into another, and `dropped` the
    clusters of dropped decisions.
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
