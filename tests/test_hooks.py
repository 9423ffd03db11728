"""Hooks as hosts call them: what they capture, hand out and survive. Each is a process, as in life."""

from __future__ import annotations

import json
import os
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import met
import pytest
from forking import memtape
from msgspec.structs import replace
from soaked import soaked
from transcripts import at, lines

from memtape.schemas.events import Embedded, Event, Recalled, make_embedded
from memtape.schemas.ids import derived_id
from memtape.sinks.home.counts import FLUSHES, HomeCounts
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.configuring import configure
from memtape.tools.agents import hooks
from memtape.tools.agents.afterwards import latest
from memtape.tools.agents.errors import latest_errors
from memtape.tools.agents.hosts import MAX_CONTEXT_CHARS
from memtape.tools.capture import injected
from memtape.tools.capture.native_ids import HOSTS, claude_prompt, heard
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.capture.writing import Line, now_us
from memtape.tools.client import Client
from memtape.tools.importing.finding import session_file
from memtape.tools.importing.taking import Importer
from memtape.tools.keep.wire import hand_over

ROOT = Path(__file__).parent.parent
PLAIN = (sys.executable, "-m", "memtape")
PROMPT = {"claude": "UserPromptSubmit", "codex": "UserPromptSubmit", "gemini": "BeforeAgent"}
ANSWER = {"claude": "Stop", "codex": "Stop", "gemini": "AfterAgent"}
FIELD = {"claude": "last_assistant_message", "codex": "last_assistant_message", "gemini": "prompt_response"}


NOTHING_SAID = (None, b"", b"\n", b'{"type":"mode","mode":"plan"}\n', b'{"sessionId":"s-1"}\n')
"""What a transcript holds of a session without a word, or that there is none."""


@pytest.fixture(autouse=True)
def connected(home: Path) -> None:
    """Make the home, as `memtape agents connect` has before any host calls a hook."""
    Home(home)


def hook(
    home: Path, host: str, told: Any, *words: str, stdout: int = subprocess.PIPE,
    limit: Callable[[], None] | None = None, alone: bool = False,
) -> bytes:  # fmt: skip
    """Call a hook, which must end well and quietly whatever it was told, and return what it answered.

    One that is `alone`, or has a `limit`, is a process of this one, with the waits that a user meets.
    """
    data = told if isinstance(told, bytes) else json.dumps(told).encode()
    command = [*(PLAIN if limit or alone else memtape()), "agents", "hook", "--host", host]
    done = subprocess.run(
        [*command, "--home", str(home), *words],
        input=data, stdout=stdout, stderr=subprocess.PIPE, timeout=60, check=False, preexec_fn=limit,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )  # fmt: skip
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout or b""


def told(project: Path, event: str, **more: Any) -> dict[str, Any]:
    return {"hook_event_name": event, "session_id": "s-1", "cwd": str(project), **more}


def events_of(home: Path, project: Path, *types: str) -> list[Event]:
    with Client(home, scope=scope_of_folder(project, Home(home))) as client:
        said = [event for event in met.events_of(client.log) if event.scope == client.scope]
    return [event for event in said if not types or event.type in types]


WORDS = [("--what", "x", "-z", "y"), ("--json",), (), ("--profile", "none such"), ("--home", __file__),
         ("--home", "gone")]  # fmt: skip
"""A home is found by those of the first three, and not by the others."""


