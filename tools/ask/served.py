"""The served tables of a home: whether they belong to its log, and the reaction to unreadable ones.

`readied` prepares their rows; `retrieval` asks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from memtape.schemas.errors import DamagedViews, MemtapeError
from memtape.schemas.events import Event
from memtape.schemas.log import Log
from memtape.schemas.rows import (
    LifeMark,
    ScopeHeld,
    Watermark,
)
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Build, Home
from memtape.sinks.tables import Shard, foreign
from memtape.tools.ask.aged import life_of
from memtape.tools.ask.readied import PAGE_SLOTS, tail_of

if TYPE_CHECKING:
    from memtape.tools.ask.as_of import PastViews

ReadT = TypeVar("ReadT")

_UNTIL_THEN = "What the log holds is found by words, and `memtape run --once` makes the views anew."


class Served:
    """The tables of one home, as they are or as they were at a position of the past, which has no tail."""

    def __init__(self, home: Home, log: Log, past: PastViews | None) -> None:
        self._home = home
        self.log = log
        self.past = past
        self._shards: dict[int, Shard] = {}
        self._past_forgotten = False
        self._unfit: dict[Path, tuple[Watermark | None, str]] = {}
        self._serving: Build | None = None

    @property
    def partitions(self) -> int:
        """How many partitions the log has."""
        return self.log.partitions

    def shard(self, partition: int) -> Shard:
        """Return the tables of a partition, those of the build that is being served unless the past is asked."""
        if self.past is not None:
            if partition not in self._shards:
                self._shards[partition] = self.past.shard(partition)
            return self._shards[partition]
        shard = self._served(partition)
        return shard if not self._why_unfit(shard) else Shard(self._home.path / "no-views", partition)

    def _served(self, partition: int) -> Shard:
        shard = self._shards.get(partition)
        path = (self._serving or self._home.current()).shard(partition)
        if shard is None or shard.path != path:
            shard = self._shards[partition] = Shard(path, partition)
        return shard

    def _why_unfit(self, shard: Shard) -> str:
        """Return why tables are not of this log as it is now, looked up once a question."""
        mark = shard.watermark() if shard.exists() else None
        known = self._unfit.get(shard.path)
        if known is None or known[0] != mark:
            why = "" if mark is None else foreign(self.log, mark)
            known = self._unfit[shard.path] = mark, why
        return known[1]

    def warning(self, partition: int) -> str:
        """Return a sentence where the views of a partition cannot be served, since they are not of this log."""
        if self.past is not None:
            return ""
        shard = self._served(partition)
        if (self._serving or self._home.current()).damage_path(partition).exists():
            return f"The views of partition {partition} are damaged. `memtape run --once` makes them anew."
        why = self._why_unfit(shard)
        return f"The views are not of the log as it is: {why}. {_UNTIL_THEN}" if why else ""

    def warnings(self, partitions: Iterable[int]) -> tuple[str, ...]:
        """Return the warnings of some partitions, as they are looked up anew."""
        self._unfit.clear()
        return self._warnings(partitions)

    def _warnings(self, partitions: Iterable[int]) -> tuple[str, ...]:
        return tuple(filter(None, map(self.warning, dict.fromkeys(partitions))))

    def reading(self, action: Callable[[], ReadT]) -> ReadT:
        """Return the result of an action on the views; it is repeated where they were switched under it.

        Raises `DamagedViews` for unreadable views, and records the damage for the next projector.
        """
        served = self._serving = self._home.current()
        self._unfit.clear()
        try:
            return action()
        except DamagedViews as error:
            if self._is_other(served):
                return self.reading(action)
            self.note_damage(error)
            raise
        except MemtapeError:
            raise
        except Exception as error:  # Rows that can be read and make no sense.
            if self._is_other(served):
                return self.reading(action)
            partitions = sorted(self._shards)
            for number in [] if self.past is not None else partitions:
                served.note_damage(number)
            raise DamagedViews(
                "The views cannot be read.",
                "`memtape run --once` makes them anew from the log; `memtape verify` says what is damaged.",
                partitions[0] if partitions else 0,
            ) from error
        finally:
            self._serving = None

    def note_damage(self, error: DamagedViews) -> None:
        """Note for the next projector that views could not be read; those of the past are made again anyway."""
        if self.past is None:
            self._home.current().note_damage(error.partition)
        self._shards.clear()

    def _is_other(self, served: Build) -> bool:
        """Whether the tables read are outdated: another build is served, or a past view was made again."""
        if self._home.current().path == served.path and not self._forget_past():
            return False
        self._shards.clear()
        return True

    def _forget_past(self) -> bool:
        """Discard views of the past that cannot be read, which are made again when asked for; once."""
        if self.past is None or self._past_forgotten:
            return False
        self.past.discard()
        self._past_forgotten = True
        return True

    def tail(self, scope: str, offset: int) -> Iterator[Event]:
        """Yield a scope's events after the watermark with an effect on visible rows."""
        if self.past is None:
            yield from tail_of(self.log, partition_of(scope, self.log.partitions), offset, scope)

    def uses_behind(self, scope: str, offset: int) -> int:
        """Return how many uses of a scope stand behind the watermark, at most a page of them."""
        if self.past is not None:
            return 0
        return len(
            self.log.read(partition_of(scope, self.partitions), offset, PAGE_SLOTS, scope=scope, types=("used",))
        )

    def standing_pages(self, scope: str) -> dict[str, str]:
        """Return the standing pages of the vault by path, as they lie there; none where the past is asked."""
        from memtape.sinks.vault import Vault  # A prompt's search asks for no page, and must not wait for this.

        return {} if self.past is not None else Vault(self._home).standing(scope)

    def watermark(self, partition: int) -> Watermark | None:
        """Return how far the views of a partition are."""
        shard = self.shard(partition)
        return shard.watermark() if shard.exists() else None

    def held(self, scope: str) -> ScopeHeld:
        """Return how much a scope shows."""
        shard = self.shard(partition_of(scope, self.log.partitions))
        return shard.held().get(scope, ScopeHeld()) if shard.exists() else ScopeHeld()

    def life(self, scope: str) -> LifeMark:
        """Return how a scope as a whole stands, as its views know."""
        return life_of(self.watermark(partition_of(scope, self.log.partitions)), scope)

    def offset(self, partition: int) -> int:
        """Return the offset up to which (exclusive) the views of a partition are true."""
        watermark = self.watermark(partition)
        return watermark.offset if watermark else 0
