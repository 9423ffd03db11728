"""Judging pairs of memories: list what waits, say what holds of a pair, or let an agent or a model say it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from memtape.schemas.errors import BadAnswer, InvalidUse, MemtapeError, ModelTimeout
from memtape.schemas.events import Actor, Origin
from memtape.schemas.ids import short_id
from memtape.schemas.metrics import tell_progress
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.tools.agents.hosts import HOSTS
from memtape.tools.capture.profiles import check_kept
from memtape.tools.doors import markdown
from memtape.tools.doors.terminal import confirmed, decoded, say
from memtape.tools.query.plan import state_of
from memtape.tools.verb import Failure, Offer, Output, Verb, said, terminal

if TYPE_CHECKING:
    from memtape.state.consolidation.clusters import Candidate
    from memtape.state.consolidation.pairs import WaitingPair
    from memtape.tools.keep.judging import Decision, GivenVerdict
    from memtape.tools.keep.talk import TalkSentence
    from memtape.tools.world import World

MOST_CHARS = 1_000  # No text of a pair is longer, so that a judge reads all of it.
MOST_VERDICTS = 100
COMMANDS = {name: host.ask for name, host in HOSTS.items() if host.ask}
JUDGES = ("head", "nli", *COMMANDS, "model")
_HOW = (
    "same: both say one thing, and every number and name agrees. replaces: the later is a newer value of the "
    "same thing. contradicts: both cannot hold, and people are asked. apart: none of these, or in doubt."
)


_TALK = (
    "A sentence of the last session is worth a fact if it holds beyond that session: name who and what it is "
    "about, in one sentence of at most 300 characters. Leave out the others."
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


class ListedSentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the last session that no rule took, named by `sentence`, and the id of its turn."""

    sentence: str
    text: str
    turn: str


class Judgements(msgspec.Struct, frozen=True, kw_only=True):
    """The number of pairs that wait, the nearest of these, the decisions by verdict, and what went wrong.

    `talk` has sentences of the last session, and `captured` counts the facts made of these.
    """

    scope: str
    waiting: int
    pairs: tuple[ListedPair, ...] = ()
    talk: tuple[ListedSentence, ...] = ()
    captured: int = 0
    decided: dict[str, int] = {}
    problem: str = ""


def judge(
    world: World,
    verdicts: Annotated[
        tuple[str, ...],
        said("PAIR=VERDICT, or SENTENCE=FACT.", MOST_VERDICTS, metavar="PAIR=VERDICT"),
    ] = (),
) -> Judgements:
    """List pairs of memories that may say the same, or judge them.

        memtape admin judge
        memtape admin judge --verdict 1f0c6d1e44=same --verdict 8a2b90c7d1=apart

    Of a pair that is the same the more trusted text stands for both. What is replaced is marked, and ranks
    below the other. `memtape update ID --unfold` undoes both. A verdict counts while neither text changes; a
    pair that was judged is not listed again. --with asks an agent of this machine. --verdict - reads JSON
    lines from stdin: {"pair": "1f0c6d1e44", "verdict": "same", "certainty": 90}, of 100. Sentences of the
    last session that no rule took are listed, too: SENTENCE=FACT keeps a fact in your words.

    Returns pairs, 20 at most, or what was decided. Raises `MemtapeError` for a pair that does not wait.
    """
    from memtape.tools.keep.talk import capture_facts, last_talk

    pairs, talk = _waiting(world), last_talk(world.log, world.scope, world.session)
    if not verdicts:
        return _listed(world, pairs, talk)
    check_kept(world.home, "A verdict")
    from memtape.tools.keep.judging import Ruling, decide

    known, sentences = {pair.key: pair for pair in pairs}, {it.key for it in talk}
    facts = _facts(it for it in verdicts if it.partition("=")[0] in sentences)
    given = _given([it for it in verdicts if it.partition("=")[0] not in sentences])
    if missing := [it.pair for it in given if it.pair not in known]:
        told = f"No pair {missing[0][:60]!r} waits in {world.scope}: it was decided, or a text changed."
        raise MemtapeError(told, "Nothing was decided. Without a verdict the pairs that wait are listed.")
    captured = capture_facts(world, facts, talk)
    rulings = [Ruling(known[it.pair], it.verdict, it.share) for it in given]
    done = decide(world.log, state_of(world, world.scope), rulings, world.actor)
    left = len(_waiting(world))
    return Judgements(scope=world.scope, waiting=left, decided=_counts(done), captured=captured)


