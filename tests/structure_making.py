"""How `sinks/structure.txt` is made: what the files of every home say, whatever was captured.

Run `PYTHONPATH=. .venv/bin/python tests/structure_making.py` where a format, a library or a page has changed.
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import get_args

import msgspec
from builders import START

from memtape.flows.projection import basis_of
from memtape.schemas.events import Actor, Body, Edited, Linked, make_event
from memtape.schemas.ids import derived_id, root_id
from memtape.schemas.log import trail_of
from memtape.schemas.model import ModelOptions
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.counts import FLUSHES, LEFT_OUT, FlushOutcome, count_one
from memtape.sinks.home.folders import Home
from memtape.sinks.home.marks import AskedWindows, count_window, spend
from memtape.sinks.home.marks import Outcome as WindowOutcome
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.remains import STRUCTURE_PATH, Needles, _open, _Search
from memtape.sinks.snapshots import Snapshots
from memtape.state.core.partition import snapshot
from memtape.state.text.traces import is_searched, telling_words, tokens
from memtape.tools.capture.noise import BINARY, OF_HOST
from memtape.tools.capture.profiles import pause
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.keep.states import state_at

HOMES = 3
"""So many are compared: ids, times and digests differ from one to the next, and the structure does not."""

_ID = re.compile(r"[0-9a-f]{8}|^[0-9]{2}[a-z]{3}")
"""Ids and the end of a time, which stand without a space beside other words in the bytes of a database.

Homes that were made in one second share the seconds of their times.
"""

_EVERYTHING = _Search(Needles(ids=("",), texts=(), words=()))
"""A search for the empty id, for which every text is read."""


def make_home(folder: Path, more: int) -> None:
    """Make a home with every kind of file, in which nobody has said a word that is long enough to search.

    In a database a number can stand as a letter before a word. So homes differ by what was said `more`, and
    how often.
    """
    log = EmbeddedLog(Home(folder).log_path)
    with closing(log), Client(folder, scope="project:a", origin="user", log=log) as client:
        client.home.settings_path.write_text("catch_up = false\n")
        for kind in ("fact", "fact", "journal", "goal", "plan", "turn", "document"):
            client.capture("a", kind, media=(), tags=["a"], source="a")
        _make_pages(client, log)
        client.search("a")
        client.use([client.capture(text, "insight").id for text in ("a b", "a c")])
        for outcome in get_args(FlushOutcome):
            count_one(folder, FLUSHES, outcome)
        for reason in ("paused", "private as a whole", OF_HOST, BINARY):
            count_one(folder, LEFT_OUT, reason)
        pause(folder, None, START, START + 1)
        pause(folder, "project:a", START, START + 1)
        spend(client.home, ModelOptions(), 1, START)
        for window in get_args(WindowOutcome):
            count_window(client.home, window, START)
        asked = AskedWindows(client.home)
        with asked.alone(0):
            asked.note(["a"], settled=True, now_us=START, since_us=START)
        client.forget(client.capture("a b c", "insight").id)
        for number in range(more):
            client.capture_many([Line(text=f"a {number} {place}", kind="turn") for place in range(7 * more)])
            client.project()
        client.project()
        build, number = client.home.current(), partition_of("project:a", log.partitions)
        state = state_at(log, build, number, log.ends()[number])
        trail = trail_of(log, number, state.offset)
        Snapshots(build, number, basis_of(log, number)).write(state.offset, trail, snapshot(state))


def _make_pages(client: Client, log: EmbeddedLog) -> None:
    """Make pages with all that their files tell: children, links, hints, and a version beside another."""
    page, other = client.capture("a", "page", path="a").id, client.capture("a b", "page", path="b").id
    beside = client.capture("a c", "page").id
    said = dict.fromkeys(Edited.__struct_fields__) | {"id": page}
    bodies: list[Body] = [
        msgspec.convert(said | {"title": "a", "summary": "a", "hints": ["a"], "refs": ["a"]}, Edited),
        msgspec.convert(said | {"by": beside, "base": other}, Edited),
        msgspec.convert(said | {"rest": "---\na"}, Edited),
    ]
    root = root_id("project:a")
    ends = ((root, "child", page), (page, "child", other), (other, "related", page), (page, "related", None))
    for id, relation, to in ends:
        bodies.append(Linked(id=id, on=True, relation=relation, slug=None if to else "c", to=to))
    for body in bodies:
        kind = "edited" if isinstance(body, Edited) else "linked"
        id = derived_id("structure", None, None, repr(body))
        actor = Actor(name="a", origin="user")
        log.append([make_event(kind, id, body, "project:a", actor, (page,), START)])


def texts_of_home(folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield what the files of a home say, in words that stay: runs in the vault, else single."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and not path.name.endswith(("-wal", "-shm")):
            is_database = path.suffix == ".db"
            for text in (
                _texts_of_database(path)
                if is_database
                else (grain.text for grain in _open(path, _EVERYTHING)[1])
            ):
                runs = _runs(tokens(text))
                is_page = Home(folder).vault in path.parents
                yield from runs if is_page else ((word,) for run in runs for word in run)


def _texts_of_database(path: Path) -> Iterator[str]:
    """Yield what a database says but for counts, whose labels touch each other in the bytes of a row."""
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        for name, sql in tables:
            yield sql
            if f"TABLE {name}" in sql and name != "counts":
                for row in database.execute(f"SELECT * FROM {name}"):
                    texts = (it.decode(errors="replace") if isinstance(it, bytes) else str(it) for it in row)
                    yield " 0 ".join(texts)


def _runs(words: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Yield the runs of words between numbers, ids and digests."""
    for passing, run in groupby(words, lambda word: word.isdecimal() or _ID.search(word) is not None):
        if not passing:
            yield tuple(run)


def structure_of(folders: Iterable[Path]) -> list[str]:
    """Return what all of these homes say, as far as something that is looked for can be in the words."""
    runs = set.intersection(*(set(texts_of_home(folder)) for folder in folders))
    said = (" ".join(run) for run in runs)
    return sorted(text for text in said if is_searched(text) or telling_words(text))


def make() -> list[str]:
    """Return the structure of new homes."""
    with tempfile.TemporaryDirectory() as folder:
        homes = [Path(folder) / str(number) for number in range(HOMES)]
        for more, home in enumerate(homes):
            make_home(home, more)
        return structure_of(homes)


if __name__ == "__main__":
    STRUCTURE_PATH.write_text("".join(f"{line}\n" for line in make()), encoding="utf-8")
