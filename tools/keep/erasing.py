"""Erasing for good: the plan, other carriers of the text, the erasure itself, and its proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from memtape.flows.workers.worker import OnNote
from memtape.schemas.codec import decode, event_of
from memtape.schemas.errors import InvalidEvent, MemtapeError, NotFound, StillHeld
from memtape.schemas.events import (
    EVENT_TYPES,
    MAX_IDS,
    OWN_TAGS,
    PEOPLE,
    STATED_TAG,
    Captured,
    Embedded,
    Erased,
    Event,
    Forgotten,
    Kind,
    Restored,
)
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log, Slot, events_between, slots_between
from memtape.schemas.metrics import OnPhase
from memtape.schemas.scopes import partition_of
from memtape.schemas.texts import Said, texts_of, texts_of_body
from memtape.sinks.home.folders import Home
from memtape.sinks.home.unerased import drop_unfinished, keep_unfinished, unfinished_erasures
from memtape.sinks.logs.admission import check_admissible
from memtape.sinks.remains import Needles, Remnant, SearchedFile, search_home, search_log, without_structure
from memtape.sinks.vault import Vault
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.core.scope import Scope
from memtape.state.subjects.validity import successor
from memtape.state.text.statements import IMPORTANCE
from memtape.state.text.traces import Traces, all_words, is_searched, parts, telling_words
from memtape.state.views.resolution import selected, whole
from memtape.tools.capture.native_ids import HEARD, SOURCES
from memtape.tools.capture.writing import Writer, now_us
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.owner import scrub_as_owner
from memtape.tools.keep.rebuild import without_list
from memtape.tools.keep.states import scope_now, state_at

Gone = Mapping[tuple[str | None, str], None]
"""Scope and id of erased events."""


OWN_LABELS = frozenset((*OWN_TAGS, *IMPORTANCE, *SOURCES, *HEARD.values()))
"""Labels that Memtape itself gives to captures, regardless of their text: they reveal nothing."""


CORRECTION_TAGS = (STATED_TAG, "correction")
MOST_SHARED_IDS = 10
"""So many living texts are named for each word that an erased text shares with them."""


class ErasedItem(NamedTuple):
    """An erased event, or a carrier of an erased text: its place on the log and the beginning of its text.

    `places` are the JSON paths in a carrier's body (`$.body.tags[1]`) with the text.
    """

    scope: str
    id: str
    type: str
    kind: Kind | None
    at: int
    partition: int
    offset: int
    text: str
    places: tuple[str, ...] = ()


class RemainingName(NamedTuple):
    """A name that carries a text and stays: in the header of `events` events of a scope, or in a kept field.

    `scope` is empty for settings and time, which have none.
    """

    scope: str
    place: str
    text: str
    events: int


class Carried(msgspec.Struct, kw_only=True):
    """Other places of the texts: erasable events, names that cannot be erased, and unreadable slots."""

    carriers: list[ErasedItem] = []
    kept: list[RemainingName] = []
    unreadable: list[tuple[int, int]] = []


class ErasurePlan(Carried, kw_only=True):
    """The plan of an erasure, kept until the erasure is proven.

    `items` are erased: captures, and events derived from them. `carriers` are other events of any scope
    with a text of theirs; `unreadable` slots (partition, offset) and names in `kept` have it too.
    `erased_before` are ids erased earlier. `texts` are the statements in the erased events, as far as still
    on the log, `labels` their labels. `corrections` by people, each with its sentence, are erased too,
    unless kept: then they are captured again, so that a kept plan has none. `vectors` are the items'
    vectors, once looked up. A plan `is_resumed` if its erasure was cut short.
    """

    scope: str
    items: list[ErasedItem]
    erased_before: list[str]
    texts: list[str]
    labels: list[str]
    corrections: dict[str, str] = {}
    keep_corrections: bool = False
    take_unreadable: bool = False
    vectors: list[bytes] = []
    is_resumed: bool = False

    def take_carriers(self) -> None:
        """Erase the carriers of the texts too."""
        self.items += self.carriers
        self.carriers = []
        self.take_unreadable = True
        gone = {item.id: None for item in self.items if item.scope == self.scope}
        self.corrections = {id: said for id, said in self.corrections.items() if said not in gone}

    @property
    def corrected(self) -> list[ErasedItem]:
        """The items that are corrections by people."""
        return [item for item in self.items if item.scope == self.scope and item.id in self.corrections]

    def ids(self) -> dict[str, list[str]]:
        """Return the ids to be erased, by scope."""
        by_scope: dict[str, list[str]] = {}
        for item in self.items:
            by_scope.setdefault(item.scope, []).append(item.id)
        return by_scope


def plan(home: Home, log: Log, scope: str, ids: Sequence[str], *, only: bool) -> ErasurePlan:
    """Return the plan of erasing these ids of a scope, or an unfinished plan of the same ids.

    Raises `NotFound` for an id unknown to the scope.
    """
    if (begun := _begun(home, scope, ids)) is not None:
        return begun
    number = partition_of(scope, log.partitions)
    end = log.ends()[number]
    state = state_at(log, home.current(), number, end).scopes.get(scope) or Scope(scope)
    erased = erasures_of(log.erased(number)).named.get(scope, {})
    before = [id for id in ids if id in erased]
    asked = [id for id in ids if id not in erased]
    named = [capture for id in asked if (capture := state.captures.get(id))]
    captures = named if only else whole(state, asked)
    wanted = dict.fromkeys([*asked, *(capture.id for capture in captures)])
    items, texts, labels = _derived(log, number, end, scope, wanted, before)
    found = {item.id: None for item in items}
    missing = [id for id in asked if id not in found]
    if missing:
        raise NotFound(
            f"{scope} has nothing with the id {missing[0][:60]}; nothing was erased.",
            "`memtape search` and `memtape log` show ids; without --scope one is found wherever it is.",
        )
    carried = carried_by_others(log, {(item.scope, item.id): None for item in items}, texts)
    return ErasurePlan(
        scope=scope,
        items=items,
        **msgspec.structs.asdict(carried),
        erased_before=before,
        texts=texts,
        labels=labels,
        corrections=_corrections(log, state, items, wanted),
    )


def ids_matching(
    home: Home,
    log: Log,
    scope: str,
    wanted: Mapping[str, str | None],
    *,
    hits: Sequence[str] | None,
    only: bool,
) -> tuple[str, ...]:
    """Return the ids of a scope by session, source and tag as far as `wanted`, among `hits` of a search if
    given.

    All captures of a hit's memory count as hits, but not with `only`.
    """
    state = scope_now(home, log, scope) or Scope(scope)
    ids = {found.id: None for found in selected(state, **wanted)}
    if hits is not None:
        found = hits if only else [capture.id for capture in whole(state, hits)]
        ids = {id: None for id in found if id in ids}
    return tuple(ids)


def _begun(home: Home, scope: str, ids: Sequence[str]) -> ErasurePlan | None:
    """Return the unfinished plan of these ids, or without ids any of the scope: its selection is lost."""
    begun = (plan for plan in unfinished_erasures(home, ErasurePlan) if plan.scope == scope)
    return next((it for it in begun if not {*ids} - {*it.ids().get(scope, ()), *it.erased_before}), None)


class FileSearch(NamedTuple):
    """A search in every byte of a home: each searched file with its findings."""

    needles: Needles
    places: list[SearchedFile]

    @property
    def found(self) -> list[SearchedFile]:
        """The files with a finding. Memtape never deletes those of a person (`own`)."""
        return [place for place in self.places if place.found]

    @property
    def unreadable(self) -> list[SearchedFile]:
        """The unreadable files."""
        return [place for place in self.places if place.unreadable]

    @property
    def only_own(self) -> bool:
        """Whether only people's own files still hold the text."""
        return bool(self.found) and all(place.own for place in self.found) and not self.unreadable

    @property
    def clean(self) -> bool:
        """Whether everything was looked into and nothing was found."""
        return not self.found and not self.unreadable

    @property
    def proves(self) -> bool:
        """Whether it proves an erasure: nothing was found, and there was something to search for."""
        return self.clean and self.needles.prove


