"""Settings that people change on a log: those of aging, the states of retrievers, and refolding.

The folding rules are in `state`; the preview of a refold applies them to a state that serves no reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import make_configured
from memtape.schemas.ids import derived_id
from memtape.schemas.lanes import ORDINARY, State, recipe_of
from memtape.schemas.log import Log
from memtape.schemas.metrics import OnPhase
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.configuring import configure, configured_on, settings_on
from memtape.state.core.partition import evolve
from memtape.state.views.diff import Moved, folds_of, moved
from memtape.tools.keep.states import state_at

Folding = Literal["on", "off"]
NO_FOLDS = -1
"""The cosine by which nothing folds, see `fold_cosine_hundredths`."""
KEYS = (
    "lifecycle",
    "mid_after_days",
    "long_after_days",
    "mid_retention_hundredths",
    "long_retention_hundredths",
    "archive_after_days",
    "dormant_after_days",
    "purge_after_days",
)
"""The settings by which texts age, in the order in which they are told."""


def lifecycle_settings(log: Log) -> dict[str, int | bool]:
    """Return the settings of the lifecycle that are in force."""
    settings = settings_on(log)
    return {key: getattr(settings, key) for key in KEYS}


def change_lifecycle(log: Log, given: Mapping[str, str]) -> dict[str, int | bool]:
    """Change settings of the lifecycle for the whole log, and return all that are in force then.

    Raises `MemtapeError` for a key that is none of them, or a value that the key does not take.
    """
    if wrong := [key for key in given if key not in KEYS]:
        raise MemtapeError(
            f"{wrong[0][:60]} is no setting of the lifecycle.", f"There are {', '.join(KEYS)}."
        )

    def change(now: Settings) -> Settings:
        wanted: dict[str, Any] = msgspec.to_builtins(now) | given
        if "lifecycle" in given:
            wanted["lifecycle"] = given["lifecycle"].lower()
        try:
            return msgspec.convert(wanted, Settings, strict=False)
        except msgspec.ValidationError as error:
            hint = "docs/settings.md says what each takes."
            raise MemtapeError(f"That cannot be set: {error}.", hint) from None

    configure(log, change)
    return lifecycle_settings(log)


class States(msgspec.Struct, frozen=True, kw_only=True):
    """The states of a log's retrievers and embedders by name, the active ones first.

    Shadow retrievers are asked `shadow_percent` of all searches. An embedder is active that decides, a shadow
    while it is to take over, and deprecated where it decided before; the floor is off, since its vectors are
    made anew.
    """

    retrievers: dict[str, State]
    embedders: dict[str, State]
    shadow_percent: int


def states_on(log: Log) -> States:
    """Return the states on a log."""
    history = [configured.settings for configured in configured_on(log)]
    now = history[-1]
    embedders: dict[str, State] = {now.embedder: "active"}
    if now.embedder_next is not None:
        embedders[now.embedder_next] = "shadow"
    for before in reversed(history):
        embedders.setdefault(before.embedder, "off" if before.embedder == FLOOR else "deprecated")
    return States(
        retrievers={ORDINARY: "active", **dict(sorted(now.retrievers.items()))},
        embedders=embedders,
        shadow_percent=now.shadow_percent,
    )


def set_state(log: Log, name: str, state: State, percent: int | None) -> Settings:
    """Put a retriever into a state on a log, and set the percentage of searches for shadows, if given.

    Raises `MemtapeError` for an unknown name, and where another retriever would answer.
    """
    name = recipe_of(name).name
    if (name == ORDINARY) is not (state == "active"):
        raise MemtapeError(
            f"What answers is {ORDINARY}, and nothing else is active.",
            "`memtape search --without LANE` leaves a lane out of one search.",
        )

    def change(now: Settings) -> Settings:
        share = now.shadow_percent if percent is None else percent
        states = now.retrievers if name == ORDINARY else now.retrievers | {name: state}
        return msgspec.structs.replace(now, retrievers=states, shadow_percent=share)

    return configure(log, change)


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

    def change(now: Settings) -> Settings:
        cosine = now.fold_cosine_hundredths  # A default cosine, and a cosine that a person chose, stay.
        if fold == "off":
            cosine = NO_FOLDS
        elif fold == "on" and cosine < 0:
            cosine = Settings().fold_cosine_hundredths
        return msgspec.structs.replace(now, refolded=now.refolded + 1, fold_cosine_hundredths=cosine)

    settings, ends = change(settings_on(log)), log.ends()
    pairs: list[Moved] = []
    for number, end in enumerate(ends):
        on_phase("comparing", sum(ends[:number]), sum(ends))
        state = state_at(log, home.current(), number, end)
        before = {name: folds_of(scope) for name, scope in state.scopes.items()}
        id = derived_id("refold", None, None, str(number))
        evolve(state, make_configured(log.log_id, log.partitions, settings, state.revision + 1, 0, id), end)
        for name, scope in sorted(state.scopes.items()):
            pairs += moved(name, before[name], folds_of(scope))
    on_phase("comparing", sum(ends), sum(ends))
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
