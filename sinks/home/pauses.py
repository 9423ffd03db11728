"""`pauses.json` of a home: periods without capture, of every project or one.

Pauses are in the home alone: no log and no other machine has them. An ended pause stays here, so that a
host's actions meanwhile are not captured from its transcript later. With a damaged file nothing is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import Home, write_whole

PAUSES_NAME = "pauses.json"
LOCK_WAIT_S = 5.0


class Pause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A period without capture, in microseconds; `until` None has no end, `scope` None is all projects."""

    scope: str | None
    since: int
    until: int | None

    def concerns(self, scope: str) -> bool:
        """Return whether the pause applies to `scope`."""
        return self.scope is None or self.scope == scope

    def lasts(self, now_us: int) -> bool:
        """Return whether the pause is in force. A clock that was set back ends no pause."""
        return self.until is None or now_us < self.until


class Pauses(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All pauses of a home, oldest first."""

    pauses: tuple[Pause, ...] = ()

    def lasting(self, now_us: int) -> list[Pause]:
        """Return the pauses in force, the home's before those of projects."""
        return sorted((it for it in self.pauses if it.lasts(now_us)), key=lambda it: it.scope or "")

    def now(self, scope: str, now_us: int) -> Pause | None:
        """Return the pause in force for a scope, None for none."""
        return next((it for it in self.lasting(now_us) if it.concerns(scope)), None)

    def covers(self, scope: str, at_us: int) -> bool:
        """Return whether a scope was paused at a time."""
        return any(it.concerns(scope) and it.since <= at_us and it.lasts(at_us) for it in self.pauses)


NONE = Pauses()
Change = Callable[[Pauses], tuple[Pause, ...]]


def pauses_of(home: Path) -> Pauses:
    """Return the pauses of a home. Raises `MemtapeError` for a file that cannot be read."""
    try:
        data = (home / PAUSES_NAME).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return NONE
    try:
        return msgspec.json.decode(data, type=Pauses)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise MemtapeError(
            f"{home / PAUSES_NAME} is damaged, and nothing is stored, since nobody can tell what is paused.",
            "Delete it; what a host did during a pause may then be imported.",
        ) from None


def pause(home: Path, scope: str | None, now_us: int, until: int | None) -> None:
    """Pause every project or one, from now on; instead of a pause of the same that lasts."""
    _change(home, lambda kept: (*_ended(kept, scope, now_us), Pause(scope, now_us, until)))


def resume(home: Path, scope: str | None, now_us: int) -> bool:
    """End the pause of every project or of one, and return whether one lasted."""
    return _change(home, lambda kept: _ended(kept, scope, now_us))


def _ended(kept: Pauses, scope: str | None, now_us: int) -> tuple[Pause, ...]:
    def ended(it: Pause) -> Pause:
        lasts = it.scope == scope and it.lasts(now_us)
        return msgspec.structs.replace(it, until=max(it.since, now_us)) if lasts else it

    return tuple(map(ended, kept.pauses))


def _change(home: Path, change: Change) -> bool:
    """Write the changed pauses, and return whether any changed."""
    with Home(home, make=False).lock("pauses").held(LOCK_WAIT_S):
        kept = pauses_of(home)
        changed = Pauses(change(kept))
        if changed != kept:
            write_whole(home / PAUSES_NAME, msgspec.json.encode(changed), durable=True)
        return changed != kept
