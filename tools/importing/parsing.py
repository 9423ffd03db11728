"""The records of one file, piece by piece: which parser reads a row, an item, a note or a member of an archive.

A piece is what is read at once. No record is put on the log here, and no position is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import IO, NamedTuple

from memtape.schemas.errors import Denied
from memtape.schemas.private import without_private
from memtape.tools.capture.native_ids import CLAUDE_CODE, CLAUDE_MEMORY, CODEX, DOCUMENTS, GEMINI, MARKDOWN
from memtape.tools.importing import claude_code, codex, documents, exports, finding, gemini, notes, reading
from memtape.tools.importing.finding import ARCHIVE, EXPORT, ImportSource
from memtape.tools.importing.records import NO_FORMAT, SECRETS, Found, Skipped, State, Take

ROWS = "rows"
"""Rows of JSON, each with its own type."""
PARSERS: dict[str, Take] = {CLAUDE_CODE: claude_code.take, CODEX: codex.take, GEMINI: gemini.take}
_DAMAGED = Skipped("damaged in its archive", problem=True)
_IN_ARCHIVES = {"json": EXPORT, "jsonl": ROWS, "md": MARKDOWN, "markdown": MARKDOWN}


class FilePiece(NamedTuple):
    """The records of a part of a file, with the part's place for messages, its bytes, and the offset behind it.

    A piece that `follows` goes on with the time of the piece before.
    """

    place: str
    found: Iterable[Found]
    size: int = 0
    end: int = 0
    follows: bool = False


def rows_of(source: ImportSource, file: IO[bytes], state: State, offset: int) -> Iterator[FilePiece]:
    """Yield the rows of a transcript from an offset on. Between two pieces the file may be read elsewhere."""
    if source.format == GEMINI:  # Rows change afterwards, so that only the whole file tells which of them count.
        file.seek(0)
        known = ((row.start, row.value) for row in reading.rows(file) if isinstance(row.value, dict))
        state["last"], offset = gemini.last_rows(known), 0
    file.seek(offset)
    for row in reading.rows(file, offset):
        if isinstance(row.value, dict):
            state["place"] = row.start
        found = _of_row(PARSERS[source.format], row, state)
        yield FilePiece(f"byte {row.start}", found, row.end - row.start, row.end, follows=True)
        file.seek(row.end)


def pieces_of(
    source: ImportSource, file: IO[bytes], state: State, modified: int, check: Callable[[str], None]
) -> Iterator[FilePiece]:
    """Yield the pieces of a file that is read whole. `check` raises `Denied` for a name in an archive."""
    if source.format != ARCHIVE:
        in_rows = source.format == EXPORT and source.path.suffix.lower() == ".jsonl"
        yield from _content(source, file, ROWS if in_rows else source.format, "", state, modified)
        return
    for name, size, member in reading.members(file):
        if isinstance(member, Skipped):
            yield FilePiece(name, [member], size)
            continue
        try:
            check(name)
            yield from _content(source, member, _format_in_archive(name), name, dict(state), modified)
        except Denied:
            yield FilePiece(name, [SECRETS])
        except reading.BAD_ARCHIVE:
            yield FilePiece(name, [_DAMAGED])
        yield FilePiece(name, (), size)


def _content(
    source: ImportSource, file: IO[bytes], format: str | None, place: str, state: State, modified: int
) -> Iterator[FilePiece]:
    if format in (MARKDOWN, CLAUDE_MEMORY):
        yield FilePiece(place, _of_text(source, file, format, place or source.name, modified))
    elif format == DOCUMENTS:
        data = file.read(documents.MAX_FILE_BYTES + 1)
        yield FilePiece(place, documents.take_document(data, source.path.suffix.lower(), source.name, modified))
    elif format == EXPORT:
        for number, item in enumerate(reading.items(file)):
            found = [item] if isinstance(item, Skipped) else exports.take(item, state)
            yield FilePiece(f"{place} item {number}".strip(), found)
    elif format is None:
        yield FilePiece(place, [NO_FORMAT])
    else:
        parser = PARSERS.get(format)
        for row in reading.rows(file):
            if isinstance(row.value, dict):
                parser = parser or PARSERS.get(finding.format_of_row(row.value) or "")
            taken = _of_row(parser or exports.take, row, state)
            yield FilePiece(f"{place} byte {row.start}", taken, follows=row.start > 0)


def _of_row(parser: Take, row: reading.Row, state: State) -> Iterable[Found]:
    if isinstance(row.value, dict):
        return parser(row.value, state)
    return [] if row.value is None else [row.value]


def _of_text(source: ImportSource, file: IO[bytes], format: str, name: str, modified: int) -> Iterator[Found]:
    text, problem = reading.text(file)
    text = without_private(text)  # A private part may reach over several points.
    if problem is not None:
        yield problem
    if not text.strip():
        return
    if format == CLAUDE_MEMORY:
        yield from notes.take_memory(text, name, modified, source.cwd)
    else:
        yield from notes.take_note(text, name, modified)


def _format_in_archive(name: str) -> str | None:
    """Return how a file in an archive is to be read, None where it is none of ours."""
    hidden = any(part.startswith((".", "__MACOSX")) for part in name.split("/"))
    return None if hidden else _IN_ARCHIVES.get(name.lower().rpartition(".")[2])
