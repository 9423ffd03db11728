"""Verdicts of judges on pairs of memories: checked here, and appended as decisions.

A judge is a person, an agent, or a model that is asked about some pairs at a time. A model's answer is
refused whole if it names a pair that the model was not given, or one twice. `state/consolidation/pairs.py`
has the pairs that wait.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from memtape.flows.entailment import CrossEncoder
from memtape.flows.models import CommandModel
from memtape.flows.workers.consolidate import append, events_of
from memtape.schemas.errors import BadAnswer, MemtapeError, ModelTimeout
from memtape.schemas.events import MAX_ATTEMPTS, PEOPLE, Actor
from memtape.schemas.log import Log
from memtape.schemas.times import format_day
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.state.consolidation.clusters import Candidate
from memtape.state.consolidation.pairs import WaitingPair, conclusion_of, waiting
from memtape.state.consolidation.rules import Conclusion
from memtape.state.core.scope import Scope
from memtape.state.fold.features import specifics_differ
from memtape.state.fold.learned_judge import Verdict, judge
from memtape.state.subjects.passes import Seen
from memtape.state.text.certainty import CERTAIN
from memtape.state.text.reading import read
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.models import CountedModel, author, listed_in, model_for, prompt_about
from memtape.tools.keep.states import scope_now

MOST_PAIRS = 20  # Pairs handed out at once at most.
LIMIT_S = 300.0  # Of an answer about so many pairs; an agent starts slowly.
MODEL = "model"  # The judge that the settings name.
SURE = 9_000  # The least certainty of an entailment model in both directions, in ten-thousandths.
_VALUES = re.compile(r"\w*\d[\w.:/-]*|https?://\S+")
_DENIAL = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|without|except|unless|only|cannot|neither|nor|kein\w*|nicht|nie|ohne|nur)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
LEARNED_JUDGE = Actor(name="head/1", origin="model")
"""The judge that is always there; another version of its numbers has another name."""


class _Judged(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    verdict: Verdict
    certainty: Annotated[int, Meta(ge=0, le=100)] | None = None

    @property
    def share(self) -> int | None:
        """The certainty in ten-thousandths."""
        return None if self.certainty is None else self.certainty * 100


class VerdictAnswer(_Judged, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A verdict in a model's answer; pairs are numbered from 1, and certainty is of 100."""

    pair: int


