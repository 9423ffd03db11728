"""The requests of MCP clients and their answers: tools, prompts and resources in the SDK's types.

Each request is done in the client's project, given by its roots. Tools, prompts and resources are defined in
files of their own; `server` has the connections of clients.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from memtape.schemas.errors import MemtapeError
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.visible import visible
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.tools.agents.errors import note_error
from memtape.tools.agents.mcp.bounds import bounded, sentence
from memtape.tools.agents.mcp.data import schema_of_data
from memtape.tools.agents.mcp.progress import with_progress
from memtape.tools.agents.mcp.prompts import PROMPTS, Prompt, prompted
from memtape.tools.agents.mcp.resources import RESOURCES, TEMPLATES, Resource, read
from memtape.tools.agents.mcp.schemas import short_schema
from memtape.tools.agents.mcp.tools import TOOLS, Tool, ToolAnswer, answered
from memtape.tools.agents.ready import HookResponder
from memtape.tools.client import Client
from memtape.tools.keep.operations import operation

Context = ServerRequestContext[Any, Any]
Params = types.CallToolRequestParams | types.GetPromptRequestParams | types.ReadResourceRequestParams
"""The requests of a client that are answered from its project."""
ResultT = TypeVar("ResultT")

ROOTS_WAIT_S = 2
MARKDOWN = "text/markdown"
DEFAULT_ACTOR = "mcp"
NO_PROJECT = (
    "This server cannot tell which project you work in: your client names no root folder that is here. Nothing was"
    " read or stored. Start it for one project, as `memtape mcp --http --scope project:x`, or use a client that"
    " tells its roots."
)
"""The answer of every tool over HTTP to a client of unknown project, against answers from another project."""
ALWAYS_SHOWN = {"anthropic/alwaysLoad": True}
"""One host hides tools until they are searched for, unless they say so."""
SHOW_JSON = ("claude-code", "codex-mcp-client")
"""Names of hosts that show their models structured content instead of the text."""
MAX_ACTOR_CHARS = 4_000
"""The rest of a longer name is ignored; the kept part is cut after the removal of secrets."""


class ServerClients(Protocol):
    """The clients of one server, by project and speaker."""

    @property
    def home(self) -> Path: ...

    @property
    def scope(self) -> str | None: ...

    @property
    def actor(self) -> str | None: ...

    @property
    def ready(self) -> HookResponder: ...

    def do(self, action: Callable[[Client], ResultT], project: str | Path, actor: str) -> ResultT: ...


class Handlers:
    """Answers the requests of clients; every error is a sentence.

    A client without roots works in the project of the `fallback`; where that is None its calls are refused, unless the
    memory has a scope.
    """

    def __init__(self, memory: ServerClients, fallback: Path | None) -> None:
        self._memory = memory
        self._roots = Roots(fallback)
        self._likely = memory.scope or fallback or GLOBAL

    async def initialized(self, ctx: Context, params: types.NotificationParams) -> None:
        """Read the likely project at the session's start, before the first prompt waits for it."""
        self._memory.ready.refresh(self._likely)

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """List the common tools, or all tools where the settings say so."""
        # Since the protocol of 2026-07-28 clients do not say that they are initialized.
        self._memory.ready.refresh(self._likely)
        every = local_settings(Home(self._memory.home, make=False)).every_tool
        return types.ListToolsResult(
            tools=[
                _described(name, tool, every, _is_for_programs(ctx))
                for name, tool in TOOLS.items()
                if every or tool.offer.common
            ]
        )

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Run a tool, listed or not."""
        name, arguments = params.name, params.arguments or {}
        try:
            done = await self._do(ctx, params, name, lambda client: answered(client, name, arguments))
        except MemtapeError as error:
            told = types.TextContent(type="text", text=_sentence(error))
            return types.CallToolResult(content=[told], is_error=True)
        return _result(done, _is_for_programs(ctx)) if isinstance(done, ToolAnswer) else done

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """List the prompts."""
        return types.ListPromptsResult(prompts=[_prompt(name, prompt) for name, prompt in PROMPTS.items()])

    async def get_prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        """Run a prompt's function; return its text as a message of the user."""
        name, arguments = params.name, params.arguments or {}
        text = await self._read(ctx, params, name, lambda client: prompted(client, name, arguments))
        if not isinstance(text, str):
            return text
        message = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=message)])

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List the resources that have a fixed address."""
        told = [types.Resource(**one._asdict(), mime_type=MARKDOWN) for one in RESOURCES]
        return types.ListResourcesResult(resources=told)

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """List the resources addressed by an id."""
        return types.ListResourceTemplatesResult(resource_templates=[_template(one) for one in TEMPLATES])

    async def read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        """Read a resource as Markdown."""
        uri = str(params.uri)
        text = await self._read(ctx, params, "a resource", lambda client: read(client, uri))
        if not isinstance(text, str):
            return text
        found = types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[found])

    async def _read(
        self, ctx: Context, params: Params, what: str, action: Callable[[Client], str]
    ) -> str | types.InputRequiredResult:
        """Return the text of an action, cut to the hosts' limit. Raises `MCPError`."""
        try:
            text = await self._do(ctx, params, what, action)
        except MemtapeError as error:
            raise MCPError(types.INVALID_PARAMS, _sentence(error)) from None
        return bounded(text) if isinstance(text, str) else text

    async def _do(
        self, ctx: Context, params: Params, what: str, action: Callable[[Client], ResultT]
    ) -> ResultT | types.InputRequiredResult:
        """Return the result of an action on the client's project, or a question to the client before it.

        Raises only `MemtapeError`. `what` names the action in notes of errors and in progress.
        """
        memory = self._memory
        project = memory.scope or await self._roots.folder(ctx, params)
        if isinstance(project, types.InputRequiredResult):
            return project
        if project is None:
            raise MemtapeError(NO_PROJECT)
        actor = memory.actor or _actor_of(ctx)
        began_ns = time.monotonic_ns()
        try:
            done = await with_progress(
                ctx.session.report_progress, f"memtape: {what[:100]}", lambda: memory.do(action, project, actor)
            )
            operation("answered", door="mcp", what=_own(what), took_us=(time.monotonic_ns() - began_ns) // 1_000)
            return done
        except MemtapeError as error:
            operation("refused", door="mcp", what=_own(what), error=type(error).__name__)
            raise
        except Exception as error:
            note_error(memory.home, f"mcp {what}", error)
            operation("broken", door="mcp", what=_own(what), error=type(error).__name__)
            failed = f"Memtape could not do {what[:100]} ({type(error).__name__})."
            raise MemtapeError(failed, "For the user: `memtape doctor` says more.") from error


class Roots:
    """The folder of a client: its first root, else `fallback`.

    A server of one client falls back on its own working directory. A server of many clients has no fallback,
    since a client may work anywhere.
    """

    KEY = "roots"

    def __init__(self, fallback: Path | None) -> None:
        self._fallback = fallback
        self._silent = False

    async def folder(self, ctx: Context, params: Params) -> Path | types.InputRequiredResult | None:
        capabilities = ctx.session.client_capabilities
        if capabilities is None or capabilities.roots is None or self._silent:
            return self._fallback
        if ctx.session.can_send_request:
            return await self._asked(ctx)
        # From 2026-07-28 on a server asks by its answer, and the client calls again with what it was asked for.
        if params.input_responses is None:
            return types.InputRequiredResult(input_requests={self.KEY: types.ListRootsRequest()})
        answered = params.input_responses.get(self.KEY)
        return self._folder_of(answered.roots) if isinstance(answered, types.ListRootsResult) else self._fallback

    async def _asked(self, ctx: Context) -> Path | None:
        with anyio.move_on_after(ROOTS_WAIT_S):
            try:
                answered = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
                return self._folder_of(answered.roots)
            except Exception:  # A client that says it has roots and then has none, in whatever way.
                pass
        # The one client that there is need not be asked again; of many, another may answer.
        self._silent = self._fallback is not None
        return self._fallback

    def _folder_of(self, roots: list[types.Root]) -> Path | None:
        for root in roots:
            path = Path(unquote(urlsplit(str(root.uri)).path))
            if path.is_dir():
                return path
        return self._fallback


def _own(what: str) -> str:
    """Return the name of a tool or prompt of ours for a log, and no word that a client has made up."""
    return what if what in TOOLS or what in PROMPTS else "other"


def _described(name: str, tool: Tool, every: bool, for_programs: bool) -> types.Tool:
    reads = tool.offer.effect == "reads"
    return types.Tool(
        name=name,
        title=tool.offer.title,
        description=tool.offer.description,
        input_schema=short_schema(tool.arguments, rare=every),
        output_schema=schema_of_data(name) if for_programs else None,
        annotations=types.ToolAnnotations(
            title=tool.offer.title,
            read_only_hint=reads,
            destructive_hint=tool.offer.effect == "hides",
            idempotent_hint=tool.offer.idempotent,
            open_world_hint=False,
        ),
        _meta=ALWAYS_SHOWN if name in ("search_memories", "add_memory") else None,
    )


def _result(done: ToolAnswer, for_programs: bool) -> types.CallToolResult:
    text = types.TextContent(type="text", text=bounded(done.text))
    return types.CallToolResult(content=[text], structured_content=done.data if for_programs else None)


def _is_for_programs(ctx: Context) -> bool:
    """Whether a client gets JSON too: not if it is known to show its model the JSON instead of the text."""
    return _name_of(ctx) not in SHOW_JSON


def _prompt(name: str, prompt: Prompt) -> types.Prompt:
    argument = types.PromptArgument(name=prompt.argument, description=prompt.about, required=True)
    return types.Prompt(name=name, title=prompt.title, description=prompt.description, arguments=[argument])


def _template(one: Resource) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=one.uri, name=one.name, title=one.title, description=one.description, mime_type=MARKDOWN
    )


def _sentence(error: MemtapeError) -> str:
    return sentence(f"{error} {error.hint}".strip())


def _name_of(ctx: Context) -> str:
    params = ctx.session.client_params
    return params.client_info.name if params is not None else ""


def _actor_of(ctx: Context) -> str:
    """Return the client's own name; the log keeps it as the actor."""
    name = _name_of(ctx)
    return visible(name[:MAX_ACTOR_CHARS]).strip() or DEFAULT_ACTOR
