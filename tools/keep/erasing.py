"""Erasing for good: the plan, other carriers of the text, the erasure itself, and its proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from memtape.flows.projection import TOLD_SLOTS
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
from memtape.schemas.log import Log, Slot, events_between, slots_between
from memtape.schemas.metrics import tell_progress
from memtape.schemas.scopes import partition_of
from memtape.schemas.texts import Said, texts_of, texts_of_body
from memtape.sinks.home.folders import Home
from memtape.sinks.home.unerased import drop_unfinished, keep_unfinished, unfinished_erasures
from memtape.sinks.logs.admission import check_admissible
from memtape.sinks.remains import Needles, SearchedFile, search_home, search_log, without_structure
from memtape.sinks.vault import Vault
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.core.scope import Scope
from memtape.state.subjects.validity import successor
from memtape.state.text.statements import IMPORTANCE
from memtape.state.text.traces import Traces, is_searched, parts, telling_words
from memtape.state.views.resolution import selected, whole
from memtape.tools.capture.native_ids import HEARD, SOURCES
from memtape.tools.capture.writing import Writer
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.owning import scrub_as_owner
from memtape.tools.keep.rebuild import without_list
from memtape.tools.keep.states import scope_now

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


class ErasurePlan(msgspec.Struct, kw_only=True):
    """The plan of an erasure, kept until the erasure is proven.

    `items` are erased: captures, and events derived from them. `carriers` are other events of any scope
    with a text of theirs; `unreadable` slots (partition, offset) and names in `kept` have it too.
    `erased_before` are ids erased earlier. `texts` are the statements in the erased events, as far as still
    on the log, `labels` their labels. `corrections` by people, each with its sentence, are erased too; a
    plan that is kept has none. `vectors` are the items' vectors, once looked up. A plan `is_resumed` if its
    erasure was cut short. `others` are ids of captures with other texts, derived from carriers; a plan
    that is kept has none.
    """

    scope: str
    items: list[ErasedItem]
    erased_before: list[str]
    texts: list[str]
    labels: list[str]
    carriers: list[ErasedItem] = []
    kept: list[RemainingName] = []
    unreadable: list[tuple[int, int]] = []
    corrections: dict[str, str] = {}
    take_unreadable: bool = False
    vectors: list[bytes] = []
    is_resumed: bool = False
    others: list[str] = []

    def take_carriers(self, log: Log) -> None:
        """Erase the carriers of the texts too, and every event derived from them."""
        known = {(item.scope, item.id) for item in (*self.items, *self.carriers)}
        named: dict[str, dict[str, None]] = {}
        for item in self.carriers:
            named.setdefault(item.scope, {})[item.id] = None
        derived = [it for scope, ids in named.items() if scope for it in _derived(log, scope, ids, ())[0]]
        others = [item for item in derived if (item.scope, item.id) not in known]
        self.items += [*self.carriers, *others]
        self.others = [item.id for item in others if item.type == "captured"]
        self.carriers = []
        self.take_unreadable = True
        gone = {item.id: None for item in self.items if item.scope == self.scope}
        self.corrections = {id: said for id, said in self.corrections.items() if said not in gone}

    @property
    def name(self) -> str:
        """The name under which the plan is kept until it is carried out; empty for nothing to erase."""
        return self.items[0].id if self.items else ""

    @property
    def gone(self) -> Gone:
        """The scope and id of each event that is erased by now, or by the plan."""
        before = [(self.scope, id) for id in self.erased_before]
        return dict.fromkeys(before + [(item.scope, item.id) for item in self.items])

    @property
    def corrected(self) -> list[ErasedItem]:
        """The items that are corrections by people."""
        return [item for item in self.items if item.scope == self.scope and item.id in self.corrections]


def plan(home: Home, log: Log, scope: str, ids: Sequence[str], *, only: bool) -> ErasurePlan:
    """Return the plan of erasing these ids of a scope, or an unfinished plan of the same ids.

    Without ids it is any unfinished plan of the scope. Raises `NotFound` for an unknown id.
    """
    for begun in unfinished_erasures(home, ErasurePlan):
        its = {item.id: None for item in begun.items if item.scope == scope}
        if begun.scope == scope and all(id in its or id in begun.erased_before for id in ids):
            return begun
    erased = erasures_of(log.erased(partition_of(scope, log.partitions))).named.get(scope, {})
    before = [id for id in ids if id in erased]
    asked = [id for id in ids if id not in erased]
    state = scope_now(home, log, scope) or Scope(scope)
    named = [capture for id in asked if (capture := state.captures.get(id))]
    captures = named if only else whole(state, asked)
    wanted = dict.fromkeys([*asked, *(capture.id for capture in captures)])
    items, texts, labels = _derived(log, scope, wanted, before)
    gone: Gone = {(scope, item.id): None for item in items}
    missing = [id for id in asked if (scope, id) not in gone]
    if missing:
        raise NotFound(
            f"{scope} has nothing with the id {missing[0][:60]}; nothing was erased.",
            "`memtape search` and `memtape log` show ids; without --scope one is found wherever it is.",
        )
    corrections = _corrections(log, state, items, wanted)
    made = ErasurePlan(
        scope=scope, items=items, erased_before=before, texts=texts, labels=labels, corrections=corrections
    )
    _add_carriers(made, log, gone)
    return made


def ids_matching(home: Home, log: Log, scope: str, **wanted: str) -> tuple[str, ...]:
    """Return the ids of a scope by session, source and tag, as far as `wanted`."""
    state = scope_now(home, log, scope) or Scope(scope)
    return tuple(dict.fromkeys(found.id for found in selected(state, **wanted)))


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
    """The result of an erasure: its plan, the searches before (None without texts) and after."""

    plan: ErasurePlan
    before: FileSearch | None
    after: FileSearch

    @property
    def ok(self) -> bool:
        """Whether the search found nothing any more."""
        return self.after.clean


def erase(made: ErasurePlan, writer: Writer, on_note: OnNote) -> Erasure:
    """Carry out a plan and return the proof. A second call with the same ids resumes an interrupted erasure.

    Raises `MemtapeError` before anything is erased where the writer may not write to a scope of the plan, and
    `StillHeld` where another process keeps erased data.
    """
    home, log = writer.home, writer.log
    tell_progress("reading the log", 0, sum(log.ends()))
    due = _events_of(made, writer)
    # While the log still says it, old pages can be told from what people wrote.
    if made.items and without_list(BuildViews(home, log)):
        scrub_as_owner(home, log, on_note)
    before, name = search_before(made, home, log), made.name
    needles = before.needles
    if before.places and not made.is_resumed:
        _check_sight(before)
    if name:
        kept = replace(made, corrections={}, others=[], vectors=[*needles.vectors], is_resumed=True)
        keep_unfinished(home, name, kept)
    if due:
        log.append(due)
    if made.take_unreadable:
        by_partition: dict[int, list[int]] = {}
        for number, offset in made.unreadable:
            by_partition.setdefault(number, []).append(offset)
        log.blank(by_partition)
    try:
        scrub_as_owner(home, log, on_note)
    except StillHeld:
        raise
    except (OSError, MemtapeError) as error:
        raise StillHeld(
            f"It is erased for every reader, but not from every file yet: {error}",
            "Mend that, and give the same command again.",
        ) from error
    after = search(home, log, needles, "searching after", name)
    if name and (after.clean or after.only_own):
        drop_unfinished(home, name)
    return Erasure(made, before if before.places else None, after)


def search_before(made: ErasurePlan, home: Home, log: Log) -> FileSearch:
    """Return the search for a plan's texts where they still stand; without texts no file is searched."""
    needles = needles_of(log, made.gone, made)
    if not (made.texts or made.labels):
        return FileSearch(needles, [])
    return search(home, log, needles, "searching before", made.name)


