"""One page: its versions, what somebody gave it and where it leads, as `pages` keeps them; and which version speaks."""

from __future__ import annotations

from typing import Any

import msgspec

from memtape.schemas.events import CHILD
from memtape.schemas.slugs import ROOT

ROOT_BIRTH = -1
"""The birth of the root of every scope."""
NOBODY = -1
"""No version: of a page of which nothing lives, and of a base that nobody named."""
NOWHERE = -2
"""Where a link leads whose slug no page has."""


class Step(msgspec.Struct, frozen=True, gc=False):
    """That the capture `seq` is to be a page's text, by somebody who saw the version `base` and is trusted so far."""

    seq: int
    base: int
    trust: int


class Standing(msgspec.Struct, frozen=True):
    """Which version speaks for a page, how far it is trusted, and which stand beside it, the earliest first."""

    current: int = NOBODY
    trust: int = 0
    beside: tuple[int, ...] = ()


class Given(msgspec.Struct, frozen=True):
    """What somebody gave a page as the event `seq`, and how far that is trusted."""

    value: str | tuple[str, ...]
    trust: int
    seq: int


class Link(msgspec.Struct):
    """Where a page leads, by which relation: to the page of the birth `to`, or to one of a slug that has no page."""

    relation: str
    to: int
    slug: str
    trust: int


class Page(msgspec.Struct):
    """One page. `links` are by the seqs of the events that made them; `steps` name its versions, one perhaps twice."""

    birth: int
    id: str
    steps: list[Step]
    given: dict[str, Given]
    links: dict[int, Link]
    standing: Standing = Standing()

    @property
    def slug(self) -> str:
        """Its slug, empty where it has no place."""
        return ROOT if self.birth == ROOT_BIRTH else str(self.told("slug", ""))

    @property
    def lives(self) -> bool:
        """Whether it has a text, as the root needs none."""
        return self.birth == ROOT_BIRTH or self.standing.current >= 0

    @property
    def is_node(self) -> bool:
        """Whether anything stands below it."""
        return any(link.relation == CHILD for link in self.links.values())

    @property
    def versions(self) -> list[int]:
        """The seqs of its captures, each once, in the order in which they became its text."""
        return list(dict.fromkeys(step.seq for step in self.steps))

    def told(self, name: str, otherwise: Any) -> Any:
        """Return what somebody gave it, or something else where nobody did."""
        given = self.given.get(name)
        return otherwise if given is None else given.value


def next_standing(standing: Standing, step: Step, base: int) -> Standing:
    """Return how the versions of a page stand after one more step; `base` is the version seen, if that is one.

    What is trusted less than the current version stands beside it. Whoever saw the current version ends that others
    stand beside it; who saw another leaves both standing.
    """
    current, beside = standing.current, standing.beside
    if current == NOBODY:
        return Standing(step.seq, step.trust, ())
    if step.seq == current:
        if step.trust < standing.trust:
            return standing
        return Standing(current, step.trust, () if base == current else beside)
    beside = tuple(seq for seq in beside if seq not in (step.seq, base))
    if step.trust < standing.trust:
        return Standing(current, standing.trust, (*beside, step.seq))
    if base == current:
        beside = ()
    elif base != NOBODY:
        beside = (*beside, current)
    return Standing(step.seq, step.trust, beside)
