"""The turn of another process: a projector that serves gives way, and goes on, whatever becomes of the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from builders import captured

from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.keep.owner import Owner, rebuild_as_owner
from memtape.tools.keep.verify import verify


@contextmanager
def serving(home: Home) -> Iterator[None]:
    """A projector that serves in a thread of its own; whatever ends it early fails the test."""
    ended: list[BaseException] = []
    started = threading.Event()
    owner = Owner(home, EmbeddedLog(home.log_path, 2))

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
        yield
    finally:
        owner.stop()
        thread.join()
    assert not ended, ended


def test_whoever_fails_in_its_turn_is_told_and_the_projector_goes_on(home: Path) -> None:
    place = Home(home)
    log, notes = EmbeddedLog(place.log_path, 2), list[str]()
    log.append([captured("one", scope="project:a")])
    with serving(place):
        (home / "builds").mkdir(exist_ok=True)
        (home / "builds" / "2").write_text("no build")
        with pytest.raises(Exception, match="2"):
            rebuild_as_owner(place, log, lambda *_: None, notes.append)
        assert "gives way" in notes[0]
        (home / "builds" / "2").unlink()
        log.append([captured("two", scope="project:a")])
        assert rebuild_as_owner(place, log, lambda *_: None, notes.append).build == 2
    assert verify(place, log).ok
