"""Events for tests: made by hand with defaults, or drawn by hypothesis from a small world in which things collide."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st

from memtape.schemas.codec import encode
from memtape.schemas.embedding import FLOOR
from memtape.schemas.events import (
    EVENT_TYPES,
    STATED_TAG,
    Actor,
    Captured,
    Decided,
    Edited,
    Embedded,
    Erased,
    Event,
    Input,
    Linked,
    Mark,
    Operation,
    Recalled,
    ScopeChanged,
    Settled,
    Traced,
    Used,
    make_configured,
    make_embedded,
    make_tick,
    refs_of_edit,
    version_of,
)
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
TINY, ELSEWHERE = "tiny@1/3", "other@1/3"
LOG_ID = derived_id("log", None, None, "tests")


def data_of(name: str) -> Any:
    """Return what a file of `data/` says, which is named without its `.toml`."""
    return msgspec.toml.decode((Path(__file__).parent / "data" / f"{name}.toml").read_bytes())


def make_id(name: object) -> str:
    """Return the same id for the same name."""
    return derived_id("test", None, None, str(name))


def event(type: str, body: Any, id: object, **fields: Any) -> Event:
    """Return an event with everything that a test does not care about filled in."""
    sent = fields.pop("sent", START)
    return Event(
        actor=Actor(name=fields.pop("actor", "Ada"), origin=fields.pop("origin", "user")),
        at=fields.pop("at", sent),
        body=body,
        id=make_id(id),
        refs=(),
        scope=fields.pop("scope", "project:test"),
        sent=sent,
        session=fields.pop("session", None),
        type=type,
        v=version_of(type),
    )


def captured(text: str, id: object | None = None, kind: str = "fact", **fields: Any) -> Event:
    """Return a `captured` event; its id follows from its text unless one is given."""
    body: dict[str, Any] = dict.fromkeys(("branch", "importance_given", "part", "path", "source"))
    body |= {"kind": kind, "media": (), "tags": (), "text": text}
    body |= {key: fields.pop(key) for key in list(fields) if key in body}
    return event("captured", Captured(**body), text if id is None else id, **fields)


def recalled(
    results: list[object],
    id: object,
    query: str = "what",
    lanes: tuple[str, ...] = ("sparse",),
    looks: Sequence[Sequence[object]] = (),
    **fields: Any,
) -> Event:
    """Return a `recalled` event that returned the captures of these names, of which each look saw some first."""
    body = Recalled(
        after=0,
        filters=NO_FILTERS,
        lanes=lanes,
        limit=10,
        now=fields.get("sent", START),
        passes=max(1, len(looks)),
        query=query,
        quotas={},
        results=tuple(map(make_id, results)),
        revision=0,
        trace=tuple(_look(look, seen, query) for look, seen in enumerate(looks, start=1)),
        watermark=(Mark(offset=0, partition=0),),
    )
    return event("recalled", body, id, **fields)


def _look(look: int, seen: Sequence[object], query: str) -> Traced:
    return Traced(by="rules", cost=0, failure="", given=len(seen), ids=tuple(map(make_id, seen)), kept=len(seen),
                  look=look, query=query, step="scouts", took_us=0)  # fmt: skip


def _naming(type: str, **rest: Any) -> Callable[..., Event]:
    """Return a function that makes an event of a type on the captures of some names; `rest` are its other fields."""

    def make(ids: Iterable[object], id: object, on: bool = True, **fields: Any) -> Event:
        given = {name: on if name == "on" else value for name, value in rest.items()}
        return event(type, EVENT_TYPES[type].body(ids=tuple(map(make_id, ids)), **given), id, **fields)

    return make


forgotten, restored = _naming("forgotten", reason=None), _naming("restored", reason=None)
erased, unfolded = _naming("erased"), _naming("unfolded")
pinned, withdrawn = _naming("pinned", on=True), _naming("withdrawn", on=True)
archived = _naming("archived", on=True, reason=None)
NAMING = {"forgotten": forgotten, "restored": restored, "unfolded": unfolded}
SWITCHING = {"archived": archived, "pinned": pinned, "withdrawn": withdrawn}


def linked(id: object, relation: str, to: object | None, name: object, on: bool = True, **fields: Any) -> Event:
    """Return the event `name`, which says what somebody says of the capture of the name `id`."""
    body = Linked(id=make_id(id), on=on, relation=relation, slug=None, to=None if to is None else make_id(to))
    return event("linked", body, name, **fields)


def edited(id: object, name: object, **fields: Any) -> Event:
    """Return the event `name`, which edits the page of the capture of the name `id`; `by` and `base` are names too."""
    body: dict[str, Any] = dict.fromkeys(("base", "by", "hints", "refs", "rest", "slug", "summary", "title"))
    body |= {key: fields.pop(key) for key in list(fields) if key in body}
    body |= {key: make_id(body[key]) for key in ("base", "by") if body[key] is not None}
    said = Edited(id=page_id(id, fields.get("scope", "project:test")), **body)
    return msgspec.structs.replace(event("edited", said, name, **fields), refs=refs_of_edit(said))


def page_link(
    id: object, relation: str, name: object, to: object | None = None, slug: str | None = None, on: bool = True,
    **fields: Any,
) -> Event:  # fmt: skip
    """Return the event `name`, which links the page of the name `id` to that of another, or to a slug."""
    scope = fields.get("scope", "project:test")
    there = None if to is None else page_id(to, scope)
    return event("linked", Linked(id=page_id(id, scope), on=on, relation=relation, slug=slug, to=there), name, **fields)


def page_id(name: object, scope: str = "project:test") -> str:
    """Return the id of the page of a name; `_root` names the root."""
    return root_id(scope) if name == ROOT else make_id(name)


def settled(ids: tuple[object, object], keep: list[object], name: object, **fields: Any) -> Event:
    """Return the event `name`, which settles a conflict between the captures of these names."""
    body = Settled(ids=tuple(map(make_id, ids)), keep=tuple(map(make_id, keep)), note=None)
    return event("settled", body, name, **fields)


def scope_changed(id: object, **fields: Any) -> Event:
    """Return a `scope_changed` event, which says a `name`, a `state` or a `git_at`."""
    body = ScopeChanged(**{field: fields.pop(field, None) for field in ("git_at", "name", "state")})
    return event("scope_changed", body, id, **fields)


def used(ids: list[object], id: object, recall: object | None = None, **fields: Any) -> Event:
    """Return a `used` event on the captures of these names."""
    body = Used(ids=tuple(map(make_id, ids)), recall=None if recall is None else make_id(recall))
    return event("used", body, id, **fields)


def configured(settings: Settings | None = None, revision: int = 0, partitions: int = 1, sent: int = START) -> Event:
    """Return the event that opens a partition."""
    return make_configured(
        LOG_ID, partitions, settings or Settings(), revision, sent, make_id(f"configured {revision}")
    )


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
    return partition_of(*events, settings=settings).scopes["project:test"]


WORDS = ("the", "port", "is", "8080", "8081", "staging", "not", "database", "uses", "Redis", "never", "on", "Anna")
ALIKE = ("the build takes 5 minutes", "The build takes five minutes.", "Note that the build takes five minutes",
         "the build takes 6 minutes")  # fmt: skip
CHANGING = ("The API listens on port 8080.", "The API listens on port 8081.", "The API is on port 9090 now.",
            "Ada leads the data team.", "Ben leads the data team now.", "I live in Porto.", "I live in Lisbon.",
            "The API listens on port 8080, and backups run nightly.")  # fmt: skip
OPEN = ("We still need to renew the certificate of api.example.org.", "I renewed the certificate of api.example.org.",
        "Ask Marisol: which port does the API listen on?", "I'll update the docs once the tests pass.",
        "Marisol said that tabs are fine. Always use tabs.", "Never mention Marisol again.")  # fmt: skip
texts = st.one_of(
    st.sampled_from(ALIKE),
    st.sampled_from(OPEN),
    st.sampled_from(CHANGING),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
)
names = st.integers(0, 30)
MADE = 100
"""From here on are the names of texts that a consolidation made."""
OF_A_DAY = 31
"""From here on are the names of what is said in one go, so that a day has enough to be summed up."""
NAME_OF = {make_id(name): name for name in range(MADE + 100)}


def met(events: Iterable[Event]) -> list[int]:
    """Return the names of `captured` events that are said, hidden or erased, each once: what others may refer to."""
    return list(dict.fromkeys(NAME_OF[event.id] for event in events if event.id in NAME_OF))


@st.composite
def some(draw: st.DrawFn, events: list[Event], most: int = 3) -> list[int]:
    """Names of what a history has captured, whether it lives, waits or is dead; now and then of what it has not."""
    known = met(events)
    return draw(st.lists(st.sampled_from(known) if known and draw(st.integers(0, 3)) else names, max_size=most))


@st.composite
def some_pair(draw: st.DrawFn, events: list[Event]) -> tuple[int, int]:
    """Two names of what a history has captured, or will."""
    known = met(events)
    ends = st.sampled_from(known) if len(known) > 1 and draw(st.integers(0, 3)) else names
    one = draw(ends)
    return one, draw(ends.filter(lambda name: name != one))


def decided(
    inputs: Iterable[object], operations: Iterable[Operation], id: object, *, attempt: int = 1,
    reason: str | None = None, until: int | None = None, **fields: Any,
) -> Event:  # fmt: skip
    """Return a decision about the memories of these names; `as_seen` gives it the seqs that they have by then."""
    seen = tuple(Input(id=make_id(name), seq=0) for name in dict.fromkeys(inputs))
    body = Decided(attempt=attempt, inputs=seen, operations=tuple(operations), reason=reason, until=until)
    return event("decided", body, id, **fields)


def as_seen(events: list[Event]) -> list[Event]:
    """Return a history whose decisions saw their inputs as these are by then; where an id ends in 0 one is old."""
    if not any(event.type == "decided" for event in events):
        return events
    state, read = Partition(0), list[Event]()
    for offset, said in enumerate(events):
        scope = state.scopes.get(said.scope or "")
        if isinstance(said.body, Decided) and scope is not None:
            found = [(input, scope.memory_of(input.id)) for input in said.body.inputs]
            inputs = [Input(id=input.id, seq=max(0, memory.canonical)) for input, memory in found if memory is not None]
            if len(inputs) == len(found):
                inputs[:1] = [Input(id=input.id, seq=input.seq + said.id.endswith("0")) for input in inputs[:1]]
                said = msgspec.structs.replace(said, body=msgspec.structs.replace(said.body, inputs=tuple(inputs)))
        evolve(state, said, offset)
        read.append(said)
    return read


@st.composite
def decisions(draw: st.DrawFn, events: list[Event], number: int, common: dict[str, Any]) -> list[Event]:
    """What a consolidation says of a few memories: one thing and its text, that an attempt failed, or a pass's end."""
    known = [said.id for said in events if isinstance(said.body, Captured) and said.body.kind != "turn"]
    names = [name for name in met(events) if make_id(name) in known]
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)) if names else []
    what = draw(st.sampled_from(("replace", "replace", "remove", "conflict", "add", "fail", "end")))
    if what == "end" or not chosen:
        return [decided((), (), f"c{number}", until=draw(st.integers(0, 30)), **common)]
    if what == "fail":
        return [decided(chosen, (), f"c{number}", attempt=draw(st.integers(1, 3)), reason="it was late", **common)]
    if what in ("remove", "conflict"):
        by, ids = make_id(chosen[0]), tuple(map(make_id, chosen[1:]))
        operations = [Operation(by=by, ids=ids, op=what)] if ids else []
        return [decided(chosen, operations, f"c{number}", **common)]
    operation = Operation(by=make_id(MADE + number), ids=tuple(map(make_id, chosen)), op=what)
    said = decided(chosen, [operation], f"c{number}", **common)
    kind = draw(st.sampled_from(("fact", "fact", "journal", "turn", "page")))
    path = draw(st.sampled_from((*SLUGS, None))) if kind == "page" else None
    text = captured(f"Made of {len(chosen)}.", MADE + number, kind, path=path, **common)
    text = msgspec.structs.replace(text, refs=(said.id, *operation.ids))
    return [said, text] if draw(st.integers(0, 4)) else [said]


