"""The messages of a conversation in the forms of OpenAI and Anthropic, taken as turns of a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from memtape.schemas.errors import InvalidUse
from memtape.schemas.events import PEOPLE
from memtape.tools.capture.injected import said
from memtape.tools.capture.native_ids import MESSAGES, Role, in_conversation
from memtape.tools.capture.writing import Writer
from memtape.tools.importing import records
from memtape.tools.importing.batches import Batch
from memtape.tools.importing.records import Found, ImportSummary, Record, blocks_text, list_in, text_of
from memtape.tools.importing.transcripts import CLAUDE_BLOCKS

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_OTHERS = {
    **dict.fromkeys(("system", "developer"), records.INJECTED),
    **dict.fromkeys(("tool", "function"), records.TOOL),
}
_TEXTS = ("text", "input_text", "output_text")
_FILES = ("image", "image_url", "input_image", "input_audio", "document", "file", "input_file")


class SdkMessage(Protocol):
    """A message of an SDK, as OpenAI's `ChatCompletionMessage` or Anthropic's `Message`."""

    def model_dump(self) -> dict[str, Any]:
        """Return the message as a dictionary."""
        ...


Message = Mapping[str, object] | SdkMessage


def add_messages(writer: Writer, messages: Iterable[Message], session: str | None) -> ImportSummary:
    """Append the turns of a conversation that are not on the log yet; return the counts.

    Raises `InvalidUse` without a session.
    """
    session = session or writer.session
    if not session:
        raise InvalidUse("A conversation has a session.", "Give session=…, or name one for the client.")
    summary, times = ImportSummary(), Counter[tuple[Role, str]]()
    batch = Batch(writer, writer.made_scope(), summary)
    for number, message in enumerate(messages):
        whole = dict(message) if isinstance(message, Mapping) else message.model_dump()
        for found in take(whole, session, times, writer):
            if isinstance(found, Record):
                batch.add(found, Path(session), f"message {number}")
            else:
                summary.skip(found, session, f"message {number}")
        if batch.full:
            batch.append()
    batch.append()
    return summary


def take(
    message: dict[str, Any], session: str, times: Counter[tuple[Role, str]], writer: Writer
) -> Iterator[Found]:
    """Yield the record of a message, and the skips of the rest. `times` counts equal turns."""
    role, content = str(message.get("role")), message.get("content")
    if role not in _ROLES:
        yield _OTHERS.get(role) or records.unknown(f"role {role}")
        return
    yield from [records.CALL] * len(list_in(message, "tool_calls"))
    for block in list_in(message, "content"):
        if isinstance(block, dict) and (type := str(block.get("type"))) not in (*_TEXTS, *_FILES):
            yield CLAUDE_BLOCKS.get(type) or records.unknown(f"{role}/{type}")
    text = blocks_text(content, *_TEXTS)
    if not text.strip() and content is not None and list_in(message, "content"):
        return
    if content is None:
        return
    speaker, words = _ROLES[role], said(text)
    times[speaker, words] += 1
    native_id = in_conversation(session, speaker, words, times[speaker, words])
    # The client's actor said the turns of the client's own role.
    is_own = (writer.actor.origin in PEOPLE) == (speaker == "user")
    actor = text_of(message, "name") or (writer.actor.name if is_own else speaker)
    yield records.turn(MESSAGES, speaker, text, actor=actor, session=session, native_id=native_id)
