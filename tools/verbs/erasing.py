"""Take texts away: `erase` for good with its proof, and `prune` by tag and age."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from memtape.schemas.errors import InvalidUse, MemtapeError
from memtape.schemas.events import DEV_TAG, PRUNED_BEFORE
from memtape.schemas.ids import short_id
from memtape.schemas.times import format_day, format_time, parse_time
from memtape.schemas.visible import many, one_line
from memtape.tools.capture.writing import now_us
from memtape.tools.doors.terminal import confirmed, is_json, say, say_all, some
from memtape.tools.keep.pruning import Pruned, plan
from memtape.tools.keep.pruning import prune as forget
from memtape.tools.query.plan import is_whole, only_scope
from memtape.tools.verb import Asks, Failure, Id, Output, Tags, Verb, said, terminal

if TYPE_CHECKING:
    from memtape.sinks.remains import Needles, SearchedFile
    from memtape.tools.keep import erasing
    from memtape.tools.world import World


class EraseAsks(Asks, frozen=True):
    ids: Annotated[tuple[Id, ...], said("The ids of captures or recalls.", argument=True)] = ()
    session: Annotated[str | None, said("Everything captured in this session.")] = None
    source: Annotated[str | None, said("Everything captured from this source.")] = None
    tag: Annotated[str | None, said("Everything captured with this tag.")] = None
    only: Annotated[bool, said("Just the named captures, not every capture that is the same memory.")] = False
    everywhere: Annotated[bool, said("Also other events, of any scope, that carry the text.")] = False
    dry_run: Annotated[bool, said("Only list what would go, and what would stay.")] = False
    yes: Annotated[bool, said("Do not ask before erasing what was selected, or a correction.")] = False

    def selection(self) -> dict[str, str]:
        """Return what selects captures instead of ids."""
        named = {"session": self.session, "source": self.source, "tag": self.tag}
        return {name: value for name, value in named.items() if value is not None}


class SearchedFiles(msgspec.Struct, frozen=True, kw_only=True):
    """What was looked for in which files, and what was found; never the needles themselves."""

    proves: bool
    hidden_texts: int
    labelled_words: list[str]
    shared_words: dict[str, tuple[str, ...]]
    looked_for: dict[str, int]
    files: list[dict[str, Any]]


class ErasureReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The plan of an erasure, and after the erasure the outcome and the proof."""

    scope: str
    erased: list[Any]
    erased_before: list[str]
    corrections: list[dict[str, str]]
    carriers: list[Any]
    kept: list[Any]
    unreadable: list[Any]
    ok: bool | None = None
    proven: bool | None = None
    before: SearchedFiles | None = None
    after: SearchedFiles | None = None
    seconds: float | None = None


def erase(world: World, asked: EraseAsks) -> Output:
    """Erase captures or recalls for good, and prove it: from the log, every view, cache and file of the home.

        memtape erase 019ab0c4-9a3c-7000-8000-0123456789ab

    Every capture of the same memory is erased, and everything derived from it. Other events that carry the
    text are listed. The home is searched before and after, by decoding every file; the command exits 1 where
    that proves nothing. It can be interrupted: call it again with the same ids. Copies of the log are not
    touched. To hide something until it is restored use `forget`.

    Returns the proof, without a question. Raises `MemtapeError`, also where people's words would go.
    """
    made = _planned(world, asked)
    if not is_json():
        _print_plan(made)
    if not (made.items or made.erased_before):
        yield _report(made)
        return
    if asked.dry_run:
        yield from _dry_run(made, world)
        return
    is_doubtful = bool(asked.selection() or made.corrections or made.others)
    if is_doubtful and not asked.yes and not confirmed("Erase these for good?"):
        lost = many(len(made.corrections), "correction")
        told = f": {lost} of people would go too" if made.corrections else ""
        told = told or (f": {many(len(made.others), 'other text')} would go too" if made.others else "")
        raise MemtapeError(f"Nothing was erased{told}.", "Confirm it, or give --yes.")
    started = time.monotonic()
    done = world.erase(made)
    report = msgspec.structs.replace(
        _report(made),
        ok=done.ok,
        proven=done.after.proves,
        before=_searched(done.before) if done.before else None,
        after=_searched(done.after),
        seconds=round(time.monotonic() - started, 3),
    )
    yield report if done.after.proves else Failure(report)
    _print_proof(done, report.seconds or 0)


def _dry_run(made: erasing.ErasurePlan, world: World) -> Output:
    """Yield the report of a plan with the search before it, and say what the erasure would leave."""
    from memtape.tools.keep.erasing import search_before

    before = search_before(made, world.home, world.log)
    yield msgspec.structs.replace(_report(made), before=_searched(before))
    own = [place for place in before.found if place.own]
    if own or before.needles.shared or before.needles.labelled:
        say("What the erasure would leave:")
    _print_own(own)
    _print_unproven(before.needles, not own)


