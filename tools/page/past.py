"""Past views, drawn by a separate process that folds the log: the page itself stays quick.

A page has at most one process, started at its first need; it draws one view after another. Its work is in
`past_process`.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.tools.keep.starting import python_of
from memtape.tools.keep.waiting import who_waits
from memtape.tools.page.drawing import DrawnPage
from memtape.tools.page.past_process import PageOrders, PageReport, ToDraw

MODULE = "memtape.tools.page.past_process"


class Past:
    """The process that draws the past of a home. `drawn` is for one thread, `close` for any."""

    def __init__(self, home: Path, scope: str) -> None:
        self._orders = PageOrders(str(home), scope)
        self._changing = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def drawn(self, path: str, pairs: list[tuple[str, str]]) -> DrawnPage:
        """Return a view, with progress for the waiting caller. Raises `MemtapeError` at the process's end."""
        process = self._started()
        self._tell(process, ToDraw(path, pairs))
        try:
            for report in _reports(process):
                if report.broken:
                    raise RuntimeError(f"The process that looks at the past has met {report.broken}.")
                if report.html is not None:
                    return DrawnPage(report.html, report.status, report.error)
                who_waits()(report.done, report.total)
        except BaseException:  # Nobody waits any more: the next must not be given this view.
            process.kill()
            process.wait()
            raise
        raise _ended(process)

    def close(self) -> None:
        """Kill the process, and start no other."""
        with self._changing:
            self._closed = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._changing:
            if self._closed:
                raise MemtapeError("The page is ending.", "Start it again: memtape page")
            if self._process is not None and self._process.poll() is None:
                return self._process
            self._process = subprocess.Popen(
                python_of(MODULE),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # So that Ctrl-C is the page's alone.
            )
            self._tell(self._process, self._orders)
            return self._process

    def _tell(self, process: subprocess.Popen[bytes], told: PageOrders | ToDraw) -> None:
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # It has ended, which is seen where it is read.
            process.stdin.write(msgspec.json.encode(told) + b"\n")
            process.stdin.flush()


def _reports(process: subprocess.Popen[bytes]) -> Iterator[PageReport]:
    assert process.stdout is not None
    for line in process.stdout:
        if line.endswith(b"\n"):  # Else it is half a line of one that was killed.
            yield msgspec.json.decode(line, type=PageReport)


def _ended(process: subprocess.Popen[bytes]) -> MemtapeError:
    code = process.wait()
    how = f"was ended by signal {-code}" if code < 0 else f"has ended with exit code {code}"
    return MemtapeError(
        f"The process that folds the log for this view {how}.",
        "Load this view again: another process goes on from what this one has left.",
    )
