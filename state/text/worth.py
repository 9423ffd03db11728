"""Which sentences of a person are worth keeping, by logistic regression, where no frame of a rule tells.

The regression adds a learned weight for each cue of a sentence: words, pairs of words, length, place, looks.
`worth.json` holds the weights in ten-thousandths, as `tests/bench/keeping.py` writes it. English only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import msgspec

from memtape.schemas.patterns import lazy
from memtape.state.text.certainty import certainty_of
from memtape.state.text.lexicon import data_of

BIAS = "bias"
_TOKEN = lazy(r"[^\W_]+(?:['’][^\W_]+)*|[?!:;,.]")
_LENGTHS = (3, 5, 7, 10, 14, 20)
_NUMBER = "0"


def worth_of(said: str, *, is_first: bool, is_of_thing: bool) -> int:
    """Return how certainly a tidied sentence says what holds beyond the minute, in ten-thousandths.

    `is_first` says that the sentence opens its turn, `is_of_thing` that it names an identifier or amount.
    """
    weights = _weights()
    cues = dict.fromkeys(cues_of(said, is_first=is_first, is_of_thing=is_of_thing))
    return certainty_of(weights.get(BIAS, 0) + sum(weights.get(cue, 0) for cue in cues))


def cues_of(said: str, *, is_first: bool, is_of_thing: bool) -> Iterator[str]:
    """Yield the cues of a sentence."""
    found = _TOKEN.findall(said.lower().replace("’", "'"))
    tokens = [_NUMBER if any(map(str.isdigit, token)) else token for token in found]
    yield from tokens
    yield from (f"{one} {other}" for one, other in pairwise(["^", *tokens, "$"]))
    words = [token for token in tokens if token[0].isalnum()]
    yield from (f">{length}" for length in _LENGTHS if len(words) > length)
    if is_first:
        yield "<first>"
    if is_of_thing:
        yield "<thing>"
    if any(word.endswith("ed") for word in words):
        yield "<past>"
    if any(word[:1].isupper() for word in said.split()[1:]):
        yield "<name>"


@cache
def _weights() -> dict[str, int]:
    return msgspec.json.decode(data_of("worth.json"), type=dict[str, int])
