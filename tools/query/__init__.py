"""Answers: search, show, why, status, context, the past, decisions. A module is loaded at its first use."""

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Return a module of this folder, loaded now. Raises `AttributeError` for a name of none."""
    if name.startswith("_"):
        raise AttributeError(name)
    return import_module(f"{__name__}.{name}")
