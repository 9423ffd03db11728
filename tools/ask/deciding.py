"""Decisions of people and agents on memories: the ids that a decision names, and its event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtape.tools.ask.asking import Asking
from memtape.tools.ask.naming import is_whole, only_scope

if TYPE_CHECKING:
    pass


class Deciding(Asking):
    """A client that decides: it forgets, restores, links, settles and answers. Ids are resolved in the folded state."""

    def one_scope(self, ids: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Return the one scope in which captures or recalls stand, and their whole ids; raise as `use` does."""
        known = self.ids
        found = [known.meant(id, () if is_whole(id) else ("captured", "recalled")) for id in dict.fromkeys(ids)]
        return only_scope(scope for scope, _ in found), tuple(id for _, id in found)
