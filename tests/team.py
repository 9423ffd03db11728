"""A team for tests: machines that share the views of a topic, each a process with a home of its own.

A machine can be killed, frozen past its session, cut off from the broker, closed, and misled: it has left the
group and goes on as if it owned its partitions. Meanwhile a producer appends. At the end a home of its own
says what the views have to be.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from builders import START, captured
from forking import python

from memtape.schemas.rows import TurnRow
from memtape.sinks.home.bucket_views import BucketViews
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.kafka import KafkaLog
from memtape.sinks.snapshots import MAGIC, expanded
from memtape.sinks.tables import Shard
from memtape.state.core.digests import RULES
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify

WAIT_S = 120.0
SCOPES = tuple(f"project:s{number}" for number in range(8))

MACHINE = """
import runpy, signal, sys, time
from memtape.sinks.logs import consumer_group
from memtape.sinks.logs.consumer_group import ConsumerGroup
from memtape.state.core import digests
session_s, misled_s, home, newer = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3], int(sys.argv[4])
digests.RULES["views"] += newer
consumer_group.SESSION_S, consumer_group.HEARTBEAT_S = session_s, session_s / 6
made, owned, member = ConsumerGroup.__init__, ConsumerGroup.owned, ConsumerGroup.member
told, until = {}, [0.0]

def make(group, *given):
    group.given = given
    made(group, *given)

def mislead(*_):
    until[0] = time.monotonic() + misled_s

def believe(group, wait_s):
    if time.monotonic() < until[0]:
        if not group._consumer._closed:
            told["member"] = member(group)
            group.close()
        time.sleep(wait_s)
        return told["owned"]
    if group._consumer._closed:
        made(group, *group.given)
    told["owned"] = owned(group, wait_s)
    return told["owned"]

