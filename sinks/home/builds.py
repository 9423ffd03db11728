"""Builds: the tables, indexes and snapshots that belong together, in a home or shared by machines."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from memtape.schemas.patterns import lazy
from memtape.sinks.home.files import FileLock, make_folder, unfinished_beside


class Build:
    """One whole set of LanceDB tables, with the state that a projector keeps beside them.

    `state`: the snapshots of all partitions. `blanked_path`: up to where erased slots of the log are known to
    be blank.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state = path / "state"
        self.blanked_path = self.state / "blanked.json"

    @property
    def number(self) -> int:
        """Builds are counted from 1."""
        return int(self.path.name)

    @property
    def name(self) -> str:
        """The place of the views: another one once other views are served."""
        return str(self.path)

    def snapshots(self, partition: int) -> Path:
        """The snapshots of one partition."""
        return self.state / f"p{partition:02}"

    def damage_path(self, partition: int) -> Path:
        """The file that records unreadable tables of a partition; a projector then rebuilds them."""
        return self.state / f"damaged-p{partition:02}"

    def note_damage(self, partition: int) -> None:
        """Record that tables of a partition are unreadable. A mere reader may lack the permission."""
        with suppress(OSError):
            make_folder(self.state)
            self.damage_path(partition).touch()

    def shard(self, partition: int) -> Path:
        """The LanceDB folder of one partition."""
        return self.path / "lance" / f"p{partition:02}"

    def adopt(self, other: Build, partition: int) -> None:
        """Take over the tables and snapshots of a partition from another build by links, without copying.

        Files of LanceDB and the projector are never changed in place, so that both builds can share them.
        """
        from shutil import copytree, rmtree

        for folder in (self.shard(partition), self.snapshots(partition)):
            source = other.path / folder.relative_to(self.path)
            if source.is_dir() and not folder.exists():
                unfinished = unfinished_beside(folder)
                rmtree(unfinished, ignore_errors=True)
                copytree(source, unfinished, copy_function=os.link)
                unfinished.rename(folder)

    def discard(self) -> None:
        """Delete the build. Files that cannot be deleted are tried again at the next build."""
        from shutil import rmtree

        rmtree(self.path, ignore_errors=True)


CLAIM = lazy(r"p(\d{2,})-(\d{8})\Z")
"""The name of a claim on a partition and of its build, by `claim_name`."""


def claim_name(partition: int, number: int) -> str:
    """Return the name of a partition's claim."""
    return f"p{partition:02}-{number:08}"


class SharedBuild(Build):
    """The views in a folder that machines share: of each partition the complete build of its newest claim.

    A build has a claim's name once it is complete. `claims` numbers the served claims by partition.
    """

    number = 0  # Stands for whatever is served.

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        found = (CLAIM.match(name) for name in (os.listdir(path) if path.is_dir() else ()))
        self.claims: dict[int, int] = {}
        for partition, number in sorted((int(it[1]), int(it[2])) for it in found if it):
            self.claims[partition] = number

    @property
    def name(self) -> str:
        """See `Build.name`."""
        return f"{self.path} {self.claims}"

    def of(self, partition: int) -> Build:
        """Return the served build of a partition."""
        return Build(self.path / claim_name(partition, self.claims.get(partition, 0)))

    def epoch_lock(self, partition: int) -> FileLock:
        """The epoch lock of a partition's served claim."""
        return claim_lock(self.path, claim_name(partition, self.claims.get(partition, 0)))

    def snapshots(self, partition: int) -> Path:
        """See `Build.snapshots`."""
        return self.of(partition).snapshots(partition)

    def shard(self, partition: int) -> Path:
        """See `Build.shard`."""
        return self.of(partition).shard(partition)

    def damage_path(self, partition: int) -> Path:
        """See `Build.damage_path`."""
        return self.of(partition).damage_path(partition)

    def note_damage(self, partition: int) -> None:
        """See `Build.note_damage`."""
        if partition in self.claims:
            self.of(partition).note_damage(partition)


def claim_lock(folder: Path, name: str) -> FileLock:
    """Return the epoch lock of a claim in a shared folder: a frozen writer holds only its own."""
    make_folder(folder / "claims")
    return FileLock(folder / "claims" / f"{name}.lock", f"The right to the views of {name}")