class Erasure(NamedTuple):
    """The result of an erasure: the plan, and the searches before and after it.

    `before` is None where the texts were unavailable, since erased before.
    """

    plan: ErasurePlan
    before: FileSearch | None
    after: FileSearch

    @property
    def ok(self) -> bool:
        """Whether the search found nothing any more."""
        return self.after.clean


def erase(made: ErasurePlan, writer: Writer, on_phase: OnPhase, on_note: OnNote) -> Erasure:
    """Carry out a plan and return the proof. A second call with the same ids resumes an interrupted erasure.

    Raises `MemtapeError` before anything is erased where the writer may not write to a scope of the plan, and
    `StillHeld` where another process keeps erased data.
    """
    home, log = writer.home, writer.log
    on_phase("reading the log", 0, 1)
    renewals = list(_renewals(home, log, made))
    _check_rights(writer, made, [scope for scope, _ in renewals])
    if made.keep_corrections:
        log.append([_kept_anew(log, item) for item in made.corrected])
    # While the log still says it, old pages can be told from what people wrote.
    if made.items and without_list(BuildViews(home, log)):
        scrub_as_owner(home, log, on_phase, on_note)
    needles, before = _look(home, log, made, on_phase)
    name = made.items[0].id if made.items else ""
    if name:
        vectors = list(needles.vectors)
        kept = {"corrections": {}, "vectors": vectors, "is_resumed": True, "keep_corrections": False}
        keep_unfinished(home, name, msgspec.structs.replace(made, **kept))
    for scope, again in renewals:
        writer.append("forgotten" if isinstance(again, Forgotten) else "restored", again, scope)
    _append_erased(log, made, writer)
    _scrub(home, log, on_phase, on_note)
    after = search(home, log, needles, lambda done, total: on_phase("searching after", done, total), name)
    if after.clean or after.only_own:
        drop_unfinished(home, name)
    return Erasure(made, before, after)


