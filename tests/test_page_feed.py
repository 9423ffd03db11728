"""A log that is watched for an hour: 3,600 looks while agents capture, without growth in the browser or the server."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from bench.living import SCOPE

from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.page.views.log import AT_ONCE

LOOKS, SHORT_LOOKS = 3_600, 64
ROOM_KB = 8_000
"""What the server may hold more at the end of an hour than after its first eighth."""
MEASURED = 16


class Watched(NamedTuple):
    """The server of a page in a process of its own, and a browser that was let in."""

    process: subprocess.Popen[str]
    http: httpx.Client

    def held_kb(self) -> int:
        """How much memory the process has, of its own alone, in kilobytes."""
        told = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in told.splitlines() if line.startswith("RssAnon")).split()[1])


@contextmanager
def watched(home: Path) -> Iterator[Watched]:
    """Serve a home's page by its command."""
    words = ["-m", "memtape", "page", "--no-browser", "--json", "--home", str(home), "--scope", SCOPE]
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        told = ""
        while not told.rstrip().endswith("}"):
            told += process.stdout.readline()
        address = json.loads(told)["address"]
        with httpx.Client(base_url=address.partition("/?")[0], timeout=120, trust_env=False) as http:
            http.get(address)
            yield Watched(process, http)
    finally:
        process.terminate()
        process.wait()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="The memory of a process is told by /proc alone.")
@pytest.mark.parametrize("looks", [SHORT_LOOKS, pytest.param(LOOKS, marks=pytest.mark.soak)])
def test_a_log_that_is_watched_for_an_hour_grows_nowhere(tmp_path: Path, looks: int) -> None:
    """An hour is as many looks, one behind the other; before each something is captured, as in each second."""
    held, after, rows, began = list[int](), 0, 0, time.monotonic()
    with Client(tmp_path, scope=SCOPE, origin="user") as client, watched(tmp_path) as its:
        for second in range(looks):
            client.capture_many([Line(text=f"Second {second}: the tide is {second % 700} cm.", kind="turn")])
            found = its.http.get("/log/feed", params={"after": after}).raise_for_status().json()
            assert len(found["rows"]) <= AT_ONCE and found["next"] > after
            after, rows = found["next"], rows + len(found["rows"])
            if (second + 1) % max(1, looks // MEASURED) == 0:
                held.append(its.held_kb())
    print(f"{looks} looks in {time.monotonic() - began:.0f} s, {rows} rows; kB held along the way: {held}")
    assert rows >= looks
    assert held[-1] - held[MEASURED // 8 - 1] < ROOM_KB, held
