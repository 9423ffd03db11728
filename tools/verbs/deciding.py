"""Decisions about memories: forget, restore, pin, update, and what holds or replaced another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import (
    CONSOLIDATED_TAG,
    DISTILLED_TAG,
    REPOSITORY_TAG,
    STATED_TAG,
    Body,
    Forgotten,
    Linked,
    Pinned,
    Restored,
    Unfolded,
)
from memtape.schemas.times import format_day
from memtape.schemas.variables import PROD
from memtape.schemas.visible import many, one_line
from memtape.tools.capture.lines import check_label
from memtape.tools.query.plan import state_of
from memtape.tools.verb import Asks, Effect, Id, Limit, Offer, Reason, Verb, rare, said
from memtape.tools.verbs.lines import capture_notes

if TYPE_CHECKING:
    from memtape.schemas.rows import MemoryRow, TurnRow
    from memtape.state.core.scope import Scope
    from memtape.state.subjects.memories import Memory
    from memtape.tools.world import World

SHOWN_CHARS = 120


class DecidedIds(msgspec.Struct, frozen=True, omit_defaults=True):
    """The ids that a decision named. `was_hidden` is false where nothing restored had been hidden."""

    ids: tuple[str, ...]
    was_hidden: bool = True


class ReplacedMemory(msgspec.Struct, frozen=True, kw_only=True):
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


def forget(
    world: World,
    id: Id,
    reason: Reason = None,
    only: Annotated[bool, rare("Name this one capture, not every capture that is the same memory.")] = False,
) -> DecidedIds:
    """Hide a memory or turn, until it is restored. The log keeps it.

        memtape forget 019ab0c4-9a3c-7000-8000-0123456789ab
        memtape forget --list

    Every capture that is the same memory is hidden, and of facts and the like the same text stays hidden when
    it is captured again, until a person says it.

    Returns the named ids. With `only` the text of a long-term kind stays banned all the same. Raises
    `NotFound`.
    """
    check_label("reason", reason)
    return _decide(world, "forgotten", id, Forgotten(ids=(), reason=reason), only=only)


def hidden(world: World, limit: Limit = 100) -> list[MemoryRow | TurnRow]:
    """List what is hidden instead: forgotten, or withdrawn.

        memtape forget --list

    Returns what can be restored, of this scope and of `global`.
    """
    from memtape.tools.query.looking import hidden_of

    return world.read(lambda views, scope: hidden_of(views, scope, limit))


def restore(world: World, id: Id, reason: Reason = None) -> DecidedIds:
    """Show again what was forgotten.

        memtape restore 019ab0c4-9a3c-7000-8000-0123456789ab

    Returns the named ids; `was_hidden` is false where nothing was hidden. Raises `NotFound`.
    """
    from memtape.state.views.resolution import named_by_decision

    check_label("reason", reason)
    id, scope = world.folded(id)
    ids = named_by_decision(scope, id, False)
    was_hidden = any(capture.hidden for capture in map(scope.captures.get, ids) if capture)
    _say(world, "restored", scope, ids, Restored(ids=(), reason=reason))
    return DecidedIds(ids, was_hidden)


def pin(world: World, id: Id) -> DecidedIds:
    """Pin a memory or turn: it stays at hand whatever its age, and is marked.

        memtape pin 019ab0c4-9a3c-7000-8000-0123456789ab
        memtape pin 019ab0c4 --undo

    Returns the named ids.
    """
    return _decide(world, "pinned", id, Pinned(ids=(), on=True), only=True)


def unpin(world: World, id: Id) -> DecidedIds:
    """End the pins on it.

        memtape pin 019ab0c4 --undo

    Returns the named ids: every capture of the memory.
    """
    return _decide(world, "pinned", id, Pinned(ids=(), on=False))


def update(world: World, id: Id, text: Annotated[str, Meta(description="What is so now.")]) -> ReplacedMemory:
    """Replace a memory by a new text, or by another memory, or say that it holds.

        memtape update 019ab0c4-9a3c-7000-8000-0123456789ab "The staging database listens on port 5434."
        memtape update 019ab0c4 --by 019ab0c4-f4e8-7000-8000-0123456789ab
        memtape update 019ab0c4 --holds

    A new TEXT is captured, and the memory is kept as the earlier value. Only a source with at least the trust
    of the memory's source can replace it. A text that says the same in other words becomes a further wording
    of the memory. What is replaced is marked, stands below the other, and leaves the start context.

    Raises `NotFound`, and `MemtapeError` for ids of no memory, or where a weaker source would end a stronger
    one: nothing is captured then.
    """
    id, scope = world.folded(id)
    memory = _memory(scope, id)
    _check_trust(world, id, scope, memory)
    spoken = scope.captures.body(scope.captures.by_seq[max(memory.canonical, memory.birth)])
    tags = _own_tags(spoken.tags)
    receipt = world.capture(text, spoken.kind, tags=tags, source=spoken.source, scope=scope.name)
    # It may say the same in other words: then it speaks for the memory, and nothing was replaced.
    state = state_of(world, scope.name)
    is_same = state is not None and state.memory_of(id) is state.memory_of(receipt.id)
    if not is_same:
        link = Linked(id=id, on=True, relation="replaced_by", slug=None, to=receipt.id)
        world.append("linked", link, scope.name)
    return ReplacedMemory(
        id=receipt.id,
        scope=scope.name,
        replaced=None if is_same else id,
        redacted=dict(receipt.redacted),
        profile=receipt.profile,
        hidden=receipt.hidden,
    )


def say_holds(
    world: World,
    id: Id,
    undo: Annotated[
        bool,
        said("With --holds: take back what was said of it; the texts decide again."),
    ] = False,
) -> DecidedIds:
    """It holds, whatever was said later: no rule replaces it from now on.

        memtape update 019ab0c4 --holds

    Raises `NotFound`, and `MemtapeError` for ids of no memory.
    """
    return _link(world, id, "holds", undo=undo)


def say_replaced(
    world: World,
    id: Id,
    by: Annotated[str, said("The id of the memory that holds instead.", 64, option="--by")],
) -> DecidedIds:
    """Say which memory holds instead.

        memtape update 019ab0c4 --by 019ab0c4-f4e8-7000-8000-0123456789ab

    Raises `NotFound`, and `MemtapeError` for ids of no memory, or where a weaker source would end a stronger
    one.
    """
    return _link(world, id, "replaced_by", by)


def unfold(
    world: World,
    id: Id,
    only: Annotated[bool, said("With --unfold: let this capture alone stand apart.")] = False,
) -> DecidedIds:
    """Its captures should not be one memory: split them for good.

        memtape update 019ab0c4 --unfold

    Raises `NotFound`, and `MemtapeError` where nothing was folded.
    """
    from memtape.state.views.resolution import named_by_unfolding

    id, scope = world.folded(id)
    named = named_by_unfolding(scope, id, only)
    if not named:
        hint = "`memtape show --why` shows what a memory is made of."
        raise MemtapeError(f"Nothing is folded into {id}.", hint)
    return _say(world, "unfolded", scope, named, Unfolded(ids=()))


def _decide(world: World, type: str, id: str, body: Body, *, only: bool = False) -> DecidedIds:
    """Append an event with a body and the ids of every capture of the memory; return the ids.

    With `only` the event names just the given capture. Raises `NotFound`.
    """
    from memtape.state.views.resolution import named_by_decision

    id, scope = world.folded(id)
    return _say(world, type, scope, named_by_decision(scope, id, only), body)


def _say(world: World, type: str, scope: Scope, named: tuple[str, ...], body: Body) -> DecidedIds:
    world.append(type, msgspec.structs.replace(body, ids=named), scope.name)
    return DecidedIds(tuple(named))


def _link(
    world: World,
    id: str,
    relation: Literal["holds", "replaced_by"],
    to: str | None = None,
    *,
    undo: bool = False,
) -> DecidedIds:
    """Append a statement about a memory, or with `undo` its withdrawal; return the named ids.

    Raises `NotFound`, and `MemtapeError` for ids of no memory, and for a speaker less trusted than the
    memory's author.
    """
    id, scope = world.folded(id)
    memory = _memory(scope, id)
    _check_trust(world, id, scope, memory)
    if to is not None:
        to, other = world.folded(to)
        if other.name != scope.name:
            raise MemtapeError(f"{id} and {to} stand in different scopes.", "Name memories of one scope.")
        if memory in _successors(scope, _memory(other, to)):
            hint = f"`memtape update --holds {to}` ends that."
            raise MemtapeError(f"{to} was itself replaced by {id}.", hint)
        if _memory(other, to).birth == memory.birth:
            raise MemtapeError(f"{id} and {to} are one memory.", "`memtape update --unfold` splits one.")
    ids = [scope.captures.by_seq[join.seq].id for join in memory.joins]
    named = [it for it in ids if it in scope.validity.said] if undo else [id]
    for it in named:
        said = scope.validity.said.get(it)
        body = Linked(id=it, on=not undo, relation=relation, slug=None, to=to)
        if undo and said is not None:
            body = Linked(id=it, on=False, relation=said.relation, slug=None, to=said.to)
        world.append("linked", body, scope.name)
    if not named:
        raise MemtapeError(f"Nothing was said of {id}.", "`memtape show --why` shows what is known of it.")
    return DecidedIds(tuple(named))


def _check_trust(world: World, id: str, scope: Scope, memory: Memory) -> None:
    """Raise `MemtapeError` for a speaker less trusted than the author of a memory."""
    from memtape.state.subjects.captures import TRUST

    trusted = scope.captures.by_seq[max(memory.canonical, memory.birth)].actor.origin
    if TRUST[world.actor.origin] < TRUST[trusted]:
        raise MemtapeError(
            f"{id} was said by {trusted}, who is trusted more than {world.actor.origin}.",
            f"Say it with --origin {trusted}, if you may speak for that.",
        )


def _own_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags without those about the origin of a text, which do not apply to another text."""
    made = (STATED_TAG, DISTILLED_TAG, CONSOLIDATED_TAG, REPOSITORY_TAG)
    return () if tags and tags[0] in made else tuple(tags)