def _look(home: Home, log: Log, made: ErasurePlan, on_phase: OnPhase) -> tuple[Needles, FileSearch | None]:
    """Return the needles, and their search before the erasure, None without the texts."""
    gone: Gone = dict.fromkeys(
        [(made.scope, id) for id in made.erased_before] + [(it.scope, it.id) for it in made.items]
    )
    if not (made.texts or made.labels):
        return Needles(ids=tuple(dict.fromkeys(id for _, id in gone)), texts=(), words=()), None
    needles = needles_of(log, gone, made.texts, made.labels, made.vectors)
    name = made.items[0].id if made.is_resumed else ""
    before = search(home, log, needles, lambda done, total: on_phase("searching before", done, total), name)
    if not made.is_resumed:
        _check_sight(before)
    return needles, before


def _check_rights(writer: Writer, made: ErasurePlan, renewed: Iterable[str]) -> None:
    for scope in dict.fromkeys([*made.ids(), *renewed]):
        try:
            check_admissible(writer.made("erased", Erased(ids=(made.items[0].id,)), scope))
        except InvalidEvent as error:
            raise MemtapeError(
                f"Nothing was erased: the plan has events of the scope {scope}. {error}",
                "Give it again with --origin operator, if you may speak for that.",
            ) from None


def _append_erased(log: Log, made: ErasurePlan, writer: Writer) -> None:
    for scope, ids in made.ids().items():
        known = erasures_of(log.erased(partition_of(scope, log.partitions))).named.get(scope, {})
        left = [id for id in ids if id not in known]
        for start in range(0, len(left), MAX_IDS):
            writer.append("erased", Erased(ids=tuple(left[start : start + MAX_IDS])), scope)
    if made.take_unreadable:
        by_partition: dict[int, list[int]] = {}
        for number, offset in made.unreadable:
            by_partition.setdefault(number, []).append(offset)
        log.blank(by_partition)


def _scrub(home: Home, log: Log, on_phase: OnPhase, on_note: OnNote) -> None:
    try:
        scrub_as_owner(home, log, on_phase, on_note)
    except StillHeld:
        raise
    except (OSError, MemtapeError) as error:
        raise StillHeld(
            f"It is erased for every reader, but not from every file yet: {error}",
            "Mend that, and give the same command again.",
        ) from error


