"""The content of the views: the rows of their tables and the pages of the vault, as plain values.

A row's `key` is its scope and id, since an id is only unique inside its scope. The guard of a row
(`generation`, `offset`) names the event behind it; like every offset it is left out of the state hash.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import msgspec

from memtape.schemas.embedding import FLOOR
from memtape.schemas.events import PEOPLE, UNKNOWN, Kind, Origin, Tier
from memtape.schemas.settings import Settings
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line

ORDER = "an order about memory"
"""The mark for readers of people's orders about memory, which state nothing about their subject."""
BEFORE_CHARS = 80  # Characters shown of a replaced value.
Polarity = Literal["fact", "rule", "meta", "correction"]
"""The polarity of a text: a fact, a rule, an order about memory, or a correction."""
Category = Literal["identity", "preference", "technical", "goal", "context"]
"""The subject of a memory, on which its aging depends."""
ConflictWhy = Literal["both_affirmed", "weaker", "model", "opposed"]
Severity = Literal["high", "medium", "low"]
ConflictStatus = Literal["pending", "accepted", "dismissed", "expired"]
"""`accepted`: one side is kept. `dismissed`: both are. `expired`: a side is gone or replaced otherwise."""

TOLD_WHY: dict[ConflictWhy, str] = {
    "both_affirmed": "both were affirmed",
    "weaker": "who is trusted less says otherwise",
    "model": "a model says that both cannot hold",
    "opposed": "one person wants both",
}
_SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")
Status = Literal["draft", "stable", "deprecated"]
"""The status of a memory: said once by an agent, a tool, a page or a model; said by a person, confirmed or
used; or replaced.
"""
Standing = Literal["valid", "replaced", "contradicted", "archived", "forgotten"]
"""How a memory or turn stands for its reader; `forgotten` is all that is hidden. Each has one."""
Listed = Literal[Standing, "pinned"]
"""A standing to list; `pinned` lists the pinned ones at hand, whichever standing each has."""
Sort = Literal["latest", "oldest", "uses", "kind", "actor"]
"""The order of a list; equals stand with the latest first."""
TableName = Literal[
    "memories", "turns", "tombstones", "vectors", "uses", "edges", "conflicts", "summaries", "archive",
    "pages",
]  # fmt: skip

StructT = TypeVar("StructT", bound=msgspec.Struct)
OthersT_co = TypeVar("OthersT_co", covariant=True)


def made_from(cls: type[StructT], /, *sources: Any, **more: Any) -> StructT:
    """Return a struct of `more` and of the fields shared with sources by name, of the first that has one."""
    for source in sources:
        of: object = type(source)
        names, values_of = _shared(cls, of)
        more = {**dict(zip(names, values_of(source), strict=True)), **more}
    return cls(**more)


@cache
def _shared(cls: type[msgspec.Struct], source: object) -> tuple[tuple[str, ...], Callable[[Any], Any]]:
    names = tuple(name for name in cls.__struct_fields__ if hasattr(source, name))
    if len(names) > 1:
        return names, attrgetter(*names)
    return names, lambda it: tuple(getattr(it, name) for name in names)


class Change(NamedTuple):
    """A key that must be rendered again: a table row, or one of the inputs of pages.

    The inputs are an entry of the journal, a memory's standing, the scope's standing, open ends, and the file
    of a slug (`files`). Sinks ask the state for the current content.
    """

    table: TableName | Literal["journal", "standing", "scope", "threads", "files"]
    scope: str
    id: str


class MemberRow(msgspec.Struct, frozen=True):
    """One capture of a memory: how it joined, and its similarity (ten-thousandths of a cosine)."""

    id: str
    how: str
    similarity: int
    offset: int


class Provenance(msgspec.Struct, frozen=True):
    """The origin of a capture, and its session."""

    origin: Origin
    session: str | None


class Held(msgspec.Struct, frozen=True):
    """A period in which a memory held, half open, in microseconds."""

    valid_from: int
    valid_to: int