def _planned(world: World, asked: EraseAsks) -> erasing.ErasurePlan:
    from memtape.tools.keep.erasing import ids_matching, plan

    scope, ids, chosen = world.scope, asked.ids, asked.selection()
    if bool(ids) is bool(chosen):
        raise InvalidUse("Give ids, or what selects them: --session, --source or --tag.")
    if chosen:
        ids = ids_matching(world.home, world.log, scope, **chosen)
    else:
        it = [world.meant(id, () if is_whole(id) else ("captured", "recalled")) for id in dict.fromkeys(ids)]
        scope, ids = only_scope(scope for scope, _ in it), tuple(id for _, id in it)
    made = plan(world.home, world.log, scope, ids, only=asked.only)
    if asked.everywhere:
        made.take_carriers(world.log)
    return made


def _report(made: erasing.ErasurePlan) -> ErasureReport:
    return ErasureReport(
        scope=made.scope,
        erased=made.items,
        erased_before=made.erased_before,
        corrections=[{"id": it.id, "text": it.text} for it in made.corrected],
        carriers=made.carriers,
        kept=made.kept,
        unreadable=made.unreadable,
    )


def _searched(search: erasing.FileSearch) -> SearchedFiles:
    """Return the searched files and findings; never the needles themselves."""
    needles = search.needles
    return SearchedFiles(
        proves=needles.prove,
        hidden_texts=needles.hidden,
        labelled_words=list(needles.labelled),
        shared_words=needles.shared,
        looked_for={it: len(getattr(needles, it)) for it in ("ids", "texts", "words", "vectors")},
        files=[
            place._asdict() | {"found": [{"kind": it.kind, "where": it.where} for it in place.found]}
            for place in search.places
        ],
    )


def prune(
    world: World,
    tags: Annotated[Tags, said("What carries this tag, by default what development has left.")] = (DEV_TAG,),
    before: Annotated[
        str, said("What was captured before then: ISO 8601, or an age as 3d.", time=True)
    ] = PRUNED_BEFORE,
    every: Annotated[bool, said("Every scope, not just this project.", option="--all")] = False,
    dry_run: Annotated[bool, said("Only say what would go.")] = False,
    yes: Annotated[bool, terminal("Do not ask before forgetting.")] = False,
) -> Pruned:
    """Forget old captures with a tag: by default those of development, after 7 days.

        memtape admin prune --dry-run
        memtape admin prune --tag env:dev --before 2d --yes

    Memories derived from them alone are forgotten too. A text that somebody also captured without the tag
    stays. Nothing is erased: `memtape restore` shows a memory again.

    Raises `MemtapeError` without a tag.
    """
    world.rights.check_reader(None if every else world.scope)
    made = plan(world, tags, parse_time(before, now_us()), every=every)
    return made if dry_run else forget(world, made)


def _print_plan(made: erasing.ErasurePlan) -> None:
    if not made.items and not made.erased_before:
        say(f"Nothing in {made.scope} matches; nothing was erased.")
    if made.is_resumed:
        say("This erasure was cut short, and is finished now.")
    if made.erased_before:
        before = ", ".join(map(short_id, made.erased_before))
        say(f"Erased before: {before}. What is left of it is taken out now.")
    say_all(some(made.items, _item, f"{len(made.items)} of {made.scope} to erase:"))
    also = "Corrections of people go too, since their words come from both:"
    say_all(some(made.corrected, lambda it: f"  {short_id(it.id)}  {one_line(it.text, 80)}", also))
    also = "Other texts go too, since they were taken from an event that carries the text:"
    gone = [item for item in made.items if item.id in made.others]
    say_all(some(gone, lambda it: f"  {short_id(it.id)}  {one_line(it.text, 80)}", also))
    also = "What else carries the text, and stays unless `erase` is given --everywhere:"
    say_all(some(made.carriers, _item, also))
    for partition, offset in [] if made.take_unreadable else made.unreadable:
        say(f"  unreadable slot {partition}/{offset}")
    stays = "What carries the text and cannot be taken out, since headers, settings and programs' words stay:"
    say_all(some(made.kept, _name, stays))


def _name(name: erasing.RemainingName) -> str:
    scope = f" in {name.scope}" if name.scope else ""
    place = name.place.removeprefix("$.")
    return f"  {place} {one_line(name.text, 80)!r} of {many(name.events, 'event')}{scope}"


def _item(item: erasing.ErasedItem) -> str:
    places = f"  ({', '.join(place.removeprefix('$.body.') for place in item.places)})" if item.places else ""
    told = f"{item.kind or item.type}  {item.scope}  {one_line(item.text, 80)}{places}"
    return f"  {short_id(item.id)}  {told}".rstrip()


