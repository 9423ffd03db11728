"""The flush before compaction (C4): the end of a conversation as it is, and a count of how that went.

It reads the end of a transcript alone, whatever its length. What a row says, the parsers of the importer know.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import orjson

from memtape.schemas.errors import Locked
from memtape.schemas.placeholders import tail_of
from memtape.sinks.home.folders import write_whole
from memtape.sinks.home.locks import FileLock
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.importing import claude_code, codex
from memtape.tools.importing.reading import opened
from memtape.tools.importing.records import Found, Record, State, Take, kept_text

Outcome = Literal["deterministic_ok", "distilled_ok", "timeout", "error"]

OUTCOMES_NAME = "flushes.json"
LOCK_WAIT_S = 0.3
_PARSERS: dict[str, Take] = {"claude": claude_code.take, "codex": codex.take}


def latest(host: str, transcript: Path, tail_bytes: int, lines: int, chars: int, redactor: Redactor) -> str:
    """Return the last turns of a transcript, at most `lines` lines and `chars` characters; empty where it has none.

    Secrets are taken out of whole turns, before anything is cut. Raises `Denied` for a transcript that is denied.
    """
    redactor.check_path(str(transcript))
    records: list[Record] = []
    state: State = {}
    for row in _rows(transcript, tail_bytes):
        records += [found for found in _taken(_PARSERS[host], row, state) if isinstance(found, Record)]
    said: list[str] = []
    room = chars
    while records and room > 0:
        said.insert(0, redactor.text(_turn(records.pop(), redactor)))
        room -= len(said[0]) + 1
    kept = redactor.text("\n".join(said))
    return tail_of("\n".join(kept.split("\n")[-lines:]), chars).strip()


def count_outcome(home: Path, outcome: Outcome) -> None:
    """Count one more flush that went so. Never raises: a count must not lose what it counts."""
    try:
        with _locked(home):
            counts = outcomes(home)
            counts[outcome] = counts.get(outcome, 0) + 1
            write_whole(home / OUTCOMES_NAME, orjson.dumps(counts, option=orjson.OPT_SORT_KEYS))
    except (OSError, Locked):
        pass


def outcomes(home: Path) -> dict[str, int]:
    """Return how many flushes went how."""
    try:
        counts = orjson.loads((home / OUTCOMES_NAME).read_bytes())
    except (OSError, ValueError):
        return {}
    return {key: count for key, count in counts.items() if isinstance(count, int)} if isinstance(counts, dict) else {}


class _locked:
    def __init__(self, home: Path) -> None:
        self._lock = FileLock(home / "flushes.lock", "The count of flushes")

    def __enter__(self) -> None:
        self._lock.acquire(LOCK_WAIT_S)

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _rows(transcript: Path, tail_bytes: int) -> Iterator[dict[str, Any]]:
    """Yield the rows at the end of a file; the first of them may have been cut and is left out."""
    with opened(transcript) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - tail_bytes))
        lines = file.read(tail_bytes).split(b"\n")
    for line in lines[1:] if size > tail_bytes else lines:
        try:
            row = orjson.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _taken(take: Take, row: dict[str, Any], state: State) -> list[Found]:
    try:
        return list(take(row, state))
    except Exception:  # A row in a form that nobody has seen; the others are kept.
        return []


def _turn(record: Record, redactor: Redactor) -> str:
    speaker = "User" if record.origin == "user" else (record.actor or record.origin)
    return f"{speaker}: {kept_text(record, redactor)}"