@pytest.mark.parametrize("words", WORDS)
def test_no_words_make_the_command_of_a_hook_fail(words: tuple[str, ...], tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "MEMTAPE_HOME"}
    env |= {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data"), "PYTHONPATH": str(ROOT)}
    said = json.dumps(told(tmp_path, "UserPromptSubmit", prompt="The light is green from now on.")).encode()
    command = [*PLAIN, "agents", "hook", "--host", "claude", *words]
    done = subprocess.run(command, input=said, capture_output=True, env=env, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    # A home that is named and gone is not made again; the user's own one is.
    assert (tmp_path / "data").exists() is (words in WORDS[:3])
    assert not (tmp_path / "gone").exists()


def test_a_prompt_is_answered_without_a_server_by_words(home: Path, project: Path) -> None:
    with Client(home, folder=project, origin="user", session="before") as client:
        port = client.capture("The staging kayak listens on port 5433.").id
        client.project()
        client.capture("The staging kayak is behind the proxy.")  # No view holds it yet.
    asked = told(project, "UserPromptSubmit", prompt="On which port does the staging kayak listen?")
    context = json.loads(hook(home, "claude", asked))["hookSpecificOutput"]["additionalContext"]
    assert "port 5433" in context and "proxy" in context
    (shown,) = events_of(home, project, "recalled")
    assert isinstance(shown.body, Recalled) and port in shown.body.results and shown.session == "s-1"
    (home / "settings.toml").write_text("prompt_recall = false\n")
    asked = told(project, "UserPromptSubmit", prompt="Which port has the staging kayak?")
    assert hook(home, "claude", asked) == b""


MODULES = """
import os, sys
def ended(code):
    with open(sys.argv[6] + ".modules", "w") as file:
        file.write("\\n".join(sys.modules))
    os.kill(os.getpid(), 9)
os._exit = ended
from memtape.tools.agents import hooks
from memtape.tools.keep import wire
wire.HAND_WAIT_S = hooks.WAIT_S = 60
from memtape.__main__ import main
main()
"""
NOT_FOR_A_PROMPT = """
asyncio bytewax click httpx kafka lancedb mcp mcp_types requests yaml
numpy.testing importlib.metadata memtape.flows.views memtape.sinks.epochs
memtape.sinks.snapshots memtape.sinks.vault memtape.state.core.scope memtape.state.core.partition
memtape.state.subjects.memories memtape.tools.query.context memtape.tools.query.inspection
memtape.tools.keep.embedding memtape.tools.keep.owner memtape.tools.doors.cli
""".split()
"""What takes a hook longer to load than to search."""
ENGINE = ("lance", "pyarrow")
"""What reads the rows of results."""


def loaded_by(home: Path, asked: dict[str, Any]) -> set[str]:
    """Return the names of all modules that a hook has loaded at its end, called as `connect` installs it."""
    subprocess.run(
        [sys.executable, "-c", MODULES, "agents", "hook", "--host", "claude", "--home", str(home)],
        input=json.dumps(asked).encode(), stdout=subprocess.DEVNULL, timeout=60, check=False, cwd=ROOT,
    )  # fmt: skip
    return set(home.with_name(f"{home.name}.modules").read_text().split())


def test_a_hook_loads_only_what_it_uses(home: Path, project: Path) -> None:
    with Client(home, folder=project, origin="user", session="before") as client:
        said = client.capture("The staging kayak listens on port 5433.")
        vector = Embedded(attempt=1, dimensions=3, embedder="m@1/3", reason=None, vector=b"\1\0\0\0\0\0")
        client.log.append([make_embedded(client.scope, said.id, vector, now_us())])
        configure(client.log, lambda now: replace(now, embedder="m@1/3"))
        client.project()
        assert client.embedder().configured == "m@1/3" and list(home.glob("builds/*/lance/p*/vectors*"))
    asked = told(project, "UserPromptSubmit", prompt="On which port does the staging kayak listen?")
    alone = loaded_by(home, asked)
    assert "numpy" in alone and not alone.intersection(NOT_FOR_A_PROMPT)
    assert alone.issuperset(ENGINE)
    assert len(events_of(home, project, "recalled")) == 1  # It has searched.
    finds_nothing = told(project, "UserPromptSubmit", prompt="Who painted the ceiling of a chapel?")
    assert not loaded_by(home, finds_nothing).intersection((*NOT_FOR_A_PROMPT, *ENGINE))


SLOW = """
import sys, time
from pathlib import Path
from memtape.tools.agents import hooks, offering
hooks.WAIT_S = 2.0
offering.offer_memories = lambda *given: time.sleep(600)
sys.stdout.buffer.write(hooks.run("claude", Path(sys.argv[1]), sys.stdin.buffer.read()))
"""


def test_a_recall_that_takes_too_long_loses_the_context_alone(home: Path, project: Path) -> None:
    asked = json.dumps(told(project, "UserPromptSubmit", prompt="Where is staging?")).encode()
    words = [sys.executable, "-c", SLOW, str(home)]
    done = subprocess.run(words, input=asked, capture_output=True, cwd=ROOT, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"")
    time.sleep(2)  # So long another process would have taken to capture it again.
    assert len(events_of(home, project, "captured")) == 1


@pytest.mark.parametrize("host", HOSTS)
def test_prompts_and_answers_have_the_ids_of_an_import(host: str, home: Path, project: Path) -> None:
    prompt = "<system-reminder>not said</system-reminder>Where is staging?"
    assert hook(home, host, told(project, PROMPT[host], prompt=prompt)) == b""
    for _ in range(2):
        assert hook(home, host, told(project, ANSWER[host], **{FIELD[host]: "On port 5433."})) == b""
    asked, answered, again = events_of(home, project, "captured")
    assert (asked.body.text, asked.body.kind) == ("Where is staging?", "turn")
    assert (asked.actor.origin, answered.actor.origin, asked.session) == ("user", "agent", "s-1")
    for event, role in ((asked, "user"), (answered, "assistant")):
        assert event.body.source == HOSTS[host]
        native = heard("s-1", role, event.body.text)
        assert event.id == derived_id("captured", event.scope, HOSTS[host], native)
    assert again.id == answered.id


def test_a_prompt_that_its_host_names_has_that_id_and_an_injection_is_none(home: Path, project: Path) -> None:
    hook(home, "claude", told(project, "UserPromptSubmit", prompt="Go on.", prompt_id="p-7"))
    for text in ("", "   ", "<memtape>\nold\n</memtape>", "<hook_context>old</hook_context>"):
        asked = json.dumps(told(project, "UserPromptSubmit", prompt=text)).encode()
        assert hooks.run("claude", home, asked) == b""
    (event,) = events_of(home, project, "captured")
    assert event.id == derived_id("captured", event.scope, "claude-code", claude_prompt("p-7"))


WRONG = [
    b"", b"no JSON", b"[]", b"null", b"{}", b"\xff\xfe", b'{"hook_event_name": 7}',
    b'{"hook_event_name": "Unheard"}', b'{"hook_event_name": "Stop"}',
    b'{"hook_event_name": "UserPromptSubmit", "prompt": ["a"], "cwd": 3}',
    b'{"hook_event_name": "UserPromptSubmit", "prompt": "\\ud800", "session_id": "' + b"s" * 999 + b'"}',
    b'{"hook_event_name": "PreCompact", "transcript_path": "/nowhere"}', b'{"hook_event_name": "SessionEnd"}',
    b"[" * 100_000,
]  # fmt: skip


def test_whatever_a_hook_is_told_the_agent_goes_on(home: Path) -> None:
    for data in WRONG:
        assert hooks.run("claude", home, data) == b"", data[:99]
    assert hook(home, "claude", WRONG[-1], "--no-such-option", "words") == b""
    assert hook(home, "claude", b'{"prompt": "' + b"x" * (17 * 1024 * 1024) + b'"}') == b""


def test_what_a_hook_could_not_do_is_a_line_for_the_doctor(home: Path, project: Path) -> None:
    (home / "log.db").write_bytes(b"no database" * 1_000)
    hook(home, "claude", told(project, "UserPromptSubmit", prompt="my secret words"))
    hook(home, "nobody", told(project, "UserPromptSubmit", prompt="my secret words"))
    noted = latest_errors(home, 10)
    assert len(noted) == 2 and "hook claude UserPromptSubmit" in noted[0] and "secret" not in "".join(noted)


@pytest.mark.parametrize("place", ["a/b", "mine"])
def test_a_folder_that_is_not_there_is_no_other_project(place: str, home: Path, tmp_path: Path) -> None:
    """Its own memory goes on where it has one; the folder in which the hook runs is never meant."""
    gone = tmp_path / "gone" / place
    if place == "mine":
        gone.mkdir(parents=True)
        hook(home, "claude", told(gone, "UserPromptSubmit", prompt="The kayak listens on port 5432."))
        gone.rmdir()
    hook(home, "claude", told(gone, "UserPromptSubmit", prompt="The kayak listens on port 5433."))
    with Client(home, scope="project:any") as client:
        captured = [event for event in met.events_of(client.log) if event.type == "captured"]
    if place == "mine":
        assert len(captured) == 2 and len({event.scope for event in captured}) == 1
    else:
        (line,) = latest_errors(home, 10)
        assert captured == [] and "is not there and has no memory" in line


def test_a_session_without_a_word_is_no_damaged_transcript(home: Path, project: Path) -> None:
    """One without a row is a line for the doctor."""
    transcript = project / "session.jsonl"
    for host, rows in product(HOSTS, NOTHING_SAID):
        transcript.unlink(missing_ok=True)
        if rows is not None:
            transcript.write_bytes(rows)
        ended = told(project, "SessionEnd", transcript_path=str(transcript))
        assert hooks.run(host, home, json.dumps(ended).encode(), alone=True) == b""
        assert latest_errors(home, 10) == [], (host, rows)
    transcript.write_bytes(b"no row\n" * 9)
    hook(home, "claude", told(project, "SessionEnd", transcript_path=str(transcript)), "--alone")
    (line,) = latest_errors(home, 10)
    assert "could not be taken in whole" in line


@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop", "PreCompact", "SessionStart"])
def test_an_unusable_home_or_a_full_disk_disturbs_nobody(event: str, tmp_path: Path, project: Path) -> None:
    said = told(project, event, prompt="a", last_assistant_message="b", transcript_path="/nowhere")
    (tmp_path / "file").write_text("")
    assert hook(tmp_path / "file" / "home", "claude", said) == b""
    full = Home(tmp_path / "full").path
    # No file may grow: what a write meets on a full disk, at the very first page.
    assert hook(full, "claude", said, limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))) == b""
    with open("/dev/full", "wb") as nowhere:
        hook(tmp_path / "home", "claude", said, stdout=nowhere.fileno())


