"""One day before and after: what comes of stored transcripts.

Run `python examples/one_day/replay.py`. Before is talk alone, with `extract = false`. After is what Memtape
does unasked. The clock stands an hour after the day's last word, so that every day says the same. `--page`
writes what was measured into `docs/quickstart.md`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import msgspec
from click.testing import CliRunner

from memtape.schemas.codec import event_of
from memtape.schemas.events import STATED_TAG, Captured, Event
from memtape.schemas.times import HOUR_US, parse_time
from memtape.sinks.home.folders import Home
from memtape.sinks.vault import Vault
from memtape.tools.client import Client
from memtape.tools.doors.cli import main as memtape
from memtape.tools.query.context import context_of
from memtape.tools.query.telling import CHARACTERS

DAY = Path(__file__).parent
ROOT = DAY.parent.parent
TOKENS_OF_A_START = "tokens of a start (at most 2,000; four characters count as one)"
LINK = re.compile(r" \[[0-9a-f-]{13}\]\(memories/\S+\)$", re.MULTILINE)
"""What a line of `MEMORY.md` ends with."""
PAGE = ROOT / "docs" / "quickstart.md"
SCOPE = "project:memtape"
HOSTS = ("claude", "codex", "gemini")
BUDGET_TOKENS = 2_000
KINDS = ("decision", "preference", "instruction", "correction", "fact", "task")
BEGIN, END = "<!-- measured -->", "<!-- end of what is measured -->"
DATE_ADDED = re.compile(r" \(\d{4}-\d\d-\d\d\)")
WORD = re.compile(r"\w+")


class Label(NamedTuple):
    """A sentence that a careful reader wants kept, and as what; `said` is the whole prompt or answer."""

    host: str
    kind: str
    text: str
    said: str


class Run(NamedTuple):
    """What a home holds and tells after the day; `facts` has the labels that each fact meets."""

    start: str
    vault: str
    turns: int
    facts: list[list[Label]]

    @property
    def start_tokens(self) -> int:
        """Four characters are one token."""
        return CHARACTERS.count(self.start)


def read(name: str) -> dict[str, Any]:
    """Return a file of the day."""
    return dict(msgspec.toml.decode((DAY / name).read_bytes()))


def labels() -> list[Label]:
    """Return what is to be kept of the three talks. Raises `ValueError` for a label of what nobody says."""
    found = []
    for host in HOSTS:
        for turn in read(f"{host}.toml")["turn"]:
            for kind, text in turn.get("keep", ()):
                said = next((said for said in (turn["prompt"], turn["reply"]) if text in said), None)
                if said is None or kind not in KINDS:
                    raise ValueError(f"{host} says nowhere, or not as {kind}: {text}")
                found.append(Label(host, kind, text, said))
    return found


def day_end_us() -> int:
    """Return an hour after the last row of all transcripts, in microseconds."""
    stamps = [row["timestamp"] for row in rows() if "timestamp" in row]
    return parse_time(max(stamps), 0) + HOUR_US


def rows() -> list[dict[str, Any]]:
    """Return the rows of all transcripts."""
    return [json.loads(line) for host in HOSTS for line in (DAY / f"{host}.jsonl").read_text().splitlines()]


def play(folder: Path, *, extract: bool) -> Run:
    """Take the day into a home of its own below `folder`."""
    home = folder / "home"
    home.mkdir(parents=True)
    (home / "settings.toml").write_text(f"extract = {str(extract).lower()}\n")
    sources = [str(DAY / f"{host}.jsonl") for host in HOSTS]
    for words in (["import", "--scope", SCOPE, *sources], ["run", "--once"]):
        run_command(home, *words)
    with Client(home, scope=SCOPE) as client:
        start = client.reader.reading(lambda views: context_of(views, SCOPE, BUDGET_TOKENS))
        events = [event for event in events_of(client) if isinstance(event.body, Captured)]
        # Nobody wrote in the zone of the page; links differ with every run.
        vault = LINK.sub("", Vault(Home(home)).read(SCOPE)["MEMORY.md"].decode())
    turns = sum(event.body.kind == "turn" for event in events if isinstance(event.body, Captured))
    return Run(start.text, vault, turns, facts_of(events))


def run_command(home: Path, *words: str) -> str:
    """Return what a command prints. Raises `RuntimeError` for one that fails."""
    env = {"MEMTAPE_HOME": str(home), "MEMTAPE_EMBEDDER": "floor"}
    done = CliRunner().invoke(memtape, list(words), env=env)
    if done.exit_code:
        raise RuntimeError(f"memtape {' '.join(words)}: {done.output}") from done.exception
    return done.stdout


def events_of(client: Client) -> list[Event]:
    """Return the events of a log in the order of its partitions."""
    log = client.log
    slots = [slot for number, end in enumerate(log.ends()) for slot in log.read(number, 0, end)]
    return [event for slot in slots if (event := event_of(slot.payload)) is not None]


def facts_of(events: list[Event]) -> list[list[Label]]:
    """Return the labels that each fact taken from a turn meets."""
    turns, wanted, found = {event.id: event for event in events}, labels(), []
    for event in events:
        if isinstance(event.body, Captured) and STATED_TAG in event.body.tags:
            turn = turns[event.refs[0]].body
            assert isinstance(turn, Captured)
            found.append([label for label in wanted if meets(event.body.text, turn.text, label)])
    return found


def meets(fact: str, said: str, label: Label) -> bool:
    """Whether a fact is what a label wants: of the same turn, with half of the words of the shorter."""
    if " ".join(said.split()) != " ".join(label.said.split()):
        return False
    one, other = Counter(WORD.findall(fact.lower())), Counter(WORD.findall(label.text.lower()))
    return (one & other).total() * 2 >= min(one.total(), other.total())


def changes() -> list[dict[str, str]]:
    """Return what the day changed its mind about: `what`, what it `was`, and what it `is` in the end."""
    return list(read("changed.toml")["changed"])


def says(text: str, words: str) -> bool:
    """Whether a text has these words, however Markdown escapes them, with or without dates."""
    return words.lower() in DATE_ADDED.sub("", text.replace("\\", "")).lower()


def page(before: Run, after: Run) -> str:
    """Return the table of both runs."""
    turned, wanted = changes(), len(labels())
    rows: list[tuple[str, Callable[[Run], object]]] = [
        ("turns on the log", lambda run: run.turns),
        ("facts taken from turns", lambda run: len(run.facts)),
        ("… which the reader wanted", lambda run: sum(map(bool, run.facts))),
        ("sentences that the reader wanted and that became facts", lambda run: f"{met(run)} of {wanted}"),
        (TOKENS_OF_A_START, lambda run: f"{run.start_tokens:,}"),
        ("texts in a start", lambda run: len(items(run.start))),
        ("texts in `MEMORY.md`", lambda run: len(items(run.vault))),
        ("changes of mind of which a start says what holds", lambda run: part(run.start, turned, "is")),
        ("… and what no longer holds", lambda run: part(run.start, turned, "was")),
        ("changes of mind of which `MEMORY.md` says what holds", lambda run: part(run.vault, turned, "is")),
        ("… and what no longer holds", lambda run: part(run.vault, turned, "was")),
    ]
    head = ["| | before | after |", "| --- | ---: | ---: |"]
    return "\n".join([*head, *(f"| {name} | {said(before)} | {said(after)} |" for name, said in rows)])


def met(run: Run) -> int:
    """Return how many labels the facts meet."""
    return len(dict.fromkeys(label for labels in run.facts for label in labels))


def items(text: str) -> list[str]:
    """Return the lines of a list."""
    return [line for line in text.splitlines() if line.startswith("- ")]


def part(text: str, turned: list[dict[str, str]], when: str) -> str:
    return f"{sum(says(text, change[when]) for change in turned)} of {len(turned)}"


def measured() -> str:
    """Play the day before and after, with the clock at its end, and return what the page is to say."""
    now_us = day_end_us()
    with (
        tempfile.TemporaryDirectory(prefix="memtape-day-") as folder,
        patch("time.time_ns", lambda: now_us * 1_000),
    ):
        before = play(Path(folder) / "before", extract=False)
        after = play(Path(folder) / "after", extract=True)
    return page(before, after)


def with_measured(text: str, said: str) -> str:
    """Return the page with its generated part anew."""
    head, begin, rest = text.partition(BEGIN)
    if not begin or END not in rest:
        raise ValueError(f"The page lacks {BEGIN} or {END}.")
    return f"{head}{begin}\n{said}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="Write the table into docs/quickstart.md.")
    said = measured()
    if parser.parse_args().page:
        PAGE.write_text(with_measured(PAGE.read_text(), said))
        print(f"Wrote {PAGE.relative_to(ROOT)}.")
    else:
        print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
