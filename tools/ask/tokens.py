"""Token counters: an installed tokenizer with its vocabulary, else four characters a token."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple


class Tokenizer(NamedTuple):
    """A token counter and its name; the name tells how exact the counts are."""

    name: str
    count: Callable[[str], int]


CHARACTERS = Tokenizer("characters/4", lambda text: -(-len(text) // 4))
"""A rule of thumb for English prose; of ideographs a model makes up to four times as many."""


@cache
def tokenizer() -> Tokenizer:
    """Return the available tokenizer: o200k_base of the extra `tokens`, with its vocabulary, else characters.

    Models differ: even a real tokenizer is an estimate for other models. Nothing is downloaded.
    """
    try:
        from rs_bpe.bpe import openai
    except ImportError:
        return CHARACTERS
    return Tokenizer("o200k_base", openai.o200k_base().count)
