"""Views that machines share in a bucket. Each home has a copy of what is served, which its readers open.

    claims/p03-00000007            a claim, as in a folder, made by put-if-absent
    p03-00000007/…                 the files of its build, tables as LanceDB has them
    manifests/p03-00000007.json    which of these belong together: with it the build is served
    damaged/p03-00000007           some reader could not read the build

A copy follows the manifests: files are fetched out of sight, checked by digest, and put in place between two
epochs.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.bucket import CONNECTIONS, Bucket, ObjectMissing
from memtape.sinks.home.bucket_claims import (
    EPOCH_WAIT_S,
    BucketClaim,
    BuildManifest,
    PublishedFile,
    digest_of,
    manifest_name,
    manifest_of,
    newest_manifests,
)
from memtape.sinks.home.builds import CLAIM, SharedBuild, claim_lock, claim_name
from memtape.sinks.home.claims import Claimant, PartitionClaim, SharedPlace, SharedViews, link, newest_of
from memtape.sinks.home.files import (
    FileLock,
    make_folder,
    read_json,
    unfinished_beside,
    write_whole,
)

REFRESH_S = 2.0
"""The age (s) up to which a copy is taken for current, by all processes of a home."""
FETCH_TRIES = 5
"""So often is a manifest read anew whose files have just been replaced."""


class FetchedBuild(msgspec.Struct, frozen=True):
    """What a copy of a build was made from: the manifest and its tag."""

    tag: str
    manifest: BuildManifest


class BucketBuild(SharedBuild):
    """The served builds, whose owners are told of damage on whatever machine they are."""

    def __init__(self, views: BucketViews) -> None:
        super().__init__(views.path)
        self._views = views

    def note_damage(self, partition: int) -> None:
        """See `Build.note_damage`."""
        if partition in self.claims:
            super().note_damage(partition)
            self._views.note_damage(claim_name(partition, self.claims[partition]))


class BucketViews(SharedViews):
    """A place of shared views in a bucket, with its copy in a folder of the home."""

    look_s = 60.0

    def __init__(self, path: Path, url: str) -> None:
        super().__init__(path)
        self._url, self._fresh_until_s = url, 0.0
        self._claims, self._asked_s = list[str](), -REFRESH_S

    def __str__(self) -> str:
        return self._url

    @cached_property
    def bucket(self) -> Bucket:
        """The bucket. A process that finds a fresh copy opens none."""
        return Bucket(self._url)

    def served(self) -> SharedBuild:
        """See `SharedViews.served`; the copy is refreshed where it is not fresh."""
        self.refresh()
        return BucketBuild(self)

    def _first(self, made: SharedPlace) -> SharedPlace | None:
        make_folder(self.path)
        self.bucket.put_new("views.json", msgspec.json.encode(made))
        return msgspec.json.decode(self.bucket.get("views.json"), type=SharedPlace)

    def _make(self, partition: int, number: int, claimant: Claimant) -> PartitionClaim | None:
        name, data = claim_name(partition, number), msgspec.json.encode(claimant)
        self._asked_s = -REFRESH_S
        if not self.bucket.put_new(f"claims/{name}", data):
            return None
        write_whole(self.path / "claims" / name, data)
        return BucketClaim(self, partition, number, bucket=self.bucket, claimant=claimant)

    def newest_claim(self, partition: int) -> int:
        """See `SharedViews.newest_claim`; it may be `REFRESH_S` old."""
        if time.monotonic() >= self._asked_s + REFRESH_S:
            self._claims = [name.removeprefix("claims/") for name in self.bucket.list("claims/")]
            self._asked_s = time.monotonic()
        return newest_of(self._claims, partition)

    def is_damaged(self, name: str, partition: int) -> bool:
        """See `SharedViews.is_damaged`."""
        return super().is_damaged(name, partition) or bool(self.bucket.list(f"damaged/{name}"))

    def note_damage(self, name: str) -> None:
        """Tell the owner of a build that it is damaged, and trust no file of its copy any more."""
        self.bucket.put(f"damaged/{name}", b"")
        if (fetched := _fetched(self.path, name)) is not None:
            self._note(name, FetchedBuild("", BuildManifest(fetched.manifest.claimant)))

    def refresh(self) -> None:
        """Fetch what other machines have served, unless a process of this home has just done it.

        Where the bucket cannot be reached the copy stays as it is: answers tell how far they are behind.
        """
        if time.monotonic() < self._fresh_until_s:
            return
        make_folder(self.path / "manifests")
        make_folder(self.path / "claims")
        stamp = self.path / "fresh"
        wait_s = 0.0 if stamp.exists() else EPOCH_WAIT_S  # The first copy is waited for.
        try:
            with FileLock(self.path / "fetching.lock", "The right to fetch shared views").held(wait_s):
                if not _is_fresh(stamp):
                    self._fetch()
                    stamp.touch()
        except (MemtapeError, OSError):  # An owner in this home sweeps what is fetched.
            if not stamp.exists():
                raise
        self._fresh_until_s = time.monotonic() + REFRESH_S

    def _fetch(self) -> None:
        for partition, (number, tag) in newest_manifests(self.bucket).items():
            name = claim_name(partition, number)
            fetched, is_there = _fetched(self.path, name), (self.path / name).is_dir()
            is_own = is_there and fetched is None
            if not is_own and (not is_there or fetched is None or fetched.tag != tag):
                for _ in range(FETCH_TRIES):
                    with suppress(ObjectMissing):  # The files were replaced, or the claim is swept.
                        self._copy(name, FetchedBuild(tag, manifest_of(self.bucket, name)))
                        break
            self.delete_earlier(partition, number)

    def _copy(self, name: str, wanted: FetchedBuild) -> None:
        """Bring the copy of a build up to its manifest; raise `ObjectMissing` if that is out of date."""
        target, new = self.path / name, unfinished_beside(self.path / name)
        before = _fetched(self.path, name)
        there = before.manifest.files if before is not None and target.is_dir() else {}
        files = wanted.manifest.files
        missing = {path: it for path, it in files.items() if there.get(path) != it}
        shutil.rmtree(new, ignore_errors=True)
        make_folder(new)
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(partial(self._bring, new=new, known=self._known(name)), missing.items()))
        write_whole(self.path / "claims" / name, msgspec.json.encode(wanted.manifest.claimant))
        if not there:
            shutil.rmtree(target, ignore_errors=True)
            self._note(name, wanted)
            new.rename(target)
            return
        with claim_lock(self.path, name).held(EPOCH_WAIT_S):
            for path in missing:
                make_folder((target / path).parent)
                (new / path).replace(target / path)
            for path in there.keys() - files.keys():
                (target / path).unlink(missing_ok=True)
        shutil.rmtree(new, ignore_errors=True)
        self._note(name, wanted)

    def _bring(
        self, wanted: tuple[str, PublishedFile], new: Path, known: dict[tuple[str, str], Path]
    ) -> None:
        """Link a file of an earlier build of the partition, or fetch it. Raises `ObjectMissing`."""
        path, file = wanted
        make_folder((new / path).parent)
        with suppress(KeyError, OSError):
            link(str(known[path, file.digest]), str(new / path))
            return
        data = self.bucket.get(file.object)
        if digest_of(data) != file.digest:
            raise ObjectMissing(f"{file.object} has other bytes than its manifest says.")
        (new / path).write_bytes(data)

    def _known(self, name: str) -> dict[tuple[str, str], Path]:
        """Return the files of the copies of a partition's other builds, by path and digest."""
        known = dict[tuple[str, str], Path]()
        for folder in self.path.glob(f"{name.split('-')[0]}-*"):
            if folder.name != name and (fetched := _fetched(self.path, folder.name)) is not None:
                known |= {(path, it.digest): folder / path for path, it in fetched.manifest.files.items()}
        return known

    def _note(self, name: str, fetched: FetchedBuild) -> None:
        write_whole(self.path / manifest_name(name), msgspec.json.encode(fetched))

    def sweep(self, partition: int) -> None:
        """See `SharedViews.sweep`: every version of the objects goes."""
        number = newest_manifests(self.bucket).get(partition, (0, ""))[0]
        starts = [f"{folder}p{partition:02}-" for folder in ("", "claims/", "manifests/", "damaged/")]
        found = [it for start in starts for it in self.bucket.versions(start)]
        self.bucket.delete([it for it in found if _number(it.name) < number])
        self.delete_earlier(partition, number)

    def copy_all(self, folder: Path, tell: Callable[[int, int], None]) -> Path:
        """See `SharedViews.copy_all`; older versions of objects are below `old/`."""
        paths = dict[str, str]()
        for partition, (number, _) in newest_manifests(self.bucket).items():
            name = claim_name(partition, number)
            files = manifest_of(self.bucket, name).files
            paths |= {file.object: f"{name}/{path}" for path, file in files.items()}
        found = [it for it in self.bucket.versions() if not it.is_marker]
        for done, it in enumerate(found):
            tell(done, len(found))
            path = folder / (paths.get(it.name) or f"old/{done}/{it.name.split('~')[0]}")
            make_folder(path.parent)
            with suppress(ObjectMissing):  # It was swept meanwhile.
                path.write_bytes(self.bucket.get(it.name, it.version))
        return folder


def _fetched(folder: Path, name: str) -> FetchedBuild | None:
    return read_json(folder / manifest_name(name), FetchedBuild)


def _number(name: str) -> int:
    """Return the number of the claim that an object belongs to."""
    claim = next(part for part in name.removesuffix(".json").split("/") if CLAIM.match(part))
    return int(claim.split("-")[1])


def _is_fresh(stamp: Path) -> bool:
    with suppress(FileNotFoundError):
        return time.time() - stamp.stat().st_mtime < REFRESH_S
    return False
