"""The process that looks at the past for the page: one, which holds up nobody, and whose end is told."""

# ruff: noqa: F811  (fixtures are handed in by their names)

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from page_served import Page, living, own, served  # noqa: F401

from memtape.tools.page.past import MODULE, MOST_KEPT

THEN = {"at": "20d", "diff": "1"}


def children(pid: int) -> list[str]:
    """Return the ids and words of the processes that a process has started."""
    listed = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(pid)]
    return subprocess.run(listed, capture_output=True, text=True).stdout.splitlines()


def processes() -> list[int]:
    """Return the ids of the processes that look at the past for pages of this process."""
    return [int(line.split()[0]) for line in children(os.getpid()) if MODULE in line]


@pytest.fixture
def stopped(own: Page) -> int:
    """The process of a page, which has been used and stands still now."""
    assert processes() == []
    assert own.get("/timeline", **THEN).status_code == 200
    (pid,) = processes()
    os.kill(pid, signal.SIGSTOP)
    return pid


def test_other_views_are_answered_while_one_is_made_by_the_one_process(own: Page, stopped: int) -> None:
    asked = [{"at": f"{day}d", "diff": "1"} for day in range(1, MOST_KEPT + 2)]
    making = [own.http.get("/timeline", params=its) for its in asked]
    assert {answer.headers.get("refresh") for answer in making} == {"1"} and "<progress" in making[0].text
    for path in ("/", "/search?q=port", "/start", "/timeline"):
        answer = own.http.get(path)
        assert answer.status_code == 200 and "refresh" not in answer.headers
    assert processes() == [stopped] and len(making) > MOST_KEPT
    os.kill(stopped, signal.SIGCONT)
    assert "What changed" in own.get("/timeline", at="3d", diff="1").text


def test_an_end_is_told_with_the_next_step_and_another_goes_on(own: Page, stopped: int) -> None:
    assert "refresh" in own.http.get("/search", params={"q": "port", "at": "9d"}).headers
    os.kill(stopped, signal.SIGKILL)
    answer = own.get("/search", q="port", at="9d")
    assert answer.status_code == 400 and "was ended by signal 9" in answer.text
    assert "Load this view again" in answer.text
    there = own.get("/search", q="port", at="9d")
    assert there.status_code == 200 and "as of" in there.text and processes() != [stopped]


def test_what_nobody_waits_for_is_given_up(own: Page, stopped: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtape.tools.page.past.GONE_S", 0.3)
    left = [own.http.get("/timeline", params={"at": f"{day}d", "diff": "1"}) for day in (1, 2, 3)]
    assert all("refresh" in answer.headers for answer in left)
    time.sleep(0.5)
    os.kill(stopped, signal.SIGCONT)
    monkeypatch.setattr("memtape.tools.page.past.GONE_S", 60)
    assert "What changed" in own.get("/timeline", at="4d", diff="1").text


def test_it_ends_with_its_page(living: Path) -> None:
    with served(living) as page:
        page.get("/timeline", **THEN)
        assert len(processes()) == 1
    assert processes() == []


def test_the_command_prints_an_address_and_ends_with_its_process_by_any_signal(living: Path) -> None:
    command = [sys.executable, "-m", "memtape", "page", "--no-browser", "--home", str(living)]
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        base, _, token = address.partition("/?token=")
        with httpx.Client(base_url=base, trust_env=False, timeout=60) as http:
            assert http.get(address, follow_redirects=True).status_code == 200
            assert str(http.get("/", params={"token": token, "q": "1"}).headers["location"]).endswith("/?q=1")
            http.get("/search?token=wrong")
            while "refresh" in http.get("/timeline", params=THEN).headers:
                time.sleep(0.1)
        (pid,) = (line.split()[0] for line in children(process.pid))
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
        assert token not in out + err and "Traceback" not in err and process.returncode in (0, -how), err
        deadline = time.monotonic() + 120
        while Path(f"/proc/{pid}").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
