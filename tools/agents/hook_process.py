"""The process of a hook: it reads what a host tells on stdin, and ends with exit code 0 whatever happens.

Two ways lead here: the command `memtape hook`, and the start of the program for a hook as `connect` installs it.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import NoReturn


def serve_hook(host: str, home: str | None, *, alone: bool = False, distill: str = "") -> NoReturn:
    """Do what a hook is for, or distil the flush at `partition:offset`, and end the process."""
    try:
        if not (alone or distill):
            # The process is over before anything that it holds could be worth collecting.
            gc.disable()
        from memtape.tools.agents import hooks

        place = Path(home) if home else None
        if distill:
            hooks.distill(place, distill)
        else:
            data = sys.stdin.buffer.read(hooks.MAX_INPUT_BYTES + 1)
            hooks.tell(hooks.run(host, place, data, alone=alone))
    except BaseException:
        pass
    # Nothing is left to be flushed or joined, and nothing at the interpreter's end may change the exit code.
    os._exit(0)
