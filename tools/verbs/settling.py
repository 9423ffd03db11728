"""What waits for people: contradictions and rules, each answered here; also orders and stale memories."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
import msgspec
from msgspec import Meta

from memtape.schemas.errors import InvalidUse, MemtapeError, NotFound
from memtape.schemas.events import Settled
from memtape.schemas.rows import TOLD_WHY
from memtape.schemas.rows import stale as stale_mark
from memtape.schemas.scopes import GLOBAL, scopes_read
from memtape.schemas.times import format_day, format_time
from memtape.schemas.visible import many, one_line
from memtape.tools import query
from memtape.tools.capture.lines import check_label
from memtape.tools.capture.writing import Writer, check_person
from memtape.tools.doors import markdown
from memtape.tools.doors.terminal import is_asked, say
from memtape.tools.query.plan import begun_by, shortened, state_of
from memtape.tools.verb import Id, Limit, Offer, Output, Text, Verb, said
from memtape.tools.verbs.lines import each

if TYPE_CHECKING:
    from memtape.schemas.rows import MemoryRow
    from memtape.state.core.scope import Scope
    from memtape.state.subjects.conflicts import ConflictState
    from memtape.state.views.proposals import Proposal
    from memtape.tools.query.conflicts import Answered, Conflict, ConflictList, ConflictMember
    from memtape.tools.query.found import Order
    from memtape.tools.world import World

TEXT_CHARS = 300
EveryRule = Annotated[bool, said("All rules that wait; alone, list what is settled too.", option="--all")]
Key = Literal["y", "n", "s"]


class ConflictOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a conflict: the kept texts, and the replaced text, None where both are kept."""

    id: str
    scope: str
    kept: tuple[str, ...]
    replaced: str | None


def conflicts(
    world: World,
    settled: Annotated[bool, said("Also what was settled or has expired.", option="--all")] = False,
) -> ConflictList:
    """List what waits for you: contradictions and rules; and say which side of a contradiction holds.

        memtape settle
        memtape settle 019ab0c4-f4e8-8000-8000-0123456789ab --keep B --note "We moved in May."
        memtape settle 019ab0c4 --accept
        memtape settle --stale --limit 5

    A conflict is a pair of memories with different values of one thing; until it is settled, both are found
    as before. The side that is not kept is replaced: it is marked, ranks below the other and leaves the start
    context. Settling again overrules. A rule waits that was said for all projects ("In all my projects, use
    tabs.") or stands in pasted text; at a terminal each is asked for: y takes it, n declines it for good, s
    leaves it. A rule for all projects holds in its own project either way; one that may be pasted is taken by
    its id alone. Only people settle: --origin user at a terminal. --stale lists a preference after a year, a
    technical fact after 6 months, a goal after 3 months, a fact of the moment after 3 weeks; capturing its
    text again confirms a memory.

    Returns the conflicts of the scope and of `global` that wait, with `settled` also all others.
    """
    return world.read(lambda views, scope: query.conflicts.conflicts_of(views, scope, settled))


def settle(
    world: World,
    conflict: Annotated[str, said("The id of a conflict, or its first eight characters.", 64, metavar="ID")],
    keep: Annotated[Literal["A", "B", "both"], said("Which side holds, as listed.", option="--keep")],
    note: Annotated[Text | None, Meta(description="Why, for whoever looks later.")] = None,
) -> ConflictOutcome:
    """Say which side of a contradiction holds.

        memtape settle 019ab0c4-f4e8-8000-8000-0123456789ab --keep B --note "We moved in May."

    Raises `NotFound`, and `MemtapeError` for anyone but a person, or where a side is no longer shown.
    """
    check_label("note", note)
    origin = world.actor.origin
    then = "The user can run `memtape settle`; who is a person says --origin user."
    check_person(origin, "settle a conflict", then)
    scope, it = _conflict(world, conflict)
    if scope.name == GLOBAL and origin != "operator":
        raise MemtapeError(f"{it.id} belongs to global.", "Settle it with --origin operator.")
    one, other = (scope.memory_of(side) for side in it.ids)
    if one is None or other is None or one is other or one.canonical < 0 or other.canonical < 0:
        raise MemtapeError(f"A side of {it.id} is no longer shown.", "Nothing needs to be settled.")
    texts = [scope.captures.body(scope.captures.by_seq[side.canonical]).text for side in (one, other)]
    kept = {"A": (0,), "B": (1,), "both": (0, 1)}[keep]
    body = Settled(ids=it.ids, keep=tuple(it.ids[n] for n in kept), note=note or None)
    # Where a side is erased, so is what was noted of it.
    world.append("settled", body, scope.name, refs=it.ids)
    replaced = None if len(kept) == 2 else texts[1 - kept[0]]
    return ConflictOutcome(id=it.id, scope=scope.name, kept=tuple(texts[n] for n in kept), replaced=replaced)


