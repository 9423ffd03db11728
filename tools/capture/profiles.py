"""How a run is to be remembered (C5), and whether anything is stored now, by the pauses.

A profile belongs to the process that names it. It is chosen by `--profile` or a client's argument, by the
environment, or by the settings of the home, in this order. The writer asks it once for each capture
(`writing.py`), and no command does so by itself.

A pause is a period without capture, of every project or one. `pauses.json` of the home has them, and no log
and no other machine. An ended pause stays there, so that a host's actions meanwhile are not captured from its
transcript later. With a damaged file nothing is stored. Every code that appends a text for a caller asks
`check_storing` first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from memtape.schemas.errors import Denied, MemtapeError, Paused
from memtape.schemas.events import DEV_TAG, Kind, Origin
from memtape.schemas.times import format_time
from memtape.schemas.variables import AGENT_VARIABLES, NO_PERSIST, ORIGIN_VARIABLE, PROD, PROFILE_VARIABLE
from memtape.sinks.home.files import write_whole
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings

PAUSES_NAME = "pauses.json"
LOCK_WAIT_S = 5.0
LONG_TERM: tuple[Kind, ...] = ("fact", "insight", "journal", "goal", "plan")
"""The kinds that are long-term memory."""


class Profile(NamedTuple):
    """A profile's treatment of captures; `told` is a sentence about it, empty for the usual treatment.

    `tag` is added to every capture. A capture of a long-term kind with an importance needs at least `least`,
    in hundredths. Without `keeps`, nothing outlives the process.
    """

    name: str
    told: str = ""
    tag: str | None = None
    least: int = 0
    keeps: bool = True

    def check(self, kind: Kind, importance: int | None, tags: tuple[str, ...]) -> tuple[str, ...]:
        """Return the tags of a capture with that of the profile, each once.

        Raises `Denied` for a capture with an importance, in hundredths, below the profile's least.
        """
        if importance is not None and importance < self.least and kind in LONG_TERM:
            raise Denied(
                "unimportant",
                f"Profile {self.name} takes a {kind} of importance {self.least / 100:g} or more,"
                f" and this one has {importance / 100:g}: nothing was stored.",
                "$.body.importance_given",
                "Give it more importance or none, or name another profile.",
            )
        return tags if self.tag is None or self.tag in tags else (*tags, self.tag)


_TAGGED = f"what is captured is tagged {DEV_TAG}, and `memtape admin prune` forgets it later."
_KEPT_NOWHERE = "nothing is kept, and no memory is read; captures end with this process."
_PROFILES = (
    Profile(PROD),
    Profile("dev_standard", f"Profile dev_standard: {_TAGGED}", DEV_TAG, least=60),
    Profile("dev_memory_test", f"Profile dev_memory_test: {_TAGGED}", DEV_TAG),
    Profile(NO_PERSIST, f"Profile {NO_PERSIST}: {_KEPT_NOWHERE}", keeps=False),
)
PROFILES = {profile.name: profile for profile in _PROFILES}


def profile_of(home: Path, named: str | None = None) -> Profile:
    """Return the profile in effect for a home in this process; `named` goes first.

    Raises `MemtapeError` for an unknown name and for unreadable settings.
    """
    if named is not None:
        name, by = named, "The argument"
    elif variable := os.environ.get(PROFILE_VARIABLE):
        name, by = variable, f"--profile or {PROFILE_VARIABLE}"
    else:
        settings = Home(home, make=False)
        name, by = local_settings(settings).profile, str(settings.settings_path)
    if name not in PROFILES:
        profiles = f"The profiles are {', '.join(PROFILES)}."
        raise MemtapeError(f"{by} names no profile: {name[:60]!r}.", profiles)
    return PROFILES[name]


def origin_of(home: Path) -> Origin:
    """Return who speaks by a command without a terminal, as the environment or the settings of a home say.

    What an agent runs is the agent's, whatever they say: it inherits them. Raises `MemtapeError` for another
    word in the environment, and for unreadable settings.
    """
    if any(map(os.environ.get, AGENT_VARIABLES)):
        return "agent"
    said = os.environ.get(ORIGIN_VARIABLE)
    if not said:
        return local_settings(Home(home, make=False)).origin
    if said not in ("user", "agent"):
        raise MemtapeError(f"{ORIGIN_VARIABLE} names nobody: {said[:60]!r}.", "Set it to user or agent.")
    return "user" if said == "user" else "agent"


def keeps_nothing(home: Path) -> bool:
    """Whether this process must leave nothing in a home. Returns False for an unreadable profile, an error
    raised elsewhere.
    """
    try:
        return not profile_of(home).keeps
    except MemtapeError:
        return False


def check_kept(home: Home, doing: str) -> None:
    """Raise `MemtapeError` under a profile that keeps nothing, for actions with lasting effects."""
    if home.is_nowhere:
        told = f"{doing} keeps files, and profile {NO_PERSIST} keeps none."
        raise MemtapeError(told, "Name another profile.")


def opened_home(home: Path) -> Home:
    """Return a home, created if missing; for a profile that keeps nothing a home without a folder."""
    return Home.nowhere() if keeps_nothing(home) else Home(home)


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

    @property
    def told(self) -> str:
        """A sentence about the pause."""
        of = "" if self.scope is None else f" for {self.scope}"
        until = "" if self.until is None else f" until {format_time(self.until)}"
        return f"Memory is paused{of}{until}: nothing is stored."

    @property
    def then(self) -> str:
        """A sentence about the way to end the pause."""
        option = "" if self.scope is None else f" --scope {self.scope}"
        return f"`memtape agents resume{option}` ends the pause."

    def __str__(self) -> str:
        return f"{self.told} {self.then}"


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


def pauses_of(home: Path) -> Pauses:
    """Return the pauses of a home. Raises `MemtapeError` for a file that cannot be read."""
    try:
        data = (home / PAUSES_NAME).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Pauses()
    try:
        return msgspec.json.decode(data, type=Pauses)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise MemtapeError(
            f"{home / PAUSES_NAME} is damaged, and nothing is stored, since nobody can tell what is paused.",
            "Delete it; what a host did during a pause may then be imported.",
        ) from None


def pause(home: Path, scope: str | None, now_us: int, until: int | None) -> None:
    """Pause every project or one, from now on; instead of a pause of the same that lasts."""
    _change(home, scope, now_us, Pause(scope, now_us, until))


def resume(home: Path, scope: str | None, now_us: int) -> bool:
    """End the pause of every project or of one, and return whether one lasted."""
    return _change(home, scope, now_us)


def _change(home: Path, scope: str | None, now_us: int, *new: Pause) -> bool:
    """End the pauses of a scope, add new ones, and return whether anything changed."""
    with Home(home, make=False).lock("pauses").held(LOCK_WAIT_S):
        kept = pauses_of(home)
        pauses = list(kept.pauses)
        for place, it in enumerate(pauses):
            if it.scope == scope and it.lasts(now_us):
                pauses[place] = msgspec.structs.replace(it, until=max(it.since, now_us))
        changed = Pauses((*pauses, *new))
        if changed != kept:
            write_whole(home / PAUSES_NAME, msgspec.json.encode(changed), durable=True)
        return changed != kept


def silence_of(home: Path, scope: Callable[[], str] | None) -> Pause | None:
    """Return the pause in force for a scope, None for none; without a scope, for the whole home.

    The scope is asked for only where a project is paused. Raises `MemtapeError` for a damaged file.
    """
    lasting = pauses_of(home).lasting(time.time_ns() // 1_000)
    name = scope() if scope is not None and lasting and lasting[0].scope is not None else ""
    return next((it for it in lasting if it.concerns(name)), None)


def check_storing(home: Path, scope: Callable[[], str] | None) -> None:
    """Raise `Paused` where nothing is stored in a scope; without a scope, in the whole home."""
    if (pause := silence_of(home, scope)) is not None:
        raise Paused(pause.told, pause.then)
