"""Texts as the fold and the search read them: the normal text, the key of the content, the words.

The rule of this file: nothing is dropped by default. Every character of a text is in its key unless a rule
here or a list in `lexicon` gives a reason to drop it, so that texts of different meaning have different keys.
Rules of English apply to English only. No thresholds and no statistics live here, and no word lists.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from memtape.schemas.patterns import lazy
from memtape.state.text import lexicon

# Scripts that are written without spaces and of which a character is about a word: ideographs and kana.
_CJK = "\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
_CJK += "\U00020000-\U0003ffff"
_CJK_CHAR = lazy(f"[{_CJK}]")
_CJK_OR_RUN = lazy(f"[{_CJK}]|[^{_CJK}]+")

_OPENERS = "\"'([{“‘„‚«¿¡「『【"
_CLOSERS = "\"')]}”’»,;:?!.…」』】。、"
_VERBATIM = frozenset("\"'[]{}“”‘„‚«»「」『』【】")
_PLAIN = lazy(r"[^\W\d_]+(?:['’‑-][^\W\d_]+)*")
_JOINT = lazy(r"(['’‑-])")
_LETTERS = lazy(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_BACKTICKS = lazy("`+")

# What is remembered of single chunks saves most of the work; long chunks are rare and would fill the memory.
_CACHED = 32_768
_SHORT = 40


# --- The normal text ---


def normal_text(text: str) -> str:
    """Return the text in NFC, its white space folded, its plain words in lower case.

    Two texts with one normal text are one memory, in any context. So case stays in code, paths and
    identifiers, and wherever it distinguishes two words.
    """
    text = " ".join(unicodedata.normalize("NFC", text).split())
    if text == text.lower():
        return text
    found = frozenset(_LETTERS.findall(text.lower()))
    plain = _is_english(found) and found.isdisjoint(lexicon.ABOUT_TYPING)
    chunks = _chunks(text)
    before = ""
    for index, chunk in enumerate(chunks):
        if chunk != chunk.lower() and "`" not in chunk and not is_unit(before, chunk):
            lower = _lower_chunk if len(chunk) <= _SHORT else _lower_chunk.__wrapped__
            opens = _opens_sentence(index, before) and not _is_named(chunk, chunks[index + 1 : index + 2])
            chunks[index] = lower(chunk, opens, plain)
        before = chunk
    return unicodedata.normalize("NFC", " ".join(chunks))


_UNIT = lazy(r"[^\W\d_]{1,3}[.,;:!?)]*")
_NO_CASE = frozenset(
    "am pm usd eur gbp min sec hr hrs kb mb gb tb jan feb mar apr may jun jul aug sep oct nov dec".split()
)
"""Units behind a number with the same meaning in small letters and capitals."""


def is_unit(before: str, word: str) -> bool:
    """Return whether a word may be a unit behind a number, with meaningful capitals: `5 mg` is not `5 Mg`."""
    return before[-1:].isdigit() and _UNIT.fullmatch(word) is not None and word.strip(".,;:!?)").lower() not in _NO_CASE


def _is_named(word: str, after: list[str]) -> bool:
    """Return whether a word that opens a sentence is a name: Mark approved, but `Mark the page` is none."""
    if word.lower().removesuffix("'s") not in lexicon.FIRST_NAMES or not after:
        return False
    return after[0].lower().strip(_CLOSERS) not in lexicon.BEHIND_VERBS


def _is_english(found: frozenset[str]) -> bool:
    """Return whether a text with these words may be read as English."""
    return found.isdisjoint(lexicon.FOREIGN) and not found.isdisjoint(lexicon.ENGLISH)


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
    if index == 0 or (index == 1 and before.lower() in lexicon.ANNOUNCERS):
        return True
    return before.rstrip("\"')]”’»").endswith((".", "!", "?", "…")) and before.lower() not in lexicon.ABBREVIATIONS


@lru_cache(_CACHED)
def _lower_chunk(chunk: str, opens: bool, plain: bool) -> str:
    """Return a chunk with its words in lower case; words inside a sentence only in `plain` text."""
    opened, core, closed = _peeled(chunk)
    if not (opens or plain) or not _PLAIN.fullmatch(core) or not _VERBATIM.isdisjoint(opened + closed):
        return chunk
    if core.lower().replace("’", "'") in lexicon.CONTRACTIONS:
        return chunk.lower()
    parts = _JOINT.split(core)  # Word, joint, word, joint, word.
    parts[0] = _lower_word(parts[0], opens, plain)
    for index in range(2, len(parts), 2):
        clitic = parts[index - 1] in "'’" and len(parts[index]) == 1
        parts[index] = parts[index].lower() if clitic else _lower_word(parts[index], False, plain)
    return opened + "".join(parts) + closed


def _lower_word(word: str, opens: bool, plain: bool) -> str:
    """Return a word in lower case, or unchanged if its capitals have a meaning."""
    lower = word.lower()
    if len(word) == 1:
        return lower if (plain and word == "I") or (opens and word == "A") else word
    if word.isupper():
        tells = not plain or lower not in lexicon.PLAIN_CAPITALS
    elif word[1:] != lower[1:]:
        tells = not plain or lower not in lexicon.PLAIN_PRODUCTS
    elif opens:
        tells = lower in lexicon.NAMES
    else:
        tells = not plain or lower in lexicon.NAMES or lower in lexicon.NAMES_INSIDE
    return word if tells else lower


def _peeled(run: str) -> tuple[str, str, str]:
    """Return the opening marks, the core and the closing marks of a run."""
    rest = run.lstrip(_OPENERS)
    core = rest.rstrip(_CLOSERS)
    return run[: len(run) - len(rest)], core, rest[len(core) :]


# --- The key of the content ---

# Marks that differ between keyboards and not in meaning; the wide forms of ASCII that Chinese and Japanese text has.
_TYPOGRAPHY = str.maketrans(
    dict(zip("“”„‟‘’‚‛‑‐", "\"\"\"\"''''--", strict=True))
    | {"…": "...", "\u00ad": ""}
    | {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
)

_FINAL_STOP = lazy(r"""(?<=[\w)\]"'”’%`])\.$|(?<=\w)[。！]+$""")
_FINAL_BANG = lazy(r"""(?:^|\s)["'(]?([^\W\d_]{2,}(?:['’-][^\W\d_]+)*)(!+)$""")
_NUMBER = lazy(r"\d[\d.,:]*")
_WITH_UNIT = lazy(r"(\d[\d.,:]*)(%|[kcm]m|kg|ms|[KMGT]B|[kMG]?Hz|px|[ap]m|[AP]M)")
_CODE = lazy(r"`([\w./\\:@-]*\w)`")
_QUOTES = frozenset("\"'")
_TOUCHED = frozenset(["the", *lexicon.CONTRACTIONS, *lexicon.SYNONYMS, *lexicon.UNITS])


