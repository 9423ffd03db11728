"""The commonest words of languages. They ship with this package (`common_words.txt` names their source and licence), so
that no version of a library changes them; their digest is part of the version of the rules.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from typing import Any

_FILE = "common_words.txt"


@cache
def common_words() -> dict[str, list[str]]:
    """Return the commonest words of each language, by its ISO 639-1 code."""
    lines = [line.split() for line in _data().decode().splitlines() if not line.startswith("#")]
    return {code: words for code, *words in lines}


@cache
def words_digest() -> str:
    """Return the digest of the file of words, 8 hex digits."""
    return blake2b(_data(), digest_size=4).hexdigest()


@cache
def _data() -> bytes:
    spec = find_spec(__package__ or "")
    assert spec is not None and spec.submodule_search_locations
    loader: Any = spec.loader
    data: bytes = loader.get_data(f"{spec.submodule_search_locations[0]}/{_FILE}")
    return data
