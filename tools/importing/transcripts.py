"""Transcripts of Claude Code, Codex and the Gemini CLI: a parser of rows for each, and the reading of their
files.

A parser is a pure generator from a row to records. A hook imports this module while its agent waits: no
reader of other files is imported here, and nothing is put on the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from memtape.tools.capture import native_ids
from memtape.tools.capture.injected import clean, host_words, said
from memtape.tools.capture.native_ids import CLAUDE_CODE, CODEX, GEMINI, Role
from memtape.tools.importing import reading, records
from memtape.tools.importing.reading import Row
from memtape.tools.importing.records import Found, Record, Skipped, blocks_text, list_in, object_in, text_of

TAIL_BYTES = 128 * 1_024

_NO_SESSION = Skipped("a turn of no session", problem=True)
_MALFORMED = Skipped("malformed", problem=True)
_API_ERROR = Skipped("error of the API")
_INHERITED = Skipped("of the session that it was forked from")
_AGAIN = Skipped("an earlier version of a row")
_REWOUND = Skipped("taken back by the user")

_WORDS = ("text", "image", "document")
CLAUDE_BLOCKS = {
    **dict.fromkeys(("thinking", "redacted_thinking"), records.THINKING),
    **dict.fromkeys(("tool_use", "server_tool_use", "mcp_tool_use"), records.CALL),
    "tool_result": records.TOOL,
}
"""The blocks of a message of Claude that are left out."""
_CODEX_TEXTS = ("input_text", "output_text", "text")
_GEMINI_ROLES: dict[str, Role] = {"user": "user", "gemini": "assistant"}
_GEMINI_NOTICES = ("info", "warning", "error")


def take_claude(row: dict[str, Any], _: records.State) -> Iterator[Found]:
    """Yield the records of a row of Claude Code.

    The files are `projects/<slug>/<session>.jsonl`, and `<session>/subagents/agent-<id>.jsonl`. The format is
    internal to Claude Code: unknown rows are named.
    """
    match row.get("type"):
        case "user":
            yield from _claude_user(row)
        case "assistant":
            yield from _claude_assistant(row)
        case "attachment":  # A prompt typed while the agent worked; all others the host has made.
            it = object_in(row, "attachment")
            text, is_meta = blocks_text(it.get("prompt"), "text"), row.get("isMeta") or it.get("isMeta")
            is_prompt = it.get("type") == "queued_command" and it.get("commandMode") in (None, "prompt")
            is_said = is_prompt and not is_meta and _is_human(it) and text.strip()
            yield _claude_turn(row, "user", text) if is_said else records.INJECTED
        case str(name) if name in host_words("claude_books") or name.startswith("api-re"):
            yield records.BOOKKEEPING
        case name:
            yield records.unknown(name)


def _claude_user(row: dict[str, Any]) -> Iterator[Found]:
    message = object_in(row, "message")
    if row.get("isCompactSummary"):
        yield records.COMPACTION
        return
    yield from _other_blocks(message, "user")
    text = blocks_text(message.get("content"), "text")
    is_machines = text_of(row, "promptSource") in host_words("machine_prompts")
    if not text.strip():
        if not list_in(message, "content"):
            yield records.EMPTY
    elif row.get("isMeta") or is_machines or not _is_human(row):
        yield records.INJECTED
    elif text.startswith("[Request interrupted by user"):
        yield records.BOOKKEEPING
    else:
        yield _claude_turn(row, "user", text, text_of(row, "promptId") if "promptSource" in row else None)


def _is_human(row: dict[str, Any]) -> bool:
    """Whether a prompt is a person's, not a peer's or a task's; older rows do not tell."""
    return object_in(row, "origin").get("kind") in (None, "human")


def _claude_assistant(row: dict[str, Any]) -> Iterator[Found]:
    message = object_in(row, "message")
    if row.get("isApiErrorMessage"):
        yield _API_ERROR
        return
    yield from _other_blocks(message, "assistant")
    text = blocks_text(message.get("content"), "text")
    if text.strip():
        yield _claude_turn(row, "assistant", text)
    elif not list_in(message, "content"):
        yield records.EMPTY


def _other_blocks(message: dict[str, Any], role: Role) -> Iterator[Skipped]:
    """Yield the skips of a message's blocks that are no words."""
    for block in list_in(message, "content"):
        if (type := text_of(block, "type")) not in _WORDS:
            yield CLAUDE_BLOCKS.get(type or "") or records.unknown(f"{role}/{type}")


