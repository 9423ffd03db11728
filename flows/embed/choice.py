"""The choice of an embedder: asks the endpoint, looks for the local model, and opens the chosen embedder.

`state/vectors/choice.py` decides by the answers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from memtape.flows.embed.embedder import Embedder, FloorEmbedder, clause
from memtape.flows.embed.target import NAMES
from memtape.flows.endpoint import target_of
from memtape.schemas.embedding import FLOOR, EmbedderOptions, Resolved
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError
from memtape.state.vectors.choice import resolve


class ChosenEmbedder(NamedTuple):
    """The embedder in effect, open; None while it is degraded: then nothing new is embedded."""

    embedder: Embedder | None
    resolved: Resolved

    @property
    def key(self) -> str:
        """The key under which the embedder's vectors are recorded; empty while it is degraded."""
        if self.resolved.kind == FLOOR:
            return FLOOR
        return "" if self.embedder is None else self.embedder.key


def choose_embedder(
    options: EmbedderOptions,
    dense_on_log: bool,
    *,
    brief: bool = False,
    loads_slow: bool = True,
) -> ChosenEmbedder:
    """Find the available embedders and open the one in effect.

    `brief` is for a waiting caller, who records no vector: an endpoint is asked once and briefly, now and
    later, and the weights of an installed package are not checked. Without `loads_slow`,
    `EmbedderUnavailable` is raised instead of loading a local model that takes seconds. Raises `MemtapeError`
    if the table refuses, or if a setting is wrong (a bad URL, a refused key).
    """
    http, http_reason, folder, local_reason = _probe(options, brief)
    decided = resolve(options, http_reason, local_reason, dense_on_log)
    if decided.degraded:
        return ChosenEmbedder(None, decided)
    if decided.kind == "http":
        return ChosenEmbedder(http, decided)
    if decided.kind == "local" and folder is not None:
        from memtape.flows.embed.local import LocalEmbedder, is_minilm_size

        if not loads_slow and not is_minilm_size(folder):
            told = f"The model {options.model} takes seconds to load"
            raise EmbedderUnavailable(f"{told}; a connected agent's server and the page use it.")
        return ChosenEmbedder(LocalEmbedder(options, folder, checks=not brief), decided)
    return ChosenEmbedder(FloorEmbedder(), decided)


def probe(options: EmbedderOptions, dense_on_log: bool) -> Resolved:
    """Return the embedder in effect: ask the endpoint briefly, load no model. Raises as `choose_embedder`."""
    _, http_reason, _, local_reason = _probe(options, brief=True)
    return resolve(options, http_reason, local_reason, dense_on_log)


def _probe(
    options: EmbedderOptions, brief: bool
) -> tuple[Embedder | None, str | None, Path | None, str]:  # fmt: skip
    """Return the endpoint's embedder, why it is none, the local model's folder, and why that is none.

    The search goes only as far as the choice needs: an endpoint that answers under `auto` ends it.
    """
    http, http_reason = None, None
    if options.choice in ("auto", "http") and (target := target_of(os.environ, NAMES)) is not None:
        from memtape.flows.embed.http import ATTEMPTS, BRIEF_TIMEOUT_S, TIMEOUT_S, HttpEmbedder

        try:
            timeout_s, attempts = (BRIEF_TIMEOUT_S, 1) if brief else (TIMEOUT_S, ATTEMPTS)
            http, http_reason = HttpEmbedder(target, timeout_s=timeout_s, attempts=attempts), ""
        except EmbedderUnavailable as error:
            http_reason = clause(error)
    folder, local_reason = None, "it was not looked for"
    if options.choice == "local" or (options.choice == "auto" and http is None):
        from memtape.flows.embed.local import model_folder

        try:
            folder, local_reason = model_folder(options), ""
        except MemtapeError as error:
            local_reason = clause(error)
    return http, http_reason, folder, local_reason
