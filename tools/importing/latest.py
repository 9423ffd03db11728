"""The end of a transcript: its records from near an offset on, and the place of a hook's input in the file.

A hook imports this module while its agent waits: only one parser is loaded, and no reader of other files.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from memtape.tools.capture.native_ids import CLAUDE_CODE, CODEX, GEMINI, Role, digest
from memtape.tools.importing import reading
from memtape.tools.importing.records import Record, State, Take

TAIL_BYTES = 128 * 1_024
_MODULES = {CLAUDE_CODE: "claude_code", CODEX: "codex", GEMINI: "gemini"}


def find_turn(path: Path, host: str, session: str | None, role: Role, text: str) -> tuple[Record | None, Record | None]:
    """Return the record of a turn if it is the last thing said, and the latest before that said the same.

    `host` is a value of `native_ids.HOSTS`. A hook is told a text, and the record has its native id (see `native_ids`).
    Only the last 128 KiB are read.
    """
    origin, wanted = ("user" if role == "user" else "agent"), digest(text)
    now = before = None
    try:
        start = max(0, path.stat().st_size - TAIL_BYTES)
        for record in records(path, host, {"session": session}, start):
            if record.origin == origin and digest(record.text) == wanted:
                now, before = record, now or before
            elif now is not None and record.origin in ("user", "agent"):
                now, before = None, now  # It went on since.
    except OSError:
        pass
    return now, before


def records(path: Path, host: str, state: State, start: int) -> Iterator[Record]:
    """Yield the records of a transcript from near an offset on: from the first whole line. Raises `OSError`."""
    if host not in _MODULES:
        return
    module = import_module(f"memtape.tools.importing.{_MODULES[host]}")
    take: Take = module.take
    with reading.opened(path) as file:
        if start:
            for row in reading.rows(file):  # The head tells the session.
                if isinstance(row.value, dict):
                    list(take(row.value, state))
                break
            file.seek(start - 1)
            start = start - 1 + len(file.readline(reading.MAX_LINE_BYTES))
        values = [row.value for row in reading.rows(file, start) if isinstance(row.value, dict)]
    if host == GEMINI:
        last = module.last_rows(enumerate(values))
        values = [value for place, value in enumerate(values) if last.get(str(value.get("id")), place) == place]
    for value in values:
        with suppress(Exception):  # A row in a form that nobody has seen; the others are read.
            found = list(take(value, state))
            yield from (record for record in found if isinstance(record, Record))
