"""Changes on the log of the settings of aging. `schemas/settings.py` describes each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.schemas.settings import Settings
from memtape.sinks.logs.configuring import configure, settings_on

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
    return _of(settings_on(log))


def change_lifecycle(log: Log, given: Mapping[str, str]) -> dict[str, int | bool]:
    """Change settings of the lifecycle for the whole log, and return all that are in force then.

    Raises `MemtapeError` for a key that is none of them, or a value that the key does not take.
    """
    return _of(configure(log, lambda now: _changed(now, given)))


def _of(settings: Settings) -> dict[str, int | bool]:
    return {key: getattr(settings, key) for key in KEYS}


def _changed(now: Settings, given: Mapping[str, str]) -> Settings:
    wanted: dict[str, Any] = msgspec.to_builtins(now)
    for key, value in given.items():
        if key not in KEYS:
            raise MemtapeError(f"{key[:60]} is no setting of the lifecycle.", f"There are {', '.join(KEYS)}.")
        wanted[key] = value.lower() if key == "lifecycle" else value
    try:
        return msgspec.convert(wanted, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise MemtapeError(f"That cannot be set: {error}.", "docs/settings.md says what each takes.") from None
