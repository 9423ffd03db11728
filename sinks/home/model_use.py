"""`model-use.json` of a home: calls of models, today and in all, and the outcomes for windows of talk.

A call's share of the day's budget is stored before the call, so that no crash makes a call free.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import msgspec

from memtape.schemas.errors import BudgetSpent, Locked
from memtape.schemas.model import ModelOptions
from memtape.schemas.times import format_day
from memtape.sinks.home.folders import Home, read_json, write_whole

Outcome = Literal["kept", "nothing", "gated", "timeout", "refused", "error"]
"""How it went with a window of talk: facts were kept, none were found, the gatekeeper said that there are
none, the model was late, its answer could not be used, or it could not be asked."""

LOCK_WAIT_S = 5.0


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
