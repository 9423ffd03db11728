"""Small files in every format that is imported, made here from what is known of the formats; for tests alone."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

SESSION = "7f3a2b10-0000-4000-8000-000000000001"


def at(second: int) -> str:
    """Return a moment as transcripts write it."""
    return f"2026-01-02T03:{second // 60:02}:{second % 60:02}.500Z"


def lines(rows: list[Any]) -> bytes:
    """Return rows as a file of JSON lines; a row that is bytes stands as it is."""
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


def claude(cwd: Path | str, session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of a session of Claude Code with everything in it that must not be taken."""

    def row(type: str, uuid: str, content: Any, second: int, **more: Any) -> dict[str, Any]:
        return {
            "type": type, "uuid": uuid, "parentUuid": None, "sessionId": session, "timestamp": at(second),
            "cwd": str(cwd), "gitBranch": "main", "version": "2.1.329", "isSidechain": False,
            "message": {"role": type, "content": content}, **more,
        }  # fmt: skip

    def queued(uuid: str, attached: dict[str, Any]) -> dict[str, Any]:
        said = {"attachment": {"type": "queued_command", **attached}}
        return {**row("attachment", uuid, None, 17), **said}

    def text(said: str) -> list[dict[str, str]]:
        return [{"type": "text", "text": said}]

    def call(id: str, name: str, **arguments: str) -> list[dict[str, Any]]:
        return [{"type": "tool_use", "id": id, "name": name, "input": arguments}]

    def result(id: str, said: Any) -> list[dict[str, Any]]:
        return [{"type": "tool_result", "tool_use_id": id, "content": said}]

    return [
        {"type": "permission-mode", "permissionMode": "default", "sessionId": session},
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        row("user", "u1", "Which port does staging use?", 1, promptSource="typed", promptId="p1"),
        {"type": "attachment", "uuid": "x1", "sessionId": session, "attachment": {"type": "hook_additional_context"}},
        row("assistant", "a1", [{"type": "thinking", "thinking": "SECRET-THOUGHT"}], 2),
        row("assistant", "a2", text("I look it up."), 3),
        row("assistant", "a3", call("t1", "Bash", command="cat ports"), 4),
        row("user", "r1", result("t1", [{"type": "text", "text": "staging 5433\n" + "x" * 5_000}]), 5, promptId="p1"),
        row("assistant", "a4", call("t2", "mcp__memtape__search_memories", query="port"), 6),
        row("user", "r2", result("t2", "INJECTED from a memory tool"), 7),
        row("assistant", "a5", call("t3", "Bash", command="memtape search port"), 7),
        row("user", "r3", result("t3", "INJECTED from a memory on a shell"), 7),
        row("assistant", "a6", text("Staging uses 5433."), 8),
        row("user", "m1", "INJECTED caveat", 9, isMeta=True),
        row("user", "m2", "<command-name>/clear</command-name>\n<command-args>INJECTED</command-args>", 9),
        row("user", "m3", "<local-command-stdout>INJECTED</local-command-stdout>", 9),
        row("user", "u2", "<system-reminder>INJECTED</system-reminder>\nThanks, use it.", 10, promptSource="typed"),
        row("user", "u3", "<memtape>\nINJECTED fact\n</memtape>", 11),
        row("assistant", "e1", text("INJECTED API Error: 529"), 12, isApiErrorMessage=True),
        {"type": "system", "subtype": "compact_boundary", "uuid": "s1", "parentUuid": None, "sessionId": session},
        row("user", "c1", "INJECTED summary of what was said", 13, isCompactSummary=True),
        row("user", "u4", "[Request interrupted by user]", 14),
        row("user", "k1", "Count the ports.", 15, isSidechain=True, agentId="ab1"),
        row("assistant", "k2", text("There are three."), 16, isSidechain=True, agentId="ab1"),
        queued("q1", {"prompt": "And port 5434?", "commandMode": "prompt", "origin": {"kind": "human"}}),
        queued("q2", {"prompt": "INJECTED by a peer", "commandMode": "prompt", "origin": {"kind": "peer"}}),
        queued("q3", {"prompt": "INJECTED", "commandMode": "task-notification"}),
        row("user", "u5", "INJECTED by a task", 18, origin={"kind": "task-notification"}),
        {"type": "hologram", "sessionId": session},
    ]


CLAUDE_SAID = [
    ("user", "Which port does staging use?"),
    ("agent", "I look it up."),
    ("tool", "ran `cat ports`: staging 5433"),
    ("agent", "Staging uses 5433."),
    ("user", "Thanks, use it."),
    ("agent", "Count the ports."),
    ("agent", "There are three."),
    ("user", "And port 5434?"),
]
"""What is to be taken of `claude`: origin and text, in order."""


LOOK = json.dumps({"command": ["bash", "-lc", "ls -d /var/log/*"]})


