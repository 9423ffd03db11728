"""Claims on the views of partitions in a bucket: an owner publishes its build as it is between two epochs.

New files are stored first, then the manifest that names them. A name that has had other bytes before is
stored with a number (`watermark.json~12`), so that no manifest names an object that changes.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path

import msgspec

from memtape.sinks.home.bucket import CONNECTIONS, NO_VERSION, Bucket, ObjectMissing, ObjectVersion
from memtape.sinks.home.builds import CLAIM, Build, claim_name
from memtape.sinks.home.claims import NOT_SHARED, Claimant, PartitionClaim, SharedViews, files_of, link
from memtape.sinks.home.files import UNFINISHED
from memtape.sinks.tables import served_versions

EPOCH_WAIT_S = 60.0
"""The wait (s) for the end of an epoch."""
KEPT_S = 60.0
"""Objects that a manifest no longer names stay so long (s), for slow readers."""
MOST_VERSIONS = 2**64 - 1
_VERSION = re.compile(r"/(\w+)\.lance/_versions/(\d{20})\.manifest\Z", re.ASCII)
"""The file of a version of a LanceDB table, named by `MOST_VERSIONS` less the version."""
_UNNEEDED = re.compile(r"/_transactions/|/latest_version_hint\.json\Z")


class PublishedFile(msgspec.Struct, frozen=True):
    """A file of a build: the object with its bytes, and their digest."""

    object: str
    digest: str


class BuildManifest(msgspec.Struct, frozen=True):
    """The files of a build by path, in the order in which they are put in place, and who made its claim."""

    claimant: Claimant
    files: dict[str, PublishedFile] = {}


class BucketClaim(PartitionClaim):
    """The right to publish the views of one partition, until anybody makes a later claim."""

    def __init__(
        self, place: SharedViews, partition: int, number: int, *, bucket: Bucket, claimant: Claimant
    ) -> None:
        super().__init__(place, partition, number)
        self._bucket, self._claimant = bucket, claimant
        self._seen: dict[str, tuple[int, int]] = {}
        self._files: dict[str, PublishedFile] = {}
        self._versions: dict[str, str] = {}
        self._numbers = itertools.count(1)
        self._dropped: list[tuple[float, ObjectVersion]] = []

    def publish(self) -> None:
        """Publish the build as it is between two epochs, if it has changed. Raises `Fenced`."""
        folder, staged = self.build.path, self._place.path / f".{self.name}.out{UNFINISHED}"
        shutil.rmtree(staged, ignore_errors=True)
        try:
            with self.epoch_lock.held(EPOCH_WAIT_S):
                seen = {os.path.relpath(path, folder): it for path, it in files_of(folder).items()}
                if seen == self._seen:
                    return
                shutil.copytree(folder, staged, copy_function=link, ignore=NOT_SHARED)
            versions = served_versions(Build(staged).shard(self.partition))
            paths = _needed((os.path.relpath(path, staged) for path in files_of(staged)), versions)
            # A snapshot may have come since `seen`.
            changed = [it for it in paths if it not in self._files or seen.get(it) != self._seen.get(it)]
            with ThreadPoolExecutor(CONNECTIONS) as pool:
                store = partial(self._store, staged=staged, before=self._files or self._earlier())
                stored = dict(zip(changed, pool.map(store, changed), strict=True))
            self._serve({path: stored[path] if path in stored else self._files[path] for path in paths})
            self._seen = seen
        except (OSError, shutil.Error):  # Old files of a table were deleted meanwhile; the next time does it.
            if not self._files:
                raise
        finally:
            shutil.rmtree(staged, ignore_errors=True)

    def _earlier(self) -> dict[str, PublishedFile]:
        """Return the files of the partition's newest manifest."""
        number = newest_manifests(self._bucket).get(self.partition, (0, ""))[0]
        with suppress(ObjectMissing):
            return manifest_of(self._bucket, claim_name(self.partition, number)).files
        return {}

    def _store(self, path: str, staged: Path, before: dict[str, PublishedFile]) -> PublishedFile:
        """Store a file as an object, by a copy inside the bucket where an earlier build has it too."""
        data, known = (staged / path).read_bytes(), before.get(path)
        digest, name = digest_of(data), f"{self.name}/{path}"
        if known is not None and known.digest == digest and known.object in self._versions:
            return known
        if name in self._versions:
            name += f"~{next(self._numbers)}"
        if known is not None and known.digest == digest:
            with suppress(ObjectMissing):
                self._versions[name] = self._bucket.copy(known.object, name)
                return PublishedFile(name, digest)
        self._versions[name] = self._bucket.put(name, data)
        return PublishedFile(name, digest)

    def _serve(self, files: dict[str, PublishedFile]) -> None:
        """Let the manifest name these files, and delete the objects that it has not named for long."""
        self.check()
        name, now = manifest_name(self.name), time.monotonic()
        replaced = self._versions.get(name, NO_VERSION)
        self._versions[name] = self._bucket.put(
            name, msgspec.json.encode(BuildManifest(self._claimant, files))
        )
        if replaced != NO_VERSION:
            self._dropped.append((now, ObjectVersion(name, replaced)))
        gone = {it.object for it in self._files.values()} - {it.object for it in files.values()}
        self._dropped += [(now, ObjectVersion(it, self._versions[it])) for it in sorted(gone)]
        self._files = files
        due = [it for dropped_s, it in self._dropped if dropped_s < now - KEPT_S]
        self._bucket.delete(due)
        del self._dropped[: len(due)]


def manifest_name(claim: str) -> str:
    """Return the name of the manifest of a claim."""
    return f"manifests/{claim}.json"


def manifest_of(bucket: Bucket, claim: str) -> BuildManifest:
    """Return the manifest of a claim; raise `ObjectMissing`."""
    return msgspec.json.decode(bucket.get(manifest_name(claim)), type=BuildManifest)


def newest_manifests(bucket: Bucket) -> dict[int, tuple[int, str]]:
    """Return the number of the newest claim with a manifest, and the manifest's tag, by partition."""
    newest = {}
    for name, tag in sorted(bucket.list("manifests/").items()):
        if found := CLAIM.match(name.removeprefix("manifests/").removesuffix(".json")):
            newest[int(found[1])] = int(found[2]), tag
    return newest


def digest_of(data: bytes) -> str:
    """Return the digest of a file, as manifests have it."""
    return blake2b(data, digest_size=16).hexdigest()


def _needed(paths: Iterable[str], versions: dict[str, int]) -> list[str]:
    """Return the files of a build that readers need: of each table the served version alone.

    Files stand before those that name them: data, versions of tables, manifests, and the watermark.
    """
    needed = list[str]()
    for path in paths:
        found = _VERSION.search(path)
        is_old = found is not None and versions.get(found[1]) != MOST_VERSIONS - int(found[2])
        if not is_old and not _UNNEEDED.search(path):
            needed.append(path)
    return sorted(needed, key=lambda path: (("/_versions/" in path) + 2 * path.endswith(".json"), path))
