"""Decisions about memories: forget, pin, update, what holds, and what waits for people with their answers."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memtape.schemas.errors import InvalidUse, MemtapeError, NotFound
from memtape.schemas.events import (
    CONSOLIDATED_TAG,
    DISTILLED_TAG,
    STATED_TAG,
    Body,
    Forgotten,
    Linked,
    Pinned,
    Restored,
    Settled,
    Unfolded,
)
from memtape.schemas.ids import short_id
from memtape.schemas.rows import TOLD_WHY
from memtape.schemas.rows import stale as stale_mark
from memtape.schemas.scopes import GLOBAL, scopes_read
from memtape.schemas.times import format_day
from memtape.schemas.variables import PROD
from memtape.schemas.visible import many, one_line
from memtape.tools import query
from memtape.tools.capture.writing import Line, Writer, check_label, check_person
from memtape.tools.doors.terminal import say_lag
from memtape.tools.query.plan import named_by, state_of
from memtape.tools.query.telling import told_author
from memtape.tools.verb import (
    Asks,
    Effect,
    Id,
    Limit,
    Lines,
    Offer,
    Reason,
    Step,
    Text,
    Verb,
    rare,
    said,
)
from memtape.tools.verbs.capturing import capture_notes, in_profile

if TYPE_CHECKING:
    from memtape.schemas.rows import MemoryRow, TurnRow
    from memtape.state.core.scope import Scope
    from memtape.state.subjects.memories import Memory
    from memtape.state.views.proposals import Proposal
    from memtape.tools.query.conflicts import Answered, Answering, ConflictList
    from memtape.tools.query.found import Order
    from memtape.tools.world import World

SHOWN_CHARS = 120
TEXT_CHARS = 300
EveryRule = Annotated[bool, said("All rules that wait; alone, list what is settled too.", option="--all")]


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
    return _decide(world, "forgotten", id, Forgotten(ids=(), reason=reason), only=only)


def hidden(world: World, limit: Limit = 100) -> list[MemoryRow | TurnRow]:
    """List what is hidden instead: forgotten, or withdrawn.

    Returns what can be restored, of this scope and of `global`.
    """
    return world.read(lambda views, scope: query.looking.hidden_of(views, scope, limit))


def restore(world: World, id: Id, reason: Reason = None) -> DecidedIds:
    """Show again what was forgotten.

        memtape restore 019ab0c4-9a3c-7000-8000-0123456789ab

    Returns the named ids; `was_hidden` is false where nothing was hidden. Raises `NotFound`.
    """
    return _decide(world, "restored", id, Restored(ids=(), reason=reason))


def pin(world: World, id: Id) -> DecidedIds:
    """Pin a memory or turn: it stays at hand whatever its age, and is marked.

        memtape pin 019ab0c4-9a3c-7000-8000-0123456789ab
        memtape pin 019ab0c4 --undo

    Returns the named ids.
    """
    return _decide(world, "pinned", id, Pinned(ids=(), on=True), only=True)


def unpin(world: World, id: Id) -> DecidedIds:
    """End the pins on it.

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
    id, scope, memory = _trusted(world, id)
    spoken = scope.captures.body(scope.captures.by_seq[max(memory.canonical, memory.birth)])
    # Tags about the origin of a text do not apply to another text.
    made = (STATED_TAG, DISTILLED_TAG, CONSOLIDATED_TAG)
    tags = () if spoken.tags and spoken.tags[0] in made else spoken.tags
    line = Line(text=text, kind=spoken.kind, tags=tags, source=spoken.source, scope=scope.name)
    receipt, *_ = world.capture_line(line)
    # It may say the same in other words: then it speaks for the memory, and nothing was replaced.
    state = state_of(world, scope.name)
    is_same = state.memory_of(id) is state.memory_of(receipt.id)
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
        bool, said("With --holds: take back what was said of it; the texts decide again.")
    ] = False,
) -> DecidedIds:
    """It holds, whatever was said later: no rule replaces it from now on.

    Raises `NotFound`, and `MemtapeError` for ids of no memory.
    """
    id, scope, memory = _trusted(world, id)
    bodies = [Linked(id=id, on=True, relation="holds", slug=None, to=None)]
    if undo:
        told = scope.validity.said
        ids = (scope.captures.by_seq[join.seq].id for join in memory.joins)
        said = {it: told[it] for it in ids if it in told}
        bodies = [
            Linked(id=it, on=False, relation=of.relation, slug=None, to=of.to) for it, of in said.items()
        ]
    if not bodies:
        raise MemtapeError(f"Nothing was said of {id}.", "`memtape show --why` shows what is known of it.")
    for body in bodies:
        world.append("linked", body, scope.name)
    return DecidedIds(tuple(body.id for body in bodies))


