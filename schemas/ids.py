"""Event ids: lower-case UUIDs, version 7 where they are new, version 8 where a source names its own things.

Making a version 7 needs a clock and randomness and therefore happens in `tools`.
"""

from __future__ import annotations

from hashlib import blake2b
from uuid import UUID

import orjson

ID_PATTERN = r"^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z"
ID_CHARS, ID_BYTES = 36, 16


def derived_id(type: str, scope: str | None, source: str | None, native_id: str) -> str:
    """Return the id of a thing that its source already names: the same for every import of it.

    UUID version 8 (RFC 9562) over blake2b-128 of the canonical form of `[type, scope, source, native id]`.
    """
    digest = bytearray(blake2b(orjson.dumps([type, scope, source, native_id]), digest_size=16).digest())
    digest[6] = 0x80 | (digest[6] & 0x0F)
    digest[8] = 0x80 | (digest[8] & 0x3F)
    return str(UUID(bytes=bytes(digest)))


def digest_of(data: bytes) -> str:
    """Return blake2b-128 of bytes, 32 hex."""
    return blake2b(data, digest_size=16).hexdigest()


def id_bytes(event_id: str) -> bytes:
    """Return the 16 bytes of an id, for compact storage. Raises `ValueError` for an invalid id."""
    data = bytes.fromhex(event_id.replace("-", ""))
    if len(event_id) != ID_CHARS or len(data) != ID_BYTES:
        raise ValueError(f"{event_id[:ID_CHARS]!r} is no id.")
    return data
