"""Access to the page: for the holder of its token, from this machine, by the page's own address.

The token is in the first address and becomes a cookie that no script reads and no other site sends. A browser
sends cookies to every port of a host, but only below their path: the page is in a folder with a secret name,
so that no other server of the machine gets its cookie. Where the system tells the user of a connection, the
cookie admits only the user who serves the page. Requests to another name, or on behalf of another origin, are
refused before anything is read. A file with a one-time code lets a browser in.
"""

from __future__ import annotations

import hmac
import os
import secrets
import tempfile
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = "127.0.0.1"
TOKEN_KEY = "token"
TOKEN_BYTES = 32
FOLDER_BYTES = 16


def _are_equal(given: str, secret: str) -> bool:
    """Whether two words are equal, in a time that does not tell up to where."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


MAX_BODY_BYTES = 256 * 1024
READING = ("GET", "HEAD")
CONNECTIONS = Path("/proc/net/tcp")
"""The TCP connections over IPv4 on Linux, one a line: number, local and remote address, …, uid (proc(5))."""
_LOCAL, _REMOTE, _UID = 1, 2, 7

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
    """Lets requests through that know the token, and gives answers the headers that keep a page to itself.

    The token holds while the page is served, a code once. The folder alone does not do.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app, self._port = app, port
        self.folder = f"/{secrets.token_urlsafe(FOLDER_BYTES)}"
        self._token, self._code = secrets.token_urlsafe(TOKEN_BYTES), ""
        self._opening: Path | None = None
        self._hosts = tuple(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))
        self._origins = tuple(f"http://{host}" for host in self._hosts)
        self._cookie = f"memtape-{port}"
        self.address = self._by(self._token)
        """The first address, with the token."""

    def make_opening(self) -> Path:
        """Write a file (0600) that leads to the page by a code for one use, and return its path.

        Every user of a machine can read the arguments of a browser's process: they name the file alone.
        """
        self._code = secrets.token_urlsafe(TOKEN_BYTES)
        number, path = tempfile.mkstemp(prefix="memtape-page-", suffix=".html")
        self._opening = Path(path)
        with open(number, "w", encoding="ascii") as file:
            file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={self._by(self._code)}">\n')
        return self._opening

    def end_opening(self) -> None:
        """Remove the code and its file."""
        self._code = ""
        if self._opening is not None:
            self._opening.unlink(missing_ok=True)

    def _by(self, secret: str) -> str:
        return f"http://{LOOPBACK}:{self._port}{self.folder}/?{TOKEN_KEY}={secret}"

    def _is_code(self, given: str) -> bool:
        """Whether `given` is the code; a correct code is used up."""
        is_code = bool(self._code) and _are_equal(given, self._code)
        if is_code:
            self.end_opening()
        return is_code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or hand it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            elif scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        answer = self._refusal(scope) or self._entry(scope)
        inner = {**scope, "path": scope["path"].removeprefix(self.folder)}
        await (answer or self._app)(inner, receive, guarded)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        """Return the refusal of a request regardless of its token: by its user, host, origin or length."""
        # A browser sends a cookie to all ports of a host, so that another user's server may have read it.
        user = uid_of(self._port, scope["client"]) if scope.get("client") else None
        if user is not None and user != os.getuid():
            return PlainTextResponse("This page is for the user who serves it.\n", 403)
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return PlainTextResponse("This page is served under its own address alone.\n", 421)
        is_own = len(origins) == 1 and origins[0] in self._origins
        if not is_own and (origins or scope["method"] not in READING):
            return PlainTextResponse("This page takes nothing from other pages.\n", 403)
        # What another page of this machine embeds or fetches brings the cookie along; a followed link may.
        is_foreign = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if is_foreign and headers.get("sec-fetch-mode") != "navigate":
            return PlainTextResponse("This page gives nothing to other pages.\n", 403)
        length = headers.get("content-length", "0")
        is_short = length.isdecimal() and len(length) < 10 and int(length) <= MAX_BODY_BYTES
        if not is_short or "transfer-encoding" in headers:
            return PlainTextResponse("That is too long.\n", 413)
        return None

    def _entry(self, scope: Scope) -> Response | None:
        """Return the answer in place of the page: a cookie for the token, or a hint on how to enter."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == TOKEN_KEY]
        is_here = scope["path"].startswith(f"{self.folder}/")
        enters = scope["method"] in READING and any(_are_equal(it, self._token) for it in given)
        if is_here and scope["method"] == "GET" and any(map(self._is_code, given)):
            # A browser sends no strict cookie along a redirect from a file: the page itself leads on.
            entered = HTMLResponse('<!doctype html><meta http-equiv="refresh" content="0;url=./">\n')
            self._let_in(entered)
            return entered
        cookies = map(cookie_parser, Headers(scope=scope).getlist("cookie"))
        kept = next((told[self._cookie] for told in cookies if self._cookie in told), "")
        if not is_here or not (enters or _are_equal(kept, self._token)):
            told = "Open the address that `memtape page` has printed: it lets you in.\n"
            return PlainTextResponse(told, 403)
        if not given:
            return None
        # No address that is shown, kept or logged has a token in it, be it the right one.
        rest = urlencode([pair for pair in query if pair[0] != TOKEN_KEY])
        path = quote(scope["path"])
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        if enters:
            self._let_in(answer)
        return answer

    def _let_in(self, answer: Response) -> None:
        path = f"{self.folder}/"
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path=path)


def uid_of(port: int, peer: tuple[str, int]) -> int | None:
    """Return the uid of the user connected to a port from a peer's address and port; None if unknown."""
    try:
        lines = CONNECTIONS.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    ends = [_end(*peer), _end("127.0.0.1", port)]
    for fields in map(str.split, lines[1:]):
        if fields[_LOCAL : _REMOTE + 1] == ends:
            return int(fields[_UID])
    return None


def _end(address: str, port: int) -> str:
    """Return an address and port as Linux writes them: bytes in the order of the machine, in hexadecimal."""
    return f"{''.join(f'{int(part):02X}' for part in reversed(address.split('.')))}:{port:04X}"
