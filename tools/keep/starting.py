"""How Memtape starts itself again: by this Python, without what lies in the folder that it is started in.

`python -m` puts the working directory first among the places of modules. That is whatever repository an agent happens
to work in, and a `click.py` there would be run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtape.schemas.log import Log
    from memtape.sinks.home.folders import Home

NOWHERE = os.path.abspath(os.sep)
"""Where a process works that outlives the one that started it."""

_CODE = (
    "import sys; sys.path = [place for place in sys.path if place]; "
    "import runpy; runpy.run_module('{module}', run_name='__main__', alter_sys=True)"
)


def python_of(module: str = "memtape") -> list[str]:
    """Return the words that run a module of ours as a program; more words can follow. From any folder it is ours."""
    return [sys.executable, "-c", _CODE.format(module=module)]


def start_detached(home: Home, log: Log) -> None:
    """Start `run --once` in a process of its own, which outlives this one and says nothing.

    Nothing is started where another process would open another log for this home, as where one was handed in.
    """
    from memtape.sinks.logs.opening import environment_for  # A session's process knows no log.

    environment = environment_for(home, log)
    if environment is None:
        return
    subprocess.Popen(
        [*python_of(), "run", "--once", "--home", str(home.path.absolute())],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=NOWHERE,
    )
