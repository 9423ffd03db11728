"""The flush before compaction (C4): the end of a conversation. Its outcome is counted in the home.

It reads the end of a transcript as far as needed. The importer's parsers interpret the rows.
"""

from __future__ import annotations

from pathlib import Path

from memtape.schemas.placeholders import tail_of
from memtape.state.text.passages import ending
from memtape.tools.capture.native_ids import HOSTS
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.importing.latest import records
from memtape.tools.importing.records import Record

MAX_TAIL_BYTES = 32 * 1024 * 1024
"""How far back the last turns are searched, behind outputs of tools."""


def latest(host: str, transcript: Path, tail_bytes: int, lines: int, chars: int, redactor: Redactor) -> str:
    """Return the last turns of user and agent, at most `lines` lines and `chars` characters; else empty.

    It begins with a whole turn, or with a sentence of a turn too long for the room. Outputs of tools are left
    out, however long. Secrets are removed from whole turns, before anything is cut. Raises `Denied` for a
    denied transcript.
    """
    redactor.check_path(str(transcript))
    kept: list[str] = []
    room, lines_left = chars, lines
    for record in reversed(_said(host, transcript, tail_bytes, lines, chars)):
        speaker = "User" if record.origin == "user" else HOSTS[host]
        text = redactor.text(record.text).strip()
        whole = f"{speaker}: {text}"
        fitted = ending(whole, room, lines_left)
        if fitted != whole:
            begin = f"{speaker}: … "
            rest = ending(text, room - len(begin), lines_left)
            # Of a last turn that is one endless sentence its end is better than nothing.
            rest = rest or ("" if kept else _words(text, room - len(begin)))
            kept += [begin + rest] if rest else []
            break
        kept.append(whole)
        room -= len(whole) + 1
        lines_left -= whole.count("\n") + 1
        if room <= 0 or lines_left <= 0:
            break
    return redactor.text("\n".join(reversed(kept)))


def _said(host: str, transcript: Path, tail_bytes: int, lines: int, chars: int) -> list[Record]:
    """Return the last turns of user and agent, from as far back as is needed."""
    size = transcript.stat().st_size
    while True:
        start = max(0, size - tail_bytes)
        said = [
            record
            for record in records(transcript, HOSTS[host], {}, start)
            if record.origin == "user" or record.actor == HOSTS[host]
        ]
        enough = sum(len(record.text) for record in said) > chars or len(said) > lines
        if enough or start == 0 or tail_bytes >= MAX_TAIL_BYTES:
            return said
        tail_bytes *= 8


def _words(text: str, chars: int) -> str:
    """Return the end of a text from a word on."""
    end = tail_of(text, chars)
    return end.partition(" ")[2] or end
