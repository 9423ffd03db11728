"""The fence between owners of a partition, without a broker: claims, writes and crashes in any order."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from s3_server import BUCKET, serving_s3, wait_for_nothing
from soaked import soaked
from test_views import history

from memtape.schemas.errors import Fenced, MemtapeError
from memtape.schemas.log import Log
from memtape.sinks.home.bucket import Bucket
from memtape.sinks.home.builds import SharedBuild
from memtape.sinks.home.claims import Claimant, PartitionClaim, SharedViews
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import MemoryLog
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify

STEPS, BATCH_EVENTS = 60, 7
WHO = Claimant(1, "one", "here", 1)


class Writer:
    """An owner of partition 0 that does one step at a time, whatever others have done meanwhile."""

    def __init__(self, home: Home, log: Log) -> None:
        assert home.shared is not None
        self._home, self._log = home, log
        self.claim = home.shared.claim(0, WHO)
        self.is_served = False
        self.views: BuildViews | None = None

    def take_over(self) -> None:
        """Adopt the newest complete build, write it out of sight to the end of the log, and serve it."""
        if self.views is None:
            self.claim.adopt()
            self._open()
        elif self._offset < self._log.ends()[0]:
            self.write()
        else:
            self._writer.close()
            self.claim.serve()
            self._open()
            self.is_served = True

    def _open(self) -> None:
        self.views = BuildViews(self._home, self._log, claim=self.claim)
        self._offset = self.views.written(0)
        self._projection = self.views.projection(0, self._offset)
        self._writer = self.views.views(0)

    def write(self, *, is_cut: bool = False) -> None:
        """Fold and write a batch; if it `is_cut`, its rows alone."""
        assert self.views is not None
        slots = self._log.read(0, self._offset, BATCH_EVENTS)
        delta = self._projection.advance(slots) if slots else None
        if delta is None:
            return
        self._offset += len(slots)
        if is_cut:
            self.views.shards[0].write(delta.rows)
            return
        self._writer.apply(delta)
        if self._projection.keep(more=False, ends=True):
            self._writer.close()
        if self.is_served:
            self.claim.publish()


class Place(NamedTuple):
    """A place of shared views: `home` makes the home of another machine, `left` lists what the place has."""

    home: Callable[[], Home]
    left: Callable[[], list[str]]


@contextmanager
def place_of(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Make a place of shared views; a bucket is one of a server with faults."""
    numbers, url = itertools.count(), str(tmp_path / "views")

    def home() -> Home:
        made = Home(tmp_path / f"home{next(numbers)}")
        made.settings_path.write_text(f'views = "{url}"\n')
        return made

    if kind == "folder":
        yield Place(home, lambda: os.listdir(tmp_path / "views"))
        return
    rng, url = random.Random(1), f"s3://{BUCKET}/views/of/a-team"
    wait_for_nothing(monkeypatch)
    with serving_s3(versions=kind == "bucket with versions") as server:
        server.faults = lambda method, path: rng.choice((500, 503, 0.01, "lost", *20 * (None,)))
        bucket = Bucket(url)
        yield Place(
            home, lambda: [it.name.split("/")[-1 if "claims/" in it.name else 0] for it in bucket.versions()]
        )


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        *soaked((("folder", seed) for seed in range(200)), *(("folder", seed) for seed in range(4))),
        *soaked((("bucket", seed) for seed in range(50)), ("bucket", 0)),
        *soaked((("bucket with versions", seed) for seed in range(50)), ("bucket with versions", 2)),
    ],
)
def test_whatever_a_late_writer_does_readers_find_the_views_of_the_log(
    kind: str, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, log = random.Random(seed), MemoryLog(1)
    writers, cut, has_served = list[Writer](), dict[int, None](), False
    with place_of(kind, tmp_path, monkeypatch) as place:
        reader = place.home()
        assert reader.shared is not None
        for _ in range(STEPS):
            log.append(history(rng.randrange(4), seed=rng.randrange(10**6)))
            step = rng.choice(("claim", *5 * ("write",), "cut", "late", "crash", "sweep"))
            writer = rng.choice(writers) if writers else None
            if writer is None or (step == "claim" and len(writers) < 4):
                writers.append(Writer(place.home(), log))
                continue
            with monkeypatch.context() as patched:
                if step == "late":  # It has looked before the other claim came.
                    patched.setattr(PartitionClaim, "is_fenced", lambda claim: False)
                try:
                    if step == "sweep":
                        writer.claim.sweep()
                    elif not writer.is_served:
                        writer.take_over()
                    elif step == "cut":
                        cut[writer.claim.number] = None
                        writer.write(is_cut=True)
                    elif step in ("write", "late"):
                        writer.write()
                except (Fenced, FileNotFoundError):
                    assert reader.shared.newest_claim(0) > writer.claim.number
                    step = "crash"
            if step in ("crash", "cut"):
                writers.remove(writer)
                if not writer.claim.is_served:
                    writer.claim.discard()
            served = reader.shared.served().claims.get(0)
            assert served is not None or not has_served
            has_served |= served is not None
            if served not in cut or kind != "folder":
                verdict = verify(reader, log)
                assert verdict.ok, (seed, verdict.differences[:3])
        last = Writer(place.home(), log)
        while not last.is_served:
            last.take_over()
        shared, alone = verify(reader, log), Home(tmp_path / "alone")
        with Owner(alone, log) as owner:
            owner.project()
        assert (shared.ok, shared.state_hash) == (True, verify(alone, log).state_hash)
        last.claim.sweep()
        assert {name for name in place.left() if "p00" in name} == {last.claim.name}


def test_a_claim_is_made_once_and_fences_every_earlier_one(tmp_path: Path) -> None:
    views = SharedViews(tmp_path)
    first, other = views.claim(3, WHO), views.claim(4, WHO)
    second = views.claim(3, Claimant(2, "two", "there", 2))
    with pytest.raises(Fenced, match="partition 3 are claimed"):
        first.check()
    with pytest.raises(Fenced):
        first.serve()
    for claim in (second, other):
        claim.serve()
    assert SharedBuild(tmp_path).claims == {3: 2, 4: 1}
    assert views.owners() == {"there (pid 2)": (3,), "here (pid 1)": (4,)}


def test_a_folder_has_the_views_of_one_log(tmp_path: Path) -> None:
    assert SharedViews(tmp_path / "views").join("log") == SharedViews(tmp_path / "views").join("log")
    with pytest.raises(MemtapeError, match="another log"):
        SharedViews(tmp_path / "views").join("other")
    (tmp_path / "file").touch()
    with pytest.raises(MemtapeError, match="cannot be used") as refusal:
        SharedViews(tmp_path / "file" / "views").join("log")
    assert "settings" in refusal.value.hint