def codex(cwd: Path | str, session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of a new rollout of Codex."""
    payloads: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": session, "cwd": str(cwd), "cli_version": "0.169.0", "git": {"branch": "main"}}),
        ("response_item", message("developer", "input_text", "INJECTED hook context")),
        ("response_item", message("user", "input_text", "INJECTED <x>", **kinds("environments.environment_context"))),
        ("turn_context", {"cwd": str(cwd), "turn_id": "1"}),
        ("response_item", message("user", "input_text", "Where are the logs?", **kinds("user.text"))),
        ("event_msg", {"type": "item_completed", "item": {"type": "UserMessage", "text": "Where are the logs?"}}),
        ("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "SECRET-THOUGHT"}),
        ("response_item", {"type": "function_call", "name": "shell", "arguments": LOOK, "call_id": "c1"}),
        ("response_item", {"type": "function_call_output", "call_id": "c1", "output": "/var/log/app"}),
        (
            "response_item",
            {"type": "function_call", "namespace": "mcp__memory", "name": "search_nodes", "call_id": "c2"},
        ),
        ("response_item", {"type": "function_call_output", "call_id": "c2", "output": "INJECTED nodes"}),
        ("event_msg", {"type": "token_count", "info": None}),
        ("response_item", message("assistant", "output_text", "In /var/log/app.")),
        ("world_state", {}),
        ("compacted", {"message": "INJECTED summary", "replacement_history": []}),
        ("hologram", {}),
    ]
    return [
        {"timestamp": at(number), "ordinal": number, "type": type, "payload": payload}
        for number, (type, payload) in enumerate(payloads)
    ]


def codex_old(cwd: Path | str, session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of an old rollout, in which messages come twice."""
    payloads: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": session, "cwd": str(cwd), "instructions": None}),
        ("response_item", message("user", "input_text", "<user_instructions>INJECTED</user_instructions>")),
        ("response_item", message("user", "input_text", "<environment_context>INJECTED</environment_context>")),
        ("response_item", message("user", "input_text", "# AGENTS.md instructions for /x\n\nINJECTED")),
        ("response_item", message("user", "input_text", "Where are the logs?")),
        ("event_msg", {"type": "user_message", "message": "Where are the logs?", "kind": "plain"}),
        ("event_msg", {"type": "agent_reasoning", "text": "SECRET-THOUGHT"}),
        ("response_item", {"type": "function_call", "name": "shell", "arguments": LOOK, "call_id": "c1"}),
        ("response_item", {
            "type": "function_call_output", "call_id": "c1",
            "output": json.dumps({"output": "/var/log/app", "metadata": {"exit_code": 0}}),
        }),
        ("event_msg", {"type": "agent_message", "message": "In /var/log/app."}),
        ("response_item", message("assistant", "output_text", "In /var/log/app.")),
    ]  # fmt: skip
    return [
        {"timestamp": at(number), "type": type, "payload": payload} for number, (type, payload) in enumerate(payloads)
    ]


CODEX_SAID = [
    ("user", "Where are the logs?"),
    ("tool", "ran `ls -d /var/log/*`: /var/log/app"),
    ("agent", "In /var/log/app."),
]


def message(role: str, type: str, said: str, **more: Any) -> dict[str, Any]:
    """Return a message of Codex."""
    return {"type": "message", "role": role, "content": [{"type": type, "text": said}], **more}


def kinds(*names: str) -> dict[str, Any]:
    """Return where a message of Codex tells what its content is."""
    return {"internal_chat_message_metadata_passthrough": {"turn_id": "1", "content_item_kinds": list(names)}}


def gemini(session: str = SESSION) -> list[dict[str, Any]]:
    """Return the rows of a session of Gemini, with a row that changes and one that is taken back."""
    result = [{"functionResponse": {"id": "f1", "name": "run_shell_command", "response": {"output": "map.txt"}}}]
    call = {"id": "f1", "name": "run_shell_command", "args": {"command": "ls"}, "result": result, "status": "success"}
    return [
        {"sessionId": session, "projectHash": "ab", "startTime": at(0), "kind": "main"},
        gemini_row("i0", "user", [{"text": "<session_context>INJECTED</session_context>"}], 1),
        gemini_row("i1", "user", [{"text": "List the files."}], 2),
        gemini_row("i2", "gemini", "I", 3),
        {"$set": {"summary": "x"}},
        gemini_row("i3", "info", "Update available", 3),
        gemini_row("i2", "gemini", "I list them.", 4, toolCalls=[call], thoughts=[{"subject": "SECRET-THOUGHT"}]),
        gemini_row("i4", "user", "WRONG question", 5),
        gemini_row("i5", "gemini", "WRONG answer", 6),
        {"$rewindTo": "i4"},
        gemini_row(
            "i6",
            "user",
            "<hook_context>INJECTED</hook_context>And the map? INJECTED",
            7,
            displayContent=[{"text": "And the map?"}],
        ),
        gemini_row("i7", "gemini", [{"text": "It is map.txt."}], 8),
        gemini_row("i8", "hologram", "?", 9),
    ]


def gemini_row(id: str, type: str, content: Any, second: int, **more: Any) -> dict[str, Any]:
    """Return a row of Gemini."""
    return {"id": id, "timestamp": at(second), "type": type, "content": content, **more}


