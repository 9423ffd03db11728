"""Writes `schemas/json` from the types: `make schemas`, after a change of `schemas.events`."""

from __future__ import annotations

from pathlib import Path

import orjson

import memtape.schemas
from memtape.schemas.json_schema import json_schemas

FOLDER = Path(memtape.schemas.__file__).parent / "json"


def files() -> dict[str, bytes]:
    """Return the bytes that each file of a newest version should have."""
    return {
        name: orjson.dumps(schema, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
        for name, schema in json_schemas().items()
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, data in files().items():
        (FOLDER / name).write_bytes(data)
        print(FOLDER / name)
