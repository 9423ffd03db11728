"""The envelope and the body of every type of event at its newest version, and the rules of a single event.

The meaning of a sequence of events is elsewhere (`state`), and so are their bytes (`codec`).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from operator import mul
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from memtape.schemas.embedding import dimensions_of
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.ids import ID_PATTERN, derived_id, is_slug
from memtape.schemas.scopes import GLOBAL, SCOPE_PATTERN
from memtape.schemas.settings import Settings
from memtape.schemas.times import HOUR_US, MAX_TIME_US, MIN_TIME_US, US_PER_S, format_time

MAX_TEXT_BYTES = 64 * 1024
MAX_LABEL_CHARS = 4_096  # No field of an event but its text is longer.
MAX_TAGS = 64
MAX_IDS = 10_000
MAX_DIMENSIONS = 8_192
MAX_ATTEMPTS = 3  # Tries of a text; after the last failure it has no vector by the embedder.
MAX_INPUTS = 25  # Maximum number of memories of a decision.
VECTOR_SQUARES = 2**22
"""Bound of the sum of squares of a quantised vector: float32 products of two are exact below it."""
MAX_EVENT_BYTES = 1_000_000  # Below Kafka's default of 1 MiB for a record with its headers.
MAX_AT_LEAD_US = 300 * US_PER_S

Origin = Literal["operator", "user", "agent", "tool", "web", "model"]
PEOPLE: tuple[Origin, ...] = ("operator", "user")
"""Origins of people, who ask and may instruct. Output of tools, the web and models is no person's word."""
SPEAKING: tuple[Origin, ...] = (*PEOPLE, "agent")
"""Origins whose turns state facts. Output of tools and models is no statement."""
Kind = Literal["turn", "fact", "journal", "goal", "plan", "insight", "document", "page"]
Tier = Literal["short", "mid", "long"]
"""How far a text has moved on: nothing, one summary, or two sum it up."""
Source = Literal["memories", "turns", "documents", "insights", "summaries", "pages", "plans", "journal"]
"""Where results of a search come from: `memories` are facts, `plans` goals and plans."""

DeepStep = Literal["scouts", "filter", "walk", "edges", "gate"]
"""The steps of each look of a deep search, in their order."""
Failure = Literal["", "late", "silent", "wrong", "unreachable", "spent"]
"""Reason why a model decided nothing: late, empty, useless, unreachable, or the day's budget spent."""

