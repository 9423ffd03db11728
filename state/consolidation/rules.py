"""Consolidation by rule: merge restatements, and the history of one value.

The code adds ids, dates and counts; every word comes from a captured text. A doubtful cluster stays
unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from memtape.schemas.events import Actor
from memtape.schemas.times import format_day
from memtape.state.consolidation.clusters import MOST_CHARS, Candidate, Cluster, may_replace
from memtape.state.fold.near_verbatim import same_specifics
from memtape.state.text.reading import read
from memtape.state.text.replacements import replaces

MOST_PREVIOUS = 5
"""Earlier values in a line, the latest first; the inputs of the line have all of them."""
_END = ".!"


class ConcludedOperation(NamedTuple):
    """An operation on some candidates: `text` stands for them, or the candidate `survivor` does.

    Of replaced candidates the first holds the present state, and the others the past. What the survivor
    outdates or is in conflict with stays unchanged.
    """

    op: Literal["conflict", "outdate", "replace", "remove"]
    of: tuple[Candidate, ...]
    text: str = ""
    survivor: Candidate | None = None


class Conclusion(NamedTuple):
    """A conclusion about a cluster at an attempt, or the reason for none; memories without an operation stay.

    `actor` is the judge, None for the rules, and `certainty` the judge's, in ten-thousandths.
    """

    cluster: Cluster
    operations: tuple[ConcludedOperation, ...]
    attempt: int = 1
    problem: str = ""
    actor: Actor | None = None
    certainty: int | None = None


def conclude(cluster: Cluster) -> list[Conclusion]:
    """Return the conclusions of the rules about a cluster, none if all its memories stay unchanged.

    The best of several restatements, equal in specifics but not in words, covers the rest. A conclusion names
    all memories that it depends on, so that conclusions are independent.
    """
    groups: list[list[Candidate]] = []
    for candidate in cluster:
        plain = (group for group in groups if not (group[0].made or candidate.made))
        same = next((group for group in plain if same_specifics(group[0].text, candidate.text)), None)
        if same is None:
            groups.append([candidate])
        else:
            same.append(candidate)
    operations = []
    for group in groups:
        best = max(group, key=lambda candidate: candidate.rank)
        others = tuple(candidate for candidate in group if candidate is not best)
        operations += [ConcludedOperation("remove", others, survivor=best)] if others else []
    # A memory takes part in one operation of a pass only: two operations would both name it.
    operations += _timelines([group[0] for group in groups if len(group) == 1])
    conclusions = []
    for operation in operations:
        inputs = (it for it in (*operation.of, operation.survivor) if it is not None)
        conclusions.append(Conclusion(tuple(sorted(inputs, key=lambda it: it.seq)), (operation,)))
    return conclusions


def _timelines(candidates: Sequence[Candidate]) -> list[ConcludedOperation]:
    """Put the successive values of one thing into one line: the latest value, its date, the earlier values.

    An earlier value by an author with more trust than the latest value's author stays a memory: people
    decide.
    """
    facts = sorted(candidates, key=lambda it: (it.latest.at, it.seq))
    operations: list[ConcludedOperation] = []
    left = {candidate.id: candidate for candidate in candidates}
    for newest in reversed(facts):
        if newest.id not in left or newest.latest.trust < newest.trust:
            continue
        group = [newest]
        for older in reversed([it for it in facts if it.id in left and it is not newest]):
            later = (it for it in group if it.latest.at > older.latest.at and it.latest.trust >= older.trust)
            if older.trust <= newest.latest.trust and any(may_replace(older, newer) for newer in later):
                group.append(older)
        if len(group) > 1:
            operations.append(ConcludedOperation("replace", tuple(group), text=_timeline(group)))
            for candidate in group:
                del left[candidate.id]
    return operations


def _timeline(group: Sequence[Candidate]) -> str:
    """Return one line: the last text of a group's first, its date, and the earlier values or texts of all."""
    now = group[0].latest
    said = sorted({said for it in group for said in it.said}, reverse=True)
    before: dict[str, int] = {}
    since = now.at
    for at, text, _ in said:
        if any(replaces(read(text), read(later.text)) for later in said if later.at > at):
            before[text] = min(at, before.get(text, at))
        elif not before:
            since = min(since, at)  # It was said before, and nothing else since.
    replaced = {text: replaces(read(text), read(now.text)) for text in before}
    values = {text: found.older for text, found in replaced.items() if found is not None and found.older}
    if len(values) == len(before):
        told: dict[str, int] = {}
        for text, at in before.items():
            told[values[text]] = min(at, told.get(values[text], at))
        return _since(now.text, since, "previously ", told)
    return _since(now.text, since, "previously: ", {_sentence(text): at for text, at in before.items()})


def _since(now: str, since: int, word: str, before: dict[str, int]) -> str:
    items = [f"{text}, from {format_day(at)}" for text, at in before.items()][:MOST_PREVIOUS]
    while len(items) > 1 and len(now) + sum(map(len, items)) > MOST_CHARS:
        items.pop()
    return f"{_sentence(now)} (since {format_day(since)}; {word}{'; '.join(items)})"


def _sentence(text: str) -> str:
    """Return a text on one line without its final punctuation mark."""
    return " ".join(text.split()).rstrip(_END)
