"""Work of hooks beside prompts and answers: subagents, flushes before compactions, ends of sessions.

`hooks` imports the module only for these. Importers parse transcripts; here is decided which files are read,
and when.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memtape.schemas.codec import decode
from memtape.schemas.errors import BudgetSpent, MemtapeError, ModelTimeout
from memtape.schemas.events import FLUSH_TAG, Captured
from memtape.schemas.log import Position
from memtape.schemas.placeholders import tail_of
from memtape.sinks.home.counts import FLUSHES, count_one
from memtape.sinks.home.folders import Home
from memtape.state.text.passages import ending
from memtape.tools.agents.sessions import latest_of, start_of
from memtape.tools.agents.turn import NICENESS, HookCall
from memtape.tools.capture.native_ids import digest
from memtape.tools.capture.writing import Line, Receipt
from memtape.tools.client import Client

if TYPE_CHECKING:
    from memtape.tools.capture.secrets.redaction import Redactor
    from memtape.tools.importing.records import ImportSummary

FLUSH_CHARS, FLUSH_LINES = 4_000, 120
DISTILL_LIMIT_S = 12.0
TAIL_BYTES, MAX_TAIL_BYTES = 512 * 1024, 32 * 1024 * 1024
"""How far back the last turns are searched, at first and at most, behind outputs of tools."""
MOST_AGENTS = 200
OPEN_DAYS = 7
"""A session that was cut off is looked for so long, as where a machine went down over a weekend."""


def subagent(turn: HookCall) -> bytes:
    """Take up the transcript of a subagent after its end."""
    if not turn.alone:
        turn.go_on()
    elif turn.told.transcript:
        os.nice(NICENESS)
        take_up(turn, of_session(Path(turn.told.transcript), turn.told.agent_transcript))
    return b""


def flush(turn: HookCall) -> bytes:
    """Capture the end of the conversation before the host compacts it (C4).

    Where a model is configured, a detached process distils the flush once durable.
    """
    from memtape.tools.keep.models import is_named

    receipts: list[Receipt] = []
    try:
        with turn.client() as client:
            if client.silence():
                return b""
            text = latest(turn.source, Path(turn.told.transcript), client.redactor)
            if text:
                native, tags = f"flush:{turn.told.session}:{digest(text)}", (FLUSH_TAG,)
                line = Line(text=text, kind="journal", source=turn.source, native_id=native, tags=tags)
                receipts = client.capture_many([line])
        count_one(turn.home, FLUSHES, "deterministic_ok")
    except Exception:
        count_one(turn.home, FLUSHES, "error")
        raise
    if receipts and not receipts[0].spooled and is_named(Home(turn.home)):
        place = receipts[0].position
        turn.start("--distill", f"{place.partition}/{place.offset}")
    return b""


def distill(home: Path, place: Position) -> int:
    """Have the model take facts from the flush at a place of the log; count the outcome and them.

    Nothing is asked without a model, or for a flush distilled before. Raises `MemtapeError` without any text
    of the conversation; the failure changes nothing.
    """
    from memtape.flows.workers.distill import fact_id
    from memtape.flows.workers.worker import append_new
    from memtape.tools.keep.facts import FactAsker
    from memtape.tools.keep.models import is_named

    with Client(home) as client:
        slots = client.log.read(place.partition, place.offset, 1)
        flushed = decode(slots[0].payload) if slots else None
        if flushed is None or not isinstance(flushed.body, Captured) or not is_named(client.home):
            return 0
        scope = flushed.scope or ""
        if client.log.known(scope, [fact_id((flushed,), 0)]):
            return 0
        try:
            _, events = FactAsker(client.home, DISTILL_LIMIT_S).ask((flushed,))
        except Exception as error:
            count_one(home, FLUSHES, "timeout" if isinstance(error, ModelTimeout) else "error")
            raise
        count_one(home, FLUSHES, "distilled_ok")
        # It may have been erased while the model was thinking.
        return 0 if flushed.id in client.erased_ids(scope) else len(append_new(client.log, events))


def end(turn: HookCall) -> bytes:
    """Take up the rest of the transcript and fold it before the next start.

    A configured model takes facts from the last turns.
    """
    if not turn.alone:
        latest_of(turn.home).forget()
        turn.go_on()
        return b""
    from memtape.tools.keep.models import is_named

    os.nice(NICENESS)
    with turn.client() as client:
        if client.silence():
            return b""
    has_turns, transcript = bool(turn.told.transcript), Path(turn.told.transcript)
    with suppress(OSError):  # Hosts name a transcript before its first turn.
        is_empty = transcript.is_file() and not transcript.stat().st_size
        has_turns = has_turns and transcript.exists() and not is_empty
    if has_turns and take_up(turn, [transcript]).nothing_read:
        raise MemtapeError("The transcript could not be taken in whole.")
    with turn.client() as client:
        client.catch_up()
        if client.session and client.is_made() and is_named(client.home):
            from memtape.tools.keep.facts import facts_of_session

            with suppress(BudgetSpent):  # `memtape status` says so.
                if facts_of_session(client.home, client.log, client.session, client.scope):
                    client.catch_up()
    return b""


def latest(source: str, transcript: Path, redactor: Redactor, chars: int = FLUSH_CHARS) -> str:
    """Return the last words of user and agent, at most `FLUSH_LINES` lines and `chars` characters.

    It begins with a sentence, or with a word of an endless one. Outputs of tools are left out, however long.
    Secrets are removed before anything is cut. Raises `Denied` for a denied transcript.
    """
    from memtape.tools.importing.transcripts import records_from

    redactor.check_path(str(transcript))
    size, tail_bytes = transcript.stat().st_size, TAIL_BYTES
    while True:  # As far back as is needed.
        start = max(0, size - tail_bytes)
        found = records_from(transcript, source, {}, start)
        said = [record for record in found if record.origin == "user" or record.actor == source]
        if sum(len(it.text) for it in said) > chars or start == 0 or tail_bytes >= MAX_TAIL_BYTES:
            break
        tail_bytes *= 8
    kept, room, lines = list[str](), chars, FLUSH_LINES
    for it in reversed(said):
        text = f"{'User' if it.origin == 'user' else source}: {redactor.text(it.text).strip()}"
        fit = ending(text, room, lines) or ("" if kept else tail_of(text, room).partition(" ")[2])
        kept += [fit] if fit else []
        room, lines = room - len(fit) - 1, lines - fit.count("\n") - 1
        if fit != text or room <= 0 or lines <= 0:
            break
    return redactor.text("\n".join(reversed(kept)))


def of_session(transcript: Path, agent: str = "") -> list[Path]:
    """Return the transcripts of a session and of its subagents.

    `agent` is the transcript of a subagent that just ended, where the host names the file.
    """
    folder = transcript.with_suffix("") / "subagents"
    others = sorted(folder.glob("*.jsonl"))[-MOST_AGENTS:] if folder.is_dir() else []
    named = [Path(agent)] if agent else []
    return [path for path in dict.fromkeys((transcript, *named, *others)) if path.is_file()]


def cut_off(home: Path, scope: str, transcript: Path) -> list[Path]:
    """Return the transcripts beside `transcript` whose sessions began with hooks and grew lately.

    A session with an orderly end was read to its end; reading its file again costs only a look at the size.
    """
    found = []
    oldest = time.time() - OPEN_DAYS * 86_400
    with suppress(OSError):
        for path in sorted(transcript.parent.glob(f"*{transcript.suffix}")):
            session = path.stem[-36:]  # Before it stand the words and the time of a rollout.
            is_recent = path != transcript and path.stat().st_mtime >= oldest
            if is_recent and start_of(home, scope, session).read() is not None:
                found += of_session(path)
    return found


def take_up(turn: HookCall, paths: Iterable[Path]) -> ImportSummary:
    """Import transcripts of a host from where they were read last; one of no known project stays out."""
    from memtape.tools.importing.finding import session_file
    from memtape.tools.importing.taking import Importer

    with Client(turn.home, folder=turn.folder) as speaker:
        speaker.session = None
        return Importer(speaker).take(session_file(path, turn.source) for path in paths)
