"""Rebuilding of views beside the living ones: project into a new build, verify it, switch, mend the vault.

The caller of these functions holds the projector's lock. Nothing is appended to the log, and no worker wakes.
Until the switch, searches are served from the old build.

An erasure rebuilds the views with erased texts, drops caches and blanks slots. Each step may be interrupted:
the next call reads the remaining work from the views, the log and a small file of the build.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection, Mapping

import msgspec

from memtape.flows.projection import basis_of
from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log, events_between, strayed, trail_of
from memtape.schemas.metrics import tell_progress
from memtape.schemas.rows import ScopeMark, VaultPage
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.builds import Build
from memtape.sinks.home.files import make_folder, read_json, write_whole
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import WATERMARK_FILE, forget_lost
from memtape.sinks.snapshots import Snapshots
from memtape.sinks.vault import Vault
from memtape.state.core.digests import changed_rules
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.views.pages import mark_of, pages_of
from memtape.state.views.rows import all_changes
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.operations import steps_of
from memtape.tools.keep.projector import control_of, project
from memtape.tools.keep.states import state_at
from memtape.tools.keep.verify import LOCK_WAIT_S, verify

ALL_PARTITIONS = -1
"""The partition number in reports about several partitions."""


class Rebuilt(msgspec.Struct, frozen=True):
    """The served build, and its verified state hash."""

    build: int
    events: int
    state_hash: str
    seconds: float


class _Blanked(msgspec.Struct):
    """The offset up to which a partition's slots are blank under `count` erasures; `derived`: see `Erasures`.

    `trail` is the log's trail before the offset. A log that went back is searched from its beginning.
    """

    count: int
    offset: int
    derived: dict[str, dict[str, None]]
    trail: str


def rebuild(home: Home, log: Log, workers: int = 1, partitions: Collection[int] | None = None) -> Rebuilt:
    """Make a new build, verify and serve it; an unfinished earlier build is resumed.

    With `partitions` only these are rebuilt and verified; the rest are taken over unchanged.
    """
    began = time.perf_counter_ns()
    build, replayed = _made(home, log, workers, partitions)
    verdict = verify(home, log, build=build, only=partitions, replayed=replayed)
    if not verdict.ok:
        build.discard()
        first = verdict.differences[0]
        raise MemtapeError(
            f"The new build differs from the log and was dropped ({first.what}: {first.view} {first.id}).",
            "The views that were served are untouched. Please report this: it should not be possible.",
        )
    switch(home, log, build, range(log.partitions) if partitions is None else partitions, replayed)
    took_ns = time.perf_counter_ns() - began
    steps_of(home)("rebuild", ALL_PARTITIONS, took_ns)
    return Rebuilt(build.number, verdict.events, verdict.state_hash, round(took_ns / 1e9, 3))


def scrub(views: BuildViews, workers: int = 1) -> tuple[list[int], int]:
    """Take the bytes of everything that is erased out of the views that are served, caches and log.

    Returns the partitions with rebuilt views, and the number of blanked slots. The search of every file is
    the proof of an erasure, so that the new views are not compared with the log.

    Raises `StillHeld` where another process keeps the log's write-ahead file; the rest is done then.
    """
    home, log = views.home, views.log
    behind = views.unscrubbed
    if behind:
        for build in home.builds():
            if build.number != views.build.number:  # Of a rebuild that may have seen the texts.
                build.discard()
        build, replayed = _made(home, log, workers, behind)
        switch(home, log, build, behind, replayed)
    return behind, blank_slots(views)


def _made(
    home: Home, log: Log, workers: int, partitions: Collection[int] | None
) -> tuple[Build, dict[int, Partition]]:
    """Return a new build of some partitions, by default all, with the rest taken over from the served one.

    Also return the states of the partitions that were folded here from their first event.
    """
    adopt_pages(BuildViews(home, log))
    home.remove_unfinished()
    total, served = sum(log.ends()), home.current()
    build = home.build(served.number + 1)
    if BuildViews(home, log, build).unreadable():
        build.discard()  # What was begun before cannot be gone on with.
    for number in range(log.partitions):
        if partitions is not None and number not in partitions:
            build.adopt(served, number)
    views = BuildViews(home, log, build, vault=False)
    control = control_of(home, once=True)
    project(views, control, lambda done: tell_progress("projecting", done, total), workers=workers)
    return build, control.replayed


def switch(
    home: Home,
    log: Log,
    build: Build,
    anew: Collection[int],
    folded: Mapping[int, Partition],
) -> None:
    """Serve a build, write the pages of its new partitions (`anew`), and discard older builds.

    `folded` are states of partitions at the end of the build, as far as they are at hand.
    """
    total = sum(log.ends())
    tell_progress("switching", 0, total)
    with home.epoch_locks(range(log.partitions), LOCK_WAIT_S):
        for number in anew:
            Vault(home).uncover(number)  # Should this be cut short, the next start mends the pages.
        views = BuildViews(home, log, build)
        for number in anew:
            if views.watermarks[number] is None:
                mend_vault(home, log, Partition(number))
        home.serve(build)
        for number, offset in views.uncovered():
            state = folded.get(number)
            if state is None or state.offset != offset:
                state = state_at(log, build, number, offset)
            mend_vault(home, log, state)
    discard_old_builds(home)
    tell_progress("switching", total, total)


def discard_old_builds(home: Home) -> None:
    """Delete the builds older than the served build."""
    served = home.current()
    for build in home.builds():
        if build.number < served.number:
            build.discard()


def mend_vault(home: Home, log: Log, state: Partition) -> None:
    """Write every page that follows from the state of a partition, and remove unexpected ones."""
    vault = Vault(home)
    gone = (scope for scope in vault.scopes() if partition_of(scope, log.partitions) == state.number)
    for scope in dict.fromkeys([*state.scopes, *gone]):
        pages, marks = _scope_pages(state, scope)
        vault.write(pages, marks)
        vault.prune(scope, {page.path for page in pages} | ({WATERMARK_FILE} if marks else set()))
    if state.offset:
        vault.cover(state.number, state.offset)


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
        if views.vault and mark is not None and not vault.covered(number) and mark.log_id == views.log.log_id
    ]


def damaged_views(home: Home, log: Log) -> list[int]:
    """Return the partitions reported with unreadable views."""
    build = home.current()
    return [number for number in range(log.partitions) if build.damage_path(number).exists()]


def reason_to_rebuild(views: BuildViews) -> str | None:
    """Return why the served views must be made anew before anything is added, else None.

    That is so under changed rules (Python's Unicode version is one of them), and when an event that could
    not be read has become readable.
    """
    for number, watermark in enumerate(views.watermarks):
        if watermark is None or views.strayed[number]:
            continue  # Nothing to lose: this shard is made anew anyway.
        if changed := changed_rules(watermark.rules):
            return f"the rules have changed ({', '.join(changed)})"
        letters = watermark.counters.latest_dead_letters
        dead = (letter.offset for letter in letters if not letter.reason.startswith("misplaced"))
        if any(event_of(views.log.read(number, offset, 1)[0].payload) is not None for offset in dead):
            return f"an event of partition {number} that could not be read has become readable"
    return None


def _scope_pages(state: Partition, scope: str) -> tuple[list[VaultPage], list[ScopeMark]]:
    """Return the pages of a scope as they should be, and its watermark; none if the log has no such scope."""
    found: Scope | None = state.scopes.get(scope)
    if found is None:
        return [], []
    marks = [mark_of(state, found)] if found.changed >= 0 else []
    return pages_of(state, all_changes(found)), marks


def blank_slots(views: BuildViews) -> int:
    """Blank every slot of an erased event with a body, after dropping the partition's cached state."""
    home, log = views.home, views.log
    build = home.current()  # It may have been made just now.
    # The file only saves time.
    marks, due = read_json(build.blanked_path, dict[int, _Blanked]) or {}, {}
    before = dict(marks)
    for number in range(log.partitions):
        erasures = erasures_of(views.erased[number])
        mark = marks.get(number)
        if not erasures.count:
            continue
        if mark is None or mark.count != erasures.count or strayed(log, number, mark.offset, mark.trail):
            mark = _Blanked(erasures.count, 0, {}, "")
            # Views of the past and snapshots that were made before the erasure, or are being made.
            for pattern in (f"p{number:02}-*", f".p{number:02}-*"):
                for folder in home.as_of.glob(pattern):
                    shutil.rmtree(folder, ignore_errors=True)
            for past in (False, True):
                Snapshots(build, number, basis_of(log, number), past=past).discard_others()
        erasures.derived = mark.derived
        end = log.ends()[number]
        found = events_between(log, number, mark.offset, end)
        offsets = [slot.offset for slot, event in found if erasures.covers(event) and event.body is not None]
        if offsets or marks.get(number) is not mark:
            due[number] = offsets
        marks[number] = _Blanked(mark.count, end, erasures.derived, trail_of(log, number, end))
    if due:
        with home.lock("imports"):
            forget_lost(home)
        log.blank(due)
    if marks != before:
        make_folder(build.state)
        write_whole(build.blanked_path, msgspec.json.encode(marks), durable=True)
    return sum(map(len, due.values()))
