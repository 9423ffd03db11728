"""Bytes to rows: lines of JSON, items of a JSON document, files in a zip archive, texts. In bounded memory.

Unreadable data becomes a `Skipped` that is a problem, and reading goes on where possible. No source is known
here.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import ijson
import orjson
from ijson.common import ObjectBuilder

from memtape.tools.importing.records import Skipped

MAX_LINE_BYTES = 32 * 1024 * 1024
"""A line beyond it is skipped and named; pictures in a transcript make lines of some megabytes."""
MAX_ITEM_BYTES, MAX_LEVELS = 256 * 1024 * 1024, 1_000
"""A longer or deeper item of a JSON document ends the reading of the document: an item is held whole."""
MAX_TEXT_BYTES = 32 * 1024 * 1024
SKIP_BYTES = 1024 * 1024

CUT_SHORT = Skipped("the last line is cut short", problem=True)
MALFORMED = Skipped("not JSON", problem=True)
NO_OBJECT = Skipped("a line that is no object", problem=True)
TOO_LONG = Skipped(f"a line of more than {MAX_LINE_BYTES // 2**20} MB", problem=True)
ITEM_TOO_LARGE = Skipped(f"an item of more than {MAX_ITEM_BYTES // 2**20} MB, and all after it", problem=True)
BAD_DOCUMENT = Skipped("JSON that cannot be read to its end; what stood before was taken", problem=True)
NOT_UTF8 = Skipped("not UTF-8: what cannot be read is shown as �", problem=True)
BINARY = Skipped("a binary file", problem=True)
TEXT_TOO_LARGE = Skipped(f"a text of more than {MAX_TEXT_BYTES // 2**20} MB", problem=True)


def opened(path: Path) -> BinaryIO:
    """Open a file for reading. Raises `OSError` for other things, as a pipe, whose reading may never end."""
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is no file")
    return file


class Row(NamedTuple):
    """A line: its start, the next line's start, and its object or skip; None for a blank line."""

    start: int
    end: int
    value: dict[str, Any] | Skipped | None


def rows(file: IO[bytes], offset: int = 0) -> Iterator[Row]:
    """Yield the lines of a file from an offset on. A last line that is cut short ends where it begins."""
    place = offset
    while data := file.readline(MAX_LINE_BYTES + 1):
        start = place
        place += len(data)
        if len(data) > MAX_LINE_BYTES and not data.endswith(b"\n"):
            while rest := file.readline(SKIP_BYTES):
                place += len(rest)
                if rest.endswith(b"\n"):
                    break
            yield Row(start, place, TOO_LONG)
            continue
        if start == 0:
            data = data.removeprefix(b"\xef\xbb\xbf")
        value: Any = None
        if data.strip(b" \t\r\n\0"):
            try:
                value = orjson.loads(data)
            except ValueError:
                # JavaScript cuts texts in the middle of a character, and writes lone surrogates, which
                # orjson refuses. Invalid Unicode in texts is replaced.
                try:
                    value = json.loads(data.decode("utf-8", "replace"))
                except (ValueError, RecursionError):
                    value = MALFORMED
            value = value if isinstance(value, dict | Skipped) else NO_OBJECT
        if isinstance(value, Skipped) and not data.endswith(b"\n"):
            yield Row(start, start, CUT_SHORT)
            return
        yield Row(start, place, value)


class _BoundedFile:
    """A file that refuses to be read further without an item, so that no item fills the memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.begin = file, file.read(SKIP_BYTES)
        self._next, self.pending = self.begin, 0

    def read(self, size: int = -1) -> bytes:
        if self.pending > MAX_ITEM_BYTES:
            raise OverflowError
        if not size:  # The library asks so whether it reads bytes.
            return b""
        data, self._next = self._next or self._file.read(size), b""
        self.pending += len(data)
        return data


def items(file: IO[bytes]) -> Iterator[Any]:
    """Yield the items of a JSON document that is a list, or the document; a bad end is a `Skipped`."""
    bounded = _BoundedFile(file)
    level = 1 if bounded.begin.lstrip()[:1] == b"[" else 0
    depth, builder = 0, ObjectBuilder()
    try:
        # `ijson.items` would hold a path for each level, which takes gigabytes for a file of brackets.
        for event, value in ijson.basic_parse(bounded, use_float=True):
            depth -= event in ("end_array", "end_map")
            if depth >= level:
                builder.event(event, value)
            depth += event in ("start_array", "start_map")
            if depth > MAX_LEVELS:
                raise RecursionError
            if depth == level and event != "start_array":
                bounded.pending = 0
                yield builder.value
                builder = ObjectBuilder()
    except (ijson.JSONError, UnicodeError, ValueError, RecursionError, OverflowError):
        yield ITEM_TOO_LARGE if bounded.pending > MAX_ITEM_BYTES else BAD_DOCUMENT


def text(file: IO[bytes]) -> tuple[str, Skipped | None]:
    """Return a file's text and its problem; the text is empty on a problem. Byte order marks tell UTF-16."""
    data = file.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        return "", TEXT_TOO_LARGE
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16"), None
    if b"\0" in data[:8_192]:
        return "", BINARY
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8-sig"), None
    return data.decode("utf-8", "replace"), NOT_UTF8


def members(file: BinaryIO | IO[bytes]) -> Iterator[tuple[str, int, IO[bytes] | Skipped]]:
    """Yield the files of a zip archive: name, packed size, and the open file or its problem.

    Each is to be read before the next is asked for.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    try:
                        opened = archive.open(info)
                    except BAD_ARCHIVE:
                        problem = Skipped("damaged or encrypted in its archive", problem=True)
                        yield info.filename, info.compress_size, problem
                        continue
                    with opened:
                        yield info.filename, info.compress_size, opened
    except BAD_ARCHIVE:
        yield "", 0, Skipped("an archive that cannot be read", problem=True)


BAD_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OSError)
"""The errors of zipfile on damaged archives, on unknown ways of packing, and on encrypted ones."""