def needles_of(
    log: Log, gone: Gone, texts: Sequence[str], labels: Iterable[str] = (), known: Iterable[bytes] = ()
) -> Needles:
    """Return a search's needles: ids, texts, their longer lines, words and vectors, unique to erased events.

    Labels are searched whole. Strings in a living event, and strings in an empty home's structure, prove
    nothing. `known` are vectors of erased events that the log no longer has.
    """
    sought = [*(part for text in texts for part in parts(text)), *labels]
    traces = Traces(part for part in sought if is_searched(part))
    words = {word: None for text in texts for word in telling_words(text)}
    erasures = _erasures(log)
    known_words = dict.fromkeys(words)
    spoken, labelled, carried = dict[str, dict[str, None]](), dict[str, None](), dict[int, None]()
    vectors = dict.fromkeys(known, True)
    for slot, event in _events(log):
        if event is not None:
            is_gone = any((event.scope, id) in gone for id in (event.id, *event.refs))
            is_gone = is_gone or erasures[slot.partition].covers(event)
            if isinstance(event.body, Embedded) and event.body.vector is not None:
                vectors[event.body.vector] = is_gone and vectors.get(event.body.vector, True)
                event = msgspec.structs.replace(event, body=msgspec.structs.replace(event.body, vector=None))
            if is_gone:
                event = msgspec.structs.replace(event, body=None)
            for said in texts_of_body(event.body) if event.body is not None else ():
                if said.role == "label" and said.text in OWN_LABELS:
                    continue
                for word in all_words(said.text):
                    if word not in known_words:
                        continue
                    if said.role == "statement" and len(by := spoken.setdefault(word, {})) < MOST_SHARED_IDS:
                        by[event.id] = None
                    elif said.role != "statement":
                        labelled[word] = None
            for string in _strings(event):
                carried.update(dict.fromkeys(traces.find(string).texts))
                for word in all_words(string):
                    words.pop(word, None)
    # What rows tell of any text by these words, no erased text gave to it.
    unique = [text for number, text in enumerate(traces.texts) if number not in carried]
    alone = tuple(text for text in unique if text not in OWN_LABELS)
    alone_too = tuple(vector for vector, is_gone in vectors.items() if is_gone)
    ids = tuple(dict.fromkeys(id for _, id in gone))
    needles = without_structure(Needles(ids=ids, texts=alone, words=tuple(words), vectors=alone_too))
    left = {*needles.texts, *needles.words}
    hidden = sum(left.isdisjoint((*parts(text), *telling_words(text))) for text in texts)
    only_labelled = tuple(word for word in known_words if word in labelled and word not in spoken)
    shared = {word: tuple(by) for word, by in spoken.items()}
    told = {"said": len(texts), "hidden": hidden, "labelled": only_labelled, "shared": shared}
    return msgspec.structs.replace(needles, **told)


def search(
    home: Home,
    log: Log,
    needles: Needles,
    on_progress: Callable[[int, int], None] = lambda *_: None,
    unfinished: str = "",
) -> FileSearch:
    """Look for needles in every byte of a home, and in every slot that its log gives to readers.

    The plan that is kept under the name `unfinished` is passed over: it is deleted once the search finds
    nothing else.
    """
    pieces = ((f"slot {slot.partition}/{slot.offset}", slot.payload) for slot in _slots(log))
    vault = Vault(home)

    def is_own(name: str) -> bool:
        return name.startswith(f"{home.vault.name}/") and not vault.is_ours(name)

    kept = f"{home.erasures.name}/{unfinished}.json" if unfinished else ""
    places = search_home(home.path, needles, on_progress, is_own, vault.zone_in, kept)
    return FileSearch(needles, [search_log(pieces, needles), *places])


def prove(
    home: Home, log: Log, ids: Sequence[str], texts: Sequence[str], on_phase: OnPhase = lambda *_: None
) -> tuple[FileSearch, Carried]:
    """Search for erased ids, and for texts if given, in the log and in every file of a home.

    An erased event that still has a body is a remnant of the log. Also returns other places of the texts on
    the log. Raises `NotFound` for an id that was never erased.
    """
    asked: dict[int, Erasures] = {}
    gone: dict[tuple[str | None, str], None] = {}
    left = dict.fromkeys(ids)
    for number, erasures in _erasures(log).items():
        for scope, named in erasures.named.items():
            for id in [id for id in ids if id in named]:
                asked.setdefault(number, Erasures()).named.setdefault(scope, {})[id] = None
                gone[scope, id] = None
                left.pop(id, None)
    if left:
        raise NotFound(f"{next(iter(left))[:60]} has not been erased.", "`memtape erase` does that.")
    bodies = [
        Remnant("event", event.id, f"slot {slot.partition}/{slot.offset}")
        for slot, event in _events(log, asked)
        if event is not None and asked[slot.partition].covers(event) and event.body is not None
    ]
    needles = needles_of(log, gone, texts)
    found = search(home, log, needles, lambda done, total: on_phase("searching", done, total))
    of_log, *files = found.places
    found = found._replace(places=[of_log._replace(found=(*of_log.found, *bodies)), *files])
    return found, carried_by_others(log, {}, texts)


