"""Structured answers of tools: the values of their Markdown as JSON, and their schemas.

Two hosts would show their model JSON in place of the Markdown, without its marks that make quoted text data,
so they get none (`handlers`). Texts are cut as in the Markdown, and visible; times are ISO 8601.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from memtape.schemas.times import format_time
from memtape.schemas.visible import visible
from memtape.tools.agents.mcp.bounds import MAX_ANSWER_BYTES

if TYPE_CHECKING:
    from memtape.tools.ask.archived import ArchiveList
    from memtape.tools.ask.conflicts import Conflict, ConflictList, ConflictMember
    from memtape.tools.ask.inspection import Explained, Opened
    from memtape.tools.ask.looking import Session
    from memtape.tools.ask.results import Result
    from memtape.tools.ask.status import Status
    from memtape.tools.ask.tree import PageShown

TEXT_CHARS = 8_000
RESULT_CHARS = 1_200

_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer"}
_FLAG: dict[str, Any] = {"type": "boolean"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_MAYBE: dict[str, Any] = {"type": ["string", "null"]}
_COUNTS: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "integer"}}
REDACTED = {**_COUNTS, "description": "How many secrets of which kind were taken out of what was given."}


def _object(*required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required or properties)}


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


_SAID = {"id": _TEXT, "scope": _TEXT, "kind": _TEXT, "text": _TEXT, "at": _TEXT, "actor": _TEXT, "origin": _TEXT}
_RESULTS = _object(
    "scope", "results", "left_out", scope=_TEXT, results=_list(_object(**_SAID, marks=_TEXTS)), left_out=_COUNT,
    recall=_MAYBE, cursor=_MAYBE, lag=_COUNT, notes=_TEXTS,
)  # fmt: skip
_SIDE = _object(id=_MAYBE, text=_MAYBE, origin=_MAYBE)
_DECIDED = _object(ids=_TEXTS)
_ADDED = _object("id", "scope", id=_TEXT, scope=_TEXT, replaced=_MAYBE, profile=_TEXT, hidden=_FLAG)
_PAGE_WRITTEN = _object(slug=_TEXT, version=_TEXT, beside=_COUNT)

SCHEMAS: dict[str, dict[str, Any]] = {
    "add_memory": _ADDED,
    "update_memory": _ADDED,
    "search_memories": _RESULTS,
    "list_recent": _RESULTS,
    "timeline": _RESULTS,
    "get_memory": _object(
        **_SAID, marks=_TEXTS, tags=_TEXTS, hidden=_FLAG, from_char=_COUNT, rest_chars=_COUNT,
        events=_list(_object(id=_TEXT, type=_TEXT, part=_TEXT, how=_TEXT, at=_TEXT)),
    ),
    "get_context": _object(scope=_TEXT, text=_TEXT),
    "list_sessions": _object(
        scope=_TEXT,
        sessions=_list(_object(id=_TEXT, since=_TEXT, until=_TEXT, agents=_TEXTS, turns=_COUNT, asked=_TEXT)),
    ),
    "list_conflicts": _object(
        scope=_TEXT, pending=_COUNT,
        conflicts=_list(_object(id=_TEXT, status=_TEXT, severity=_TEXT, why=_TEXT, kept=_MAYBE, a=_SIDE, b=_SIDE)),
    ),
    "list_archived": _object(
        scope=_TEXT, counts=_COUNTS,
        archived=_list(_object(id=_TEXT, kind=_TEXT, text=_TEXT, archived_at=_TEXT, why=_TEXT, hidden=_FLAG)),
    ),
    "memory_status": _object(
        scope=_TEXT, memories=_COUNT, turns=_COUNT, hidden=_COUNT, conflicts=_COUNT, lag=_COUNT, embedder=_TEXT,
        profile=_TEXT, paused=_FLAG, warnings=_TEXTS,
    ),
    "read_page": _object(
        slug=_TEXT, title=_TEXT, version=_TEXT, text=_TEXT, rest_chars=_COUNT, below=_TEXTS, diverged=_FLAG
    ),
    "new_page": _PAGE_WRITTEN,
    "edit_page": _PAGE_WRITTEN,
}  # fmt: skip
"""The schemas of tools' answers; a tool without one decides, and answers with the named ids."""


def schema_of_data(tool: str) -> dict[str, Any]:
    """Return the JSON schema of a tool's structured answer."""
    schema = SCHEMAS.get(tool, _DECIDED)
    return schema | {"properties": schema["properties"] | {"redacted": REDACTED}}


