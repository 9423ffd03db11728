"""`counts.db` of a home: what short processes count and measure of themselves, as one table of SQLite.

A row is a series, its labels, an upper bound, and the number and sum of the values between that bound and the
one before. The file holds words of this program and numbers, no text. It can be deleted at any time: counters
then start at 0. A write never raises. `schemas/metrics.py` has the series. Hooks load this module.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from memtape.schemas.metrics import BOUNDS_US
from memtape.sinks.home.sqlite_files import KeptConnection

NAME = "counts.db"
WAIT_S = 3.0
NO_BOUND = -1

LEFT_OUT = "left-out"  # Events of hooks that were not stored, by reason.
FLUSHES = "flushes"  # Flushes before a compaction, by `FlushOutcome`.
FlushOutcome = Literal["deterministic_ok", "distilled_ok", "timeout", "error"]

Noted = tuple[str, str, str, int]
"""The series, its first and second label (empty for none), and the value."""

_TABLE = (
    "CREATE TABLE IF NOT EXISTS counts (series TEXT, first TEXT, second TEXT, bound INTEGER, number INTEGER, "
    "total INTEGER, PRIMARY KEY (series, first, second, bound)) WITHOUT ROWID"
)
_ADD = (
    "INSERT INTO counts VALUES (?, ?, ?, ?, 1, ?) "
    "ON CONFLICT DO UPDATE SET number = number + 1, total = total + excluded.total"
)


def note(home: str | Path, noted: Iterable[Noted]) -> None:
    """Add values to the file of an existing home. Never raises."""
    path = Path(home) / NAME
    rows = []
    for name, first, second, value in noted:
        bound = next((its for its in BOUNDS_US.get(name, ()) if value <= its), NO_BOUND)
        rows.append((name, first, second, bound, max(value, 0)))
    with suppress(OSError, sqlite3.OperationalError):
        if not path.exists():
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            with _opened(path) as db:
                db.execute("PRAGMA synchronous=OFF")
                db.execute("BEGIN IMMEDIATE")  # Else two that have begun to read refuse each other to write.
                db.execute(_TABLE)
                db.executemany(_ADD, rows)
                db.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            path.unlink(missing_ok=True)  # It is damaged.


def count_one(home: Path, series: str, label: str) -> None:
    """Add 1 to the count of a label. Never raises."""
    note(home, [(series, label, "", 1)])


class Sums(NamedTuple):
    """Of one series: how many values there are, their sum, and how many are at most each bound."""

    samples: int
    total: int
    at_most: tuple[int, ...] = ()


class HomeCounts:
    """The counts of a home, as they stood when this was made."""

    def __init__(self, home: Path) -> None:
        self._rows: list[tuple[str, str, str, int, int, int]] = []
        path = home / NAME
        with suppress(OSError, sqlite3.DatabaseError):
            if path.is_file():
                with _opened(path) as db:
                    rows = db.execute("SELECT * FROM counts ORDER BY series, first, second, bound")
                    self._rows = rows.fetchall()

    def tally(self, series: str) -> dict[str, int]:
        """Return the total of each first label of a series that is counted, not measured."""
        return {first: total for name, first, _, _, _, total in self._rows if name == series}

    def sums(self, series: str, first: str, second: str = "") -> Sums:
        """Return the sums of a series; of all second labels if none is given."""
        rows = [it for it in self._rows if it[:2] == (series, first) and second in ("", it[2])]
        bounds = BOUNDS_US.get(series, ())
        at_most = tuple(sum(it[4] for it in rows if it[3] != NO_BOUND and it[3] <= bound) for bound in bounds)
        return Sums(sum(it[4] for it in rows), sum(it[5] for it in rows), at_most)


def _opened(path: Path) -> closing[KeptConnection]:
    return closing(sqlite3.connect(path, timeout=WAIT_S, isolation_level=None, factory=KeptConnection))
