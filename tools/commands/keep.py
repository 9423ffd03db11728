"""The commands that keep a home: run, verify, rebuild, copy and settings; and `page`, which serves its page."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click
import msgspec

from memtape.schemas.scopes import check_scope
from memtape.schemas.visible import many, one_line
from memtape.sinks.logs.opening import how_to_use
from memtape.sinks.page_files import kept_beside
from memtape.tools.capture.profiles import check_kept, opened_home
from memtape.tools.client import Client
from memtape.tools.commands.options import (
    Output,
    is_json,
    phases,
    print_json,
    printed_json,
    progress,
    say,
    say_some,
    with_folder,
    with_home,
    with_log,
)

if TYPE_CHECKING:
    from memtape.tools.keep.owner import Owner
    from memtape.tools.keep.rebuild import Rebuilt
    from memtape.tools.keep.verify import Verification

SHOWN_CHARS = 80

PROJECTOR_WAIT_S = 5.0
"""So long `run --once` waits for another projector, since a search starts one that ends by itself."""


@click.command()
@click.option("--once", is_flag=True, help="Project what there is and end.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Processes to project with.")
@click.option(
    "--embed/--no-embed",
    default=True,
    show_default=True,
    help="Give texts their vectors too; of several machines on one topic one is enough.",
)
@click.option(
    "--metrics",
    type=click.IntRange(0, 65_535),
    metavar="PORT",
    help="Serve OpenMetrics at http://127.0.0.1:PORT/metrics meanwhile; 0 takes any port that is free.",
)
@with_log
@with_home
def run(client: Client, once: bool, workers: int, embed: bool, metrics: int | None, logs: bool) -> None:
    """Keep the views of a home up to date, until stopped by SIGINT or SIGTERM.

    With --log-format or --log-level each event of operation is a line on stderr, in place of the usual
    sentences. No line has a text of a memory.

    Texts age at each hour, with --once at the hour of the run, also without new events. With --once it exits
    1 where texts can get no vectors before somebody follows its message; an endpoint that does not answer now
    is only noted.

    One command at a time can do this; a second one waits for five seconds, and is then told the pid of the
    first. With --workers it starts as many processes, which share the partitions by leases.

    \b
    Example:
      memtape run --once
      memtape run --metrics 9464 --log-format json
    """
    from memtape.tools.ask.comparing import Shadows
    from memtape.tools.keep.operations import operation
    from memtape.tools.keep.owner import LOCK_WAIT_S, Owner
    from memtape.tools.keep.workers import WORKERS, WorkerKind

    note = (lambda said: operation("noted")) if logs else _note
    serving = nullcontext() if metrics is None else _served_metrics(client, metrics)
    wait_s = PROJECTOR_WAIT_S if once else LOCK_WAIT_S
    kinds = {**WORKERS, "shadow": WorkerKind(Shadows, once="after")}
    with Owner(client.home, client.log, note, workers, lock_wait_s=wait_s, kinds=kinds) as owner, serving as port:
        if port is not None and not logs:
            say(f"Serving http://127.0.0.1:{port}/metrics.", err=True)
        operation("serving", port=port or 0)
        ended = _stop_on_signals(owner)
        started = time.monotonic()
        owner.check()
        if not (once or is_json() or logs):
            say(f"Projecting {client.home.path}; stop with Ctrl-C.", err=True)
        without = () if embed else ("embed",)
        events, done = _run_once(owner, client, ended, without) if once else (owner.serve(without=without), {})
        seconds = time.monotonic() - started
    _print_run(events, done, seconds, bool(ended))
    if once and (ended or owner.refused):
        sys.exit(1)


def _served_metrics(client: Client, port: int) -> AbstractContextManager[int]:
    from memtape.tools.ask.metrics import served_metrics

    return served_metrics(client.home, client.log, port)


def _stop_on_signals(owner: Owner) -> list[int]:
    """Stop the owner at SIGINT and SIGTERM; return the list of signals so far, empty at first."""
    ended: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        ended.append(number)
        owner.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    return ended


def _run_once(
    owner: Owner, client: Client, ended: Sequence[int], without: Collection[str]
) -> tuple[int, dict[str, int]]:
    """Project to the end of the log and, unless `ended` has a signal by then, work; return both counts."""
    unread = client.reader.unread()
    with phases() as update:
        events = owner.project(lambda done: update("projecting", done, unread), update)
    if ended:
        return events, {}
    with progress(client.reader.unembedded() if "embed" not in without else None, "Working") as bar:
        return events, owner.work(lambda done: bar.update(done - bar.pos), without=without)


def _print_run(events: int, done: Mapping[str, int], seconds: float, stopped: bool) -> None:
    """Print the numbers of events read and of the workers' results, and the duration."""
    embedded, facts, decided = (done.get(name, 0) for name in ("embed", "distill", "consolidate"))
    if is_json():
        counts = {"events": events, "embedded": embedded, "distilled": facts, "consolidated": decided}
        print_json({**counts, "seconds": round(seconds, 3), "stopped": stopped})
        return
    also = f", had {many(facts, 'fact')} taken from talk" if facts else ""
    also += f", decided {many(decided, 'time')} about what is alike" if decided else ""
    also += f" and embedded {many(embedded, 'text')}" if embedded else ""
    say(f"Read {many(events, 'event')}{also} in {seconds:.1f} s." + (" Stopped." if stopped else ""))


