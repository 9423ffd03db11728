"""Late work of hooks in a detached process: done after earlier late work, by a server if one is up.

On a loaded machine many hooks are late at once, and each leaves a process. The turn waits in the process's
memory, since nothing may be written before its secrets are removed. Waiting processes therefore import hardly
anything, and one works at a time. Work of seconds, as the end of a session, does not delay captures of turns.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from memtape.schemas.errors import Locked
from memtape.sinks.home.folders import Home, default_home
from memtape.tools.agents.handing import Handed, hand_over
from memtape.tools.agents.hook_hosts import SERVED, Action, read

WAIT_S = 60.0
"""The longest wait: one slow process must not keep all the rest from capturing."""
TURNS: tuple[Action, ...] = ("prompt", "answer", "act", "retell")


def serve_late(host: str, home: str | None, data: bytes) -> None:
    """Do the deferred work of a hook. Raises only if killed."""
    place = Path(home) if home else default_home()
    action = _action(host, data)
    lock = Home(place, make=False).late_lock("turn" if action in TURNS else "session")
    with suppress(Locked, OSError):  # The home may be gone, which is noted below.
        lock.acquire(WAIT_S)
    # A server waits for no transcript in which an answer is written late, as Copilot CLI does.
    handed = hand_over(host, str(place), data, alone=True) if action in SERVED and host != "copilot" else Handed()
    if not handed.done:
        from memtape.tools.agents import hooks

        hooks.run(host, Path(home) if home else None, data, alone=True, handed=handed)


def _action(host: str, data: bytes) -> Action | None:
    with suppress(ValueError):
        told = read(host, data)
        return told.action if told is not None else None
    return None