def _claude_turn(row: dict[str, Any], role: Role, text: str, prompt: str | None = None) -> Found:
    uuid, fields = row.get("uuid"), _fields(CLAUDE_CODE, row, {})
    if not isinstance(uuid, str) or not uuid:
        return records.NO_ID if said(text) else records.INJECTED
    if row.get("isSidechain"):
        role, prompt = "assistant", None  # What a subagent is told, the agent wrote.
        if agent := text_of(row, "agentId"):
            fields["actor"] = f"{CLAUDE_CODE} {clean(agent)}"
    native = native_ids.claude_prompt(prompt) if prompt else clean(uuid)
    return records.turn(role=role, text=text, native_id=native, **fields)


def take_codex(row: dict[str, Any], state: records.State) -> Iterator[Found]:
    """Yield the records of a row of Codex. `state` has session, folder and branch.

    The files are `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`, old and new; new rows have
    `ordinal`. Messages stand in `response_item`; `event_msg` repeats them.
    """
    match row.get("type"), row.get("payload"):
        case "compacted", _:
            yield records.COMPACTION
        case "world_state", _:
            yield records.BOOKKEEPING
        case "session_meta", dict(meta):
            if not state.get("met"):  # A fork may repeat its parent's head after its own.
                told = {"session": text_of(meta, "id"), "cwd": text_of(meta, "cwd")}
                told["branch"] = text_of(meta.get("git"), "branch")
                state.update({name: value for name, value in told.items() if value}, met=True)
            yield records.BOOKKEEPING
        case "turn_context", dict(context):
            state["cwd"] = text_of(context, "cwd") or state.get("cwd")
            yield records.BOOKKEEPING
        case "response_item", dict(item) if item.get("type") == "message":
            yield _codex_message(row, item, state)
        case "response_item", dict(item) if item.get("type") == "reasoning":
            yield records.THINKING
        case "response_item", dict(item):
            name = text_of(item, "type") or ""
            if name not in host_words("codex_items"):
                yield records.unknown(f"response_item/{name or None}")
            elif name.endswith("_output"):
                yield records.TOOL
            else:
                yield records.CALL if name.endswith("_call") else records.BOOKKEEPING
        case "event_msg", dict(event):
            is_thought = str(event.get("type")).startswith("agent_reasoning")
            yield records.THINKING if is_thought else records.BOOKKEEPING
        case "session_meta" | "turn_context" | "response_item" | "event_msg", _:
            yield _MALFORMED
        case name, _:
            yield records.unknown(name)


def _codex_message(row: dict[str, Any], item: dict[str, Any], state: records.State) -> Found:
    role, content = item.get("role"), item.get("content")
    if role not in ("user", "assistant"):
        return records.INJECTED if role in ("developer", "system") else records.unknown(f"message/{role}")
    if object_in(row, "metadata").get("inherited_user_message"):
        return _INHERITED
    passed = item.get("internal_chat_message_metadata_passthrough")
    kinds = list_in(passed if isinstance(passed, dict) else item, "content_item_kinds")
    if role == "user" and kinds:
        if isinstance(content, list) and len(content) == len(kinds):
            content = [part for part, kind in zip(content, kinds, strict=True) if kind == "user.text"]
        if not content or "user.text" not in kinds:
            return records.INJECTED
    text, session = blocks_text(content, *_CODEX_TEXTS), text_of(state, "session")
    told = said(text)
    if not told:
        return records.INJECTED if text.strip() else records.EMPTY
    if session is None:
        return _NO_SESSION
    ordinal, at = row.get("ordinal"), clean(text_of(row, "timestamp") or "")
    native = native_ids.codex_message(session, ordinal if isinstance(ordinal, int) else None, at, role, told)
    return records.turn(role=role, text=told, native_id=native, **_fields(CODEX, row, state))


def take_gemini(row: dict[str, Any], state: records.State) -> Iterator[Found]:
    """Yield the records of a row of the Gemini CLI. `state` has session, folder, and `bare` for a file
    without rows.

    The files are `tmp/<project>/chats/session-<time>-<id>.jsonl`, and the older single `.json`: one row with
    all messages. `$set` can hold what the model was given instead, and is only read in a bare file.
    """
    is_head = "sessionId" in row and "type" not in row
    if is_head:
        state["session"] = text_of(row, "sessionId") or state.get("session")
        state["kind"] = text_of(row, "kind")
    if is_head or "$set" in row or "$rewindTo" in row:
        yield records.BOOKKEEPING
        holder = row if is_head else object_in(row, "$set") if state.get("bare") else {}
        for message in list_in(holder, "messages"):
            if isinstance(message, dict) and "$set" not in message and "sessionId" not in message:
                yield from take_gemini(message, state)
        return
    id, type = text_of(row, "id"), text_of(row, "type") or ""
    if type in _GEMINI_NOTICES:
        yield records.BOOKKEEPING
    elif type not in _GEMINI_ROLES:
        yield records.unknown(type or None)
    elif id is None or text_of(state, "session") is None:
        yield records.NO_ID
    else:
        yield from _gemini_turn(row, id, _GEMINI_ROLES[type], state)


