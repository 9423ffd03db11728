"""The work of a hook: capture the turn, hand out memories, and never disturb the agent.

The agent always goes on: an error becomes a line in `memtape agents doctor`, and long work is left to a detached
process. The forms of hosts are in `hosts`. This file is loaded at every prompt that no server takes: import here only
the needs of a capture.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from memtape import STARTED_NS
from memtape.schemas.errors import MemtapeError, NotAdopted
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Position
from memtape.schemas.variables import HOOKS_OFF, HOOKS_VARIABLE
from memtape.sinks.home.counts import LEFT_OUT, LESSENED, count_one, note
from memtape.sinks.home.folders import Home, default_home
from memtape.sinks.home.pauses import leave_out, stores_nothing
from memtape.tools.agents.errors import note_error
from memtape.tools.agents.handing import LARGE_BYTES, MAX_INPUT_BYTES, Announced
from memtape.tools.agents.hosts import HookInput, begins_at_prompt, placed, read
from memtape.tools.agents.sessions import forget_told, note_told, tell_session, told_at
from memtape.tools.agents.turn import NICENESS, START_WAIT_S, HookCall, in_form
from memtape.tools.capture.injected import said
from memtape.tools.capture.lines import Line
from memtape.tools.capture.native_ids import HEARD, OPENCODE, Role, claude_prompt, heard, of_hook, opencode_message
from memtape.tools.capture.noise import lessened, noise_in
from memtape.tools.capture.profiles import keeps_nothing, profile_of
from memtape.tools.capture.writing import default_actor, now_us
from memtape.tools.client import Client

WAIT_S = 1.5
"""A capture that has not happened by then, as where many write at once, is left to a process of its own."""
MOST_UNREAD = 2_000
"""Each process that searches takes the events behind the views apart anew: so many cost some tenths of a second."""


def run(host: str, home: Path | None, data: bytes, *, alone: bool = False, announced: Announced | None = None) -> bytes:
    """Run a host's hook and return its answer. Never raises.

    Does nothing under `MEMTAPE_HOOKS=off`, as where an agent is used as a model. `alone` marks the detached process for
    slow work, for which no host waits. `announced` is what a server has said of its work, if it has taken the hook.
    """
    if os.environ.get(HOOKS_VARIABLE) == HOOKS_OFF:
        return b""
    where = home or default_home()
    if keeps_nothing(where):
        return _unkept(host, where, data)
    if _is_gone(home, f"hook {host}"):
        return b""
    try:
        profile_of(where)  # Nothing is done under a name that is none.
        if len(data) > MAX_INPUT_BYTES:
            raise MemtapeError(f"A hook was told more than {MAX_INPUT_BYTES:,} bytes.")
        told = read(host, data)
    except Exception as error:
        note_error(where, f"hook {host}: what it was told", error)
        return b""
    return b"" if told is None else _run(HookCall(told, where, data, alone, announced), data)


def _run(turn: HookCall, data: bytes) -> bytes:
    """Do the work of a hook within the time that its host waits."""
    told = turn.told
    may_begin = told.action == "start" or (told.action == "prompt" and begins_at_prompt(told.host))
    then = (lambda: leave_server(told.host, turn.home, data),)
    late = threading.Timer(START_WAIT_S if may_begin else WAIT_S, turn.give_up, then)
    late.daemon = True
    try:
        if stores_nothing():  # Imports skip the session's transcript too.
            leave_out(turn.home, told.session)
        if len(data) > LARGE_BYTES and not turn.alone and told.action != "start":
            turn.go_on()  # At once, since nothing interrupts the reading of a long text.
            return b""
        if not turn.alone:
            late.start()
        return _ended(turn) if turn.announced is not None else _work_of(told.action)(turn)
    except NotAdopted as error:
        asked = f"{error} Nothing is shown or stored here until the user decides. {error.hint}"
        return in_form(turn, asked) * may_begin
    except Exception as error:
        turn.note_error(error)
        return b""
    finally:
        late.cancel()
        turn.end()


def note_time(home: Path | None, began_ns: int = STARTED_NS) -> None:
    """Record how long a host has waited for a hook, by the clock that processes share, unless nothing is kept."""
    where = home or default_home()
    if not stores_nothing() and where.is_dir() and not keeps_nothing(where):
        note(where, [("hook", "hook", "", (time.monotonic_ns() - began_ns) // 1_000)])


def _unkept(host: str, home: Path, data: bytes) -> bytes:
    """Return the answer of a hook where nothing is kept: at a start a sentence about the profile, else nothing."""
    try:
        told = read(host, data) if len(data) <= MAX_INPUT_BYTES else None
        if told is not None and told.action == "start":
            return in_form(HookCall(told, home, data, alone=False), profile_of(home).told)
    except Exception:  # What a host tells wrongly is its own affair where there is no place to note it.
        return b""
    return b""


def leave_server(host: str, home: Path | None, data: bytes) -> None:
    """Start a server for the next hooks where this hook found none. Never raises."""
    from memtape.tools.agents.forwarding import may_stay, start_server

    where = home or default_home()
    try:
        told = read(host, data)
    except ValueError:  # `run` has noted that.
        return
    try:
        if told is None or told.action not in ("start", "prompt", "answer") or not where.is_dir():
            return
        if may_stay(where) and Home(where, make=False).lock("hook-server").holder() is None:
            folder = HookCall(told, where, data, alone=False).folder
            start_server(where.absolute(), host, data=placed(data, folder))
    except Exception as error:
        note_error(where, f"hook {host}: the server of hooks", error)


def distill(home: Path | None, place: str) -> None:
    """Distil the flush at `partition:offset` of the log, in the process that was started for it. Never raises."""
    from memtape.tools.agents import afterwards

    where = home or default_home()
    if keeps_nothing(where) or _is_gone(home, "distillation of a flush"):
        return
    try:
        os.nice(NICENESS)
        partition, _, offset = place.partition(":")
        afterwards.distill(where, Position(int(partition), int(offset)))
    except Exception as error:
        note_error(where, "distillation of a flush", error)


def _is_gone(home: Path | None, where: str) -> bool:
    """Whether the home of a hook was deleted. A hook never creates a home again."""
    if home is None or home.is_dir():
        return False
    error = MemtapeError("The home of this hook is gone, so that nothing is captured or recalled.")
    note_error(home, where, error)
    return True


def _start(turn: HookCall) -> bytes:
    with turn.client() as client:
        if turn.alone:
            from memtape.tools.agents.afterwards import look_at_repository

            os.nice(NICENESS)
            look_at_repository(turn, client)
            client.catch_up()
            return b""
        return _begun(turn, client)


def _begun(turn: HookCall, client: Client) -> bytes:
    """Return the context of a start, and record the session as told."""
    from memtape.tools.agents.offering import offer_start

    tell_session(turn.home, client.scope, client.session or "")
    began = now_us()
    # What is pending is read from the log; another process projects it, since nobody knows how long that takes.
    offer = offer_start(client, told_before(turn, client))
    note_told(turn.home, client.scope, client.session or "", began)
    try:
        offer.record(client)
    except MemtapeError as error:  # A start that nobody can note is told all the same.
        turn.note_error(error)
    if offer.lag and turn.told.action == "start":
        turn.go_on()
    return in_form(turn, offer.text, offer.note)


def begins(turn: HookCall, client: Client, text: str) -> bool:
    """Whether a hook is given the context of a start: a start, or a prompt of a session that was told none."""
    if turn.told.action != "prompt" or not text or not begins_at_prompt(turn.told.host):
        return turn.told.action == "start"
    return told_at(turn.home, client.scope, client.session or "") is None


def told_before(turn: HookCall, client: Client) -> int | None:
    """Return the time of a resumed session's last start, in microseconds; None where the session is told all."""
    return told_at(turn.home, client.scope, client.session or "") if turn.told.resumed else None


