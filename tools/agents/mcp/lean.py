"""Lean import of the MCP SDK: only the serving part, since a home's server holds it during all sessions.

The packages `mcp` and `mcp.server` import the SDK's clients and its other server, 11 MB without a use here.
Their files run at the first use of one of their names, so a user of those names still gets them.
"""

from __future__ import annotations

import sys
import threading
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

_PACKAGES = ("mcp", "mcp.server")


def run_later() -> None:
    """Have the files of the SDK's packages run at the first use of a name of theirs, unless they have been run."""
    for name in _PACKAGES:
        if name not in sys.modules:
            _defer(name)


def _defer(name: str) -> None:
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        return
    module, running, loader = module_from_spec(spec), threading.RLock(), spec.loader

    def __getattr__(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        with running:
            if vars(module).pop("__getattr__", None) is not None:
                loader.exec_module(module)
        return getattr(module, attribute)

    _put(module, name, __getattr__)


def _put(module: ModuleType, name: str, getter: Any) -> None:
    vars(module)["__getattr__"] = getter
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)
