"""The default install goes without the extras: what needs one says which, and all else works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Stands for an environment without the extra: nothing of these packages is found.
WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
from importlib import util
found = util.find_spec
util.find_spec = lambda name, package=None: None if name in {absent!r} else found(name, package)
from memtape.__main__ import main
sys.argv[0] = "memtape"
main()
"""


def ran(home: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command where neither the client of Kafka nor zstandard is installed."""
    code = WITHOUT.format(absent=("kafka", "zstandard", "lz4", "snappy"))
    words = (sys.executable, "-c", code, *words, "--home", str(home))
    return subprocess.run(words, env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
def test_without_the_client_of_kafka_a_log_on_kafka_says_what_to_install(tmp_path: Path) -> None:
    kept = ran(tmp_path / "home", "capture", "The pier opens at six.", "--scope", "project:pier")
    assert kept.returncode == 0, kept.stderr
    found = ran(tmp_path / "home", "search", "pier", "--scope", "project:pier")
    assert found.returncode == 0 and "The pier opens at six." in found.stdout, found.stderr
    for done in (
        ran(tmp_path / "home", "status", MEMTAPE_LOG="kafka://127.0.0.1:1/captures"),
        ran(tmp_path / "home", "admin", "copy", "--to", "kafka://127.0.0.1:1/captures"),
    ):
        assert done.returncode == 1 and "Traceback" not in done.stderr
        assert "the client of Kafka is not installed" in done.stderr and "pip install '.[kafka]'" in done.stderr