def content_key(text: str) -> tuple[str, ...]:
    """Return the content tokens of a text in their order; on the lexical floor, equal keys are one memory.

    Punctuation has tokens of its own, and a different one for a separate mark: `git add .` is not `git add`.
    """
    text = normal_text(text)
    tokens = _tokens(_without_end(text))
    found = frozenset(tokens)
    if not (found.isdisjoint(_QUOTES) and found.isdisjoint(lexicon.ABOUT_WORDS) and _is_english(found)):
        return tuple(tokens)
    tokens = _without_lead_in(tokens)
    if found.isdisjoint(_TOUCHED):
        return tuple(tokens)
    names = not found.isdisjoint(lexicon.ABOUT_NAMES)
    read: list[str] = []
    for index, token in enumerate(tokens):
        if token in _TOUCHED:
            read += _reading(tokens, index, names)
        else:
            read.append(token)
    return tuple(read)


def _without_end(text: str) -> str:
    """Return a text without its last full stop or exclamation marks, unless they belong to the last word."""
    if text.endswith("!"):
        bang = _FINAL_BANG.search(text)
        return text[: bang.start(2)] if bang and bang[1] not in lexicon.BANGS else text
    return _FINAL_STOP.sub("", text) if text.endswith((".", "。", "！")) else text


def _tokens(text: str) -> list[str]:
    wide = not text.isascii()
    tokens: list[str] = []
    for chunk in _chunks(text):
        found = _chunk_tokens(chunk) if len(chunk) <= _SHORT else _chunk_tokens.__wrapped__(chunk)
        if wide and tokens and found and _CJK_CHAR.match(tokens[-1]) and _CJK_CHAR.match(found[0]):
            tokens.append(" ")  # A space between ideographs or kana says where a word ends.
        tokens += found
    return tokens


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
    if core:
        return (*opened, *_core_tokens(core), *closed)
    return (" " + run,) if run else ()


def _core_tokens(core: str) -> tuple[str, ...]:
    if core.isalpha():
        return (core,)
    with_unit = _WITH_UNIT.fullmatch(core)
    if with_unit:
        return with_unit[1], with_unit[2]
    code = _CODE.fullmatch(core)
    if code and not code[1].isalpha() and code[1] not in _TOUCHED:
        return (code[1],)  # It would be no word without the backticks either.
    return (core,)


