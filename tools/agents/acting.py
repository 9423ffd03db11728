"""Capture of a tool call by a hook, for hosts whose transcripts are not read: an action, as imports make it.

`importing.actions` decides which calls are actions and what is kept of them. Only such hooks import this
module.
"""

from __future__ import annotations

from memtape.sinks.home.counts import LEFT_OUT, count_one
from memtape.tools.agents.turn import SOURCES, HookCall
from memtape.tools.capture.injected import clean
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.importing.actions import Call, actions_of, call_of
from memtape.tools.importing.batches import Waiting, line_of
from memtape.tools.importing.records import Record


def act(turn: HookCall) -> bytes:
    """Capture a tool call that edited a file or ran a command."""
    if native_of(turn):
        with turn.client() as client:
            keep(turn, client)
    return b""


def native_of(turn: HookCall) -> str:
    """Return the native id of a tool call, empty for calls that are no action or have no lasting name."""
    done = turn.told.done
    if done is None or not turn.told.session or _call(turn).act is None:
        return ""
    return clean(f"act:{turn.told.session}:{done.name}")


def keep(turn: HookCall, client: Client) -> None:
    """Append a tool call; during a pause count it as left out."""
    done = turn.told.done
    assert done is not None
    about = {"source": SOURCES[turn.told.host], "session": client.session, "cwd": str(turn.folder)}
    found = actions_of(_call(turn), done.output, native_of(turn), about, failed=done.failed, exit=done.exit)
    records = [each for each in found if isinstance(each, Record)]
    if records and client.silence():
        count_one(turn.home, LEFT_OUT, "paused")
    elif records:
        scope, now = client.made_scope(), now_us()
        client.capture_many(
            line_of(scope, Waiting(record, turn.folder, "", now), client.redactor) for record in records
        )
    turn.captured = True


def _call(turn: HookCall) -> Call:
    assert turn.told.done is not None
    return call_of(turn.told.done.tool, turn.told.done.given)
