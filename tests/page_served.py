"""Pages for tests: a home with life in it, made once, and pages that are served from this process."""

from __future__ import annotations

import fcntl
import os
import queue
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from bench.living import SCOPE, make_living

from memtape.schemas.times import DAY_US
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.client import Client
from memtape.tools.page.app import Serving

TEXTS = 250
END_US = 1_790_000_000_000_000
"""The day on which the home's weeks end, 2026-09-21, which is past."""
EMPTY = "project:empty"


class Page(NamedTuple):
    """A page that is served: its home, its first address and its base, and a browser that was let in."""

    home: Path
    address: str
    base: str
    http: httpx.Client

    @property
    def token(self) -> str:
        return self.address.partition("=")[2]

    @property
    def origin(self) -> str:
        """The page's own origin, which is that of its port."""
        return self.base.rpartition("/")[0]

    @property
    def folder(self) -> str:
        """The path below which all of the page is."""
        return self.base.removeprefix(self.origin)

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])

    def get(self, path: str, **given: object) -> httpx.Response:
        """Ask for a view with parameters, again as long as it is being made, as a browser does."""
        asked: Any = given or None
        while "refresh" in (answer := self.http.get(path, params=asked)).headers:
            time.sleep(0.05)
        return answer

    def act(self, do: str, ids: Sequence[str] = (), **given: str) -> httpx.Response:
        """Send the form of a deed, as its buttons do, and return the view to which it leads."""
        form = {"do": do, "id": list(ids), "scope": SCOPE, **given}
        answer = self.http.post("/act", data=form, headers={"origin": self.origin})
        return self.http.get(answer.headers["location"].removeprefix(".")) if answer.is_redirect else answer

    def undo(self, done: httpx.Response) -> httpx.Response:
        """Press the button of the bar in the view after a deed."""
        key = str(done.url.params["done"])
        assert 'name="do" value="undo"' in done.text, "The bar has a button."
        return self.act("undo", done=key)

    def ends(self) -> list[int]:
        """Where the partitions of the home's log end."""
        log = EmbeddedLog(self.home / "log.db")
        try:
            return list(log.ends())
        finally:
            log.close()

    def client(self, scope: str = SCOPE) -> Client:
        """Return a client of a person at the same home."""
        return Client(self.home, scope=scope, actor="Ada", origin="user")


@contextmanager
def _serving(home: Path, scope: str, **options: bool) -> Iterator[str]:
    """Serve the page of a home while the context lasts, and give its first address."""
    serving = Serving(home, scope, 0)
    thread = threading.Thread(target=serving.serve, kwargs=options)
    thread.start()
    try:
        yield serving.address
    finally:
        serving.stop()
        thread.join()


@contextmanager
def served(home: Path, scope: str = SCOPE) -> Iterator[Page]:
    """Serve the page of a home while the context lasts."""
    with _serving(home, scope) as address:
        base = address.partition("/?")[0]
        with httpx.Client(base_url=base, timeout=120, trust_env=False) as http:
            assert http.get(address, follow_redirects=True).status_code == 200
            yield Page(home, address, base, http)


@contextmanager
def opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """Serve a page that opens a browser; give its first address, and that of the browser's file."""
    named = queue.SimpleQueue[str]()
    monkeypatch.setattr("memtape.tools.page.app.webbrowser.open", named.put)
    with _serving(home, SCOPE, open_browser=True) as address:
        yield address, named.get(timeout=60)


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with life in it, to be looked at and never changed: the copy of one that all processes share."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made = shared / "living"
    with (shared / "living.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            make_living(shared / "making", TEXTS, END_US - DAY_US)
            (shared / "making").rename(made)
    return Path(shutil.copytree(made, tmp_path_factory.mktemp("living") / "home"))


@pytest.fixture(scope="module")
def page(living: Path) -> Iterator[Page]:
    """The page of that home, for looking alone."""
    with served(living) as page:
        yield page


@pytest.fixture
def own(living: Path, tmp_path: Path) -> Iterator[Page]:
    """The page of a copy of that home, to act on."""
    shutil.copytree(living, tmp_path / "home")
    with served(tmp_path / "home") as page:
        yield page
