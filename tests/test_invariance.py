"""One log, one state hash, whatever the batches, epochs, restarts, hash seed, time zone, BLAS and locale.

Each way in which two runs could differ is a factor with a few levels. What goes wrong nearly always needs one
or two factors: a sample in which every pair of levels meets is enough. Each row is a process of its own,
which projects a copy of the same log into a new home.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from hashlib import blake2b
from operator import mul
from pathlib import Path
from typing import Any

import pytest
from mutants import MUTANTS, why_not
from replaying import replay
from soaked import soaked
from test_golden_log import copy_into, golden_slots, pages_by_scope, tree

from memtape.flows import views as flows
from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Slot, slots_between
from memtape.schemas.rows import TABLES
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.tables import Shard
from memtape.sinks.vault import Vault
from memtape.state.core.digests import root, rows_digest
from memtape.state.views.rows import all_changes, row_of
from memtape.tools.keep import projector
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.rebuild import mend_vault
from memtape.tools.keep.states import state_at
from memtape.tools.keep.verify import verify

ROOT = Path(__file__).parent.parent
STEPS = 4
"""In how many runs an incremental row projects the log."""

HOW = {"mode": ("replay", "incremental"), "batch": (500, 7, 1), "epoch_s": (0, 1, 10)}
ENVIRONMENT = {"PYTHONHASHSEED": ("0", "1", "random"), "TZ": ("UTC", "Asia/Kolkata", "America/St_Johns"),
               "OPENBLAS_CORETYPE": ("Prescott", "Haswell", "SkylakeX"), "PYTHONOPTIMIZE": ("", "2"),
               "LC_ALL": ("C", "C.UTF-8")}  # fmt: skip

Row, Patch = dict[str, Any], pytest.MonkeyPatch


def pairwise(factors: Mapping[str, Sequence[Any]]) -> list[Row]:
    """Return rows in which every two levels of two factors meet: a factor is a direction among 27 points."""
    columns = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1), (1, 2, 0))
    return [
        {
            name: levels[sum(map(mul, column, point)) % 3 % len(levels)]
            for (name, levels), column in zip(factors.items(), columns, strict=True)
        }
        for point in itertools.product(range(3), repeat=3)
    ]


class GrowingLog(EmbeddedLog):
    """A log of which only a part is there yet, as it was before the rest was appended."""

    share = (1, 1)

    def ends(self) -> list[int]:
        part, whole = self.share
        return [end * part // whole for end in super().ends()]

    def read(self, partition: int, offset: int, limit: int, **narrowed: Any) -> list[Slot]:
        end = self.ends()[partition]
        return [slot for slot in super().read(partition, offset, limit, **narrowed) if slot.offset < end]

    def erased(self, partition: int) -> list[Slot]:
        return [slot for slot in super().erased(partition) if slot.offset < self.ends()[partition]]


def works(coretype: str) -> bool:
    """Whether BLAS can compute here as on a processor of this type, whose instructions this one may lack."""
    program = "import numpy as n; a = n.ones((64, 384), 'f4'); print(int((a[0] @ a.T)[0] + (a @ a.T)[0, 0]))"
    environment = {**os.environ, "OPENBLAS_CORETYPE": coretype}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    return (done.returncode, done.stdout.strip()) == (0, "768")


def without_erasures() -> list[Slot]:
    """Return the golden log as if nothing was erased: a start with erased bodies makes views anew."""
    ends, kept = Counter[int](), list[Slot]()
    for slot in golden_slots():
        if (event := event_of(slot.payload)) is None or event.type != "erased":
            kept.append(Slot(slot.partition, ends[slot.partition], slot.payload))
            ends[slot.partition] += 1
    return kept


def expected(slots: Sequence[Slot]) -> Row:
    """Return what the oracle says that a row must find, worked out here in plain Python."""
    replayed = replay(slots)
    tables: dict[str, list[Any]] = {name: [] for name in TABLES}
    pages: dict[str, bytes] = {}
    for partition in replayed.partitions.values():
        for scope in partition.scopes.values():
            for change in all_changes(scope):
                if change.table in tables:
                    tables[change.table].append(row_of(scope, change))
        for scope_name, found in pages_by_scope(partition).items():
            pages |= {f"{scope_name}/{path}": text.encode() for path, text in found.items()}
    return {"ok": True, "state_hash": root(tree(replayed)), "oracle": replayed.state_hash,
            "tables": {name: rows_digest(rows) for name, rows in sorted(tables.items())},
            "vault": digest_of(pages), "letters": len(replayed.dead_letters)}  # fmt: skip


def digest_of(pages: Mapping[str, bytes]) -> str:
    """Return one digest over the names and bytes of all pages."""
    hashed = blake2b(digest_size=16)
    for path, data in sorted(pages.items()):
        hashed.update(f"{path} {len(data)}\n".encode() + data)
    return hashed.hexdigest()


def project(path: Path, row: Row) -> Row:
    """Project the log of a home as a row says, and return what stands in its views. This runs in a child."""
    home = Home(path)
    log = GrowingLog(home.log_path)
    steps = STEPS if row["mode"] == "incremental" else 1
    for step in range(steps):
        log.share = (step + 1, steps)
        flows.EPOCH, flows.BATCH_EVENTS = timedelta(seconds=row["epoch_s"]), row["batch"]
        doubts: list[str] = []
        views = BuildViews(home, log)
        views.on_doubt = doubts.append
        projector.project(views, projector.control_of(home, once=True))
        if doubts:  # Of views that were made anew an owner lays the pages: some may be no more.
            for number, end in enumerate(log.ends()):
                mend_vault(home, log, state_at(log, home.current(), number, end))
    verdict = verify(home, log)
    shards = [Shard(home.current().shard(number), number) for number in range(log.partitions)]
    vault = Vault(home)
    slots = (slot for number, end in enumerate(log.ends()) for slot in slots_between(log, number, 0, end))
    pages = {f"{name}/{page}": data for name in vault.scopes() for page, data in vault.read(name).items()}
    return {
        "ok": verdict.ok,
        "state_hash": verdict.state_hash,
        "oracle": replay(slots).state_hash,
        "tables": {it: rows_digest(r for s in shards for r in s.rows(TABLES[it])) for it in sorted(TABLES)},
        "vault": digest_of(pages),
        "letters": sum(mark.counters.dead_letters for shard in shards if (mark := shard.watermark())),
    }


def run(row: Row, origin: Path) -> Row:
    """Return what a process of its own finds when it projects the log as a row says."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        shutil.copy(origin, home.log_path)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))}
        environment |= {name: row[name] for name in ENVIRONMENT}
        environment["PYTHONUTF8"] = "0"  # So that the locale decides, which is ASCII in C.
        how = json.dumps({name: row[name] for name in HOW})
        command = [sys.executable, str(Path(__file__)), str(home.path), how]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{row}\n{done.stderr}"
        return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_a_watermark_never_speaks_of_rows_that_are_not_there(home: Home, monkeypatch: Patch) -> None:
    """An epoch that ends in its midst, whatever the reason, is written again by the next start."""

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    log = copy_into(home, without_erasures())
    for broken in (Shard, Vault):
        monkeypatch.setattr(broken, "write", full)
        with pytest.raises(OSError, match="No space"), Owner(home, log) as owner:
            owner.project()
        marks = [Shard(home.current().shard(number), number).watermark() for number in range(log.partitions)]
        assert not any(marks)
        monkeypatch.undo()
    with Owner(home, log) as owner:
        owner.project()
    verdict = verify(home, log)
    assert verdict.ok, verdict.differences[:5]
    log.close()


