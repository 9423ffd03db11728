"""The stemmers of the library snowballstemmer, each loaded when its language is first met.

The library's own package loads all of its 36 languages at once, which takes a hook longer than a search. This module is
a package without files of its own: its path is that of the library, whose files it imports one by one.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_LIBRARY = find_spec("snowballstemmer")
assert _LIBRARY is not None
__path__ = list(_LIBRARY.submodule_search_locations or ())


def stemmer(language: str) -> Any:
    """Return a new stemmer of a language, by its English name in lower case. It holds the word that it is at."""
    return _kind(language)()


@cache
def _kind(language: str) -> Any:
    return getattr(import_module(f"{__name__}.{language}_stemmer"), f"{language.title()}Stemmer")
