"""The views of one partition as a whole: the order in which an epoch is written, and where it stood before."""

from __future__ import annotations

from recollect.schemas.rows import Delta, Watermark
from recollect.sinks.home import Home
from recollect.sinks.lance import Shard
from recollect.sinks.vault import Vault


class PartitionViews:
    """Writes the deltas of one partition: rows, pages, and last the watermark that says that they are there."""

    def __init__(self, home: Home, partition: int) -> None:
        self.partition = partition
        self._shard = Shard(home.shard(partition), partition)
        self._vault = Vault(home)
        self._epoch_lock = home.epoch_lock()
        self._unwritten: Watermark | None = None

    def start(self, log_id: str, rules: str) -> int:
        """Return the offset below which everything is written, 0 where the views are to be made anew.

        Views of another log, of other rules, or that LanceDB cannot open are discarded: they come back.
        """
        if not self._shard.exists():
            return 0
        try:
            watermark = self._shard.watermark()
        except Exception:  # LanceDB names no class for damage, and whatever it is, the log has it all.
            watermark = None
        if watermark is None or (watermark.log_id, watermark.rules) != (log_id, rules):
            self._shard.discard()
            return 0
        return min(watermark.offset, self._vault.covered(self.partition))

    def apply(self, delta: Delta) -> None:
        """Write one delta; one that changes nothing is only remembered until the next, or until `close`."""
        assert delta.watermark.partition == self.partition
        if delta.empty:
            self._unwritten = delta.watermark
            return
        with self._epoch_lock:
            self._shard.write(delta.rows, delta.dead_letters)
            self._vault.write(delta.pages, delta.marks)
            self._finish(delta.watermark)

    def close(self) -> None:
        """Write the watermark of the deltas that changed nothing."""
        if self._unwritten is not None and self._shard.exists():
            with self._epoch_lock:
                self._finish(self._unwritten)

    def _finish(self, watermark: Watermark) -> None:
        self._vault.cover(self.partition, watermark.offset)
        self._shard.write_watermark(watermark)
        self._unwritten = None