class Wording(msgspec.Struct, frozen=True):
    """A text of a memory besides the canonical text, and the text's best capture (trust, time, order)."""

    id: str
    text: str


class Displayed(msgspec.Struct, frozen=True, kw_only=True):
    """The fields shared by a memory, a turn and a search result. A field added here is added to all three."""

    id: str
    scope: str
    kind: Kind
    text: str
    tags: tuple[str, ...]
    source: str | None
    actor: str
    origin: Origin
    session: str | None
    at: int
    pinned: bool = False
    tier: Tier = "short"
    archived_at: int | None = None


class MemoryRow(Displayed, frozen=True, kw_only=True):
    """One memory. `text` is that of the capture `canonical`; `id` is the name: its earliest living capture.

    `ids` are all captures that resolve to it, members then echoes. `provenance` is that of the living ones,
    or of all if none lives, each once. `confirmations` counts the living members beyond the first; echoes
    count as none. `replaced` marks a goal or plan after a later one took over. A hidden memory is forgotten
    and can be restored. `valid_from` and `valid_to` are its period, half open; `valid_to` is None while it
    holds, and `replaced_by` is a captured id of the memory that replaced it then. `held` are the earlier
    periods in which it held, with another value between, the earliest first. `replaces` are captured ids of
    the memories that it replaced, the latest first, and `before` is the value of the first of these, as said
    (empty if not separable from its text). `outdated_by` is a captured id of a memory that replaced a part of
    its content. `contradicts` is a captured id of a valid memory with more trust and another value of the
    same thing. `into` is a captured id of the memory that covers it, and `made_of` are captured ids of the
    memories that its text was made of, recursively. `wordings` are its other living texts, echoes' included,
    each once but for its white space, that of the greatest (trust, time, order) first. `importance_confirmed`
    is in thousandths. `uses` counts the uses of its captures in its scope, the last at `used_at`. Staleness
    follows from `category`, `last_at` and `used_at` at any time.
    """

    key: str
    canonical: str
    branch: str | None
    path: str | None
    importance_given: int | None
    seq: int
    first_at: int
    last_at: int
    confirmations: int
    ids: tuple[str, ...]
    members: tuple[MemberRow, ...]
    echoes: tuple[MemberRow, ...]
    replaced: bool
    hidden: bool
    provenance: tuple[Provenance, ...] = ()
    into: str | None = None
    made_of: tuple[str, ...] = ()
    valid_from: int = 0
    valid_to: int | None = None
    replaced_by: str | None = None
    replaces: tuple[str, ...] = ()
    held: tuple[Held, ...] = ()
    before: str = ""
    outdated_by: str | None = None
    contradicts: str | None = None
    wordings: tuple[Wording, ...] = ()
    importance_confirmed: int = 500
    status: Status = "draft"
    category: Category = "technical"
    polarity: Polarity = "fact"
    uses: int = 0
    used_at: int | None = None


class TurnRow(Displayed, frozen=True, kw_only=True):
    """One whole turn. `polarity` differs from `fact` only if a person spoke."""

    key: str
    captions: tuple[str, ...]
    branch: str | None
    path: str | None
    seq: int
    offset_of: int
    hidden: bool
    polarity: Polarity = "fact"


class KeyedRow(msgspec.Struct, frozen=True):
    """A row with a scope, an id in the scope, and a `key` of both."""

    key: str
    id: str
    scope: str


class TombstoneRow(KeyedRow, frozen=True, kw_only=True):
    """A ban in force on a normalised text (`id` is `text:` and its digest), or on a captured id (`id:`)."""

    at: int


class VectorRow(KeyedRow, frozen=True, kw_only=True):
    """The vector of one captured text under one embedder: the unit vector x 2,000 in little-endian int16.

    A row's key ends in the embedder's, since a capture has a vector under each.
    """

    embedder: str
    vector: bytes


class UseRow(KeyedRow, frozen=True, kw_only=True):
    """The uses of a captured id: number, last time, and times in the 18 days before it (at most 64).

    `id` is the captured id, or `other:` and a digest of an id of `global`: no id of another scope is stored
    here.
    """

    used: int
    last_at: int
    times: tuple[int, ...]


