"""An index of memories by one key each; a search is one dict lookup."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memtape.state.fold.near_verbatim import Tokens


class Keys:
    """The keys of memories by their births."""

    def __init__(self) -> None:
        self._key_of: dict[int, Tokens] = {}
        self._births: dict[Tokens, list[int]] = {}

    def put(self, birth: int, key: Tokens) -> None:
        """Let `birth` have a key."""
        self.drop(birth)
        self._key_of[birth] = key
        self._births.setdefault(key, []).append(birth)

    def drop(self, birth: int) -> None:
        """Remove a memory, if present."""
        key = self._key_of.pop(birth, None)
        if key is None:
            return
        self._births[key].remove(birth)
        if not self._births[key]:
            del self._births[key]

    def of(self, birth: int) -> Tokens:
        """Return the key of `birth`."""
        return self._key_of[birth]

    def with_key(self, key: Tokens) -> Sequence[int]:
        """Return the births that have a key."""
        return self._births.get(key, ())

    def earliest(self, key: Tokens, name_of: Callable[[int], int]) -> int | None:
        """Return the birth of a key that has the earliest name."""
        return min(self.with_key(key), key=name_of, default=None)
