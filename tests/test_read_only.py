"""A home on a disk that cannot be written: it is read as it stands, and a capture says why not."""

from __future__ import annotations

import os
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memtape.sinks.logs.embedded import WHOLE_VECTORS
from memtape.tools.client import Client

SCOPE = "project:lighthouse"
QUESTIONS = ("search lamp", "show {id}", "status", "log", "verify", "context", "export", "settle")
MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(home: Path) -> Run:
    """Return what runs a command on the home, read-only: as on such a disk, or by its permissions."""
    home.mkdir(exist_ok=True)
    before = ["unshare", "--mount", "sh", "-c", MOUNTED, str(home)] if os.getuid() == 0 else []
    if before and subprocess.run([*before, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")

    def run(words: str) -> subprocess.CompletedProcess[str]:
        command = [*before, sys.executable, "-m", "memtape", *shlex.split(words), "--home", str(home)]
        scoped = [*command, *(["--scope", SCOPE] if words.split()[0] not in ("status", "verify") else [])]
        if not before:
            home.chmod(0o500)
        try:
            return subprocess.run(scoped, capture_output=True, text=True, check=False)
        finally:
            home.chmod(0o700)

    return run


def files(home: Path) -> dict[str, tuple[int, int]]:
    """Return the size and the time of the last change of every file of a home."""
    found = (path for path in home.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


@pytest.mark.parametrize("is_open", [False, True], ids=["alone", "beside a writer"])
def test_a_home_that_cannot_be_written_is_asked_and_left_as_it_is(
    home: Path, run: Run, is_open: bool
) -> None:
    with Client(home, scope=SCOPE, origin="user") as memory:
        id = memory.capture("The lamp of the lighthouse turns twice a minute.").id
        memory.project()
        if is_open:
            memory.capture("The lamp is cleaned on Mondays.")
            _ask_all(home, run, id, "cleaned on Mondays")
    _ask_all(home, run, id, "twice a minute")


def test_a_log_of_the_format_before_is_upgraded_where_it_can_be_written(home: Path, run: Run) -> None:
    with Client(home, scope=SCOPE, origin="user") as memory:
        memory.capture("The lamp of the lighthouse turns twice a minute.")
    with closing(sqlite3.connect(home / "log.db", isolation_level=None)) as log:
        log.execute("UPDATE meta SET value = ? WHERE key = 'schema'", [WHOLE_VECTORS])
    before = files(home)
    refused = run("search lamp")
    assert refused.returncode == 1 and "once it was opened where it can be written" in refused.stderr
    assert files(home) == before


def _ask_all(home: Path, run: Run, id: str, expected: str) -> None:
    before = files(home)
    done = {words: run(words.format(id=id)) for words in QUESTIONS}
    assert {words: it.returncode for words, it in done.items()} == dict.fromkeys(QUESTIONS, 0), done
    assert expected in done["search lamp"].stdout
    assert "twice a minute" in done["show {id}"].stdout
    for words in ("capture 'The lamp is green.'", f"forget {id}"):
        refused = run(words)
        assert refused.returncode == 1
        assert "annot be written" in refused.stderr or "Read-only" in refused.stderr, refused.stderr
    assert files(home) == before
