"""An endpoint of an OpenAI-compatible API: named by a person, checked, and asked over HTTP.

The key goes to the one origin that was set, and into no error or log. The callers know the content of
requests and answers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from time import monotonic, sleep
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec

from memtape.schemas.errors import MemtapeError

if TYPE_CHECKING:
    import httpx

CONNECT_S = 5.0
BACKOFF_MAX_S = 8.0
RETRY_AFTER_MAX_S = 60.0
REFUSED_CONTENT = (400, 413, 422)
"""Status codes for a refused request whose content may be the cause, for example a text that is too long."""

AnswerT = TypeVar("AnswerT")
Trouble = Literal["unreachable", "busy", "late", "failed", "long", "refused"]
"""How a request stayed without an answer: no connection, too many requests, too slow, an error or a useless
answer, an answer too long, or a refusal of the content.
"""


class Names(NamedTuple):
    """Purpose of an endpoint (`what`), last segments of its path (`ending`), and environment variables."""

    what: str
    ending: str
    url: str
    model: str
    key: str
    insecure: str


class HttpTarget(msgspec.Struct, frozen=True):
    """An endpoint and its model. `key` is empty if none is wanted; no `repr` or error shows the key."""

    url: str
    model: str
    key: str = ""
    what: str = "embedder"

    def __repr__(self) -> str:
        return f"HttpTarget(url={self.url!r}, model={self.model!r}, key={'***' if self.key else ''!r})"

    @property
    def place(self) -> str:
        """The endpoint's name in errors."""
        return f"The {self.what} {self.model} at {urlsplit(self.url).netloc}"


class Unanswered(Exception):
    """A request without an answer. `reason` is a clause; `wait_s` is the wait that the endpoint asked for."""

    def __init__(self, reason: str, how: Trouble = "failed", wait_s: float = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.how = how
        self.wait_s = wait_s

    @property
    def may_pass(self) -> bool:
        """Return whether the same request may be answered later."""
        return self.how in ("busy", "late", "failed")


class Limits(NamedTuple):
    """The limits of requests to an endpoint: for each wait for bytes, an answer, and all attempts together.

    The size of an answer is limited too, so that no sender goes on for ever.
    """

    wait_s: float
    answer_s: float
    all_s: float
    attempts: int
    answer_bytes: int


class Endpoint:
    """A client of an endpoint. It follows no redirect."""

    def __init__(self, target: HttpTarget, names: Names, limits: Limits) -> None:
        import httpx

        self._target = target
        self._names = names
        self._limits = limits
        json = "application/json"
        headers = {"Content-Type": json, "Accept": json, "Accept-Encoding": "identity"}
        if target.key:
            headers["Authorization"] = f"Bearer {target.key}"
        is_encrypted = target.url.startswith("https:")
        self._client = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(limits.wait_s, connect=min(limits.wait_s, CONNECT_S)),
            follow_redirects=False,
            # Plain http needs no certificates, and loading the trusted ones takes 25 ms.
            verify=is_encrypted,
            # An environment's proxy could read plain http, so it is used with encryption only.
            trust_env=is_encrypted,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, body: bytes, read: Callable[[bytes], AnswerT], attempts: int | None = None) -> AnswerT:
        """Return what `read`, which may raise `Unanswered`, makes of the answer to a request.

        A request is repeated after a failure that may pass, by default as often as the limits say. Raises
        `Unanswered` after the last attempt, and `MemtapeError` where the endpoint refuses the model or key.
        """
        give_up, tries = monotonic() + self._limits.all_s, attempts or self._limits.attempts
        for tried in range(1, tries + 1):
            try:
                return read(self._ask_once(body))
            except Unanswered as error:
                # Another time for each, so that not all ask at once.
                backoff_s = min(2 ** (tried - 1) + os.urandom(1)[0] / 256, BACKOFF_MAX_S)
                wait_s = min(max(error.wait_s, backoff_s), RETRY_AFTER_MAX_S)
                if tried == tries or not error.may_pass or monotonic() + wait_s >= give_up:
                    raise
            sleep(wait_s)
        raise AssertionError("A request is tried at least once.")

    def _ask_once(self, body: bytes) -> bytes:
        import httpx

        # httpx's exceptions hold the request with its headers, and must not become a cause.
        try:
            with self._client.stream("POST", self._target.url, content=body) as response:
                self._check_status(response)
                return self._read(response)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Unanswered(f"no connection ({type(error).__name__})", "unreachable") from None
        except httpx.TimeoutException:
            raise Unanswered(f"no answer within {self._limits.wait_s:g} s", "late") from None
        except httpx.HTTPError as error:
            raise Unanswered(f"the connection broke ({type(error).__name__})") from None

    def _check_status(self, response: httpx.Response) -> None:
        status, names = response.status_code, self._names
        if status == 200:
            return
        if 300 <= status < 400:
            raise MemtapeError(
                f"{self._target.place} redirects ({status}), and texts and keys follow no redirect.",
                f"Set {names.url} to where it is.",
            )
        if status == 429:
            asked = response.headers.get("Retry-After", "")  # Or a date, for which the backoff does.
            wait_s = float(asked[:9]) if asked.isascii() and asked.isdigit() else 0
            raise Unanswered("too many requests (HTTP 429)", "busy", wait_s)
        if status >= 500 or status == 408 or status in REFUSED_CONTENT:
            raise Unanswered(f"HTTP {status}", "refused" if status in REFUSED_CONTENT else "failed")
        keys = {401: "a valid key.", 403: "a key that may use this model."}
        hint = f"Check {names.url} (it usually ends in /v1) and {names.model}."
        hint = f"Set {names.key} to {keys[status]}" if status in keys else hint
        raise MemtapeError(f"{self._target.place} refuses with HTTP {status}.", hint)

    def _read(self, response: httpx.Response) -> bytes:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise Unanswered("its answer is compressed, which it was told not to do")
        limits = self._limits
        deadline = monotonic() + limits.answer_s
        body = bytearray()
        # Without a size, since a piece of a given size is not handed out before it is full.
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > limits.answer_bytes:
                raise Unanswered(f"its answer has more than {limits.answer_bytes >> 20} MiB", "long")
            if monotonic() > deadline:
                raise Unanswered(f"its answer takes longer than {limits.answer_s:g} s", "late")
        return bytes(body)


