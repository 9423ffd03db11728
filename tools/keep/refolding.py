"""Refolding of all captures: a preview of the changes, and the event that orders the refold.

The folding rules are in `state`; the preview applies them to a state that serves no reader.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import msgspec

from memtape.schemas.events import make_configured
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log
from memtape.schemas.metrics import OnPhase
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Build, Home
from memtape.sinks.logs.configuring import configure, configured_on, settings_on
from memtape.state.core.partition import evolve
from memtape.state.views.diff import Moved, folds_of, moved
from memtape.tools.keep.states import state_at

Folding = Literal["on", "off"]
NO_FOLDS = -1
"""The cosine by which nothing folds, see `fold_cosine_hundredths`."""


class Refolded(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of a refold: the numbers of absorbed and of separated memories, and the pairs.

    `embedder` decides, and `folding` says whether anything folds afterwards. `done` is false for a trial.
    `revision` is the revision of the settings on the log afterwards.
    """

    done: bool
    revision: int
    embedder: str
    folding: bool
    together: int
    apart: int
    pairs: tuple[Moved, ...]


def refold(home: Home, log: Log, fold: Folding | None, on_phase: OnPhase, *, dry_run: bool) -> Refolded:
    """Return the changes of a refold, folding on, off or unchanged; append the settings unless `dry_run`.

    The views follow at their next projection.
    """
    change = partial(folding_anew, fold=fold)
    settings = change(settings_on(log))
    pairs = _tried(log, home.current(), settings, on_phase)
    if not dry_run:
        configure(log, change)
    return Refolded(
        done=not dry_run,
        revision=configured_on(log)[-1].revision,
        embedder=settings.embedder,
        folding=settings.fold_cosine_hundredths >= 0,
        together=sum(pair.change == "together" for pair in pairs),
        apart=sum(pair.change == "apart" for pair in pairs),
        pairs=tuple(pairs),
    )


def folding_anew(now: Settings, fold: Folding | None) -> Settings:
    """Return settings that order a refold; `fold` turns folding off, or back on with the default cosine.

    A default cosine, and a cosine that a person chose, stay.
    """
    cosine = now.fold_cosine_hundredths
    if fold == "off":
        cosine = NO_FOLDS
    elif fold == "on" and cosine < 0:
        cosine = Settings().fold_cosine_hundredths
    return msgspec.structs.replace(now, refolded=now.refolded + 1, fold_cosine_hundredths=cosine)


def _tried(log: Log, build: Build, settings: Settings, on_phase: OnPhase) -> list[Moved]:
    pairs: list[Moved] = []
    ends = log.ends()
    for number, end in enumerate(ends):
        on_phase("comparing", sum(ends[:number]), sum(ends))
        state = state_at(log, build, number, end)
        before = {name: folds_of(scope) for name, scope in state.scopes.items()}
        id = derived_id("refold", None, None, str(number))
        evolve(state, make_configured(log.log_id, log.partitions, settings, state.revision + 1, 0, id), end)
        for name, scope in sorted(state.scopes.items()):
            pairs += moved(name, before[name], folds_of(scope))
    on_phase("comparing", sum(ends), sum(ends))
    return pairs
