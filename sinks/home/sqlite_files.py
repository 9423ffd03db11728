"""Reading the files of an SQLite database that this process has open, past SQLite.

POSIX releases every lock of a process on a file as soon as the process closes any descriptor of it. SQLite
would then hold no lock on its database: another process that ends takes itself for the last one, deletes the
write-ahead file, and later appends of this process are lost. So such a descriptor is closed after the
database.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_SUFFIXES = ("-wal", "-shm", "-journal")

_lock = threading.Lock()
_uses: dict[str, int] = {}
_held: dict[str, list[BinaryIO]] = {}


def use(database: Path) -> str:
    """Count a database as in use before this process opens it; return its name for `leave`."""
    name = os.path.realpath(database)
    with _lock:
        _uses[name] = _uses.get(name, 0) + 1
    return name


def leave(name: str) -> None:
    """Count one use of a database as ended; after the last use, close the files held open for reading."""
    with _lock:
        _uses[name] -= 1
        files = [] if _uses[name] else _held.pop(name, [])
        if not _uses[name]:
            del _uses[name]
        for file in files:
            file.close()


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open any file to read it; one of a database in use is closed with the database."""
    file, name = path.open("rb"), os.path.realpath(path)
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    try:
        yield file
    finally:
        with _lock:
            if name in _uses:
                _held.setdefault(name, []).append(file)
            else:
                file.close()


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, see `opened`."""
    with opened(path) as file:
        return file.read()
