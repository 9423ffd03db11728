"""What people say of a project as a whole, how its texts age, and that commits keep it awake."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from commanding import call as command
from commanding import document as document_of
from met import events_of
from test_archiving import PORT, SCOPE, client, days_pass, document, life, memtape, refused, run

from memtape.flows.workers.clock import Commits
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import ScopeChanged
from memtape.schemas.log import settings_on
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US, HOUR_US, US_PER_S
from memtape.sinks.home.marks import DailyMarks
from memtape.tools.capture.project import repositories_of
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.doors.mcp import call
from memtape.tools.keep.log_settings import KEYS
from memtape.tools.keep.workers import last_commit

__all__ = ["client"]


@pytest.fixture
def busy(client: Client) -> Iterator[Client]:
    """A project with a fact, a turn and a goal."""
    client.capture(PORT)
    client.capture("Good morning, harbour.", "turn")
    client.capture("Ship in November.", "goal")
    yield client


def test_a_project_that_is_finished_is_archived_as_a_whole_until_it_goes_on(busy: Client) -> None:
    first = busy.recent(9, kinds=["turn"]).results[0].id
    done = run(busy, "project", "finish", "--yes").output
    assert "project:test is finished. Archived with it: 3 texts." in done and "project finish --undo" in done
    assert life(busy).project.state == "finished"
    assert "This project is finished since" in run(busy, "context").output
    assert "1 project finished" in command("status", home=busy.home.path).output
    assert document(busy, "archive", "--list")["projects"][SCOPE]["state"] == "finished"
    assert "Finished on" in run(busy, "archive", "--list").output
    assert "project finish --undo" in refused(busy, "archive", "--undo", first)
    assert "was finished on" in refused(busy, "project", "finish", "--yes")
    said = run(busy, "project", "finish", "--undo").output
    assert "project:test goes on. Found again: 3 texts." in said and life(busy).project.state == "active"
    assert "is finished" not in run(busy, "context").output
    assert "is active" in refused(busy, "project", "finish", "--undo")
    assert busy.verify().ok


def test_only_people_say_so_and_of_what_there_is(busy: Client, home: Path) -> None:
    with Client(home, scope=SCOPE, origin="agent") as agent:
        for ask in (agent.finish, agent.resume):
            with pytest.raises(MemtapeError, match="Only people"):
                ask()
        with pytest.raises(MemtapeError, match="Only people"):
            agent.rename("Mine")
        busy.finish()
        busy.project()
        assert "This project is finished since" in call(agent, "get_context", {})
        busy.resume()
    with Client(home, scope="project:nothing", origin="user") as nothing:
        for ask in (nothing.finish, nothing.resume, nothing.project_state):
            with pytest.raises(MemtapeError, match="holds nothing yet"):
                ask()
    with Client(home, scope="global", origin="operator") as everywhere:
        everywhere.capture("Use tabs.")
        with pytest.raises(MemtapeError, match="is no project"):
            everywhere.finish()
    assert life(busy).project.state == "active"


@pytest.mark.parametrize(("name", "kept"), [("The  old\nlights ", "The old lights"), ("x" * 200, "x" * 200)])
def test_a_project_has_a_name_for_people(busy: Client, name: str, kept: str) -> None:
    run(busy, "project", "name", name)
    assert life(busy).project.name == kept
    busy.project()
    assert kept[:70] in command("project", "list", home=busy.home.path).output
    assert document(busy, "project", "scope")["mark"]["name"] == kept
    for wrong in (" ", "y" * 201):
        assert "takes 1 to 200" in refused(busy, "project", "name", wrong)
    run(busy, "project", "name", "password = Harbour-4417")
    assert "Harbour" not in life(busy).project.name


def test_all_projects_of_the_home_are_listed(busy: Client, home: Path, tmp_path: Path) -> None:
    plain, repository = tmp_path / "plain", tmp_path / "shop"
    for folder in (plain, repository):
        folder.mkdir()
    subprocess.run(["git", "-C", str(repository), "init", "-q"], check=True)
    for folder in (plain, repository):
        with Client(home, folder=folder, origin="user") as there:
            there.capture(f"{folder.name} has a roof.")
            there.made_scope()
    busy.project()
    with Client(home, folder=repository, origin="user") as there:
        there.finish()
        there.project()
    listed = document_of("project", "list", home=home)["projects"]
    found = {it["folder"] and Path(it["folder"]).name: it for it in listed}
    assert found.keys() == {None, "plain", "shop"}
    assert found[None]["scope"] == SCOPE and (found[None]["memories"], found[None]["turns"]) == (2, 1)
    assert found["shop"]["mark"]["state"] == "finished"
    assert found["shop"]["last_at"] >= found["plain"]["last_at"]
    assert listed[0] == found["shop"], "the one in which something happened last stands first"
    assert "finished since" in command("project", "list", home=busy.home.path).output
    assert SCOPE in run(busy, "project", "scope").output
    with Client(busy.home.path, scope="project:dock") as there:
        there.capture("The dock has a crane.")
    assert "project:dock" in command("project", "list", home=busy.home.path).output


def test_lifecycle_counts_what_there_is_and_a_dry_run_puts_nothing_on_the_log(busy: Client) -> None:
    for n in range(3):
        busy.capture(f"Boat {n} is red.", "turn")
    before = busy.log.ends()
    found = document(busy, "admin", "lifecycle", "--dry-run")
    told = run(busy, "admin", "lifecycle", "--dry-run").output
    assert busy.log.ends() == before
    here, would = found["standing"], found["pass"]
    tiers = [here[name] for name in ("short", "mid", "long", "archived", "purged")]
    assert sum(tiers) + sum(here["apart"].values()) == here["total"] == 6 and here["apart"] == {"goal": 1}
    assert would["moving"] == 0 and would["total"] == 6
    assert found["settings"] == {key: getattr(Settings(), key) for key in KEYS}
    assert "of 6 texts" in told and "last tick" in told and "only tried" in told
    assert document(busy, "admin", "lifecycle")["pass"] is None
    nothing = document_of("admin", "lifecycle", home=busy.home.path, scope="project:nothing")
    assert nothing["standing"]["total"] == 0


def test_what_a_dry_run_says_is_what_the_next_tick_does(busy: Client) -> None:
    for n in range(4):
        busy.capture(f"Boat {n} is red.", "turn")
    days_pass(busy, 8)
    would = busy.lifecycle(dry_run=True).pass_
    days_pass(busy, 60)
    after = busy.lifecycle()
    assert would is not None and would.moving == 0 and after.standing.mid == 5
    assert "5 mid, 0 long, 0 archived, 1 summary" in command("status", home=busy.home.path).output


def test_settings_of_the_lifecycle_are_changed_on_the_log_by_people(busy: Client) -> None:
    changes = ("--set", "archive_after_days=-1", "--set", "mid_after_days = 14")
    found = document(busy, "admin", "lifecycle", *changes)["settings"]
    assert (found["archive_after_days"], found["mid_after_days"]) == (-1, 14) and list(found) == list(KEYS)
    assert settings_on(busy.log) == Settings(archive_after_days=-1, mid_after_days=14)
    wrongs = dict.fromkeys("mid_after_days=-3 mid_after_days=many lifecycle=perhaps".split(), "cannot be set")
    for wrong, why in (wrongs | {"embedder=floor": "no setting of the lifecycle"}).items():
        assert why in refused(busy, "admin", "lifecycle", "--set", wrong)
    run(busy, "admin", "lifecycle", "--set", "mid_after_days", code=2)
    by_agent = memtape(busy, *"admin lifecycle --set lifecycle=false --origin agent".split(), code=1)
    assert "Only people" in by_agent.stderr
    run(busy, "admin", "lifecycle", "--set", "lifecycle=False")
    assert "Nothing ages" in run(busy, "admin", "lifecycle").output


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
    who = [f"GIT_{role}_{what}" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
    names = dict.fromkeys(who, "ada@example.com")
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
            client.log, print, DailyMarks(client.home, client.log.log_id).is_due,
            lambda: {} if silent else self.folders, self.ask, lambda: self.now,
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
    said = [event for event in events_of(client.log) if event.scope == client.scope]
    return [event.body.git_at for event in said if isinstance(event.body, ScopeChanged)]


def folder_of(client: Client) -> Path:
    assert client._folder is not None
    return client._folder


def test_the_last_commit_of_any_branch_is_told_once_a_day_and_only_where_it_is_news(shop: Client) -> None:
    looking, folder = Looking(shop), folder_of(shop)
    assert looking.later(0) == 1 and told(shop) == [NOW - 10 * DAY_US]
    morning = NOW // DAY_US * DAY_US - 3 * DAY_US
    commit(folder, morning, "elsewhere")
    assert looking.later(HOUR_US) == 1 and looking.asked == 1, "it is asked once a day"
    assert looking.later(DAY_US) == 2 and told(shop)[-1] == morning
    commit(folder, morning + 5 * HOUR_US)
    assert looking.later(2 * DAY_US) == 2 and looking.asked == 3, "some hours later is no news"


def test_whoever_looks_again_from_nothing_says_nothing_twice(shop: Client) -> None:
    assert Looking(shop).later(0) == 1
    again = Looking(shop)
    assert again.later(0) == 0 and again.asked == 0
    shop.home.daily_path.write_bytes(b"damaged")
    lost = Looking(shop)
    assert lost.later(0) == 0 and lost.asked == 1 and len(told(shop)) == 1


def test_what_is_unknown_paused_gone_or_of_the_future_is_left_alone(shop: Client, tmp_path: Path) -> None:
    paused = Looking(shop, silent=True)
    assert paused.later(0) == 0 and paused.asked == 0
    nowhere = Looking(shop)
    nowhere.folders = {}
    assert nowhere.later(0) == 0 and not shop.home.daily_path.exists(), "it costs nothing"
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
