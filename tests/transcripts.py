"""Small files in every format that is imported, made from what is known of the formats; for tests alone.

Their rows stand in `data/transcripts`; `@SESSION@`, `@CWD@` and `@LONG@` there differ from test to test.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from tables import DATA, table

SESSION = "7f3a2b10-0000-4000-8000-000000000001"
SAID = table("transcripts/said")
CLAUDE_SAID, CODEX_SAID, GEMINI_SAID, CHATGPT_SAID, CLAUDE_AI_SAID = (
    list(map(tuple, SAID[name])) for name in ("claude", "codex", "gemini", "chatgpt", "claude_ai")
)
"""What is to be taken of each file: origin and text, in order."""
OBSIDIAN, MEMORY_INDEX, MEMORY_TOPIC = (SAID[name] for name in ("obsidian", "memory_index", "memory_topic"))
CLAUDE_AI_MEMORIES = [{"conversations_memory": "Ada likes tides.", "project_memories": {"x": "Uses tabs."}}]


def at(second: int) -> str:
    """Return a moment as transcripts write it."""
    return f"2026-01-02T03:{second // 60:02}:{second % 60:02}.500Z"


def lines(rows: list[Any]) -> bytes:
    """Return rows as a file of JSON lines; a row that is bytes stands as it is."""
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


def rows_of(name: str, cwd: Path | str = "", session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of a file of `data/transcripts`, of a session in a folder."""
    text = (DATA / "transcripts" / f"{name}.jsonl").read_text()
    for sign, value in (("@CWD@", str(cwd)), ("@SESSION@", session), ("@LONG@", "x" * 5_000)):
        text = text.replace(sign, json.dumps(value)[1:-1])
    return [json.loads(line) for line in text.splitlines()]


def claude(cwd: Path | str, session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of a session of Claude Code with everything in it that must not be taken."""
    return rows_of("claude", cwd, session)


def codex(cwd: Path | str, session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of a new rollout of Codex."""
    return rows_of("codex", cwd, session)


def codex_old(cwd: Path | str, session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of an old rollout, in which messages come twice."""
    return rows_of("codex_old", cwd, session)


def gemini(session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of a session of Gemini, with a row that changes and one that is taken back."""
    return rows_of("gemini", session=session)


def gemini_row(id: str, type: str, content: Any, second: int, **more: Any) -> dict[str, Any]:
    """Return a row of Gemini."""
    return {"id": id, "timestamp": at(second), "type": type, "content": content, **more}


def chatgpt() -> list[dict[str, Any]]:
    """Return the conversations of an export: an ordinary one, one without a current node, one in a circle."""
    return rows_of("chatgpt")


def claude_ai() -> list[dict[str, Any]]:
    """Return the conversations of an export of Claude.ai."""
    return rows_of("claude_ai")


def mem0() -> dict[str, Any]:
    """Return what mem0's `get_all` answers."""
    return {"results": rows_of("mem0")}


def zipped(files: dict[str, bytes]) -> bytes:
    """Return a zip archive."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target.getvalue()