GEMINI_SAID = [
    ("user", "List the files."),
    ("agent", "I list them."),
    ("tool", "ran `ls`: map.txt"),
    ("user", "And the map?"),
    ("agent", "It is map.txt."),
]


def chatgpt() -> list[dict[str, Any]]:
    """Return the conversations of an export: an ordinary one, one without a current node, and one in a circle."""

    def node(id: str, parent: str | None, role: str, parts: list[Any], second: int, **more: Any) -> dict[str, Any]:
        type = more.pop("content_type", "text")
        said = {"id": id, "author": {"role": role}, "create_time": 1_767_323_000.5 + second, "recipient": "all"}
        return {"id": id, "parent": parent, "children": [], "message": {
            **said, "content": {"content_type": type, "parts": parts}, "metadata": {}, **more}}  # fmt: skip

    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f1"}
    nodes = [
        {"id": "root", "parent": None, "children": ["g0"], "message": None},
        node("g0", "root", "system", [""], 0, metadata={"is_visually_hidden_from_conversation": True}),
        node("g1", "g0", "user", ["Draw a harbour.", picture], 1, content_type="multimodal_text"),
        node("g1b", "g0", "user", ["OFF the branch"], 2),
        node("g2", "g1", "assistant", ["search()"], 3, recipient="browser", content_type="code"),
        node("g3", "g2", "tool", ["TOOL"], 4),
        node("g4", "g3", "assistant", ["SECRET-THOUGHT"], 5, content_type="thoughts"),
        node("g5", "g4", "assistant", ["Here it is."], 6),
        node("g6", "g5", "user", ["INJECTED"], 7, metadata={"is_visually_hidden_from_conversation": True}),
    ]
    nodes[2]["children"] = ["g2"]
    circle = [node("h1", "h2", "user", ["Round"], 1), node("h2", "h1", "assistant", ["and round."], 2)]
    return [
        {"title": "Harbour", "create_time": 1_767_323_000.0, "id": "gpt-1", "moderation_results": [],
         "mapping": {entry["id"]: entry for entry in nodes}, "current_node": "g6"},
        {"mapping": {entry["id"]: entry for entry in [nodes[0], node("j1", "root", "user", ["Alone."], 9)]}},
        {"id": "gpt-3", "mapping": {entry["id"]: entry for entry in circle}, "current_node": "h1"},
        {"id": "gpt-4", "mapping": None},
    ]  # fmt: skip


CHATGPT_SAID = [
    ("user", "Draw a harbour."),
    ("agent", "Here it is."),
    ("user", "Alone."),
    ("agent", "and round."),
    ("user", "Round"),
]


def claude_ai() -> list[dict[str, Any]]:
    """Return the conversations of an export of Claude.ai."""
    read = [{"type": "text", "text": "Read this."}]
    files = [{"file_name": "a.txt", "extracted_content": "tide tables"}]
    first = {"uuid": "m1", "sender": "human", "content": read, "text": "", "created_at": at(1), "attachments": files}
    blocks = [{"type": "thinking", "thinking": "SECRET-THOUGHT"}, {"type": "text", "text": "I have read it."}]
    second = {"uuid": "m2", "sender": "assistant", "text": "", "content": blocks, "created_at": at(2)}
    third = {"uuid": "m3", "sender": "human", "text": "Good.", "content": [], "created_at": at(3), "attachments": []}
    return [{"uuid": "v1", "name": "Tides", "created_at": at(0), "chat_messages": [first, second, third]}]


CLAUDE_AI_SAID = [("user", "Read this."), ("tool", "tide tables"), ("agent", "I have read it."), ("user", "Good.")]
CLAUDE_AI_MEMORIES = [{"conversations_memory": "Ada likes tides.", "project_memories": {"x": "Uses tabs."}}]


def mem0() -> dict[str, Any]:
    """Return what mem0's `get_all` answers."""
    return {"results": [
        {"id": "f1", "memory": "Ada is allergic to nuts.", "hash": "x", "created_at": "2026-01-02T03:04:05-08:00",
         "updated_at": None, "user_id": "ada", "metadata": {"category": "health"}},
        {"id": "f2", "memory": "Ada lives in Oslo.", "created_at": at(1), "updated_at": at(2)},
        {"memory": "without an id"},
    ]}  # fmt: skip


OBSIDIAN = """---
tags: [project, "#area/sea"]
aliases: [Tides]
created: 2026-01-02
---
# Tide alerts
See [[Harbour#Depth|the harbour]] and ![[map.png]]. #todo/soon `#not-a-tag`
"""
MEMORY_INDEX = (
    "# Memory\n\n- [Ports](ports.md): which port is which\n- Deploy on Tuesdays.\n- Use tabs,\n  not spaces.\n"
)
MEMORY_TOPIC = (
    "---\nname: ports\ndescription: which port is which\nmetadata:\n  type: project\n---\nStaging listens on 5433.\n"
)


def zipped(files: dict[str, bytes]) -> bytes:
    """Return a zip archive."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target.getvalue()