EVERYTHING = (
    ("captured",) * 6
    + ("recalled", "used", "forgotten", "restored", "unfolded", "pinned", "withdrawn", "decided", "again")
    + ("linked", "settled", "archived", "scope_changed")
)
TREE = (
    ("page",) * 4
    + ("edited",) * 4
    + ("page link",) * 4
    + ("forgotten", "restored", "withdrawn", "captured", "again", "linked", "archived", "decided", "decided")
)
AGING = (
    ("day",) * 4
    + ("said again", "used", "recalled", "pinned", "archived", "archived", "scope_changed", "scope_changed")
    + ("forgotten", "restored", "withdrawn", "unfolded", "linked", "settled")
    + ("stated", "silence")
)
"""What happens in a history: of all kinds within hours, with pages alone, or what aging is about, within weeks."""
SLUGS = ("a", "a/b", "b", "c-1")
QUICK = {
    "mid_after_days": 0, "long_after_days": 0, "archive_after_days": 1, "dormant_after_days": 3, "purge_after_days": 1,
    "mid_retention_hundredths": 100, "long_retention_hundredths": 100,
}  # fmt: skip
"""Settings under which texts age within days."""
LIVES: tuple[dict[str, Any], ...] = (
    QUICK, QUICK, QUICK | {"dormant_after_days": -1}, QUICK | {"lifecycle": False},
    QUICK | {"mid_after_days": 1, "long_after_days": 1, "purge_after_days": 7, "long_retention_hundredths": 50}, {},
)  # fmt: skip
JUMPS = (0, 0, HOUR_US, DAY_US, DAY_US, 2 * DAY_US, 9 * DAY_US)


