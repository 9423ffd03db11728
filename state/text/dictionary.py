"""Whether a string of letters is a word of English, as the library pyspellchecker has them.

Its package is not imported: the file of words is read as it lies there, when the first slip is looked at, which few
texts have. It takes 0.1 s and 16 MB.
"""

from __future__ import annotations

import zlib
from functools import cache
from importlib.util import find_spec
from typing import Any

import orjson

_GZIP = 31
"""The `wbits` of what gzip packed."""


def is_word(word: str) -> bool:
    """Return whether letters in lower case are a word of English."""
    return word in _words()


@cache
def _words() -> frozenset[str]:
    spec = find_spec("spellchecker")
    assert spec is not None and spec.submodule_search_locations
    loader: Any = spec.loader
    packed = loader.get_data(f"{spec.submodule_search_locations[0]}/resources/en.json.gz")
    return frozenset(orjson.loads(zlib.decompress(packed, _GZIP)))
