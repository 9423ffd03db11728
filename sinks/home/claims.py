"""Claims on the views of partitions, in a folder that machines share: the fence between their owners.

    claims/p03-00000007     a claim: its number is made once (`O_EXCL`), the greatest counts
    .p03-00000007.new/      its build while it is made
    p03-00000007/           its build once it is complete; readers open the newest complete build

A claim writes to its own build alone. So a writer that is late, frozen or mistaken about its membership
changes nothing that anybody opens, and each commit that finds a later claim is refused besides. The next
owner goes on from a copy of the newest complete build, by links: no file of a build is changed in place.
Numbers go up only, since the newest claim of a partition is never removed.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import msgspec
import uuid_utils

from memtape.schemas.errors import Fenced, MemtapeError
from memtape.sinks.home.folders import (
    CLAIM,
    POLL_S,
    UNFINISHED,
    Build,
    SharedBuild,
    claim_lock,
    claim_name,
    make_folder,
    read_json,
    unfinished_beside,
)

ADOPT_TRIES = 200
"""Copies of a build that its late writer still changes; after the last the log is folded from its start."""
_NOT_ADOPTED = shutil.ignore_patterns(f".*{UNFINISHED}", "damaged-*", "past")


class Claimant(msgspec.Struct, frozen=True):
    """Who made a claim: the generation and member of a consumer group, the machine, and the process."""

    generation: int
    member: str
    machine: str
    pid: int


class PartitionClaim:
    """The right to write the views of one partition, until anybody makes a later claim.

    `build` is written by this claim alone, and read once it `is_served`. Raises `Fenced` after a later claim.
    """

    def __init__(self, folder: Path, partition: int, number: int) -> None:
        self._folder, self.partition, self.number = folder, partition, number
        self._path = folder / claim_name(partition, number)
        self.build, self.is_served = Build(unfinished_beside(self._path)), False
        self.epoch_lock = claim_lock(folder, self._path.name)

    def is_fenced(self) -> bool:
        """Return whether a later claim exists."""
        return newest_claim(self._folder, self.partition) != self.number

    def check(self) -> None:
        """Raise `Fenced` if a later claim exists."""
        if self.is_fenced():
            raise Fenced(f"The views of partition {self.partition} are claimed by another process.")

    def adopt(self) -> None:
        """Copy the newest complete build as of one moment; do nothing without a build."""
        for _ in range(ADOPT_TRIES):
            served = SharedBuild(self._folder)
            if self.partition not in served.claims:
                return
            source = served.of(self.partition).path
            before = _files(source)
            with suppress(OSError, shutil.Error):  # Its writer has deleted a file meanwhile.
                shutil.copytree(source, self.build.path, copy_function=_link, ignore=_NOT_ADOPTED)
                if _files(source) == before:
                    return
            self.discard()
            self.check()
            time.sleep(POLL_S)

    def serve(self) -> None:
        """Let readers open the build, and delete the builds of earlier claims."""
        self.check()
        make_folder(self.build.path)
        self.build.path.rename(self._path)
        self.build, self.is_served = Build(self._path), True
        self.sweep()

    def sweep(self) -> None:
        """Delete what earlier claims and late writers have left, once the build is served."""
        if not self.is_served:
            return
        for path in [*self._folder.iterdir(), *(self._folder / "claims").iterdir()]:
            name = path.name.removeprefix(".").removesuffix(UNFINISHED).removesuffix(".lock")
            found = CLAIM.match(name)
            if found and int(found[1]) == self.partition and int(found[2]) < self.number:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Delete the build."""
        self.build.discard()


def newest_claim(folder: Path, partition: int) -> int:
    """Return the number of the newest claim of a partition, 0 if there is none."""
    found = (CLAIM.match(name) for name in os.listdir(folder / "claims"))
    return max((int(it[2]) for it in found if it and int(it[1]) == partition), default=0)


def make_claim(folder: Path, partition: int, claimant: Claimant) -> PartitionClaim:
    """Claim the views of a partition: every earlier claim is fenced from now on."""
    make_folder(folder / "claims")
    while True:
        number = newest_claim(folder, partition) + 1
        with suppress(FileExistsError):
            path = folder / "claims" / claim_name(partition, number)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(msgspec.json.encode(claimant))
            return PartitionClaim(folder, partition, number)


def owners_of(folder: Path) -> dict[str, tuple[int, ...]]:
    """Return the partitions with served views by who claimed them, as `machine (pid 42)`."""
    found = dict[str, tuple[int, ...]]()
    for partition, number in sorted(SharedBuild(folder).claims.items()):
        if (who := read_json(folder / "claims" / claim_name(partition, number), Claimant)) is not None:
            name = f"{who.machine} (pid {who.pid})"
            found[name] = (*found.get(name, ()), partition)
    return found


class SharedPlace(msgspec.Struct, frozen=True):
    """The log of which a folder has the views, and the folder's own id, wherever machines mount it."""

    log_id: str
    id: str


def join_folder(folder: Path, log_id: str) -> SharedPlace:
    """Return the identity of a folder, which is made for a log at the first call.

    Raises `MemtapeError` for a folder with the views of another log, and for one that cannot be written.
    """
    path, made = folder / "views.json", SharedPlace(log_id, uuid_utils.uuid4().hex[:12])
    unfinished = folder / f".{made.id}{UNFINISHED}"
    try:
        make_folder(folder)
        unfinished.write_bytes(msgspec.json.encode(made))
        with suppress(FileExistsError):
            os.link(unfinished, path)  # Unlike a rename it replaces nothing.
        unfinished.unlink()
    except OSError as error:
        raise MemtapeError(
            f"The folder of shared views {folder} cannot be used: {error.strerror}.",
            "Mount it, or name another by `memtape admin settings --set views=PATH`.",
        ) from None
    found = read_json(path, SharedPlace)
    if found is None or found.log_id != log_id:
        raise MemtapeError(f"The folder {folder} has the views of another log.", "Name an empty folder.")
    return found


def _files(path: Path) -> dict[str, tuple[int, int]]:
    """Return inode and time of each file below a folder, by path."""
    found = {}
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                stat = os.stat(os.path.join(folder, name))
                found[os.path.join(folder, name)] = stat.st_ino, stat.st_mtime_ns
    return found


def _link(source: str, target: str) -> None:
    """Link a file, or copy it on a file system without links."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copy2(source, target)
