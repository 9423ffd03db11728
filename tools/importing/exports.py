"""Items of JSON exports of ChatGPT, Claude.ai and mem0, told apart by their shape.

The names of files and keys differ from year to year. A conversation of ChatGPT is a tree of messages, of
which the branch that ends at `current_node` counts. An export of Claude.ai has conversations, its memory of
the user, and the documents of projects. mem0 answers `{"results": [{"id", "memory", …}]}`, or a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from memtape.tools.capture.injected import clean, said
from memtape.tools.capture.native_ids import CHATGPT, CLAUDE_AI, GEMINI, MEM0, Role
from memtape.tools.capture.writing import MediaLine
from memtape.tools.importing import records
from memtape.tools.importing.records import Found, Record, blocks_text, list_in, object_in, text_of, time_of
from memtape.tools.importing.transcripts import CLAUDE_BLOCKS, take_gemini

OTHER = records.Skipped("an item of no known shape", named=True)
_CYCLE = records.Skipped("a conversation that runs in a circle", problem=True)
_OFF_BRANCH = records.Skipped("on a branch that was left")
_CHATGPT_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_CHATGPT_OTHERS = {"tool": records.TOOL, "system": records.BOOKKEEPING}
MAX_MEDIA = 64
HEAD_CHARS = 2_000
"""The kept head of an attachment: its subject is there."""
_CLAUDE_ROLES: dict[str, Role] = {"human": "user", "assistant": "assistant"}


def source_of(item: Any) -> str | None:
    """Return the source of an item, None for an unknown shape."""
    return next((name for name, (fits, _) in SHAPES.items() if isinstance(item, dict) and fits(item)), None)


def take(item: Any, state: records.State) -> Iterator[Found]:
    """Yield the records of a document's item (`reading.items`)."""
    source = source_of(item)
    yield from [OTHER] if source is None else SHAPES[source][1](item, state)


def _of_chatgpt(conversation: dict[str, Any], _: records.State) -> Iterator[Found]:
    """Yield the turns of a conversation, oldest first."""
    nodes = {id: node for id, node in object_in(conversation, "mapping").items() if isinstance(node, dict)}
    branch, node = dict[str, None](), conversation.get("current_node")
    if not isinstance(node, str) or node not in nodes:  # Some exports name none: the latest leaf counts.
        leaves = [id for id, node in nodes.items() if not node.get("children")] or nodes
        times = {id: time_of(object_in(nodes[id], "message").get("create_time")) or 0 for id in leaves}
        node = max(leaves, key=times.__getitem__, default=None)
    while isinstance(node, str) and node in nodes and node not in branch:
        branch[node], node = None, nodes[node].get("parent")
    if isinstance(node, str) and node in branch:
        yield _CYCLE
    if not branch and conversation["mapping"] != {}:
        yield records.NO_MESSAGES
    session = text_of(conversation, "conversation_id", "id")
    for id in reversed(branch):
        if message := object_in(nodes[id], "message"):
            yield _chatgpt_message(message, id, session, conversation.get("create_time"))
    for id, it in nodes.items():
        if id not in branch and object_in(it, "message"):
            yield _OFF_BRANCH


def _chatgpt_message(message: dict[str, Any], node: str, session: str | None, begun: Any) -> Found:
    role, content = text_of(message.get("author"), "role") or "", object_in(message, "content")
    type = text_of(content, "content_type") or ""
    if role not in _CHATGPT_ROLES:
        return _CHATGPT_OTHERS.get(role) or records.unknown(f"role {role or None}")
    if object_in(message, "metadata").get("is_visually_hidden_from_conversation"):
        return records.INJECTED
    if type in ("thoughts", "reasoning_recap"):
        return records.THINKING
    if message.get("recipient") not in (None, "all"):
        return records.CALL
    if type not in ("text", "multimodal_text"):
        return records.Skipped(f"content of type {clean(type)[:40]!r}")
    texts, media = list[str](), list[MediaLine]()
    for part in list_in(content, "parts") or [content]:  # Of speech a part has the text.
        if pointer := text_of(part, "asset_pointer"):
            is_audio = "audio" in str(part.get("content_type"))
            media.append(MediaLine(kind="audio" if is_audio else "image", uri=clean(pointer)))
        else:
            texts.append(part if isinstance(part, str) else text_of(part, "text") or "")
    return records.turn(
        CHATGPT, _CHATGPT_ROLES[role], "\n\n".join(text for text in texts if text.strip()),
        native_id=text_of(message, "id") or node, at=time_of(message.get("create_time")) or time_of(begun),
        session=session, media=tuple(media[:MAX_MEDIA]),
    )  # fmt: skip