class EdgeRow(KeyedRow, frozen=True, kw_only=True):
    """Two captured ids used together in `count` windows; `weight` is in billionths as of `at`.

    `learned` is the weight from 90 days of windows, in billionths, over `learned_windows` joint windows, the
    last completed at `learned_at`. Without one of the two weights, its fields are 0.
    """

    source: str
    target: str
    weight: int
    at: int
    count: int
    learned: int = 0
    learned_windows: int = 0
    learned_at: int = 0


class ConflictRow(KeyedRow, frozen=True, kw_only=True):
    """A conflict between the memories of two captured ids, with their texts; `a` was said first.

    `a_evidence` and `b_evidence` are the ids of the events that affirmed each side before the conflict was
    `raised_at`, or of a model's decision that both cannot hold. `kept` is `a` or `b` if one of them was kept.
    `settled_at` is the time of people's answer, or of expiry.
    """

    a: str
    b: str
    why: ConflictWhy
    severity: Severity
    a_evidence: tuple[str, ...]
    b_evidence: tuple[str, ...]
    raised_at: int
    status: ConflictStatus
    kept: str | None = None
    settled_at: int | None = None
    note: str | None = None


def by_weight(row: ConflictRow) -> tuple[int, int, str]:
    """Return the sort key of a list of conflicts: pending ones first, then the gravest, then the latest."""
    order = _SEVERITIES.index(row.severity) if row.status == "pending" else len(_SEVERITIES)
    return order, -(row.raised_at if row.status == "pending" else row.settled_at or 0), row.id


def marks(row: Displayed) -> tuple[str, ...]:
    """Return the marks of a row for readers, shown beside its text everywhere."""
    told = ("pinned",) * row.pinned
    if row.archived_at is not None:
        told += (archived_on(row.archived_at),)
    if isinstance(row, MemoryRow):
        told += told_of_value(row)
        told += ("not the one in force",) * (row.replaced and row.valid_to is None)
        told += (ORDER,) * (row.polarity == "meta" and row.origin in PEOPLE)
        told += ("consolidated",) * bool(row.made_of) + (f"told in {row.into}",) * (row.into is not None)
    return told


def is_replaced(row: MemoryRow) -> bool:
    """Return whether another memory has taken over from a memory."""
    return row.replaced or row.valid_to is not None


def standing(row: MemoryRow | TurnRow) -> Standing:
    """Return how a row stands: the gravest of what holds of it."""
    if row.hidden:
        return "forgotten"
    if row.archived_at is not None:
        return "archived"
    if isinstance(row, TurnRow):
        return "valid"
    contradicted: Standing = "contradicted" if row.contradicts is not None else "valid"
    return "replaced" if is_replaced(row) else contradicted


def signature(actor: str, origin: Origin) -> str:
    """Return the name of a person; for any other origin the origin, and its name if known."""
    if origin in PEOPLE:
        return actor
    return origin if actor == UNKNOWN or origin in ("web", "model") else f"{origin} {actor}"


def archived_on(at: int) -> str:
    """Return the mark of an archived text, archived by itself or with its project."""
    return f"archived on {format_day(at)}"


def stale(last_at: int) -> str:
    """Return the mark of a stale memory, with the day of its last capture."""
    return f"stale: last said on {format_day(last_at)}"


def told_of_value(row: MemoryRow) -> tuple[str, ...]:
    """Return the marks of a memory's value for readers: replaced, since when, or contradicted."""
    told: tuple[str, ...] = ()
    if row.valid_to is not None:
        told += (replaced(row.valid_to, row.replaced_by),)
    elif row.replaces:
        value = f"; before: {one_line(row.before, BEFORE_CHARS)}" if row.before else ""
        told += (f"since {format_day(row.valid_from)}{value}",)
    told += (f"in part replaced by {row.outdated_by}",) * (row.outdated_by is not None)
    return told + (f"contradicts {row.contradicts}, which is trusted more",) * (row.contradicts is not None)


