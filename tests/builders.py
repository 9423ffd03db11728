"""Events for tests: made by hand with defaults, or drawn by hypothesis from a small world that collides."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace
from tables import table

from memtape.schemas import events as ev
from memtape.schemas.codec import encode
from memtape.schemas.embedding import FLOOR
from memtape.schemas.events import STATED_TAG, Actor, Captured, Event, Operation
from memtape.schemas.ids import ROOT, derived_id, root_id
from memtape.schemas.lanes import unasked_lanes
from memtape.schemas.log import Slot
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, evolve, fold
from memtape.state.core.scope import Scope
from memtape.state.views.filters import NO_FILTERS

START = 1_790_000_000_000_000  # 2026-09-21, in microseconds.
MINUTE = 60_000_000
PROJECT = "project:test"
TINY, ELSEWHERE = "tiny@1/3", "other@1/3"
LOG_ID = derived_id("log", None, None, "tests")


def make_id(name: object) -> str:
    """Return the same id for the same name."""
    return derived_id("test", None, None, str(name))


def event(type: str, body: Any, id: object, **fields: Any) -> Event:
    """Return an event with everything that a test does not care about filled in."""
    sent = fields.pop("sent", START)
    return Event(actor=Actor(name=fields.pop("actor", "Ada"), origin=fields.pop("origin", "user")),
                 at=fields.pop("at", sent), body=body, id=make_id(id), refs=(),
                 scope=fields.pop("scope", PROJECT), sent=sent, session=fields.pop("session", None),
                 type=type, v=ev.version_of(type))  # fmt: skip


def captured(text: str, id: object | None = None, kind: str = "fact", **fields: Any) -> Event:
    """Return a `captured` event; its id follows from its text unless one is given."""
    body: dict[str, Any] = dict.fromkeys(("branch", "importance_given", "part", "path", "source"))
    body |= {"kind": kind, "media": (), "tags": (), "text": text}
    body |= {key: fields.pop(key) for key in list(fields) if key in body}
    return event("captured", Captured(**body), text if id is None else id, **fields)


def recalled(results: list[object], id: object, query: str = "what", lanes: tuple[str, ...] = ("sparse",),
             looks: Sequence[Sequence[object]] = (), **fields: Any) -> Event:  # fmt: skip
    """Return a `recalled` event of the captures of these names, of which each look saw some first."""
    body = ev.Recalled(after=0, filters=NO_FILTERS, lanes=lanes, limit=10, now=fields.get("sent", START),
                    passes=max(1, len(looks)), query=query, quotas={}, results=tuple(map(make_id, results)),
                    revision=0,
                    trace=tuple(_look(look, seen, query) for look, seen in enumerate(looks, start=1)),
                    watermark=(ev.Mark(offset=0, partition=0),))  # fmt: skip
    return event("recalled", body, id, **fields)


def _look(look: int, seen: Sequence[object], query: str) -> ev.Traced:
    ids = tuple(map(make_id, seen))
    return ev.Traced(by="rules", cost=0, failure="", given=len(ids), ids=ids, kept=len(ids), look=look,
                     query=query, step="scouts", took_us=0)  # fmt: skip


def _naming(type: str, **rest: Any) -> Callable[..., Event]:
    """Return a function that makes events of a type on captures by name; `rest` are the other fields."""

    def make(ids: Iterable[object], id: object, on: bool = True, **fields: Any) -> Event:
        given = {name: on if name == "on" else value for name, value in rest.items()}
        return event(type, ev.EVENT_TYPES[type].body(ids=tuple(map(make_id, ids)), **given), id, **fields)

    return make


forgotten, restored = _naming("forgotten", reason=None), _naming("restored", reason=None)
erased, unfolded = _naming("erased"), _naming("unfolded")
pinned, withdrawn = _naming("pinned", on=True), _naming("withdrawn", on=True)
archived = _naming("archived", on=True, reason=None)
NAMING = {"forgotten": forgotten, "restored": restored, "unfolded": unfolded}
SWITCHING = {"archived": archived, "pinned": pinned, "withdrawn": withdrawn}


def linked(id: object, relation: str, to: object, name: object, on: bool = True, **fields: Any) -> Event:
    """Return the event `name`, which says what somebody says of the capture of the name `id`."""
    there = None if to is None else make_id(to)
    body = ev.Linked(id=make_id(id), on=on, relation=relation, slug=None, to=there)
    return event("linked", body, name, **fields)


def edited(id: object, name: object, **fields: Any) -> Event:
    """Return the event `name`, which edits the page of the name `id`; `by` and `base` are names too."""
    body: dict[str, Any] = dict.fromkeys(("base", "by", "hints", "refs", "rest", "slug", "summary", "title"))
    body |= {key: fields.pop(key) for key in list(fields) if key in body}
    body |= {key: make_id(body[key]) for key in ("base", "by") if body[key] is not None}
    said = ev.Edited(id=page_id(id, fields.get("scope", PROJECT)), **body)
    return replace(event("edited", said, name, **fields), refs=ev.refs_of_edit(said))


def page_link(id: object, relation: str, name: object, to: object | None = None, slug: str | None = None,
              on: bool = True, **fields: Any) -> Event:  # fmt: skip
    """Return the event `name`, which links the page of the name `id` to that of another, or to a slug."""
    scope = fields.get("scope", PROJECT)
    there = None if to is None else page_id(to, scope)
    body = ev.Linked(id=page_id(id, scope), on=on, relation=relation, slug=slug, to=there)
    return event("linked", body, name, **fields)


def page_id(name: object, scope: str = PROJECT) -> str:
    """Return the id of the page of a name; `_root` names the root."""
    return root_id(scope) if name == ROOT else make_id(name)


def settled(ids: tuple[object, object], keep: list[object], name: object, **fields: Any) -> Event:
    """Return the event `name`, which settles a conflict between the captures of these names."""
    body = ev.Settled(ids=tuple(map(make_id, ids)), keep=tuple(map(make_id, keep)), note=None)
    return event("settled", body, name, **fields)


def scope_changed(id: object, **fields: Any) -> Event:
    """Return a `scope_changed` event, which says a `name`, a `state` or a `git_at`."""
    body = ev.ScopeChanged(**{field: fields.pop(field, None) for field in ("git_at", "name", "state")})
    return event("scope_changed", body, id, **fields)


def used(ids: list[object], id: object, recall: object | None = None, **fields: Any) -> Event:
    """Return a `used` event on the captures of these names."""
    body = ev.Used(ids=tuple(map(make_id, ids)), recall=None if recall is None else make_id(recall))
    return event("used", body, id, **fields)


def configured(
    settings: Settings | None = None, revision: int = 0, partitions: int = 1, sent: int = START
) -> Event:  # fmt: skip
    """Return the event that opens a partition."""
    id = make_id(f"configured {revision}")
    return ev.make_configured(LOG_ID, partitions, settings or Settings(), revision, sent, id)


def slots(events: list[Event], partition: int = 0, start: int = 0) -> list[Slot]:
    """Return events as they would stand in a partition."""
    return [Slot(partition, start + place, encode(event)) for place, event in enumerate(events)]


def partition_of(*events: Event, settings: Settings | None = None) -> Partition:
    """Return the partition of a log that opens with these settings and says these events."""
    said = slots([configured(settings), *events])
    partition = Partition(0, erasures_of(said))
    fold(partition, said)
    return partition


def scope_of(*events: Event, settings: Settings | None = None) -> Scope:
    """Return what these events mean in the scope that events have here by default."""
    return partition_of(*events, settings=settings).scopes[PROJECT]


SAID = table("small-world")
alike, open_ends, changing = (st.sampled_from(SAID[kind]) for kind in ("alike", "open", "changing"))
worded = st.lists(st.sampled_from(SAID["words"]), min_size=1, max_size=5).map(" ".join)
texts = st.one_of(alike, open_ends, changing, worded)
names = st.integers(0, 30)
MADE = 100
"""From here on are the names of texts that a consolidation made."""
OF_A_DAY = 31
"""From here on are the names of what is said in one go, so that a day has enough to be summed up."""
NAME_OF = {make_id(name): name for name in range(MADE + 100)}


def met(events: Iterable[Event]) -> list[int]:
    """Return the names of `captured` events, hidden and erased ones too, each once."""
    return list(dict.fromkeys(NAME_OF[event.id] for event in events if event.id in NAME_OF))


@st.composite
def some(draw: st.DrawFn, events: list[Event], most: int = 3) -> list[int]:
    """Names of what a history has captured, alive, waiting or dead; now and then of what it has not."""
    known = met(events)
    one = st.sampled_from(known) if known and draw(st.integers(0, 3)) else names
    return draw(st.lists(one, max_size=most))


@st.composite
def some_pair(draw: st.DrawFn, events: list[Event]) -> tuple[int, int]:
    """Two names of what a history has captured, or will."""
    known = met(events)
    ends = st.sampled_from(known) if len(known) > 1 and draw(st.integers(0, 3)) else names
    one = draw(ends)
    return one, draw(ends.filter(lambda name: name != one))


def decided(inputs: Iterable[object], operations: Iterable[Operation], id: object, *, attempt: int = 1,
            reason: str | None = None, until: int | None = None, **fields: Any) -> Event:  # fmt: skip
    """Return a decision about the memories of these names; `as_seen` gives it their seqs."""
    seen = tuple(ev.Input(id=make_id(name), seq=0) for name in dict.fromkeys(inputs))
    body = ev.Decided(attempt=attempt, inputs=seen, operations=tuple(operations), reason=reason, until=until)
    return event("decided", body, id, **fields)


def as_seen(events: list[Event]) -> list[Event]:
    """Return a history whose decisions saw their inputs as they were; where an id ends in 0 one is older."""
    if not any(event.type == "decided" for event in events):
        return events
    state, read = Partition(0), list[Event]()
    for offset, said in enumerate(events):
        scope = state.scopes.get(said.scope or "")
        if isinstance(said.body, ev.Decided) and scope is not None:
            found = [(input, scope.memory_of(input.id)) for input in said.body.inputs]
            seqs = [(input.id, memory.canonical) for input, memory in found if memory is not None]
            inputs = [ev.Input(id=id, seq=max(0, seq)) for id, seq in seqs]
            if len(inputs) == len(found):
                inputs[:1] = [ev.Input(id=it.id, seq=it.seq + said.id.endswith("0")) for it in inputs[:1]]
                said = replace(said, body=replace(said.body, inputs=tuple(inputs)))
        evolve(state, said, offset)
        read.append(said)
    return read


FACTS = ("fact", "insight")


@st.composite
def decisions(draw: st.DrawFn, events: list[Event], number: int, common: dict[str, Any]) -> list[Event]:
    """What a consolidation says of a few memories: a text, a failed attempt, or a pass's end."""
    of = draw(st.sampled_from((FACTS, FACTS, (*FACTS, "journal", "goal", "document", "page"))))
    known = [said.id for said in events if isinstance(said.body, Captured) and said.body.kind in of]
    names = [name for name in met(events) if make_id(name) in known]
    made = ("replace", "replace", "add", "fail", "end")
    what = draw(st.sampled_from((*made, "remove", "conflict", "outdate", "outdate", "apart")))
    least = 1 if what in made else 2
    some = st.lists(st.sampled_from(names or [0]), min_size=least, max_size=3, unique=True)
    chosen = draw(some) if len(names) >= least else []
    if what == "end" or not chosen:
        return [decided((), (), f"c{number}", until=draw(st.integers(0, 30)), **common)]
    if what == "fail":
        attempt = draw(st.integers(1, 3))
        return [decided(chosen, (), f"c{number}", attempt=attempt, reason="it was late", **common)]
    if least == 2:
        by, ids = make_id(chosen[0]), tuple(map(make_id, chosen[1:]))
        operations = [] if what == "apart" else [Operation(by=by, ids=ids, op=what)]
        return [decided(chosen, operations, f"c{number}", **common)]
    operation = Operation(by=make_id(MADE + number), ids=tuple(map(make_id, chosen)), op=what)
    said = decided(chosen, [operation], f"c{number}", **common)
    kind = draw(st.sampled_from(("fact", "fact", "journal", "turn", "page")))
    path = draw(st.sampled_from((*SLUGS, None))) if kind == "page" else None
    text = captured(f"Made of {len(chosen)}.", MADE + number, kind, path=path, **common)
    text = replace(text, refs=(said.id, *operation.ids))
    return [said, text] if draw(st.integers(0, 4)) else [said]


