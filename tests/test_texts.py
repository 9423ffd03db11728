"""Every text of an event is yielded with its place, whatever its type, and no field of a body can be forgotten."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import msgspec
import pytest
from builders import event

from memtape.schemas.events import EVENT_TYPES
from memtape.schemas.texts import texts_of, texts_of_body, with_texts


def filled(hint: Any, place: str, texts: dict[str, str]) -> Any:
    """Make a value of a type in which every text is its place, and note it; ids, scopes and fixed words are none."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is typing.Annotated:
        pattern = next((meta.pattern for meta in arguments[1:] if isinstance(meta, msgspec.Meta)), None)
        return "an id" if arguments[0] is str and pattern else filled(arguments[0], place, texts)
    if origin in (typing.Union, types.UnionType):
        return filled(next(argument for argument in arguments if argument is not type(None)), place, texts)
    if origin is Literal:
        return arguments[0]
    if origin is tuple:
        return tuple(filled(arguments[0], f"{place}[{number}]", texts) for number in range(2))
    if origin is dict and typing.get_origin(arguments[0]) is Literal:
        return {typing.get_args(arguments[0])[0]: filled(arguments[1], place, texts)}
    if origin is dict:
        texts[place] = f"a key of {place}"
        return {texts[place]: filled(arguments[1], f"{place}.{texts[place]}", texts)}
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        hints = typing.get_type_hints(hint, include_extras=True)
        return hint(**{name: filled(inner, f"{place}.{name}", texts) for name, inner in hints.items()})
    if hint is str:
        texts[place] = f"a text at {place}"
        return texts[place]
    if hint in (int, bool, bytes):
        return hint()
    raise AssertionError(f"{place} has the type {hint}, which this test has to learn.")


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from (found for part in pair for found in strings(part))
    elif isinstance(value, (list, tuple)):
        yield from (found for inner in value for found in strings(inner))


@pytest.mark.parametrize("type", EVENT_TYPES)
def test_every_text_of_a_body_is_yielded_at_its_place_and_can_be_changed(type: str) -> None:
    texts: dict[str, str] = {}
    body = filled(EVENT_TYPES[type].body, "$.body", texts)
    assert {said.place: said.text for said in texts_of_body(body)} == texts
    changed = with_texts(body, lambda said: "changed")
    assert not any("$.body" in string for string in strings(msgspec.to_builtins(changed)))
    assert with_texts(body, lambda said: said.text) == body


def test_the_names_of_a_header_are_texts_also_of_an_event_without_a_body() -> None:
    blank = event("captured", None, "x", session="a session", name="Ada")
    assert {said.place: said.text for said in texts_of(blank)} == {"$.session": "a session", "$.actor.name": "Ada"}


def test_what_somebody_said_is_told_apart_from_names_and_labels() -> None:
    roles: dict[str, list[str]] = {}
    for type in EVENT_TYPES:
        for said in texts_of_body(filled(EVENT_TYPES[type].body, "$.body", {})):
            roles.setdefault(said.role, []).append(f"{type} {said.place.removeprefix('$.body.')}")
    told = {role: " ".join(place for place in places if "[1]" not in place) for role, places in roles.items()}
    assert told == {role: " ".join(places.split()) for role, places in ROLES.items()}


ROLES = {
    "statement": """captured media[0].caption captured text recalled query recalled trace[0].query forgotten reason
        restored reason edited hints[0] edited rest edited summary edited title settled note archived reason
        decided reason embedded reason""",
    "label": """captured media[0].uri captured path captured source captured tags[0] recalled filters.not_tags[0]
        recalled filters.tags[0] linked slug edited refs[0] edited slug scope_changed name""",
    "name": "captured branch recalled filters.not_sessions[0] recalled filters.sessions[0]",
    "program": """recalled lanes[0] recalled trace[0].by embedded embedder configured settings.embedder
        configured settings.embedder_next configured settings.fold_cosines_hundredths configured settings.retrievers""",
}
