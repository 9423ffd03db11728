"""The commands that measure recall: eval on a file of questions, compare on past searches, and shadow retrievers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from memtape.schemas.embedding import CHOICES
from memtape.schemas.errors import MemtapeError
from memtape.schemas.lanes import LANES, Lane
from memtape.schemas.placeholders import head_of
from memtape.schemas.retrievers import STATES, State
from memtape.schemas.visible import many, one_line
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.tools.client import Client
from memtape.tools.commands.options import Commands, Output, phases, say, with_client, with_folder, with_home
from memtape.tools.keep.log_settings import States, set_state, states_on

if TYPE_CHECKING:
    from memtape.flows.embed.embedder import Embedder

NAMES = ("bm25", "dense", "rrf", "memtape")

retriever_option = click.option(
    "--retriever", "retrievers", multiple=True, type=click.Choice(NAMES), help="Only this one; may be repeated."
)


@click.command("eval")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@retriever_option
@click.option(
    "--without", multiple=True, type=click.Choice(LANES), help="Also Memtape less this lane; may be repeated."
)
@click.option("--embedder", "choice", type=click.Choice(CHOICES), help="The embedder, by default that of this machine.")
@click.option("--model", help="For local: a name of the Hugging Face hub, or a folder.")
@click.option("--inject", is_flag=True, help="Measure what a hook adds to prompts instead.")
@click.option(
    "--foreign",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --inject: another file, of which nothing should be added to what its people say and ask.",
)
@with_folder
def eval_command(
    home: Path,
    file: Path,
    retrievers: tuple[str, ...],
    without: tuple[Lane, ...],
    inject: bool,
    foreign: Path | None,
    **embedder: str | None,
) -> Output:
    """Measure how much of the evidence of a file's questions retrievers find.

    The file is LoCoMo as published, or {"conversations": [{"id", "turns": [{"id", "session", "speaker",
    "role", "text", "at"}], "questions": [{"question", "evidence": [turn ids], "category"}]}]}. `at` is ISO
    8601, a day such as 8 May 2023, or a number of seconds, milliseconds or microseconds. The turns are
    captured into a temporary home; yours is only read for its settings.

    \b
    Example:
      memtape admin eval locomo10.json --retriever bm25 --retriever memtape
      memtape admin eval locomo10.json --embedder floor --without sparse --json
      memtape admin eval locomo10.json --inject
    """
    if inject or foreign is not None:
        if not inject or retrievers or without or any(embedder.values()):
            raise MemtapeError(
                "--inject measures hooks, which find by words alone; the other options are for retrievers.",
                "Give --inject with FILE, --foreign and --json alone.",
            )
        return _injected(home, file, foreign)
    from memtape.tools.ask.comparing import LESS
    from memtape.tools.measure.evaluating import evaluate

    opened = _embedder(home, **embedder)
    names = [*(retrievers or NAMES), *(LESS[lane] for lane in without)]
    with phases() as update:
        measured = evaluate(file, list(dict.fromkeys(names)), opened, update)
    return _measured(measured)


def _embedder(home: Path, choice: str | None, model: str | None) -> Embedder:
    """Open the embedder of the options, by default of the home's settings. Raises `MemtapeError`."""
    from memtape.flows.embed.choice import choose_embedder

    options = local_settings(Home(home)).embedder
    if choice is not None or model is not None:
        changes = {"choice": choice or options.choice, "model": model or options.model}
        options = msgspec.structs.replace(options, **changes)
    embedder, resolved = choose_embedder(options, dense_on_log=False)
    if embedder is None or (resolved.kind == "floor" and options.choice not in ("auto", "floor")):
        raise MemtapeError(f"The embedder {options.choice} cannot be used here: {resolved.warning}")
    return embedder


def _measured(measured: Mapping[str, Any]) -> Output:
    """Yield the measured recall of each retriever."""
    for note in measured["notes"]:
        say(note, err=True)
    yield measured
    counts = f"{many(measured['questions'], 'question')} with evidence, {many(measured['turns'], 'turn')}"
    yield f"{counts}, embedder {measured['embedder']}"
    yield from _evaluated(measured["retrievers"])


