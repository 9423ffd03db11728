"""Old versions of events, read for ever: each step lifts a decoded object by one version.

A step may rename, add and compute from the object alone; it may not read anything else, and it never changes
once any log has an event of its version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from memtape.schemas.errors import InvalidEvent

Step = Callable[[dict[str, Any]], dict[str, Any]]


def recalled_2(old: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had no filters by origin and session. Its type refuses an invalid body."""
    body = old["body"]
    filters = body.get("filters") if isinstance(body, dict) else None
    if not isinstance(filters, dict):
        return old
    if strange := sorted({"origins", "sessions"} & filters.keys()):
        raise InvalidEvent("invalid", f"$.body.filters: the field {strange[0]!r} is unknown.", "$.body.filters")
    return {**old, "body": {**body, "filters": {**filters, "origins": [], "sessions": []}}}


def recalled_3(old: dict[str, Any]) -> dict[str, Any]:
    """Version 2 had no exclusions, tiers, quotas or pages. Its type refuses an invalid body."""
    body = old["body"]
    filters = body.get("filters") if isinstance(body, dict) else None
    if not isinstance(filters, dict):
        return old
    new: dict[str, list[str]] = {"not_kinds": [], "not_origins": [], "not_sessions": [], "not_tags": [], "tiers": []}
    if strange := sorted(new.keys() & filters.keys()):
        raise InvalidEvent("invalid", f"$.body.filters: the field {strange[0]!r} is unknown.", "$.body.filters")
    if strange := sorted({"after", "quotas"} & body.keys()):
        raise InvalidEvent("invalid", f"$.body: the field {strange[0]!r} is unknown.", "$.body")
    return {**old, "body": {**body, "after": 0, "filters": {**filters, **new}, "quotas": {}}}


def recalled_4(old: dict[str, Any]) -> dict[str, Any]:
    """Version 3 had no deep searches. An invalid body is left for its type to refuse."""
    body = old["body"]
    if not isinstance(body, dict):
        return old
    if "trace" in body:
        raise InvalidEvent("invalid", "$.body: the field 'trace' is unknown.", "$.body")
    return {**old, "body": {**body, "trace": []}}


def linked_2(old: dict[str, Any]) -> dict[str, Any]:
    """Version 1 was about memories alone. An invalid body is left for its type to refuse."""
    body = old["body"]
    if not isinstance(body, dict):
        return old
    if "slug" in body:
        raise InvalidEvent("invalid", "$.body: the field 'slug' is unknown.", "$.body")
    if "relation" in body and body["relation"] not in ("holds", "replaced_by"):
        raise InvalidEvent("invalid", "$.body.relation: version 1 knows holds and replaced_by.", "$.body.relation")
    return {**old, "body": {**body, "slug": None}}


def decided_2(old: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had no conflicts between memories. An invalid body is left for its type to refuse."""
    return _without_operation(old, "conflict", "no operation of version 1 is a conflict")


def decided_3(old: dict[str, Any]) -> dict[str, Any]:
    """Version 2 had no summaries in a model's words. An invalid body is left for its type to refuse."""
    return _without_operation(old, "reword", "no operation of version 2 tells a summary in other words")


def _without_operation(old: dict[str, Any], op: str, fault: str) -> dict[str, Any]:
    """Return a decision unchanged. Raise `InvalidEvent` if it has an operation unknown to its version."""
    body = old["body"]
    operations = body.get("operations") if isinstance(body, dict) else None
    if isinstance(operations, list) and any(isinstance(it, dict) and it.get("op") == op for it in operations):
        raise InvalidEvent("invalid", f"$.body.operations: {fault}.", "$.body.operations")
    return old


def upcast(payload: dict[str, Any], steps: Sequence[Step]) -> dict[str, Any]:
    """Return the decoded object at the newest version of its type, step by step; `steps` start at version 1.

    Raises `InvalidEvent` for an invalid version, or one newer than this reader.
    """
    kind, version = payload["type"], payload["v"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InvalidEvent("invalid", "v is not a version.", "$.v")
    if version > len(steps) + 1:
        raise InvalidEvent("newer_version", f"A {kind} event of version {version} is newer than this reader.", "$.v")
    for number, step in enumerate(steps[version - 1 :], version + 1):
        payload = {**step(payload), "v": number}
    return payload
