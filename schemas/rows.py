"""What the views hold: the rows of their tables and the pages of the vault, as plain values.

A row's `key` is its scope and id, since an id is only unique inside its scope. The guard of a row
(`generation`, `offset`) says which event caused it; like every offset it is left out of the state hash.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from memtape.schemas.conflicts import ConflictRow
from memtape.schemas.embedding import FLOOR
from memtape.schemas.events import PEOPLE, UNKNOWN, Actor, Kind, Origin, Tier
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line

ORDER = "an order about memory"
"""What readers are told of what people said about memory, which states nothing of what it names."""
BEFORE_CHARS = 80
"""So much is shown of a value that was replaced."""
Polarity = Literal["fact", "rule", "meta", "correction"]
"""What a text does: it states something, sets a rule, gives an order about memory, or corrects what was said."""
Category = Literal["identity", "preference", "technical", "goal", "context"]
"""What a memory is about, by which its age is judged."""
Status = Literal["draft", "stable", "deprecated"]
"""What a memory is worth: said once by an agent, a tool, a page or a model; said by a person, confirmed or used; or
replaced."""
TableName = Literal[
    "memories", "turns", "tombstones", "vectors", "uses", "edges", "conflicts", "summaries", "archive", "pages"
]
Fed = TableName | Literal["vault"]
"""What the views hold that follows from a state: a table, or the Markdown of the vault."""


class Change(NamedTuple):
    """A row that an event touched, an entry of the journal, or what is no row: how a memory stands among others, how
    the scope as a whole does, what is open in it, what is known of one of its people, what waits for a pass, or the
    file of a slug (`files`).

    Sinks ask the state for what the row holds now.
    """

    table: TableName | Literal["journal", "standing", "scope", "threads", "people", "buffer", "files"]
    scope: str
    id: str


class MemberRow(msgspec.Struct, frozen=True):
    """One capture of a memory: how it joined, and how similar it was (ten-thousandths of a cosine)."""

    id: str
    how: str
    similarity: int
    offset: int


class Provenance(msgspec.Struct, frozen=True):
    """Of what origin a capture is, and in which session it was made."""

    origin: Origin
    session: str | None


class Held(msgspec.Struct, frozen=True):
    """A time in which a memory held, half open, in microseconds."""

    valid_from: int
    valid_to: int


class Wording(msgspec.Struct, frozen=True):
    """One text of a memory that is not its canonical one, and the capture that says it best (trust, time, order)."""

    id: str
    text: str


class Displayed(msgspec.Struct, frozen=True, kw_only=True):
    """What a memory, a turn and a result of a search say alike. A field that is added here stands in all three."""

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

    `ids` are all captures that resolve to it, members then echoes. `provenance` is that of those which live, of all
    where none does, each once. `confirmations` counts the living members beyond the first; echoes count as none.
    `revises` is a captured id of the memory that this one revises. `replaced` marks a goal or plan that a later one
    took over from. A hidden memory is forgotten and can be restored. `valid_from` and `valid_to` say when it held, half
    open; `valid_to` is None while it does, and `replaced_by` is a captured id of the memory that replaced it then.
    `held` are the times before in which it held, where another value came between, the earliest first.
    `replaces` are captured ids of those that it replaced, the latest first, and `before` is the value that the first of
    these told, as it was said (nothing where no value is told from the rest). `outdated_by` is
    a captured id of a memory that replaced a part of what this one tells. `contradicts` is a captured id of a memory
    that tells another value of the same thing, holds, and is trusted more. `into` is a captured id of the memory that
    stands for this one, and `made_of` are captured ids of the memories that a text was made of, at any remove.
    `wordings` are its other living texts, echoes' included, each once but for its white space, that of the greatest
    (trust, time, order) first.
    `importance_confirmed` is in thousandths. `uses` counts how often its captures were used in its scope, the last time
    at `used_at`. Whether it is stale follows from `category`, `last_at` and `used_at` at any time.
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
    revises: str | None
    similarity: int
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
    """One thing that was said, whole. What is not of people states something, and has no other `polarity`."""

    key: str
    captions: tuple[str, ...]
    branch: str | None
    path: str | None
    seq: int
    offset_of: int
    hidden: bool
    polarity: Polarity = "fact"


class TombstoneRow(msgspec.Struct, frozen=True, kw_only=True):
    """A ban in force: on a normalised text (`id` is `text:` and its digest) or on a captured id (`id:` and it)."""

    key: str
    id: str
    scope: str
    forgotten_by: str
    at: int


class VectorRow(msgspec.Struct, frozen=True, kw_only=True):
    """The vector of one captured text under one embedder: the unit vector x 4,000 in little-endian int16.

    A row's key ends in the embedder's, since a capture has a vector under each.
    """

    key: str
    id: str
    scope: str
    embedder: str
    vector: bytes


class UseRow(msgspec.Struct, frozen=True, kw_only=True):
    """How often a captured id was used, when last, and when within the 18 days before that (at most 64 times).

    `id` is the captured id, or `other:` and a digest of one of `global`: no other scope's id stands here.
    """

    key: str
    id: str
    scope: str
    used: int
    last_at: int
    times: tuple[int, ...]


class EdgeRow(msgspec.Struct, frozen=True, kw_only=True):
    """Two captured ids that were used together in `count` windows; `weight` is in billionths as of `at`.

    `learned` is the weight that 90 days of windows teach, in billionths, over `learned_windows` together, of which the
    last was completed at `learned_at`. Where a pair lacks one of the two weights, its fields are 0.
    """

    key: str
    id: str
    scope: str
    source: str
    target: str
    weight: int
    at: int
    count: int
    learned: int = 0
    learned_windows: int = 0
    learned_at: int = 0


def marks(row: MemoryRow | TurnRow) -> tuple[str, ...]:
    """Return what readers are told of a row beside its text, wherever it is shown."""
    told = ("pinned",) * row.pinned
    if row.archived_at is not None:
        told += (archived_on(row.archived_at),)
    if isinstance(row, MemoryRow):
        told += told_of_value(row)
        told += ("not the one in force",) * (row.replaced and row.valid_to is None)
        told += (ORDER,) * (row.polarity == "meta" and row.origin in PEOPLE)
        told += ("consolidated",) * bool(row.made_of) + (f"told in {row.into}",) * (row.into is not None)
    return told


def signature(actor: str, origin: Origin) -> str:
    """Return the name of a person; of anybody else the origin, and the name behind it where it is known."""
    if origin in PEOPLE:
        return actor
    return origin if actor == UNKNOWN or origin in ("web", "model") else f"{origin} {actor}"


def archived_on(at: int) -> str:
    """Return what readers are told of what is archived, by itself or with its project."""
    return f"archived on {format_day(at)}"


def stale(last_at: int) -> str:
    """Return what readers are told of a memory that is stale, by when it was said last."""
    return f"stale: last said on {format_day(last_at)}"


def told_of_value(row: MemoryRow) -> tuple[str, ...]:
    """Return what readers are told of the value that a memory tells: replaced, since when, or contradicted."""
    told: tuple[str, ...] = ()
    if row.valid_to is not None:
        told += (replaced(row.valid_to, row.replaced_by),)
    elif row.replaces:
        told += (since(row.valid_from, row.before),)
    told += (f"in part replaced by {row.outdated_by}",) * (row.outdated_by is not None)
    return told + (f"contradicts {row.contradicts}, which is trusted more",) * (row.contradicts is not None)


def replaced(valid_to: int, by: str | None) -> str:
    """Return what readers are told of what was replaced."""
    return f"replaced on {format_day(valid_to)} by {by}"


def since(valid_from: int, before: str) -> str:
    """Return what readers are told of what replaced something: since when it holds, and the value before it."""
    value = f"; before: {one_line(before, BEFORE_CHARS)}" if before else ""
    return f"since {format_day(valid_from)}{value}"


class SummaryRow(msgspec.Struct, frozen=True, kw_only=True):
    """What texts of one kind say in short that moved on, of a day (`level` 1) or a week (2).

    `since` and `until` are those of the day or week, half open. `sources` are the captured ids of all that is summed
    up and not hidden, in the order in which it moved on, `first_at` and `last_at` the times of the first and last of
    these. `label` is the session or speaker of a day, empty of a week. `text` is what `highlights` say, or what a model
    made of it (`by_model`). `quality` is in hundredths.
    """

    key: str
    id: str
    scope: str
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
    by_model: bool = False


class ArchiveRow(msgspec.Struct, frozen=True, kw_only=True):
    """That a memory or turn is archived: since when, and why (`age`, or somebody `asked` for it).

    `id` is that of its first capture, and `offset_of` where its text stands on the log, which keeps it. What is
    `purged` has no other row.
    """

    key: str
    id: str
    scope: str
    kind: Kind
    at: int
    archived_at: int
    why: str
    purged: bool
    offset_of: int


class PageEdge(msgspec.Struct, frozen=True):
    """Where a page leads other than to its children: to the page of an id, or to a slug that no page has yet."""

    relation: str
    to: str | None
    slug: str


class PageRow(msgspec.Struct, frozen=True, kw_only=True):
    """A page, and a node where it has `children`. `id` is that of its first capture; the root has one of its own.

    `slug` is empty where the page has no place. `title` is as given, else the first heading, else the slug; `summary`
    as given, else the first sentence. `children` and `parents` are the ids of pages that live, in the order in which
    they were linked. `version` is the capture that speaks for it, None of a root without a text; `beside` are those
    that stand beside that one until somebody has seen both, and `versions` counts all. `actor`, `origin` and `at` are
    of the version, and `first_at` of the first one.
    """

    key: str
    id: str
    scope: str
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
        """Whether more than one version of it stands."""
        return bool(self.beside)


TOLD_LEVELS = {1: "day", 2: "week"}
"""What people are told of the level of a summary."""


def summary_told(row: SummaryRow) -> str:
    """Return what readers are told of a summary beside its text: `summary of 14 turns, day of 2026-02-03`."""
    one, more = ("journal entry", "journal entries") if row.kind == "journal" else (row.kind, f"{row.kind}s")
    return f"summary of {many(len(row.sources), one, more)}, {TOLD_LEVELS[row.level]} of {format_day(row.since)}"


class GoneRow(msgspec.Struct, frozen=True):
    """A row that is no more: it keeps its key and guard, so that a late write cannot raise the dead."""

    key: str
    id: str
    scope: str


LivingRow = (
    MemoryRow | TurnRow | TombstoneRow | VectorRow | UseRow | EdgeRow | ConflictRow | SummaryRow | ArchiveRow | PageRow
)
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
"""Every table of rows, each with the type of its rows. All have `key` for their key, and the guard of `Guarded`.