def _gemini_turn(row: dict[str, Any], id: str, role: Role, state: records.State) -> Iterator[Found]:
    session, fields = state["session"], _fields(GEMINI, row, state)
    if row.get("thoughts"):
        yield records.THINKING
    # What was typed, where files that it names were put into the content.
    text = _gemini_text(row.get("displayContent")) or _gemini_text(row.get("content"))
    if state.get("kind") == "subagent":
        role = "assistant"  # What a subagent is told, the agent wrote.
    if text.strip() or not row.get("toolCalls"):
        yield records.turn(role=role, text=text, native_id=native_ids.in_session(session, id), **fields)
    yield from [records.CALL] * len(list_in(row, "toolCalls"))


def _gemini_text(content: Any) -> str:
    """Return the text of a list of parts; function calls and their answers are no text."""
    parts = content if isinstance(content, list) else [content]
    spoken = (part for part in parts if not (isinstance(part, dict) and part.get("thought")))
    return blocks_text(list(spoken), "text")


def _fields(source: str, row: dict[str, Any], state: records.State) -> dict[str, Any]:
    """Return the fields of a row's records; rows of Claude Code tell all, others only the time."""
    names = {"session": "sessionId", "branch": "gitBranch", "cwd": "cwd"}
    told = {name: text_of(row, key) or text_of(state, name) for name, key in names.items()}
    return {"source": source, "at": records.time_of(row.get("timestamp")), **told}


PARSERS: dict[str, records.Take] = {CLAUDE_CODE: take_claude, CODEX: take_codex, GEMINI: take_gemini}
"""The parser of a row, by the format of a file that grows row by row while a session is going on."""


def rows_of(
    format: str, file: IO[bytes], state: records.State, offset: int = 0
) -> Iterator[tuple[Row, Iterable[Found]]]:
    """Yield the rows of a transcript from an offset on, with their records.

    Between two rows the file may be read elsewhere. A row of Gemini comes again under its id when it has
    changed, so that all rows are read before the first is taken, and the last version counts.
    """
    last: dict[str, int | None] = {}  # By row id the place of its last version, None for a row taken back.
    if format == GEMINI:
        file.seek(offset)
        for row in reading.rows(file, offset):
            value = row.value if isinstance(row.value, dict) else {}
            rewind, id = value.get("$rewindTo"), value.get("id")
            if isinstance(rewind, str):
                ids = list(last)
                last.update(dict.fromkeys(ids[ids.index(rewind) if rewind in last else 0 :]))
            elif isinstance(id, str):
                if last.get(id, 0) is None:
                    del last[id]
                last[id] = row.start
        state["bare"] = not last
    file.seek(offset)
    for row in reading.rows(file, offset):
        found = records_of(PARSERS[format], row, state)
        place = last.get(text_of(row.value, "id") or "", row.start)
        if place != row.start:
            found = [_REWOUND if place is None else _AGAIN]
        yield row, found
        file.seek(row.end)


def records_of(parser: records.Take, row: Row, state: records.State) -> Iterable[Found]:
    """Return the records of a row, or the skip of a row that cannot be read; nothing for a blank line."""
    if isinstance(row.value, dict):
        return parser(row.value, state)
    return [] if row.value is None else [row.value]


def records_from(path: Path, format: str, state: records.State, start: int) -> Iterator[Record]:
    """Yield the records of a transcript from near an offset on: from the first whole line.

    Raises `OSError`.
    """
    if format not in PARSERS:
        return
    with reading.opened(path) as file:
        if start:
            for row in reading.rows(file):  # The head tells the session.
                list(records_of(PARSERS[format], row, state))
                break
            file.seek(start - 1)
            start = start - 1 + len(file.readline(reading.MAX_LINE_BYTES))
        for _, found in rows_of(format, file, state, start):
            with suppress(Exception):  # A row in a form that nobody has seen; the others are read.
                yield from [record for record in found if isinstance(record, Record)]


def find_turn(
    path: Path, format: str, session: str | None, role: Role, text: str
) -> tuple[Record | None, Record | None]:
    """Return the record of a turn if it is the last thing said, and the latest before that said the same.

    A hook is told a text, and the record has its native id. Only the last 128 KiB are read.
    """
    origin, wanted = ("user" if role == "user" else "agent"), native_ids.digest(text)
    now = before = None
    with suppress(OSError):
        start = max(0, path.stat().st_size - TAIL_BYTES)
        for record in records_from(path, format, {"session": session}, start):
            if record.origin == origin and native_ids.digest(record.text) == wanted:
                now, before = record, now or before
            elif now is not None and record.origin in ("user", "agent"):
                now, before = None, now  # It went on since.
    return now, before
