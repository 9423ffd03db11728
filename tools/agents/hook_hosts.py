"""The hooks of each host: names of events and fields in their input, and the form of their answer.

Nothing here acts or reads anything. Sources: the hooks of Claude Code 2.1, Codex 0.169, Gemini CLI 0.61,
Copilot CLI 1.0.102 and Qwen Code 0.15.10, as they ran, and Memtape's plugin for OpenCode 1.18 (`plugins`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

import orjson

Action = Literal["start", "prompt", "answer", "subagent", "act", "flush", "retell", "end"]

SERVED: tuple[Action, ...] = ("start", "prompt", "answer", "subagent", "act")
"""The actions that a server does for a hook."""
MAX_CONTEXT_CHARS = 10_000
"""The length at which Claude Code and Codex cut; Codex at 2,500 tokens of 4 bytes."""


CONTEXT_TOKENS = 800
"""The longest context of a start."""


MAX_AGENT_CHARS, MAX_NAME_CHARS = 60, 200


class Host(NamedTuple):
    """A host: its events as actions, the fields of its prompts and answers, and its form of an output.

    `begins_at_prompt`: a start takes no context, so the first prompt after it gets the start's context.
    `flat`: the added context is a key of its own.
    """

    actions: Mapping[str, Action]
    prompt: str
    answer: str
    begins_at_prompt: bool = False
    flat: bool = False


_LIKE_CLAUDE = Host(
    {
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "Stop": "answer",
        "SubagentStop": "subagent",
        "PreCompact": "flush",
        "SessionEnd": "end",
    },
    "prompt",
    "last_assistant_message",
)

_TOLD_AT_PROMPTS = Host(
    # What was told at the first prompt is gone after a compaction, so that the next prompt is told again.
    {
        "UserPromptSubmit": "prompt",
        "PostToolUse": "act",
        "Stop": "answer",
        "PreCompact": "retell",
        "SessionEnd": "end",
    },
    "prompt",
    "last_assistant_message",
    begins_at_prompt=True,
)

HOSTS_OF_HOOKS: dict[str, Host] = {
    "claude": _LIKE_CLAUDE,
    "codex": _LIKE_CLAUDE,
    # Its PreCompress comes before every call of the model, so that it is no boundary of anything.
    "gemini": Host(
        {"SessionStart": "start", "BeforeAgent": "prompt", "AfterAgent": "answer", "SessionEnd": "end"},
        "prompt",
        "prompt_response",
    ),
    # It tells no answer, but where its transcript is.
    "copilot": Host(
        {
            "SessionStart": "start",
            "UserPromptSubmit": "prompt",
            "PostToolUse": "act",
            "Stop": "answer",
            "SubagentStop": "answer",
            "SessionEnd": "end",
        },
        "prompt",
        "",
        flat=True,
    ),
    "opencode": _TOLD_AT_PROMPTS,
    "qwen": _TOLD_AT_PROMPTS._replace(
        actions={**_TOLD_AT_PROMPTS.actions, "PostToolUseFailure": "act", "SubagentStop": "answer"}
    ),
}


class Done(NamedTuple):
    """An answered tool call: its name in the session, tool, input, output, failure and exit code."""

    name: str
    tool: str
    given: Any
    output: str
    failed: bool
    exit: int | None


class HookInput(NamedTuple):
    """The input of a hook. Missing and malformed fields are empty."""

    host: str
    event: str
    action: Action
    session: str
    folder: str
    transcript: str
    prompt: str
    answer: str
    prompt_id: str
    agent_transcript: str
    """The transcript of a subagent that has just ended, where the host names it."""
    resumed: bool
    """Whether a start goes on with a session that was told one before, and still has it."""
    agent: str = ""
    """The subagent that answers, empty for the session's own agent."""
    done: Done | None = None


def read(host: str, data: bytes) -> HookInput | None:
    """Return a hook's input from a host's JSON, None for an event unknown here. Raises `ValueError`."""
    if host not in HOSTS_OF_HOOKS:
        raise ValueError("unknown host")
    told = orjson.loads(data)
    if not isinstance(told, dict):
        raise ValueError("not an object")
    event = _text(told, "hook_event_name")
    form = HOSTS_OF_HOOKS[host]
    action = form.actions.get(event)
    agent = (_text(told, "agent_name") or _text(told, "agent_type"))[:MAX_AGENT_CHARS]
    of_agent = event == "SubagentStop"
    # What one agent asks of another no person has said, and what the other answers it tells once it has ended.
    if action is None or (_text(told, "parent_agent_id") and action in ("prompt", "answer") and not of_agent):
        return None
    return HookInput(
        host=host,
        event=event,
        action=action,
        session=_text(told, "session_id"),
        folder=_text(told, "cwd"),
        transcript=_text(told, "transcript_path"),
        prompt=_text(told, form.prompt),
        answer=_text(told, "last_assistant_message" if of_agent else form.answer),
        prompt_id=_text(told, "prompt_id")[:200],
        agent_transcript=_text(told, "agent_transcript_path"),
        resumed=_text(told, "source") == "resume",
        agent=agent if of_agent else "",
        done=_done(told, event) if action == "act" else None,
    )


def _done(told: dict[str, Any], event: str) -> Done:
    """Return the tool call of a hook's input. Hosts differ: some give the call an id, some only a time;
    outputs have many forms.
    """
    result = told.get("tool_response", told.get("tool_result"))
    of = result if isinstance(result, dict) else {"output": result}
    output = next((of[key] for key in ("llmContent", "text_result_for_llm", "output") if of.get(key)), "")
    parts = output if isinstance(output, list) else [output]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    tool, exit = _text(told, "tool_name"), of.get("exit")
    return Done(
        name=(_text(told, "tool_use_id") or f"{_text(told, 'timestamp')}:{tool}")[:MAX_NAME_CHARS],
        tool=tool,
        given=told.get("tool_input"),
        output="\n".join(text for text in (*texts, _text(told, "error")) if isinstance(text, str) and text),
        failed=event == "PostToolUseFailure" or of.get("result_type") not in (None, "success"),
        exit=exit if isinstance(exit, int) and not isinstance(exit, bool) else None,
    )


def placed(data: bytes, folder: PurePath) -> bytes:
    """Return a host's JSON with `folder` as its folder and an absolute path of its transcript."""
    told: dict[str, Any] = orjson.loads(data)
    for key in ("transcript_path", "agent_transcript_path"):
        if transcript := _text(told, key):
            told[key] = str(folder / transcript)
    return orjson.dumps(told | {"cwd": str(folder)})


def note_of(memories: int, tokens: int) -> str:
    """Return the person's note about the memories given to an agent; empty for none."""
    return f"memory: {memories:,} given, {tokens:,} tokens" if memories else ""


def answer(event: str, context: str, note: str = "", *, flat: bool = False) -> bytes:
    """Return a host's own form of an added context, and of a note that the host shows to the person.

    The form has only these keys, since one host drops all others. `docs/agents.md` says how each host shows a
    note; a `flat` form has none.
    """
    if flat:
        return orjson.dumps({"additionalContext": context})
    told: dict[str, Any] = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
    return orjson.dumps(told | ({"systemMessage": note} if note else {}))


def _text(told: dict[str, Any], key: str) -> str:
    value = told.get(key)
    return value if isinstance(value, str) else ""
