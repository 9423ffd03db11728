"""Commands of Memtape that start at once: a process that has imported what it may forks a child for each.

Most of what a short command takes is imports. A child is a process of its own with the words, the folder, the
environment and the open files of its caller, and does all that the command does. What starts threads at
import, as Lance may, each child imports by itself, for a thread does not live through a fork.

As a program, with the path of a socket, this serves; `calling.py` calls.
"""

from __future__ import annotations

import marshal
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

TESTS = Path(__file__).resolve().parent
ROOT, CALLING = TESTS.parent, TESTS / "calling.py"
PATIENT, LONG_S = "--patient", 60.0
BEFORE = ("memtape.tools.doors.cli", "pyarrow.compute", "pyarrow.dataset")
"""What is imported before anybody calls, beside what is in the product."""


def python(program: str, *words: object, **how: Any) -> subprocess.Popen[Any]:
    """Start a process that runs a program, which may import what the product and the tests have."""
    paths = os.pathsep.join((str(ROOT), str(TESTS)))
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, **how)


@contextmanager
def forking(command: Path) -> Iterator[None]:
    """Make a command that does what `memtape` does, for as long as the context lasts."""
    with tempfile.TemporaryDirectory(prefix="memtape-") as folder:  # The path of a socket must be short.
        server, words = _started(folder)
        try:
            command.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
            command.chmod(0o755)
            yield
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.communicate()


@cache
def memtape() -> tuple[str, ...]:
    """Return the words that begin a command, as `python -m memtape` does; its server ends with this process.

    They set aside how long a hook may take, and after `PATIENT` how long it waits: a load is no wrong answer.
    """
    folder = tempfile.mkdtemp(prefix="memtape-")
    server, words = _started(folder, PATIENT)
    _servers.append((server, folder))
    return tuple(words)


_servers: list[tuple[subprocess.Popen[bytes], str]] = []


def end() -> None:
    """End what serves the commands of this process, where anything does."""
    for server, folder in _servers:
        server.communicate()  # It ends where nobody could call it any more.
        shutil.rmtree(folder, ignore_errors=True)


def _started(folder: str, *more: str) -> tuple[subprocess.Popen[bytes], list[str]]:
    """Start what serves commands on a socket in a folder, and return it with the words that call it."""
    path = f"{folder}/socket"
    server = subprocess.Popen(
        [sys.executable, __file__, path, *more], env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return server, [sys.executable, "-IS", str(CALLING), path]


def import_all() -> None:
    """Import what commands may import, and compile the expressions that they may use."""
    import gc
    import importlib
    import pkgutil
    import threading

    import memtape
    from memtape.schemas import patterns

    for name in (*BEFORE, *(module.name for module in pkgutil.walk_packages(memtape.__path__, "memtape."))):
        if not name.endswith("__main__"):
            importlib.import_module(name)
    for value in gc.get_objects():
        if type(value) is patterns._Lazy:
            value.__getattr__("pattern")
    assert threading.active_count() == 1, threading.enumerate()


def accept(listener: socket.socket) -> socket.socket:
    """Return in a child for each caller; tell each caller how its child ended."""
    callers: dict[int, socket.socket] = {}
    woken, waking = socket.socketpair()
    waking.setblocking(False)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready = select.select([listener, 0, woken], [], [])[0]
        if 0 in ready:
            os._exit(0)
        if woken in ready:
            woken.recv(4096)
            tell(callers)
        if listener in ready:
            caller = listener.accept()[0]
            child = os.fork()
            if not child:
                break
            callers[child] = caller
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for other in (*callers.values(), woken, waking):
        other.close()
    return caller


def tell(callers: dict[int, socket.socket]) -> None:
    """Tell callers how their children ended, so far as these have."""
    while callers:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            return
        with suppress(OSError), callers.pop(child) as caller:  # One that was killed hears nothing.
            caller.sendall(b"%d" % os.waitstatus_to_exitcode(status))


def serve(path: str, is_patient: bool) -> None:
    """Return in a child for each call, when all is as its caller has it; never return in the process itself.

    It ends with the process that started it, whose end of the pipe is closed then.
    """
    import gc

    import_all()
    if is_patient:
        from memtape.tools.agents import hooks

        hooks.WAIT_S = hooks.START_WAIT_S = LONG_S
    gc.freeze()  # What children never look at they need not copy.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        os.write(1, b"ready\n")
        caller = accept(listener)
    with caller:
        files = socket.recv_fds(caller, 1, 3)[1]
        words, cwd, environment = marshal.loads(caller.makefile("rb").read())
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    if words[:1] == [PATIENT]:
        from memtape.tools.keep import wire

        wire.HAND_WAIT_S = LONG_S
        words = words[1:]
    sys.argv[1:] = words


def run() -> NoReturn:
    """Run the command and end as an interpreter does, but take nothing apart that was imported, for speed."""
    import atexit
    import runpy
    import threading

    status: object = None
    try:
        runpy.run_module("memtape", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        status = ended.code
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    if status is not None and not isinstance(status, int):
        print(status, file=sys.stderr)
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


if __name__ == "__main__":
    serve(sys.argv[1], PATIENT in sys.argv[2:])
    run()
