"""The folders of a home: where each thing lies. Only this file spells their names."""

from __future__ import annotations

import os
from pathlib import Path

from recollect.schemas.errors import RecollectError
from recollect.schemas.scopes import project_name
from recollect.sinks.locks import FileLock


class Home:
    """A data folder, readable by its owner alone (0700). It is made when it is first opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if path.stat().st_uid == os.getuid() and path.stat().st_mode & 0o077:
                path.chmod(0o700)
        except OSError as error:
            raise RecollectError(
                f"The home {path} cannot be used: {error.strerror}.",
                "Choose another with --home or RECOLLECT_HOME.",
            ) from error

    @property
    def log_path(self) -> Path:
        """The embedded log."""
        return self.path / "log.db"

    @property
    def vault(self) -> Path:
        """The root of the Markdown vault."""
        return self.path / "vault"

    @property
    def folders_path(self) -> Path:
        """Which folders outside git have which scope."""
        return self.path / "folders.json"

    @property
    def settings_path(self) -> Path:
        """What this machine prefers."""
        return self.path / "settings.toml"

    def scope_folder(self, scope: str) -> Path:
        """The Markdown of one scope."""
        name = project_name(scope)
        return self.vault / "global" if name is None else self.vault / "projects" / name

    def build(self) -> Path:
        """The build that is being served, as `current` names it; the first is made when there is none."""
        pointer = self.path / "current"
        try:
            number = pointer.read_text().strip()
        except FileNotFoundError:
            number = "1"
            self._point(pointer, number)
        if not number.isdigit():
            raise RecollectError(
                f"{pointer} does not name a build.", f"Delete it together with {self.path / 'builds'}."
            )
        return self.path / "builds" / number

    def shard(self, partition: int) -> Path:
        """The LanceDB folder of one partition in the build that is being served."""
        return self.build() / "lance" / f"p{partition:02}"

    def projector_lock(self) -> FileLock:
        """Held for life by the one process that writes the views."""
        return FileLock(self.path / "projector.lock", "The right to project this home")

    def epoch_lock(self) -> FileLock:
        """Held from an epoch's first write to its watermark, so that who takes it reads whole epochs."""
        return FileLock(self.path / "epoch.lock", "The views of this home")

    def _point(self, pointer: Path, number: str) -> None:
        temporary = pointer.with_name(f".current.{os.getpid()}")
        temporary.write_text(number + "\n")
        temporary.replace(pointer)
