"""Measure recall: on a file of questions, on the searches of the past, and beside shadow retrievers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from memtape.schemas.embedding import CHOICES
from memtape.schemas.errors import MemtapeError
from memtape.schemas.lanes import Lane, State
from memtape.schemas.visible import many, one_line
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.tools.doors.terminal import phases, say
from memtape.tools.keep.log_settings import States, set_state, states_on
from memtape.tools.verb import Asks, Verb, said

if TYPE_CHECKING:
    from memtape.tools.world import World

SHOWN_CHARS = 200
RetrieverName = Literal["bm25", "dense", "rrf", "memtape"]
Percent = Annotated[int, Meta(ge=0, le=100)]


def evaluate(
    home: Path,
    file: Annotated[str, said("The file of questions, or a folder of BEAM's chats.", path="any")],
    retrievers: Annotated[tuple[RetrieverName, ...], said("Only this one.")] = (),
    without: Annotated[tuple[Lane, ...], said("Also Memtape less this lane.", option="--without")] = (),
    embedder: Annotated[
        str | None, said("The embedder, by default that of this machine.", choices=CHOICES)
    ] = None,
    model: Annotated[str | None, said("For local: a name of the Hugging Face hub, or a folder.")] = None,
) -> dict[str, Any]:
    """Measure how much of the evidence of a file's questions retrievers find.

        memtape admin eval locomo10.json --retriever bm25 --retriever memtape
        memtape admin eval locomo10.json --embedder floor --without sparse --json

    The file is LoCoMo or LongMemEval as published, or {"conversations": [{"id", "turns": [{"id", "session",
    "speaker", "role", "text", "at"}], "questions": [{"question", "evidence": [turn ids], "category"}]}]}.
    `at` is ISO 8601, or a number of seconds or milliseconds since 1970. The turns are captured into a
    temporary home; yours is only read for its settings.

    "turn" and "session" are the mean share of a question's evidence among the first results, "any" and "all"
    the share of questions with any or all of their turns there. --json also has the ranks for each question.
    """
    from memtape.flows.embed.choice import choose_embedder
    from memtape.tools.measure.comparing import LESS
    from memtape.tools.measure.evaluating import evaluate

    options = local_settings(Home(home)).embedder
    if embedder is not None or model is not None:
        changes = {"choice": embedder or options.choice, "model": model or options.model}
        options = msgspec.structs.replace(options, **changes)
    opened, resolved = choose_embedder(options, dense_on_log=False)
    if opened is None or (resolved.kind == "floor" and options.choice not in ("auto", "floor")):
        raise MemtapeError(f"The embedder {options.choice} cannot be used here: {resolved.warning}")
    names = [*(retrievers or get_args(RetrieverName)), *(LESS[lane] for lane in without)]
    with phases():
        measured = evaluate(Path(file), list(dict.fromkeys(names)), opened)
    for note in measured["notes"]:
        say(note, err=True)
    return measured


def compare(
    world: World,
    retrievers: Annotated[tuple[RetrieverName, ...], said("Only this one.")] = (),
    limit: Annotated[int, Meta(description="The latest searches.", ge=1, le=100_000)] = 1_000,
) -> dict[str, Any]:
    """Ask several retrievers the past questions of this project, and compare their results.

        memtape admin compare --retriever bm25 --retriever memtape
        memtape admin compare --shadow

    Recall counts the used results of a search (`memtape agents used`). Without any known use there is nothing
    to compare with, and only --json has figures, about the returned results. The searches are asked of the
    current views; nothing is put on the log.

    With --shadow nothing is asked: it reports the results of shadow retrievers (`memtape admin retriever
    set`) beside the answers given. Only shown results are likely to be used, so the active retriever has the
    advantage.
    """
    from memtape.tools.measure import comparing

    return world.read(lambda views, scope: comparing.compare(views, world.log, scope, retrievers, limit))


def compare_shadows(world: World) -> dict[str, Any]:
    """Instead compare what shadows answered beside the searches."""
    from memtape.tools.measure import comparing

    return world.read(lambda views, scope: comparing.compare_shadows(world.log, scope))


def retrievers(world: World) -> States:
    """List the retrievers and embedders that the log names, with their states.

        memtape admin retriever list

    An active one answers or decides. A shadow works beside it and is never shown. One that is off or
    deprecated does nothing more; `memtape admin compare --shadow` still reports a deprecated retriever.
    """
    return states_on(world.log)


def set_retriever(
    world: World,
    name: str,
    state: State,
    percent: Annotated[
        Percent | None, said("Of all searches, the share that shadows are asked; 10 at first.")
    ] = None,
) -> States:
    """Put a retriever into a state, from the next search on.

        memtape admin retriever set bm25 shadow --percent 20
        memtape admin retriever set "memtape without hot, edges" shadow
        memtape admin retriever set bm25 deprecated

    NAME says how it finds: bm25, dense, rrf, "memtape without LANE, LANE", or "memtape with KEY" of an
    embedder that `memtape admin retriever list` tells. A shadow answers while `memtape run` goes on, or at
    the next `memtape run --once`, as of the time of each search.
    """
    world.rights.check_operator()
    set_state(world.log, name, state, percent)
    return states_on(world.log)


def _eval_lines(home: Path, asked: Any, measured: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tables: by turn, by session, by category at 10, and latency."""
    counts = f"{many(measured['questions'], 'question')} with evidence, {many(measured['turns'], 'turn')}"
    yield f"{counts}, embedder {measured['embedder']}"
    found = measured["retrievers"]
    for what in ("turn", "session", "any", "all"):
        yield from _by_cut(what, found)
    yield f"tokens of the results down to the last evidence ({measured['tokenizer']})"
    for name, its in found.items():
        told = (f"{part} {'more' if it is None else f'{it:,}'}" for part, it in its["tokens"].items())
        yield f"  {name:<26} {'  '.join(told)}"
    categories = next(iter(found.values()))["by_category"]
    heads = [f"{one_line(name, 14)} ({its['questions']})" for name, its in categories.items()]
    tens = {name: [it["turn"]["10"] for it in its["by_category"].values()] for name, its in found.items()}
    yield from _table("turn @10 by category", heads, tens)
    yield "latency in ms, without embedding the question"
    for name, its in found.items():
        latency = its["latency_ms"]
        yield f"  {name:<26} p50 {latency['p50']:.1f}  p95 {latency['p95']:.1f}"


