"""The thread that looks at the past for the page: one view after another, which holds up no other view."""

# ruff: noqa: F811  (fixtures are handed in by their names)

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from page_served import Page, living, own  # noqa: F401

from memtape.schemas.metrics import tell_progress
from memtape.tools.page.drawing import Drawing
from memtape.tools.page.past import MOST_KEPT

THEN = {"at": "20d", "diff": "1"}


@pytest.fixture
def free(own: Page, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Until it is set, the thread that looks at the past stands still."""
    free, view = threading.Event(), Drawing.view

    def waits(drawing: Drawing, *given: Any) -> Any:
        if threading.current_thread().name.startswith("memtape-past"):
            assert free.wait(60)
            tell_progress("folding the log", 0, 9)
        return view(drawing, *given)

    monkeypatch.setattr(Drawing, "view", waits)
    yield free
    free.set()


def test_other_views_are_answered_while_one_is_made(own: Page, free: threading.Event) -> None:
    asked = [{"at": f"{day}d", "diff": "1"} for day in range(1, MOST_KEPT + 2)]
    making = [own.http.get("/timeline", params=its) for its in asked]
    assert {answer.headers.get("refresh") for answer in making} == {"1"} and "<progress" in making[0].text
    for path in ("/", "/search?q=port", "/start", "/timeline"):
        answer = own.http.get(path)
        assert answer.status_code == 200 and "refresh" not in answer.headers
    free.set()
    assert "What changed" in own.get("/timeline", at="3d", diff="1").text


def test_what_nobody_waits_for_is_given_up(
    own: Page, free: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtape.tools.page.past.GONE_S", 0.3)
    left = [own.http.get("/timeline", params={"at": f"{day}d", "diff": "1"}) for day in (1, 2, 3)]
    assert all("refresh" in answer.headers for answer in left)
    time.sleep(0.5)
    free.set()
    monkeypatch.setattr("memtape.tools.page.past.GONE_S", 60)
    for day in (4, 1):
        assert "What changed" in own.get("/timeline", at=f"{day}d", diff="1").text


def test_the_page_of_a_new_folder_begins_in_the_project_of_its_commands(tmp_path: Path) -> None:
    folder, memtape = tmp_path / "new", [sys.executable, "-m", "memtape"]
    folder.mkdir()
    told = ["--home", str(tmp_path / "home")]
    page = subprocess.Popen(
        [*memtape, "page", "--no-browser", *told], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert page.stdout is not None
    address = page.stdout.readline().strip()
    try:
        subprocess.run([*memtape, "capture", "The gate is red.", *told], cwd=folder, check=True)
        with httpx.Client(trust_env=False, timeout=60, follow_redirects=True) as http:
            assert "The gate is red." in http.get(address).text
    finally:
        page.terminate()
        page.communicate(timeout=60)


def test_the_command_prints_an_address_and_ends_by_any_signal(living: Path) -> None:
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
            http.get("/timeline", params=THEN)
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
        assert token not in out + err and "Traceback" not in err and process.returncode in (0, -how), err