def started(home: Path, project: Path, host: str, source: str, session: str = "mine") -> str:
    out = hook(home, host, told(project, "SessionStart", source=source, session_id=session))
    if not out:
        return ""
    answered = json.loads(out)
    # Whatever else a host is told, it takes as an error.
    assert set(answered) == {"hookSpecificOutput", "systemMessage"}
    return str(answered["hookSpecificOutput"]["additionalContext"])


@pytest.mark.slow
@pytest.mark.parametrize("host", soaked(HOSTS, "claude"))
def test_a_resumed_session_is_told_what_is_new_from_others(host: str, home: Path, project: Path) -> None:
    scope = scope_of_folder(project, Home(home))
    assert started(home, project, host, "startup") == ""
    with Client(home, scope=scope, origin="user", session="other") as other:
        other.capture("The staging database listens on port 5433.")
        assert "5433" in started(home, project, host, "resume"), "who was never told anything is told all"
        assert started(home, project, host, "resume") == ""
        hook(home, host, told(project, PROMPT[host], session_id="mine", prompt="Always run the kayak tests."))
        assert started(home, project, host, "resume") == "", "what a session said itself is not news for it"
        other.capture("The kayak is red.")
        new = started(home, project, host, "resume")
        assert "The kayak is red." in new and "5433" not in new and "kayak tests" not in new
        assert "only what is new" in new and injected.said(new) == ""
        assert started(home, project, host, "resume") == ""
        for source in ("startup", "clear", "compact"):
            assert all(word in started(home, project, host, source) for word in ("5433", "kayak tests"))
        assert "5433" in started(home, project, host, "resume", session="another")
        other.capture_many(Line(text=f"Fact {number}: {'alpha beta gamma ' * 20}") for number in range(200))
        long = started(home, project, host, "resume", session="a third")
        assert long.startswith("<memtape>") and len(long) <= MAX_CONTEXT_CHARS


