"""Texts as the fold and the search read them: the normal text, the key of the content, the words.

Nothing is dropped by default: every character of a text is in its key unless a rule here gives a reason to
drop it, so that texts of different meaning have different keys. No thresholds, statistics or lists of words
live here.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from memtape.schemas.patterns import lazy
from memtape.state.text import lexicon

# Scripts that are written without spaces and of which a character is about a word: ideographs and kana.
_CJK = "\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
_CJK += "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_CJK_CHAR = lazy(f"[{_CJK}]")
_CJK_OR_RUN = lazy(f"[{_CJK}]|[^{_CJK}]+")

_OPENERS = "\"'([{“‘„‚«¿¡「『【"
_CLOSERS = "\"')]}”’»,;:?!.…」』】。、"
_VERBATIM = frozenset("\"'[]{}“”‘„‚«»「」『』【】")
_PLAIN = lazy(r"[^\W\d_]+(?:['’‑-][^\W\d_]+)*")
_JOINT = lazy(r"(['’‑-])")
_BACKTICKS = lazy("`+")

# What is remembered of single chunks saves most of the work; long chunks are rare and would fill the memory.
_CACHED = 32_768
_SHORT = 40
_ANNOUNCERS = frozenset("- * • – note: remember: fyi fyi: fyi,".split())
"""Openings of a text before its first sentence."""

SENTENCE_END = lazy(r"[.!?…؟。！？\n](?:(?<=[.!?…؟])[\"'”’»)\]*_]*\s+|(?<=[。！？])|(?<=\n)\n*)")
"""Where a sentence of a text ends: its mark, what closes with it, and white space; or its line."""


def normal_text(text: str) -> str:
    """Return the text in NFC, its white space folded, the words that open its sentences in lower case.

    Two texts with one normal text are one memory, in any context. Case stays elsewhere, in code and names.
    """
    text = " ".join(unicodedata.normalize("NFC", text).split())
    if text == text.lower():
        return text
    chunks, before = _chunks(text), ""
    for index, chunk in enumerate(chunks):
        if chunk != chunk.lower() and "`" not in chunk and _opens_sentence(index, before):
            chunks[index] = _lower_opening(chunk)
        before = chunk
    return unicodedata.normalize("NFC", " ".join(chunks))


def _chunks(text: str) -> list[str]:
    """Split a text at its spaces, except within code; code without an end extends to the end."""
    chunks = text.split(" ")
    if "`" not in text:
        return chunks
    joined: list[str] = []
    fence = ""
    for chunk in chunks:
        if fence:
            joined[-1] += " " + chunk
        else:
            joined.append(chunk)
        for backticks in _BACKTICKS.findall(chunk):
            if not fence:
                fence = backticks
            elif backticks == fence:
                fence = ""
    return joined


def _opens_sentence(index: int, before: str) -> bool:
    """Return whether the chunk after `before` opens a sentence, so that its capital may be meaningless."""
    if index == 0 or (index == 1 and before.lower() in _ANNOUNCERS):
        return True
    return before.rstrip("\"')]”’»").endswith((".", "!", "?", "…")) and before.lower() not in _ABBREVIATIONS


_ABBREVIATIONS = lexicon.word_list("abbreviations")


def _lower_opening(chunk: str) -> str:
    """Return a chunk that opens a sentence, the first word in lower case unless capitals mean something."""
    opened, core, closed = _peeled(chunk)
    if not _PLAIN.fullmatch(core) or not _VERBATIM.isdisjoint(opened + closed):
        return chunk
    if core.lower().replace("’", "'") in lexicon.CONTRACTIONS:
        return chunk.lower()
    word, joint, rest = _JOINT.split(core, 1) if _JOINT.search(core) else (core, "", "")
    lower = word.lower()
    tells = word != "A" if len(word) == 1 else word[1:] != lower[1:] or lower in lexicon.NAMES
    return chunk if tells else opened + lower + joint + rest + closed


def _peeled(run: str) -> tuple[str, str, str]:
    """Return the opening marks, the core and the closing marks of a run."""
    rest = run.lstrip(_OPENERS)
    core = rest.rstrip(_CLOSERS)
    return run[: len(run) - len(rest)], core, rest[len(core) :]


# Marks that differ between keyboards and not in meaning; wide forms of ASCII in Chinese and Japanese texts.
_TYPOGRAPHY = str.maketrans(
    dict(zip("“”„‟‘’‚‛‑‐", "\"\"\"\"''''--", strict=True))
    | {"…": "...", "\u00ad": ""}
    | {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
)

_FINAL_STOP = lazy(r"""(?<=[\w)\]"'”’%`])\.$|(?<=\w)[。！]+$""")
_FINAL_BANG = lazy(r"(?<=[^\W\d_]{2})!+$")
_CALLS = lazy(r"\b(?:methods?|functions?|macros?|calls?)\b", re.IGNORECASE)
"""Words about code, whose names may end in an exclamation mark."""
_WITH_UNIT = lazy(r"(\d[\d.,:]*)(%|[kcm]m|kg|ms|[KMGT]B|[kMG]?Hz|px|[ap]m|[AP]M)")
_CODE = lazy(r"`([\w./\\:@-]*\w)`")


