"""Decisions about similar memories: by rule, and for the rest by a configured model.

A model may order the words of its sources, and add none: its answer is checked here before any decision, and
refused whole if it names unknown memories. `state/consolidation/clusters.py` decides when a pass begins.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from memtape.flows.workers.consolidate import Conclude, is_wanted, passed
from memtape.schemas.errors import BadAnswer, MemtapeError, ModelTimeout
from memtape.schemas.events import COVERING, MAX_INPUTS
from memtape.schemas.log import Log
from memtape.schemas.rows import PassMark
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import format_day
from memtape.sinks.home.folders import Home
from memtape.state.consolidation import rules
from memtape.state.consolidation.clusters import Candidate, Cluster, DueCluster, Gate, gate, plan
from memtape.state.consolidation.rules import ConcludedOperation, Conclusion
from memtape.state.subjects.captures import TRUST
from memtape.state.text.instructions import heard_in
from memtape.state.text.reading import read
from memtape.state.text.terms import terms
from memtape.tools.capture.injected import said
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.models import author, listed_in, model_for, prompt_about
from memtape.tools.keep.states import partition_now

if TYPE_CHECKING:
    from memtape.tools.capture.secrets.redaction import Redactor

WAIT_S = 30.0
MOST_CHARS = 400
"""The longest text of an operation, as the prompt says."""
LIMIT_S = 60.0
_VALUES = re.compile(r"\w*\d[\w.:/-]*|https?://\S+")
_TURNING = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|without|except|unless|only|cannot|neither|nor|kein\w*|nicht|nie|ohne|nur)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_TELLING = "since previously previous before earlier until formerly now currently then"


class OperationAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One operation in a model's answer; memories are numbered from 1."""

    op: Literal["keep", "add", "conflict", "replace", "remove"]
    id: int | None = None
    ids: tuple[int, ...] = ()
    previous: tuple[int, ...] = ()
    survivor: int | None = None
    text: str = ""


def consolidator(home: Home) -> Conclude:
    """Return the function that decides about clusters of a home: by rule, the rest by its model.

    A failed attempt is a conclusion with its problem. Raises `BudgetSpent` and `MemtapeError`.
    """

    @cache
    def redactor() -> Redactor:
        # Nobody who only projects should wait for what finds secrets.
        from memtape.tools.capture.secrets.redaction import Redactor

        return Redactor(home)

    def conclude(due: DueCluster) -> list[Conclusion]:
        concluded = rules.conclude(due.cluster)
        named = {candidate.id: None for conclusion in concluded for candidate in conclusion.cluster}
        left = tuple(candidate for candidate in due.cluster if candidate.id not in named)
        model = model_for(home, "consolidate") if len(left) > 1 else None
        if model is None:
            return concluded
        who = (f"{format_day(it.at)} {' '.join(it.actor.split())} ({it.origin})" for it in left)
        lines = (f"{head}: {' '.join(it.text.split())}" for head, it in zip(who, left, strict=True))
        listed = "\n".join(f"[{number}] {line}" for number, line in enumerate(lines, 1))
        actor = author(model, redactor())
        try:
            operations = operations_of(model.answer(prompt_about("consolidate", listed), LIMIT_S), left)
        except (ModelTimeout, BadAnswer) as error:
            return [*concluded, Conclusion(left, (), due.attempt, str(error), actor)]
        if not operations:
            return concluded
        operations = tuple(it._replace(text=redactor().text(it.text)) for it in operations)
        return [*concluded, Conclusion(left, operations, due.attempt, actor=actor)]

    return conclude


def operations_of(answer: str, cluster: Cluster) -> tuple[ConcludedOperation, ...]:
    """Return the operations of an answer about a cluster. Raises `BadAnswer`: then nothing of it is kept."""
    found = listed_in(answer, OperationAnswer, "operations")
    found = [it for it in found if it.op != "keep"]
    if len(found) > MAX_INPUTS:
        raise BadAnswer("The model's answer has more operations than it was given memories.")
    operations = [_operation(it, cluster) for it in found]
    covered = Counter(it.id for operation in operations if operation.op in COVERING for it in operation.of)
    opposed = [it for it in operations if it.op == "conflict"]
    sides = [it.id for each in opposed for it in (*each.of, *([each.survivor] if each.survivor else []))]
    if any(count > 1 for count in covered.values()) or any(id in covered for id in sides):
        raise BadAnswer("The model's answer decides about one memory twice.")
    return _joined(operations)


def _operation(answer: OperationAnswer, cluster: Cluster) -> ConcludedOperation:

    def named(number: int | None) -> Candidate:
        if number is None or not 1 <= number <= len(cluster):
            raise BadAnswer("The model's answer names a memory that it was not given.")
        return cluster[number - 1]

    match answer.op:
        case "remove":
            gone, survivor = named(answer.id), named(answer.survivor)
            if gone is survivor or not is_told_by(gone.text, survivor.text):
                raise BadAnswer("The model's answer removes what is no duplicate.")
            if TRUST[survivor.origin] < TRUST[gone.origin]:
                if not is_told_by(survivor.text, gone.text):
                    raise BadAnswer("The model's answer removes what somebody trusted more has said.")
                gone, survivor = survivor, gone
            return ConcludedOperation("remove", (gone,), survivor=survivor)
        case "replace":
            of = tuple(dict.fromkeys([named(answer.id), *map(named, answer.previous)]))
            text = _checked(answer.text, of)
            if not all(is_told_by(it.text, text) for it in of):
                raise BadAnswer("The model's answer loses what a memory says.")
            return ConcludedOperation("replace", of, text=text)
        case "conflict":
            of = tuple(dict.fromkeys(map(named, answer.ids)))
            if len(of) != 2 or any(it.made for it in of):
                raise BadAnswer("The model's answer opposes what are no two facts.")
            one, other = of
            words, others = stated_words(one.text), stated_words(other.text)
            tells = is_told_by(one.text, other.text) or is_told_by(other.text, one.text)
            if tells and words.turning == others.turning:
                raise BadAnswer("The model's answer opposes what says the same.")
            if not words.terms & others.terms:
                raise BadAnswer("The model's answer opposes what has no word in common.")
            return ConcludedOperation("conflict", (other,), survivor=one)
        case _:
            of = tuple(dict.fromkeys(map(named, answer.ids)))
            if len(of) < 2:
                raise BadAnswer("The model's answer adds what it has from nowhere.")
            return ConcludedOperation("add", of, text=_checked(answer.text, of))


