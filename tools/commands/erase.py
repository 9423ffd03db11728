"""The command that erases for good, and what it prints as proof."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from memtape.schemas.errors import MemtapeError
from memtape.schemas.visible import one_line
from memtape.tools.client import Client
from memtape.tools.commands.options import Phases, print_json, say, with_speaker

if TYPE_CHECKING:
    from memtape.sinks.proof.remains import Needles
    from memtape.tools.keep.erasing import Erasure, Item, Plan, Search

LISTED = 50


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--session", help="Everything captured in this session.")
@click.option("--source", help="Everything captured from this source.")
@click.option("--tag", help="Everything captured with this tag.")
@click.option("--query", help="What a search for this finds, with all that is one with it.")
@click.option("--limit", default=20, show_default=True, help="The most results of --query.")
@click.option("--only", is_flag=True, help="Just the named captures, not every capture that is the same memory.")
@click.option("--everywhere", is_flag=True, help="Also other events, of any scope, that carry the text.")
@click.option("--dry-run", is_flag=True, help="Only list what would go.")
@click.option("--yes", is_flag=True, help="Do not ask before erasing what was selected.")
@with_speaker
def erase(
    client: Client,
    ids: tuple[str, ...],
    only: bool,
    everywhere: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **selection: Any,
) -> None:
    """Erase captures or recalls for good, and prove it: from the log, every view, cache and file of the home.

    Every capture that is the same memory goes, and what derives from it. Other events that carry the text are
    listed. The home is searched before and after, by decoding every file. It can be interrupted: call it again
    with the same ids. To hide something until it is restored use `forget`.

    \b
    Example:
      memtape erase 019ab0c4-9a3c-7000-8000-0123456789ab
    """
    from memtape.tools.keep.erasing import ids_matching, plan

    chosen = {name: value for name, value in selection.items() if value is not None and name != "limit"}
    if bool(ids) is bool(chosen):
        raise click.UsageError("Give ids, or what selects them: --session, --source, --tag or --query.")
    if chosen:
        ids = ids_matching(client, only=only, **selection)
    scope, ids = (client.scope, ids) if chosen else client.one_scope(ids)
    made = plan(client.home, client.log, scope, ids, only=only)
    if everywhere:
        made.take_carriers()
    if not as_json:
        _print_plan(made)
    if dry_run or not (made.items or made.erased_before):
        if as_json:
            print_json(_as_json(made))
        return
    if chosen and not yes and not _confirmed():
        raise MemtapeError("Nothing was erased.", "Confirm it, or give --yes.")
    started = time.monotonic()
    with Phases() as phases:
        erasure = client.erase(made, phases.update, lambda note: say(note, err=True))
    if as_json:
        print_json(_as_json(made, erasure) | {"seconds": round(time.monotonic() - started, 3)})
    else:
        _print_proof(erasure, time.monotonic() - started)
    if not erasure.ok:
        sys.exit(1)


def print_search(search: Search) -> None:
    """Print what a search has looked at, and each file in which it found something or saw nothing."""
    forms = Counter(place.form for place in search.places if place.form)
    say(f"Looked into {len(search.places)} files: {', '.join(f'{n} {form}' for form, n in forms.items())}.")
    for place in search.found:
        say(f"  found in {place.path} ({_counts(place.found)}), first at {place.found[0].where}")
    for place in search.unreadable:
        say(f"  {place.path}: {place.unreadable}")


def looked_for(needles: Needles) -> str:
    """Return how much of what kind was looked for."""
    vectors = f", {_many(needles.vectors, 'vector')}" if needles.vectors else ""
    return f"{_many(needles.texts, 'text')}, {_many(needles.words, 'word')}{vectors} and {_many(needles.ids, 'id')}"


def search_as_json(search: Search) -> dict[str, Any]:
    """Return what a search has looked at and found; never the needles themselves."""
    return {
        "looked_for": {kind: len(getattr(search.needles, kind)) for kind in ("ids", "texts", "words", "vectors")},
        "files": [
            {
                "path": place.path,
                "form": place.form,
                "looked_at": place.looked_at,
                "unit": place.unit,
                "found": [{"kind": finding.kind, "where": finding.where} for finding in place.found],
                "unreadable": place.unreadable,
            }
            for place in search.places
        ],
    }


def _confirmed() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and click.confirm("Erase these for good?", err=True)


def _print_plan(made: Plan) -> None:
    if not made.items and not made.erased_before:
        say(f"Nothing in {made.scope} matches; nothing was erased.")
    if made.erased_before:
        say(f"Erased before: {', '.join(made.erased_before)}. What is left of it is taken out now.")
    _print_items(f"{len(made.items)} of {made.scope} to erase:", made.items)
    if made.carriers or (made.unreadable and not made.take_unreadable):
        _print_items("What else carries the text, and stays unless --everywhere is given:", made.carriers)
        for partition, offset in made.unreadable:
            say(f"  unreadable slot {partition}/{offset}")


def _print_items(title: str, items: list[Item]) -> None:
    if items:
        say(title)
    for item in items[:LISTED]:
        say(f"  {item.id}  {item.kind or item.type}  {item.scope}  {one_line(item.text, 80)}".rstrip())
    if len(items) > LISTED:
        say(f"  … and {len(items) - LISTED:,} more")


def _print_proof(erasure: Erasure, seconds: float) -> None:
    before, after = erasure.before, erasure.after
    if before is None:
        say("The texts are no longer at hand; only ids were looked for. `memtape verify --erased` takes --text.")
    else:
        needles = before.needles
        say(f"Looked for {looked_for(needles)}.")
        if erasure.plan.carriers:
            say("What others still carry was not looked for.")
        left = {place.path: place for place in after.found}
        for place in before.found:
            now = f"still {_counts(left[place.path].found)}" if place.path in left else "nothing"
            say(f"  {place.path} ({place.form}): before {_counts(place.found)}, now {now}")
    print_search(after)
    if erasure.ok:
        say(f"Erased for good, in {seconds:.1f} s: nothing of it was found in any file.")
    else:
        say("It is erased for every reader, but not all of its bytes are gone. Call it again.", err=True)


def _counts(found: tuple[Any, ...]) -> str:
    kinds = Counter(finding.kind for finding in found)
    return ", ".join(_many([kind] * number, kind) for kind, number in kinds.items())


def _many(things: Sequence[object], what: str) -> str:
    return f"{len(things):,} {what}{'' if len(things) == 1 else 's'}"


def _as_json(made: Plan, erasure: Erasure | None = None) -> dict[str, Any]:
    said: dict[str, Any] = {
        "scope": made.scope,
        "erased": [item._asdict() for item in made.items],
        "erased_before": made.erased_before,
        "carriers": [item._asdict() for item in made.carriers],
        "unreadable": made.unreadable,
    }
    if erasure is not None:
        said["ok"] = erasure.ok
        said["before"] = search_as_json(erasure.before) if erasure.before else None
        said["after"] = search_as_json(erasure.after)
    return said