def _events_of(made: ErasurePlan, writer: Writer) -> list[Event]:
    """Return the events of an erasure that are not on the log yet. Raises `MemtapeError` without the right.

    Erasing a tombstone or a restore undoes its effect. It is said again of the texts that stay, so that
    hidden and visible texts stay as they are.
    """
    gone = {item.id for item in made.items}
    bodies: list[tuple[str, Forgotten | Restored | Erased, str]] = []
    for item in made.items:
        body = _event(writer.log, item).body if item.type in ("forgotten", "restored") else None
        if isinstance(body, (Forgotten, Restored)):
            scope = scope_now(writer.home, writer.log, item.scope) or Scope(item.scope)
            captures = [it for id in body.ids if id not in gone and (it := scope.captures.get(id))]
            for type, again, hidden in (("forgotten", Forgotten, True), ("restored", Restored, False)):
                if ids := tuple(capture.id for capture in captures if capture.hidden is hidden):
                    bodies.append((type, again(ids=ids, reason=None), item.scope))
    for name in dict.fromkeys(item.scope for item in made.items):
        known = writer.erased_ids(name)
        left = [item.id for item in made.items if item.scope == name and item.id not in known]
        for start in range(0, len(left), MAX_IDS):
            bodies.append(("erased", Erased(ids=tuple(left[start : start + MAX_IDS])), name))
    events = [writer.made(*body) for body in bodies]
    for event in events:
        try:
            check_admissible(event)
        except InvalidEvent as error:
            raise MemtapeError(
                f"Nothing was erased: the plan has events of the scope {event.scope}. {error}",
                "Give it again with --origin operator, if you may speak for that.",
            ) from None
    return events


