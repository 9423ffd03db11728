"""Settings that people change on a log: of aging, rights of users, and states of retrievers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import MemtapeError
from memtape.schemas.lanes import ORDINARY, State, recipe_of
from memtape.schemas.log import Log, configured_on, settings_on
from memtape.schemas.scopes import GLOBAL, PROJECT_PREFIX
from memtape.schemas.settings import Settings
from memtape.sinks.logs.configuring import configure

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
        wanted: dict[str, Any] = dict(given)
        if "lifecycle" in given:
            wanted["lifecycle"] = given["lifecycle"].lower()
        return _changed(now, wanted)

    configure(log, change)
    return lifecycle_settings(log)


def change_access(log: Log, given: Mapping[str, str]) -> None:
    """Change for the whole log as whom users speak, and to which users scopes are shown, by user or scope.

    An empty value takes an entry out. Raises `MemtapeError` for a wrong value, for a log without users, and
    where the user of the log would not be an operator.
    """
    if (user := log.user) is None:
        told = f"{log.place} has no users, whom lists could name."
        raise MemtapeError(told, "Name a user in the URL of a topic: docker/README.md says how.")

    def change(now: Settings) -> Settings:
        origins, readers = dict[str, Any](now.trusted_origins), dict[str, Any](now.readers)
        for key, value in given.items():
            is_scope = key == GLOBAL or key.startswith(PROJECT_PREFIX)
            entries = readers if is_scope else origins
            entries.pop(key, None)
            if value:
                entries[key] = sorted(dict.fromkeys(value.split(","))) if is_scope else value
        if (origins or readers) and origins.get(user) != "operator":
            raise MemtapeError("The lists would leave you out.", f"Set {user}=operator too.")
        return _changed(now, {"trusted_origins": origins, "readers": readers})

    configure(log, change)


def _changed(now: Settings, wanted: Mapping[str, Any]) -> Settings:
    try:
        return msgspec.convert(msgspec.to_builtins(now) | wanted, Settings, strict=False)
    except msgspec.ValidationError as error:
        hint = "docs/cli.md says what each takes."
        raise MemtapeError(f"That cannot be set: {error}.", hint) from None


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
