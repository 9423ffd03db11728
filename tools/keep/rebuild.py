"""Rebuilding of views beside the living ones: project into a new build, verify it, switch, mend the vault.

The caller of these functions holds the projector's lock. Nothing is appended to the log, and no worker wakes.
Until the switch, searches are served from the old build.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from functools import partial

import msgspec

from memtape.schemas.codec import event_of
from memtape.schemas.errors import DamagedViews, MemtapeError
from memtape.schemas.log import Log
from memtape.schemas.metrics import OnPhase
from memtape.schemas.rows import Page, ScopeMark
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Build, Home
from memtape.sinks.page_files import WATERMARK_FILE
from memtape.sinks.vault import Vault
from memtape.state.core.digests import changed_rules
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.views.pages import mark_of, pages_of
from memtape.state.views.rows import all_changes
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.operations import steps_of
from memtape.tools.keep.projector import Projector
from memtape.tools.keep.states import state_at
from memtape.tools.keep.verify import LOCK_WAIT_S, verify

MOST_DEAD_LETTERS = 100_000
ALL_PARTITIONS = -1
"""The partition number in reports about several partitions."""


class Rebuilt(msgspec.Struct, frozen=True):
    """The served build, and its verified state hash."""

    build: int
    events: int
    state_hash: str
    seconds: float


def rebuild(
    home: Home, log: Log, on_phase: OnPhase, workers: int = 1, partitions: Collection[int] | None = None
) -> Rebuilt:
    """Make a new build, verify and serve it; an unfinished earlier build is resumed.

    With `partitions` only these are rebuilt and verified; the rest are taken over unchanged.
    """
    began = time.perf_counter_ns()
    adopt_pages(BuildViews(home, log))
    home.remove_unfinished()
    total = sum(log.ends())
    served = home.current()
    build = home.build(served.number + 1)
    if any(True for _ in _unreadable(BuildViews(home, log, build))):
        build.discard()  # What was begun before cannot be gone on with.
    anew = range(log.partitions) if partitions is None else partitions
    for number in range(log.partitions):
        if number not in anew:
            build.adopt(served, number)
    projector = Projector(BuildViews(home, log, build, vault=False), once=True, workers=workers)
    projector.run(lambda done: on_phase("projecting", done, total))
    verified = partial(on_phase, "verifying")
    verdict = verify(home, log, build=build, only=anew, on_progress=lambda done: verified(done, total))
    if not verdict.ok:
        build.discard()
        first = verdict.differences[0]
        raise MemtapeError(
            f"The new build differs from the log and was dropped ({first.what}: {first.view} {first.id}).",
            "The views that were served are untouched. Please report this: it should not be possible.",
        )
    on_phase("switching", 0, total)
    switch(home, log, build, verdict.positions)
    discard_old_builds(home)
    on_phase("switching", total, total)
    took_ns = time.perf_counter_ns() - began
    steps_of(home)("rebuild", ALL_PARTITIONS, took_ns)
    return Rebuilt(build.number, verdict.events, verdict.state_hash, round(took_ns / 1e9, 3))


def switch(home: Home, log: Log, build: Build, positions: dict[int, int]) -> None:
    """Serve a build, and write the pages of the partitions that stand at `positions`."""
    with home.epoch_locks(range(log.partitions), LOCK_WAIT_S):
        for number in positions:
            Vault(home).uncover(number)  # Should this be cut short, the next start mends the pages.
        for number in (number for number, offset in positions.items() if not offset):
            mend_vault(home, log, build, number, 0)
        home.serve(build)
        due = positions | dict(BuildViews(home, log, build).uncovered())
        for number, offset in due.items():
            mend_vault(home, log, build, number, offset)


def discard_old_builds(home: Home) -> None:
    """Delete the builds older than the served build."""
    served = home.current()
    for build in home.builds():
        if build.number < served.number:
            build.discard()


def mend_vault(home: Home, log: Log, build: Build, partition: int, offset: int) -> None:
    """Write every page of a partition's scopes as of `offset`, and remove unexpected ones."""
    vault = Vault(home)
    state = state_at(log, build, partition, offset) if offset else Partition(partition)
    gone = (scope for scope in vault.scopes() if partition_of(scope, log.partitions) == partition)
    for scope in dict.fromkeys([*state.scopes, *gone]):
        pages, marks = _scope_pages(state, scope)
        vault.write(pages, marks)
        vault.prune(scope, {page.path for page in pages} | ({WATERMARK_FILE} if marks else set()))
    if offset:
        vault.cover(partition, offset)


def adopt_pages(views: BuildViews) -> None:
    """List the vault's pages that match the log, where the list that named the pages is gone.

    All other files count as people's from then on; call it therefore before any change.
    """
    for number, offset in without_list(views):
        state = state_at(views.log, views.build, number, offset)
        for scope in state.scopes:
            Vault(views.home).adopt(*_scope_pages(state, scope))


def without_list(views: BuildViews) -> list[tuple[int, int]]:
    """Return (partition, offset) of the views whose pages have no complete list."""
    vault = Vault(views.home)
    return [
        (number, min(mark.offset, views.ends[number]))
        for number, mark in enumerate(views.watermarks)
        if mark is not None and not vault.covered(number) and mark.log_id == views.log.log_id
    ]


def check_views(views: BuildViews) -> bool:
    """Read all views once and note which cannot be read, for `damaged_views`; whether there are any."""
    for number in _unreadable(views):
        views.build.note_damage(number)
    return bool(damaged_views(views.home, views.log))


def _unreadable(views: BuildViews) -> Iterator[int]:
    for shard in views.shards:
        try:
            shard.check()
        except DamagedViews:
            yield shard.partition


def damaged_views(home: Home, log: Log) -> list[int]:
    """Return the partitions reported with unreadable views."""
    build = home.current()
    return [number for number in range(log.partitions) if build.damage_path(number).exists()]


def reason_to_rebuild(views: BuildViews) -> str | None:
    """Return why the views that are served must be made anew before anything is added to them, None if they
    need not.

    That is so under changed rules (Python's Unicode version is one of them), and when an event that could
    not be read has become readable.
    """
    for number, watermark in enumerate(views.watermarks):
        if watermark is None or views.strayed[number]:
            continue  # Nothing to lose: this shard is made anew anyway.
        changed = changed_rules(watermark.rules)
        if changed:
            return f"the rules have changed ({', '.join(changed)})"
        try:
            has_any = watermark.counters.dead_letters > 0
            letters = views.shards[number].dead_letters(limit=MOST_DEAD_LETTERS) if has_any else []
        except DamagedViews:
            views.build.note_damage(number)
            continue
        dead = (letter.offset for letter in letters if not letter.reason.startswith("misplaced"))
        if any(event_of(views.log.read(number, offset, 1)[0].payload) is not None for offset in dead):
            return f"an event of partition {number} that could not be read has become readable"
    return None


def _scope_pages(state: Partition, scope: str) -> tuple[list[Page], list[ScopeMark]]:
    """Return the pages of a scope as they should be, and its watermark; none if the log has no such scope."""
    found: Scope | None = state.scopes.get(scope)
    if found is None:
        return [], []
    marks = [mark_of(state, found)] if found.changed >= 0 else []
    return pages_of(state, all_changes(found)), marks
