"""Records to events: their scope, the check for events already on the log, and the append. Opens no file."""

from __future__ import annotations

import os
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from memtape.schemas.errors import InvalidEvent, MemtapeError
from memtape.schemas.events import Captured, Event
from memtape.schemas.ids import derived_id
from memtape.schemas.log import SPOOLED
from memtape.sinks.home.pauses import pauses_of, stores_nothing
from memtape.sinks.logs.admission import check_admissible
from memtape.tools.capture.injected import clean
from memtape.tools.capture.lines import Line
from memtape.tools.capture.native_ids import CLAUDE_CODE, CLAUDE_MEMORY, CODEX, DOCUMENT, GEMINI
from memtape.tools.capture.noise import lessened, noise_in
from memtape.tools.capture.project import scope_of_folder, told_scope
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.capture.writing import Erased, Writer, now_us
from memtape.tools.importing.actions import ran_text
from memtape.tools.importing.finding import began_in, folder_of
from memtape.tools.importing.records import SECRETS, ImportSummary, Record, Skipped

MAX_RECORDS = 1_000
MAX_CHARS = 8_000_000
HEAD_CHARS = 2_000
"""The kept head of a text that is kept only by its head, as an attachment: its subject is there."""
OF_PROJECTS = frozenset({CLAUDE_CODE, CLAUDE_MEMORY, CODEX, GEMINI})
"""Sources whose records belong to the project of a folder; records of an unknown folder are skipped."""

NO_PROJECT = Skipped("its project is not known; name a scope with --scope", problem=True)
ERASED = Skipped("erased before, and not taken again")
PAUSED = Skipped("said while memory was paused")
UNCAPTURED = Skipped("of a run of which nothing is kept")
PRIVATE = Skipped("private as a whole, and not taken")
_REFUSED = {"erased": ERASED, "denied": SECRETS, "private": PRIVATE}
_MARKS = ("", DOCUMENT)
"""The ends of native ids: of a record kept whole, and of a document's first part."""


class Waiting(NamedTuple):
    """A record with the file and place of its text, for messages."""

    record: Record
    path: Path
    place: str
    at: int