EVERYTHING = (*["captured"] * 6, "recalled", "used", "forgotten", "restored", "unfolded", "pinned",
              "withdrawn", "decided", "again", "linked", "settled", "archived", "scope_changed")  # fmt: skip
TREE = (*["page", "edited", "page link"] * 4, "forgotten", "restored", "withdrawn", "captured", "again",
        "linked", "archived", "decided", "decided")  # fmt: skip
AGING = (*["day"] * 4, "said again", "used", "recalled", "pinned", "archived", "archived", "scope_changed",
         "scope_changed", "forgotten", "restored", "withdrawn", "unfolded", "linked", "settled", "stated",
         "silence")  # fmt: skip
JUDGED = (*["captured"] * 5, *["decided"] * 5, "forgotten", "restored", "unfolded", "withdrawn", "linked",
          "settled", "again")  # fmt: skip
"""What happens in a history: of all kinds within hours, with pages alone, what ages within weeks, or what is
decided of facts."""
Decks = Sequence[tuple[str, ...]]
DECKS: Decks = (EVERYTHING, EVERYTHING, TREE, AGING, AGING, JUDGED)
SLUGS = ("a", "a/b", "b", "c-1")
QUICK = dict.fromkeys(("mid_after_days", "long_after_days"), 0)
QUICK |= {"archive_after_days": 1, "dormant_after_days": 3, "purge_after_days": 1}
QUICK |= dict.fromkeys(("mid_retention_hundredths", "long_retention_hundredths"), 100)
"""Settings under which texts age within days."""
SLOWER = {"mid_after_days": 1, "long_after_days": 1, "purge_after_days": 7, "long_retention_hundredths": 50}
LIVES: tuple[dict[str, Any], ...] = (QUICK, QUICK, QUICK | {"dormant_after_days": -1},
                                     QUICK | {"lifecycle": False}, QUICK | SLOWER, {})  # fmt: skip
