"""The process of shadow retrievers: `python -m memtape.tools.ask.shadow_process`, started by the worker.

Its home comes as a line on stdin, then questions as lines of JSON; answers go out as lines of JSON on stdout.
It ends with stdin. It yields the processor to all other processes.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import closing
from pathlib import Path

import msgspec

from memtape.flows.workers.shadow import ShadowAnswer, ShadowQuestion
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.opening import open_log
from memtape.tools.ask.shadowing import Shadowing

NICE = 19


def main() -> None:
    """Answer questions until stdin closes; an error is an answer too."""
    for number in (signal.SIGINT, signal.SIGTERM):  # They are the owner's, who ends this process.
        signal.signal(number, signal.SIG_IGN)
    os.nice(NICE)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Whatever a library prints is no answer.
    home = Home(Path(os.fsdecode(sys.stdin.buffer.readline().rstrip(b"\n"))))
    with closing(open_log(home)) as log:
        shadowing = Shadowing(home, log)
        for line in sys.stdin.buffer:
            try:
                answered = shadowing.answer(msgspec.json.decode(line, type=ShadowQuestion))
            except Exception as error:  # A retriever of whatever kind can fail in whatever way.
                answered = ShadowAnswer(failure="raised", reason=f"{type(error).__name__}: {error}")
            answers.write(msgspec.json.encode(answered) + b"\n")
            answers.flush()


if __name__ == "__main__":
    main()
