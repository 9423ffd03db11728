"""Writing to a home's log by one actor: captures and other events, in one scope, without secrets.

Pure writers need nothing else. Reading views is not here.
"""

from __future__ import annotations

import itertools
import os
import sys
import time
import weakref
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol, TypedDict, get_args

import msgspec
import uuid_utils
from msgspec import Meta
from msgspec.structs import replace

from memtape.schemas.errors import Denied, InvalidEvent, InvalidUse, LogAway, MemtapeError
from memtape.schemas.events import (
    EVENT_TYPES,
    MAX_AT_LEAD_US,
    MAX_IDS,
    MAX_LABEL_CHARS,
    MAX_TAGS,
    MAX_TEXT_BYTES,
    PEOPLE,
    UNKNOWN,
    Actor,
    Body,
    Captured,
    Event,
    Kind,
    Media,
    Origin,
    Restored,
    Withdrawn,
    check_text_size,
    make_event,
)
from memtape.schemas.ids import derived_id
from memtape.schemas.log import SPOOLED, Log, Position, events_between
from memtape.schemas.metrics import Door
from memtape.schemas.places import part_id
from memtape.schemas.private import is_private
from memtape.schemas.scopes import check_scope, partition_of
from memtape.schemas.times import parse_time
from memtape.schemas.variables import PROD, SESSION_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.tools.capture.native_ids import DOCUMENT
from memtape.tools.capture.profiles import Pause, check_storing, profile_of, silence_of
from memtape.tools.capture.project import Began, is_unmade, passing_scope, scope_of_folder
from memtape.tools.capture.rights import Rights

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from memtape.state.core.scope import Scope
    from memtape.tools.capture.secrets.redaction import Redactor

_LABELS = ("actor", "session", "source", "path", "branch")
PAGE_PARTS = 250
Said = Mapping[str, Collection[str]]
"""Ids of texts by scope: for each text the id of it whole and of its first part."""
Erased = dict[str, dict[str, None]]
"""The erased ids of each scope that was asked for, so that many lines look them up once."""


class MediaLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A picture or file that came with the text, its kind as in `schemas.events.Media`."""

    kind: Literal["image", "audio", "video", "file"] = "image"
    caption: str | None = None
    uri: str | None = None


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One capture in a caller's form. Missing fields come from the command or the client.

    `at` is microseconds or ISO 8601. With `native_id` the id is derived from scope, source and native id:
    capturing the line again adds nothing. `importance` is between 0 and 1. With `split` a text too long for
    one event is kept as a document, and of a turn only its beginning and end are kept (`noise`); a document
    is cut into parts (`documents`).
    """

    text: str
    kind: Kind | None = None
    tags: tuple[str, ...] = ()
    at: int | str | None = None
    actor: str | None = None
    origin: Origin | None = None
    session: str | None = None
    scope: str | None = None
    source: str | None = None
    native_id: str | None = None
    branch: str | None = None
    path: str | None = None
    importance: Annotated[float, Meta(ge=0, le=1)] | None = None
    media: tuple[MediaLine, ...] = ()
    split: bool = False


class Receipt(NamedTuple):
    """A durable capture: its id, its position on the log, and the number of redacted secrets by kind.

    `profile` is the profile of the capture; under a profile that keeps nothing the capture lives as long as
    its process. For a document in parts, the first part counts the secrets of the document. A `spooled`
    capture waits in the home for an unreachable broker, and has no known position yet. A `hidden` capture
    repeats a forgotten text, and no person repeated it; a `Writer` does not check `hidden`.
    """

    id: str
    position: Position
    redacted: Mapping[str, int] = {}
    profile: str = PROD
    hidden: bool = False

    @property
    def spooled(self) -> bool:
        """Whether the capture waits for a broker."""
        return self.position == SPOOLED


class Receipts(list[Receipt]):
    """The receipts of many captures; `refused` has the place of each that was not taken, from 0, and why."""

    refused: tuple[tuple[int, Denied], ...] = ()


class WriterOptions(TypedDict, total=False):
    """Who writes, and for what project.

    `scope` is by default the scope of the project of `folder`, by default the current folder; `began` returns
    the first folder of a session. `origin` is the kind of actor, by default `agent`, see `schemas.events`.
    """

    scope: str | None
    actor: str | None
    origin: Origin
    session: str | None
    folder: Path | None
    began: Began | None


class ScopeStates(Protocol):
    """The states of scopes at the end of a log."""

    def scope_now(self, name: str) -> Scope | None:
        """Return the state of a scope, None of one of which the log has nothing."""


