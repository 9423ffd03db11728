"""Claims on the views of partitions that machines share: the fence between their owners.

    claims/p03-00000007     a claim: its number is made once, the greatest counts
    .p03-00000007.new/      its build while it is made
    p03-00000007/           its build once it is complete; readers open the newest complete build

A claim writes to its own build alone. So a writer that is late, frozen or mistaken about its membership
changes nothing that anybody opens, and each commit that finds a later claim is refused besides. The next
owner goes on from a copy of the newest complete build, by links: no file of a build is changed in place.
Numbers go up only, since the newest claim of a partition is never removed.

All this is in a folder that machines mount, or in a bucket, of which each home has a copy
(`sinks.home.bucket_views`).
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
import uuid_utils

from memtape.schemas.errors import Fenced, MemtapeError
from memtape.sinks.home.builds import CLAIM, Build, SharedBuild, claim_lock, claim_name
from memtape.sinks.home.files import (
    POLL_S,
    UNFINISHED,
    make_folder,
    read_json,
    unfinished_beside,
)

ADOPT_TRIES = 200
"""Copies of a build that its late writer still changes; after the last the log is folded from its start."""
NOT_SHARED = shutil.ignore_patterns(f".*{UNFINISHED}", "damaged-*", "past")
"""The entries of a build that stay where they are."""


class Claimant(msgspec.Struct, frozen=True):
    """Who made a claim: the generation and member of a consumer group, the machine, and the process."""

    generation: int
    member: str
    machine: str
    pid: int


class SharedPlace(msgspec.Struct, frozen=True):
    """The log of which a place has the views, and the place's own id, wherever machines mount it."""

    log_id: str
    id: str


class SharedViews:
    """A folder in which machines share the views of a topic."""

    look_s = 2.0
    """The interval (s) in which an owner looks for a later claim, noted damage, and files of late writers."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def served(self) -> SharedBuild:
        """Return the newest complete build of each partition."""
        return SharedBuild(self.path)

    def join(self, log_id: str) -> SharedPlace:
        """Return the identity of the place, which is made for a log at the first call.

        Raises `MemtapeError` for a place with the views of another log, and for one that cannot be written.
        """
        found = self._first(SharedPlace(log_id, uuid_utils.uuid4().hex[:12]))
        if found is None or found.log_id != log_id:
            raise MemtapeError(f"{self} has the views of another log.", "Name an empty place.")
        return found

    def _first(self, made: SharedPlace) -> SharedPlace | None:
        """Return the identity that was stored first, `made` if there was none."""
        path, unfinished = self.path / "views.json", self.path / f".{made.id}{UNFINISHED}"
        try:
            make_folder(self.path)
            unfinished.write_bytes(msgspec.json.encode(made))
            with suppress(FileExistsError):
                os.link(unfinished, path)  # Unlike a rename it replaces nothing.
            unfinished.unlink()
        except OSError as error:
            raise MemtapeError(
                f"The folder of shared views {self} cannot be used: {error.strerror}.",
                "Mount it, or name another by `memtape admin settings --set views=PATH`.",
            ) from None
        return read_json(path, SharedPlace)

    def claim(self, partition: int, claimant: Claimant) -> PartitionClaim:
        """Claim the views of a partition: every earlier claim is fenced from now on."""
        make_folder(self.path / "claims")
        while True:
            made = self._make(partition, self.newest_claim(partition) + 1, claimant)
            if made is not None:
                return made

    def _make(self, partition: int, number: int, claimant: Claimant) -> PartitionClaim | None:
        """Make a claim; return None for a number that was claimed before."""
        path = self.path / "claims" / claim_name(partition, number)
        with suppress(FileExistsError):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(msgspec.json.encode(claimant))
            return PartitionClaim(self, partition, number)
        return None

    def newest_claim(self, partition: int) -> int:
        """Return the number of the newest claim of a partition, 0 if there is none."""
        return newest_of(os.listdir(self.path / "claims"), partition)

    def is_damaged(self, name: str, partition: int) -> bool:
        """Return whether the tables of a claim were found to be unreadable."""
        return Build(self.path / name).damage_path(partition).exists()

    def owners(self) -> dict[str, tuple[int, ...]]:
        """Return the partitions with served views by who claimed them, as `machine (pid 42)`."""
        found = dict[str, tuple[int, ...]]()
        for partition, number in sorted(self.served().claims.items()):
            if (who := read_json(self.path / "claims" / claim_name(partition, number), Claimant)) is not None:
                name = f"{who.machine} (pid {who.pid})"
                found[name] = (*found.get(name, ()), partition)
        return found

    def refresh(self) -> None:
        """Have what other machines have served; nothing is to be done in a mounted folder."""

    def sweep(self, partition: int) -> None:
        """Delete what earlier claims and late writers of a partition have left behind its served build."""
        self.delete_earlier(partition, self.served().claims.get(partition, 0))

    def delete_earlier(self, partition: int, number: int) -> None:
        """Delete all files and folders of a partition's claims before a number."""
        for path in [*self.path.iterdir(), *self.path.glob("claims/*"), *self.path.glob("manifests/*")]:
            found = CLAIM.match(path.name.removeprefix(".").split(".")[0])
            if found and int(found[1]) == partition and int(found[2]) < number:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    def copy_all(self, folder: Path, tell: Callable[[int, int], None]) -> Path:
        """Return a folder with every byte of the place, for a search; it may be made below `folder`."""
        return self.path

    def __str__(self) -> str:
        return str(self.path)


