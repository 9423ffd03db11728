"""Processor time at one size: of writing, of searching, and of searching right after a text came.

On cores that others use too a clock says little; the wall time of writing is told beside it. The endpoint is
another process, so the time of embedding is in no figure.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from bench.peers.store import Store, Text

BATCH = 1_000
WARM = 3
AFTER = 10


def measure(opened: Callable[[str], Store], asked: Any) -> dict[str, float]:
    """Return texts written in a second, the searches' p50 and p95, the first
    search after an add, and the bytes.

    A text counts as written once it can be found by all that the product has.
    """
    said = json.loads(Path(asked["texts"]).read_text())[: asked["count"]]
    texts = [Text(f"t{number:06}", text) for number, text in enumerate(said)]
    store = opened(f"speed{len(texts)}")
    start_s, wall_s = processor_s(), time.perf_counter()
    for place in range(0, len(texts), BATCH):
        store.add(texts[place : place + BATCH])
    store.settle()
    written_s, wall_s = processor_s() - start_s, time.perf_counter() - wall_s
    for question in asked["questions"][:WARM]:
        store.search(question)
    took = sorted(_timed_ms(store, question) for question in asked["questions"])
    first = []
    for number, question in enumerate(asked["questions"][:AFTER]):
        store.add([Text(f"after{number}", f"After {question}")])
        first.append(_timed_ms(store, question))
    store.close()
    folder = store.folder
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {
        "written_per_s": round(len(texts) / written_s, 1),
        "written_wall_s": round(wall_s, 1),
        "p50_ms": round(median(took), 1),
        "p95_ms": round(took[int(len(took) * 0.95)], 1),
        "after_ms": round(median(first), 1),
        "bytes": size if store.has_files else 0,
    }


def processor_s() -> float:
    """Return the processor seconds of this process and of the processes that it has waited for."""
    its = os.times()
    return its.user + its.system + its.children_user + its.children_system


def _timed_ms(store: Store, question: str) -> float:
    start_ns = time.process_time_ns()
    store.search(question)
    return (time.process_time_ns() - start_ns) / 1e6
