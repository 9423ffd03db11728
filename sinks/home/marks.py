"""Files of marks in a home: how far workers have come, what they asked when, and how often models were asked.

Each file is a cache. A missing or damaged one, or one of another log, counts as empty: the work is done
again, and nothing comes onto the log twice. A call's share of the day's budget of a model is stored before
the call, so that no crash makes a call free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Literal

import msgspec

from memtape.schemas.errors import BudgetSpent, Locked
from memtape.schemas.ids import digest_of
from memtape.schemas.log import Log, strayed, trail_of
from memtape.schemas.model import ModelOptions
from memtape.schemas.times import DAY_US, format_day
from memtape.sinks.home.files import read_json, write_whole
from memtape.sinks.home.folders import Home

Outcome = Literal["kept", "nothing", "timeout", "refused", "error"]
"""How it went with a window of talk: facts were kept, none were found, the model was late, its answer could
not be used, or it could not be asked.
"""

LOCK_WAIT_S = 5.0

OffsetMark = tuple[int, str]  # An offset, and the trail of the log before it.


class MarksFile(msgspec.Struct, frozen=True):
    """The marks of a log by the name of a worker's task."""

    log_id: str
    marks: dict[str, list[OffsetMark]] = {}


class OffsetMarks:
    """A worker's positions in each partition of one log, in a file."""

    def __init__(self, path: Path, log: Log) -> None:
        self._path = path
        self._log = log
        self._written: dict[str, list[OffsetMark]] = {}

    def read(self, name: str) -> list[int] | None:
        """Return the offsets under a name, None if unknown; 0 if a partition changed before the offset."""
        marks = self._known().marks.get(name)
        if marks is None or len(marks) != self._log.partitions:
            return None
        return [0 if strayed(self._log, number, *mark) else mark[0] for number, mark in enumerate(marks)]

    def write(self, name: str, offsets: list[int]) -> None:
        """Store offsets, one per partition, under a name; keep the offsets of all other names."""
        known = self._known()
        marks = self._written.get(name) or [(-1, "")] * self._log.partitions
        for number, offset in enumerate(offsets):
            if marks[number][0] != offset:
                marks[number] = offset, trail_of(self._log, number, offset)
        self._written[name] = marks
        if known.marks.get(name) != marks:
            known.marks[name] = marks
            write_whole(self._path, msgspec.json.encode(known))

    def _known(self) -> MarksFile:
        file = read_json(self._path, MarksFile)
        return file if file is not None and file.log_id == self._log.log_id else MarksFile(self._log.log_id)


class DailyMarks:
    """What is done at most once a day, by name, and when (us) it was done: questions to repositories, and
    retries of given-up texts.
    """

    def __init__(self, home: Home, log_id: str) -> None:
        self._path = home.daily_path
        self._log_id = log_id

    def is_due(self, name: str, now_us: int) -> bool:
        """Return whether nothing was noted under a name for a day, or nobody knows, and note it as done."""
        log_id, marks = read_json(self._path, tuple[str, dict[str, int]]) or ("", {})
        late = {it: at for it, at in marks.items() if 0 <= now_us - at < DAY_US and log_id == self._log_id}
        if name in late:
            return False
        write_whole(self._path, msgspec.json.encode((self._log_id, late | {name: now_us})))
        return True


class _Window(msgspec.Struct, frozen=True):
    turns: tuple[str, ...]
    settled: bool
    attempts: int
    asked_us: int


