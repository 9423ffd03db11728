"""Decisions of people and agents on memories: the ids that a decision names, and its event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtape.tools import ask
from memtape.tools.ask.asking import Asking
from memtape.tools.ask.naming import is_whole, only_scope

if TYPE_CHECKING:
    from memtape.tools.ask.archived import ArchivedNow, Why


class Deciding(Asking):
    """A client that decides: it forgets, restores, links, settles and answers. Ids are resolved in the folded state."""

    def archive(self, ids: Sequence[str], *, reason: str | None = None) -> ArchivedNow:
        """Archive memories and turns with all their captures; return the changed and the unchanged units.

        Raises `NotFound`, and `MemtapeError` where any is pinned or hidden: then none is archived.
        """
        return ask.archived.archive(self, self.ids, ids, reason)

    def unarchive(
        self, ids: Sequence[str] = (), *, all_of: Why | None = None, reason: str | None = None
    ) -> ArchivedNow:
        """Bring back memories and turns, purged ones too, or all of the scope archived for a reason.

        Raises `NotFound`, and `MemtapeError` for texts archived with their project: `projects.resume` brings
        them back.
        """
        return ask.archived.unarchive(self, self.ids, ids, all_of, reason)

    def one_scope(self, ids: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Return the one scope in which captures or recalls stand, and their whole ids; raise as `use` does."""
        known = self.ids
        found = [known.meant(id, () if is_whole(id) else ("captured", "recalled")) for id in dict.fromkeys(ids)]
        return only_scope(scope for scope, _ in found), tuple(id for _, id in found)