def needles_of(log: Log, gone: Gone, made: ErasurePlan) -> Needles:
    """Return a search's needles: ids, texts, their longer lines, words and vectors, unique to erased events.

    Labels are searched whole. Strings in a living event, and strings in an empty home's structure, prove
    nothing. The plan has the vectors of erased events that the log no longer has.
    """
    texts = made.texts
    sought = [*(part for text in texts for part in parts(text)), *made.labels]
    words = {word: None for text in texts for word in telling_words(text)}
    traces = Traces((part for part in sought if is_searched(part)), words)
    unique, vectors = dict(words), dict.fromkeys(made.vectors, True)
    spoken, labelled, carried = dict[str, dict[str, None]](), dict[str, None](), dict[int, None]()
    for slot, event, is_gone in _readings(log, gone, "reading the log"):
        if event is None or not (isinstance(event.body, Embedded) or _may_hold(slot, traces)):
            continue
        if isinstance(event.body, Embedded) and event.body.vector is not None:
            vectors[event.body.vector] = is_gone and vectors.get(event.body.vector, True)
            event = replace(event, body=replace(event.body, vector=None))
        event = replace(event, body=None) if is_gone else event
        for said in texts_of_body(event.body) if event.body is not None else ():
            if said.role == "label" and said.text in OWN_LABELS:
                continue
            for word in traces.find(said.text).words:
                if said.role != "statement":
                    labelled[word] = None
                elif len(by := spoken.setdefault(word, {})) < MOST_SHARED_IDS:
                    by[event.id] = None
        for string in _strings(event):
            found = traces.find(string)
            carried.update(dict.fromkeys(found.texts))
            for word in found.words:
                unique.pop(word, None)
    # What rows tell of any text by these words, no erased text gave to it.
    alone = tuple(it for n, it in enumerate(traces.texts) if n not in carried and it not in OWN_LABELS)
    sought_for = Needles(
        ids=tuple(dict.fromkeys(id for _, id in gone)),
        texts=alone,
        words=tuple(unique),
        vectors=tuple(vector for vector, is_gone in vectors.items() if is_gone),
        said=len(texts),
        labelled=tuple(word for word in words if word in labelled and word not in spoken),
        shared={word: tuple(by) for word, by in spoken.items()},
    )
    needles = without_structure(sought_for)
    left = {*needles.texts, *needles.words}
    hidden = sum(left.isdisjoint((*parts(text), *telling_words(text))) for text in texts)
    return replace(needles, hidden=hidden)


def search(home: Home, log: Log, needles: Needles, phase: str, unfinished: str = "") -> FileSearch:
    """Look for needles in every byte of a home and of shared views, and in every slot of its log.

    The plan that is kept under the name `unfinished` is passed over: it is deleted once the search finds
    nothing else.
    """
    pieces = ((f"slot {slot.partition}/{slot.offset}", slot.payload) for slot in _slots(log))
    vault = Vault(home)

    def is_own(name: str) -> bool:
        return name.startswith(f"{home.vault.name}/") and not vault.is_ours(name)

    kept = f"{home.erasures.name}/{unfinished}.json" if unfinished else ""
    tell = partial(tell_progress, phase)
    places = search_home(home.path, needles, tell, is_own, vault.zone_in, kept)
    if home.shared is not None:
        with TemporaryDirectory() as folder:
            shared = search_home(home.shared.copy_all(Path(folder), tell), needles, tell)
        places += [place._replace(path=f"{home.shared}/{place.path}") for place in shared]
    return FileSearch(needles, [search_log(pieces, needles), *places])


