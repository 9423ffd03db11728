"""The page is opened in a real browser by a private file, whose code lets in once and stands in no process's words."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from browsing import browser
from page_served import Page, served

from memtape.tools.page.app import Serving

pytestmark = pytest.mark.slow
SCOPE = "project:mine"
PROCESSES = Path("/proc")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as started:
        yield started


def words_of_processes() -> str:
    """Return the arguments of every process of this machine, as each of its users can read them."""
    said = []
    for path in PROCESSES.glob("[0-9]*/cmdline"):
        try:
            said.append(path.read_bytes().decode(errors="replace"))
        except OSError:  # It has ended.
            continue
    return "\n".join(said)


def test_a_browser_comes_in_by_the_file_that_opens_the_page(
    chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = queue.SimpleQueue[str]()
    monkeypatch.setattr("memtape.tools.page.app.webbrowser.open", opened.put)
    serving = Serving(tmp_path / "home", SCOPE, 0)
    token = serving.address.partition("=")[2]
    thread = threading.Thread(target=serving.serve, kwargs={"open_browser": True})
    thread.start()
    try:
        address = opened.get(timeout=60)
        path = Path(address.removeprefix("file://"))
        code = path.read_text().partition("token=")[2].partition('"')[0]
        context = chromium.new_context()
        tab = context.new_page()
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(words_of_processes()))
        tab.goto(address)
        tab.wait_for_selector("h1")
        assert tab.url.startswith("http://127.0.0.1:") and code not in tab.url and token not in tab.url
        assert tab.locator("h1").inner_text() == "Now"
        tab.get_by_role("link", name="Search", exact=True).click()
        assert tab.locator("h1").inner_text().startswith("Search")
        assert not path.exists()
        assert len(asked) > 2 and "chrom" in asked[0]
        assert not any(secret in words for secret in (code, token) for words in asked)
        base = serving.address.partition("?")[0]
        thief = chromium.new_context().new_page()
        assert thief.goto(f"{base}?token={code}").status == 403
        assert httpx.get(base, params={"token": code}, trust_env=False).status_code == 403
    finally:
        serving.stop()
        thread.join()


class Neighbour:
    """A server on another port of this machine, which keeps what cookies it is sent."""

    def __init__(self) -> None:
        self.met: list[str] = []
        met = self.met

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                met.append(self.headers.get("cookie") or "")
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>Neighbour</title>")

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def neighbour() -> Iterator[Neighbour]:
    its = Neighbour()
    thread = threading.Thread(target=its.server.serve_forever)
    thread.start()
    yield its
    its.server.shutdown()
    thread.join()
    its.server.server_close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with served(tmp_path_factory.mktemp("home"), SCOPE) as page:
        yield page


def test_a_server_on_another_port_is_sent_nothing_that_lets_in(chromium: Any, page: Page, neighbour: Neighbour) -> None:
    tab = chromium.new_context().new_page()
    tab.goto(page.address)
    assert tab.locator("h1").inner_text() == "Now"
    for path in ("/", "/search", "/act", "/static/page.css"):
        tab.goto(neighbour.base + path)
    assert len(neighbour.met) >= 4 and not any(page.token in cookies for cookies in neighbour.met)
    tab.goto(page.base + "/search")
    assert tab.locator("h1").inner_text().startswith("Search")