def _corrections(log: Log, scope: Scope, items: list[ErasedItem], asked: Collection[str]) -> dict[str, str]:
    """Return the sentence of each valid correction by people, by its id, except those `asked` for.

    A correction goes with an erased sentence of the person. It goes with the text that it corrects too, since
    it has words of that text, unless a person keeps it.
    """
    going, found = {item.id: None for item in items}, dict[str, str]()
    for item in (item for item in items if item.id not in asked):
        capture = scope.captures.get(item.id)
        if capture is None or capture.hidden or capture.kind != "fact" or capture.actor.origin not in PEOPLE:
            continue
        memory = scope.memories.of(capture.seq)
        is_correction = scope.captures.body(capture).tags[:2] == CORRECTION_TAGS
        if not is_correction or memory is None or successor(scope, memory) is not None:
            continue
        refs = _event(log, item).refs
        if refs and refs[0] not in going:
            found[item.id] = refs[0]
    return found


def _kept_anew(log: Log, item: ErasedItem) -> Event:
    """Return the capture that keeps a correction: same words and person, from the person's sentence alone.

    Its id follows from the erased capture: a repeated erasure keeps the correction once.
    """
    event = _event(log, item)
    id = derived_id("captured", event.scope, "memtape", f"kept:{event.id}")
    return msgspec.structs.replace(event, id=id, refs=event.refs[:1], sent=max(now_us(), event.sent))


def _event(log: Log, item: ErasedItem) -> Event:
    (slot,) = log.read(item.partition, item.offset, 1)
    return decode(slot.payload)


def _renewals(home: Home, log: Log, made: ErasurePlan) -> Iterator[tuple[str, Forgotten | Restored]]:
    """Yield, by scope, the tombstones and restores to be appended again after their reason is erased.

    Erasing an event undoes its effect; hidden and visible texts must stay as they are.
    """
    gone = {item.id for item in made.items}
    for item in made.items:
        if item.type not in ("forgotten", "restored"):
            continue
        body = _event(log, item).body
        scope = state_at(log, home.current(), item.partition, log.ends()[item.partition]).scopes[item.scope]
        if isinstance(body, (Forgotten, Restored)):
            captures = [it for id in body.ids if id not in gone and (it := scope.captures.get(id))]
            for hidden, again in ((True, Forgotten), (False, Restored)):
                if ids := tuple(capture.id for capture in captures if capture.hidden is hidden):
                    yield item.scope, again(ids=ids, reason=None)


def _derived(
    log: Log, number: int, end: int, scope: str, ids: Iterable[str], before: Iterable[str]
) -> tuple[list[ErasedItem], list[str], list[str]]:
    """Return the events of a scope with these ids, and the events derived from them, each once, in log order.

    Also return the texts in these events and in events erased `before` that still have a body, and their
    labels.
    """
    wanted, again = Erasures(), Erasures()
    wanted.named[scope], again.named[scope] = dict.fromkeys(ids), dict.fromkeys(before)
    items: dict[str, ErasedItem] = {}
    texts: dict[str, None] = {}
    labels: dict[str, None] = {}
    for slot, event in events_between(log, number, 0, end):
        goes = wanted.covers(event)
        if goes and event.id not in items:
            items[event.id] = _item(slot, event)
        if (goes or again.covers(event)) and event.body is not None:
            for said in texts_of_body(event.body):
                if said.role != "program" and said.text.strip():
                    (texts if said.role == "statement" else labels)[said.text] = None
    return list(items.values()), list(texts), list(labels)


