"""What it costs at which size. `make bench-scale` makes the data, and measures each stage in its process.

Processor time is what counts here, since two noisy cores say little by the clock; both are given. Nothing is
asserted.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # It holds `bench`.

from memtape.schemas.scopes import partition_of
from memtape.schemas.variables import HOOKS_ALONE, HOOKS_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.opening import LOG_VARIABLE
from memtape.tools.capture.project import adopt
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.keep.starting import python_of
from memtape.tools.recalling import offer

SCOPE = "project:scale"
SEED = 7
VOCABULARY = 30_000
TURNS_A_SESSION = 20
QUESTIONS = 60
BATCH = 5_000
AFTER_CAPTURE = 20
HOOKS = 30
SETTLE_S = 5.0
"""So long a server has to read its first project."""
DIMENSIONS = 384
ROOT = Path(__file__).resolve().parents[2]

Figures = dict[str, float]


def texts(count: int) -> Iterator[tuple[str, str]]:
    """Yield (session, text): made-up words by Zipf's law, as many in a text as people say in a chat."""
    rng = random.Random(SEED)
    syllables = "ba ke li mo nu ra se ti vo za dri fle gon hul jin kar lem por sta wen".split()
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(VOCABULARY)]
    weights = [1 / (rank + 3) for rank in range(VOCABULARY)]
    total, sums = 0.0, []
    for weight in weights:
        total += weight
        sums.append(total)
    for number in range(count):
        said = rng.choices(words, cum_weights=sums, k=rng.randint(6, 36))
        yield f"session {number // TURNS_A_SESSION}", " ".join(said).capitalize() + rng.choice(".....?")


def lines(count: int) -> Iterator[Line]:
    """Yield so many turns of two people."""
    for number, (session, text) in enumerate(texts(count)):
        yield Line(text=text, kind="turn", actor=("Ada", "Ben")[number % 2], origin="user", session=session)


