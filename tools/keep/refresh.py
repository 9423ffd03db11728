"""Rebuild of only the tables fed by changed rules: the new build shares the other tables with the served one.

The caller of `refresh` holds the projector's lock. The build is verified whole before it is served, as after
a rebuild: a table kept by mistake is found, and everything is rebuilt.
"""

from __future__ import annotations

from collections.abc import Collection

from memtape.flows.projection import watermark_of
from memtape.flows.workers.worker import OnNote
from memtape.schemas.errors import DamagedViews
from memtape.schemas.log import trail_of
from memtape.schemas.rows import TABLES, Fed, Watermark
from memtape.sinks.home.folders import Build, unfinished_beside
from memtape.sinks.snapshots import Snapshots
from memtape.sinks.tables import Shard
from memtape.state.core.digests import changed_rules, fed_by
from memtape.state.core.partition import snapshot
from memtape.tools.keep.build_views import BuildViews, readable_watermark
from memtape.tools.keep.rebuild import OnPhase, discard_old_builds, has_become_readable, switch
from memtape.tools.keep.states import rows_at, state_at
from memtape.tools.keep.verify import verify


def refresh(views: BuildViews, on_phase: OnPhase, on_note: OnNote) -> bool:
    """Rebuild the tables fed by changed rules, verify all and serve the build; return if it was possible.

    It is not possible for lost or damaged views, views of another log, erasures or newly readable slots since
    then, or where every table must be rebuilt. An unfinished earlier build is resumed.
    """
    home, log, build = views.home, views.log, views.home.build(views.build.number + 1)
    fed = fed_by(dict.fromkeys(rule for mark in _marks(views).values() for rule in changed_rules(mark.rules)))
    if all(table in fed for table in TABLES) or not all(_can_be_kept(views, number) for number in views.numbers):
        return False
    home.remove_unfinished()
    if not _make_all(views, build, fed, on_phase):
        build.discard()
        return False
    total = sum(mark.offset for mark in _marks(views).values())
    verdict = verify(home, log, build=build, on_progress=lambda done: on_phase("verifying", done, total))
    if not verdict.ok:
        build.discard()
        first = verdict.differences[0]
        on_note(f"What was kept differs from the log ({first.what}: {first.view} {first.id}), so all is made anew.")
        return False
    on_phase("switching", 0, total)
    switch(home, log, build, verdict.positions if "vault" in fed else {})
    discard_old_builds(home)
    on_phase("switching", total, total)
    return True


def _marks(views: BuildViews) -> dict[int, Watermark]:
    return {number: mark for number, mark in enumerate(views.watermarks) if mark is not None}


def _can_be_kept(views: BuildViews, number: int) -> bool:
    """Whether a partition's tables agree with the log, apart from the rules; True without tables."""
    mark = views.watermarks[number]
    if mark is None:
        return not views.shards[number].exists()
    if views.strayed(number) or mark.erased != views.bases[number].erased or views.build.damage_path(number).exists():
        return False
    try:
        return not has_become_readable(views, number)
    except DamagedViews:
        return False


def _make_all(views: BuildViews, build: Build, fed: Collection[Fed], on_phase: OnPhase) -> bool:
    """Make every partition of a build that is not made yet; whether nothing was erased meanwhile."""
    marks, done = _marks(views), 0
    for number, mark in marks.items():
        on_phase("projecting", done, sum(mark.offset for mark in marks.values()))
        if not _is_made(views, build, number, mark) and not _make(views, build, number, mark, fed):
            return False
        done += mark.offset
    return True


def _is_made(views: BuildViews, build: Build, number: int, mark: Watermark) -> bool:
    found = readable_watermark(Shard(build.shard(number), number))
    return found is not None and (found.basis, found.offset) == (views.bases[number], mark.offset)


def _make(views: BuildViews, build: Build, number: int, mark: Watermark, fed: Collection[Fed]) -> bool:
    """Build the tables of a partition as of its watermark, in a folder renamed when whole.

    Returns whether nothing was erased meanwhile, and all shared tables can be read.
    """
    state = state_at(views.log, build, number, mark.offset)
    if state.erasures.count != mark.erased:
        return False
    trail = trail_of(views.log, number, mark.offset)
    Snapshots(build, number, views.bases[number]).write(mark.offset, trail, snapshot(state))
    shard = Shard(build.shard(number), number)
    unfinished = Shard(unfinished_beside(shard.path), number)
    unfinished.discard()
    unfinished.keep_from(views.shards[number], without=fed)
    for rows in rows_at(state, mark.offset, fed):
        unfinished.write(rows, [])
    try:
        unfinished.index_anew()
    except DamagedViews:
        return False
    unfinished.write_watermark(watermark_of(state, trail))
    shard.discard()
    unfinished.path.rename(shard.path)
    return True
