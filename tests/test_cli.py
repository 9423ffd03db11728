"""The commands as people and agents call them, each in a process of its own or through click's runner."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import commanding
import pytest
from click.testing import CliRunner, Result
from commanding import document
from tables import table

from memtape.schemas.errors import MemtapeError
from memtape.schemas.times import parse_iso, parse_time
from memtape.tools.client import Client
from memtape.tools.doors.cli import main

SCOPE = ("--scope", "project:test")
ROOT = Path(__file__).parent.parent
DOCS = "".join(page.read_text() for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a home of its own, and no session or scope from outside."""
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MEMTAPE_SESSION", raising=False)
    return tmp_path / "home"


def call(*words: str, input: str | bytes | None = None) -> Result:
    return commanding.call(*words, input=input, code=None)


def refusal(*words: object, **given: Any) -> str:
    """Return what a command says that fails."""
    return commanding.call(*words, code=1, **given).stderr


def capture(text: str, *words: str) -> str:
    id: str = document("capture", text, *SCOPE, *words)["id"]
    return id


def every_command(group: click.Group = main, before: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from every_command(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


@pytest.mark.parametrize(("name", "command"), [pytest.param(*it, id=it[0]) for it in every_command()])
def test_every_command_has_help_and_a_place_in_the_docs(name: str, command: click.Command) -> None:
    help = call(*name.split(), "--help").output
    assert all(part in help for part in ("Example:", f"memtape {name}", "--json", "--home"))
    assert all(getattr(option, "help", "x") for option in command.params if isinstance(option, click.Option))
    assert re.search(rf"memtape {name}\b|`{name}`", DOCS)
    assert "Instead" not in help.split("Example:")[0], "the verb without an option is what a command is for"


def test_capture_search_show_why_forget_restore() -> None:
    placed = document("capture", "The staging database listens on port 5433.", *SCOPE, "--tag", "infra")
    assert set(placed) == {"id", "scope", "partition", "offset", "redacted", "profile"}
    capture("the staging db listens on port 5433")
    found = document("search", "staging port", *SCOPE)
    (result,) = found["results"]
    assert (result["id"], result["kind"], result["scope"]) == (placed["id"], "fact", "project:test")
    assert result["confirmations"] == 1
    assert {"text", "score", "at", "source"} <= set(result)
    assert found["lag"] == 0
    assert found["watermark"][0]["offset"] > placed["offset"]

    shown = document("show", placed["id"], *SCOPE)
    assert shown["memory"]["tags"] == []  # The later capture speaks for the memory, and had no tag.
    behind = document("show", "--why", placed["id"], *SCOPE)["events"]
    assert [(event["part"], event["how"]) for event in behind] == [("member", "new"), ("member", "similar")]

    assert len(document("forget", placed["id"], *SCOPE, "--reason", "old")["ids"]) == 2
    assert document("search", "staging port", *SCOPE)["results"] == []
    assert "memtape restore" in call("show", placed["id"], *SCOPE).output
    assert document("status")["hidden_ids"] == [placed["id"]]
    document("restore", placed["id"], *SCOPE)
    assert len(document("search", "staging port", *SCOPE)["results"]) == 1
    parts = [event["part"] for event in document("show", "--why", placed["id"], *SCOPE)["events"]]
    assert parts == ["member", "member", "tombstone", "tombstone"]
    assert document("verify")["ok"]


def test_many_lines_at_once_and_the_bad_ones_named(tmp_path: Path) -> None:
    good = [{"text": f"Fact number {n}.", "tags": ["x"], "at": "2026-01-02T03:04:05Z"} for n in range(1_100)]
    lines = [json.dumps(line) for line in good]
    lines[1_050:1_050] = ["not json", '{"text": "x", "colour": "red"}', '{"text": ""}', '{"text": "\\ud800"}']
    result = call("capture", "-", *SCOPE, "--json", input="\n".join(lines))
    assert result.exit_code == 1
    said = json.loads(result.stdout)
    assert said["count"] == 1_100
    assert [refusal["line"] for refusal in said["refused"]] == [1051, 1052, 1053, 1054]
    assert document("run", "--once")["events"] >= 1_100
    status = document("status")
    assert (status["memories"], status["lag"]) == (1_100, 0)
    path = tmp_path / "more.jsonl"
    path.write_text('{"text": "From a file.", "kind": "turn"}\n')
    kept = document("capture", "--file", str(path), *SCOPE)
    assert kept == {"count": 1, "refused": [], "redacted": {}, "profile": "prod"}


REFUSED = [*table("refused-words")["commands"], (["capture", "x" * 100_000], "65,536"),
    (["capture", "a\x00b"], "NUL"),
    (["capture", "x", *(word for n in range(65) for word in ("--tag", f"t{n}"))], "tags")]  # fmt: skip


@pytest.mark.parametrize(("words", "expected"), REFUSED)
def test_bad_input_is_refused_in_one_sentence(words: list[str], expected: str) -> None:
    result = call(*words, *(() if "--scope" in words else SCOPE))
    assert result.exit_code in (1, 2) and expected in result.stderr, result.output
    assert "Traceback" not in result.output and len(result.stderr) < 500


def test_ten_megabytes_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    path.write_text("x" * 10_000_000)
    assert "10,000,000 bytes" in refusal("capture", "--file", path, "--kind", "fact", *SCOPE)
    path.write_bytes(b"caf\xe9")
    assert "not UTF-8" in refusal("capture", "--file", path, *SCOPE)
    refusal("capture", *SCOPE, input=b"piped \xff")
    assert call("capture", *SCOPE, input="piped text").exit_code == 0


def test_the_words_of_a_search_need_no_quotation_marks() -> None:
    call("capture", "The staging server is lyra.", *SCOPE)
    answers = [
        call("search", *words, *SCOPE, "--json") for words in (("staging server",), ("staging", "server"))
    ]
    assert [json.loads(it.output)["results"][0]["text"] for it in answers] == [
        "The staging server is lyra."
    ] * 2


def test_wrong_usage_is_exit_code_2_and_groups_have_help() -> None:
    for words in (("show",), ("search", "--deep"), ("capture", "x", "--kind", "poem"),
                  ("run", "--workers", "0"), ("nonsense",)):  # fmt: skip
        assert call(*words).exit_code == 2
    for group in ("agents", "admin", "project"):
        told = call(group)
        assert f"{group} [OPTIONS] COMMAND" in told.output and "Error" not in told.output
    assert call("agents", "nonsense").exit_code == call("admin", "nonsense").exit_code == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("show", "Missing argument 'ID'; without it, --edges."),
        ("pin", "Missing argument 'ID'."),
        ("update 01a21eb2", "Missing argument 'TEXT'; without it, one of --by, --holds and --unfold."),
        ("update 01a21eb2 --undo", "--undo goes with --holds."),
        ("show 01a21eb2 --why --as-of 1h", "--as-of does not go with --why."),
        ("forget 01a21eb2 --list", "Got unexpected extra argument (01a21eb2) with --list."),
        ("settle 01a21eb2", "(01a21eb2); they go with one of --keep, --accept and --decline."),
        ("archive --undo", "Give ids, or --all-of."),
        ("settle --accept", "Give ids, or --all for every rule."),
        ("log 3-1", "'3-1' is no place on the log, which is as 3/120, or 3 for a partition."),
        ("agents connect vim", "'vim' is not one of 'claude', 'codex'"),
        ("admin refold --fold no", "'no' is not one of 'on', 'off'."),
        ("remember it", "Did you mean `memtape capture`?"),
        ("delete it", "Did you mean `memtape forget` or `memtape erase`?"),
        ("serch it", "Did you mean `memtape search`?"),
        ("agents docter", "Did you mean `memtape agents doctor`?"),
        ("xyzzy", "No such command 'xyzzy'."),
    ],
)
def test_wrong_usage_says_what_to_do(words: str, told: str) -> None:
    result = call(*words.split())
    assert result.exit_code == 2 and told in result.stderr
    shown = call(*words.split(), "--json")
    assert shown.exit_code == 2 and json.loads(shown.stdout)["code"] == "invalid_use"