def ask_judge(
    world: World,
    judge: Annotated[
        str,
        said(
            "Ask rules of words (head), the entailment model (nli), an agent, or the settings' model.",
            option="--with",
            choices=JUDGES,
        ),
    ],
    most: Annotated[int, said("With --with: ask at most so many times."), Meta(ge=1, le=100)] = 5,
    yes: Annotated[bool, terminal("With --with: ask without a question before.")] = False,
) -> Output:
    """Let Memtape itself, an agent of this machine or a named model judge what waits, 20 pairs at a time."""
    check_kept(world.home, "A verdict")
    decided, problem, left = list["Decision"](), "", _waiting(world)
    try:
        for done in _asked(world, judge, left, most, yes):
            decided += done
            tell_progress("judging", len(decided), len(left))
    except MemtapeError as error:
        if not decided and not isinstance(error, (BadAnswer, ModelTimeout)):
            raise
        problem = f"{error} {error.hint}".rstrip()
    counts, waiting = _counts(decided), len(_waiting(world))
    found = Judgements(scope=world.scope, waiting=waiting, decided=counts, problem=problem)
    yield Failure(found) if problem else found
    yield from _lines(world, None, found)
    if problem:
        say(f"Not decided: {problem}", err=True)


def _asked(
    world: World, judge: str, left: Sequence[WaitingPair], most: int, yes: bool
) -> Iterator[list[Decision]]:  # fmt: skip
    """Yield what a judge decides, answer by answer; a person agrees to the cost first."""
    from memtape.tools.keep.judging import MOST_PAIRS, ask, decide, judge_of, prompt_of, rulings_alone
    from memtape.tools.keep.models import author

    if not left:
        return
    if judge in ("head", "nli"):
        rulings, actor = rulings_alone(world.home, judge, left)
        yield decide(world.log, state_of(world, world.scope), rulings, actor)
        return
    model = judge_of(world.home, judge, COMMANDS)
    calls = min(most, -(-len(left) // MOST_PAIRS))
    if not yes:
        size = sum(len(prompt_of(left[n * MOST_PAIRS :][:MOST_PAIRS])) for n in range(calls))
        pairs = many(min(len(left), calls * MOST_PAIRS), "pair")
        what = f"{model.name} is asked {many(calls, 'time')} about {pairs}"
        say(f"{what}: {size:,} characters, some {size // 4:,} tokens, and its answers.", err=True)
        if not confirmed("Ask it?"):
            raise MemtapeError("Nothing was asked.", "Confirm it, or give --yes.")
    actor = Actor(name=judge, origin="model") if judge in COMMANDS else author(model, world.redactor)
    yield from ask(world.home, world.log, world.scope, model, actor, most)


def _facts(given: Iterable[str]) -> dict[str, str]:
    """Return the facts that are given, by sentence. Raises `InvalidUse` for one that is empty or too long."""
    from memtape.tools.keep.talk import MOST_CHARS as MOST_FACT_CHARS

    facts = dict[str, str]()
    for key, _, text in (it.partition("=") for it in given):
        facts[key] = " ".join(text.split())
        if not 0 < len(facts[key]) <= MOST_FACT_CHARS:
            told = f"A fact has 1 to {MOST_FACT_CHARS} characters, and nothing was decided."
            raise InvalidUse(told, "Shorten it, or leave the sentence out.")
    return facts


def _given(verdicts: Sequence[str]) -> list[GivenVerdict]:
    """Return the verdicts that are given. Raises `InvalidUse` for a wrong one, or for two on one pair."""
    from memtape.tools.keep.judging import GivenVerdict

    given: dict[str, GivenVerdict] = {}
    for verdict in verdicts:
        pair, _, word = verdict.partition("=")
        try:
            if verdict.startswith("{"):
                it = msgspec.json.decode(verdict, type=GivenVerdict)
            else:
                it = msgspec.convert({"pair": pair, "verdict": word}, GivenVerdict)
        except msgspec.MsgspecError:
            told = f"{verdict[:80]!r} is no verdict, and nothing was decided."
            raise InvalidUse(told, "Write PAIR=same, replaces, contradicts or apart.") from None
        if it.pair in given:
            raise InvalidUse(f"The pair {it.pair[:60]!r} was judged twice.", "Nothing was decided.")
        given[it.pair] = it
    return list(given.values())


def _judge_shell(world: World, asked: Any) -> Judgements:
    if asked.verdicts != ("-",):
        return judge(world, asked.verdicts)
    lines = decoded(sys.stdin.buffer.read()).splitlines()
    return judge(world, tuple(line for line in map(str.strip, lines) if line))


def _waiting(world: World) -> list[WaitingPair]:
    """Return the pairs of this project that wait. Raises `MemtapeError` in `global`."""
    from memtape.state.consolidation.pairs import waiting

    if world.scope == GLOBAL:
        raise MemtapeError(f"{GLOBAL}, of operators, is not judged.", "Name a project's scope.")
    return waiting(state_of(world, world.scope))


def _listed(world: World, pairs: Sequence[WaitingPair], talk: Sequence[TalkSentence]) -> Judgements:
    from memtape.tools.keep.judging import MOST_PAIRS

    def side(it: Candidate) -> JudgedText:
        return JudgedText(id=it.id, text=it.text, at=it.at, actor=it.actor, origin=it.origin)

    listed = (ListedPair(pair=it.key, earlier=side(it.earlier), later=side(it.later)) for it in pairs)
    shown = tuple(pair for pair, _ in zip(listed, range(MOST_PAIRS), strict=False))
    told = tuple(ListedSentence(sentence=it.key, text=it.text, turn=it.turn.id) for it in talk)
    return Judgements(scope=world.scope, waiting=len(pairs), pairs=shown, talk=told)


def _counts(done: Iterable[Decision]) -> dict[str, int]:
    return dict(sorted(Counter(verdict for verdict, _ in done).items()))


def _told(found: Judgements) -> str:
    counts = [*found.decided.items(), *([("captured", found.captured)] if found.captured else [])]
    return ", ".join(f"{count:,} {what}" for what, count in counts)


def _lines(world: World, asked: Any, found: Judgements) -> Iterator[str]:
    for it in found.pairs:
        yield it.pair
        for side in (it.earlier, it.later):
            who = f"{format_day(side.at)}, {one_line(side.actor, 40)} ({side.origin}), {short_id(side.id)}"
            yield f"  {one_line(side.text, MOST_CHARS)}\n    {who}"
    if found.pairs:
        yield f"{_HOW}\nmemtape admin judge --verdict PAIR=apart"
    for sentence in found.talk:
        yield f"{sentence.sentence}\n  {one_line(sentence.text, MOST_CHARS)}"
    if found.talk:
        yield f"{_TALK}\nmemtape admin judge --verdict 'SENTENCE=The fact.'"
    if _told(found):
        yield f"Decided: {_told(found)}. `memtape update ID --unfold` undoes what is the same or replaced."
    yield f"{many(found.waiting, 'pair waits', 'pairs wait')} in {found.scope}."


def _tell(world: World, asked: Any, found: Judgements) -> str:
    """Return the pairs for an agent, quoted, and what it may answer; or what was decided."""
    if not found.pairs and not found.talk:
        more = f"{many(found.waiting, 'pair waits', 'pairs wait')} in {world.scope}."
        return f"Decided: {_told(found)}. {more}" if _told(found) else more
    pieces = []
    for it in found.pairs:
        lines = [f"pair `{it.pair}`"]
        for name, side in (("earlier", it.earlier), ("later", it.later)):
            who = f"{markdown.name_of(side.actor, 60)} ({side.origin})"
            lines += [
                f"{name}, {format_day(side.at)}, {who}",
                markdown.quoted(one_line(side.text, MOST_CHARS)),
            ]
        pieces.append("\n".join(lines))
    pieces += [
        f"sentence `{it.sentence}`\n{markdown.quoted(one_line(it.text, MOST_CHARS))}" for it in found.talk
    ]
    head = f"{many(len(found.pairs), 'pair')} of {found.waiting:,} that wait in {world.scope}."
    call = 'Judge each with care, and call tidy with verdicts, as ["PAIR=apart", "SENTENCE=The fact."].'
    tail = (_HOW, *([_TALK] if found.talk else []), call)
    return markdown.list_pieces(head, pieces, tail, "judge these first")


VERBS = (
    Verb(
        "admin judge",
        judge,
        lines=_lines,
        shell=_judge_shell,
        effect="adds",
        tool=Offer("Pairs of memories to judge, or your verdicts.", _tell),
    ),
    Verb("admin judge --with", ask_judge, answers="Judgements", effect="adds"),
)
