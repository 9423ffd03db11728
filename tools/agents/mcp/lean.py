"""Loading of the MCP SDK what serves, and no more, since a home's server holds it for as long as there are sessions.

The files of the packages `mcp` and `mcp.server` import the SDK's clients and its other server, which take 11 MB and are
used by nothing here. They are run when somebody first asks for one of their names, so that whoever needs them has them.
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
