"""The JSON schemas of the tools' arguments: whole, for explanations of a call, and short, for hosts.

A host puts the schemas of all tools before its model at every turn, so the short form has only the needs of a
good call: names, types, values, and required arguments. A call is checked against the whole.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import inspect

from memtape.tools.verbs import Arguments

_NULL = {"type": "null"}
_TOLD = ("type", "description", "enum", "items", "properties", "required")
"""The keys of a schema that are told, in their order."""


def whole_schema(arguments: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, without references."""
    _, components = msgspec.json.schema_components((arguments,), ref_template="#/{name}")
    schema = components[arguments.__name__]
    typed: dict[str, Any] = _typed({key: value for key, value in schema.items() if key not in ("title", "description")})
    return typed


def short_schema(arguments: type[Arguments], *, rare: bool) -> dict[str, Any]:
    """Return the schema of a tool's arguments for hosts: with the `rare` ones, or without."""
    schema = _short(whole_schema(arguments))
    left_out = () if rare else _rare(arguments)
    schema["properties"] = {name: told for name, told in schema.get("properties", {}).items() if name not in left_out}
    return schema


def _rare(arguments: type[Arguments]) -> list[str]:
    """Return the names of the arguments that are marked as rare."""
    described = inspect.type_info(arguments)
    assert isinstance(described, inspect.StructType)
    found = []
    for field in described.fields:
        kind, extra = field.type, dict[str, Any]()
        while isinstance(kind, inspect.Metadata):
            extra |= kind.extra or {}
            kind = kind.type
        found += [field.name] * bool(extra.get("rare"))
    return found


def _short(schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:  # Of what may be null it is told what it is otherwise; who means null leaves it out.
        (other,) = (each for each in schema["anyOf"] if each != _NULL)
        schema = {**other, **schema}
    told = {key: schema[key] for key in _TOLD if key in schema}
    if "items" in told:
        told["items"] = _short(told["items"])
    if "properties" in told:
        told["properties"] = {name: _short(each) for name, each in told["properties"].items()}
    return told


def _typed(schema: Any) -> Any:
    """Return a schema in which a list of values also has the type string, required by some hosts."""
    if isinstance(schema, list):
        return list(map(_typed, schema))
    if not isinstance(schema, dict):
        return schema
    typed = {key: _typed(value) for key, value in schema.items()}
    return {"type": "string", **typed} if isinstance(typed.get("enum"), list) else typed
