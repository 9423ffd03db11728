"""Decisions of people and agents on memories: the ids that a decision names, and its event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal

import msgspec

from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import (
    CONSOLIDATED_TAG,
    DISTILLED_TAG,
    REPOSITORY_TAG,
    STATED_TAG,
    Body,
    Captured,
    Forgotten,
    Linked,
    Pinned,
    Restored,
    Settled,
    Unfolded,
    Used,
)
from memtape.schemas.log import Log
from memtape.schemas.scopes import GLOBAL, partition_of, scopes_read
from memtape.schemas.variables import PROD
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.logs.memory import MemoryLog
from memtape.tools import ask
from memtape.tools.ask.asking import Asking
from memtape.tools.ask.naming import begun_by, folded, is_whole, state_of
from memtape.tools.capture.lines import check_label
from memtape.tools.capture.profiles import check_storing
from memtape.tools.capture.writing import Receipt, Writer, check_person

if TYPE_CHECKING:
    from memtape.state.core.scope import Scope
    from memtape.state.subjects.conflicts import ConflictState
    from memtape.state.subjects.memories import Memory
    from memtape.state.views.proposals import Proposal
    from memtape.tools.ask.archived import ArchivedNow, Why


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


class Deciding(Asking):
    """A client that decides: it forgets, restores, links, settles and answers. Ids are resolved in the folded state."""

    def use(self, ids: Sequence[str], recall: str | None = None) -> Receipt:
        """Record recalled ids that shaped an answer, and the recall (`Answer.recall_id`); return the receipt.

        The use of a memory of `global` is recorded and counts in this scope alone; that of another scope's
        memory in its own scope. Raises `NotFound` for an unknown id, and `MemtapeError` for no ids and for
        those of several scopes.
        """
        if not ids:
            raise MemtapeError("No id was named.", "Name the ids of results that shaped the answer.")
        if recall is not None and not is_whole(recall):
            _, recall = self._ids.meant(recall, ("recalled",))
        check_storing(self.home.path, lambda: self.scope)
        stands = dict(self._ids.within(id, self._place) for id in dict.fromkeys(ids))
        scope = _the_one(self.scope if scope == GLOBAL else scope for scope in stands.values())
        used = Used(ids=tuple(stands), recall=recall)
        return self.append("used", used, self.made_scope() if scope == self.scope else scope)

    def hidden_among(self, scope: str, texts: Mapping[str, str]) -> list[str]:
        """Return which captures of a scope are hidden, by id with their texts, so far as the views tell."""

        with suppress(MemtapeError):  # The captures are on the log, whether or not the views can be read.
            if ids := may_be_hidden(self.log, scope, texts):
                hidden = ask.retrieval.is_hidden
                return self.reader.held(
                    lambda views: [id for id in ids if hidden(self.log, views.found(scope)[0], scope, id)]
                )
        return []

    def forget(self, id: str, *, only: bool = False, reason: str | None = None) -> list[str]:
        """Hide a memory (with all its captures) or a turn until restored; return the named ids.

        With `only` just one capture is named; for a long-term kind its text stays banned all the same. A
        person's new capture of the text ends the ban. Raises `NotFound`.
        """
        check_label("reason", reason)
        return self._decide("forgotten", id, Forgotten(ids=(), reason=reason), only=only)

    def restore(self, id: str, *, reason: str | None = None) -> RestoredIds:
        """Restore a memory or turn and return the named ids. Raises `NotFound`.

        `was_hidden` of the result is false where nothing was hidden.
        """
        from memtape.state.views.resolution import named_by_decision

        check_label("reason", reason)
        id, scope = self._ids.within(id, self._folded)
        restored = RestoredIds(named_by_decision(scope, id, False))
        restored.was_hidden = any(capture.hidden for capture in map(scope.captures.get, restored) if capture)
        self._say("restored", scope, tuple(restored), Restored(ids=(), reason=reason))
        return restored

    def pin(self, id: str) -> list[str]:
        """Pin a memory or turn regardless of its age; return the named ids."""
        return self._decide("pinned", id, Pinned(ids=(), on=True), only=True)

    def unpin(self, id: str) -> list[str]:
        """End the pins on every capture that is a memory, or on a turn; return the ids that were named."""
        return self._decide("pinned", id, Pinned(ids=(), on=False))

    def archive(self, ids: Sequence[str], *, reason: str | None = None) -> ArchivedNow:
        """Archive memories and turns with all their captures; return the changed and the unchanged units.

        Raises `NotFound`, and `MemtapeError` where any is pinned or hidden: then none is archived.
        """
        return ask.archived.archive(self, self._ids, ids, reason)

    def unarchive(
        self, ids: Sequence[str] = (), *, all_of: Why | None = None, reason: str | None = None
    ) -> ArchivedNow:
        """Bring back memories and turns, purged ones too, or all of the scope archived for a reason.

        Raises `NotFound`, and `MemtapeError` for texts archived with their project: `projects.resume` brings
        them back.
        """
        return ask.archived.unarchive(self, self._ids, ids, all_of, reason)

    def say_holds(self, id: str, *, undo: bool = False) -> list[str]:
        """State that a memory is valid, against any rule; with `undo` withdraw the statement.

        Returns the named ids. Raises `NotFound`, and `MemtapeError` for ids of no memory.
        """
        return self._link(id, "holds", undo=undo)

    def say_replaced(self, id: str, by: str) -> list[str]:
        """State that another memory replaced a memory, and return the named id.

        Raises `NotFound`, and `MemtapeError` for ids of no memory, or where a weaker source would end a
        stronger one.
        """
        return self._link(id, "replaced_by", by)

    def update(self, id: str, text: str) -> Updated:
        """Capture a text in place of a memory, of the memory's kind, and append that it replaced the memory.

        Raises `NotFound`, and `MemtapeError` for ids of no memory, or where a weaker source would end a
        stronger one: nothing is captured then.
        """
        id, scope = self._ids.within(id, self._folded)
        memory = _memory(scope, id)
        self._check_trust(id, scope, memory)
        spoken = scope.captures.by_seq[max(memory.canonical, memory.birth)]
        said = scope.captures.body(spoken)
        tags = _own_tags(said.tags)
        receipt = self.capture(text, said.kind, tags=tags, source=said.source, scope=scope.name)
        # It may say the same in other words: then it speaks for the memory, and nothing was replaced.
        state = state_of(self, scope.name)
        is_same = state is not None and state.memory_of(id) is state.memory_of(receipt.id)
        if not is_same:
            self.append("linked", Linked(id=id, on=True, relation="replaced_by", slug=None, to=receipt.id), scope.name)
        return Updated(
            id=receipt.id,
            scope=scope.name,
            replaced=None if is_same else id,
            redacted=dict(receipt.redacted),
            profile=receipt.profile,
            hidden=receipt.hidden,
        )

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

    def unfold(self, id: str, *, only: bool = False) -> list[str]:
        """Split a memory for good: each capture becomes its own memory, with `only` just this capture.

        Returns the named ids. Raises `NotFound`, and `MemtapeError` where nothing was folded.
        """
        from memtape.state.views.resolution import named_by_unfolding

        id, scope = self._ids.within(id, self._folded)
        named = named_by_unfolding(scope, id, only)
        if not named:
            raise MemtapeError(f"Nothing is folded into {id}.", "`memtape show --why` shows what a memory is made of.")
        return self._say("unfolded", scope, named, Unfolded(ids=()))

    def one_scope(self, ids: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Return the one scope in which captures or recalls stand, and their whole ids; raise as `use` does."""
        known = self._ids
        found = [known.meant(id, () if is_whole(id) else ("captured", "recalled")) for id in dict.fromkeys(ids)]
        return _the_one(scope for scope, _ in found), tuple(id for _, id in found)

    def _decide(self, type: str, id: str, body: Body, *, only: bool = False) -> list[str]:
        """Append an event with a body and the ids of every capture of the memory; return the ids.

        With `only` the event names just the given capture. Raises `NotFound`.
        """
        from memtape.state.views.resolution import named_by_decision

        id, scope = self._ids.within(id, self._folded)
        return self._say(type, scope, named_by_decision(scope, id, only), body)

    def _link(
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
                raise MemtapeError(f"{to} was itself replaced by {id}.", f"`memtape update --holds {to}` ends that.")
            if _memory(other, to).birth == memory.birth:
                raise MemtapeError(f"{id} and {to} are one memory.", "`memtape update --unfold` splits one.")
        ids = [scope.captures.by_seq[join.seq].id for join in memory.joins]
        named = [it for it in ids if it in scope.validity.said] if undo else [id]
        for it in named:
            said = scope.validity.said.get(it)
            body = Linked(id=it, on=not undo, relation=relation, slug=None, to=to)
            if undo and said is not None:
                body = Linked(id=it, on=False, relation=said.relation, slug=None, to=said.to)
            self.append("linked", body, scope.name)
        if not named:
            raise MemtapeError(f"Nothing was said of {id}.", "`memtape show --why` shows what is known of it.")
        return named

    def _check_trust(self, id: str, scope: Scope, memory: Memory) -> None:
        """Raise `MemtapeError` for a speaker less trusted than the author of a memory."""
        from memtape.state.subjects.captures import TRUST

        trusted = scope.captures.by_seq[max(memory.canonical, memory.birth)].actor.origin
        if TRUST[self.actor.origin] < TRUST[trusted]:
            raise MemtapeError(
                f"{id} was said by {trusted}, who is trusted more than {self.actor.origin}.",
                f"Say it with --origin {trusted}, if you may speak for that.",
            )

    def _conflict(self, given: str) -> tuple[Scope, ConflictState]:
        """Return the scope and the conflict of an id or its beginning, from this scope and `global`."""
        states = [state for name in scopes_read(self.scope) if (state := state_of(self, name)) is not None]
        listed = [(state, conflict) for state in states for conflict in state.conflicts.by_id.values()]
        number = begun_by(given, ((it[1].id, number) for number, it in enumerate(listed)))
        if number is None:
            raise NotFound(f"{self.scope} has no conflict {given[:60]}.", "`memtape settle --all` shows their ids.")
        return listed[number]

    def _folded(self, scope: str, id: str) -> tuple[str, Scope]:
        return folded(self, scope, id, partial(state_of, self))

    def _place(self, scope: str, id: str) -> tuple[str, str]:
        """Return a readable whole id and its scope."""
        return id, self.reader.read(lambda views: views.find(scope, id), scope).scope or scope

    def _say(self, type: str, scope: Scope, named: tuple[str, ...], body: Body) -> list[str]:
        self.append(type, msgspec.structs.replace(body, ids=named), scope.name)
        return list(named)


def _own_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags without those about the origin of a text, which do not apply to another text."""
    return () if tags and tags[0] in (STATED_TAG, DISTILLED_TAG, CONSOLIDATED_TAG, REPOSITORY_TAG) else tuple(tags)


def _the_one(scopes: Iterable[str]) -> str:
    """Return the only scope of some; raise `MemtapeError` for several."""
    found = dict.fromkeys(scopes)
    if len(found) > 1:
        raise MemtapeError(f"The ids are of {' and '.join(found)}.", "Name those of one scope at a time.")
    return next(iter(found))


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


MOST_READ = 200
"""Where more was forgotten than so many captures, reading them all costs more than to ask the views."""


def may_be_hidden(log: Log, scope: str, texts: Mapping[str, str]) -> list[str]:
    """Return which captures of a scope a tombstone may hide; `texts` has the text of each by its id."""
    from memtape.state.text.normal import normal_text

    if not isinstance(log, (EmbeddedLog, MemoryLog)):  # A topic would be read from its beginning; its ids are kept.
        return list(texts) if log.matching("", [scope], ["forgotten"], 1) else []
    partition = partition_of(scope, log.partitions)
    events = [event_of(it.payload) for it in log.read(partition, 0, MOST_READ, scope=scope, types=("forgotten",))]
    bodies = (event.body for event in events if event is not None)
    ids = dict.fromkeys(id for body in bodies if isinstance(body, Forgotten) for id in body.ids)
    if max(len(events), len(ids)) >= MOST_READ:
        return list(texts)
    said: dict[str, None] = {}
    for offset in log.known(scope, list(ids)).values() if ids else ():
        event = event_of(log.read(partition, offset, 1)[0].payload)
        if event is not None and isinstance(event.body, Captured):
            said[normal_text(event.body.text)] = None
    return [id for id, text in texts.items() if id in ids or (said and normal_text(text) in said)]