Of vectors there is one table an embedder. How rows are made is in `state/views/rows.py`.
"""

ALL_FED: tuple[Fed, ...] = (*TABLES, "vault")


class Guarded(msgspec.Struct, frozen=True):
    """A row with its guard: the scope's generation and the offset of the event that caused it."""

    table: TableName
    row: Row
    generation: int
    offset: int


class DeadLetter(msgspec.Struct, frozen=True):
    """A slot that could not be read. `reason` holds nothing of the payload, `digest` is blake2b-128 of it."""

    partition: int
    offset: int
    reason: str
    digest: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a daily log; `mark` tells where what it says was replaced."""

    id: str
    at: int
    actor: Actor
    kind: Kind
    session: str | None
    text: str
    captions: tuple[str, ...]
    mark: str = ""


class IndexPage(msgspec.Struct, frozen=True, kw_only=True):
    """`MEMORY.md`: what holds now, where the rest is, and how many conflicts wait for people.

    `summary_pages` are those of the latest summaries, and `project` tells how a project stands that is not active.
    `standing` and `people` are the paths of the standing pages, and of those of people, on which anything stands.
    `places` has the path of the page of each memory that is shown. `zone` is of every page: the living texts that were
    captured from its zone, in the order of the log, for a page that has lost its zone.
    """

    scope: str
    path: str
    goal: MemoryRow | None
    plan: MemoryRow | None
    facts: tuple[MemoryRow, ...]
    memories: int
    memory_pages: tuple[str, ...]
    day_pages: tuple[str, ...]
    places: dict[str, str] = {}
    zone: tuple[str, ...] = ()
    conflicts: int = 0
    summary_pages: tuple[str, ...] = ()
    project: str = ""
    standing: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


class PageLink(msgspec.Struct, frozen=True):
    """A memory that was used together with another, and the path of the page on which it stands."""

    id: str
    path: str


class MemoryPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the consolidated list: memories in the order of their captures.

    `links` has, of each row that has any, what it was used together with, the strongest edge first.
    """

    scope: str
    path: str
    number: int
    rows: tuple[MemoryRow, ...]
    links: dict[str, tuple[PageLink, ...]] = {}
    zone: tuple[str, ...] = ()


