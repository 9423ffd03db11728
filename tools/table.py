"""The table of verbs: in which file of `tools/verbs/` each stands, and what the Python client calls it.

A file is loaded when one of its verbs is first asked for: a hook runs at every prompt of an agent, and must not wait
for the imports of other verbs. What a verb is stands in its own file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from memtape.tools.verb import Verb

INDEX: dict[str, dict[str, str]] = {
    "capturing": {"capture": "", "agents used": "use"},
    "reading_log": {"log": "read_log", "admin tail": "", "admin diff": "diff"},
    "looking": {"context": "context", "log --sessions": "sessions", "agents given": "given"},
    "searching": {"search": "search", "search -": "recent"},
    "showing": {
        "show": "show",
        "show --whole": "whole",
        "show --why": "why",
        "show --edges": "edges",
        "show --around": "timeline",
    },
    "settling": {
        "settle -": "conflicts",
        "settle --keep": "settle",
        "settle --accept": "accept",
        "settle --decline": "decline",
        "settle --rules": "proposals",
        "settle --orders": "orders",
        "settle --stale": "stale",
    },
    "deciding": {
        "forget": "forget",
        "forget --list": "hidden",
        "restore": "restore",
        "pin": "pin",
        "pin --undo": "unpin",
        "update": "update",
        "update --by": "say_replaced",
        "update --holds": "say_holds",
        "update --unfold": "unfold",
    },
}
"""The verbs of each file, by name, with the client's method (empty for none)."""

_FILE_OF = {name: file for file, verbs in INDEX.items() for name in verbs}
METHODS = {method: name for verbs in INDEX.values() for name, method in verbs.items() if method}
"""The verbs by the client's method."""


TOOLS = {
    "add_memory": "capture",
    "get_context": "context",
    "mark_used": "agents used",
    "list_sessions": "log --sessions",
    "search_memories": "search",
    "get_memory": "show",
    "timeline": "show --around",
    "list_conflicts": "settle -",
    "list_recent": "search -",
    "update_memory": "update",
    "forget_memory": "forget",
    "restore_memory": "restore",
    "pin_memory": "pin",
    "unpin_memory": "pin --undo",
}
"""The tools that agents have, each with its verb."""


class Table(Mapping[str, Verb]):
    """The verbs by name; the file of one is loaded when it is asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, Verb] = {}

    def __getitem__(self, name: str) -> Verb:
        if name not in self._loaded:
            module = import_module(f"memtape.tools.verbs.{_FILE_OF[name]}")
            self._loaded |= {verb.name: verb for verb in module.VERBS}
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_FILE_OF)

    def __len__(self) -> int:
        return len(_FILE_OF)

    def __contains__(self, name: object) -> bool:
        return name in _FILE_OF


VERBS = Table()
COMMANDS: dict[str, list[str]] = {}
"""The names of the verbs of each command: the first is what it does without an option."""
for _name in _FILE_OF:
    COMMANDS.setdefault(_name.partition(" -")[0], []).append(_name)
