"""The log of a home: at the URL of `MEMTAPE_LOG` or of the settings, else embedded in the home's folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.schemas.settings import Settings
from memtape.schemas.variables import NO_PERSIST
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.sinks.logs.embedded import EmbeddedLog, MemoryLog

LOG_VARIABLE = "MEMTAPE_LOG"
URL_MARK = "://"  # A place with this mark is a URL and never a path.
_in_memory: dict[str, MemoryLog] = {}
"""The logs in this process's memory, by the homes that store nothing."""


def open_log(home: Home, first_settings: Callable[[], Settings] = Settings) -> Log:
    """Open the log of a home, created with its first settings if missing.

    While the broker of a log does not answer, captures go to the spool of the home (`sinks.logs.spool`).
    Raises `MemtapeError` for a URL of no log, and the log's own errors.
    """
    url = log_url(home)
    if url is None:
        return EmbeddedLog(home.log_path, settings=None if home.log_path.exists() else first_settings())
    # The library costs a capture 0.2 s, which a home with an embedded log does not pay.
    from memtape.sinks.logs.spool import SpoolingLog

    return cast(Log, SpoolingLog(url, home, first_settings()))


def passing_log(home: Path, given: Log | None) -> Log:
    """Return the log of a process that stores nothing: the given log, else a log in the process's memory.

    Raises `MemtapeError` for a given log that is durable.
    """
    if given is not None and not isinstance(given, MemoryLog):
        raise MemtapeError(
            f"{given.place} keeps captures, and profile {NO_PERSIST} keeps nothing.", "Hand no log in."
        )
    return given or _in_memory.setdefault(str(home.absolute()), MemoryLog())


def log_url(home: Home) -> str | None:
    """Return the URL of a home's log, None for the embedded log. The environment precedes the settings."""
    url = os.environ.get(LOG_VARIABLE)
    source, url = (LOG_VARIABLE, url) if url else (str(home.settings_path), local_settings(home).log)
    if url is not None and URL_MARK not in url:
        # Not quoted: the text is of unknown kind.
        raise MemtapeError(
            f"The log that {source} names is no URL.",
            "Write kafka://host:port/topic, or leave it out for the log in the home itself.",
        )
    return url


def environment_for(home: Home, log: Log) -> dict[str, str] | None:
    """Return the environment in which another process opens this log for this home, None if impossible."""
    if URL_MARK in log.place:
        return os.environ | {LOG_VARIABLE: log.place}
    return dict(os.environ) if log_url(home) is None and log.place == str(home.log_path) else None


def how_to_use(place: str) -> str:
    """Return the setting by which a home uses the log at a place."""
    if URL_MARK in place:
        return f"{LOG_VARIABLE}='{place}', or log = \"{place}\" in settings.toml of the home"
    path = Path(place)
    if path.name == Home.LOG_NAME:
        return f"MEMTAPE_HOME='{path.parent}', without {LOG_VARIABLE}"
    return f"put it into an empty home as {Home.LOG_NAME}"


def holds_nothing(home: Home) -> bool:
    """Whether the log in a home has no event of a scope. A log elsewhere is not asked: it may hold some."""
    if log_url(home) is not None:
        return False
    if not home.log_path.exists():
        return True
    with closing(EmbeddedLog(home.log_path)) as log:
        return not log.matching("", (), (), 1)
