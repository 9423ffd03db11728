"""The summaries that a model may rewrite: summaries changed since a model's last text, latest first."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from memtape.schemas.events import MAX_IDS
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import whole_text
from memtape.state.subjects.lifecycle import Summary, sources_of

MOST = 5
"""Summaries written in one pass. The limit keeps a year's summaries from one pass."""
LEAST_SOURCES = 3


class Untold(NamedTuple):
    """A summary as it is now: the number of its changes, and the ids and texts of its sources, in order."""

    id: str
    changes: int
    sources: tuple[str, ...]
    texts: tuple[str, ...]


def untold(scope: Scope, given_up: Container[tuple[str, int]]) -> list[Untold]:
    """Return the summaries of a scope for a model to write.

    Left out are `given_up` ones, by id and changes, and those with more sources than an event can name:
    neither blocks an older summary.
    """
    summaries = sorted(scope.lifecycle.summaries.values(), key=lambda summary: summary.group, reverse=True)
    found = list[Untold]()
    for summary in summaries:
        is_due = summary.told < 0 and not summary.awaited and (summary.id, summary.changes) not in given_up
        if len(found) < MOST and is_due:
            made = _untold(scope, summary)
            found += [made] if LEAST_SOURCES <= len(made.sources) < MAX_IDS else []
    return found


def _untold(scope: Scope, summary: Summary) -> Untold:
    spoken = sorted(sources_of(scope, summary), key=lambda capture: (capture.at, capture.seq))
    texts = tuple(whole_text(scope.captures.body(capture)) for capture in spoken)
    return Untold(summary.id, summary.changes, tuple(capture.id for capture in spoken), texts)
