"""Starting Memtape again: by this Python, without modules from the current folder.

`python -m` puts the working directory first among the places of modules. An agent may work in any repository,
and a `click.py` there would be run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from memtape.schemas.errors import Locked

if TYPE_CHECKING:
    from collections.abc import Collection

    from memtape.schemas.log import Log
    from memtape.sinks.home.folders import FileLock, Home

NOWHERE = os.path.abspath(os.sep)
"""Working directory of detached processes."""

_CODE = (
    "import sys; sys.path = [place for place in sys.path if place]; "
    "import runpy; runpy.run_module('{module}', run_name='__main__', alter_sys=True)"
)


def python_of(module: str = "memtape") -> list[str]:
    """Return the words that run a module of ours as a program; more words can follow. From any folder it is ours."""
    return [sys.executable, "-c", _CODE.format(module=module)]


def detached(
    words: list[str], environment: dict[str, str] | None = None, held: Collection[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a memtape command in a detached process without output; its stdin belongs to the caller.

    `held` are file descriptors for the process to inherit.
    """
    return subprocess.Popen(
        [*python_of(), *words],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=NOWHERE,
        pass_fds=held,
    )


def start_one(
    right: FileLock, words: list[str], environment: dict[str, str] | None = None, data: bytes = b""
) -> subprocess.Popen[bytes] | None:
    """Start a memtape command like `detached`, with `data` on its stdin.

    Returns None while an earlier process of the same right runs: each inherits the right, and holds it until
    its end.
    """
    try:
        right.acquire(0)
    except (Locked, OSError):  # Or the home is gone.
        return None
    try:
        assert right.fd is not None
        started = detached(words, environment, [right.fd])
    finally:
        right.release()
    assert started.stdin is not None
    with suppress(BrokenPipeError), started.stdin:
        started.stdin.write(data)
    return started


def start_detached(home: Home, log: Log) -> None:
    """Start `run --once` in a detached process, unless an earlier one still runs.

    Nothing is started where another process would open another log for this home, as where the caller was
    given a log.
    """
    from memtape.sinks.logs.opening import environment_for  # A session's process knows no log.

    environment = environment_for(home, log)
    if environment is not None:
        words = ["run", "--once", "--home", str(home.path.absolute())]
        start_one(home.start_lock("projector"), words, environment)