def _print_proof(erasure: erasing.Erasure, seconds: float) -> None:
    before, after, needles = erasure.before, erasure.after, erasure.after.needles
    if before is None:
        say("The texts are no longer at hand; only ids were looked for.")
    else:
        counts = {"text": needles.texts, "word": needles.words, "vector": needles.vectors, "id": needles.ids}
        say(f"Looked for {', '.join(many(len(its), name) for name, its in counts.items() if its)}.")
        if erasure.plan.carriers or erasure.plan.kept:
            say("What others still carry was not looked for.")
        left = {place.path: place for place in after.found}
        for place in before.found:
            now = f"still {_counts(left[place.path].found)}" if place.path in left else "nothing"
            say(f"  {place.path} ({place.form}): before {_counts(place.found)}, now {now}")
    forms = Counter(place.form for place in after.places if place.form)
    say(f"Looked into {len(after.places)} files: {', '.join(f'{n} {form}' for form, n in forms.items())}.")
    for place in (place for place in after.found if not place.own):
        say(f"  found in {place.path} ({_where(place)})")
    _print_own(place for place in after.found if place.own)
    for place in after.unreadable:
        say(f"  {place.path}: {place.unreadable}")
    if after.only_own:
        gone = f"What was looked for is gone from all that Memtape made, in {seconds:.1f} s"
        say(f"{gone}, and stands in files of your own.", err=True)
    elif not erasure.ok:
        say("It is erased for every reader, but not all of its bytes are gone. Call it again.", err=True)
    elif not after.proves:
        say("It is erased for every reader.", err=True)
    else:
        good = "" if after.needles.shared else " for good"
        say(f"Erased{good}, in {seconds:.1f} s: nothing of what was looked for was found in any file.")
    _print_unproven(after.needles, erasure.ok)


def _print_own(places: Iterable[SearchedFile]) -> None:
    """Say which files of a person hold the text."""
    for place in places:
        where = _where(place)
        say(f'Your own file "{place.path}" holds it ({where}), and is yours to delete or to change.')


def _where(place: SearchedFile) -> str:
    return f"{_counts(place.found)}, first at {place.found[0].where}"


def _print_unproven(needles: Needles, ok: bool) -> None:
    """Say of how many texts nothing was looked for, and that a search for nothing proves nothing."""
    if needles.hidden:
        why = "each is too short, or other events say the same"
        say(f"Of {many(needles.said, 'text')} {needles.hidden:,} could not be looked for: {why}.", err=True)
    if needles.shared:
        unsought = "other texts still say these words of it, which were not looked for"
        say(f"Not gone for good: {unsought}.", err=True)
        then = "Erase those texts too, if the words give away what was erased."
        then += " By word, with the ids of the texts:"
        words = [(one_line(word, 80), ", ".join(map(short_id, ids))) for word, ids in needles.shared.items()]
        say_all(some(words, "  {0[0]}  {0[1]}".format, then), err=True)
    if needles.labelled:
        labels = one_line(", ".join(needles.labelled), 200)
        say(f"Labels of other events (tags, sources) still say: {labels}.", err=True)
        say("Not proven: erase those events too, if the labels give away what was erased.", err=True)
    elif ok and not needles.prove:
        hint = " Where other events say the same, `memtape erase --everywhere` takes them as well."
        say(f"Not proven: there was no text to look for.{hint if needles.said else ''}", err=True)


def _counts(found: tuple[Any, ...]) -> str:
    kinds = Counter(finding.kind for finding in found)
    return ", ".join(many(number, kind) for kind, number in kinds.items())


def _prune_shell(world: World, asked: Any) -> Output:
    made = prune(world, asked.tags, asked.before, asked.every, dry_run=True)
    if asked.dry_run or not made.items:
        yield msgspec.structs.replace(made, dry_run=asked.dry_run)
        yield from _pruning_lines(made, asked.dry_run)
        return
    if not is_json():
        say_all(_pruning_lines(made, dry_run=False))
    if not asked.yes and not confirmed(f"Forget {many(len(made.items), 'capture')}?"):
        raise MemtapeError("Nothing was forgotten.", "Confirm it, or give --yes.")
    yield forget(world, made)
    first = made.items[0]
    undo = f"memtape restore {short_id(first.id)} --scope {first.scope}"
    yield f"Forgot {many(len(made.items), 'capture')}. Undo: {undo}, and so of each."


def _pruning_lines(made: Pruned, dry_run: bool) -> Iterator[str]:
    """Yield the forgotten texts, their number by scope, and the reasons of kept ones."""
    tags, before = ", ".join(made.tags), format_time(made.before)
    what = f"tagged {one_line(tags, 200)}, or taken from that, and captured before {before}"
    if not made.items:
        yield f"Nothing that is shown is {what}."
    else:
        would = " would be forgotten" if dry_run else ""
        yield f"{many(len(made.items), 'capture')} {what}{would}:"
    told = [(short_id(it.id), format_day(it.at), it.kind, one_line(it.text, 80)) for it in made.items]
    yield from some(told, lambda it: f"  {'  '.join(it)}")
    scopes = Counter(item.scope for item in made.items)
    if len(scopes) > 1:
        yield from (f"  {name}: {count:,}" for name, count in scopes.items())
    if made.kept:
        yield f"{made.kept:,} of the kind stay: the same was also captured later, or without the tag."
    if made.hidden:
        yield f"{made.hidden:,} more are hidden already."


VERBS = (
    Verb("erase", erase, answers=ErasureReport, effect="erases"),
    Verb("admin prune", prune, shell=_prune_shell, effect="hides"),
)
