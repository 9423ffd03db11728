"""Versions of events: each step lifts a decoded object of one type by one version, and old bytes are read for ever.

A step may rename, add and compute from the object alone; it may not read anything else, and it never changes
once any log has an event of its version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memtape.schemas.errors import InvalidEvent

Step = Callable[[dict[str, Any]], dict[str, Any]]

UPCASTS: dict[str, tuple[Step, ...]] = {}
"""By type of event the steps from each version to the next, from 1 on. A type without a row has version 1 alone."""


def version_of(type: str) -> int:
    """Return the newest version of a type of event, which is what this reader knows."""
    return len(UPCASTS.get(type, ())) + 1


def upcast(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the decoded object at the newest version of its type, one step at a time.

    Raises `InvalidEvent` for an invalid version, or one newer than this reader.
    """
    kind, version = payload["type"], payload["v"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InvalidEvent("invalid", "v is not a version.", "$.v")
    if version > version_of(kind):
        raise InvalidEvent("newer_version", f"A {kind} event of version {version} is newer than this reader.", "$.v")
    for number, step in enumerate(UPCASTS.get(kind, ())[version - 1 :], version + 1):
        payload = {**step(payload), "v": number}
    return payload
