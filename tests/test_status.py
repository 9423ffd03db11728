"""How a home stands, is lost while somebody works on it, and who can read it: states, counts, losses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
from builders import captured
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from met import events_of
from page_served import served
from soaked import soaked
from test_logs import everything

from memtape.flows import projection
from memtape.schemas.errors import LogGone
from memtape.schemas.events import Embedded, Forgotten, make_embedded
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.state.views.health import LAGGING_S, health
from memtape.tools.agents.mcp.handlers import ServedMemory
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.keep import erasing
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.starting import python_of
from memtape.tools.query.status import next_steps

SCOPE, US = "project:a", 1_000_000
ROOT = Path(__file__).parent.parent


@given(st.integers(0, 100), st.none() | st.integers(-10, 100), st.booleans(), st.sampled_from(["", "Bad."]))
def test_a_state_follows_from_what_a_view_lacks(lag: int, waited_s: int | None, made: bool, why: str) -> None:
    now = 10**15
    oldest = None if waited_s is None else now - waited_s * US
    found = health("rows", 3, lag_events=lag, oldest_us=oldest, now_us=now, made=made, why=why)
    if why:
        assert found.state == "failing"
    elif not lag:
        assert found.state == "ready" and found.lag_s == 0
    elif not made:
        assert found.state == "hydrating"
    else:
        assert found.state == ("lagging" if waited_s is None or waited_s >= LAGGING_S else "ready")
    assert found.lag_events == lag and found.lag_s >= 0


def test_a_home_goes_through_its_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    with Client(home, scope=SCOPE, origin="user") as client:
        empty = client.status()
        assert empty.state == "ready" and not empty.views
        assert "Nothing is remembered yet" in next_steps(empty)[0]
        client.capture("The staging database listens on port 5433.")
        new = client.status()
        assert new.state == "hydrating" and {its.view for its in new.views} == {"rows", "pages"}
        assert any("memtape run --once" in step for step in next_steps(new))
        client.project()
        ready = client.status()
        assert ready.state == "ready" and ready.lag == 0 and not next_steps(ready)
        assert ready.types == {"captured": 1} and ready.last_at > 0
        client.capture("Deployments happen on Tuesdays.")
        now = max(event.sent for event in events_of(client.log))
        monkeypatch.setattr("memtape.tools.query.status.now_us", lambda: now + US)
        assert client.status().state == "ready"  # It has not been ten seconds.
        monkeypatch.setattr("memtape.tools.query.status.now_us", lambda: now + 60 * US)
        late = client.status()
        assert late.state == "lagging" and {its.lag_events for its in late.views} == {1}
        assert {its.lag_s for its in late.views} == {60}
        client.project()
        number = client.status().views[0].partition
        client.home.current().note_damage(number)
        broken = client.status()
        assert broken.state == "failing" and any("cannot be served" in step for step in next_steps(broken))
        assert all(its.why for its in broken.views if its.state == "failing")
        client.project()
        assert client.status().state == "ready"
        rmtree(client.home.vault)
        states = {its.view: its.state for its in client.status().views}
        assert states == {"rows": "ready", "pages": "hydrating"}, "somebody deleted the pages"


def test_texts_that_wait_for_an_embedder_that_is_not_there_fail(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    log = EmbeddedLog(home.log_path, settings=Settings(embedder="nobody@1/3"))
    (home.path / "settings.toml").write_text('[embedder]\nchoice = "floor"\n')
    with Client(home, scope=SCOPE, origin="user", log=log) as client:
        client.capture("The staging database listens on port 5433.")
        second = client.capture("The backups run at noon.")
        client.project()
        vectors = [its for its in client.status().views if its.view == "vectors"]
        assert [its.lag_events for its in vectors] == [2]
        assert vectors[0].state in ("failing", "hydrating")
        vector = Embedded(attempt=1, dimensions=3, embedder="nobody@1/3", reason=None, vector=b"\1\0\0\0\0\0")
        log.append([make_embedded(SCOPE, second.id, vector, 1)])
        vectors = [its for its in client.status().views if its.view == "vectors"]
        assert [its.lag_events for its in vectors] == [1], "a vector counts before the views hold it"
    log.close()


def test_status_is_one_screen_however_much_there_is(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Client(home, scope=SCOPE, origin="user") as client:
        gone = client.capture_many(Line(text=f"Server {n} listens on port {n}.") for n in range(30))
        client.append("forgotten", Forgotten(ids=tuple(it.id for it in gone), reason=None), SCOPE)
        client.capture_many(Line(text="Staging is up.", scope=f"project:p{n}") for n in range(30))
        client.project()
    told = CliRunner().invoke(main, ["status", "--home", str(home)]).output
    assert len(told.splitlines()) <= 40
    assert all(said in told for said in ("30 forgotten", "23 more scopes", "disk"))
    named = json.loads(CliRunner().invoke(main, ["status", "--home", str(home), "--json"]).output)
    assert len(named["scopes"]) == 31 and named["state"] == "ready" and named["disk"]["log"] > 0
    assert {its["state"] for its in named["views"]} == {"ready"}


def test_status_loads_no_lancedb(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Client(home, scope=SCOPE, origin="user") as client:
        client.capture("The staging database listens on port 5433.")
        client.project()
    script = (
        "import sys\nfrom memtape.tools.client import Client\n"
        "with Client(sys.argv[1], scope='global') as client:\n    assert client.status().memories == 1\n"
        "assert not {'lance', 'lancedb', 'pyarrow'} & {*sys.modules}\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", script, str(home)], env=env, check=True)


TEXT = "The staging database listens on port 5433."


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


LOSSES: dict[str, Callable[[Path], Any]] = {
    "removed": shutil.rmtree, "moved": moved, "replaced": replaced, "restored": restored,
    "log": lambda home: (home / "log.db").unlink(), "wal": lambda home: (home / "log.db-wal").unlink(),
    "shm": lambda home: (home / "log.db-shm").unlink(),
}  # fmt: skip


def log_there(home: Path) -> bytes:
    """Return what stands on the log that is in a folder now."""
    if not (home / "log.db").exists():
        return b""
    with closing(EmbeddedLog(home / "log.db")) as log:
        return b"".join(payload for payloads in everything(log) for payload in payloads)


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
def test_no_call_works_on_a_log_that_is_not_in_its_folder(lose: Callable[[Path], None], home: Path) -> None:
    Home(home)
    log = EmbeddedLog(home / "log.db")
    log.append([captured("one", scope=SCOPE)])
    lose(home)
    calls = (lambda: log.append([captured("two", scope=SCOPE)]), lambda: log.append_raw(0, [b"{}"]),
             lambda: log.blank({0: [0]}), lambda: log.read(0, 0, 1), lambda: log.known(SCOPE, ["x"]),
             lambda: log.erased(0), lambda: log.offset_after(0, 0), log.ends, log.check)  # fmt: skip
    for call in calls:
        with pytest.raises(LogGone, match="removed, moved or replaced") as error:
            call()
        assert error.value.hint
    log.close()


@pytest.mark.parametrize("moment", ["BEGIN IMMEDIATE", "INSERT", "COMMIT"])
@pytest.mark.parametrize("lose", [*LOSSES.values()][:4], ids=[*LOSSES][:4])
def test_an_append_that_a_loss_overtakes_fails(lose: Callable[[Path], None], moment: str, home: Path) -> None:
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


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
def test_a_server_says_that_its_home_is_lost(lose: Callable[[Path], None], home: Path, project: Path) -> None:
    memory = ServedMemory(home, scope=SCOPE)
    assert "Remembered" in memory.call("add_memory", {"text": "Said before."}, project, "an agent")
    assert "Said before." in memory.call("search_memories", {"query": "said before"}, project, "an agent")
    lose(home)
    with pytest.raises(LogGone, match="nothing was stored"):
        memory.call("add_memory", {"text": TEXT}, project, "an agent")
    assert TEXT.encode() not in log_there(home)
    assert "Remembered" in memory.call("add_memory", {"text": TEXT}, project, "an agent")
    assert TEXT.encode() in log_there(home)
    assert TEXT in memory.call("search_memories", {"query": "staging port"}, project, "an agent")
    shutil.rmtree(home)
    with pytest.raises(LogGone):
        memory.call("search_memories", {"query": "staging port"}, project, "an agent")
    assert TEXT not in memory.call("search_memories", {"query": "staging port"}, project, "an agent")
    memory.close()


EVENTS = ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"]
WAYS = [(event, words) for event in EVENTS for words in ((), ("--alone",), ("--distill", "0/0"))]


@pytest.mark.parametrize(("event", "words"), soaked(WAYS, *WAYS[::4]))
def test_hooks_make_no_home_anew(event: str, words: Any, home: Path, project: Path) -> None:
    told = {"hook_event_name": event, "session_id": "s", "cwd": str(project), "prompt": "a"}
    told["transcript_path"] = "/x"
    done = subprocess.run(
        [*python_of(), "agents", "hook", "--host", "claude", "--home", str(home), *words],
        input=json.dumps(told | {"last_assistant_message": "b"}).encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"") and not home.exists()


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
