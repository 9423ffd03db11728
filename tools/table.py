"""The table of verbs, `table.json`: the file of `tools/verbs/` with each, and its names at the doors.

A file is loaded when one of its verbs is first asked for: a hook runs at every prompt of an agent, and must
not wait for the imports of other verbs. What a verb is stands in its own file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

import msgspec

from memtape.tools.verb import Help, Verb


class CommandGroup(Help, frozen=True, forbid_unknown_fields=True):
    """A group of commands: its help, and the default command."""

    default: str = ""


class VerbNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `table.json`.

    `titles` has the commands under their titles, in the order in which help lists them. `groups` has the
    groups of commands by their words, `synonyms` the commands that other words may mean, `tools` the tools of
    agents, each with its verb, and `files` the verbs of each file, with the client's method, empty for none.
    """

    titles: dict[str, tuple[str, ...]]
    groups: dict[str, CommandGroup]
    synonyms: dict[str, tuple[str, ...]]
    tools: dict[str, str]
    files: dict[str, dict[str, str]]


_NAMES = msgspec.json.decode(Path(__file__).with_name("table.json").read_bytes(), type=VerbNames)
TITLES, GROUPS, TOOLS, INDEX = _NAMES.titles, _NAMES.groups, _NAMES.tools, _NAMES.files
SYNONYMS = _NAMES.synonyms
_FILE_OF = {name: file for file, verbs in INDEX.items() for name in verbs}
METHODS = {method: name for verbs in INDEX.values() for name, method in verbs.items() if method}
"""The verbs by the client's method."""


class Table(Mapping[str, Verb]):
    """The verbs by name; the file of one is loaded when it is asked for."""

    def __getitem__(self, name: str) -> Verb:
        module = import_module(f"memtape.tools.verbs.{_FILE_OF[name]}")
        verbs: tuple[Verb, ...] = module.VERBS
        return next(verb for verb in verbs if verb.name == name)

    def __iter__(self) -> Iterator[str]:
        return iter(_FILE_OF)

    def __len__(self) -> int:
        return len(_FILE_OF)


VERBS = Table()
COMMANDS: dict[str, list[str]] = {}
"""The names of the verbs of each command: the first is what it does without an option."""
for _name in sorted(_FILE_OF, key=lambda name: " -" in name):
    COMMANDS.setdefault(_name.partition(" -")[0], []).append(_name)
