"""What is taken of every format, what never is, and what of bad files is taken and what is named."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import transcripts as t
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tables import DATA

from memtape.schemas.codec import decode
from memtape.schemas.events import Captured, Erased, Event
from memtape.schemas.log import Log
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import parse_time
from memtape.sinks.logs.embedded import MemoryLog
from memtape.tools.capture.native_ids import GEMINI, HOSTS, claude_prompt, heard
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.importing import documents, exports, reading
from memtape.tools.importing.documents import FORMATS, can_read, take_document
from memtape.tools.importing.finding import host_files, named_files
from memtape.tools.importing.records import ImportSummary, Record, Skipped
from memtape.tools.importing.taking import Importer
from memtape.tools.importing.transcripts import rows_of, take_claude, take_codex, take_gemini

SCOPE = "project:test"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path / "home", scope=SCOPE, actor="Ada", origin="user") as client:
        yield client


def events(log: Log, scope: str = SCOPE) -> list[Event]:
    """Return the captures of a scope as they stand on the log, in order, also those that came twice."""
    partition = partition_of(scope, log.partitions)
    found = log.read(partition, 0, 1_000_000, scope=scope, types=("captured",))
    return [decode(slot.payload) for slot in found]


def body(event: Event) -> Captured:
    assert isinstance(event.body, Captured)
    return event.body


def said(log: Log, scope: str = SCOPE) -> list[tuple[str, str]]:
    return [(event.actor.origin, body(event).text) for event in events(log, scope)]


def take(client: Client, *paths: Path, scope: str | None = SCOPE, **options: Any) -> ImportSummary:
    sources = [source for path in paths for source in named_files(path)]
    on_progress = options.pop("on_progress", bool)
    if options.pop("reread", False):
        client.home.imports_path.unlink(missing_ok=True)
    return Importer(client, scope, on_progress=on_progress, **options).take(sources)


def put(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


GEMINI_HEAD = t.gemini()[0]
KEPT = [t.gemini_row("i1", "user", [{"text": "List."}], 1), t.gemini_row("i2", "gemini", "Listed.", 2)]
LATER = [t.gemini_row("i9", "user", "<state_snapshot>INJECTED</state_snapshot>", 3)]
KEPT_SAID = [("user", "List."), ("agent", "Listed.")]
NUTS = ("model", "Ada is allergic to nuts.")
FORK = [row | {"metadata": {"inherited_user_message": row["ordinal"] == 4}} for row in t.codex("/x", "fork")]
FILES: dict[str, tuple[str, bytes, list[tuple[str, str]]]] = {
    "claude": ("s.jsonl", t.lines(t.claude("/x")), t.CLAUDE_SAID),
    "codex": (f"rollout-2026-01-02T03-00-00-{t.SESSION}.jsonl", t.lines(t.codex("/x")), t.CODEX_SAID),
    "codex, old": ("rollout-old.jsonl", t.lines(t.codex_old("/x")), t.CODEX_SAID),
    "gemini": ("session-2026.jsonl", t.lines(t.gemini()), t.GEMINI_SAID),
    "chatgpt": ("conversations.json", as_json(t.chatgpt()), t.CHATGPT_SAID),
    "chatgpt, one": ("one.json", as_json(t.chatgpt()[0]), t.CHATGPT_SAID[:2]),
    "claude.ai": ("conversations-001.json", as_json(t.claude_ai()), t.CLAUDE_AI_SAID),
    "claude.ai, one": ("one.json", as_json(t.claude_ai()[0]), t.CLAUDE_AI_SAID),
    "claude.ai, memories": ("memories.json", as_json(t.CLAUDE_AI_MEMORIES),
                            [("model", "Ada likes tides."), ("model", "Uses tabs.")]),
    "mem0": ("mem0.json", as_json(t.mem0()), [NUTS, ("model", "Ada lives in Oslo.")]),
    "mem0, a list": ("all.json", as_json(t.mem0()["results"][:1]), [NUTS]),
    "claude.ai in a zip": (
        "a.zip", t.zipped({"manifest.json": b"{}", "c-000.json": as_json(t.claude_ai())}), t.CLAUDE_AI_SAID
    ),
    "a fork of Codex": ("rollout.jsonl", t.lines(FORK), t.CODEX_SAID[1:]),
    "gemini, only what the model was given": (
        "s.jsonl", t.lines([GEMINI_HEAD, *({"$set": {"messages": its}} for its in (KEPT, LATER))]), KEPT_SAID
    ),
    "gemini, old, in one row": ("s.jsonl", t.lines([{**GEMINI_HEAD, "messages": KEPT}]), KEPT_SAID),
    "a subagent of Gemini": ("s.jsonl", t.lines([{**GEMINI_HEAD, "kind": "subagent"}, *t.gemini()[1:3]]),
                             [("agent", "List the files.")]),
    "rows in a zip": ("sessions.zip", t.zipped({"a/s.jsonl": t.lines(t.claude("/x"))}), t.CLAUDE_SAID),
}  # fmt: skip


@pytest.mark.parametrize("format", FILES)
def test_what_was_said_is_taken_once_and_nothing_else(format: str, client: Client, tmp_path: Path) -> None:
    name, data, expected = FILES[format]
    path = put(tmp_path, name, data)
    first = take(client, path)
    assert said(client.log) == expected
    assert (first.taken, first.known, first.files) == (len(expected), 0, 1)
    again = take(client, path)
    assert (again.taken, again.known, again.unchanged) == (0, 0, 1)
    reread = take(client, path, reread=True)
    assert (reread.taken, reread.known) == (0, len(expected))
    assert said(client.log) == expected
    whole = "\n".join(str(event) for event in events(client.log))
    for word in ("INJECTED", "SECRET-THOUGHT", "WRONG", "OFF the branch", "TOOL"):
        assert word not in whole


def test_times_and_sessions_are_the_sources_and_odd_rows_are_counted(client: Client, tmp_path: Path) -> None:
    summary = take(client, put(tmp_path, "s.jsonl", t.lines(t.claude("/x"))))
    assert summary.skipped["unknown type 'hologram'"] == 1 and summary.problem_count == 0
    first = events(client.log)[0]
    assert (first.at, first.session, body(first).branch) == (parse_time(t.at(1), 0), t.SESSION, "main")
    assert t.at(1) == "2026-01-02T03:00:01.500Z"
    assert all(event.at <= event.sent for event in events(client.log))
    names = {event.actor.name for event in events(client.log)}
    assert names == {"Ada", "claude-code", "claude-code ab1"}


def test_sessions_go_to_the_project_they_were_held_in(client: Client, tmp_path: Path, project: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    a = put(tmp_path, "in/a.jsonl", t.lines(t.claude(project)))
    b = put(tmp_path, "in/b.jsonl", t.lines(t.codex(other)))
    summary = take(client, a, b, scope=None)
    scopes = [scope_of_folder(folder, client.home) for folder in (project, other)]
    assert summary.scopes == {scopes[0]: len(t.CLAUDE_SAID), scopes[1]: len(t.CODEX_SAID)}
    assert said(client.log, scopes[1]) == t.CODEX_SAID
    homeless = [{**row, "payload": {**row["payload"], "cwd": None}} for row in t.codex("", "s2")]
    unknown = take(client, put(tmp_path, "in/c.jsonl", t.lines(homeless)), scope=None)
    assert unknown.taken == 0
    assert unknown.problems[0].reason == "its project is not known; name a scope with --scope"


def test_a_folder_of_another_system_is_no_folder_here(client: Client, tmp_path: Path) -> None:
    summary = take(client, put(tmp_path, "a.jsonl", t.lines(t.claude("C:\\Users\\ada\\Tides"))), scope=None)
    [scope] = summary.scopes
    assert scope.startswith("project:tides-")
    assert scope != scope_of_folder(Path.cwd(), client.home)


def test_a_folder_without_a_scope_costs_its_own_alone(client: Client, tmp_path: Path, project: Path) -> None:
    """A name that no system takes, and a repository that cannot be written."""
    locked = tmp_path / "locked"
    subprocess.run(["git", "init", "-q", str(locked)], check=True)
    (locked / ".git/config.lock").touch()
    folders = {"a": "/" + "x" * 5_000, "b": locked, "c": project}
    paths = [put(tmp_path, f"in/{name}.jsonl", t.lines(t.claude(cwd))) for name, cwd in folders.items()]
    summary = take(client, *paths, scope=None)
    assert summary.scopes == {scope_of_folder(project, client.home): len(t.CLAUDE_SAID)}
    assert summary.problem_count == 2 * len(t.CLAUDE_SAID)


def test_a_fork_adds_only_what_is_its_own(client: Client, tmp_path: Path) -> None:
    rows = t.claude("/x")
    fork = [{**row, "sessionId": "fork"} for row in rows]
    fork.append({**fork[16], "uuid": "new", "message": {"role": "user", "content": "On the fork."}})
    summary = take(client, put(tmp_path, "a.jsonl", t.lines(rows)), put(tmp_path, "b.jsonl", t.lines(fork)))
    assert (summary.taken, summary.known) == (len(t.CLAUDE_SAID) + 1, len(t.CLAUDE_SAID))


# Live capture and import


@pytest.mark.parametrize("split", [False, True])
def test_what_a_hook_captured_is_not_taken_again(split: bool, client: Client, tmp_path: Path) -> None:
    """By the prompt's id, and by its words alone; also where they fill several events."""
    rows, long = t.claude("/x"), "Staging uses 5433. " * (5_000 if split else 1)
    next(row for row in rows if row.get("uuid") == "a6")["message"]["content"] = long
    hooked = [
        ("user", "Which port does staging use?", claude_prompt("p1")),
        ("agent", long.strip(), heard(t.SESSION, "assistant", long)),
        ("user", "Thanks, use it.", heard(t.SESSION, "user", "Thanks,  use it.")),
    ]
    for origin, text, native in hooked:
        how: dict[str, Any] = {"origin": origin, "source": HOSTS["claude"], "native_id": native}
        client.capture_many([Line(text=text, kind="turn", split=True, **how)])
    before = len(events(client.log))
    summary = take(client, put(tmp_path, "s.jsonl", t.lines(rows)))
    assert (summary.taken, summary.known) == (4, 3)
    assert len(events(client.log)) == before + 4


