"""The first settings of a home's log: the defaults, and the installed embedder."""

from __future__ import annotations

import os

from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings


def first_settings(home: Home) -> Settings:
    """Return the settings of a new log. Raises `MemtapeError` for a settings.toml that cannot be used."""
    from memtape.flows.embed.target import first_embedder

    return Settings(embedder=first_embedder(local_settings(home).embedder, os.environ))
