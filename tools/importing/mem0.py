"""Memories of mem0, as `get_all` answers or an export holds them: `{"results": [{"id", "memory", …}]}`, or a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memtape.tools.capture.injected import clean, said
from memtape.tools.capture.native_ids import MEM0, versioned
from memtape.tools.importing import skips
from memtape.tools.importing.records import Found, Record, text_of, time_of
from memtape.tools.importing.skips import Skipped

_NO_ID = Skipped("a memory without an id", problem=True)


def fits(item: Any) -> bool:
    """Whether an item is a memory of mem0."""
    return isinstance(item, dict) and isinstance(item.get("memory"), str)


def take(item: dict[str, Any]) -> Iterator[Found]:
    """Yield a memory's fact. A memory changed by mem0 since then becomes another fact."""
    text, id = item["memory"], text_of(item, "id")
    told = said(text)
    if not told:
        yield skips.INJECTED if text.strip() else skips.EMPTY
    elif id is None:
        yield _NO_ID
    else:
        metadata = item.get("metadata")
        category = metadata.get("category") if isinstance(metadata, dict) else None
        categories = item.get("categories") if isinstance(item.get("categories"), list) else [category]
        yield Record(
            source=MEM0,
            native_id=versioned(id, told),
            kind="fact",
            origin="model",
            actor=clean(text_of(item, "agent_id") or MEM0),
            text=told,
            at=time_of(item.get("updated_at")) or time_of(item.get("created_at")),
            session=text_of(item, "run_id"),
            tags=tuple(clean(tag) for tag in categories or () if isinstance(tag, str) and tag.strip())[:64],
        )
