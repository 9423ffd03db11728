"""What the page keeps and counts beside the log: errors by door, lines of a log; and the past
that is made aside."""

# ruff: noqa: F811  (fixtures are handed in by their names)

from __future__ import annotations

import logging
import threading

import pytest
from page_served import Page, living, own, served  # noqa: F401

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.counts import HomeCounts
from memtape.tools.keep.waiting import who_waits
from memtape.tools.page.past import MOST_KEPT, Progress, Slow


def test_errors_of_the_page_are_counted_and_told_without_a_text(own: Page, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "memtape")
    before = HomeCounts(own.home).sums("error", "page").total
    assert own.get("/search", q="the xylophone of Brunhilde").status_code == 200
    assert own.get("/memory", id="no-such-id").status_code == 404
    assert own.get("/timeline", at="the day after").status_code == 400
    assert own.act("nothing", []).status_code == 400
    assert HomeCounts(own.home).sums("error", "page").total == before + 3
    told = [(record.message, record.__dict__["facts"]) for record in caplog.records if record.name == "memtape"]
    assert ("answered", "Search") in {(name, facts.get("what")) for name, facts in told}
    assert sum(name == "refused" for name, _ in told) == 3
    assert "xylophone" not in str(told) and "day after" not in str(told)
    assert 'where="page"} 3' in own.get("/metrics").text or f"{float(before + 3)}" in own.get("/metrics").text


def test_the_past_is_made_aside_and_told_of_until_it_is_there() -> None:
    slow: Slow[str] = Slow()
    goes_on = threading.Event()

    def make() -> str:
        who_waits()(50, 200)
        goes_on.wait(30)
        return "there"

    first = slow.of("/a", make)
    assert isinstance(first, Progress) and (first.done, first.total) == (50, 200) and first.left_s >= 1
    assert isinstance(slow.of("/b", lambda: "behind it"), Progress)
    goes_on.set()
    found = [slow.of("/a", make), slow.of("/b", lambda: "behind it")]
    assert found == ["there", "behind it"]
    with pytest.raises(MemtapeError):
        slow.of("/c", _raises)
    goes_on.clear()
    for number in range(MOST_KEPT + 3):
        slow.of(f"/{number}", make) if number < 1 else slow._begun(f"/{number}", make)
    assert len(slow._made) == MOST_KEPT
    goes_on.set()
    slow.close()


def _raises() -> str:
    raise MemtapeError("No.", "")


def test_a_view_that_is_being_made_comes_again_by_itself(own: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtape.tools.page.past.WAIT_S", 0.0)
    answer = own.http.get("/timeline", params={"at": "20d", "diff": "1"})
    assert answer.status_code == 200 and answer.headers["refresh"] == "1" and "<progress" in answer.text
    assert answer.text.count("<h1") == 1 and "server-timing" in answer.headers
    assert own.http.get("/").headers.get("refresh") is None
    monkeypatch.undo()
    there = own.get("/timeline", at="20d", diff="1")
    assert "What changed" in there.text and "<progress" not in there.text