def test_a_server_that_died_or_hangs_is_not_waited_for(home: Path, project: Path) -> None:
    data = json.dumps(told(project, "UserPromptSubmit", prompt="y")).encode()
    assert hand_over("claude", str(home), data) is None
    (home / "serving").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(home / "serving" / "server.sock"))
        for is_alive in (False, True):
            if is_alive:
                listening.listen()
            begun = time.monotonic()
            assert hand_over("claude", str(home), data) is None and time.monotonic() - begun < 30


def rows(*texts: str) -> str:
    """Return a transcript of Claude Code in which a user and an answer take turns."""
    said = [("assistant" if number % 2 else "user", text) for number, text in enumerate(texts)]
    return lines(transcript_rows("claude", Path("/nowhere"), said)).decode()


def test_before_a_compaction_the_end_of_a_talk_is_kept(home: Path, project: Path, tmp_path: Path) -> None:
    transcript = tmp_path / "s-1.jsonl"
    transcript.write_text(rows(*(f"line {number}" for number in range(300))) + '{"cut')
    for _ in range(2):
        said = told(project, "PreCompact", trigger="auto", transcript_path=str(transcript))
        assert hook(home, "claude", said) == b""
    (event,) = {event.id: event for event in events_of(home, project, "captured")}.values()
    assert event.body.kind == "journal"
    kept_lines = event.body.text.split("\n")
    assert len(kept_lines) == 120 and kept_lines[-1].endswith("line 299")
    assert HomeCounts(home).tally(FLUSHES) == {"deterministic_ok": 2}
    hook(home, "claude", told(project, "PreCompact", transcript_path="/nowhere"))
    assert HomeCounts(home).tally(FLUSHES) == {"deterministic_ok": 2, "error": 1}
    transcript.write_text(rows("a", "x" * 100_000, "b"))
    text = latest("claude-code", transcript, Redactor(Home(home)))
    assert len(text) <= 4_000 and text.endswith("b")


