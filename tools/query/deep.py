"""A deep search of the prepared texts: the fields that it looks at, the tree and the links of pages.

The steps are in `state/ranking/deep.py`. Here a model is asked about a step, by the prompts of
`tools/keep/prompts.toml`. A late, silent or wrong answer loses nothing: a filter that fails keeps all, a walk
that fails opens nothing, and a gate that fails is ready with all. A choice missing from an answer keeps all,
and an empty one keeps nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from memtape.schemas.errors import BadAnswer, BudgetSpent, MemtapeError, ModelTimeout
from memtape.schemas.events import DeepStep, Failure
from memtape.schemas.rows import PageRow
from memtape.schemas.visible import one_line
from memtape.sinks.home.folders import Home
from memtape.state.ranking.deep import DeepSearch, Field, Judge, Spot, StepDecision, Weighed, judge_by_rule
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import Ranking
from memtape.state.text.terms import terms
from memtape.state.tree.walking import walk
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.keep.models import author, is_named, model_for, prompt_about, without_thoughts
from memtape.tools.query.found import PreparedTexts

LIMIT_S = 15.0
SHOWN, SHOWN_CHARS, QUERY_CHARS = 30, 300, 400
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_FAILURES: dict[type[MemtapeError], Failure] = {
    ModelTimeout: "late",
    BadAnswer: "silent",
    BudgetSpent: "spent",
}


def field_of(
    ready: PreparedTexts, rank: Callable[[str], Ranking], among: Among | None, now: int, *, follows: bool
) -> Field:
    """Return a scope as the field of a deep search; `follows` says whether edges are followed."""
    found, corpus, rows = ready.found, ready.corpus, list(ready.found.opened.rows(PageRow))
    pages, edges = {row.id: row for row in rows}, {row.version: row.edges for row in rows}

    def id_of(place: int) -> str:
        result = found.result(place)
        return "" if result.sums else result.id

    def placed(rows: Iterable[tuple[PageRow, float]]) -> Weighed:
        at = ((found.texts.called(row.version or ""), weight) for row, weight in rows)
        return [(place, weight) for place, weight in at if place is not None]

    def walked(query: str) -> Weighed:
        weights = corpus.weights(query)

        def score(row: PageRow) -> int:
            own = dict.fromkeys(terms(" ".join((row.title, row.summary, *row.hints))))
            return round(1_000 * sum(weights.get(term, 0.0) for term in own))

        return placed((it.row, it.score / 1_000) for it in walk(pages.get, ready.scope, score))

    def near(place: int) -> Weighed:
        leading = edges.get(id_of(place), ()) if edges else ()
        linked = placed((pages[edge.to], 1.0) for edge in leading if edge.to in pages)
        return [*linked, *corpus.used_with(place)] if follows else []

    return Field(corpus, rank, among or (lambda places: places), found.text, id_of, now, walked, near)


def judge_of(home: Home, redactor: Redactor) -> Judge:
    """Return the judge of a deep search's steps: the configured model, else rules."""
    return ModelJudge(home, redactor).decide if is_named(home) else judge_by_rule


class ModelJudge:
    """The decisions of the model of a home. After a late or missing answer no question is asked."""

    def __init__(self, home: Home, redactor: Redactor) -> None:
        self._home, self._redactor, self._name = home, redactor, "model"
        self._gone: Failure = ""

    def decide(self, step: DeepStep, search: DeepSearch, spots: Sequence[Spot]) -> StepDecision:
        """Return what the model says about the first `SHOWN` texts; of a filter and a gate the rest stays."""
        if not spots and step != "gate":
            return StepDecision(())
        otherwise, asked = () if step == "walk" else spots, spots[:SHOWN]
        if self._gone:
            return StepDecision(otherwise, by=self._name, failure=self._gone)
        lines = [f"Question: {one_line(search.question, QUERY_CHARS)}"]
        texts = (search.fields[scope].text_of(place) for scope, place in asked)
        lines += [f"{n}. {one_line(text, SHOWN_CHARS)}" for n, text in enumerate(texts, start=1)]
        prompt = prompt_about(step, "\n".join(lines))
        answer = ""
        try:
            if (model := model_for(self._home, "recall")) is None:
                raise MemtapeError("The model is no longer named.")
            self._name = author(model, self._redactor).name
            answer = model.answer(prompt, LIMIT_S)
            dropped, query = _choice(answer, asked)
        except MemtapeError as error:
            kinds = (name for kind, name in _FAILURES.items() if isinstance(error, kind))
            failure: Failure = "wrong" if answer else next(kinds, "unreachable")
            self._gone = "" if failure in ("silent", "wrong") else failure
            cost = 0 if failure in ("unreachable", "spent") else len(prompt) + len(answer)
            return StepDecision(otherwise, by=self._name, cost=cost, failure=failure)
        cost = len(prompt) + len(answer)
        kept = [spot for spot in spots if spot not in dropped]
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
