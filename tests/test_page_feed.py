"""A log that is watched for an hour: 3,600 looks while agents capture, without growth in the browser or the server."""

from __future__ import annotations

import gc
import tracemalloc
from contextlib import ExitStack
from pathlib import Path

import pytest
from browsing import browser, tab
from page_served import served

from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.measure.living import SCOPE
from memtape.tools.page.views.log import AT_ONCE

LOOKS, MOST_ROWS = 3_600, 200
ROOM_BYTES = 8_000_000
"""What a server may hold more after an hour: what a client keeps ready of the captures themselves, and no answers."""


@pytest.mark.parametrize("looks", [120, pytest.param(LOOKS, marks=pytest.mark.soak)])
def test_a_log_that_is_watched_for_an_hour_grows_nowhere(tmp_path: Path, looks: int) -> None:
    """An hour is as many looks, one behind the other; in each second something is captured."""
    with Client(tmp_path, scope=SCOPE, origin="user") as client, served(tmp_path) as page:
        held, after, rows = list[int](), 0, 0
        tracemalloc.start()
        for second in range(looks):
            client.capture_many([Line(text=f"Second {second}: the tide is {second % 700} cm.", kind="turn")])
            found = page.get("/log/feed", after=after).json()
            assert len(found["rows"]) <= AT_ONCE and found["next"] > after
            after, rows = found["next"], rows + len(found["rows"])
            if second % (looks // 4) == looks // 8:
                gc.collect()
                held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert rows >= looks
        assert held[-1] - held[0] < ROOM_BYTES, held


def test_a_browser_that_watches_holds_no_more_than_it_shows(tmp_path: Path) -> None:
    """The clock of the browser is wound on, so that an hour of looks takes as long as its answers."""
    with ExitStack() as opened:
        client = opened.enter_context(Client(tmp_path, scope=SCOPE, origin="user"))
        page, started = opened.enter_context(served(tmp_path)), opened.enter_context(browser())
        its = opened.enter_context(tab(started, page.address))
        its.page.clock.install()
        its.go("/log")
        for minute in range(20):
            lines = [Line(text=f"Minute {minute}, line {number}.", kind="turn") for number in range(60)]
            client.capture_many(lines)
            its.page.clock.run_for(6_000)
            its.page.wait_for_timeout(50)
        rows = its.page.locator("#lines tbody tr").count()
        nodes = its.page.evaluate("() => document.querySelectorAll('*').length")
        assert 0 < rows <= MOST_ROWS and nodes < 20 * MOST_ROWS and its.heard == []
