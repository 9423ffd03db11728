"""How well it is told which recalled texts an answer has used: `python tests/bench/using.py FILE…`.

FILE is a corpus of conversations, as `memtape admin eval` reads them, or JSON lines of changing values, as
`replacing` reads them. Each case is a text that was recalled, what was asked, and an answer of which it is
known how it came to be:

- *answer*: the file's answer to the question, and a turn that is its evidence (used)
- *another's answer*: that turn, and the answer to another question, with other evidence (not used)
- *beside*: that answer, and what a search finds for its question that is no evidence (not used, where it says
  nothing of the kind: what else says so is not told in the file)
- *reply*: a turn of a person that is evidence, and what an assistant said right after it (used)
- *earlier*: that turn, and the three things that the assistant had said last before it (not used)
- *quoted* and *replaced*: the text of a value that holds, and of the value that it replaced, where the answer
  quotes the first (used, and not used)

How often a word stands is counted in the conversation, or in all texts of the lines.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # It holds `bench`.

from bench import replacing
from memtape.state.text.carried_words import answer_of, carries
from memtape.state.text.normal import words
from memtape.state.text.reading import read
from memtape.tools.client import Client
from memtape.tools.measure.corpus import Conversation, Question, read_corpus
from memtape.tools.measure.evaluating import filled

GIVEN = 8
"""So many results a tool of an agent gives."""
BEFORE = 3
PHRASES = ("As far as I can tell: {}.", "It was {}, going by what we have.", "{}.",
           "Here is what I found. {} is the answer, so I would go with that.")  # fmt: skip
"""Sentences around an answer, in turn."""
USED = ("answer", "reply", "quoted")
NOT_USED = ("another's answer", "beside", "earlier", "replaced")


class Case(NamedTuple):
    """A text that was recalled, what was asked, and an answer; `half` is dev or test, `kind` the label."""

    kind: str
    half: str
    scope: str
    known: str
    question: str
    answer: str


class Answered(NamedTuple):
    """A question with its evidence, its answer in a sentence, and that of a question of other evidence."""

    question: Question
    answer: str
    other: str


def answered(conversation: Conversation) -> list[Answered]:
    """Return the questions of a conversation that have evidence and an answer."""
    asked = [one for one in conversation.questions if one.answered and one.evidence and one.answer]
    pairs = [(place, one, _other(asked, place)) for place, one in enumerate(asked)]
    return [Answered(one, _said(n, one.answer), _said(n, other.answer)) for n, one, other in pairs if other]


def _said(place: int, answer: str) -> str:
    return PHRASES[place % len(PHRASES)].format(answer.rstrip("."))


def _other(asked: Sequence[Question], place: int) -> Question | None:
    """Return a question from the other half of a conversation that has none of the evidence of one."""
    start = place + len(asked) // 2
    others = (asked[(start + step) % len(asked)] for step in range(len(asked)))
    return next((one for one in others if set(one.evidence).isdisjoint(asked[place].evidence)), None)


def cases_of(path: Path, half: str) -> tuple[list[Case], dict[str, list[str]]]:
    """Return the cases of a half of a file, or of both, and the texts by scope. Raises `MemtapeError`."""
    if path.suffix == ".jsonl":
        rows = [msgspec.json.decode(row, type=Changing) for row in path.read_bytes().splitlines()]
        cases = [case for case in _changing(rows) if half in (case.half, "both")]
        return cases, {"": [text.text for row in rows for text in row.texts]}
    halves = [(one, "test" if number % 2 else "dev") for number, one in enumerate(read_corpus(path))]
    halves = [(one, its) for one, its in halves if half in (its, "both")]
    conversations, cases = [one for one, _ in halves], []
    with filled(conversations, lambda what, done, total: None) as (home, log):
        for conversation, its in halves:
            cases += _asked(conversation, its, Client(home, scope=conversation.scope, log=log))
            cases += _replied(conversation, its)
    return cases, {one.scope: [line.text for line in one.lines] for one in conversations}


class Changing(replacing.Case, frozen=True):
    """Texts of a value that changes, and a question for the one that holds."""

    question: str


def _changing(rows: Sequence[Changing]) -> Iterator[Case]:
    for row in rows:
        half = "test" if sha256(row.id.encode()).digest()[0] % 2 else "dev"
        for now in row.current:
            answer = row.texts[now].text
            yield Case("quoted", half, "", answer, row.question, answer)
            for old in row.replaced:
                yield Case("replaced", half, "", row.texts[old].text, row.question, answer)


def _asked(conversation: Conversation, half: str, client: Client) -> Iterator[Case]:
    """Yield what the questions with answers make."""
    said = {line.native_id: line.text for line in conversation.lines}
    native = {event.id: line.native_id for line in conversation.lines for event in client.events_of(line, {})}
    for one in answered(conversation):
        question = one.question
        for id in question.evidence:
            yield Case("answer", half, conversation.scope, said[id], question.text, one.answer)
            yield Case("another's answer", half, conversation.scope, said[id], question.text, one.other)
        for result in client.search(question.text, GIVEN).results:
            found = native.get(result.id)
            if found is not None and found not in question.evidence:
                yield Case("beside", half, conversation.scope, said[found], question.text, one.answer)


def _replied(conversation: Conversation, half: str) -> Iterator[Case]:
    """Yield what the replies of an assistant make, where the conversation has one."""
    place_of = {line.native_id: place for place, line in enumerate(conversation.lines)}
    for question in conversation.questions:
        for place in (place_of[id] for id in question.evidence):
            told = conversation.lines[place]
            replies = [line.text for line in conversation.lines[place + 1 :][:2] if line.origin == "agent"]
            before = [line.text for line in conversation.lines[:place] if line.origin == "agent"]
            if told.origin != "user" or not replies:
                continue
            yield Case("reply", half, conversation.scope, told.text, question.text, replies[0])
            for answer in before[-BEFORE:]:
                yield Case("earlier", half, conversation.scope, told.text, question.text, answer)


def judged(cases: Sequence[Case], texts: dict[str, list[str]]) -> list[tuple[Case, bool]]:
    """Return of each case whether the rule calls the text used."""
    counts = {scope: Counter(word for text in its for word in {*words(text)}) for scope, its in texts.items()}

    def is_used(case: Case) -> bool:
        told, asked = answer_of(read(case.answer)), words(case.question)
        return carries(told, case.known, asked, counts[case.scope], len(texts[case.scope]))

    return [(case, is_used(case)) for case in cases]


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--half", type=click.Choice(["dev", "test", "both"]), default="both", show_default=True)
@click.option("--show", help="Print the cases of this kind that the rule calls otherwise than their label.")
def main(paths: tuple[Path, ...], half: str, show: str | None) -> None:
    """Say of each kind of case how many the rule calls used."""
    seen: list[tuple[Case, bool]] = []
    for path in paths:
        seen += judged(*cases_of(path, half))
    for kind in (*USED, *NOT_USED):
        found = [is_used for case, is_used in seen if case.kind == kind]
        if found:
            label, used, count = "used" if kind in USED else "not used", sum(found), len(found)
            click.echo(f"{kind:<18} {label:<9} {used:>6,} of {count:>6,}  {used / count:.3f}")
    right = sum(is_used for case, is_used in seen if case.kind in USED)
    wrong = sum(is_used for case, is_used in seen if case.kind in NOT_USED)
    labelled = sum(case.kind in USED for case, _ in seen)
    click.echo(f"precision {right / max(1, right + wrong):.3f}  recall {right / max(1, labelled):.3f}")
    for case, is_used in seen:
        if case.kind == show and is_used is not (case.kind in USED):
            click.echo(f"{case.known[:200]!r}\n  asked {case.question!r}\n  answered {case.answer[:200]!r}")


if __name__ == "__main__":
    main()
