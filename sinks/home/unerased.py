"""The rest of an erasure in a home: plans of erasures that were cut short.

A plan's file holds the erased texts, since their absence can be proven only with them: a digest of a word
reveals the word to a trial of all words. The file is readable by its owner alone, and is deleted once the
absence is proven. Until then `status` and `doctor` name the command that finishes the erasure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from memtape.sinks.home.files import make_folder, read_json, write_whole
from memtape.sinks.home.folders import Home

Plan = TypeVar("Plan")


def keep_unfinished(home: Home, name: str, plan: msgspec.Struct) -> None:
    """Keep a plan under a name, durably, until `drop_unfinished`."""
    make_folder(home.erasures)
    write_whole(home.erasures / f"{name}.json", msgspec.json.encode(plan), durable=True)


def unfinished_erasures(home: Home, type: type[Plan]) -> Iterator[Plan]:
    """Yield each kept plan. A file that cannot be read stays, and a proof names it."""
    for path in sorted(home.erasures.glob("*.json")):
        if (plan := read_json(path, type)) is not None:
            yield plan


def commands_that_finish(home: Home) -> list[str]:
    """Return for each kept plan, even an incomplete one, the command that finishes its erasure."""
    commands = []
    for name in sorted({path.name.strip(".").partition(".")[0] for path in home.erasures.glob("*")}):
        scope = (read_json(home.erasures / f"{name}.json", dict[str, Any]) or {}).get("scope", "")
        commands.append(f"memtape erase {name}" + (f" --scope {scope}" if scope else ""))
    return commands


def drop_unfinished(home: Home, name: str) -> None:
    """Delete a kept plan, and the unfinished file of a killed writer."""
    for path in home.erasures.glob(f"*{name}.json*"):
        path.unlink(missing_ok=True)