def _corrections(log: Log, scope: Scope, items: list[ErasedItem], asked: Collection[str]) -> dict[str, str]:
    """Return the sentence of each valid correction by people, by its id, except those `asked` for.

    A correction goes with the erased sentence that says it, and with the text that it corrects.
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


def _event(log: Log, item: ErasedItem) -> Event:
    (slot,) = log.read(item.partition, item.offset, 1)
    return decode(slot.payload)


def _derived(
    log: Log, scope: str, ids: Iterable[str], before: Iterable[str]
) -> tuple[list[ErasedItem], list[str], list[str]]:
    """Return the events of a scope with these ids or derived from them, each once, in log order.

    Also return the texts and labels in them, and in events erased `before` that still have a body.
    """
    wanted = Erasures({scope: dict.fromkeys(ids)})
    again = Erasures({scope: dict.fromkeys(before)})
    items: dict[str, ErasedItem] = {}
    texts: dict[str, None] = {}
    labels: dict[str, None] = {}
    number = partition_of(scope, log.partitions)
    for slot, event in events_between(log, number, 0, log.ends()[number]):
        goes = wanted.covers(event)
        if goes and event.id not in items:
            items[event.id] = _item(slot, event)
        if (goes or again.covers(event)) and event.body is not None:
            for said in texts_of_body(event.body):
                if said.role != "program" and said.text.strip():
                    (texts if said.role == "statement" else labels)[said.text] = None
    return list(items.values()), list(texts), list(labels)


def _add_carriers(made: ErasurePlan, log: Log, gone: Gone) -> None:
    """Add the other places of the texts on the whole log, outside the `gone` events (scope, id), to a plan.

    A text counts in any place of an event, whole or in words. It stays in the header, as a program's word,
    and in an event that is never blank. A query or a reason rarely has the whole text: one telling word,
    absent from all captures, is enough.
    """
    traces = Traces(made.texts, [word for text in made.texts for word in telling_words(text)])
    kept: Counter[tuple[str, str, str]] = Counter()
    queries: list[tuple[ErasedItem, list[str]]] = []
    spoken: dict[str, None] = {}
    for slot, event, is_gone in _readings(log, gone, "looking for the texts"):
        if event is None:
            if traces.find(slot.payload.decode(errors="replace")).texts:
                made.unreadable.append((slot.partition, slot.offset))
            continue
        if not _may_hold(slot, traces):
            continue
        event = replace(event, body=None) if is_gone else event
        is_about_others = not isinstance(event.body, (Captured, Embedded))
        places: list[str] = []
        words: dict[str, None] = {}
        # The name of a scope can be telling too.
        for said in (*texts_of(event), *([Said("$.scope", event.scope, "name")] if event.scope else [])):
            found = traces.find(said.text)
            is_free = said.place.startswith("$.body") and said.role != "program"
            if found.texts and not (is_free and EVENT_TYPES[event.type].can_be_blank):
                kept[event.scope or "", said.place, said.text] += 1
            elif found.texts:
                places.append(said.place)
            elif is_free and is_about_others:
                words |= dict.fromkeys(found.words)
            elif said.role == "statement":
                spoken |= dict.fromkeys(found.words)
        if places:
            made.carriers.append(_item(slot, event)._replace(places=tuple(places)))
        elif words:
            queries.append((_item(slot, event), list(words)))
    made.carriers += [item for item, words in queries if any(word not in spoken for word in words)]
    made.kept = [RemainingName(*name, events) for name, events in kept.items()]


def _slots(log: Log) -> Iterator[Slot]:
    for number, end in enumerate(log.ends()):
        yield from slots_between(log, number, 0, end)


def _readings(log: Log, gone: Gone, phase: str) -> Iterator[tuple[Slot, Event | None, bool]]:
    """Yield each slot and its event, and whether the event is erased, or `gone`, or derived from such."""
    erasures, total = [erasures_of(log.erased(number)) for number in range(log.partitions)], sum(log.ends())
    for done, slot in enumerate(_slots(log)):
        if done % TOLD_SLOTS == 0:
            tell_progress(phase, done, total)
        event, is_gone = event_of(slot.payload), False
        if event is not None:
            is_gone = any((event.scope, id) in gone for id in (event.id, *event.refs))
            is_gone = erasures[slot.partition].covers(event) or is_gone
        yield slot, event, is_gone


def _may_hold(slot: Slot, traces: Traces) -> bool:
    """Return whether a slot may hold one of some traces; a foreign producer may have escaped any letter."""
    return b"\\u" in slot.payload or traces.may_be_in(slot.payload.decode(errors="replace"))


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
