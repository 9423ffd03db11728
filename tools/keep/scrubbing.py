"""Scrubbing of erased bytes: views with erased texts are rebuilt, caches dropped, slots blanked.

The caller of `scrub` holds the projector's lock. Each step may be interrupted: the next call reads the
remaining work from the views, the log and a small file of the build.
"""

from __future__ import annotations

import shutil

import msgspec

from memtape.flows.projection import basis_of
from memtape.schemas.log import Log, events_between, strayed, trail_of
from memtape.schemas.metrics import OnPhase
from memtape.sinks.home.folders import Build, Home, make_folder, read_json, write_whole
from memtape.sinks.page_files import forget_lost
from memtape.sinks.snapshots import Snapshots
from memtape.state.core.erasures import erasures_of
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.rebuild import rebuild


class _Blanked(msgspec.Struct):
    """The offset up to which a partition's slots are blank under `count` erasures; `derived`: see `Erasures`.

    `trail` is the log's trail before the offset. A log that went back is searched from its beginning.
    """

    count: int
    offset: int
    derived: dict[str, dict[str, None]]
    trail: str


def scrub(views: BuildViews, on_phase: OnPhase, workers: int = 1) -> tuple[list[int], int]:
    """Take the bytes of everything that is erased out of the views that are served, caches and log.

    Returns the partitions with rebuilt views, and the number of blanked slots.

    Raises `StillHeld` where another process keeps the log's write-ahead file; the rest is done then.
    """
    home, log, behind = views.home, views.log, _behind(views)
    if behind:
        for build in home.builds():
            if build.number != views.build.number:  # Begun, or left, by a rebuild that may have seen the texts.
                build.discard()
        rebuild(home, log, on_phase, workers, behind)
    return behind, _blank_slots(views)


def _behind(views: BuildViews) -> list[int]:
    """Return the partitions whose views may have erased texts.

    Where tables are lost or damaged, the vault's pages may be older than they were.
    """
    held = (0 if watermark is None else watermark.erased for watermark in views.watermarks)
    return [number for number, erased in enumerate(held) if erased != views.bases[number].erased]


def _blank_slots(views: BuildViews) -> int:
    """Blank every slot of an erased event with a body, after dropping the partition's cached state."""
    home, log = views.home, views.log
    build = home.current()  # It may have been made just now.
    marks, due = _read_marks(build), {}
    before = dict(marks)
    for number in range(log.partitions):
        erasures = erasures_of(views.erased[number])
        mark = marks.get(number)
        if not erasures.count:
            continue
        if mark is None or mark.count != erasures.count or strayed(log, number, mark.offset, mark.trail):
            mark = _Blanked(erasures.count, 0, {}, "")
            _drop_caches(home, log, build, number)
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


def _drop_caches(home: Home, log: Log, build: Build, partition: int) -> None:
    """Delete the views of the past and the snapshots of a partition that were made before the erasure."""
    for pattern in (f"p{partition:02}-*", f".p{partition:02}-*"):  # The latter are being made.
        for folder in home.as_of.glob(pattern):
            shutil.rmtree(folder, ignore_errors=True)
    for past in (False, True):
        Snapshots(build, partition, basis_of(log, partition), past=past).discard_others()


def _read_marks(build: Build) -> dict[int, _Blanked]:
    return read_json(build.blanked_path, dict[int, _Blanked]) or {}  # It only saves time.
