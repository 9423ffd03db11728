"""Copying of a log to another place, slot for slot: same ids, offsets, times, blank and unreadable slots."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from memtape.schemas.errors import DamagedLog, LogExists, MemtapeError, UnknownOutcome
from memtape.schemas.log import PAGE_SLOTS, Log, slots_between
from memtape.schemas.metrics import tell_progress
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.logs.opening import URL_MARK

ROUNDS = 20
"""So often it is looked whether the source has got more meanwhile; a busy one would never come to an end."""
COMPARED_SLOTS = 1_000
"""So many slots before the end of a copy are compared before it goes on; all of them are at its end."""


class Copied(msgspec.Struct, frozen=True):
    """A verified copy at `place`: `copied` of its `slots` are new; the source has `behind` more."""

    place: str
    log_id: str
    partitions: int
    slots: int
    copied: int
    behind: int
    seconds: float


def copy_log(source: Log, to: str) -> Copied:
    """Copy a log to a URL or a path, or resume a copy, and return it once every slot was read back the same.

    `to` is a `kafka://` URL, a file that ends in `.db`, or the folder of a home. Raises `LogExists` for a
    place with another content, before any change, and `DamagedLog` where the copy differs from the source.
    """
    source.check()
    began = time.monotonic()
    empty = [number for number, end in enumerate(source.ends()) if not end]
    if empty:
        said = f"Partition {empty[0]} of {source.place} has no settings."
        raise DamagedLog(said, "Copy another copy of it.")
    with closing(_open_target(source, to)) as target:
        _check_prefix(source, target)
        before = sum(target.ends())
        for _ in range(ROUNDS):
            if source.ends() == target.ends():
                break
            _copy_what_is_new(source, target, before)
        ends = target.ends()
        _check_same(source, target, ends)
        if isinstance(target, EmbeddedLog):
            target.finish_copy()
        place = target.place
    behind = sum(source.ends()) - sum(ends)
    counts = sum(ends), sum(ends) - before, behind
    seconds = round(time.monotonic() - began, 3)
    return Copied(place, source.log_id, source.partitions, *counts, seconds)


def _open_target(source: Log, to: str) -> Log:
    if URL_MARK in to or to.startswith("kafka:"):
        from memtape.sinks.logs.kafka import KafkaLog
        from memtape.sinks.logs.kafka_topic import parse_kafka_url

        _check_other(source, parse_kafka_url(to).url)
        return KafkaLog(to, source.partitions, copy_of=source.log_id)
    path = Path(to).absolute()
    if path.is_dir() or not (path.is_file() or path.suffix == ".db"):
        path = Home(path).log_path
    _check_other(source, str(path))
    with suppress(OSError):  # What stands in the way, SQLite meets as well and says.
        path.touch(mode=0o600)
    return EmbeddedLog(path, source.partitions, copy_of=source.log_id)


def _check_other(source: Log, place: str) -> None:
    is_same_file = URL_MARK not in place and Path(source.place).resolve() == Path(place).resolve()
    if source.place == place or is_same_file:
        raise MemtapeError(f"{place} is the log that is to be copied.", "Name another place.")


def _check_prefix(source: Log, target: Log) -> None:
    """Raise `LogExists`, before any writing, unless the target is empty or begins as the source does."""
    for number, (there, end) in enumerate(zip(source.ends(), target.ends(), strict=True)):
        other = [there] if end > there else []
        for start in (0, max(0, end - COMPARED_SLOTS)) if end <= there else ():
            other += _differing(source, target, number, start, min(end, start + COMPARED_SLOTS))
        if other:
            at = f"at offset {other[0]} of partition {number}"
            raise LogExists(
                f"{target.place} holds something else than this log, {at}.",
                "Name a place where nothing is; nothing has been changed.",
            )


def _copy_what_is_new(source: Log, target: Log, before: int) -> None:
    ends = source.ends()
    starts = target.ends()
    done, total = sum(starts) - before, sum(ends) - before
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        while start < end:
            payloads = [slot.payload for slot in source.read(number, start, min(PAGE_SLOTS, end - start))]
            try:
                first = target.append_raw(number, payloads)[0]
            except UnknownOutcome as error:
                raise UnknownOutcome(
                    str(error), "Give the same command again: it goes on where the copy ends."
                ) from error
            if first.offset != start:
                raise LogExists(
                    f"Another process writes to {target.place}.", "Stop it, delete the copy, and copy again."
                )
            start += len(payloads)
            done += len(payloads)
            tell_progress("copying", done, total)


def _check_same(source: Log, target: Log, ends: list[int]) -> None:
    done, total = 0, sum(ends)
    for number, end in enumerate(ends):
        for start in range(0, end, PAGE_SLOTS):
            stop = min(end, start + PAGE_SLOTS)
            for offset in _differing(source, target, number, start, stop):
                raise DamagedLog(
                    f"Offset {offset} of partition {number} is not the same in {target.place}.",
                    "If it was erased meanwhile the copy still holds it: delete the copy and make another.",
                )
            done += stop - start
            tell_progress("comparing", done, total)


def _differing(source: Log, target: Log, partition: int, start: int, end: int) -> Iterator[int]:
    slots = (slots_between(log, partition, start, end) for log in (source, target))
    return (one.offset for one, other in zip(*slots, strict=True) if one.payload != other.payload)