class AskedWindows:
    """The windows of talk that a model was asked about, by their first turn, as of the last `alone`.

    Turns are named by digests. Without the file a window without facts is asked about again.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = home.lock("windows")
        self._windows: dict[str, _Window] = {}
        self._settled: dict[str, None] = {}

    @contextmanager
    def alone(self, wait_s: float) -> Iterator[None]:
        """Hold the right to ask about talk, and read the file; raises `Locked` if it is taken."""
        with self._lock.held(wait_s):
            self._windows = read_json(self._home.windows_path, dict[str, _Window]) or {}
            settled = (known.turns for known in self._windows.values() if known.settled)
            self._settled = dict.fromkeys(chain.from_iterable(settled))
            yield

    def is_settled(self, turn: str) -> bool:
        """Return whether nothing more is to be asked about a turn."""
        return digest_of(turn.encode()) in self._settled

    def attempts(self, first: str) -> tuple[int, int]:
        """Return how often a window was asked about, and when last in microseconds."""
        known = self._windows.get(digest_of(first.encode()))
        return (known.attempts, known.asked_us) if known is not None else (0, 0)

    def note(self, turns: Sequence[str], *, settled: bool, now_us: int, since_us: int) -> None:
        """Note an attempt at a window of turns; drop the windows last asked before `since_us`."""
        digests = tuple(digest_of(turn.encode()) for turn in turns)
        window = _Window(digests, settled, self.attempts(turns[0])[0] + 1, now_us)
        late = {first: known for first, known in self._windows.items() if known.asked_us >= since_us}
        self._windows = late | {window.turns[0]: window}
        self._settled |= dict.fromkeys(window.turns if settled else ())
        write_whole(self._home.windows_path, msgspec.json.encode(self._windows))


# --- The use of models ---


class UseAmounts(msgspec.Struct, frozen=True):
    """Amounts of use: calls, characters of questions and answers, and tokens reported by endpoints."""

    calls: int = 0
    characters: int = 0
    tokens: int = 0

    def and_also(self, more: UseAmounts) -> UseAmounts:
        """Return the sum; nothing is below 0, as where a day begins between asking and giving back."""
        sums = self.calls + more.calls, self.characters + more.characters, self.tokens + more.tokens
        return UseAmounts(*(max(0, sum) for sum in sums))


class ModelUse(msgspec.Struct, frozen=True):
    """The use of models on the last day with any (`day` of UTC), and in all; `windows` by outcome."""

    day: str = ""
    today: UseAmounts = UseAmounts()
    total: UseAmounts = UseAmounts()
    windows: dict[str, int] = {}


def spend(home: Home, options: ModelOptions, characters: int, now_us: int) -> None:
    """Take one call with `characters` from today's budget; raise `BudgetSpent` if too little is left."""
    with _changing(home, now_us, UseAmounts(1, characters)) as use:
        for key, used in (("calls", use.today.calls + 1), ("characters", use.today.characters + characters)):
            most = getattr(options, f"{key}_per_day")
            if used > most:
                told = f"Models may be asked no more today: {most:,} {key} are spent."
                raise BudgetSpent(told, f"Raise model.{key}_per_day in settings.toml.")


def note_use(home: Home, calls: int, characters: int, tokens: int, now_us: int) -> None:
    """Add the size of an answer, or less than nothing to take an unanswered call back. Never raises."""
    with suppress(OSError, Locked), _changing(home, now_us, UseAmounts(calls, characters, tokens)):
        pass


def count_window(home: Home, outcome: Outcome, now_us: int) -> None:
    """Add 1 to the count of windows with this outcome. Never raises, so that no window is lost."""
    with suppress(OSError, Locked), _changing(home, now_us, UseAmounts()) as use:
        use.windows[outcome] = use.windows.get(outcome, 0) + 1


def model_use(home: Home, now_us: int) -> ModelUse:
    """Return the use of models; today is the day of `now_us`."""
    use = read_json(home.model_use_path, ModelUse) or ModelUse()
    day = format_day(now_us)
    return use if use.day == day else msgspec.structs.replace(use, day=day, today=UseAmounts())


@contextmanager
def _changing(home: Home, now_us: int, more: UseAmounts) -> Iterator[ModelUse]:
    """Give the use of models, alone, and write the use with some `more` after the block."""
    with home.lock("model-use").held(LOCK_WAIT_S):
        use = model_use(home, now_us)
        yield use
        today, total = use.today.and_also(more), use.total.and_also(more)
        made = msgspec.structs.replace(use, today=today, total=total)
        write_whole(home.model_use_path, msgspec.json.encode(made))
