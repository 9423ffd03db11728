"""Edits in the zones of pages as events: a new text is captured, a removed one withdrawn.

Zones are read before pages are written, and during `import --watch`. A missing page, or a page with damaged
marks, withdraws nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.codec import event_of
from memtape.schemas.errors import DamagedLog, InvalidEvent
from memtape.schemas.events import Captured, Event, Withdrawn
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log, slots_between
from memtape.schemas.places import zone_path, zone_source
from memtape.schemas.private import is_private, without_private
from memtape.schemas.rows import ScopeMark
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.admission import check_admissible
from memtape.sinks.page_files import TREE_FOLDER, PageBytes, PageNote, ScopeFiles, Stamp
from memtape.sinks.vault import Vault
from memtape.sinks.zones import inner, parts
from memtape.state.text.markdown import points
from memtape.tools.capture.injected import said as without_injected
from memtape.tools.capture.native_ids import digest
from memtape.tools.capture.profiles import silence_of
from memtape.tools.capture.writing import Line, now_us, withdraw, withdrawn_and_shown
from memtape.tools.keep.edited_files import EditedFiles

DAMAGED = "its marks are not one pair, each on a line of its own; nothing was taken from it"
NOT_UTF8 = "what stands between its marks is not UTF-8; nothing was taken from it"
NO_OPERATOR = (
    "only operators write to global, so that nothing was taken from it;"
    " `memtape capture --scope global --origin operator` remembers a text"
)


class _Text(NamedTuple):
    """A text of a zone: its line in the zone, and its id on the log."""

    line: int
    id: str
    native_id: str
    text: str


class Zones(Worker):
    """Appends the edits in the zones of a home's vault; `done` counts texts taken or withdrawn."""

    def __init__(self, home: Home, log: Log, on_note: OnNote = lambda note: None) -> None:
        super().__init__(log, on_note)
        self._home = home
        self._seen: dict[str, tuple[dict[str, Stamp], dict[str, Stamp]]] = {}

    def catch_up(self) -> None:
        """Read the pages saved since their last reading, and append the changes.

        Pages of a paused scope are read after the pause.
        """
        for scope in Vault(self._home).scopes():
            files = ScopeFiles(self._home, scope)
            stamps, tree = files.stamps(), files.tree_stamps()
            is_seen = self._seen.get(scope) == (stamps, tree)
            if not is_seen and silence_of(self._home.path, partial(str, scope)) is None:
                with self._home.lock("imports"):
                    _ScopeZones(self, self._home, self.log, scope, stamps).take()
                    if tree or any(path.startswith(f"{TREE_FOLDER}/") for path in files.listed()):
                        # It loads what folds a state, for which nobody who has no pages should wait.
                        from memtape.tools.keep.tree_files import TreeFiles

                        TreeFiles(self, self._home, self.log, scope, tree).take()
                self._seen[scope] = stamps, tree

    def failed(self, error: Exception) -> str:
        """Return the message for people about unreadable zones."""
        if isinstance(error, DamagedLog):  # The run itself tells that.
            return ""
        return f"What people wrote into pages could not be taken: {error}"


class _ScopeZones(EditedFiles):
    """The zones of one scope, as they are read once."""

    def _read(self, path: str, page: PageBytes, before: PageNote | None) -> dict[str, PageNote]:
        """Append a zone's new, returned and removed texts. An unreadable zone withdraws nothing."""
        found, problems, texts = parts(page.data), list[str](), list[_Text]()
        try:
            texts = list(self._texts(path, inner(found.zone).decode())) if found and found.zone else []
        except UnicodeDecodeError:
            problems.append(f"{self._name(path)}: {NOT_UTF8}.")
        if found is None or (texts and self._scope == GLOBAL):
            problems.append(f"{self._name(path)}: {DAMAGED if found is None else NO_OPERATOR}.")
        if found is not None and found.zone is not None and not problems and self._scope != GLOBAL:
            problems += self._append(path, page.stamp, texts)
        return {path: PageNote(page.stamp, len(texts) if self._scope != GLOBAL else 0, tuple(problems))}

    def _texts(self, path: str, markdown: str) -> Iterator[_Text]:
        """Yield the texts of a zone without secrets, each once; the id of a text is the same on every page.

        A line written twice is no confirmation.
        """
        source, said = zone_source(path), dict[str, None]()
        # A private part may reach over several points.
        for line, words in points(without_private(markdown, keeps_lines=True)):
            told = without_injected(words).strip()
            if not told:
                continue
            text = self._writer.redactor.text(told)
            if is_private(text):
                continue
            native_id = digest(text)
            if native_id not in said:
                said[native_id] = None
                yield _Text(line, derived_id("captured", self._scope, source, native_id), native_id, text)

    def _append(self, path: str, stamp: Stamp, texts: list[_Text]) -> list[str]:
        """Append the changes of a zone, and return the problems of texts unfit for the log.

        The log is asked each time for the texts it has: a kill between any two steps is made up for.
        """
        now, said = {text.id: None for text in texts}, self._said(path)
        if not texts and not said:
            return []
        on_log, erased = self._log.known(self._scope, list(now)), self._writer.erased_ids(self._scope)
        events, problems = list[Event](), list[str]()
        at, source = min(stamp[2] // 1_000, now_us()), zone_source(path)
        for text in texts:
            if text.id in on_log or text.id in erased:
                continue
            line = Line(text=text.text, kind="fact", source=source, native_id=text.native_id, at=at)
            try:
                made = self._writer.events_of(line, {})
                for event in made:
                    check_admissible(event)
                events += made
            except InvalidEvent as error:
                problems.append(f"{self._name(path)}, line {text.line} of your zone: {error}")
        if events:
            self._log.append(events)
        gone = [id for id in said if id not in now and id not in erased]
        kept = withdrawn_and_shown(self._log, self._scope)[1] if gone else {}
        gone = [id for id in gone if id not in kept]
        back = [id for id in on_log if id not in erased]
        self._worker.done += len(events)
        self._worker.done += withdraw(self._writer, {self._scope: back}, on=False)
        self._worker.done += withdraw(self._writer, {self._scope: gone})
        return problems

    def _said(self, path: str) -> list[str]:
        """Return the ids in effect of a page's zone: from the pages' state and later events on the log."""
        number = partition_of(self._scope, self._log.partitions)
        mark, end = self._vault.mark(self._scope), self._log.ends()[number]
        if mark is None or mark.offset > end:
            mark = ScopeMark(self._scope, number, 0)
        said, shown = dict.fromkeys(mark.zones.get(path, ())), dict[str, None]()
        for slot in slots_between(self._log, number, mark.offset, end):
            # Most events need not be decoded to tell that they are no text of a zone, and show none.
            may_say = zone_source("").encode() in slot.payload or b'"withdrawn"' in slot.payload
            event = event_of(slot.payload) if may_say else None
            if event is not None and event.scope == self._scope:
                said |= {event.id: None} if _is_from(event, path) else {}
                shown |= dict.fromkeys(event.body.ids) if isinstance(event.body, Withdrawn) else {}
        for id, offset in self._log.known(self._scope, list(shown)).items():
            event = event_of(self._log.read(number, offset, 1)[0].payload)
            said |= {id: None} if event is not None and _is_from(event, path) else {}
        return list(said)


def _is_from(event: Event, path: str) -> bool:
    return isinstance(event.body, Captured) and zone_path(event.body.source, event.actor.origin) == path
