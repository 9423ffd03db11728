"""One day before and after: what comes of stored transcripts.

Run `python examples/one_day/replay.py`. Before is talk alone, with `extract = false`. After is what Memtape
does unasked, with the pages of `docs/` too. The clock stands an hour after the day's last word, so that every
day says the same. `--page` writes what was measured into `docs/one-day.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
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
PAGE = ROOT / "docs" / "one-day.md"
SCOPE = "project:memtape"
HOSTS = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI"}
SOURCES = {"claude": "claude-code", "codex": "codex", "gemini": "gemini"}
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


class Fact(NamedTuple):
    """What the rule took of a turn; `label` is what it took it for, and `meant` the labels that it meets."""

    host: str
    text: str
    label: str
    origin: str
    said: str
    meant: tuple[Label, ...]


class Run(NamedTuple):
    """What a home holds and tells after the day."""

    start: str
    vault: str
    facts: list[Fact]
    captured: Counter[str]
    model_calls: int
    model_tokens: int

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


def play(folder: Path, *, extract: bool, documents: bool) -> Run:
    """Take the day into a home of its own below `folder`."""
    home, docs = folder / "home", folder / "docs"
    home.mkdir(parents=True)
    (home / "settings.toml").write_text(f"extract = {str(extract).lower()}\n")
    sources = [str(DAY / f"{host}.jsonl") for host in HOSTS]
    if documents:
        # What the page says is not among what is measured.
        shutil.copytree(PAGE.parent, docs, ignore=shutil.ignore_patterns(PAGE.name, "*.svg"))
        for page in docs.iterdir():
            os.utime(page, (day_end_us() // 10**6 - 86_400,) * 2)
        sources.append(str(docs))
    for words in (["import", "--scope", SCOPE, *sources], ["run", "--once"]):
        run_command(home, *words)
    with Client(home, scope=SCOPE) as client:
        start = client.reader.held(lambda views: context_of(views, SCOPE, BUDGET_TOKENS))
        events = [event for event in events_of(client) if isinstance(event.body, Captured)]
        # Nobody wrote in the zone of the page; links differ with every run.
        vault = LINK.sub("", Vault(Home(home)).read(SCOPE)["MEMORY.md"].decode())
    model = json.loads(run_command(home, "status", "--json"))["model"]
    return Run(start.text, vault, facts_of(events), counted(events), *asked_of(model))


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


def asked_of(model: dict[str, Any]) -> tuple[int, int]:
    """Return how often models were asked, and the tokens of that, from `status`."""
    return model["total"]["calls"], model["total"]["tokens"]


def counted(events: list[Event]) -> Counter[str]:
    return Counter(
        "stated" if STATED_TAG in event.body.tags else event.body.kind
        for event in events
        if isinstance(event.body, Captured)
    )


def facts_of(events: list[Event]) -> list[Fact]:
    """Return what was taken from turns, each with the labels that it meets, in the order of what was said."""
    turns = {event.id: event for event in events}
    wanted = labels()
    found = []
    for event in sorted(events, key=lambda event: (event.at, event.id)):
        if not isinstance(event.body, Captured) or STATED_TAG not in event.body.tags:
            continue
        turn = turns[event.refs[0]].body
        assert isinstance(turn, Captured)
        meant = tuple(label for label in wanted if meets(event.body.text, turn.text, label))
        host = next(host for host, name in SOURCES.items() if name == turn.source)
        found.append(Fact(host, event.body.text, event.body.tags[1], event.actor.origin, turn.text, meant))
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


def figures(before: Run, after: Run) -> Iterator[str]:
    """Yield a table of both runs."""
    turned = changes()
    rows: list[tuple[str, Callable[[Run], object]]] = [
        ("turns on the log", lambda run: run.captured["turn"]),
        ("parts of documents on the log", lambda run: f"{run.captured['document']} parts"),
        ("facts taken from turns", lambda run: run.captured["stated"]),
        (TOKENS_OF_A_START, lambda run: f"{run.start_tokens:,}"),
        ("texts in a start", lambda run: len(items(run.start))),
        ("texts in `MEMORY.md`", lambda run: len(items(run.vault))),
        ("changes of mind of which a start says what holds", lambda run: part(run.start, turned, "is")),
        ("… and what no longer holds", lambda run: part(run.start, turned, "was")),
        ("changes of mind of which `MEMORY.md` says what holds", lambda run: part(run.vault, turned, "is")),
        ("… and what no longer holds", lambda run: part(run.vault, turned, "was")),
        ("calls of a model", lambda run: run.model_calls),
        ("tokens of a model", lambda run: run.model_tokens),
    ]
    yield from table(("", "before", "after"), [(name, said(before), said(after)) for name, said in rows])


def items(text: str) -> list[str]:
    """Return the lines of a list."""
    return [line for line in text.splitlines() if line.startswith("- ")]


def part(text: str, turned: list[dict[str, str]], when: str) -> str:
    return f"{sum(says(text, change[when]) for change in turned)} of {len(turned)}"


def judged(run: Run) -> Iterator[str]:
    """Yield the tables of facts against labels, by host and by kind of label."""
    wanted = labels()
    met = met_by(run)
    lines: list[tuple[object, ...]] = []
    for name, chosen in (*((name, (host,)) for host, name in HOSTS.items()), ("all", tuple(HOSTS))):
        taken = [fact for fact in run.facts if fact.host in chosen]
        right = sum(bool(fact.meant) for fact in taken)
        asked = [label for label in wanted if label.host in chosen]
        lines.append(
            (name, len(asked), sum(label in met for label in asked), len(taken), right, len(taken) - right)
        )
    yield from table(("", "wanted", "of these kept", "taken", "right", "not wanted"), lines)
    yield ""
    by_kind = [(kind, [label for label in wanted if label.kind == kind]) for kind in KINDS]
    yield from table(
        ("wanted as", "wanted", "kept", "kept as the same kind"),
        [
            (
                kind,
                len(asked),
                sum(label in met for label in asked),
                sum(met.get(one) == kind for one in asked),
            )
            for kind, asked in by_kind
        ],
    )


def met_by(run: Run) -> dict[Label, str]:
    """Return the labels that facts meet, each with what a fact was taken for."""
    return {label: fact.label for fact in run.facts for label in fact.meant}


def told_live() -> Iterator[str]:
    """Yield the table of what hooks told the hosts during the day, as `tests/one_day_making.py` counted."""
    live = json.loads((DAY / "given.json").read_text())
    head = ("", "prompts", "starts told", "tokens of these", "prompts given memories", "tokens of these")
    lines = []
    for host, name in HOSTS.items():
        told = live[host]
        starts, offers = tokens(told["start_chars"]), tokens(told["offer_chars"])
        lines.append((name, told["prompts"], told["starts"], starts, told["offers"], offers))
    yield from table(head, lines)
    yield ""
    turns, added = live["all"]["turns"], live["all"]["added"]
    yield f"Hooks captured {turns} turns, and an import of the transcripts then added {added}."


def tokens(chars: int) -> str:
    """Return how many tokens so many characters count as."""
    return f"{-(-chars // 4):,}"


def page(before: Run, after: Run) -> str:
    """Return the part of the page that is made from what was measured."""
    unwanted = [fact for fact in after.facts if not fact.meant]
    lines = [
        "## Result",
        "",
        *figures(before, after),
        "",
        "Told by hooks while the day was played. Each prompt was a run of its own, which counts as a start:",
        "",
        *told_live(),
        "",
        "## Facts",
        "",
        *judged(after),
        "",
        "Taken, and not wanted:",
        "",
        *fenced(f"{fact.label}, by {fact.origin}: {fact.text}" for fact in unwanted),
        "",
        "## Changes of mind",
        "",
        *table(
            ("", "no longer holds", "holds", "a start says", "`MEMORY.md` says"),
            [
                (
                    change["what"],
                    change["was"],
                    change["is"],
                    told(after.start, change),
                    told(after.vault, change),
                )
                for change in changes()
            ],
        ),
    ]
    return "\n".join(lines) + "\n"


def told(text: str, change: dict[str, str]) -> str:
    """Say which sides of a change of mind a text has."""
    old, new = says(text, change["was"]), says(text, change["is"])
    return "both" if old and new else "what holds" if new else "what no longer holds" if old else "neither"


def fenced(lines: Iterable[str]) -> list[str]:
    """Return lines as a block of text; tildes, since talk has backticks."""
    return ["~~~text", *(" ".join(line.split()) if line.strip() else "" for line in lines), "~~~"]


def table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> list[str]:
    """Return a table of Markdown, its first column to the left."""
    ruled = [head, ("---", *("---:" for _ in head[1:])), *rows]
    return [f"| {' | '.join(map(str, cells))} |" for cells in ruled]


def measured() -> str:
    """Play the day before and after, with the clock at its end, and return what the page is to say."""
    now_us = day_end_us()
    with (
        tempfile.TemporaryDirectory(prefix="memtape-day-") as folder,
        patch("time.time_ns", lambda: now_us * 1_000),
    ):
        before = play(Path(folder) / "before", extract=False, documents=False)
        after = play(Path(folder) / "after", extract=True, documents=True)
    return page(before, after)


def with_measured(text: str, said: str) -> str:
    """Return the page with its generated part anew."""
    head, begin, rest = text.partition(BEGIN)
    if not begin or END not in rest:
        raise ValueError(f"The page lacks {BEGIN} or {END}.")
    return f"{head}{begin}\n\n{said}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="Write what was measured into docs/one-day.md.")
    said = measured()
    if parser.parse_args().page:
        PAGE.write_text(with_measured(PAGE.read_text(), said))
        print(f"Wrote {PAGE.relative_to(ROOT)}.")
    else:
        print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
