"""Decisions of people and agents on memories: the ids that a decision names, and its event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import (
    CONSOLIDATED_TAG,
    DISTILLED_TAG,
    REPOSITORY_TAG,
    STATED_TAG,
    Body,
    Forgotten,
    Linked,
    Restored,
    Settled,
    Unfolded,
    Used,
)
from memtape.schemas.scopes import GLOBAL, partition_of, scopes_read
from memtape.schemas.variables import PROD
from memtape.state.core.erasures import erasures_of
from memtape.state.subjects.captures import TRUST
from memtape.tools.ask.naming import LEAST_CHARS, Ids, erased_for_good, is_whole, nowhere, the_one
from memtape.tools.capture.lines import check_label
from memtape.tools.capture.pausing import check_storing
from memtape.tools.capture.writing import Receipt, Writer, check_person

if TYPE_CHECKING:  # Whoever says that memories were of use folds nothing, and need not hold the fold.
    from memtape.state.core.scope import Scope
    from memtape.state.subjects.conflicts import ConflictState
    from memtape.state.subjects.memories import Memory
    from memtape.tools.ask.reading import Reader

MakeBody = Callable[[tuple[str, ...]], Body]
"""Makes the body of an event from the ids that it names."""


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a conflict: the kept texts, and the replaced text, None where both are kept."""

    id: str
    scope: str
    kept: tuple[str, ...]
    replaced: str | None


class Updated(msgspec.Struct, frozen=True, kw_only=True):
    """A text that replaced a memory: its id, and the id of the `replaced` memory.

    `replaced` is None where the text repeats the memory in other words, and becomes a further wording of it.
    `redacted` counts the removed secrets by kind; `profile` is the profile in effect. A `hidden` text was
    forgotten, and replaces nothing until restored.
    """

    id: str
    scope: str
    replaced: str | None
    redacted: dict[str, int] = {}
    profile: str = PROD
    hidden: bool = False


class RestoredIds(list[str]):
    """The ids of a restoration; `was_hidden` says whether any id was hidden, and the restoration changed
    anything.
    """

    was_hidden: bool = True

    @property
    def note(self) -> str:
        """The message where nothing was hidden."""
        return "" if self.was_hidden else " None of that was hidden: it was not forgotten, or is shown again already."