class GivenVerdict(_Judged, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A verdict on a pair that waits, by the pair's name; certainty is of 100."""

    pair: str


class Ruling(NamedTuple):
    """A verdict on a pair, and how certain the judge is of it, in ten-thousandths if known."""

    pair: WaitingPair
    verdict: Verdict
    certainty: int | None = None


Decision = tuple[Verdict, Conclusion]


def decide(log: Log, scope: Scope, rulings: Sequence[Ruling], actor: Actor) -> list[Decision]:
    """Append the decisions of an actor's rulings, and return them.

    Nobody but a person says that two texts are the same if their numbers differ, or if one of them alone
    denies something: such a pair is left apart, and the decision is one of the rules.
    """
    done = list[Decision]()
    for pair, verdict, certainty in rulings:
        conclusion = conclusion_of(pair, verdict, actor, certainty)
        if verdict == "same" and actor.origin not in PEOPLE and not _may_be_same(pair):
            verdict, conclusion = "apart", conclusion_of(pair, "apart", None)
        append(log, events_of(scope, conclusion, now_us()))
        done.append((verdict, conclusion))
    return done


def _may_be_same(pair: WaitingPair) -> bool:
    """Return whether both texts have the same numbers and addresses, and both or neither denies something."""
    one, other = pair.earlier.text, pair.later.text
    return _values(one) == _values(other) and bool(_DENIAL.search(one)) is bool(_DENIAL.search(other))


def _values(text: str) -> frozenset[str]:
    return frozenset(value.rstrip(".:/-,;)").lower() for value in _VALUES.findall(text))


def judge_of(home: Home, name: str, commands: Mapping[str, Sequence[str]]) -> CountedModel:
    """Return the judge of a name: the model of the settings, or a host by its command.

    Each counts against the day's budget. Raises `MemtapeError` where there is none.
    """
    if name == MODEL:
        model = model_for(home, "consolidate")
        if model is None:
            raise MemtapeError("No model is named here.", "Name one under [model], or give another judge.")
        return model
    program = shutil.which(commands[name][0])
    if program is None:
        raise MemtapeError(f"{commands[name][0]} is not on the PATH.", "Install it, or give another judge.")
    host = CommandModel([program, *commands[name][1:]], name)
    return CountedModel(home, host, local_settings(home).model)


def judge_in_pass(home: Home, log: Log, name: str) -> Iterator[Conclusion]:
    """Let the daily judge of the settings judge what waits in a scope, and yield the conclusions.

    Raises `BudgetSpent`, `ModelAway` and other `MemtapeError`s; earlier decisions stay.
    """
    options = local_settings(home).judge
    scope = scope_now(home, log, name)
    is_unnamed = options.daily == "auto" and model_for(home, "consolidate") is None
    if options.daily == "none" or is_unnamed or scope is None:
        return
    if options.daily in ("head", "nli"):
        rulings, actor = rulings_alone(home, options.daily, waiting(scope))
        yield from (conclusion for _, conclusion in decide(log, scope, rulings, actor))
        return
    from memtape.tools.capture.secrets.redaction import Redactor

    model = judge_of(home, MODEL, {})
    for decided in ask(home, log, name, model, author(model, Redactor(home)), options.calls_per_pass):
        yield from (conclusion for _, conclusion in decided)


def rulings_alone(home: Home, judge: str, pairs: Sequence[WaitingPair]) -> tuple[list[Ruling], Actor]:
    """Return the rulings of `head` or `nli`, and the judge. Raises `MemtapeError`."""
    if judge == "head":
        return learned_rulings(pairs), LEARNED_JUDGE
    encoder = entailment_of(home)
    return rulings_by_entailment(encoder, pairs), Actor(name=f"nli/{encoder.version}", origin="model")


def learned_rulings(pairs: Sequence[WaitingPair]) -> list[Ruling]:
    """Return the rulings that the learned judge is certain enough of to need no other judge."""
    found = ((pair, judge(read(pair.earlier.text), read(pair.later.text), pair.cosine)) for pair in pairs)
    decided = [Ruling(pair, it.verdict, it.certainty) for pair, it in found if it.is_decided]
    return [it for it in decided if it.verdict != "same" or _may_be_same(it.pair)]


def entailment_of(home: Home) -> CrossEncoder:
    """Return the entailment model of the settings. Raises `MemtapeError` without a good one."""
    path = local_settings(home).judge.path
    if not path:
        raise MemtapeError("No entailment model is named here.", "Set judge.path to the folder of one.")
    return CrossEncoder(Path(path).expanduser())


def rulings_by_entailment(model: CrossEncoder, pairs: Sequence[WaitingPair]) -> list[Ruling]:
    """Return the rulings of which an entailment model is sure, and which the words of both texts allow."""
    return [ruling for pair in pairs if (ruling := _entailed(model, pair)) is not None]


def _entailed(model: CrossEncoder, pair: WaitingPair) -> Ruling | None:
    earlier, later = pair.earlier.text, pair.later.text
    both = model.relation(earlier, later), model.relation(later, earlier)
    found: dict[Verdict, float] = {
        "same": min(it.follows for it in both),
        "contradicts": min(it.denies for it in both),
        "apart": min(1 - it.follows - it.denies for it in both),
    }
    verdict = max(found, key=lambda it: found[it])
    certainty = int(found[verdict] * CERTAIN)
    if certainty < SURE:
        return None
    if verdict == "same":
        may_be = _may_be_same(pair) and not specifics_differ(read(earlier), read(later))
        return Ruling(pair, "same", certainty) if may_be else None
    if verdict == "contradicts":
        # A newer value denies the older one, too: words tell which, or that nobody knows.
        verdict = judge(read(earlier), read(later), pair.cosine).verdict
        return Ruling(pair, verdict, certainty) if verdict in ("replaces", "contradicts") else None
    return Ruling(pair, "apart", certainty)


def prompt_of(pairs: Sequence[WaitingPair]) -> str:
    """Return the question about some pairs."""
    return prompt_about("judge", "\n".join(_listed(number, pair) for number, pair in enumerate(pairs, 1)))


def _listed(number: int, pair: WaitingPair) -> str:
    def told(it: Candidate) -> str:
        who = f"{format_day(it.at)} {' '.join(it.actor.split())} ({it.origin})"
        return f"{who}: {' '.join(it.text.split())}"

    return f"[{number}] earlier, {told(pair.earlier)}\n[{number}] later, {told(pair.later)}"


def rulings_of(answer: str, pairs: Sequence[WaitingPair]) -> list[Ruling]:
    """Return the rulings of an answer about some pairs. Raises `BadAnswer`: then nothing of it is kept."""
    found = listed_in(answer, VerdictAnswer, "verdicts")
    numbers = Counter(it.pair for it in found)
    if any(not 1 <= number <= len(pairs) for number in numbers):
        raise BadAnswer("The answer names a pair that the judge was not given.")
    if any(count > 1 for count in numbers.values()):
        raise BadAnswer("The answer judges a pair twice.")
    return [Ruling(pairs[it.pair - 1], it.verdict, it.share) for it in found]


def ask(
    home: Home, log: Log, name: str, model: CountedModel, actor: Actor, most: int
) -> Iterator[list[Decision]]:  # fmt: skip
    """Ask a model about the pairs of a scope that wait, some at a time and each once; yield what it decided.

    It is asked at most `most` times; pairs that were set aside come last. Raises `BadAnswer`, `BudgetSpent`,
    `ModelTimeout` and `MemtapeError`.
    """
    asked: dict[str, None] = {}
    for _ in range(most):
        scope = scope_now(home, log, name)
        left = [] if scope is None else [pair for pair in waiting(scope) if pair.key not in asked]
        if scope is None or not left:
            return
        pairs = sorted(left, key=lambda pair: _seen(pair) in scope.passes.aside)[:MOST_PAIRS]
        asked |= {pair.key: None for pair in pairs}
        try:
            rulings = rulings_of(model.answer(prompt_of(pairs), LIMIT_S), pairs)
        except (BadAnswer, ModelTimeout) as error:
            for pair in pairs:
                append(log, events_of(scope, _failure(scope, pair, str(error), actor), now_us()))
            raise
        yield decide(log, scope, rulings, actor)


def _seen(pair: WaitingPair) -> Seen:
    return tuple((it.id, it.seq) for it in conclusion_of(pair, "apart", None).cluster)


def _failure(scope: Scope, pair: WaitingPair, problem: str, actor: Actor) -> Conclusion:
    """Return the conclusion of a judge's unusable answer; a pair is set aside after `MAX_ATTEMPTS`."""
    seen, queued = _seen(pair), scope.passes.queued
    failed, _ = queued.get(tuple(id for id, _ in seen), (0, 0))
    attempt = MAX_ATTEMPTS if seen in scope.passes.aside else failed + 1
    return conclusion_of(pair, "apart", actor)._replace(attempt=attempt, problem=problem)
