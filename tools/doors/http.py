"""The verbs as JSON over HTTP on loopback, for programs in other languages, with an OpenAPI document of them.

`POST /v1/METHOD` asks a verb by the name that the Python client has for it, with its fields as JSON. Who asks
is an agent. The server and its token are those of MCP (`tools/agents/mcp/server.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from http import HTTPStatus
from typing import Any

import anyio.to_thread
import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memtape import __version__
from memtape.schemas.errors import MemtapeError, NotFound
from memtape.tools.table import METHODS, VERBS
from memtape.tools.verb import Asks, Verb, document, encoded, fields_of
from memtape.tools.world import World

PATH = "/v1"
REF = "#/components/schemas/{name}"
MEDIA_TYPE = "application/json"
DESCRIBED = f"GET {PATH}/openapi.json describes it."
MAX_BODY_BYTES = 16 * 1024 * 1024
"""The longest text of a call, with every character escaped, and some more."""
Ask = Callable[[str | None, Callable[[World], bytes]], bytes]
"""Does an action in the world of a scope, by default the server's. Raises `MemtapeError`."""


@cache
def verbs() -> dict[str, Verb]:
    """Return the verbs by their names here: those of one project, and none that erases."""
    found = {method: VERBS[name] for method, name in METHODS.items()}
    return {name: verb for name, verb in found.items() if verb.at == "project" and verb.effect != "erases"}


def answer(world: World, method: str, given: dict[str, Any]) -> bytes:
    """Return the answer of a verb as JSON. Raises `MemtapeError`, also for what it does not take."""
    verb = verbs()[method]
    asked_for = (it for it in fields_of(verb.asks) if it.name in given)
    if hidden := next((it.name for it in asked_for if it.extra.get("people")), None):
        raise MemtapeError(f"{method} has no field {hidden} here.", DESCRIBED)
    try:
        asked = msgspec.convert(given, verb.asks)
    except msgspec.ValidationError as error:
        raise MemtapeError(f"{method} was called wrongly: {error}.", DESCRIBED) from None
    return encoded(document(verb, verb.answer(world, asked)))


def app(ask: Ask) -> Starlette:
    """Return the application of a server that asks verbs by a function."""

    async def called(request: Request) -> Response:
        method = request.path_params["method"]
        try:
            if method not in verbs():
                raise NotFound(f"There is no method {method[:60]!r}.", f"GET {PATH}/openapi.json lists them.")
            if (body := await _body(request)) is None:
                told = f"The body has more than {MAX_BODY_BYTES:,} bytes."
                return _refused(MemtapeError(told, "Send it in parts."), HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            given = msgspec.json.decode(body or b"{}", type=dict[str, Any])
            scope = request.query_params.get("scope")
            work = partial(ask, scope, lambda world: answer(world, method, given))
            done = await anyio.to_thread.run_sync(work)
            return Response(done, media_type=MEDIA_TYPE)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            wrong = MemtapeError(f"The body is no JSON object: {error}.", "Send one.")
            return _refused(wrong, HTTPStatus.BAD_REQUEST)
        except NotFound as error:
            return _refused(error, HTTPStatus.NOT_FOUND)
        except MemtapeError as error:
            return _refused(error, HTTPStatus.UNPROCESSABLE_ENTITY)

    async def described(request: Request) -> Response:
        return Response(encoded(openapi()), media_type=MEDIA_TYPE)

    async def unrouted(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        told = f"{request.method} {request.url.path[:60]} is no call of Memtape."
        return _refused(
            MemtapeError(told, f"Call POST {PATH}/METHOD. {DESCRIBED}"), HTTPStatus(error.status_code)
        )

    return Starlette(
        routes=[
            Route(f"{PATH}/openapi.json", described, methods=["GET"]),
            Route(f"{PATH}/{{method}}", called, methods=["POST"]),
        ],
        exception_handlers={HTTPException: unrouted},
    )


async def _body(request: Request) -> bytes | None:
    """Return the body of a request; None if too large, without having read the rest."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            return None
    return bytes(body)


def _refused(error: MemtapeError, status: HTTPStatus) -> Response:
    told = {"error": str(error), "hint": error.hint, "code": error.code}
    return Response(encoded(told), status_code=status, media_type=MEDIA_TYPE)


def openapi() -> dict[str, Any]:
    """Return the OpenAPI document of the verbs."""
    asks: list[type[Asks]] = list(dict.fromkeys(verb.asks for verb in verbs().values()))
    _, components = msgspec.json.schema_components(asks, ref_template=REF)
    for each in asks:
        for field in fields_of(each):
            if field.extra.get("people"):
                components[each.__name__]["properties"].pop(field.name)
    refused = {"description": "An error: a sentence, the next step, and a code."}
    names = {method: REF.format(name=verb.asks.__name__) for method, verb in verbs().items()}
    paths = {
        f"{PATH}/{method}": {
            "post": {
                "operationId": method,
                "summary": verb.doc.summary,
                "description": verb.doc.details,
                "parameters": [{"name": "scope", "in": "query", "schema": {"type": "string"}}],
                "requestBody": {"content": {MEDIA_TYPE: {"schema": {"$ref": names[method]}}}},
                "responses": {"200": {"description": "The answer."}, "404": refused, "422": refused},
            }
        }
        for method, verb in verbs().items()
    }
    info = {"title": "Memtape", "version": __version__}
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": components}}
