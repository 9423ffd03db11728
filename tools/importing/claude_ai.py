"""Exports of Claude.ai: conversations, its memory of the user, and the documents of projects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memtape.tools.capture.injected import clean, said
from memtape.tools.capture.native_ids import CLAUDE_AI, Role, versioned
from memtape.tools.importing import skips
from memtape.tools.importing.records import Found, Record, blocks_text, text_of, time_of, turn

_ROLES: dict[str, Role] = {"human": "user", "assistant": "assistant"}
_BLOCKS = {
    "thinking": skips.THINKING,
    "redacted_thinking": skips.THINKING,
    "tool_use": skips.CALL,
    "tool_result": skips.TOOL,
}


def fits(item: Any) -> bool:
    """Whether an item of an export is a conversation, memories or a project of Claude.ai."""
    return isinstance(item, dict) and not item.keys().isdisjoint(
        ("chat_messages", "conversations_memory", "project_memories", "docs")
    )


def take(item: dict[str, Any]) -> Iterator[Found]:
    """Yield the records of an export's item."""
    messages = item.get("chat_messages")
    if isinstance(messages, list):
        for message in messages:
            yield from _message(message, item) if isinstance(message, dict) else [skips.unknown(type(message).__name__)]
    elif messages is not None:
        yield skips.NO_MESSAGES
    if text := text_of(item, "conversations_memory"):
        yield _memory("conversations", text, item)
    memories = item.get("project_memories")
    for project, text in memories.items() if isinstance(memories, dict) else ():
        yield _memory(f"project {project}", text, item) if isinstance(text, str) else skips.EMPTY
    docs = item.get("docs")
    for doc in docs if isinstance(docs, list) else ():
        yield _document(doc, item)


def _message(message: dict[str, Any], conversation: dict[str, Any]) -> Iterator[Found]:
    uuid, sender = text_of(message, "uuid"), str(message.get("sender"))
    if sender not in _ROLES or uuid is None:
        yield skips.unknown(f"sender {sender}") if sender not in _ROLES else skips.NO_ID
        return
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in _BLOCKS:
            yield _BLOCKS[block["type"]]
    # `text` may be empty where the blocks are not, and the other way round.
    text = blocks_text(content, "text") if isinstance(content, list) else ""
    text = text if text.strip() else text_of(message, "text") or ""
    fields: dict[str, Any] = {
        "at": time_of(message.get("created_at")) or time_of(conversation.get("created_at")),
        "session": text_of(conversation, "uuid"),
    }
    if text or not content:
        yield turn(CLAUDE_AI, _ROLES[sender], text, native_id=uuid, **fields)
    attachments = message.get("attachments")
    for index, attachment in enumerate(attachments if isinstance(attachments, list) else ()):
        extracted = said(text_of(attachment, "extracted_content") or "")
        if extracted:
            path = text_of(attachment, "file_name")
            native = f"{uuid}:attachment:{index}"
            yield Record(
                source=CLAUDE_AI, native_id=native, origin="tool", actor="attachment", text=extracted, path=path,
                only_head=True, **fields,
            )  # fmt: skip


def _memory(name: str, text: str, item: dict[str, Any]) -> Found:
    told = said(text)
    if not told:
        return skips.EMPTY
    native = versioned(f"memory of {clean(name)}:{text_of(item, 'account_uuid') or ''}", told)
    at = time_of(item.get("updated_at"))
    return Record(
        source=CLAUDE_AI, native_id=native, kind="document", origin="model", actor=CLAUDE_AI, text=told, at=at,
        tags=("memory",),
    )  # fmt: skip


def _document(doc: Any, project: dict[str, Any]) -> Found:
    told = said(text_of(doc, "content") or "")
    if not told:
        return skips.EMPTY
    path = clean(text_of(doc, "filename") or "document")
    native = versioned(f"{text_of(project, 'uuid') or ''}/{path[:4_096]}", told)
    at = time_of(doc.get("created_at"))
    return Record(source=CLAUDE_AI, native_id=native, kind="document", origin="user", text=told, path=path, at=at)
