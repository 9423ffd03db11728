"""The methods of the Python client, made from the table of verbs: arguments, and errors in Python's words.

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

from memtape.schemas.errors import InvalidUse, MemtapeError
from memtape.tools.table import COMMANDS, GROUPS, METHODS, VERBS
from memtape.tools.verb import VerbField, python_fields

if TYPE_CHECKING:
    from inspect import Signature

    from memtape.tools.verb import Verb

SPEAKER = ("scope", "origin", "actor", "session", "home")
"""The options of every command that are arguments of the client itself."""
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_COMMAND = re.compile(r"`memtape ([^`]+)`")
_OPTION = re.compile(r"(?<![\w`-])--([a-z][a-z-]*)(?: ([a-z0-9]+(?:[:.][a-z0-9]+)+|operator|user))?")
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
            try:
                return verb.answer(self, _question(method, verb, fields, _bound(method, taken, words, named)))
            except MemtapeError as error:
                if self.door == "python":
                    speak_python(error, fields)
                raise

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


def speak_python(error: MemtapeError, fields: Mapping[str, VerbField]) -> None:
    """Name methods and arguments in an error in place of commands and options.

    Of a message only the misuse of a call is rewritten: another message may quote a text.
    """
    error.hint = in_python(error.hint, fields)
    if isinstance(error, InvalidUse):
        error.args = (in_python(str(error), fields),)


def in_python(text: str, fields: Mapping[str, VerbField]) -> str:
    """Return a text with methods in place of commands, and with arguments of `fields` in place of options."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        _COMMAND.sub(_call, part) if part.startswith("`") else _with_arguments(part, fields) for part in parts
    )


def _call(found: re.Match[str]) -> str:
    """Return the method that does what a command does; the command where no method does."""
    words = found[1].split()
    ends = range(len(words), 0, -1)
    command = next((name for end in ends if (name := " ".join(words[:end])) in COMMANDS), None)
    if command is None and words[0] in GROUPS and GROUPS[words[0]].default:
        words.insert(1, GROUPS[words[0]].default)
        command = " ".join(words[:2])
    if command is None:
        return found[0]
    rest = words[len(command.split()) :]
    names = {name.removeprefix(command).strip(): name for name in COMMANDS[command]}
    mode = next((word for word in rest if word in names), "")
    name = names.get(mode) or names["-"]
    method = next((it for it, verb in METHODS.items() if verb == name), None)
    if method is None:
        return found[0]
    told = _with_arguments(" ".join(word for word in rest if word != mode), python_fields(VERBS[name].asks))
    return f"`{method}({', '.join(told.split())})`"


def _with_arguments(text: str, fields: Mapping[str, VerbField]) -> str:
    """Return a text with the arguments of a call in place of the options of its command."""
    by_option = {it.option.removeprefix("--"): it for it in fields.values() if it.option}

    def argument(found: re.Match[str]) -> str:
        option, value = found[1], found[2]
        field = by_option.get(option)
        if field is None and option not in SPEAKER:
            return found[0]
        name = option if field is None else field.name
        if field is not None and field.is_flag:
            return f"{name}=True" + (f" {value}" if value else "")
        return f'{name}="{value}"' if value else name

    return _OPTION.sub(argument, text)
