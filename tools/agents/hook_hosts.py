"""What each host tells its hooks and what it takes from them: names of events and fields, and the form of an answer.

Nothing here acts or reads anything. Sources: the hooks of Claude Code 2.1, Codex 0.169, Gemini CLI 0.61, as they ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

import orjson

Action = Literal["start", "prompt", "answer", "subagent", "flush", "end"]

MAX_CONTEXT_CHARS = 10_000
"""Claude Code and Codex cut what is longer; Codex at 2,500 tokens of 4 bytes."""


CONTEXT_TOKENS = 1_200
"""What a start is given at most."""


class Host(NamedTuple):
    """A host: what its events mean to us, and the fields in which it tells a prompt and an answer."""

    actions: Mapping[str, Action]
    prompt: str
    answer: str


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

HOSTS_OF_HOOKS: dict[str, Host] = {
    "claude": _LIKE_CLAUDE,
    "codex": _LIKE_CLAUDE,
    # Its PreCompress comes before every call of the model, so that it is no boundary of anything.
    "gemini": Host(
        {"SessionStart": "start", "BeforeAgent": "prompt", "AfterAgent": "answer", "SessionEnd": "end"},
        "prompt",
        "prompt_response",
    ),
}


class Told(NamedTuple):
    """What a host told a hook. A field that it did not tell, or told in another form, is empty."""

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
    """That of an agent which the session's own has started and which has just ended, where the host tells it."""
    resumed: bool
    """Whether a start goes on with a session that was told one before, and still has it."""


def read(host: str, data: bytes) -> Told | None:
    """Return what a host's JSON says, None for an event that means nothing to us. Raises `ValueError`."""
    if host not in HOSTS_OF_HOOKS:
        raise ValueError("unknown host")
    told = orjson.loads(data)
    if not isinstance(told, dict):
        raise ValueError("not an object")
    event = _text(told, "hook_event_name")
    form = HOSTS_OF_HOOKS[host]
    action = form.actions.get(event)
    if action is None:
        return None
    return Told(
        host=host,
        event=event,
        action=action,
        session=_text(told, "session_id"),
        folder=_text(told, "cwd"),
        transcript=_text(told, "transcript_path"),
        prompt=_text(told, form.prompt),
        answer=_text(told, form.answer),
        prompt_id=_text(told, "prompt_id")[:200],
        agent_transcript=_text(told, "agent_transcript_path"),
        resumed=_text(told, "source") == "resume",
    )


def placed(data: bytes, folder: PurePath) -> bytes:
    """Return a host's JSON with this folder as its own, and the path of its transcript in full."""
    told: dict[str, Any] = orjson.loads(data)
    for key in ("transcript_path", "agent_transcript_path"):
        if transcript := _text(told, key):
            told[key] = str(folder / transcript)
    return orjson.dumps(told | {"cwd": str(folder)})


def note_of(memories: int, tokens: int) -> str:
    """Return what a person is told of what was put before an agent; nothing where that was no memory."""
    return f"memory: {memories:,} given, {tokens:,} tokens" if memories else ""


def answer(event: str, context: str, note: str = "") -> bytes:
    """Return a host's own form of a context to be added, and of a note that the host shows to the person.

    It has these keys and no other, since one host drops all else. All hosts know them; what each shows is in
    `docs/agents.md`.
    """
    told: dict[str, Any] = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
    return orjson.dumps(told | ({"systemMessage": note} if note else {}))


def _text(told: dict[str, Any], key: str) -> str:
    value = told.get(key)
    return value if isinstance(value, str) else ""
