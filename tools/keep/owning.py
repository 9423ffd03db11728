"""Owning a home: alone, or as a member of a team; and the turn of a process that waits for its owner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memtape.flows.workers.worker import OnNote
from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.rebuild import Rebuilt
from memtape.tools.keep.workers import WORKERS

TURN_WAIT_S = 3_600.0
"""A process waits at most so long for its turn, and for an owner that ends by itself."""


def owner_of(home: Home, *given: Any, **more: Any) -> Owner:
    """Return the owner of a home, a member of a team where its views are shared; arguments as of `Owner`."""
    if home.shared is None:
        return Owner(home, *given, **more)
    from memtape.tools.keep.member import Member  # A home of its own has no use for it.

    return Member(home, *given, **more)


@contextmanager
def owned(home: Home, log: Log, on_note: OnNote) -> Iterator[Owner]:
    """Own a home in a block; a living projector gives way meanwhile."""
    with home.lock("turn").held(TURN_WAIT_S):
        pid = home.lock("projector").holder()
        if pid is not None:
            on_note(f"The projector with pid {pid} gives way.")
        kinds = {name: kind for name, kind in WORKERS.items() if kind.once == "first"}
        with owner_of(home, log, on_note, lock_wait_s=TURN_WAIT_S, kinds=kinds) as owner:
            yield owner


def rebuild_as_owner(home: Home, log: Log, on_note: OnNote) -> Rebuilt:
    """Rebuild as the owner of the home."""
    with owned(home, log, on_note) as owner:
        return owner.rebuild()


def scrub_as_owner(home: Home, log: Log, on_note: OnNote) -> None:
    """Scrub as the owner of the home. Raises the errors of `scrub`."""
    with owned(home, log, on_note) as owner:
        owner.mend()  # An erasure that was cut short may have left more than its own.
        owner.scrub()
