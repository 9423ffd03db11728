"""The commands that take texts away: `erase` for good, with the printed proof, and `prune` by tag and age."""

from __future__ import annotations

import sys
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.times import format_time
from memtape.schemas.visible import many, one_line
from memtape.tools.ask.naming import is_whole, meant
from memtape.tools.client import Client
from memtape.tools.commands.options import (
    confirmed,
    is_asked,
    is_json,
    phases,
    print_json,
    say,
    say_some,
    with_arguments,
    with_client,
    with_speaker,
)
from memtape.tools.keep.pruning import Pruned
from memtape.tools.keep.pruning import prune as forget

if TYPE_CHECKING:
    from memtape.sinks.remains import Needles
    from memtape.tools.keep.erasing import Carried, ErasedItem, Erasure, ErasurePlan, FileSearch, RemainingName


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--session", help="Everything captured in this session.")
@click.option("--source", help="Everything captured from this source.")
@click.option("--tag", help="Everything captured with this tag.")
@click.option("--query", help="What a search for this finds, with all that is one with it.")
@click.option("--limit", default=20, show_default=True, help="The most results of --query.")
@click.option("--only", is_flag=True, help="Just the named captures, not every capture that is the same memory.")
@click.option("--everywhere", is_flag=True, help="Also other events, of any scope, that carry the text.")
@click.option(
    "--keep-corrections", is_flag=True, help="Capture anew what people corrected, which goes with what it corrects."
)
@click.option("--dry-run", is_flag=True, help="Only list what would go.")
@click.option("--yes", is_flag=True, help="Do not ask before erasing what was selected, or a correction.")
@with_speaker
def erase(
    client: Client,
    ids: tuple[str, ...],
    only: bool,
    everywhere: bool,
    keep_corrections: bool,
    dry_run: bool,
    yes: bool,
    **selection: Any,
) -> None:
    """Erase captures or recalls for good, and prove it: from the log, every view, cache and file of the home.

    Every capture of the same memory is erased, and everything derived from it. Other events that carry the
    text are listed. The home is searched before and after, by decoding every file; the command exits 1 where
    that proves nothing. It can be interrupted: call it again with the same ids. Copies of the log are named,
    and not touched. To hide something until it is restored use `forget`.

    \b
    Example:
      memtape erase 019ab0c4-9a3c-7000-8000-0123456789ab
    """
    from memtape.sinks.home.unerased import how_to_erase_in, known_copies
    from memtape.tools.keep.erasing import ids_matching, plan

    chosen = {name: value for name, value in selection.items() if value is not None and name != "limit"}
    if bool(ids) is bool(chosen):
        raise click.UsageError("Give ids, or what selects them: --session, --source, --tag or --query.")
    if chosen:
        query, limit = selection.pop("query"), selection.pop("limit")
        found = () if query is None else client.search(query, limit, quiet=True).results
        hits = None if query is None else [result.id for result in found if result.scope == client.scope]
        ids = ids_matching(client.home, client.log, client.scope, selection, hits=hits, only=only)
    copies = [{"place": place, "to_erase": how_to_erase_in(place)} for place in known_copies(client.home, client.log)]
    scope, ids = (client.scope, ids) if chosen else client.one_scope(ids)
    made = plan(client.home, client.log, scope, ids, only=only)
    if everywhere:
        made.take_carriers()
    if not is_json():
        _print_plan(made)
    if dry_run or not (made.items or made.erased_before):
        if is_json():
            print_json(_as_json(made) | {"copies": copies})
        return
    if chosen and not yes and not confirmed("Erase these for good?"):
        raise MemtapeError("Nothing was erased.", "Confirm it, or give --yes.")
    made.keep_corrections = keep_corrections or _keeps(made, yes)
    _erase(client, made, copies)


