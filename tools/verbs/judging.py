"""Judging pairs of memories: list what waits, say what holds of a pair, or let an agent or a model say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, get_args

import msgspec
from msgspec import Meta

from memtape.schemas.errors import BadAnswer, InvalidUse, MemtapeError, ModelTimeout
from memtape.schemas.events import Actor, Origin
from memtape.schemas.ids import short_id
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.tools.agents.hosts import HOSTS
from memtape.tools.capture.profiles import check_kept
from memtape.tools.doors import markdown
from memtape.tools.doors.terminal import confirmed, say
from memtape.tools.query.plan import state_of
from memtape.tools.verb import Failure, Offer, Output, Verb, said, terminal

if TYPE_CHECKING:
    from memtape.state.consolidation.clusters import Candidate
    from memtape.state.consolidation.pairs import Verdict, WaitingPair
    from memtape.tools.world import World

TEXT_CHARS = 300
MOST_VERDICTS = 100
COMMANDS = {name: host.ask for name, host in HOSTS.items() if host.ask}
JUDGES = (*COMMANDS, "model")
_HOW = (
    "same: both say one thing, and every number and name agrees. replaces: the later is a newer value of the "
    "same thing. contradicts: both cannot hold, and people are asked. apart: none of these, or in doubt."
)


class JudgedText(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a pair: a memory's id, text, time in microseconds and author."""

    id: str
    text: str
    at: int
    actor: str
    origin: Origin


class ListedPair(msgspec.Struct, frozen=True, kw_only=True):
    """A pair that waits; `pair` names it until a text changes."""

    pair: str
    earlier: JudgedText
    later: JudgedText


class Judgements(msgspec.Struct, frozen=True, kw_only=True):
    """The number of pairs that wait, the nearest of these, the decisions by verdict, and what went wrong."""

    scope: str
    waiting: int
    pairs: tuple[ListedPair, ...] = ()
    decided: dict[str, int] = {}
    problem: str = ""


def judge(
    world: World,
    verdicts: Annotated[
        tuple[str, ...],
        said("PAIR=VERDICT, as the pairs say.", MOST_VERDICTS, metavar="PAIR=VERDICT"),
    ] = (),
) -> Judgements:
    """List pairs of memories that may say the same, or judge them.

        memtape admin judge
        memtape admin judge --verdict 1f0c6d1e44=same --verdict 8a2b90c7d1=apart

    Of a pair that is the same the more trusted text stands for both. What is replaced is marked, and ranks
    below the other. `memtape update ID --unfold` undoes both. A verdict counts while neither text changes; a
    pair that was judged is not listed again. --with asks an agent of this machine.

    Returns pairs, 20 at most, or what was decided. Raises `MemtapeError` for a pair that does not wait.
    """
    if not verdicts:
        return _listed(world, _waiting(world))
    check_kept(world.home, "A verdict")
    from memtape.tools.keep.judging import Ruling, decide

    known = {pair.key: pair for pair in _waiting(world)}
    given = _given(verdicts)
    if missing := [key for key in given if key not in known]:
        told = f"No pair {missing[0][:60]!r} waits in {world.scope}: it was decided, or a text changed."
        raise MemtapeError(told, "Nothing was decided. Without a verdict the pairs that wait are listed.")
    scope = state_of(world, world.scope)
    assert scope is not None
    done = decide(world.log, scope, [Ruling(known[key], it) for key, it in given.items()], world.actor)
    return Judgements(scope=world.scope, waiting=len(_waiting(world)), decided=_counts(done))


