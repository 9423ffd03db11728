"""The folders of a home: where each thing lies, and its locks. Only this file spells their names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memtape.schemas.errors import MemtapeError
from memtape.schemas.patterns import lazy
from memtape.schemas.scopes import GLOBAL, PROJECT_PREFIX
from memtape.sinks.home.builds import Build
from memtape.sinks.home.files import UNFINISHED, FileLock, all_of, is_read_only, write_whole

if TYPE_CHECKING:
    from memtape.sinks.home.claims import SharedViews

HOME_VARIABLE = "MEMTAPE_HOME"
_NOWHERE = Path("/proc/self/memtape-nowhere")
"""A path where not even the superuser can make a folder. Without `/proc` only the superuser can."""
_KIND = lazy(
    r"(?P<log>log\.db)[^/]*\Z|(?P<pages>vault)/|(?P<past>as-of)/|builds/[^/]+/"
    r"(?:(?P<snapshots>state)/|lance/[^/]+/(?P<index>index)/|(?P<tables>lance)/)"
)
"""The kind of a file by its path in the home; any other is of the kind `rest`."""
KINDS = ("log", "tables", "index", "snapshots", "pages", "past", "rest")


LOCKS = {
    "consolidation": "The right to consolidate memories",
    "folders": "The list of folders",
    "hook-server": "The right to answer hooks",
    "late-session": "The right to do the rest after a session",
    "late-turn": "The right to do the rest after a turn",
    "imports": "The right to import into this home",
    "model-use": "The count of what models are asked",
    "pauses": "The right to pause and resume",
    "projector": "The right to project this home",
    "spool": "The spool",
    "spool-delivery": "The delivery of the spool",
    "turn": "The right to project this home next",
    "windows": "The right to ask a model about talk",
}
"""What is held by each lock of a home. Those to project and to answer hooks are held until a process ends. An
importer holds the right from finding new events to appending them, so that none is added twice. So with a
pass of consolidation and with questions to a model: no two processes decide, or ask, about the same.
"""


class Home:
    """A data folder, readable by its owner alone (0700), made when first opened unless `make` is false.

    `is_nowhere`: whether nothing can be made in it. `is_read_only`: whether the folder is there and cannot be
    written, as on a read-only disk: it can be asked, and nothing is stored.

    `log_path`: the embedded log. `spool_path`: captures that wait for a broker. `vault`: the root of the
    Markdown. `vault_notes`: lists of written pages, and their offsets. `erasures`: plans of erasures cut
    short. `as_of`: views of past positions. `embedding_path`, `statements_path`, `shadows_path`: below which
    offsets no text waits for a vector, no turn for its statements, and no search for a shadow retriever.
    `windows_path`: windows of late talk that a model was asked about. `model_use_path`: how often models were
    asked, and how that went. `daily_path`: what was done within a day. `known_ids`: ids of a
    log on Kafka. `folders_path`: scopes of folders outside git.
    `imports_path`, `zones`: how far imported files and people's zones have been read. `settings_path`: the
    machine's settings. `redaction_key_path`: the key of the placeholders of secrets. `met_secrets_path`:
    keyed digests of secrets that were met.
    """

    LOG_NAME = "log.db"

    def __init__(self, path: Path, *, make: bool = True) -> None:
        self.path = path
        self.is_nowhere = path == _NOWHERE
        self.log_path = path / self.LOG_NAME
        self.spool_path = path / "spool.jsonl"
        self.vault = path / "vault"
        self.vault_notes = self.vault / ".memtape"
        self.erasures = path / "erasures"
        self.as_of = path / "as-of"
        self.embedding_path = path / "embedding.json"
        self.statements_path = path / "statements.json"
        self.shadows_path = path / "shadows.json"
        self.windows_path = path / "windows.json"
        self.model_use_path = path / "model-use.json"
        self.daily_path = path / "daily.json"
        self.known_ids = path / "known-ids"
        self.folders_path = path / "folders.json"
        self.imports_path = path / "imports.json"
        self.zones = path / "zones"
        self.settings_path = path / "settings.toml"
        self.redaction_key_path = path / "redaction.key"
        self.met_secrets_path = path / "redaction.met"
        if not make:
            return
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            is_open = path.stat().st_uid == os.getuid() and path.stat().st_mode & 0o077
            if is_open and not self.is_read_only:
                path.chmod(0o700)
        except OSError as error:
            raise MemtapeError(
                f"The home {path} cannot be used: {error.strerror}.",
                "Choose another with --home or MEMTAPE_HOME.",
            ) from error

    @cached_property
    def is_read_only(self) -> bool:
        """See the class."""
        return is_read_only(self.path)

    @classmethod
    def nowhere(cls) -> Home:
        """Return a home at an impossible path: readers find nothing, and the system refuses writers."""
        return cls(_NOWHERE, make=False)

    def scope_folder(self, scope: str) -> Path:
        """The Markdown of one scope."""
        name = scope.removeprefix(PROJECT_PREFIX)
        return self.vault / GLOBAL if scope == GLOBAL else self.vault / "projects" / name

    @cached_property
    def shared(self) -> SharedViews | None:
        """The place in which machines share the views of a topic, None for views of its own."""
        import msgspec

        try:
            place = msgspec.toml.decode(self.settings_path.read_bytes()).get("views")
        except (OSError, ValueError, msgspec.MsgspecError):
            return None  # Whoever reads all settings says what is wrong.
        if not isinstance(place, str):
            return None
        if place.startswith("s3://"):
            from memtape.sinks.home.bucket_views import BucketViews

            return BucketViews(self.path / "shared", place)
        from memtape.sinks.home.claims import SharedViews

        return SharedViews(self.path / place)

    def current(self) -> Build:
        """Return the served build, named by the link `current`; the first build without a link.

        It is a `SharedBuild` where machines share their views.
        """
        if self.shared is not None:
            return self.shared.served()
        pointer = self.path / "current"
        try:
            number = pointer.read_text().strip()
        except FileNotFoundError:
            number = "1"
        if not number.isdigit():
            raise MemtapeError(f"{pointer} names no build.", f"Delete it and {self.path / 'builds'}.")
        return self.build(int(number))

    def build(self, number: int) -> Build:
        """Return the build with a number, existing or not."""
        return Build(self.path / "builds" / str(number))

    def builds(self) -> list[Build]:
        """Return the existing builds, oldest first."""
        folder = self.path / "builds"
        found = (path for path in folder.iterdir() if path.name.isdigit()) if folder.is_dir() else ()
        return sorted((Build(path) for path in found), key=lambda build: build.number)

    def serve(self, build: Build) -> None:
        """Make `current` name a build, in one step."""
        write_whole(self.path / "current", f"{build.number}\n".encode(), durable=True)

    def remove_unfinished(self) -> None:
        """Remove the unfinished files of killed projectors; the caller holds the projector's lock."""
        from shutil import rmtree

        # The rest of the vault is people's as well.
        folders = (self.known_ids, self.zones, self.vault_notes, self.path / "builds")
        found = [path for folder in folders for path in folder.rglob(f".*{UNFINISHED}")]
        for path in (*self.path.glob(f".current{UNFINISHED}"), *found):
            if path.is_dir():
                rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def lock(self, name: str) -> FileLock:
        """Return a lock of `LOCKS`."""
        return FileLock(self.path / f"{name}.lock", LOCKS[name])

    def start_lock(self, what: str) -> FileLock:
        """The lock of a background process, from before its start to its end: one process of each kind."""
        return FileLock(self.path / f"{what}-start.lock", f"The right to start a {what}")

    def as_of_lock(self) -> FileLock:
        """Held while a view of the past is made or taken away."""
        return self._epochs_lock("as-of", "The right to name a view of the past")

    def epoch_lock(self, partition: int) -> FileLock:
        """The lock of an epoch, from its first write to its watermark. A reader with it sees whole epochs."""
        if self.shared is not None:
            return self.shared.served().epoch_lock(partition)
        return self._epochs_lock(f"p{partition:02}", f"The right to the views of partition {partition}")

    def lease(self, partition: int) -> FileLock:
        """The lock of a process that projects a partition for the owner, held until the process ends."""
        return self._epochs_lock(f"lease-p{partition:02}", f"The lease of partition {partition}")

    def _epochs_lock(self, name: str, what: str) -> FileLock:
        folder = self.path / "epochs"
        folder.mkdir(mode=0o700, exist_ok=True)
        return FileLock(folder / f"{name}.lock", what)

    def leases(self) -> list[FileLock]:
        """Return the locks of all leases that were ever given."""
        return [FileLock(path, "A lease") for path in sorted((self.path / "epochs").glob("lease-*.lock"))]

    def epoch_locks(self, partitions: Iterable[int], wait_s: float) -> AbstractContextManager[None]:
        """Hold the locks of partitions, waiting up to `wait_s` for each; raises `Locked`.

        Nothing writes, and nothing is held, in a read-only home.
        """
        if self.is_read_only:
            return nullcontext()
        return all_of([self.epoch_lock(number) for number in sorted(partitions)], wait_s)


def default_home() -> Path:
    """Return `$MEMTAPE_HOME`, or the user's data folder of this platform."""
    named = os.environ.get(HOME_VARIABLE)
    if named:
        return Path(named)
    from platformdirs import user_data_path

    return user_data_path("memtape", appauthor=False)


def disk_of(home: Home) -> dict[str, int]:
    """Return the bytes of each kind that there is, in the order of `KINDS`; a file that vanishes has none."""
    if home.is_nowhere:
        return {}
    found = dict.fromkeys(KINDS, 0)
    for folder, _, names in os.walk(home.path):
        for path in (Path(folder, name) for name in names):
            kind = _KIND.match(path.relative_to(home.path).as_posix())
            with suppress(OSError):
                found[kind.lastgroup if kind and kind.lastgroup else "rest"] += path.lstat().st_size
    return {kind: size for kind, size in found.items() if size}
