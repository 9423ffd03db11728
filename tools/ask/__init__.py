"""Answers: search, show, why, status, context, the past, and decisions. A module is loaded when it is first used."""

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Return a module of this folder, loaded now. Raises `AttributeError` for a name of none."""
    if name.startswith("_"):
        raise AttributeError(name)
    return import_module(f"{__name__}.{name}")