def _memory(scope: Scope, id: str) -> Memory:
    memory = scope.memory_of(id)
    if memory is None or memory.made:
        hint = "Facts, goals, plans and the like hold or are replaced."
        raise MemtapeError(f"{id} is no memory of one thing.", hint)
    return memory


def _successors(scope: Scope, memory: Memory) -> list[Memory]:
    """Return the chain of memories that replaced a memory, oldest first."""
    from memtape.state.subjects import validity

    found: list[Memory] = []
    while (after := validity.successor(scope, found[-1] if found else memory)) and after not in found:
        found.append(after)
    return found


NOTHING_HIDDEN = " None of that was hidden: it was not forgotten, or is shown again already."


def _decision(name: str, run: Any, effect: Effect, done: str, undo: str = "", offer: Any = None) -> Verb:
    """Return the verb of a decision: `done` is what it says, before the number of captures that it named.

    `undo` is the command that undoes it.
    """

    def told(decided: DecidedIds) -> str:
        return f"{done} {many(len(decided.ids), 'capture')}.{'' if decided.was_hidden else NOTHING_HIDDEN}"

    def lines(world: World, asked: Asks, decided: DecidedIds) -> Iterator[str]:
        yield told(decided) + (f" To undo: {undo} {decided.ids[0]}" if undo else "")

    def tell(world: World, asked: Asks, decided: DecidedIds) -> str:
        undone = offer.undo if offer else ""
        return told(decided) + (f" {undone} with `{decided.ids[0]}` undoes it." if undone else "")

    return Verb(name, run, lines, effect=effect, tool=offer and offer._replace(tell=tell))


