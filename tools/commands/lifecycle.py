"""The command about the aging of a project's texts: their tiers, the next pass, and its settings."""

from __future__ import annotations

import click
import msgspec

from memtape.schemas.times import parse_time
from memtape.tools.capture.writing import check_person, now_us
from memtape.tools.client import Client
from memtape.tools.commands.aging import aging_lines
from memtape.tools.commands.options import print_json, say, with_client
from memtape.tools.keep.lifecycle_settings import change_lifecycle, lifecycle_settings


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what the next pass would move, and why the rest stays.")
@click.option("--at", metavar="TIME", help="The dry run is of a pass at this later time, as ISO 8601.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="The most groups that are told.")
@click.option(
    "--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a setting of the whole log; may be repeated."
)
@with_client
def lifecycle(
    client: Client, dry_run: bool, at: str | None, limit: int, changes: tuple[str, ...], as_json: bool
) -> None:
    """Say how many texts of this project stand in which tier, archived or not, and when the clock last ticked.

    A pass moves texts on once an hour where any is due. With --dry-run it is tried on a copy of the state: each text is
    counted once, as one that moves or by why it stays. The pass is one, as if none came before it. --set is for people:
    --origin user at a terminal.

    \b
    Example:
      memtape lifecycle
      memtape lifecycle --dry-run
      memtape lifecycle --dry-run --at 2027-01-01 --json
      memtape lifecycle --set archive_after_days=-1
    """
    if at is not None and not dry_run:
        raise click.UsageError("--at says when a pass is tried: give --dry-run too.")
    if changes:
        settings = _change(client, changes)
        if as_json:
            print_json({"settings": settings})
        else:
            say("\n".join(f"{key:<28}{str(value).lower()}" for key, value in settings.items()))
        return
    aging = client.lifecycle(dry_run=dry_run, at=None if at is None else parse_time(at, now_us()))
    if as_json:
        print_json({**msgspec.to_builtins(aging), "settings": lifecycle_settings(client.log)})
        return
    for line in aging_lines(aging, limit):
        say(line)


def _change(client: Client, changes: tuple[str, ...]) -> dict[str, int | bool]:
    """Append changed settings. Raises `MemtapeError`, also for anyone but a person."""
    check_person(client.actor.origin, "change how texts age")
    pairs = [change.partition("=") for change in changes]
    if wrong := [key for key, sign, _ in pairs if not sign]:
        raise click.UsageError(f"{wrong[0]} is no KEY=VALUE, as archive_after_days=-1.")
    return change_lifecycle(client.log, {key.strip(): value.strip() for key, _, value in pairs})