def _joined(operations: list[ConcludedOperation]) -> tuple[ConcludedOperation, ...]:
    """Merge removals in favour of a replaced memory into the replacement, in the form of an event."""
    replaced = {it.of[0].id: it for it in operations if it.op == "replace"}
    gone = {it.id: None for operation in operations if operation.op == "remove" for it in operation.of}
    for operation in (it for it in operations if it.op == "remove"):
        survivor = operation.survivor
        assert survivor is not None
        if survivor.id in gone:
            raise BadAnswer("The model's answer removes a memory for one that it removes too.")
        if survivor.id in replaced:
            whole = replaced[survivor.id]
            replaced[survivor.id] = whole._replace(of=(*whole.of, *operation.of))
    kept = [it for it in operations if it.op == "add" or (it.survivor and it.survivor.id not in replaced)]
    return (*replaced.values(), *kept)


def _checked(text: str, of: Cluster) -> str:
    """Return a text on one line. Raises `BadAnswer` for an order, and any word that its sources do not have.

    Code checks days too; `_TELLING` has the words about time. A model, or an instruction hidden in a memory,
    can therefore only order the words of the sources.
    """
    text = " ".join(said(text).split())
    if not 0 < len(text) <= MOST_CHARS:
        raise BadAnswer(f"The model's answer has an empty text, or one of more than {MOST_CHARS} characters.")
    told, known = stated_words(text), stated_words(" ".join(f"{format_day(it.at)} {it.text}" for it in of))
    if not told.values <= known.values:
        raise BadAnswer("The model's answer has a number that no memory has.")
    if not (told.terms <= known.terms | frozenset(terms(_TELLING)) and told.turning <= known.turning):
        raise BadAnswer("The model's answer says what no memory says.")
    if heard_in(read(text)).standing:
        raise BadAnswer("The model's answer gives an order.")
    return text


def alone(home: Home, wait_s: float = 0) -> AbstractContextManager[None]:
    """Hold the right to consolidate in a block. Raises `Locked` if another process does."""
    return home.lock("consolidation").held(wait_s)


class Consolidated(NamedTuple):
    """The result of a pass or dry run: its gate, number of clusters, decisions and problems."""

    gate: Gate
    is_done: bool
    clusters: int
    conclusions: list[Conclusion]
    problems: list[str]


def consolidate_scope(
    home: Home, log: Log, name: str, *, dry_run: bool = False, at_once: bool = False,
    on_cluster: Callable[[int, int], None] = lambda done, total: None,
) -> Consolidated:  # fmt: skip
    """Begin a pass in a scope with an open gate, or `at_once`; a dry run asks and appends nothing.

    Raises `BudgetSpent` and `MemtapeError` without a model's answer, `Locked` in another pass.
    """
    if name == GLOBAL:
        raise MemtapeError(f"{GLOBAL}, of operators, is not consolidated.", "Name a project's scope.")
    with nullcontext() if dry_run else alone(home, WAIT_S):
        state = partition_now(home, log, name)
        scope = state.scopes.get(name)
        if scope is None:
            return Consolidated(Gate(False, "nothing was said in it"), False, 0, [], [])
        opened = gate(scope.passes.mark(), now_us())
        if dry_run:
            due = [each.cluster for each in plan(scope).due]
            concluded = [conclusion for cluster in due for conclusion in rules.conclude(cluster)]
            concluded = [conclusion for conclusion in concluded if is_wanted(scope, conclusion)]
            return Consolidated(opened, False, len(due), concluded, [])
        if not (opened.is_open or at_once):
            return Consolidated(opened, False, 0, [], [])
        parts = list(passed(log, state, name, consolidator(home), now_us, on_cluster))
    clusters = sum(part.clusters for part in parts)
    conclusions = [conclusion for part in parts for conclusion in part.conclusions]
    problems = [problem for part in parts for problem in part.problems]
    return Consolidated(opened, True, clusters, conclusions, problems)


def marks_of(home: Home, log: Log) -> dict[str, PassMark]:
    """Return how consolidation goes in each scope, as far as the views know."""
    marks = BuildViews(home, log).watermarks
    return {name: passed for mark in marks if mark is not None for name, passed in mark.passes.items()}


class StatedWords(NamedTuple):
    """The words of a text: terms, numbers and addresses, and words that turn a statement around."""

    terms: frozenset[str]
    values: frozenset[str]
    turning: frozenset[str]


def stated_words(text: str) -> StatedWords:
    """Return what a text says."""
    values = frozenset(value.rstrip(".:/-,;)").lower() for value in _VALUES.findall(text))
    turning = frozenset(word.lower().replace("’", "'") for word in _TURNING.findall(text))
    return StatedWords(frozenset(terms(text)), values, turning)


def is_told_by(text: str, other: str) -> bool:
    """Whether another text says all that a text says."""
    return all(own <= its for own, its in zip(stated_words(text), stated_words(other), strict=True))
