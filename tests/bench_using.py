"""Whether uses are told on what real hosts write: run by `make bench-using`, for a table in docs/benchmarks.md.

Each session has four prompts, questions of a corpus whose conversation is the memory. The model searches the memory, is
given what hooks add, and then says what its script says, of which it is known whether it comes from what was given: the
corpus' answer, in one message or before another call; the answer to another question; the question again; that it does
not know; or nothing but calls. In half of the sessions the hook at the end of an answer never runs, so that answers
come with the import of the transcript alone. The model is `fake_model`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from bench.using import Answered, answered
from clients import PACKAGES, Trial, install
from fake_model import SEARCHING, FakeModel

from memtape.schemas.variables import HOOKS_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.state.core.replay import replay
from memtape.state.subjects.usage import Shown
from memtape.state.text.normal import words
from memtape.tools.client import Client
from memtape.tools.measure.corpus import read_corpus
from memtape.tools.measure.locomo import Conversation

HOSTS = ("claude", "codex", "gemini")
PROMPTS = 4
QUIET_S = 60.0
SAYS = ("answer", "split", "another's answer", "question", "refusal", "calls only")
"""What the model says, in turn."""
USED = ("answer", "split")
ROOT = str(Path(__file__).resolve().parents[1])
MARK = re.compile(r"^\"?Question (\d+): ", re.MULTILINE)
WRAPPER = """#!{python}
import os, sys
if sys.argv[1:2] == ["hook"] and os.path.exists({late!r}):
    told = sys.stdin.buffer.read()
    if b'"Stop"' in told or b'"AfterAgent"' in told:
        sys.exit(0)
    reads, writes = os.pipe()
    os.write(writes, told)
    os.close(writes)
    os.dup2(reads, 0)
