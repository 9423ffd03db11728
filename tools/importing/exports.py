"""Items of JSON exports of ChatGPT, Claude.ai and mem0, told apart by their shape.

The names of files and keys differ from year to year. A conversation of ChatGPT is a tree of messages, of which the
branch that ends at `current_node` counts. An export of Claude.ai has conversations, its memory of the user, and the
documents of projects. mem0 answers `{"results": [{"id", "memory", …}]}`, or a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from memtape.tools.capture.injected import clean, said
from memtape.tools.capture.lines import MediaLine
from memtape.tools.capture.native_ids import CHATGPT, CLAUDE_AI, GEMINI, MEM0, Role, versioned
from memtape.tools.importing import gemini, records
from memtape.tools.importing.records import Found, Record, State, Take, blocks_text, text_of, time_of, turn

OTHER = records.Skipped("an item of no known shape")
_CYCLE = records.Skipped("a conversation that runs in a circle", problem=True)
_OFF_BRANCH = records.Skipped("on a branch that was left")
_CHATGPT_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_CHATGPT_OTHERS = {"tool": records.TOOL, "system": records.BOOKKEEPING}
_CHATGPT_THOUGHTS = frozenset({"thoughts", "reasoning_recap"})
_CHATGPT_TEXTS = frozenset({"text", "multimodal_text"})
MAX_MEDIA = 64
_CLAUDE_ROLES: dict[str, Role] = {"human": "user", "assistant": "assistant"}
_CLAUDE_BLOCKS = {
    "thinking": records.THINKING,
    "redacted_thinking": records.THINKING,
    "tool_use": records.CALL,
    "tool_result": records.TOOL,
}


def source_of(item: Any) -> str | None:
    """Return the source of an item, None for an unknown shape."""
    return next((name for name, (fits, _) in SHAPES.items() if isinstance(item, dict) and fits(item)), None)


def take(item: Any, state: State) -> Iterator[Found]:
    """Yield the records of a document's item (`reading.items`)."""
    source = source_of(item)
    yield from [OTHER] if source is None else SHAPES[source][1](item, state)


def _of_chatgpt(conversation: dict[str, Any], _: State) -> Iterator[Found]:
    """Yield the turns of a conversation, oldest first."""
    mapping = conversation.get("mapping")
    if not isinstance(mapping, dict):
        yield records.NO_MESSAGES
        return
    branch, whole = _branch(mapping, conversation.get("current_node"))
    if not whole:
        yield _CYCLE
    if mapping and not branch:
        yield records.NO_MESSAGES
    session = text_of(conversation, "conversation_id", "id")
    for node in branch:
        message = mapping[node].get("message")
        if isinstance(message, dict):
            yield _chatgpt_message(message, node, session, conversation.get("create_time"))
    on_branch = dict.fromkeys(branch)
    for node, value in mapping.items():
        if node not in on_branch and isinstance(value, dict) and isinstance(value.get("message"), dict):
            yield _OFF_BRANCH


def _branch(mapping: dict[str, Any], current: Any) -> tuple[list[str], bool]:
    """Return the nodes from the root to the current one, and whether the walk came to a root."""
    node = current if isinstance(current, str) and isinstance(mapping.get(current), dict) else _newest_leaf(mapping)
    walked: dict[str, None] = {}
    while isinstance(node, str) and isinstance(mapping.get(node), dict):
        if node in walked:
            return list(walked)[::-1], False
        walked[node] = None
        node = mapping[node].get("parent")
    return list(walked)[::-1], True


def _newest_leaf(mapping: dict[str, Any]) -> str | None:
    """Return the leaf with the latest message, for exports that name no current node."""
    leaves = [node for node, value in mapping.items() if isinstance(value, dict) and not value.get("children")]
    if not leaves:
        leaves = [node for node, value in mapping.items() if isinstance(value, dict)]

    def moment(node: str) -> int:
        message = mapping[node].get("message")
        return (time_of(message.get("create_time")) if isinstance(message, dict) else None) or 0

    return max(leaves, key=moment, default=None)


def _chatgpt_message(message: dict[str, Any], node: str, session: str | None, begun: Any) -> Found:
    author = message.get("author")
    role = text_of(author, "role") or ""
    metadata, content = message.get("metadata"), message.get("content")
    type = text_of(content, "content_type") or ""
    if role not in _CHATGPT_ROLES:
        return _CHATGPT_OTHERS.get(role) or records.unknown(f"role {role or None}")
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return records.INJECTED
    if type in _CHATGPT_THOUGHTS:
        return records.THINKING
    if message.get("recipient") not in (None, "all"):
        return records.CALL
    if type not in _CHATGPT_TEXTS:
        return records.Skipped(f"content of type {clean(type)[:40]!r}")
    text, media = _chatgpt_parts(content)
    at = time_of(message.get("create_time")) or time_of(begun)
    native = text_of(message, "id") or node
    return turn(CHATGPT, _CHATGPT_ROLES[role], text, native_id=native, at=at, session=session, media=media)


