"""Memories of memories: the embedder that decides, folding anew, passes over what is alike."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
import msgspec
from msgspec import Meta

from memtape.flows.embed.target import MODEL_VARIABLE, URL_VARIABLE
from memtape.schemas.embedding import CHOICES, EmbedderOptions
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError
from memtape.schemas.ids import short_id
from memtape.schemas.metrics import tell_progress
from memtape.schemas.visible import many, one_line
from memtape.sinks.home.settings import CHOICE_VARIABLE, local_settings, prefer_embedder
from memtape.tools import query
from memtape.tools.capture.profiles import check_kept
from memtape.tools.doors.terminal import is_asked, say
from memtape.tools.verb import Failure, Output, Verb, said

if TYPE_CHECKING:
    from memtape.tools.keep.consolidating import Consolidated
    from memtape.tools.keep.embedding import EmbedderState, Refolded
    from memtape.tools.world import World

SHOWN_PAIRS, PAIR_CHARS = 20, 200
IF_UNSAID = "where it is not said. Not for the floor."
Hundredths = Annotated[int, Meta(ge=1, le=100)]
SHOWN_CHARS = 300
_STANDS = {
    "conflict": "cannot hold beside (`memtape settle` asks people which holds)",
    "outdate": "replaces",
    "replace": "stands for",
    "remove": "says the same as, and stands for",
}


def embedder(world: World) -> EmbedderState:
    """Say which embedder decides, which comes next, what this machine has, and how many texts wait.

        memtape admin embedder status

    Opens the embedder of this machine and counts the texts that the views do not hold yet; both can take some
    seconds.
    """
    from memtape.tools.keep.embedding import embedder_state

    counters = world.reader.reading(lambda views: query.status.counted(world.home, world.log, views))
    return embedder_state(world.home, world.log, counters, opened=True)


def set_embedder(
    world: World,
    choice: Annotated[str, said("The embedder.", choices=CHOICES)],
    model: Annotated[str | None, said("For local: a name of the Hugging Face hub, or a folder.")] = None,
    fold_cosine_hundredths: Annotated[
        Hundredths | None,
        said(
            f"Cosine from which two texts can be one memory under it, 85 {IF_UNSAID}",
            option="--fold-cosine",
            metavar="HUNDREDTHS",
        ),
    ] = None,
) -> Output:
    """Let another embedder take over, and use it on this machine.

        memtape admin embedder set local --model all-MiniLM-L6-v2
        memtape admin embedder set http --fold-cosine 70
        memtape admin embedder set floor

    The one that decides now goes on until `memtape run` has given every text its vector under the new one. It
    can be stopped and started at any time. The floor takes over at once, and so does any in a home without a
    text. An endpoint is named by MEMTAPE_EMBED_URL, MEMTAPE_EMBED_MODEL and MEMTAPE_EMBED_KEY. Models differ
    in how similar they call two texts that say the same; --fold-cosine says it for this one, from when it
    decides. A local model that is not on this machine is downloaded if you say so when it asks, or if
    settings.toml has `download = true` under [embedder].
    """
    from memtape.tools.keep.embedding import change_over

    world.rights.check_operator()
    before = local_settings(world.home).embedder
    options = msgspec.structs.replace(before, choice=choice, model=before.model if model is None else model)
    change_over(world.log, _with_leave(options), fold_cosine_hundredths)
    _prefer(world, options)
    state = embedder(world)
    yield state
    yield from embedder_lines(world, None, state)
    waits = "`memtape run --once` gives the texts their vectors."
    yield waits if state.next else "It decides at once."
    yield "What was folded stays so; once it decides, `memtape admin refold` folds all anew under it."


def rollback(world: World) -> EmbedderState:
    """Call off the next embedder, or return to the embedder that decided before.

        memtape admin embedder rollback

    The old vectors are still on the log. `memtape run` embeds the texts that came since. This machine uses
    the old embedder again if it has it; else the command says what to do.
    """
    from memtape.tools.keep.embedding import goes_back_to, options_for, roll_back

    world.rights.check_operator()
    key = goes_back_to(world.log)
    options = options_for(world.home, key)  # Before: it can take seconds, in which `run` would find it odd.
    roll_back(world.log)
    if options is not None:
        _prefer(world, options)
    else:
        say(
            f"This machine does not have the embedder {key}, so new texts are found by words. If it is an "
            f"endpoint's, set {URL_VARIABLE} and {MODEL_VARIABLE} and say `memtape admin embedder set http`; "
            "if it is a local model, say `memtape admin embedder set local --model` with its name or folder.",
            err=True,
        )
    return embedder(world)


def refold(
    world: World,
    dry_run: Annotated[bool, said("Show what would change, and change nothing.")] = False,
    fold: Annotated[
        Literal["on", "off"] | None,
        said("off: each text stands by itself from now on. on: texts fold again, as by default."),
    ] = None,
) -> Refolded:
    """Fold everything anew under the rules, the embedder and the thresholds in force.

        memtape admin refold --dry-run
        memtape admin refold
        memtape admin refold --fold off

    An embedder that takes over leaves past folds as they are; this command makes them follow it. It shows
    which memories fold together and which come apart, in all projects. Unfolded memories stay apart, an echo
    stays an echo, and a consolidated memory stays while its sources say the same. Nothing is lost: folding
    changes which captures are one memory, and all wordings of a memory are found.
    """
    world.rights.check_operator()
    check_kept(world.home, "A folding")
    from memtape.tools.keep.embedding import refold

    found = refold(world.home, world.log, fold, dry_run=dry_run)
    if not dry_run:
        world.reader.reach(found.revision, (pair.scope for pair in found.pairs))
    return found


def _with_leave(options: EmbedderOptions) -> EmbedderOptions:
    """Return the options; a person at a terminal may allow the download of a missing local model."""
    if options.choice != "local" or options.download or not is_asked():
        return options
    from memtape.flows.embed.local import model_folder

    try:
        model_folder(options)
    except EmbedderUnavailable as error:
        return msgspec.structs.replace(options, download=click.confirm(f"{error} Download it now?", err=True))
    except MemtapeError:
        return options  # Another reason, which is told when it is opened.
    return options


def _prefer(world: World, options: EmbedderOptions) -> None:
    """Make an embedder this machine's choice, unless the environment overrides it."""
    if options != local_settings(world.home).embedder:
        prefer_embedder(world.home, options)
    overruled = local_settings(world.home).embedder.choice
    if overruled != options.choice:
        say(
            f"{CHOICE_VARIABLE}={overruled} goes before the choice of {options.choice}: unset it, also for "
            "what runs already.",
            err=True,
        )


