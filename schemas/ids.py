"""Ids of events, and slugs: people's names of the pages of a scope.

An id is a lower-case UUID, version 7 if new, version 8 if a source names its own things. Making a version 7
needs a clock and randomness and therefore happens in `tools`.

A slug is segments of `[a-z0-9_-]`, each at most 80 characters, joined by `/`, at most 200 in all. `_root` is
the root's, which has an id of its own in each scope and needs no event to exist.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b
from uuid import UUID

import orjson

ID_PATTERN = r"^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z"
ID_CHARS, ID_BYTES = 36, 16
SHORT_CHARS = 8
"""The last eight characters of an id are random or of a digest; its first eight are a time of a minute."""


def derived_id(type: str, scope: str | None, source: str | None, native_id: str) -> str:
    """Return the id of a thing that its source already names: the same for every import of it.

    UUID version 8 (RFC 9562) over blake2b-128 of the canonical form of `[type, scope, source, native id]`.
    """
    digest = bytearray(blake2b(orjson.dumps([type, scope, source, native_id]), digest_size=16).digest())
    digest[6] = 0x80 | (digest[6] & 0x0F)
    digest[8] = 0x80 | (digest[8] & 0x3F)
    return str(UUID(bytes=bytes(digest)))


def short_id(id: str) -> str:
    """Return the end of an id, as commands print and take it."""
    return id[-SHORT_CHARS:]


def digest_of(data: bytes) -> str:
    """Return blake2b-128 of bytes, 32 hex."""
    return blake2b(data, digest_size=16).hexdigest()


def id_bytes(event_id: str) -> bytes:
    """Return the 16 bytes of an id, for compact storage. Raises `ValueError` for an invalid id."""
    data = bytes.fromhex(event_id.replace("-", ""))
    if len(event_id) != ID_CHARS or len(data) != ID_BYTES:
        raise ValueError(f"{event_id[:ID_CHARS]!r} is no id.")
    return data


ROOT = "_root"
SLUG_CHARS, SEGMENT_CHARS = 200, 80

_SLUG = re.compile(r"[a-z0-9_-]{1,80}(/[a-z0-9_-]{1,80})*")
_NOT_IN_SEGMENT = re.compile(r"[^a-z0-9_-]+")
_DIGEST_CHARS = 8


def is_slug(text: str) -> bool:
    """Return whether a page may have this slug."""
    return len(text) <= SLUG_CHARS and text != ROOT and _SLUG.fullmatch(text) is not None


def slug_of(name: str) -> str:
    """Return the slug of a path or title in any language, with a digest at its end if it was no slug already.

    Accents are dropped. An empty segment becomes `page-` and a digest. A long one is cut, and ends with a
    digest, so that two long names stay distinct.
    """
    parts = [part for part in name.strip().split("/") if part.strip(". ")]
    slug = "/".join(map(_segment, parts or [name]))
    if len(slug) > SLUG_CHARS:
        slug = f"{slug[: SLUG_CHARS - _DIGEST_CHARS - 1].rstrip('/-')}-{_digest(name)}"
    return slug if is_slug(slug) else f"page-{_digest(name)}"


def root_id(scope: str) -> str:
    """Return the id of the root of a scope."""
    return derived_id("page", scope, None, ROOT)


def _segment(part: str) -> str:
    plain = "".join(char for char in unicodedata.normalize("NFKD", part) if not unicodedata.combining(char))
    kept = _NOT_IN_SEGMENT.sub("-", plain.lower()).strip("-")
    if not kept:
        return f"page-{_digest(part)}"
    short = kept[: SEGMENT_CHARS - _DIGEST_CHARS - 1]
    return kept if len(kept) <= SEGMENT_CHARS else f"{short}-{_digest(part)}"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_CHARS // 2).hexdigest()
