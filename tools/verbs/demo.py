"""The demo, in its own home: a fact is told to an agent, changes, is known to another, and is erased."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.variables import SESSION_VARIABLE
from memtape.schemas.visible import one_line
from memtape.sinks.home.folders import HOME_VARIABLE
from memtape.sinks.logs.opening import LOG_VARIABLE
from memtape.tools.verb import Output, Verb

ADA = ("--actor", "Ada", "--origin", "user")
MOST_S = 120
"""A step that takes longer has failed."""


class DemoStep(msgspec.Struct, frozen=True):
    """A step: the claim that it shows, the command as typed by a person, and the printed lines."""

    shows: str
    command: str
    printed: str


class DemoReport(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of the demo, and how long they took."""

    steps: list[DemoStep]
    seconds: float


def demo(home: Path) -> Output:
    """Show in less than a minute what this memory does: told, changed, known to another agent, erased,
    proven.

        memtape demo

    It needs no key, no agent and no past session. It works in a home of its own, which is deleted.

    Raises `MemtapeError` where a step fails.
    """
    from memtape.tools.doors.terminal import is_json, say

    started, steps = time.monotonic(), list[DemoStep]()
    for number, step in enumerate(_steps(), start=1):
        steps.append(step)
        if not is_json():
            printed = "\n".join(f"  {line}" for line in step.printed.split("\n"))
            say(f"\n{number}. {step.shows}\n$ {step.command}\n{printed}")
    yield DemoReport(steps=steps, seconds=round(time.monotonic() - started, 1))
    took = f"{time.monotonic() - started:.0f} s"
    yield f"\nThat took {took}, in a home that is gone now. Nothing left this machine."
    yield "Next: `memtape agents connect` gives the agents on this machine their memory."


def _steps() -> Iterator[DemoStep]:
    """Run each step in a process of its own, as a person would."""
    with TemporaryDirectory(prefix="memtape-demo-") as folder:
        project = Path(folder, "harbour")
        project.mkdir()
        left_out = (LOG_VARIABLE, SESSION_VARIABLE)
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        environment |= {HOME_VARIABLE: str(Path(folder, "home")), "NO_COLOR": "1"}
        ids: list[str] = []

        def ran(shows: str, *words: str, told: str = "", show: Callable[[str], str] = str.rstrip) -> DemoStep:
            command = [sys.executable, "-m", "memtape", *words]
            done = subprocess.run(
                command,
                cwd=project,
                env=environment,
                input=told,
                capture_output=True,
                text=True,
                timeout=MOST_S,
            )
            if done.returncode != 0:
                raise MemtapeError(f"The step {words[0]} failed: {one_line(done.stderr or done.stdout, 300)}")
            if words[0] in ("capture", "update"):
                ids.append(done.stdout.split()[-1])  # The last word is what undoes it.
            typed = (f'"{word}"' if " " in word else word for word in words)
            return DemoStep(shows, " ".join(("memtape", *typed)), show(done.stdout))

        words = (FACT, *ADA, "--session", "claude-1")
        yield ran("Ada tells Claude Code a fact. It goes on the log.", "capture", *words)
        (told,) = json.loads(ran("", "log", "--type", "captured", "--json").printed)["events"]
        before = f"{told['partition']}/{told['offset'] + 1}"
        yield ran("The fact changes. What held before stays known.", "update", ids[0], CHANGED, *ADA)
        yield ran("Every agent finds what holds now.", "search", QUESTION, "--limit", "2", "--quiet")
        yield ran("The past can be asked too.", "search", QUESTION, "--limit", "1", "--as-of", before)
        yield ran(
            "Codex starts in the same folder. This is what its hook is told, without a question.",
            *("agents", "hook", "--host", "codex"),
            told=json.dumps({**STARTS, "cwd": str(project)}),
            show=_context,
        )
        yield ran("Something slips in that nobody should keep.", "capture", SLIP, *ADA)
        searched = "the log, every view and every file are searched before and after"
        yield ran(f"It is erased: {searched}.", "erase", ids[2])
        yield ran("Replay the log, and the same views come back, hash for hash.", "verify")


STARTS = {"hook_event_name": "SessionStart", "session_id": "codex-1"}
FACT = "The staging database listens on port 5432."
CHANGED = "The staging database listens on port 5433."
QUESTION = "which port does staging use"
SLIP = "The alarm of the office is switched off with Brunhilde-Xylophone."


def _context(printed: str) -> str:
    """Return the text that a hook gives an agent."""
    told = json.loads(printed or "{}").get("hookSpecificOutput", {}).get("additionalContext", "")
    return str(told).strip() or "(nothing)"


VERBS = (Verb("demo", demo, answers=DemoReport, at="folder"),)
