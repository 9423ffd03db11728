"""The captures recently shown to each session; a new capture that only repeats one of them is an echo.

A search's or prompt's results count for a time. The context of a start counts as long as the session lasts,
and takes no place of a search.
"""

from __future__ import annotations

from itertools import chain
from typing import TypeVar

import msgspec

from memtape.schemas.events import Event, Recalled
from memtape.schemas.lanes import unasked_by
from memtape.schemas.rows import Change, Context
from memtape.schemas.settings import Settings
from memtape.schemas.times import US_PER_S
from memtape.state.subjects.captures import Capture, HasCaptures

ECHOING = ("agent", "tool", "model")
"""Origins whose repetitions may be echoes; a user's or an operator's repetition is a confirmation."""
SESSIONS = 256
"""Sessions of which a subject stores something; beyond, the one silent for longest is dropped."""
STARTS_KEPT = 3
"""Starts stored for a session: a resumed session gets only what its earlier starts have not shown."""

T = TypeVar("T")


def put_latest(of_session: dict[str, T], session: str, value: T) -> None:
    """Set a session's value and make it the latest; drop the session silent for longest."""
    of_session.pop(session, None)
    of_session[session] = value
    if len(of_session) > SESSIONS:
        del of_session[next(iter(of_session))]


class Recall(msgspec.Struct, frozen=True):
    """When something was recalled, and the seqs of the scope's own captures that were returned."""

    at: int
    seqs: tuple[int, ...]


class Recalls(msgspec.Struct, array_like=True):
    """The latest recalls and starts of each session, oldest first, of the `SESSIONS` that had one last."""

    latest: dict[str, tuple[Recall, ...]] = {}
    starts: dict[str, tuple[Recall, ...]] = {}


def evolve(state: Recalls, event: Event, context: Context[HasCaptures]) -> list[Change]:
    """Take in a `recalled` event. No row of a view depends on it."""
    body, keep = event.body, context.settings.echo_recalls
    if not isinstance(body, Recalled) or event.session is None or not keep:
        return []
    found = (context.of.captures.seq_of(id) for id in body.results)
    recall = Recall(context.at, tuple(seq for seq in found if seq is not None))
    is_start = unasked_by(body.lanes) == "start"
    known, most = (state.starts, STARTS_KEPT) if is_start else (state.latest, keep)
    put_latest(known, event.session, (*known.get(event.session, ()), recall)[-most:])
    return []


def shown(state: Recalls, capture: Capture, settings: Settings) -> tuple[int, ...]:
    """Return the seqs shown to the session of `capture` at its start or shortly before the capture.

    Empty if its origin never echoes.
    """
    if capture.session is None or capture.actor.origin not in ECHOING:
        return ()
    window_us = settings.echo_window_s * US_PER_S
    starts = (start for start in state.starts.get(capture.session, ()) if start.at <= capture.at)
    latest = state.latest.get(capture.session, ())
    recent = (recall for recall in latest if 0 <= capture.at - recall.at <= window_us)
    return tuple(dict.fromkeys(seq for recall in chain(starts, recent) for seq in recall.seqs))
