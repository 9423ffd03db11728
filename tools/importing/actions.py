"""Actions of an agent by tools: one for each edit, command and test, with path, exit and one line of output.

The rest of a tool's output is not kept: it is bulk, and stands in the project. `host_texts.toml` has the
names of tools, and what hosts put around an output; the rows of hosts are not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from memtape.schemas.events import Act, action_tags
from memtape.schemas.placeholders import head_of
from memtape.schemas.private import without_private
from memtape.tools.capture.injected import asks_memory, clean, host_regex, host_words, is_memory_tool, said
from memtape.tools.importing import records
from memtape.tools.importing.records import Record, Skipped, State, text_of

if TYPE_CHECKING:
    from memtape.tools.capture.secrets.redaction import Redactor

COMMAND_CHARS, LINE_CHARS = 300, 160
"""The kept length of a command, and of a line of its output."""
END_CHARS = 8_000
"""Of a longer output so much of the beginning and of the end is looked at."""
MAX_FILES = 50
MAX_CALLS = 256
"""The most unanswered calls that a parser remembers."""

PATHS = ("file_path", "notebook_path", "filePath", "path")
"""How hosts call the argument that names the file."""

NO_ACTION = Skipped("output of a tool that neither edits nor runs a command")
REFUSED = Skipped("call of a tool that the user refused")


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
    given: Any = arguments
    if isinstance(arguments, str):
        with suppress(ValueError):
            given = orjson.loads(arguments)
    given = given if isinstance(given, dict) else {}
    if short in host_words("editors") and (path := text_of(given, *PATHS)):
        return Call(short, "edit", paths=(clean(path),))
    if short in host_words("shells"):
        command = _command(given.get("command", given.get("cmd")))
        if paths := _patched(command):  # Codex may apply a patch by its shell.
            return Call(short, "edit", paths=paths)
        if command.strip():
            is_test = host_regex("testing").search(_one_line(command))
            return Call(short, "test" if is_test else "command", command=command)
    if short in host_words("patchers"):
        whole = arguments if isinstance(arguments, str) else ""
        if paths := _patched(text_of(given, "input", "patch", "patchText") or whole):
            return Call(short, "edit", paths=paths)
    return Call(short)


def actions_of(
    call: Call | None,
    output: str,
    native_id: str,
    fields: Mapping[str, Any],
    *,
    failed: bool,
    exit: int | None = None,
) -> Iterator[Record | Skipped]:
    """Yield the actions of an answered call: a record for each file, or one for a command.

    `failed` is the host's statement, `exit` the code given apart from the output; `fields` are shared by all
    records of the row.
    """
    if call is not None and call.of_memory:
        yield records.RECALLED
    elif call is None or call.act is None:
        yield records.FAILED if failed else NO_ACTION
    elif failed and host_regex("refused").match(output):
        yield REFUSED
    elif call.act == "edit" and failed:
        yield records.FAILED
    elif call.act == "edit":
        folder = str(fields.get("cwd") or "")
        for number, path in enumerate(call.paths):
            is_within = folder and PurePath(path).is_relative_to(folder)
            short = str(PurePath(path).relative_to(folder)) if is_within else path
            about = {"actor": call.name, "path": short, "tags": action_tags("edit"), **fields}
            name = native_id if not number else f"{native_id}:{number}"
            yield Record(native_id=name, origin="tool", text=f"edited {short}", **about)
    else:
        yield _ran(call, output, native_id, fields, failed=failed, exit=exit)


def _ran(
    call: Call, output: str, native_id: str, fields: Mapping[str, Any], *, failed: bool, exit: int | None
) -> Record:
    assert call.act is not None
    output = without_private(output)  # Only of a whole text it is known what is private in it.
    if len(output) > 2 * END_CHARS:  # Of a longer one the first and the last lines, each whole.
        output = f"{output[:END_CHARS].rpartition(chr(10))[0]}\n{output[-END_CHARS:].partition(chr(10))[2]}"
    told = host_regex("exit").search(output)
    code = exit if exit is not None else int(told[1]) if told else None
    bare = said(host_regex("ansi").sub("", output))
    # The lines added by hosts are left out.
    found = host_regex("output").search(bare) if host_regex("head").match(bare) else None
    bare = host_regex("foot").sub("", bare[found.end() :] if found else host_regex("head").sub("", bare))
    how = f"failed (exit {code})" if code else "failed" if failed else "passed" if call.act == "test" else ""
    finish = partial(_told, call, bare, how)
    tags = action_tags(call.act, code if code is not None else int(failed))
    about = {"actor": call.name, "tags": tags, "finish": finish, **fields}
    return Record(native_id=native_id, origin="tool", text=call.command, **about)


def _told(call: Call, output: str, how: str, redactor: Redactor) -> str:
    """Return a finished command as one line. Secrets are removed before anything is cut or chosen."""
    command, output = redactor.text(_one_line(call.command)), redactor.text(output)
    verb = "tested with" if call.act == "test" else "ran"
    line = _line(output, is_test=call.act == "test", failed=how.startswith("failed"))
    parts = (f"{verb} `{_cut(command, COMMAND_CHARS)}`", how, _cut(line, LINE_CHARS))
    return ": ".join(filter(None, parts))


def _line(output: str, *, is_test: bool, failed: bool) -> str:
    """Return the most telling line of an output: the count of tests, the failure, else the first line."""
    every = map(_one_line, output.splitlines())
    lines = [line for line in every if line.strip("-=*# ") and not host_regex("speaker").fullmatch(line)]
    if not lines:
        return ""
    if is_test and (counted := [line for line in lines if host_regex("counted").search(line)]):
        return counted[-1]
    if failed:
        return next((line for line in lines if host_regex("problem").search(line)), lines[-1])
    return lines[-1] if is_test else lines[0]


def _command(given: Any) -> str:
    """Return a command: a text, or words of which a shell's are the last."""
    if isinstance(given, str):
        return given
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
        return ""
    return given[-1] if len(given) >= 3 and given[1] in ("-c", "-lc") else " ".join(given)


def _patched(text: str) -> tuple[str, ...]:
    paths = (clean(path.strip()) for path in host_regex("patched").findall(text))
    return tuple(dict.fromkeys(paths))[:MAX_FILES]


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{head_of(text, chars - 2).rstrip()} …"
