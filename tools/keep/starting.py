"""How Memtape starts itself again: by this Python, without what lies in the folder that it is started in.

`python -m` puts the working directory first among the places of modules. That is whatever repository an agent happens
to work in, and a `click.py` there would be run.
"""

from __future__ import annotations

import os
import sys

NOWHERE = os.path.abspath(os.sep)
"""Where a process works that outlives the one that started it."""

_CODE = (
    "import sys; sys.path = [place for place in sys.path if place]; "
    "import runpy; runpy.run_module('{module}', run_name='__main__', alter_sys=True)"
)


def python_of(module: str = "memtape") -> list[str]:
    """Return the words that run a module of ours as a program; more words can follow. From any folder it is ours."""
    return [sys.executable, "-c", _CODE.format(module=module)]