def test_what_was_erased_is_not_taken_again(client: Client, tmp_path: Path) -> None:
    path = put(tmp_path, "s.jsonl", t.lines(t.claude("/x")))
    take(client, path)
    gone = events(client.log)[0].id
    client.append("erased", Erased(ids=(gone,)), SCOPE)
    for log in (client.log, MemoryLog()):
        with Client(tmp_path / "other", scope=SCOPE, log=log) as other:
            if log is not client.log:  # Of a log that only knows of the erasure.
                other.append("erased", Erased(ids=(gone,)), SCOPE)
            summary = take(other, path, reread=True)
            assert summary.skipped["erased before, and not taken again"] == 1
            assert summary.taken + summary.known == len(t.CLAUDE_SAID) - 1
    assert sum(event.id == gone for event in events(client.log)) == 1


def test_several_importers_at_once_add_a_thing_once(tmp_path: Path) -> None:
    rows = [row for row in t.claude("/x") if row.get("uuid") in ("u1", "a2", "a6")]
    many = [{**row, "uuid": f"{row['uuid']}-{n}", "promptId": None} for n in range(60) for row in rows]
    path = put(tmp_path, "s.jsonl", t.lines(many))
    taken: list[int] = []

    def work() -> None:
        with Client(tmp_path / "home", scope=SCOPE) as own:
            taken.append(take(own, path).taken)

    with Client(tmp_path / "home", scope=SCOPE) as client:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: work(), range(4)))
        assert sum(taken) == len(events(client.log)) == 180