def say_replaced(
    world: World,
    id: Id,
    by: Annotated[str, said("The id of the memory that holds instead.", 64, option="--by")],
) -> DecidedIds:
    """Say which memory holds instead.

    Raises `NotFound`, and `MemtapeError` for ids of no memory, or where a weaker source would end a stronger
    one.
    """
    from memtape.state.subjects import validity

    id, scope, memory = _trusted(world, id)
    by, other = world.folded(by)
    if other.name != scope.name:
        raise MemtapeError(f"{id} and {by} stand in different scopes.", "Name memories of one scope.")
    chain = [_memory(other, by)]
    if chain[0].birth == memory.birth:
        raise MemtapeError(f"{id} and {by} are one memory.", "`memtape update --unfold` splits one.")
    while (after := validity.successor(scope, chain[-1])) and after not in chain:
        chain.append(after)
    if memory in chain:
        raise MemtapeError(f"{by} was itself replaced by {id}.", f"`memtape update --holds {by}` ends that.")
    world.append("linked", Linked(id=id, on=True, relation="replaced_by", slug=None, to=by), scope.name)
    return DecidedIds((id,))


def unfold(
    world: World,
    id: Id,
    only: Annotated[bool, said("With --unfold: let this capture alone stand apart.")] = False,
) -> DecidedIds:
    """Its captures should not be one memory: split them for good.

    Raises `NotFound`, and `MemtapeError` where nothing was folded.
    """
    from memtape.state.views.resolution import named_by_unfolding

    id, scope = world.folded(id)
    named = named_by_unfolding(scope, id, only)
    if not named:
        hint = "`memtape show --why` shows what a memory is made of."
        raise MemtapeError(f"Nothing is folded into {id}.", hint)
    world.append("unfolded", Unfolded(ids=named), scope.name)
    return DecidedIds(named)


def _decide(world: World, type: str, id: str, body: Body, *, only: bool = False) -> DecidedIds:
    """Append an event with a body and the ids of every capture of the memory; return the ids.

    With `only` the event names just the given capture. Raises `NotFound`.
    """
    from memtape.state.views.resolution import named_by_decision

    check_label("reason", getattr(body, "reason", None))
    id, scope = world.folded(id)
    ids = named_by_decision(scope, id, only)
    was_hidden = any(capture.hidden for capture in map(scope.captures.get, ids) if capture)
    world.append(type, msgspec.structs.replace(body, ids=ids), scope.name)
    return DecidedIds(ids, was_hidden or type != "restored")


def _trusted(world: World, id: str) -> tuple[str, Scope, Memory]:
    """Return a whole id, its scope and its memory.

    Raises `NotFound`, and `MemtapeError` for ids of no memory, and for a speaker less trusted than the
    memory's author.
    """
    from memtape.state.subjects.captures import TRUST

    id, scope = world.folded(id)
    memory = _memory(scope, id)
    trusted = scope.captures.by_seq[max(memory.canonical, memory.birth)].actor.origin
    if TRUST[world.actor.origin] < TRUST[trusted]:
        raise MemtapeError(
            f"{id} was said by {trusted}, who is trusted more than {world.actor.origin}.",
            f"Say it with --origin {trusted}, if you may speak for that.",
        )
    return id, scope, memory