CONVERSATION = [
    ("user", "The tide service keeps failing at night. Please look at the logs first."),
    ("tool", "noise of a tool " * 60_000),
    ("assistant", "The cache was full. " + "It has an entry for each station. " * 300 + "I made it smaller."),
    ("tool", "more noise of a tool " * 60_000),
    ("user", "Good. Now deploy it."),
    ("assistant", "Deployed to staging at noon."),
]


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_kept_of_a_conversation_is_whole_sentences_of_people_and_answers(
    host: str, home: Path, project: Path, tmp_path: Path
) -> None:
    """However much tools answered in between, and wherever the limits fall."""
    transcript = tmp_path / "s-1.jsonl"
    transcript.write_bytes(lines(transcript_rows(host, project, CONVERSATION)))
    redactor, agent = Redactor(Home(home)), HOSTS[host]
    sentences = [re.split(r"(?<=\.) ", text) for role, text in CONVERSATION if role != "tool"]
    for chars in (4_000, 1_000, 333, 120, 80):
        text = latest(agent, transcript, redactor, chars)
        assert text == latest(agent, transcript, redactor, chars)
        assert len(text) <= chars and "noise" not in text
        assert text.endswith(f"User: Good. Now deploy it.\n{agent}: Deployed to staging at noon.")
        first = text.split("\n")[0].removeprefix("User: ").removeprefix(f"{agent}: ")
        assert first.split(". ")[0].rstrip(".") + "." in [known for turn in sentences for known in turn]
    whole = latest(agent, transcript, redactor, 400_000)
    assert whole.startswith("User: The tide service keeps failing at night.")


