"""The state of a whole home: the contents of its views, their health, the next step, and daily counts.

The counts of a state come from the watermarks: no table and no index is opened, so that the duration is the
same at any size. Daily counts come from the times of appending, and from the memories of the views.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from memtape.schemas.codec import event_of
from memtape.schemas.embedding import FLOOR
from memtape.schemas.events import EVENT_TYPES, Captured, Embedded, Event, Recalled
from memtape.schemas.lanes import State, shadow_of, unasked_by
from memtape.schemas.log import Log, events_between
from memtape.schemas.metrics import tell_progress
from memtape.schemas.model import JudgeOptions
from memtape.schemas.rows import Counters, DeadLetter, LifeMark, MemoryRow, PassMark, ScopeHeld, Watermark
from memtape.schemas.rows import made_from as copied
from memtape.schemas.times import DAY_US, format_day
from memtape.sinks.home.counts import FLUSHES, LEFT_OUT, HomeCounts
from memtape.sinks.home.folders import Home, disk_of
from memtape.sinks.home.marks import ModelUse, OffsetMarks, UseAmounts, model_use
from memtape.sinks.home.settings import local_settings
from memtape.sinks.home.unerased import commands_that_finish
from memtape.sinks.logs.spool import Spool
from memtape.sinks.page_files import kept, zone_problems
from memtape.sinks.vault import Vault
from memtape.state.consolidation.clusters import gate
from memtape.state.subjects.captures import FAMILIES
from memtape.state.views.health import Health, HealthState, health, worst
from memtape.state.views.tail import COUNTED_TYPES, QUIET_TYPES
from memtape.tools.capture.profiles import Pause, pauses_of
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.embedding import EmbedderState, embedder_state
from memtape.tools.keep.log_settings import states_on
from memtape.tools.keep.states import state_at
from memtape.tools.query.retrieval import Retriever

COUNTED_SLOTS = 10_000
"""A lag beyond this is not counted event by event."""
LISTED = 20
LOUD_TYPES = tuple(name for name in EVENT_TYPES if name not in QUIET_TYPES)
"""Events that a view may lack."""


class ScopeCount(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of one scope in the views; `hidden` memories and turns can be restored.

    `conflicts` counts pending conflicts. `passes` is the state of consolidation, and `next_pass` the reason
    why a pass begins now or not yet.
    """

    memories: int
    turns: int
    hidden: int
    conflicts: int = 0
    passes: PassMark = PassMark()
    next_pass: str = ""


