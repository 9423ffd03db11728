"""What an import takes and leaves out: the reasons of skips, and the counts. No source is read here."""

from __future__ import annotations

from collections import Counter

import msgspec

from memtape.tools.capture.injected import clean
from memtape.tools.capture.noise import TOOL_ERROR

MAX_PROBLEMS = 1_000
NAMED_HIDDEN = 20


class Skipped(msgspec.Struct, frozen=True):
    """Something that is not taken, and why. A `problem` is named with its place, the rest is counted."""

    reason: str
    problem: bool = False


THINKING = Skipped("thinking")
INJECTED = Skipped("injected by a host or a memory")
EMPTY = Skipped("no text")
CALL = Skipped("tool call")
"""For exports, whose tools worked on no project."""
TOOL = Skipped("a tool's message")
FAILED = Skipped(TOOL_ERROR)
RECALLED = Skipped("answer of a memory tool")
BOOKKEEPING = Skipped("bookkeeping of the host")
COMPACTION = Skipped("summary of a compaction")
NO_ID = Skipped("a turn without an id", problem=True)
NO_MESSAGES = Skipped("a conversation without its messages", problem=True)
SECRETS = Skipped("of a file of secrets, and not taken")
NO_FORMAT = Skipped("a file of no known format")
"""In a folder such files are counted; one that was named by itself is a problem."""


def unknown(name: object) -> Skipped:
    """Return the skip of a row of an unknown type; skips are counted by type name."""
    return Skipped(f"unknown type {clean(str(name))[:40]!r}")


class ImportProblem(msgspec.Struct, frozen=True):
    """Something that could not be read: the file, where in it (a byte, or a name in an archive), and why."""

    path: str
    place: str
    reason: str


class ImportSummary(msgspec.Struct):
    """Counts of an import. `files` were read, `unchanged` not again, `unread` gave nothing, `denied` stayed
    shut.

    `sources` and `scopes` have records taken, `sources` also those already on the log.
    `withdrawn` texts are gone from their file, `again` texts returned to one. `missing` files are absent, but
    nothing of theirs was withdrawn, since their folder is missing or empty, or cannot be read whole.
    `lessened` texts were taken, and are not found or lack their middle, by sort. `spooled` events wait in the
    home for an unreachable broker. `hidden` texts, of those taken or already there, were forgotten;
    `hidden_ids` are the first of them. `problems` are the first thousand of `problem_count`.
    """

    dry_run: bool = False
    files: int = 0
    unchanged: int = 0
    unread: int = 0
    denied: int = 0
    taken: int = 0
    known: int = 0
    withdrawn: int = 0
    again: int = 0
    missing: int = 0
    sources: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    scopes: dict[str, int] = msgspec.field(default_factory=dict)
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    lessened: Counter[str] = msgspec.field(default_factory=Counter)
    spooled: int = 0
    hidden: int = 0
    hidden_ids: list[str] = msgspec.field(default_factory=list)
    problem_count: int = 0
    problems: list[ImportProblem] = msgspec.field(default_factory=list)

    def skip(self, skipped: Skipped, path: object, place: object = "") -> None:
        """Count a skipped record, and list its place where the skip is a problem."""
        self.skipped[skipped.reason] += 1
        if skipped.problem:
            self.problem_count += 1
            if len(self.problems) < MAX_PROBLEMS:
                self.problems.append(ImportProblem(str(path), str(place), skipped.reason))

    def count(self, source: str, scope: str, known: bool) -> None:
        """Count a record that was taken or stood on the log."""
        self.sources.setdefault(source, {"taken": 0, "known": 0})["known" if known else "taken"] += 1
        if known:
            self.known += 1
        else:
            self.taken += 1
            self.scopes[scope] = self.scopes.get(scope, 0) + 1

    def hide(self, ids: list[str]) -> None:
        """Count texts hidden from searches, since they were forgotten before."""
        self.hidden += len(ids)
        self.hidden_ids += ids[: max(0, NAMED_HIDDEN - len(self.hidden_ids))]

    @property
    def nothing_read(self) -> bool:
        """Whether no file could be read and none was denied. An empty folder does not count."""
        return self.unread > 0 and not (self.files or self.unchanged or self.denied)