def _injected(home: Path, file: Path, foreign: Path | None) -> Output:
    """Yield the additions of a serverless hook to prompts."""
    from memtape.tools.agents.offering import PROMPT_CHARS, offered
    from memtape.tools.measure.evaluating import inject

    chars = local_settings(Home(home)).prompt_recall_chars
    with phases() as update:
        measured = inject(
            file,
            foreign,
            lambda client, prompt: offered(client, head_of(prompt, PROMPT_CHARS), "", chars),
            update,
        )
    for note in measured["notes"]:
        say(note, err=True)
    yield measured
    turns = many(measured["turns"], "turn")
    yield f"{turns}; tokens by {measured['tokenizer']}, of the prompts that were given anything"
    heads = ("prompts", "given", "with evidence", "tokens, mean", "max")
    yield f"{'':<22}" + "".join(f"{head:>15}" for head in heads)
    for name, its in measured["sets"].items():
        evidence = f"{its['with_evidence']:.1%}" if "answer" in name else ""
        cells = (f"{its['prompts']:,}", f"{its['given']:.1%}", evidence, *map(str, its["tokens"].values()))
        yield f"{name:<22}" + "".join(f"{cell:>15}" for cell in cells)


@click.command("compare")
@retriever_option
@click.option("--limit", default=1_000, show_default=True, type=click.IntRange(1, 100_000), help="The latest searches.")
@click.option("--shadow", is_flag=True, help="Instead compare what shadows answered beside the searches.")
@with_client
def compare_command(client: Client, retrievers: tuple[str, ...], limit: int, shadow: bool) -> Output:
    """Ask several retrievers the past questions of this project, and compare their results.

    Recall counts the used results of a search (`memtape agents used`). Without any known use there is nothing to
    compare with, and only --json has figures, about the returned results. The searches are asked of the
    current views; nothing is put on the log.

    With --shadow nothing is asked: it reports the results of shadow retrievers (`memtape admin retriever set`)
    beside the answers given. Only shown results are likely to be used, so the active retriever has the advantage.

    \b
    Example:
      memtape admin compare --retriever bm25 --retriever memtape
      memtape admin compare --shadow
    """
    if shadow:
        if retrievers:
            raise click.UsageError("--retriever asks again, and --shadow tells what was answered.")
        told = client.compare_shadows()
        yield told
        yield from _shadows(told)
        return
    with phases() as update:
        told = client.compare(retrievers, limit, update)
    yield told
    searches = many(told["recalls"], "search", "searches")
    if told["truth"] == "returned":
        yield (
            f"Of {searches} of {client.scope} nothing is known to have been used. What a search "
            "returned can only be compared with itself, which says nothing about recall."
        )
        yield "Say what shaped an answer with `memtape agents used ID --recall RECALL_ID`, then compare again."
        return
    judged = many(told["judged"], "search", "searches")
    yield f"{searches}, asked of the views as they are now; recall of what was {told['truth']} ({judged})"
    yield from _compared(told)


def _shadows(told: Mapping[str, Any]) -> list[str]:
    """Return the lines about shadows' results beside the answers."""
    lines = [f"Shadows answer {told['percent']} % of all searches, of which there are {told['searches']:,}."]
    for name, its in told["shadows"].items():
        failed = f", {its['failed']:,} failed" if its["failed"] else ""
        lines.append(f"{one_line(name, 200)} ({its['state']}): {many(its['answers'], 'answer')}{failed}")
        lines += _table("  the same results", [f"@{cut}" for cut in its["overlap"]], {"": its["overlap"].values()})
        found = {"answered": its["recall"]["active"].values(), "shadow": its["recall"]["shadow"].values()}
        if its["judged"]:
            heads = [f"@{cut}" for cut in its["recall"]["active"]]
            lines += _table(f"  recall of what was used ({its['judged']:,})", heads, found)
        lines.append(f"  latency in ms: p50 {its['latency_ms']['p50']:.1f}, p95 {its['latency_ms']['p95']:.1f}")
    return lines


