"""What a topic costs at which size: appends, views in a shared folder, catching up, and bytes.

    python tests/bench/topic.py --events 1000000 --partitions 16 64

It starts a broker of its own (`KAFKA_HOME`). The events are turns of 200 scopes. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from builders import START, captured  # noqa: E402
from kafka_broker import Broker, make_broker, new_topic  # noqa: E402

from bench.scale import texts  # noqa: E402
from memtape.schemas.events import Event  # noqa: E402
from memtape.sinks.home.folders import Home  # noqa: E402
from memtape.sinks.logs.kafka import KafkaLog  # noqa: E402
from memtape.tools.client import Client  # noqa: E402

SCOPES = 200
BATCH_EVENTS = 5_000
CAPTURES = 40


def events_of(count: int, first: int) -> Iterator[Event]:
    """Yield turns of all scopes, one scope after the other."""
    for number, (_, text) in enumerate(islice(texts(count), count), start=first):
        scope, sent = f"project:s{number % SCOPES}", START + number * 10**6
        yield captured(text, f"event {number}", "turn", scope=scope, sent=sent)


def append(url: str, count: int, first: int = 0) -> float:
    """Append events; return the seconds, without those of making the events."""
    took_s, events = 0.0, events_of(count, first)
    with closing(KafkaLog(url)) as log:
        while batch := list(islice(events, BATCH_EVENTS)):
            began = time.monotonic()
            log.append(batch)
            took_s += time.monotonic() - began
    return took_s


def bytes_in(folder: Path) -> int:
    """Return the bytes that the files of a folder take, each file once."""
    stats = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return 512 * sum({it.st_ino: it.st_blocks for it in stats}.values())


def run_once(home: Home) -> tuple[float, float]:
    """Let a process of its own bring the views to the end; return the seconds and the most megabytes."""
    began = time.monotonic()
    command = [sys.executable, "-m", "memtape", "run", "--once", "--home", str(home.path)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    most_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return time.monotonic() - began, most_kb / 1_024


def wait_ms(home: Home) -> list[float]:
    """Return the waits (ms) from a capture until another home's views have it, sorted; a machine projects."""
    command = [sys.executable, "-m", "memtape", "run", "--home", str(home.path)]
    machine = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took = list[float]()
    try:
        with Client(home.path, scope="project:s0") as client:
            for number in range(CAPTURES):
                began = time.monotonic()
                receipt = client.capture(f"The gauge number {number} reads seven.")
                client.search("gauge", at_least=f"{receipt.partition}/{receipt.offset}", quiet=True)
                took.append(1_000 * (time.monotonic() - began))
    finally:
        machine.terminate()
        machine.wait()
    return sorted(took[CAPTURES // 4 :])  # The first wait for the machine to join.


def measure(broker: Broker, folder: Path, events: int, partitions: int) -> None:
    """Measure one topic, and print a line of the table."""
    assert broker.folder is not None
    url, home = broker.url(new_topic()), Home(folder / f"p{partitions}")
    home.settings_path.write_text(f'log = "{url}"\nviews = "views"\n')
    before = bytes_in(broker.folder)
    KafkaLog(url, partitions).close()
    append_s = append(url, events)
    stored = bytes_in(broker.folder) - before
    views_s, most_mb = run_once(home)
    later = events // 10
    append(url, later, events)
    again_s, _ = run_once(home)
    waits = wait_ms(home)
    cells = [
        f"{events:,}",
        f"{partitions}",
        f"{events / append_s:,.0f}",
        f"{views_s:.0f}",
        f"{most_mb:,.0f}",
        f"{again_s:.1f}",
        f"{waits[len(waits) // 2]:.0f}, {waits[int(len(waits) * 0.95)]:.0f}",
        f"{stored / events:.0f}",
        f"{bytes_in(home.path / 'views') / (events + later):.0f}",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Measure each number of partitions."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    asked.add_argument("--events", type=int, default=1_000_000)
    asked.add_argument("--partitions", type=int, nargs="+", default=[16, 64])
    given = asked.parse_args()
    print("| events | partitions | appended a second | views of all, s | MB | a tenth more, s", end="")
    print(" | until in the views, ms: p50, p95 | bytes an event: broker | bucket |")
    print("| ---: " * 9 + "|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "broker").mkdir()
        broker = make_broker(folder / "broker")
        broker.start()
        try:
            for partitions in given.partitions:
                measure(broker, folder, given.events, partitions)
        finally:
            broker.kill()


if __name__ == "__main__":
    main()
