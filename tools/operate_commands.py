"""The commands that keep a home: run and verify."""

from __future__ import annotations

import signal
import sys
import time
from types import FrameType

import click

from recollect.tools.options import client_of, explained, home_option, json_option, print_json, progress

SHOWN_DIFFERENCES = 50


@click.command()
@click.option("--once", is_flag=True, help="Project what there is and end.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Threads to project with.")
@home_option
@json_option
@explained
def run(once: bool, workers: int, home: str | None, as_json: bool) -> None:
    """Keep the views of a home up to date, until stopped by SIGINT or SIGTERM.

    One process at a time can do this; a second one is refused and told the pid of the first.

    \b
    Example:
      recollect run --once
    """
    from recollect.tools.projector import Projector

    with client_of(home, "global") as client:
        projector = Projector(client.home, client.log, once=once, workers=workers)
        ended: list[int] = []

        def stop(number: int, frame: FrameType | None) -> None:
            ended.append(number)
            projector.stop()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        started = time.monotonic()
        if once:
            with progress(sum(client.log.ends()), "Projecting") as bar:
                events = projector.run(lambda done: bar.update(done - bar.pos))
                bar.update(events - bar.pos)
        else:
            if not as_json:
                click.echo(f"Projecting {client.home.path}; stop with Ctrl-C.", err=True)
            events = projector.run()
        seconds = time.monotonic() - started
    if as_json:
        print_json({"events": events, "seconds": round(seconds, 3), "stopped": bool(ended)})
    else:
        click.echo(f"Read {events:,} events in {seconds:.1f} s." + (" Stopped." if ended else ""))
    if ended and once:
        sys.exit(1)


@click.command()
@home_option
@json_option
@explained
def verify(home: str | None, as_json: bool) -> None:
    """Replay the log and compare it with the views, row by row and page by page.

    Exits 1 if anything differs. What differs comes right when the views are made again.

    \b
    Example:
      recollect verify --json
    """
    with client_of(home, "global") as client:
        verdict = client.verify()
    if as_json:
        print_json(verdict._asdict() | {"differences": [difference._asdict() for difference in verdict.differences]})
    else:
        click.echo(f"{'The views are what the log says' if verdict.ok else 'The views differ from the log'}.")
        click.echo(f"state hash {verdict.state_hash} over {verdict.events:,} events")
        for difference in verdict.differences[:SHOWN_DIFFERENCES]:
            click.echo(f"  {difference.what}: {difference.view} {difference.scope} {difference.id}")
        if len(verdict.differences) > SHOWN_DIFFERENCES:
            click.echo(f"  … and {len(verdict.differences) - SHOWN_DIFFERENCES:,} more")
    if not verdict.ok:
        sys.exit(1)
