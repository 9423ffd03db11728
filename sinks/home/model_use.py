"""`model-use.json` of a home: calls of models, today and in all, and the outcomes for windows of talk.

A call's share of the day's budget is stored before the call, so that no crash makes a call free.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import Literal

import msgspec

from memtape.schemas.errors import BudgetSpent, Locked
from memtape.schemas.model import ModelOptions
from memtape.schemas.times import format_day
from memtape.sinks.home.folders import Home, read_json, write_whole

Outcome = Literal["kept", "nothing", "gated", "timeout", "refused", "error"]
"""How it went with a window of talk: facts were kept, none were found, the gatekeeper said that there are none, the
model was late, its answer could not be used, or it could not be asked."""

LOCK_WAIT_S = 5.0


class UseAmounts(msgspec.Struct, frozen=True):
    """Amounts of use: calls, characters of questions and answers, and tokens reported by endpoints."""

    calls: int = 0
    characters: int = 0
    tokens: int = 0

    def and_also(self, calls: int, characters: int, tokens: int) -> UseAmounts:
        """Return the sum; nothing is below 0, as where a day begins between asking and giving back."""
        sums = self.calls + calls, self.characters + characters, self.tokens + tokens
        return UseAmounts(*(max(0, sum) for sum in sums))


class ModelUse(msgspec.Struct, frozen=True):
    """The use of models on the last day with any (`day` of UTC), and in all; `windows` by outcome."""

    day: str = ""
    today: UseAmounts = UseAmounts()
    total: UseAmounts = UseAmounts()
    windows: dict[str, int] = {}


def spend(home: Home, options: ModelOptions, characters: int, now_us: int) -> None:
    """Take one call with `characters` from today's budget; raise `BudgetSpent` if too little is left."""
    with _alone(home):
        use = model_use(home, now_us)
        if use.today.calls >= options.calls_per_day:
            raise _spent(f"{options.calls_per_day:,} calls", "model.calls_per_day")
        if use.today.characters + characters > options.characters_per_day:
            raise _spent(f"{options.characters_per_day:,} characters", "model.characters_per_day")
        _add(home, use, 1, characters, 0)


def note_use(home: Home, calls: int, characters: int, tokens: int, now_us: int) -> None:
    """Add the size of a model's answer, or less than nothing to give an unreachable model's call back. Never raises."""
    with suppress(OSError, Locked), _alone(home):
        _add(home, model_use(home, now_us), calls, characters, tokens)


def count_window(home: Home, outcome: Outcome, now_us: int) -> None:
    """Add 1 to the count of windows with this outcome. Never raises, so that no window is lost."""
    with suppress(OSError, Locked), _alone(home):
        use = model_use(home, now_us)
        counts = use.windows | {outcome: use.windows.get(outcome, 0) + 1}
        _write(home, msgspec.structs.replace(use, windows=counts))


def model_use(home: Home, now_us: int) -> ModelUse:
    """Return the use of models; today is the day of `now_us`."""
    use = read_json(home.model_use_path, ModelUse) or ModelUse()
    day = format_day(now_us)
    return use if use.day == day else msgspec.structs.replace(use, day=day, today=UseAmounts())


def _add(home: Home, use: ModelUse, calls: int, characters: int, tokens: int) -> None:
    today, total = (each.and_also(calls, characters, tokens) for each in (use.today, use.total))
    _write(home, msgspec.structs.replace(use, today=today, total=total))


def _write(home: Home, use: ModelUse) -> None:
    write_whole(home.model_use_path, msgspec.json.encode(use))


def _spent(what: str, key: str) -> BudgetSpent:
    return BudgetSpent(f"Models may be asked no more today: {what} are spent.", f"Raise {key} in settings.toml.")


def _alone(home: Home) -> AbstractContextManager[None]:
    return home.lock("model-use").held(LOCK_WAIT_S)
