"""Bytes to rows: lines of JSON, items of a JSON document, files in a zip archive, texts. In bounded memory.

Unreadable data becomes a `Skipped` that is a problem, and reading goes on where possible. No source is known
here.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import ijson
import orjson

from memtape.tools.importing.skips import Skipped

MAX_LINE_BYTES = 32 * 1024 * 1024
"""A line beyond it is skipped and named; pictures in a transcript make lines of some megabytes."""
MAX_ITEM_CHARS = 256 * 1024 * 1024
MAX_VALUE_BYTES = 64 * 1024 * 1024
"""One value of a JSON document beyond it ends the reading of the document: the library holds a value whole."""
MAX_TEXT_BYTES = 32 * 1024 * 1024
MAX_KEYS = 10_000
"""The number of keys read of a document that is one large object."""
MAX_NESTED_ZIPS = 2
SKIP_BYTES = 1024 * 1024
PACKED_BYTES = 64 * 1024
"""The bytes unpacked at once, however large a zip bomb is."""
MAX_UNPACKED_BYTES = 2**31

CUT_SHORT = Skipped("the last line is cut short", problem=True)
MALFORMED = Skipped("not JSON", problem=True)
NO_OBJECT = Skipped("a line that is no object", problem=True)
TOO_LONG = Skipped(f"a line of more than {MAX_LINE_BYTES // 2**20} MB", problem=True)
ITEM_TOO_LARGE = Skipped(f"an item of more than {MAX_ITEM_CHARS // 2**20} MB", problem=True)
VALUE_TOO_LARGE = Skipped(
    f"a value of more than {MAX_VALUE_BYTES // 2**20} MB; nothing after it was read", problem=True
)
BAD_DOCUMENT = Skipped("JSON that cannot be read to its end; what stood before was taken", problem=True)
BAD_PACKED = Skipped("packed data that cannot be read to its end; what stood before was taken", problem=True)
UNPACKED_TOO_LARGE = Skipped(
    f"packed data of more than {MAX_UNPACKED_BYTES >> 30} GB; what stood before was taken", problem=True
)
NOT_UTF8 = Skipped("not UTF-8: what cannot be read is shown as �", problem=True)
BINARY = Skipped("a binary file", problem=True)
TEXT_TOO_LARGE = Skipped(f"a text of more than {MAX_TEXT_BYTES // 2**20} MB", problem=True)


def opened(path: Path) -> BinaryIO:
    """Open a file for reading. Raises `OSError` for other things, as a pipe, whose reading may never end."""
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


class Row(NamedTuple):
    """A line: its start, the next line's start, and its object or the reason of its skip; None for a blank
    line.
    """

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
        value = parse_row(data)
        if isinstance(value, Skipped) and not data.endswith(b"\n"):
            yield Row(start, start, CUT_SHORT)
            return
        yield Row(start, place, value)


def is_packed(path: Path) -> bool:
    """Whether a file of rows is compressed, by its name."""
    return path.name.endswith(".jsonl.zst")


def unpacked(file: IO[bytes]) -> tuple[IO[bytes], Skipped | None]:
    """Return the content of a zstd file, as a file without a name, and why it is incomplete."""
    whole: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (whoever asked closes it)
    begin, is_bad = file.tell(), False
    try:
        _unpack(file, whole, MAX_UNPACKED_BYTES)
    except OSError:
        is_bad, before = True, whole.tell()
        file.seek(begin)
        whole.seek(0)
        with suppress(OSError):
            _unpack(file, whole, before)
    too_large = whole.tell() > MAX_UNPACKED_BYTES
    whole.seek(0)
    return whole, UNPACKED_TOO_LARGE if too_large else BAD_PACKED if is_bad else None


def _unpack(file: IO[bytes], whole: IO[bytes], until: int) -> None:
    """Write the content of a packed file, up to the size limit. Raises `OSError` at a bad place.

    Data read together with a bad place is lost: from `until` on it is read byte by byte.
    """
    import pyarrow as pa

    unpacking = pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")
    while (place := whole.tell()) <= MAX_UNPACKED_BYTES:
        data = unpacking.read(min(PACKED_BYTES, max(1, until - place)))
        if not data:
            return
        whole.write(data)


def parse_row(data: bytes) -> dict[str, Any] | Skipped | None:
    """Return the object of a line. Invalid Unicode in texts is replaced."""
    if not data.strip(b" \t\r\n\0"):
        return None
    try:
        value = orjson.loads(data)
    except ValueError:
        # JavaScript cuts texts in the middle of a character, and writes lone surrogates, which orjson refuses.
        try:
            value = json.loads(data.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return MALFORMED
    return value if isinstance(value, dict) else NO_OBJECT


class _Watched:
    """A file that notices a reader's large input without any output."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.pending = 0

    def read(self, size: int = -1) -> bytes:
        if self.pending > MAX_VALUE_BYTES:
            raise OverflowError
        data = self._file.read(size)
        self.pending += len(data)
        return data