def target_of(named: Mapping[str, str], names: Names) -> HttpTarget | None:
    """Return the endpoint that variables name, or None without a URL. Raises `MemtapeError` for a bad one."""
    base = named.get(names.url, "").strip()
    if not base:
        return None
    model = named.get(names.model, "").strip()
    if not model:
        raise MemtapeError(
            f"{names.url} is set and {names.model} is not.", f"Set {names.model} to the model's name there."
        )
    key = named.get(names.key, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise MemtapeError(f"{names.key} holds characters that no header may have.", "Copy it again.")
    try:
        parts = urlsplit(base)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise _bad(names, "it cannot be read") from None
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        # Not quoted: the text may be a password.
        raise _bad(names, f"it names a user; a key goes into {names.key}")
    if parts.scheme not in ("http", "https") or not host:
        raise _bad(names, "it does not begin with https:// or http:// and a host")
    if parts.query or parts.fragment:
        raise _bad(names, "it has a query or a fragment")
    is_private = parts.scheme == "https" or _is_loopback(host)
    if not is_private and named.get(names.insecure, "").strip() != "yes":
        raise MemtapeError(
            f"What goes to {host} by plain http would be readable on the way.",
            f"Use https, or set {names.insecure}=yes if that network is yours alone.",
        )
    path = parts.path.rstrip("/")
    if not path.endswith(f"/{names.ending}"):  # It is the base of the API.
        path = f"{path or '/v1'}/{names.ending}"
    return HttpTarget(f"{parts.scheme}://{parts.netloc}{path}", model, key, names.what)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bad(names: Names, why: str) -> MemtapeError:
    return MemtapeError(
        f"{names.url} is no base URL of an API: {why}.", "Write https://host/v1 or http://127.0.0.1:port/v1."
    )