@click.command()
@click.option("--erased", "erased", multiple=True, metavar="ID", help="Instead see that this is gone; may be repeated.")
@click.option(
    "--text",
    "texts",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --erased: a file with what was erased, to be looked for in every file of the home.",
)
@click.option("--repair", is_flag=True, help="Where they differ, rebuild the views from the log and compare again.")
@with_home
def verify(client: Client, erased: tuple[str, ...], texts: tuple[Path, ...], repair: bool) -> None:
    """Replay the log and compare it with the views, row by row and page by page.

    Exits 1 and names each difference; --repair mends it. With --erased it searches for erased ids instead and, with a
    text that somebody still has, for the text.

    \b
    Example:
      memtape verify --json
      memtape verify --repair
    """
    if texts and not erased:
        raise click.UsageError("--text needs --erased ID.")
    if repair and erased:
        raise click.UsageError("--repair mends views; --erased looks for what is gone. Give one of them.")
    if erased:
        from memtape.tools.commands.erase import verify_erased

        verify_erased(client, erased, [path.read_text(errors="replace") for path in texts])
        return
    verdict = _verified(client)
    if repair and not verdict.ok:
        made = _rebuilt(client)
        say(f"The views differed, and build {made.build} is served instead.", err=True)
        verdict = _verified(client)
    if not printed_json(verdict):
        say(f"{'The views are what the log says' if verdict.ok else 'The views differ from the log'}.")
        say(f"state hash {verdict.state_hash} over {many(verdict.events, 'event')}")
        say_some(verdict.differences, lambda it: f"  {it.what}: {it.view} {it.scope} {it.id}")
        if verdict.kept:
            say(kept_beside(verdict.kept))
        if not verdict.ok:
            say("`memtape verify --repair` makes the views anew from the log; a page that you changed is kept beside.")
    if not verdict.ok:
        sys.exit(1)


def _verified(client: Client) -> Verification:
    with progress(client.reader.projected(), "Replaying") as bar:
        return client.verify(lambda done: bar.update(done - bar.pos))


def _rebuilt(client: Client) -> Rebuilt:
    from memtape.tools.keep.owner import rebuild_as_owner

    with phases() as update:
        return rebuild_as_owner(client.home, client.log, update, _note)


@click.command()
@with_home
def rebuild(client: Client) -> Output:
    """Rebuild the views from the log, beside the living ones, and switch once they are verified.

    Searches are served from the old views meanwhile. A stopped or killed rebuild resumes when called again. A
    running projector gives way meanwhile.

    \b
    Example:
      memtape rebuild
    """
    started = time.monotonic()
    made = _rebuilt(client)
    seconds = time.monotonic() - started
    yield made._asdict() | {"seconds": round(seconds, 3)}
    yield f"Build {made.build} is served: {many(made.events, 'event')} in {seconds:.1f} s, verified."
    yield f"state hash {made.state_hash}"


