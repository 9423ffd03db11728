"""What real hosts are given of a memory, and what that costs: run by `make bench-agents`, which writes docs/hosts.md.

Each cell is a host, a memory of so many texts, and whether a server of hooks runs: a session of ten prompts, one of
them after a compaction where the host can be made to, the next session, and one of another host. Every prompt asks for
a fact that the memory holds. The model is `fake_model`; what it was sent is what was injected. Facts and questions come
from a file of changing values (`--facts`), the rest of the memory from corpora of conversations (`--corpus`).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from bench import scale
from clients import PACKAGES, Trial, install
from fake_model import FakeModel, Seen

from memtape.schemas.variables import HOOKS_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.tools.ask.measuring import tokenizer
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.measure.corpus import read_corpus

SIZES = (0, 500, 2_000, 20_000)
HOSTS = ("claude", "codex", "gemini")
ASKED = 12
PROMPTS = 10
LOOK_S = 0.05
QUIET_S = 10.0
"""So long what nobody waits for may go on after a session, before the next begins."""
BLOCK = re.compile(r"<memtape>.*?</memtape>|&lt;memtape&gt;.*?&lt;/memtape&gt;", re.DOTALL)
DOCS = Path(__file__).resolve().parents[1] / "docs" / "hosts.md"
TICKS = os.sysconf("SC_CLK_TCK")
WRAPPER = """#!/bin/sh
[ "$1" = hook ] || exec "{memtape}" "$@"
told=$(cat)
printf '%s' "$told" | "{memtape}" "$@"
code=$?
case "$told" in *'"SessionEnd"'*) moment=end ;; *) moment=other ;; esac
{{ echo $moment; times; }} >> "{spent}"
exit $code
"""
"""Notes the processor time of each hook, and whether it was one of an end. A server takes the place of this shell."""


class Fact(NamedTuple):
    """What the memory holds, a prompt that needs it, and the text that should be given."""

    texts: tuple[str, ...]
    prompt: str
    needed: str


class Run(NamedTuple):
    """One run of a host: when, what was injected by it, whether the fact was there, and what it took."""

    moment: str
    injected: str
    delivered: bool
    hooks_ms: float
    end_ms: float | None
    """What of that was the hook of the session's end; None where the host told of none."""
    servers_ms: float
    took_s: float


class Spent:
    """Sums the processor time of all processes of a home that are no hooks anybody waits for, by looking at them."""

    def __init__(self, home: Path) -> None:
        self._home = os.fsencode(home)
        self._held: dict[tuple[int, str], int] = {}
        self._ended = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def ms(self) -> float:
        return sum(list(self._held.values())) / TICKS * 1_000

    def pids(self) -> list[int]:
        return [pid for pid, _ in self._look()]

    def end(self) -> None:
        self._ended.set()

    def _watch(self) -> None:
        while not self._ended.wait(LOOK_S):
            self._held.update(self._look())

    def _look(self) -> dict[tuple[int, str], int]:
        found = {}
        for entry in os.scandir("/proc"):
            with suppress(OSError, ValueError, IndexError):
                pid = int(entry.name)
                words = Path(entry.path, "cmdline").read_bytes()
                is_server = b"\0mcp\0" in words or b"--stay" in words or b"--alone" in words
                if self._home in words and is_server and b"/bin/sh" not in words.split(b"\0")[0]:
                    fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                    found[pid, fields[19]] = int(fields[11]) + int(fields[12])
        return found