def _conflict(world: World, given: str) -> tuple[Scope, ConflictState]:
    """Return the scope and the conflict of an id or its beginning, from this scope and `global`."""
    states = [state for name in scopes_read(world.scope) if (state := state_of(world, name)) is not None]
    listed = [(state, conflict) for state in states for conflict in state.conflicts.by_id.values()]
    number = begun_by(given, ((it[1].id, number) for number, it in enumerate(listed)))
    if number is None:
        hint = "`memtape settle --all` shows their ids."
        raise NotFound(f"{world.scope} has no conflict {given[:60]}.", hint)
    return listed[number]


def proposals(world: World) -> list[tuple[Proposal, Answered]]:
    """List the rules that were proposed, each with its answer.

        memtape settle --rules

    Returns the rules said for all projects, or in text that may be pasted, the latest first.
    """
    return world.read(query.conflicts.answers_of)


def waiting_rules(world: World) -> list[Proposal]:
    """Return the rules that wait for an answer."""
    return [rule for rule, answer in proposals(world) if answer == "waits"]


def accept(
    world: World,
    ids: Annotated[tuple[Id, ...], said("The ids of rules.", argument=True)] = (),
    every: EveryRule = False,
) -> list[Proposal]:
    """Take the named rules, with --all every one that waits and is no paste.

        memtape settle 019ab0c4 --accept

    Returns the rules, accepted with their words into their target scope. Raises `NotFound`, and
    `MemtapeError` for a writer who is no person.
    """
    return [_answer(world, id, declined=False) for id in _meant(world, ids, every, doubted=False)]


def decline(
    world: World,
    ids: Annotated[tuple[Id, ...], said("The ids of rules.", argument=True)] = (),
    every: EveryRule = False,
) -> list[Proposal]:
    """Decline the named rules for good, with --all every one that waits.

        memtape settle 019ab0c4 --decline

    Raises as `accept`.
    """
    return [_answer(world, id, declined=True) for id in _meant(world, ids, every, doubted=True)]


def _meant(world: World, ids: Sequence[str], every: bool, *, doubted: bool) -> Sequence[str]:
    """Return the ids of rules that are meant; a rule that may be pasted is `doubted`."""
    if bool(ids) is every:
        raise InvalidUse("Give ids, or --all for every rule.")
    return ids or [rule.id for rule in waiting_rules(world) if doubted or not rule.is_doubted]


def _answer(world: World, id: str, *, declined: bool) -> Proposal:
    then = "The user can run `memtape settle --accept`; who is a person says --origin user."
    check_person(world.actor.origin, "answer a rule that waits", then)
    rule, before = query.conflicts.meant(proposals(world), id)
    writer = Writer(
        world.home,
        world.log,
        scope=rule.into,
        actor=world.actor.name,
        origin="operator" if rule.into == GLOBAL else world.actor.origin,
        session=world.session,
        profile=world.profile.name,
    )
    (query.conflicts.decline if declined else query.conflicts.accept)(writer, rule, before)
    return rule


def orders(world: World) -> list[Order]:
    """List the orders about memory, as "never mention X again".

        memtape settle --orders

    Returns those of this scope and `global`.
    """
    return world.read(query.looking.orders_of)


def stale(world: World, limit: Limit = 10) -> list[MemoryRow]:
    """List what was neither said nor used for long, the most used first.

        memtape settle --stale --limit 5

    Returns those of this scope and `global`, and archives nothing.
    """
    return world.read(lambda views, scope: query.looking.stale_of(views, scope, limit))