def _compare_lines(world: World, asked: Any, told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tables: overlap with the returned results, recall of the used ones, the gain of each lane."""
    searches = many(told["recalls"], "search", "searches")
    if told["truth"] == "returned":
        yield (
            f"Of {searches} of {world.scope} nothing is known to have been used. What a search "
            "returned can only be compared with itself, which says nothing about recall."
        )
        used = "`memtape agents used ID --recall RECALL_ID`"
        yield f"Say what shaped an answer with {used}, then compare again."
        return
    judged = many(told["judged"], "search", "searches")
    yield f"{searches}, asked of the views as they are now; recall of what was {told['truth']} ({judged})"
    for what in ("overlap", "recall"):
        yield from _by_cut(what, told["retrievers"])
    yield "what each lane adds to recall@10"
    yield from (f"  {lane:<26} {share:+.3f}" for lane, share in told["marginal"].items())


def _shadow_lines(world: World, asked: Any, told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines about shadows' results beside the answers."""
    yield f"Shadows answer {told['percent']} % of all searches, of which there are {told['searches']:,}."
    for name, its in told["shadows"].items():
        failed = f", {its['failed']:,} failed" if its["failed"] else ""
        yield f"{one_line(name, 200)} ({its['state']}): {many(its['answers'], 'answer')}{failed}"
        same, recall, took = its["overlap"], its["recall"], its["latency_ms"]
        yield from _table("  the same results", [f"@{cut}" for cut in same], {"": same.values()})
        if its["judged"]:
            found = {"answered": recall["active"].values(), "shadow": recall["shadow"].values()}
            heads = [f"@{cut}" for cut in recall["active"]]
            yield from _table(f"  recall of what was used ({its['judged']:,})", heads, found)
        yield f"  latency in ms: p50 {took['p50']:.1f}, p95 {took['p95']:.1f}"


def _by_cut(what: str, measured: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    heads = [f"@{cut}" for cut in next(iter(measured.values()))[what]]
    return _table(what, heads, {name: its[what].values() for name, its in measured.items()})


def _table(title: str, heads: Sequence[str], rows: Mapping[str, Any]) -> Iterator[str]:
    widths = [max(7, len(head) + 2) for head in heads]
    yield f"{title:<28}" + "".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True))
    for name, values in rows.items():
        figures = "".join(f"{value:>{width}.3f}" for value, width in zip(values, widths, strict=True))
        yield f"  {name:<26}{figures}"


def _state_lines(world: World, asked: Asks, states: States) -> Iterator[str]:
    for what, named in (("retriever", states.retrievers), ("embedder", states.embedders)):
        yield from (f"{what:<9}  {state:<10}  {one_line(name, SHOWN_CHARS)}" for name, state in named.items())
    if "shadow" in states.retrievers.values():
        yield f"Shadow retrievers answer {states.shadow_percent} % of all searches."


VERBS = (
    Verb("admin eval", evaluate, lines=_eval_lines, at="folder"),
    Verb("admin compare", compare, lines=_compare_lines),
    Verb("admin compare --shadow", compare_shadows, lines=_shadow_lines),
    Verb("admin retriever list", retrievers, lines=_state_lines, at="home"),
    Verb("admin retriever set", set_retriever, lines=_state_lines, effect="adds", at="home"),
)
