"""The bytes of SQLite files page by page, in use by SQLite or not: free pages and old frames too.

Only reading, without a lock: a page that another process writes meanwhile may be torn. The layout is that of
"Database File Format" in SQLite's own documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from memtape.sinks.home.sqlite_files import read_bytes

MAGIC = b"SQLite format 3\x00"

_WAL_HEADER = 32
_FRAME_HEADER = 24
_HEADER_BYTES = {2: 12, 5: 12, 10: 8, 13: 8}
"""The length of a b-tree page's header by its type: interior and leaf of an index, interior and leaf of a table."""


class Piece(NamedTuple):
    """Bytes of a file, and their position: a page as it is, or a value that spans several pages."""

    where: str
    data: bytes


def pages_of_database(path: Path) -> Iterator[Piece]:
    """Yield every page of a database, and every value that is longer than a page."""
    data = read_bytes(path)
    size = int.from_bytes(data[16:18], "big") if len(data) >= 100 else 0
    size = 65_536 if size == 1 else size or 4_096
    usable = size - (data[20] if len(data) > 20 else 0)

    def page(number: int) -> bytes:
        return data[(number - 1) * size : number * size]

    for number in range(1, -(-len(data) // size) + 1):
        yield Piece(f"page {number}", page(number))
        yield from _long_values(f"page {number}", page(number), 100 if number == 1 else 0, usable, page)


def pages_of_wal(path: Path) -> Iterator[Piece]:
    """Yield every frame of a write-ahead file, older ones of the same page too, and every value longer than a page."""
    data = read_bytes(path)
    size = int.from_bytes(data[8:12], "big")
    if not 512 <= size <= 65_536:
        yield Piece("all", data)
        return
    starts = range(_WAL_HEADER, len(data), _FRAME_HEADER + size)
    frames = [(int.from_bytes(data[start : start + 4], "big"), start + _FRAME_HEADER) for start in starts]
    latest = dict(frames)
    main = path.with_name(path.name.removesuffix("-wal"))
    base = read_bytes(main) if main.exists() else b""

    def page(number: int) -> bytes:
        if number in latest:
            return data[latest[number] : latest[number] + size]
        return base[(number - 1) * size : number * size]

    for place, (number, start) in enumerate(frames):
        piece = data[start : start + size]
        yield Piece(f"frame {place}", piece)
        yield from _long_values(f"frame {place}", piece, 100 if number == 1 else 0, size, page)


def _long_values(where: str, page: bytes, start: int, usable: int, read: Callable[[int], bytes]) -> Iterator[Piece]:
    """Yield the values of a b-tree page that continue on overflow pages; none for other pages."""
    kind = page[start] if len(page) > start else 0
    if kind not in (2, 10, 13) or len(page) < usable:
        return
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    pointers = start + _HEADER_BYTES[kind]
    for place in range(min(count, (usable - pointers) // 2)):
        at = int.from_bytes(page[pointers + 2 * place : pointers + 2 * place + 2], "big")
        length, at = _varint(page, at + (4 if kind == 2 else 0))
        if kind == 13:
            _, at = _varint(page, at)
        local = _local(length, usable, kind == 13)
        if local < length and at + local + 4 <= len(page):
            first = int.from_bytes(page[at + local : at + local + 4], "big")
            yield Piece(f"{where}, value {place}", page[at : at + local] + _overflow(first, length - local, read))


def _local(length: int, usable: int, table: bool) -> int:
    """Return the number of bytes of a value on its own page."""
    most = usable - 35 if table else (usable - 12) * 64 // 255 - 23
    if length <= most:
        return length
    least = (usable - 12) * 32 // 255 - 23
    kept = least + (length - least) % (usable - 4)
    return kept if kept <= most else least


def _overflow(number: int, length: int, read: Callable[[int], bytes]) -> bytes:
    parts, rest, seen = [], length, set()
    while number and rest > 0 and number not in seen:
        seen.add(number)
        page = read(number)
        parts.append(page[4 : 4 + rest])
        rest -= max(len(page) - 4, 1)
        number = int.from_bytes(page[:4], "big")
    return b"".join(parts)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and the offset behind it."""
    value = 0
    for place in range(9):
        byte = data[at + place] if at + place < len(data) else 0
        if place == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    raise AssertionError
