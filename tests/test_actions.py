"""What agents did by their tools: each edit, command and test as one line, of every host, and nothing in bulk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import transcripts as t
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.events import act_of, has_failed
from memtape.sinks.home.folders import Home
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.importing.actions import COMMAND_CHARS, LINE_CHARS
from memtape.tools.importing.records import Found, Record, Skipped
from memtape.tools.importing.transcripts import take_claude, take_codex, take_gemini

FOLDER = "/home/ada/shop"
PATCH = "*** Begin Patch\n*** Update File: cart/prices.py\n@@\n-a\n+b\n*** Add File: cart/tax.py\n+x\n*** End Patch"


def of_claude(name: str, arguments: Any, output: Any, *, failed: bool = False) -> list[Found]:
    def row(type: str, block: dict[str, Any]) -> dict[str, Any]:
        return {"type": type, "uuid": type, "sessionId": "s", "timestamp": t.at(1), "cwd": FOLDER,
                "message": {"content": [block]}}  # fmt: skip

    state: dict[str, Any] = {}
    called = row("assistant", {"type": "tool_use", "id": "t1", "name": name, "input": arguments})
    answered = row("user", {"type": "tool_result", "tool_use_id": "t1", "content": output, "is_error": failed})
    return [*take_claude(called, state), *take_claude(answered, json.loads(json.dumps(state)))]


def of_codex(type: str, name: str | None, given: dict[str, Any], output: Any) -> list[Found]:
    state: dict[str, Any] = {"session": "s", "cwd": FOLDER}
    rows = [
        {"type": type, "name": name, "call_id": "c1", **given},
        {"type": f"{type}_output", "call_id": "c1", "output": output},
    ]
    return [
        one
        for n, item in enumerate(rows)
        for one in take_codex({"type": "response_item", "ordinal": n, "timestamp": t.at(n), "payload": item}, state)
    ]


def of_gemini(name: str, arguments: Any, output: str, status: str = "success") -> list[Found]:
    result = [{"functionResponse": {"id": "f1", "name": name, "response": {"output": output}}}]
    call = {"id": "f1", "name": name, "args": arguments, "result": result, "status": status}
    row = {"id": "i1", "timestamp": t.at(1), "type": "gemini", "content": "", "toolCalls": [call]}
    return list(take_gemini(row, {"session": "s", "cwd": FOLDER}))


def shell(command: str) -> dict[str, Any]:
    return {"arguments": json.dumps({"command": ["bash", "-lc", command], "workdir": FOLDER})}


REFUSED = "The user doesn't want to proceed with this tool use."
NOTHING = "- output of a tool that neither edits nor runs a command"
TEN = "=== 10 passed in 0.4s ==="
CASES = [
    (of_claude("Write", {"file_path": "/etc/motd", "content": "secret " * 900}, "File created"), ["edited /etc/motd"]),
    (of_claude("NotebookEdit", {"notebook_path": f"{FOLDER}/a.ipynb"}, "ok"), ["edited a.ipynb"]),
    (of_claude("Edit", {"file_path": f"{FOLDER}/a.py"}, "String to replace not found in file.", failed=True),
     ["- error of a tool"]),
    (of_claude("Bash", {"command": "git   status\n"}, "On branch main\nnothing to commit"),
     ["ran `git status`: On branch main"]),
    (of_claude("Bash", {"command": "make build"}, "Exit code 2\nmake: *** No rule\nerror: cannot build", failed=True),
     ["ran `make build`: failed (exit 2): error: cannot build"]),
    (of_claude("Bash", {"command": "cd x && pytest -q"}, "F.\nE  assert\n2 failed, 9 passed in 1.2s\n", failed=True),
     ["tested with `cd x && pytest -q`: failed: 2 failed, 9 passed in 1.2s"]),
    (of_claude("Bash", {"command": "rm -rf build"}, REFUSED, failed=True),
     ["- call of a tool that the user refused"]),
    (of_claude("Read", {"file_path": "a.py"}, "1\tx" * 900), [NOTHING]),
    (of_claude("mcp__memtape__search_memories", {"query": "x"}, "INJECTED"), ["- answer of a memory tool"]),
    (of_claude("Bash", {"command": "memtape search port"}, "INJECTED"), ["- answer of a memory tool"]),
    (of_codex("function_call", "shell", shell("cargo test --all"), "Exit code: 101\nWall time: 2 s\nOutput:\n"
              "test result: FAILED. 1 passed; 1 failed\nerror: test failed"),
     ["tested with `cargo test --all`: failed (exit 101): test result: FAILED. 1 passed; 1 failed"]),
    (of_codex("function_call", "exec_command", {"arguments": json.dumps({"cmd": "npm run test:unit"})},
              f"Chunk ID: ab1\nWall time: 0.4 seconds\nProcess exited with code 0\nOutput:\n{TEN}"),
     [f"tested with `npm run test:unit`: passed: {TEN}"]),
    (of_codex("function_call", "shell", shell("ls x"),
              json.dumps({"output": "ls: no such file", "metadata": {"exit_code": 2}})),
     ["ran `ls x`: failed (exit 2): ls: no such file"]),
    (of_codex("custom_tool_call", "apply_patch", {"input": PATCH}, "Exit code: 0\nOutput:\nSuccess."),
     ["edited cart/prices.py", "edited cart/tax.py"]),
    (of_codex("function_call", "shell", shell(f"apply_patch <<'EOF'\n{PATCH}\nEOF"), "Success."),
     ["edited cart/prices.py", "edited cart/tax.py"]),
    (of_codex("local_shell_call", None, {"action": {"command": ["git", "push"]}}, "Everything up-to-date"),
     ["ran `git push`: Everything up-to-date"]),
    (of_gemini("replace", {"file_path": f"{FOLDER}/a.py"}, "Successfully modified file"), ["edited a.py"]),
    (of_gemini("run_shell_command", {"command": "go test ./..."},
               "Command: go test\nDirectory: (root)\nOutput: ok  \tshop/cart 0.2s\nExit Code: 0\nSignal: none"),
     ["tested with `go test ./...`: passed: ok shop/cart 0.2s"]),
    (of_gemini("write_file", {"file_path": "a.py"}, "permission denied", "error"), ["- error of a tool"]),
]  # fmt: skip


@pytest.mark.parametrize(("found", "told"), CASES, ids=range(len(CASES)))
def test_an_action_is_told_in_one_line(found: list[Found], told: list[str], tmp_path: Path) -> None:
    redactor = Redactor(Home(tmp_path))
    said = [f"- {one.reason}" if isinstance(one, Skipped) else one.kept(redactor) for one in found]
    assert said == told
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
names = st.sampled_from(("Bash", "Edit", "shell", "apply_patch", "exec_command", "replace", "Read", "", "a.b"))
outputs = st.text(max_size=300) | st.sampled_from((f"{TEN}\n" * 5_000, "x" * 200_000, "Exit code 7\n" + "\n" * 99))


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
                redactor.text = lambda text: text  # type: ignore[method-assign]
                text = one.kept(redactor)
                assert "\n" not in text and len(text) <= COMMAND_CHARS + LINE_CHARS + 60
