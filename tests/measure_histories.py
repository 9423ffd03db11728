"""Measure what a new home finds by questions in other words: short histories whose writers knew no rule.

    python tests/measure_histories.py tests/data/histories/given.jsonl

Each history is a project of its own, in one home. A line is printed for each embedder that is at hand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from memtape import Client
from memtape.schemas.times import parse_time


class Outcome(NamedTuple):
    """What the answer to one question shows: which facts, in order, and whether they are marked perhaps."""

    shown: list[int]
    is_perhaps: bool


def main(path: Path, limit: int = 10) -> None:
    """Print how many questions have their answer, first, before any replaced fact, or nothing."""
    histories = [json.loads(line) for line in path.read_text().splitlines()]
    for embedder in ("floor", "auto"):
        os.environ["MEMTAPE_EMBEDDER"] = embedder
        with tempfile.TemporaryDirectory() as folder:
            outcomes = ask(Path(folder), histories, limit)
        print(f"{path.stem} {embedder:5}", *(f"{name} {n}" for name, n in told(histories, outcomes).items()))


def ask(home: Path, histories: list[dict[str, Any]], limit: int) -> list[Outcome]:
    """Capture all facts as a person says them, project them once, and ask all questions."""
    for number, history in enumerate(histories):
        with Client(home, scope=f"project:{history['id']}", origin="user", actor="Kim") as client:
            for day, fact in enumerate(history["facts"]):
                client.capture(fact, at=parse_time(f"2026-0{1 + day}-1{number % 10}T10:00:00Z", 0))
    subprocess.run([sys.executable, "-m", "memtape", "run", "--once", "--home", str(home)], check=True)
    outcomes = []
    for history in histories:
        with Client(home, scope=f"project:{history['id']}") as client:
            results, facts = client.search(history["question"], limit, quiet=True).results, history["facts"]
            shown = [facts.index(result.text) for result in results if result.text in facts]
            outcomes.append(Outcome(shown, any("perhaps" in result.marks for result in results)))
    return outcomes


def told(histories: list[dict[str, Any]], outcomes: list[Outcome]) -> Counter[str]:
    """Count what became of the questions."""
    counts = Counter(dict.fromkeys(("of", "found", "first", "before replaced", "nothing", "perhaps"), 0))
    for history, outcome in zip(histories, outcomes, strict=True):
        answer, replaced = history["answer"], history["replaced"]
        at = outcome.shown.index(answer) if answer in outcome.shown else None
        counts["of"] += 1
        counts["found"] += at is not None
        counts["first"] += at == 0
        counts["before replaced"] += at is not None and not any(old in outcome.shown[:at] for old in replaced)
        counts["nothing"] += not outcome.shown
        counts["perhaps"] += outcome.is_perhaps
    return counts


if __name__ == "__main__":
    main(Path(sys.argv[1]))
