"""The views of one build: read once by the home's owner, and handed to all users."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from memtape.flows.projection import basis_of
from memtape.schemas.log import Log, Slot
from memtape.schemas.rows import Basis, Watermark
from memtape.sinks.epochs import BuildTarget
from memtape.sinks.home.folders import Build, Home
from memtape.sinks.tables import Shard, foreign


class BuildViews:
    """A build's shards by partition, their watermarks, and the log's erasures; by default the served build's.

    `vault` is False for a build that is not served yet. The readings are cached, so an object serves for one
    pass over the partitions, until the flow or a rebuild writes views. The flow meets an `erased` event that
    another process appends meanwhile.
    """

    def __init__(self, home: Home, log: Log, build: Build | None = None, *, vault: bool = True) -> None:
        self.home = home
        self.log = log
        self.build = build or home.current()
        self.vault = vault
        self.numbers = range(log.partitions)
        self.shards = [Shard(self.build.shard(number), number) for number in self.numbers]
        self._strayed: dict[int, str] = {}
        self._erased: dict[int, Sequence[Slot]] = {}

    @cached_property
    def ends(self) -> list[int]:
        """The ends of the log."""
        return self.log.ends()

    @cached_property
    def watermarks(self) -> list[Watermark | None]:
        """The watermark of each shard, None where a shard has none or is damaged."""
        return [readable_watermark(shard) for shard in self.shards]

    def strayed(self, number: int) -> str:
        """Return why the views of a partition are not of the log as it is now, empty where they are."""
        watermark = self.watermarks[number]
        if number not in self._strayed:
            self._strayed[number] = foreign(self.log, watermark) if watermark is not None else ""
        return self._strayed[number]

    def erased(self, number: int) -> Sequence[Slot]:
        """Return the slots of the `erased` events of a partition."""
        if number not in self._erased:
            self._erased[number] = () if self._nothing_was_erased(number) else self.log.erased(number)
        return self._erased[number]

    @cached_property
    def bases(self) -> list[Basis]:
        """The basis of each partition's next views."""
        return [basis_of(self.log, number, self.erased(number)) for number in self.numbers]

    @cached_property
    def target(self) -> BuildTarget:
        """The target of a flow. Views that must be rebuilt are discarded."""
        # The bases are of every partition, so that all erasures are known by then.
        target = BuildTarget(self.home, self.build, self.shards, self.bases, self._erased.__getitem__, vault=self.vault)
        target.start(self.watermarks, [self.strayed(number) for number in self.numbers])
        return target

    def go_by(self, bases: Sequence[Basis]) -> None:
        """Take the bases of the home's owner, who has discarded all unfit views."""
        self.bases = list(bases)
        target = BuildTarget(self.home, self.build, self.shards, self.bases, self.log.erased, vault=self.vault)
        target.written_before = [mark.offset if mark is not None else 0 for mark in self.watermarks]
        self.target = target

    def _nothing_was_erased(self, number: int) -> bool:
        """Whether the views have read a whole partition without an erasure, and need no further look."""
        mark = self.watermarks[number]
        if mark is None or mark.erased or not mark.trail or mark.offset != self.ends[number]:
            return False
        return not self.strayed(number)


def readable_watermark(shard: Shard) -> Watermark | None:
    """Return the watermark of a shard, None where it has none or is damaged."""
    try:
        return shard.watermark() if shard.exists() else None
    except Exception:  # A damaged shard is made anew by the projector.
        return None
