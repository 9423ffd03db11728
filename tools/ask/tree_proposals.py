"""Proposed pages: list, apply or decline, each once. `state/tree/proposing.py` makes the proposals."""

from __future__ import annotations

import msgspec

from memtape.schemas.errors import NotFound
from memtape.schemas.events import Forgotten
from memtape.state.tree.proposing import Proposed, propose, proposed_id
from memtape.tools.ask.deciding import state_of
from memtape.tools.ask.tree import meant
from memtape.tools.ask.tree_writing import Written, written
from memtape.tools.capture.writing import Writer
from memtape.tools.keep.proposed_pages import apply_proposals


class TreeProposals:
    """The proposed pages of the writer's scope."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def waiting(self) -> list[Proposed]:
        """Return the unanswered proposals of pages."""
        scope = state_of(self._writer, self._writer.scope)
        return [] if scope is None else propose(scope)

    def apply(self, slugs: list[str]) -> list[Written]:
        """Write the pages of proposals, and the page below which each stands where there is none yet.

        Raises `NotFound` for a slug that is not proposed: then none is written.
        """
        named = self._named(slugs)
        scope = state_of(self._writer, self._writer.scope)
        if scope is None or not named:
            return []
        apply_proposals(self._writer, scope, named)
        now = state_of(self._writer, self._writer.scope)
        assert now is not None
        return [written(now, meant(now, it.slug)) for it in named]

    def decline(self, slugs: list[str]) -> list[str]:
        """Decline proposals for good; return the forgotten ids.

        The id of a rule's proposal is forgotten in advance: a capture under the id stays hidden. Raises as
        `apply`.
        """
        ids = [it.id or proposed_id(self._writer.scope, it.slug) for it in self._named(slugs)]
        for id in ids:
            self._writer.append("forgotten", Forgotten(ids=(id,), reason="declined as a page"), self._writer.scope)
        return ids

    def _named(self, slugs: list[str]) -> list[Proposed]:
        waiting = {it.slug: it for it in self.waiting()}
        for slug in slugs:
            if slug not in waiting:
                raise NotFound(f"No page {slug[:80]} is proposed.", "`memtape tree propose` lists those that wait.")
        return [waiting[slug] for slug in dict.fromkeys(slugs)]


def told(it: Proposed) -> dict[str, object]:
    """Return a proposal in its form for programs."""
    return {"slug": it.slug, "title": it.title, "why": it.why, "ids": msgspec.to_builtins(it.ids), "by": it.by}