class Writer:
    """A writer to a log for one actor, in one thread; `profile` is by default the environment's."""

    def __init__(
        self, home: Home, log: Log, *, profile: str | None = None, **options: Unpack[WriterOptions],
    ) -> None:  # fmt: skip
        self.profile = profile_of(home.path, profile)
        self.home, self.log = home, log
        scope, session = options.get("scope"), options.get("session")
        self._scope, self._pinned = None if scope is None else check_scope(scope), scope is not None
        self._folder, self._began = options.get("folder"), options.get("began")
        self.rights = Rights(log)
        self.account = self.rights.user or default_actor()
        """The name of the person at this machine."""
        name = options.get("actor") or self.account
        if (origin := options.get("origin", "agent")) not in get_args(Origin):
            raise InvalidUse(f"There is no origin {origin!r}.", f"Give {', '.join(get_args(Origin))}.")
        self.actor = Actor(name=name, origin=origin)
        self.door: Door = "python"
        """The way by which its questions come, for measurements."""
        self.session = session if session is not None else os.environ.get(SESSION_VARIABLE) or None
        self.states: ScopeStates | None = None
        """The states that its process keeps; without them each decision restores the state that it reads."""

    @cached_property
    def redactor(self) -> Redactor:
        """The redactor of every text on its way to the log; it counts the secrets."""
        from memtape.tools.capture.secrets.redaction import Redactor

        own = weakref.proxy(self)  # A circle of references would keep the texts of a scope for long.
        return Redactor(self.home, speaker=lambda: (own.scope, own.actor.origin))

    @property
    def scope(self) -> str:
        """The default scope, found at its first use.

        Reading creates and pins no scope: a folder without captures has an empty one. Raises `MemtapeError`
        for a scope that is not shown to the user of the topic.
        """
        scope = self._found_scope()
        self.rights.check_reader(scope)
        return scope

    def _found_scope(self) -> str:
        if self._scope is not None:
            return self._scope
        scope = scope_of_folder(self._folder or Path.cwd(), self.home, pin=False, began=self._began)
        if is_unmade(scope) and not self.profile.keeps:
            scope = passing_scope(scope, self._folder or Path.cwd())
        if not is_unmade(scope):
            self._scope = scope
        return scope

    def made_scope(self) -> str:
        """Return the scope; create and pin it if it does not exist yet."""
        if not self._pinned and self.profile.keeps:
            self._scope = scope_of_folder(self._folder or Path.cwd(), self.home, began=self._began)
            self._pinned = True
        return self.scope

    def capture_line(self, line: Line) -> Receipts:
        """Append one text, a document of more than 1,000 characters in parts; return the receipts.

        Raises `InvalidEvent` for a text that may not be on the log, and `Denied` for the content of a file of
        secrets or a wholly private text.
        """
        receipts = self.capture_many([line])
        for _, error in receipts.refused:
            raise error
        return receipts

    def capture_many(self, lines: Iterable[Line]) -> Receipts:
        """Append many texts, all or none, and return a receipt for each event.

        Only texts from files of secrets and wholly private ones are left out, and named in `refused`.
        """
        events: list[Event] = []
        redacted: list[Counter[str]] = []
        refused: list[tuple[int, Denied]] = []
        erased: Erased = {}
        for place, line in enumerate(lines):
            before = self.redactor.counts.copy()
            try:
                made = self.events_of(line, erased)
            except Denied as error:
                refused.append((place, error))
                self.redactor.counts = before  # Nothing of it is stored.
                continue
            events += made
            redacted += [self.redactor.counts - before, *(Counter[str]() for _ in made[1:])]
        positions = self.log.append(events) if events else []
        texts: dict[str, dict[str, str]] = {}
        for event, position in zip(events, positions, strict=True):
            if isinstance(event.body, Captured) and position != SPOOLED:
                texts.setdefault(event.scope or "", {})[event.id] = event.body.text
        hidden = {id for scope, its in texts.items() for id in self.hidden_among(scope, its)}
        receipts = Receipts(
            Receipt(event.id, position, taken, self.profile.name, event.id in hidden)
            for event, position, taken in zip(events, positions, redacted, strict=True)
        )
        receipts.refused = tuple(refused)
        return receipts

    def hidden_among(self, scope: str, texts: Mapping[str, str]) -> list[str]:
        """Return which captures of a scope are hidden, by id with their texts. A `Writer` does not look."""
        return []

    def events_of(self, line: Line, erased: Erased) -> list[Event]:
        """Return the `captured` events of a line, without secrets: one, or one for each part of a document.

        Raises `Paused` where nothing is stored now. The profile in effect checks and tags the captures.
        `erased` is shared by the lines of a batch; the ids of a scope are added when the first native id
        needs them. Raises `InvalidEvent` and `Denied`.
        """
        check_storing(self.home.path, lambda: line.scope or self.scope)
        check_size(line)
        for place in filter(None, (line.path, line.source)):
            self.redactor.check_path(place)
        now = now_us()
        at = parse_time(line.at, now) if isinstance(line.at, str) else now if line.at is None else line.at
        if at > now + MAX_AT_LEAD_US:
            told = "The time of a capture is more than 5 minutes in the future."
            raise InvalidEvent("invalid", told, "$.at")
        scope = check_scope(line.scope) if line.scope is not None else self.made_scope()
        kind, given = line.kind or "fact", line.importance
        importance = None if given is None else round(given * 100)
        tags = self.profile.check(kind, importance, line.tags)
        media = tuple(Media(caption=it.caption, kind=it.kind, uri=it.uri) for it in line.media)
        body = Captured(
            branch=line.branch, importance_given=importance, kind=kind, media=media, part=None,
            path=line.path, source=line.source, tags=tags, text=line.text,
        )  # fmt: skip
        actor = Actor(name=line.actor or self.actor.name, origin=line.origin or self.actor.origin)
        self.rights.check_speaker(actor)
        session = line.session or self.session
        # What tells a secret may stand on both sides of a cut, so that a document is cut after its secrets
        # are out.
        event = make_event("captured", "", body, scope, actor, (), now)
        whole = self.redactor.event(replace(event, at=at, session=session))
        assert isinstance(whole.body, Captured)
        if is_private(whole.body.text):
            told = "The text is private as a whole, and nothing was stored."
            then = "What stands outside of <private>…</private> is stored."
            raise Denied("private", told, "$.body.text", then)
        made = _parts_of(whole.body, scope, line)
        if line.native_id is not None:
            if scope not in erased:
                erased[scope] = self.erased_ids(scope)
            if any(id in erased[scope] for id, _ in made):
                reason = f"{line.native_id!r} of this source was erased and is not taken again."
                raise InvalidEvent("erased", reason, "$.id")
        return [replace(whole, id=id, body=said) for id, said in made]

    def erased_ids(self, scope: str) -> dict[str, None]:
        """Return the ids of a scope that were erased, and are not to be captured again."""
        from memtape.state.core.erasures import erasures_of

        try:
            slots = self.log.erased(partition_of(scope, self.log.partitions))
        except LogAway:  # The delivery of the spool leaves an id out that the log has, erased or not.
            return {}
        return erasures_of(slots).named.get(scope, {}) if slots else {}

    def known(self, scope: str, ids: Sequence[str]) -> dict[str, int]:
        """Return the ids already used by an event of a scope, with offsets; none while the log is away."""
        try:
            return self.log.known(scope, ids)
        except LogAway:
            return {}

    def silence(self) -> Pause | None:
        """Return the pause in which nothing of this scope is stored now, None for none."""
        return silence_of(self.home.path, lambda: self.scope)

    def stores(self) -> bool:
        """Whether this scope stores anything now: no pause is in force, and the home can be written."""
        return self.silence() is None and not self.home.is_read_only

    def is_made(self) -> bool:
        """Whether the scope exists and can have memories."""
        return self._scope is not None or not is_unmade(self.scope)

    def append(self, type: str, body: Body, scope: str, refs: tuple[str, ...] = ()) -> Receipt:
        """Put a body of a type on the log in a scope, without its secrets, and return the receipt.

        Where an event of `refs` is erased, this one is too.
        """
        event = self.made(type, body, scope, refs)
        return Receipt(event.id, self.log.append([event])[0], profile=self.profile.name)

    def made(self, type: str, body: Body, scope: str, refs: tuple[str, ...] = (), id: str = "") -> Event:
        """Return an event of a body, without secrets, for a batch; `id` is by default new."""
        if not EVENT_TYPES[type].of_anyone:
            self.rights.check_speaker(self.actor)
        event = make_event(type, id or str(uuid_utils.uuid7()), body, scope, self.actor, refs, now_us())
        return self.redactor.event(replace(event, session=self.session))


