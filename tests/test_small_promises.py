"""What commands promise in a word or a number: times, counts, reasons, what is piped, and what is read of a folder."""

from __future__ import annotations

import json
import os
import pwd
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.errors import MemtapeError
from memtape.schemas.times import parse_iso, parse_time
from memtape.sinks.home.folders import Home
from memtape.tools.agents.mcp.tools import call as call_tool
from memtape.tools.ask.naming import shortened
from memtape.tools.capture.lines import CHUNK_CHARS, OVERLAP_CHARS, chunks
from memtape.tools.capture.writing import default_actor
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.importing.records import time_of

SCOPE = ("--scope", "project:test")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MEMTAPE_SESSION", raising=False)
    return tmp_path / "home"


def call(*words: str, input: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, words, input=input)


def said(*words: str, input: str | bytes | None = None) -> str:
    result = call(*words, input=input)
    assert result.exit_code == 0, result.output
    return result.output


def document(*words: str, input: str | bytes | None = None) -> Any:
    result = call(*words, "--json", input=input)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_what_happened_earlier_is_told_by_its_time_and_a_tombstone_by_its_reason(home: Path) -> None:
    id = document("capture", "The gauge fell.", *SCOPE, "--at", "2026-01-02T03:04:05Z")["id"]
    said("forget", id, *SCOPE, "--reason", "It was\nanother gauge.")
    said("restore", id, *SCOPE, "--reason", "It was this one.")
    with Client(home, scope="project:test") as client:
        told = {"why": said("why", id, *SCOPE), "log": said("log", *SCOPE)}
        told["get_memory"] = call_tool(client, "get_memory", {"id": id})
    for output in told.values():
        assert "2026-01-02T03:04:05Z (appended 2026-" in output
        assert output.count("(appended") == 1, "what was appended as it happened has one time"
        assert "reason: It was another gauge." in output and "reason: It was this one." in output


NUMBERED = re.compile(r"(?<![\w.:/-])1 (?:more |earlier |newer )?(\w+s)\b")


def test_one_of_anything_is_told_in_the_singular(home: Path, tmp_path: Path) -> None:
    id = document("capture", "Use tabs.", *SCOPE, "--session", "s")["id"]
    document("capture", "Use tabs.", *SCOPE, "--origin", "user")
    document("capture", "One turn.", "--kind", "turn", *SCOPE, "--at", "3d")
    first = document("log", *SCOPE, "--limit", "1")["events"][0]
    said("used", id, *SCOPE)
    hidden = document("capture", "Never mind.", *SCOPE)["id"]
    (tmp_path / "note.md").write_text("One note.")
    outputs = [
        said("capture", "-", *SCOPE, input='{"text": "The password is Harbour-4417."}\n'),
        said("forget", hidden, *SCOPE),
        said("import", str(tmp_path / "note.md"), *SCOPE),
        said("run", "--once"),
        said("capture", "Anything else.", *SCOPE) + said("run", "--once"),
        said("diff", f"{first['partition']}:{first['offset']}", f"{first['partition']}:{first['offset'] + 1}", *SCOPE),
        *(said(*words) for words in (("show", id, *SCOPE), ("status",), ("search", "tabs", *SCOPE), ("verify",))),
    ]
    with Client(home, scope="project:test") as client:
        outputs += [call_tool(client, "get_memory", {"id": id}), call_tool(client, "memory_status", {})]
        outputs.append(call_tool(client, "search_memories", {"query": "turn"}))
    assert any("confirmed 1 time," in output for output in outputs)
    assert not [wrong for output in outputs for wrong in NUMBERED.findall(output)], outputs


@pytest.mark.parametrize(("limit", "advice"), [("0", "one result or more"), ("-3", "or more"), ("1001", "fewer")])
def test_a_limit_that_cannot_be_asked_is_answered_with_advice_that_fits(limit: str, advice: str) -> None:
    result = call("search", "x", "--limit", limit, *SCOPE)
    assert result.exit_code == 1 and advice in result.stderr and ("fewer" in result.stderr) is (advice == "fewer")


def test_a_diff_names_a_new_memory_once() -> None:
    """Whatever happened to it since: folded into, revising, forgotten, restored."""
    old = document("capture", "The harbour master is Mira.", *SCOPE)
    start = f"{old['partition']}:{old['offset'] + 1}"
    ids = {
        what: document("capture", text, *SCOPE)["id"]
        for what, text in {
            "added": "The gauge fell into the harbour.",
            "revised": "The harbour master is Mara.",
            "forgotten": "Lunch is at noon.",
        }.items()
    }
    for text in ("the gauge fell into the harbour", "the harbour master is Mara"):
        document("capture", text, *SCOPE)
    document("forget", ids["forgotten"], *SCOPE)
    document("run", "--once")
    changes = document("diff", start, "0s", *SCOPE)
    named = [
        (what, changed["id"])
        for what in ("added", "folded", "revised", "forgotten", "restored")
        for changed in changes[what]
    ]
    assert sorted(named) == sorted(ids.items())
    assert [len(changed["captures"]) for what in ("added", "revised") for changed in changes[what]] == [1, 1]
    printed = said("diff", start, "0s", *SCOPE)
    assert all(printed.count(id) == 1 for id in ids.values())


