"""Events to bytes and back: one JSON object, written by orjson with sorted keys (the canonical form).

Reading is strict and never guesses. Bytes refused here become an error at an append and a dead letter on the
log, by the same rules.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any

import msgspec
import orjson

from memtape.schemas import events
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import EVENT_TYPES, MAX_EVENT_BYTES, Captured, Event, check_event, version_of

KEYS = frozenset(Event.__struct_fields__)

_PATH = re.compile(r" - at `(\$[^`]*)`\Z")
_ESCAPE = b"\\u"
"""Only with it can JSON say what is no character; orjson and msgspec differ in what they make of that."""
_NUL_ESCAPE, _NUL = b"\\u0000", re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""The character NUL, which JSON can say only by this escape, behind escaped backslashes at most."""


class _Envelope(Event, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An event before its body is decoded by its own type."""

    body: Any


class _Capture(Event, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An event as most are, read in one step."""

    body: Captured


# msgspec looks at a type when it first meets it, and two threads that do so at once crash the process.
for _type in (_Envelope, *(known.body for known in EVENT_TYPES.values())):
    msgspec.json.Decoder(_type)
_CAPTURES = msgspec.json.Decoder(_Capture)


def canonical(value: Any) -> bytes:
    """Return the canonical form of an event or of any JSON value: sorted keys, no spaces, UTF-8."""
    return orjson.dumps(msgspec.to_builtins(value), option=orjson.OPT_SORT_KEYS)


def encode(event: Event) -> bytes:
    """Return the bytes of an event for the log.

    An event that a reader would refuse is refused here, with `InvalidEvent`: no appended event becomes a dead
    letter. A blank event passes, for copies of logs that hold some.
    """
    try:
        payload = canonical(event)
    except (TypeError, ValueError) as error:  # orjson's word for lone surrogates and integers beyond 64 bits.
        raise InvalidEvent("invalid", f"The event cannot be written as JSON: {error}.") from None
    if len(payload) > MAX_EVENT_BYTES:
        check_event(event)  # It names the field that is too large, where `decode` only sees many bytes.
    decode(payload)
    return payload


def _as_capture(payload: bytes) -> _Capture | None:
    """Return a capture of the newest version, decoded in one step; None for a different or blank event."""
    try:
        event = _CAPTURES.decode(payload)
    except (msgspec.MsgspecError, UnicodeError):
        return None
    return event if event.type == "captured" and event.v == version_of("captured") else None


def decode(payload: bytes) -> Event:
    """Return the event of these bytes at its newest version, or raise `InvalidEvent`."""
    if len(payload) > MAX_EVENT_BYTES:
        raise InvalidEvent(
            "oversized", f"The event has {len(payload):,} bytes; at most {MAX_EVENT_BYTES:,} are allowed."
        )
    if _ESCAPE not in payload and (capture := _as_capture(payload)) is not None:
        check_event(capture)
        return Event(**msgspec.structs.asdict(capture))
    return _decode_any(payload)


def _decode_any(payload: bytes) -> Event:
    """Return the event of these bytes, of any type and version, in a third of the speed of a capture."""
    try:
        parsed = orjson.loads(payload)
    except orjson.JSONDecodeError as error:
        raise InvalidEvent("not_json", f"Not JSON: {error.msg}.") from None
    root = "$"
    try:
        envelope = msgspec.convert(_known(parsed, payload), _Envelope)
        root, body = "$.body", envelope.body
        if body is not None:
            kind = EVENT_TYPES[envelope.type].body
            if isinstance(body, dict) and (strange := sorted(body.keys() - set(kind.__struct_fields__))):
                # Said here, since msgspec's words for it end in the name, which cannot be told from a place.
                raise InvalidEvent("invalid", f"$.body: the field {strange[0][:60]!r} is unknown.", "$.body")
            body = msgspec.convert(body, kind)
    except msgspec.ValidationError as error:
        # The path in msgspec's message is that in the body, or in the envelope.
        path = _PATH.search(str(error))
        where = root + path[1].removeprefix("$") if path else root
        said = _PATH.sub("", str(error))
        raise InvalidEvent("invalid", f"{where}: {said[:300]}.", where) from None
    event = Event(**msgspec.structs.asdict(envelope) | {"body": body})
    check_event(event)
    return event


def event_of(payload: bytes) -> Event | None:
    """Return the event of unchecked bytes; None for bytes that the fold makes a dead letter."""
    try:
        return decode(payload)
    except InvalidEvent:
        return None


def body_of_capture(payload: bytes) -> Captured | None:
    """Return the body of a slot known to be a capture, None if it has been blanked.

    It is faster than `decode`, which has checked the event before.
    """
    event = _as_capture(payload) or event_of(payload)
    return event.body if event is not None and isinstance(event.body, Captured) else None


def blanked(payload: bytes) -> bytes:
    """Return the bytes of an event without its body, version and header as they are; `null` if unreadable."""
    if event_of(payload) is None:
        return b"null"
    return orjson.dumps(orjson.loads(payload) | {"body": None}, option=orjson.OPT_SORT_KEYS)


def content_digest(event: Event) -> int:
    """Return 64 bits that distinguish another event of an id from a repetition; `sent` does not count."""
    content = canonical(msgspec.structs.replace(event, sent=0))
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "big")


def _known(parsed: Any, payload: bytes) -> Any:
    """Return the object lifted to the newest version of its type, its keys checked."""
    if not isinstance(parsed, dict):
        raise InvalidEvent("invalid", "An event is a JSON object.", "$")
    if parsed.keys() != KEYS:
        strange = sorted(parsed.keys() - KEYS)
        missing = sorted(KEYS - parsed.keys())
        said = f"{strange[0][:60]!r} is unknown" if strange else f"{missing[0]!r} is missing"
        raise InvalidEvent("invalid", f"Not an event: the field {said}.", "$")
    type_name = parsed["type"]
    if not isinstance(type_name, str) or type_name not in EVENT_TYPES:
        said = repr(type_name[:60]) if isinstance(type_name, str) else "that is no text"
        raise InvalidEvent("unknown_type", f"No event has the type {said}.", "$.type")
    if _NUL_ESCAPE in payload and _NUL.search(payload):
        raise InvalidEvent("invalid", "A text holds the character NUL.", "$")
    version = parsed["v"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InvalidEvent("invalid", "v is not a version.", "$.v")
    if version > version_of(type_name):
        said = f"A {type_name} event of version {version} is newer than this reader."
        raise InvalidEvent("newer_version", said, "$.v")
    for number, step in enumerate(events.UPCASTS.get(type_name, ())[version - 1 :], version + 1):
        parsed = {**step(parsed), "v": number}
    return parsed