def _outcome_lines(world: World, asked: Any, done: ConflictOutcome) -> Iterator[str]:
    if done.replaced is None:
        yield f'Both are kept: "{one_line(done.kept[0], 120)}" and "{one_line(done.kept[1], 120)}".'
    else:
        yield f'Kept: "{one_line(done.kept[0], 120)}".'
        yield f'Replaced by it: "{one_line(done.replaced, 120)}".'
    yield f"To undo, settle it again: memtape settle {done.id} --keep A, B or both"


def _waiting_shell(world: World, asked: Any) -> Output:
    """Yield the conflicts, with `settled` the settled ones too, and the rules that wait."""
    found, rules, settled = conflicts(world, asked.settled), waiting_rules(world), asked.settled
    yield msgspec.structs.replace(found, rules=tuple(rules))
    for conflict in found.conflicts:
        yield from _lines(conflict)
    if not found.conflicts:
        yield "No conflict waits." if not settled else "There has been no conflict."
    yield from _go_through(world, rules)
    if found.lag:
        say(f"The views lack {many(found.lag, 'event')}, and what they contradict.", err=True)


def _lines(conflict: Conflict) -> list[str]:
    raised = f"{format_day(conflict.raised_at)}  {TOLD_WHY[conflict.why]}"
    head = f"{conflict.severity:6}  {conflict.id}  {raised}"
    if conflict.scope == "global":
        head += "  global"
    lines = [head, *_side("A", conflict.a), *_side("B", conflict.b)]
    match conflict.status:
        case "pending":
            lines.append(f"        memtape settle {conflict.id} --keep A, B or both")
        case "expired":
            day = format_day(conflict.settled_at or 0)
            lines.append(f"        expired on {day}: nobody needs to settle it")
        case _:
            kept = "both are kept" if conflict.kept is None else f"{conflict.kept} is kept"
            note = f": {one_line(conflict.note, TEXT_CHARS)}" if conflict.note else ""
            lines.append(f"        settled on {format_day(conflict.settled_at or 0)}, {kept}{note}")
    return lines


def _side(name: str, side: ConflictMember) -> list[str]:
    if side.text is None:
        return [f"     {name}  no longer shown"]
    said = f"{format_day(side.at or 0)}, {one_line(side.actor or '', 40)} ({side.origin})"
    confirmed = f", confirmed {side.confirmations}x" if side.confirmations else ""
    return [f"     {name}  {one_line(side.text, TEXT_CHARS)}", f"        {said}{confirmed}, {side.id}"]


def _answered_rules(world: World, asked: Any, done: list[Proposal], *, declined: bool) -> Iterator[str]:
    for rule in done:
        yield _answered(rule, declined=declined)
    if not done:
        pasted = "What waits may be pasted: take each by its id."
        yield pasted if waiting_rules(world) else "No rule waits."


def _go_through(world: World, waiting: list[Proposal]) -> Output:
    """List the waiting rules; at a terminal a person answers each by one key."""
    asks = is_asked() and sys.stdout.isatty() and world.actor.origin != "agent"
    short = shortened(rule.id for rule in waiting)
    for number, rule in enumerate(waiting, start=1):
        yield f"{number:2}. {one_line(rule.text, TEXT_CHARS)}"
        what = "may be pasted" if rule.is_doubted else "for all projects"
        who = f"{one_line(rule.actor, 40)} ({rule.origin})"
        yield f"    {format_day(rule.at)} · {who} · {rule.scope} · {what}"
        if not asks:
            yield f"    memtape settle {short[rule.id]} --accept --scope {rule.scope}, or --decline"
            continue
        match _key("Is this rule yours" if rule.is_doubted else "In all projects"):
            case "y":
                yield _answered(_answer(world, rule.id, declined=False), declined=False)
            case "n":
                yield _answered(_answer(world, rule.id, declined=True), declined=True)
    if not waiting:
        yield "No rule waits."
    elif not asks:
        yield f"{many(len(waiting), 'rule waits', 'rules wait')}. All at once: memtape settle --accept --all"


def _key(question: str) -> Key:
    while True:
        say(f"    {question}? [y]es, [n]ever, [s]kip: ", err=True)
        pressed = click.getchar()[:1].lower()  # Who presses Enter too sends both at once.
        if pressed in ("y", "n", "s"):
            return pressed  # type: ignore[return-value]