def _erase(client: Client, made: ErasurePlan, copies: list[dict[str, str]]) -> None:
    """Erase a plan and print the proof. Exits 1 without a proof."""
    started = time.monotonic()
    with phases() as update:
        erasure = client.erase(made, update, lambda note: say(note, err=True))
    if is_json():
        seconds = round(time.monotonic() - started, 3)
        print_json(_as_json(made, erasure) | {"copies": copies, "seconds": seconds})
    else:
        _print_proof(erasure, time.monotonic() - started)
        for copy in copies:
            say(f"Not erased in the copy {one_line(copy['place'])}: {copy['to_erase']}.", err=True)
    if not erasure.after.proves:
        sys.exit(1)


def _print_search(search: FileSearch) -> None:
    """Print the searched files, and each file with a finding or without access."""
    forms = Counter(place.form for place in search.places if place.form)
    say(f"Looked into {len(search.places)} files: {', '.join(f'{n} {form}' for form, n in forms.items())}.")
    for place in sorted(search.found, key=lambda it: bool(it.own)):
        first = f"{_counts(place.found)}, first at {place.found[0].where}"
        yours = f'Your own file "{place.path}" holds it ({first}), and is yours to delete or to change.'
        say(yours if place.own else f"  found in {place.path} ({first})")
    for place in search.unreadable:
        say(f"  {place.path}: {place.unreadable}")


def _looked_for(needles: Needles) -> str:
    """Return the numbers of searched needles by kind."""
    vectors = f", {many(len(needles.vectors), 'vector')}" if needles.vectors else ""
    texts, words = many(len(needles.texts), "text"), many(len(needles.words), "word")
    return f"{texts}, {words}{vectors} and {many(len(needles.ids), 'id')}"


def _search_as_json(search: FileSearch) -> dict[str, Any]:
    """Return the searched files and findings; never the needles themselves."""
    return {
        "proves": search.needles.prove,
        "hidden_texts": search.needles.hidden,
        "labelled_words": list(search.needles.labelled),
        "shared_words": search.needles.shared,
        "looked_for": {kind: len(getattr(search.needles, kind)) for kind in ("ids", "texts", "words", "vectors")},
        "files": [
            place._asdict() | {"found": [{"kind": it.kind, "where": it.where} for it in place.found]}
            for place in search.places
        ],
    }


def _carried_as_json(carried: ErasurePlan | Carried) -> dict[str, Any]:
    """Return the other carriers of a text as JSON."""
    return {"carriers": carried.carriers, "kept": carried.kept, "unreadable": carried.unreadable}


def _keeps(made: ErasurePlan, yes: bool) -> bool:
    """Ask whether people's corrections are kept. Raises `MemtapeError` without a person at a terminal."""
    if not made.corrections or yes:
        return False
    if not is_asked():
        raise MemtapeError(
            f"Nothing was erased: {many(len(made.corrections), 'correction')} of people would go too.",
            "--keep-corrections captures them anew, --yes lets them go.",
        )
    return click.confirm("Keep what was corrected, captured anew?", default=True, err=True)


def _print_plan(made: ErasurePlan) -> None:
    if not made.items and not made.erased_before:
        say(f"Nothing in {made.scope} matches; nothing was erased.")
    if made.is_resumed:
        say("This erasure was cut short, and is finished now.")
    if made.erased_before:
        say(f"Erased before: {', '.join(made.erased_before)}. What is left of it is taken out now.")
    say_some(made.items, _item, f"{len(made.items)} of {made.scope} to erase:")
    also = "Corrections of people go too, since their words come from both, unless --keep-corrections is given:"
    say_some(made.corrected, lambda it: f"  {it.id}  {one_line(it.text, 80)}", also)
    _print_carried(made.carriers, [] if made.take_unreadable else made.unreadable, made.kept)