def _hidden_lines(world: World, asked: Any, found: Sequence[MemoryRow | TurnRow]) -> Iterator[str]:
    for it in found:
        yield f"{format_day(it.at)}  {it.id}  {it.kind}  {one_line(it.text, SHOWN_CHARS)}"
    if len(found) == asked.limit:
        yield "There may be more; --limit shows it."
    yield "To show one again: memtape restore ID" if found else "Nothing is hidden."


def _update_lines(world: World, asked: Any, done: ReplacedMemory) -> Iterator[str]:
    said = "It says the same, and is one memory with it."
    if done.replaced:
        said = f"It replaced {done.replaced}."
    if done.hidden:
        said = f"It replaces {done.replaced or asked.id} once it is shown."
    yield f"{done.id} ({done.scope}, profile {done.profile}). {said}"
    yield from capture_notes(done.hidden, done.id, done.redacted)


def _tell_update(world: World, asked: Any, done: ReplacedMemory) -> str:
    from memtape.tools.doors.markdown import hidden_told, profile_told

    if done.hidden:
        told = f"Stored as `{done.id}`, {hidden_told(done.id)}; then it replaces `{asked.id}`."
    elif done.replaced is None:
        told = f"Remembered as `{done.id}`: it says the same as {asked.id}, and is one memory with it."
    else:
        told = f"Remembered as `{done.id}`. It replaced `{done.replaced}`, which is kept as what was before."
    return told + profile_told(world)


VERBS = (
    _decision(
        "forget",
        forget,
        "hides",
        "Forgot",
        "memtape restore",
        Offer("Hide a memory that is wrong or unwanted. restore_memory undoes it.", undo="restore_memory"),
    ),
    Verb("forget --list", hidden, lines=_hidden_lines, listed="hidden"),
    _decision("restore", restore, "shows", "Restored", "", Offer("Bring back a memory that was forgotten.")),
    _decision(
        "pin",
        pin,
        "adds",
        "Pinned",
        "memtape pin --undo",
        Offer(
            "Keep a memory at hand whatever its age. unpin_memory undoes it.",
            undo="unpin_memory",
            common=False,
        ),
    ),
    _decision("pin --undo", unpin, "shows", "Unpinned", "", Offer("End the pins on a memory.", common=False)),
    Verb(
        "update",
        update,
        lines=_update_lines,
        effect="adds",
        tool=Offer(
            "Say what is so now instead of a memory, which is kept as what was before.",
            _tell_update,
            idempotent=False,
        ),
    ),
    _decision("update --by", say_replaced, "hides", "Noted what replaced", "memtape update --holds"),
    _decision("update --holds", say_holds, "shows", "Noted what holds of"),
    _decision("update --unfold", unfold, "shows", "Unfolded"),
)
