"""The events as JSON Schema, for producers in other languages: `make schemas` writes them from the types.

A test compares the files with the types. The file of an older version stays.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec
import orjson

import memtape.schemas
from memtape.schemas.events import EVENT_TYPES, Event, EventType
from memtape.schemas.upcasts import version_of

FOLDER = Path(memtape.schemas.__file__).parent / "json"


def files() -> dict[str, bytes]:
    """Return the bytes that each file of a newest version should have."""
    how = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return {name: orjson.dumps(schema, option=how) for name, schema in json_schemas().items()}


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


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, data in files().items():
        (FOLDER / name).write_bytes(data)
        print(FOLDER / name)
