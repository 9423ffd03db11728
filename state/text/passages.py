"""The best passage of a long text, and the end of a text, for places too small for the whole.

Ranking whole texts is in `ranking`; ranking passages instead favours long answers, and was measured to harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memtape.schemas.patterns import lazy
from memtape.state.text.normal import SENTENCE_END
from memtape.state.text.terms import language_of, terms

PASSAGE_CHARS = 1_200  # Maximum number of characters of a result, as a tool shows it.


def best_passage(text: str, weights: Mapping[str, float], chars: int = PASSAGE_CHARS) -> str:
    """Return a text that is short enough, else the run of whole sentences in it that is worth most.

    A sentence is worth the `weights` of its terms, each once; the earliest run of equals is taken. A sentence
    too long by itself is cut. All are stemmed in the language of the text, which one sentence may not show.
    """
    if len(text) <= chars:
        return text
    language, spans = language_of(text), list(_spans(text, chars))
    best, best_worth, first, total = (0, 0), -1, 0, 0  # type: tuple[int, int], float, int, float
    worths = list[float]()
    for last, (start, end) in enumerate(spans):
        worths.append(sum(weights.get(term, 0) for term in dict.fromkeys(terms(text[start:end], language))))
        total += worths[last]
        while end - spans[first][0] > chars:
            total -= worths[first]
            first += 1
        if total > best_worth:
            best, best_worth = (first, last), total
    first, last = best
    while last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= chars:
        last += 1  # The text after the best words explains them.
    return text[spans[first][0] : spans[last][1]].strip()


def _spans(text: str, chars: int) -> Iterator[tuple[int, int]]:
    """Yield where sentences and lines begin and end, none longer than `chars`."""
    start = 0
    for end in (*(found.end() for found in SENTENCE_END.finditer(text)), len(text)):
        while end - start > chars:
            cut = text.rfind(" ", start + chars // 2, start + chars) + 1 or start + chars
            yield start, cut
            start = cut
        if end > start:
            yield start, end
            start = end


_STARTS = lazy(
    r"\n\s*\n\s*|\n(?=[ \t]*(?:[-*+•>|#]|\d{1,3}[.)]\s|```))"
    r"|(?<=[.!?])[\"'”’»)\]*_`]*\s+|(?<=[。！？])\s*"
)
"""After a blank line, at an item or heading, after the end of a sentence."""


def ending(text: str, chars: int, lines: int | None = None) -> str:
    """Return the longest end of a text within `chars` and `lines` that begins with a sentence.

    Empty if not even the last sentence fits. A small letter begins no sentence, as after "e.g. ".
    """
    text = text.strip()
    if _fits(text, chars, lines):
        return text
    for found in _STARTS.finditer(text, max(0, len(text) - chars - 1)):
        end = found.end()
        if end < len(text) and not text[end].islower() and _fits(text[end:], chars, lines):
            return text[end:]
    return ""


def _fits(text: str, chars: int, lines: int | None) -> bool:
    return len(text) <= chars and (lines is None or text.count("\n") < lines)
