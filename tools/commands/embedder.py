"""The commands of folding and its embedder: `memtape admin embedder`, and `memtape admin refold` to fold anew."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
import msgspec

from memtape.flows.embed.target import MODEL_VARIABLE, URL_VARIABLE
from memtape.schemas.embedding import CHOICES, EmbedderOptions
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError
from memtape.schemas.visible import many, one_line
from memtape.sinks.home.settings import CHOICE_VARIABLE, local_settings, prefer_embedder
from memtape.tools.client import Client
from memtape.tools.commands.options import Commands, Output, phases, progress, say, with_home
from memtape.tools.keep.embedding import EmbedderState

if TYPE_CHECKING:
    from memtape.state.views.diff import Moved
    from memtape.tools.keep.refolding import Folding, Refolded


@click.group(cls=Commands)
def embedder() -> None:
    """See and change the embedder whose vectors decide which texts are one memory.

    \b
    Example:
      memtape admin embedder set local
      memtape run --once
    """


@embedder.command("status")
@with_home
def embedder_status(client: Client) -> Output:
    """Say which embedder decides, which comes next, what this machine has, and how many texts wait.

    Opens the embedder of this machine and counts the texts that the views do not hold yet; both can take some
    seconds.

    \b
    Example:
      memtape admin embedder status
    """
    return _told(client.embedder())


@embedder.command("set")
@click.argument("choice", type=click.Choice(CHOICES))
@click.option("--model", help="For local: a name of the Hugging Face hub, or a folder.")
@click.option(
    "--fold-cosine",
    "fold_cosine_hundredths",
    type=click.IntRange(1, 100),
    metavar="HUNDREDTHS",
    help="Cosine from which two texts can be one memory under it, 85 where it is not said. Not for the floor.",
)
@with_home
def set_embedder(client: Client, choice: str, model: str | None, fold_cosine_hundredths: int | None) -> Output:
    """Let another embedder take over, and use it on this machine.

    The one that decides now goes on until `memtape run` has given every text its vector under the new
    one. It can be stopped and started at any time. The floor takes over at once, and so does any in a
    home without a text. An endpoint is named by MEMTAPE_EMBED_URL, MEMTAPE_EMBED_MODEL and
    MEMTAPE_EMBED_KEY. Models differ in how similar they call two texts that say the same; --fold-cosine
    says it for this one, from when it decides. A local model that is not on this machine is downloaded if
    you say so when it asks, or if settings.toml has `download = true` under [embedder].

    \b
    Example:
      memtape admin embedder set local --model all-MiniLM-L6-v2
      memtape admin embedder set http --fold-cosine 70
      memtape admin embedder set floor
    """
    from memtape.tools.keep.embedding import change_over

    options = msgspec.structs.replace(local_settings(client.home).embedder, choice=choice)
    if model is not None:
        options = msgspec.structs.replace(options, model=model)
    change_over(client.home, client.log, _with_leave(options), fold_cosine_hundredths)
    _prefer(client, options)
    state = client.embedder()
    yield from _told(state)
    yield "It decides at once." if state.next is None else "`memtape run --once` gives the texts their vectors."
    yield "What was folded stays so; once it decides, `memtape admin refold` folds all anew under it."


@embedder.command()
@with_home
def retry(client: Client) -> Output:
    """Try texts again that an embedder has refused three times, as after an endpoint has recovered.

    `memtape run` does so by itself once a day.

    \b
    Example:
      memtape admin embedder retry
      memtape run --once
    """
    from memtape.tools.keep.embedding import try_again

    refused = try_again(client.home, client.log)
    yield {"refused": refused}
    yield f"Refused so far: {many(refused, 'text')}. `memtape run --once` tries again, and a running one does."


@embedder.command()
@with_home
def rollback(client: Client) -> Output:
    """Call off the next embedder, or return to the embedder that decided before.

    The old vectors are still on the log. `memtape run` embeds the texts that came since. This machine uses
    the old embedder again if it has it; else the command says what to do.

    \b
    Example:
      memtape admin embedder rollback
    """
    from memtape.tools.keep.embedding import goes_back_to, options_for, roll_back

    key = goes_back_to(client.log)
    options = options_for(client.home, key)  # Before, since it can take some seconds, in which `run` would find it odd.
    roll_back(client.log)
    if options is not None:
        _prefer(client, options)
    if options is None:
        say(
            f"This machine does not have the embedder {key}, so new texts are found by words. If it is an endpoint's, "
            f"set {URL_VARIABLE} and {MODEL_VARIABLE} and say `memtape admin embedder set http`; if it is a local "
            "model, say `memtape admin embedder set local --model` with its name or folder.",
            err=True,
        )
    return _told(client.embedder())


def _with_leave(options: EmbedderOptions) -> EmbedderOptions:
    """Return the options; a person at a terminal may allow the download of a missing local model."""
    if options.choice != "local" or options.download or sys.stdin is None or not sys.stdin.isatty():
        return options
    from memtape.flows.embed.local import model_folder

    try:
        model_folder(options)
    except EmbedderUnavailable as error:
        return msgspec.structs.replace(options, download=click.confirm(f"{error} Download it now?", err=True))
    except MemtapeError:
        return options  # Another reason, which is told when it is opened.
    return options


def _prefer(client: Client, options: EmbedderOptions) -> None:
    """Make an embedder this machine's choice, unless the environment overrides it."""
    if options != local_settings(client.home).embedder:
        prefer_embedder(client.home, options)
    overruled = local_settings(client.home).embedder.choice
    if overruled != options.choice:
        say(
            f"{CHOICE_VARIABLE}={overruled} goes before the choice of {options.choice}: unset it, also for what "
            "runs already.",
            err=True,
        )