def questions() -> list[str]:
    """Return what is asked: some words of texts that are at every size."""
    rng = random.Random(SEED + 1)
    return [
        "When did Ada say " + " ".join(rng.sample(text.lower().strip(".?").split(), 4)) + "?"
        for _, text in islice(texts(2_000), 0, 2_000, 2_000 // QUESTIONS)
    ][:QUESTIONS]


def spread(name: str, taken: Sequence[float], kind: str = "") -> Figures:
    """Return the median and the 95th of a hundred under a name."""
    ordered = sorted(taken)
    return {f"{name}_p50{kind}_s": median(ordered), f"{name}_p95{kind}_s": ordered[int(len(ordered) * 0.95)]}


class Meter:
    """Processor and wall seconds since it was made, and the most memory in megabytes, of children too."""

    def __init__(self) -> None:
        self._processor, self._wall = _processor_s(), time.perf_counter()

    def told(self, name: str) -> Figures:
        """Return the figures under a name."""
        who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
        return {
            f"{name}_s": _processor_s() - self._processor,
            f"{name}_wall_s": time.perf_counter() - self._wall,
            f"{name}_mb": sum(resource.getrusage(it).ru_maxrss for it in who) / 1024,
        }


def _processor_s() -> float:
    its = os.times()
    return its.user + its.system + its.children_user + its.children_system


def fill(home: Path, count: int) -> Figures:
    """Capture everything."""
    with Client(home, scope=SCOPE, origin="user") as client:
        made = lines(count)
        meter = Meter()
        while batch := list(islice(made, BATCH)):
            client.capture_many(batch)
        return meter.told("capture")


def project(home: Path, count: int) -> Figures:
    """Bring the views up to date, and weigh the home."""
    with Client(home, scope=SCOPE) as client:
        meter = Meter()
        client.project()
    sizes = {path: path.stat().st_size for path in home.rglob("*") if path.is_file()}
    return meter.told("project") | {"home_mb": sum(sizes.values()) / 1e6}


def restart(home: Path, count: int) -> Figures:
    """Start a projector that has nothing to do."""
    with Client(home, scope=SCOPE) as client:
        meter = Meter()
        client.project()
        return meter.told("restart")


def rebuild(home: Path, count: int) -> Figures:
    """Make all views anew, with the proof."""
    from memtape.tools.keep.owning import rebuild_as_owner

    with Client(home, scope=SCOPE) as client:
        meter = Meter()
        rebuild_as_owner(client.home, client.log, lambda _: None)
        return meter.told("rebuild")


def proof(home: Path, count: int) -> Figures:
    """Replay the log, and compare it with the views."""
    from memtape.tools.keep.verify import verify

    with Client(home, scope=SCOPE) as client:
        meter = Meter()
        assert verify(client.home, client.log).ok
        return meter.told("verify")


def search(home: Path, count: int) -> Figures:
    """Search in a new process: beyond the imports, warm, and after a capture that no view holds yet."""
    sys.modules["pandas"] = None  # type: ignore[assignment]  # pyarrow loads it, and users need not have it.
    with Client(home, scope=SCOPE, origin="user") as client:

        def ask(question: str) -> float:
            start = time.process_time()
            offer(client, question, lambda results, *_: list(results), 10)
            return time.process_time() - start

        asked = questions()
        first = ask(asked[0])
        warm = [ask(question) for question in [*asked, *asked, *asked]]
        after = []
        for question in asked[:AFTER_CAPTURE]:
            client.capture(f"After {question}", kind="turn")
            after.append(ask(question) - ask(question))
        reader_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        own = {"first_s": first, "after_capture_s": median(after), "reader_mb": reader_mb}
        return spread("warm", warm) | own


def meaning(home: Path, count: int) -> Figures:
    """Rank by words and vectors at once. The vectors are random, since time is looked for."""
    import numpy as np

    from memtape.state.index.vectors import text_vectors
    from memtape.state.ranking.ranker import Corpus

    rng = np.random.default_rng(SEED)

    def drawn_vectors(rows: int) -> Any:
        made = rng.standard_normal((rows, DIMENSIONS), np.float32)
        made *= 2_000 / np.sqrt(np.square(made).sum(axis=1, keepdims=True))
        return np.rint(made).astype(np.int16)

    with Client(home, scope=SCOPE, origin="user") as client:
        found, _ = client.reader.reading(lambda views: views.found(SCOPE))
        texts = found.texts
        corpus = Corpus(texts, found.text, text_vectors(drawn_vectors(texts.size)))
        asked = questions()

        def ask(question: str) -> float:
            vector, start = drawn_vectors(1)[0], time.process_time()
            corpus.rank(question, vector)
            return time.process_time() - start

        for question in asked:
            ask(question)
        return spread("vectors", [ask(question) for question in [*asked, *asked]])


def beside(home: Path, count: int) -> Figures:
    """Capture beside a running `run`, and wait until it is projected."""
    run = process_of(*python_of(), "run", "--home", str(home))
    with run, Client(home, scope=SCOPE, origin="user") as client:
        number = partition_of(SCOPE, client.log.partitions)

        def is_projected() -> bool:
            return client.reader.watermark(number).offset >= client.log.ends()[number]

        _until(is_projected)
        taken = []
        for count in range(AFTER_CAPTURE):
            start = time.perf_counter()
            client.capture(f"Beside {count}.", kind="turn")
            _until(is_projected)
            taken.append(time.perf_counter() - start)
    return spread("projected", taken)


def hooks(home: Path, count: int) -> Figures:
    """Call hooks as a host does, beside a running `run`: without a server, then with one that a hook left.

    A start of Python, and one that loads numpy, stand in the same rounds. Last comes what that server holds
    then.
    """
    folder = home / "work"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    adopt(folder, Home(home), SCOPE)
    taken, python = _Taken(), _installed(home / "installed")
    command = [str(python.with_name("memtape")), "agents", "hook", "--host", "claude", "--home", str(home)]
    told = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(folder)}

    def round_of(question: str, server: str) -> None:
        taken.call("python", [str(python), "-c", "pass"], b"")
        taken.call("numpy", [str(python), "-c", "import numpy"], b"")
        asked = told | {"hook_event_name": "UserPromptSubmit", "prompt": question}
        alone = server == "alone"
        taken.call(f"prompt_{server}", command, json.dumps(asked).encode(), alone=alone)
        taken.call(f"start_{server}", command, json.dumps(told).encode(), alone=alone)

    with process_of(*python_of(), "run", "--home", str(home)):
        for question in questions()[:HOOKS]:
            round_of(question, "alone")
        with process_of(*command, "--stay", data=json.dumps(told).encode()) as server:
            _until(lambda: any(home.glob("serving/*.sock")))
            time.sleep(SETTLE_S)
            for question in questions()[:HOOKS]:
                round_of(question, "served")
            return taken.told() | _memory(server)


