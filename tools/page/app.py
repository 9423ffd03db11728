"""The page's application: the answers to addresses and forms, and their server on loopback.

`drawing` turns views into HTML, `views` read the data, `guard` restricts the access.
"""

from __future__ import annotations

import secrets
import socket
import threading
import time
import webbrowser
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.sinks.home.counts import note
from memtape.tools.agents.mcp.server import listen
from memtape.tools.keep.operations import operation
from memtape.tools.keep.projector import few_collections
from memtape.tools.page.acting import Deed, Done, action_of, actions, do_all, erasable, erase, named_ids
from memtape.tools.page.asked import PageMemory, PageQuery, asked_of
from memtape.tools.page.drawing import HERE, VIEWS, Drawing, View
from memtape.tools.page.guard import Guard
from memtape.tools.page.past import Past, PastView
from memtape.tools.page.views import live_of

MOST_BARS = 32
"""So many deeds can be undone by their bars; later by the buttons of the memory."""
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
        self._bars: dict[str, Done] = {}
        routes = [
            *(Route(view.path, partial(self._show, view), methods=["GET"]) for view in VIEWS),
            Route("/live", self._live, methods=["GET"]),
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
        threading.Thread(target=self._make_ready, name="memtape-ready", daemon=True).start()
        try:
            with suppress(KeyboardInterrupt), few_collections():
                self._server.run([self._listening])
        finally:
            self._guard.end_opening()
            self._past.close()
            self._held.close()

    def _make_ready(self) -> None:
        """Read what the first deed needs, while the first view is looked at."""
        actions()
        self._held.keep_states()

    def stop(self) -> None:
        """End `serve`, running in another thread, after the open requests."""
        self._server.should_exit = True

    def _show(self, view: View, request: Request) -> Response:
        began, pairs = time.perf_counter(), request.query_params.multi_items()
        asked = asked_of(view.path, pairs, self._held.scope)
        headers: dict[str, str] = {}
        if asked.text("format") == "json" and not asked.at:
            return Response(self._drawing.document(view, pairs), media_type="application/json")
        done = self._bars.get(asked.text("done"))
        if (view.is_past and asked.at) or asked.is_on("diff"):  # The log is folded.
            found = self._past.view((view.path, pairs))
        else:
            found = self._drawing.view(view, pairs, done)
        if isinstance(found, PastView):
            shown = {"asked": asked, "view": view, "progress": found}
            found, headers = self._drawing.written("making.html", shown), AGAIN
        took_ms = (time.perf_counter() - began) * 1_000
        operation("answered", door="page", what=view.name, took_us=round(took_ms * 1_000))
        return HTMLResponse(found, headers=headers | {"server-timing": f"view;dur={took_ms:.1f}"})

    def _live(self, request: Request) -> Response:
        """Return where the log and the views of a scope are, for pages that show new texts by themselves."""
        asked = asked_of("/live", request.query_params.multi_items(), self._held.scope)
        since = asked.number("since", 0, 0, 999_999_999)
        return JSONResponse(self._held.do(asked.scope, lambda client: live_of(client, since)))

    async def _act(self, request: Request) -> Response:
        """Do a deed, or undo the deed of a bar, and lead back to the view; ask first before an erasure."""
        try:
            form = await request.form(max_files=0, max_fields=1_000)
        except ClientDisconnect:  # The browser went before it had sent all.
            return PlainTextResponse("The form was cut off, and nothing was done.\n", 400)
        pairs = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
        return await run_in_threadpool(self._act_on, pairs)

    def _act_on(self, pairs: list[tuple[str, str]]) -> Response:
        """Do what a form asks; lead back to the view of the form where that is refused."""
        try:
            return self._acted(pairs)
        except MemtapeError as error:
            self._count("refused", type(error).__name__)
            back = dict(pairs).get("back", "")
            return self._drawing.told("/act", pairs, error, _own(back) if back else "")

    def _acted(self, pairs: list[tuple[str, str]]) -> Response:
        began, asked = time.perf_counter(), asked_of("/act", pairs, self._held.scope)
        if asked.text("do") == "erase":
            return self._erased(asked)
        if asked.text("do") == "undo":
            bar = self._bars.get(asked.text("done"))
            if bar is None or not bar.undo:
                told = "This was undone before, or the page was started again meanwhile."
                raise MemtapeError(told, "Open the memory: its buttons lead back too.")
            del self._bars[asked.text("done")]
            done = do_all(self._held, bar.undo)
            done = done._replace(told=bar.undone or done.told)
        else:
            done = do_all(self._held, [self._deed(asked)])
        answer = self._back(asked, done)
        took_ms = (time.perf_counter() - began) * 1_000
        answer.headers["server-timing"] = f"view;dur={took_ms:.1f}"
        return answer

    def _deed(self, asked: PageQuery) -> Deed:
        """Return the deed that a form names. Raises `MemtapeError`."""
        action = action_of(asked.text("do"))
        if action.about is None:
            tags = [tag.lstrip("#") for tag in asked.text("tags").replace(",", " ").split()]
            return Deed(action.name, asked.scope, (), asked.given | {"tag": tags})
        ids = self._held.do(asked.scope, lambda client: named_ids(client, action, asked))
        return Deed(action.name, asked.scope, ids, asked.given)

    def _erased(self, asked: PageQuery) -> Response:
        """Say what an erasure would take; once that is meant, erase, and say what was proven."""
        ids = asked.many("id")
        if not ids:
            raise MemtapeError("Nothing is chosen.", "Press the button beside the memory that is to go.")
        made = self._held.do(asked.scope, lambda client: erasable(client, ids))
        if asked.is_on("meant"):
            return self._back(asked, self._held.do(asked.scope, lambda client: erase(client, made)))
        shown = {"asked": asked, "view": None, "back": _own(asked.text("back")), "made": made, "ids": ids}
        return HTMLResponse(self._drawing.written("confirm.html", shown))

    def _back(self, asked: PageQuery, done: Done) -> Response:
        """Return the way back to the view that a form came from, with a bar of what was done."""
        key = secrets.token_urlsafe(9)
        self._bars[key] = done
        while len(self._bars) > MOST_BARS:
            self._bars.pop(next(iter(self._bars)))
        path, _, query = _own(asked.text("back")).partition("?")
        rest = [pair for pair in parse_qsl(query) if pair[0] != "done"]
        return RedirectResponse(f"{path}?{urlencode([*rest, ('done', key)])}", 303)

    def _refused(self, request: Request, error: Exception) -> Response:
        """Count an error of Memtape, and return a page with the error and the next step."""
        assert isinstance(error, MemtapeError)
        self._count("refused", type(error).__name__)
        return self._drawing.told(request.url.path, request.query_params.multi_items(), error)

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
        return self._drawing.told(request.url.path, request.query_params.multi_items(), missing)

    def _broken(self, request: Request, error: Exception) -> Response:
        """Return the answer to an internal error of the page, and count it."""
        self._count("broken", type(error).__name__)
        told = "The page could not be made. `memtape page --log-format text` says more.\n"
        return PlainTextResponse(told, 500)


def _own(back: str) -> str:
    """Return an address to go back to, relative to the folder of the page; the first view for any other."""
    return back.partition("#")[0] if back.startswith("./") and back.isprintable() else "./"
