"""What a hook adds to prompts of conversations: `python tests/bench/injecting.py FILE [--foreign OTHER]`.

FILE and OTHER are corpora, as `memtape admin eval` reads them. The sets are the questions that a conversation
answers, with their evidence, those that it does not, prompts of our own (`foreign_prompts.json`), the
questions that other conversations of FILE answer, and what the people of OTHER say and ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import orjson

from memtape.schemas.placeholders import head_of
from memtape.state.ranking.evaluation import mean
from memtape.tools.agents.offering import PROMPT_CHARS, offered
from memtape.tools.client import Client
from memtape.tools.measure.corpus import Conversation, read_corpus
from memtape.tools.measure.evaluating import filled
from memtape.tools.query.telling import tokenizer

FOREIGN = Path(__file__).with_name("foreign_prompts.json")


class PromptContext(NamedTuple):
    """The context given for a prompt: its tokens (0 for none), and whether it holds evidence."""

    tokens: int
    with_evidence: bool


@click.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--foreign", type=click.Path(exists=True, path_type=Path))
def main(path: Path, foreign: Path | None) -> None:
    """Print by set the shares of prompts that were given anything, and evidence, and the tokens given."""
    conversations, talk = read_corpus(path), list[str]()
    for other in () if foreign is None else read_corpus(foreign):
        talk += [line.text for line in other.lines if line.origin == "user"]
        talk += [question.text for question in other.questions]
    count, measured = tokenizer(), dict[str, list[PromptContext]]()
    with filled(conversations) as (home, log):
        for conversation in conversations:
            client = Client(home, scope=conversation.scope, log=log)
            made = ((line, client.events_of(line, {})) for line in conversation.lines)
            native = {event.id: line.native_id for line, events in made for event in events}
            for of, prompt, evidence in _prompts(conversation, conversations, talk):
                text, answer = offered(client, head_of(prompt, PROMPT_CHARS), "")
                found = any(native.get(result.id) in evidence for result in answer.results)
                measured.setdefault(of, []).append(PromptContext(count.count(text) if text else 0, found))
    click.echo(f"{'':22}prompts  given  with evidence  tokens, mean   max")
    for of, its in measured.items():
        tokens = [one.tokens for one in its if one.tokens]
        given, held = mean([bool(one.tokens) for one in its]), mean([one.with_evidence for one in its])
        click.echo(
            f"{of:22}{len(its):7} {given:6.1%} {held:14.1%} {mean(tokens):13.0f} {max([0, *tokens]):5}"
        )


def _prompts(
    conversation: Conversation, every: Sequence[Conversation], talk: Sequence[str]
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the set of each prompt, its text, and the native ids of the turns with the answer."""
    for one in conversation.questions:
        yield "answerable" if one.evidence else "unanswerable", one.text, one.evidence
    foreign = orjson.loads(FOREIGN.read_bytes())
    for kind in ("coding", "everyday"):
        yield from ((f"foreign, {kind}", text, ()) for text in foreign[kind])
    others = (one for other in every if other is not conversation for one in other.questions)
    yield from (("other conversations", one.text, ()) for one in others if one.evidence)
    yield from (("foreign talk", text, ()) for text in talk)


if __name__ == "__main__":
    main()
