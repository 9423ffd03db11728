"""Views that are damaged, in any file and any way: every command says a sentence or answers, and the next
projection makes them right again.

LanceDB keeps no checksum of its data: a bit that flips there in a valid row is found by `verify` alone.
"""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import MINUTE, START, captured, forgotten, recalled, used
from commanding import call as command
from commanding import document
from soaked import soaked

from memtape.schemas.errors import DamagedViews
from memtape.schemas.events import Embedded, make_embedded
from memtape.sinks.home.folders import Home
from memtape.sinks.index_files import MANIFEST
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.row_tables import RowTables
from memtape.sinks.tables import INDEX, WATERMARK
from memtape.state.core.digests import rules_version
from memtape.state.vectors.recorded import quantised
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify
from memtape.tools.query.retrieval import Retriever

A = "project:a"
KEY = "test@1/4"
TABLES = ("memories", "turns", "tombstones", "uses", "edges", "vectors-*")
FILES = ("_versions/*.manifest", "data/*.lance", "_transactions/*.txn")
BESIDE = (WATERMARK, f"{INDEX}/*/{MANIFEST}", f"{INDEX}/*/[0-9]*")
"""What stands beside the tables: the watermark, and the manifests and other files of the search index."""


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    rng = random.Random(len(data))
    for place in rng.choices(range(len(data)), k=max(3, len(data) // 40)):
        data[place] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


DAMAGES = {"emptied": _empty, "cut": _cut, "flipped": _flip, "deleted": Path.unlink}
NEWEST = "newest deleted"
KEPT = [("memories", "_versions/*.manifest", "emptied"), ("tombstones", "data/*.lance", "flipped"),
        ("edges", "_transactions/*.txn", "flipped"), ("vectors-*", "_versions/*.manifest", "cut"),
        ("", BESIDE[1], "emptied"), ("", BESIDE[2], "deleted")]  # fmt: skip
CASES = [(table, files, damage) for table in TABLES for files in FILES for damage in DAMAGES]
CASES += [(table, FILES[0], NEWEST) for table in TABLES]
CASES += [("", files, damage) for files in BESIDE for damage in DAMAGES]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose one partition has something in every table."""
    home = Home(tmp_path_factory.mktemp("whole") / "home")
    home.settings_path.write_text("catch_up = false\nconsolidate = false\n")
    log = EmbeddedLog(home.log_path, 1)
    for first in (0, 3):  # Twice, so that every table has a version before its newest.
        for number in range(first, first + 3):
            common: dict[str, Any] = {"scope": A, "session": "s", "sent": START + number * MINUTE}
            log.append([captured(f"lighthouse {number}", f"f{number}", **common)])
            log.append([captured(f"turn of lighthouse {number}", f"t{number}", "turn", **common)])
        common = {"scope": A, "session": "s", "sent": START + (first + 3) * MINUTE}
        seen = [f"f{first}", f"f{first + 1}"]
        log.append([recalled(seen, f"r{first}", **common), used(seen, f"u{first}", f"r{first}", **common)])
        log.append([forgotten(["f5" if first else "nobody"], f"g{first}", **common)])
        vector = quantised([1.0, 0.0, 0.0, 0.0])
        body = Embedded(attempt=1, dimensions=4, embedder=KEY, reason=None, vector=vector)
        log.append([make_embedded(A, captured("x", f"f{first}").id, body, START)])
        log.append_raw(0, [b"no event"])
        with pytest.MonkeyPatch.context() as patch, Owner(home, log) as owner:
            patch.setattr(RowTables, "clean", lambda tables: None)  # As a killed projector leaves them.
            owner.project()
    log.close()
    for table in TABLES:
        (versions,) = home.current().shard(0).glob(f"{table}.lance/_versions")
        assert len(list(versions.glob("*.manifest"))) > 1, table
    return home.path


@pytest.fixture
def home(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    shutil.copytree(whole, tmp_path / "home")
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    yield Home(tmp_path / "home")


def damage(home: Home, table: str, files: str, how: str) -> None:
    paths = sorted(home.current().shard(0).glob(f"{table}.lance/{files}" if table else files))
    assert paths
    if how == NEWEST:
        max(paths, key=lambda path: path.stat().st_mtime_ns).unlink()
        return
    for path in paths:
        DAMAGES[how](path)


def call(*words: str) -> Any:
    done = command(*words, code=None)
    assert done.exit_code == 0 or (done.exit_code == 1 and done.output.strip()), words
    return done


def ask_everything() -> list[Any]:
    fact, scope = captured("x", "f1").id, ("--scope", A)
    position = ("--as-of", "0/9")
    asked = (("status",), ("context", *scope), ("show", fact, *scope), ("verify",), ("log", *scope),
             ("search", "lighthouse", "--quiet", *scope), ("show", "--why", fact, *scope),
             ("show", "--edges", fact, *scope), ("show", "--edges", *scope), ("status", *position),
             ("admin", "diff", "0/3", "0/9", *scope), ("search", "lighthouse", *scope, *position),
             ("admin", "embedder", "status"))  # fmt: skip
    return [call(*words) for words in asked]


def sound(home: Home) -> str:
    log = EmbeddedLog(home.log_path)
    verdict = verify(home, log)
    log.close()
    assert verdict.ok, verdict.differences[:5]
    return verdict.state_hash


@pytest.mark.parametrize(("table", "files", "how"), soaked(CASES, *KEPT))
def test_whatever_is_damaged_mends_itself(home: Home, table: str, files: str, how: str) -> None:
    expected = sound(home)
    damage(home, table, files, how)
    ask_everything()
    assert call("run", "--once").exit_code == 0
    log = EmbeddedLog(home.log_path)
    silent = how == "flipped" and not verify(home, log).ok
    log.close()
    if silent:
        assert call("rebuild").exit_code == 0
    assert sound(home) == expected
    assert all(done.exit_code == 0 for done in ask_everything())
    found = document("search", "lighthouse", "--limit", "20", "--quiet", scope=A)
    assert (len(found["results"]), found["warnings"]) == (11, [])


def test_a_living_projector_mends_what_a_reader_has_met(home: Home) -> None:
    log = EmbeddedLog(home.log_path)
    mended = threading.Event()

    def note(said: str) -> None:
        if "made anew from the log" in said:
            mended.set()

    with Owner(home, log, note) as owner:
        serving = threading.Thread(target=owner.serve)
        serving.start()
        damage(home, "turns", "data/*.lance", "emptied")
        home.current().note_damage(0)
        assert mended.wait(300)
        owner.stop()
        serving.join()
        owner = Owner(home, log)
    sound(home)


def test_a_reader_does_not_judge_views_of_another_version(home: Home) -> None:
    """Else owners of newer rules would make their views again and again while older readers are there."""
    log, build = EmbeddedLog(home.log_path), home.current()
    path, made = build.shard(0) / WATERMARK, rules_version()
    damage(home, "", f"{INDEX}/*/{MANIFEST}", "emptied")
    own = path.read_bytes()
    for data in (own.replace(made.encode(), b"views=99"), own):
        path.write_bytes(data)
        with pytest.raises(DamagedViews):
            Retriever(home, log).reading(lambda views: views.found(A))
        assert build.damage_path(0).exists() is (data == own)


@pytest.mark.parametrize("table", ["memories", "turns"])
def test_a_table_that_lost_its_newest_version_is_noticed_by_who_writes_next(home: Home, table: str) -> None:
    """Before any reader: the number of the lost version would be given to what is written then."""
    damage(home, table, FILES[0], NEWEST)
    call("capture", "The lighthouse has a new lamp.", "--scope", A)
    assert call("run", "--once").exit_code == 0
    sound(home)