def _told(state: EmbedderState) -> Output:
    yield state
    yield from embedder_lines(state)


def embedder_lines(state: EmbedderState) -> list[str]:
    """Return the state of embedders as lines for people."""
    lines = [f"configured    {state.configured}" + (f", then {state.next}" if state.next else "")]
    lines.append(f"effective     {state.effective}{' (DEGRADED)' if state.degraded else ''}")
    if state.waiting or state.embedded or state.failed:
        done = f"{state.embedded:,} of {state.texts:,} texts, {state.waiting:,} wait"
        lines.append(f"vectors       {done}" + (f", {state.failed:,} failed" if state.failed else ""))
    lines += [f"drift         {state.drift}"] if state.drift else []
    lines += [f"note          {state.warning}"] if state.warning else []
    lines += [f"offer         {state.offer}"] if state.offer else []
    return lines


SHOWN_PAIRS, SHOWN_CHARS = 20, 200


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option(
    "--fold",
    type=click.Choice(("on", "off")),
    help="off: each text stands by itself from now on. on: texts fold again, as by default.",
)
@with_home
def refold(client: Client, dry_run: bool, fold: Folding | None) -> Output:
    """Fold everything anew under the rules, the embedder and the thresholds in force.

    An embedder that takes over leaves past folds as they are; this command makes them follow it. It shows
    which memories fold together and which come apart, in all projects. Unfolded memories stay apart, an echo
    stays an echo, and a consolidated memory stays while its sources say the same. Nothing is lost: folding
    changes which captures are one memory, and all wordings of a memory are found.

    \b
    Example:
      memtape admin refold --dry-run
      memtape admin refold
      memtape admin refold --fold off
    """
    with phases() as update:
        found = client.refold(dry_run=dry_run, fold=fold, on_phase=update)
    if not dry_run:
        with progress(client.reader.unread(), "Projecting") as bar:
            scopes = (pair.scope for pair in found.pairs)
            client.reader.reach(found.revision, scopes, lambda done: bar.update(done - bar.pos))
    yield found
    yield from _lines(found, "" if fold is None else f" --fold {fold}")


def _lines(found: Refolded, said: str) -> list[str]:
    lines = [line for pair in found.pairs[:SHOWN_PAIRS] for line in _pair(pair)]
    if len(found.pairs) > SHOWN_PAIRS:
        lines.append(f"… and {many(len(found.pairs) - SHOWN_PAIRS, 'more pair', 'more pairs')}; --json has all.")
    by = f"by {found.embedder}" if found.folding else "with folding off"
    taken_in, apart = many(found.together, "memory", "memories"), many(found.apart, "memory", "memories")
    lines.append(f"Folded anew {by}. Taken in by others: {taken_in}. Come apart from others: {apart}.")
    if not found.done:
        lines.append(f"That was only tried, and nothing was changed. `memtape admin refold{said}` does it.")
    elif found.folding:
        lines.append(
            "`memtape update ID --unfold` sets apart for good what should not have folded; `--fold off` all of it."
        )
    else:
        lines.append("To undo: `memtape admin refold --fold on`.")
    return lines


def _pair(pair: Moved) -> list[str]:
    sides = (f"  {one_line(side.text, SHOWN_CHARS)} ({side.id})" for side in (pair.first, pair.second))
    return [f"{pair.change} in {pair.scope}:", *sides]
