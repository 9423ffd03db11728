"""The views of one build: read once by the home's owner, and handed to all users."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from memtape.flows.projection import Projection, basis_of, open_projection
from memtape.flows.workers.worker import OnNote
from memtape.schemas.errors import DamagedViews
from memtape.schemas.log import Log, Slot
from memtape.schemas.rows import Basis, Watermark
from memtape.sinks.epochs import PartitionViews
from memtape.sinks.home.builds import Build
from memtape.sinks.home.claims import PartitionClaim
from memtape.sinks.home.folders import Home
from memtape.sinks.snapshots import Snapshots
from memtape.sinks.tables import Shard, foreign


class BuildViews:
    """A build's shards by partition, by default the served build's, as the target of a flow.

    The readings are cached: an object serves for one pass over the partitions. `vault` is False for a build
    that is not served yet. A `claim` has a build with one partition, in a folder that machines share, whose
    views have no pages. `on_doubt` gets a sentence for each discarded view or snapshot.
    """

    on_doubt: OnNote = staticmethod(lambda doubt: None)

    def __init__(
        self,
        home: Home,
        log: Log,
        build: Build | None = None,
        *,
        vault: bool = True,
        claim: PartitionClaim | None = None,
    ) -> None:
        self.home, self.log, self.vault = home, log, vault and home.shared is None
        self._claim, self.build = claim, build or home.current() if claim is None else claim.build
        self.numbers = range(log.partitions)
        self.shards = [Shard(self.build.shard(number), number) for number in self.numbers]
        self._written: list[int] | None = None

    @cached_property
    def ends(self) -> list[int]:
        """The ends of the log."""
        return self.log.ends()

    @cached_property
    def watermarks(self) -> list[Watermark | None]:
        """The watermark of each shard, None where a shard has none or is damaged."""
        found: list[Watermark | None] = []
        for shard in self.shards:
            try:
                found.append(shard.watermark() if shard.exists() else None)
            except Exception:  # A damaged shard is made anew by the projector.
                found.append(None)
        return found

    @cached_property
    def strayed(self) -> list[str]:
        """Why the views of each partition are not of the log as it is now, empty where they are."""
        return [foreign(self.log, mark) if mark is not None else "" for mark in self.watermarks]

    @cached_property
    def erased(self) -> list[Sequence[Slot]]:
        """The slots of the `erased` events of each partition.

        None are read of a partition whose views have read all of it without an erasure.
        """
        found: list[Sequence[Slot]] = []
        for number, mark in enumerate(self.watermarks):
            if self._claim is not None and number != self._claim.partition:
                found.append(())
                continue
            is_read = mark is not None and not mark.erased and mark.trail and mark.offset == self.ends[number]
            found.append(() if is_read and not self.strayed[number] else self.log.erased(number))
        return found

    @cached_property
    def bases(self) -> list[Basis]:
        """The basis of each partition's next views."""
        return [basis_of(self.log, number, self.erased[number]) for number in self.numbers]

    @cached_property
    def unscrubbed(self) -> list[int]:
        """The partitions whose views were made before an erasure, and may hold the erased texts."""
        # Where tables are lost or damaged, the vault's pages may be older than they were.
        held = (0 if mark is None else mark.erased for mark in self.watermarks)
        return [number for number, erased in enumerate(held) if erased != self.bases[number].erased]

    def start(self) -> list[int]:
        """Discard the views to be made anew; return below which offset each partition's are written."""
        if self._written is None:
            self._written = [0 if mark is None else mark.offset for mark in self.watermarks]
            for number, mark in enumerate(self.watermarks):
                why = "they cannot be read"
                if mark is not None:
                    why = self.strayed[number] or self.bases[number].unlike(mark.basis)
                if why and self.shards[number].exists():
                    self.on_doubt(f"The views of partition {number} are made anew from the log: {why}.")
                    self.shards[number].discard()
                    self._written[number] = 0
        return self._written

    def waiting(self) -> int:
        """Return how many events the views lack."""
        return sum(self.ends) - sum(self.start())

    def go_by(self, bases: Sequence[Basis]) -> None:
        """Take the bases of the home's owner, who has discarded all unfit views."""
        self.bases = list(bases)
        self._written = [mark.offset if mark is not None else 0 for mark in self.watermarks]

    def views(self, partition: int) -> PartitionViews:
        """Return the writer of a partition's views."""
        shard = self.shards[partition]
        return PartitionViews(self.home, self.build, shard, vault=self.vault, claim=self._claim)

    def written(self, partition: int) -> int:
        """Return the offset below which the views of a partition were written at the start."""
        return self.start()[partition]

    def projection(self, partition: int, offset: int) -> Projection:
        """Return the projection of a partition before an offset."""
        basis, erased, written = self.bases[partition], self.erased[partition], self.written(partition)
        snapshots = Snapshots(self.build, partition, basis)
        snapshots.on_doubt = self.on_doubt
        projection = open_projection(self.log, partition, offset, written, snapshots, basis, erased)
        projection.has_pages = self.vault
        return projection

    def uncovered(self) -> list[tuple[int, int]]:
        """Return (partition, offset) where the vault is behind the tables: deleted, or cut short."""
        offsets = enumerate(self.start())
        return [(number, offset) for number, offset in offsets if self.views(number).vault_offset() < offset]

    def unreadable(self) -> list[int]:
        """Read all views once, and return the partitions with views that cannot be read."""
        found = []
        for shard in self.shards:
            try:
                shard.check()
            except DamagedViews:
                found.append(shard.partition)
        return found
