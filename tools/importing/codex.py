"""Rollouts of Codex, old and new: `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`.

Messages stand in `response_item`; `event_msg` repeats them. New rows have `ordinal`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from memtape.tools.capture.injected import clean, said
from memtape.tools.capture.native_ids import CODEX, Role, codex_message, tool_answer
from memtape.tools.importing import records
from memtape.tools.importing.actions import actions_of, called, remember_call
from memtape.tools.importing.records import Found, Skipped, State, blocks_text, text_of, time_of, turn

_INHERITED = Skipped("of the session that it was forked from")
_ITEMS = frozenset(
    """
    agent_message compaction compaction_summary context_compaction custom_tool_call custom_tool_call_output
    function_call function_call_output ghost_snapshot image_generation_call local_shell_call local_shell_call_output
    mcp_tool_call mcp_tool_call_output message other reasoning tool_search_call tool_search_output web_search_call
    """.split()
)


def take(row: dict[str, Any], state: State) -> Iterator[Found]:
    """Yield the records of a row. `state` has session, folder, branch and unanswered tools."""
    payload = row.get("payload")
    match row.get("type"):
        case "session_meta" if isinstance(payload, dict):
            _meet(payload, state)
            yield records.BOOKKEEPING
        case "turn_context" if isinstance(payload, dict):
            state["cwd"] = text_of(payload, "cwd") or state.get("cwd")
            yield records.BOOKKEEPING
        case "response_item" if isinstance(payload, dict):
            yield from _item(row, payload, state)
        case "event_msg" if isinstance(payload, dict):
            is_thought = str(payload.get("type")).startswith("agent_reasoning")
            yield records.THINKING if is_thought else records.BOOKKEEPING
        case "compacted":
            yield records.COMPACTION
        case "session_meta" | "turn_context" | "response_item" | "event_msg":
            yield Skipped("malformed", problem=True)
        case "world_state":
            yield records.BOOKKEEPING
        case name:
            yield records.unknown(name)


def _meet(meta: dict[str, Any], state: State) -> None:
    """Note the session, folder and branch of a file. Only the first head counts, since a fork may repeat its
    parent's head.
    """
    if state.get("met"):
        return
    state["met"] = True
    state["session"] = text_of(meta, "id") or state.get("session")
    state["cwd"] = text_of(meta, "cwd") or state.get("cwd")
    state["branch"] = text_of(meta.get("git"), "branch") or state.get("branch")


def _item(row: dict[str, Any], item: dict[str, Any], state: State) -> Iterator[Found]:
    match item.get("type"):
        case "message":
            yield _message(row, item, state)
        case "reasoning":
            yield records.THINKING
        case str(name) if name.endswith("_output") and name in _ITEMS:
            yield from _answer(row, item, state)
        case str(name) if name.endswith("_call") and name in _ITEMS:
            name = ".".join(part for part in (text_of(item, "namespace", "server"), text_of(item, "name")) if part)
            given = item.get("arguments") or item.get("input") or item.get("action")
            remember_call(state, item.get("call_id"), name or text_of(item, "type"), given)
        case str(name) if name in _ITEMS:
            yield records.BOOKKEEPING
        case name:
            yield records.unknown(f"response_item/{name}")


def _message(row: dict[str, Any], item: dict[str, Any], state: State) -> Found:
    role = item.get("role")
    if role not in ("user", "assistant"):
        return records.INJECTED if role in ("developer", "system") else records.unknown(f"message/{role}")
    metadata, passed = row.get("metadata"), item.get("internal_chat_message_metadata_passthrough")
    if isinstance(metadata, dict) and metadata.get("inherited_user_message"):
        return _INHERITED
    kinds = passed.get("content_item_kinds") if isinstance(passed, dict) else item.get("content_item_kinds")
    content = item.get("content")
    if role == "user" and isinstance(kinds, list) and kinds:
        if isinstance(content, list) and len(content) == len(kinds):
            content = [part for part, kind in zip(content, kinds, strict=True) if kind == "user.text"]
        elif "user.text" not in kinds:
            content = []
        if not content:
            return records.INJECTED
    return _turn(row, role, blocks_text(content, "input_text", "output_text", "text"), state)


def _turn(row: dict[str, Any], role: Role, text: str, state: State) -> Found:
    told, session = said(text), _session(state)
    if not told:
        return records.INJECTED if text.strip() else records.EMPTY
    if session is None:
        return Skipped("a turn of no session", problem=True)
    ordinal, at = row.get("ordinal"), clean(text_of(row, "timestamp") or "")
    native = codex_message(session, ordinal if isinstance(ordinal, int) else None, at, role, told)
    return turn(role=role, text=told, native_id=native, **_fields(row, state))


def _answer(row: dict[str, Any], item: dict[str, Any], state: State) -> Iterator[Found]:
    id, session, output = text_of(item, "call_id"), _session(state), item.get("output")
    if id is None or session is None:
        yield Skipped("a tool's answer without an id", problem=True)
        return
    failed = isinstance(output, dict) and output.get("success") is False
    if isinstance(output, dict):
        output = output.get("content", output.get("output"))
    output, exit = _unpacked(output)
    text = blocks_text(output, "input_text", "output_text", "text")
    native, fields = tool_answer(session, id), _fields(row, state)
    yield from actions_of(called(state, id), text, native, fields, failed=failed, exit=exit)


def _unpacked(output: Any) -> tuple[Any, int | None]:
    """Return an output, and its exit code where it is told apart.

    Old files hold the output of a shell as JSON in a text: `{"output": …, "metadata": {"exit_code": …}}`.
    """
    if isinstance(output, str) and output.startswith('{"output"'):
        try:
            held = orjson.loads(output)
            exit = held.get("metadata", {}).get("exit_code")
            return held["output"], exit if isinstance(exit, int) else None
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
    return output, None


def _session(state: State) -> str | None:
    session = state.get("session")
    return session if isinstance(session, str) else None


def _fields(row: dict[str, Any], state: State) -> dict[str, Any]:
    return {
        "source": CODEX,
        "at": time_of(row.get("timestamp")),
        "session": _session(state),
        "branch": state.get("branch"),
        "cwd": state.get("cwd"),
    }
