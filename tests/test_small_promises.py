"""What commands promise in a word or a number: times, counts, reasons, what is piped, and what is read of a folder."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_cli import SCOPE, call, document, home

from memtape.schemas.errors import MemtapeError
from memtape.schemas.times import parse_iso, parse_time
from memtape.tools.ask.naming import shortened

__all__ = ["home"]


def said(*words: str, input: str | bytes | None = None) -> str:
    result = call(*words, input=input)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_diff_names_a_new_memory_once() -> None:
    """Whatever happened to it since: folded into, revising, forgotten, restored."""
    old = document("capture", "The harbour master is Mira.", *SCOPE)
    start = f"{old['partition']}:{old['offset'] + 1}"
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
    printed = said("admin", "diff", start, "0s", *SCOPE)
    assert all(printed.count(id) == 1 for id in ids.values())


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


def test_what_is_no_time_is_refused() -> None:
    for said in ("am", "days ago", "ago", "two days ago", "", "3 moons ago", "tomorrow"):
        with pytest.raises(MemtapeError, match="is not a time"):
            parse_time(said, 0)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**16), st.booleans()), max_size=20))
def test_shortened_ids_tell_all_apart(made: list[tuple[int, int, bool]]) -> None:
    """Ids that begin alike, as those of one millisecond do."""
    ids = [f"0000000{n}-0000-{'7' if new else '8'}000-8000-{rest:012x}" for n, rest, new in made]
    short = shortened(ids)
    assert list(short) == sorted(set(ids))
    for id, begin in short.items():
        assert id.startswith(begin) and len(begin) >= (13 if id[14] == "7" else 8) and begin[-1] != "-"
        assert [other for other in short if other.startswith(begin)] == [id]
