"""What is said in a pause is never stored: not by hooks, servers, commands or clients, nor a later import."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import transcripts as t
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from soaked import soaked
from test_handing import patient, server
from test_hooks import ANSWER, FIELD, PROMPT, events_of, hook, told
from test_hooks import connected as connected  # A fixture.

from memtape.schemas.errors import MemtapeError, Paused
from memtape.schemas.times import US_PER_S, parse_time
from memtape.sinks.home.counts import FLUSHES, HomeCounts
from memtape.sinks.home.folders import Home
from memtape.tools.agents.doctor import _storing
from memtape.tools.agents.errors import latest_errors
from memtape.tools.capture.native_ids import CLAUDE_CODE
from memtape.tools.capture.profiles import PAUSES_NAME, Pause, pause, pauses_of, resume
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.doors.mcp import call
from memtape.tools.importing.finding import ImportSource
from memtape.tools.importing.records import ImportSummary
from memtape.tools.importing.taking import Importer
from memtape.tools.importing.watching import Watcher

HOUR_US = 3_600 * US_PER_S
HOSTS = tuple(PROMPT)


def run(home: Path, *words: str, **more: Any) -> Any:
    return CliRunner().invoke(main, [*words, "--home", str(home)], **more)


def texts(home: Path, project: Path) -> list[str]:
    return [event.body.text for event in events_of(home, project, "captured")]


@pytest.mark.parametrize("host", soaked(HOSTS, "claude"))
def test_a_hook_hands_out_in_a_pause_and_stores_nothing(host: str, home: Path, project: Path) -> None:
    with Client(home, folder=project, origin="user", session="before") as client:
        client.capture("The staging kayak listens on port 5433.")
        client.project()
        pause(home, client.scope, now_us(), None)
    before = events_of(home, project)
    start = patient(home, host, told(project, "SessionStart", source="startup"))
    for said in (b"5433", b"Memory is paused for project:", b"memtape agents resume"):
        assert said in start
    asked = told(project, PROMPT[host], prompt="On which port does the staging kayak listen?")
    prompt = patient(home, host, asked)
    assert b"port 5433" in prompt
    patient(home, host, told(project, ANSWER[host], **{FIELD[host]: "On 5433, of course."}))
    with server(home):
        asked = told(project, PROMPT[host], prompt="Which port is it, that of the staging kayak?")
        assert b"port 5433" in patient(home, host, asked)
        assert b"Memory is paused" in patient(home, host, told(project, "SessionStart", source="startup"))
    assert events_of(home, project) == before
    assert resume(home, scope_of_folder(project, Home(home)), now_us())


def transcript(project: Path, *said: tuple[str, int, str]) -> Path:
    """Write a transcript of Claude Code: session, second and words of each prompt."""
    path = project / "session.jsonl"
    path.write_bytes(
        t.lines([
            {"type": "user", "uuid": f"u-{second}", "sessionId": session, "cwd": str(project),
             "timestamp": t.at(second), "message": {"content": words}}
            for session, second, words in said
        ])
    )  # fmt: skip
    return path


def taken(home: Path, path: Path, project: Path) -> ImportSummary:
    with Client(home, folder=project) as client:
        client.session = None
        source = ImportSource(path, CLAUDE_CODE, path.name, str(project), "s-1")
        return Importer(client).take([source])


def second_us(second: int) -> int:
    return parse_time(t.at(second), 0)


def test_an_import_and_a_watcher_take_nothing_while_all_is_paused(home: Path, project: Path) -> None:
    path = transcript(project, ("s-1", 1, "before"))
    assert run(home, "agents", "pause").exit_code == 0
    refused = run(home, "import", str(path))
    assert refused.exit_code == 1 and "`memtape agents resume` ends the pause" in refused.output
    with Client(home, folder=project) as client:
        watcher = Watcher(client, folders={CLAUDE_CODE: [project]})
        watcher.index(watcher.sources(), always=True)
        assert not events_of(home, project)
        assert run(home, "agents", "resume").exit_code == 0
        watcher.index(watcher.sources(), always=True)
    assert texts(home, project) == ["before"]


def test_the_end_of_a_session_imports_nothing_of_a_pause(home: Path, project: Path) -> None:
    path = transcript(project, ("s-1", 1, "before"), ("s-1", 5, "meanwhile"), ("s-1", 9, "after"))
    ended = told(project, "SessionEnd", transcript_path=str(path), reason="other")
    pause(home, None, second_us(4), None)
    hook(home, "claude", ended, "--alone")
    hook(home, "claude", told(project, "PreCompact", transcript_path=str(path), trigger="auto"))
    assert not events_of(home, project) and not HomeCounts(home).tally(FLUSHES) and not latest_errors(home, 5)
    resume(home, None, second_us(6))
    hook(home, "claude", ended, "--alone")
    assert texts(home, project) == ["before", "after"]
    (home / "imports.json").unlink()
    assert taken(home, path, project).skipped == {"said while memory was paused": 1}


def test_commands_clients_and_tools_say_that_nothing_is_stored_and_go_on_finding(home: Path) -> None:
    with Client(home, scope="project:a") as client:
        id = client.capture("The staging port is 5433.").id
        client.project()
        paused = run(home, "agents", "pause", "--for", "1h", "--scope", "project:a", "--json")
        (pause,) = json.loads(paused.output)["paused"]
        assert pause["until"] - pause["since"] == HOUR_US and pause["scope"] == "project:a"
        for words in (("capture", "x"), ("agents", "used", id)):
            refused = run(home, *words, "--scope", "project:a")
            assert refused.exit_code == 1 and "nothing is stored" in refused.output
            assert "memtape agents resume --scope project:a" in refused.output
        assert run(home, "capture", "x", "--scope", "project:b").exit_code == 0
        with pytest.raises(Paused):
            client.capture("x")
        with pytest.raises(Paused):
            call(client, "mark_used", {"ids": [id]})
        with pytest.raises(Paused) as refusal:
            call(client, "add_memory", {"text": "x"})
        assert refusal.value.hint.startswith("For the user: ")
        found = client.search("staging port")
        assert found.results and found.recall_id is None
        assert client.forget(id).ids == client.restore(id).ids == (id,)  # People decide all the same.
        context = client.context(form="prompt")
        assert context.text.endswith("ends the pause.\n") and context.tokens <= context.budget_tokens == 2_000
        assert "paused" not in client.context(form="agents").text
        assert [it.scope for it in client.status().paused] == ["project:a"]
        assert "Memory is paused for project:a" in call(client, "get_context", {})
    status = run(home, "status", "--json")
    assert json.loads(status.output)["paused"][0]["until"] == pause["until"]
    assert run(home, "status").output.startswith("PAUSED        Memory is paused for project:a until 2")
    assert _storing(Home(home)).state == "to do"
    assert run(home, "agents", "resume", "--scope", "project:a").output.startswith("The pause has ended.")
    assert run(home, "agents", "resume").output.startswith("There was no such pause.")
    assert run(home, "capture", "x", "--scope", "project:a").exit_code == 0
    assert _storing(Home(home)).state == "good"


def test_a_pause_ends_by_itself_and_a_clock_that_is_set_back_ends_none(home: Path) -> None:
    pause(home, None, 1_000, 2_000)
    kept = pauses_of(home)
    assert kept.now("project:a", 1_999) and not kept.now("project:a", 2_000)
    assert kept.now("project:a", 5)  # The clock went back behind the pause's begin.
    assert not resume(home, None, 3_000)  # It has ended already.
    pause(home, None, 5_000, None)
    assert resume(home, None, 4_000) and pauses_of(home).pauses[-1] == Pause(None, 5_000, 5_000)
    with Client(home, scope="project:a") as client:
        client.capture("x")


def test_a_damaged_file_of_pauses_stores_nothing_and_says_so(home: Path, project: Path) -> None:
    for data in (b"", b"{", b'{"pauses": [{"scope": 1}]}', b"\xff\xfe", b'{"other": 1}'):
        (home / PAUSES_NAME).write_bytes(data)
        with Client(home, scope="project:a") as client, pytest.raises(MemtapeError, match="is damaged"):
            client.capture("x")
        assert "is damaged" in run(home, "agents", "resume").output
    hook(home, "claude", told(project, "UserPromptSubmit", prompt="Where is staging?"))
    assert not events_of(home, project)
    (home / PAUSES_NAME).unlink()
    assert run(home, "agents", "pause").exit_code == 0


def test_many_who_pause_at_once_lose_nothing(home: Path) -> None:
    def work(number: int) -> None:
        for turn in range(5):
            pause(home, f"project:p{number}", 1_000 + turn, None)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    kept = pauses_of(home)
    assert len(kept.pauses) == 40 and len(kept.lasting(2_000)) == 8


times = st.integers(0, 30)
which = st.sampled_from([None, "project:a", "project:b"])
step = st.tuples(st.sampled_from(["pause", "resume"]), which, st.none() | st.integers(1, 10))
steps = st.lists(step, max_size=8)


@given(steps, times)
def test_a_time_is_covered_where_a_pause_lasted_then(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str | None, int | None]], at: int
) -> None:
    home = tmp_path_factory.mktemp("home")
    lasts: dict[str | None, int | None] = {}
    covered: set[str] = set()
    for now in range(31):
        if now % 3 == 0 and now // 3 < len(steps):
            word, scope, length = steps[now // 3]
            if word == "pause":
                pause(home, scope, now, None if length is None else now + length)
                lasts[scope] = None if length is None else now + length
            else:
                had = scope in lasts and (lasts[scope] is None or now < (lasts[scope] or 0))
                assert resume(home, scope, now) is had
                lasts.pop(scope, None)
        if now == at:
            lasting = {scope for scope, until in lasts.items() if until is None or now < until}
            covered = {of for of in ("project:a", "project:b") if lasting & {None, of}}
    kept = pauses_of(home)
    assert {of for of in ("project:a", "project:b") if kept.covers(of, at)} == covered
