"""What the sessions of a home weigh: the one server, and the processes that forward to it. It prints a table.

Run `PYTHONPATH=. .venv/bin/python tests/weigh_sessions.py --texts 2000 20000`. Sessions are `memtape agents
mcp` over stdio, at the floor. What a process holds is read from `smaps_rollup` of Linux: RSS, and in brackets
what is no file's.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from bench import scale

from memtape.sinks.home.folders import Home
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.keep.starting import python_of

SCOPE = "project:weighed"
SESSIONS = 10
SETTLE_S = 35.0
"""Two looks of the server, at which it gives back what its heap no longer needs."""
INFO = {"name": "weighing", "version": "1"}
HOST = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": INFO}


class Held(NamedTuple):
    """Megabytes of a process: all that is resident, and of it what no file backs."""

    all: float
    own: float

    def __str__(self) -> str:
        return f"{self.all:.0f} ({self.own:.0f})"


def held(pid: int) -> Held:
    """Return what a process holds now."""
    told = [line.split() for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]]
    kilobytes = {name: int(count) for name, count, _ in told}
    return Held(kilobytes["Rss:"] / 1024, kilobytes["Anonymous:"] / 1024)


class Session:
    """One host's session: it calls tools and waits for their answers."""

    def __init__(self, home: Path) -> None:
        words = [*python_of(), "agents", "mcp", "--home", str(home), "--scope", SCOPE]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._asked = 0
        self._ask("initialize", HOST)
        self._tell({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> str:
        """Return what a tool answers."""
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        assert not answer.get("isError"), answer
        return str(answer["content"][0]["text"])

    def end(self) -> None:
        """End it as a host does, by closing its stdin."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _tell(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._asked += 1
        self._tell({"id": self._asked, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            told = json.loads(self.process.stdout.readline())
            if told.get("id") == self._asked and "method" not in told:
                return dict(told["result"])


def weighed(home: Path, count: int) -> list[tuple[str, str]]:
    """Return what is held at each step of ten sessions in a home of so many texts."""
    fill(home, count)
    sessions = [Session(home)]
    server = Home(home, make=False).lock("hook-server").holder()
    assert server is not None, "No server took the session."
    rows: list[tuple[str, str]] = []

    def step(what: str, act: Callable[[Session, int], object], every: list[Session]) -> None:
        for number, session in enumerate(every):
            act(session, number)
        time.sleep(SETTLE_S)
        rows.append((what, str(held(server))))

    try:
        step("the server, one session", search, sessions)
        sessions += [Session(home) for _ in range(SESSIONS - 1)]
        rows.append(("a session's own process", str(held(sessions[-1].process.pid))))
        step("the server, ten sessions", search, sessions)
        step("the same after ten captures and starts", capture, sessions)
        step("the same after memories were opened", look, sessions)
        all_of = [held(pid) for pid in (server, *(session.process.pid for session in sessions))]
        rows.append(("all of ten sessions then", str(Held(*map(sum, zip(*all_of, strict=True))))))
        step("the server after each has forgotten and restored", decide, sessions)
    finally:
        for session in sessions:
            session.end()
        os.kill(server, 15)
    return rows


def fill(home: Path, count: int) -> None:
    """Lay a home of so many turns and facts, projected."""
    with Client(home, scope=SCOPE, actor="weighing", origin="user") as client:
        client.capture_many(
            Line(text=text, kind="fact" if number % 5 == 0 else "turn", origin="user", native_id=f"w{number}")
            for number, (_, text) in enumerate(scale.texts(count))
        )
    for _ in range(2):  # What is taken from texts is projected as well.
        subprocess.run([*python_of(), "run", "--once", "--home", str(home)], capture_output=True, check=True)


def search(session: Session, number: int) -> None:
    """Ask three questions."""
    asked = scale.questions()
    for question in asked[3 * number : 3 * number + 3]:
        session.call("search_memories", query=question)


def capture(session: Session, number: int) -> None:
    """Tell one thing, and ask for the context of a start."""
    session.call("add_memory", text=f"The harbour desk number {number} opens at {number + 5}.")
    session.call("get_context")


def look(session: Session, number: int) -> None:
    """Open what came last, and say that some of it was of use."""
    ids = re.findall(r"^\d[^`\n]*`([^`\n]+)", session.call("list_recent", limit=8), re.M)
    for id in ids:
        session.call("get_memory", id=id)
    session.call("mark_used", ids=ids[:2])
    session.call("list_sessions")


def decide(session: Session, number: int) -> None:
    """Hide a memory and show it again, which folds the project."""
    id = session.call("list_recent", limit=8).split("\n1. `")[1].split("`")[0]
    for tool in ("forget_memory", "restore_memory"):
        session.call(tool, id=id)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, nargs="+", default=[2_000, 20_000])
    asked = parser.parse_args()
    columns: dict[int, dict[str, str]] = {}
    for count in asked.texts:
        with tempfile.TemporaryDirectory(prefix="memtape-weighed-") as folder:
            columns[count] = dict(weighed(Path(folder) / "home", count))
            print(count, columns[count], file=sys.stderr, flush=True)
    print("| texts | " + " | ".join(f"{count:,}" for count in columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for what in next(iter(columns.values())):
        print(f"| {what} | " + " | ".join(column[what] for column in columns.values()) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
