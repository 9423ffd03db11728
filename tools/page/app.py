"""The application of the page: a table of views, the actions, and how an answer becomes HTML.

What a view shows is in `views`, who may see it in `guard`. Every text is escaped by the templates, which have no other
way to write one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from memtape import __version__
from memtape.schemas.errors import Locked, LogGone, MemtapeError, NotFound
from memtape.schemas.visible import many
from memtape.sinks.home.samples import note
from memtape.tools.client import Client
from memtape.tools.keep.operations import operation
from memtape.tools.page.acting import ACTIONS, Meant, action_of, meant
from memtape.tools.page.asked import Asked, asked_of
from memtape.tools.page.guard import Guard
from memtape.tools.page.memory import PageMemory
from memtape.tools.page.slow import Progress, Slow
from memtape.tools.page.telling import FILTERS
from memtape.tools.page.views.graph import graph
from memtape.tools.page.views.log import MOST_OFFSET, LogLine, errors_of, lines_from, log
from memtape.tools.page.views.memory import memory
from memtape.tools.page.views.now import now
from memtape.tools.page.views.recalls import recalls
from memtape.tools.page.views.search import kept_or_dropped, search
from memtape.tools.page.views.start import start
from memtape.tools.page.views.timeline import timeline
from memtape.tools.page.views.tree import tree
from memtape.tools.page.views.waiting import waiting

HERE = Path(__file__).parent
AGAIN = {"refresh": "1"}
"""Has a browser ask again after a second, be it without script."""


class View(NamedTuple):
    """One view: its path, its name in the menu, the key that leads there, and what reads it.

    `is_past` says that it can be seen as of a time; `is_listed` that it stands in the menu.
    """

    path: str
    name: str
    key: str
    of: Callable[[Client, Asked], dict[str, Any]]
    is_past: bool = True
    is_listed: bool = True


VIEWS: tuple[View, ...] = (
    View("/", "Now", "n", now),
    View("/search", "Search", "/", search),
    View("/start", "Next start", "s", start),
    View("/recalls", "Recalls", "r", recalls, is_past=False),
    View("/timeline", "Timeline", "t", timeline),
    View("/graph", "Graph", "g", graph),
    View("/tree", "Tree", "e", tree),
    View("/yours", "Yours", "y", waiting, is_past=False),
    View("/log", "Log", "l", log, is_past=False),
    View("/memory", "Memory", "", memory, is_listed=False),
)
"""One more view is one more row, a file in `views` and a template under its function's name."""


