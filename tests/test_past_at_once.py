"""Many who ask the same past at once: each gets all of it, and nobody takes away what another has made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import START, captured, erased
from test_damaged_views import _empty

from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.ask import as_of
from memtape.tools.ask.as_of import PastViews
from memtape.tools.client import Client

ROOT = Path(__file__).resolve().parent.parent
A = "project:a"
READERS, ROUNDS, TEXTS = 3, 6, 12

# Asks each position in turn. It waits at each for a line on stdin, so that all of them ask at the same moment.
READER = """
import sys
from memtape.tools.client import Client
with Client(sys.argv[1], scope="project:a") as client:
    for line in sys.stdin:
        found = client.search("lighthouse", 100, as_of=line.strip()).results
        print(len(found), client.status(as_of=line.strip()).memories, flush=True)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    log = EmbeddedLog(home.log_path, 1)
    log.append([captured(f"lighthouse {number}", scope=A, sent=START) for number in range(TEXTS)])
    log.close()
    return home


def view_names(home: Home) -> list[str]:
    return sorted(path.name for path in home.as_of.iterdir())


@pytest.mark.slow
def test_readers_of_one_past_position_at_once_all_find_it(home: Home) -> None:
    command, environment = [sys.executable, "-c", READER, str(home.path)], {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    readers = [subprocess.Popen(command, text=True, bufsize=1, env=environment, **pipes) for _ in range(READERS)]
    first = 2  # Behind the settings and the tick.
    try:
        for number in range(1, ROUNDS + 1):
            for reader in readers:
                assert reader.stdin is not None
                reader.stdin.write(f"0:{first + number}\n")
            for reader in readers:
                assert reader.stdout is not None
                line = reader.stdout.readline()
                assert line.split() == [str(number)] * 2, line or reader.communicate()
        assert [reader.communicate()[1] for reader in readers] == [""] * READERS
    finally:
        for reader in readers:
            reader.kill()
    assert len(view_names(home)) == ROUNDS


def test_a_damaged_view_of_the_past_is_made_again_when_it_is_asked_for(home: Home) -> None:
    with Client(home, scope=A) as client:
        for pattern in ("memories.lance/data/*", "memories.lance/_versions/*", "watermark.json", "index/*/*"):
            assert len(client.search("lighthouse", 100, as_of="0:7").results) == 5
            for path in home.as_of.glob(f"p*/{pattern}"):
                _empty(path)
        assert len(client.search("lighthouse", 100, as_of="0:7").results) == 5
        assert len(view_names(home)) == 1


def test_an_erasure_while_a_view_is_made_leaves_none_that_holds_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    log = EmbeddedLog(home.log_path)
    rows_at = as_of.rows_at

    def interrupted(*given: object) -> object:
        monkeypatch.setattr(as_of, "rows_at", rows_at)
        log.append([erased(["lighthouse 1"], "e", scope=A, sent=START)])
        return rows_at(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(as_of, "rows_at", interrupted)
    shard = PastViews(home, log, {0: 7}).shard(0)
    assert sorted(row.text for row in shard.all_rows("memories")) == [f"lighthouse {n}" for n in (0, 2, 3, 4)]  # type: ignore[union-attr]
    assert view_names(home) == [shard.path.name]
