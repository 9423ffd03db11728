"""The captures recently shown to each session; a new capture that only repeats one of them is an echo.

A search's or prompt's results count for a time. The context of a start counts as long as the session lasts,
and takes no place of a search.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

from memtape.schemas.events import Event, Recalled
from memtape.schemas.lanes import unasked_by
from memtape.schemas.rows import Change
from memtape.schemas.settings import Settings
from memtape.schemas.times import US_PER_S
from memtape.state.core.context import Context
from memtape.state.subjects.captures import Capture, HasCaptures
from memtape.state.subjects.sessions import put_latest

ECHOING = ("agent", "tool", "model")
"""Origins whose repetitions may be echoes; a user's or an operator's repetition is a confirmation."""


STARTS_KEPT = 3
"""Starts stored for a session: a resumed session gets only what its earlier starts have not shown."""


class Recall(msgspec.Struct, frozen=True):
    """When something was recalled, and the seqs of the scope's own captures that were returned."""

    at: int
    seqs: tuple[int, ...]


class Recalls:
    """The latest recalls and starts of each session, oldest first, of the `SESSIONS` that had one last."""

    def __init__(self) -> None:
        self.latest: dict[str, tuple[Recall, ...]] = {}
        self.starts: dict[str, tuple[Recall, ...]] = {}


def evolve(state: Recalls, event: Event, context: Context[HasCaptures]) -> list[Change]:
    """Take in a `recalled` event. No row of a view depends on it."""
    body, keep = event.body, context.settings.echo_recalls
    if not isinstance(body, Recalled) or event.session is None or not keep:
        return []
    found = (context.of.captures.seq_of(id) for id in body.results)
    recall = Recall(context.at, tuple(seq for seq in found if seq is not None))
    if unasked_by(body.lanes) == "start":
        put_latest(state.starts, event.session, (*state.starts.get(event.session, ()), recall)[-STARTS_KEPT:])
    else:
        put_latest(state.latest, event.session, (*state.latest.get(event.session, ()), recall)[-keep:])
    return []


def shown(state: Recalls, capture: Capture, settings: Settings) -> tuple[int, ...]:
    """Return the seqs shown to the session of `capture` at its start or shortly before the capture.

    Empty if its origin never echoes.
    """
    if capture.session is None or capture.actor.origin not in ECHOING:
        return ()
    window_us = settings.echo_window_s * US_PER_S
    starts = (start for start in state.starts.get(capture.session, ()) if start.at <= capture.at)
    recent = (recall for recall in state.latest.get(capture.session, ()) if 0 <= capture.at - recall.at <= window_us)
    return tuple(dict.fromkeys(seq for recall in chain(starts, recent) for seq in recall.seqs))


def snapshot(state: Recalls) -> bytes:
    """Return the bytes from which `restore` makes an equal state."""
    return msgspec.msgpack.encode((state.latest, state.starts))


def restore(data: bytes, of: object) -> Recalls:
    """Return the state of a snapshot."""
    state = Recalls()
    shown = dict[str, tuple[Recall, ...]]
    state.latest, state.starts = msgspec.msgpack.decode(data, type=tuple[shown, shown])
    return state


def digest(state: Recalls, of: HasCaptures) -> Iterator[Any]:
    """Yield the content of the state hash: the seqs shown to each session, and their times."""
    for kind, shown in (("recalls", state.latest), ("starts", state.starts)):
        for session, recalls in sorted(shown.items()):
            told = [(recall.at, [of.captures.by_seq[seq].id for seq in recall.seqs]) for recall in recalls]
            yield kind, session, told
