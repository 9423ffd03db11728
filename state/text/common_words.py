"""The commonest words of languages, as the library stopwordsiso has them.

Its package is not imported, which takes a hook longer than a search: its file of words is read as it lies there. A test
holds these words to those of the library.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import orjson


@cache
def common_words() -> dict[str, list[str]]:
    """Return the commonest words of each language, by its ISO 639-1 code."""
    spec = find_spec("stopwordsiso")
    assert spec is not None and spec.submodule_search_locations
    loader: Any = spec.loader
    words: dict[str, list[str]] = orjson.loads(
        loader.get_data(f"{spec.submodule_search_locations[0]}/stopwords-iso.json")
    )
    return words
