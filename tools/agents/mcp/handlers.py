"""The requests of MCP clients and their answers: tools in the SDK's types.

Each call is done in the client's project, given by its roots. `doors.mcp` makes the tools, and `server` has
the connections.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import anyio
import anyio.to_thread
import mcp_types as types
import msgspec
import uuid_utils
from mcp.server.context import ServerRequestContext

from memtape.schemas.errors import LogGone, MemtapeError
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.variables import SESSION_VARIABLE
from memtape.schemas.visible import visible
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.tools.agents.errors import note_error
from memtape.tools.agents.ready import HookResponder
from memtape.tools.agents.sessions import latest_of
from memtape.tools.capture.profiles import opened_home
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.client import Client
from memtape.tools.doors.markdown import bounded, sentence
from memtape.tools.doors.mcp import Tool, call, every_tool, schema_of
from memtape.tools.importing.records import MAX_NAME_CHARS
from memtape.tools.keep.operations import operation
from memtape.tools.table import TOOLS

Context = ServerRequestContext[Any, Any]
AnswerT = TypeVar("AnswerT")

ROOTS = "roots"
ROOTS_WAIT_S = 2
DEFAULT_ACTOR = "mcp"
NO_PROJECT = (
    "This server cannot tell which project you work in: your client names no root folder that is here. "
    "Nothing was read or stored. Start it for one project, as `memtape agents mcp --http 8642 --scope "
    "project:x`, or use a client"
    " that tells its roots."
)
"""The answer of every tool over HTTP to a client of unknown project, against answers from another project."""
MAX_CLIENTS = 8
"""A client keeps its scope's texts ready; the one that was not used for longest is closed."""
ALWAYS_SHOWN = {"anthropic/alwaysLoad": True}
"""One host hides tools until they are searched for, unless they say so."""
MAX_ACTOR_CHARS = 4_000
"""The rest of a longer name is ignored; the kept part is cut after the removal of secrets."""


# msgspec looks at a type when it first meets it, and two threads that do so at once crash the process.
for _tool in every_tool().values():
    msgspec.json.Decoder(_tool.asks)


class ServedMemory:
    """The clients of one server, per project and speaker; one thread at a time uses a client.

    `host` and `session` belong to the served agent, by default to this process. A given `ready` is shared
    with other servers of the home and stays open at `close`.
    """

    def __init__(
        self, home: Path, *, scope: str | None = None, actor: str | None = None, host: int | None = None,
        session: str | None = None, ready: HookResponder | None = None,
    ) -> None:  # fmt: skip
        self.home, self.scope, self.actor, self._host = home, scope, actor, host
        self.ready, self._shares = ready or HookResponder(home), ready is not None
        self._named = os.environ.get(SESSION_VARIABLE) if session is None else session
        # Recalls and captures of one server belong together, also where no hook tells the session.
        self._session = f"mcp:{uuid_utils.uuid7()}"
        self._lock = threading.Lock()
        self._clients: dict[tuple[str | Path, str], Client] = {}

    def call(self, name: str, arguments: dict[str, Any], project: str | Path, actor: str) -> str:
        """Run a tool for a project, by its scope or folder; return its Markdown. Raises `MemtapeError`."""
        return self.do(project, actor, lambda client: call(client, name, arguments))

    def do(self, project: str | Path, actor: str, action: Callable[[Client], AnswerT]) -> AnswerT:
        """Return the result of an action on the client of a project and a speaker. Raises `MemtapeError`.

        After `LogGone` the next call opens the log again.
        """
        with self._lock:
            try:
                client = self._client(self.scope or project, actor)
                left = latest_of(self.home, self._host).read()
                told = left[1] if isinstance(left, list) and left[0] == client.scope else ""
                client.session = self._named or told or self._session
                with self.ready.lent(client):
                    return action(client)
            except LogGone as error:
                self._close()
                note_error(self.home, "mcp", error)
                raise

    def close(self) -> bool:
        """Close every client, and return whether nothing is being done any more."""
        with self._lock:
            self._close()
        return self._shares or self.ready.close()

    def _close(self) -> None:
        while self._clients:
            self._clients.popitem()[1].close()

    def _client(self, project: str | Path, actor: str) -> Client:
        """Return the client of a project, given by scope or folder, and of a speaker."""
        key = (project, actor)
        client = self._clients.pop(key, None)
        if client is None:
            scope, folder = (None, project) if isinstance(project, Path) else (project, None)
            name = Redactor(opened_home(self.home)).head(actor, MAX_NAME_CHARS, is_name=True)
            client = Client(self.home, scope=scope, folder=folder, actor=name, origin="agent", confined=True)
            client.door = "mcp"
        self._clients[key] = client  # The last used stands last.
        while len(self._clients) > MAX_CLIENTS:
            self._clients.pop(next(iter(self._clients))).close()
        return client