def _chatgpt_parts(content: Any) -> tuple[str, tuple[MediaLine, ...]]:
    """Return text and pictures. A part is a text, a picture, or an object with a text, as of speech."""
    texts, media = [], []
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif pointer := text_of(part, "asset_pointer"):
            is_audio = "audio" in str(part.get("content_type"))
            media.append(MediaLine(kind="audio" if is_audio else "image", uri=clean(pointer)))
        elif text := text_of(part, "text"):
            texts.append(text)
    return "\n\n".join(text for text in texts if text.strip()), tuple(media[:MAX_MEDIA])


def _of_claude_ai(item: dict[str, Any], _: State) -> Iterator[Found]:
    """Yield the records of an export's item."""
    messages = item.get("chat_messages")
    if isinstance(messages, list):
        for message in messages:
            if isinstance(message, dict):
                yield from _claude_message(message, item)
            else:
                yield records.unknown(type(message).__name__)
    elif messages is not None:
        yield records.NO_MESSAGES
    if text := text_of(item, "conversations_memory"):
        yield _claude_memory("conversations", text, item)
    memories = item.get("project_memories")
    for project, text in memories.items() if isinstance(memories, dict) else ():
        yield _claude_memory(f"project {project}", text, item) if isinstance(text, str) else records.EMPTY
    docs = item.get("docs")
    for doc in docs if isinstance(docs, list) else ():
        yield _claude_document(doc, item)


def _claude_message(message: dict[str, Any], conversation: dict[str, Any]) -> Iterator[Found]:
    uuid, sender = text_of(message, "uuid"), str(message.get("sender"))
    if sender not in _CLAUDE_ROLES or uuid is None:
        yield records.unknown(f"sender {sender}") if sender not in _CLAUDE_ROLES else records.NO_ID
        return
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in _CLAUDE_BLOCKS:
            yield _CLAUDE_BLOCKS[block["type"]]
    # `text` may be empty where the blocks are not, and the other way round.
    text = blocks_text(content, "text") if isinstance(content, list) else ""
    text = text if text.strip() else text_of(message, "text") or ""
    fields: dict[str, Any] = {
        "at": time_of(message.get("created_at")) or time_of(conversation.get("created_at")),
        "session": text_of(conversation, "uuid"),
    }
    if text or not content:
        yield turn(CLAUDE_AI, _CLAUDE_ROLES[sender], text, native_id=uuid, **fields)
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


def _claude_memory(name: str, text: str, item: dict[str, Any]) -> Found:
    told = said(text)
    if not told:
        return records.EMPTY
    native = versioned(f"memory of {clean(name)}:{text_of(item, 'account_uuid') or ''}", told)
    at = time_of(item.get("updated_at"))
    return Record(
        source=CLAUDE_AI, native_id=native, kind="document", origin="model", actor=CLAUDE_AI, text=told, at=at,
        tags=("memory",),
    )  # fmt: skip


def _claude_document(doc: Any, project: dict[str, Any]) -> Found:
    told = said(text_of(doc, "content") or "")
    if not told:
        return records.EMPTY
    path = clean(text_of(doc, "filename") or "document")
    native = versioned(f"{text_of(project, 'uuid') or ''}/{path[:4_096]}", told)
    at = time_of(doc.get("created_at"))
    return Record(source=CLAUDE_AI, native_id=native, kind="document", origin="user", text=told, path=path, at=at)


def _memories(item: dict[str, Any]) -> list[Any]:
    """Return the memories in an answer of mem0, or the item, if it is a memory."""
    held = item.get("results", [item])
    return held if isinstance(held, list) and any(text_of(one, "memory") for one in held) else []


def _of_mem0(item: dict[str, Any], _: State) -> Iterator[Found]:
    """Yield the facts of memories. A memory changed by mem0 since then becomes another fact."""
    for one in _memories(item):
        yield _mem0_fact(one, text_of(one, "memory"), text_of(one, "id"))


def _mem0_fact(memory: Any, text: str | None, id: str | None) -> Found:
    if text is None:
        return OTHER
    if not (told := said(text)):
        return records.INJECTED
    if id is None:
        return records.Skipped("a memory without an id", problem=True)
    metadata = memory.get("metadata")
    category = metadata.get("category") if isinstance(metadata, dict) else None
    categories = memory.get("categories") if isinstance(memory.get("categories"), list) else [category]
    return Record(
        source=MEM0,
        native_id=versioned(id, told),
        kind="fact",
        origin="model",
        actor=clean(text_of(memory, "agent_id") or MEM0),
        text=told,
        at=time_of(memory.get("updated_at")) or time_of(memory.get("created_at")),
        session=text_of(memory, "run_id"),
        tags=tuple(clean(tag) for tag in categories or () if isinstance(tag, str) and tag.strip())[:64],
    )


_OF_CLAUDE_AI = frozenset(("chat_messages", "conversations_memory", "project_memories", "docs"))
SHAPES: dict[str, tuple[Callable[[dict[str, Any]], object], Take]] = {
    CHATGPT: (lambda item: "mapping" in item, _of_chatgpt),
    CLAUDE_AI: (lambda item: not _OF_CLAUDE_AI.isdisjoint(item), _of_claude_ai),
    GEMINI: (lambda item: "projectHash" in item and "messages" in item, gemini.take),
    MEM0: (_memories, _of_mem0),
}
"""Whether an item is of a source, and the parser of its items."""
