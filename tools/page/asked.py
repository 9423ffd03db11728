"""What a page is asked, as values within their bounds, and the clients that answer, one for each scope."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

import msgspec

from memtape.schemas.errors import LogGone, MemtapeError
from memtape.schemas.scopes import GLOBAL, check_scope
from memtape.tools.capture.profiles import opened_home
from memtape.tools.client import Client
from memtape.tools.keep.states import KeptStates
from memtape.tools.verb import Verb, VerbField

MOST_CHARS = 4_096
"""The longest parameter: no longer than a question worth keeping."""


class PageQuery(NamedTuple):
    """The parameters of an address: the first value of each name, and all values where many are allowed.

    `scope` is the visited project; `at` a position or time of the past, empty for now.
    """

    path: str
    scope: str
    given: dict[str, list[str]]

    @property
    def at(self) -> str:
        """The position or time of the past that is looked at, empty for now."""
        return self.text("at")

    def today(self) -> PageQuery:
        """Return the address without a time, for links to later things."""
        return self._replace(given={name: values for name, values in self.given.items() if name != "at"})

    def text(self, name: str, default: str = "") -> str:
        """Return a parameter without white space around it. Raises `MemtapeError` for too long a value."""
        value = self.given.get(name, [default])[0].strip()
        if len(value) > MOST_CHARS:
            raise MemtapeError(f"{name} is longer than {MOST_CHARS:,} characters.", "Ask for less.")
        return value or default

    def many(self, name: str) -> tuple[str, ...]:
        """Return every value of a parameter, each once, none of them empty."""
        return tuple(dict.fromkeys(value for value in self.given.get(name, []) if value))

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """Return a number within its bounds. Raises `MemtapeError` for a text without a number."""
        value = self.text(name, str(default))
        if not (value.isascii() and value.isdecimal() and len(value) < 10):
            raise MemtapeError(f"{name} is a number from {least:,} to {most:,}.", "Give another.")
        return min(max(int(value), least), most)

    def is_on(self, name: str) -> bool:
        """Whether a box was ticked."""
        return self.text(name) in ("1", "on", "yes", "true")

    def ask(self, verb: Verb, fields: Iterable[VerbField], **known: Any) -> Any:
        """Return what a verb is asked: fields as given here, and known ones. Raises `MemtapeError`."""
        for field in fields:
            read = self.many if field.has_many else self.is_on if field.is_flag else self.text
            if value := read(field.one):
                known[field.name] = value
        try:
            return msgspec.convert(known, verb.asks, strict=False)
        except msgspec.ValidationError as error:
            raise MemtapeError(
                f"The form was filled in wrongly: {error}.", "Go back, and change it."
            ) from None

    def link(self, path: str = "", /, **changed: object) -> str:
        """Return the address of a view of the same project and time, or of this view with other parameters.

        It is relative to the folder of the page, which has all views.
        """
        kept: dict[str, object] = {"scope": self.scope, "at": self.at}
        if not path:
            kept = {name: its for name, its in self.given.items() if name != "done"} | {"scope": self.scope}
        kept |= changed
        told = {name: value for name, value in kept.items() if value not in ("", [""], None, False)}
        return f".{path or self.path}?{urlencode(told, doseq=True)}"


def asked_of(path: str, pairs: list[tuple[str, str]], scope: str) -> PageQuery:
    """Return the parameters of an address or form; `scope` is the default. Raises `InvalidScope`."""
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        given.setdefault(name, []).append(value)
    named = given.get("scope", [""])[0]
    return PageQuery(path, check_scope(named) if named else scope, given)


ResultT = TypeVar("ResultT")

FOLD_AGAIN_S = 1.0
"""So often the kept state is folded on."""
MAX_CLIENTS = 4
"""A client keeps its scope's texts ready; the one that was not used for longest is closed."""


class PageMemory:
    """A home for the page of its owner. The page begins in `scope`."""

    def __init__(self, home: Path, scope: str) -> None:
        self.home = opened_home(home).path
        self.scope = scope
        self._lock = threading.RLock()
        self._clients: dict[str, Client] = {}
        self._states: KeptStates | None = None
        self._closed = threading.Event()

    def keep_states(self) -> None:
        """Read the state on which decisions in the first scope rest, and fold it on until `close`.

        The first capture to be folded takes seconds at 20,000 memories, which no deed should wait for.
        """
        with suppress(MemtapeError), self._opened(self.scope) as decider:  # Meanwhile the views answer.
            states = self._states = KeptStates(decider.home, decider.log)
            states.scope_now(self.scope)
            # Else each full collection walks through the state, and a view waits for that.
            gc.collect()
            gc.freeze()
            while not self._closed.wait(FOLD_AGAIN_S):
                states.scope_now(self.scope)
        self._states = None

    def do(self, scope: str, action: Callable[[Client], ResultT]) -> ResultT:
        """Return the result of an action on the client of a scope. Raises `MemtapeError`."""
        with self._lock:
            client = self._clients.pop(scope, None) or self._opened(scope)
            self._clients[scope] = client  # The last used stands last.
            client.states = self._states
            try:
                return action(client)
            except LogGone:
                self.close()
                raise
            finally:
                while len(self._clients) > MAX_CLIENTS:
                    self._clients.pop(next(iter(self._clients))).close()

    def _opened(self, scope: str) -> Client:
        if not self.home.is_dir():
            raise LogGone(f"The home {self.home} is gone.", "End this page. Another home has another one.")
        # Only an operator decides what all projects share.
        client = Client(self.home, scope=scope, origin="operator" if scope == GLOBAL else "user", wakes=False)
        client.door = "page"
        return client

    def scopes(self) -> dict[str, int]:
        """Return the number of memories of each scope of the home, that of the page first.

        Without readable views these are the scope of the page and `global`.
        """
        known = {self.scope: 0, GLOBAL: 0}
        with suppress(MemtapeError):
            known |= self.do(self.scope, _memories_of_scopes)
        return known

    def close(self) -> None:
        """Close every client."""
        self._closed.set()
        with self._lock:
            while self._clients:
                self._clients.popitem()[1].close()
            self._states = None


def _memories_of_scopes(client: Client) -> dict[str, int]:
    """Return the number of memories of each scope in the views, by the counts beside their watermarks."""
    views = client.reader
    shards = [views.shard(number) for number in range(client.log.partitions)]
    held = {name: its for shard in shards for name, its in shard.held().items()}
    return {name: held[name].memories for name in sorted(held)}