def test_results_are_where_the_docstrings_say(home: Path) -> None:
    with Client(home, scope="project:demo", actor="Ada", origin="user") as memory:
        memory.capture("The staging database listens on port 5433.")
        found = memory.search("staging port")
    assert found.results[0].text == "The staging database listens on port 5433."
    assert found.results is found.answer.results


def test_an_import_of_an_empty_folder_has_nothing_to_say_but_that(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    assert "nothing to take" in said("import", str(folder), *SCOPE)
    assert document("import", str(folder), *SCOPE)["taken"] == 0
    (folder / "table.csv").write_text("1,2")
    assert "a file of no known format" in said("import", str(folder), *SCOPE)
    for named in (folder / "table.csv", tmp_path / "not there"):  # What was named and cannot be read is an error.
        assert call("import", str(named), *SCOPE).exit_code == 1


@pytest.mark.parametrize(
    "text", ["Deploy on Tuesdays.", "\n\n  - a list\n- of two\n", "[1, 2]", '"quoted"', "a\n{not JSON}\n", "Größe: 3"]
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
    alone = call("capture", "-", *SCOPE, input="{ braces of a poem }")
    assert alone.exit_code == 1 and "Line 1 was refused" in alone.stderr and "leave out the -" in alone.stderr
    for nothing in ("", " \n\t\n"):
        empty = call("capture", "-", *SCOPE, input=nothing)
        assert empty.exit_code == 1 and "empty" in empty.stderr


def test_parts_of_a_document_begin_and_end_between_words() -> None:
    words = " ".join(f"lighthouse-{number}" for number in range(12_000))
    for text in (words, words.replace("9 ", "9\n"), words.replace("99 ", "99\n\n")):
        parts = [part for part, _ in chunks(text)]
        whole = set(text.split())
        assert len(parts) > 10 and all(set(part.split()) <= whole for part in parts)
        start = 0
        for part, following in pairwise(parts):
            start = text.index(part, start)
            overlap = start + len(part) - text.index(following, start + 1)
            assert 0 < overlap <= OVERLAP_CHARS
        assert set(" ".join(parts).split()) == whole and max(map(len, parts)) <= CHUNK_CHARS
    without = "海" * 40_000
    assert "".join(part for part, _ in chunks(without)).count("海") >= len(without)


def test_a_run_that_has_nothing_new_to_read_says_so(home: Path) -> None:
    document("capture", "Use tabs.", *SCOPE)
    assert document("run", "--once")["events"] > 0
    assert document("run", "--once")["events"] == 0
    assert said("run", "--once").startswith("Read 0 events")
    with Client(home, scope="project:test") as client:
        client.search("tabs")
    assert document("run", "--once")["events"] == 1  # The search itself.
    for build in Home(home).builds():
        build.discard()
    assert document("run", "--once")["events"] > 1, "views that were deleted are read again"


def test_what_is_no_limit_is_refused_for_programs_too(home: Path) -> None:
    with Client(home, scope="project:test") as client:
        for limit in (True, None, "ten", 0.5):
            with pytest.raises(MemtapeError, match="not a whole number"):
                client.search("x", limit)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "ago"),
    [
        ("90m", 90 * 60), ("2 days ago", 2 * 86_400), ("2 days", 2 * 86_400), ("an hour ago", 3_600),
        ("a week ago", 604_800), ("1 min ago", 60), ("3 hrs", 3 * 3_600), ("now", 0), ("Today", 36_000),
        ("yesterday", 36_000 + 86_400),
    ],
)  # fmt: skip
def test_a_time_is_told_as_people_tell_it(said: str, ago: int) -> None:
    now = parse_iso("2026-11-23T10:00:00Z")
    assert parse_time(said, now) == now - ago * 1_000_000


@pytest.mark.parametrize("said", ["am", "days ago", "ago", "two days ago", "", "3 moons ago", "tomorrow"])
def test_what_is_no_time_is_refused(said: str) -> None:
    with pytest.raises(MemtapeError, match="is not a time"):
        parse_time(said, 0)


def test_what_a_file_says_of_its_time_is_no_age() -> None:
    assert time_of("yesterday") is None and time_of("2 days ago") is None and time_of("2026-11-23") is not None


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**16), st.booleans()), max_size=20))
def test_shortened_ids_tell_all_apart(made: list[tuple[int, int, bool]]) -> None:
    """Ids that begin alike, as those of one millisecond do."""
    ids = [f"0000000{n}-0000-{'7' if new else '8'}000-8000-{rest:012x}" for n, rest, new in made]
    short = shortened(ids)
    assert list(short) == sorted(set(ids))
    for id, begin in short.items():
        assert id.startswith(begin) and len(begin) >= (13 if id[14] == "7" else 8) and begin[-1] != "-"
        assert [other for other in short if other.startswith(begin)] == [id]


def test_who_speaks_has_the_name_of_the_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME"):
        monkeypatch.delenv(name, raising=False)
    assert default_actor() == pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setattr(os, "getuid", lambda: 4_294_967_000)
    assert default_actor() == "unknown"
    monkeypatch.setenv("LOGNAME", "ada")
    assert default_actor() == "ada"