class Bench:
    """All cells, in one folder whose memory is laid anew for each."""

    def __init__(self, trial: Trial, folder: Path, facts: list[Fact], corpora: list[Path]) -> None:
        self.trial, self.folder, self.facts, self.corpora = trial, folder, facts, corpora
        self.memory = folder / "memory"
        self.spent_file = folder / "spent"
        self.spent = Spent(self.memory)

    def wrap(self) -> None:
        """Have whatever hosts call from now on note what it takes."""
        self.trial.command.write_text(WRAPPER.format(memtape=self.trial.installed, spent=self.spent_file))

    def filled(self, size: int) -> Path:
        """Return a home of so many texts, projected; the facts are among them, spread evenly."""
        home = self.folder / f"filled-{size}"
        texts = [text for fact in self.facts for text in fact.texts] if size else []
        rest = islice(chain(_said(self.corpora), (text for _, text in scale.texts(size))), size - len(texts))
        step = max(1, (size - len(texts)) // max(1, len(texts)))
        with Client(home, folder=self.trial.project) as client:
            client.made_scope()
            mixed = _mixed(list(rest), texts, step)
            client.capture_many(
                Line(text=text, kind="fact" if is_fact else "turn", origin="user", native_id=f"b{number}")
                for number, (text, is_fact) in enumerate(mixed)
            )
        for _ in range(2):  # What is taken from texts is projected as well.
            words = [str(self.trial.installed), "run", "--once", "--home", str(home)]
            subprocess.run(words, env=self.trial.environment, capture_output=True, check=True)
        return home

    def cell(self, host: str, home: Path, served: bool, prompts: int) -> list[Run]:
        """Lay the memory and run the sessions of a cell."""
        for path in self.memory.iterdir():
            if path.name != "plugins":
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        shutil.copytree(home, self.memory, dirs_exist_ok=True)
        self.trial.environment.pop(HOOKS_VARIABLE, None)
        if not served:
            self.trial.environment[HOOKS_VARIABLE] = "alone"
        else:
            self._serve(host)
        runs, asked = [], iter(self.facts)
        for number in range(prompts):
            moment = "start and prompt 1" if number == 0 else f"prompt {number + 1}"
            runs.append(self._run(host, moment, next(asked), resumed=number > 0))
        if host == "claude":
            self._take(host, self.trial.prompting(host, "/compact", resumed=True))
            self._blocks = set()  # What was injected before is gone with what was said.
            runs.append(self._run(host, "after a compaction", self.facts[prompts - 1], resumed=True))
        runs.append(self._run(host, "next start", next(asked), resumed=False))
        other = self.trial.hosts[(self.trial.hosts.index(host) + 1) % len(self.trial.hosts)]
        runs.append(self._run(other, f"start of {other}", next(asked), resumed=False))
        self._quiet(everything=True)
        return runs

    def _serve(self, host: str) -> None:
        """Have a hook leave a server behind, and wait until that listens."""
        told = json.dumps({"hook_event_name": "SessionStart", "session_id": "warm", "cwd": str(self.trial.project)})
        subprocess.run(
            [str(self.trial.installed), "hook", "--host", host, "--home", str(self.memory)],
            input=told, env=self.trial.environment, text=True, capture_output=True, check=False,
        )  # fmt: skip
        deadline = time.monotonic() + 30
        while not list((self.memory / "serving").glob("*.sock")) and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        time.sleep(2.0)  # It reads its first project.

    def _run(self, host: str, moment: str, fact: Fact, resumed: bool) -> Run:
        servers = self.spent.ms()
        self.spent_file.write_text("")
        before = self._blocks if resumed else set()
        begun = time.monotonic()
        seen = self._take(host, self.trial.prompting(host, fact.prompt, resumed=resumed))
        took_s = time.monotonic() - begun
        self._quiet()
        blocks = list(dict.fromkeys(chain.from_iterable(map(_blocks, seen))))
        self._blocks = set(blocks) | (before if resumed else set())
        others_ms, ends_ms = _hooks_ms(self.spent_file.read_text())
        return Run(
            moment,
            "\n".join(block for block in blocks if block not in before),
            any(_plain(fact.needed) in _plain(block) for block in blocks),
            sum(others_ms) + sum(ends_ms),
            sum(ends_ms) if ends_ms else None,
            self.spent.ms() - servers,
            took_s,
        )

    def _take(self, host: str, words: list[str]) -> list[Seen]:
        """Let a host take one turn and return what its model was asked."""
        already = len(self.trial.model.seen)
        self.trial.ran(words)
        return self.trial.model.seen[already:]

    def _quiet(self, everything: bool = False) -> None:
        """Wait until what hooks have left to others is done; end the server of hooks where everything should end."""
        deadline = time.monotonic() + QUIET_S
        while self._busy() and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        lock = Home(self.memory).hook_server_lock()
        if everything and (pid := lock.holder()):
            os.kill(pid, 15)
            while lock.holder() == pid and time.monotonic() < deadline + QUIET_S:
                time.sleep(LOOK_S)

    def _busy(self) -> bool:
        """Whether a process of this home runs that is not the server of hooks."""
        server = Home(self.memory).hook_server_lock().holder()
        return any(pid != server for pid in self.spent.pids())


def _said(corpora: list[Path]) -> Iterator[str]:
    for path in corpora:
        for conversation in read_corpus(path):
            yield from (line.text for line in conversation.lines)


def _mixed(rest: list[str], facts: list[str], step: int) -> Iterator[tuple[str, bool]]:
    waiting = iter(facts)
    for number, text in enumerate(rest):
        if number % step == step // 2 and (fact := next(waiting, None)) is not None:
            yield fact, True
        yield text, False
    yield from ((fact, True) for fact in waiting)


def _facts(path: Path) -> list[Fact]:
    cases = [json.loads(line) for line in path.read_text().splitlines()]
    cases = [case for case in cases if len(case["current"]) == 1]
    step = len(cases) // ASKED
    return [
        Fact(
            tuple(text["text"] for text in case["texts"]),
            case["question"],
            case["texts"][case["current"][0]]["text"],
        )
        for case in cases[::step][:ASKED]
    ]


def _blocks(seen: Seen) -> list[str]:
    """Return what of us stands in a request, wherever in it."""
    found: list[str] = []

    def look(value: Any) -> None:
        if isinstance(value, str):
            found.extend(block.replace("&lt;", "<").replace("&gt;", ">") for block in BLOCK.findall(value))
        elif isinstance(value, dict | list):
            for inner in value.values() if isinstance(value, dict) else value:
                look(inner)

    look(json.loads(seen.body))
    return found


def _plain(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())


def _hooks_ms(times: str) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each hook, those of ends apart, as the wrapper noted them.

    A hook is a line `end` or `other`, and two of `times` (the shell, its children): `0m0.120s 0m0.030s`.
    """
    found: dict[str, list[float]] = {"other": [], "end": []}
    for moment, said in re.findall(r"^(end|other)\n((?:\d.*\n)*)", times, re.MULTILINE):
        parts = re.findall(r"(\d+)m([\d.]+)s", said)
        found[moment].append(sum(int(minutes) * 60_000 + float(seconds) * 1_000 for minutes, seconds in parts))
    return found["other"], found["end"]


def table(cells: list[tuple[str, int, bool, list[Run]]]) -> str:
    """Return the page of docs."""
    count = tokenizer()
    lines = [
        "# What hosts are given",
        "",
        "Written by `make bench-agents`: real hosts over a model on loopback, sessions of ten prompts that each ask",
        f"for a fact of the memory. Tokens are those of {count.name}, of new text in the request. *Delivered*: prompts",
        "whose fact stood in the request. Processor times are means of a run; *end* is part of *hooks*.",
        "",
        "| host | texts | server of hooks | start | tenth prompt | a prompt, mean | after compaction | end"
        " | next start | another's start | delivered | hooks | servers |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for host, size, served, runs in cells:
        tokens = {run.moment.partition(" of ")[0]: count.count(run.injected) for run in runs}
        prompts = [count.count(run.injected) for run in runs if run.moment.startswith("prompt")]
        asked = [run for run in runs if run.moment != "after a compaction"]
        ends = [run.end_ms for run in runs if run.end_ms is not None]
        shown = [
            tokens.get("start and prompt 1"), tokens.get(f"prompt {PROMPTS}"),
            round(sum(prompts) / len(prompts)) if prompts else None, tokens.get("after a compaction"),
            f"{sum(ends) / len(ends):,.0f} ms" if ends else None, tokens.get("next start"), tokens.get("start"),
        ]  # fmt: skip
        delivered = f"{sum(run.delivered for run in asked)} of {len(asked)}" if size else "–"
        means = (sum(each) / len(runs) for each in ([run.hooks_ms for run in runs], [run.servers_ms for run in runs]))
        row = [host, f"{size:,}", "yes" if served else "no", *map(_shown, shown)]
        lines.append("| " + " | ".join([*row, delivered, *(f"{mean:,.0f} ms" for mean in means)]) + " |")
    return "\n".join(lines) + "\n"


def _shown(value: int | str | None) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "memtape" / "clients")
    parser.add_argument("--hosts", nargs="*", choices=HOSTS, default=list(HOSTS))
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--prompts", type=int, default=PROMPTS)
    parser.add_argument("--facts", type=Path, required=True, help="JSON lines of {texts, question, current}.")
    parser.add_argument(
        "--corpus", type=Path, nargs="*", default=[], help="Conversations, as `memtape eval` reads them."
    )
    parser.add_argument("--json", type=Path, help="Also write every run, with what was injected.")
    parser.add_argument("--page", type=Path, default=DOCS)
    asked = parser.parse_args()
    programs = install(asked.cache, [host for host in PACKAGES if host in asked.hosts])
    folder = Path(tempfile.mkdtemp(prefix="memtape-hosts-"))
    cells: list[tuple[str, int, bool, list[Run]]] = []
    try:
        with FakeModel() as model:
            trial = Trial(folder, Path(sys.executable).with_name("memtape"), programs, model, asked.hosts)
            bench = Bench(trial, folder, _facts(asked.facts), asked.corpus)
            for host in asked.hosts:
                if trial.memtape("connect", host).returncode:
                    return 1
            bench.wrap()
            for size in asked.sizes:
                home = bench.filled(size)
                for host in asked.hosts:
                    for served in (False, True):
                        begun = time.monotonic()
                        runs = bench.cell(host, home, served, asked.prompts if size else 1)
                        cells.append((host, size, served, runs))
                        took_s = time.monotonic() - begun
                        print(f"{host} {size:,} {'served' if served else 'alone'}: {took_s:.0f} s", flush=True)
                        asked.page.write_text(table(cells))
                        if asked.json:
                            asked.json.write_text(_all(cells))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(table(cells))
    return 0


def _all(cells: list[tuple[str, int, bool, list[Run]]]) -> str:
    return json.dumps(
        [
            {"host": host, "texts": size, "served": served, "runs": [run._asdict() for run in runs]}
            for host, size, served, runs in cells
        ],
        indent=1,
    )


if __name__ == "__main__":
    sys.exit(main())
