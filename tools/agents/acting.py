"""Capture of a tool call by a hook, for hosts whose transcripts are not read: an action, as imports make it.

`importing.actions` decides which calls are actions and what is kept of them. Only such hooks import this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtape.sinks.home.counts import LEFT_OUT, count_one
from memtape.tools.capture.injected import clean
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client

if TYPE_CHECKING:
    from memtape.tools.agents.turn import HookCall
    from memtape.tools.importing.actions import Call


def act(turn: HookCall) -> bytes:
    """Capture a tool call that edited a file or ran a command."""
    if action_id(turn):
        with turn.client() as client:
            keep_action(turn, client)
    return b""


def action_id(turn: HookCall) -> str:
    """Return the native id of a tool call, empty for calls that are no action or have no lasting name."""
    done = turn.told.done
    if done is None or not turn.told.session or _call(turn).act is None:
        return ""
    return clean(f"act:{turn.told.session}:{done.name}")


def keep_action(turn: HookCall, client: Client) -> None:
    """Append a tool call; during a pause count it as left out."""
    from memtape.tools.importing.actions import actions_of
    from memtape.tools.importing.batches import Waiting, line_of
    from memtape.tools.importing.records import Record

    done = turn.told.done
    assert done is not None
    about = {"source": turn.source, "session": client.session, "cwd": str(turn.folder)}
    found = actions_of(_call(turn), done.output, action_id(turn), about, failed=done.failed, exit=done.exit)
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
    from memtape.tools.importing.actions import call_of

    assert turn.told.done is not None
    return call_of(turn.told.done.tool, turn.told.done.given)
