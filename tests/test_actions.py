"""What agents did by their tools: each edit, command and test as a line, of every host, nothing in bulk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import transcripts as t
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from memtape.schemas.events import act_of, has_failed
from memtape.sinks.home.folders import Home
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.importing.actions import COMMAND_CHARS, LINE_CHARS
from memtape.tools.importing.records import Found, Record, Skipped
from memtape.tools.importing.transcripts import take_claude, take_codex, take_gemini

FOLDER = "/home/ada/shop"


def of_claude(name: str, arguments: Any, output: Any, *, failed: bool = False) -> list[Found]:
    def row(type: str, block: dict[str, Any]) -> dict[str, Any]:
        return {"type": type, "uuid": type, "sessionId": "s", "timestamp": t.at(1), "cwd": FOLDER,
                "message": {"content": [block]}}  # fmt: skip

    state: dict[str, Any] = {}
    called = row("assistant", {"type": "tool_use", "id": "t1", "name": name, "input": arguments})
    result = {"type": "tool_result", "tool_use_id": "t1", "content": output, "is_error": failed}
    answered = row("user", result)
    return [*take_claude(called, state), *take_claude(answered, json.loads(json.dumps(state)))]


def of_codex(type: str, name: str | None, given: dict[str, Any], output: Any) -> list[Found]:
    state: dict[str, Any] = {"session": "s", "cwd": FOLDER}
    rows = [
        {"type": type, "name": name, "call_id": "c1", **given},
        {"type": f"{type}_output", "call_id": "c1", "output": output},
    ]
    items = [{"type": "response_item", "timestamp": t.at(n), "payload": it} for n, it in enumerate(rows)]
    return [one for n, item in enumerate(items) for one in take_codex(item | {"ordinal": n}, state)]


def of_gemini(name: str, arguments: Any, output: str, status: str = "success") -> list[Found]:
    result = [{"functionResponse": {"id": "f1", "name": name, "response": {"output": output}}}]
    call = {"id": "f1", "name": name, "args": arguments, "result": result, "status": status}
    row = {"id": "i1", "timestamp": t.at(1), "type": "gemini", "content": "", "toolCalls": [call]}
    return list(take_gemini(row, {"session": "s", "cwd": FOLDER}))


TEN = "=== 10 passed in 0.4s ==="


def found_in(case: dict[str, Any]) -> list[Found]:
    """Return what an import finds of a call of a tool, as its host writes it."""
    call, output, failed = case["call"], case["output"], "failed" in case
    if case["host"] == "claude":
        return of_claude(*call, output, failed=failed)
    if case["host"] == "gemini":
        return of_gemini(*call, output, "error" if failed else "success")
    type, name, given = call
    return of_codex(type, name or None, given, output)


@pytest.mark.parametrize("case", table("actions")["cases"])
def test_an_action_is_told_in_one_line(case: dict[str, Any], tmp_path: Path) -> None:
    redactor, found = Redactor(Home(tmp_path)), found_in(case)
    said = [f"- {one.reason}" if isinstance(one, Skipped) else one.kept(redactor) for one in found]
    assert said == case["told"]
    ids = [one.native_id for one in found if isinstance(one, Record)]
    assert len({*ids}) == len(ids)
    for one in found:
        if isinstance(one, Record):
            assert one.origin == "tool" and act_of(one.tags) in ("edit", "command", "test")
            assert has_failed(one.tags) == (": failed" in one.kept(redactor))
            assert (one.path is not None) == (act_of(one.tags) == "edit")


arguments = st.sampled_from(("command", "cmd", "file_path", "x"))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(arguments, inner),
    max_leaves=6,
)
names = st.sampled_from(["", *"Bash Edit shell apply_patch exec_command replace Read a.b".split()])
LONG = (f"{TEN}\n" * 5_000, "x" * 200_000, "Exit code 7\n" + "\n" * 99)
outputs = st.text(max_size=300) | st.sampled_from(LONG)


@given(names, json_values, outputs, st.booleans())
def test_whatever_a_tool_is_called_with_and_puts_out_an_action_is_short(
    name: str, arguments: Any, output: str, failed: bool
) -> None:
    redactor = Redactor.__new__(Redactor)
    for found in (
        of_claude(name, arguments, output, failed=failed),
        of_gemini(name, arguments, output, "error" if failed else "success"),
        of_codex("function_call", name, {"arguments": arguments}, output),
    ):
        for one in found:
            if isinstance(one, Record) and one.finish is not None:
                redactor.text = lambda text: text
                text = one.kept(redactor)
                assert "\n" not in text and len(text) <= COMMAND_CHARS + LINE_CHARS + 60