class DayPage(msgspec.Struct, frozen=True, kw_only=True):
    """What was said on one UTC day (or one part of a very long one), in order of time."""

    scope: str
    path: str
    day: str
    entries: tuple[Entry, ...]
    zone: tuple[str, ...] = ()


class ConflictSide(NamedTuple):
    """One side of a conflict on its page: the row of its memory, and the path of that memory's page."""

    row: MemoryRow
    path: str


class ListedConflict(NamedTuple):
    """A conflict on its page, with its sides; a side of which nothing is shown is None."""

    row: ConflictRow
    a: ConflictSide | None
    b: ConflictSide | None


class ConflictsPage(msgspec.Struct, frozen=True, kw_only=True):
    """The conflicts of a scope that wait, the gravest first, and those that were settled, the latest first.

    `more` counts those that have no place on the page.
    """

    scope: str
    path: str
    pending: tuple[ListedConflict, ...]
    settled: tuple[ListedConflict, ...]
    more: int = 0
    zone: tuple[str, ...] = ()


class SummaryPage(msgspec.Struct, frozen=True, kw_only=True):
    """The page of a summary, with the paths of the pages on which its sources stand, each once; None of one that is
    gone."""

    scope: str
    path: str
    row: SummaryRow | None
    places: tuple[str, ...] = ()
    zone: tuple[str, ...] = ()