def embedder_lines(world: World, asked: Any, state: EmbedderState) -> Iterator[str]:
    """Yield the state of embedders as lines for people."""
    yield f"configured    {state.configured}" + (f", then {state.next}" if state.next else "")
    yield f"effective     {state.effective}{' (DEGRADED)' if state.degraded else ''}"
    if state.waiting or state.embedded or state.failed:
        done = f"{state.embedded:,} of {state.texts:,} texts, {state.waiting:,} wait"
        yield f"vectors       {done}" + (f", {state.failed:,} failed" if state.failed else "")
    for name, told in {"drift": state.drift, "note": state.warning, "offer": state.offer}.items():
        if told:
            yield f"{name:<14}{told}"


def _refold_lines(world: World, asked: Any, found: Refolded) -> Iterator[str]:
    for pair in found.pairs[:SHOWN_PAIRS]:
        yield f"{pair.change} in {pair.scope}:"
        yield from (
            f"  {one_line(it.text, PAIR_CHARS)} ({short_id(it.id)})" for it in (pair.first, pair.second)
        )
    if len(found.pairs) > SHOWN_PAIRS:
        yield f"… and {many(len(found.pairs) - SHOWN_PAIRS, 'more pair')}; --json has all."
    by = f"by {found.embedder}" if found.folding else "with folding off"
    taken_in, apart = many(found.together, "memory", "memories"), many(found.apart, "memory", "memories")
    yield f"Folded anew {by}. Taken in by others: {taken_in}. Come apart from others: {apart}."
    if not found.done:
        fold = "" if asked.fold is None else f" --fold {asked.fold}"
        yield f"That was only tried, and nothing was changed. `memtape admin refold{fold}` does it."
    elif found.folding:
        sets = "sets apart for good what should not have folded"
        yield f"`memtape update ID --unfold` {sets}; `--fold off` all of it."
    else:
        yield "Undo: `memtape admin refold --fold on`."


def consolidate(
    world: World,
    dry_run: Annotated[bool, said("Print what the rules would do by now, and change nothing.")] = False,
    at_once: Annotated[
        bool, said("Do not wait until enough is new and a day has passed.", option="--now")
    ] = False,
) -> Consolidated:
    """Consolidate similar memories: restatements, and a value with its earlier values.

        memtape admin consolidate --dry-run
        memtape admin consolidate --now

    Each decision is an event of the log. The sources stay, and return once one of them changes; `memtape
    update ID --unfold` separates them for good. `memtape run` does the same once a day if enough is new.
    Exits 1 where the daily judge gave no usable answer.

    Raises `MemtapeError` where the daily judge cannot be asked, and `Locked` where another process does
    the same.
    """
    check_kept(world.home, "A consolidation")
    from memtape.tools.keep.consolidating import consolidate_scope

    looking, place = partial(tell_progress, "looking"), (world.home, world.log, world.scope)
    return consolidate_scope(*place, dry_run=dry_run, at_once=at_once, on_cluster=looking)


def _pass_shell(world: World, asked: Any) -> Output:
    done = consolidate(world, asked.dry_run, asked.at_once)
    operations = [operation for conclusion in done.conclusions for operation in conclusion.operations]
    yield Failure(done) if done.problems else done
    for it in operations:
        yield one_line(it.survivor.text if it.survivor else it.text, SHOWN_CHARS)
        yield f" {_STANDS[it.op]}"
        yield from (
            f"  {short_id(candidate.id)} {one_line(candidate.text, SHOWN_CHARS)}" for candidate in it.of
        )
    what = f"{many(done.clusters, 'cluster')} of memories that are alike: {many(len(operations), 'decision')}"
    if done.is_done:
        yield f"Looked at {what}."
    elif asked.dry_run:
        when = "begin now" if done.gate.is_open else "not begin yet"
        yield f"The rules would look at {what}. By itself a pass would {when}: {done.gate.reason}."
    else:
        hint = "" if asked.at_once else " `memtape admin consolidate --now` does not wait."
        yield f"Nothing was done: {done.gate.reason}.{hint}"
    for problem in done.problems:
        say(f"Not decided: {problem}", err=True)


VERBS = (
    Verb("admin embedder status", embedder, lines=embedder_lines, at="home"),
    Verb("admin embedder set", set_embedder, answers="EmbedderState", effect="adds", at="home"),
    Verb("admin embedder rollback", rollback, lines=embedder_lines, effect="adds", at="home"),
    Verb("admin refold", refold, lines=_refold_lines, effect="adds", at="home"),
    Verb("admin consolidate", consolidate, shell=_pass_shell, effect="adds"),
)
