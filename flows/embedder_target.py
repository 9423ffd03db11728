"""Where an endpoint for embeddings is, from the environment: checked, so that texts and keys go nowhere else. No I/O.

`RECOLLECT_EMBED_URL` is the base of an OpenAI-compatible API (`https://api.openai.com/v1`), `RECOLLECT_EMBED_MODEL`
its model, `RECOLLECT_EMBED_KEY` the key if it wants one. Plain http beyond this machine needs
`RECOLLECT_EMBED_INSECURE=yes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

import msgspec

from recollect.schemas.errors import RecollectError

URL_VARIABLE = "RECOLLECT_EMBED_URL"
MODEL_VARIABLE = "RECOLLECT_EMBED_MODEL"
KEY_VARIABLE = "RECOLLECT_EMBED_KEY"
INSECURE_VARIABLE = "RECOLLECT_EMBED_INSECURE"


class HttpTarget(msgspec.Struct, frozen=True):
    """An endpoint and its model. `key` is empty where none is wanted, and no `repr` or error shows it."""

    url: str
    model: str
    key: str = ""

    def __repr__(self) -> str:
        return f"HttpTarget(url={self.url!r}, model={self.model!r}, key={'***' if self.key else ''!r})"

    @property
    def place(self) -> str:
        """What errors call it."""
        return f"The embedder {self.model} at {urlsplit(self.url).netloc}"

    @property
    def encrypted(self) -> bool:
        """Whether what goes there cannot be read on the way."""
        return self.url.startswith("https:")


def http_target(environment: Mapping[str, str]) -> HttpTarget | None:
    """Return the endpoint that the environment names, or None without a URL. Raises `RecollectError` for a bad one."""
    base = environment.get(URL_VARIABLE, "").strip()
    if not base:
        return None
    model = environment.get(MODEL_VARIABLE, "").strip()
    if not model:
        raise RecollectError(
            f"{URL_VARIABLE} is set and {MODEL_VARIABLE} is not.", f"Set {MODEL_VARIABLE} to the model's name there."
        )
    key = environment.get(KEY_VARIABLE, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise RecollectError(
            f"{KEY_VARIABLE} holds characters that no header may have.", "Copy the key again, on one line."
        )
    insecure = environment.get(INSECURE_VARIABLE, "").strip() == "yes"
    return HttpTarget(url=_endpoint(base, insecure), model=model, key=key)


def _endpoint(base: str, insecure: bool) -> str:
    """Return the URL that is asked, made from the base of the API or given whole."""
    try:
        parts = urlsplit(base)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise _bad("it cannot be read") from None
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        # Not quoted: what stands there may be a password.
        raise _bad(f"it names a user; a key goes into {KEY_VARIABLE}")
    if parts.scheme not in ("http", "https") or not host:
        raise _bad("it does not begin with https:// or http:// and a host")
    if parts.query or parts.fragment:
        raise _bad("it has a query or a fragment")
    if parts.scheme == "http" and not _is_loopback(host) and not insecure:
        raise RecollectError(
            f"What goes to {host} by plain http would be readable on the way.",
            f"Use https, or set {INSECURE_VARIABLE}=yes if that network is yours alone.",
        )
    path = parts.path.rstrip("/")
    if not path.endswith("/embeddings"):
        path = f"{path or '/v1'}/embeddings"
    return f"{parts.scheme}://{parts.netloc}{path}"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bad(why: str) -> RecollectError:
    return RecollectError(
        f"{URL_VARIABLE} is no base URL of an API: {why}.", "Write https://host/v1 or http://127.0.0.1:port/v1."
    )
