"""Commits keep a project awake: each repository is asked once a day, and told of where somebody went on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_archiving import PORT, days_pass

from memtape.flows.workers.clock import Commits
from memtape.schemas.codec import decode
from memtape.schemas.events import ScopeChanged
from memtape.schemas.log import backwards
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US, HOUR_US, US_PER_S
from memtape.sinks.home.marks import CommitMarks
from memtape.tools.capture.project import repositories_of
from memtape.tools.capture.repository import last_commit
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client

NOW = now_us() // US_PER_S * US_PER_S


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Client]:
    """A client in a repository with one commit, ten days ago."""
    folder = tmp_path / "shop"
    folder.mkdir()
    subprocess.run(["git", "-C", str(folder), "init", "-q"], check=True)
    commit(folder, NOW - 10 * DAY_US)
    with Client(home, folder=folder, origin="user") as client:
        client.capture(PORT)
        yield client


def commit(folder: Path, at: int, branch: str = "") -> None:
    when = f"{at // US_PER_S} +0000"
    names = {f"GIT_{who}_{what}": "ada@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    if branch:
        subprocess.run(["git", "-C", str(folder), "checkout", "-qb", branch], check=True)
    subprocess.run(
        ["git", "-C", str(folder), "commit", "-q", "--allow-empty", "-m", "Ship"],
        check=True, env={**os.environ, **names, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when},
    )  # fmt: skip


class Looking:
    """A worker of a home at a time that the test moves, which counts how often a repository was asked."""

    def __init__(self, client: Client, silent: bool = False) -> None:
        self.now, self.asked = NOW, 0
        self.folders = {held.scope: it for it, held in repositories_of(client.home).items()}
        self.worker = Commits(
            client.log, CommitMarks(client.home, client.log.log_id), lambda: {} if silent else self.folders, self.ask,
            lambda: self.now, print,
        )  # fmt: skip

    def ask(self, folder: str) -> int | None:
        self.asked += 1
        return last_commit(folder)

    def later(self, us: int) -> int:
        """Let time pass and the worker catch up; return how much it has told so far."""
        self.now += us
        self.worker.catch_up()
        return self.worker.done


def told(client: Client) -> list[int | None]:
    slots = backwards(client.log, partition_of(client.scope, client.log.partitions), client.scope, ("scope_changed",))
    bodies = [decode(slot.payload).body for slot in slots]
    return [body.git_at for body in bodies if isinstance(body, ScopeChanged)][::-1]


def folder_of(client: Client) -> Path:
    assert client._folder is not None
    return client._folder


def test_the_last_commit_of_any_branch_is_told_once_a_day_and_only_where_it_is_news(shop: Client) -> None:
    looking, folder = Looking(shop), folder_of(shop)
    assert looking.later(0) == 1 and told(shop) == [NOW - 10 * DAY_US]
    commit(folder, NOW - 3 * DAY_US, "elsewhere")
    assert looking.later(HOUR_US) == 1 and looking.asked == 1, "it is asked once a day"
    assert looking.later(DAY_US) == 2 and told(shop)[-1] == NOW - 3 * DAY_US
    commit(folder, NOW - 3 * DAY_US + 5 * HOUR_US)
    assert looking.later(2 * DAY_US) == 2 and looking.asked == 3, "some hours later is no news"


def test_whoever_looks_again_from_nothing_says_nothing_twice(shop: Client) -> None:
    assert Looking(shop).later(0) == 1
    again = Looking(shop)
    assert again.later(0) == 0 and again.asked == 0
    shop.home.commits_path.write_bytes(b"damaged")
    lost = Looking(shop)
    assert lost.later(0) == 0 and lost.asked == 1 and len(told(shop)) == 1


def test_what_is_unknown_paused_gone_or_of_the_future_is_left_alone(shop: Client, tmp_path: Path) -> None:
    paused = Looking(shop, silent=True)
    assert paused.later(0) == 0 and paused.asked == 0
    nowhere = Looking(shop)
    nowhere.folders = {}
    assert nowhere.later(0) == 0 and not shop.home.commits_path.exists(), "it costs nothing where nothing is known"
    gone = Looking(shop)
    gone.folders = {shop.scope: str(tmp_path / "gone"), "project:never-spoken-in": str(folder_of(shop))}
    assert gone.later(0) == 0 and gone.asked == 1
    commit(folder_of(shop), NOW + 9 * DAY_US)
    future = Looking(shop)
    assert future.later(2 * DAY_US) == 0 and future.asked == 1 and told(shop) == []


def test_a_commit_wakes_a_project_that_was_dormant(shop: Client) -> None:
    days_pass(shop, 91, shop.scope)
    assert shop.archived().projects[shop.scope].state == "dormant"
    commit(folder_of(shop), NOW + 92 * DAY_US)
    looking = Looking(shop)
    days_pass(shop, 93, shop.scope)
    assert looking.later(93 * DAY_US) == 1
    shop.project()
    assert shop.archived().projects == {}