def _evaluated(measured: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the tables: by turn, by session, by category at 10, and latency."""
    lines = [line for what in ("turn", "session") for line in _by_cut(what, measured)]
    categories = next(iter(measured.values()))["by_category"]
    heads = [f"{one_line(name, 14)} ({its['questions']})" for name, its in categories.items()]
    tens = {name: [one["turn"]["10"] for one in its["by_category"].values()] for name, its in measured.items()}
    lines += _table("turn @10 by category", heads, tens)
    lines.append("latency in ms, without embedding the question")
    for name, its in measured.items():
        latency = its["latency_ms"]
        lines.append(f"  {name:<26} p50 {latency['p50']:.1f}  p95 {latency['p95']:.1f}")
    return lines


def _compared(told: Mapping[str, Any]) -> list[str]:
    """Return the tables: overlap with the returned results, recall of the used ones, and the gain of each
    lane.
    """
    lines = [line for what in ("overlap", "recall") for line in _by_cut(what, told["retrievers"])]
    lines.append("what each lane adds to recall@10")
    lines += [f"  {lane:<26} {share:+.3f}" for lane, share in told["marginal"].items()]
    return lines


def _by_cut(what: str, measured: Mapping[str, Mapping[str, Any]]) -> list[str]:
    heads = [f"@{cut}" for cut in next(iter(measured.values()))[what]]
    return _table(what, heads, {name: its[what].values() for name, its in measured.items()})


def _table(title: str, heads: Sequence[str], rows: Mapping[str, Any]) -> list[str]:
    widths = [max(7, len(head) + 2) for head in heads]
    lines = [f"{title:<28}" + "".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True))]
    for name, values in rows.items():
        figures = "".join(f"{value:>{width}.3f}" for value, width in zip(values, widths, strict=True))
        lines.append(f"  {name:<26}{figures}")
    return lines


SHOWN_CHARS = 200


@click.group(cls=Commands)
def retriever() -> None:
    """List and change the shadow retrievers, which answer unseen beside the active one, for comparison.

    \b
    Example:
      memtape admin retriever set "memtape without hot" shadow
      memtape admin compare --shadow
    """


@retriever.command("list")
@with_home
def list_retrievers(client: Client) -> Output:
    """List the retrievers and embedders that the log names, with their states.

    An active one answers or decides. A shadow works beside it and is never shown. One that is off or
    deprecated does nothing more; `memtape admin compare --shadow` still reports a deprecated retriever.

    \b
    Example:
      memtape admin retriever list
    """
    return _listed(states_on(client.log))


@retriever.command("set")
@click.argument("name")
@click.argument("state", type=click.Choice(STATES))
@click.option(
    "--percent", type=click.IntRange(0, 100), help="Of all searches, the share that shadows are asked; 10 at first."
)
@with_home
def set_retriever(client: Client, name: str, state: State, percent: int | None) -> Output:
    """Put a retriever into a state, from the next search on.

    NAME says how it finds: bm25, dense, rrf, "memtape without LANE, LANE", or "memtape with KEY" of an embedder that
    `memtape admin retriever list` tells. A shadow answers while `memtape run` goes on, or at the next `memtape run
    --once`, as of the time of each search.

    \b
    Example:
      memtape admin retriever set bm25 shadow --percent 20
      memtape admin retriever set "memtape without hot, edges" shadow
      memtape admin retriever set bm25 deprecated
    """
    set_state(client.log, name, state, percent)
    return _listed(states_on(client.log))


def _listed(states: States) -> Output:
    yield states
    for what, named in (("retriever", states.retrievers), ("embedder", states.embedders)):
        yield from (f"{what:<9}  {state:<10}  {one_line(name, SHOWN_CHARS)}" for name, state in named.items())
    if "shadow" in states.retrievers.values():
        yield f"Shadow retrievers answer {states.shadow_percent} % of all searches."
