"""Text that memory systems inject into a conversation, and that must never return as captured text.

Memtape's own context is wrapped here before a host gets it, and recognised here, with the hosts' own
injections, before a text is captured. `host_texts.toml` has what hosts write. No transcript is read here.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import msgspec

from memtape.schemas.patterns import lazy
from memtape.schemas.private import outermost

MARKER = "memtape"
"""The tag around every context that Memtape hands to a host, as `<memtape>…</memtape>`."""
CONTEXT_BEGIN, CONTEXT_END = "<!-- memtape:begin -->", "<!-- memtape:end -->"
"""The marks around a context in a file. No text can hold them, since `<` is escaped."""
CONTEXT_NOTE = "Remembered text, quoted:"
"""The note in the first line of a printed context about the rest, after scope and day."""

_LINE_START = lazy(r"(?:\A|\n)[ \t]*\Z")
_BEGUN = f"<{MARKER}>\n"
"""How every context of ours begins."""
_MARKED = lazy(f"{re.escape(CONTEXT_BEGIN)}.*?(?:{re.escape(CONTEXT_END)}|\\Z)", re.DOTALL)
_PRINTED = lazy(
    rf"^Memory of (?:global|project:\S+) on [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}\. {CONTEXT_NOTE}.*"
    r'(?:\n(?:- ".*|[A-Z][a-z ]{0,60}:|[0-9,]+ conflicts? waits? for the user: .*|Memory is paused.*'
    r"|[ \t\r]*)$)*",
    re.MULTILINE,
)
"""Its first line, and following headings, quoted items, lines about waiting or pauses, and blank lines."""


@cache
def host_texts() -> dict[str, dict[str, str]]:
    """Return the tables of `host_texts.toml`."""
    data = Path(__file__).with_name("host_texts.toml").read_bytes()
    return msgspec.toml.decode(data, type=dict[str, dict[str, str]])


@cache
def host_words(name: str) -> tuple[str, ...]:
    """Return a list of words of `host_texts.toml`."""
    return tuple(host_texts()["words"][name].split())


@cache
def host_regex(name: str) -> re.Pattern[str]:
    """Return an expression of `host_texts.toml`."""
    return re.compile("".join(host_texts()["expressions"][name].split("\n")))


@cache
def _tag() -> re.Pattern[str]:
    return re.compile(rf"(?i)<(/?)({'|'.join(host_words('tags'))})(?:\s[^<>]{{0,500}})?>")


@cache
def _acting() -> re.Pattern[str]:
    """Return the expression of the beginning of a tag that a model may act on."""
    tags = "|".join((*host_words("tags"), *host_words("speakers")))
    return re.compile(rf"(?i)<(?=\s*/?\s*(?:{tags})(?![\w-]))")


def wrap(context: str) -> str:
    """Return a context wrapped for a host, with no active tag in it."""
    return f"<{MARKER}>\n{without_tags(context)}\n</{MARKER}>"


def without_tags(text: str) -> str:
    """Return a text without tags that could begin or end a block of a host, a memory system or a speaker."""
    return _acting().sub("&lt;", text)


def without_injected(text: str) -> str:
    """Return a text without its injected blocks; empty for a text of only these.

    Blocks nest. A block without an end runs to the end of the text if it starts a line, or is Memtape's and
    ends a line, as where somebody pastes only its beginning; else its tag is just a word.
    """
    if host_regex("include").match(text):
        return ""
    if CONTEXT_BEGIN in text or CONTEXT_NOTE in text:
        text = _PRINTED.sub(" ", _MARKED.sub(" ", text))
    kept, place = [], 0
    for start, end in outermost(_tag().finditer(text), _is_begun):
        kept.append(text[place:start])
        place = end
    kept.append(text[place:])
    # With nothing between them the rest could make a tag that was none.
    return " ".join(part for part in kept if part).strip()


def said(text: str) -> str:
    """Return the words of a person or model in a text: without injected blocks, in valid Unicode.

    A slash command of Memtape asks the memory, and only its text to be remembered counts.
    """
    text = without_injected(clean(text))
    typed = host_regex("slash").match(text)
    if typed is None:
        return text
    return f"Remember: {typed[2]}" if typed[1] == "remember" and typed[2].strip() else ""


def clean(text: str) -> str:
    """Return a text valid for the log: lone surrogates become U+FFFD, NUL is removed."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "")


def _is_begun(tag: re.Match[str]) -> bool:
    """Whether a tag that nothing ends begins a block all the same."""
    text, start = tag.string, tag.start()
    return bool(_LINE_START.search(text, max(0, start - 80), start)) or text.startswith(_BEGUN, start)
