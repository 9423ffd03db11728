"""Old versions of events, read for ever: each step lifts a decoded object by one version.

A step may rename, add and compute from the object alone; it may not read anything else, and it never
changes once a version has been on anybody's log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recollect.schemas.errors import InvalidEvent
from recollect.schemas.events import VERSIONS

Step = Callable[[dict[str, Any]], dict[str, Any]]

STEPS: dict[tuple[str, int], Step] = {}
"""From (type, version) to version + 1. Every type is still at version 1, so there is no step yet."""


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
