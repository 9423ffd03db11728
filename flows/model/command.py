"""Any command as a model: the command reads a prompt on stdin and writes its answer to stdout.

Its stderr is discarded, because stderr may repeat the prompt. The command runs in the temporary folder and
with `MEMTAPE_HOOKS=off`, so that an agent used as a model does not capture its own prompts.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from memtape.flows.model.model import ANSWER_MAX_BYTES, COMMAND_VARIABLE, within
from memtape.schemas.errors import BadAnswer, MemtapeError
from memtape.schemas.variables import HOOKS_OFF, HOOKS_VARIABLE


class CommandModel:
    """A model behind a command, given as words; see `flows.model.model.Model`."""

    def __init__(self, words: Sequence[str], name: str = "") -> None:
        self._words = list(words)
        program = Path(self._words[0]).name
        self.name = name or program or "command"
        self.place = f"The model command {program}"
        self.tokens = 0

    def answer(self, prompt: str, limit_s: float) -> str:
        """See `Model.answer`. A command that takes longer is killed with its children."""
        try:
            process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd=tempfile.gettempdir(),
                env={**os.environ, HOOKS_VARIABLE: HOOKS_OFF},
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise MemtapeError(f"{self.place} cannot be started: {reason}.", f"Check {COMMAND_VARIABLE}.") from None
        try:
            return within(limit_s, lambda: self._talk(process, prompt.encode("utf-8", "replace")), self.place)
        finally:
            _end(process)

    def _talk(self, process: subprocess.Popen[bytes], prompt: bytes) -> str:
        """Write the prompt and read the answer at once, since either pipe may be full."""
        assert process.stdin is not None and process.stdout is not None
        threading.Thread(target=_write, args=(process.stdin, prompt), daemon=True).start()
        with process.stdout:
            answer = process.stdout.read(ANSWER_MAX_BYTES + 1)
        if len(answer) > ANSWER_MAX_BYTES:
            raise BadAnswer(f"{self.place} answers more than {ANSWER_MAX_BYTES >> 20} MiB.")
        code = process.wait()
        if code:
            raise MemtapeError(f"{self.place} ended with exit code {code}.", "Run it by hand to see why.")
        return answer.decode("utf-8", "replace")


def _write(stdin: IO[bytes], prompt: bytes) -> None:
    # A command that does not read its prompt to the end may still answer.
    with suppress(OSError, ValueError), stdin:
        stdin.write(prompt)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its children if it still runs, then wait for it.

    Until the wait, the system gives its process id to no other process.
    """
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
