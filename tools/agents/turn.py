"""A call of a hook: the host's input, the client of its project, and how the call ends or is left.

The work itself is in `hooks`; the detached work is in `afterwards`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import Home
from memtape.tools.agents.errors import note_error
from memtape.tools.agents.hosts import HOSTS, MAX_CONTEXT_CHARS, HookInput, placed
from memtape.tools.capture.injected import said, without_tags, wrap
from memtape.tools.capture.native_ids import HEARD
from memtape.tools.capture.native_ids import HOSTS as READ
from memtape.tools.capture.project import is_unmade, scope_of_folder
from memtape.tools.client import Client
from memtape.tools.importing.records import MAX_NAME_CHARS
from memtape.tools.keep.starting import detached
from memtape.tools.keep.wire import tell

START_WAIT_S = 8.0
"""Hosts wait 10 s. A start that has no context by then is told so."""
LATE_START = (
    "The memory of this project could not be read in time. `get_context` and `search_memories` of memtape may"
    " answer later."
)
WRITTEN_WAIT_S = 5.0
"""The wait of a detached process for an answer that is not in its transcript yet."""
LOOK_S = 0.1
TAIL_BYTES = 1024 * 1024
"""An answer that begins further from the end is not found."""
NICENESS = 10
"""Detached work leaves the processor to the agent."""


class HookOffer(NamedTuple):
    """Text for an agent, a note for the person, and the unfolded events; `record` appends the handing out."""

    text: str = ""
    note: str = ""
    record: Callable[[Client], object] = lambda _: None
    lag: int = 0


class HookCall:
    """A call of a hook: the host's input and the client of its project.

    `began_in` is the hook's working directory, by default the current one. `parent` is the pid of the host,
    by default this process's parent.
    """

    def __init__(
        self, told: HookInput, home: Path, data: bytes, alone: bool,
        began_in: Path | None = None, parent: int | None = None,
    ) -> None:  # fmt: skip
        folder = (began_in or Path()) / told.folder
        if began_in and told.transcript:
            told = told._replace(transcript=str(began_in / told.transcript))
        if HOSTS[told.host].writes_late and told.action == "answer" and not told.agent:
            told = told._replace(text=copilot_answer(Path(told.transcript), WRITTEN_WAIT_S if alone else 0))
        elif told.host in HEARD:
            told = told._replace(transcript="")
        self.told = told
        self.source = (READ | HEARD)[told.host]
        self.home, self.alone, self.parent, self.captured = home, alone, parent, False
        self.folder = folder.absolute() if told.folder else began_in or Path.cwd()
        self.text = said(told.text)
        """What the user or the agent has said, without injected words."""
        self._data = data
        self._ending = threading.Lock()

    def client(self) -> Client:
        """Return a client of the host's project.

        Raises `MemtapeError` for a missing folder without a memory: another folder's memory, as the hook's
        own, is not meant.
        """
        if not self.folder.is_dir():
            scope = scope_of_folder(self.folder, Home(self.home, make=False), pin=False, began=self._began)
            if is_unmade(scope):
                said = f"The folder {self.folder} is not there and has no memory; nothing is stored of it."
                raise MemtapeError(said)
        client = Client(self.home, folder=self.folder, began=self._began, actor=self.source, origin="agent")
        session = client.redactor.head(self.told.session, MAX_NAME_CHARS, is_name=True)
        client.session = session or client.session
        return client

    def _began(self) -> Path | None:
        from memtape.tools.importing.finding import began_in

        return began_in(Path(self.told.transcript)) if self.told.transcript else None

    def note_error(self, error: BaseException) -> None:
        """Note an error of this call for the doctor."""
        note_error(self.home, f"hook {self.told.host} {self.told.event}", error)

    def end(self) -> None:
        """End well; where `give_up` came first, it ends the process."""
        self._ending.acquire()

    def give_up(self, wait_s: float, then: Callable[[], None]) -> None:
        """End here, `wait_s` after the begin; the missing captures are left to a detached process.

        A start or prompt that was given nothing is noted for the doctor. `then` is done last: it leaves a
        server, without which the next hook would be as late.
        """
        if not self._ending.acquire(blocking=False):
            return
        try:
            if self.told.action == "start":
                tell(in_form(self, LATE_START))
            elif not self.captured:
                # What is captured twice has one id and counts once.
                self.go_on()
            if self.told.action in ("start", "prompt"):
                self.note_error(MemtapeError(f"It gave no context within {wait_s:g} s."))
            then()
        finally:
            os._exit(0)

    def go_on(self) -> None:
        """Leave the work to a detached process without a working directory; it gets absolute paths."""
        self.start("--alone", data=placed(self._data, self.folder))

    def start(self, *words: str, data: bytes = b"") -> None:
        """Start a hook in a detached process, which outlives this process and prints nothing."""
        home = str(self.home.absolute())
        detached(["agents", "hook", "--host", self.told.host, *words, "--home", home], data)


def in_form(turn: HookCall, text: str, note: str = "") -> bytes:
    """Return a context in the form of the host of a call, with a note for the person; empty without a text.

    The context stands within its tags, and is cut at the limit of hosts. The form has only these keys, since
    one host drops all others; a flat form has no note. `docs/agents.md` says how each host shows a note.
    """
    if not text.strip():
        return b""
    room, text = MAX_CONTEXT_CHARS - len(wrap("")) - 100, without_tags(text)
    told: dict[str, Any] = {"additionalContext": wrap(text if len(text) <= room else text[: room - 1] + "…")}
    if not HOSTS[turn.told.host].flat:
        told = {"hookSpecificOutput": {"hookEventName": turn.told.event} | told}
        told |= {"systemMessage": note} if note else {}
    return orjson.dumps(told)


def copilot_answer(transcript: Path, wait_s: float) -> str:
    """Return the last words of the agent since its latest tool and the user's latest prompt. Never raises.

    Copilot CLI writes an answer into `session-state/<session>/events.jsonl`, often only some tenths of a
    second after its hook began. Empty where there is none after `wait_s`.
    """
    deadline = time.monotonic() + wait_s
    while True:
        lines = list[bytes]()
        with suppress(OSError, ValueError), transcript.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).splitlines()
        for line in reversed(lines):
            with suppress(ValueError, KeyError, TypeError, AttributeError):
                row = orjson.loads(line)
                type, written = row["type"], row["data"].get("content")
                if type in ("user.message", "tool.execution_start"):
                    break
                if type == "assistant.message" and isinstance(written, str) and written.strip():
                    return written
        if time.monotonic() >= deadline:
            return ""
        time.sleep(LOOK_S)
