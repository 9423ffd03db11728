"""The questions of a client: their checks, the answer from the views, and the event about a search and its results.

What a single kind of question needs is loaded as `ask.<module>` at its use, since a hook only searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from memtape.schemas.errors import MemtapeError
from memtape.schemas.times import parse_time
from memtape.tools import ask
from memtape.tools.world import World

if TYPE_CHECKING:
    from memtape.schemas.metrics import OnPhase
    from memtape.schemas.rows import MemoryRow, PageRow, ScopeHeld, TurnRow
    from memtape.tools.keep.embedding import EmbedderState

ReadT = TypeVar("ReadT")

MAX_SHOWN = 1_000
"""So many results a recall can name."""


class Asking(World):
    """A writer that also reads: its questions, answered from the views, and recorded where an event is due."""

    def pages(self, *, as_of: str | None = None) -> list[PageRow]:
        """Return the pages of this scope as the views have them; the root too, where there is any page."""
        return self.read(ask.looking.pages_of, as_of)

    def pinned(self) -> list[MemoryRow | TurnRow]:
        """Return the pinned memories and turns of this scope and of `global`, the latest first."""
        return self.read(ask.looking.pinned_of)

    def compare(self, retrievers: Sequence[str] = (), limit: int = 1_000, on_phase: OnPhase = lambda *_: None) -> Any:
        """Ask the scope's latest searches again of retrievers, as `tools.ask.comparing` says; by default of all."""
        compare = ask.comparing.compare
        return self.read(lambda views, scope: compare(views, self.log, scope, retrievers, limit, on_phase))

    def compare_shadows(self) -> Any:
        """Return the results of shadow retrievers beside the scope's answers, as `tools.ask.comparing`."""
        return self.read(lambda views, scope: ask.comparing.compare_shadows(self.log, scope))

    def held(self, *, as_of: str | None = None) -> ScopeHeld:
        """Return how much the scope shows, now or in the past."""
        return self.read(lambda views, scope: views.held(scope), as_of)

    def embedder(self) -> EmbedderState:
        """Return the deciding embedder, the one opened on this machine, and the number of waiting texts."""
        from memtape.tools.keep.embedding import embedder_state

        counters = self.reader.held(lambda views: ask.status.counted(self.home, self.log, views))
        return embedder_state(self.home, self.log, counters, opened=True)


def is_time(around: str, now_us: int) -> bool:
    """Whether a moment is named by a time, and not by an id."""
    try:
        parse_time(around, now_us)
    except MemtapeError:
        return False
    return True