def _parts_of(said: Captured, scope: str, line: Line) -> list[tuple[str, Captured]]:
    """Return id and body of each event of a capture."""
    if line.split and said.kind == "turn":
        from memtape.tools.capture.noise import without_bulk

        said = replace(said, text=without_bulk(said.text))
    elif line.split and len(said.text.encode()) > MAX_TEXT_BYTES:
        said = replace(said, kind="document")
    id, of_document = (
        str(uuid_utils.uuid7())
        if line.native_id is None
        else derived_id("captured", scope, said.source, f"{line.native_id}{mark}")
        for mark in ("", DOCUMENT)
    )
    if said.kind == "document":
        from memtape.tools.capture.documents import parts_of

        return parts_of(said, scope, of_document) or [(id, said)]
    return [(id, said)]


def parse_line(data: bytes) -> Line:
    """Decode one JSON line. Raises `InvalidEvent` with a sentence about the mistake."""
    try:
        return msgspec.json.decode(data, type=Line)
    except msgspec.MsgspecError as error:
        raise InvalidEvent("invalid", f"Not a capture: {error}.") from None
    except (UnicodeError, RecursionError) as error:
        raise InvalidEvent("invalid", f"Not a capture: {type(error).__name__}.") from None


def check_size(line: Line) -> None:
    """Raise `InvalidEvent` for text too long for any event, before it is read to its end.

    A text that is cut into parts may be of any length. All else is checked again in its final form.
    """
    if line.kind != "document" and not line.split:
        check_text_size("text", line.text)
    if len(line.tags) > MAX_TAGS or len(line.media) > MAX_TAGS:
        raise InvalidEvent("invalid", f"There are more than {MAX_TAGS} tags or media.", "$.body")
    for media in line.media:
        check_label("media", media.caption)
        check_label("media", media.uri)
    for field in _LABELS:
        check_label(field, getattr(line, field))
    check_label("tags", max(line.tags, key=len, default=None))


