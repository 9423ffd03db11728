"""A server's work for a hook handed over to it (`handing`): the hook's own work, done faster.

The server takes a hook only in an equivalent environment, and announces the capture before it.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from memtape import __version__
from memtape.schemas.variables import HOOKS_OFF, HOOKS_VARIABLE
from memtape.sinks.home.counts import note
from memtape.tools.agents import acting, hooks
from memtape.tools.agents.handing import DONE, GO, NOT_MINE, SHOWN, environment
from memtape.tools.agents.hook_hosts import SERVED, read
from memtape.tools.agents.starts import note_told
from memtape.tools.agents.turn import HookCall, in_form
from memtape.tools.agents.warm import Asked, Offered, tell_session
from memtape.tools.capture.injected import said
from memtape.tools.capture.native_ids import HOSTS
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client

Exchange = Callable[[bytes], bytes]
"""Says a line to a hook and returns the line that it answers."""


def take(home: Path, given: dict[str, Any], offer: Callable[[Asked], Offered], exchange: Exchange) -> Asked | None:
    """Do the work of a hook and return its caller; None where the hook must do the work itself.

    Errors raised before the hook has heard of the capture are met and noted by the hook itself.
    """
    turn = _turn(home, given)
    if turn is None:
        exchange(NOT_MINE)
        return None
    action = turn.told.action
    text = said({"prompt": turn.told.prompt, "answer": turn.told.answer}.get(action, ""))
    with turn.client() as client:
        native = acting.native_of(turn)
        if text:
            client.made_scope()
            native = hooks.native_of(turn, client, text) or ""
            if not native:  # Where the server failed, the hook could not capture it under the same id.
                exchange(NOT_MINE)
                return None
        began = now_us()
        # Nobody waits for what is done alone, so that it is told nothing.
        tells_all = not turn.alone and (action == "start" or (bool(text) and hooks.begins(turn, client)))
        asked = hooks.asked_by(client, text if action == "prompt" else "")
        if tells_all:
            asked = hooks.asked_to_start(turn, client)
        offered = None
        if not turn.alone and (action == "start" or (action == "prompt" and text)):
            tell_session(home, client.scope, client.session or "", int(given["host"]))
            offered = offer(asked)
        if _finish(turn, client, text, native, offered, exchange) and tells_all:
            note_told(home, client.scope, client.session or "", began)
        if not turn.alone:
            note_time(home, given.get("began_ns"))
        return asked | about(turn)


def about(turn: HookCall) -> Asked:
    """Return the transcripts, host, folder and action of a turn, for the work after the answer."""
    told = turn.told
    transcript = told.transcript if told.host in HOSTS else ""
    of = {"transcript": transcript, "agent_transcript": told.agent_transcript}
    return of | {"host": told.host, "folder": str(turn.folder), "action": told.action}


def note_time(home: Path, began_ns: object) -> None:
    """Record how long a host has waited for a hook, from `began_ns`, by the clock that processes share."""
    if isinstance(began_ns, int):
        note(home, [("hook", "hook", "", (time.monotonic_ns() - began_ns) // 1_000)])


def _finish(
    turn: HookCall, client: Client, text: str, native: str, offered: Offered | None, exchange: Exchange
) -> bool:
    """Capture the turn once the hook agrees; return whether the host got the offer."""
    told = in_form(turn, offered.text, offered.note) if offered is not None else b""
    if exchange(orjson.dumps(native) + orjson.dumps(told.decode()) + b"\n") != GO:
        return False
    if native and turn.told.done is not None:
        acting.keep(turn, client)
    elif native:
        hooks.capture(turn, client, text, native)
    shown = exchange(DONE) == SHOWN
    if shown and offered is not None and offered.text:
        offered.shown()
    return shown


def _turn(home: Path, given: dict[str, Any]) -> HookCall | None:
    """Return the turn of a hook's input, None where the hook itself or another server must do the work."""
    if not is_as_here(given) or os.environ.get(HOOKS_VARIABLE) == HOOKS_OFF:
        return None
    data = given["told"].encode()
    told = read(given["hook"], data)
    if told is None or told.action not in SERVED:
        return None
    turn = HookCall(told, home, data, alone=given["alone"] is True, began_in=Path(given["folder"]))
    # An answer that stands nowhere yet is left to who can wait for it.
    return None if told.host == "copilot" and told.action == "answer" and not turn.told.answer else turn


def is_as_here(given: dict[str, Any], apart_from: str = "") -> bool:
    """Whether the caller has this version and an equivalent environment.

    The variable `apart_from` may differ.
    """
    theirs, own = dict(given["environment"]), environment()
    for each in (theirs, own):
        each.pop(apart_from, None)
    # Which places are searched for programs differs from terminal to terminal. Only one of the programs is called.
    gits = [shutil.which("git", path=each.pop("PATH", "")) for each in (theirs, own)]
    return given["version"] == __version__ and theirs == own and gits[0] == gits[1]