saying = st.fixed_dictionaries({
    "at": st.sampled_from((0, 0, 0, 5 * MINUTE, 3_000 * MINUTE)),
    "session": st.sampled_from((None, "s1", "s2")),
    "origin": st.sampled_from(("user", "agent", "tool", "operator")),
    "actor": st.sampled_from(("Ada", "Ada", "Ben", "../Ben")),
})  # fmt: skip
kinds = st.sampled_from(("fact", "fact", "fact", "insight", "journal", "goal", "turn", "document"))
some_minutes = st.integers(0, 20).map(lambda minutes: minutes * MINUTE)
JUMPS = (0, 0, HOUR_US, DAY_US, DAY_US, 2 * DAY_US, 9 * DAY_US)


def day(number: int, kind: str, texts: list[str], **common: Any) -> list[Event]:
    """Return a few things that are said one after the other, each under a name of its own."""
    named = ((OF_A_DAY + (4 * number + place) % (MADE - OF_A_DAY), text) for place, text in enumerate(texts))
    return [captured(f"{text} {number}", name, kind, **common) for name, text in named]


@st.composite
def tree_events(draw: st.DrawFn, what: str, events: list[Event], number: int, common: Any) -> Event:
    """A page, with a slug or without, an edit or a link of one, and now and then of what is none."""
    if what == "page":
        text = draw(st.sampled_from((*SAID["pages"], *SAID["changing"])))
        name, path = draw(names), draw(st.sampled_from((*SLUGS, None, "No Slug")))
        return captured(text, name, "page", path=path, **common)
    pages = [NAME_OF[it.id] for it in events if isinstance(it.body, Captured) and it.body.kind == "page"]
    page = st.sampled_from((*pages, *pages, ROOT, 7))
    if what == "page link":
        relation = draw(st.sampled_from(("child", "child", "child", "related", "contradicts", "odd_one")))
        slug = draw(st.sampled_from((None, None, *SLUGS)))
        to = draw(page) if slug is None else None
        return page_link(draw(page), relation, f"q{number}", to, slug, draw(st.integers(0, 3)) > 0, **common)
    version = st.sampled_from((*pages, 7, None)).filter(lambda name: name != ROOT)
    given = {"base": draw(version), "by": draw(version),
             "hints": draw(st.sampled_from((None, (), ("how?", "why?")))),
             "refs": draw(st.sampled_from((None, (), ("notes.md", make_id(3))))),
             "rest": draw(st.sampled_from((None, "", "aliases: [x]"))),
             "slug": draw(st.sampled_from((None, None, *SLUGS))),
             "summary": draw(st.sampled_from((None, None, "", "In short."))),
             "title": draw(st.sampled_from((None, None, "", "A title")))}  # fmt: skip
    kept = draw(st.lists(st.sampled_from(list(given)), max_size=4))
    return edited(draw(page), f"v{number}", **{name: given[name] for name in kept}, **common)


