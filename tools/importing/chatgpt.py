"""Exports of ChatGPT: a conversation is a tree of messages, of which the branch that ends at `current_node` counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memtape.tools.capture.injected import clean
from memtape.tools.capture.lines import MediaLine
from memtape.tools.capture.native_ids import CHATGPT, Role
from memtape.tools.importing import skips
from memtape.tools.importing.records import Found, text_of, time_of, turn
from memtape.tools.importing.skips import Skipped

_CYCLE = Skipped("a conversation that runs in a circle", problem=True)
_OFF_BRANCH = Skipped("on a branch that was left")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_OTHERS = {"tool": skips.TOOL, "system": skips.BOOKKEEPING}
_THOUGHTS = frozenset({"thoughts", "reasoning_recap"})
_TEXTS = frozenset({"text", "multimodal_text"})
MAX_MEDIA = 64


def fits(item: Any) -> bool:
    """Whether an item of an export is a conversation of ChatGPT."""
    return isinstance(item, dict) and "mapping" in item


def take(conversation: dict[str, Any]) -> Iterator[Found]:
    """Yield the turns of a conversation, oldest first."""
    mapping = conversation.get("mapping")
    if not isinstance(mapping, dict):
        yield skips.NO_MESSAGES
        return
    branch, whole = _branch(mapping, conversation.get("current_node"))
    if not whole:
        yield _CYCLE
    if mapping and not branch:
        yield skips.NO_MESSAGES
    session = text_of(conversation, "conversation_id", "id")
    for node in branch:
        message = mapping[node].get("message")
        if isinstance(message, dict):
            yield _message(message, node, session, conversation.get("create_time"))
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


def _message(message: dict[str, Any], node: str, session: str | None, begun: Any) -> Found:
    author = message.get("author")
    role = text_of(author, "role") or ""
    metadata, content = message.get("metadata"), message.get("content")
    type = text_of(content, "content_type") or ""
    if role not in _ROLES:
        return _OTHERS.get(role) or skips.unknown(f"role {role or None}")
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return skips.INJECTED
    if type in _THOUGHTS:
        return skips.THINKING
    if message.get("recipient") not in (None, "all"):
        return skips.CALL
    if type not in _TEXTS:
        return Skipped(f"content of type {clean(type)[:40]!r}")
    text, media = _parts(content)
    at = time_of(message.get("create_time")) or time_of(begun)
    native = text_of(message, "id") or node
    return turn(CHATGPT, _ROLES[role], text, native_id=native, at=at, session=session, media=media)


def _parts(content: Any) -> tuple[str, tuple[MediaLine, ...]]:
    """Return text and pictures. A part is a text, a picture, or an object with a text, as of speech."""
    texts, media = [], []
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif pointer := text_of(part, "asset_pointer"):
            kind = "audio" if "audio" in str(part.get("content_type")) else "image"
            media.append(MediaLine(kind=kind, uri=clean(pointer)))
        elif text := text_of(part, "text"):
            texts.append(text)
    return "\n\n".join(text for text in texts if text.strip()), tuple(media[:MAX_MEDIA])
