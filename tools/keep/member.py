"""A member of a team: projects the partitions that its topic's consumer group gives it, into shared views.

Each owned partition has a thread with a flow of its own, under a claim (`sinks.home.claims`): the newest
complete build is adopted, brought to the end of the log out of sight, served, and kept up to date. Whatever
ends the flow, as an erasure or a later claim, is answered by a new claim while the partition is owned.
Membership never waits for a partition.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from memtape.flows.projection import basis_of
from memtape.flows.workers.worker import RETRY_S, OnNote, Worker
from memtape.schemas.errors import DamagedViews, MemtapeError
from memtape.schemas.events import Configured, Ticked
from memtape.schemas.log import Log, events_between
from memtape.schemas.metrics import tell_progress
from memtape.sinks.home.claims import Claimant, PartitionClaim, SharedViews
from memtape.sinks.home.files import FileLock
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.consumer_group import ConsumerGroup
from memtape.sinks.logs.kafka import KafkaLog
from memtape.sinks.snapshots import Snapshots
from memtape.sinks.tables import Shard
from memtape.state.core.partition import Partition, restore, snapshot
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.operations import failure
from memtape.tools.keep.owner import STOP_S, Owner
from memtape.tools.keep.projector import control_of, project
from memtape.tools.keep.rebuild import Rebuilt, blank_slots
from memtape.tools.keep.verify import verify

GROUP_WAIT_S = 0.1
"""The wait of a member for changes of its partitions (s), all the time."""
LOOK_S, PUBLISH_S = 0.5, 5.0
"""The intervals (s) in which a single run looks whether all is done, and in which an owner publishes. Readers
find what is not published yet in the tail of the log.
"""
ENDS_S, VERSION_S = 0.04, 0.5
"""The interval (s) between two questions for the ends of the log, and the longest wait for a change."""
AGAIN_S = 0.5
"""The wait (s) before a partition whose flow has ended is claimed anew."""
BLANKING_S = 600.0
"""The wait (s) for another process of the team that blanks slots."""
OF_A_HOME = ("deliver", "commits", "shadow")
"""The workers of every member. The others work for the whole team, on the owner of partition 0."""


class Ends(threading.Thread):
    """The ends of a log, asked until `stopping` is set. The flows of its partitions wait here for slots."""

    def __init__(self, log: Log) -> None:
        super().__init__(name="ends", daemon=True)
        self._log, self._changed = log, threading.Condition()
        self._ends = [0] * log.partitions
        self.stopping = threading.Event()

    def run(self) -> None:
        """Ask again and again."""
        while not self.stopping.wait(ENDS_S):
            with suppress(MemtapeError):  # As where the broker is away.
                ends = self._log.ends()
                with self._changed:
                    self._ends = ends
                    self._changed.notify_all()

    def after(self, number: int, before: int) -> int:
        """Return the end of a partition, at once if it is not as `before`, else within `VERSION_S`."""
        with self._changed:
            self._changed.wait_for(lambda: self._ends[number] != before, VERSION_S)
            return self._ends[number]


class WatchedLog:
    """A log whose `version` is the end of one partition, and waits for the next slot there."""

    def __init__(self, log: Log, ends: Ends, number: int) -> None:
        self._log, self._ends, self._number, self._seen = log, ends, number, 0

    def version(self) -> object:
        """See `Log.version`."""
        self._seen = self._ends.after(self._number, self._seen)
        return self._seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)


class OwnedPartition(threading.Thread):
    """Keeps the views of one partition up to date until `stopping` is set. `who` tells the claimant."""

    def __init__(
        self, home: Home, log: Log, number: int, who: Callable[[], Claimant], on_note: OnNote
    ) -> None:
        super().__init__(name=f"partition {number}", daemon=True)
        self._home, self._log, self._number, self._who, self._on_note = home, log, number, who, on_note
        self._shared = shared_views(home)
        self.stopping = threading.Event()
        self.events = 0

    def run(self) -> None:
        """Claim and project again and again."""
        while not self.stopping.is_set():
            claim: PartitionClaim | None = None
            try:
                claim = self._shared.claim(self._number, self._who())
                self._own(claim)
            except BaseException as error:  # LanceDB names no class for damage, and a panic is no Exception.
                with suppress(OSError):
                    if claim is not None and claim.is_fenced():
                        continue
                failure(self._home, "flow_failed", error)
                self._note_damage()
                self._on_note(f"Partition {self._number} is claimed anew: {error}")
                self.stopping.wait(RETRY_S[0])
            finally:
                if claim is not None and not claim.is_served:
                    claim.discard()  # A served build is for the next owner to adopt, and to delete.
                self.stopping.wait(AGAIN_S)

    def _note_damage(self) -> None:
        """Note unreadable views, so that the next claim does not adopt them."""
        served = self._home.current()
        try:
            Shard(served.shard(self._number), self._number).check()
        except DamagedViews:
            served.note_damage(self._number)

    def _own(self, claim: PartitionClaim) -> None:
        claim.adopt()
        if self._project(claim, once=True):
            # What was adopted may have snapshots from before an erasure.
            Snapshots(claim.build, self._number, basis_of(self._log, self._number)).discard_others()
            claim.serve()
            self._project(claim, once=False)
            claim.publish()

    def _project(self, claim: PartitionClaim, *, once: bool) -> bool:
        """Run the flow under a claim; return whether it has come to the end of the log with `once`."""
        control, before = control_of(self._home, once=once), self.events
        looked_at = published_at = time.monotonic()
        views = BuildViews(self._home, self._log, claim=claim)
        views.on_doubt = self._on_note

        def look(_: int) -> None:
            nonlocal looked_at, published_at
            self.events = before + control.events_read
            if self.stopping.is_set():
                control.stopping.set()
            if claim.is_served and time.monotonic() > published_at + PUBLISH_S:
                claim.publish()
                published_at = time.monotonic()
            if time.monotonic() > looked_at + self._shared.look_s:
                looked_at = time.monotonic()
                claim.sweep()
                if claim.is_fenced() or claim.is_damaged():
                    control.stopping.set()

        project(views, control, look, partitions=[self._number])
        return not control.stopping.is_set()


class Blanking(Worker):
    """Blanks the slots of erased events, once no views hold them."""

    poll_s = 5.0

    def __init__(self, home: Home, log: Log, on_note: OnNote) -> None:
        super().__init__(log, on_note)
        self._home = home

    def catch_up(self) -> None:
        """See `blank_slots`."""
        if is_scrubbed(self._home, self.log):
            self.done += blank(self._home, self.log)


class Member(Owner):
    """The owner of shared views on one machine: a member of the group that owns some partitions."""

    _is_first = False
    """Whether this member works for the whole team: it owns partition 0."""

    def check(self) -> bool:
        """Return False: a reader notes damage for the owner of the partition, on whatever machine."""
        return False

    def project(self) -> int:
        """Be a member until the views have all that is on the log now; return the number of events read."""
        self._log.check_briefly()
        ends, left = self._log.ends(), list(range(self._log.partitions))

        def is_done() -> bool:
            views = BuildViews(self._home, self._log)
            views.ends = ends
            left[:] = [number for number in left if not has_all(views, number)]
            done = sum(mark.offset for mark in views.watermarks if mark is not None)
            tell_progress("projecting", min(done, sum(ends)), sum(ends))
            return not left

        return self._share(is_done)

    def work(self) -> dict[str, int]:
        """Run one pass of each worker of a single run, and project what has come; return their counts."""
        ends = self._log.ends()
        self._catch_up("before", "after")
        if self._log.ends() != ends and not self._stopped:
            self.project()
        return {name: worker.done for name, worker in self._of("before", "after").items()}

    def serve(self) -> int:
        """Be a member until `stop`, and give way to others of this home; return the number of events read."""
        self._log.check_briefly()
        workers = self._beside | {"blank": Blanking(self._home, self._log, self._on_note)}
        del workers["zones"]  # Shared views have no pages.
        for name, worker in workers.items():
            if name not in OF_A_HOME:
                worker.gives_way = lambda: not self._is_first
        threads = [threading.Thread(target=it.serve, name=name, daemon=True) for name, it in workers.items()]
        for thread in threads:
            thread.start()
        events = 0
        try:
            while not self._stopped:
                events += self._share(self._is_wanted)
                if self._is_wanted():
                    self._give_way()
        finally:
            for worker in workers.values():
                worker.stopping.set()
            for thread in threads:
                thread.join(STOP_S)
        return events

    def rebuild(self) -> Rebuilt:
        """Have the owners make all views anew, out of sight of readers, and verify them."""
        self._log.check()
        began, before = time.monotonic(), shared_views(self._home).served()
        for number in before.claims:
            before.note_damage(number)

        def is_done() -> bool:
            claims = shared_views(self._home).served().claims
            return all(claims[number] > claim for number, claim in before.claims.items())

        self._share(is_done)
        self.project()
        verdict = verify(self._home, self._log)
        if not verdict.ok:
            raise MemtapeError(
                "The new views differ from the log.", "`memtape verify` names each difference."
            )
        return Rebuilt(0, verdict.events, verdict.state_hash, round(time.monotonic() - began, 3))

    def scrub(self) -> tuple[list[int], int]:
        """Be a member until no served views hold erased texts, and blank the slots; see `Owner.scrub`."""
        self._share(lambda: is_scrubbed(self._home, self._log))
        for number in range(self._log.partitions):
            shared_views(self._home).sweep(number)
        return [], blank(self._home, self._log)

    def mend(self) -> None:
        """Do nothing: each claim mends its own views."""

    def _share(self, is_done: Callable[[], bool]) -> int:
        """Be a member of the group until `is_done` or `stop`; return the number of events read.

        At the end the owned partitions are brought to a snapshot before the group is left.
        """
        log = getattr(self._log, "kafka", self._log)
        if not isinstance(log, KafkaLog):
            raise MemtapeError("Only a topic's views can be shared.", "Take `views` out of settings.toml.")
        shared = shared_views(self._home)
        place = shared.join(log.log_id)
        group = ConsumerGroup(log, f"{log.target.topic}.views-{place.id}")
        machine, ended, looked_at = platform.node(), 0, time.monotonic()
        # msgspec looks at a type when it first meets it; two threads that do so at once crash the process.
        restore(snapshot(Partition(0)))
        owned, ends = dict[int, OwnedPartition](), Ends(self._log)
        ends.start()

        def who() -> Claimant:
            return Claimant(*group.member(), machine, os.getpid())

        try:
            while not self._stopped:
                numbers = group.owned(GROUP_WAIT_S)
                self._is_first = 0 in numbers
                for number in owned.keys() - numbers:
                    owned[number].stopping.set()
                for number in [number for number, it in owned.items() if not it.is_alive()]:
                    ended += owned.pop(number).events
                for number in [it for it in numbers if it not in owned]:
                    watched = cast(Log, WatchedLog(self._log, ends, number))
                    owned[number] = OwnedPartition(self._home, watched, number, who, self._on_note)
                    owned[number].start()
                if time.monotonic() > looked_at + LOOK_S:
                    looked_at = time.monotonic()
                    shared.refresh()
                    if is_done():
                        break
        finally:
            self._is_first = False
            for it in owned.values():
                it.stopping.set()
            for it in owned.values():
                it.join()
            ends.stopping.set()
            group.close()
        return ended + sum(it.events for it in owned.values())


def shared_views(home: Home) -> SharedViews:
    """Return the shared views of a member's home."""
    assert home.shared is not None
    return home.shared


def blank(home: Home, log: Log) -> int:
    """Blank slots as `blank_slots` does, one process at a time of those that see the same folder."""
    path = shared_views(home).path / "claims" / "blanking.lock"
    with FileLock(path, "The right to blank slots").held(BLANKING_S):
        return blank_slots(BuildViews(home, log))


def has_all(views: BuildViews, number: int) -> bool:
    """Whether the served views of a partition have all of the log, but for settings and ticks at its end."""
    mark, end = views.watermarks[number], views.ends[number]
    if mark is not None and (views.strayed[number] or views.bases[number].unlike(mark.basis)):
        return False
    left = events_between(views.log, number, 0 if mark is None else mark.offset, end)
    return all(isinstance(event.body, (Configured, Ticked)) for _, event in left)


def is_scrubbed(home: Home, log: Log) -> bool:
    """Whether no served views are of fewer erasures than are on the log."""
    views = BuildViews(home, log)
    return all(views.watermarks[number] is None for number in views.unscrubbed)
