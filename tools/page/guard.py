"""Who may see the page: the holder of its token, from this machine, by the page's own address.

The token stands in the first address and becomes a cookie that no script reads and no other site sends. What is not
addressed to the page's own name, or acts on behalf of another origin, is refused before anything is read. What a view
shows is not here.
"""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_KEY = "token"
MAX_BODY_BYTES = 256 * 1024
READING = ("GET", "HEAD")

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With `no-referrer` a browser hides the origin of the page's own forms, by which they are known.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Lets a request through that knows the token, and gives every answer the headers that keep a page to itself."""

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app = app
        self._hosts = tuple(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))
        self._origins = tuple(f"http://{host}" for host in self._hosts)
        # Cookies are shared by all ports of a host: two pages must not take each other's.
        self._cookie = f"memtape-{port}"
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or hand on, one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        answer = self._refusal(scope) or self._entry(scope)
        await (answer or self._app)(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        if headers.get("host") not in self._hosts:
            return PlainTextResponse("This page is served under its own address alone.\n", 421)
        origin = headers.get("origin")
        if origin not in (*self._origins, None) or (origin is None and scope["method"] not in READING):
            return PlainTextResponse("This page takes nothing from other pages.\n", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES or "transfer-encoding" in headers:
            return PlainTextResponse("That is too long.\n", 413)
        return None

    def _entry(self, scope: Scope) -> PlainTextResponse | RedirectResponse | None:
        """Return what is answered instead of the page: a cookie for the token, or a word on how to come in."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == TOKEN_KEY]
        if given and scope["method"] == "GET" and self._is_token(given[0]):
            rest = urlencode([pair for pair in query if pair[0] != TOKEN_KEY])
            # A path that began with two slashes would name another host.
            path = "/" + scope["path"].lstrip("/")
            answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
            answer.set_cookie(self._cookie, given[0], httponly=True, samesite="strict", path="/")
            return answer
        if self._is_token(self._kept(scope)):
            return None
        return PlainTextResponse("Open the address that `memtape page` has printed: it lets you in.\n", 403)

    def _kept(self, scope: Scope) -> str:
        try:
            found = SimpleCookie(Headers(scope=scope).get("cookie", "")).get(self._cookie)
        except CookieError:
            return ""
        return "" if found is None else found.value

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token)
