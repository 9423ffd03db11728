"""The Python client: a method of each verb on one home, made from the table of verbs.

```python
from memtape import Client

with Client(scope="project:demo", actor="Ada", origin="user") as memory:
    memory.capture("The staging database listens on port 5433.")
    print(memory.search("staging port").results[0].text)
```

No verb is done here. Its file in `tools/verbs/` is imported when its method is first used.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial, wraps
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

from memtape.schemas.log import Log
from memtape.schemas.metrics import told_of_progress
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home, default_home
from memtape.sinks.home.settings import local_settings
from memtape.sinks.logs.opening import open_log, passing_log
from memtape.tools.capture.profiles import check_kept, profile_of
from memtape.tools.capture.writing import Line, Receipts, WriterOptions
from memtape.tools.methods import function_of
from memtape.tools.table import METHODS
from memtape.tools.world import World

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from memtape.sinks.tables import TableFolder
    from memtape.tools.importing.messages import Message
    from memtape.tools.importing.records import ImportSummary


BY_HAND = ("add", "capture_many", "catch_up", "close", "erase", "project")
"""The methods for programs that no verb has."""


class Client(World):
    """A client of a home, for one actor in one scope: a writer that also reads.

    Threads may share a client: its methods are done one at a time.

    `home` is a folder, by default `$MEMTAPE_HOME` or the user's data folder. `log` is by default the log
    named by `$MEMTAPE_LOG` or the home's settings, else the log in the home itself. `scope` is by default
    that of the project of `folder` or of the current folder. Under the profile `dev_no_persist` nothing is
    written and no home is read: all such clients of a home in a process share a log in memory, and actions
    that need a disk raise `MemtapeError`.

    An id may be given by its last eight characters, or by its beginning. A client with a named scope, or a
    `confined` one, takes ids of its scope and `global` alone; any other client finds the scope of an id. A
    question to a project whose rows have left the views makes the project active again, unless `wakes` is
    false.
    """

    def __init__(
        self,
        home: Home | str | os.PathLike[str] | None = None,
        *,
        log: Log | None = None,
        confined: bool = False,
        profile: str | None = None,
        wakes: bool = True,
        **options: Unpack[WriterOptions],
    ) -> None:
        path = home.path if isinstance(home, Home) else Path(home) if home is not None else default_home()
        asked = profile_of(path, profile)
        if asked.keeps:
            place = home if isinstance(home, Home) else Home(path)
            opened = open_log(place, lambda: _first_settings(place)) if log is None else log
        else:
            place, opened = Home.nowhere(), passing_log(path, log)
        super().__init__(place, opened, profile=asked.name, **options)
        self._owns_log = log is None
        self.lock = threading.RLock()
        self.is_confined = confined or options.get("scope") is not None
        self.wakes = wakes

    def add(self, messages: Iterable[Message], session: str | None = None) -> ImportSummary:
        """Capture a conversation in the form of OpenAI or Anthropic as turns; return the counts.

        Messages are dictionaries, or those of the SDKs. Turns of users and assistants are taken; tool calls,
        results, thoughts and system messages are counted as skipped. Messages that the session has are not
        added again, so a growing conversation may be given whole each time. Raises `InvalidUse` without a
        session.
        """
        from memtape.tools.importing.messages import add_messages

        return add_messages(self, messages, session)

    def project(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Bring the views up to date and return how many events were read. Raises `Locked`."""
        check_kept(self.home, "A projection")
        if on_progress is None:
            return self.reader.project()
        with told_of_progress(lambda phase, done, total: on_progress(done)):
            return self.reader.project()

    def close(self) -> None:
        """Write pending views, and close its own log."""
        if "reader" in vars(self):
            self.reader.close()
        if self._owns_log:
            self.log.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient:
    """A client with awaited methods: those of `Client`, done one at a time in a thread of its own.

    Its arguments are those of `Client`. The home is opened in the thread, by `async with` or the first call.
    A cancelled call is still done.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        from concurrent.futures import ThreadPoolExecutor  # A hook must not wait for it, nor for asyncio.

        self._open = partial(Client, *given, **options)
        self._client: Client | None = None
        self._thread = ThreadPoolExecutor(1, "memtape")

    def _opened(self) -> Client:
        """Return the client; it is opened at the first call. For the thread alone."""
        self._client = self._client or self._open()
        return self._client

    async def _do(self, action: Callable[[], Any]) -> Any:
        from asyncio import get_running_loop

        return await get_running_loop().run_in_executor(self._thread, action)

    async def add(self, messages: Iterable[Message], session: str | None = None) -> ImportSummary:
        """Capture a conversation, as `Client.add` does."""
        return await self._do(lambda: self._opened().add(messages, session))

    async def capture_many(self, lines: Iterable[Line]) -> Receipts:
        """Append many texts, as `Client.capture_many` does."""
        return await self._do(lambda: self._opened().capture_many(lines))

    async def project(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Bring the views up to date, as `Client.project` does."""
        return await self._do(lambda: self._opened().project(on_progress))

    async def close(self) -> None:
        """Close the client after what was called before."""
        await self._do(lambda: self._client and self._client.close())
        self._thread.shutdown(wait=False)

    async def __aenter__(self) -> AsyncClient:
        await self._do(self._opened)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def tables(home: str | os.PathLike[str] | None = None) -> list[TableFolder]:
    """Return the LanceDB tables of a home, one folder a partition, for other tools to read.

    They are as far as the last projection: `memtape run --once` brings them up to date. Raises `DamagedViews`
    for tables that cannot be read.
    """
    from memtape.sinks.tables import table_folders

    place = Home(Path(home) if home is not None else default_home())
    with closing(open_log(place, lambda: _first_settings(place))) as log:
        return table_folders(place.current(), log.partitions)


class _Method(NamedTuple):
    """A verb as a method of the client; its file is loaded when it is called."""

    method: str
    verb: str

    def __get__(self, client: Client | None, owner: type[Client]) -> Any:
        function = function_of(self.method, self.verb)
        return function if client is None else MethodType(function, client)


def _one_at_a_time(method: Callable[..., Any]) -> Any:
    """Return a method that holds the lock of its client."""

    @wraps(method)
    def held(self: Any, *words: Any, **named: Any) -> Any:
        with self.lock:
            return method(self, *words, **named)

    return held


for _method, _verb in METHODS.items():
    setattr(Client, _method, _Method(_method, _verb))
for _method in BY_HAND:
    setattr(Client, _method, _one_at_a_time(getattr(Client, _method)))


def _awaited(method: str) -> Callable[..., Any]:
    """Return the method of the asynchronous client that does a method of the client."""

    async def awaited(self: AsyncClient, /, *words: Any, **named: Any) -> Any:
        return await self._do(lambda: getattr(self._opened(), method)(*words, **named))

    awaited.__name__, awaited.__qualname__ = method, f"AsyncClient.{method}"
    awaited.__doc__ = f"Do `Client.{method}`, with the same arguments, and return its answer."
    return awaited


for _method in METHODS:
    setattr(AsyncClient, _method, _awaited(_method))


def _first_settings(home: Home) -> Settings:
    """Return the settings of a new log: the defaults, and the installed embedder. Raises `MemtapeError`."""
    from memtape.flows.embed.target import first_embedder

    return Settings(embedder=first_embedder(local_settings(home).embedder, os.environ))
