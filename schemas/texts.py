"""Every text of an event, with its path: the input of erasing, redaction and counts of placeholders.

The types of the bodies decide which fields hold text: a new field of type `str` is a text unless its type is
an id, a scope or one of a few fixed words. The meaning of a text is not read here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from memtape.schemas.events import EVENT_TYPES, Body, Event

T = TypeVar("T", bound=msgspec.Struct)
Role = Literal["statement", "label", "name", "program"]
"""The role of a text: spoken words, a label, a name, or a program's output."""

_NAMES_OF: dict[Role, str] = {
    "statement": "text caption query reason note title summary hints rest",
    "name": "actors branch sessions not_sessions",
    "program": "by lanes embedder settings",
}
"""The names of the fields of each role; all others are labels."""
_ROLES: dict[str, Role] = {name: role for role, names in _NAMES_OF.items() for name in names.split()}


class Said(NamedTuple):
    """A text of an event, its path in the event (`$.body.tags[1]`) and its role."""

    place: str
    text: str
    role: Role


def texts_of(event: Event) -> Iterator[Said]:
    """Yield every text of an event: those of its body, and the names of session and actor in its header."""
    if event.body is not None:
        yield from texts_of_body(event.body)
    if event.session is not None:
        yield Said("$.session", event.session, "name")
    yield Said("$.actor.name", event.actor.name, "name")


def texts_of_body(body: Body) -> list[Said]:
    """Return every text of a body, in the order of its fields."""
    found: list[Said] = []

    def note(said: Said) -> str:
        found.append(said)
        return said.text

    with_texts(body, note)
    return found


def with_texts(body: T, change: Callable[[Said], str]) -> T:
    """Return a body, or a struct inside a body, with each text replaced by `change` of it."""
    changed: T = _changed(body, "$.body", None, change)
    return changed


def _changed(value: Any, place: str, role: Role | None, change: Callable[[Said], str]) -> Any:
    if isinstance(value, str):
        return change(Said(place, value, role or "label"))
    if isinstance(value, tuple):
        return tuple(_changed(inner, f"{place}[{n}]", role, change) for n, inner in enumerate(value))
    if type(value) in _FIELDS:
        fields = {}
        for name, own in _FIELDS[type(value)]:
            inner = getattr(value, name)
            if inner is None or inner == ():
                continue
            at, told = f"{place}.{name}", role if role == "program" else own
            new = _changed(inner, at, told, change)
            if new != inner:  # Most texts stay as they are.
                fields[name] = new
        return msgspec.structs.replace(value, **fields) if fields else value
    if isinstance(value, dict):
        found = {}
        for key, inner in value.items():
            new = change(Said(place, key, role or "label"))
            found[new] = inner if isinstance(inner, str) else _changed(inner, f"{place}.{key}", role, change)
        return found
    return value


def _fields(found: inspect.Type, fields: dict[type, tuple[tuple[str, Role], ...]]) -> bool:
    """Note the fields with text of each struct that a type is made of; whether the type holds any text."""
    match found:
        case inspect.StrType(pattern=pattern):
            return pattern is None
        case inspect.StructType(cls=cls, fields=own):
            named = [field.name for field in own if _fields(field.type, fields)]
            fields[cls] = tuple((name, _ROLES.get(name, "label")) for name in named)
            return bool(named)
        case inspect.UnionType(types=types):
            return sum(_fields(inner, fields) for inner in types) > 0  # `any` would not look at all of them.
        case inspect.VarTupleType(item_type=inner):
            return _fields(inner, fields)
        case inspect.DictType(key_type=key, value_type=value):
            return sum(_fields(inner, fields) for inner in (key, value)) > 0
        case _:
            return isinstance(found, (inspect.AnyType, inspect.CustomType, inspect.RawType))


_FIELDS: dict[type, tuple[tuple[str, Role], ...]] = {}
"""The fields with text of every body and of its structs; built here, since no two threads may inspect a type
at once.
"""
for _known in EVENT_TYPES.values():
    _fields(inspect.type_info(_known.body), _FIELDS)