def replaced(valid_to: int, by: str | None) -> str:
    """Return the mark of a replaced memory: the UTC day of `valid_to`, and the id of the replacement."""
    return f"replaced on {format_day(valid_to)} by {by}"


class SummaryRow(KeyedRow, frozen=True, kw_only=True):
    """A summary of moved texts of one kind, of a day (`level` 1) or a week (2).

    `since` and `until` bound the day or week, half open. `sources` are the captured ids of all visible texts
    summed up, in the order in which they moved, `first_at` and `last_at` the times of the first and last of
    these. `label` is the session or speaker of a day, empty for a week. `text` are the `highlights`.
    `quality` is in hundredths.
    """

    level: int
    kind: Kind
    label: str
    since: int
    until: int
    first_at: int
    last_at: int
    text: str
    highlights: tuple[str, ...]
    keywords: tuple[str, ...]
    sources: tuple[str, ...]
    quality: int


class ArchiveRow(KeyedRow, frozen=True, kw_only=True):
    """An archived memory or turn: the time and the reason (`age`, or `asked` by a person).

    `id` is the id of the first capture; `offset_of` is the offset of the text, which the log keeps. A
    `purged` memory or turn has no other row.
    """

    kind: Kind
    at: int
    archived_at: int
    why: str
    purged: bool
    offset_of: int


class PageEdge(msgspec.Struct, frozen=True):
    """A page's link that is no child: to the page of an id, or to a slug that no page has yet."""

    relation: str
    to: str | None
    slug: str


class PageRow(KeyedRow, frozen=True, kw_only=True):
    """A page, and a node if it has `children`. `id` is the id of its first capture; the root has its own.

    `slug` is empty for a page without a place. `title` is as given, else the first heading, else the slug;
    `summary` as given, else the first sentence. `children` and `parents` are the ids of living pages, in the
    order of their links. `version` is the current capture, None for a root without a text; `beside` are the
    versions beside it until an author has seen both, and `versions` counts all. `actor`, `origin` and `at`
    are of the version, and `first_at` of the first one.
    """

    slug: str
    title: str
    summary: str
    hints: tuple[str, ...]
    refs: tuple[str, ...]
    children: tuple[str, ...]
    parents: tuple[str, ...]
    edges: tuple[PageEdge, ...]
    version: str | None
    beside: tuple[str, ...]
    versions: int
    actor: str
    origin: Origin
    at: int
    first_at: int

    @property
    def diverged(self) -> bool:
        """Return whether the page has more than one version in force."""
        return bool(self.beside)


TOLD_LEVELS = {1: "day", 2: "week"}  # The levels of a summary, in words.


def summary_told(row: SummaryRow) -> str:
    """Return the mark of a summary for readers: `summary of 14 turns, day of 2026-02-03`."""
    one, more = ("journal entry", "journal entries") if row.kind == "journal" else (row.kind, f"{row.kind}s")
    when = f"{TOLD_LEVELS[row.level]} of {format_day(row.since)}"
    return f"summary of {many(len(row.sources), one, more)}, {when}"


class GoneRow(KeyedRow, frozen=True):
    """A removed row. The row keeps its key and guard, so that a late write cannot bring the old row back."""


LivingRow = (
    MemoryRow | TurnRow | TombstoneRow | VectorRow | UseRow | EdgeRow | ConflictRow | SummaryRow | ArchiveRow
    | PageRow
)  # fmt: skip
Row = LivingRow | GoneRow

TABLES: dict[TableName, type[LivingRow]] = {
    "memories": MemoryRow,
    "turns": TurnRow,
    "tombstones": TombstoneRow,
    "vectors": VectorRow,
    "uses": UseRow,
    "edges": EdgeRow,
    "conflicts": ConflictRow,
    "summaries": SummaryRow,
    "archive": ArchiveRow,
    "pages": PageRow,
}
"""Every table of rows, each with the type of its rows. All have a `key`, and the guard of `Guarded`.

Of vectors there is one table an embedder. How rows are made is in `state/views/rows.py`.
"""