class Page:
    """Answers the requests of one home's page."""

    def __init__(self, held: PageMemory) -> None:
        self._held = held
        self._then = PageMemory(held.home, held.scope)
        self._slow: Slow[dict[str, Any]] = Slow()
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= FILTERS
        self._templates.globals |= {"views": VIEWS, "actions": ACTIONS, "version": __version__, "scopes": held.scopes}

    def routes(self) -> list[Route | Mount]:
        """Return where each view and each action is reached."""
        views = [Route(view.path, self._answers(view), methods=["GET"]) for view in VIEWS]
        return [
            *views,
            Route("/log/feed", self._feed, methods=["GET"]),
            Route("/act", self._act, methods=["POST"]),
            Route("/questions", self._keep, methods=["POST"]),
            Route("/metrics", self._metrics, methods=["GET"]),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ]

    def _answers(self, view: View) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            return await run_in_threadpool(self._show, view, request)

        return answer

    def _show(self, view: View, request: Request) -> Response:
        began, worked = time.perf_counter(), time.thread_time()
        try:
            asked = asked_of(view.path, request.query_params.multi_items(), self._held.scope)
            found = self._found(view, asked, str(request.url.query))
            shown = {"asked": asked, "view": view}
            if isinstance(found, Progress):
                page, headers = self._written("making.html", shown | {"progress": found}), AGAIN
            else:
                page, headers = self._written(f"{view.of.__name__}.html", shown | found), {}
        except MemtapeError as error:
            return self._error(request, error)
        took_ms, cpu_ms = (time.perf_counter() - began) * 1_000, (time.thread_time() - worked) * 1_000
        operation("answered", door="page", what=view.name, took_us=round(took_ms * 1_000))
        timing = {"server-timing": f"view;dur={took_ms:.1f}, cpu;dur={cpu_ms:.1f}"}
        return HTMLResponse(page, headers=headers | timing)

    def _found(self, view: View, asked: Asked, query: str) -> dict[str, Any] | Progress:
        """Return what a view shows, or how far it is where the log is folded for it."""
        if not (asked.at or asked.is_on("diff") or asked.is_on("age")):
            return self._held.do(asked.scope, lambda client: view.of(client, asked))
        then = partial(self._then.do, asked.scope, lambda client: view.of(client, asked))
        return self._slow.of(f"{view.path}?{query}", then)

    def close(self) -> None:
        """Close what the past is read with."""
        self._slow.close()
        self._then.close()

    def _written(self, template: str, shown: dict[str, Any]) -> str:
        return self._templates.get_template(template).render(shown)

    def _error(self, request: Request, error: MemtapeError) -> Response:
        """Return a page that says what is wrong and what to do next, and count it."""
        self._count(error)
        return self._told(request, error)

    def _count(self, error: Exception) -> None:
        """Count an error in the home, and tell a log its kind."""
        note(self._held.home, [("error", "page", "", 1)])
        operation("refused" if isinstance(error, MemtapeError) else "broken", door="page", error=type(error).__name__)

    def _told(self, request: Request, error: MemtapeError) -> Response:
        asked = Asked(request.url.path, self._held.scope, {})
        page = self._written("error.html", {"asked": asked, "view": None, "error": error})
        status = 404 if isinstance(error, NotFound) else 503 if isinstance(error, (Locked, LogGone)) else 400
        return HTMLResponse(page, status)

    async def _feed(self, request: Request) -> Response:
        """Return the events behind an offset, for the live view of the log."""
        try:
            asked = asked_of("/log", request.query_params.multi_items(), self._held.scope)
            after = asked.number("after", 0, 0, MOST_OFFSET)

            def read(client: Client) -> tuple[list[LogLine], list[str]]:
                return lines_from(client, asked, after), errors_of(client)

            lines, errors = await run_in_threadpool(self._held.do, asked.scope, read)
        except MemtapeError as error:
            self._count(error)
            return JSONResponse({"error": str(error)}, 400)
        rows = [self._written("log_line.html", {"line": line, "asked": asked}) for line in lines]
        told = self._written("errors.html", {"errors": errors})
        return JSONResponse({"rows": rows, "errors": told, "next": lines[-1].offset + 1 if lines else after})

    async def _metrics(self, request: Request) -> Response:
        """Return what `memtape run --metrics` serves too, to who holds the token."""
        from memtape.tools.ask.metrics import exposition

        def read(client: Client) -> tuple[bytes, str]:
            return exposition(client.home, client.log, client.profile.name)

        try:
            body, kind = await run_in_threadpool(self._held.do, self._held.scope, read)
        except MemtapeError as error:
            return self._error(request, error)
        return Response(body, media_type=kind)

    def missing(self, request: Request, error: Exception) -> Response:
        """Return what is answered for an address or a form that means nothing here."""
        if not isinstance(error, HTTPException) or error.status_code != 404:
            return PlainTextResponse("This is not taken here.\n", getattr(error, "status_code", 500))
        return self._told(request, NotFound("There is no such view.", "The views are named above."))

    def broken(self, request: Request, error: Exception) -> Response:
        """Return what is answered where the page itself is wrong, which is counted."""
        self._count(error)
        return PlainTextResponse("The page could not be made. `memtape page --log-format text` says more.\n", 500)

    async def _keep(self, request: Request) -> Response:
        """Keep a question of the view *search* under a name, or keep it no more; then show it."""
        form = await request.form(max_files=0, max_fields=100)
        pairs = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
        try:
            asked = asked_of("/search", pairs, self._held.scope)
            told = await run_in_threadpool(self._held.do, asked.scope, lambda client: kept_or_dropped(client, asked))
        except MemtapeError as error:
            return self._error(request, error)
        return RedirectResponse(told, 303)

    async def _act(self, request: Request) -> Response:
        """Ask whether an action is meant, or do it."""
        form = await request.form(max_files=0, max_fields=1_000)
        pairs = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
        return await run_in_threadpool(self._acted, request, pairs)

    def _acted(self, request: Request, pairs: list[tuple[str, str]]) -> Response:
        try:
            asked = asked_of("/act", pairs, self._held.scope)
            name, action = action_of(asked)

            def act(client: Client) -> tuple[Meant, int | None]:
                about = meant(client, name, action, asked)
                return about, action.do(client, about.ids, asked) if asked.is_on("meant") else None

            about, count = self._held.do(asked.scope, act)
        except MemtapeError as error:
            return self._error(request, error)
        shown = {"asked": asked, "view": None, "name": name, "action": action, "about": about}
        shown["back"] = _own_path(asked.text("back", "/"))
        if count is None:
            return HTMLResponse(self._written("confirm.html", shown))
        return HTMLResponse(self._written("acted.html", shown | {"count": many(count, action.counts)}))


def _own_path(path: str) -> str:
    """Return a path of this page to go back to, and nothing that a browser takes for another host."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else "/"


def page_app(page: Page, port: int, token: str) -> ASGIApp:
    """Return the application, which answers nobody without the token."""
    return Guard(
        Starlette(routes=page.routes(), exception_handlers={HTTPException: page.missing, Exception: page.broken}),
        port,
        token,
    )