def results(found: Sequence[Result], scope: str, **more: Any) -> dict[str, Any]:
    """Return results in their order, as many as are shown of them."""
    told, size = list[dict[str, Any]](), 0
    for one in found:
        text = one.text if one.matched is None else one.matched.text
        told.append(_said(one, _cut(text, RESULT_CHARS)) | {"marks": list(map(visible, one.marks))})
        size += len(told[-1]["text"].encode("utf-8", "replace"))
        if size > MAX_ANSWER_BYTES:
            break
    return {"scope": scope, "results": told, "left_out": len(found) - len(told), **more}


def opened(found: Opened, explained: Explained, start: int) -> dict[str, Any]:
    """Return a memory, turn or summary with its text from character `start` on, and the events behind it."""
    row, event = found.memory or found.turn or found.summary, found.captured
    whole = row.text if row is not None else event.body.text  # type: ignore[union-attr]
    part = whole[start : start + TEXT_CHARS]
    said = _said(row, part) if row is not None else _captured(event, part)
    behind = [
        {"id": it.event.id, "type": it.event.type, "part": it.part, "how": it.how, "at": format_time(it.event.at)}
        for it in explained.events[-20:]
    ]
    return said | {
        "marks": list(map(visible, found.marks)), "tags": [visible(tag) for tag in getattr(row, "tags", ())],
        "hidden": found.hidden, "from_char": start, "rest_chars": max(0, len(whole) - start - len(part)),
        "events": behind,
    }  # fmt: skip


def _captured(event: Any, text: str) -> dict[str, Any]:
    about = {"id": event.id, "scope": event.scope, "kind": event.body.kind, "text": visible(text)}
    return about | {"at": format_time(event.at), "actor": visible(event.actor.name), "origin": event.actor.origin}


def _said(row: Any, text: str) -> dict[str, Any]:
    """Return the fields of a memory, turn or summary; a summary has no speaker."""
    about = {"id": row.id, "scope": row.scope, "kind": getattr(row, "kind", "summary"), "text": visible(text)}
    at, actor = getattr(row, "at", 0), getattr(row, "actor", "")
    return about | {"at": format_time(at), "actor": visible(actor), "origin": getattr(row, "origin", "system")}


def sessions(found: Iterable[Session], scope: str) -> dict[str, Any]:
    """Return the sessions of a scope."""
    told = [
        {
            "id": visible(it.id), "since": format_time(it.since), "until": format_time(it.until),
            "agents": list(map(visible, it.agents)), "turns": it.turns, "asked": _cut(visible(it.asked), RESULT_CHARS),
        }
        for it in found
    ]  # fmt: skip
    return {"scope": scope, "sessions": told}


def conflicts(found: ConflictList) -> dict[str, Any]:
    """Return the conflicts of a scope with their sides."""
    return {"scope": found.scope, "pending": found.pending, "conflicts": list(map(_conflict, found.conflicts))}


def _conflict(it: Conflict) -> dict[str, Any]:
    about = {"id": it.id, "status": it.status, "severity": it.severity, "why": it.why, "kept": it.kept}
    return about | {"a": _side(it.a), "b": _side(it.b)}


def _side(side: ConflictMember) -> dict[str, Any]:
    text = None if side.text is None else _cut(visible(side.text), RESULT_CHARS)
    return {"id": side.id, "text": text, "origin": side.origin}


def archived(found: ArchiveList) -> dict[str, Any]:
    """Return the archived texts of a scope."""
    told = [
        {
            "id": it.id, "kind": it.kind, "text": _cut(visible(it.text), RESULT_CHARS), "why": it.why,
            "archived_at": format_time(it.archived_at), "hidden": it.hidden,
        }
        for it in found.archived
    ]  # fmt: skip
    return {"scope": found.scope, "counts": found.counts, "archived": told}


def status(state: Status, scope: str) -> dict[str, Any]:
    """Return how much a scope holds, and how the home stands."""
    count = state.scopes.get(scope)
    held = dict.fromkeys(("memories", "turns", "hidden", "conflicts"), 0)
    if count is not None:
        held = {name: getattr(count, name) for name in held}
    return {
        "scope": scope, **held, "lag": state.lag, "embedder": state.embedder.effective, "profile": state.profile,
        "paused": any(it.concerns(scope) for it in state.paused), "warnings": list(map(visible, state.warnings)),
    }  # fmt: skip


def page(found: PageShown) -> dict[str, Any]:
    """Return a page with the names of the pages below it."""
    row, part = found.row, found.text[:TEXT_CHARS]
    return {
        "slug": row.slug or row.id, "title": visible(row.title), "version": row.version, "text": visible(part),
        "rest_chars": len(found.text) - len(part), "below": [visible(it.name) for it in found.below],
        "diverged": bool(row.diverged),
    }  # fmt: skip


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1] + "…"
