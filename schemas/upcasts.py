"""Old versions of events, read for ever: each step lifts a decoded object by one version.

A step may rename, add and compute from the object alone; it may not read anything else, and it never
changes once a version has been on anybody's log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import VERSIONS

Step = Callable[[dict[str, Any]], dict[str, Any]]


def _recalled_2(old: dict[str, Any]) -> dict[str, Any]:
    """Version 1 could not be narrowed to origins and sessions. What is no such body is left to its type to refuse."""
    body = old["body"]
    filters = body.get("filters") if isinstance(body, dict) else None
    if not isinstance(filters, dict):
        return old
    if strange := sorted({"origins", "sessions"} & filters.keys()):
        raise InvalidEvent("invalid", f"$.body.filters: the field {strange[0]!r} is unknown.", "$.body.filters")
    return {**old, "body": {**body, "filters": {**filters, "origins": [], "sessions": []}}}


STEPS: dict[tuple[str, int], Step] = {("recalled", 1): _recalled_2}
"""From (type, version) to version + 1."""


def upcast(
    payload: dict[str, Any],
    steps: Mapping[tuple[str, int], Step] = STEPS,
    versions: Mapping[str, int] = VERSIONS,
) -> dict[str, Any]:
    """Return the decoded object at the newest version of its type, one step at a time.

    The type must be known. Raises `InvalidEvent` for a version that is newer than this reader or none.
    """
    kind, version = payload["type"], payload["v"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InvalidEvent("invalid", "v is not a version.", "$.v")
    if version > versions[kind]:
        raise InvalidEvent("newer_version", f"A {kind} event of version {version} is newer than this reader.", "$.v")
    while version < versions[kind]:
        payload = steps[kind, version](payload)
        version += 1
        payload["v"] = version
    return payload