def _without_lead_in(tokens: list[str]) -> list[str]:
    if tokens and tokens[0] in lexicon.BULLETS and len(tokens) > 1 and tokens[1].isalpha() and len(tokens[1]) > 1:
        tokens = tokens[1:]
    if tokens and tokens[0] in lexicon.LEAD_INS:
        for lead_in, followers in lexicon.LEAD_INS[tokens[0]]:
            size = len(lead_in)
            if tuple(tokens[:size]) == lead_in and len(tokens) > size and (not followers or tokens[size] in followers):
                return tokens[size:]
    return tokens


def _reading(tokens: list[str], index: int, names: bool) -> tuple[str, ...]:
    """Return the tokens for a token with variants, given its neighbours and whether names are possible."""
    token = tokens[index]
    if token in lexicon.CONTRACTIONS:
        return lexicon.CONTRACTIONS[token]
    before = tokens[index - 1] if index else "."
    if token == "the":
        return () if before == "." and _is_plain_subject(tokens[index + 1 : index + 3]) else ("the",)
    counted = before in lexicon.NUMBERS or _NUMBER.fullmatch(before) is not None
    if token in lexicon.UNITS:
        return lexicon.UNITS[token] if counted else (token,)
    return (token,) if names or _is_literal(token, before, counted) else lexicon.SYNONYMS[token]


def _is_literal(token: str, before: str, counted: bool) -> bool:
    """Return whether the word before makes a token literal: `Five Guys`, `60 dB`, `in docs`, `keep mum`."""
    if token in lexicon.NUMBERS:
        return before == "."
    if token in lexicon.SPELLINGS:
        return False
    return counted or before in lexicon.LITERAL_AFTER or (before, token) in lexicon.OTHER_READINGS


def _is_plain_subject(tokens: list[str]) -> bool:
    """Return whether `the` before these two tokens is without meaning: `the user prefers`."""
    if not tokens:
        return False
    noun = tokens[0].removesuffix("'s")
    return noun in lexicon.ONE_OF_A_KIND and (noun != tokens[0] or tokens[-1] in lexicon.FINITE)


# --- Words to search by ---

# Marks that are no letters to `re` but belong to words, as the vowel signs of India do; whole blocks are near enough.
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u0670\u0900-\u109f\u1ab0-\u1aff\u1dc0-\u1dff"
_PAIRED = _CJK + "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_PAIRED_CHAR = lazy(f"[{_PAIRED}]")
_PIECE = rf"(?:[^\W{_PAIRED}]|[{_MARKS}])+"
_WORD = lazy(rf"[{_PAIRED}]+|{_PIECE}(?:[./\\:@'’-]+{_PIECE})*")
_PLAIN_WORD = lazy(r"\w+(?:[./\\:@'’-]+\w+)*")
"""The same where a text has nothing but plain characters, in a third of the time."""
_SEPARATORS = lazy(r"[./\\:@'’_-]+")
_HUMP = lazy(r"[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?![a-z])\d*|[A-Z]?[a-z\d]+")


def words(text: str) -> list[str]:
    """Return the lower-case words of a text for searching, in order, without the commonest unless all are such."""
    found = [word for run in runs(text) for word in words_of_run(run)]
    return [word for word in found if word not in lexicon.SEARCH_STOP] or found


def runs(text: str) -> list[str]:
    """Return the runs of characters of a text that have words in them, in order."""
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    plain = text.isascii() or all(map(_is_plain, dict.fromkeys(text)))
    return (_PLAIN_WORD if plain else _WORD).findall(text)


def words_of_run(run: str) -> list[str]:
    """Return the lower-case words of a run.

    An identifier or path gives itself and its parts; a run of ideographs, kana or hangul gives its overlapping pairs.
    """
    # Nothing that goes by pairs is before U+1100, so that most texts need not ask the long expression.
    if run[0] >= "\u1100" and _PAIRED_CHAR.match(run):
        return _pairs(run)
    if run.isalpha() and run[1:] == run[1:].lower():
        return [run.lower()]
    return _with_parts(run)


def _is_plain(char: str) -> bool:
    """Return whether a character is Latin, Greek, Cyrillic or a sign, in neither `_PAIRED` nor `_MARKS`."""
    return char < "\u0300" or "\u0370" <= char < "\u0483" or "\u1e00" <= char < "\u2e80"


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


def _with_parts(run: str) -> list[str]:
    run = run.replace("’", "'").removesuffix("'s")
    whole = run.lower()
    if whole in lexicon.PLAIN_PRODUCTS or whole in lexicon.CONTRACTIONS or not any(map(str.isalpha, whole)):
        return [whole]
    parts: list[str] = []
    for piece in _SEPARATORS.split(run):
        parts += map(str.lower, _HUMP.findall(piece)) if piece.isascii() else [piece.lower()]
    return [whole, *(part for part in parts if part and part != whole)]