os.environ["PYTHONPATH"] = {path!r}
os.execv({memtape!r}, [{memtape!r}, *sys.argv[1:]])
"""
"""Leaves out what a hook is told of an answer, where that should be late. It becomes the hook, whose host it is of."""


class Asked(NamedTuple):
    """A prompt: its number, what is asked in it, what the model says, and whether no hook hears that."""

    number: int
    of: Answered
    says: str
    late: bool

    @property
    def prompt(self) -> str:
        return f"Question {self.number}: {self.of.question.text}"


class Script:
    """What the model answers: for each prompt a search, then what it is to say."""

    def __init__(self, asked: list[Asked]) -> None:
        self.asked = {one.number: one for one in asked}

    def __call__(self, turns: list[tuple[str, str]], tools: list[str]) -> tuple[str, str, dict[str, str]]:
        one, answers = None, 0
        for role, text in turns:
            # What hooks add may say earlier prompts again, or this one.
            latest = max(map(int, MARK.findall(text)), default=-1) if role == "user" else -1
            if one is None or latest > one.number:
                one, answers = self.asked.get(latest, one), 0
            elif role == "tool":
                answers += 1
        search = next((tool for tool in tools if tool.endswith("search_memories")), "")
        if one is None:
            return "Noted.", "", {}
        if SEARCHING in tools:  # This host keeps the tools of servers back until they are searched for.
            if not answers:
                return "", SEARCHING, {"query": "search_memories"}
            answers -= 1
        if not search:
            return "There is no memory to be searched.", "", {}
        return self._said(one, answers, search)

    def _said(self, one: Asked, answers: int, search: str) -> tuple[str, str, dict[str, str]]:
        question = one.of.question.text
        if not answers:
            return "I look it up.", search, {"query": question}
        if answers == 1 and one.says in ("split", "calls only"):
            return one.of.answer if one.says == "split" else "", search, {"query": "release checklist of the printer"}
        words = {
            "answer": one.of.answer,
            "split": "That is all.",
            "another's answer": one.of.other,
            "question": f"You ask: {question} Let me think about that.",
            "refusal": "I do not know, and I would rather not guess.",
            "calls only": "Done.",
        }
        return words[one.says], "", {}


class Bench:
    """A memory of one conversation, and one host that is asked about it."""

    def __init__(self, folder: Path, programs: Path, host: str, conversation: Conversation, count: int) -> None:
        self.host, self.folder, self.late = host, folder, folder / "late"
        said = {line.native_id: line.text for line in conversation.lines}
        questions = [one for one in answered(conversation) if _can_be_told(one, said)]
        step = max(1, len(questions) // count)
        self.asked = [
            Asked(n, questions[n * step % len(questions)], SAYS[n % len(SAYS)], n // PROMPTS % 2 == 1)
            for n in range(count)
        ]
        self.model = FakeModel(Script(self.asked))
        self.trial = Trial(folder, Path(sys.executable).with_name("memtape"), programs, self.model, [host])
        self.home = Path(self.trial.environment["MEMTAPE_HOME"])
        self.trial.environment["PYTHONPATH"] = ROOT
        self.trial.environment.pop(HOOKS_VARIABLE, None)  # With a server, tools are there before a host stops waiting.
        with Client(self.home, folder=self.trial.project) as client:
            scope = client.made_scope()
            lines = [msgspec.structs.replace(line, scope=scope) for line in conversation.lines]
            self.native = {event.id: line.native_id for line in lines for event in client.events_of(line, {})}
            client.capture_many(lines)
            client.catch_up()

    def run(self) -> list[tuple[Asked, bool, bool, bool]]:
        """Ask everything, and return of each pair of a prompt and what was given whether it is evidence and was used.

        The last is whether it counted as used before the transcripts were imported again.
        """
        with self.model:
            if self.trial.memtape("connect", self.host).returncode:
                sys.exit(1)
            # What hosts call from now on is this.
            self.trial.command.write_text(
                WRAPPER.format(python=sys.executable, memtape=str(self.trial.installed), late=str(self.late), path=ROOT)
            )
            for one in self.asked:
                self.late.touch() if one.late else self.late.unlink(missing_ok=True)
                resumed = one.number % PROMPTS > 0
                self.trial.ran(self.trial.prompting(self.host, one.prompt, resumed=resumed))
                self._wait()
            live = self._shown()
            self.trial.memtape("import", "--all")
            if pid := Home(self.home).hook_server_lock().holder():
                os.kill(pid, signal.SIGTERM)
            return self._pairs(self._shown(), live)

    def _wait(self) -> None:
        """Wait until what hooks have left to others is done; the server of the home stays."""
        deadline = time.monotonic() + QUIET_S
        while time.monotonic() < deadline:
            server = Home(self.home).hook_server_lock().holder()
            if not any(pid != server for pid in _working(self.home)):
                return
            time.sleep(0.1)

    def _shown(self) -> dict[str, tuple[Shown, dict[int, str]]]:
        """Return by its id each recall with the native ids of what it returned."""
        with Client(self.home, folder=self.trial.project) as client:
            log, pages = client.log, []
            for partition, end in enumerate(log.ends()):
                offset = 0
                while offset < end and (page := log.read(partition, offset, 5_000)):
                    pages += page
                    offset = page[-1].offset + 1
            (scope,) = (
                state.scopes[client.scope]
                for state in replay(pages).partitions.values()
                if client.scope in state.scopes
            )
            return {
                shown.id: (shown, {seq: self.native.get(scope.captures.by_seq[seq].id, "") for seq in shown.seqs})
                for recalls in scope.usage.shown.values()
                for shown in recalls
            }

    def _pairs(
        self, after: dict[str, tuple[Shown, dict[int, str]]], live: dict[str, tuple[Shown, dict[int, str]]]
    ) -> list[tuple[Asked, bool, bool, bool]]:
        pairs = []
        by_text = {one.of.question.text: one for one in self.asked} | {one.prompt: one for one in self.asked}
        for id, (shown, natives) in after.items():
            one = by_text.get(shown.query)
            if one is None:
                continue
            before = live[id][0].used if id in live else ()
            for seq, native in natives.items():
                if native:  # What was said of the prompts before is no part of the corpus.
                    pairs.append((one, native in one.of.question.evidence, seq in shown.used, seq in before))
        return pairs


def _working(home: Path) -> Iterator[int]:
    """Yield the processes of a home that are no hooks anybody waits for."""
    for entry in os.scandir("/proc"):
        with suppress(OSError, ValueError):
            words = Path(entry.path, "cmdline").read_bytes().split(b"\0")
            is_server = b"mcp" in words or b"--stay" in words or b"--alone" in words
            if os.fsencode(home) in words and is_server and b"/bin/sh" not in words[0]:
                yield int(entry.name)


def _can_be_told(one: Answered, said: dict[str | None, str]) -> bool:
    """Whether an answer shares a word with all of its evidence that the question does not have."""
    told = words_of(one.question.answer) - words_of(one.question.text)
    return all(told & words_of(said[id]) for id in one.question.evidence)


def words_of(text: str) -> set[str]:
    return set(words(text))


def table(found: list[tuple[str, Asked, bool, bool, bool]]) -> str:
    """Return a row for each host and what the model says."""
    lines = [
        "| host | heard | the model says | evidence given | called used | other texts given | called used |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    rows: dict[tuple[str, str, str], Counter[tuple[bool, bool]]] = {}
    for host, one, is_evidence, used, _ in found:
        heard = "by the import alone" if one.late else "by hooks"
        for key in ((host, heard, one.says), ("all", heard, one.says)):
            rows.setdefault(key, Counter())[is_evidence, used] += 1
    for (host, heard, says), count in sorted(rows.items()):
        given, other = (count[kind, True] + count[kind, False] for kind in (True, False))
        lines.append(f"| {host} | {heard} | {says} | {given} | {count[True, True]} | {other} | {count[False, True]} |")
    for host in [*sorted({host for host, *_ in found}), "all"]:
        its = [one for one in found if host in (one[0], "all")]
        right = sum(used for _, one, is_evidence, used, _ in its if is_evidence and one.says in USED)
        labelled = sum(is_evidence and one.says in USED for _, one, is_evidence, *_ in its)
        wrong = sum(used for _, one, is_evidence, used, _ in its if one.says not in USED)
        beside = sum(used for _, one, is_evidence, used, _ in its if one.says in USED and not is_evidence)
        lines.append(f"\n{host}: used {right} of {labelled}; not used, and called so {wrong}; beside evidence {beside}")
        again = sum(used != before for _, one, _, used, before in its if not one.late)
        lines.append(f"{host}: changed by the import of what hooks had heard: {again}")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "memtape" / "clients")
    parser.add_argument("--hosts", nargs="*", choices=HOSTS, default=list(HOSTS))
    parser.add_argument("--corpus", type=Path, required=True, help="LoCoMo as it is published.")
    parser.add_argument("--conversation", type=int, default=0)
    parser.add_argument("--prompts", type=int, default=48)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    programs = install(asked.cache, [host for host in PACKAGES if host in asked.hosts])
    conversation = read_corpus(asked.corpus)[asked.conversation]
    found: list[tuple[str, Asked, bool, bool, bool]] = []
    for host in asked.hosts:
        folder = Path(tempfile.mkdtemp(prefix="memtape-using-"))
        try:
            begun = time.monotonic()
            found += [(host, *pair) for pair in Bench(folder, programs, host, conversation, asked.prompts).run()]
            print(f"{host}: {time.monotonic() - begun:.0f} s", flush=True)
        finally:
            print(f"Kept {folder}") if asked.keep else shutil.rmtree(folder, ignore_errors=True)
    print(table(found))
    if asked.json:
        rows = [(host, one.number, one.says, one.late, *pair) for host, one, *pair in found]
        asked.json.write_text(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