def transcript_rows(host: str, project: Path, said: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the rows of a session in which user, assistant and tools said these things, as (role, text)."""
    made: list[dict[str, Any]] = []
    if host == "codex":
        session = {"id": "s-1", "cwd": str(project)}
        made.append({"type": "session_meta", "timestamp": at(0), "payload": session})
    if host == "gemini":
        made.append({"sessionId": "s-1", "projectHash": "h", "startTime": at(0)})
    for number, (role, text) in enumerate(said, start=1):
        call, is_user = f"t-{number}", role == "user"
        if host == "claude":
            block = {"type": "tool_result", "tool_use_id": call, "content": text}
            content = [block if role == "tool" else {"type": "text", "text": text}]
            row = {"type": "user" if role == "tool" else role, "uuid": f"u-{number}", "sessionId": "s-1"}
            made.append(row | {"cwd": str(project), "message": {"role": role, "content": content}})
        elif host == "codex":
            said_as = [{"type": "input_text" if is_user else "output_text", "text": text}]
            payload: dict[str, Any] = {"type": "message", "role": role, "content": said_as}
            if role == "tool":
                payload = {"type": "function_call_output", "call_id": call, "output": text}
            made.append({"type": "response_item", "ordinal": number, "payload": payload})
        else:
            row = {"id": f"g-{number}", "type": "user" if is_user else "gemini", "content": text}
            called = {"id": call, "name": "shell", "args": {}, "result": [{"text": text}]}
            made.append(row | ({"content": "", "toolCalls": [called]} if role == "tool" else {}))
        made[-1]["timestamp"] = at(number)
    return made


SAID = [("user", "yes"), ("assistant", "Done."), ("user", "more"), ("assistant", "Done.")]


class Live:
    """A session whose transcript grows, with hooks that are told it and imports of it."""

    def __init__(self, host: str, home: Path, project: Path) -> None:
        self.host, self.home, self.project = host, home, project
        is_gemini = host == "gemini"
        place = home.parent / ("tmp/p/chats/session-1.jsonl" if is_gemini else "t.jsonl")
        place.parent.mkdir(parents=True, exist_ok=True)
        if is_gemini:
            (place.parent.parent / ".project_root").write_text(str(project))
        self.path = place

    def written(self, count: int, said: list[tuple[str, str]] = SAID) -> None:
        self.path.write_bytes(lines(transcript_rows(self.host, self.project, said[:count])))

    def hooked(self, role: str, text: str, *, alone: bool = False) -> None:
        events = PROMPT if role == "user" else ANSWER
        field = {"prompt": text} if role == "user" else {FIELD[self.host]: text}
        data = told(self.project, events[self.host], transcript_path=str(self.path), **field)
        hooks.run(self.host, self.home, json.dumps(data).encode(), alone=alone)

    def imported(self) -> None:
        with Client(self.home) as client:
            importer = Importer(client, None)
            importer.take([session_file(self.path, HOSTS[self.host])])

    def ids(self) -> list[str]:
        return list(dict.fromkeys(event.id for event in events_of(self.home, self.project, "captured")))


@pytest.fixture(params=HOSTS)
def live(request: pytest.FixtureRequest, home: Path, project: Path) -> Live:
    return Live(request.param, home, project)


@pytest.mark.parametrize("late", list(product((False, True), repeat=2)))
def test_what_is_said_twice_counts_twice_however_late_rows_come(live: Live, late: tuple[bool, bool]) -> None:
    """A row may be missing when the hook runs; hooks may be called again; an import changes nothing."""
    for number, (role, text) in enumerate(SAID):
        live.written(number + (role != "user" and not late[number // 2]))
        live.hooked(role, text)
        live.written(number + 1)
        live.hooked(role, text, alone=True)
    for _ in range(2):
        live.imported()
        assert len(live.ids()) == 4


@pytest.mark.parametrize("moment", range(5))
def test_an_import_before_or_in_between_adds_nothing_twice(live: Live, moment: int) -> None:
    if not moment:
        live.written(len(SAID))
        live.imported()
    for number, (role, text) in enumerate(SAID, start=1):
        live.written(number - (role == "user") if moment else len(SAID))
        live.hooked(role, text)
        live.written(number if moment else len(SAID))
        if number == moment:
            live.imported()
    live.imported()
    assert len(live.ids()) == 4
