"""Rounds of faults on a team: machines that share the views of a topic are killed, frozen, cut off,
misled and closed.

    python tests/bench/sharing.py --rounds 200

It starts a broker of its own (`KAFKA_HOME`), appends and searches all the time, and prints a table.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from cutting import Network  # noqa: E402
from forking import python  # noqa: E402
from kafka_broker import make_broker, new_topic  # noqa: E402
from s3_server import BUCKET, serving_s3  # noqa: E402
from team import Machine, Team  # noqa: E402

PROMISES = {
    "kill": "a killed machine's partitions move after one session",
    "freeze": "a frozen machine's partitions move after one session, and it changes nothing once it wakes",
    "cut": "a machine that was cut off for longer than its session joins again, and changed nothing",
    "mislead": "a machine that believes to own what it has lost changes nothing",
    "close": "a closed machine's partitions move in a second",
}
READER = """
import json, signal, sys, time
from pathlib import Path
from team import SCOPES
from memtape.tools.client import Client
over, took, failed = [], [], []
signal.signal(signal.SIGTERM, lambda *_: over.append(1))
with Client(Path(sys.argv[1]), scope=SCOPES[0]) as client:
    while not over:
        began = time.monotonic()
        try:
            client.search(f"number {len(took) * 8}")
        except Exception as error:
            failed.append(repr(error))
        took.append(time.monotonic() - began)
        time.sleep(0.2)
print(json.dumps({"took": took, "failed": failed}))
"""


def strike(team: Team, machine: Machine, fault: str, network: Network) -> float:
    """Let a fault befall a machine; return the seconds until others have its partitions and the whole log."""
    pid = machine.pid
    if fault == "kill":
        machine.end(signal.SIGKILL)
    elif fault == "cut":
        with network.cut():
            return team.await_progress(without=pid)
    elif fault == "close":
        assert machine.end(signal.SIGTERM) == 0, machine.said()
    else:
        machine.signal(signal.SIGSTOP if fault == "freeze" else signal.SIGUSR1)
    if fault == "mislead":  # It claims its partitions again and again meanwhile.
        time.sleep(4.0)
        return team.await_progress()
    took_s = team.await_progress(without=pid)
    if fault == "freeze":
        machine.signal(signal.SIGCONT)
    else:
        machine.start()
    return took_s


def strike_all(team: Team, rounds: int, seed: int, network: Network) -> None:
    """Let a random fault befall a random machine, round by round, and print the table at the end."""
    rng, took = random.Random(seed), dict[str, list[float]]()
    try:
        for number in range(1, rounds + 1):
            fault, machine = rng.choice(list(PROMISES)), rng.choice(team.machines)
            if fault == "cut":  # The last machine alone comes through the network.
                machine = team.machines[-1]
            took.setdefault(fault, []).append(strike(team, machine, fault, network))
            team.await_progress(*(it.pid for it in team.machines))
            print(f"{number} {fault} {took[fault][-1]:.1f} s", file=sys.stderr, flush=True)
    finally:
        print("| promise | fault | rounds | until others have all, s: median, worst |")
        print("| --- | --- | ---: | ---: |")
        for fault, promise in PROMISES.items():
            if seen := took.get(fault):
                print(
                    f"| {promise} | {fault} | {len(seen)} | {statistics.median(seen):.1f}, {max(seen):.1f} |"
                )


def print_reads(read: dict[str, Any]) -> None:
    """Print how long a fourth process waited for its searches, and what failed."""
    ms = sorted(1_000 * it for it in read["took"])
    half, most = ms[len(ms) // 2], ms[int(len(ms) * 0.95)]
    told = f"p50 {half:.0f} ms, p95 {most:.0f} ms, longest {ms[-1]:.0f} ms"
    print(f"A fourth process searched {len(ms)} times: {told}; failed {len(read['failed'])}.")
    for error in dict.fromkeys(read["failed"]):
        print(error)


def main() -> None:
    """Run the rounds and print what was seen."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    asked.add_argument("--rounds", type=int, default=200)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--session", type=float, default=3.0, help="of the group, in seconds")
    asked.add_argument("--partitions", type=int, default=8)
    asked.add_argument(
        "--bucket", action="store_true", help="share a bucket, of a server here, and no folder"
    )
    given = asked.parse_args()
    views = f"s3://{BUCKET}/of/a-team" if given.bucket else ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "broker").mkdir()
        broker = make_broker(folder / "broker")
        with (folder / "broker" / "server.properties").open("a") as file:
            file.write("\ngroup.min.session.timeout.ms=1000\n")
        broker.start()
        try:
            topic, network = new_topic(), broker.network
            assert network is not None
            urls = [broker.url(topic), broker.url(topic), broker.network_url(topic)]
            with (
                serving_s3(versions=True) if given.bucket else nullcontext(),
                Team(folder, urls, given.partitions, given.session, views) as team,
            ):
                reader = python(READER, team.reader.path, stdout=subprocess.PIPE)
                strike_all(team, given.rounds, given.seed, network)
                reader.terminate()
                print_reads(json.loads(reader.communicate()[0]))
                outcome = team.finish()
        finally:
            broker.kill()
    lost, twice, is_same, left = outcome
    print(
        f"{team.appended} texts appended: {lost} lost, {twice} twice; the state hash is that of a home of its"
    )
    print(f"own: {is_same}; builds of earlier claims that are left: {len(left)}.")


if __name__ == "__main__":
    main()
