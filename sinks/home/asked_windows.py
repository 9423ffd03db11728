"""`windows.json` of a home: the windows of talk that a model was asked about, and the settled ones.

The file is a cache: a model's facts are on the log. Without it a window without facts is asked about again.
Turns are named by digests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b

import msgspec

from memtape.sinks.home.folders import Home, write_whole

DIGEST_BYTES = 8


class _Window(msgspec.Struct, frozen=True):
    turns: tuple[str, ...]
    settled: bool
    attempts: int
    asked_us: int


class _WindowFile(msgspec.Struct, frozen=True):
    windows: dict[str, _Window] = {}


class AskedWindows:
    """The windows of one home, by their first turn, as of the last `alone`."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = home.windows_lock()
        self._windows: dict[str, _Window] = {}
        self._settled: dict[str, None] = {}

    @contextmanager
    def alone(self, wait_s: float) -> Iterator[None]:
        """Hold the right to ask about talk, and read the file; raises `Locked` if it is taken."""
        self._lock.acquire(wait_s)
        try:
            try:
                self._windows = msgspec.json.decode(self._home.windows_path.read_bytes(), type=_WindowFile).windows
            except (OSError, msgspec.MsgspecError):
                self._windows = {}
            self._settled = {turn: None for known in self._windows.values() if known.settled for turn in known.turns}
            yield
        finally:
            self._lock.release()

    def is_settled(self, turn: str) -> bool:
        """Return whether nothing more is to be asked about a turn."""
        return _digest(turn) in self._settled

    def attempts(self, first: str) -> tuple[int, int]:
        """Return how often a window was asked about, and when last in microseconds."""
        known = self._windows.get(_digest(first))
        return (known.attempts, known.asked_us) if known is not None else (0, 0)

    def note(self, turns: Sequence[str], *, settled: bool, now_us: int, since_us: int) -> None:
        """Note an attempt at a window of turns; drop the windows last asked before `since_us`."""
        window = _Window(tuple(map(_digest, turns)), settled, self.attempts(turns[0])[0] + 1, now_us)
        late = {first: known for first, known in self._windows.items() if known.asked_us >= since_us}
        self._windows = late | {window.turns[0]: window}
        self._settled |= dict.fromkeys(window.turns if settled else ())
        write_whole(self._home.windows_path, msgspec.json.encode(_WindowFile(self._windows)))


def _digest(id: str) -> str:
    return blake2b(id.encode(), digest_size=DIGEST_BYTES).hexdigest()