def _print_carried(carriers: list[ErasedItem], unreadable: list[tuple[int, int]], kept: list[RemainingName]) -> None:
    """Print the other events with the text, and the names with the text that cannot be erased."""
    say_some(carriers, _item, "What else carries the text, and stays unless `erase` is given --everywhere:")
    for partition, offset in unreadable:
        say(f"  unreadable slot {partition}/{offset}")

    def name_of(name: RemainingName) -> str:
        scope = f" in {name.scope}" if name.scope else ""
        place = name.place.removeprefix("$.")
        return f"  {place} {one_line(name.text, 80)!r} of {many(name.events, 'event')}{scope}"

    stays = "What carries the text and cannot be taken out, since headers, settings and programs' words stay:"
    say_some(kept, name_of, stays)


def _item(item: ErasedItem) -> str:
    places = f"  ({', '.join(place.removeprefix('$.body.') for place in item.places)})" if item.places else ""
    return f"  {item.id}  {item.kind or item.type}  {item.scope}  {one_line(item.text, 80)}{places}".rstrip()


def _print_proof(erasure: Erasure, seconds: float) -> None:
    before, after = erasure.before, erasure.after
    if before is None:
        say("The texts are no longer at hand; only ids were looked for.")
    else:
        needles = before.needles
        say(f"Looked for {_looked_for(needles)}.")
        if erasure.plan.carriers or erasure.plan.kept:
            say("What others still carry was not looked for.")
        left = {place.path: place for place in after.found}
        for place in before.found:
            now = f"still {_counts(left[place.path].found)}" if place.path in left else "nothing"
            say(f"  {place.path} ({place.form}): before {_counts(place.found)}, now {now}")
    _print_search(after)
    if after.only_own:
        gone = f"What was looked for is gone from all that Memtape made, in {seconds:.1f} s"
        say(f"{gone}, and stands in files of your own.", err=True)
    elif not erasure.ok:
        say("It is erased for every reader, but not all of its bytes are gone. Call it again.", err=True)
    elif erasure.after.proves and after.needles.shared:
        say(f"Erased, in {seconds:.1f} s: nothing of what was looked for was found in any file.")
    elif erasure.after.proves:
        say(f"Erased for good, in {seconds:.1f} s: nothing of what was looked for was found in any file.")
    else:
        say("It is erased for every reader.", err=True)
    _print_unproven(after.needles, erasure.ok)


def _print_unproven(needles: Needles, ok: bool) -> None:
    """Say of how many texts nothing was looked for, and that a search for nothing proves nothing."""
    if needles.hidden:
        why = "each is too short, or other events say the same"
        say(f"Of {many(needles.said, 'text')} {needles.hidden:,} could not be looked for: {why}.", err=True)
    if needles.shared:
        say("Not gone for good: other texts still say these words of it, which were not looked for.", err=True)
        then = "Erase those texts too, if the words give away what was erased. By word, with the ids of the texts:"
        words = list(needles.shared.items())
        say_some(words, lambda it: f"  {one_line(it[0], 80)}  {', '.join(it[1])}", then, err=True)
    if needles.labelled:
        say(
            f"Labels of other events (tags, sources) still say: {one_line(', '.join(needles.labelled), 200)}.", err=True
        )
        say("Not proven: erase those events too, if the labels give away what was erased.", err=True)
    elif ok and not needles.prove:
        hint = "`memtape verify --erased ID --text FILE` looks for a text that you still have."
        if needles.said:
            hint = "Where other events say the same, `memtape erase --everywhere` takes them as well."
        say(f"Not proven: there was no text to look for. {hint}", err=True)


def _counts(found: tuple[Any, ...]) -> str:
    kinds = Counter(finding.kind for finding in found)
    return ", ".join(many(number, kind) for kind, number in kinds.items())


