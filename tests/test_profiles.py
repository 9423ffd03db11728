"""A profile holds at every door: development is tagged, and dev_no_persist leaves no byte anywhere."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import met
import pytest
from click.testing import CliRunner
from forking import memtape
from hypothesis import given
from hypothesis import strategies as st
from soaked import examples, soaked
from tables import table
from test_cli import every_command
from test_handing import patient, server
from test_hooks import events_of, told
from test_mcp import environment
from test_one_server import Host
from test_pausing import transcript

from memtape.schemas.errors import Denied, MemtapeError
from memtape.schemas.events import DEV_TAG, Event
from memtape.schemas.variables import HOOKS_VARIABLE, NO_PERSIST, PROD, PROFILE_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog, MemoryLog
from memtape.state.subjects.captures import FAMILIES
from memtape.tools.agents.errors import latest_errors, note_error
from memtape.tools.agents.forwarding import may_stay
from memtape.tools.agents.hosts import HOSTS
from memtape.tools.capture.profiles import LONG_TERM, PROFILES, profile_of
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.doors.mcp import call, every_tool, schema_of
from memtape.tools.table import COMMANDS, VERBS

DEV = [name for name, profile in PROFILES.items() if profile.tag is not None]
KEEPING = [name for name, profile in PROFILES.items() if profile.keeps]
ID = "019ab0c4-9a3c-7000-8000-0123456789ab"
KAYAK = "The staging kayak listens on port 5433."

WORDS: dict[str, list[str]] = table("calls")["words"]

SAMPLES = {"text": "The harbour crane is number seven.", "query": "harbour crane", "around": "1h"}
SAMPLES |= dict.fromkeys(("id", "base"), ID) | dict.fromkeys(("slug", "page"), "harbour")
ASKED: dict[str, dict[str, Any]] = {
    name: {each: SAMPLES.get(each, [ID]) for each in schema_of(tool).get("required", ())}
    for name, tool in every_tool().items()
}
ASKED["new_page"]["text"] = ASKED["edit_page"]["text"] = "The harbour has one crane."
"""What each tool can be called with."""


class Machine:
    """The folders of a user: all that a process of Memtape may write to, and what stands in them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home, self.project, self.outside = root / "home", root / "repository", root / "outside"
        folders = {"HOME": "user", "TMPDIR": "tmp", "XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state"}
        folders |= {"XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": "data", "XDG_RUNTIME_DIR": "run"}
        self.variables = {name: str(root / folder) for name, folder in folders.items()} | {HOOKS_VARIABLE: ""}
        for folder in (*folders.values(), "outside", "repository"):
            (root / folder).mkdir()
        subprocess.run(["git", "init", "--quiet", "--template=", str(self.project)], check=True)
        transcript(self.project, ("s-1", 1, "Where does the kayak listen?"))
        self.variables[PROFILE_VARIABLE] = NO_PERSIST

    def call(self, *words: str, folder: Path | None = None, input: bytes = b"", **more: str) -> Any:
        return subprocess.run([*memtape(), *words], env=environment(self.home) | self.variables | more,
                              cwd=folder or self.project, input=input, capture_output=True, timeout=120,
                              check=False)  # fmt: skip

    def bytes(self) -> dict[str, tuple[int, int, str]]:
        """Return what stands where: mode, time of the last change and digest of each file and folder."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            stat = path.lstat()
            said = path.read_bytes() if path.is_file() else b""
            digest = blake2b(said).hexdigest()
            found[str(path.relative_to(self.root))] = stat.st_mode, stat.st_mtime_ns, digest
        return found


MACHINES = ("no home", "a home", "its settings")


@pytest.fixture
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    """Where there is no home, where one has a memory, and where its settings name the profile."""
    made = Machine(tmp_path)
    if request.param != "no home":
        with Client(made.home, folder=made.project, origin="user") as client:
            client.capture(KAYAK)
            client.project()
        if request.param == "its settings":
            Home(made.home).settings_path.write_text(f'profile = "{NO_PERSIST}"\n')
            made.variables[PROFILE_VARIABLE] = ""
    return made


def test_the_tables_name_every_door() -> None:
    assert WORDS.keys() <= {name for name, _ in every_command()}
    assert {*LONG_TERM} == {*FAMILIES}


@pytest.mark.slow
@pytest.mark.parametrize("machine", soaked(MACHINES, "its settings"), indirect=True)
def test_no_command_leaves_a_byte_where_nothing_is_kept(machine: Machine) -> None:
    before = machine.bytes()
    for name, _ in every_command():
        verb, *more = name.split()
        done = machine.call(verb, *more, *WORDS.get(name, ()), *([] if name == "agents mcp" else ["--json"]))
        assert machine.bytes() == before, name
        row = VERBS[COMMANDS[name][0]]
        if name not in ("agents mcp", "agents hook") and not row.in_memory:
            assert done.returncode == 1 and b"keeps none. Nothing was done." in done.stderr, (name, done)
        assert done.returncode != 2 and b"Traceback" not in done.stderr, (name, done)
    kept = machine.call("capture", KAYAK, **{PROFILE_VARIABLE: PROD})
    assert kept.returncode == 0 and machine.bytes() != before  # The walk sees what is written.


@pytest.mark.slow
@pytest.mark.parametrize("machine", soaked(MACHINES, "a home"), indirect=True)
def test_no_hook_leaves_a_byte_where_nothing_is_kept(machine: Machine) -> None:
    before = machine.bytes()
    for host, about in HOSTS.items():
        for event, action in about.hooks.items():
            path = str(machine.project / "session.jsonl")
            said = {"prompt": "On which port does the kayak listen?", "last_assistant_message": "On 5433."}
            data = told(machine.project, event, transcript_path=path, **said)
            for folder in (machine.project, machine.outside) if host == "claude" else (machine.project,):
                words = ("agents", "hook", "--host", host, "--home", str(machine.home))
                input = json.dumps(data | {"cwd": str(folder)}).encode()
                done = machine.call(*words, folder=folder, input=input)
                assert (done.returncode, done.stderr) == (0, b"") and machine.bytes() == before, (event, done)
                assert (b"nothing is kept" in done.stdout) == (action == "start"), (host, event)
        for nonsense in (b"", b"{", b"[1]", b"x" * 100) if host == "claude" else (b"{",):
            assert not machine.call("agents", "hook", "--host", host, input=nonsense).stdout
        assert machine.call("agents", "hook", "--host", host, "--stay").returncode == 0
    assert machine.bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("machine", soaked(MACHINES, "no home"), indirect=True)
def test_a_server_finds_what_it_was_told_and_leaves_no_byte_however_it_ends(machine: Machine) -> None:
    before = machine.bytes()
    host = Host(machine.home, machine.project, **machine.variables)
    added = host.call("add_memory", **ASKED["add_memory"])
    found = host.call("search_memories", query="harbour crane")
    assert "nothing is kept" in added and "number seven" in found
    for name, asked in ASKED.items():
        host.ask("tools/call", name=name, arguments=asked)
    id = added.partition("`")[2].partition("`")[0]
    assert "number seven" in host.call("get_memory", id=id)
    host.call("update_memory", id=id, text="The harbour crane is number nine.")
    host.call("mark_used", ids=[id])
    host.call("forget_memory", id=id)
    assert "number seven" not in host.call("search_memories", query="harbour crane")
    host.call("restore_memory", id=id)
    assert "nothing is kept" in host.call("get_context")
    assert "5433" not in host.call("search_memories", query="staging kayak port")  # No home is read.
    assert machine.bytes() == before
    other = Host(machine.home, machine.project, **machine.variables)
    assert "number" not in other.call("search_memories", query="harbour crane")
    other.call("add_memory", **ASKED["add_memory"])
    assert "number seven" in other.call("search_memories", query="harbour crane")
    other.process.kill()
    other.process.communicate()
    assert machine.bytes() == before
    host.close()
    assert machine.bytes() == before


def test_a_client_keeps_nothing_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path)
    monkeypatch.chdir(machine.outside)
    for name, value in (machine.variables | {PROFILE_VARIABLE: ""}).items():
        monkeypatch.setenv(name, value)
    before = machine.bytes()
    with Client(machine.home, profile=NO_PERSIST) as client, Client(machine.home, profile=NO_PERSIST) as same:
        receipt = client.capture(KAYAK)
        assert receipt.profile == NO_PERSIST
        assert [it.id for it in same.search("staging kayak").results] == [receipt.id]
        assert client.use([receipt.id]) and client.status().home == "nowhere"
        assert [it.text for it in client.recent().results] == [KAYAK] and client.show(
            receipt.id
        ).captured is not None
        elsewhere = Client(tmp_path / "another", profile=NO_PERSIST)
        assert elsewhere.search("staging kayak").results == []
        for refused in (client.project, client.verify, client.refold, client.consolidate, client.prune):
            with pytest.raises(MemtapeError, match="profile dev_no_persist keeps none"):
                refused()
        with pytest.raises(MemtapeError, match="keeps none"):
            client.search("kayak", as_of="1h")
    assert machine.bytes().keys() == before.keys()
    monkeypatch.setenv(PROFILE_VARIABLE, NO_PERSIST)
    note_error(machine.home, "nothing", ValueError())
    assert machine.bytes().keys() == before.keys()


def test_a_log_that_keeps_is_not_written_where_nothing_is_kept(tmp_path: Path) -> None:
    log = EmbeddedLog(tmp_path / "log.db")
    with pytest.raises(MemtapeError, match="profile dev_no_persist keeps nothing"):
        Client(tmp_path / "home", log=log, profile=NO_PERSIST)
    log.close()
    with Client(tmp_path / "home", scope="project:a", log=MemoryLog(), profile=NO_PERSIST) as client:
        client.capture(KAYAK)
    assert not (tmp_path / "home").exists()


def captures(home: Path) -> list[Event]:
    with Client(home, scope="project:a", profile=PROD) as client:
        return [event for event in met.events_of(client.log) if event.type == "captured"]


@pytest.mark.parametrize("name", soaked(KEEPING, DEV[0]))
def test_each_door_tags_texts(name: str, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROFILE_VARIABLE, name)
    monkeypatch.chdir(project)
    path = transcript(project, ("s-9", 1, "What was imported?"))
    (project / "notes.md").write_text("# Notes\n\nThe crane is red.\n\n" + "It is a long crane. " * 100)

    def run(*words: str, **more: Any) -> str:
        done = CliRunner().invoke(main, [*words, "--home", str(home)], **more)
        assert done.exit_code == 0, done.output
        return done.output

    with Client(home, folder=project) as client:
        ids = [client.capture("one").id, client.capture_many([Line(text="two", tags=("mine",))])[0].id]
        assert client.update(ids[0], "one and a half").profile == name
        call(client, "add_memory", {"text": "three"})
        call(client, "update_memory", {"id": ids[1], "text": "two and a half"})
    rows = '{"text": "six", "tags": ["env:dev", "mine"]}\n{"text": "seven"}'
    doors: dict[str, Callable[[], object]] = {
        "text": lambda: run("capture", "four"), "stdin": lambda: run("capture", "-", input="five"),
        "lines": lambda: run("capture", "-", input=rows),
        "document": lambda: run("capture", "--file", "notes.md"), "import": lambda: run("import", str(path)),
        "import of notes": lambda: run("import", "notes.md"),
    }  # fmt: skip
    for host, about in HOSTS.items():
        for event, action in about.hooks.items():
            if action in ("prompt", "answer"):
                said = f"{host} {action} says eight"
                field = "prompt" if action == "prompt" else "last_assistant_message"
                data = told(project, event, **{field: said}, agent_name="explore", session_id=f"s-{host}")
                doors[f"{host} {event}"] = lambda host=host, data=data: patient(home, host, data)
    flushed = told(project, "PreCompact", transcript_path=str(path), trigger="auto")
    doors["flush"] = lambda: patient(home, "claude", flushed)
    for door, walk in doors.items():
        before = len(captures(home))
        walk()
        # Copilot CLI tells no answer of its own: it stands in a transcript, which is not there.
        assert door == "copilot Stop" or len(captures(home)) > before, door
    assert not latest_errors(home, 5)
    for event in captures(home):
        tags = event.body.tags
        assert tags.count(DEV_TAG) == (name in DEV) or tags == (DEV_TAG, "mine"), event


@pytest.mark.parametrize("kind", ["turn", "document", "page", *LONG_TERM])
@given(importance=st.none() | st.floats(0, 1), name=st.sampled_from(list(PROFILES)))
def test_dev_standard_alone_refuses_the_unimportant(kind: Any, importance: float | None, name: str) -> None:
    client = Client(Path("/proc/self/nothing"), scope="project:a", log=MemoryLog(), profile=NO_PERSIST)
    client.profile = PROFILES[name]
    below = importance is not None and round(importance * 100) < 60
    if below and name == "dev_standard" and kind in LONG_TERM:
        with pytest.raises(Denied, match=r"0\.6 or more.*nothing was stored"):
            client.capture("A crane.", kind, importance=importance)
        refused = Line(text="A crane.", kind=kind, importance=importance)
        receipts = client.capture_many([refused, Line(text="Another.")])
        assert len(receipts) == 1 and [place for place, _ in receipts.refused] == [0]
    else:
        assert client.capture("A crane.", kind, importance=importance).profile == name


NAMES = st.none() | st.sampled_from(list(PROFILES))


@examples(10)
@given(NAMES, NAMES, NAMES)
def test_an_argument_goes_before_the_environment_and_that_before_the_settings(
    tmp_path_factory: pytest.TempPathFactory, argument: str | None, variable: str | None, setting: str | None
) -> None:
    home = tmp_path_factory.mktemp("home")
    if setting is not None:
        (home / "settings.toml").write_text(f'profile = "{setting}"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PROFILE_VARIABLE, variable or "")
        wanted = argument or variable or setting or PROD
        assert profile_of(home, argument).name == wanted
        with Client(home, scope="project:a", profile=argument) as client:
            assert client.status().profile == client.capture("x").profile == wanted
            assert ("Profile " in client.context().text) == (wanted != PROD)
            assert "Profile " not in client.context(form="agents").text
        by = ["--profile", argument] if argument else []
        words = [*by, "capture", "y", "--home", str(home), "--scope", "project:a"]
        told = CliRunner().invoke(main, [*words, "--json"])
        assert json.loads(told.stdout)["profile"] == wanted
        receipt = CliRunner().invoke(main, words).stdout
        assert (f"profile {wanted}." in receipt) is (wanted != "prod")
        last = CliRunner().invoke(main, ["status", "--home", str(home), *by]).stdout
        assert f"profile       {wanted}\n" in last
        assert os.environ[PROFILE_VARIABLE] == (variable or "")  # A command leaves its profile to nobody.


def test_a_name_that_is_none_is_an_error_that_lists_the_four(home: Path, project: Path) -> None:
    for words, variable, setting in ((["--profile", "dev"], "", None), ([], "dev", None), ([], "", "dev")):
        Home(home).settings_path.write_text("" if setting is None else f'profile = "{setting}"\n')
        command = ["capture", "x", "--home", str(home), *words]
        done = CliRunner().invoke(main, command, env={PROFILE_VARIABLE: variable})
        assert done.exit_code == 1 and "names no profile: 'dev'" in done.output
        assert "The profiles are prod, dev_standard, dev_memory_test, dev_no_persist." in done.output
        assert not Home(home).log_path.exists()
    done = CliRunner().invoke(main, ["capture", "x", "--home", str(home), "--profile", ""])
    assert done.exit_code == 1 and "The profiles are prod" in done.output
    with pytest.raises(MemtapeError, match="The argument names no profile"):
        Client(home, profile="")
    prompt = told(project, "UserPromptSubmit", prompt="Where does the kayak listen?")
    assert patient(home, "claude", prompt) == b"" and not Home(home).log_path.exists()
    assert "names no profile" in latest_errors(home, 1)[0]


@pytest.mark.parametrize("name", soaked([*DEV, NO_PERSIST], DEV[0], NO_PERSIST))
def test_a_hook_of_another_profile_keeps_it_beside_a_server(name: str, home: Path, project: Path) -> None:
    Home(home)
    prompts = iter(f"The harbour crane is number {n}, is it not?" for n in "1234")

    def say(**variables: str) -> bytes:
        return patient(home, "claude", told(project, "UserPromptSubmit", prompt=next(prompts)), **variables)

    with server(home):
        say()
        say(**{PROFILE_VARIABLE: name})
        begin = told(project, "SessionStart", source="startup")
        assert PROFILES[name].told.encode() in patient(home, "claude", begin, **{PROFILE_VARIABLE: name})
        assert b"Profile" not in patient(home, "claude", begin)
        say()
    tags = [event.body.tags for event in events_of(home, project, "captured")]
    assert tags == ([(), ()] if name == NO_PERSIST else [(), (DEV_TAG,), ()])
    assert not latest_errors(home, 5)


@pytest.mark.parametrize("setting", [None, *PROFILES])
@pytest.mark.parametrize("variable", ["", *PROFILES])
def test_only_who_has_the_profile_of_the_home_leaves_a_server_for_others(
    setting: str | None, variable: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOOKS_VARIABLE, "")
    monkeypatch.setenv(PROFILE_VARIABLE, variable)
    if setting is not None:
        Home(home).settings_path.write_text(f'profile = "{setting}"\n')
    own = setting or PROD
    may = (variable or own) == own != NO_PERSIST
    assert may_stay(home) == may