def _rule(number: int, it: tuple[Proposal, Answered]) -> list[str]:
    return [f"{it[1]:<9} {it[0].id}  {one_line(it[0].text, TEXT_CHARS)}"]


def _answered(rule: Proposal, *, declined: bool) -> str:
    text = one_line(rule.text, TEXT_CHARS)
    if declined:
        after_all = f"memtape settle {rule.id} --accept"
        return f'Declined, and not asked again: "{text}". To take it after all: {after_all}'
    where = f"in {rule.scope}" if rule.is_doubted else "in all projects"
    origin = " --origin operator" if rule.into == GLOBAL else ""
    return f'Holds {where}: "{text}". To undo: memtape forget {rule.id} --scope {rule.into}{origin}'


def _stale(number: int, it: MemoryRow) -> list[str]:
    used = f"used {many(it.uses, 'time')}" if it.uses else "never used"
    of = f"--scope {it.scope}"
    again = f"capture its text again; memtape show {it.id} {of}"
    if len(it.text) <= TEXT_CHARS and "\n" not in it.text:
        again = f"memtape capture {shlex.quote(it.text)} --kind {it.kind} {of}"
    return [
        f"{number:2}. {one_line(it.text, TEXT_CHARS)}",
        f"    {it.kind} · {it.category} · {stale_mark(it.last_at)} · {used}",
        f"    still so: {again}",
        f"    replaced: memtape update {it.id} --by ID {of}",
        f"    unwanted: memtape forget {it.id} {of}",
    ]


def _order(number: int, it: Order) -> list[str]:
    left_out = f"leaves out what has {', '.join(it.about)}"
    about = left_out if it.about else "names nothing that could be left out"
    ends = "; ".join(f"memtape forget {id} --scope {it.scope}" for id in it.ids)
    return [
        f"{number:2}. {one_line(it.text, TEXT_CHARS)}",
        f"    {format_day(it.at)} · {one_line(it.actor, 40)} ({it.origin}) · {about}",
        f"    to end it: {ends}",
    ]


def _tell_conflicts(world: World, asked: Any, found: ConflictList) -> str:
    """List contradictions, the gravest first, as many as fit, then the settled; only people settle them."""
    if not found.conflicts:
        return f"No conflict waits in {found.scope}."
    pieces = [_tell_conflict(number, it) for number, it in enumerate(found.conflicts, start=1)]
    return markdown.list_pieces("", pieces, ["Only the user settles one: tell the user of `memtape settle`."])


def _tell_conflict(number: int, conflict: Conflict) -> str:
    state = conflict.status if conflict.kept is None else f"{conflict.status}, {conflict.kept} is kept"
    head = f"{number}. `{conflict.id}` · {state} · {conflict.severity} · {TOLD_WHY[conflict.why]}"
    return "\n".join([head, _tell_side("A", conflict.a), _tell_side("B", conflict.b)])


def _tell_side(name: str, side: ConflictMember) -> str:
    if side.text is None or side.origin is None:
        return f"{name}: no longer shown"
    said = f"{markdown.name_of(side.actor or '', 60)} ({side.origin})"
    text = markdown.quoted(markdown.cut_text(side.text))
    return f"{name}: `{side.id}` · {format_time(side.at or 0)[:10]} · by {said}\n{text}"


VERBS = (
    Verb(
        "settle -",
        conflicts,
        shell=_waiting_shell,
        tool=Offer(
            "Pairs of memories that contradict each other and wait for the user, who alone can settle them.",
            _tell_conflicts,
            common=False,
        ),
    ),
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
    Verb(
        "settle --rules",
        proposals,
        lines=lambda world, asked, found: each(found, _rule, "No rule was proposed."),
        listed="rules",
    ),
    Verb(
        "settle --orders",
        orders,
        lines=lambda world, asked, found: each(found, _order, "Nobody has ordered anything about memory."),
        listed="orders",
    ),
    Verb(
        "settle --stale",
        stale,
        lines=lambda world, asked, found: each(found, _stale, "Nothing is stale."),
        listed="stale",
    ),
)
