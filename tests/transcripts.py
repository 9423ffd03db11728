"""Small files in every format that is imported, made from what is known of the formats; for tests alone.

`data/transcripts` has a file of rows for each format, with everything in it that must not be taken.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import msgspec

DATA = Path(__file__).parent / "data" / "transcripts"
SESSION = "7f3a2b10-0000-4000-8000-000000000001"
SAID = msgspec.toml.decode((DATA / "said.toml").read_bytes(), type=dict[str, list[tuple[str, str]]])
"""What is to be taken of each file of rows: origin and text, in order."""
CLAUDE_SAID, CODEX_SAID, GEMINI_SAID = SAID["claude"], SAID["codex"], SAID["gemini"]
CHATGPT_SAID, CLAUDE_AI_SAID = SAID["chatgpt"], SAID["claude-ai"]


def at(second: int) -> str:
    """Return a moment as transcripts write it."""
    return f"2026-01-02T03:{second // 60:02}:{second % 60:02}.500Z"


def lines(rows: list[Any]) -> bytes:
    """Return rows as a file of JSON lines; a row that is bytes stands as it is."""
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


def rows_of(name: str, cwd: Path | str = "", session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of a file, of a session in a folder."""
    text = (DATA / f"{name}.jsonl").read_text().replace("@CWD@", json.dumps(str(cwd))[1:-1])
    return [json.loads(line) for line in text.replace("@SESSION@", session).splitlines()]


def claude(cwd: Path | str, session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of a session of Claude Code."""
    return rows_of("claude", cwd, session)


def codex(cwd: Path | str, session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of a new rollout of Codex."""
    return rows_of("codex", cwd, session)


def codex_old(cwd: Path | str, session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of an old rollout, in which messages come twice."""
    return rows_of("codex-old", cwd, session)


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
    return rows_of("claude-ai")


def mem0() -> dict[str, Any]:
    """Return what mem0's `get_all` answers."""
    return rows_of("mem0")[0]


CLAUDE_AI_MEMORIES = [{"conversations_memory": "Ada likes tides.", "project_memories": {"x": "Uses tabs."}}]
OBSIDIAN = """---
tags: [project, "#area/sea"]
aliases: [Tides]
created: 2026-01-02
---
# Tide alerts
See [[Harbour#Depth|the harbour]] and ![[map.png]]. #todo/soon `#not-a-tag`
"""
MEMORY_INDEX = """# Memory

[Rules](rules.md)

- [Ports](ports.md): which port is which
- Deploy on Tuesdays.
- Use tabs,
  not spaces.
"""
MEMORY_TOPIC = """---
name: ports
description: which port is which
metadata:
  type: project
---
Staging listens on 5433.
"""


def zipped(files: dict[str, bytes]) -> bytes:
    """Return a zip archive."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target.getvalue()
