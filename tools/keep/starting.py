"""Starting Memtape again: detached processes, and processes that work for another.

`python -m` puts the working directory first among the places of modules. An agent may work in any repository,
and a `click.py` there would be run. A process that works for another gets its orders by its stdin and reports
by its stdout, both lines of JSON. Where stdin ends, whoever gives the orders has died, and the process ends
at once. It can be killed at any point. The kinds of orders and reports are elsewhere.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from memtape.schemas.errors import Locked, MemtapeError

if TYPE_CHECKING:
    from memtape.schemas.log import Log
    from memtape.sinks.home.files import FileLock
    from memtape.sinks.home.folders import Home

ReportT = TypeVar("ReportT")
NOWHERE = os.path.abspath(os.sep)
"""Working directory of detached processes."""
PANIC = "panicked at"
"""The words of libraries in Rust about an unhandled error, whose text names lines of Rust."""

_CODE = (
    "import sys; sys.path = [place for place in sys.path if place]; "
    "import runpy; runpy.run_module('{module}', run_name='__main__', alter_sys=True)"
)


def python_of(module: str = "memtape") -> list[str]:
    """Return the words that run a module of ours as a program, from any folder; more words can follow."""
    return [sys.executable, "-c", _CODE.format(module=module)]


def detached(
    words: list[str], data: bytes, environment: dict[str, str] | None = None, held: Collection[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a memtape command in a detached process without output, with `data` on its stdin.

    `held` are file descriptors for the process to inherit.
    """
    process = subprocess.Popen(
        [*python_of(), *words], env=environment, start_new_session=True, cwd=NOWHERE, pass_fds=held,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None
    with suppress(BrokenPipeError), process.stdin:
        process.stdin.write(data)
    return process


def start_one(
    right: FileLock, words: list[str], environment: dict[str, str] | None = None, data: bytes = b""
) -> subprocess.Popen[bytes] | None:
    """Start a memtape command like `detached`, with `data` on its stdin.

    Returns None while an earlier process of the same right runs: each inherits the right, and holds it until
    its end. The lock names the process.
    """
    try:
        right.acquire(0)
    except (Locked, OSError):  # Or the home is gone.
        return None
    try:
        assert right.fd is not None
        process = detached(words, data, environment, [right.fd])
        right.name(process.pid)
        return process
    finally:
        right.release()


def start_detached(home: Home, log: Log) -> bool:
    """Start `run --once` in a detached process, unless an earlier one still runs.

    Returns False where another process would open another log for this home, as where the caller was given a
    log: nothing is started.
    """
    from memtape.sinks.logs.opening import environment_for  # A session's process knows no log.

    environment = environment_for(home, log)
    if environment is not None:
        words = ["run", "--once", "--home", str(home.path.absolute())]
        start_one(home.start_lock("projector"), words, environment)
    return environment is not None


def started(module: str, orders: object, variables: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a module with its first orders, in a session of its own, so that Ctrl-C is the caller's alone."""
    words, pipe = python_of(module), subprocess.PIPE
    process = subprocess.Popen(words, env=variables, stdin=pipe, stdout=pipe, start_new_session=True)
    tell(process, orders)
    return process


def tell(process: subprocess.Popen[bytes], order: object) -> None:
    """Send an order to a process, which may have ended."""
    import msgspec  # A forwarder of lines has no use for it, and ten sessions have ten.

    assert process.stdin is not None
    with suppress(BrokenPipeError, ValueError):
        process.stdin.write(msgspec.json.encode(order) + b"\n")
        process.stdin.flush()


def reports_of(process: subprocess.Popen[bytes], type: type[ReportT]) -> Iterator[ReportT]:
    """Yield the reports of a process until it ends."""
    import msgspec

    assert process.stdout is not None
    for line in process.stdout:
        if line.endswith(b"\n"):  # Else it is half a line of one that was killed.
            yield msgspec.json.decode(line, type=type)


def reporter() -> Callable[[object], None]:
    """Keep the stdout of this process for reports; return the function that sends a report.

    The process ignores SIGINT and SIGTERM: the process that gives orders passes them on.
    """
    import msgspec

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Whatever a library prints is no report.

    def send(report: object) -> None:
        with suppress(OSError):  # Nobody waits any more, as stdin tells.
            reports.write(msgspec.json.encode(report) + b"\n")
            reports.flush()

    return send


def obey(on_order: Callable[[bytes], object]) -> None:
    """Hand on each further line of stdin, in a thread that ends the process where stdin ends."""

    def read() -> None:
        for line in sys.stdin.buffer:
            on_order(line)
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()


def cause_of(error: BaseException) -> BaseException:
    """Return the error of Memtape or the system that Bytewax wraps, and a library's panic as a sentence."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, (MemtapeError, OSError)):
            return cause
        cause = cause.__cause__
    if not (PANIC in str(error) or type(error).__name__ == "PanicException"):
        return error
    quoted = re.findall(r'"([^"]{1,200})"', str(error))
    why = f": {quoted[-1]}" if quoted else ""
    return MemtapeError(
        f"The views could not be written{why}.",
        "See that the disk has room, and that no limit on file sizes (`ulimit -f`) is in force.",
    )


def failure_of(error: BaseException) -> tuple[str, str]:
    """Return the sentence and the next step by which a process reports its error; print an unknown one."""
    cause = cause_of(error)
    if isinstance(cause, (MemtapeError, OSError)):
        return str(cause), getattr(cause, "hint", "")
    import traceback

    traceback.print_exception(error)
    return f"{type(error).__name__}: {error}", ""
