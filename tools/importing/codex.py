"""Rollouts of Codex, old and new: `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`.

New rows have `ordinal`, and messages only in `response_item`. Older files repeat them in `event_msg`, and the
oldest have bare items without a payload.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from memtape.tools.capture.injected import clean, said
from memtape.tools.capture.native_ids import CODEX, Role, codex_message, digest, tool_answer
from memtape.tools.importing import skips
from memtape.tools.importing.actions import actions_of, called, remember_call
from memtape.tools.importing.records import Found, State, blocks_text, text_of, time_of, turn
from memtape.tools.importing.skips import Skipped, unknown

RECENT = 8
"""Among so many messages back the second telling of a message is looked for."""

_AGAIN = Skipped("said by another row")
_INHERITED = Skipped("of the session that it was forked from")
_ITEMS = frozenset(
    """
    agent_message compaction compaction_summary context_compaction custom_tool_call custom_tool_call_output
    function_call function_call_output ghost_snapshot image_generation_call local_shell_call local_shell_call_output
    mcp_tool_call mcp_tool_call_output message other reasoning tool_search_call tool_search_output web_search_call
    """.split()
)
_EVENT_TURNS: dict[str, Role] = {"user_message": "user", "agent_message": "assistant"}


def take(row: dict[str, Any], state: State) -> Iterator[Found]:
    """Yield the records of a row. `state` has session, folder, branch, unanswered tools and recent turns."""
    payload = row.get("payload")
    match row.get("type"):
        case "session_meta" if isinstance(payload, dict):
            _meet(payload, state)
            yield skips.BOOKKEEPING
        case "turn_context" if isinstance(payload, dict):
            state["cwd"] = text_of(payload, "cwd") or state.get("cwd")
            yield skips.BOOKKEEPING
        case "response_item" if isinstance(payload, dict):
            yield from _item(row, payload, state)
        case "event_msg" if isinstance(payload, dict):
            yield _event(row, payload, state)
        case "compacted":
            yield skips.COMPACTION
        case "session_meta" | "turn_context" | "response_item" | "event_msg":
            yield Skipped("malformed", problem=True)
        case "world_state":
            yield skips.BOOKKEEPING
        case None if row.get("record_type") or "id" in row:
            if "id" in row:
                _meet(row, state)
            yield skips.BOOKKEEPING
        case str(name) if name in _ITEMS:
            yield from _item(row, row, state)
        case name:
            yield unknown(name)


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
            yield skips.THINKING
        case str(name) if name.endswith("_output") and name in _ITEMS:
            yield from _answer(row, item, state)
        case str(name) if name.endswith("_call") and name in _ITEMS:
            name = ".".join(part for part in (text_of(item, "namespace", "server"), text_of(item, "name")) if part)
            given = item.get("arguments") or item.get("input") or item.get("action")
            remember_call(state, item.get("call_id"), name or text_of(item, "type"), given)
        case str(name) if name in _ITEMS:
            yield skips.BOOKKEEPING
        case name:
            yield unknown(f"response_item/{name}")


def _message(row: dict[str, Any], item: dict[str, Any], state: State) -> Found:
    role = item.get("role")
    if role not in ("user", "assistant"):
        return skips.INJECTED if role in ("developer", "system") else unknown(f"message/{role}")
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
            return skips.INJECTED
    return _turn(row, role, blocks_text(content, "input_text", "output_text", "text"), "item", state)


def _event(row: dict[str, Any], event: dict[str, Any], state: State) -> Found:
    """An event is bookkeeping, but old files tell turns by it; new ones tell them again as `item_completed`."""
    role = _EVENT_TURNS.get(str(event.get("type")))
    if role is None or row.get("ordinal") is not None:
        return skips.THINKING if str(event.get("type")).startswith("agent_reasoning") else skips.BOOKKEEPING
    return _turn(row, role, text_of(event, "message") or "", "event", state)


def _turn(row: dict[str, Any], role: Role, text: str, way: str, state: State) -> Found:
    told, session = said(text), _session(state)
    if not told:
        return skips.INJECTED if text.strip() else skips.EMPTY
    if session is None:
        return Skipped("a turn of no session", problem=True)
    ordinal, at = row.get("ordinal"), row.get("timestamp")
    if not isinstance(ordinal, int):
        ordinal = None
        if _told_before(state, way, role, told):
            return _AGAIN
    native = codex_message(session, ordinal, clean(at) if isinstance(at, str) else "", role, told)
    return turn(role=role, text=told, native_id=native, **_fields(row, state))


def _told_before(state: State, way: str, role: Role, text: str) -> bool:
    """Whether a recent row of the other way had the same text; each earlier row answers for one later row."""
    recent = state.setdefault("recent", [])
    words = [role, digest(text)[:8]]
    other = next((entry for entry in recent if entry[0] != way and entry[1:] == words), None)
    if other is not None:
        recent.remove(other)
        return True
    recent.append([way, *words])
    del recent[:-RECENT]
    return False


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
