"""Where an endpoint for embeddings is, from the environment. No I/O.

`MEMTAPE_EMBED_URL` is the base of an OpenAI-compatible API (`https://api.openai.com/v1`), `MEMTAPE_EMBED_MODEL`
its model, `MEMTAPE_EMBED_KEY` the key if it wants one. Plain http beyond this machine needs
`MEMTAPE_EMBED_INSECURE=yes`.
"""

from __future__ import annotations

from collections.abc import Mapping

from memtape.flows.endpoint import HttpTarget, Names, target_of

URL_VARIABLE = "MEMTAPE_EMBED_URL"
MODEL_VARIABLE = "MEMTAPE_EMBED_MODEL"
KEY_VARIABLE = "MEMTAPE_EMBED_KEY"
INSECURE_VARIABLE = "MEMTAPE_EMBED_INSECURE"
_NAMES = Names("embedder", "embeddings", URL_VARIABLE, MODEL_VARIABLE, KEY_VARIABLE, INSECURE_VARIABLE)


def http_target(environment: Mapping[str, str]) -> HttpTarget | None:
    """Return the endpoint that the environment names, or None without a URL. Raises `MemtapeError` for a bad one."""
    return target_of(environment, _NAMES)