Id = Annotated[str, Meta(pattern=ID_PATTERN)]
Scope = Annotated[str, Meta(pattern=SCOPE_PATTERN)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Tag = Annotated[str, Meta(min_length=1, max_length=128)]
Label = Annotated[str, Meta(min_length=1, max_length=MAX_LABEL_CHARS)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Time = Annotated[int, Meta(ge=MIN_TIME_US, le=MAX_TIME_US)]
Ids = Annotated[tuple[Id, ...], Meta(max_length=MAX_IDS)]
Slug = Annotated[str, Meta(min_length=1, max_length=200)]
"""A text, since people choose slugs; `schemas.ids` has the rules."""
Hint = Annotated[str, Meta(min_length=1, max_length=400)]
Quota = Annotated[int, Meta(ge=0, le=1_000)]


class _Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Strict and closed: every key is present, and no other is."""


class Media(_Body, frozen=True):
    """A picture or file that came with a text; its bytes are never on the log."""

    caption: Annotated[str, Meta(max_length=MAX_LABEL_CHARS)] | None
    kind: Literal["image", "audio", "video", "file"]
    uri: Label | None


class Part(_Body, frozen=True):
    """A piece of a document, or of a text too long for one event: `index` from 0, of `count`.

    For a document the `path` of the event has the rest (`schemas.places`).
    """

    count: Annotated[int, Meta(ge=1, le=1_000_000)]
    index: Annotated[int, Meta(ge=0, lt=1_000_000)]


class Captured(_Body, frozen=True):
    """A text that a person or agent said or wrote. `importance_given` is in hundredths, 0 to 100."""

    branch: Label | None
    importance_given: Annotated[int, Meta(ge=0, le=100)] | None
    kind: Kind
    media: Annotated[tuple[Media, ...], Meta(max_length=64)]
    part: Part | None
    path: Label | None
    source: Label | None
    tags: Annotated[tuple[Tag, ...], Meta(max_length=MAX_TAGS)]
    text: str


class Filters(_Body, frozen=True, omit_defaults=True):
    """The filters of a search; empty or null for none. `not_kinds` and the like exclude."""

    kinds: Annotated[tuple[Kind, ...], Meta(max_length=16)]
    not_kinds: Annotated[tuple[Kind, ...], Meta(max_length=16)]
    not_origins: Annotated[tuple[Origin, ...], Meta(max_length=16)]
    not_sessions: Annotated[tuple[Name, ...], Meta(max_length=MAX_TAGS)]
    not_tags: Annotated[tuple[Tag, ...], Meta(max_length=MAX_TAGS)]
    origins: Annotated[tuple[Origin, ...], Meta(max_length=16)]
    sessions: Annotated[tuple[Name, ...], Meta(max_length=MAX_TAGS)]
    since: Time | None
    tags: Annotated[tuple[Tag, ...], Meta(max_length=MAX_TAGS)]
    tiers: Annotated[tuple[Tier, ...], Meta(max_length=3)]
    until: Time | None
    actors: Annotated[tuple[Name, ...], Meta(max_length=MAX_TAGS)] = ()


class Mark(_Body, frozen=True):
    """Up to which offset (exclusive) of a partition the views stood."""

    offset: Count
    partition: Count


class Traced(_Body, frozen=True):
    """One step of one look of a deep search: its input, result, author, cost and duration.

    `given` and `kept` count texts. `ids` are those that a look or a walk saw first, or that filter and gate
    dropped. `query` is the query of a look, or the next query of a gate. `cost` is in characters that a model
    read and wrote. `took_us` is the duration of the step, and has no effect. `failure` is the reason why a
    model decided nothing.
    """

    by: Name
    cost: Count
    failure: Failure
    given: Count
    ids: Annotated[tuple[Id, ...], Meta(max_length=1_000)]
    kept: Count
    look: Annotated[int, Meta(ge=1, le=16)]
    query: str
    step: DeepStep
    took_us: Count


class Recalled(_Body, frozen=True):
    """A search: its query, lanes, filters, results (best first), and the state of the answering views.

    `now` is ranking's now in microseconds; `revision` is that of the settings in force. `after` is the number
    of results on earlier pages, and `quotas` the wanted maximum of results by source. `passes` is the number
    of looks of a deep search, and `trace` has its steps in order; any other search has none.
    """

    after: Count
    filters: Filters
    lanes: Annotated[tuple[Name, ...], Meta(max_length=16)]
    limit: Annotated[int, Meta(ge=1, le=1_000)]
    now: Time
    passes: Annotated[int, Meta(ge=1, le=16)]
    query: str
    quotas: Annotated[dict[Source, Quota], Meta(max_length=16)]
    results: Annotated[tuple[Id, ...], Meta(max_length=1_000)]
    revision: Count
    trace: Annotated[tuple[Traced, ...], Meta(max_length=64)]
    watermark: Annotated[tuple[Mark, ...], Meta(max_length=1_024)]


class Forgotten(_Body, frozen=True):
    """A tombstone on captured ids. Of long-term kinds it also bans the same normalised texts in the scope."""

    ids: Ids
    reason: Annotated[str, Meta(max_length=MAX_LABEL_CHARS)] | None


class Restored(_Body, frozen=True):
    """The end of every tombstone on these captured ids and on their normalised texts."""

    ids: Ids
    reason: Annotated[str, Meta(max_length=MAX_LABEL_CHARS)] | None


class Erased(_Body, frozen=True):
    """The end of these events' bodies, anywhere on the log, now and later, and of derived events' bodies.

    The events count as if never made. The ids are of captures or recalls; no text is banned, and an erasure
    never ends.
    """

    ids: Ids


class Unfolded(_Body, frozen=True):
    """These captured ids leave their memory: each becomes a memory of its own."""

    ids: Ids


class Used(_Body, frozen=True):
    """The captured ids that shaped an answer, and the `recalled` event that returned them, if any.

    The event belongs to the scope of its actor; ids of `global` may be among `ids`.
    """

    ids: Ids
    recall: Id | None


class Embedded(_Body, frozen=True):
    """The vector of one text under one embedder, or why it has none; `refs` names the event with the text.

    `embedder` is the key of `schemas.embedding`. `vector` is the unit vector x 2,000 in little-endian int16,
    and null if the text failed at this attempt: then `reason` says why, and holds nothing of the text. An
    attempt beyond `MAX_ATTEMPTS` is one of a text that had been given up.
    """

    attempt: Annotated[int, Meta(ge=1, le=MAX_ATTEMPTS + 1)]
    dimensions: Annotated[int, Meta(ge=1, le=MAX_DIMENSIONS)]
    embedder: Annotated[str, Meta(min_length=1, max_length=1_024)]
    reason: Annotated[str, Meta(min_length=1, max_length=1_024)] | None
    vector: bytes | None


class Configured(_Body, frozen=True):
    """The log's id, its number of partitions and every setting that changes meaning, as of a revision."""

    log_id: Id
    partitions: Annotated[int, Meta(ge=1, le=1_024)]
    revision: Count
    settings: Settings


class Ticked(_Body, frozen=True):
    """The time: `hour` whole hours since 1970 in UTC. `accepted` lets an operator pass a great jump."""

    accepted: bool
    hour: Annotated[int, Meta(ge=0, le=MAX_TIME_US // HOUR_US)]
    partition: Annotated[int, Meta(ge=0, lt=1_024)]


class Pinned(_Body, frozen=True):
    """These captured ids are pinned, or no longer: a pinned memory neither ages nor is archived."""

    ids: Ids
    on: bool


OF_MEMORIES = ("holds", "replaced_by")
"""The relations of `linked` about memories; all others are links between pages."""
CHILD = "child"  # The relation to a page below.
EDGES = (CHILD, "related", "depends_on", "part_of", "supersedes", "contradicts")
"""The relations of pages with a meaning; any other is stored, and reported by a check of the tree."""


class Linked(_Body, frozen=True):
    """A statement about a memory, or a link from a page. `on` false ends the statement or link.

    For a memory, by a captured id: the memory holds, or another (`to`) replaced it. The statement overrules
    conclusions from the texts, and earlier statements about the memory. An actor with less trust than the
    memory's author cannot end the memory.

    Any other relation is a link from a page, by its id, to another page: `child` puts the other page below.
    `slug` names a page not yet written; the link leads to the page once a page has the slug.
    `on` false ends the link.
    """

    id: Id
    on: bool
    relation: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,39}\Z")]
    slug: Slug | None
    to: Id | None


class Edited(_Body, frozen=True):
    """A person's or agent's changes of a page; null changes nothing, and an empty value ends an earlier one.

    `by` is the capture that is the page's text from now on. `base` is the version that the writer saw: if it
    is not the current version, both stay in force. `slug` moves the page. `hints` are questions and topics
    that lead here, `refs` are files, URLs and captured ids that the page tells of, and `rest` is front matter
    unknown to Memtape, word for word. The event's refs are `refs_of_edit`, so that the edit is erased with
    the text it was about.
    """

    base: Id | None
    by: Id | None
    hints: Annotated[tuple[Hint, ...], Meta(max_length=64)] | None
    id: Id
    refs: Annotated[tuple[Label, ...], Meta(max_length=256)] | None
    rest: Annotated[str, Meta(max_length=MAX_TEXT_BYTES)] | None
    slug: Slug | None
    summary: Annotated[str, Meta(max_length=MAX_LABEL_CHARS)] | None
    title: Annotated[str, Meta(max_length=400)] | None


_NO_FIELDS: dict[str, Any] = dict.fromkeys(Edited.__struct_fields__)
NO_EDIT = Edited(**_NO_FIELDS | {"id": ""})  # An edit without page or changes, a base for others.


class Settled(_Body, frozen=True):
    """A person's answer to a conflict between two memories, by a captured id of each: the kept ones.

    A memory not kept is closed by the other. Of several answers to a conflict the last counts. With none kept
    the answer before is taken back, and the conflict waits again.
    """

    ids: Annotated[tuple[Id, ...], Meta(min_length=2, max_length=2)]
    keep: Annotated[tuple[Id, ...], Meta(max_length=2)]
    note: Annotated[str, Meta(max_length=MAX_LABEL_CHARS)] | None


class Withdrawn(_Body, frozen=True):
    """The source of these captured ids no longer has them (`on`), or has them again.

    The event hides these captures and bans no text: a memory stays by its other captures. An id not captured
    yet is left alone. `restored` ends a withdrawal too.
    """

    ids: Ids
    on: bool


class Archived(_Body, frozen=True):
    """These captured ids are archived from now on (`on`), each with its memory, or come back.

    An archived memory leaves search, context and `MEMORY.md`, and comes back by itself when used, pinned or
    said again. An id not captured yet is left alone.
    """

    ids: Ids
    on: bool
    reason: Annotated[str, Meta(max_length=MAX_LABEL_CHARS)] | None


class ScopeChanged(_Body, frozen=True):
    """A change of a project as a whole; null changes nothing.

    `name` is for people. `state` finishes the project, so that all earlier texts are archived, or resumes it.
    `git_at` is the time of the last commit to its repository.
    """

    git_at: Time | None
    name: Name | None
    state: Literal["active", "finished"] | None


class Input(_Body, frozen=True):
    """A memory that a decision is about, by a captured id, and the `seq` of its canonical capture by then."""

    id: Id
    seq: Count


class Operation(_Body, frozen=True):
    """One operation on some of the inputs, `ids`; inputs without an operation stay as they are.

    `replace`: the text of the capture `by` stands for these memories, of which the first holds the present
    state and the others the past. `remove`: the memory of the input `by` says the same and stands for these.
    `add`: the text of the capture `by` was drawn from these, which stay as they are. `conflict`: the memory
    of the input `by` and each of these cannot both hold, and people are asked which does. `outdate`: the
    memory of the input `by` holds a newer value of the same thing; these are marked as replaced, and stay.
    """

    by: Id
    ids: Annotated[tuple[Id, ...], Meta(min_length=1, max_length=MAX_INPUTS)]
    op: Literal["add", "conflict", "outdate", "replace", "remove"]


MAKING = ("add", "replace")  # The operations that make a text; all others are about inputs alone.
COVERING = ("remove", "replace")  # The operations that cover their inputs.
OPPOSING = ("conflict", "outdate")  # The operations between memories that stay as they are.


class Decided(_Body, frozen=True, omit_defaults=True):
    """A decision about similar memories by a consolidation or a judge, or the end of a pass.

    The decision applies while every input still has its `seq` and, unless it outdates, no cover. Its texts
    are captured after it, and are no memories without it. Without an operation all inputs are apart: no two
    of them say the same, replace or contradict each other. `certainty` is the judge's, in ten-thousandths,
    null where the judge gives none. `reason` says why an attempt failed; then nothing is decided. `reason`
    holds no words of a text. `until` ends a pass: the pass has read all captures of the scope before this
    `seq`. With a `reason` it ends a part, and the pass goes on.
    """

    attempt: Annotated[int, Meta(ge=1, le=MAX_ATTEMPTS)]
    inputs: Annotated[tuple[Input, ...], Meta(max_length=MAX_INPUTS)]
    operations: Annotated[tuple[Operation, ...], Meta(max_length=MAX_INPUTS)]
    reason: Annotated[str, Meta(min_length=1, max_length=1_024)] | None
    until: Count | None
    certainty: Annotated[int, Meta(ge=0, le=10_000)] | None = None


Body = (
    Captured | Recalled | Used | Forgotten | Restored | Erased | Unfolded | Pinned | Linked | Edited | Settled
    | Withdrawn | Archived | ScopeChanged | Decided | Embedded | Configured | Ticked
)  # fmt: skip


class EventType(NamedTuple):
    """The properties of all events of one type.

    `has_scope` is false for an event sent to each partition explicitly. `of_anyone` says that the event
    states nothing of its own, so that anyone may append it to `global`. `can_be_blank` says that the event
    can be erased. `effect` is what changes: *nothing* for readers, the *views* alone, *answers* too (a search
    brings the views up to date first), or *visible* rows (a reader applies the event to views behind).
    """

    body: type[Body]
    has_scope: bool = True
    of_anyone: bool = False
    can_be_blank: bool = True
    effect: Literal["nothing", "views", "answers", "visible"] = "visible"


EVENT_TYPES: dict[str, EventType] = {
    "captured": EventType(Captured),
    "recalled": EventType(Recalled, of_anyone=True, effect="nothing"),
    "used": EventType(Used, effect="answers"),
    "forgotten": EventType(Forgotten),
    "restored": EventType(Restored),
    "erased": EventType(Erased, can_be_blank=False),
    "unfolded": EventType(Unfolded),
    "pinned": EventType(Pinned),
    "linked": EventType(Linked, effect="answers"),
    "edited": EventType(Edited, effect="answers"),
    "settled": EventType(Settled, effect="answers"),
    "withdrawn": EventType(Withdrawn),
    "archived": EventType(Archived),
    "scope_changed": EventType(ScopeChanged, effect="answers"),
    "decided": EventType(Decided),
    "embedded": EventType(Embedded, of_anyone=True, effect="views"),
    "configured": EventType(Configured, has_scope=False, can_be_blank=False, effect="nothing"),
    "ticked": EventType(Ticked, has_scope=False, can_be_blank=False, effect="nothing"),
}
"""Every event type known to this reader, by name. A new type needs a row, and its body above."""

Upcast = Callable[[dict[str, Any]], dict[str, Any]]
"""Lifts a decoded object of one type by one version.

An upcast may rename, add and compute from the object alone, and never changes once a log has its version.
"""
UPCASTS: dict[str, tuple[Upcast, ...]] = {}
"""By type of event the steps from each version to the next, from 1 on; other types have version 1 alone."""


def version_of(type: str) -> int:
    """Return the newest version of a type of event, which is what this reader knows."""
    return len(UPCASTS.get(type, ())) + 1


FLUSH_TAG = "flush"
"""The tag of a capture that is the end of a conversation before its host made a summary of it."""

STATED_TAG = "stated"
"""The tag of a capture that is a turn's statement; the next tag is the statement's label."""

DISTILLED_TAG = "distilled"
"""The first tag of a model's capture from talk. For a fact the next tags are its category and the model's
certainty, as `confidence:90` of 100; its importance is that of the category, in the same share.
"""

CONSOLIDATED_TAG = "consolidated"  # The tag of a capture made by a consolidation of other memories.

DEV_TAG = "env:dev"
"""The tag of a capture under a profile of development; such captures are pruned."""
PRUNED_BEFORE = "7d"  # Age at which leftovers of development are pruned.

OWN_TAGS = (FLUSH_TAG, STATED_TAG, DISTILLED_TAG, CONSOLIDATED_TAG)
"""The tags that Memtape gives by itself."""


class Actor(_Body, frozen=True):
    """The author of an event: a name for people, and an origin set by the producer, never by the text."""

    name: Name
    origin: Origin


UNKNOWN = "unknown"  # The name of an actor without a name.
SYSTEM = Actor(name="memtape", origin="tool")
"""The actor of events by no person or agent: settings and time."""


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One event. `at` is when it happened and `sent` when it was appended, microseconds in UTC.

    `body` is None after an erasure: the header stays, all text is gone.
    """

    actor: Actor
    at: Time
    body: Body | None
    id: Id
    refs: Ids
    scope: Scope | None
    sent: Annotated[int, Meta(ge=0, le=MAX_TIME_US)]
    session: Name | None
    type: str
    v: int


def check_event(event: Event) -> None:
    """Check the rules of one event beyond its fields' types; raise `InvalidEvent` for a violation."""
    type_of = EVENT_TYPES.get(event.type)
    if type_of is not None and (event.scope is not None) is not type_of.has_scope:
        expected = "needs a scope" if type_of.has_scope else "has no scope"
        raise InvalidEvent("invalid", f"A {event.type} event {expected}.", "$.scope")
    if event.body is not None and (type_of is None or type(event.body) is not type_of.body):
        raise InvalidEvent("invalid", f"A {event.type} event has a body of another type.", "$.body")
    if event.at > event.sent + MAX_AT_LEAD_US:
        raise InvalidEvent(
            "invalid",
            f"at ({format_time(event.at)}) is more than 5 minutes after sent ({format_time(event.sent)}).",
            "$.at",
        )
    match event.body:
        case None if type_of is not None and not type_of.can_be_blank:
            raise InvalidEvent("invalid", f"An event of type {event.type} cannot be blank.", "$.body")
        case Captured(text=text, media=media, part=part):
            check_text_size("text", text)
            if not media and not text.strip():
                raise InvalidEvent("invalid", "The text is empty.", "$.body.text")
            if part and part.index >= part.count:
                raise InvalidEvent("invalid", "A part's index must be below its count.", "$.body.part")
        case Recalled(query=query):
            check_text_size("query", query)
        case Embedded() as embedded:
            _check_embedded(embedded, event.refs)
        case Decided() as decided:
            _check_decided(decided)
        case Linked() as linked:
            _check_linked(linked)
        case Edited(slug=slug, rest=rest):
            _check_slug(slug)
            check_text_size("rest", rest or "")
        case Settled(ids=ids, keep=keep) if len(frozenset(ids)) < 2 or not frozenset(ids).issuperset(keep):
            raise InvalidEvent("invalid", "A conflict is of two memories; one or both are kept.", "$.body")
        case Ticked() as ticked if event.id != tick_id(ticked):
            raise InvalidEvent("invalid", "A tick's id must be derived from its partition and hour.", "$.id")


def may_write(event: Event, settings: Settings | None = None) -> bool:
    """Return whether the event's actor may write to its scope: only operators write to `global`.

    With `settings` that trust some actors, those alone speak as people.
    """
    if EVENT_TYPES[event.type].of_anyone:
        return True
    if settings is not None and not is_trusted(event.actor, settings):
        return False
    return event.scope != GLOBAL or event.actor.origin == "operator"


def is_trusted(actor: Actor, settings: Settings) -> bool:
    """Return whether settings trust an actor with its origin; an operator may speak as a user, too."""
    if actor.origin not in PEOPLE or not settings.trusted_origins:
        return True
    return settings.trusted_origins.get(actor.name) in ("operator", actor.origin)


def tick_id(tick: Ticked) -> str:
    """Return the id of a tick, so that two writers of the same hour write the same event."""
    return derived_id("ticked", None, None, f"{tick.partition}:{tick.hour}:{int(tick.accepted)}")


def make_tick(partition: int, sent: int, accepted: bool = False) -> Event:
    """Return the tick of the hour of `sent`, the same for every writer (`sent` apart)."""
    tick = Ticked(accepted=accepted, hour=sent // HOUR_US, partition=partition)
    made = make_event("ticked", tick_id(tick), tick, None, SYSTEM, (), sent)
    return msgspec.structs.replace(made, at=tick.hour * HOUR_US)


def make_embedded(scope: str, ref: str, body: Embedded, sent: int) -> Event:
    """Return the event with the vector or failure of the text of the event `ref`.

    Its id follows from the text's, the embedder and, after a failure, the attempt: of two workers' vectors
    the first on the log counts.
    """
    id = embedded_id(scope, ref, body.embedder, 0 if body.reason is None else body.attempt)
    return make_event("embedded", id, body, scope, SYSTEM, (ref,), sent)


def embedded_id(scope: str, ref: str, embedder: str, failed: int) -> str:
    """Return the id of the event with a text's vector, or with its failure at the attempt `failed`."""
    return derived_id("embedded", scope, embedder, f"{ref}:{f'failed {failed}' if failed else 'vector'}")


def make_event(
    type: str, id: str, body: Body, scope: str | None, actor: Actor, refs: tuple[str, ...], sent: int
) -> Event:
    """Return an event of no session and of the time when it is sent, at the newest version of its type."""
    return Event(
        actor=actor, at=sent, body=body, id=id, refs=refs, scope=scope, sent=sent, session=None, type=type,
        v=version_of(type),
    )  # fmt: skip


def make_configured(
    log_id: str, partitions: int, settings: Settings, revision: int, sent: int, id: str
) -> Event:  # fmt: skip
    """Return the `configured` event that gives a log its settings."""
    body = Configured(log_id=log_id, partitions=partitions, revision=revision, settings=settings)
    return make_event("configured", id, body, None, SYSTEM, (), sent)


def refs_of_edit(edited: Edited) -> tuple[str, ...]:
    """Return the refs of an edit: the new text, else the version that the writer saw, else the page."""
    return (edited.by or edited.base or edited.id,)


def _check_linked(linked: Linked) -> None:
    if linked.relation not in OF_MEMORIES:
        if (linked.to is None) is (linked.slug is None):
            raise InvalidEvent(
                "invalid", "A link of a page leads to an id, or to a slug, and not to both.", "$.body.to"
            )
        _check_slug(linked.slug)
    elif (linked.relation == "replaced_by") is (linked.to is None):
        raise InvalidEvent("invalid", "What replaced a memory is named, and nothing else is.", "$.body.to")
    elif linked.slug is not None:
        raise InvalidEvent("invalid", "Of a memory no slug is named.", "$.body.slug")


def _check_slug(slug: str | None) -> None:
    if slug is not None and not is_slug(slug):
        said = "A slug is segments of a-z, 0-9, _ and -, each at most 80 characters, joined by /, 200 in all."
        raise InvalidEvent("invalid", said, "$.body.slug")


def _check_embedded(embedded: Embedded, refs: tuple[str, ...]) -> None:
    if len(refs) != 1:
        raise InvalidEvent("invalid", "An embedded event names the one event with the text.", "$.refs")
    if (embedded.vector is None) is (embedded.reason is None):
        raise InvalidEvent("invalid", "Either vector or reason is null, and not both.", "$.body")
    if embedded.vector is None:
        return
    dimensions = embedded.dimensions
    if len(embedded.vector) != 2 * dimensions or dimensions_of(embedded.embedder) != dimensions:
        raise InvalidEvent("invalid", "Vector, dimensions and embedder differ in length.", "$.body.vector")
    values = array("h", embedded.vector)
    if sys.byteorder == "big":
        values.byteswap()
    if not 0 < sum(map(mul, values, values)) < VECTOR_SQUARES:
        raise InvalidEvent("invalid", "The vector's sum of squares is 0, or 2^22 and more.", "$.body.vector")


def _check_decided(decided: Decided) -> None:
    inputs = {input.id for input in decided.inputs}
    covered = [id for operation in decided.operations if operation.op in COVERING for id in operation.ids]
    named = [id for operation in decided.operations for id in operation.ids]
    opposed = [id for it in decided.operations if it.op in OPPOSING for id in (it.by, *it.ids)]
    outdating = [it.op == "outdate" for it in decided.operations]
    fault = ""
    if (decided.until is None) is not bool(decided.inputs):
        fault = "A decision has inputs, or ends a pass with until."
    elif decided.operations and (decided.reason is not None or decided.until is not None):
        fault = "What failed, or ends a pass, decides nothing."
    elif len(inputs) < len(decided.inputs) or len(frozenset(covered)) < len(covered):
        fault = "No memory is named twice."
    elif not inputs.issuperset(named):
        fault = "An operation names what is no input."
    elif any((it.op not in MAKING) is not (it.by in inputs) for it in decided.operations):
        fault = "An input alone survives, opposes or outdates others, and no made text is an input."
    elif any(operation.by in covered for operation in decided.operations):
        fault = "What stands for others is not itself removed or replaced."
    elif any(id in covered for id in opposed):
        fault = "What is removed or replaced is in conflict with nothing."
    elif any(it.by in it.ids for it in decided.operations if it.op in OPPOSING):
        fault = "Nothing is in conflict with itself, or outdates itself."
    elif any(outdating) and not all(outdating):
        fault = "A decision that outdates does nothing else."
    if fault:
        raise InvalidEvent("invalid", fault, "$.body")


def check_text_size(field: str, text: str) -> None:
    """Raise `InvalidEvent` for a text too long for one event."""
    # A character takes at most four bytes, so that most texts need not be encoded to be measured.
    size = len(text) if len(text) * 4 <= MAX_TEXT_BYTES else len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_TEXT_BYTES:
        message = f"The {field} has {size:,} bytes; at most {MAX_TEXT_BYTES:,} go into one event."
        hint = "A text of kind document is cut into parts."
        raise InvalidEvent("oversized", message, f"$.body.{field}", hint)
