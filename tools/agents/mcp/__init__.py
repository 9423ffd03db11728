"""The MCP server: its tools and their answers. Only the serving part of the SDK is imported.

The packages `mcp` and `mcp.server` import the SDK's clients and its other server: 11 MB and a fourth of the
start, without a use here. Their files run at the first use of one of their names.
"""

from __future__ import annotations

import sys
import threading
from importlib.util import find_spec, module_from_spec
from typing import Any

_running = threading.RLock()


def _run_later(name: str) -> None:
    """Have the file of a package run at the first use of a name of its, unless it has been run."""
    spec = find_spec(name)
    if name in sys.modules or spec is None or spec.loader is None:
        return
    module, loader = module_from_spec(spec), spec.loader

    def __getattr__(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        with _running:
            if vars(module).pop("__getattr__", None) is not None:
                loader.exec_module(module)
        return getattr(module, attribute)

    vars(module)["__getattr__"] = __getattr__
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)


for _name in ("mcp", "mcp.server"):
    _run_later(_name)
