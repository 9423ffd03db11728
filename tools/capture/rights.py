"""What the user of a topic may do at Memtape's doors: as whom to speak, and which scopes to read.

The broker knows the user by SASL, and decides who may read and write the topic at all. No record says who
sent it. So these doors hold an actor's name to the user, and every reader of the log holds a person's origin
to the name (`schemas.events.may_write`).
"""

from __future__ import annotations

import time
from contextlib import suppress

from memtape.schemas.errors import Denied, LogAway, MemtapeError
from memtape.schemas.events import PEOPLE, Actor, is_trusted
from memtape.schemas.log import Log, settings_on
from memtape.schemas.settings import Settings

LOOK_AGAIN_S = 1.0
"""Time (s) for which the settings of the log are not read again."""
ASK = "`memtape admin access` shows the lists; an operator changes them."


class Rights:
    """The rights of the user as whom a process opened a log; a log without users allows all.

    While the broker is away, the settings that were read last count.
    """

    def __init__(self, log: Log) -> None:
        self.user, self._log = log.user, log
        self._settings, self._seen = Settings(), -LOOK_AGAIN_S

    @property
    def is_operator(self) -> bool:
        """Whether the settings trust the user as an operator."""
        return self.user is not None and self._now().trusted_origins.get(self.user) == "operator"

    def check_operator(self) -> None:
        """Raise `Denied` for anyone but an operator, where the settings trust any user."""
        if self.user is not None and self._now().trusted_origins and not self.is_operator:
            told = f"Operators change what the whole topic shares, and {self.user} is none."
            raise Denied("untrusted", told, "$.actor.origin", ASK)

    def check_speaker(self, actor: Actor) -> None:
        """Raise `Denied` for a person of another name than the user's, or of an origin without trust.

        An operator may write for others, whom the settings trust.
        """
        if self.user is None or actor.origin not in PEOPLE:
            return
        if actor.name != self.user and not self.is_operator:
            told = f"The broker knows you as {self.user}, so that you do not speak as {actor.name}."
            raise Denied("untrusted", told, "$.actor.name", "Leave --actor out.")
        if not is_trusted(actor, self._now()):
            told = f"{actor.name} is not trusted as {actor.origin} on this topic."
            raise Denied("untrusted", told, "$.actor.origin", ASK)

    def check_reader(self, scope: str | None) -> None:
        """Raise `MemtapeError` for a scope that is not shown to the user; with None, if there is any."""
        if self.user is None or self.is_operator:
            return
        closed = [name for name, users in self._now().readers.items() if self.user not in users]
        if closed and scope in (None, *closed):
            raise MemtapeError(f"{scope or closed[0]} is not shown to {self.user}.", ASK)

    def _now(self) -> Settings:
        if time.monotonic() >= self._seen + LOOK_AGAIN_S:
            with suppress(LogAway):
                self._settings, self._seen = settings_on(self._log), time.monotonic()
        return self._settings