def carried_by_others(log: Log, gone: Gone, texts: Sequence[str]) -> Carried:
    """Search the whole log for texts outside the `gone` events (scope, id), whole or in words.

    A text counts in any place of an event. A query or a reason rarely has the whole text: one telling word,
    absent from all captures, is enough.
    """
    traces = Traces(texts, [word for text in texts for word in telling_words(text)])
    carried = Carried(carriers=[], kept=[], unreadable=[])
    kept: Counter[tuple[str, str, str]] = Counter()
    queries: list[tuple[ErasedItem, list[str]]] = []
    spoken: dict[str, None] = {}
    erasures = _erasures(log)
    for slot, event in _events(log):
        if event is None:
            if traces.find(slot.payload.decode(errors="replace")).texts:
                carried.unreadable.append((slot.partition, slot.offset))
            continue
        is_gone = (event.scope, event.id) in gone or erasures[slot.partition].covers(event)
        if is_gone:
            event = msgspec.structs.replace(event, body=None)
        places: list[str] = []
        words: dict[str, None] = {}
        # The name of a scope can be telling too.
        for said in (*texts_of(event), *([Said("$.scope", event.scope, "name")] if event.scope else [])):
            found = traces.find(said.text)
            if found.texts and _stays(event, said):
                kept[event.scope or "", said.place, said.text] += 1
            elif found.texts:
                places.append(said.place)
            elif _is_loose(event, said):
                words |= dict.fromkeys(found.words)
            elif said.role == "statement":
                spoken |= dict.fromkeys(found.words)
        if places:
            carried.carriers.append(_item(slot, event)._replace(places=tuple(places)))
        elif words:
            queries.append((_item(slot, event), list(words)))
    carried.carriers += [item for item, words in queries if any(word not in spoken for word in words)]
    carried.kept = [RemainingName(*name, events) for name, events in kept.items()]
    return carried


def _stays(event: Event, said: Said) -> bool:
    """Whether a text stays: of the header, a program's word, or of an event that is never blank."""
    is_free = said.place.startswith("$.body") and said.role != "program"
    return not (is_free and EVENT_TYPES[event.type].can_be_blank)


def _is_loose(event: Event, said: Said) -> bool:
    """Whether a text is about other texts and not kept for itself: a query, its filters, a reason."""
    about_others = not isinstance(event.body, (Captured, Embedded))
    return about_others and said.place.startswith("$.body") and said.role != "program"


def _events(log: Log, partitions: Iterable[int] | None = None) -> Iterator[tuple[Slot, Event | None]]:
    return ((slot, event_of(slot.payload)) for slot in _slots(log, partitions))


def _slots(log: Log, partitions: Iterable[int] | None = None) -> Iterator[Slot]:
    ends = log.ends()
    for number in range(log.partitions) if partitions is None else partitions:
        yield from slots_between(log, number, 0, ends[number])


def _item(slot: Slot, event: Event) -> ErasedItem:
    kind = event.body.kind if isinstance(event.body, Captured) else None
    texts = texts_of_body(event.body) if event.body is not None else ()
    # Statements come before captions and labels.
    by_weight = sorted(texts, key=lambda said: (said.role != "statement", said.place.count(".") > 2))
    text = by_weight[0].text if by_weight else ""
    place = slot.partition, slot.offset
    return ErasedItem(event.scope or "", event.id, event.type, kind, event.at, *place, text)


def _strings(value: object) -> Iterator[str]:
    rest = [msgspec.to_builtins(value)]
    for inner in rest:
        if isinstance(inner, str):
            yield inner
        elif isinstance(inner, dict):
            rest += [*inner, *inner.values()]
        elif isinstance(inner, (list, tuple)):
            rest += inner


def _check_sight(before: FileSearch) -> None:
    """Raise `MemtapeError` where a text of the home was not found: such a search proves nothing."""
    found = {finding.needle for place in before.found for finding in place.found}
    blind = [text for text in before.needles.texts if text not in found]
    if blind:
        raise MemtapeError(
            f"The search missed {len(blind)} of {len(before.needles.texts)} texts that the log still holds.",
            "Nothing was erased, since its absence could not be proven. Please report this.",
        )
    blocked = [place for place in before.unreadable if not place.own]
    if blocked:
        first = blocked[0]
        raise MemtapeError(
            f"{first.path} cannot be looked into: {first.unreadable}.",
            "Nothing was erased, since that could not be proven. `memtape rebuild` mends damaged views.",
        )


def _erasures(log: Log) -> dict[int, Erasures]:
    return {number: erasures_of(log.erased(number)) for number in range(log.partitions)}