def content_key(text: str) -> tuple[str, ...]:
    """Return the tokens of a text in their order, without its last full stop.

    Punctuation has tokens of its own, and a different one for a separate mark: `git add .` is not `git add`.
    """
    text = normal_text(text)
    end = _FINAL_STOP if not text.endswith("!") else None if _CALLS.search(text) else _FINAL_BANG
    text = text if end is None else end.sub("", text)
    wide, tokens = not text.isascii(), list[str]()
    for chunk in _chunks(text):
        found = _chunk_tokens(chunk) if len(chunk) <= _SHORT else _chunk_tokens.__wrapped__(chunk)
        if wide and tokens and found and _CJK_CHAR.match(tokens[-1]) and _CJK_CHAR.match(found[0]):
            tokens.append(" ")  # A space between ideographs or kana says where a word ends.
        tokens += found
    return tuple(tokens)


@lru_cache(_CACHED)
def _chunk_tokens(chunk: str) -> tuple[str, ...]:
    if "`" not in chunk and not chunk.isascii():
        if len(chunk) > 1:
            chunk = chunk.translate(_TYPOGRAPHY)
        if _CJK_CHAR.search(chunk):
            return tuple(token for run in _CJK_OR_RUN.findall(chunk) for token in _run_tokens(run))
    return _run_tokens(chunk)


def _run_tokens(run: str) -> tuple[str, ...]:
    opened, core, closed = _peeled(run)
    if not core:
        return (" " + run,) if run else ()
    if core.isalpha():
        return (*opened, core, *closed)
    if with_unit := _WITH_UNIT.fullmatch(core):
        return (*opened, with_unit[1], with_unit[2], *closed)
    code = _CODE.fullmatch(core)
    # Code with a mark would be no word without the backticks either.
    return (*opened, code[1] if code and not code[1].isalpha() else core, *closed)


# Blocks of marks that are no letters to `re` but belong to words, as the vowel signs of India do.
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u0670\u0900-\u109f"
_MARKS += "\u1ab0-\u1aff\u1dc0-\u1dff"
_PAIRED = _CJK + "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_PAIRED_CHAR = lazy(f"[{_PAIRED}]")
_PIECE = rf"(?:[^\W{_PAIRED}]|[{_MARKS}])+"
_WORD = lazy(rf"[{_PAIRED}]+|{_PIECE}(?:[./\\:@'’-]+{_PIECE})*")
_SIGN = lazy("[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]")
"""Emojis and other pictures, without tones of skin."""
_ASCII_WORD = lazy(r"\w+(?:[./\\:@'-]+\w+)*")  # The same in ASCII, in a third of the time.
_SEPARATORS = lazy(r"[./\\:@'’_-]+")
_PRODUCTS = lexicon.word_list("products")  # Products whose inner capitals tell nothing apart.
_HUMP = lazy(r"[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?![a-z])\d*|[A-Z]?[a-z\d]+")


def words(text: str) -> list[str]:
    """Return the lower-case words of a text to search by, in order, without the commonest unless all are."""
    found = [word for run in runs(text) for word in words_of_run(run)]
    return [word for word in found if word not in lexicon.SEARCH_STOP] or found


def runs(text: str) -> list[str]:
    """Return the runs of characters of a text that have words in them, in order."""
    return _ASCII_WORD.findall(text) if text.isascii() else _WORD.findall(unicodedata.normalize("NFKC", text))


def signs(text: str) -> list[str]:
    """Return the emojis of a text, in order."""
    return [] if text.isascii() else _SIGN.findall(text)


def without_signs(text: str) -> str:
    """Return a text without emojis."""
    return text if text.isascii() else _SIGN.sub(" ", text)


def words_of_run(run: str) -> list[str]:
    """Return the lower-case words of a run.

    An identifier or path gives itself and its parts; ideographs, kana or hangul give their overlapping pairs.
    """
    # Nothing that goes by pairs is before U+1100, so that most texts need not ask the long expression.
    if run[0] >= "\u1100" and _PAIRED_CHAR.match(run):
        return [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    if run.isalpha() and run[1:] == run[1:].lower():
        return [run.lower()]
    return _with_parts(run)


def _with_parts(run: str) -> list[str]:
    run = run.replace("’", "'").removesuffix("'s")
    whole = run.lower()
    if whole in _PRODUCTS or whole in lexicon.CONTRACTIONS or not any(map(str.isalpha, whole)):
        return [whole]
    parts: list[str] = []
    for piece in _SEPARATORS.split(run):
        parts += map(str.lower, _HUMP.findall(piece)) if piece.isascii() else [piece.lower()]
    return [whole, *(part for part in parts if part and part != whole)]
