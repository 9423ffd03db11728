"""Splits: captures of a former memory that must never fold together again.

Splits are stored beside the memories, so that refolding respects them. The rules of folding are elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Split = tuple[tuple[int, ...], ...]
"""The captures of a split memory, by seq, in the groups of the split."""


class Apart:
    """Every split of a scope's memories, in the order of the log."""

    def __init__(self, splits: Iterable[Split] = ()) -> None:
        self.splits: list[Split] = []
        self._groups_of: dict[int, list[tuple[int, int]]] = {}
        for split in splits:
            self.add(split)

    def add(self, groups: Sequence[Sequence[int]]) -> None:
        """Set the captures of each group apart from those of every other group."""
        for number, group in enumerate(groups):
            for seq in group:
                self._groups_of.setdefault(seq, []).append((len(self.splits), number))
        self.splits.append(tuple(tuple(group) for group in groups))

    def others(self, seqs: Iterable[int]) -> dict[int, None]:
        """Return the captures from which any of these was set apart."""
        if not self.splits:
            return {}
        places = (place for seq in seqs for place in self._groups_of.get(seq, ()))
        return {
            other: None
            for split, own in places
            for number, group in enumerate(self.splits[split])
            if number != own
            for other in group
        }
