"""Whatever a walk leaves in a home, its owner alone can read: files of 0600, in folders of 0700."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_served import served

from memtape.flows import projection
from memtape.tools.client import Client
from memtape.tools.keep import erasing
from memtape.tools.keep.owner import Owner

SCOPE = "project:a"
LEFT = ("log.db", "log.db-wal", "log.db-shm", "erasures/", ".snapshot", "/index/", "MEMORY.md",
        "as-of/", ".memtape/", "statements.json")  # fmt: skip


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def is_of_a_library(path: Path) -> bool:
    """Whether LanceDB has made it, which chooses modes by itself, in a folder of ours."""
    return any(part.suffix == ".lance" for part in (path, *path.parents))


def test_every_file_of_a_walk_is_readable_by_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "SNAPSHOT_EVENTS", 1)
    home = tmp_path / "home"
    with Client(home, scope=SCOPE, actor="Ada", origin="user") as client:
        first = client.capture("The staging database listens on port 5433.").id
        client.capture("The cellar door is blue.")
        with Owner(client.home, client.log) as owner:
            owner.project()
        client.search("staging port")
        client.status(as_of="0s")
        with served(home, SCOPE) as page:
            assert page.act("pin", [first], scope=SCOPE).status_code == 200
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(erasing, "scrub_as_owner", interrupted)
            client.erase(erasing.plan(client.home, client.log, SCOPE, [first], only=False))
        left = [path for path in home.rglob("*") if not is_of_a_library(path)]
        modes = {str(path.relative_to(home)): path.stat().st_mode & 0o777 for path in left}
        assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}
        assert home.stat().st_mode & 0o777 == 0o700
        missing = [name for name in LEFT if not any(name in path for path in modes)]
        assert missing == [], sorted(modes)


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt
