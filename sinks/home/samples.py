"""`samples` of a home: measurements by short processes of themselves, appended without a lock.

A sample is 20 bytes, and the samples of one call are one write to the end of the file: the kernel keeps the
writes of many processes apart. After a write to a full disk the rest of it is missing; the reader goes on at
the next sample with a right check. The file holds only numbers, no text. It can be deleted at any time:
counters then start at 0. A process that makes it longer than `MOST_BYTES` deletes it. `schemas/metrics.py`
has the numbers of the metrics. The module is light, since hooks load it.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memtape.schemas.metrics import SAMPLED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "samples"
MOST_BYTES = 4_000_000
"""Of some 40,000 searches. A scrape reads all of it, in some hundredths of a second."""
_MARK = b"MT"
_PAYLOAD = struct.Struct("<BBBxIQ")
"""The metric's number, its labels' indexes, the time (s) and the value, after a mark and a check."""
_WORDS = struct.Struct("<IIII")
_BYTES = 20
_MOST = 2**64 - 1

Noted = tuple[str, str, str, int]
"""The metric, its first and second label (empty for none), and the value."""


def note(home: str | Path, samples: Iterable[Noted]) -> None:
    """Append samples to the file of an existing home. Never raises, so that the measured work goes on."""
    now = int(time.time())
    parts = []
    for name, first, second, value in samples:
        kind = SAMPLED[name]
        b = kind.second.index(second) if kind.second else 0
        payload = _PAYLOAD.pack(kind.number, kind.first.index(first), b, now, min(max(value, 0), _MOST))
        parts.append(_MARK + _check(_WORDS.unpack(payload)).to_bytes(2, "little") + payload)
    path = os.path.join(home, NAME)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return
    try:
        os.write(file, b"".join(parts))
        its = os.fstat(file)
        if its.st_size > MOST_BYTES and os.stat(path).st_ino == its.st_ino:  # Else somebody has just begun it anew.
            os.unlink(path)
    except OSError:
        pass
    finally:
        os.close(file)


def _check(words: Sequence[Any]) -> Any:
    """Return 16 bits that follow from the four words of a payload, or of many as columns."""
    mixed = words[0] ^ words[1] ^ words[2] ^ words[3]
    return (mixed ^ (mixed >> 16)) & 0xFFFF


class Sums(NamedTuple):
    """Of one series: how many samples there are, the sum of their values, and how many are at most each bound."""

    samples: int
    total: int
    at_most: tuple[int, ...]


class Samples:
    """The samples of a home, as they stood when this was made."""

    def __init__(self, home: Path) -> None:
        import numpy as np

        try:
            data = (home / NAME).read_bytes()
        except OSError:
            data = b""
        form = [("mark", "S2"), ("check", "<u2"), ("name", "u1"), ("first", "u1"), ("second", "u1"), ("pad", "u1")]
        self.rows: NDArray[np.void] = np.frombuffer(_whole(data), np.dtype([*form, ("at_s", "<u4"), ("value", "<u8")]))

    def of(self, name: str, first: str, second: str = "") -> NDArray[np.void]:
        """Return the samples of a series, with `at_s` and `value`; of all second labels if none is given."""
        kind, rows = SAMPLED[name], self.rows
        chosen = (rows["name"] == kind.number) & (rows["first"] == kind.first.index(first))
        if second:
            chosen &= rows["second"] == kind.second.index(second)
        found: NDArray[np.void] = rows[chosen]
        return found

    def sums(self, name: str, first: str, second: str = "", bounds: Iterable[int] = ()) -> Sums:
        """Return the sums of a series; `bounds` are upper bounds of values."""
        values = self.of(name, first, second)["value"]
        return Sums(len(values), int(values.sum()), tuple(int((values <= bound).sum()) for bound in bounds))


def _whole(data: bytes) -> bytes:
    """Return the intact samples of a file, concatenated."""
    import numpy as np

    parts, at = [], 0
    while at + _BYTES <= len(data):
        records = np.frombuffer(data, np.uint8, (len(data) - at) // _BYTES * _BYTES, at).reshape(-1, _BYTES)
        words = np.ascontiguousarray(records[:, 4:]).view("<u4")
        check = np.ascontiguousarray(records[:, 2:4]).view("<u2")[:, 0]
        right = (records[:, :2] == tuple(_MARK)).all(axis=1) & (check == _check([*words.T]))
        first_wrong = len(right) if right.all() else int(right.argmin())
        parts.append(data[at : at + first_wrong * _BYTES])
        at += first_wrong * _BYTES
        if first_wrong < len(right) and (at := data.find(_MARK, at + 1)) < 0:
            break
    return b"".join(parts)
