"""Commands of Memtape that start at once: a process that has imported what it may forks a child for each of them.

Most of what a short command takes is imports. A child is a process of its own with the words, the folder, the
environment and the open files of whoever called it, and does all that the command does. What starts threads when it is
imported, as Lance may, each child imports by itself, for a thread does not live through a fork.

As a program, with the path of a socket and the words of a command, this calls; without words it serves.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEFORE = ("memtape.tools.commands.cli", "pyarrow.compute", "pyarrow.dataset")
"""What is imported before anybody calls, beside what is in the product."""


@contextmanager
def forking(command: Path) -> Iterator[None]:
    """Make a command that does what `memtape` does, for as long as the context lasts."""
    with tempfile.TemporaryDirectory(prefix="memtape-") as folder:  # The path of a socket must be short.
        path = f"{folder}/socket"
        words = [sys.executable, __file__, path]
        server = subprocess.Popen(
            words,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            command.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {__file__} {path} "$@"\n')
            command.chmod(0o755)
            yield
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.communicate()


def call(path: str, words: list[str]) -> int:
    """Have a command run with the files that are open here, and return its exit status."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        socket.send_fds(server, [b"\n"], [0, 1, 2])
        server.sendall(json.dumps([words, os.getcwd(), dict(os.environ)]).encode())
        server.shutdown(socket.SHUT_WR)
        return int(server.makefile().read())


def serve(path: str) -> None:
    """Return in a child for each call, when all there is as its caller has it; never return in the process itself."""
    import gc
    import importlib
    import pkgutil
    import threading

    import memtape

    for name in (*BEFORE, *(module.name for module in pkgutil.walk_packages(memtape.__path__, "memtape."))):
        if not name.endswith("__main__"):
            importlib.import_module(name)
    assert threading.active_count() == 1, threading.enumerate()
    gc.freeze()  # What children never look at they need not copy.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        os.write(1, b"ready\n")
        while True:
            caller = listener.accept()[0]
            if not os.fork():
                break
            caller.close()
    with caller:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        files = socket.recv_fds(caller, 1, 3)[1]
        words, cwd, environment = json.load(caller.makefile())
        if child := os.fork():
            caller.sendall(b"%d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            os._exit(0)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = words


if __name__ == "__main__":
    if sys.argv[2:]:
        sys.exit(call(sys.argv[1], sys.argv[2:]))
    serve(sys.argv[1])
    import runpy

    runpy.run_module("memtape", run_name="__main__", alter_sys=True)
