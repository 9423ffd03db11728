"""Actions of an agent by tools: one for each edit, command and test, with path, exit and one line of output.

The rest of a tool's output is not kept: it is bulk, and stands in the project. The tool names of hosts are
here, their rows are not. Sources: Claude Code 2.1, Codex 0.169, Gemini CLI 0.61, Copilot CLI 1.0.102,
OpenCode 1.18, Qwen Code 0.15, as they ran.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from memtape.schemas.events import Act, action_tags
from memtape.schemas.patterns import lazy
from memtape.schemas.placeholders import head_of
from memtape.schemas.private import without_private
from memtape.tools.capture.injected import asks_memory, clean, is_memory_tool, said
from memtape.tools.importing import records
from memtape.tools.importing.records import FinishedCommand, Record, Skipped, State, text_of

if TYPE_CHECKING:
    from memtape.tools.capture.secrets.redaction import Redactor

COMMAND_CHARS, LINE_CHARS = 300, 160
"""The kept length of a command, and of a line of its output."""
END_CHARS = 8_000
"""Of a longer output so much of the beginning and of the end is looked at."""
MAX_FILES = 50
MAX_CALLS = 256
"""The most unanswered calls that a parser remembers."""

EDITORS = ("Edit", "MultiEdit", "Write", "NotebookEdit", "Create", "replace", "edit", "write_file", "write", "create")
"""Tools that edit a file."""
PATHS = ("file_path", "notebook_path", "filePath", "path")
"""How hosts call the argument that names the file."""
PATCHES = ("apply_patch", "patch")
SHELLS: Mapping[str, str] = {
    "Bash": "command",
    "bash": "command",
    "run_shell_command": "command",
    "shell": "command",
    "shell_command": "command",
    "local_shell": "command",
    "local_shell_call": "command",
    "exec_command": "cmd",
}
"""Tools that run a command, and the argument that has the command."""

NO_ACTION = Skipped("output of a tool that neither edits nor runs a command")
REFUSED = Skipped("call of a tool that the user refused")

_TESTING = lazy(
    r"(?:^|[;&|]\s*|\s)(?:pytest|py\.test|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|ctest|behave|bats|ginkgo|nextest"
    r"|playwright test|cypress run|(?:npm|pnpm|yarn|bun|deno|cargo|go|mix|dotnet|swift|dart|flutter|rake|bazel|make"
    r"|zig build|just|task|mvn|gradle|\./gradlew|\./mvnw|manage\.py|rails|composer)\s+(?:-\S+\s+|run[- ])*(?:test|tests"
    r"|check|verify|spec)[\w:.-]*|python[\d.]*\s+-m\s+(?:pytest|unittest|doctest)|(?:node|bun)\s+--test)(?=\s|$)"
)
"""Commands that run tests."""
_HEAD = lazy(
    r"\A(?:(?:Command|Directory|Stdout|Chunk ID|Wall time|Error|Signal|Background PIDs|Process Group PGID|Output"
    r"|Total output lines|Original token count|Exit [Cc]ode|Process exited with code)\b[^\n]*?(?:\n|\Z))+"
)
"""Lines that hosts put before an output."""
_EXIT = lazy(
    r"^(?:Exit [Cc]ode:?|Process exited with code|<shellId: \S{1,40} completed with exit code)\s+(-?\d{1,10})\b",
    re.MULTILINE,
)
_FOOT = lazy(
    r"^(?:(?:Exit Code|Signal|Process Group PGID|Background PIDs|Error):[^\n]*|<shellId: [^\n]*>)$", re.MULTILINE
)
_OUTPUT = lazy(r"^(?:Output|Stdout):[ \t]*", re.MULTILINE)
_COUNTED = lazy(
    r"\b\d+ (?:\w+ ){0,2}(?:passed|failed|failing|passing|ok|errors?|tests?)\b|test result:|(?-i:\bOK\b|\bFAIL)",
    re.IGNORECASE,
)
"""A line in which a test runner counts."""
_PROBLEM = lazy(r"\b(?:error|fatal|failed|failure|exception|cannot|can't|not found|denied|no such)\b", re.IGNORECASE)
_REFUSED = lazy(
    r"\s*(?:The user doesn't want to|\[Request interrupted|.{0,40}(?:rejected|aborted) by (?:the )?user)", re.IGNORECASE
)
_PATCHED = lazy(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_TAG = lazy(r"</?[\w-]{1,40}>")
"""A line in which a host names the speaker, as `<untrusted_context>` of Gemini CLI."""
_ANSI = lazy(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")


class Call(msgspec.Struct, frozen=True):
    """An unanswered tool call, remembered as plain JSON: its action, command and paths.

    `of_memory` says that the tool answers from a memory.
    """

    name: str
    act: Act | None = None
    command: str = ""
    paths: tuple[str, ...] = ()
    of_memory: bool = False


def remember_call(state: State, id: Any, name: Any, arguments: Any) -> None:
    """Remember a tool call until its answer comes."""
    if not isinstance(id, str) or not isinstance(name, str):
        return
    calls = state.setdefault("calls", {})
    calls[id] = msgspec.to_builtins(call_of(name, arguments))
    while len(calls) > MAX_CALLS:
        del calls[next(iter(calls))]


def called(state: State, id: Any) -> Call | None:
    """Return the call of an answer, None for an unknown call."""
    call = state.get("calls", {}).pop(id, None) if isinstance(id, str) else None
    try:
        return msgspec.convert(call, Call)
    except msgspec.ValidationError:
        return None


def call_of(name: str, arguments: Any) -> Call:
    """Return a tool call's action. A shell command that asks Memtape counts as a memory's tool."""
    short = clean(name).rpartition(".")[2] if len(name) <= records.MAX_NAME_CHARS else "tool"
    if is_memory_tool(name) or asks_memory(arguments):
        return Call(short, of_memory=True)
    given = _object(arguments)
    if short in EDITORS and (path := text_of(given, *PATHS)):
        return Call(short, "edit", paths=(clean(path),))
    if short in SHELLS:
        command = _command(given.get(SHELLS[short]))
        if paths := _patched(command):  # Codex may apply a patch by its shell.
            return Call(short, "edit", paths=paths)
        if command.strip():
            return Call(short, "test" if _TESTING.search(_one_line(command)) else "command", command=command)
    if short in PATCHES:
        patch = text_of(given, "input", "patch", "patchText") or (arguments if isinstance(arguments, str) else "")
        if paths := _patched(patch):
            return Call(short, "edit", paths=paths)
    return Call(short)


def actions_of(
    call: Call | None, output: str, native_id: str, fields: Mapping[str, Any], *, failed: bool, exit: int | None = None
) -> Iterator[Record | Skipped]:
    """Yield the actions of an answered call: a record for each file, or one for a command.

    `failed` is the host's statement, `exit` the code given apart from the output; `fields` are shared by all
    records of the row.
    """
    if call is not None and call.of_memory:
        yield records.RECALLED
    elif call is None or call.act is None:
        yield records.FAILED if failed else NO_ACTION
    elif failed and _REFUSED.match(output):
        yield REFUSED
    elif call.act == "edit":
        yield from [records.FAILED] if failed else _edits(call, native_id, fields)
    else:
        yield _ran(call, output, native_id, fields, failed=failed, exit=exit)


def _edits(call: Call, native_id: str, fields: Mapping[str, Any]) -> Iterator[Record]:
    for number, path in enumerate(call.paths):
        short = _below(path, fields.get("cwd"))
        name = native_id if not number else f"{native_id}:{number}"
        tags = action_tags("edit")
        yield Record(
            native_id=name, origin="tool", text=f"edited {short}", actor=call.name, path=short, tags=tags, **fields
        )


def _ran(
    call: Call, output: str, native_id: str, fields: Mapping[str, Any], *, failed: bool, exit: int | None
) -> Record:
    assert call.act is not None
    output = _ends(without_private(output))  # Only of a whole text it is known what is private in it.
    told = _EXIT.search(output)
    code = exit if exit is not None else int(told[1]) if told else None
    failed = failed or bool(code)
    ran = FinishedCommand(call.act, call.command, _bare(said(_ANSI.sub("", output))), failed, code)
    tags = action_tags(call.act, code if code is not None else int(failed))
    return Record(native_id=native_id, origin="tool", text=call.command, actor=call.name, tags=tags, ran=ran, **fields)


def ran_text(ran: FinishedCommand, redactor: Redactor) -> str:
    """Return a finished command as one line. Secrets are removed before anything is cut or chosen."""
    command, output = redactor.text(_one_line(ran.command)), redactor.text(ran.output)
    how = "passed" if ran.act == "test" else ""
    if ran.failed:
        how = f"failed (exit {ran.exit})" if ran.exit else "failed"
    verb = "tested with" if ran.act == "test" else "ran"
    said_of = (f"{verb} `{_cut(command, COMMAND_CHARS)}`", how, _cut(_line(output, ran), LINE_CHARS))
    return ": ".join(part for part in said_of if part)


def _line(output: str, ran: FinishedCommand) -> str:
    """Return the most telling line of an output: the count of tests, the failure, else the first line."""
    lines = [line for line in map(_one_line, output.splitlines()) if line.strip("-=*# ") and not _TAG.fullmatch(line)]
    if not lines:
        return ""
    if ran.act == "test" and (counted := [line for line in lines if _COUNTED.search(line)]):
        return counted[-1]
    if ran.failed:
        return next((line for line in lines if _PROBLEM.search(line)), lines[-1])
    return lines[-1] if ran.act == "test" else lines[0]


def _bare(output: str) -> str:
    """Return an output without the lines added by hosts."""
    found = _OUTPUT.search(output) if _HEAD.match(output) else None
    body = output[found.end() :] if found else _HEAD.sub("", output)
    return _FOOT.sub("", body)


def _ends(output: str) -> str:
    """Return the first and the last lines of a long output, each whole."""
    if len(output) <= 2 * END_CHARS:
        return output
    return f"{output[:END_CHARS].rpartition(chr(10))[0]}\n{output[-END_CHARS:].partition(chr(10))[2]}"


def _below(path: str, folder: Any) -> str:
    """Return a path relative to a folder, whole if outside."""
    if isinstance(folder, str) and folder:
        try:
            return str(PurePath(path).relative_to(folder))
        except ValueError:
            pass
    return path


def _command(given: Any) -> str:
    """Return a command: a text, or words of which a shell's are the last."""
    if isinstance(given, str):
        return given
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
        return ""
    return given[-1] if len(given) >= 3 and given[1] in ("-c", "-lc") else " ".join(given)


def _patched(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clean(path.strip()) for path in _PATCHED.findall(text)))[:MAX_FILES]


def _object(arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = orjson.loads(arguments)
        except ValueError:
            return {}
    return arguments if isinstance(arguments, dict) else {}


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{head_of(text, chars - 2).rstrip()} …"