# Notes and memory files


def test_notes_of_obsidian(client: Client, tmp_path: Path) -> None:
    put(tmp_path, "notes/Tides.md", t.OBSIDIAN)
    put(tmp_path, "notes/sub/coffee.md", "---\ntitle: Coffee\n---\n# Coffee\nPour over.")
    put(tmp_path, "notes/.obsidian/hidden.md", "HIDDEN")
    put(tmp_path, "notes/data.csv", "1,2")
    summary = take(client, tmp_path / "notes")
    tides, coffee = events(client.log)
    assert body(tides).tags == ("project", "area/sea", "todo/soon")
    assert "[[Harbour#Depth|the harbour]] and ![[map.png]]" in body(tides).text
    assert (body(tides).path, body(tides).kind, tides.at) == ("Tides.md", "document", 1767312000000000)
    assert body(coffee).path == "sub/coffee.md"
    assert summary.skipped["a file of no known format"] == 1
    put(tmp_path, "notes/Tides.md", t.OBSIDIAN + "More.")
    assert take(client, tmp_path / "notes").taken == 1


def test_what_is_of_no_known_form_is_named_with_its_place(tmp_path: Path) -> None:
    for n in range(7):
        put(tmp_path, f"notes/{n}.csv", "1,2")
    put(tmp_path, "notes/tides.md", "High water is at nine.")
    put(tmp_path, "notes/s.jsonl", t.lines(t.claude("/x")))
    words = ["import", str(tmp_path / "notes"), "--scope", "project:a", "--home", str(tmp_path / "home")]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0
    assert f"    {tmp_path / 'notes/0.csv'}\n" in done.output and "… and 2 more" in done.output
    assert f"unknown type 'hologram'\n    {tmp_path / 'notes/s.jsonl'}, byte " in done.output
    told = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert len([it for it in told["left"] if it["reason"] == "a file of no known format"]) == 7