def _of_claude_ai(item: dict[str, Any], _: records.State) -> Iterator[Found]:
    """Yield the records of an export's item."""
    for message in list_in(item, "chat_messages"):
        yield from _claude_message(message, item)
    if not isinstance(item.get("chat_messages", []), list):
        yield records.NO_MESSAGES
    if text := text_of(item, "conversations_memory"):
        yield _claude_memory("conversations", text, item)
    memories = object_in(item, "project_memories")
    for project in memories:
        yield _claude_memory(f"project {project}", text_of(memories, project) or "", item)
    for doc in list_in(item, "docs"):
        path, text = clean(text_of(doc, "filename") or "document"), text_of(doc, "content") or ""
        about: dict[str, Any] = {"path": path, "at": time_of(doc.get("created_at"))}
        name = f"{text_of(item, 'uuid') or ''}/{path[:4_096]}"
        yield records.rewritten(CLAUDE_AI, name, text, kind="document", origin="user", **about)


def _claude_message(message: Any, conversation: dict[str, Any]) -> Iterator[Found]:
    uuid, sender = text_of(message, "uuid"), str(text_of(message, "sender"))
    content = list_in(message, "content")
    if sender not in _CLAUDE_ROLES or uuid is None:
        yield records.unknown(f"sender {sender}") if sender not in _CLAUDE_ROLES else records.NO_ID
        return
    for block in content:
        if (skipped := CLAUDE_BLOCKS.get(text_of(block, "type") or "")) is not None:
            yield skipped
    # `text` may be empty where the blocks are not, and the other way round.
    text = blocks_text(content, "text")
    text = text if text.strip() else text_of(message, "text") or ""
    fields: dict[str, Any] = {
        "at": time_of(message.get("created_at")) or time_of(conversation.get("created_at")),
        "session": text_of(conversation, "uuid"),
    }
    if text or not content:
        yield records.turn(CLAUDE_AI, _CLAUDE_ROLES[sender], text, native_id=uuid, **fields)
    for index, attachment in enumerate(list_in(message, "attachments")):
        if extracted := said(text_of(attachment, "extracted_content") or ""):
            yield Record(
                source=CLAUDE_AI, native_id=f"{uuid}:attachment:{index}", origin="tool", actor="attachment",
                text=extracted, path=text_of(attachment, "file_name"), most_chars=HEAD_CHARS, **fields,
            )  # fmt: skip


def _claude_memory(name: str, text: str, item: dict[str, Any]) -> Found:
    name = f"memory of {clean(name)}:{text_of(item, 'account_uuid') or ''}"
    about: dict[str, Any] = {"kind": "document", "origin": "model", "actor": CLAUDE_AI, "tags": ("memory",)}
    return records.rewritten(CLAUDE_AI, name, text, at=time_of(item.get("updated_at")), **about)


def _memories(item: dict[str, Any]) -> list[Any]:
    """Return the memories in an answer of mem0, or the item, if it is a memory."""
    held = item.get("results", [item])
    return held if isinstance(held, list) and any(text_of(one, "memory") for one in held) else []


def _mem0_fact(memory: Any) -> Found:
    """Return the fact of a memory. A memory changed by mem0 since then becomes another fact."""
    text, id = text_of(memory, "memory"), text_of(memory, "id")
    if text is None:
        return OTHER
    if id is None and said(text):
        return records.Skipped("a memory without an id", problem=True)
    categories = list_in(memory, "categories") or [object_in(memory, "metadata").get("category")]
    return records.rewritten(
        MEM0, id or "", text, kind="fact", origin="model",
        actor=clean(text_of(memory, "agent_id") or MEM0),
        at=time_of(memory.get("updated_at")) or time_of(memory.get("created_at")),
        session=text_of(memory, "run_id"),
        tags=tuple(clean(tag) for tag in categories if isinstance(tag, str) and tag.strip())[:64],
    )  # fmt: skip


_OF_CLAUDE_AI = frozenset(("chat_messages", "conversations_memory", "project_memories", "docs"))
SHAPES: dict[str, tuple[Callable[[dict[str, Any]], object], records.Take]] = {
    CHATGPT: (lambda item: "mapping" in item, _of_chatgpt),
    CLAUDE_AI: (lambda item: not _OF_CLAUDE_AI.isdisjoint(item), _of_claude_ai),
    GEMINI: (lambda item: "projectHash" in item and "messages" in item, take_gemini),
    MEM0: (_memories, lambda item, _: map(_mem0_fact, _memories(item))),
}
"""Whether an item is of a source, and the parser of its items."""
