"""The table of verbs: in which file of `tools/verbs/` each stands, and what the Python client calls it.

A file is loaded when one of its verbs is first asked for: a hook runs at every prompt of an agent, and must
not wait for the imports of other verbs. What a verb is stands in its own file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import NamedTuple

from memtape.tools.verb import Verb

INDEX: dict[str, dict[str, str]] = {
    "capturing": {"capture": "", "agents used": "use"},
    "searching": {
        "search": "search",
        "search -": "recent",
        "context": "context",
        "log --sessions": "sessions",
        "agents given": "given",
    },
    "showing": {
        "show": "show",
        "show --whole": "whole",
        "show --why": "why",
        "show --edges": "edges",
        "show --around": "timeline",
        "log": "read_log",
        "admin tail": "",
        "admin diff": "diff",
    },
    "status": {"overview": "", "status": "status", "admin stats": "stats"},
    "pages": {
        "tree draw": "draw_tree",
        "tree show": "read_page",
        "tree check": "check_tree",
        "tree new": "new_page",
        "tree edit": "edit_page",
        "tree move": "move_page",
        "tree link": "link_pages",
    },
    "aging": {
        "archive": "archive",
        "archive --undo": "unarchive",
        "archive --list": "archived",
        "admin lifecycle": "lifecycle",
        "admin lifecycle --set": "",
        "project list": "projects",
        "project scope": "project_state",
        "project name": "rename",
        "project finish": "finish",
        "project finish --undo": "resume",
        "project adopt": "",
    },
    "keeping": {
        "run": "",
        "verify": "verify",
        "rebuild": "rebuild",
        "admin copy": "copy",
        "admin settings": "settings",
        "page": "",
    },
    "erasing": {"erase": "", "admin prune": "prune"},
    "folding": {
        "admin embedder status": "embedder",
        "admin embedder set": "",
        "admin embedder rollback": "",
        "admin refold": "refold",
        "admin consolidate": "consolidate",
    },
    "measuring": {
        "admin eval": "",
        "admin compare": "compare",
        "admin compare --shadow": "compare_shadows",
        "admin retriever list": "",
        "admin retriever set": "",
    },
    "completion": {"admin completion": ""},
    "demo": {"demo": ""},
    "importing": {"import": "", "import --watch": ""},
    "agents": {
        "agents connect": "",
        "agents disconnect": "",
        "agents doctor": "",
        "agents mcp": "",
        "agents hook": "",
    },
    "secrets": {
        "admin secrets list": "",
        "admin secrets forget": "",
        "admin secrets share": "",
        "admin secrets join": "",
        "agents pause": "",
        "agents resume": "",
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
        "settle -": "conflicts",
        "settle --keep": "settle",
        "settle --accept": "accept",
        "settle --decline": "decline",
        "settle --rules": "proposals",
        "settle --orders": "orders",
        "settle --stale": "stale",
    },
}
"""The verbs of each file, by name, with the client's method (empty for none)."""

_FILE_OF = {name: file for file, verbs in INDEX.items() for name in verbs}
METHODS = {method: name for verbs in INDEX.values() for name, method in verbs.items() if method}
"""The verbs by the client's method."""
TOOLS = {
    "add_memory": "capture",
    "search_memories": "search",
    "get_memory": "show",
    "list_recent": "search -",
    "list_sessions": "log --sessions",
    "get_context": "context",
    "update_memory": "update",
    "mark_used": "agents used",
    "forget_memory": "forget",
    "restore_memory": "restore",
    "read_page": "tree show",
    "new_page": "tree new",
    "edit_page": "tree edit",
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
for _name in sorted(_FILE_OF, key=lambda name: " -" in name):
    COMMANDS.setdefault(_name.partition(" -")[0], []).append(_name)

TITLES = {
    "Remember and ask": ("capture", "search", "show", "context", "import", "demo"),
    "Decide": ("forget", "restore", "pin", "update", "settle", "archive"),
    "Look": ("status", "page", "log"),
    "Keep": ("run", "verify", "rebuild", "erase"),
    "More, each with its own help": ("agents", "project", "tree", "admin"),
}
"""The commands under their titles, in the order in which help lists them."""


class CommandGroup(NamedTuple):
    """A group of commands: help, an example, and the default command."""

    summary: str
    example: str
    details: str = ""
    default: str = ""


GROUPS = {
    "agents": CommandGroup(
        "Connect agents to this memory, see what they were given, and pause what they leave.",
        "memtape agents connect claude\nmemtape agents doctor",
    ),
    "project": CommandGroup(
        "See the projects of this data folder, name them, and say that one is finished or goes on.",
        "memtape project list\nmemtape project finish",
    ),
    "tree": CommandGroup(
        "The tree of pages by people and agents: draw it, show a page, and write, move and link pages.",
        """\
memtape tree
memtape tree new deploy/staging "Staging listens on port 5433." --title "The staging database\"""",
        "Without a command it is drawn. A page is called by its slug, as deploy/staging, or by its id; the "
        "root is _root. In the vault each page is a file that you can edit: pages/SLUG.md.",
        default="draw",
    ),
    "admin": CommandGroup(
        "Change how a home embeds, folds and ages, measure its recall, copy its log, and follow it.",
        "memtape admin embedder set local\nmemtape admin copy --to /backup/memory.db",
    ),
    "admin embedder": CommandGroup(
        "See and change the embedder whose vectors decide which texts are one memory.",
        "memtape admin embedder set local\nmemtape run --once",
    ),
    "admin retriever": CommandGroup(
        "List and change the shadow retrievers, which answer unseen beside the active one, for comparison.",
        'memtape admin retriever set "memtape without hot" shadow\nmemtape admin compare --shadow',
    ),
    "admin secrets": CommandGroup(
        "List the known secrets of this home, undo false ones, and give a team's homes one key.",
        "memtape admin secrets list\nmemtape admin secrets forget 5f0c6d1e",
    ),
}
"""The groups of commands by their words."""
