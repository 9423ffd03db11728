"""The methods of the Python client, made from the table of verbs, and their arguments.

A verb's file is imported when its method is first used. No verb is done here.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import TYPE_CHECKING, Any, TypedDict, get_type_hints

import msgspec

from memtape.schemas.errors import InvalidUse
from memtape.tools.table import VERBS
from memtape.tools.verb import VerbField, python_fields

if TYPE_CHECKING:
    from inspect import Signature

    from memtape.tools.verb import Verb

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_PLACE = re.compile(r" - at `\$\.?([^`]*)`")
_MAKING = threading.Lock()
"""Two threads that show one type to msgspec for the first time at once crash the process."""


def function_of(method: str, name: str) -> Callable[..., Any]:
    """Return the function of a method, with the signature and the documentation that `help` shows."""
    with _MAKING:
        return _made(method, name)


@cache
def _made(method: str, name: str) -> Callable[..., Any]:
    from inspect import Parameter, Signature

    verb, kind = VERBS[name], Parameter.POSITIONAL_OR_KEYWORD
    fields, hints = python_fields(verb.asks), _types_of(verb)
    msgspec.json.Decoder(verb.asks)
    defaults = {name: Parameter.empty if it.required else it.default for name, it in fields.items()}
    own = [Parameter(name, kind, default=defaults[name], annotation=hints[name]) for name in fields]
    taken = Signature(own)

    def asked(self: Any, /, *words: Any, **named: Any) -> Any:
        with self.lock:
            return verb.answer(self, _question(method, verb, fields, _bound(method, taken, words, named)))

    about = [f"    {it.name}: {it.help}" for it in fields.values()]
    told = "\n".join([(verb.run.__doc__ or "").strip(), "", *about])
    asked.__name__, asked.__qualname__, asked.__doc__ = method, f"Client.{method}", told
    asked.__signature__ = Signature([Parameter("self", kind), *own])  # type: ignore[attr-defined]
    return asked


def _types_of(verb: Verb) -> dict[str, Any]:
    """Return the types of a verb's arguments in Python, by name."""
    hints, fields = get_type_hints(verb.asks), python_fields(verb.asks)
    return {
        name: hints[name] | datetime | int if it.extra.get("time") else hints[name]
        for name, it in fields.items()
    }


@cache
def filters_type() -> Any:
    """Return the type of a dictionary with filters of a search: `search(query, **filters)`."""
    from memtape.state.views.filters import FILTERS

    types = _types_of(VERBS["search"])
    return TypedDict("Filters", {name: types[name] for name in FILTERS}, total=False)  # type: ignore[operator]


def _bound(method: str, taken: Signature, words: Any, named: Any) -> dict[str, Any]:
    """Return the arguments of a call by name. Raises `TypeError`, as Python does."""
    try:
        return taken.bind(*words, **named).arguments
    except TypeError as error:
        raise TypeError(f"{method}() {error}") from None


def _question(method: str, verb: Verb, fields: Mapping[str, VerbField], given: dict[str, Any]) -> Any:
    """Return what a verb is asked. Raises `InvalidUse` for another type or word; verbs check bounds."""
    for name, its in given.items():
        if fields[name].extra.get("time") and isinstance(its, datetime | int):
            given[name] = _time_text(name, its)
        elif fields[name].has_many and isinstance(its, Iterable):  # One text is one value.
            given[name] = (its,) if isinstance(its, str) else tuple(its)
    try:
        return msgspec.convert(given, verb.asks)
    except msgspec.ValidationError as error:
        told, place = _PLACE.sub("", str(error)), _PLACE.search(str(error))
        field = fields.get(re.split(r"\W", place[1])[0]) if place else None
        if field is None or not ("got `" in told or "enum" in told):
            return verb.asks(**given)
        if "enum" not in told:
            raise InvalidUse(f"{method}({field.name}=…): {told}.", f"See help(Client.{method}).") from None
        word = told.partition("'")[2][:60].rstrip("'.")
        values = ", ".join(map(repr, field.extra.get("choices", ())))
        hint = f"{method}({field.name}=…) takes {values}."
        noun = field.one.removeprefix("not_")
        refused = f"There is no {noun} {word!r}." if field.has_many else f"{field.name} cannot be {word!r}."
        raise InvalidUse(refused, hint) from None


def _time_text(name: str, time: datetime | int) -> str:
    """Return a time as ISO 8601. A number is microseconds since 1970. Raises `InvalidUse`."""
    if isinstance(time, datetime):
        if time.tzinfo is None:
            told = f"{name} is a datetime without a time zone."
            raise InvalidUse(told, "Give one with a zone, as datetime.now(timezone.utc).")
        return time.isoformat()
    try:
        return (_EPOCH + timedelta(microseconds=time)).isoformat()
    except OverflowError:
        raise InvalidUse(f"{name} is no time: {time} microseconds.", "Give those since 1970.") from None