def test_memory_files_of_claude_code(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(project))
    root = tmp_path / "claude"
    put(root, f"projects/{slug}/s.jsonl", t.lines(t.claude(project / "src")))
    put(root, f"projects/{slug}/{t.SESSION}/subagents/agent-1.jsonl", t.lines(t.claude(project)[22:24]))
    put(root, f"projects/{slug}/memory/MEMORY.md", t.MEMORY_INDEX)
    put(root, f"projects/{slug}/memory/ports.md", t.MEMORY_TOPIC)
    put(root, f"projects/{slug}/memory/bad.md", "---\n: [\n---\nStill said.\n")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "gem"))
    put(tmp_path, "gem/.gemini/tmp/p/chats/session-1.jsonl", t.lines(t.gemini()))
    put(tmp_path, "gem/.gemini/tmp/p/.project_root", str(project))
    put(tmp_path, "gem/.gemini/tmp/p/logs.json", "[]")
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    with Client(tmp_path / "home") as client:
        summary = Importer(client, None).take(host_files())
        [scope] = summary.scopes
        assert scope == scope_of_folder(project, client.home)
        memories = [it for it in map(body, events(client.log, scope)) if it.source == "claude-code-memory"]
    texts = [it.text for it in memories if it.path == "MEMORY.md"]
    assert texts == ["Deploy on Tuesdays.", "Use tabs,\n  not spaces."]
    (port,) = (it for it in memories if it.path == "ports.md")
    assert (port.text, port.tags) == ("Staging listens on 5433.", ("project",))
    assert any("Still said." in it.text for it in memories)
    assert summary.skipped["front matter that is no YAML"] == 1
    assert summary.taken == len(memories) + len(t.GEMINI_SAID) + len(t.CLAUDE_SAID)


# Bad input