HEAD = "<head>"
WHOLE = "<whole>"


Item = tuple[str | None, Any]
"""An item of a list in a document, behind the list's key, None where the document is the list.

Values outside lists come together: under `HEAD` those before a list, for readers who need them for the list, and under
`WHOLE` all of them at the end.
"""


def items(file: IO[bytes]) -> Iterator[Item]:
    """Yield the items of a JSON document's lists, and the values outside lists."""
    watched = _Watched(file)
    try:
        yield from _items(watched)
    except (ijson.JSONError, UnicodeError, ValueError, RecursionError, OverflowError):
        yield None, VALUE_TOO_LARGE if watched.pending > MAX_VALUE_BYTES else BAD_DOCUMENT


def _items(watched: _Watched) -> Iterator[Item]:
    events = _events(watched)
    first = next(events, None)
    if first is None:
        return
    if first[0] == "start_array":
        for event in events:
            if event[0] == "end_array":
                return
            yield None, _value(event, events)
    if first[0] != "start_map":
        yield None, first[1]
        return
    rest: dict[str, Any] = {}
    told = 0
    key = ""
    for event in events:
        if event[0] == "map_key":
            key = event[1]
        elif event[0] == "start_array":
            if len(rest) > told:
                yield HEAD, dict(rest)
                told = len(rest)
            for inner in events:
                if inner[0] == "end_array":
                    break
                yield key, _value(inner, events)
        elif event[0] != "end_map":
            value = _value(event, events)
            if len(rest) < MAX_KEYS:
                rest[key] = value
    yield WHOLE, rest


def _events(watched: _Watched) -> Iterator[tuple[str, Any]]:
    for event in ijson.basic_parse(watched, use_float=True):
        watched.pending = 0
        yield event


def _value(first: tuple[str, Any], events: Iterator[tuple[str, Any]]) -> Any:
    """Return the value at an event; too large a value is read to its end and dropped."""
    kind, value = first
    if kind not in ("start_map", "start_array"):
        return value
    builder = ijson.ObjectBuilder()
    builder.event(kind, value)
    depth, chars = 1, 0
    for kind, value in events:
        depth += (kind in ("start_map", "start_array")) - (kind in ("end_map", "end_array"))
        chars += len(value) if isinstance(value, str) else 8
        if chars <= MAX_ITEM_CHARS:
            builder.event(kind, value)
        if not depth:
            return builder.value if chars <= MAX_ITEM_CHARS else ITEM_TOO_LARGE
    return BAD_DOCUMENT


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
    try:
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), NOT_UTF8


def members(file: BinaryIO | IO[bytes], depth: int = 0) -> Iterator[tuple[str, int, IO[bytes] | Skipped]]:
    """Yield the files of a zip archive and of archives in it; each is to be read before the next is asked for.

    A file has its name, its packed size, and the open file or its problem.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    yield from _member(archive, info, depth)
    except BAD_ARCHIVE:
        yield "", 0, Skipped("an archive that cannot be read", problem=True)


BAD_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)
"""The errors of zipfile on damaged archives, on unknown ways of packing, and on encrypted ones."""


def _member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, depth: int
) -> Iterator[tuple[str, int, IO[bytes] | Skipped]]:
    name, size = info.filename, info.compress_size
    try:
        opened = archive.open(info)
    except BAD_ARCHIVE:
        yield name, size, Skipped("damaged or encrypted in its archive", problem=True)
        return
    with opened:
        if not name.lower().endswith(".zip"):
            yield name, size, opened
        elif depth >= MAX_NESTED_ZIPS:
            yield name, size, Skipped("an archive too deep in archives", problem=True)
        else:
            for inner, packed, file in members(opened, depth + 1):
                yield f"{name}/{inner}", packed, file