@click.command()
@click.option("--to", required=True, metavar="URL|PATH", help="kafka://host:port/topic, a new FILE.db, or a home.")
@with_home
def copy(client: Client, to: str) -> Output:
    """Copy the log of a home to another place, slot for slot, and read it back.

    The copy is the same log under the same id: every offset, id and time stays, and so do blank and
    unreadable slots. A second call resumes an interrupted copy, or adds the slots that came since; a place
    with another content is not changed. Stop all writers of the log, or copy once more, before the copy is
    used in its place, and let nobody use it before that. From then on write to one of the two: both have one
    id, by which views recognise their log. Erasing in one does not reach the other; `erase` names the copies
    that this home knows.

    \b
    Example:
      memtape admin copy --to kafka://localhost:9092/captures
      memtape admin copy --to /backup/memory.db
    """
    from memtape.sinks.home.unerased import remember_copy
    from memtape.tools.keep.copying import copy_log

    started = time.monotonic()
    with phases() as update:
        made = copy_log(client.log, to, update, partial(remember_copy, client.home, client.log))
    seconds = time.monotonic() - started
    yield made._asdict() | {"erased_with_source": False, "seconds": round(seconds, 3)}
    yield f"Copied {many(made.copied, 'slot')} in {seconds:.1f} s; all {made.slots:,} were read back the same."
    yield f"log {made.log_id}, {many(made.partitions, 'partition')}, at {made.place}"
    if made.behind:
        more = many(made.behind, "slot")
        yield f"The log has got {more} more. Stop who writes to it and give the same command again."
    else:
        yield "What is appended to the old log from now on is not in the copy; the same command brings it over."
    yield "What is erased here stays in the copy until it is erased there too; `erase` will name the copy."
    yield f"To use the copy: {how_to_use(made.place)}"


@click.command()
@with_home
def settings(client: Client) -> Output:
    """Print the settings of the log, which all its homes share, and the file of this home's own settings.

    A setting of the log is changed by the command of its subject: `memtape admin embedder`, `lifecycle`, `retriever`.

    \b
    Example:
      memtape admin settings --json
    """
    from memtape.sinks.logs.configuring import settings_on

    of_log, path = msgspec.to_builtins(settings_on(client.log)), str(client.home.settings_path)
    yield {"log": of_log, "file": path}
    for name, value in of_log.items():
        yield f"{name:<28}{one_line(str(value), SHOWN_CHARS)}"
    yield f"The settings of this home alone stand in {path}."


@click.command()
@click.option("--port", default=0, show_default="a free one", type=click.IntRange(0, 65_535), help="The port.")
@click.option("--no-browser", is_flag=True, help="Print the address alone.")
@click.option("--scope", help="Where to begin: global or project:NAME, by default the project of this folder.")
@with_log
@with_folder
def page(home: Path, port: int, no_browser: bool, scope: str | None, logs: bool) -> None:
    """Look into the memory with a browser: fresh texts, searches with reasons, agents' contexts, changes.

    The page is for this machine and for holders of its address alone: a cookie remembers a browser that
    opened it once. It shows every project of the home. Each action asks first, and says how it is undone.
    Ctrl-C ends the page. Pages of the tree are another thing: `memtape tree new` writes one.

    With --log-format each error is a line on stderr, and from --log-level debug on each view; no line has a
    text of a memory, a question or an address.

    \b
    Example:
      memtape page
      memtape page --no-browser --port 8700 --log-format json
    """
    check_kept(opened_home(home), "A page")
    with Client(home) as client:
        begins = check_scope(scope) if scope else client.scope
    from memtape.tools.keep.operations import operation
    from memtape.tools.page.app import Serving

    serving = Serving(home, begins, port)
    if not printed_json({"address": serving.address}):
        say(f"{serving.address}\nKeep this address to yourself: it lets in whoever opens it. Ctrl-C ends the page.")
    sys.stdout.flush()
    operation("serving", port=serving.port)
    try:
        serving.serve(open_browser=not no_browser and not is_json())
    finally:
        operation("stopped")


def _note(note: str) -> None:
    say(note, err=True)