class PartitionPosition(msgspec.Struct, frozen=True, kw_only=True):
    """The next offset of a partition of the log, and up to where its views are true."""

    end: int
    watermark: int


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a home. Counts are from the views; `lag` is the number of events they lack.

    `log` is the log's place. `profile` is the caller's profile. `retrievers` are those named by the log;
    shadows among them get `shadow_percent` of all searches. `hook_server_pid` is the pid of the server left
    by a hook, if any. `kept` are people's changed files of the vault, saved beside the pages under another
    name. `zones` are problems of people's zones in pages, a sentence each. `warnings` name the views that are
    not served and why, a sentence each. `flushes` counts the flushes before a compaction by outcome, as of
    today also for a past view. `left_out` counts inputs of hooks that were not stored, by reason. `spooled`
    counts the captures that wait in the home for a broker. `paused` are the pauses in effect. `erasures` are
    the commands that finish interrupted erasures. `model` has the calls of models today and in all, and
    windows of talk by outcome; `model_budget` is the most calls in a day, tokens apart. `judge` has the
    settings of judges. `lives` has the aging of the scopes with any. `types` counts the events past the views
    by type. `views` has the health of each view of each partition, none of the past, and `state` is the worst
    of them. `last_at` is the time of the latest event in the views, in microseconds, 0 without any. `disk`
    has bytes by kind. `owners` has the partitions of shared views by the machine and process that writes
    each.
    """

    home: str
    profile: str
    log: str
    log_id: str
    retrievers: dict[str, State]
    shadow_percent: int
    embedder: EmbedderState
    projector_pid: int | None
    hook_server_pid: int | None
    memories: int
    turns: int
    hidden: int
    hidden_ids: tuple[str, ...]
    events: int
    duplicates: int
    divergent: int
    ignored: int
    dead_letters: int
    redacted: int
    latest_dead_letters: tuple[DeadLetter, ...]
    lag: int
    spooled: int
    kept: tuple[str, ...]
    zones: tuple[str, ...]
    warnings: tuple[str, ...]
    flushes: dict[str, int]
    left_out: dict[str, int]
    paused: tuple[Pause, ...]
    model: ModelUse
    model_budget: UseAmounts
    judge: JudgeOptions
    scopes: dict[str, ScopeCount]
    positions: dict[int, PartitionPosition]
    lives: dict[str, LifeMark] = {}
    types: dict[str, int] = {}
    state: HealthState = "ready"
    views: tuple[Health, ...] = ()
    last_at: int = 0
    disk: dict[str, int] = {}
    erasures: tuple[str, ...] = ()
    owners: dict[str, tuple[int, ...]] = {}


def status(home: Home, log: Log, retriever: Retriever, profile: str) -> Status:
    """Return counts, positions and lag of a home, from its views and the ends of its log, under a profile."""
    now, counters = now_us(), Counters()
    marks = {number: retriever.watermark(number) for number in range(log.partitions)}
    for known in marks.values():
        _add(counters, known.counters)
    settings, states = local_settings(home), states_on(log)
    budget = UseAmounts(calls=settings.model.calls_per_day, characters=settings.model.characters_per_day)
    embedder = embedder_state(home, log, counters, opened=False)
    fault = embedder.warning if embedder.degraded else ""
    warnings = retriever.warnings(range(log.partitions))
    views = () if retriever.past else tuple(healths(home, log, retriever, now, fault))
    ends = enumerate(log.ends())
    return copied(
        Status, counters, states, home="nowhere" if home.is_nowhere else str(home.path),
        profile=profile, log=log.place, log_id=log.log_id, embedder=embedder, warnings=warnings,
        lag=sum(its.lag_events for its in views if its.view == "rows"), model_budget=budget,
        judge=settings.judge,
        positions={it: PartitionPosition(end=end, watermark=marks[it].offset) for it, end in ends},
        state=worst(views), views=views, types=dict(sorted(counters.types.items())),
        latest_dead_letters=tuple(counters.latest_dead_letters[-LISTED:]),
        **_contents(retriever, marks, now if settings.consolidate else None),
        **_of_files(home, now),
    )  # fmt: skip


def _contents(retriever: Retriever, marks: Mapping[int, Watermark], gate_us: int | None) -> dict[str, Any]:
    """Return the fields of a `Status` from the views: counts by scope and in all, and lives.

    `gate_us` is the time for the state of the next passes, None without any.
    """
    held, passes, lives = dict[str, ScopeHeld](), dict[str, PassMark](), dict[str, LifeMark]()
    for number, mark in marks.items():
        own = retriever.shard(number).held()
        held, passes, lives = held | own, passes | mark.passes, lives | mark.lives
    scopes = dict[str, ScopeCount]()
    for name, its in sorted(held.items()):
        passed = passes.get(name, PassMark())
        next_pass = "" if gate_us is None else gate(passed, gate_us).reason
        scopes[name] = copied(ScopeCount, its, passes=passed, next_pass=next_pass)
    return {
        "scopes": scopes,
        "memories": sum(its.memories for its in held.values()),
        "turns": sum(its.turns for its in held.values()),
        "hidden": sum(its.hidden for its in held.values()),
        "hidden_ids": tuple([id for its in held.values() for id in its.hidden_ids][:LISTED]),
        "lives": dict(sorted(lives.items())),
        "last_at": max((at for mark in marks.values() for at in mark.sent.values()), default=0),
    }


def _of_files(home: Home, now_us: int) -> dict[str, Any]:
    """Return the fields of a `Status` from the files of a home beside its log and views."""
    counts = HomeCounts(home.path)
    return {
        "projector_pid": home.lock("projector").holder(), "spooled": Spool(home).count(),
        "hook_server_pid": home.lock("hook-server").holder(), "kept": tuple(kept(home)),
        "zones": tuple(zone_problems(home)),
        "flushes": counts.tally(FLUSHES), "left_out": counts.tally(LEFT_OUT),
        "paused": tuple(pauses_of(home.path).lasting(now_us)), "model": model_use(home, now_us),
        "disk": disk_of(home), "erasures": tuple(commands_that_finish(home)),
        "owners": home.shared.owners() if home.shared is not None else {},
    }  # fmt: skip


def healths(home: Home, log: Log, retriever: Retriever, now_us: int, fault: str = "") -> Iterator[Health]:
    """Yield how each view of each partition stands that holds anything, or is to.

    `fault` says why texts get no vectors.
    """
    vault = None if home.is_nowhere or home.shared is not None else Vault(home)
    for number, end in enumerate(log.ends()):
        mark, why = retriever.watermark(number), retriever.warning(number)
        offset = mark.offset
        lag = max(0, end - offset)
        if 0 < lag <= COUNTED_SLOTS:  # Events of no effect do not count, where that is cheap to tell.
            quiet = log.read(number, offset, lag, types=QUIET_TYPES)
            lag -= sum(slot.offset < end for slot in quiet)  # One beyond may have come just now.
        if not offset and not lag:
            continue
        oldest = _sent(log, number, offset) if lag else None
        at: dict[str, Any] = {"partition": number, "now_us": now_us}
        yield health("rows", lag_events=lag, oldest_us=oldest, made=offset > 0, why=why, **at)
        if vault is not None:
            covered = vault.covered(number)
            behind = max(0, offset - covered)
            first = _sent(log, number, covered) if behind else oldest
            yield health("pages", lag_events=lag + behind, oldest_us=first, made=covered > 0, why=why, **at)
        if (key := mark.embedder_next or mark.embedder) != FLOOR:
            asked = OffsetMarks(home.embedding_path, log).read(key) if mark.waiting else None
            first = None if asked is None else _sent(log, number, asked[number], ("captured",))
            left = mark.waiting
            for _, event in events_between(log, number, offset, end, types=("embedded",)) if left else ():
                body = event.body  # What the log holds past the views waits no more.
                left -= isinstance(body, Embedded) and body.embedder == key and body.vector is not None
            left = max(0, left)
            made, why = bool(mark.counters.embedded.get(key)), fault if left else ""
            yield health("vectors", lag_events=left, oldest_us=first, made=made, why=why, **at)


def _sent(log: Log, number: int, offset: int, types: tuple[str, ...] = LOUD_TYPES) -> int | None:
    """Return the time of the first event of some types from an offset on, None if unknown."""
    events = (event_of(slot.payload) for slot in log.read(number, offset, 1, types=types))
    return next((event.sent for event in events if event is not None), None)


def next_steps(status: Status) -> list[str]:
    """Return the next steps, a sentence each with its command; none where nothing is to be done."""
    stands = {(its.state, its.view == "vectors") for its in status.views}
    behind = {state for state, _ in stands} & {"hydrating", "lagging"}
    steps = [f"An erasure is not finished: `{command}` finishes it." for command in status.erasures[:LISTED]]
    if ("failing", False) in stands:
        steps.append("Views cannot be served: `memtape run --once` makes them anew.")
    if ("failing", True) in stands:
        steps.append("Texts get no vectors: `memtape admin embedder status` says why.")
    if behind and status.projector_pid is None:
        steps.append("Views are behind: `memtape run --once` brings them up to date.")
    if conflicts := [scope for scope, count in status.scopes.items() if count.conflicts]:
        steps.append(f"Conflicts wait for you: `memtape settle --scope {conflicts[0]}` lists them.")
    if status.dead_letters:
        steps.append("Events could not be read: `memtape admin deadletters` says why.")
    if status.paused:
        steps.append("Nothing is stored: `memtape agents resume` ends the pause.")
    if not status.events and not status.lag:
        steps.append('Nothing is remembered yet: `memtape capture "…"`, or `memtape import`.')
    return steps


def counted(home: Home, log: Log, retriever: Retriever) -> Counters:
    """Return the log's counts of texts and vectors, in the views and past their watermarks."""
    counters = Counters()
    for number, end in enumerate(log.ends()):
        mark = retriever.watermark(number)
        if mark.offset < end and (not mark.offset or log.read(number, mark.offset, 1, types=COUNTED_TYPES)):
            _add(counters, state_at(log, home.current(), number, end).counters)
        else:
            _add(counters, mark.counters)
    return counters


