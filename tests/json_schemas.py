"""The events and the answers of verbs as JSON Schema, for other languages: `make schemas` writes them.

A test compares the files with the types. The file of an older version stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import orjson

import memtape.schemas
from memtape.schemas.events import EVENT_TYPES, Event, EventType, version_of
from memtape.tools.table import VERBS
from memtape.tools.verb import answers_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FOLDER = Path(memtape.schemas.__file__).parent / "json"


def files() -> dict[str, bytes]:
    """Return the bytes that each file of a newest version should have."""
    how = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    schemas = json_schemas() | answer_schemas()
    return {name: orjson.dumps(schema, option=how) for name, schema in schemas.items()}


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema (2020-12) of every type of event at its newest version, by file name."""
    return {f"{name}.v{version_of(name)}.json": _schema(name, known) for name, known in EVENT_TYPES.items()}


def answer_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of the answer of every verb, by file name below `answers`."""
    found = {}
    for name in VERBS:
        kind = portable_type(answers_of(VERBS[name]))
        words = name.replace(" --", "_").replace(" -", "_without_words").replace(" ", "_").replace("-", "_")
        schema = {"$schema": DIALECT, "title": f"The answer of memtape {name}", **msgspec.json.schema(kind)}
        found[f"answers/{words}.json"] = _portable(schema)
    return found


def portable_type(kind: Any, made: dict[Any, Any] | None = None) -> Any:
    """Return a type whose JSON msgspec can describe: an event, or one of several structs, is any object."""
    made = {} if made is None else made
    inner = get_args(kind)
    if kind is Path:
        return str
    if Counter in (kind, get_origin(kind)):
        return dict[str, int]
    if kind is Event or (isinstance(kind, type) and hasattr(kind, "_fields")):
        return dict[str, Any]
    if get_origin(kind) in (Union, UnionType):
        if sum(_is_struct(it) for it in inner) > 1:
            return dict[str, Any]
        return Union[tuple(portable_type(it, made) for it in inner)]  # noqa: UP007
    if hasattr(kind, "__metadata__"):
        return Annotated[(portable_type(inner[0], made), *kind.__metadata__)]
    if get_origin(kind) in (list, tuple, dict, Mapping):
        parts = tuple(it if it is ... else portable_type(it, made) for it in inner)
        if get_origin(kind) in (dict, Mapping):
            return dict[str, parts[1]]  # type: ignore[valid-type]
        return get_origin(kind)[parts]
    if not _is_struct(kind):
        return kind
    if kind not in made:
        made[kind] = dict[str, Any]  # Where it holds itself.
        hints = get_type_hints(kind, include_extras=True)
        names = zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True)
        fields = [(told, portable_type(hints[name], made)) for told, name in names]
        made[kind] = msgspec.defstruct(kind.__name__, [(name, it, None) for name, it in fields], kw_only=True)
    return made[kind]


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _schema(name: str, known: EventType) -> dict[str, Any]:
    hints = {field.name: field.type for field in msgspec.structs.fields(Event)}
    hints |= {"body": known.body | None, "type": Literal[name], "v": Literal[version_of(name)]}
    event = msgspec.defstruct(name, list(hints.items()), forbid_unknown_fields=True, kw_only=True)
    schema = {"$schema": DIALECT, **msgspec.json.schema(event)}
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
    (FOLDER / "answers").mkdir(parents=True, exist_ok=True)
    for name, data in files().items():
        (FOLDER / name).write_bytes(data)
        print(FOLDER / name)
