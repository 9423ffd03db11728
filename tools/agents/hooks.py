"""The work of a hook: capture the turn, hand out memories, and never disturb the agent.

The agent always goes on: an error becomes a line in `memtape doctor`, and long work is left to a detached
process. The forms of hosts are in `hook_hosts`. This file is loaded at every prompt: import here only the
needs of a capture, and a search only where no server has answered.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from memtape import STARTED_NS
from memtape.schemas.errors import MemtapeError, NotAdopted
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Position
from memtape.schemas.variables import HOOKS_ALONE, HOOKS_OFF, HOOKS_VARIABLE
from memtape.sinks.home.counts import LEFT_OUT, LESSENED, count_one, note
from memtape.sinks.home.folders import Home, default_home
from memtape.sinks.home.pauses import leave_out, stores_nothing
from memtape.sinks.home.settings import local_settings
from memtape.tools.agents.errors import note_error
from memtape.tools.agents.handing import FOLDER, LARGE_BYTES, MAX_ADDRESS_BYTES, MAX_INPUT_BYTES, Handed
from memtape.tools.agents.hook_hosts import (
    CONTEXT_TOKENS,
    HOSTS_OF_HOOKS,
    HookInput,
    note_of,
    placed,
    read,
)
from memtape.tools.agents.turn import NICENESS, SOURCES, START_WAIT_S, HookCall, in_form
from memtape.tools.capture.injected import said
from memtape.tools.capture.lines import Line
from memtape.tools.capture.native_ids import (
    HEARD,
    HOSTS,
    OPENCODE,
    Role,
    claude_prompt,
    heard,
    of_hook,
    opencode_message,
)
from memtape.tools.capture.noise import lessened, noise_in
from memtape.tools.capture.profiles import keeps_nothing, profile_of, stands_apart
from memtape.tools.capture.writing import default_actor, now_us
from memtape.tools.client import Client

WAIT_S = 1.5
"""A capture that has not happened by then, as where many write at once, is left to a process of its own."""
RECALL_WAIT_S = 0.3
MOST_UNREAD = 2_000
"""Each process that searches takes the events behind the views apart anew: so many cost some tenths of a second."""
CONTEXT_WAIT_S = 0.7
"""A server that has not answered by then is too busy, and the views are read here."""


def run(host: str, home: Path | None, data: bytes, *, alone: bool = False, handed: Handed | None = None) -> bytes:
    """Run a host's hook and return its answer. Never raises.

    Does nothing under `MEMTAPE_HOOKS=off`, as where an agent is used as a model. `alone` marks the detached
    process for slow work, for which no host waits. `handed` has the progress with a server, if one was asked.
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
    if told is None:
        return b""
    _leave_out(told, where)
    turn = HookCall(told, where, data, alone, handed)
    if len(data) > LARGE_BYTES and not alone and told.action != "start":
        return _left(turn)
    may_begin = told.action == "start" or (told.action == "prompt" and HOSTS_OF_HOOKS[host].begins_at_prompt)
    late = threading.Timer(
        START_WAIT_S if may_begin else WAIT_S, turn.give_up, (lambda: leave_server(host, home, data),)
    )
    late.daemon = True
    if not alone:
        late.start()
    try:
        return _ended(turn) if turn.handed.taken else _ACTIONS[told.action](turn)
    except NotAdopted as error:
        return (
            in_form(turn, f"{error} Nothing is shown or stored here until the user decides. {error.hint}") * may_begin
        )
    except Exception as error:
        note_error(where, f"hook {host} {told.event}", error)
        return b""
    finally:
        late.cancel()
        turn.end()


