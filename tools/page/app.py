"""The page's application: the answers to addresses and forms, and their server on loopback.

`drawing` turns views into HTML, `views` read the data, `guard` restricts the access.
"""

from __future__ import annotations

import socket
import threading
import time
import webbrowser
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.sinks.home.counts import note
from memtape.tools.agents.mcp.server import listen
from memtape.tools.client import Client
from memtape.tools.keep.operations import operation
from memtape.tools.page.acting import actions, do_action, meant
from memtape.tools.page.asked import PageMemory, asked_of
from memtape.tools.page.drawing import HERE, VIEWS, Drawing, View
from memtape.tools.page.guard import Guard
from memtape.tools.page.past import Past, PastView

AGAIN = {"refresh": "1"}
"""Has a browser ask again after a second, be it without script."""


class Serving:
    """A listening page: the answers to the requests of one home.

    `address` admits its holder, is written nowhere, and expires with the process.
    """

    def __init__(self, home: Path, scope: str, port: int) -> None:
        self._listening: socket.socket = listen(port)
        self.port: int = self._listening.getsockname()[1]
        self._held = PageMemory(home, scope)
        self._drawing = Drawing(self._held)
        self._past = Past(self._held.home, scope)
        routes = [
            *(Route(view.path, partial(self._show, view), methods=["GET"]) for view in VIEWS),
            Route("/act", self._act, methods=["POST"]),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ]
        handlers = {MemtapeError: self._refused, HTTPException: self._missing, Exception: self._broken}
        app = Starlette(routes=routes, exception_handlers=handlers)
        app.router.redirect_slashes = False  # It would lead out of the folder of the page.
        self._guard = Guard(app, self.port)
        self.address = self._guard.address
        quiet = uvicorn.Config(self._guard, log_level="warning", access_log=False, server_header=False)
        self._server = uvicorn.Server(quiet)

    def serve(self, *, open_browser: bool = False) -> None:
        """Answer until Ctrl-C, SIGTERM or `stop`."""
        if open_browser:
            opening = self._guard.make_opening().as_uri()
            # Some browsers keep who opens them waiting until they are closed.
            threading.Thread(target=webbrowser.open, args=(opening,), daemon=True).start()
        try:
            with suppress(KeyboardInterrupt):
                self._server.run([self._listening])
        finally:
            self._guard.end_opening()
            self._past.close()
            self._held.close()

    def stop(self) -> None:
        """End `serve`, running in another thread, after the open requests."""
        self._server.should_exit = True

    def _show(self, view: View, request: Request) -> Response:
        began, pairs = time.perf_counter(), request.query_params.multi_items()
        asked = asked_of(view.path, pairs, self._held.scope)
        headers: dict[str, str] = {}
        if (view.is_past and asked.at) or asked.is_on("diff"):  # The log is folded.
            found = self._past.view((view.path, pairs))
        else:
            found = self._drawing.view(view, pairs)
        if isinstance(found, PastView):
            shown = {"asked": asked, "view": view, "progress": found}
            found, headers = self._drawing.written("making.html", shown), AGAIN
        took_ms = (time.perf_counter() - began) * 1_000
        operation("answered", door="page", what=view.name, took_us=round(took_ms * 1_000))
        return HTMLResponse(found, headers=headers | {"server-timing": f"view;dur={took_ms:.1f}"})

    async def _act(self, request: Request) -> Response:
        """Ask whether an action is meant, or do it."""
        try:
            form = await request.form(max_files=0, max_fields=1_000)
        except ClientDisconnect:  # The browser went before it had sent all.
            return PlainTextResponse("The form was cut off, and nothing was done.\n", 400)
        pairs = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
        return await run_in_threadpool(self._acted, pairs)

    def _acted(self, pairs: list[tuple[str, str]]) -> Response:
        asked = asked_of("/act", pairs, self._held.scope)
        is_meant, back = asked.is_on("meant"), asked.text("back")

        def act(client: Client) -> dict[str, Any]:
            if (action := actions().get(asked.text("do"))) is None:
                told = f"There is no action {asked.text('do')[:40]!r}."
                raise MemtapeError(told, f"There are {', '.join(actions())}.")
            about = meant(client, action, asked)
            lines = do_action(client, action, about.ids, asked) if is_meant else []
            return {"action": action, "about": about, "lines": lines}

        shown = self._held.do(asked.scope, act)
        # An address to go back to is relative to the folder of the page, and none of another host.
        is_own = back.startswith("./") and back.isprintable()
        shown |= {"asked": asked, "view": None, "back": back if is_own else "./"}
        return HTMLResponse(self._drawing.written("acted.html" if is_meant else "confirm.html", shown))

    def _refused(self, request: Request, error: Exception) -> Response:
        """Count an error of Memtape, and return a page with the error and the next step."""
        assert isinstance(error, MemtapeError)
        self._count("refused", type(error).__name__)
        return self._drawing.told(request.url.path, error)

    def _count(self, how: Literal["refused", "broken"], error: str) -> None:
        """Count an error in the home, and tell a log its kind."""
        note(self._held.home, [("error", "page", "", 1)])
        operation(how, door="page", error=error)

    def _missing(self, request: Request, error: Exception) -> Response:
        """Return the answer to an unknown address or form."""
        if not isinstance(error, HTTPException) or error.status_code != 404:
            return PlainTextResponse("This is not taken here.\n", getattr(error, "status_code", 500))
        if "/" in request.url.path[1:]:  # The links of a view lead on from the folder of the page alone.
            return PlainTextResponse("There is no such view.\n", 404)
        missing = NotFound("There is no such view.", "The views are named above.")
        return self._drawing.told(request.url.path, missing)

    def _broken(self, request: Request, error: Exception) -> Response:
        """Return the answer to an internal error of the page, and count it."""
        self._count("broken", type(error).__name__)
        told = "The page could not be made. `memtape page --log-format text` says more.\n"
        return PlainTextResponse(told, 500)
