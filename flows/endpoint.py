"""An endpoint of an OpenAI-compatible API as a person names it, checked, and a client bound to the endpoint.

Requests and answers are in the files that call the endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import msgspec

from memtape.schemas.errors import MemtapeError

if TYPE_CHECKING:
    import httpx

CONNECT_S = 5.0


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

    @property
    def encrypted(self) -> bool:
        """Return whether the connection is encrypted (HTTPS)."""
        return self.url.startswith("https:")

    def redirected(self, status: int, url_variable: str) -> MemtapeError:
        """Return the refusal of an answer that names another place."""
        return MemtapeError(
            f"{self.place} redirects elsewhere ({status}), and texts and keys follow no redirect.",
            f"Set {url_variable} to where it is.",
        )


def http_client(target: HttpTarget, timeout_s: float) -> httpx.Client:
    """Return a client with the key of an endpoint, which follows no redirect; `timeout_s` is for each wait."""
    import httpx

    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
    if target.key:
        headers["Authorization"] = f"Bearer {target.key}"
    # An environment's proxy could read plain http, so it is used with encryption only.
    return httpx.Client(
        headers=headers,
        timeout=httpx.Timeout(timeout_s, connect=min(timeout_s, CONNECT_S)),
        follow_redirects=False,
        # Plain http needs no certificates, and loading the trusted ones takes 25 ms.
        verify=target.encrypted,
        trust_env=target.encrypted,
    )


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
        raise MemtapeError(f"{names.key} holds characters that no header may have.", "Copy the key again, on one line.")
    insecure = named.get(names.insecure, "").strip() == "yes"
    return HttpTarget(_endpoint(base, names, insecure), model, key, names.what)


def _endpoint(base: str, names: Names, insecure: bool) -> str:
    """Return the URL that is asked, made from the base of the API or given whole."""
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
    if parts.scheme == "http" and not _is_loopback(host) and not insecure:
        raise MemtapeError(
            f"What goes to {host} by plain http would be readable on the way.",
            f"Use https, or set {names.insecure}=yes if that network is yours alone.",
        )
    path = parts.path.rstrip("/")
    if not path.endswith(f"/{names.ending}"):
        path = f"{path or '/v1'}/{names.ending}"
    return f"{parts.scheme}://{parts.netloc}{path}"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bad(names: Names, why: str) -> MemtapeError:
    return MemtapeError(
        f"{names.url} is no base URL of an API: {why}.", "Write https://host/v1 or http://127.0.0.1:port/v1."
    )