ConsumerGroup.__init__, ConsumerGroup.owned = make, believe
ConsumerGroup.member = lambda group: told["member"] if group._consumer._closed else member(group)
signal.signal(signal.SIGUSR1, mislead)
sys.argv = ["memtape", "run", "--home", home]
runpy.run_module("memtape", run_name="__main__")
"""


class Outcome(NamedTuple):
    """What a round of faults has left: appended texts that no row has, and rows twice; whether the views are
    those of the log; and the builds of earlier claims that are left.
    """

    lost: int
    twice: int
    is_same: bool
    left: list[str]


class Machine:
    """A machine of a team, running or not."""

    def __init__(self, home: Home, session_s: float, misled_s: float) -> None:
        self.home, self._words = home, (session_s, misled_s, home.path)
        self.newer = 0
        """By so many versions its rules are newer, from its next start on."""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The pid of its process, 0 while there is none."""
        return self._process.pid if self._process is not None else 0

    def start(self) -> None:
        """Start the machine."""
        with (self.home.path / "said").open("ab") as said:
            self._process = python(
                MACHINE, *self._words, self.newer, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )

    def signal(self, number: signal.Signals) -> None:
        """Send its process a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def end(self, number: signal.Signals) -> int:
        """End its process by a signal, and return its exit code."""
        self.signal(signal.SIGCONT)
        self.signal(number)
        assert self._process is not None
        code, self._process = self._process.wait(WAIT_S), None
        return code

    def said(self) -> str:
        """Return what it has said."""
        return (self.home.path / "said").read_text()


class Team:
    """Machines at the URLs of a topic, and a folder of views, with a producer that never pauses."""

    def __init__(
        self, folder: Path, urls: Sequence[str], partitions: int, session_s: float, views: str = ""
    ) -> None:
        self.url, self.views, self.partitions = urls[0], views or str(folder / "views"), partitions
        self.log = KafkaLog(self.url, partitions)
        homes = [self.home(folder / f"m{n}", url) for n, url in enumerate(urls)]
        self.machines = [Machine(home, session_s, 3.0) for home in homes]
        self.reader = self.home(folder / "reader", self.url)
        assert self.reader.shared is not None
        self.shared = self.reader.shared
        self.undisturbed = Home(folder / "undisturbed")
        self.appended = 0
        self._over = threading.Event()
        self._producer = threading.Thread(target=self._produce, daemon=True)

    def home(self, path: Path, url: str) -> Home:
        """Make a home of the team, which reaches the topic at a URL."""
        made = Home(path)
        made.settings_path.write_text(f'log = "{url}"\nviews = "{self.views}"\n')
        return made

    def __enter__(self) -> Team:
        self._producer.start()
        for machine in self.machines:
            machine.start()
        self.await_progress(*(machine.pid for machine in self.machines))
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._producer.join()
        for machine in self.machines:
            if machine.pid:
                machine.end(signal.SIGKILL)
        self.log.close()

    def _produce(self) -> None:
        with closing(KafkaLog(self.url)) as log:
            while not self._over.wait(0.1):
                first = self.appended
                log.append(
                    [
                        captured(f"number {n}", f"n{n}", "turn", scope=SCOPES[n % 8], sent=START + n * 10**6)
                        for n in range(first, first + 5)
                    ]
                )
                self.appended += 5

    def bytes_of(self, partition: int) -> bytes:
        """Return the bytes of all files of the shared views, snapshots expanded, and of a partition's log."""
        data = list[bytes]()
        with TemporaryDirectory() as folder:
            for path in self.shared.copy_all(Path(folder), lambda done, total: None).rglob("*"):
                with suppress(OSError):  # A folder, or a file that its writer has just replaced.
                    read = path.read_bytes()
                    data.append(expanded(read) if read.startswith(MAGIC) else read)
        return b"".join([*data, *(slot.payload for slot in self.log.read(partition, 0, 1_000_000))])

    def owners(self) -> list[int]:
        """Return the pids that have claimed the served views."""
        return [int(name.split()[-1].rstrip(")")) for name in self.shared.owners()]

    def newer(self) -> set[int]:
        """Return by how many versions the rules of served views are newer than these."""
        build = self.reader.current()
        marks = (Shard(build.shard(number), number).watermark() for number in range(self.partitions))
        versions = (dict(it.split("=") for it in mark.rules.split(",")) for mark in marks if mark is not None)
        return {int(it["views"]) - RULES["views"] for it in versions}

    def offsets(self) -> list[int]:
        """Return how far the served views of each partition are."""
        build, found = self.shared.served(), []
        for number in range(self.partitions):
            shard = Shard(build.shard(number), number)
            mark = shard.watermark() if shard.exists() else None
            found.append(0 if mark is None else mark.offset)
        return found

    def await_progress(self, *of: int, without: int = 0) -> float:
        """Wait until every partition has views of all that is on the log now; return the seconds.

        Each of the processes `of` then owns a partition, and the process `without` owns none.
        """
        began, ends = time.monotonic(), self.log.ends()
        while True:
            seen = self.offsets()
            is_there = all(offset >= end - 1 for offset, end in zip(seen, ends, strict=True))
            owners = self.owners()
            if is_there and without not in owners and all(pid in owners for pid in of):
                return time.monotonic() - began
            said = [machine.said()[-500:] for machine in self.machines]
            assert time.monotonic() < began + WAIT_S, (seen, ends, self.owners(), said)
            time.sleep(0.05)

    def finish(self) -> Outcome:
        """Stop the producer, let the machines come to the end and close, and compare with the log."""
        self._over.set()
        self._producer.join()
        self.await_progress()
        for machine in self.machines:
            if machine.pid:
                assert machine.end(signal.SIGTERM) == 0, machine.said()
        verdict = verify(self.reader, self.log)
        with Owner(self.undisturbed, self.log) as owner:
            owner.project()
        alone, build = verify(self.undisturbed, self.log), self.shared.served()
        shards = (Shard(build.shard(number), number) for number in range(self.partitions))
        texts = Counter(row.text for shard in shards if shard.exists() for row in shard.rows(TurnRow))
        wanted = {f"number {n}" for n in range(self.appended)}
        served = {f"p{number:02}-{claim:08}" for number, claim in build.claims.items()}
        left = [name for name in self._names() if name.lstrip(".")[:1] == "p" and name not in served]
        return Outcome(
            len(wanted - texts.keys()),
            sum(texts.values()) - len(wanted),
            verdict.ok and alone.ok and verdict.state_hash == alone.state_hash,
            left,
        )

    def _names(self) -> list[str]:
        """Return the folders of the place of shared views."""
        if isinstance(self.shared, BucketViews):
            return sorted({it.name.split("/")[0] for it in self.shared.bucket.versions()})
        return os.listdir(self.views)