class Batch:
    """Records waiting to be appended. `scope` overrides the scope of a record's folder."""

    def __init__(self, writer: Writer, scope: str | None, summary: ImportSummary) -> None:
        self._writer = writer
        self._scope = scope
        self._summary = summary
        self._lock = writer.home.lock("imports")
        self._waiting: list[Waiting] = []
        self._chars = 0
        self._scopes: dict[tuple[str, Path | None], str | None] = {}
        self._said: set[str] = set()
        self._pauses = pauses_of(writer.home.path)
        self.deferred: set[Path] = set()
        """Files of which something is not taken as long as its project is paused: they are read again after that."""
        self.known: dict[str, None] = {}
        """The ids of records that stood on the log before this import."""

    @property
    def full(self) -> bool:
        """Whether the batch must be appended now."""
        return len(self._waiting) >= MAX_RECORDS or self._chars >= MAX_CHARS

    def add(self, waiting: Waiting) -> None:
        """Add a record to the batch."""
        self._waiting.append(waiting)
        self._chars += len(waiting.record.text)

    def append(self) -> None:
        """Append the new records of the batch, all or none, and count them."""
        self._pauses = pauses_of(self._writer.home.path)
        by_scope: dict[str, list[Waiting]] = {}
        for waiting in self._waiting:
            scope = self.scope_of(waiting.record, waiting.path)
            if scope is None:
                self._summary.skip(NO_PROJECT, waiting.path, waiting.place)
            elif (left_out := self._left_out(scope, waiting)) is not None:
                self._summary.skip(left_out, waiting.path, waiting.place)
            else:
                by_scope.setdefault(scope, []).append(waiting)
        counted, stands = list[tuple[str, str]](), dict[str, dict[str, str]]()
        with nullcontext() if self._summary.dry_run else self._lock:
            events: list[Event] = []
            for scope, group in by_scope.items():
                for source, made in self._new_events(scope, group, stands.setdefault(scope, {})):
                    counted.append((source, scope))
                    events += made
            if events and not self._summary.dry_run:
                self._summary.spooled += self._writer.log.append(events).count(SPOOLED)
        for scope, texts in stands.items() if not self._summary.dry_run else ():
            self._summary.hide(self._writer.hidden_among(scope, texts))
        for source, scope in counted:
            self._summary.count(source, told_scope(scope), known=False)
        self._waiting.clear()
        self._chars = 0

    def _left_out(self, scope: str, waiting: Waiting) -> Skipped | None:
        """Return why a record is skipped: noise, a time in a pause, a pause in effect. None if taken."""
        record = waiting.record
        if record.kind == "turn" and (noise := noise_in(record.text, record.origin)) is not None:
            return Skipped(noise)
        if record.source in OF_PROJECTS and self._pauses.leaves_out(record.session):
            return UNCAPTURED
        if record.source in OF_PROJECTS and self._pauses.covers(scope, waiting.at):
            return PAUSED
        now = self._pauses.now(scope, now_us())
        if now is None and not stores_nothing():
            return None
        self.deferred.add(waiting.path)
        return Skipped(f"{'all' if now is None or now.scope is None else now.scope} paused, and read again after that")

    def _new_events(self, scope: str, group: list[Waiting], stands: dict[str, str]) -> list[tuple[str, list[Event]]]:
        """Return source and events of each new record of a scope; `stands` gets the texts that are on the log then."""
        names = [_ids(scope, waiting.record) for waiting in group]
        known = {*self._writer.log.known(scope, [id for ids in names for id in ids]), *self._said}
        erased = {scope: self._writer.erased_ids(scope)}
        new: list[tuple[str, list[Event]]] = []
        for waiting, ids in zip(group, names, strict=True):
            whole, first = ids[: len(_MARKS)]
            heard = ids[len(_MARKS) :]
            if whole in known or not known.isdisjoint(heard):
                self._count_known(waiting, scope, erased[scope], ids)
                stands.update({id: waiting.record.text for id in ids if id in known})
                continue
            events = self._events(scope, waiting, erased)
            if events is None:
                continue
            if first in known:
                known.update(self._writer.log.known(scope, [event.id for event in events]))
            events = [event for event in events if event.id not in known]
            if events:
                known.update([whole, *(event.id for event in events)])
                new.append((waiting.record.source, events))
                stands.update({it.id: it.body.text for it in events if isinstance(it.body, Captured)})
                record = waiting.record
                if record.kind == "turn" and record.ran is None and (sort := lessened(record.text)) is not None:
                    self._summary.lessened[sort] += 1
            else:
                self._count_known(waiting, scope, erased[scope], ids)
        # In a dry run nothing comes to stand on the log, so that what it would hold is remembered here.
        if self._summary.dry_run:
            self._said.update(event.id for _, events in new for event in events)
        return new

    def _count_known(self, waiting: Waiting, scope: str, erased: dict[str, None], ids: list[str]) -> None:
        if any(id in erased for id in ids):
            self._summary.skip(ERASED, waiting.path, waiting.place)
        else:
            self._summary.count(waiting.record.source, scope, known=True)
            self.known.update(dict.fromkeys(ids))

    def _events(self, scope: str, waiting: Waiting, erased: Erased) -> list[Event] | None:
        """Return the events of a record; None, and a reason in the summary, where it may not stand on the log."""
        try:
            events = self._writer.events_of(line_of(scope, waiting, self._writer.redactor), erased)
            for event in events:
                check_admissible(event)
        except InvalidEvent as error:
            refused = Skipped(f"refused ({error.reason})", problem=True)
            self._summary.skip(_REFUSED.get(error.code, refused), waiting.path, waiting.place)
            return None
        return events

    def ids_of(self, record: Record, path: Path) -> tuple[str, list[str]] | None:
        """Return the scope of a record and its ids, whole and of its first part; None without a scope."""
        scope = self.scope_of(record, path)
        if scope is None:
            return None
        return scope, _ids(scope, record)[: len(_MARKS)]

    def scope_of(self, record: Record, path: Path) -> str | None:
        """Return the scope of a record, None where its project is not known."""
        if self._scope is not None:
            return self._scope
        of_project = record.source in OF_PROJECTS
        if not of_project and not self._summary.dry_run:
            return self._writer.made_scope()
        cwd = record.cwd if of_project else os.getcwd()
        if cwd is None:
            return None
        key = (cwd, path if of_project else None)
        if key not in self._scopes:
            self._scopes[key] = self._found_scope(*key)
        return self._scopes[key]

    def _found_scope(self, cwd: str, path: Path | None) -> str | None:
        """Return the scope of a folder, None where none can be found or kept: of one project, not of all."""
        try:
            pin, began = not self._summary.dry_run, partial(began_in, path) if path else None
            return scope_of_folder(folder_of(cwd), self._writer.home, pin=pin, began=began)
        except (MemtapeError, OSError, RuntimeError, ValueError):
            return None


def _ids(scope: str, record: Record) -> list[str]:
    """Return the possible ids of a record: whole, of its first part, and as heard by a hook."""
    names = [clean(name) for name in (record.native_id, record.heard) if name is not None]
    return [derived_id("captured", scope, record.source, f"{name}{mark}") for name in names for mark in _MARKS]


def kept_text(record: Record, redactor: Redactor) -> str:
    """Return the kept part of a record's text; a cut text is without secrets and notes the omitted length."""
    if record.ran is not None:
        return ran_text(record.ran, redactor)
    cut = len(record.text) - HEAD_CHARS
    if cut <= 0 or not record.only_head:
        return record.text
    return f"{redactor.head(record.text, HEAD_CHARS)}\n[{cut:,} more characters were cut]"


def line_of(scope: str, waiting: Waiting, redactor: Redactor) -> Line:
    """Return a record as a capture. Too long a text is cut here, after the removal of its secrets."""
    record = waiting.record
    redactor = redactor.spoken(scope, record.origin)
    short = partial(_short, redactor)
    return msgspec.structs.replace(
        record,
        text=kept_text(record, redactor),
        tags=tuple(dict.fromkeys(filter(None, (short(tag, 128) for tag in record.tags)))),
        at=waiting.at,
        actor=short(record.actor, 200, is_name=True),
        session=short(record.session, 200, is_name=True),
        scope=scope,
        native_id=clean(record.native_id),
        branch=short(record.branch, 4_096, is_name=True),
        path=short(record.path, 4_096),
        media=tuple(msgspec.structs.replace(media, uri=short(media.uri, 4_096)) for media in record.media),
    )


def _short(redactor: Redactor, text: str | None, chars: int, *, is_name: bool = False) -> str | None:
    """Return a text cut to `chars`, None for an empty text."""
    text = clean(text or "").strip()
    return (text if len(text) <= chars else redactor.head(text, chars, is_name=is_name)) or None
