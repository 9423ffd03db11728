"""Where an endpoint for embeddings is, from the environment. No I/O.

`RECOLLECT_EMBED_URL` is the base of an OpenAI-compatible API (`https://api.openai.com/v1`), `RECOLLECT_EMBED_MODEL`
its model, `RECOLLECT_EMBED_KEY` the key if it wants one. Plain http beyond this machine needs
`RECOLLECT_EMBED_INSECURE=yes`.
"""

from __future__ import annotations

from collections.abc import Mapping

from recollect.flows.http_target import HttpTarget, Names, target_of

URL_VARIABLE = "RECOLLECT_EMBED_URL"
MODEL_VARIABLE = "RECOLLECT_EMBED_MODEL"
KEY_VARIABLE = "RECOLLECT_EMBED_KEY"
INSECURE_VARIABLE = "RECOLLECT_EMBED_INSECURE"
_NAMES = Names("embedder", "embeddings", URL_VARIABLE, MODEL_VARIABLE, KEY_VARIABLE, INSECURE_VARIABLE)


def http_target(environment: Mapping[str, str]) -> HttpTarget | None:
    """Return the endpoint that the environment names, or None without a URL. Raises `RecollectError` for a bad one."""
    return target_of(environment, _NAMES)
