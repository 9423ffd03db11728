"""A home that is removed, moved or replaced while somebody works on it, and who can read what is left."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import captured
from page_served import served
from soaked import soaked
from test_logs import everything

from memtape.flows import projection
from memtape.schemas.errors import LogGone
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.agents.errors import latest_errors
from memtape.tools.agents.mcp.handlers import ServedMemory
from memtape.tools.client import Client
from memtape.tools.keep import erasing
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.starting import python_of

SCOPE = "project:demo"
TEXT = "The staging database listens on port 5433."


def removed(home: Path) -> None:
    shutil.rmtree(home)


def moved(home: Path) -> None:
    home.rename(home.with_name("elsewhere"))


def replaced(home: Path) -> None:
    moved(home)
    with Client(home, scope=SCOPE) as other:
        other.capture("Said in another home.")


def restored(home: Path) -> None:
    """Put an older copy of the log in place of it, as from a backup."""
    copy = home / "backup.db"
    shutil.copy(home / "log.db", copy)
    copy.replace(home / "log.db")


def without(name: str) -> Callable[[Path], None]:
    return lambda home: (home / name).unlink()


LOSSES = [removed, moved, replaced, restored, without("log.db"), without("log.db-wal"), without("log.db-shm")]
NAMES = ["removed", "moved", "replaced", "restored", "log", "wal", "shm"]


def log_there(home: Path) -> bytes:
    """Return what stands on the log that is in a folder now."""
    if not (home / "log.db").exists():
        return b""
    log = EmbeddedLog(home / "log.db")
    try:
        return b"".join(payload for payloads in everything(log) for payload in payloads)
    finally:
        log.close()


@pytest.mark.parametrize("lose", LOSSES, ids=NAMES)
def test_no_call_works_on_a_log_that_is_not_in_its_folder(lose: Callable[[Path], None], home: Path) -> None:
    Home(home)
    log = EmbeddedLog(home / "log.db")
    log.append([captured("one", scope=SCOPE)])
    lose(home)
    calls = (
        lambda: log.append([captured("two", scope=SCOPE)]),
        lambda: log.append_raw(0, [b"{}"]),
        lambda: log.blank({0: [0]}),
        lambda: log.read(0, 0, 1),
        lambda: log.known(SCOPE, ["x"]),
        lambda: log.erased(0),
        lambda: log.offset_after(0, 0),
        log.ends,
        log.check,
    )
    for call in calls:
        with pytest.raises(LogGone, match="removed, moved or replaced") as error:
            call()
        assert error.value.hint
    log.close()


@pytest.mark.parametrize("moment", ["BEGIN IMMEDIATE", "INSERT", "COMMIT"])
@pytest.mark.parametrize("lose", [removed, moved, replaced, restored], ids=NAMES[:4])
def test_an_append_that_the_loss_overtakes_is_not_acknowledged(
    lose: Callable[[Path], None], moment: str, home: Path
) -> None:
    Home(home)
    log = EmbeddedLog(home / "log.db")
    before: list[object] = []

    def trace(statement: str) -> None:
        if statement.startswith(moment) and not before:
            before.append(statement)
            lose(home)

    log._db.set_trace_callback(trace)
    committed = moment == "COMMIT"
    said = "nobody can say whether" if committed else "nothing was stored"
    with pytest.raises(LogGone, match=said):
        log.append([captured("two", scope=SCOPE)])
    log._db.set_trace_callback(None)
    log.close()
    assert before and (committed or b"two" not in log_there(home))


@pytest.mark.parametrize("lose", LOSSES, ids=NAMES)
def test_a_server_says_that_its_home_is_lost_and_then_works_on_what_is_there(
    lose: Callable[[Path], None], home: Path, project: Path
) -> None:
    memory = ServedMemory(home, scope=SCOPE)
    assert "Remembered" in memory.call("add_memory", {"text": "Said before."}, project, "an agent")
    assert "Said before." in memory.call("search_memories", {"query": "said before"}, project, "an agent")
    lose(home)
    with pytest.raises(LogGone):
        memory.call("add_memory", {"text": TEXT}, project, "an agent")
    assert TEXT.encode() not in log_there(home)
    assert "Remembered" in memory.call("add_memory", {"text": TEXT}, project, "an agent")
    assert TEXT.encode() in log_there(home)
    assert TEXT in memory.call("search_memories", {"query": "staging port"}, project, "an agent")
    removed(home)
    with pytest.raises(LogGone):
        memory.call("search_memories", {"query": "staging port"}, project, "an agent")
    assert TEXT not in memory.call("search_memories", {"query": "staging port"}, project, "an agent")
    memory.close()
    assert any("LogGone" in line and "nothing was stored" in line for line in latest_errors(home, 5))


EVENTS = ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"]
WAYS = [(event, words) for event in EVENTS for words in ((), ("--alone",), ("--distill", "0:0"))]


@pytest.mark.parametrize(("event", "words"), soaked(WAYS, *WAYS[::4]))
def test_a_hook_makes_no_home_anew_and_the_doctor_of_another_says_so(
    event: str, words: tuple[str, ...], home: Path, project: Path, tmp_path: Path
) -> None:
    told = {"hook_event_name": event, "session_id": "s", "cwd": str(project), "prompt": "a"}
    told["transcript_path"] = "/x"
    done = subprocess.run(
        [*python_of(), "agents", "hook", "--host", "claude", "--home", str(home), *words],
        input=json.dumps(told | {"last_assistant_message": "b"}).encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"") and not home.exists()
    (line,) = latest_errors(Home(tmp_path / "another").path, 5)
    assert "home of this hook is gone" in line and str(home) in line


LEFT = ("log.db", "log.db-wal", "log.db-shm", "erasures/", ".snapshot", "/index/", "MEMORY.md",
        "as-of/", ".memtape/", "statements.json")  # fmt: skip


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def is_of_a_library(path: Path) -> bool:
    """Whether LanceDB has made it, which chooses modes by itself, in a folder of ours."""
    return any(part.suffix == ".lance" for part in (path, *path.parents))


def test_every_file_of_a_walk_is_readable_by_its_owner_alone(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(projection, "SNAPSHOT_EVENTS", 1)
    home = tmp_path / "home"
    with Client(home, scope=SCOPE, actor="Ada", origin="user") as client:
        first = client.capture("The staging database listens on port 5433.").id
        client.capture("The cellar door is blue.")
        with Owner(client.home, client.log) as owner:
            owner.project()
        client.search("staging port")
        client.status(as_of="0s")
        with served(home, SCOPE) as page:
            assert page.act("pin", [first], scope=SCOPE).status_code == 200
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(erasing, "scrub_as_owner", interrupted)
            client.erase(erasing.plan(client.home, client.log, SCOPE, [first], only=False))
        left = [path for path in home.rglob("*") if not is_of_a_library(path)]
        modes = {str(path.relative_to(home)): path.stat().st_mode & 0o777 for path in left}
        assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}
        assert home.stat().st_mode & 0o777 == 0o700
        missing = [name for name in LEFT if not any(name in path for path in modes)]
        assert missing == [], sorted(modes)


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt
