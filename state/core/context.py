"""The input of a reducer beside the event: the time, the settings, and the other subjects, read-only.

Earlier subjects of the table have applied the event already. Their effects are here too, so that no state
stores details of a single event.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from memtape.schemas.rows import Counters
from memtape.schemas.settings import Settings

OthersT_co = TypeVar("OthersT_co", covariant=True)


class Context(msgspec.Struct, Generic[OthersT_co]):
    """The place and effects of one event: `seq` counts the events of the scope `scope`.

    `offset` is the event's offset, `at` its clamped time in us. `clock` is that of the partition, 0 before
    its first `configured`. `of` has the other subjects; each reducer's protocol names those it reads.
    `flipped` are the seqs of captures hidden or shown by the event, `embedded` the seq of the capture that
    got its first vector by an embedder, `used` the seqs of captures reported or found to be used. `touched`
    are the names of changed memories, `gone` the births of memories merged into another, and `dropped` the
    clusters of dropped decisions.
    """

    scope: str
    seq: int
    offset: int
    at: int
    clock: int
    settings: Settings
    counters: Counters
    of: OthersT_co
    flipped: list[int] = []
    embedded: int | None = None
    used: list[int] = []
    touched: list[str] = []
    gone: list[int] = []
    dropped: list[tuple[str, ...]] = []
