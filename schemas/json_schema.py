"""The events as JSON Schema, for producers in other languages. The files in `schemas/json` are made from this.

`python -m memtape.tools.json_schemas` writes them; a test holds them to the types. The file of an older version stays.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from memtape.schemas.events import EVENT_TYPES, Event, EventType
from memtape.schemas.upcasts import version_of


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema (2020-12) of every type of event at its newest version, by file name."""
    return {f"{name}.v{version_of(name)}.json": _schema(name, known) for name, known in EVENT_TYPES.items()}


def _schema(name: str, known: EventType) -> dict[str, Any]:
    hints = {field.name: field.type for field in msgspec.structs.fields(Event)}
    hints |= {"body": known.body | None, "type": Literal[name], "v": Literal[version_of(name)]}
    event = msgspec.defstruct(name, list(hints.items()), forbid_unknown_fields=True, kw_only=True)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(event)}
    portable: dict[str, Any] = _portable(schema)
    return portable


def _portable(value: Any) -> Any:
    """Python ends a pattern with \\Z, other languages with $."""
    if isinstance(value, dict):
        return {key: _portable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_portable(inner) for inner in value]
    return value.replace("\\Z", "$") if isinstance(value, str) else value