def _memory(scope: Scope, id: str) -> Memory:
    memory = scope.memory_of(id)
    if memory is None or memory.made:
        hint = "Facts, goals, plans and the like hold or are replaced."
        raise MemtapeError(f"{id} is no memory of one thing.", hint)
    return memory


def _decision(name: str, run: Any, effect: Effect, done: str, undo: str = "", offer: Any = None) -> Verb:
    """Return the verb of a decision: `done` are the words before the number of named captures.

    `undo` is the verb that undoes the decision.
    """

    def lines(world: World, asked: Asks, decided: DecidedIds) -> Lines:
        none = " None of that was hidden: it was not forgotten, or is shown again already."
        yield f"{done} {many(len(decided.ids), 'capture')}.{'' if decided.was_hidden else none}"
        if undo and decided.was_hidden:
            yield Step("Undo", undo, decided.ids[0])

    return Verb(name, run, lines, effect=effect, undo=undo, tool=offer)


def _hidden_lines(world: World, asked: Any, found: Sequence[MemoryRow | TurnRow]) -> Iterator[str]:
    for it in found:
        about = f"{it.kind}  {told_author(it)}"
        yield f"{format_day(it.at)}  {short_id(it.id)}  {about}  {one_line(it.text, SHOWN_CHARS)}"
    if len(found) == asked.limit:
        yield "There may be more; --limit shows it."
    yield "To show one again: memtape restore ID" if found else "Nothing is hidden."


def _update_lines(world: World, asked: Any, done: ReplacedMemory) -> Lines:
    said = "it says the same, and is one memory with it"
    if done.replaced:
        said = f"it replaced {short_id(done.replaced)}"
    if done.hidden:
        said = f"it replaces {short_id(done.replaced or asked.id)} once it is shown"
    kept = "Stored" if done.hidden else "Remembered"
    yield f"{kept} in {done.scope}{in_profile(done.profile)}: {said}."
    if not done.hidden:
        yield Step("Undo", "forget", done.id)
    yield from capture_notes(done.hidden, done.id, done.redacted)


class ConflictOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a conflict: the kept texts, none where it waits again, and the replaced text if any."""

    id: str
    scope: str
    kept: tuple[str, ...]
    replaced: str | None


def conflicts(
    world: World,
    settled: Annotated[bool, said("Also what was settled or has expired.", option="--all")] = False,
) -> ConflictList:
    """List what waits for you: contradictions and rules; and say which side of a contradiction holds.

    A conflict is a pair of memories with different values of one thing; until it is settled, both are found
    as before. The side that is not kept is replaced: it is marked, ranks below the other and leaves the start
    context. Settling again overrules. A rule waits that was said for all projects ("In all my projects, use
    tabs.") or stands in pasted text. A rule for all projects holds in its own project either way; one that
    may be pasted is taken by its id alone. Only people settle: --origin user at a terminal. --stale lists a
    preference after a year, a technical fact after 6 months, a goal after 3 months, a fact of the moment
    after 3 weeks; capturing its text again confirms a memory.

    Returns the conflicts of the scope and of `global` that wait, with `settled` also all others, and the
    rules that wait.
    """
    found = world.read(lambda views, scope: query.conflicts.conflicts_of(views, scope, settled))
    return msgspec.structs.replace(found, rules=tuple(waiting_rules(world)))


def settle(
    world: World,
    conflict: Annotated[
        str, said("The id of a conflict, or its last eight characters.", 64, metavar="ID", of="conflict")
    ],
    keep: Annotated[
        Literal["A", "B", "both", "none"],
        said("Which side holds, as listed; with none it waits again.", option="--keep"),
    ],
    note: Annotated[Text | None, Meta(description="Why, for whoever looks later.")] = None,
) -> ConflictOutcome:
    """Say which side of a contradiction holds.

    Raises `NotFound`, and `MemtapeError` for anyone but a person, or where a side is no longer shown.
    """
    check_label("note", note)
    origin = world.actor.origin
    then = "The user can run `memtape settle`; who is a person says --origin user."
    check_person(origin, "settle a conflict", then)
    states = [state_of(world, name) for name in scopes_read(world.scope)]
    listed = ((it.id, (state, it)) for state in states for it in state.conflicts.by_id.values())
    if (named := named_by(conflict, listed)) is None:
        told = f"{world.scope} has no conflict {conflict[:60]}."
        raise NotFound(told, "`memtape settle --all` shows their ids.")
    scope, it = named
    if scope.name == GLOBAL and origin != "operator":
        raise MemtapeError(f"{it.id} belongs to global.", "Settle it with --origin operator.")
    one, other = (scope.memory_of(side) for side in it.ids)
    if one is None or other is None or one is other or one.canonical < 0 or other.canonical < 0:
        raise MemtapeError(f"A side of {it.id} is no longer shown.", "Nothing needs to be settled.")
    texts = [scope.captures.body(scope.captures.by_seq[side.canonical]).text for side in (one, other)]
    kept = {"A": (0,), "B": (1,), "both": (0, 1), "none": ()}[keep]
    body = Settled(ids=it.ids, keep=tuple(it.ids[n] for n in kept), note=note or None)
    # Where a side is erased, so is what was noted of it.
    world.append("settled", body, scope.name, refs=it.ids)
    replaced = texts[1 - kept[0]] if len(kept) == 1 else None
    return ConflictOutcome(id=it.id, scope=scope.name, kept=tuple(texts[n] for n in kept), replaced=replaced)


def proposals(world: World) -> list[tuple[Proposal, Answered]]:
    """List the rules that were proposed, each with its answer.

    Returns the rules said for all projects, or in text that may be pasted, the latest first.
    """
    return world.read(query.conflicts.answers_of)


def waiting_rules(world: World) -> list[Proposal]:
    """Return the rules that wait for an answer."""
    return [rule for rule, answer in proposals(world) if answer == "waits"]


def accept(
    world: World,
    ids: Annotated[tuple[Id, ...], said("The ids of rules.", argument=True, of="rule")] = (),
    every: EveryRule = False,
) -> list[Proposal]:
    """Take the named rules, with --all every one that waits and is no paste.

    Returns the rules, accepted with their words into their target scope. Raises `NotFound`, and
    `MemtapeError` for a writer who is no person.
    """
    return _answer(world, ids, every, query.conflicts.accept)


def decline(
    world: World,
    ids: Annotated[tuple[Id, ...], said("The ids of rules.", argument=True, of="rule")] = (),
    every: EveryRule = False,
    undo: Annotated[bool, said("With --decline: let the named rules wait again.")] = False,
) -> list[Proposal]:
    """Decline the named rules for good, with --all every one that waits.

    Raises as `accept`.
    """
    if undo:
        return _answer(world, ids, False, query.conflicts.reopen)
    return _answer(world, ids, every, query.conflicts.decline)


def _answer(world: World, ids: Sequence[str], every: bool, answer: Answering) -> list[Proposal]:
    if bool(ids) is every:
        raise InvalidUse("Give ids, or --all for every rule.")
    then = "The user can run `memtape settle --accept`; who is a person says --origin user."
    check_person(world.actor.origin, "answer a rule that waits", then)
    listed = proposals(world)
    # What may be pasted is accepted by its id alone.
    takes_pastes = answer is not query.conflicts.accept
    waiting = [it for it in listed if it[1] == "waits" and (takes_pastes or not it[0].is_doubted)]
    named = [query.conflicts.meant(listed, id) for id in dict.fromkeys(ids)]
    answered = waiting if every else named
    for rule, before in answered:
        writer = Writer(
            world.home,
            world.log,
            scope=rule.into,
            actor=world.actor.name,
            origin="operator" if rule.into == GLOBAL else world.actor.origin,
            session=world.session,
            profile=world.profile.name,
        )
        answer(writer, rule, before)
    return [rule for rule, _ in answered]


def orders(world: World) -> list[Order]:
    """List the orders about memory, as "never mention X again".

    Returns those of this scope and `global`.
    """
    return world.read(query.looking.orders_of)


def stale(world: World, limit: Limit = 10) -> list[MemoryRow]:
    """List what was neither said nor used for long, the most used first.

    Returns those of this scope and `global`, and archives nothing.
    """
    return world.read(lambda views, scope: query.looking.stale_of(views, scope, limit))


def _outcome_lines(world: World, asked: Any, done: ConflictOutcome) -> Iterator[str]:
    if not done.kept:
        yield "It waits again."
        return
    if done.replaced is None:
        yield f'Both are kept: "{one_line(done.kept[0], 120)}" and "{one_line(done.kept[1], 120)}".'
    else:
        yield f'Kept: "{one_line(done.kept[0], 120)}".'
        yield f'Replaced by it: "{one_line(done.replaced, 120)}".'
    yield f"Undo: memtape settle {short_id(done.id)} --keep none"


def _conflict_lines(world: World, asked: Any, found: ConflictList) -> Iterator[str]:
    for it in found.conflicts:
        shared = "  global" if it.scope == GLOBAL else ""
        yield f"{it.severity:6}  {short_id(it.id)}  {format_day(it.raised_at)}  {TOLD_WHY[it.why]}{shared}"
        for name, side in (("A", it.a), ("B", it.b)):
            if side.text is None:
                yield f"     {name}  no longer shown"
                continue
            confirmed = f", confirmed {side.confirmations}x" if side.confirmations else ""
            said = f"{format_day(side.at or 0)}, {told_author(side)}{confirmed}"
            yield f"     {name}  {one_line(side.text, TEXT_CHARS)}\n        {said}, {short_id(side.id or '')}"
        day = format_day(it.settled_at or 0)
        if it.status == "pending":
            yield f"        memtape settle {short_id(it.id)} --keep A, B or both"
        elif it.status == "expired":
            yield f"        expired on {day}: nobody needs to settle it"
        else:
            kept = "both are kept" if it.kept is None else f"{it.kept} is kept"
            note = f": {one_line(it.note, TEXT_CHARS)}" if it.note else ""
            yield f"        settled on {day}, {kept}{note}"
    if not found.conflicts:
        yield "There has been no conflict." if asked.settled else "No conflict waits."
    yield from _waiting_lines(found.rules)
    say_lag(found.lag, "contradict")


def _answered_rules(world: World, asked: Any, done: list[Proposal], *, declined: bool) -> Iterator[str]:
    for rule in done:
        text = one_line(rule.text, TEXT_CHARS)
        if declined and asked.undo:
            yield f'Waits again: "{text}".'
            continue
        if declined:
            after_all = f"memtape settle {short_id(rule.id)} --accept"
            yield f'Declined, and not asked again: "{text}". To take it after all: {after_all}'
            continue
        where = f"in {rule.scope}" if rule.is_doubted else "in all projects"
        origin = " --origin operator" if rule.into == GLOBAL else ""
        undo = f"memtape forget {short_id(rule.id)} --scope {rule.into}{origin}"
        yield f'Holds {where}: "{text}". Undo: {undo}'
    if not done:
        pasted = "What waits may be pasted: take each by its id."
        yield pasted if waiting_rules(world) else "No rule waits."


def _waiting_lines(waiting: Sequence[Proposal]) -> Iterator[str]:
    for number, rule in enumerate(waiting, start=1):
        yield f"{number:2}. {one_line(rule.text, TEXT_CHARS)}"
        what = "may be pasted" if rule.is_doubted else "for all projects"
        who = told_author(rule)
        yield f"    {format_day(rule.at)} · {who} · {rule.scope} · {what}"
        yield f"    memtape settle {short_id(rule.id)} --accept --scope {rule.scope}, or --decline"
    if waiting:
        yield f"{many(len(waiting), 'rule waits', 'rules wait')}. All at once: memtape settle --accept --all"
    else:
        yield "No rule waits."


def _rule_lines(world: World, asked: Any, found: list[tuple[Proposal, Answered]]) -> Iterator[str]:
    for rule, answer in found:
        yield f"{answer:<9} {short_id(rule.id)}  {one_line(rule.text, TEXT_CHARS)}"
    if not found:
        yield "No rule was proposed."


def _stale_lines(world: World, asked: Any, found: list[MemoryRow]) -> Iterator[str]:
    for number, it in enumerate(found, start=1):
        used = f"used {many(it.uses, 'time')}" if it.uses else "never used"
        of = f"--scope {it.scope}"
        again = f"capture its text again; memtape show {short_id(it.id)} {of}"
        if len(it.text) <= TEXT_CHARS and "\n" not in it.text:
            again = f"memtape capture {shlex.quote(it.text)} --kind {it.kind} {of}"
        yield f"{number:2}. {one_line(it.text, TEXT_CHARS)}"
        yield f"    {it.kind} · {it.category} · {stale_mark(it.last_at)} · {used}"
        yield f"    still so: {again}"
        yield f"    replaced: memtape update {short_id(it.id)} --by ID {of}"
        yield f"    unwanted: memtape forget {short_id(it.id)} {of}"
    if not found:
        yield "Nothing is stale."


def _order_lines(world: World, asked: Any, found: list[Order]) -> Iterator[str]:
    for number, it in enumerate(found, start=1):
        left_out = f"leaves out what has {', '.join(it.about)}"
        about = left_out if it.about else "names nothing that could be left out"
        yield f"{number:2}. {one_line(it.text, TEXT_CHARS)}"
        yield f"    {format_day(it.at)} · {told_author(it)} · {about}"
        ends = "; ".join(f"memtape forget {short_id(id)} --scope {it.scope}" for id in it.ids)
        yield f"    to end it: {ends}"
    if not found:
        yield "Nobody has ordered anything about memory."


FORGETS = Offer("Hide a memory that is wrong or unwanted. restore_memory undoes it.")
RESTORES = Offer("Bring back a forgotten memory.")
VERBS = (
    _decision("forget", forget, "hides", "Forgot", "restore", FORGETS),
    Verb("forget --list", hidden, lines=_hidden_lines, listed="hidden"),
    _decision("restore", restore, "shows", "Restored", "forget", RESTORES),
    _decision("pin", pin, "adds", "Pinned", "pin --undo"),
    _decision("pin --undo", unpin, "shows", "Unpinned", "pin"),
    Verb(
        "update",
        update,
        lines=_update_lines,
        effect="adds",
        tool=Offer(
            "Say what is so now instead of a memory, which is kept as what was before.", idempotent=False
        ),
    ),
    _decision("update --by", say_replaced, "hides", "Noted what replaced", "update --holds"),
    _decision("update --holds", say_holds, "shows", "Noted what holds of"),
    _decision("update --unfold", unfold, "shows", "Unfolded"),
    Verb("settle -", conflicts, lines=_conflict_lines),
    Verb("settle --keep", settle, lines=_outcome_lines, effect="hides"),
    Verb(
        "settle --accept",
        accept,
        lines=partial(_answered_rules, declined=False),
        listed="accepted",
        effect="adds",
    ),
    Verb(
        "settle --decline",
        decline,
        lines=partial(_answered_rules, declined=True),
        listed="declined",
        effect="hides",
    ),
    Verb("settle --rules", proposals, lines=_rule_lines, listed="rules"),
    Verb("settle --orders", orders, lines=_order_lines, listed="orders"),
    Verb("settle --stale", stale, lines=_stale_lines, listed="stale"),
)