def searched_in(client: Client, prompt: str) -> str:
    """Return the part of a prompt that searches read, without secrets."""
    from memtape.tools.agents.offering import PROMPT_CHARS

    return client.redactor.head(prompt, PROMPT_CHARS) if prompt else ""


def _retell(turn: HookCall) -> bytes:
    """Have the next prompt given the context of a start again, since a compaction takes that away."""
    with turn.client() as client:
        forget_told(turn.home, client.scope, client.session or "")
    return b""


def _prompt(turn: HookCall) -> bytes:
    text = said(turn.told.prompt)
    if not text:
        return b""
    with turn.client() as client:
        client.made_scope()  # The prompt is captured in any case, and git is asked for its scope once.
        is_first = not turn.alone and begins(turn, client, text)
        context = _begun(turn, client) if is_first else b""
        capture(turn, client, text)
        if turn.alone or is_first:
            return context
        tell_session(turn.home, client.scope, client.session or "")
        return _recalled(turn, client, searched_in(client, text))


def _recalled(turn: HookCall, client: Client, prompt: str) -> bytes:
    """Return the sure memories for a prompt, found by words in the current views; none where these are far behind.

    Vectors are left to a server, since no prompt can wait for an embedder.
    """
    from memtape.tools.agents.offering import offer_memories

    if client.reader.unread() > MOST_UNREAD:
        return b""
    client.reader.retriever.dense = None
    offer = offer_memories(client, prompt)
    offer.record(client)
    return in_form(turn, offer.text, offer.note)


