"""The worker that consolidates memories: log -> scope -> similar memories -> `decided` events.

Rules decide clusters (`state/consolidation`), then a judge decides the pairs that wait; the caller passes the
function that asks the judge. A decision carries the seqs of all its inputs, so that a late decision changes
nothing. Ids of appended events derive from the decision, so that two workers, or a killed and restarted
worker, add nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import msgspec

from memtape.flows.projection import fold_until
from memtape.flows.workers.worker import Worker, append_new
from memtape.schemas.errors import BudgetSpent, Locked, MemtapeError, ModelAway
from memtape.schemas.events import (
    CONSOLIDATED_TAG,
    DISTILLED_TAG,
    MAX_IDS,
    MAX_TAGS,
    STATED_TAG,
    SYSTEM,
    Actor,
    Captured,
    Decided,
    Event,
    Input,
    Operation,
    make_event,
)
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log
from memtape.schemas.metrics import tell_progress
from memtape.schemas.rows import PassMark
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.state.consolidation.clusters import gate, plan
from memtape.state.consolidation.rules import ConcludedOperation as Concluded
from memtape.state.consolidation.rules import Conclusion, conclude
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import TRUST
from memtape.state.subjects.tombstones import text_row_id

UNFINISHED = "unfinished"

Judge = Callable[[str], Iterable[Conclusion]]
"""Decides pairs of a scope that wait, and yields the conclusions, which are on the log.

