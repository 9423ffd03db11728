"""A deep search of the prepared texts: the fields that it looks at, the tree and the links of pages.

The steps are in `state/ranking/deep.py`. Here are the questions to a model about a step, and the handling of
late, silent and wrong answers: a filter that fails keeps all, a walk that fails opens nothing, and a gate
that fails is ready with all. A choice missing from an answer keeps all, and an empty one keeps nothing.
Memories in a prompt are data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from memtape.schemas.errors import BadAnswer, BudgetSpent, MemtapeError, ModelTimeout
from memtape.schemas.events import Failure
from memtape.schemas.rows import PageRow
from memtape.schemas.visible import one_line
from memtape.sinks.home.folders import Home
from memtape.state.index.entries import KINDS
from memtape.state.ranking.deep import RULES, DeepSearch, Field, Judge, Spot, StepDecision, share_held
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import Ranking
from memtape.state.text.terms import terms
from memtape.state.tree.walking import walk
from memtape.tools.keep.models import about, author, is_named, model_for, without_thoughts
from memtape.tools.query.found import PreparedTexts

if TYPE_CHECKING:
    from memtape.tools.capture.secrets.redaction import Redactor

PAGE = KINDS.index("page")


def field_of(
    ready: PreparedTexts, rank: Callable[[str], Ranking], among: Among | None, now: int, session: str | None,
    *, follows: bool,
) -> Field:  # fmt: skip
    """Return a scope as the field of a deep search; `follows` says whether edges are followed."""
    found, opened = ready.found, ready.found.opened
    page = partial(opened.row, PageRow)

    @cache
    def pages() -> dict[str | None, PageRow]:
        return {row.version: row for row in opened.rows(PageRow)}

    def id_of(place: int) -> str:
        result = found.result(place)
        return "" if result.sums else result.id

    def walked(query: str) -> list[tuple[int, float]]:
        if not opened.has_any(PageRow):
            return []
        weights = ready.corpus.weights(query)

        def score(row: PageRow) -> int:
            own = dict.fromkeys(terms(" ".join((row.title, row.summary, *row.hints))))
            return round(1_000 * share_held(weights, own))

        visited = walk(page, ready.scope, score)
        placed = ((found.texts.called(it.row.version or ""), it.score) for it in visited)
        return [(place, share / 1_000) for place, share in placed if place is not None]

    def links(place: int) -> list[int]:
        if found.texts.column("kinds", np.array([place]))[0] != PAGE:
            return []
        row = pages().get(found.result(place).id)
        others = (page(edge.to) for edge in row.edges if edge.to is not None) if row is not None else ()
        placed = (found.texts.called(other.version or "") for other in others if other is not None)
        return [other for other in placed if other is not None]

    passing = among or (lambda places: places)
    return Field(ready.corpus, rank, passing, found.text, id_of, now, session, walked, links, follows)


LIMIT_S = 15.0
SHOWN, SHOWN_CHARS, QUERY_CHARS = 30, 300, 400
_WHAT = "a question to a memory in the first line, and texts of that memory, each on a line with its number"
_FILTER = """\
Say which of the texts may help to answer the question. Leave out those that have nothing to do with it."""
_FILTER_FORM = 'Now write {"keep": [numbers]} and nothing else.'
_WALK = """\
The texts are pages. Say which of them should be opened to answer the question."""
_GATE = """\
Say whether the texts together answer the question, and which of them belong to the answer. Where something \
is missing,
write a few words to look for it with, as they would stand in a text that has it."""
_GATE_FORM = 'Now write {"ready": true or false, "keep": [numbers], "query": "words"} and nothing else.'
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_FAILURES: dict[type[MemtapeError], Failure] = {
    ModelTimeout: "late",
    BadAnswer: "silent",
    BudgetSpent: "spent",
}


def judge_of(home: Home, redactor: Redactor) -> Judge:
    """Return the judge of a deep search's steps: the configured model, else rules."""
    if not is_named(home):
        return RULES
    model = ModelJudge(home, redactor)
    return {"filter": model.filter, "walk": model.walk, "gate": model.gate}