def note_time(home: Path | None) -> None:
    """Record how long the host has waited for this process, unless nothing is kept."""
    where = home or default_home()
    if not stores_nothing() and where.is_dir() and not keeps_nothing(where):
        note(where, [("hook", "hook", "", (time.monotonic_ns() - STARTED_NS) // 1_000)])


def _unkept(host: str, home: Path, data: bytes) -> bytes:
    """Return the answer of a hook where nothing is kept: at a start a note about the profile, else nothing.
    Writes no note.
    """
    try:
        told = read(host, data) if len(data) <= MAX_INPUT_BYTES else None
        if told is not None and told.action == "start":
            return in_form(HookCall(told, home, data, alone=False), profile_of(home).told)
    except Exception:  # What a host tells wrongly is its own affair where there is no place to note it.
        return b""
    return b""


def _leave_out(told: HookInput, home: Path) -> None:
    """Record the session of a run that stores nothing: imports skip the session's transcript too."""
    if stores_nothing():
        try:
            leave_out(home, told.session)
        except Exception as error:
            note_error(home, f"hook {told.host} {told.event}", error)


def _left(turn: HookCall) -> bytes:
    """Leave a long input to a detached process at once: nothing interrupts the reading of a long text."""
    try:
        turn.go_on()
    except Exception as error:
        note_error(turn.home, f"hook {turn.told.host} {turn.told.event}", error)
    return b""


def leave_server(host: str, home: Path | None, data: bytes) -> None:
    """Start a server for the next hooks where this hook found none. Never raises."""
    where = home or default_home()
    try:
        told = read(host, data)
    except ValueError:  # `run` has noted that.
        return
    try:
        if told is None or told.action not in ("start", "prompt", "answer") or not where.is_dir():
            return
        if may_leave_server(where) and Home(where, make=False).hook_server_lock().holder() is None:
            from memtape.tools.agents.reaching import start_server

            start_server(where.absolute(), host, data=placed(data, HookCall(told, where, data, alone=False).folder))
    except Exception as error:
        note_error(where, f"hook {host}: the server of hooks", error)


def may_leave_server(home: Path) -> bool:
    """Whether a hook may leave a server behind, which could listen in this home.

    It may not under `MEMTAPE_HOOKS=alone`, as where a test counts processes, nor for a run that stores nothing or that
    names another profile than the home has.
    """
    if os.environ.get(HOOKS_VARIABLE) in (HOOKS_ALONE, HOOKS_OFF) or stores_nothing():
        return False
    if stands_apart(home):
        return False
    if len(os.fsencode(home.absolute() / FOLDER / "1234567.sock")) > MAX_ADDRESS_BYTES:
        return False
    return local_settings(Home(home, make=False)).hook_server


def distill(home: Path | None, place: str) -> None:
    """Distil the flush at `partition:offset` of the log, in the process that was started for it. Never raises."""
    from memtape.tools.agents import distilling

    where = home or default_home()
    if keeps_nothing(where) or _is_gone(home, "distillation of a flush"):
        return
    try:
        os.nice(NICENESS)
        partition, _, offset = place.partition(":")
        distilling.distill(where, Position(int(partition), int(offset)))
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
            os.nice(NICENESS)
            _afterwards().look_at_repository(turn, client)
            client.catch_up()
            return b""
        return _begun(turn, client)


def _begun(turn: HookCall, client: Client) -> bytes:
    """Return the context of a start, and record the session as told."""
    from memtape.tools.agents.starts import note_told
    from memtape.tools.agents.warm import ask, tell_session

    tell_session(turn.home, client.scope, client.session or "")
    began, name = now_us(), (turn.home, client.scope, client.session or "")
    asked = asked_to_start(turn, client)
    # A server does not know of a run that it is not to be stored or has another profile, and could not tell that.
    by_itself = turn.handed.late or stores_nothing() or stands_apart(turn.home)
    with ask(turn.home, asked, 0 if by_itself else CONTEXT_WAIT_S) as answered:
        if answered.by_a_server:
            answered.shown()
            note_told(*name, began)
            return in_form(turn, answered.text, answered.note)
    # What is pending is read from the log; another process projects it, since nobody knows how long that takes.
    since = asked.get("since")
    context = client.context(CONTEXT_TOKENS, as_is=True, since=None if since is None else int(since))
    note_told(*name, began)
    try:
        client.handed_start(context)
    except MemtapeError as error:  # A start that nobody can note is told all the same.
        note_error(turn.home, f"hook {turn.told.host} {turn.told.event}", error)
    if context.lag and turn.told.action == "start":
        turn.go_on()
    note = note_of(len(context.ids), context.tokens) if local_settings(client.home).shown else ""
    return in_form(turn, context.text, note)


def begins(turn: HookCall, client: Client) -> bool:
    """Whether a prompt is given the context of a start, since its session was told none."""
    from memtape.tools.agents.starts import told_at

    if turn.told.action != "prompt" or not HOSTS_OF_HOOKS[turn.told.host].begins_at_prompt:
        return False
    return told_at(turn.home, client.scope, client.session or "") is None


def _retell(turn: HookCall) -> bytes:
    """Have the next prompt given the context of a start again, since a compaction takes that away."""
    from memtape.tools.agents.starts import forget_told

    with turn.client() as client:
        forget_told(turn.home, client.scope, client.session or "")
    return b""


def _prompt(turn: HookCall) -> bytes:
    from memtape.tools.agents.warm import ask, tell_session

    text = said(turn.told.prompt)
    if not text:
        return b""
    with turn.client() as client:
        if turn.alone:
            capture(turn, client, text)
            return b""
        client.made_scope()  # The prompt is captured in any case, and git is asked for its scope once.
        if begins(turn, client):
            context = _begun(turn, client)
            capture(turn, client, text)
            return context
        asked = asked_by(client, text)
        # Asked first: what is ready was made before this prompt, and would have to be made anew for it.
        with ask(turn.home, asked, 0 if turn.handed.late else RECALL_WAIT_S) as answered:
            capture(turn, client, text)
            tell_session(turn.home, client.scope, client.session or "")
            if answered.by_a_server:
                if not stores_nothing():
                    answered.shown()
                return in_form(turn, answered.text, answered.note)
        return in_form(turn, *_recalled(client, asked["prompt"]))


def _recalled(client: Client, prompt: str) -> tuple[str, str]:
    """Return the sure memories for a prompt and a note about them, found by words in the current views.

    Both are empty without any, and where the views are far behind. Vectors are left to a server, since no
    prompt can wait for an embedder.
    """
    settings = local_settings(client.home)
    if not settings.prompt_recall or client.reader.unread() > MOST_UNREAD:
        return "", ""
    from memtape.tools.agents.offering import offered, tokens_of

    client.reader.retriever.dense = None
    text, answer = offered(client, prompt, client.session or "", settings.prompt_recall_chars)
    if answer.results:
        client.handed_out(prompt, answer, tokens_of(text))
    return text, note_of(len(answer.results), tokens_of(text)) if settings.shown else ""


def asked_by(client: Client, prompt: str = "") -> dict[str, str]:
    """Return a request to a server: scope, session, actor, and the part of the prompt that searches read."""
    from memtape.tools.agents.warm import PROMPT_CHARS

    prompt = client.redactor.head(prompt, PROMPT_CHARS) if prompt else ""
    return {"scope": client.scope, "session": client.session or "", "actor": client.actor.name, "prompt": prompt}


def asked_to_start(turn: HookCall, client: Client) -> dict[str, str]:
    """Return the request of a start; for a resumed session only its news since the last start."""
    from memtape.tools.agents.starts import told_at

    since = told_at(turn.home, client.scope, client.session or "") if turn.told.resumed else None
    return asked_by(client) | ({} if since is None else {"since": str(since)})


def _ended(turn: HookCall) -> bytes:
    """Finish a capture that a server announced and perhaps did, under the announced id."""
    if turn.handed.native and turn.told.done is not None:
        _acting().act(turn)
    elif turn.handed.native:
        text = said(turn.told.prompt if turn.told.action == "prompt" else turn.told.answer)
        with turn.client() as client:
            capture(turn, client, text, turn.handed.native)
    return turn.handed.told


def _answer(turn: HookCall) -> bytes:
    text = said(turn.told.answer)
    if text:
        with turn.client() as client:
            capture(turn, client, text)
    elif turn.told.host == "copilot" and not (turn.alone or turn.told.agent):
        turn.go_on()
    return b""


def _afterwards() -> ModuleType:
    """Import `afterwards` lazily: only detached work needs the module."""
    from memtape.tools.agents import afterwards

    return afterwards


def _acting() -> ModuleType:
    from memtape.tools.agents import acting

    return acting


_ACTIONS: dict[str, Callable[[HookCall], bytes]] = {
    "start": _start,
    "prompt": _prompt,
    "answer": _answer,
    "subagent": lambda turn: bytes(_afterwards().subagent(turn)),
    "act": lambda turn: bytes(_acting().act(turn)),
    "flush": lambda turn: bytes(_afterwards().flush(turn)),
    "retell": _retell,
    "end": lambda turn: bytes(_afterwards().end(turn)),
}


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
        actor=default_actor() if user else f"{SOURCES[turn.told.host]} {turn.told.agent}".strip(),
        origin="user" if user else "agent",
        source=SOURCES[turn.told.host],
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
    if role == "user" and _has_prompt_id(told):
        return claude_prompt(told.prompt_id)
    if SOURCES[told.host] == OPENCODE and told.prompt_id:
        return opencode_message(told.prompt_id)
    if not told.session:
        return None
    heard_as = heard(told.session, role, text)
    if not told.transcript or told.host in HEARD:
        return heard_as
    from memtape.tools.importing.latest import find_turn

    source = HOSTS[told.host]
    found = find_turn(Path(told.transcript), source, told.session, role, text)
    now, before = (record.native_id if record is not None else None for record in found)
    if now is None and before is None:
        return heard_as
    scope = client.made_scope()
    ids = {
        derived_id("captured", scope, source, f"{name}{part}"): name
        for name in (heard_as, now, before)
        if name is not None
        for part in ("", "#0")
    }
    known = frozenset(ids[id] for id in client.known(scope, list(ids)))
    return of_hook(heard_as, now, before, known, retried=turn.alone)


def _has_prompt_id(told: HookInput) -> bool:
    return told.host == "claude" and bool(told.prompt_id)