class PageLine(NamedTuple):
    """A line of a standing page under one of its headings: a text, what a reader is told beside it, and what it is of.

    `id` is that of the memory or turn, and `path` the path of the page on which that stands whole.
    """

    section: str
    text: str
    told: tuple[str, ...] = ()
    id: str = ""
    path: str = ""


class StandingPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of what somebody who works in a scope should know: of its lines as many as fit `limit` characters.

    `lines` stand in the order in which they are chosen, `sections` in that in which they are shown. `about` is a line
    below the title. `more` counts lines that are none of these, and `how` says where to read what has no room.
    """

    scope: str
    path: str
    title: str
    limit: int
    lines: tuple[PageLine, ...]
    sections: tuple[str, ...]
    about: str = ""
    more: int = 0
    how: str = ""
    zone: tuple[str, ...] = ()


class ListedPage(NamedTuple):
    """A page as another lists it: by its slug, or by its id where it has none; what it says only where `told`."""

    name: str
    is_node: bool
    told: bool
    title: str = ""
    summary: str = ""
    hints: tuple[str, ...] = ()


class PageEnd(NamedTuple):
    """The other end of a link that is no child's: the page's slug, or its id, and whether there is such a page."""

    relation: str
    name: str
    is_there: bool


class Beside(NamedTuple):
    """A version that stands beside the current one."""

    id: str
    actor: str
    origin: Origin
    at: int
    text: str


class TreePage(msgspec.Struct, frozen=True, kw_only=True):
    """The file of a page of the tree, with its text; `row` is None where no page has this slug."""

    scope: str
    path: str
    row: PageRow | None
    text: str = ""
    rest: str = ""
    children: tuple[ListedPage, ...] = ()
    edges: tuple[PageEnd, ...] = ()
    backlinks: tuple[PageEnd, ...] = ()
    beside: tuple[Beside, ...] = ()
    zone: tuple[str, ...] = ()


Page = IndexPage | MemoryPage | DayPage | ConflictsPage | SummaryPage | StandingPage | TreePage


class ScopeMark(msgspec.Struct, frozen=True, omit_defaults=True):
    """Up to which position a scope's Markdown is true.

    `zones` has by the path of a page the living captures from its zone, in the order of the log.
    """

    scope: str
    partition: int
    offset: int
    zones: dict[str, tuple[str, ...]] = {}


class Counters(msgspec.Struct):
    """What a partition has met, for `status`; never part of a state hash."""

    events: int = 0
    """Events of scopes that counted, erased ones included."""
    duplicates: int = 0
    divergent: int = 0
    """Second events of an id with other content than the first; they change nothing."""
    ignored: int = 0
    """Events without effect by rule: writes to `global` by others than operators, stale settings, far ticks."""
    dead_letters: int = 0
    redacted: int = 0
    """Placeholders that stand for secrets, in all that was said, asked and given as a reason."""
    texts: int = 0
    """Captured texts, each of which is to have a vector under an embedder other than the floor."""
    embedded: dict[str, int] = {}
    """How many of them have one, by embedder."""
    failed: dict[str, int] = {}
    """How many of them have failed for good, by embedder."""
    types: dict[str, int] = {}
    """Events of scopes that counted, by type."""


class ScopeHeld(msgspec.Struct, frozen=True, kw_only=True):
    """What the views hold of one scope; `hidden` memories and turns can be restored, of which some ids are named.

    `conflicts` counts those that wait for people.
    """

    memories: int = 0
    turns: int = 0
    summaries: int = 0
    hidden: int = 0
    hidden_ids: tuple[str, ...] = ()
    conflicts: int = 0


class PassMark(msgspec.Struct, frozen=True, kw_only=True):
    """How consolidation goes in a scope.

    `new` and `confirmed` count the memories that are new, and the captures that confirmed one, since the last pass at
    the time `at` (0 before the first); `oldest` is the time of the first of those new ones, 0 without any. `queued`
    clusters are looked at again, and those `aside` have failed too often. `applied` counts what was decided, by
    operation, `dropped` decisions that an input had changed under or that ended, `failed` the attempts that failed.
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
    """How a scope as a whole stands, `since` when, and how many of its texts have aged how far.

    `mid` and `long` count the memories and turns of these tiers that are not archived, `archived` those that are, of
    which `purged` have left the views. `name` is what people call the project.
    """

    state: Literal["active", "dormant", "finished"] = "active"
    since: int = 0
    name: str = ""
    mid: int = 0
    long: int = 0
    summaries: int = 0
    archived: int = 0
    purged: int = 0
    is_purged: bool = False
    """Whether all of it has left the views."""


