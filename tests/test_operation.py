"""What is told of the work of a home: logs, `tail` and `stats`, none with a text that nobody asked for."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, get_args

import pytest

from memtape.schemas.times import DAY_US
from memtape.sinks.home.counts import HomeCounts
from memtape.tools.client import Client
from memtape.tools.keep.operations import Operation
from memtape.tools.keep.owner import Owner

ROOT = Path(__file__).parent.parent
SAID, ASKED, SCOPE = (
    "The xylophone of Brunhilde is tuned to elfzig Hz.",
    "glockenspiel quagmire",
    "project:zwieback",
)
SECRETS = ("xylophone", "Brunhilde", "elfzig", "glockenspiel", "quagmire", "zwieback")
ENV = {**os.environ, "PYTHONPATH": str(ROOT), "MEMTAPE_EMBEDDER": "floor"}


def run(*words: str, until: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, or interrupt it once it has printed all of some words."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memtape", *words],
        env=ENV,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    first = ""
    while not all(word in first for word in until):
        line = process.stdout.readline()
        assert line, (first, process.communicate())
        first += line
    if until:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(words, process.returncode, first + out, err)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with Client(tmp_path / "home", scope=SCOPE, origin="user", session="s") as client:
        client.capture(SAID)
        client.capture("Deployments happen on Tuesdays at noon.")
        found = client.search("xylophone tuned")
        client.use([found.results[0].id], found.recall_id)
        client.search(ASKED)
    return tmp_path / "home"


@pytest.mark.parametrize("level", ["debug", "warning"])
def test_a_log_is_lines_of_json_from_a_level_on_without_a_text(home: Path, level: str) -> None:
    with Client(home, scope=SCOPE, origin="user") as client:
        client.capture("A further fact of Brunhilde.")
    done = run("run", "--once", "--home", str(home), "--log-format", "json", "--log-level", level)
    assert done.returncode == 0, done.stderr
    lines: list[dict[str, Any]] = [json.loads(line) for line in done.stderr.splitlines()]
    events = {line["event"] for line in lines}
    least = getattr(logging, level.upper())
    assert all(getattr(logging, line["level"].upper()) >= least for line in lines)
    assert ({"started", "epoch", "stopped"} <= events) == (level == "debug")
    assert ("folded" in events) == (level == "debug")
    assert all({"at", "level", "event"} <= line.keys() and line["event"] in get_args(Operation) for line in lines)
    assert not any(word in done.stderr for word in SECRETS)


def test_a_worker_that_fails_is_told_by_the_kind_of_its_error(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Leaky(Exception):
        pass

    def leaks() -> None:
        raise Leaky(SAID)

    with Client(home, scope=SCOPE) as client, Owner(client.home, client.log) as owner:
        worker = owner._beside["extract"]
        worker.catch_up = leaks  # type: ignore[method-assign]
        worker.once()
    (record,) = [record for record in caplog.records if record.message == "worker_failed"]
    assert record.__dict__["facts"] == {"error": "Leaky", "worker": "extract"} and record.levelname == "ERROR"
    assert HomeCounts(home).sums("error", "worker").total == 1


def test_tail_has_no_text_unless_asked_and_no_text_acts_on_the_terminal(home: Path) -> None:
    with Client(home, scope="project:b", origin="user") as client:
        client.capture("\x1b[31mred\x1b[0m of Brunhilde")
    words = ("admin", "tail", "--home", str(home), "--since", "1h")
    plain = run(*words, until=("project:b  ", "used"))
    assert plain.returncode == 0 and plain.stdout.count("captured fact") == 3 and "recalled" in plain.stdout
    assert "ticked" not in plain.stdout and "Tuesdays" not in plain.stdout
    assert not any(word in plain.stdout for word in SECRETS if word != "zwieback")
    for more in ((), ("--json",)):
        full = run(*words, "--texts", *more, until=(SAID, "[31mred"))
        assert SAID in full.stdout and "\x1b" not in full.stdout and "[31mred" in full.stdout
    alone = run(*words, "--scope", "project:b", until=("captured",))
    assert "project:b" in alone.stdout and "zwieback" not in alone.stdout


def test_stats_count_what_the_log_has(home: Path) -> None:
    with Client(home, scope=SCOPE, origin="user") as client:
        client.capture(SAID)  # The same again: it folds.
        client.capture("hello there", kind="turn")
        client.project()
        steps: list[tuple[int, int]] = []
        client.on_phase = lambda phase, done, total: steps.append((done, total))
        found = client.stats(time.time_ns() // 1_000 - 2 * DAY_US)
        assert client.stats(0, "project:elsewhere").days[-1].long_term == 0
    day = found.days[-1]
    assert (day.long_term, day.folded, day.turns, day.searches, day.empty, day.used) == (3, 1, 1, 2, 1, 1)
    assert len(found.days) == 3 and all(its.long_term == 0 for its in found.days[:-1])
    assert steps[-1][0] == steps[-1][1] and steps == sorted(steps)
