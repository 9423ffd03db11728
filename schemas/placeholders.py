"""The form of a placeholder for a secret on the log: `[redacted:github-token:3f9a2c1d]`.

The kind names the secret's kind; the digits are equal for equal secrets under one key. Under another key they
differ, so that different digits are no evidence of a change. `tools/capture/secrets` knows the patterns of
secrets and the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

DIGEST_BYTES = 4
MAX_CHARS = 80  # No placeholder is longer; the names of kinds have at most 40 characters.
_OPENING = "[redacted:"
PLACEHOLDER = re.compile(r"\[redacted:([a-z0-9]+(?:-[a-z0-9]+)*):[0-9a-f]{8}\]")


def placeholder(kind: str, digest: str) -> str:
    """Return the placeholder of a secret of a kind; `digest` is `2 * DIGEST_BYTES` hexadecimal digits."""
    return f"{_OPENING}{kind}:{digest}]"


def placeholders(texts: Iterable[str | None]) -> int:
    """Return the number of placeholders in texts."""
    return sum(len(PLACEHOLDER.findall(text)) for text in texts if text and _OPENING in text)


def without_digits(text: str) -> str:
    """Return a text with the placeholders of a kind made equal, for comparing texts."""
    return PLACEHOLDER.sub(r"[redacted:\1]", text) if _OPENING in text else text


def head_of(text: str, chars: int) -> str:
    """Return at most the first `chars` characters of a text, never a piece of a placeholder."""
    return text[: _outside(text, chars)[0]] if len(text) > chars else text


def tail_of(text: str, chars: int) -> str:
    """Return at most the last `chars` characters of a text, never a piece of a placeholder."""
    return text[_outside(text, len(text) - chars)[1] :] if len(text) > chars else text


def _outside(text: str, place: int) -> tuple[int, int]:
    """Return start and end of the placeholder that a place of a text lies in, else the place itself."""
    for found in PLACEHOLDER.finditer(text, max(0, place - MAX_CHARS), place + MAX_CHARS):
        if found.start() < place < found.end():
            return found.span()
    return place, place