def day(number: int, kind: str, texts: list[str], **common: Any) -> list[Event]:
    """Return a few things that are said one after the other, each under a name of its own."""
    return [
        captured(f"{text} {number}", OF_A_DAY + (4 * number + place) % (MADE - OF_A_DAY), kind, **common)
        for place, text in enumerate(texts)
    ]


@st.composite
def tree_events(draw: st.DrawFn, what: str, events: list[Event], number: int, common: dict[str, Any]) -> Event:
    """A page, with a slug or without, an edit or a link of one, and now and then of what is none."""
    if what == "page":
        text = draw(st.sampled_from(("# One\n\nSays this. And that.", "Two", "> three", "```\nfour\n```", *CHANGING)))
        return captured(text, draw(names), "page", path=draw(st.sampled_from((*SLUGS, None, "No Slug"))), **common)
    pages = [NAME_OF[it.id] for it in events if isinstance(it.body, Captured) and it.body.kind == "page"]
    page = st.sampled_from((*pages, *pages, ROOT, 7))
    if what == "page link":
        relation = draw(st.sampled_from(("child", "child", "child", "related", "contradicts", "odd_one")))
        slug = draw(st.sampled_from((None, None, *SLUGS)))
        to = draw(page) if slug is None else None
        return page_link(draw(page), relation, f"q{number}", to, slug, draw(st.integers(0, 3)) > 0, **common)
    version = st.sampled_from((*pages, 7, None)).filter(lambda name: name != ROOT)
    given = {
        "base": draw(version), "by": draw(version),
        "hints": draw(st.sampled_from((None, (), ("how?", "why?")))),
        "refs": draw(st.sampled_from((None, (), ("notes.md", make_id(3))))),
        "rest": draw(st.sampled_from((None, "", "aliases: [x]"))),
        "slug": draw(st.sampled_from((None, None, *SLUGS))),
        "summary": draw(st.sampled_from((None, None, "", "In short."))),
        "title": draw(st.sampled_from((None, None, "", "A title"))),
    }  # fmt: skip
    kept = draw(st.lists(st.sampled_from(list(given)), max_size=4))
    return edited(draw(page), f"v{number}", **{name: given[name] for name in kept}, **common)


