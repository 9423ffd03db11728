"""An erasure cut short anywhere: the next call finishes and proves it. Without the right none is begun."""

from __future__ import annotations

import itertools
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import crash
import pytest
from builders import START, captured, forgotten, make_id, recalled
from click.testing import Result
from commanding import call
from met import events_of
from soaked import soaked
from test_erase import SCOPE, TEXT, erase, remains
from test_views import history

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home import unerased
from memtape.sinks.home.folders import Home
from memtape.sinks.home.unerased import commands_that_finish
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.client import Client
from memtape.tools.keep import erasing, rebuild
from memtape.tools.keep.verify import verify


class Killed(BaseException):
    """What stands for the end of a process."""


STEPS: tuple[tuple[Any, str], ...] = (
    *((EmbeddedLog, name) for name in ("append", "blank")),
    *((erasing, name) for name in ("keep_unfinished", "scrub_as_owner", "search", "drop_unfinished")),
    *((rebuild, name) for name in ("switch", "write_whole")), (unerased, "write_whole"),
)  # fmt: skip


def killed_at(monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    """Kill at a place: an even one is before a step, the odd one after it the end of that step."""
    places = itertools.count()

    def broken(step: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            if next(places) == place:
                raise Killed
            result = step(*given, **named)
            if next(places) == place:
                raise Killed
            return result

        return run

    for owner, name in STEPS:
        monkeypatch.setattr(owner, name, broken(getattr(owner, name)))


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path / "home", scope=SCOPE, actor="Ada", origin="operator") as client:
        yield client


def said_twice(client: Client) -> str:
    """Say a canary in the project and, within another text, in `global`."""
    id = client.capture(TEXT).id
    client.capture("The staging database listens on port 5433.")
    client.capture(f"Somebody said so: {TEXT}", scope="global")
    client.project()
    return id


@pytest.mark.parametrize("step", soaked([1, 7], 7))
def test_an_erasure_that_is_cut_short_at_any_step_is_finished_and_proven_by_the_next(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    for place in itertools.count(0, step):
        with Client(tmp_path / f"h{place}", scope=SCOPE, actor="Ada", origin="operator") as client:
            id = said_twice(client)
            with monkeypatch.context() as patched:
                killed_at(patched, place)
                try:
                    was_killed = not erase(client, id, everywhere=True).after.proves
                except Killed:
                    was_killed = True
            if not was_killed:
                break
            again = erase(client, id, everywhere=True)
            finished = not list(client.home.erasures.glob("*"))
            assert finished, place
            # A kill after the last step leaves nothing but the answer to be given again.
            assert again.ok and (again.after.proves or again.before is None), place
            assert remains(client.home) == [], place
    assert place > 20


NOTES, SCRUBS = "memtape.tools.keep.erasing", "memtape.tools.keep.rebuild"
PLANS = "memtape.sinks.home.unerased"
LOG = "memtape.sinks.logs.embedded"
POINTS = (
    ("before", f"{NOTES}:keep_unfinished", 1), ("torn", f"{PLANS}:write_whole", 1),
    ("after", f"{LOG}:EmbeddedLog.append", 1),
    ("before", "memtape.sinks.home.builds:Build.adopt", 8), ("before", "os:link", 20),
    ("after", "memtape.sinks.row_tables:RowTables._write", 1),
    ("after", "memtape.sinks.home.folders:Home.serve", 1),
    ("before", "memtape.tools.keep.rebuild:mend_vault", 1), ("before", "os:unlink", 20),
    ("after", "os:rmdir", 4), ("after", f"{LOG}:blanked", 2), ("before", f"{LOG}:EmbeddedLog._empty_wal", 1),
    ("torn", f"{SCRUBS}:write_whole", 1), ("after", f"{NOTES}:drop_unfinished", 1),
)  # fmt: skip
"""Where an erasure is killed, in the order of its steps: when, at which function, and at which call of it.

Only the last is a kill of which nothing is left to do."""
CANARIES = [make_id(f"canary {number}") for number in range(3)]


def finish(home: Home, *words: str) -> Result:
    return call("erase", *words, home=home.path, code=None)


def test_status_tells_an_erasure_that_is_not_finished_and_what_finishes_it(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, home = said_twice(client), client.home
    assert erase(client, before := client.capture("The old door code is 4711.").id).ok
    assert client.status().erasures == ()
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(erasing, "scrub_as_owner", killed)
        erase(client, id)
    told = f"memtape erase {id} --scope {SCOPE}"
    assert erase(client, before).ok  # Of another text, erased before.
    shown = call("status", home=home.path).output
    assert f"`{told}` finishes it" in shown and "1 erasure not finished" in shown
    kept = home.erasures / f"{id}.json"
    whole = kept.read_bytes()
    kept.write_bytes(whole[:20])
    assert client.status().erasures == (f"memtape erase {id}",)
    kept.write_bytes(whole)
    assert "was cut short" in finish(home, *told.split()[2:]).output
    assert client.status().erasures == ()


def killed(*_: object) -> None:
    raise Killed


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the canary in captures, a query and another scope, of which the views are made."""
    home = Home(tmp_path_factory.mktemp("planted") / "home")
    log = EmbeddedLog(home.log_path)
    log.append(history(60, seed=1))
    log.append([captured(TEXT + "!" * it, f"canary {it}", scope=SCOPE, sent=START) for it in range(3)])
    log.append([recalled(["canary 0"], "r", "zebrafish", scope=SCOPE)])
    log.append([forgotten(["canary 0"], "f", scope=SCOPE)])
    log.append([captured(f"Somebody said so: {TEXT}", "other", scope="project:b", sent=START)])
    log.append(history(40, seed=2))
    crash.project(home, log)
    log.close()
    return home.path


@pytest.mark.slow
@pytest.mark.parametrize("point", soaked(range(len(POINTS)), 6))
def test_an_erase_whose_process_is_killed_is_finished_and_proven_by_the_command_that_status_tells(
    planted: Path, tmp_path: Path, point: int
) -> None:
    shutil.copytree(planted, tmp_path / "home")
    home = Home(tmp_path / "home")
    when, target, nth = POINTS[point]
    process = crash.Harness(tmp_path, point).child()
    crash.order(process, home, "erase", target=target, when=when, nth=nth, only="")
    said = process.communicate(timeout=300)[0].decode(errors="replace")
    assert process.returncode == -signal.SIGKILL, said
    told = commands_that_finish(home)
    is_kept = 0 < point < len(POINTS) - 1
    assert [command.split()[:3] for command in told] == [["memtape", "erase", CANARIES[0]]] * is_kept
    done = finish(home, *(told[0].split()[2:] if told else [*CANARIES, "--scope", SCOPE]), "--everywhere")
    is_last = point == len(POINTS) - 1
    told_so = "Not proven" if is_last else "Erased for good"
    assert done.exit_code == is_last and told_so in done.output, done.output
    assert ("was cut short" in done.output) is (1 < point < len(POINTS) - 1)
    assert remains(home) == [] and commands_that_finish(home) == []
    with Client(home.path) as client:
        assert verify(home, client.log).ok


def test_nothing_is_begun_without_the_right_to_every_scope_of_the_plan(client: Client) -> None:
    id = said_twice(client)
    with Client(client.home.path, scope=SCOPE, origin="user") as user:
        with pytest.raises(MemtapeError, match=r"Nothing was erased.*global"):
            erase(user, id, everywhere=True)
        assert "erased" not in [event.type for event in events_of(user.log)]
        assert not client.home.erasures.exists()
        assert user.search("zebrafish").results
    assert erase(client, id, everywhere=True).after.proves


def test_words_that_living_texts_say_are_named_with_ids_and_nothing_is_gone_for_good(client: Client) -> None:
    id = client.capture("The door code is violetmarmalade.").id
    other = client.capture("Remember violetmarmalade, it opens the door.").id
    needles = erase(client, id).after.needles
    assert needles.shared == {"violetmarmalade": (other,)}
    third = client.capture("The cellar code is violetmarmalade.").id
    dry = call("erase", third, "--dry-run", home=client.home.path, scope=SCOPE)
    assert "Not gone for good" in dry.output and f"violetmarmalade  {other[-8:]}" in dry.output
    said = call("erase", third, home=client.home.path, scope=SCOPE, code=None)
    assert "Erased for good" not in said.output and f"violetmarmalade  {other[-8:]}" in said.output
    assert "Not gone for good" in said.output and "Erase those texts too" in said.output
    assert erase(client, other).after.needles.shared == {}