class ModelJudge:
    """The decisions of the model of a home. After a late or missing answer no question is asked."""

    def __init__(self, home: Home, redactor: Redactor) -> None:
        self._home = home
        self._redactor = redactor
        self._judged: dict[Spot, None] = {}
        self._walked: dict[Spot, bool] = {}
        self._gone: Failure = ""
        self._name = "model"

    def filter(self, search: DeepSearch, spots: Sequence[Spot]) -> StepDecision:
        """Return which seen texts are kept. Texts judged before stay, and texts beyond `SHOWN` too."""
        asked = [spot for spot in spots if spot not in self._judged][:SHOWN]
        self._judged |= dict.fromkeys(asked)
        return self._ask(_FILTER, _FILTER_FORM, search, asked, spots) if asked else StepDecision(spots)

    def walk(self, search: DeepSearch, spots: Sequence[Spot]) -> StepDecision:
        """Return which pages are opened. A page is asked about once."""
        asked = [spot for spot in spots if spot not in self._walked][:SHOWN]
        told = self._ask(_WALK, _FILTER_FORM, search, asked, ()) if asked else StepDecision(())
        self._walked |= dict.fromkeys(asked, False) | dict.fromkeys(told.kept, True)
        return told._replace(kept=[spot for spot in spots if self._walked.get(spot)])

    def gate(self, search: DeepSearch, spots: Sequence[Spot]) -> StepDecision:
        """Return the best texts to keep, and the next query."""
        return self._ask(_GATE, _GATE_FORM, search, spots, spots)

    def _ask(
        self, task: str, form: str, search: DeepSearch, asked: Sequence[Spot], otherwise: Sequence[Spot]
    ) -> StepDecision:
        """Return what the model says about the `asked` texts; without a right answer `otherwise` are kept."""
        if self._gone:
            return StepDecision(otherwise, by=self._name, failure=self._gone)
        lines = [f"Question: {one_line(search.question, QUERY_CHARS)}"]
        lines += [f"{n}. {one_line(search.text(spot), SHOWN_CHARS)}" for n, spot in enumerate(asked, start=1)]
        prompt, answer = about(_WHAT, task, "\n".join(lines), form), ""
        try:
            if (model := model_for(self._home, "recall")) is None:
                raise MemtapeError("The model is no longer named.")
            self._name = author(model, self._redactor).name
            answer = model.answer(prompt, LIMIT_S)
        except MemtapeError as error:
            kinds = (name for kind, name in _FAILURES.items() if isinstance(error, kind))
            failure: Failure = next(kinds, "unreachable")
            self._gone = "" if failure == "silent" else failure
            cost = len(prompt) if failure in ("silent", "late") else 0
            return StepDecision(otherwise, by=self._name, cost=cost, failure=failure)
        cost = len(prompt) + len(answer)
        try:
            dropped, query = _choice(answer, asked)
        except BadAnswer:
            return StepDecision(otherwise, by=self._name, cost=cost, failure="wrong")
        kept = [spot for spot in (otherwise or asked) if spot not in dropped]
        return StepDecision(kept, self._redactor.question(query) if query else "", self._name, cost)


class ModelChoice(msgspec.Struct, frozen=True):
    """The answer of a model: the numbers of the texts to keep, and a gate's next query unless `ready`."""

    keep: list[int] | msgspec.UnsetType = msgspec.UNSET
    ready: bool = True
    query: str = ""


def _choice(answer: str, asked: Sequence[Spot]) -> tuple[list[Spot], str]:
    """Return the texts that an answer drops, and the next query, empty at the end. Raises `BadAnswer`."""
    found = _OBJECT.search(without_thoughts(answer))
    try:
        told = msgspec.json.decode(found.group(0) if found is not None else "", type=ModelChoice)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise BadAnswer("The model's answer is no such JSON object.") from None
    numbers = range(1, len(asked) + 1)
    keep = numbers if told.keep is msgspec.UNSET else dict.fromkeys(told.keep)
    if any(n not in numbers for n in keep) or not (told.ready or told.query.strip()):
        raise BadAnswer("The model's answer chooses what it was not shown, or does not say what is missing.")
    dropped = [spot for n, spot in enumerate(asked, start=1) if n not in keep]
    return dropped, "" if told.ready else one_line(told.query, QUERY_CHARS)
