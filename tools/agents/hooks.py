"""The work of a hook: capture the turn, hand out memories, and never disturb the agent.

The agent always goes on: an error becomes a line in `memtape agents doctor`, and long work is left to a
detached process. The forms of hosts are in `hosts`. This file is loaded at every prompt that no server takes:
import here only the needs of a capture.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from memtape import STARTED_NS
from memtape.schemas.errors import MemtapeError, NotAdopted
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Position
from memtape.schemas.variables import HOOKS_OFF, HOOKS_VARIABLE
from memtape.sinks.home.counts import LEFT_OUT, count_one, note
from memtape.sinks.home.folders import Home, default_home
from memtape.tools.agents.errors import note_error
from memtape.tools.agents.hosts import HOSTS, placed, read
from memtape.tools.agents.sessions import latest_of, start_of
from memtape.tools.agents.turn import NICENESS, START_WAIT_S, HookCall, HookOffer, in_form
from memtape.tools.capture import native_ids
from memtape.tools.capture.native_ids import CLAUDE_CODE, HEARD, OPENCODE, Role, heard, of_hook
from memtape.tools.capture.noise import noise_in
from memtape.tools.capture.profiles import keeps_nothing, profile_of
from memtape.tools.capture.writing import Line, now_us
from memtape.tools.client import Client
from memtape.tools.keep.wire import LARGE_BYTES, MAX_INPUT_BYTES, Announced

WAIT_S = 1.5
"""A capture that has not happened by then, as where many write at once, is left to a process of its own."""
Offers = Callable[[Client, str, int | None], HookOffer]
"""An offer for a prompt; for an empty one the context of a start, with the time (us) since which a resumed
session is told the news."""
MOST_UNREAD = 2_000
"""Each process that searches takes the events behind the views apart anew: so many cost some tenths of a
second."""


def run(
    host: str, home: Path | None, data: bytes, *, alone: bool = False, announced: Announced | None = None
) -> bytes:  # fmt: skip
    """Run a host's hook and return its answer. Never raises.

    Does nothing under `MEMTAPE_HOOKS=off`, as where an agent is used as a model. Where nothing is kept, a
    start gets the profile's sentence, and any other hook nothing. `alone` marks the detached
    process for slow work, for which no host waits. `announced` is what a server has said of its work, if it
    has taken the hook.
    """
    if os.environ.get(HOOKS_VARIABLE) == HOOKS_OFF:
        return b""
    where = home or default_home()
    if keeps_nothing(where):
        with suppress(Exception):  # There is no place to note an error.
            told = read(host, data) if len(data) <= MAX_INPUT_BYTES else None
            if told is not None and told.action == "start":
                return in_form(HookCall(told, where, data, alone=False), profile_of(where).told)
        return b""
    if home is not None and not home.is_dir():  # A hook never creates a home again.
        return b""
    try:
        profile_of(where)  # Nothing is done under a name that is none.
        if len(data) > MAX_INPUT_BYTES:
            raise MemtapeError(f"A hook was told more than {MAX_INPUT_BYTES:,} bytes.")
        told = read(host, data)
    except Exception as error:
        note_error(where, f"hook {host}: what it was told", error)
        return b""
    return b"" if told is None else _run(HookCall(told, where, data, alone), data, announced)


def _run(turn: HookCall, data: bytes, announced: Announced | None) -> bytes:
    told = turn.told
    at_prompt = HOSTS[told.host].begins_at_prompt
    may_begin = told.action == "start" or (told.action == "prompt" and at_prompt)
    wait_s = START_WAIT_S if may_begin else WAIT_S
    late = threading.Timer(wait_s, turn.give_up, (wait_s, lambda: leave_server(told.host, turn.home, data)))
    late.daemon = True
    try:
        if len(data) > LARGE_BYTES and not turn.alone and told.action != "start":
            turn.go_on()  # At once, since nothing interrupts the reading of a long text.
            return b""
        if not turn.alone:
            late.start()
        if announced is not None:
            return _ended(turn, announced)
        if told.action in ("start", "prompt", "answer", "retell"):
            return _work(turn)
        from memtape.tools.agents import afterwards

        work: Callable[[HookCall], bytes] = getattr(afterwards, told.action)
        return work(turn)
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
    """Record how long a host has waited for a hook, by the clock of all processes, unless nothing is kept."""
    where = home or default_home()
    if where.is_dir() and not keeps_nothing(where):
        note(where, [("hook", "hook", "", (time.monotonic_ns() - began_ns) // 1_000)])


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
    """Distil the flush at `partition/offset` of the log, in a process of its own. Never raises."""
    from memtape.tools.agents import afterwards

    where = home or default_home()
    if keeps_nothing(where) or not where.is_dir():
        return
    try:
        os.nice(NICENESS)
        partition, _, offset = place.partition("/")
        afterwards.distill(where, Position(int(partition), int(offset)))
    except Exception as error:
        note_error(where, "distillation of a flush", error)


def _work(turn: HookCall) -> bytes:
    """Do the work of a hook in this process, and return its answer."""
    action, text, late = turn.told.action, turn.text, HOSTS[turn.told.host].writes_late
    if action in ("prompt", "answer") and not text:
        if action == "answer" and late and not (turn.alone or turn.told.agent):
            turn.go_on()
        return b""
    with turn.client() as client:
        if action == "retell":  # A compaction takes the context away, which the next prompt is given again.
            start_of(turn.home, client.scope, client.session or "").forget()
        elif action == "start" and turn.alone:
            os.nice(NICENESS)
            client.catch_up()
        elif action == "answer" or turn.alone:
            capture(turn, client, text)
        else:
            return _handed_out(turn, client)
    return b""


def _handed_out(turn: HookCall, client: Client) -> bytes:
    """Capture a prompt, and return the context of a start or the sure memories for the prompt."""
    if turn.text:
        client.made_scope()  # The prompt is captured in any case, and git is asked for its scope once.
    is_first = begins(turn, client)
    if turn.text and not is_first:
        capture(turn, client, turn.text)
    offer = offer_to(turn, client, _offer)
    try:
        offer.record(client)
    except MemtapeError as error:  # A start that nobody can note is told all the same.
        if not is_first:
            raise
        turn.note_error(error)
    if turn.text and is_first:
        capture(turn, client, turn.text)
    elif offer.lag and is_first:
        turn.go_on()
    return in_form(turn, offer.text, offer.note)


def _offer(client: Client, prompt: str, since: int | None) -> HookOffer:
    """Return an offer from the views as they are; sure memories only where these are not far behind."""
    from memtape.tools.agents.offering import offer_memories, offer_start

    if not prompt:  # What is pending is read from the log, and projected by another process.
        return offer_start(client, since)
    if client.reader.unread() > MOST_UNREAD:
        return HookOffer()
    client.reader.dense = None  # No prompt can wait for an embedder but that of a server.
    return offer_memories(client, prompt)


def begins(turn: HookCall, client: Client) -> bool:
    """Whether a hook is given the context of a start: a start, or a prompt of a session without one."""
    if turn.told.action != "prompt" or not turn.text or not HOSTS[turn.told.host].begins_at_prompt:
        return turn.told.action == "start"
    return start_of(turn.home, client.scope, client.session or "").read() is None


def offer_to(turn: HookCall, client: Client, offers: Offers) -> HookOffer:
    """Return what a hook hands out: the context of a start, the sure memories for a prompt, or nothing."""
    if turn.alone or not (turn.told.action == "start" or (turn.told.action == "prompt" and turn.text)):
        return HookOffer()
    note = start_of(turn.home, client.scope, client.session or "")
    latest_of(turn.home, turn.parent).leave([client.scope, client.session or ""])
    if not begins(turn, client):
        from memtape.tools.agents.offering import PROMPT_CHARS

        return offers(client, client.redactor.head(turn.text, PROMPT_CHARS), None)
    began = now_us()
    offer = offers(client, "", note.read() if turn.told.resumed else None)

    def record(client: Client) -> None:
        note.leave(began)
        offer.record(client)

    return offer._replace(record=record)


def _ended(turn: HookCall, announced: Announced) -> bytes:
    """Finish a capture that a server announced and perhaps did, under the announced id."""
    if announced.native:
        with turn.client() as client:
            capture(turn, client, turn.text, announced.native)
    return announced.told


def capture(turn: HookCall, client: Client, text: str, native: str | None = None) -> None:
    """Append a turn under the id that an import of its transcript derives, or finds.

    Nothing is stored in a pause, and no noise or wholly private text; these are counted.
    """
    user = turn.told.action == "prompt"
    if reason := "paused" if client.silence() else noise_in(text, "user" if user else "agent"):
        count_one(turn.home, LEFT_OUT, reason)
        turn.captured = True
        return
    actor = client.account if user else f"{turn.source} {turn.told.agent}".strip()
    line = Line(
        text=text, kind="turn", actor=actor, origin="user" if user else "agent", source=turn.source,
        native_id=native or native_of(turn, client, text), split=True,
    )  # fmt: skip
    if client.capture_many([line]).refused:
        count_one(turn.home, LEFT_OUT, "private as a whole")
    turn.captured = True


def native_of(turn: HookCall, client: Client, text: str) -> str | None:
    """Return the native id of a turn: the host's id, else the id of its row in the transcript."""
    told = turn.told
    role: Role = "user" if told.action == "prompt" else "assistant"
    if told.prompt_id and turn.source == OPENCODE:
        return native_ids.opencode_message(told.prompt_id)
    if told.prompt_id and turn.source == CLAUDE_CODE and role == "user":
        return native_ids.claude_prompt(told.prompt_id)
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
