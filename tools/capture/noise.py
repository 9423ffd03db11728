"""Noise in conversations: words of the host, binary, blobs, and mass pastes.

Turns of hooks and imports pass here, so both leave out the same. Deliberate captures and documents are kept
as they are. A text is judged by its form alone, and only where nothing else could stand in it: a turn with a
fact is worth more than a turn left out.
"""

from __future__ import annotations

import re
from collections import Counter

from memtape.schemas.events import MAX_TEXT_BYTES, Origin
from memtape.schemas.ids import digest_of
from memtape.schemas.patterns import lazy
from memtape.schemas.placeholders import head_of, tail_of
from memtape.tools.capture.injected import host_regex

HEAD_CHARS, TAIL_CHARS = 2_000, 500
"""The kept beginning of a pasted text, and its kept end, where the question about it often is."""
OF_HOST, BINARY = "metadata of a host", "binary"
LOOKED_AT_CHARS = 4_000
LEAST_SIGNS = 32
BLOB_CHARS = 800
LEAST_PERCENT = 8
"""Random bytes in base64 have 16 or more of each sort of letters and of digits; paths have hardly any."""

_BREAK = r"(?:\r?\n|\\n)[ \t]*"
_BLOB = lazy(
    rf"(?<![\w+/-])[A-Za-z0-9+/_-]{{60,}}(?:{_BREAK}[A-Za-z0-9+/]{{60,}})*(?:{_BREAK}[A-Za-z0-9+/]{{4,}})?={{0,2}}"
)
_SIGNS = lazy(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd]")
_HEX = lazy(r"[0-9a-fA-F\s]+")


def noise_in(text: str, origin: Origin) -> str | None:
    """Return why a turn is noise and not worth a search; None for other turns."""
    if host_regex("said_by_host").fullmatch(text) or (
        origin == "agent" and host_regex("answered_by_host").fullmatch(text)
    ):
        return OF_HOST
    # A tenth of it is signs that no text has, and not just a few colours of a terminal.
    signs = len(_SIGNS.findall(text, 0, LOOKED_AT_CHARS))
    return BINARY if signs >= LEAST_SIGNS and 10 * signs > len(text[:LOOKED_AT_CHARS]) else None


def without_bulk(text: str) -> str:
    """Return the kept part of a turn: without blobs, and only both ends of a text too long for events.

    The text has no secrets or private parts any more: its digest tells none.
    """
    text = _BLOB.sub(_told, text) if len(text) >= BLOB_CHARS else text
    if len(text.encode()) <= MAX_TEXT_BYTES:
        return text
    head, tail = head_of(text, HEAD_CHARS), tail_of(text, TAIL_CHARS)
    left = len(text) - len(head) - len(tail)
    return f"{head}\n[… {left:,} more characters, blake2b {digest_of(text.encode())} …]\n{tail}"


def _told(found: re.Match[str]) -> str:
    """Return the placeholder of a blob; long words, paths, rules, drawings and keys stay unchanged."""
    blob = found[0]
    sorts = Counter("Aa0"[char.islower() + 2 * char.isdigit()] for char in blob if char.isalnum())
    is_hex = _HEX.fullmatch(blob) is not None and len(set(blob)) >= 12
    is_drawn = all(100 * sorts[sort] >= LEAST_PERCENT * len(blob) for sort in "Aa0")
    return f"[{len(blob):,} characters of data]" if len(blob) >= BLOB_CHARS and (is_hex or is_drawn) else blob