@st.composite
def worlds(
    draw: st.DrawFn,
    scope: str = "project:test",
    max_size: int = 40,
    of: Sequence[tuple[str, ...]] = (EVERYTHING, EVERYTHING, TREE, AGING, AGING),
) -> list[Event]:
    """A history of one scope in which texts repeat, ids come twice, and tombstones name what is, was or will be."""
    events: list[Event] = []
    sent = START
    steps = draw(st.sampled_from(of))
    for number in range(draw(st.integers(0, max_size))):
        sent += draw(
            st.sampled_from(JUMPS) if steps is AGING else st.integers(0, 20).map(lambda minutes: minutes * MINUTE)
        )
        common: dict[str, Any] = {
            "scope": scope,
            "sent": sent,
            "at": sent - draw(st.sampled_from((0, 0, 0, 5 * MINUTE, 3_000 * MINUTE))),
            "session": draw(st.sampled_from((None, "s1", "s2"))),
            "origin": draw(st.sampled_from(("user", "agent", "tool", "operator"))),
            "actor": draw(st.sampled_from(("Ada", "Ada", "Ben", "../Ben"))),
        }
        match draw(st.sampled_from(steps)):
            case "captured":
                kind = draw(st.sampled_from(("fact", "fact", "fact", "insight", "journal", "goal", "turn", "document")))
                # Ids are drawn from few, so that an id comes twice with the same or with other content.
                events.append(captured(draw(texts), draw(names), kind, **common))
            case "day":
                kind = draw(st.sampled_from(("turn", "turn", "fact", "journal")))
                said = st.one_of(texts, texts, st.just("Always run the tests before you commit."))
                events += day(number, kind, draw(st.lists(said, min_size=3, max_size=4)), **common)
            case "said again":
                said = [it for it in events if isinstance(it.body, Captured) and it.body.kind in ("fact", "journal")]
                if said:
                    body = draw(st.sampled_from(said)).body
                    events.append(captured(body.text, draw(names), body.kind, **common))
            case "scope_changed":
                changed = draw(
                    st.sampled_from(({"state": "finished"}, {"state": "active"}, {"name": "Atlas"}, {"git_at": sent}))
                )
                events.append(scope_changed(f"s{number}", **changed, **common))
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
                keep = draw(st.sampled_from(([one], [other], [one, other])))
                events.append(settled((one, other), keep, f"t{number}", **common))
            case "decided":
                events += draw(decisions(events, number, common))
            case "page" | "edited" | "page link" as what:
                events.append(draw(tree_events(what, events, number, common)))
            case "stated":
                turns = [it.id for it in events if isinstance(it.body, Captured) and it.body.kind == "turn"]
                if turns:
                    fact = captured(draw(texts), draw(names), tags=(STATED_TAG,), **common)
                    events.append(msgspec.structs.replace(fact, refs=(draw(st.sampled_from(turns)),)))
            case _:
                if events:
                    events.append(draw(st.sampled_from(events)))
    return as_seen(events)


