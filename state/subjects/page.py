"""A page: its versions, edited fields and links, as stored in `pages`; and its current version."""

from __future__ import annotations

from typing import Any

import msgspec

from memtape.schemas.events import CHILD
from memtape.schemas.slugs import ROOT

ROOT_BIRTH = -1
"""The birth of the root of every scope."""
NOBODY = -1
"""No version: of a page without a living version, or of an unnamed base."""
NOWHERE = -2
"""The end of a link to a slug without a page."""


class PageStep(msgspec.Struct, frozen=True, gc=False):
    """A step of a page: the capture `seq` becomes its text, by an author who saw the version `base`."""

    seq: int
    base: int
    trust: int


class PageVersions(msgspec.Struct, frozen=True):
    """The current version of a page, its trust, and the versions beside it, earliest first."""

    current: int = NOBODY
    trust: int = 0
    beside: tuple[int, ...] = ()


class PageField(msgspec.Struct, frozen=True):
    """A field of a page set by the event `seq`, and the trust of its actor."""

    value: str | tuple[str, ...]
    trust: int
    seq: int


class Link(msgspec.Struct):
    """A link of a page with its relation: to the page of the birth `to`, or to a slug without a page."""

    relation: str
    to: int
    slug: str
    trust: int


class Page(msgspec.Struct):
    """A page. `links` are by the seqs of their events; `steps` name its versions, perhaps one twice."""

    birth: int
    id: str
    steps: list[PageStep]
    given: dict[str, PageField]
    links: dict[int, Link]
    standing: PageVersions = PageVersions()

    @property
    def slug(self) -> str:
        """The page's slug, empty if the page has no place."""
        return ROOT if self.birth == ROOT_BIRTH else str(self.told("slug", ""))

    @property
    def lives(self) -> bool:
        """Return whether it has a text, as the root needs none."""
        return self.birth == ROOT_BIRTH or self.standing.current >= 0

    @property
    def is_node(self) -> bool:
        """Return whether the page has children."""
        return any(link.relation == CHILD for link in self.links.values())

    @property
    def versions(self) -> list[int]:
        """The seqs of its captures, each once, in the order in which they became its text."""
        return list(dict.fromkeys(step.seq for step in self.steps))

    def told(self, name: str, otherwise: Any) -> Any:
        """Return a field that an edit set, else `otherwise`."""
        given = self.given.get(name)
        return otherwise if given is None else given.value


def next_standing(standing: PageVersions, step: PageStep, base: int) -> PageVersions:
    """Return the standing after a step; `base` is the seq of the version that the author saw, or `NOBODY`.

    A step with less trust than the current version goes beside it. A step based on the current version clears
    the versions beside it; a step based on an older version leaves both.
    """
    current, beside = standing.current, standing.beside
    if current == NOBODY:
        return PageVersions(step.seq, step.trust, ())
    if step.seq == current:
        if step.trust < standing.trust:
            return standing
        return PageVersions(current, step.trust, () if base == current else beside)
    beside = tuple(seq for seq in beside if seq not in (step.seq, base))
    if step.trust < standing.trust:
        return PageVersions(current, standing.trust, (*beside, step.seq))
    if base == current:
        beside = ()
    elif base != NOBODY:
        beside = (*beside, current)
    return PageVersions(step.seq, step.trust, beside)