def _memory(pid: int) -> Figures:
    """Return the megabytes that a process holds, and those that are no file's, as Linux tells them."""
    told = [line.split() for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]]
    kilobytes = {name: int(count) for name, count, _ in told}
    return {"hook_server_mb": kilobytes["Rss:"] / 1024, "hook_server_own_mb": kilobytes["Anonymous:"] / 1024}


class _Taken:
    """Wall and processor seconds of processes, by name."""

    def __init__(self) -> None:
        self._taken: dict[str, list[tuple[float, float]]] = {}

    def call(self, name: str, command: list[str], data: bytes, *, alone: bool = False) -> None:
        environment = _plain_environment() | ({HOOKS_VARIABLE: HOOKS_ALONE} if alone else {})
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, input=data, check=True, capture_output=True, env=environment)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self._taken.setdefault(name, []).append((wall, processor))

    def told(self) -> Figures:
        """Return the median and the 95th of a hundred of each."""
        figures: Figures = {}
        for name, taken in self._taken.items():
            for kind, each in zip(("_wall", ""), zip(*taken, strict=True), strict=True):
                figures |= spread(f"hook_{name}", each, kind)
        return figures


def _installed(folder: Path) -> Path:
    """Install this checkout as its users have it, beside the libraries that are here; return that Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python, environment = folder / "bin" / "python", _plain_environment()
    tell = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    place = Path(subprocess.run(tell, check=True, capture_output=True, text=True).stdout.strip())
    # A line that names a folder adds it behind what is installed.
    (place / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    install = [*pip, "install", "--quiet", "--no-deps", "--no-index"]
    words = ("--ignore-installed", "--no-build-isolation", str(ROOT))
    subprocess.run([*install, *words], check=True, env=environment)
    return python


def _plain_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


@contextmanager
def process_of(*command: str, data: bytes = b"") -> Iterator[int]:
    """Have a command run meanwhile, and give its pid. It finds our modules as this process does."""
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        assert running.stdin is not None
        running.stdin.write(data)
        running.stdin.close()
        yield running.pid
    finally:
        running.terminate()
        running.wait()


def _until(done: Callable[[], bool]) -> None:
    while not done():
        time.sleep(0.002)


MEASURED = (fill, project, restart, search, meaning, proof, beside, hooks, rebuild)
STAGES = {stage.__name__: stage for stage in MEASURED}


@click.command()
@click.option("--sizes", default="2000,20000,100000", show_default=True, help="Numbers of texts, by commas.")
@click.option("--stage", type=click.Choice(list(STAGES)), hidden=True)
@click.option("--home", type=click.Path(path_type=Path), hidden=True)
def main(sizes: str, stage: str | None, home: Path | None) -> None:
    """Measure at several sizes; a line of each figure as it comes."""
    os.environ.pop(LOG_VARIABLE, None)  # What is made up here is not for a log that somebody works with.
    counts = [int(size) for size in sizes.split(",")]
    if stage is not None:
        assert home is not None
        click.echo(json.dumps(STAGES[stage](home, counts[0])))
        return
    for count in counts:
        _measure(count)


def _measure(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        (home / "settings.toml").write_text('catch_up = false\n\n[embedder]\nchoice = "floor"\n')
        for name in STAGES:
            command = [sys.executable, __file__, "--stage", name, "--home", str(home), "--sizes", str(count)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found: Figures = json.loads(done.stdout.splitlines()[-1])
            for figure, value in found.items():
                click.echo(f"{count:>9,}  {figure:<24} {value:>12.4f}")


if __name__ == "__main__":
    main()
