"""Measure Memtape and other products side by side: `make bench-peers`, or a part of it again:

    python tests/bench/peers/run.py locomo.json updates.jsonl [--only NAME] [--task TASK]

Every task of every product is a process on the product's own libraries. Figures are kept in `figures.json`
beside this file, and `docs/comparison.md` gets its tables from there. A product that cannot be imported or
refuses stands there with its error.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # It holds `bench`.

from bench.peers.tables import write_tables
from bench.scale import questions, texts
from memtape.tools.measure.corpus import read_corpus

ROOT = Path(__file__).resolve().parents[3]
FIGURES = Path(__file__).with_name("figures.json")
PROMPTS = Path(__file__).parents[1] / "foreign_prompts.json"
PATHS = os.pathsep.join(map(str, (ROOT / "tests", ROOT)))
OWN = ROOT / ".venv/bin/python"
PEERS = ROOT / "build/peers-venv/bin/python"
BASIC = ROOT / "build/basic-memory-venv/bin/python"
VECTORS = ROOT / "build/peers-vectors.db"
SIZES = {"speed": (1_000, 10_000), "large": (100_000,)}
MOST = 100_000
LIMIT_S = {"recall": 1_200.0, "speed": 900.0, "large": 900.0, "lifecycle": 900.0, "reopened": 300.0}
WRITE_S = 180.0
"""A size is left out where the rate at the size before says that writing takes more processor time."""
ACKNOWLEDGED = 50
EVERY_CASE = 5
PROMPTS_OF_A_KIND = 20


TASKS = ("recall", "named", "speed", "large", "lifecycle", "killed")


class Product(NamedTuple):
    """A product: its name in the tables, its module, class and Python, and the tasks that are for it."""

    name: str
    module: str
    store: str
    python: Path = PEERS
    tasks: tuple[str, ...] = TASKS


PRODUCTS = (
    Product("Memtape, floor", "memtape", "MemtapeFloor", OWN),
    Product("Memtape", "memtape", "Memtape", OWN),
    Product("Memtape, turns, floor", "memtape", "MemtapeTurnsFloor", OWN, ("recall",)),
    Product("Memtape, turns", "memtape", "MemtapeTurns", OWN, ("recall",)),
    Product("rank-bm25", "baselines", "Bm25", tasks=("recall", "named", "speed", "large")),
    Product("cosine", "baselines", "Cosine", tasks=("recall", "named", "speed", "large")),
    Product("RRF of both", "baselines", "Fusion", tasks=("recall", "named", "speed", "large")),
    Product("LanceDB hybrid", "lancedb", "LanceDb"),
    Product("mem0", "mem0", "Mem0"),
    Product("memsearch", "memsearch", "MemSearchStore"),
    Product("Basic Memory", "basic_memory", "BasicMemory", BASIC),
    Product("LangGraph memory", "langgraph", "InMemory"),
    Product("LangGraph SQLite", "langgraph", "Sqlite"),
    Product("txtai", "txtai", "Txtai"),
    Product("Graphiti", "graphiti", "GraphitiStore", tasks=("recall",)),
)


@click.command()
@click.argument("corpus", type=click.Path(exists=True, path_type=Path))
@click.argument("updates", type=click.Path(exists=True, path_type=Path))
@click.option("--only", multiple=True, help="Measure this product alone; others keep their figures.")
@click.option("--task", multiple=True, type=click.Choice(TASKS), help="Run this task alone.")
@click.option("--conversations", default=2, show_default=True, help="Of the corpus, the last ones.")
def main(
    corpus: Path, updates: Path, only: tuple[str, ...], task: tuple[str, ...], conversations: int
) -> None:
    """Measure all products, and write the tables of docs/comparison.md."""
    with tempfile.TemporaryDirectory() as folder, endpoint(Path(folder)) as (url, _):
        asked = _asked(Path(folder), corpus, updates, conversations) | {"url": url}
        for name in task or TASKS:
            for product in PRODUCTS:
                smaller = figures().get(product.name, {}).get("speed", {}).get("10000", {})
                is_wanted = name in product.tasks and (not only or product.name in only)
                if is_wanted and (name != "large" or _is_in_time(smaller, MOST)):
                    begun = time.perf_counter()
                    told = _measured(product, name, Path(folder) / "stores", asked)
                    took = time.perf_counter() - begun
                    click.echo(f"{name:10} {product.name:22} {took:6.0f} s  {json.dumps(told)[:300]}")
                    _keep(product.name, name, told)
    write_tables(figures())


def figures() -> dict[str, Any]:
    """Return the figures of all runs so far, by product and task."""
    return json.loads(FIGURES.read_text()) if FIGURES.exists() else {}


def _keep(product: str, task: str, told: Any) -> None:
    kept = figures()
    own = kept.setdefault(product, {})
    own[task] = told
    own["load"] = max(own.get("load", 0), round(os.getloadavg()[0], 1))
    ordered = {it.name: kept[it.name] for it in PRODUCTS if it.name in kept}
    FIGURES.write_text(json.dumps(ordered, indent=1) + "\n")


def _asked(folder: Path, corpus: Path, updates: Path, count: int) -> dict[str, Any]:
    """Return what all tasks are asked, by name; the texts for `speed` are in a file."""
    said = folder / "texts.json"
    said.write_text(json.dumps([text for _, text in texts(MOST)]))
    cases = [json.loads(row) for row in updates.read_text().splitlines()]
    prompts = json.loads(PROMPTS.read_text())
    talks = read_corpus(corpus)[-count:]
    return {
        "recall": [_conversation(it) for it in talks],
        "named": [_conversation(it, is_named=True) for it in talks],
        "texts": str(said),
        "questions": questions(),
        "cases": cases[::EVERY_CASE],
        "conversation": _conversation(talks[0])["texts"],
        "prompts": [text for kind in ("coding", "everyday") for text in prompts[kind][:PROMPTS_OF_A_KIND]],
    }


def _conversation(it: Any, is_named: bool = False) -> dict[str, Any]:
    """Return the turns, perhaps each behind "NAME: ", and the questions with evidence of a conversation."""
    rows = []
    for line in it.lines:
        text = " ".join((line.text, *(media.caption or "" for media in line.media))).strip()
        text = f"{line.actor}: {text}" if is_named else text
        rows.append((line.native_id.replace(":", "-"), text, line.actor, line.session, line.at))
    asked = []
    for one in it.questions:
        if one.evidence:
            asked.append((one.text, [id.replace(":", "-") for id in one.evidence]))
    return {"texts": rows, "questions": asked}


def _is_in_time(told: Mapping[str, Any], count: int) -> bool:
    """Return whether the rate at a smaller size lets so many texts expect in time."""
    return "answer" in told and told["answer"]["written_per_s"] * WRITE_S >= count


def _measured(product: Product, task: str, folder: Path, asked: Mapping[str, Any]) -> Any:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if task in SIZES:
        own = {**asked, "model": "hashed"}
        told: dict[str, Any] = {}
        for count in SIZES[task]:
            if all(_is_in_time(it, count) for it in told.values()):
                told[str(count)] = _run(product, task, folder, {**own, "count": count})
        return told
    own = {**asked, "model": "minilm"}
    if task == "killed":
        return _killed(product, folder, own)
    if task in ("recall", "named"):
        own["conversations"] = asked[task]
        return _run(product, "recall", folder, own)
    with endpoint(folder) as (url, pid):
        return _run(product, task, folder, {**own, "url": url, "endpoint": pid})


def _killed(product: Product, folder: Path, asked: Mapping[str, Any]) -> Any:
    """Kill a writing process after some acknowledged texts, and count in another process what is lost."""
    with subprocess.Popen(_command(product, "write", folder), **_piped()) as writer:
        assert writer.stdin is not None and writer.stdout is not None
        writer.stdin.write(json.dumps(asked))
        writer.stdin.close()
        acknowledged = 0
        for line in writer.stdout:
            if not line.strip().isdigit():
                if line.startswith('{"error"'):
                    return json.loads(line)
                continue
            acknowledged = int(line) + 1
            if acknowledged >= ACKNOWLEDGED:
                break
        writer.send_signal(signal.SIGKILL)
    return _run(product, "reopened", folder, {**asked, "acknowledged": acknowledged})


def _run(product: Product, task: str, folder: Path, asked: Mapping[str, Any]) -> Any:
    """Return what a process answers."""
    if not product.python.exists():
        return {"error": f"{product.python.parents[1].name} is not there"}
    process = subprocess.Popen(_command(product, task, folder), **_piped())
    try:
        out, _ = process.communicate(json.dumps(asked), timeout=LIMIT_S[task])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"error": f"more than {LIMIT_S[task]:.0f} s"}
    lines = [line for line in out.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"error": f"exit {process.returncode}"}


def _command(product: Product, task: str, folder: Path) -> Sequence[str]:
    return [str(product.python), "-m", "bench.peers.worker", product.module, product.store, task, str(folder)]


def _piped() -> dict[str, Any]:
    pipe = subprocess.PIPE
    own = {**os.environ, "PYTHONPATH": PATHS, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    own.pop("OPENAI_API_KEY", None)
    return {"stdin": pipe, "stdout": pipe, "stderr": subprocess.DEVNULL, "text": True, "env": own,
            "start_new_session": True}  # fmt: skip


@contextmanager
def endpoint(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the URL and the process id of an endpoint for embeddings."""
    port = folder / "port"
    command = [str(OWN), "-m", "bench.peers.embeddings", str(port), str(VECTORS)]
    own = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": PATHS}
    process = subprocess.Popen(command, env=own)
    try:
        while not (port.exists() and port.read_text()):
            if process.poll() is not None:
                raise click.ClickException("The endpoint for embeddings has ended.")
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port.read_text()}/v1", process.pid
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()


if __name__ == "__main__":
    main()
