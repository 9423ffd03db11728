"""The views of one partition as a whole: the order of writes in an epoch, and the position before it."""

from __future__ import annotations

from memtape.schemas.rows import Delta, Watermark
from memtape.sinks.home.builds import Build
from memtape.sinks.home.claims import PartitionClaim
from memtape.sinks.home.folders import Home
from memtape.sinks.snapshots import discard_before
from memtape.sinks.tables import Shard
from memtape.sinks.vault import Vault


class PartitionViews:
    """Writes the deltas of one partition: rows, then pages, and last the watermark that makes them valid.

    A build not yet served has no vault: its pages are written at the switch. Views in a shared folder are
    written under a `claim`: a write after a later claim raises `Fenced`.
    """

    def __init__(
        self,
        home: Home,
        build: Build,
        shard: Shard,
        *,
        vault: bool = True,
        claim: PartitionClaim | None = None,
    ) -> None:
        self.partition = shard.partition
        self._build = build
        self._shard = shard
        self._vault = Vault(home) if vault else None
        self._claim = claim
        self._epoch_lock = home.epoch_lock(shard.partition) if claim is None else claim.epoch_lock
        self._unwritten: Watermark | None = None
        self._has_pages = True

    def vault_offset(self) -> int:
        """Return the offset up to which the pages are known to be on disk."""
        return 0 if self._vault is None else self._vault.covered(self.partition)

    def apply(self, delta: Delta) -> bool:
        """Write one delta, and return whether there was anything to write.

        A delta without changes is only remembered until the next, or until `close`. The end of a
        consolidation's pass and a dead letter change no row, and are stored by the watermark alone.
        """
        assert delta.watermark.partition == self.partition
        self._has_pages = delta.has_pages
        mark = self._shard.watermark()
        said = delta.watermark.passes, delta.watermark.counters.dead_letters
        stored = ({}, 0) if mark is None else (mark.passes, mark.counters.dead_letters)
        if not delta.rows and not delta.pages and said == stored:
            self._unwritten = delta.watermark
            return False
        with self._epoch_lock:
            if self._claim is not None:
                self._claim.check()
            self._shard.write(delta.rows)
            if self._vault is not None:
                self._vault.write(delta.pages, delta.marks)
            self._finish(delta.watermark)
        return True

    def close(self) -> None:
        """Write the watermark of the deltas that changed nothing, and discard what no reader needs then.

        A partition gets no shard for settings and ticks alone. It gets one for any event of a scope: only a
        watermark says that the event is folded, and of an erasure that nothing of the text is left.
        """
        if self._unwritten is not None and (self._shard.exists() or self._unwritten.sent):
            with self._epoch_lock:
                self._finish(self._unwritten)
        self._shard.clean()
        if (mark := self._shard.watermark()) is not None:
            discard_before(self._build, self.partition, mark.offset)

    def _finish(self, watermark: Watermark) -> None:
        if self._claim is not None:
            self._claim.check()
        self._shard.write_watermark(watermark)
        # After it, so that a vault that claims more than the tables is one whose tables were lost. A vault
        # that claims less, since pages are still to come, is mended at the next start.
        if self._vault is not None and self._has_pages:
            self._vault.cover(self.partition, watermark.offset)
        self._unwritten = None