def test_help_names_choices_in_their_order_and_what_is_required() -> None:
    assert "{active|shadow|off|deprecated}" in call("admin", "retriever", "set", "--help").output
    assert "[debug|info|warning|error]" in call("run", "--help").output
    assert "[required]" in call("admin", "copy", "--help").output
    assert "[ID]..." in call("settle", "--help").output


def test_an_unusable_home_or_log_is_explained(tmp_path: Path, home: Path) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    assert "home" in refusal("capture", "x", *SCOPE, "--home", occupied / "below")
    home.mkdir()
    (home / "log.db").write_bytes(b"This is no database, whatever its name says." * 100)
    assert "cannot be read as a log" in refusal("capture", "x", *SCOPE)


def test_capture_never_loads_what_only_a_search_needs(home: Path) -> None:
    script = (
        "import sys; from memtape.tools.doors.cli import main\n"
        "main(['capture', 'Hello.', '--scope', 'project:test'], standalone_mode=False)\n"
        "heavy = {'lance', 'pyarrow', 'numpy', 'bytewax', 'kafka', 'Stemmer', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "MEMTAPE_HOME": str(home)})


def test_errors_and_settings_are_one_document() -> None:
    told = commanding.call("show", "nothing", *SCOPE, "--json", code=1).stdout
    assert set(json.loads(told)) == {"error", "hint", "code"}
    assert document("admin", "settings")["log"]["fold_cosine_hundredths"] == 85


def test_the_daemon_projects_what_comes_and_ends_cleanly(home: Path) -> None:
    capture("Before it started.")
    for signal_name in ("SIGTERM", "SIGINT"):
        words = [sys.executable, "-m", "memtape", "run", "--json"]
        daemon = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        capture(f"While it ran, {signal_name}.")
        deadline = time.monotonic() + 300
        while document("status")["lag"] and time.monotonic() < deadline:
            time.sleep(0.05)
        assert document("status")["lag"] == 0
        daemon.send_signal(getattr(signal, signal_name))
        out, _ = daemon.communicate(timeout=300)
        assert daemon.returncode == 0 and json.loads(out)["stopped"] is True
    assert document("status")["memories"] == 3 and document("verify")["ok"]


def test_an_explained_search_adds_up() -> None:
    capture("The harbour gauge is broken.")
    told = document("search", "the harbour gauge, zebra", "--explain", *SCOPE)
    (read,) = told["read"]
    assert (list(read["terms"]), read["unheld"], read["common"]) == (["harbour", "gaug"], ["zebra"], ["the"])
    why = told["results"][0]["why"]
    share = (sum(why["parts"].values()) - read["least"]) / (read["most"] - read["least"])
    assert abs(share * read["strength"] - why["relevance"]) < 1e-6 and why["terms"] == ["harbour", "gaug"]
    assert not document("search", "harbour", *SCOPE)["read"]
    printed = call("search", "the harbour gauge, zebra", "--explain", *SCOPE).output
    told_by = ("holds harbour, gaug", "no text has: zebra", "too common: the", "+1.000 words", "strength")
    assert all(line in printed for line in told_by)


@pytest.mark.parametrize("limit", [0, 8])
def test_a_run_under_a_limit_of_file_sizes_ends_with_a_sentence(home: Path, limit: int) -> None:
    """`ulimit -f`, in KiB: libraries in Rust panic where a file may grow no more."""
    for number in range(3):
        assert call("capture", f"The service {number} listens here.", *SCOPE).exit_code == 0
    command = f"ulimit -f {limit}; exec {shlex.join([sys.executable, '-m', 'memtape'])} run --once"
    given = {**os.environ, "MEMTAPE_HOME": str(home), "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run(["bash", "-c", command], env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "Error: " in done.stderr and "ulimit -f" in done.stderr
    assert not [words for words in ("panicked", "Traceback", ".rs:") if words in done.stderr]


def test_an_error_of_a_library_is_told_in_a_line(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("LanceError(IO): File too large (os error 27), /home/lance/src/io/commit.rs:1663:50")

    monkeypatch.setattr(Client, "reader", property(full))
    assert "Error: LanceError(IO): File too large (os error 27)\n" in refusal("status")


def test_memtape_alone_says_what_there_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = call()
    assert begin.exit_code == 0 and "memtape agents connect" in begin.output and not home.exists()
    monkeypatch.chdir(home.parent)
    for port, origin in ((7001, "user"), (7002, "agent")):
        for _ in range(2):
            document("capture", f"The gate listens on port {port}.", "--origin", origin)
    document("capture", "In all my projects, use tabs.", "--origin", "user", "--kind", "turn")
    told = call().output
    assert "remembers" in told and "port 7001" in told and "wait for you: `memtape settle`" in told
    found = json.loads(call("--json").stdout)
    assert len(found["rules"]) == 1 and found["next"] and len(found["latest"]) >= 2


def test_what_is_forgotten_is_listed_until_it_is_restored() -> None:
    id = capture("The crane is number seven.")
    assert document("forget", "--list", *SCOPE)["hidden"] == []
    document("forget", id, *SCOPE)
    assert [it["id"] for it in document("forget", "--list", *SCOPE)["hidden"]] == [id]
    document("restore", id, *SCOPE)
    assert "Nothing is hidden" in call("forget", "--list", *SCOPE).output
    assert call("forget", *SCOPE).exit_code == call("forget", id, "--list", *SCOPE).exit_code == 2


def test_a_verification_repairs_views_that_differ(home: Path) -> None:
    capture("The crane is number seven.")
    assert call("run", "--once", "--no-embed").exit_code == 0
    page = next(path for path in home.glob("vault/**/*.md") if "number seven" in path.read_text())
    page.write_text("Somebody else's words.\n")
    assert call("verify").exit_code == 1
    assert document("verify", "--repair")["ok"] and document("verify")["ok"]


def test_a_shell_completes_commands_and_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "user")
    assert call("capture", "The crane is number seven.").exit_code == 0
    (id,) = [it["id"] for it in document("search")["results"]]
    ours = ((f"memtape {verb} {id[-8:-4]}", f"plain,{id[-8:]}") for verb in ("show", "pin", "forget"))
    ours = (*ours, (f"memtape show {id[:12]}", f"plain,{id}"))
    files = ((f"memtape {words}", "file,") for words in ("import ex", "admin secrets join te"))
    others = (("memtape sh", "plain,show"), ("memtape agents connect cl", "plain,claude"))
    for words, found in (*others, *ours, *files):
        env = {"_MEMTAPE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        assert found in CliRunner().invoke(main, [], env=env, prog_name="memtape").output, words
    written = Path(document("admin", "completion", "fish")["file"])
    assert "_MEMTAPE_COMPLETE" in written.read_text() and written.is_relative_to(tmp_path / "user")
    assert call("admin", "completion", "zsh", "--print").output.startswith("#compdef memtape")
    monkeypatch.setenv("SHELL", "/bin/csh")
    assert "Name one" in call("admin", "completion").stderr


def test_a_diff_names_a_new_memory_once() -> None:
    """Whatever happened to it since: folded into, revising, forgotten, restored."""
    old = document("capture", "The harbour master is Mira.", *SCOPE)
    start = f"{old['partition']}/{old['offset'] + 1}"
    said_of = {"added": "The gauge fell into the harbour.", "revised": "The harbour master is Mara."}
    said_of |= {"forgotten": "Lunch is at noon."}
    ids = {what: document("capture", text, *SCOPE)["id"] for what, text in said_of.items()}
    for text in ("the gauge fell into the harbour", "the harbour master is Mara"):
        document("capture", text, *SCOPE)
    document("forget", ids["forgotten"], *SCOPE)
    document("run", "--once")
    changes = document("admin", "diff", start, "0s", *SCOPE)
    whats = ("added", "folded", "revised", "forgotten", "restored")
    named = [(what, changed["id"]) for what in whats for changed in changes[what]]
    assert sorted(named) == sorted(ids.items())
    assert [len(changed["captures"]) for what in ("added", "revised") for changed in changes[what]] == [1, 1]
    printed = commanding.call("admin", "diff", start, "0s", *SCOPE).output
    assert all(printed.count(id[-8:]) == 1 for id in ids.values())


@pytest.mark.parametrize(
    "text", ["Deploy.", "\n\n  - a list\n- of two\n", "[1, 2]", '"quoted"', "a\n{not JSON}\n", "Größe: 3"]
)
def test_a_text_that_is_piped_to_a_dash_is_one_capture(text: str) -> None:
    id = document("capture", "-", *SCOPE, "--tag", "x", input=text)["id"]
    memory = document("show", id, *SCOPE)["memory"]
    assert (memory["text"], memory["tags"]) == (text, ["x"])


def test_lines_that_are_piped_to_a_dash_stay_lines() -> None:
    lines = '\ufeff\n \n{"text": "First."}\n{broken\n\nnot JSON\n{"text": "Second."}'
    result = call("capture", "-", *SCOPE, "--json", input=lines)
    told = json.loads(result.stdout)
    assert (result.exit_code, told["count"]) == (1, 2)
    assert [refusal["line"] for refusal in told["refused"]] == [4, 6]
    alone = refusal("capture", "-", *SCOPE, input="{ braces of a poem }")
    assert "Line 1 was refused" in alone and "leave out the -" in alone
    for nothing in ("", " \n\t\n"):
        assert "empty" in refusal("capture", "-", *SCOPE, input=nothing)


@pytest.mark.parametrize(("said", "ago"), [("90m", 90 * 60), ("2 days ago", 2 * 86_400),
    ("2 days", 2 * 86_400), ("an hour ago", 3_600), ("a week ago", 604_800), ("1 min ago", 60),
    ("3 hrs", 3 * 3_600), ("now", 0), ("Today", 36_000), ("yesterday", 36_000 + 86_400)])  # fmt: skip
def test_a_time_is_told_as_people_tell_it(said: str, ago: int) -> None:
    now = parse_iso("2026-11-23T10:00:00Z")
    assert parse_time(said, now) == now - ago * 1_000_000


def test_what_is_no_time_is_refused() -> None:
    for said in ("am", "days ago", "ago", "two days ago", "", "3 moons ago", "tomorrow"):
        with pytest.raises(MemtapeError, match="is not a time"):
            parse_time(said, 0)


def test_every_shown_id_is_eight_characters_and_names_its_memory() -> None:
    """Those of one minute begin alike."""
    ids = [capture(f"The crane number {n} stands at quay {n}.") for n in range(12)]
    for words in (
        ("search", "crane", "--limit", 20),
        ("search", "--limit", 20),
        ("log", "--type", "captured"),
    ):
        told = commanding.call(*words, *SCOPE).output
        assert all(re.search(rf"(?<![-0-9a-f]){id[-8:]}\b", told) for id in ids) and ids[0][:13] not in told
    assert [document("show", id[-8:], *SCOPE)["memory"]["id"] for id in ids] == ids
    receipt = commanding.call("capture", "Lunch is at noon.", *SCOPE).output
    assert re.fullmatch(r"Remembered in project:test\. Undo: memtape forget [0-9a-f]{8}\n", receipt)
    undo = shlex.split(receipt.partition("Undo: memtape ")[2])
    assert document(*undo)["ids"] and "Nothing found" in commanding.call("search", "lunch", *SCOPE).output


def test_help_begins_with_eight_everyday_commands_and_cuts_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    told = click.unstyle(call("--help").output)
    sections = re.findall(r"^(\w[^\n]*):\n((?:  .*\n)+)", told, re.MULTILINE)
    title, lines = sections[0]
    assert title == "Every day" and len(re.findall(r"^  \w", lines, re.MULTILINE)) == 8
    assert [name for name, _ in sections][-1] == "Options" and "…" not in told and "..." not in lines
    coloured = main.make_context("memtape", []).get_help()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[36mcapture\x1b[0m" in coloured
    assert click.unstyle(coloured) == main.make_context("memtape", []).get_help()
