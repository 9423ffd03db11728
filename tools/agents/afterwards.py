"""Detached work of a hook: captures of subagents, flushes before compactions, ends of sessions.

The host does not wait for any of these. `hooks` imports the module only for them.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from memtape.schemas.errors import BudgetSpent, MemtapeError
from memtape.schemas.events import FLUSH_TAG
from memtape.schemas.ids import derived_id
from memtape.tools.agents.turn import NICENESS, HookCall
from memtape.tools.capture.lines import Line
from memtape.tools.capture.native_ids import HOSTS, digest
from memtape.tools.capture.writing import Receipt, now_us
from memtape.tools.client import Client
from memtape.tools.keep.starting import NOWHERE

FLUSH_CHARS = 4_000
FLUSH_LINES = 120
TAIL_BYTES = 512 * 1024


def subagent(turn: HookCall) -> bytes:
    """Take up the transcript of a subagent after its end."""
    if not turn.alone:
        turn.go_on()
    elif turn.told.transcript:
        from memtape.tools.agents.transcripts import of_session, take_up

        os.nice(NICENESS)
        paths = of_session(Path(turn.told.transcript), turn.told.agent_transcript)
        take_up(turn.home, turn.told.host, turn.folder, paths)
    return b""


def flush(turn: HookCall) -> bytes:
    """Capture the end of the conversation before the host compacts it (C4).

    Where a model is configured, a detached process distils the flush once durable.
    """
    from memtape.sinks.home.counts import FLUSHES, count_one
    from memtape.tools.agents.distilling import is_wanted
    from memtape.tools.agents.flushing import latest

    receipts: list[Receipt] = []
    try:
        transcript = Path(turn.told.transcript)
        with turn.client() as client:
            if client.silence():
                return b""
            text = latest(turn.told.host, transcript, TAIL_BYTES, FLUSH_LINES, FLUSH_CHARS, client.redactor)
            if text:
                source, session = HOSTS[turn.told.host], turn.told.session
                line = Line(
                    text=text,
                    kind="journal",
                    source=source,
                    native_id=f"flush:{session}:{digest(text)}",
                    tags=(FLUSH_TAG,),
                )
                receipts = client.capture_many([line])
        count_one(turn.home, FLUSHES, "deterministic_ok")
    except Exception:
        count_one(turn.home, FLUSHES, "error")
        raise
    if receipts and not receipts[0].spooled and is_wanted(turn.home):
        place = receipts[0].position
        turn.start("--distill", f"{place.partition}:{place.offset}")
    return b""


def end(turn: HookCall) -> bytes:
    """Take up the rest of the transcript and fold it before the next start.

    A configured model takes facts from the last turns.
    """
    if not turn.alone:
        from memtape.tools.agents.warm import end_session

        end_session(turn.home)
        turn.go_on()
        return b""
    os.nice(NICENESS)
    with turn.client() as client:
        if client.silence():
            return b""
    if turn.told.transcript and not _is_empty(Path(turn.told.transcript)):
        command = turn.command("import", turn.told.transcript, "--format", HOSTS[turn.told.host])
        done = subprocess.run(command, cwd=NOWHERE, capture_output=True, check=False)
        if done.returncode:
            raise MemtapeError(f"The transcript could not be taken in whole (exit code {done.returncode}).")
    with turn.client() as client:
        look_at_repository(turn, client)
        client.catch_up()
        if client.session and client.is_made() and _told_to_model(client, client.session):
            client.catch_up()
    return b""


def look_at_repository(turn: HookCall, client: Client) -> None:
    """Capture the repository's facts about the project where changed."""
    from memtape.tools.capture.repository import repository_lines

    lines = [] if client.silence() else repository_lines(turn.folder)
    if lines:
        scope = client.made_scope()
        ids = [derived_id("captured", scope, line.source, line.native_id or "") for line in lines]
        known = client.log.known(scope, ids)
        client.capture_many(line for line, id in zip(lines, ids, strict=True) if id not in known)


def _told_to_model(client: Client, session: str) -> int:
    """Have a configured model take facts from an ended session; return their count."""
    from memtape.flows.workers.distill import LATE_US
    from memtape.tools.keep.models import is_named

    if not is_named(client.home):
        return 0
    try:
        return len(client.distill(session, scope=client.scope, since_us=now_us() - LATE_US).events)
    except BudgetSpent:  # `memtape status` says so.
        return 0


def _is_empty(transcript: Path) -> bool:
    """Whether a session has no turn: hosts name its transcript before the first."""
    try:
        return (transcript.is_file() and not transcript.stat().st_size) or not transcript.exists()
    except OSError:
        return False