class PartitionClaim:
    """The right to write the views of one partition, until anybody makes a later claim.

    `build` is written by this claim alone, and read once it `is_served`. Raises `Fenced` after a later claim.
    """

    def __init__(self, place: SharedViews, partition: int, number: int) -> None:
        self._place, self.partition, self.number = place, partition, number
        self.name = claim_name(partition, number)
        self.build, self.is_served = Build(unfinished_beside(place.path / self.name)), False
        self.epoch_lock = claim_lock(place.path, self.name)

    def is_fenced(self) -> bool:
        """Return whether a later claim exists."""
        return self._place.newest_claim(self.partition) != self.number

    def is_damaged(self) -> bool:
        """Return whether a reader found the tables of this claim to be unreadable."""
        return self._place.is_damaged(self.name, self.partition)

    def check(self) -> None:
        """Raise `Fenced` if a later claim exists."""
        if self.is_fenced():
            raise Fenced(f"The views of partition {self.partition} are claimed by another process.")

    def adopt(self) -> None:
        """Copy the newest complete build as of one moment; do nothing without a sound build."""
        for _ in range(ADOPT_TRIES):
            served = self._place.served()
            if (number := served.claims.get(self.partition)) is None:
                return
            if self._place.is_damaged(claim_name(self.partition, number), self.partition):
                return
            source = served.of(self.partition).path
            before = files_of(source)
            with suppress(OSError, shutil.Error):  # Its writer has deleted a file meanwhile.
                shutil.copytree(source, self.build.path, copy_function=link, ignore=NOT_SHARED)
                if files_of(source) == before:
                    return
            self.discard()
            self.check()
            time.sleep(POLL_S)

    def serve(self) -> None:
        """Let readers open the build, and delete the builds of earlier claims."""
        self.check()
        make_folder(self.build.path)
        self.build.path.rename(self._place.path / self.name)
        self.build, self.is_served = Build(self._place.path / self.name), True
        self.publish()
        self.sweep()

    def publish(self) -> None:
        """Let other machines see the build as it is now, as they do in a mounted folder."""

    def sweep(self) -> None:
        """Delete what earlier claims and late writers have left, once the build is served."""
        if self.is_served:
            self._place.sweep(self.partition)

    def discard(self) -> None:
        """Delete the build."""
        self.build.discard()


def newest_of(names: list[str], partition: int) -> int:
    """Return the greatest number of a partition among names of claims, 0 if there is none."""
    found = (CLAIM.match(name) for name in names)
    return max((int(it[2]) for it in found if it and int(it[1]) == partition), default=0)


def files_of(path: Path) -> dict[str, tuple[int, int]]:
    """Return inode and time of each file below a folder, by path."""
    found = {}
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                stat = os.stat(os.path.join(folder, name))
                found[os.path.join(folder, name)] = stat.st_ino, stat.st_mtime_ns
    return found


def link(source: str, target: str) -> None:
    """Link a file, or copy it on a file system without links."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copy2(source, target)
