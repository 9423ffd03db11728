"""Decisions of people and agents on memories: the ids that a decision names, and its event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import (
    Settled,
)
from memtape.schemas.scopes import GLOBAL, scopes_read
from memtape.tools import ask
from memtape.tools.ask.asking import Asking
from memtape.tools.ask.naming import begun_by, is_whole, state_of
from memtape.tools.capture.lines import check_label
from memtape.tools.capture.writing import Writer, check_person

if TYPE_CHECKING:
    from memtape.state.core.scope import Scope
    from memtape.state.subjects.conflicts import ConflictState
    from memtape.state.views.proposals import Proposal
    from memtape.tools.ask.archived import ArchivedNow, Why


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a conflict: the kept texts, and the replaced text, None where both are kept."""

    id: str
    scope: str
    kept: tuple[str, ...]
    replaced: str | None


class Deciding(Asking):
    """A client that decides: it forgets, restores, links, settles and answers. Ids are resolved in the folded state."""

    def archive(self, ids: Sequence[str], *, reason: str | None = None) -> ArchivedNow:
        """Archive memories and turns with all their captures; return the changed and the unchanged units.

        Raises `NotFound`, and `MemtapeError` where any is pinned or hidden: then none is archived.
        """
        return ask.archived.archive(self, self.ids, ids, reason)

    def unarchive(
        self, ids: Sequence[str] = (), *, all_of: Why | None = None, reason: str | None = None
    ) -> ArchivedNow:
        """Bring back memories and turns, purged ones too, or all of the scope archived for a reason.

        Raises `NotFound`, and `MemtapeError` for texts archived with their project: `projects.resume` brings
        them back.
        """
        return ask.archived.unarchive(self, self.ids, ids, all_of, reason)

    def settle(self, conflict: str, keep: Literal["A", "B", "both"], *, note: str | None = None) -> Settlement:
        """Settle a conflict from `conflicts` in favour of a side, and return the outcome.

        Raises `NotFound`, and `MemtapeError` for anyone but a person, or where a side is no longer shown.
        """
        check_label("note", note)
        origin = self.actor.origin
        then = "The user can run `memtape settle`; who is a person says --origin user."
        check_person(origin, "settle a conflict", then)
        scope, it = self._conflict(conflict)
        if scope.name == GLOBAL and origin != "operator":
            raise MemtapeError(f"{it.id} belongs to global.", "Settle it with --origin operator.")
        one, other = (scope.memory_of(side) for side in it.ids)
        if one is None or other is None or one is other or one.canonical < 0 or other.canonical < 0:
            raise MemtapeError(f"A side of {it.id} is no longer shown.", "Nothing needs to be settled.")
        texts = [scope.captures.body(scope.captures.by_seq[side.canonical]).text for side in (one, other)]
        kept = {"A": (0,), "B": (1,), "both": (0, 1)}[keep]
        body = Settled(ids=it.ids, keep=tuple(it.ids[n] for n in kept), note=note or None)
        # Where a side is erased, so is what was noted of it.
        self.append("settled", body, scope.name, refs=it.ids)
        replaced = None if len(kept) == 2 else texts[1 - kept[0]]
        return Settlement(id=it.id, scope=scope.name, kept=tuple(texts[n] for n in kept), replaced=replaced)

    def accept(self, id: str) -> Proposal:
        """Accept a proposed rule, with its words, into its target scope; return the rule.

        Raises `NotFound`, and `MemtapeError` for a writer who is no person.
        """
        return self._answer(id, declined=False)

    def decline(self, id: str) -> Proposal:
        """Decline a proposed rule; return the rule. Raises as `accept`."""
        return self._answer(id, declined=True)

    def _answer(self, id: str, *, declined: bool) -> Proposal:

        then = "The user can run `memtape settle --accept`; who is a person says --origin user."
        check_person(self.actor.origin, "answer a rule that waits", then)
        rule, before = ask.conflicts.meant(self.proposals(), id)
        writer = Writer(
            self.home,
            self.log,
            scope=rule.into,
            actor=self.actor.name,
            origin="operator" if rule.into == GLOBAL else self.actor.origin,
            session=self.session,
            profile=self.profile.name,
        )
        (ask.conflicts.decline if declined else ask.conflicts.accept)(writer, rule, before)
        return rule

    def one_scope(self, ids: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Return the one scope in which captures or recalls stand, and their whole ids; raise as `use` does."""
        known = self.ids
        found = [known.meant(id, () if is_whole(id) else ("captured", "recalled")) for id in dict.fromkeys(ids)]
        return _the_one(scope for scope, _ in found), tuple(id for _, id in found)

    def _conflict(self, given: str) -> tuple[Scope, ConflictState]:
        """Return the scope and the conflict of an id or its beginning, from this scope and `global`."""
        states = [state for name in scopes_read(self.scope) if (state := state_of(self, name)) is not None]
        listed = [(state, conflict) for state in states for conflict in state.conflicts.by_id.values()]
        number = begun_by(given, ((it[1].id, number) for number, it in enumerate(listed)))
        if number is None:
            raise NotFound(f"{self.scope} has no conflict {given[:60]}.", "`memtape settle --all` shows their ids.")
        return listed[number]


def _the_one(scopes: Iterable[str]) -> str:
    """Return the only scope of some; raise `MemtapeError` for several."""
    found = dict.fromkeys(scopes)
    if len(found) > 1:
        raise MemtapeError(f"The ids are of {' and '.join(found)}.", "Name those of one scope at a time.")
    return next(iter(found))
