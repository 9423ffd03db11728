"""The rest of an erasure in a home: plans of erasures that were cut short, and the places of a log's copies.

A plan's file holds the erased texts, since their absence can be proven only with them: a digest of a word
reveals the word to a trial of all words. The file is readable by its owner alone, and is deleted once the
absence is proven. Until then `status` and `doctor` name the command that finishes the erasure.

`copies.json` has the places of each log by its id: `copy` stores them, and `erase` names them, as copies stay
unerased. Either end of a copy may be in use later, so that both are stored; a place never holds a secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home, make_folder, read_json, write_whole
from memtape.sinks.logs.opening import LOG_VARIABLE, URL_MARK

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


def remember_copy(home: Home, source: Log, place: str) -> None:
    """Note that a log was copied, or is about to be."""
    known = _read(home)
    known[source.log_id] = list(dict.fromkeys((*known.get(source.log_id, ()), source.place, place)))
    write_whole(home.copies_path, msgspec.json.encode(known), durable=True)


def known_copies(home: Home, log: Log) -> list[str]:
    """Return the other places at which a log is known to be, or to have been."""
    return [place for place in _read(home).get(log.log_id, ()) if place != log.place]


def how_to_erase_in(place: str) -> str:
    """Return the instruction by which a person erases the same ids in a copy of the log."""
    if URL_MARK in place:
        return f"give the same command under {LOG_VARIABLE}='{place}'"
    path = Path(place)
    if not path.exists():
        return "nothing is there now; where it was moved, delete it or erase there"
    if path.name == Home.LOG_NAME:
        return f"give the same command with --home '{path.parent}' and without {LOG_VARIABLE}"
    return "delete it and copy again"


def _read(home: Home) -> dict[str, list[str]]:
    try:
        return msgspec.json.decode(home.copies_path.read_bytes(), type=dict[str, list[str]])
    except FileNotFoundError:
        return {}
    except msgspec.MsgspecError as error:
        raise MemtapeError(
            f"{home.copies_path} does not say where copies of the log stand: {error}.",
            "Delete it if you know of every copy: what is erased here has to be erased there as well.",
        ) from None
