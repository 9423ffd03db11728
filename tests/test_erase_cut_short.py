"""An erasure that is cut short anywhere: the next call finishes and proves it. Without the right nothing is begun."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from test_erase import SCOPE, TEXT, erase, remains

from memtape.schemas.codec import decode
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Erased
from memtape.schemas.log import slots_between
from memtape.sinks import unfinished_erasures
from memtape.sinks.home.folders import Home
from memtape.sinks.home.questions import keep_question, questions_of
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.keep import erasing, scrubbing


class Killed(BaseException):
    """What stands for the end of a process."""


STEPS: tuple[tuple[Any, str], ...] = (
    (EmbeddedLog, "append"),
    (EmbeddedLog, "blank"),
    (erasing, "keep_unfinished"),
    (erasing, "drop_questions"),
    (erasing, "scrub_or_ask"),
    (erasing, "search"),
    (erasing, "drop_unfinished"),
    (scrubbing, "rebuild"),
    (scrubbing, "write_whole"),
    (unfinished_erasures, "write_whole"),
)


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


def test_an_erasure_that_is_cut_short_at_any_step_is_finished_and_proven_by_the_next(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in itertools.count():
        with Client(tmp_path / f"h{place}", scope=SCOPE, actor="Ada", origin="operator") as client:
            id = said_twice(client)
            with monkeypatch.context() as patched:
                killed_at(patched, place)
                try:
                    was_killed = not erase(client, id, everywhere=True).proven
                except Killed:
                    was_killed = True
            if not was_killed:
                break
            again = erase(client, id, everywhere=True)
            finished = not list(client.home.erasures.glob("*"))
            assert finished, place
            # A kill after the last step leaves nothing but the answer to be given again.
            assert again.ok and (again.proven or again.before is None), place
            assert remains(client.home) == [], place
    assert place > 20


def erased_ids(client: Client) -> list[str]:
    log = client.log
    slots = (slot for number in range(log.partitions) for slot in slots_between(log, number, 0, log.ends()[number]))
    bodies = (decode(slot.payload).body for slot in slots)
    return [id for body in bodies if isinstance(body, Erased) for id in body.ids]


def test_nothing_is_begun_without_the_right_to_every_scope_of_the_plan(client: Client) -> None:
    id = said_twice(client)
    with Client(client.home.path, scope=SCOPE, origin="user") as user:
        with pytest.raises(MemtapeError, match=r"Nothing was erased.*global"):
            erase(user, id, everywhere=True)
        assert erased_ids(user) == [] and not client.home.erasures.exists()
        assert user.search("zebrafish").results
    assert erase(client, id, everywhere=True).proven


def test_words_that_living_texts_say_are_named_with_ids_and_nothing_is_gone_for_good(client: Client) -> None:
    id = client.capture("The door code is violetmarmalade.").id
    other = client.capture("Remember violetmarmalade, it opens the door.").id
    needles = erase(client, id).after.needles
    assert needles.shared == {"violetmarmalade": (other,)}
    third = client.capture("The cellar code is violetmarmalade.").id
    said = CliRunner().invoke(main, ["erase", third, "--home", str(client.home.path), "--scope", SCOPE])
    assert "for good" not in said.output.split("Looked for")[1] and f"violetmarmalade  {other}" in said.output
    assert erase(client, other).after.needles.shared == {}


def test_a_kept_question_that_says_what_is_erased_is_dropped_and_others_stay(client: Client) -> None:
    id = said_twice(client)
    keep_question(client.home.path, "fish", "/search?q=zebrafish+quokka")
    keep_question(client.home.path, "whole", "/search?q=The%20codename%20is%20Zebrafish-Quokka")
    keep_question(client.home.path, "port", "/search?q=staging+port")
    assert erase(client, id, everywhere=True).proven
    assert list(questions_of(client.home.path)) == ["port"]


def test_every_file_that_memtape_writes_is_readable_by_its_owner_alone(client: Client) -> None:
    said_twice(client)
    home = Home(client.home.path)
    open_files = [path for path in home.path.rglob("*") if path.is_file() and path.stat().st_mode & 0o077]
    # LanceDB and Bytewax choose the modes of their own files; nobody else can enter the home.
    assert home.path.stat().st_mode & 0o077 == 0
    builds = home.path / "builds"
    assert [path for path in open_files if builds not in path.parents] == []