def test_a_build_that_differs_from_the_log_is_never_served(home: Home, monkeypatch: Patch) -> None:
    log = copy_into(home, without_erasures())
    with Owner(home, log) as owner:
        owner.project()
        write = Shard.write
        monkeypatch.setattr(Shard, "write", lambda shard, rows: write(shard, rows[1:]))
        with pytest.raises(MemtapeError, match="differs from the log"):
            owner.rebuild()
    assert [build.number for build in home.builds()] == [home.current().number] == [1]
    assert verify(home, log).ok
    log.close()


def test_every_mutant_still_has_its_place_and_its_test() -> None:
    """`make mutants` is slow, so that its list is held here to the product and to the tests."""
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 12
    assert not list(filter(None, map(why_not, MUTANTS)))
    for mutant in MUTANTS:
        file, _, test = mutant.test.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("erasures", "first", "end", "step"), soaked([(False, 1, 10, 8), (True, 0, 27, 1)], (False, 1, 10, 8))
)
def test_one_log_has_one_state_hash(tmp_path: Path, erasures: bool, first: int, end: int, step: int) -> None:
    """In two rows with large batches, and in all rows, where any two levels of two factors meet."""
    slots = golden_slots() if erasures else without_erasures()
    origin = Home(tmp_path / "origin")
    copy_into(origin, slots).close()
    coretypes = tuple(filter(works, ENVIRONMENT["OPENBLAS_CORETYPE"])) or ("",)
    rows = pairwise(HOW | ENVIRONMENT | {"OPENBLAS_CORETYPE": coretypes})[first:end:step]
    oracle = expected(slots)
    print(f"\n{len(rows)} rows, BLAS as on {', '.join(filter(None, coretypes)) or 'this machine'}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda row: run(row, origin.log_path), rows))
    wrong = [f"{row}: {other}" for row, other in zip(rows, found, strict=True) if other != oracle]
    assert not wrong, "\n".join([f"The oracle says {oracle}, but", *wrong])


if __name__ == "__main__":
    print(json.dumps(project(Path(sys.argv[1]), json.loads(sys.argv[2]))))