class Guarded(msgspec.Struct, frozen=True):
    """A row with its guard: the scope's generation, and the offset of the event behind the row."""

    table: TableName
    row: Row
    generation: int
    offset: int


DEAD_LETTERS_KEPT = 1_000


class DeadLetter(msgspec.Struct, frozen=True):
    """A slot that could not be read. `reason` holds nothing of the payload, `digest` is blake2b-128 of it."""

    partition: int
    offset: int
    reason: str
    digest: str


class VaultPage(msgspec.Struct, frozen=True):
    """A page of the vault: its path in its scope, and its Markdown without the zone, empty for no page.

    `zone` is the zone of a page that has none yet: with the living texts captured from it, in the order of
    the log. That of a tree page has the page's text, and replaces the file's unless a person edited the file.
    """

    scope: str
    path: str
    text: str
    zone: str | None = None


class ListedPage(NamedTuple):
    """A page in another page's list: its slug, or its id if it has none; title and summary only if `told`."""

    name: str
    is_node: bool
    told: bool
    title: str = ""
    summary: str = ""
    hints: tuple[str, ...] = ()


class PageEnd(NamedTuple):
    """The far end of a link other than `child`: the page's slug or id, and whether the page exists."""

    relation: str
    name: str
    is_there: bool


class ScopeMark(msgspec.Struct, frozen=True, omit_defaults=True):
    """Up to which position a scope's Markdown is true.

    `zones` has by the path of a page the living captures from its zone, in the order of the log.
    """

    scope: str
    partition: int
    offset: int
    zones: dict[str, tuple[str, ...]] = {}


class Counters(msgspec.Struct):
    """The counts of a partition, for `status`; never part of a state hash."""

    events: int = 0  # Counted events of scopes, erased ones included.
    duplicates: int = 0
    divergent: int = 0
    """Second events of an id with other content than the first; they change nothing."""
    ignored: int = 0
    """Events without effect by rule: others' writes to `global`, stale settings, far ticks."""
    dead_letters: int = 0
    latest_dead_letters: list[DeadLetter] = []
    """Of the slots that could not be read the last `DEAD_LETTERS_KEPT`."""
    redacted: int = 0  # Placeholders of secrets in all texts, queries and reasons.
    texts: int = 0  # Captured texts, which all get a vector under an embedder other than the floor.
    embedded: dict[str, int] = {}  # How many of them have one, by embedder.
    failed: dict[str, int] = {}  # How many of them have failed for good, by embedder.
    types: dict[str, int] = {}  # Events of scopes that counted, by type.


class Context(msgspec.Struct, Generic[OthersT_co]):
    """The input of a reducer beside the event: its place and effects, the settings, and the other subjects.

    `seq` counts the events of the scope `scope`. Earlier subjects have applied the event already.
    Their effects are here too, so that no state stores details of a single event.

    `offset` is the event's offset, `at` its clamped time in us. `clock` is that of the partition, 0 before
    its first `configured`. `of` has the other subjects; each reducer's protocol names those it reads.
    `flipped` are the seqs of captures hidden or shown by the event, `embedded` the seq of the capture that
    got its first vector by an embedder, `used` the seqs of captures reported or found to be used. `touched`
    are the names of changed memories, `gone` the births of memories merged into another, and `dropped` the
    clusters of dropped decisions.
    """

    scope: str
    seq: int
    offset: int
    at: int
    clock: int
    settings: Settings
    counters: Counters
    of: OthersT_co
    flipped: list[int] = []
    embedded: int | None = None
    used: list[int] = []
    touched: list[str] = []
    gone: list[int] = []
    dropped: list[tuple[str, ...]] = []


