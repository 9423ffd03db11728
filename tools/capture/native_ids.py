"""How a source names what it holds, so that a hook, an import and an import again add a turn once.

An event's id is derived from (scope, source, native id), see `schemas.ids.derived_id`; this file decides
source and native id, for every host and export, and nothing else may. It reads nothing: no files, no log, no
clock.

A turn has one *native id*, which its transcript tells. Some hooks run before the transcript has the turn and
are told its text alone; they use `heard`. So whoever has read a transcript captures a turn only where neither
its native id nor what `heard` says of it stands on the log, and a hook looks into the end of the transcript
(`tools.importing.transcripts.find_turn`):

| host, event | native id |
| --- | --- |
| Claude Code, UserPromptSubmit with `prompt_id` | `claude_prompt(prompt_id)` |
| OpenCode, a prompt or an answer | `opencode_message(id)`: that of the message |
| Copilot and Qwen Code, whose transcripts are not read | `heard(session, role, text)` |
| ChatGPT, Claude.ai, and other rows of Claude Code | the row's own `id` or `uuid`, which a fork keeps |
| a message that a program adds | `in_conversation`: its session, role and words, and how often so far |
| any other host, a prompt or an answer | `of_hook`: that of its row, else `heard(session, role, text)` |

What a session says again is told apart by the row that said it before, if that stands in what a
hook reads of the transcript; else the same words of the same role in one session are one turn of those that
were heard.

The first part of a document adds `#document`; the ids of the others follow from its id
(`schemas.places.part_id`). An imported text that is too long for one event, but no turn, is kept as a
document.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from memtape.schemas.ids import digest_of
from memtape.schemas.private import without_private
from memtape.tools.capture.injected import without_injected

Role = Literal["user", "assistant"]

CLAUDE_CODE = "claude-code"
CODEX = "codex"
GEMINI = "gemini"
COPILOT = "copilot"
OPENCODE = "opencode"
QWEN = "qwen"
CHATGPT = "chatgpt"
CLAUDE_AI = "claude.ai"
MEM0 = "mem0"
MESSAGES = "messages"
CLAUDE_MEMORY = "claude-code-memory"
MARKDOWN = "markdown"
DOCUMENTS = "documents"

DOCUMENT = "#document"
"""The end of the native id of a document's first part."""

SOURCES = (CLAUDE_CODE, CLAUDE_MEMORY, CODEX, GEMINI, CHATGPT, CLAUDE_AI, MEM0, MARKDOWN, DOCUMENTS)
"""The `source` of imported texts, which also names their format."""

HOSTS = {"claude": CLAUDE_CODE, "codex": CODEX, "gemini": GEMINI}
"""The source of a capture by the name of the hook's host, for hosts whose transcripts are read."""

HEARD = {"copilot": COPILOT, "opencode": OPENCODE, "qwen": QWEN}
"""The source of hosts whose transcripts are not read: only the inputs of their hooks are captured."""


def heard(session: str, role: Role, text: str) -> str:
    """Return the native id of a turn known only by session, role and text, as to a hook.

    Injected text does not count, as in the reading of a transcript.
    """
    return f"heard:{session}:{role}:{digest(without_injected(text))}"


def of_hook(heard_as: str, now: str | None, before: str | None, known: Collection[str], retried: bool) -> str:
    """Return the native id of a hook's turn; `heard_as` is its id without a transcript.

    `now` and `before` are the native ids of its row and of the latest earlier row with the same text, None if
    missing. `known` are the ids among all of them on the log; `retried` says whether this hook was tried
    before. Where the earlier row may be the turn's own, it counts as its own until its real row is imported.
    """
    was_heard = heard_as in known
    ours = was_heard and (before is None or retried)
    if ours or (now is None and before is None):
        return heard_as
    if now is not None:
        return now
    assert before is not None
    if was_heard:
        return f"{heard_as}:after:{digest(before)}"
    return before if before in known else heard_as


def claude_prompt(prompt_id: str) -> str:
    """Return the native id of a Claude Code prompt: a hook's `prompt_id` or its row's `promptId`."""
    return f"prompt:{prompt_id}"


def codex_message(session: str, ordinal: int | None, timestamp: str, role: Role, text: str) -> str:
    """Return the native id of a Codex message: session and row `ordinal`, for old rows the content."""
    return f"{session}:{timestamp}:{role}:{digest(text)}" if ordinal is None else f"{session}:{ordinal}"


def in_session(session: str, id: str) -> str:
    """Return the native id of a row of Gemini by its own id."""
    return f"{session}:{id}"


def in_conversation(session: str, role: Role, text: str, times: int) -> str:
    """Return the native id of a message by session, role and text; `times` counts equal ones up to it."""
    return f"{session}:{role}:{digest(text)}:{times}"


def opencode_message(id: str) -> str:
    """Return the native id of an OpenCode message: its id, a hook's `prompt_id`."""
    return f"message:{id}"


def versioned(name: str, text: str) -> str:
    """Return the native id of a text whose source rewrites it in place: its name there, and the text's
    digest.

    The name is a memory's id, or a note's path below the imported folder.
    """
    return f"{name}:{digest(text)}"


def digest(text: str) -> str:
    """Return 32 hex digits, blake2b-128, of a text without its private parts, with normal white space.

    Private text cannot be found by trial.
    """
    words = " ".join(without_private(text).split())
    return digest_of(words.encode("utf-8", "replace"))
