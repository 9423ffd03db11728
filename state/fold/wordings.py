"""The texts that are there, found by a text that differs from them in form alone or by a slip; no similarity is asked.

What form is says `near_verbatim`, what a slip is says `slips`. A search takes as long as there are words in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from memtape.state.fold.near_verbatim import Tokens, key_of, read
from memtape.state.fold.slips import Trace, is_slip, long_words, traces

_JUST_READ = 64
"""A text that was judged is put among the others next, and need not be read again."""


class Wording(NamedTuple):
    """The key of a text, and the places in the key where there may be a slip."""

    key: Tokens
    long: tuple[int, ...] = ()


@lru_cache(maxsize=_JUST_READ)
def wording(text: str) -> Wording:
    """Return what a text is found by when somebody says it in another form."""
    tokens, english = read(text)
    key = key_of(tokens, english=english)
    return Wording(key, long_words(text, key) if english else ())


def is_same_wording(a: Wording, b: Wording) -> bool:
    """Tell whether two texts differ in form alone or by a slip."""
    return a.key == b.key or is_slip(a.key, b.key, a.long, b.long)


class Wordings:
    """Wordings by the births of the memories that they stand for."""

    def __init__(self) -> None:
        self._wording: dict[int, Wording] = {}
        self._births: dict[Tokens, list[int]] = {}
        self._traces: dict[Trace, list[int]] = {}

    def put(self, birth: int, own: Wording) -> None:
        """Let `own` be what stands for `birth`."""
        self.drop(birth)
        self._wording[birth] = own
        self._births.setdefault(own.key, []).append(birth)
        for trace in traces(*own):
            self._traces.setdefault(trace, []).append(birth)

    def drop(self, birth: int) -> None:
        """Take a wording out; nothing happens if it is not there."""
        own = self._wording.pop(birth, None)
        if own is None:
            return
        _take_out(self._births, own.key, birth)
        for trace in traces(*own):
            _take_out(self._traces, trace, birth)

    def of(self, birth: int) -> Wording:
        """Return what stands for `birth`."""
        return self._wording[birth]

    def earliest(self, own: Wording, name_of: Callable[[int], int]) -> int | None:
        """Return the birth of what differs in form alone, else of what differs by a slip; the earliest name of such."""
        same = self._births.get(own.key)
        if not same:
            near = dict.fromkeys(birth for trace in traces(*own) for birth in self._traces.get(trace, ()))
            same = [birth for birth in near if is_same_wording(self._wording[birth], own)]
        return min(same, key=name_of) if same else None


def _take_out(births: dict[Any, list[int]], key: Any, birth: int) -> None:
    births[key].remove(birth)
    if not births[key]:
        del births[key]
