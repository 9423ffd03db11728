"""Records to events: their scope, the check for events already on the log, and the append. Opens no file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from memtape.schemas.errors import InvalidEvent, MemtapeError
from memtape.schemas.events import Captured, Event
from memtape.schemas.ids import derived_id
from memtape.schemas.log import SPOOLED
from memtape.sinks.logs.admission import check_admissible
from memtape.tools.capture.injected import clean
from memtape.tools.capture.native_ids import CLAUDE_CODE, CLAUDE_MEMORY, CODEX, DOCUMENT, GEMINI
from memtape.tools.capture.noise import noise_in
from memtape.tools.capture.profiles import Pauses, pauses_of
from memtape.tools.capture.project import scope_of_folder, told_scope
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.capture.writing import Line, Writer, now_us
from memtape.tools.importing.finding import began_in, folder_of
from memtape.tools.importing.records import SECRETS, ImportSummary, Record, Skipped

MAX_RECORDS = 1_000
MAX_CHARS = 8_000_000
NAMED_HIDDEN = 20
OF_PROJECTS = frozenset({CLAUDE_CODE, CLAUDE_MEMORY, CODEX, GEMINI})
"""Sources whose records belong to the project of a folder; records of an unknown folder are skipped."""

NO_PROJECT = Skipped("its project is not known; name a scope with --scope", problem=True)
ERASED = Skipped("erased before, and not taken again")
PAUSED = Skipped("said while memory was paused")
PRIVATE = Skipped("private as a whole, and not taken")
_REFUSED = {"erased": ERASED, "denied": SECRETS, "private": PRIVATE}


class Waiting(NamedTuple):
    """A record with its scope and the file and place of its text, for messages.

    `ids` are its possible ids: whole, of its first part, and the same as heard by a hook.
    """

    scope: str
    record: Record
    ids: list[str]
    path: Path
    place: str


class Batch:
    """Records waiting to be appended. `scope` overrides the scope of a record's folder."""

    def __init__(self, writer: Writer, scope: str | None, summary: ImportSummary) -> None:
        self._writer, self._scope, self._summary = writer, scope, summary
        self._lock = writer.home.lock("imports")
        self._waiting: list[Waiting] = []
        self._chars = 0
        self._scopes: dict[tuple[str, Path | None], str | None] = {}
        self._said: set[str] = set()
        self.deferred: set[Path] = set()
        """Files with something untaken while its project is paused: they are read again after that."""
        self.known: dict[str, None] = {}
        """The ids of records that stood on the log before this import."""

    @property
    def full(self) -> bool:
        """Whether the batch must be appended now."""
        return len(self._waiting) >= MAX_RECORDS or self._chars >= MAX_CHARS

    def add(self, record: Record, path: Path, place: str) -> Waiting | None:
        """Add a record to the batch; return it with its scope and ids, None without a project."""
        scope = self._scope_of(record, path)
        if scope is None:
            self._summary.skip(NO_PROJECT, path, place)
            return None
        names = [clean(name) for name in (record.native_id, record.heard) if name is not None]
        natives = [f"{name}{mark}" for name in names for mark in ("", DOCUMENT)]
        ids = [derived_id("captured", scope, record.source, native) for native in natives]
        waiting = Waiting(scope, record, ids, path, place)
        self._waiting.append(waiting)
        self._chars += len(record.text)
        return waiting

    def append(self) -> None:
        """Append the new records of the batch, all or none, and count them."""
        pauses, dry_run = pauses_of(self._writer.home.path), self._summary.dry_run
        by_scope: dict[str, list[Waiting]] = {}
        for waiting in self._waiting:
            if (left_out := self._left_out(waiting, pauses)) is not None:
                self._summary.skip(left_out, waiting.path, waiting.place)
            else:
                by_scope.setdefault(waiting.scope, []).append(waiting)
        new, stands = list[tuple[Waiting, list[Event]]](), dict[str, dict[str, str]]()
        with nullcontext() if dry_run or self._writer.home.is_nowhere else self._lock:
            for scope, group in by_scope.items():
                new += self._new_events(scope, group, stands.setdefault(scope, {}))
            events = [event for _, made in new for event in made]
            if events and not dry_run:
                self._summary.spooled += self._writer.log.append(events).count(SPOOLED)
        for scope, texts in stands.items() if not dry_run else ():
            hidden = self._writer.hidden_among(scope, texts)
            self._summary.hidden += len(hidden)
            self._summary.hidden_ids = (self._summary.hidden_ids + hidden)[:NAMED_HIDDEN]
        for waiting, _ in new:
            self._summary.take(told_scope(waiting.scope))
        self._waiting.clear()
        self._chars = 0

    def _left_out(self, waiting: Waiting, pauses: Pauses) -> Skipped | None:
        """Return why a record is skipped: noise, a time in a pause, a pause in effect. None if taken."""
        record, scope = waiting.record, waiting.scope
        if record.kind == "turn" and (noise := noise_in(record.text, record.origin)) is not None:
            return Skipped(noise)
        if record.source in OF_PROJECTS and pauses.covers(scope, record.at or 0):
            return PAUSED
        if (now := pauses.now(scope, now_us())) is None:
            return None
        self.deferred.add(waiting.path)
        return Skipped(f"{now.scope or 'all'} paused, and read again after that")

    def _new_events(
        self, scope: str, group: list[Waiting], stands: dict[str, str]
    ) -> Iterator[tuple[Waiting, list[Event]]]:
        """Yield the new records of a scope with their events; `stands` gets the texts on the log then."""
        every = [id for waiting in group for id in waiting.ids]
        known = {*self._writer.log.known(scope, every), *self._said}
        erased = {scope: self._writer.erased_ids(scope)}
        for waiting in group:
            record, (whole, first, *heard) = waiting.record, waiting.ids
            if whole in known or not known.isdisjoint(heard):
                self._count_known(waiting, erased[scope])
                stands.update({id: record.text for id in waiting.ids if id in known})
                continue
            try:
                events = self._writer.events_of(line_of(scope, record, self._writer.redactor), erased)
                for event in events:
                    check_admissible(event)
            except InvalidEvent as error:
                refused = Skipped(f"refused ({error.reason})", problem=True)
                self._summary.skip(_REFUSED.get(error.code, refused), waiting.path, waiting.place)
                continue
            if first in known:
                known.update(self._writer.log.known(scope, [event.id for event in events]))
            new = [event for event in events if event.id not in known]
            if not new:
                self._count_known(waiting, erased[scope])
                continue
            ids = [event.id for event in new]
            known.update([whole, *ids])
            stands.update({it.id: it.body.text for it in new if isinstance(it.body, Captured)})
            # In a dry run nothing comes to stand on the log, so what it would hold is remembered here.
            self._said.update(ids if self._summary.dry_run else ())
            yield waiting, new

    def _count_known(self, waiting: Waiting, erased: dict[str, None]) -> None:
        if any(id in erased for id in waiting.ids):
            self._summary.skip(ERASED, waiting.path, waiting.place)
        else:
            self._summary.known += 1
            self.known.update(dict.fromkeys(waiting.ids))

    def _scope_of(self, record: Record, path: Path) -> str | None:
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
            self._scopes[key] = None
            pin, began = not self._summary.dry_run, partial(began_in, path) if of_project else None
            with suppress(MemtapeError, OSError, RuntimeError, ValueError):  # One project's, not all of them.
                self._scopes[key] = scope_of_folder(folder_of(cwd), self._writer.home, pin=pin, began=began)
        return self._scopes[key]


def line_of(scope: str, record: Record, redactor: Redactor) -> Line:
    """Return a record as a capture. Too long a text is cut here, after the removal of its secrets."""
    redactor = redactor.spoken(scope, record.origin)

    def short(text: str | None, chars: int, *, is_name: bool = False) -> str | None:
        text = clean(text or "").strip()
        return (text if len(text) <= chars else redactor.head(text, chars, is_name=is_name)) or None

    text, most = record.text, record.most_chars
    if most is not None and len(text) > most:
        text = f"{redactor.head(text, most)}\n[{len(text) - most:,} more characters were cut]"
    return replace(
        record, text=text, scope=scope, native_id=clean(record.native_id),
        tags=tuple(dict.fromkeys(filter(None, (short(tag, 128) for tag in record.tags)))),
        actor=short(record.actor, 200, is_name=True), path=short(record.path, 4_096),
        session=short(record.session, 200, is_name=True),
        branch=short(record.branch, 4_096, is_name=True),
        media=tuple(replace(media, uri=short(media.uri, 4_096)) for media in record.media),
    )  # fmt: skip