class Deciding:
    """The decisions of a writer in one scope. Ids are resolved in the folded state, not in views.

    `reader` opens the reader of views, which takes a second; only `use` needs it.
    """

    def __init__(self, writer: Writer, ids: Ids, reader: Callable[[], Reader]) -> None:
        self._writer = writer
        self._ids = ids
        self._reader = reader

    def forget(self, id: str, only: bool, reason: str | None) -> list[str]:
        """Append that a memory or turn is hidden; return the named ids."""
        check_label("reason", reason)
        return self.decide("forgotten", id, lambda ids: Forgotten(ids=ids, reason=reason), only=only)

    def restore(self, id: str, reason: str | None) -> RestoredIds:
        """Append that a memory or turn is shown again; return the named ids."""
        from memtape.state.views.resolution import named_by_decision

        check_label("reason", reason)
        id, scope = self._ids.within(id, self._folded)
        restored = RestoredIds(named_by_decision(scope, id, False))
        restored.was_hidden = any(capture.hidden for capture in map(scope.captures.get, restored) if capture)
        self._say("restored", scope, tuple(restored), lambda ids: Restored(ids=ids, reason=reason))
        return restored

    def decide(self, type: str, id: str, make_body: MakeBody, *, only: bool = False) -> list[str]:
        """Append an event of a type with the ids of every capture of the memory; return the ids.

        With `only` the event names just the given capture. Raises `NotFound`.
        """
        from memtape.state.views.resolution import named_by_decision

        id, scope = self._ids.within(id, self._folded)
        return self._say(type, scope, named_by_decision(scope, id, only), make_body)

    def unfold(self, id: str, only: bool) -> list[str]:
        """Append that a memory is split, wholly or with `only` by one of its captures; return the named ids.

        Raises `NotFound`, and `MemtapeError` where nothing was folded.
        """
        from memtape.state.views.resolution import named_by_unfolding

        id, scope = self._ids.within(id, self._folded)
        named = named_by_unfolding(scope, id, only)
        if not named:
            raise MemtapeError(f"Nothing is folded into {id}.", "`memtape why` shows what a memory is made of.")
        return self._say("unfolded", scope, named, lambda ids: Unfolded(ids=ids))

    def link(
        self, id: str, relation: Literal["holds", "replaced_by"], to: str | None = None, *, undo: bool = False
    ) -> list[str]:
        """Append a statement about a memory, or with `undo` its withdrawal; return the named ids.

        Raises `NotFound`, and `MemtapeError` for ids of no memory, and for a speaker less trusted than the
        memory's author.
        """
        id, scope = self._ids.within(id, self._folded)
        memory = _memory(scope, id)
        self._check_trust(id, scope, memory)
        if to is not None:
            to, other = self._ids.within(to, self._folded)
            if other.name != scope.name:
                raise MemtapeError(f"{id} and {to} stand in different scopes.", "Name memories of one scope.")
            if memory in _successors(scope, _memory(other, to)):
                raise MemtapeError(f"{to} was itself replaced by {id}.", f"`memtape holds {to}` ends that.")
            if _memory(other, to).birth == memory.birth:
                raise MemtapeError(f"{id} and {to} are one memory.", "`memtape unfold` splits one.")
        ids = [scope.captures.by_seq[join.seq].id for join in memory.joins]
        named = [it for it in ids if it in scope.validity.said] if undo else [id]
        for it in named:
            said = scope.validity.said.get(it)
            body = Linked(id=it, on=not undo, relation=relation, slug=None, to=to)
            if undo and said is not None:
                body = Linked(id=it, on=False, relation=said.relation, slug=None, to=said.to)
            self._writer.append("linked", body, scope.name)
        if not named:
            raise MemtapeError(f"Nothing was said of {id}.", "`memtape why` shows what is known of it.")
        return named

    def update(self, id: str, text: str) -> Updated:
        """Append a text in place of a memory, as `Client.update`."""
        id, scope = self._ids.within(id, self._folded)
        memory = _memory(scope, id)
        self._check_trust(id, scope, memory)
        spoken = scope.captures.by_seq[max(memory.canonical, memory.birth)]
        said = scope.captures.body(spoken)
        tags = _own_tags(said.tags)
        receipt = self._writer.capture(text, said.kind, tags=tags, source=said.source, scope=scope.name)
        # It may say the same in other words: then it speaks for the memory, and nothing was replaced.
        state = self._state(scope.name)
        is_same = state is not None and state.memory_of(id) is state.memory_of(receipt.id)
        if not is_same:
            self._writer.append(
                "linked", Linked(id=id, on=True, relation="replaced_by", slug=None, to=receipt.id), scope.name
            )
        return Updated(
            id=receipt.id,
            scope=scope.name,
            replaced=None if is_same else id,
            redacted=dict(receipt.redacted),
            profile=receipt.profile,
            hidden=receipt.hidden,
        )

    def _check_trust(self, id: str, scope: Scope, memory: Memory) -> None:
        """Raise `MemtapeError` for a speaker less trusted than the author of a memory."""
        trusted = scope.captures.by_seq[max(memory.canonical, memory.birth)].actor.origin
        if TRUST[self._writer.actor.origin] < TRUST[trusted]:
            raise MemtapeError(
                f"{id} was said by {trusted}, who is trusted more than {self._writer.actor.origin}.",
                f"Say it with --origin {trusted}, if you may speak for that.",
            )

    def settle(self, id: str, keep: Literal["A", "B", "both"], note: str | None) -> Settlement:
        """Append the kept side of a conflict; return the outcome, as `Client.settle`."""
        check_label("note", note)
        origin = self._writer.actor.origin
        then = "The user can run `memtape settle`; who is a person says --origin user."
        check_person(origin, "settle a conflict", then)
        scope, conflict = self._conflict(id)
        if scope.name == GLOBAL and origin != "operator":
            raise MemtapeError(f"{conflict.id} belongs to global.", "Settle it with --origin operator.")
        one, other = (scope.memory_of(side) for side in conflict.ids)
        if one is None or other is None or one is other or one.canonical < 0 or other.canonical < 0:
            raise MemtapeError(f"A side of {conflict.id} is no longer shown.", "Nothing needs to be settled.")
        texts = [scope.captures.body(scope.captures.by_seq[side.canonical]).text for side in (one, other)]
        kept = {"A": (0,), "B": (1,), "both": (0, 1)}[keep]
        body = Settled(ids=conflict.ids, keep=tuple(conflict.ids[n] for n in kept), note=note or None)
        # Where a side is erased, so is what was noted of it.
        self._writer.append("settled", body, scope.name, refs=conflict.ids)
        replaced = None if len(kept) == 2 else texts[1 - kept[0]]
        return Settlement(id=conflict.id, scope=scope.name, kept=tuple(texts[n] for n in kept), replaced=replaced)

    def _conflict(self, given: str) -> tuple[Scope, ConflictState]:
        """Return the scope and the conflict of an id or its beginning, from this scope and `global`."""
        states = [state for name in scopes_read(self._writer.scope) if (state := self._state(name)) is not None]
        listed = [(state, conflict) for state in states for conflict in state.conflicts.by_id.values()]
        found = [it for it in listed if len(given) >= LEAST_CHARS and it[1].id.startswith(given)]
        if not found:
            raise NotFound(
                f"{self._writer.scope} has no conflict {given[:60]}.", "`memtape conflicts --all` shows their ids."
            )
        if len(found) > 1:
            raise MemtapeError(f"{given} is the beginning of several ids.", "Give more of the one that is meant.")
        return found[0]

    def _state(self, name: str) -> Scope | None:
        return state_of(self._writer, name)

    def _folded(self, scope: str, id: str) -> tuple[str, Scope]:
        return folded(self._writer, scope, id, self._state)

    def use(self, given: Sequence[str], recall: str | None) -> Receipt:
        """Append that recalled ids shaped an answer, where they stand, and return the receipt, as `Client.use` says."""
        if not given:
            raise MemtapeError("No id was named.", "Name the ids of results that shaped the answer.")
        if recall is not None and not is_whole(recall):
            _, recall = self._ids.meant(recall, ("recalled",))
        check_storing(self._writer.home.path, lambda: self._writer.scope)
        writer, stands = self._writer, dict(self._ids.within(id, self._place) for id in dict.fromkeys(given))
        scope = the_one(writer.scope if scope == GLOBAL else scope for scope in stands.values())
        used = Used(ids=tuple(stands), recall=recall)
        return writer.append("used", used, writer.made_scope() if scope == writer.scope else scope)

    def _place(self, scope: str, id: str) -> tuple[str, str]:
        """Return a readable whole id and its scope."""
        return id, self._reader().read(lambda views: views.find(scope, id), scope).scope or scope

    def _say(self, type: str, scope: Scope, named: tuple[str, ...], make_body: MakeBody) -> list[str]:
        self._writer.append(type, make_body(named), scope.name)
        return list(named)


