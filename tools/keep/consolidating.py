"""A pass of consolidation over one scope of a home. `flows/workers/consolidate.py` has the steps of a pass.

`state/consolidation/clusters.py` decides when a pass begins.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import NamedTuple

from memtape.flows.workers.consolidate import is_wanted, passed
from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.schemas.rows import PassMark
from memtape.schemas.scopes import GLOBAL
from memtape.sinks.home.folders import Home
from memtape.state.consolidation import rules
from memtape.state.consolidation.clusters import Gate, gate, plan
from memtape.state.consolidation.rules import Conclusion
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.judging import judge_in_pass
from memtape.tools.keep.states import partition_now

WAIT_S = 30.0


def alone(home: Home, wait_s: float = 0) -> AbstractContextManager[None]:
    """Hold the right to consolidate in a block. Raises `Locked` if another process does."""
    return home.lock("consolidation").held(wait_s)


class Consolidated(NamedTuple):
    """The result of a pass or dry run: its gate, number of clusters, decisions and problems."""

    gate: Gate
    is_done: bool
    clusters: int
    conclusions: list[Conclusion]
    problems: list[str]


def consolidate_scope(
    home: Home, log: Log, name: str, *, dry_run: bool = False, at_once: bool = False,
    on_cluster: Callable[[int, int], None] = lambda done, total: None,
) -> Consolidated:  # fmt: skip
    """Begin a pass in a scope with an open gate, or `at_once`; a dry run asks no judge and appends nothing.

    Raises `BudgetSpent` and `MemtapeError` without a judge's answer, `Locked` in another pass.
    """
    if name == GLOBAL:
        raise MemtapeError(f"{GLOBAL}, of operators, is not consolidated.", "Name a project's scope.")
    with nullcontext() if dry_run else alone(home, WAIT_S):
        state = partition_now(home, log, name)
        scope = state.scopes.get(name)
        if scope is None:
            return Consolidated(Gate(False, "nothing was said in it"), False, 0, [], [])
        opened = gate(scope.passes.mark(), now_us())
        if dry_run:
            due = plan(scope).due
            concluded = [conclusion for cluster in due for conclusion in rules.conclude(cluster)]
            concluded = [conclusion for conclusion in concluded if is_wanted(scope, conclusion)]
            return Consolidated(opened, False, len(due), concluded, [])
        if not (opened.is_open or at_once):
            return Consolidated(opened, False, 0, [], [])
        parts = list(passed(log, state, name, partial(judge_in_pass, home, log), now_us, on_cluster))
    clusters = sum(part.clusters for part in parts)
    conclusions = [conclusion for part in parts for conclusion in part.conclusions]
    problems = [part.problem for part in parts if part.problem]
    return Consolidated(opened, True, clusters, conclusions, problems)


def marks_of(home: Home, log: Log) -> dict[str, PassMark]:
    """Return how consolidation goes in each scope, as far as the views know."""
    marks = BuildViews(home, log).watermarks
    return {name: passed for mark in marks if mark is not None for name, passed in mark.passes.items()}