def ask_judge(
    world: World,
    judge: Annotated[
        str,
        said("Ask this agent of yours, or the model of the settings.", option="--with", choices=JUDGES),
    ],
    most: Annotated[int, said("With --with: ask at most so many times."), Meta(ge=1, le=100)] = 5,
    yes: Annotated[bool, terminal("With --with: ask without a question before.")] = False,
) -> Output:
    """Let an agent of this machine or a named model judge what waits, 20 pairs at a time."""
    check_kept(world.home, "A verdict")
    from memtape.tools.keep.judging import MOST_PAIRS, ask, judge_of, prompt_of
    from memtape.tools.keep.models import author

    model, left = judge_of(world.home, judge, COMMANDS), _waiting(world)
    calls = min(most, -(-len(left) // MOST_PAIRS))
    pairs = min(len(left), calls * MOST_PAIRS)
    if calls and not yes:
        size = sum(len(prompt_of(left[n * MOST_PAIRS :][:MOST_PAIRS])) for n in range(calls))
        what = f"{model.name} is asked {many(calls, 'time')} about {many(pairs, 'pair')}"
        say(f"{what}: {size:,} characters, some {size // 4:,} tokens, and its answers.", err=True)
        if not confirmed("Ask it?"):
            raise MemtapeError("Nothing was asked.", "Confirm it, or give --yes.")
    actor = Actor(name=judge, origin="model") if judge in COMMANDS else author(model, world.redactor)
    decided, problem = Counter["Verdict"](), ""
    try:
        for done in ask(world.home, world.log, world.scope, model, actor, most):
            decided += done
            world.on_phase("judging", sum(decided.values()), pairs)
    except (BadAnswer, ModelTimeout) as error:
        problem = str(error)
    found = Judgements(
        scope=world.scope, waiting=len(_waiting(world)), decided=_counts(decided), problem=problem
    )
    yield Failure(found) if problem else found
    yield from _lines(world, None, found)
    if problem:
        say(f"Not decided: {problem}", err=True)


def _given(verdicts: Sequence[str]) -> dict[str, Verdict]:
    """Return the verdicts by pair. Raises `InvalidUse` for a wrong one, or for two on one pair."""
    from memtape.state.consolidation.pairs import Verdict as Known

    given: dict[str, Verdict] = {}
    for verdict in verdicts:
        key, _, word = verdict.partition("=")
        if word not in get_args(Known):
            raise InvalidUse(f"{verdict[:60]!r} is no verdict: write PAIR={', '.join(get_args(Known))}.")
        if key in given:
            raise InvalidUse(f"The pair {key[:60]!r} was judged twice.", "Nothing was decided.")
        given[key] = word  # type: ignore[assignment]
    return given


def _waiting(world: World) -> list[WaitingPair]:
    """Return the pairs of this project that wait. Raises `MemtapeError` in `global`."""
    from memtape.state.consolidation.pairs import waiting

    if world.scope == GLOBAL:
        raise MemtapeError(f"{GLOBAL}, of operators, is not judged.", "Name a project's scope.")
    scope = state_of(world, world.scope)
    return [] if scope is None else waiting(scope)


def _listed(world: World, pairs: Sequence[WaitingPair]) -> Judgements:
    from memtape.tools.keep.judging import MOST_PAIRS

    def side(it: Candidate) -> JudgedText:
        return JudgedText(id=it.id, text=it.text, at=it.at, actor=it.actor, origin=it.origin)

    listed = (ListedPair(pair=it.key, earlier=side(it.earlier), later=side(it.later)) for it in pairs)
    shown = tuple(pair for pair, _ in zip(listed, range(MOST_PAIRS), strict=False))
    return Judgements(scope=world.scope, waiting=len(pairs), pairs=shown)


def _counts(done: Counter[Verdict]) -> dict[str, int]:
    return {verdict: done[verdict] for verdict in sorted(done)}


def _told(found: Judgements) -> str:
    return ", ".join(f"{count:,} {verdict}" for verdict, count in found.decided.items())


def _lines(world: World, asked: Any, found: Judgements) -> Iterator[str]:
    for it in found.pairs:
        yield it.pair
        for side in (it.earlier, it.later):
            who = f"{format_day(side.at)}, {one_line(side.actor, 40)} ({side.origin}), {short_id(side.id)}"
            yield f"  {one_line(side.text, TEXT_CHARS)}\n    {who}"
    if found.pairs:
        yield f"{_HOW}\nmemtape admin judge --verdict PAIR=apart"
    if found.decided:
        yield f"Decided: {_told(found)}. `memtape update ID --unfold` undoes what is the same or replaced."
    yield f"{many(found.waiting, 'pair waits', 'pairs wait')} in {found.scope}."


def _tell(world: World, asked: Any, found: Judgements) -> str:
    """Return the pairs for an agent, quoted, and what it may answer; or what was decided."""
    if not found.pairs:
        more = f"{many(found.waiting, 'pair waits', 'pairs wait')} in {world.scope}."
        return f"Decided: {_told(found)}. {more}" if found.decided else more
    pieces = []
    for it in found.pairs:
        sides = ((name, getattr(it, name)) for name in ("earlier", "later"))
        heads = (
            (f"{name}, {markdown.about('fact', it.at, it.actor, it.origin, None, None)}", it.text)
            for name, it in sides
        )
        quoted = (f"{head}\n{markdown.quoted(one_line(text, TEXT_CHARS * 2))}" for head, text in heads)
        pieces.append("\n".join((f"pair `{it.pair}`", *quoted)))
    head = f"{many(len(found.pairs), 'pair')} of {found.waiting:,} that wait in {world.scope}."
    tail = (_HOW, 'Judge each with care, and call tidy with verdicts, as ["PAIR=apart"].')
    return markdown.list_pieces(head, pieces, tail, "judge these first")


VERBS = (
    Verb(
        "admin judge",
        judge,
        lines=_lines,
        effect="adds",
        tool=Offer("Pairs of memories to judge, or your verdicts.", _tell),
    ),
    Verb("admin judge --with", ask_judge, answers="Judgements", effect="adds"),
)
