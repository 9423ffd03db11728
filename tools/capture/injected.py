"""Text that memory systems inject into a conversation, and that must never return as captured text.

Memtape's own context is wrapped here before a host gets it, and recognised here, with the hosts' own
injections, before a text is captured. Nothing here reads a transcript or knows a host's rows.
"""

from __future__ import annotations

import re

from memtape.schemas.patterns import lazy

MARKER = "memtape"
"""The tag around every context that Memtape hands to a host, as `<memtape>…</memtape>`."""

_PAIRED = tuple(
    """
    memtape memtape-context hook_context system-reminder session_context environment_context user_instructions
    user-memory-input state_snapshot task-notification agent-message teammate-message local-command-stdout
    local-command-stderr local-command-caveat command-name command-message command-args claude-mem-context
    supermemory-context relevant-memories relevant_memories
    """.split()
)
"""Tags with content only by a host or memory system: hook contexts, reminders, includes, command echoes."""

MAX_DEPTH = 32
"""An end looks this many open blocks back for its start."""

_SPEAKERS = ("system", "assistant", "human", "function_results", "tool_result")
"""Tags that a model may read as a change of speaker. They inject nothing, so a text may hold them."""

_TAG = lazy(rf"<(/?)({'|'.join(_PAIRED)})(?:\s[^<>]{{0,500}})?>", re.IGNORECASE)
_ACTING = lazy(rf"<(?=\s*/?\s*(?:{'|'.join((*_PAIRED, *_SPEAKERS))})(?![\w-]))", re.IGNORECASE)
_LINE_START = lazy(r"(?:\A|\n)[ \t]*\Z")
_BEGUN = f"<{MARKER}>\n"
"""How every context of ours begins."""
_INCLUDE = lazy(r"\A\s*# (?:AGENTS|CLAUDE|GEMINI)(?:\.\w+)?\.md instructions\b", re.IGNORECASE)


CONTEXT_BEGIN, CONTEXT_END = "<!-- memtape:begin -->", "<!-- memtape:end -->"
"""The marks around a context in a file. No text can hold them, since `<` is escaped."""
CONTEXT_NOTE = "Remembered text, quoted:"
"""The note in the first line of a printed context about the rest, after scope and day."""

_MARKED = lazy(f"{re.escape(CONTEXT_BEGIN)}.*?(?:{re.escape(CONTEXT_END)}|\\Z)", re.DOTALL)
_PRINTED = lazy(
    rf"^Memory of (?:global|project:\S+) on [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}\. {CONTEXT_NOTE}.*"
    r'(?:\n(?:- ".*|[A-Z][a-z ]{0,60}:|[0-9,]+ conflicts? waits? for the user: .*|Memory is paused.*'
    r"|[ \t\r]*)$)*",
    re.MULTILINE,
)
"""Its first line, and following headings, quoted items, lines about waiting or pauses, and blank lines."""

_COMMANDS = "search|show|why|recent|timeline|sessions|given|log|diff|status|context|conflicts|edges|compare"
_ASKING = lazy(
    rf"\bmemtape[\\\"',\s]+(?:{_COMMANDS}|eval|verify)\b|\bmemtape[/\\]vault\b"
    r"|[/\\]vault[/\\](?:global|projects[/\\][^/\\]+)[/\\]"
)
"""A shell command that asks Memtape, its words apart or in a list, or any tool that reads its vault."""
MAX_ARGUMENTS_CHARS = 100_000

_SLASH = lazy(
    r"\A/(?:(?:plugin:memtape:)?memtape:|mcp__\w*memtape\w*__)(recall|remember|why|forget)\b"
    r"(?:[ \t]*\(MCP\))?\s*(.*)\Z",
    re.DOTALL,
)
"""A slash command of the plugin, or a prompt of the server, as hosts have it typed."""

_MEMORY_SERVER = lazy(
    r"memtape|(?:^|[^a-z0-9])(?:claude[-_]?mem|cognee|supermemory|basic[-_]memory|mem0|openmemory|graphiti)(?![a-z0-9])"
    r"|(?:^|__)(?:memory|letta|zep)(?:__|[./:])",
    re.IGNORECASE,
)
_MEMORY_TOOL = lazy(
    r"(?:^|__|\.)(?:(?:add|search|get|list|update|delete|forget|restore)_memor(?:y|ies)|memory_\w+|get_context"
    r"|mark_used|list_recent|list_sessions|search_nodes|open_nodes|read_graph|search_memory_\w+|search_memory|save_memory|search_notes|read_note"
    r"|view_note|write_note|build_context|recent_activity|get_observations|smart_search|mem-search)\Z",
    re.IGNORECASE,
)


def wrap(context: str) -> str:
    """Return a context wrapped for a host, with no active tag in it."""
    return f"<{MARKER}>\n{without_tags(context)}\n</{MARKER}>"


def without_tags(text: str) -> str:
    """Return a text without tags that could begin or end a block of a host, a memory system or a speaker."""
    return _ACTING.sub("&lt;", text)


def is_memory_tool(name: str | None) -> bool:
    """Whether a tool answers from a memory; its answers must not be captured again."""
    return name is not None and (_MEMORY_TOOL.search(name) or _MEMORY_SERVER.search(name)) is not None


def asks_memory(arguments: object) -> bool:
    """Whether a tool's arguments call Memtape's command or read its vault."""
    return _ASKING.search(str(arguments)[:MAX_ARGUMENTS_CHARS]) is not None


def without_injected(text: str) -> str:
    """Return a text without its injected blocks; empty for a text of only these.

    Blocks nest. A block without an end runs to the end of the text if it starts a line, or is Memtape's and
    ends a line, as where somebody pastes only its beginning; else its tag is just a word.
    """
    if _INCLUDE.match(text):
        return ""
    if CONTEXT_BEGIN in text or CONTEXT_NOTE in text:
        text = _PRINTED.sub(" ", _MARKED.sub(" ", text))
    kept, place = [], 0
    for start, end in _blocks(text):
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
    typed = _SLASH.match(text)
    if typed is None:
        return text
    return f"Remember: {typed[2]}" if typed[1] == "remember" and typed[2].strip() else ""


def clean(text: str) -> str:
    """Return a text valid for the log: lone surrogates become U+FFFD, NUL is removed."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "")


def _blocks(text: str) -> list[tuple[int, int]]:
    """Return the outermost blocks in order, as (start, end)."""
    opened: list[tuple[str, int]] = []
    closed: list[tuple[int, int]] = []
    for found in _TAG.finditer(text):
        tag = found[2].lower()
        if not found[1]:
            opened.append((tag, found.start()))
        elif any(tag == name for name, _ in opened[-MAX_DEPTH:]):
            while opened[-1][0] != tag:
                opened.pop()
            _close(closed, opened.pop()[1], found.end())
    endless = next((start for _, start in opened if _is_begun(text, start)), None)
    if endless is not None:
        _close(closed, endless, len(text))
    return closed


def _is_begun(text: str, start: int) -> bool:
    """Whether a tag that nothing ends begins a block all the same."""
    return bool(_LINE_START.search(text, max(0, start - 80), start)) or text.startswith(_BEGUN, start)


def _close(closed: list[tuple[int, int]], start: int, end: int) -> None:
    """Append a span; drop earlier spans inside the new span."""
    while closed and closed[-1][0] > start:
        closed.pop()
    closed.append((start, end))