def _add(counters: Counters, more: Counters) -> None:
    for field in Counters.__struct_fields__:
        own, other = getattr(counters, field), getattr(more, field)
        both = dict(Counter(own) + Counter(other)) if isinstance(own, dict) else own + other
        setattr(counters, field, both)


TYPES = ("captured", "recalled", "used")
PROGRESS_EVENTS = 2_000
JOINED = ("same", "similar", "echo", "decided")
"""How a capture became part of a memory that was there."""


class DayStats(msgspec.Struct, kw_only=True):
    """A day of UTC, by the times of appending.

    `turns`, `documents` (pages too) and `long_term` are captures by kind, of which `folded` joined an
    existing memory. `searches` are requested searches, of which `empty` found nothing; `given` are starts and
    prompts with unasked context. `used` counts reported and observed uses of results.
    """

    day: str
    turns: int = 0
    documents: int = 0
    long_term: int = 0
    folded: int = 0
    searches: int = 0
    empty: int = 0
    given: int = 0
    used: int = 0


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """The days from the first to the last, and the number of events of all kinds `before` them."""

    scope: str | None
    before: int
    days: tuple[DayStats, ...]


def stats_of(log: Log, views: Retriever, scope: str | None, since_us: int, now_us: int) -> Stats:
    """Return daily counts from a time on, in one scope or all."""
    first, last = since_us // DAY_US, now_us // DAY_US
    days = {number: DayStats(day=format_day(number * DAY_US)) for number in range(first, last + 1)}
    ends = log.ends()
    starts = [log.offset_after(number, first * DAY_US - 1) for number in range(log.partitions)]
    total, done = sum(ends) - sum(starts), 0
    captured: dict[str, int] = {}
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        for count, (slot, event) in enumerate(events_between(log, number, start, end, scope, TYPES)):
            if event.body is not None:
                _count(event, days[min(max(event.sent // DAY_US, first), last)], captured)
            if count % PROGRESS_EVENTS == 0:
                tell_progress("reading", done + slot.offset - start, total)
        done += end - start
        tell_progress("reading", done, total)
        indexes = views.shard(number).indexes()
        opened = (it for name, it in indexes.items() if scope in (None, name))
        rows = (row for it in opened for row in it.rows(MemoryRow))
        for member in (it for row in rows for it in (*row.members, *row.echoes)):
            day = captured.pop(member.id, None)
            if day in days and member.how in JOINED:
                days[day].folded += 1
    return Stats(scope=scope, before=sum(starts), days=tuple(days.values()))


def _count(event: Event, day: DayStats, captured: dict[str, int]) -> None:
    match event.body:
        case Captured(kind="turn"):
            day.turns += 1
        case Captured(kind=kind) if kind in FAMILIES:
            day.long_term += 1
            captured.setdefault(event.id, event.sent // DAY_US)
        case Captured():
            day.documents += 1
        case Recalled(lanes=lanes, results=results):
            if shadow_of(lanes) is not None:
                return
            if unasked_by(lanes) is not None:
                day.given += 1
            else:
                day.searches += 1
                day.empty += not results
        case _:
            day.used += 1