def project_told(mark: LifeMark) -> str:
    """Return what people are told of a project that is not active, nothing of one that is."""
    match mark.state:
        case "dormant":
            return f"Dormant since {format_day(mark.since)}: whatever is said or asked here wakes it."
        case "finished":
            return (
                f"Finished on {format_day(mark.since)}: what was said before is archived. "
                "`memtape project resume` brings it back, and `memtape search --archived` finds it."
            )
        case _:
            return ""


class Basis(NamedTuple):
    """What views and snapshots of a partition are made from: if any of it differs they are made anew.

    `erased` is how many ids of the partition are known to be erased, see `state.core.erasures`.
    """

    log_id: str
    rules: str
    erased: int


class Watermark(msgspec.Struct, frozen=True, kw_only=True):
    """Up to which offset (exclusive) the views of a partition are true, on which basis and under which settings.

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
    embedder: str = FLOOR
    """The key of the embedder that decides there."""
    embedder_next: str | None = None
    passes: dict[str, PassMark] = {}
    """How consolidation goes in each scope where it has anything to look at."""
    lives: dict[str, LifeMark] = {}
    """How each scope stands of which anything has aged, or that is not active."""
    trail: str = ""
    """What names the log's last slots before `offset`, as `schemas.log.trail_of` does; empty where nobody kept it."""

    @property
    def waiting(self) -> int:
        """How many texts wait for a vector under the embedder that decides, or that is to take over."""
        key = self.embedder_next or self.embedder
        if key == FLOOR:
            return 0
        return max(0, self.counters.texts - self.counters.embedded.get(key, 0) - self.counters.failed.get(key, 0))

    @property
    def basis(self) -> Basis:
        """What the views were made from."""
        return Basis(self.log_id, self.rules, self.erased)


class Delta(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of events changed in the views of one partition; `watermark` is true once all of it is written."""

    rows: tuple[Guarded, ...]
    pages: tuple[Page, ...]
    marks: tuple[ScopeMark, ...]
    dead_letters: tuple[DeadLetter, ...]
    watermark: Watermark

    @property
    def empty(self) -> bool:
        """Whether no row, page or dead letter changed, so that nothing needs to be written."""
        return not (self.rows or self.pages or self.dead_letters)
