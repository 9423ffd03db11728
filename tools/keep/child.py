"""Processes of ours that work for another: orders go in by their stdin, and reports come out of their stdout.

Both are lines of JSON; nothing of them is code. Where stdin ends, whoever gives the orders has died, and the process
ends at once. It can be killed at any point. The kinds of orders and reports are elsewhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

import msgspec

from memtape.tools.keep.starting import python_of

ReportT = TypeVar("ReportT")


def started(module: str, orders: object, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a module with its first orders, in a session of its own, so that Ctrl-C is the caller's alone."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(python_of(module), env=environment, stdin=pipe, stdout=pipe, start_new_session=True)
    tell(process, orders)
    return process


def tell(process: subprocess.Popen[bytes], order: object) -> None:
    """Send an order to a process, which may have ended."""
    assert process.stdin is not None
    with suppress(BrokenPipeError, ValueError):
        process.stdin.write(msgspec.json.encode(order) + b"\n")
        process.stdin.flush()


def reports_of(process: subprocess.Popen[bytes], type: type[ReportT]) -> Iterator[ReportT]:
    """Yield the reports of a process until it ends."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.endswith(b"\n"):  # Else it is half a line of one that was killed.
            yield msgspec.json.decode(line, type=type)


def reporter() -> Callable[[object], None]:
    """Keep the stdout of this process for reports, and return the function that sends one."""
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Whatever a library prints is no report.

    def send(report: object) -> None:
        with suppress(OSError):  # Nobody waits any more, as stdin tells.
            reports.write(msgspec.json.encode(report) + b"\n")
            reports.flush()

    return send


def obey(on_order: Callable[[bytes], object]) -> None:
    """Hand on each further line of this process's stdin, in a thread that ends the process where stdin ends."""

    def read() -> None:
        for line in sys.stdin.buffer:
            on_order(line)
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