@st.composite
def worlds(draw: st.DrawFn, scope: str = PROJECT, max_size: int = 40, of: Decks = DECKS) -> list[Event]:
    """A history of one scope: texts repeat, ids come twice, and tombstones name what is, was or will be."""
    events: list[Event] = []
    sent = START
    steps = draw(st.sampled_from(of))
    for number in range(draw(st.integers(0, max_size))):
        sent += draw(st.sampled_from(JUMPS) if steps is AGING else some_minutes)
        common: dict[str, Any] = {"scope": scope, "sent": sent, **draw(saying)}
        common["at"] = sent - common["at"]
        match draw(st.sampled_from(steps)):
            case "captured":
                kind = draw(kinds)
                # Ids are drawn from few, so that an id comes twice with the same or with other content.
                events.append(captured(draw(texts), draw(names), kind, **common))
            case "day":
                kind = draw(st.sampled_from(("turn", "turn", "fact", "journal")))
                said = st.one_of(texts, texts, st.just("Always run the tests before you commit."))
                events += day(number, kind, draw(st.lists(said, min_size=3, max_size=4)), **common)
            case "said again":
                bodies = [it.body for it in events if isinstance(it.body, Captured)]
                if said := [body for body in bodies if body.kind in ("fact", "journal")]:
                    body = draw(st.sampled_from(said))
                    events.append(captured(body.text, draw(names), body.kind, **common))
            case "scope_changed":
                states = {"state": "finished"}, {"state": "active"}, {"name": "Atlas"}, {"git_at": sent}
                events.append(scope_changed(f"s{number}", **draw(st.sampled_from(states)), **common))
            case "silence":  # Until somebody commits nobody works there.
                events.append(scope_changed(f"n{number}", name="Atlas", **common))
                sent += 9 * DAY_US
                events.append(scope_changed(f"g{number}", git_at=sent, **common | {"sent": sent, "at": sent}))
            case "recalled":
                lanes = draw(st.sampled_from((("sparse",), unasked_lanes("start", 9), ("sparse", "prompt"))))
                shown = draw(some(events, 4))
                looks = draw(st.sampled_from(((), (shown[:1], shown[1:]), (shown[:2], (), shown[2:]))))
                events.append(recalled(shown, f"r{number}", lanes=lanes, looks=looks, **common))
            case "used":
                shown = draw(st.sampled_from((None, f"r{number - 1}", f"r{number - 2}")))
                events.append(used(draw(some(events, 4)), f"w{number}", shown, **common))
            case "forgotten" | "restored" | "unfolded" as type:
                events.append(NAMING[type](draw(some(events)), f"{type} {number}", **common))
            case "archived" | "pinned" | "withdrawn" as type:
                ids, on = draw(some(events)), draw(st.sampled_from((True, type == "archived", False)))
                events.append(SWITCHING[type](ids, f"{type} {number}", on, **common))
            case "linked":
                relation = draw(st.sampled_from(("holds", "replaced_by", "replaced_by")))
                one, other = draw(some_pair(events))
                to = other if relation == "replaced_by" else None
                events.append(linked(one, relation, to, f"l{number}", draw(st.integers(0, 3)) > 0, **common))
            case "settled":
                one, other = draw(some_pair(events))
                keep = draw(st.sampled_from(([one], [other], [one, other], [])))
                events.append(settled((one, other), keep, f"t{number}", **common))
            case "decided":
                events += draw(decisions(events, number, common))
            case "page" | "edited" | "page link" as what:
                events.append(draw(tree_events(what, events, number, common)))
            case "stated":
                turns = [it.id for it in events if isinstance(it.body, Captured) and it.body.kind == "turn"]
                if turns:
                    fact = captured(draw(texts), draw(names), tags=(STATED_TAG,), **common)
                    events.append(replace(fact, refs=(draw(st.sampled_from(turns)),)))
            case _ if events:
                events.append(draw(st.sampled_from(events)))
    return as_seen(events)


