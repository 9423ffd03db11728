"""What looking again is worth: recall and time of one look and of the loop, on questions of some corpora.

`python tests/bench/deep.py locomo.json beam.json --half tune`

Questions with evidence in several places are told by the category that the corpus gives them. Both are asked
of the same views in the same run, without a model, for ten results; each question is asked once before, which
makes things ready. Questions are in halves by a digest of scope and words, one to tune by and one to see what
the tuning is worth.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import click

from memtape.state.ranking.deep import Judge, judge_by_rule
from memtape.state.ranking.evaluation import mean, percentile, recall
from memtape.state.views.filters import NO_FILTERS
from memtape.tools.client import Client
from memtape.tools.measure.corpus import Question, read_corpus
from memtape.tools.measure.evaluating import filled, turns_told
from memtape.tools.query.ordering import answered
from memtape.tools.query.plan import SearchQuery
from memtape.tools.query.retrieval import Retriever

LIMIT = 10
SEVERAL = ("1", "3", "multi_session_reasoning", "event_ordering")
"""Categories whose questions need several places: LoCoMo's multi-hop and inference, and two of BEAM."""


class Measured(NamedTuple):
    """A question as one look and the loop answered it: recall of its evidence, milliseconds, and looks."""

    category: str
    once: float
    looped: float
    once_ms: float
    looped_ms: float
    looks: int


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--half", type=click.Choice(["tune", "test", "both"]), default="both", show_default=True)
def main(paths: tuple[Path, ...], half: str) -> None:
    """Print recall@10 and time of one look and of the loop, by category and for all of several places."""
    asked = [one for path in paths for one in _of(path, half)]
    several = [one for one in asked if one.category.rpartition(":")[2] in SEVERAL]
    others = [one for one in asked if one not in several]
    click.echo(f"{'questions':46} number   once   loop   gain      ms   loop times looks")
    for category in dict.fromkeys(one.category for one in asked):
        _print(category, [one for one in asked if one.category == category])
    _print("of several places", several)
    _print("all others", others)


def _of(path: Path, half: str) -> Iterator[Measured]:
    conversations = read_corpus(path)
    with filled(conversations) as (home, log):
        retriever = Retriever(home, log)
        for conversation in conversations:
            client = Client(home, scope=conversation.scope, log=log)
            answer = partial(answered, retriever, conversation.scope)
            made = {line.native_id: client.events_of(line, {}) for line in conversation.lines}
            turn_of = turns_told(made)
            for question in conversation.questions:
                wanted = tuple(made[native][0].id for native in question.evidence if native in made)
                if wanted and half in ("both", half_of(conversation.scope, question)):
                    category = f"{path.stem}:{question.category}"
                    yield _asked(answer, question.text, category, wanted, turn_of)


def half_of(scope: str, question: Question) -> str:
    """Return in which half a question is."""
    return "test" if sha256(f"{scope}:{question.text}".encode()).digest()[0] % 2 else "tune"


def _asked(answer: Any, text: str, category: str, wanted: Sequence[str], turn_of: dict[str, str]) -> Measured:
    def ask(deep: Judge | None) -> tuple[float, float, int]:
        start = time.perf_counter()
        # Evidence is named by the ids of turns, of which each counts, whatever others say the same.
        told = answer(SearchQuery(text, NO_FILTERS, repeats=True, deep=deep, limit=LIMIT))
        took_ms = (time.perf_counter() - start) * 1_000
        found = dict.fromkeys(turn_of.get(result.id, result.id) for result in told.results)
        return recall(wanted, found), took_ms, max((taken.look for taken in told.trace), default=1)

    ask(judge_by_rule)
    (once, once_ms, _), (looped, looped_ms, looks) = ask(None), ask(judge_by_rule)
    return Measured(category, once, looped, once_ms, looped_ms, looks)


def _print(name: str, asked: list[Measured]) -> None:
    if not asked:
        return
    once, looped = mean([one.once for one in asked]), mean([one.looped for one in asked])
    once_ms = percentile([one.once_ms for one in asked], 50)
    looped_ms = percentile([one.looped_ms for one in asked], 50)
    took = sum(one.looped_ms for one in asked) / sum(one.once_ms for one in asked)
    looks = sum(one.looks for one in asked) / len(asked)
    click.echo(
        f"{name:46} {len(asked):6} {once:6.3f} {looped:6.3f} {looped - once:+6.3f}  "
        f"{once_ms:6.1f} {looped_ms:6.1f} {took:5.1f} {looks:5.2f}"
    )


if __name__ == "__main__":
    main()
