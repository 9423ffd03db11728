"""The places of a log's copies: `copy` stores them in the home; `erase` names them, as copies stay unerased.

`copies.json` has the places of each log by its id. Either end of a copy may be in use later, so that both are
stored; a place never holds a secret.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home, write_whole
from memtape.sinks.logs.opening import LOG_VARIABLE, URL_MARK


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
