"""Transcripts of Claude Code: `projects/<slug>/<session>.jsonl`, and `<session>/subagents/agent-<id>.jsonl`.

Each row names its session, folder and branch. The format is internal to Claude Code: unknown rows are skipped
and named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memtape.tools.capture.injected import clean, said
from memtape.tools.capture.native_ids import CLAUDE_CODE, Role, claude_prompt, claude_tool
from memtape.tools.importing import records
from memtape.tools.importing.actions import actions_of, called, remember_call
from memtape.tools.importing.records import Found, Skipped, State, blocks_text, text_of, time_of, turn

BOOKKEEPING_TYPES = frozenset(
    """
    agent-name ai-title api-request api-response attribution-snapshot context-collapse-commit custom-title
    file-history-snapshot last-prompt mode permission-mode pr-link progress queue-operation summary tag worktree-state
    """.split()
)
MACHINE_PROMPTS = frozenset({"loop_wakeup", "poll_event", "schedule_wakeup", "system"})
"""Sources of prompts that no person wrote (`UserPromptSubmitHookInput.source` of the Agent SDK 0.3.329)."""

_API_ERROR = Skipped("error of the API")
_ANSWERS = ("text", "tool_result")


def take(row: dict[str, Any], state: State) -> Iterator[Found]:
    """Yield the records of a row. `state` has the names of unanswered tools."""
    match row.get("type"):
        case "user":
            yield from _user(row, state)
        case "assistant":
            yield from _assistant(row, state)
        case "attachment":
            yield _attachment(row)
        case "system":
            yield records.BOOKKEEPING
        case str(name) if name in BOOKKEEPING_TYPES or name.startswith("api-request"):
            yield records.BOOKKEEPING
        case name:
            yield records.unknown(name)


def _user(row: dict[str, Any], state: State) -> Iterator[Found]:
    content = _content(row)
    if row.get("isCompactSummary"):
        yield records.COMPACTION
        return
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            yield from _answer(row, block, state)
        elif not isinstance(block, dict) or block.get("type") not in ("text", "image", "document"):
            type_name = block.get("type") if isinstance(block, dict) else type(block).__name__
            yield records.unknown(f"user/{type_name}")
    text = blocks_text(content, "text")
    if not text.strip():
        if not isinstance(content, list) or not content:
            yield records.EMPTY
    elif row.get("isMeta") or text_of(row, "promptSource") in MACHINE_PROMPTS or not _human(row):
        yield records.INJECTED
    elif text.startswith("[Request interrupted by user"):
        yield records.BOOKKEEPING
    else:
        yield _turn(row, "user", text, text_of(row, "promptId") if "promptSource" in row else None)


def _attachment(row: dict[str, Any]) -> Found:
    """A prompt that was typed while the agent worked stands here alone; all other attachments the host has made."""
    attached = row.get("attachment")
    if text_of(attached, "type") != "queued_command" or row.get("isMeta"):
        return records.INJECTED
    assert isinstance(attached, dict)
    if attached.get("isMeta") or attached.get("commandMode") not in (None, "prompt") or not _human(attached):
        return records.INJECTED
    text = blocks_text(attached.get("prompt"), "text")
    return _turn(row, "user", text) if text.strip() else records.INJECTED


def _human(row: dict[str, Any]) -> bool:
    """Whether a prompt is a person's, not a peer's or a task's; older rows do not tell."""
    origin = row.get("origin")
    return not isinstance(origin, dict) or origin.get("kind") in (None, "human")


def _assistant(row: dict[str, Any], state: State) -> Iterator[Found]:
    content = _content(row)
    if row.get("isApiErrorMessage"):
        yield _API_ERROR
        return
    for block in content if isinstance(content, list) else []:
        match block.get("type") if isinstance(block, dict) else None:
            case "text":
                pass
            case "thinking" | "redacted_thinking":
                yield records.THINKING
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                remember_call(state, block.get("id"), block.get("name"), block.get("input"))
            case name:
                yield records.unknown(f"assistant/{name}")
    text = blocks_text(content, "text")
    if not text.strip():
        if not isinstance(content, list) or not content:
            yield records.EMPTY
    else:
        yield _turn(row, "assistant", text)


def _content(row: dict[str, Any]) -> Any:
    message = row.get("message")
    return message.get("content") if isinstance(message, dict) else None


def _answer(row: dict[str, Any], block: dict[str, Any], state: State) -> Iterator[Found]:
    id = text_of(block, "tool_use_id")
    if id is None:
        yield Skipped("a tool's answer without an id", problem=True)
        return
    output, fields = blocks_text(block.get("content"), *_ANSWERS), _fields(row)
    native_id = claude_tool(clean(text_of(row, "uuid", "sessionId") or ""), id)
    yield from actions_of(called(state, id), output, native_id, fields, failed=bool(block.get("is_error")))


def _turn(row: dict[str, Any], role: Role, text: str, prompt: str | None = None) -> Found:
    uuid, fields = row.get("uuid"), _fields(row)
    if not isinstance(uuid, str) or not uuid:
        return records.NO_ID if said(text) else records.INJECTED
    if row.get("isSidechain"):
        role, prompt = "assistant", None  # What a subagent is told, the agent wrote.
        if agent := text_of(row, "agentId"):
            fields["actor"] = f"{CLAUDE_CODE} {clean(agent)}"
    native = claude_prompt(prompt) if prompt else clean(uuid)
    return turn(role=role, text=text, native_id=native, **fields)


def _fields(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "source": CLAUDE_CODE,
        "at": time_of(row.get("timestamp")),
        "session": text_of(row, "sessionId"),
        "branch": text_of(row, "gitBranch"),
        "cwd": text_of(row, "cwd"),
    }