def embedded(ref: object, vector: list[int], embedder: str = TINY, **fields: Any) -> Event:
    """Return the event that records a vector of the capture of this name."""
    body = Embedded(attempt=1, dimensions=len(vector), embedder=embedder, reason=None, vector=pack(vector))
    return make_embedded(fields.pop("scope", "project:test"), make_id(ref), body, fields.pop("sent", START))


def pack(vector: list[int]) -> bytes:
    """Return the bytes of a recorded vector."""
    return struct.pack(f"<{len(vector)}h", *vector)


def failed(ref: object, attempt: int = 1, embedder: str = TINY, **fields: Any) -> Event:
    """Return the event that records that the capture of this name got no vector."""
    dimensions = int(embedder.rpartition("/")[2])
    body = Embedded(attempt=attempt, dimensions=dimensions, embedder=embedder, reason="it was refused", vector=None)
    return make_embedded(fields.pop("scope", "project:test"), make_id(ref), body, fields.pop("sent", START))


@st.composite
def histories(
    draw: st.DrawFn, max_size: int = 30, of: Sequence[tuple[str, ...]] = (EVERYTHING, EVERYTHING, TREE, AGING, AGING)
) -> list[Event]:
    """A world in which every type of event comes: vectors come late, twice, in vain or never, while settings change.

    What is erased is told by `erased` events, so that a reader needs to know the whole of it first.
    """
    vectors = st.sampled_from(([4000, 0, 0], [3900, 800, 0], [3900, 0, 800], [0, 4000, 0], [-4000, 0, 0]))
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
            said = msgspec.structs.replace(said, refs=tuple(map(make_id, draw(some(events, 1)))))
        if said.sent // HOUR_US > sent // HOUR_US and draw(st.integers(0, 3)):
            events.append(make_tick(0, said.sent))
        events.append(said)
        sent = max(sent, said.sent)
        for ref in draw(some(events, 2)):
            if draw(st.integers(0, 4)):
                events.append(embedded(ref, draw(vectors), draw(embedders), sent=sent))
            else:
                events.append(failed(ref, draw(st.integers(1, 3)), draw(embedders), sent=sent))
        match draw(st.integers(0, 15)):
            case 0:
                ids = draw(st.lists(st.sampled_from([event.id for event in events if event.scope]), max_size=2))
                events.append(event("erased", Erased(ids=tuple(ids)), f"e{number}", sent=sent))
            case 1:
                events.append(
                    make_tick(0, sent + draw(st.sampled_from((0, 0, 1, 8, 500))) * DAY_US, draw(st.booleans()))
                )
    return as_seen(events)
