"""The form of one capture as a JSON line, and the checks of its size."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import MAX_TAGS, Kind, Origin, check_text_size

MAX_LABEL_CHARS = 4_096
"""No field of an event but its text is longer."""

_LABELS = ("actor", "session", "source", "path", "branch")


class MediaLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A picture or file that came with the text, its kind as in `schemas.events.Media`."""

    kind: Literal["image", "audio", "video", "file"] = "image"
    caption: str | None = None
    uri: str | None = None


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One capture in a caller's form. Missing fields come from the command or the client.

    `at` is microseconds or ISO 8601. With `native_id` the id is derived from scope, source and native id:
    capturing the line again adds nothing. `importance` is between 0 and 1. With `split` a text too long for
    one event is kept as a document, and of a turn only its beginning and end are kept (`noise`); a document
    is cut into parts (`documents`).
    """

    text: str
    kind: Kind | None = None
    tags: tuple[str, ...] = ()
    at: int | str | None = None
    actor: str | None = None
    origin: Origin | None = None
    session: str | None = None
    scope: str | None = None
    source: str | None = None
    native_id: str | None = None
    branch: str | None = None
    path: str | None = None
    importance: Annotated[float, Meta(ge=0, le=1)] | None = None
    media: tuple[MediaLine, ...] = ()
    split: bool = False


def parse_line(data: bytes) -> Line:
    """Decode one JSON line. Raises `InvalidEvent` with a sentence about the mistake."""
    try:
        return msgspec.json.decode(data, type=Line)
    except msgspec.MsgspecError as error:
        raise InvalidEvent("invalid", f"Not a capture: {error}.") from None
    except (UnicodeError, RecursionError) as error:
        raise InvalidEvent("invalid", f"Not a capture: {type(error).__name__}.") from None


def check_size(line: Line) -> None:
    """Raise `InvalidEvent` for text too long for any event, before it is read to its end.

    A text that is cut into parts may be of any length. Everything else is checked again in its form on the
    log.
    """
    if line.kind != "document" and not line.split:
        check_text_size("text", line.text)
    if len(line.tags) > MAX_TAGS or len(line.media) > MAX_TAGS:
        raise InvalidEvent("invalid", f"There are more than {MAX_TAGS} tags or media.", "$.body")
    for media in line.media:
        check_label("media", media.caption)
        check_label("media", media.uri)
    for field in _LABELS:
        check_label(field, getattr(line, field))
    check_label("tags", max(line.tags, key=len, default=None))


def check_label(field: str, text: str | None) -> None:
    """Raise `InvalidEvent` for a text that is longer than any name, path or reason of an event."""
    if text and len(text) > MAX_LABEL_CHARS:
        message = f"The {field} has {len(text):,} characters; at most {MAX_LABEL_CHARS:,} go into an event."
        raise InvalidEvent("oversized", message, f"$.body.{field}")