class Handlers:
    """Answers the requests of clients; every error is a sentence.

    A client without roots works in the project of the `fallback`; where that is None its calls are refused,
    unless the memory has a scope. A server of many clients has no fallback, since a client may work anywhere.
    """

    def __init__(self, memory: ServedMemory, fallback: Path | None) -> None:
        self._memory, self._fallback, self._is_silent = memory, fallback, False
        self._likely = memory.scope or fallback or GLOBAL

    async def list_tools(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """List the common tools, or all tools where the settings say so."""
        # Clients ask this first. So the likely project is read before the first prompt waits for it.
        self._memory.ready.refresh(self._likely)
        every = local_settings(Home(self._memory.home, make=False)).every_tool
        tools = every_tool().items()
        listed = [_described(name, tool, every) for name, tool in tools if every or tool.offer.common]
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Run a tool, listed or not."""
        try:
            done = await self._call(ctx, params)
        except MemtapeError as error:
            told = types.TextContent(type="text", text=sentence(f"{error} {error.hint}".strip()))
            return types.CallToolResult(content=[told], is_error=True, _meta={"code": error.code})
        if isinstance(done, types.InputRequiredResult):
            return done
        return types.CallToolResult(content=[types.TextContent(type="text", text=bounded(done))])

    async def _call(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> str | types.InputRequiredResult:
        """Return a tool's Markdown for the client's project, or a question to the client before it.

        Raises only `MemtapeError`.
        """
        memory, name, arguments = self._memory, params.name, params.arguments or {}
        project = memory.scope or await self._folder(ctx, params)
        if isinstance(project, types.InputRequiredResult):
            return project
        if project is None:
            raise MemtapeError(NO_PROJECT)
        client = ctx.session.client_params  # The log keeps the client's own name as the actor.
        said = visible(client.client_info.name[:MAX_ACTOR_CHARS]).strip() if client is not None else ""
        actor = memory.actor or said or DEFAULT_ACTOR
        what = name if name in TOOLS else "other"  # In a log stands no word that a client has made up.
        began_ns = time.monotonic_ns()
        try:
            done = await anyio.to_thread.run_sync(lambda: memory.call(name, arguments, project, actor))
            operation("answered", door="mcp", what=what, took_us=(time.monotonic_ns() - began_ns) // 1_000)
            return done
        except MemtapeError as error:
            operation("refused", door="mcp", what=what, error=type(error).__name__)
            raise
        except Exception as error:
            note_error(memory.home, f"mcp {name}", error)
            operation("broken", door="mcp", what=what, error=type(error).__name__)
            failed = f"Memtape could not do {name[:100]} ({type(error).__name__})."
            raise MemtapeError(failed, "For the user: `memtape agents doctor` says more.") from error

    async def _folder(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> Path | types.InputRequiredResult | None:
        """Return the folder of a client: its first root that is here, else the fallback."""
        capabilities = ctx.session.client_capabilities
        if capabilities is None or capabilities.roots is None or self._is_silent:
            return self._fallback
        if not ctx.session.can_send_request:
            # From 2026-07-28 on a server asks by its answer, and the client calls again with the reply.
            if params.input_responses is None:
                return types.InputRequiredResult(input_requests={ROOTS: types.ListRootsRequest()})
            told = params.input_responses.get(ROOTS)
            return self._root_of(told.roots) if isinstance(told, types.ListRootsResult) else self._fallback
        with anyio.move_on_after(ROOTS_WAIT_S):
            try:
                answered = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
                return self._root_of(answered.roots)
            except Exception:  # A client that says it has roots and then has none, in whatever way.
                pass
        # The one client that there is need not be asked again; of many, another may answer.
        self._is_silent = self._fallback is not None
        return self._fallback

    def _root_of(self, roots: list[types.Root]) -> Path | None:
        paths = (Path(unquote(urlsplit(str(root.uri)).path)) for root in roots)
        return next((path for path in paths if path.is_dir()), self._fallback)


def _described(name: str, tool: Tool, every: bool) -> types.Tool:
    title, effect = name.replace("_", " ").capitalize(), tool.verb.effect
    hints = types.ToolAnnotations(
        title=title, read_only_hint=effect == "reads", destructive_hint=effect == "hides",
        idempotent_hint=tool.offer.idempotent, open_world_hint=False,
    )  # fmt: skip
    return types.Tool(
        name=name, title=title, description=tool.offer.description, annotations=hints,
        input_schema=schema_of(tool, rare=every),
        _meta=ALWAYS_SHOWN if name in ("search_memories", "add_memory") else None,
    )  # fmt: skip