def state_of(writer: Writer, name: str) -> Scope | None:
    """Return the state of a scope at the end of the log."""
    from memtape.tools.keep.states import scope_now

    return scope_now(writer.home, writer.log, name)


def folded(writer: Writer, scope: str, id: str, state: Callable[[str], Scope | None]) -> tuple[str, Scope]:
    """Return a whole id, and the state of the scope that it stands in, of those read in a scope. Raises `NotFound`.

    `state` gives the state of a scope at the end of the log.
    """
    log = writer.log
    for name in scopes_read(scope):
        if id in erasures_of(log.erased(partition_of(name, log.partitions))).named.get(name, {}):
            raise erased_for_good(id)
        if log.known(name, [id]):
            found = state(name)
            if found is not None and found.captures.get(id) is not None:
                return id, found
    raise nowhere(scope, id)


def _own_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags without those about the origin of a text, which do not apply to another text."""
    return () if tags and tags[0] in (STATED_TAG, DISTILLED_TAG, CONSOLIDATED_TAG, REPOSITORY_TAG) else tuple(tags)


def _memory(scope: Scope, id: str) -> Memory:
    memory = scope.memory_of(id)
    if memory is None or memory.made:
        raise MemtapeError(f"{id} is no memory of one thing.", "Facts, goals, plans and the like hold or are replaced.")
    return memory


def _successors(scope: Scope, memory: Memory) -> list[Memory]:
    """Return the chain of memories that replaced a memory, oldest first."""
    from memtape.state.subjects import validity

    found: list[Memory] = []
    while (after := validity.successor(scope, found[-1] if found else memory)) is not None and after not in found:
        found.append(after)
    return found
