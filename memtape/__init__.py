"""Agent memory you can replay.

Everything that agents say, recall and delete is an event on one append-only log, and every memory is a view
of that log. `Client` is the door for Python programs. It is loaded when first asked for and not before,
because a hook that captures one line should not wait for libraries that only a search needs.
"""

from time import monotonic_ns as _monotonic_ns

STARTED_NS = _monotonic_ns()
"""Start of this process, as far as known without asking the system. All processes share the clock."""

# As type checkers take it; importing it would take half as long as a hook that a server takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtape.schemas.errors import MemtapeError, NotFound
    from memtape.tools.client import AsyncClient, Client, Filters, tables

__all__ = ["AsyncClient", "Client", "Filters", "MemtapeError", "NotFound", "__version__", "tables"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for (PEP 562)."""
    if name in ("MemtapeError", "NotFound"):
        from memtape.schemas import errors

        return getattr(errors, name)
    if name == "Filters":
        from memtape.tools.methods import filters_type

        return filters_type()
    if name in __all__:
        from memtape.tools import client

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
