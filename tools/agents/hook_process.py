"""The process of a hook: it reads the host's input on stdin, and always ends with exit code 0.

It is started by the command `memtape hook`, and by the program for hooks that `connect` installs. Work taken
by a server is done at its reply. Everything else is imported only without a server.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def serve_hook(host: str, home: str | None, *, alone: bool = False, stay: bool = False, distill: str = "") -> NoReturn:
    """Run a hook, stay as a server, or distil the flush at `partition:offset`; then end the process."""
    try:
        if alone or stay or distill:
            _work(host, home, alone, distill)
        else:
            # The process is over before anything that it holds could be worth collecting.
            gc.disable()
            _serve(host, home)
    except BaseException:
        pass
    # Nothing is left to be flushed or joined, and nothing at the interpreter's end may change the exit code.
    os._exit(0)


def _serve(host: str, home: str | None) -> None:
    from memtape.tools.agents.handing import MAX_INPUT_BYTES, Handed, hand_over, tell

    data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    handed = Handed() if home is None else hand_over(host, home, data)
    if handed.done:
        return
    from pathlib import Path

    from memtape.tools.agents import hooks

    place = Path(home) if home else None
    tell(hooks.run(host, place, data, handed=handed))
    hooks.note_time(place)
    if not (handed.late or handed.taken):
        hooks.leave_server(host, place, data)


def _work(host: str, home: str | None, alone: bool, distill: str) -> None:
    """Do the detached work of a hook."""
    from memtape.tools.agents.handing import MAX_INPUT_BYTES

    if alone:
        from memtape.tools.agents.late import serve_late

        return serve_late(host, home, sys.stdin.buffer.read(MAX_INPUT_BYTES + 1))
    from pathlib import Path

    from memtape.tools.agents import hooks

    place = Path(home) if home else None
    if distill:
        return hooks.distill(place, distill)
    if place is not None:
        from memtape.tools.agents.staying import stay

        stay(host, place, sys.stdin.buffer.read(MAX_INPUT_BYTES + 1))
