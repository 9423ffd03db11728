"""An agent's last answer, for a host that names only its file to a hook.

Copilot CLI writes `session-state/<session>/events.jsonl`, a line for each event. A turn's answer is often
written only some tenths of a second after the hook began. Nothing else of the file is read, since other hooks
have the rest.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import orjson

LOOK_S = 0.1
TAIL_BYTES = 1024 * 1024
"""An answer that begins further from the end is not found."""


def copilot_answer(transcript: Path, wait_s: float) -> str:
    """Return the last words of the agent since its latest tool and the user's latest prompt. Never raises.

    Empty where there are none after `wait_s`.
    """
    deadline = time.monotonic() + wait_s
    while not (answered := _latest(transcript)) and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    return answered


def _latest(transcript: Path) -> str:
    try:
        with transcript.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).splitlines()
    except (OSError, ValueError):
        return ""
    for line in reversed(lines):
        try:
            row = orjson.loads(line)
            type, said = row["type"], row["data"].get("content")
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if type in ("user.message", "tool.execution_start"):
            return ""
        if type == "assistant.message" and isinstance(said, str) and said.strip():
            return said
    return ""
