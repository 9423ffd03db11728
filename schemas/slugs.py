"""Slugs: people's names of the pages of a scope, and the ids derived from them.

A slug is segments of `[a-z0-9_-]`, each at most 80 characters, joined by `/`, at most 200 in all. `_root` is
the root's, which has an id of its own in each scope and needs no event to exist.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b

from memtape.schemas.ids import derived_id

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
    return kept if len(kept) <= SEGMENT_CHARS else f"{kept[: SEGMENT_CHARS - _DIGEST_CHARS - 1]}-{_digest(part)}"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_CHARS // 2).hexdigest()