def _ended(turn: HookCall) -> bytes:
    """Finish a capture that a server announced and perhaps did, under the announced id."""
    assert turn.announced is not None
    if turn.announced.native and turn.told.done is not None:
        _work_of("act")(turn)
    elif turn.announced.native:
        text = said(turn.told.prompt if turn.told.action == "prompt" else turn.told.answer)
        with turn.client() as client:
            capture(turn, client, text, turn.announced.native)
    return turn.announced.told


def _answer(turn: HookCall) -> bytes:
    text = said(turn.told.answer)
    if text:
        with turn.client() as client:
            capture(turn, client, text)
    elif turn.told.host == "copilot" and not (turn.alone or turn.told.agent):
        turn.go_on()
    return b""


_WORK: dict[str, Callable[[HookCall], bytes]] = {
    "start": _start, "prompt": _prompt, "answer": _answer, "retell": _retell
}  # fmt: skip


def _work_of(action: str) -> Callable[[HookCall], bytes]:
    """Return the work of an action: of this module, else the function of its name in `afterwards`."""
    if action in _WORK:
        return _WORK[action]
    from memtape.tools.agents import afterwards

    work: Callable[[HookCall], bytes] = getattr(afterwards, action)
    return work


def capture(turn: HookCall, client: Client, text: str, native: str | None = None) -> None:
    """Append a turn under the id that an import of its transcript derives, or finds.

    Nothing is stored in a pause, and no noise or wholly private text; these are counted.
    """
    user = turn.told.action == "prompt"
    if reason := "paused" if client.silence() else noise_in(text, "user" if user else "agent"):
        count_one(turn.home, LEFT_OUT, reason)
        turn.captured = True
        return
    line = Line(
        text=text,
        kind="turn",
        actor=default_actor() if user else f"{turn.source} {turn.told.agent}".strip(),
        origin="user" if user else "agent",
        source=turn.source,
        native_id=native or native_of(turn, client, text),
        split=True,
    )
    if client.capture_many([line]).refused:
        count_one(turn.home, LEFT_OUT, "private as a whole")
    elif sort := lessened(text):
        count_one(turn.home, LESSENED, sort)
    turn.captured = True


def native_of(turn: HookCall, client: Client, text: str) -> str | None:
    """Return the native id of a turn: the host's id, else the id of its row in the transcript."""
    told = turn.told
    role: Role = "user" if told.action == "prompt" else "assistant"
    if named := _named_by_host(told, turn.source, role):
        return named
    if not told.session:
        return None
    heard_as = heard(told.session, role, text)
    if not told.transcript or told.host in HEARD:
        return heard_as
    from memtape.tools.importing.transcripts import find_turn

    found = find_turn(Path(told.transcript), turn.source, told.session, role, text)
    now, before = (record.native_id if record is not None else None for record in found)
    if now is None and before is None:
        return heard_as
    scope = client.made_scope()
    names = [name for name in (heard_as, now, before) if name is not None]
    ids = {derived_id("captured", scope, turn.source, name): name for name in names}
    known = {ids[id] for id in client.known(scope, list(ids))}
    return of_hook(heard_as, now, before, known, turn.alone)


def _named_by_host(told: HookInput, source: str, role: Role) -> str | None:
    """Return the native id of a turn that its host has named, None for any other."""
    if not told.prompt_id:
        return None
    if source == OPENCODE:
        return opencode_message(told.prompt_id)
    return claude_prompt(told.prompt_id) if told.host == "claude" and role == "user" else None