class ScopeHeld(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of one scope in the views.

    `hidden` memories and turns can be restored; `hidden_ids` are some of them. `conflicts` counts pending
    ones.
    """

    memories: int = 0
    turns: int = 0
    summaries: int = 0
    hidden: int = 0
    hidden_ids: tuple[str, ...] = ()
    conflicts: int = 0


class PassMark(msgspec.Struct, frozen=True, kw_only=True):
    """The state of consolidation in a scope.

    `new` and `confirmed` count the new memories, and the captures that confirmed one, since the last pass at
    the time `at` (0 before the first); `oldest` is the time of the first new one, 0 without any. `queued`
    clusters are read again, and `aside` clusters have failed too often. `applied` counts decisions by
    operation, `dropped` the decisions with a changed input or an end, `failed` the failed attempts.
    """

    new: int = 0
    confirmed: int = 0
    oldest: int = 0
    at: int = 0
    queued: int = 0
    aside: int = 0
    applied: dict[str, int] = {}
    dropped: int = 0
    failed: int = 0


class LifeMark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a scope as a whole, its start (`since`), and the numbers of aged texts.

    `mid` and `long` count the memories and turns of these tiers without archived ones, `archived` the
    archived ones, of which `purged` have left the views. `name` is the project's name for people.
    """

    state: Literal["active", "dormant", "finished"] = "active"
    since: int = 0
    name: str = ""
    mid: int = 0
    long: int = 0
    summaries: int = 0
    archived: int = 0
    purged: int = 0
    is_purged: bool = False  # Whether all of it has left the views.


def project_told(mark: LifeMark) -> str:
    """Return the notice about a dormant or finished project; empty for an active project."""
    match mark.state:
        case "dormant":
            return f"Dormant since {format_day(mark.since)}: whatever is said or asked here wakes it."
        case "finished":
            return (
                f"Finished on {format_day(mark.since)}: what was said before is archived. "
                "`memtape project finish --undo` brings it back, and `memtape search --archived` finds it."
            )
        case _:
            return ""


class Basis(NamedTuple):
    """The basis of a partition's views and snapshots: if any of it differs they are rebuilt.

    `erased` is the number of known erased ids of the partition, see `state.core.erasures`.
    """

    log_id: str
    rules: str
    erased: int

    def unlike(self, found: Basis) -> str:
        """Return how a found basis differs from this one, a clause; empty if it does not."""
        if found.log_id != self.log_id:
            return "the log is another one"
        if found.rules != self.rules:
            return "the rules have changed"
        return "something has been erased since" if found.erased != self.erased else ""


class Watermark(msgspec.Struct, frozen=True, kw_only=True):
    """The offset (exclusive) up to which the views of a partition are valid, with their basis and settings.

    `clock` is the partition's, `sent` the latest `sent` of each scope, by which it is ranked.
    """

    partition: int
    offset: int
    log_id: str
    rules: str
    revision: int
    clock: int
    sent: dict[str, int]
    counters: Counters
    erased: int = 0
    embedder: str = FLOOR  # The key of the deciding embedder.
    embedder_next: str | None = None
    passes: dict[str, PassMark] = {}
    """The state of consolidation in each scope with any cluster to read."""
    lives: dict[str, LifeMark] = {}  # The state of each scope that is inactive or has aged texts.
    trail: str = ""
    """The digest of the log's last slots before `offset`, by `schemas.log.trail_of`; empty if not stored."""

    @property
    def waiting(self) -> int:
        """How many texts wait for a vector under the embedder that decides, or that is to take over."""
        key = self.embedder_next or self.embedder
        if key == FLOOR:
            return 0
        done = self.counters.embedded.get(key, 0) + self.counters.failed.get(key, 0)
        return max(0, self.counters.texts - done)

    @property
    def basis(self) -> Basis:
        """The basis of the views."""
        return Basis(self.log_id, self.rules, self.erased)


def no_watermark(partition: int) -> Watermark:
    """Return the watermark of views that were never made."""
    counters = Counters()
    return Watermark(
        partition=partition, offset=0, log_id="", rules="", revision=0, clock=0, sent={}, counters=counters
    )


class Delta(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of one partition's views by a run of events; `watermark` holds once all are written.

    Unless it `has_pages`, the pages of its changes come with a later one.
    """

    rows: tuple[Guarded, ...]
    pages: tuple[VaultPage, ...]
    marks: tuple[ScopeMark, ...]
    watermark: Watermark
    has_pages: bool = True