BAD = {
    "binary": ("a.jsonl", os.urandom(5_000), 1, "not JSON"),
    "binary note": ("a.md", b"PNG\0\1\2", 1, "a binary file"),
    "no archive": ("a.zip", b"PK nothing", 1, "an archive that cannot be read"),
    "no JSON": ("a.json", b"[{'a': 1}]", 1, "JSON that cannot be read to its end; what stood before "
                "was taken"),
    "of nothing known": ("a.csv", b"1,2", 1, "a file of no known format"),
    "note in Latin-1": ("a.md", b"Caf\xe9", 0, "not UTF-8: what cannot be read is shown as �"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_read_is_named(case: str, client: Client, tmp_path: Path) -> None:
    name, data, unread, reason = BAD[case]
    summary = take(client, put(tmp_path, name, data))
    assert (summary.unread, summary.nothing_read) == (unread, bool(unread))
    assert (summary.problems[0].path, summary.problems[0].reason) == (str(tmp_path / name), reason)
    assert summary.taken == 1 - unread


def test_an_import_that_could_read_nothing_says_so_beside_its_document(tmp_path: Path) -> None:
    path = str(put(tmp_path, "a.csv", b"1,2"))
    words = ["import", path, "--scope", SCOPE, "--home", str(tmp_path / "home")]
    for more in ([], ["--json"]):
        done = CliRunner().invoke(main, [*words, *more])
        assert done.exit_code == 1 and "nothing that could be read" in done.stderr
    assert json.loads(done.stdout)["unread"] == 1


def test_circles_are_named_and_their_turns_taken() -> None:
    found = list(exports.take(t.chatgpt()[2], {}))
    told = [one.text if isinstance(one, Record) else one.reason for one in found]
    assert sorted(told) == ["Round", "a conversation that runs in a circle", "and round."]


def test_links_in_a_circle_and_links_to_nowhere(client: Client, tmp_path: Path) -> None:
    put(tmp_path, "notes/a.md", "One note.")
    (tmp_path / "notes/loop").symlink_to(tmp_path / "notes")
    (tmp_path / "notes/self.md").symlink_to(tmp_path / "notes/self.md")
    (tmp_path / "notes/gone.md").symlink_to(tmp_path / "nowhere")
    assert take(client, tmp_path / "notes").taken == 1


def test_too_long_a_line_is_skipped(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 1_000)
    monkeypatch.setattr(reading, "SKIP_BYTES", 64)
    claude, long = t.claude("/x"), b'{"type": "user", "x": "' + b"y" * 5_000 + b'"}'
    rows: list[Any] = [claude[2], long, claude[12]]
    summary = take(client, put(tmp_path, "s.jsonl", t.lines(rows)))
    assert summary.taken == 2
    assert summary.problems[0].place == f"byte {len(t.lines(rows[:1]))}"


def test_half_a_character_and_a_time_of_the_future_cost_no_row(client: Client, tmp_path: Path) -> None:
    _, _, row, *rest = t.claude("/x")
    row["message"]["content"] = "cut \ud83d here, and \0 there"
    latin = {**rest[13], "message": {"content": "caf\u00e9"}}
    raw = json.dumps(latin, ensure_ascii=False).encode("latin-1")
    assert take(client, put(tmp_path, "half.jsonl", t.lines([row, raw]))).taken == 2
    assert [text for _, text in said(client.log)] == ["cut � here, and  there", "caf�"]
    rows = [row for row in t.claude("/x") if row.get("uuid") in ("u1", "a2", "a6")]
    for row, moment in zip(rows, ("2199-01-01T00:00:00Z", None, "yesterday"), strict=True):
        row["timestamp"] = moment
    assert take(client, put(tmp_path, "s.jsonl", t.lines(rows)), scope="project:late").taken == 3
    assert all(event.at <= event.sent for event in events(client.log, "project:late"))


# Growing, shrinking, changing


def test_a_file_that_grew_is_read_from_where_it_was_left(client: Client, tmp_path: Path) -> None:
    rows = t.claude("/x")
    path = put(tmp_path, "s.jsonl", t.lines(rows[:8]))
    take(client, path)
    with path.open("ab") as file:
        file.write(t.lines(rows[8:]))
    read: list[int] = []
    summary = take(client, path, on_progress=read.append)
    assert sum(read) == len(t.lines(rows[8:]))
    assert summary.known == 0
    assert said(client.log) == t.CLAUDE_SAID


@pytest.mark.parametrize("change", ["truncated", "rewritten", "grown at its head"])
def test_a_file_that_changed_is_read_again(change: str, client: Client, tmp_path: Path) -> None:
    rows = t.claude("/x")
    path = put(tmp_path, "s.jsonl", t.lines(rows))
    take(client, path)
    message = {"role": "user", "content": "Another question."}
    new = {**rows[2], "uuid": "new", "promptId": "new", "message": message}
    after = {"truncated": [new], "rewritten": [*rows[:2], new, *rows[4:]], "grown at its head": [new, *rows]}
    path.write_bytes(t.lines(after[change]))
    assert take(client, path).taken == 1
    assert len(events(client.log)) == len(t.CLAUDE_SAID) + 1


def test_positions_that_are_lost_or_damaged_cost_time_alone(client: Client, tmp_path: Path) -> None:
    """Nor do they tell what was said."""
    path = put(tmp_path, "s.jsonl", t.lines(t.claude("/x")))
    take(client, path)
    kept = client.home.imports_path.read_text()
    assert not any(
        it in kept for it in ("listens on", "log/app", *(event.id for event in events(client.log)))
    )
    # Digests, ids and times may have any four digits.
    assert "5433" not in re.sub(r"[0-9a-f-]{8,}", "", kept)
    for damage in (b"", b"{", b"null", b'{"rules": 1, "log_id": 3}'):
        client.home.imports_path.write_bytes(damage)
        again = take(client, path)
        assert (again.taken, again.known) == (0, len(t.CLAUDE_SAID))


# Laws


@given(cut=st.integers(0, 100_000), format=st.sampled_from(["claude", "codex", "codex, old", "gemini"]))
def test_cut_at_any_byte_what_is_whole_is_taken_and_the_rest_follows(cut: int, format: str) -> None:
    name, data, expected = FILES[format]
    cut %= len(data) + 1
    with scratch() as (client, folder):
        path = put(folder, name, data[:cut])
        assert take(client, path).problem_count <= 1
        head = said(client.log)
        if format != "gemini":  # Of Gemini's rows the last version counts: a head may say less of one.
            # Also a last row is whole of which only the line's end is missing.
            whole = data[:cut].count(b"\n") + (data[cut : cut + 1] == b"\n")
            assert head == _said_by(format, data, whole)
        path.write_bytes(data)
        take(client, path)
        if format == "gemini":
            assert {*said(client.log)} >= {it for it in expected if it[1] != "I list them."}
        else:
            assert said(client.log) == expected


@given(seed=st.integers(0, 10**9), format=st.sampled_from(sorted(FILES)))
def test_whatever_happens_to_a_file_an_import_never_fails_and_is_idempotent(seed: int, format: str) -> None:
    name, data, _ = FILES[format]
    chance = random.Random(seed)
    damaged = _damage(data, chance)
    with scratch() as (client, folder):
        path = put(folder, name, damaged)
        first = take(client, path)
        before = [event.id for event in events(client.log)]
        assert len(set(before)) == len(before)
        again = take(client, path, reread=True)
        assert again.taken == 0
        assert again.known == first.taken + first.known
        assert [event.id for event in events(client.log)] == before


@given(seed=st.integers(0, 10**9))
def test_shuffled_and_doubled_rows_say_the_same(seed: int) -> None:
    chance = random.Random(seed)
    rows = t.claude("/x")
    mixed = rows + [chance.choice(rows) for _ in range(10)]
    chance.shuffle(mixed)
    with scratch() as (client, folder):
        take(client, put(folder, "s.jsonl", t.lines(mixed)))
        assert sorted(said(client.log)) == sorted(t.CLAUDE_SAID)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(data=st.data(), format=st.sampled_from(["claude", "codex", "codex, old", "gemini", "exports"]))
def test_a_row_of_any_shape_never_raises(data: st.DataObject, format: str) -> None:
    """A real row in which anything has become anything else, and one that is made of nothing but chance."""
    rows: list[Any] = {
        "claude": t.claude("/x"), "codex": t.codex("/x"), "codex, old": t.codex_old("/x"),
        "gemini": t.gemini(),
        "exports": [*t.chatgpt(), *t.claude_ai(), *t.CLAUDE_AI_MEMORIES, *t.mem0()["results"]],
    }[format]  # fmt: skip
    row = json.loads(json.dumps(data.draw(st.sampled_from(rows))))
    for _ in range(data.draw(st.integers(1, 3))):
        _replace_one(row, data)
    state: dict[str, Any] = {"session": "s", "cwd": None}
    parsers: dict[str, Any] = {"claude": take_claude, "gemini": take_gemini, "exports": exports.take}
    found = list(parsers.get(format, take_codex)(row, state))
    assert all(isinstance(one, Record | Skipped) for one in found)
    if format == "gemini":
        file = BytesIO(2 * f"{json.dumps(row)}\n".encode())
        read = (one for _, found in rows_of(GEMINI, file, state) for one in found)
        assert all(isinstance(one, Record | Skipped) for one in read)


def _replace_one(value: Any, data: st.DataObject) -> None:
    """Replace one place somewhere in a value."""
    while isinstance(value, dict | list) and value:
        key = data.draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
        if data.draw(st.booleans()) or not isinstance(value[key], dict | list):
            value[key] = data.draw(json_values)
            return
        value = value[key]


def _damage(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 3)):
        place, length = chance.randrange(len(data) + 1), chance.randrange(40)
        flipped = bytes(byte ^ 1 << chance.randrange(8) for byte in data[place : place + 1])
        doubled, made = data[place : place + length * 20], chance.randbytes(length)
        end, new = chance.choice(((length, b""), (1, flipped), (0, doubled), (0, made)))
        data = data[:place] + new + data[place + end :]
    return data


def _said_by(format: str, data: bytes, rows: int) -> list[tuple[str, str]]:
    parser = take_claude if format == "claude" else take_codex
    state: dict[str, Any] = {}
    found = [one for line in data.splitlines()[:rows] for one in parser(json.loads(line), state)]
    return [(one.origin, one.text) for one in found if isinstance(one, Record)]


@contextmanager
def scratch() -> Iterator[tuple[Client, Path]]:
    """A client and a folder for one example of a property."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Client(folder / "home", scope=SCOPE, actor="Ada", log=MemoryLog(2)) as client:
            yield client, folder


# --- Documents ---


def file(name: str) -> bytes:
    """Return a document of `data/documents`."""
    return (DATA / "documents" / name).read_bytes()


def needs(ending: str) -> None:
    if not can_read(ending):
        pytest.skip(f"the extra documents, by which {ending} is read, is not installed")


def read_of(data: bytes, ending: str) -> Record | Skipped:
    (found,) = take_document(data, ending, f"file{ending}", 7)
    return found


def taken(data: bytes, ending: str) -> Record:
    found = read_of(data, ending)
    assert isinstance(found, Record), found
    return found


def refused(data: bytes, ending: str) -> str:
    found = read_of(data, ending)
    assert isinstance(found, Skipped) and found.problem
    return found.reason


def test_a_pdf_gives_its_pages_and_its_title() -> None:
    needs(".pdf")
    found = taken(file("tide.pdf"), ".pdf")
    assert found.text == "# Tide tables\n\nThe gauge reads at noon.\n\nPage two."
    assert (found.origin, found.at, found.kind) == ("user", 7, "document")
    assert taken(file("untitled.pdf"), ".pdf").text == "Only this."
    assert "as a scan is" in refused(file("scan.pdf"), ".pdf")


def test_a_page_gives_what_is_read_of_it() -> None:
    needs(".html")
    found = taken(file("harbour.html"), ".html")
    assert found.text.startswith("# Harbour\n\n") and "## Fees" in found.text and "| B7 |" in found.text
    assert not any(word in found.text for word in ("color", "alert", "Home"))
    assert found.origin == "web"
    assert "Café" in taken('<meta charset="iso-8859-1"><p>Café</p>'.encode("latin-1"), ".htm").text


OFFICE = {
    "fees.docx": "# Fees\n\nA berth is free.",
    "fees.pptx": "## Fees (slide 1)\n\nA berth costs 42 euros.\n\nSay it slowly.",
    "berths.xlsx": "## Berths\n\n| Berth | Price |\n| --- | --- |\n| B7 | 42 |",
}


@pytest.mark.parametrize(("name", "text"), OFFICE.items())
def test_an_office_file_gives_headings_texts_notes_and_tables(name: str, text: str) -> None:
    needs(name[-5:])
    assert taken(file(name), name[-5:]).text == text


def test_mail_gives_its_head_its_body_and_the_names_of_what_came_along() -> None:
    found = taken(file("buoy.eml"), ".eml")
    head = "# Größe der Boje\n\nFrom: Mira <mira@h.example>\nTo: Ada <ada@h.example>\nDate: "
    assert found.text.startswith(head)
    assert found.text.endswith("The buoy, Café side.")
    assert found.at == parse_time("2026-02-02T08:30:00Z", 0) and found.origin == "web"
    assert [media.uri for media in found.media] == ["buoy.bin"]


def test_mail_of_html_alone_is_read_as_a_page() -> None:
    needs(".html")
    assert taken(file("buoy-html.eml"), ".eml").text.endswith("The buoy, **Café** side.")


@pytest.mark.parametrize("ending", [ending for ending in FORMATS if ending not in (".eml", ".html", ".htm")])
def test_what_is_damaged_is_named(ending: str) -> None:
    needs(ending)
    for data in (b"", b"no such file", b"PK\x03\x04 cut", b"%PDF-1.4 cut", file("fees.docx")[:200]):
        assert "damaged" in refused(data, ending)


def test_what_asks_for_a_password_or_unpacks_to_too_much_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    needs(".docx")
    assert "password" in refused(b"\xd0\xcf\x11\xe0" + bytes(600), ".docx")
    monkeypatch.setattr(documents, "MAX_UNPACKED_BYTES", 10)
    assert "unpacks" in refused(file("fees.docx"), ".docx")
    monkeypatch.setattr(documents, "MAX_FILE_BYTES", 10)
    assert "more than" in refused(file("buoy.eml"), ".eml")


def test_a_folder_is_imported_once_and_found(client: Client, tmp_path: Path) -> None:
    for ending in FORMATS:
        needs(ending)
    names = ["berths.xlsx", "buoy.eml", "c/fees.docx", "fees.pptx", "harbour.html", "tide.pdf"]
    held = {name: file(Path(name).name) for name in names} | {"h.pdf": b"broken", "i.bin": b"\0"}
    for name, data in held.items():
        put(tmp_path / "files", name, data)
    summary = take(client, tmp_path / "files")
    assert (summary.taken, summary.problem_count, summary.unread) == (6, 1, 1)
    assert sorted(str(body(event).path) for event in events(client.log)) == names
    assert take(client, tmp_path / "files", reread=True).taken == 0
    (tmp_path / "files" / "tide.pdf").touch()
    assert take(client, tmp_path / "files").taken == 0
    assert client.search("gauge at noon", limit=1).results[0].path == "tide.pdf"


def test_a_page_beside_an_export_is_the_exports(client: Client, tmp_path: Path) -> None:
    put(tmp_path / "export", "chat.html", file("harbour.html"))
    put(tmp_path / "export", "conversations.json", "[]")
    assert take(client, tmp_path / "export").taken == 0


def test_without_the_library_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "can_read", lambda ending: False)
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    put(tmp_path / "files", "a.pdf", file("tide.pdf"))
    put(tmp_path / "files", "b.md", "A note.")
    run = CliRunner().invoke
    alone = run(main, ["import", str(tmp_path / "files" / "a.pdf"), "--scope", SCOPE])
    assert alone.exit_code == 1 and "pip install '.[documents]'" in alone.stderr
    folder = run(main, ["import", str(tmp_path / "files"), "--scope", SCOPE, "--json"])
    told = json.loads(folder.stdout)
    assert (folder.exit_code, told["taken"]) == (0, 1)
    assert told["skipped"] == {documents.NEEDS.reason: 1}


@pytest.mark.parametrize("text", ["\n\n# Gauges\r\n\r\n" + "At noon.\r\n" * 400 + "\n", "A short note.\n"])
def test_a_note_without_front_matter_reads_back_as_it_was(client: Client, tmp_path: Path, text: str) -> None:
    path = put(tmp_path, "note.md", text)
    assert take(client, path).taken == 1
    for event in events(client.log):
        assert client.whole(event.id).text.encode() == path.read_bytes()