Raises `MemtapeError`: `BudgetSpent` and `ModelAway` where another time may do, others about the judge.
"""
Alone = Callable[[], AbstractContextManager[None]]
"""Holds the right to consolidate. Raises `Locked`."""


class Passed(NamedTuple):
    """The result of a part of a pass: the clusters read, the conclusions, and why a judge gave no others."""

    clusters: int
    conclusions: list[Conclusion]
    problem: str
    is_last: bool


@dataclass(eq=False)
class Consolidation(Worker):
    """Consolidates each scope whose gate is open; `done` counts decisions.

    `marks` returns the state of passes by scope, as of the views; nothing where consolidation is not wanted.
    `state_of` returns the state of a scope's partition at the end of the log, once for all of its scopes.
    """

    doing = "bringing together what is alike"
    poll_s = 60.0
    failure = "Memories could not be consolidated"
    spent = "The pairs of memories that are left are judged tomorrow."

    marks: Callable[[], Mapping[str, PassMark]]
    alone: Alone
    state_of: Callable[[str], Partition]
    judge: Judge
    now_us: Callable[[], int]

    def catch_up(self) -> None:
        """Run a pass in each scope that may have one."""
        now, may = self.now_us(), dict[int, list[str]]()
        for name, mark in self.marks().items():
            if name != GLOBAL and gate(mark, now).is_open:
                may.setdefault(partition_of(name, self.log.partitions), []).append(name)
        left = sum(map(len, may.values()))
        for names in may.values():
            with suppress(Locked), self.alone():
                state = self.state_of(names[0])
                for name in names:
                    scope = state.scopes.get(name)  # The views may be behind.
                    if scope is not None and gate(scope.passes.mark(), now).is_open:
                        self._run_parts(state, name)
                    left -= 1
                    if left and self.is_over():
                        return

    def _run_parts(self, state: Partition, name: str) -> None:
        """Run the parts of a scope's pass until the last one, or until the worker's own pass is over."""
        parts = passed(self.log, state, name, self.judge, self.now_us, partial(tell_progress, self.doing))
        for part in parts:
            self.done += len(part.conclusions)
            if part.problem:
                self.note(f"Pairs of memories were not judged: {part.problem}")
            if not part.is_last and self.is_over():
                return


def passed(
    log: Log, state: Partition, name: str, judge: Judge, now_us: Callable[[], int],
    on_cluster: Callable[[int, int], None],
) -> Iterator[Passed]:  # fmt: skip
    """Consolidate a scope of a partition's state part by part, append and yield the decisions of each part.

    The state is folded on between two parts. The judge comes last. With a spent budget the pass ends, and
    raises `BudgetSpent`; if the judge gives no answer now, it raises `ModelAway` and the pass has not ended.
    """
    is_last = False
    while not is_last and not state.stale:
        scope = state.scopes[name]
        planned, conclusions = plan(scope), list[Conclusion]()
        for place, cluster in enumerate(planned.due):
            on_cluster(place, len(planned.due))
            for conclusion in conclude(cluster):
                if is_wanted(scope, conclusion):
                    append(log, events_of(scope, conclusion, now_us()))
                    conclusions.append(conclusion)
        on_cluster(len(planned.due), len(planned.due))
        is_last, problem = planned.is_last, ""
        end = _end_of(scope, planned.until, now_us(), None if is_last else UNFINISHED)
        try:
            for conclusion in judge(name) if is_last else ():
                conclusions.append(conclusion)
        except BudgetSpent:
            append(log, [end])
            raise
        except ModelAway:
            raise
        except MemtapeError as error:
            problem = f"{error} {error.hint}".rstrip()
        append(log, [end])
        yield Passed(len(planned.due), [it for it in conclusions if it.operations], problem, is_last)
        if not is_last:
            fold_until(state, log, log.ends()[state.number])


def is_wanted(scope: Scope, conclusion: Conclusion) -> bool:
    """Return whether no text that a conclusion would make again was forgotten."""
    texts = [it.text for it in conclusion.operations if it.survivor is None]
    return not any(text_row_id(text) in scope.tombstones.bans for text in texts)


def events_of(of: Scope, conclusion: Conclusion, now_us: int) -> list[Event]:
    """Return the decision of a conclusion about a scope, then the captures of its texts.

    Ids derive from the conclusion, its inputs, and the number of covers that held or ended there: two
    processes with the same decision add it once, and an ended decision can be made again.
    """
    scope = of.name
    cluster = conclusion.cluster
    captures = tuple(dict.fromkeys(id for candidate in cluster for id in candidate.captures))
    if len(captures) > MAX_IDS:  # Erasing one of the captures left out would not erase the text.
        return []
    inputs = tuple(Input(id=candidate.id, seq=candidate.seq) for candidate in cluster)
    made = conclusion.operations
    said = [(it.op, [of.id for of in it.of], it.text, it.survivor and it.survivor.id) for it in made]
    times = of.covers.count, of.passes.dropped
    key = msgspec.json.encode((inputs, said, conclusion.attempt, conclusion.problem, times)).decode()
    id = derived_id("decided", scope, "memtape", key)
    texts = [derived_id("captured", scope, "memtape", f"consolidated:{id}:{n}") for n in range(len(said))]
    operations = tuple(
        Operation(by=it.survivor.id if it.survivor else text, ids=tuple(of.id for of in it.of), op=it.op)
        for it, text in zip(made, texts, strict=True)
    )
    attempt, why = conclusion.attempt, conclusion.problem or None
    certainty = conclusion.certainty
    body = Decided(
        attempt=attempt, inputs=inputs, operations=operations, reason=why, until=None, certainty=certainty
    )
    actor = conclusion.actor or SYSTEM
    decided = make_event("decided", id, body, scope, actor, captures, now_us)
    return [decided] + [
        _made(scope, it, text, id, now_us)
        for it, text in zip(made, texts, strict=True)
        if it.survivor is None
    ]


def _made(scope: str, made: Concluded, id: str, decided: str, now_us: int) -> Event:
    """Return the capture of a text by the least trusted author of its words."""
    ours = ((CONSOLIDATED_TAG,), (STATED_TAG,), (DISTILLED_TAG,))
    # The tags that people and agents gave, each once.
    tags = dict.fromkeys(tag for it in made.of if it.tags[:1] not in ours for tag in it.tags)
    least = min(made.of, key=lambda candidate: (TRUST[candidate.origin], candidate.seq))
    actor = Actor(name=least.actor, origin=least.origin)
    given = [candidate.importance for candidate in made.of if candidate.importance is not None]
    body = Captured(
        branch=None,
        importance_given=max(given, default=None),
        kind=made.of[0].kind,
        media=(),
        part=None,
        path=None,
        source=None,
        tags=(CONSOLIDATED_TAG, *tags)[:MAX_TAGS],
        text=made.text,
    )
    at = max(candidate.at for candidate in made.of)
    captures = dict.fromkeys(id for candidate in made.of for id in candidate.captures)
    event = make_event("captured", id, body, scope, actor, (decided, *captures)[:MAX_IDS], max(now_us, at))
    return msgspec.structs.replace(event, at=at)


def _end_of(scope: Scope, until: int, now_us: int, reason: str | None = None) -> Event:
    body = Decided(attempt=1, inputs=(), operations=(), reason=reason, until=until)
    id = derived_id("decided", scope.name, "memtape", f"until:{until}")
    return make_event("decided", id, body, scope.name, SYSTEM, (), now_us)


def append(log: Log, events: list[Event]) -> None:
    """Append events, unless something that they were made of was erased meanwhile."""
    if not events:
        return
    scope = events[0].scope or ""
    erased = erasures_of(log.erased(partition_of(scope, log.partitions))).named.get(scope, {})
    if not any(ref in erased for event in events for ref in event.refs):
        append_new(log, events)
