"""Shadow retrievers asked in a separate process: they cost searches no time, and a hanging one is killed.

The process's own work is in `tools/ask/shadow_process.py`.
"""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from contextlib import suppress

import msgspec

from memtape.flows.workers.shadow import ShadowAnswer, ShadowQuestion, Shadows
from memtape.flows.workers.worker import OnNote
from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home
from memtape.sinks.home.offset_marks import OffsetMarks
from memtape.sinks.logs.opening import environment_for
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.starting import NOWHERE, python_of

LATE_S = 60.0
"""An answer may take so long, with the views of a past position that may have to be made for it."""
LOOK_S, END_S = 0.1, 2.0


class ShadowProcess:
    """The `Asker` of a home: a process that answers questions one by one, a line of JSON each."""

    def __init__(
        self, home: Home, log: Log, late_s: float = LATE_S, module: str = "memtape.tools.ask.shadow_process"
    ) -> None:
        self._home = home
        self._log = log
        self._late_s = late_s
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def ask(self, question: ShadowQuestion, stopping: threading.Event) -> ShadowAnswer | None:
        """See `Asker.ask`. One that does not answer in time is ended, as is the process where `stopping` is set."""
        if self._process is None and not self._start():
            return ShadowAnswer(failure="raised", reason="Another process cannot open the log of this home.")
        self._tell(msgspec.json.encode(question))
        until = time.monotonic() + self._late_s
        while time.monotonic() < until and not stopping.is_set():
            with suppress(queue.Empty):
                line = self._lines.get(timeout=LOOK_S)
                if line:
                    return msgspec.json.decode(line, type=ShadowAnswer)
                self.close()
                return ShadowAnswer(failure="raised", reason="Its process has ended.")
        self._end()
        return None if stopping.is_set() else ShadowAnswer(failure="late", reason=f"No answer in {self._late_s:g} s.")

    def close(self) -> None:
        """See `Asker.close`."""
        if self._process is not None:
            with suppress(BrokenPipeError):
                assert self._process.stdin is not None
                self._process.stdin.close()  # It ends where nobody asks any more.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_S)
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _start(self) -> bool:
        environment = environment_for(self._home, self._log)
        if environment is None:
            return False
        self._process = subprocess.Popen(
            python_of(self._module),
            env=environment,
            cwd=NOWHERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # So that Ctrl-C is the owner's alone.
        )
        self._lines = queue.SimpleQueue()
        threading.Thread(target=_read, args=(self._process, self._lines), daemon=True).start()
        self._tell(str(self._home.path.absolute()).encode())
        return True

    def _tell(self, line: bytes) -> None:
        assert self._process is not None and self._process.stdin is not None
        with suppress(BrokenPipeError):  # It has ended, which is seen where it is read.
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()


def _read(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            lines.put(line)
    lines.put(b"")


def shadow_worker(home: Home, log: Log, on_note: OnNote) -> Shadows:
    """Return the worker that has the shadows of a home's log asked."""
    return Shadows(log, OffsetMarks(home.shadows_path, log), ShadowProcess(home, log), now_us, on_note)
