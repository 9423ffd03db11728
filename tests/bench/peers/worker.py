"""One task on one product, in a process of its own, on the product's own libraries.

    python -m bench.peers.worker MODULE CLASS TASK FOLDER < asked.json

It prints one document: the answer, or the error by which the product refused.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.peers import lifecycle, recall, speed
from bench.peers.store import Store

Task = Callable[[Callable[..., Store], Any], Any]
TASKS: dict[str, Task] = {
    "recall": recall.measure,
    "speed": speed.measure,
    "large": speed.measure,
    "lifecycle": lifecycle.measure,
    "write": lifecycle.write,
    "reopened": lifecycle.reopened,
}
ERROR_CHARS = 200


def main(module: str, name: str, task: str, folder: Path) -> None:
    """Run a task, and print its answer."""
    asked = json.load(sys.stdin)
    try:
        kind = getattr(importlib.import_module(f"bench.peers.stores.{module}"), name)

        def opened(place: str, model: str = asked["model"]) -> Store:
            (folder / place).mkdir(parents=True, exist_ok=True)
            return kind(folder / place, asked["url"], model)

        answer = {"release": kind.release(), "answer": TASKS[task](opened, asked)}
    except Exception as error:
        answer = {"error": told(error)}
    print(json.dumps(answer), flush=True)


def told(error: Exception) -> str:
    """Return the kind of an error and the beginning of its message, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:ERROR_CHARS]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]))