def check_label(field: str, text: str | None) -> None:
    """Raise `InvalidEvent` for a text that is longer than any name, path or reason of an event."""
    if text and len(text) > MAX_LABEL_CHARS:
        message = f"The {field} has {len(text):,} characters; at most {MAX_LABEL_CHARS:,} go into an event."
        raise InvalidEvent("oversized", message, f"$.body.{field}")


def check_person(origin: Origin, does: str, then: str = "Who is a person says --origin user.") -> None:
    """Raise `MemtapeError` for anyone but a person; `then` is the next step."""
    if origin not in PEOPLE:
        raise MemtapeError(f"Only people {does}, and this is said by {origin}.", then)


def default_actor() -> str:
    """Return the account's name of the user that runs this process: git's would be a person's full name."""
    if name := os.environ.get("USER") or os.environ.get("LOGNAME"):
        return name
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):  # The system tells none, as in some containers.
        return UNKNOWN


def now_us() -> int:
    """Return the time, in microseconds."""
    return time.time_ns() // 1_000


def withdraw(writer: Writer, texts: Said, *, on: bool = True, dry_run: bool = False) -> int:
    """Append that sources say texts no longer, or with `on=False` again; return how many changed."""
    count = 0
    for scope, ids in texts.items():
        stand = writer.log.known(scope, list(ids))
        withdrawn = withdrawn_and_shown(writer.log, scope)[0] if stand else {}
        changed = [id for id in stand if (id in withdrawn) is not on]
        count += len(changed)
        named: list[str] = []
        for id in changed if not dry_run else ():
            named.append(id)
            # The document's other parts, if it is a first part; erased parts included.
            for first in itertools.count(2, PAGE_PARTS):
                numbers = range(first, first + PAGE_PARTS)
                page = writer.log.known(scope, [part_id(scope, id, number) for number in numbers])
                named += page
                if len(page) < PAGE_PARTS:
                    break
        for first in range(0, len(named), MAX_IDS):
            writer.append("withdrawn", Withdrawn(ids=tuple(named[first : first + MAX_IDS]), on=on), scope)
    return count


def withdrawn_and_shown(log: Log, scope: str) -> tuple[dict[str, None], dict[str, None]]:
    """Return the ids withdrawn in a scope at the end of the log, and those that a person restored since."""
    withdrawn, shown = dict[str, None](), dict[str, None]()
    partition = partition_of(scope, log.partitions)
    for _, event in events_between(log, partition, 0, sys.maxsize, scope, ("withdrawn", "restored")):
        body = event.body
        if not isinstance(body, Withdrawn | Restored):
            continue
        on, ids = isinstance(body, Withdrawn) and body.on, body.ids
        restored = [id for id in ids if id in withdrawn] if isinstance(body, Restored) else []
        shown = {id: None for id in shown if id not in ids} | dict.fromkeys(restored)
        withdrawn = withdrawn | dict.fromkeys(ids) if on else {id: None for id in withdrawn if id not in ids}
    return withdrawn, shown