def _as_json(made: ErasurePlan, erasure: Erasure | None = None) -> dict[str, Any]:
    said: dict[str, Any] = {
        "scope": made.scope,
        "erased": made.items,
        "erased_before": made.erased_before,
        "corrections": [{"id": it.id, "text": it.text} for it in made.corrected],
        "keeps_corrections": made.keep_corrections,
        **_carried_as_json(made),
    }
    if erasure is not None:
        said["ok"] = erasure.ok
        said["proven"] = erasure.after.proves
        said["before"] = _search_as_json(erasure.before) if erasure.before else None
        said["after"] = _search_as_json(erasure.after)
    return said


def verify_erased(client: Client, ids: tuple[str, ...], texts: list[str]) -> None:
    """Search for erased ids and texts and print the findings. Exits 1 without a proof."""
    from memtape.tools.keep.erasing import prove

    whole = [id if is_whole(id) else meant(client.log, id, (), ())[1] for id in ids]
    with phases() as update:
        found, carried = prove(client.home, client.log, whole, texts, update)
    if is_json():
        said = {"ok": found.clean, "proven": found.proves}
        print_json(said | _carried_as_json(carried) | _search_as_json(found))
    else:
        say(f"Looked for {_looked_for(found.needles)}.")
        _print_carried(carried.carriers, carried.unreadable, carried.kept)
        _print_search(found)
        if found.only_own:
            say("Nothing of what was looked for was found in what Memtape made.")
        elif not found.clean:
            say("Not all of it is gone; `memtape erase` goes on.")
        elif found.proves:
            say("Nothing of what was looked for was found.")
        _print_unproven(found.needles, found.clean)
    if not found.proves:
        sys.exit(1)


@click.command()
@with_arguments("admin prune")
@click.option("--all", "every", is_flag=True, help="Every scope, not just this project.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--yes", is_flag=True, help="Do not ask before forgetting.")
@with_client
def prune(client: Client, tags: tuple[str, ...], before: str, every: bool, dry_run: bool, yes: bool) -> None:
    """Forget old captures with a tag: by default those of development, after 7 days.

    Memories derived from them alone are forgotten too. A text that somebody also captured without the tag
    stays. Nothing is erased: `memtape restore` shows a memory again.

    \b
    Example:
      memtape admin prune --dry-run
      memtape admin prune --tag env:dev --before 2d --yes
    """
    with phases() as update:
        looked = partial(update, "looking")
        made = client.prune(tags, before, every=every, dry_run=True, on_progress=looked)
    if not is_json():
        _print(made, dry_run)
    if made.items and not dry_run:
        if not yes and not confirmed(f"Forget {many(len(made.items), 'capture')}?"):
            raise MemtapeError("Nothing was forgotten.", "Confirm it, or give --yes.")
        made = forget(client, made)
        if not is_json():
            first = made.items[0]
            undo = f"memtape restore {first.id} --scope {first.scope}"
            say(f"Forgot {many(len(made.items), 'capture')}. To undo: {undo}, and so of each.")
    if is_json():
        print_json(made if made.items else msgspec.structs.replace(made, dry_run=dry_run))


def _print(made: Pruned, dry_run: bool) -> None:
    """Print the forgotten texts, their number by scope, and the reasons of kept ones."""
    tags, before = ", ".join(made.tags), format_time(made.before)
    what = f"tagged {one_line(tags, 200)}, or taken from that, and captured before {before}"
    if not made.items:
        say(f"Nothing that is shown is {what}.")
    else:
        would = " would be forgotten" if dry_run else ""
        say(f"{many(len(made.items), 'capture')} {what}{would}:")
    say_some(made.items, lambda it: f"  {it.id}  {format_time(it.at)[:10]}  {it.kind}  {one_line(it.text, 80)}")
    scopes = Counter(item.scope for item in made.items)
    if len(scopes) > 1:
        say("\n".join(f"  {name}: {count:,}" for name, count in scopes.items()))
    if made.kept:
        say(f"{made.kept:,} of the kind stay: the same was also captured later, or without the tag.")
    if made.hidden:
        say(f"{made.hidden:,} more are hidden already.")
