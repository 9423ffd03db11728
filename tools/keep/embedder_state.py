"""The embedders in `status` and `memtape embedder`: the deciding one, the next one, and waiting texts."""

from __future__ import annotations

import msgspec

from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.schemas.rows import Counters
from memtape.schemas.settings import Settings
from memtape.schemas.visible import many
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.sinks.logs.configuring import configured_on

TEXTS_PER_S = 70
"""So many texts get a vector from MiniLM on one core."""


class EmbedderState(msgspec.Struct, frozen=True, kw_only=True):
    """The embedders of a log and of this machine.

    `configured` decides folds; `next` takes over when no text waits for it; both are keys on the log.
    `effective` is this machine's embedder, as a kind or, once opened, a key. `degraded`: it does not answer,
    and new texts wait. `drift` says that it is not the log's. Of `texts`, `embedded` have a vector under
    `next`, else under `configured`.
    """

    configured: str
    next: str | None
    effective: str
    degraded: bool
    warning: str
    drift: str
    texts: int
    embedded: int
    failed: int
    waiting: int
    offer: str = ""
    """The benefit and the cost of an installed local model; empty without an offer."""


def embedder_state(home: Home, log: Log, counters: Counters, *, opened: bool) -> EmbedderState:
    """Return the state of a home's embedders; `opened` loads or asks this machine's, to learn its key."""
    history = [configured.settings for configured in configured_on(log)]
    settings = history[-1]
    key = settings.embedder_next or settings.embedder
    embedded, failed = counters.embedded.get(key, 0), counters.failed.get(key, 0)
    effective, degraded, warning, drift = _here(home, history, opened)
    return EmbedderState(
        configured=settings.embedder,
        next=settings.embedder_next,
        effective=effective,
        degraded=degraded,
        warning=warning,
        drift=drift,
        texts=counters.texts,
        embedded=embedded,
        failed=failed,
        waiting=0 if key == FLOOR else max(0, counters.texts - embedded - failed),
        offer=_offer(home, history, counters.texts),
    )


def minutes_for(texts: int) -> int:
    """Return in about how many minutes so many texts get a vector from MiniLM."""
    return round(texts / TEXTS_PER_S / 60)


def _offer(home: Home, history: list[Settings], texts: int) -> str:
    from memtape.tools.keep.embedding import is_offered

    if not is_offered(home, history):
        return ""
    minutes = max(1, minutes_for(texts))
    return (
        "MiniLM is installed and finds what is said in other words. `memtape embedder set local` and "
        f"`memtape run --once` give {many(texts, 'text')} a vector, in about {many(minutes, 'minute')}."
    )


def _here(home: Home, history: list[Settings], opened: bool) -> tuple[str, bool, str, str]:
    from memtape.flows.embed.choice import probe
    from memtape.state.vectors.choice import plan, wants_dense
    from memtape.tools.keep.embedding import drift_of, open_embedder

    settings = history[-1]
    dense = wants_dense(settings)
    try:
        if opened:
            found = open_embedder(home, settings, brief=True)
            drift = drift_of(plan(settings, history, found.key), settings, found.key) if found.key else ""
            return found.key or found.resolved.kind, found.resolved.degraded, found.resolved.warning, drift
        resolved = probe(local_settings(home).embedder, dense)
    except MemtapeError as error:
        return "none", dense, f"{error} {error.hint}".strip(), ""
    return resolved.kind, resolved.degraded, resolved.warning, ""
