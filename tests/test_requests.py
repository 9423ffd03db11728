"""What is asked of a running projector: whatever a request raises, its asker is told, and the projector goes on."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from builders import captured

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import Home
from memtape.sinks.home.requests import Requests
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.keep.owner import Owner, rebuild_or_ask
from memtape.tools.keep.verify import verify


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@contextmanager
def serving(home: Home) -> Iterator[list[str]]:
    """A projector that serves in a thread of its own, and what it notes; whatever ends it early fails the test."""
    notes: list[str] = []
    ended: list[BaseException] = []
    started = threading.Event()
    owner = Owner(home, EmbeddedLog(home.log_path, 2), notes.append)

    def serve() -> None:
        try:
            with owner:
                started.set()
                owner.serve(without=("embed",))
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    assert started.wait(300)
    try:
        yield notes
    finally:
        owner.stop()
        thread.join()
    assert not ended, ended


def _a_file_in_the_way(home: Home) -> None:
    (home.path / "builds").mkdir(exist_ok=True)
    (home.path / "builds" / "2").write_text("no build")


def _a_name_that_is_no_unicode(home: Home) -> None:
    """What the error says names a path that cannot be written as JSON."""
    (home.path / "builds").mkdir(exist_ok=True)
    (home.path / "builds" / "2").symlink_to(os.fsdecode(b"/nowhere/\xff"))


@pytest.mark.parametrize("disturb", [_a_file_in_the_way, _a_name_that_is_no_unicode])
def test_a_request_that_fails_is_answered_and_the_projector_goes_on(
    home: Home, disturb: Callable[[Home], None]
) -> None:
    log = EmbeddedLog(home.log_path, 2)
    log.append([captured("one", scope="project:a")])
    disturb(home)
    with serving(home) as notes:
        with pytest.raises(MemtapeError, match=r"Error: .*2"):
            rebuild_or_ask(home, log, lambda *_: None, lambda note: None)
        assert [note for note in notes if note.startswith("A request (rebuild) failed: ")]
        assert not Requests(home.requests).waiting()
        (home.path / "builds" / "2").unlink()
        log.append([captured("two", scope="project:a")])
        assert rebuild_or_ask(home, log, lambda *_: None, lambda note: None).build == 2
    assert verify(home, log).ok


def test_what_is_no_request_is_answered_or_left_alone(home: Home) -> None:
    home.requests.mkdir(parents=True)
    (home.requests / "folder.json").mkdir()
    (home.requests / "nonsense.json").write_bytes(b"\xff{")
    log = EmbeddedLog(home.log_path, 2)
    unknown = Requests(home.requests).ask("dance")
    with serving(home):
        assert rebuild_or_ask(home, log, lambda *_: None, lambda note: None).build == 2
    told = [Requests(home.requests).answer(id) for id in ("nonsense", unknown)]
    assert all(reply is not None and reply.finished and "does not know" in (reply.error or "") for reply in told)
    assert not Requests(home.requests).waiting()