def embedded(ref: object, vector: list[int], embedder: str = TINY, **fields: Any) -> Event:
    """Return the event that records a vector of the capture of this name."""
    body = ev.Embedded(attempt=1, dimensions=len(vector), embedder=embedder, reason=None, vector=pack(vector))
    return ev.make_embedded(fields.pop("scope", PROJECT), make_id(ref), body, fields.pop("sent", START))


def pack(vector: list[int]) -> bytes:
    """Return the bytes of a recorded vector."""
    return struct.pack(f"<{len(vector)}h", *vector)


def failed(ref: object, attempt: int = 1, embedder: str = TINY, **fields: Any) -> Event:
    """Return the event that records that the capture of this name got no vector."""
    dimensions = int(embedder.rpartition("/")[2])
    reason = "it was refused"
    body = ev.Embedded(attempt=attempt, dimensions=dimensions, embedder=embedder, reason=reason, vector=None)
    return ev.make_embedded(fields.pop("scope", PROJECT), make_id(ref), body, fields.pop("sent", START))


@st.composite
def histories(draw: st.DrawFn, max_size: int = 30, of: Decks = DECKS) -> list[Event]:
    """A world with every type of event: vectors come late, twice, in vain or never, while settings change.

    What is erased is told by `erased` events, so that a reader needs to know the whole of it first.
    """
    vectors = st.sampled_from(([2000, 0, 0], [1950, 400, 0], [1950, 0, 400], [0, 2000, 0], [-2000, 0, 0]))
    embedders = st.sampled_from((TINY, TINY, TINY, ELSEWHERE))
    events: list[Event] = []
    revision, sent, refolded = 0, START, 0
    for number, said in enumerate(draw(worlds(max_size=max_size, of=of))):
        if draw(st.integers(0, 5)) == 0 or not number:
            revision += draw(st.sampled_from((0, 1, 1, 1)))
            folding = draw(st.sampled_from((85, 85, 85, -1)))
            active = draw(st.sampled_from((TINY, TINY, ELSEWHERE, FLOOR)))
            refolded += draw(st.sampled_from((0, 0, 1)))
            aging = draw(st.sampled_from(LIVES))
            changed = Settings(embedder=active, fold_cosine_hundredths=folding, refolded=refolded, **aging)
            events.append(configured(changed, revision, sent=sent))
        if draw(st.integers(0, 9)) == 0:  # What derives from something is erased with it.
            said = replace(said, refs=tuple(map(make_id, draw(some(events, 1)))))
        if said.sent // HOUR_US > sent // HOUR_US and draw(st.integers(0, 3)):
            events.append(ev.make_tick(0, said.sent))
        events.append(said)
        sent = max(sent, said.sent)
        for ref in draw(some(events, 2)):
            if draw(st.integers(0, 4)):
                events.append(embedded(ref, draw(vectors), draw(embedders), sent=sent))
            else:
                events.append(failed(ref, draw(st.integers(1, 3)), draw(embedders), sent=sent))
        match draw(st.integers(0, 15)):
            case 0:
                known = st.sampled_from([event.id for event in events if event.scope])
                ids = draw(st.lists(known, max_size=2))
                events.append(event("erased", ev.Erased(ids=tuple(ids)), f"e{number}", sent=sent))
            case 1:
                then = sent + draw(st.sampled_from((0, 0, 1, 8, 500))) * DAY_US
                events.append(ev.make_tick(0, then, draw(st.booleans())))
    return as_seen(events)
