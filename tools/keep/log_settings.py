"""Settings that people change on a log: those of aging, and the states of retrievers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import MemtapeError
from memtape.schemas.lanes import ORDINARY, State, recipe_of
from memtape.schemas.log import Log
from memtape.schemas.settings import Settings
from memtape.sinks.logs.configuring import configure, configured_on, settings_on

KEYS = tuple(
    "lifecycle mid_after_days long_after_days mid_retention_hundredths long_retention_hundredths"
    " archive_after_days dormant_after_days purge_after_days".split()
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
            hint = "docs/cli.md says what each takes."
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
