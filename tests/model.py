"""A small, naive model of the whole system, which the real one is compared with after a long life.

Everything is a plain list or dict, and every question works the answer out again from the first event, so no
state is there in which an error could hide. The rules are written down a second time, from
`docs/architecture.md` and not from the code of `state/`. Only what a text is reduced to, and how two texts
compare (`normal_text`, `specifics`, `same_specifics`, `terms`, `replaces`), is taken from there, and has
tests of its own.

The model is told what was said and when; it never reads the log or a view.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2b
from math import isqrt, log10
from operator import mul
from struct import unpack
from typing import Any

from model_aging import Aging
from model_pages import Pages
from model_uses import Uses

from memtape.schemas.embedding import FLOOR
from memtape.schemas.lanes import unasked_by
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.state.fold.near_verbatim import same_specifics, specifics
from memtape.state.text.categories import category_of
from memtape.state.text.normal import content_key, normal_text
from memtape.state.text.polarity import polarity
from memtape.state.text.reading import read
from memtape.state.text.replacements import replaces
from memtape.state.text.terms import terms

SECOND = 1_000_000
HOUR = 3_600 * SECOND
DAY = 24 * HOUR

TRUST = ["model", "web", "tool", "agent", "user", "operator"]
STARTS_KEPT = 3
"""So many starts of a session are known: an agent works before their context while the session goes on."""
PEOPLE = ("user", "operator")
FAMILY = {"fact": "fact", "insight": "fact", "journal": "journal", "goal": "goal", "plan": "plan"}
REPEATERS = ["agent", "tool", "model"]
OF_ANYONE = ["recalled", "embedded"]
TOLD_ELSEWHERE = ("erased", "used", "archived", "scope_changed", "edited")
"""`Uses`, `Aging` and `Pages` tell of these."""

Event = dict[str, Any]
"""What was said: type, id, scope, at, sent, actor, origin, session, and the body as a dict or None."""

Capture = dict[str, Any]
"""An event that was captured, with its seq, its offset and its clamped time."""

Memory = dict[str, Any]
"""Members and echoes, each (capture, how, similarity).

While it waits for its first vector, `waits` has the ids that its session had been shown; otherwise None.
"""


Cover = dict[str, Any]
"""An operation of a decision that holds, with the seqs that were `seen` and which of them it `kept`."""


class Model:
    """What stands on the log, partition by partition, as the model was told."""

    def __init__(self, partitions: int, settings: Settings, made: int) -> None:
        first = {"type": "configured", "settings": settings, "revision": 0, "sent": made}
        self.partitions: list[list[Event]] = [[first] for _ in range(partitions)]
        self.ticked: set[tuple[int, int, bool]] = set()

    def append(self, event: Event) -> None:
        """Put an event where it belongs, after the hour's tick if its partition has none yet."""
        number = partition_of(event["scope"], len(self.partitions))
        self.tick(number, event["sent"] // HOUR, again=False)
        self.partitions[number].append(event)

    def append_raw(self, number: int, event: Event) -> None:
        """Put an event, or `{"type": "unreadable"}`, into a partition as it is."""
        self.partitions[number].append(event)

    def tick(self, number: int, hour: int, *, accepted: bool = False, again: bool = True) -> None:
        """Put a tick into a partition; one that nobody asked for comes but once."""
        if again or (number, hour, accepted) not in self.ticked:
            self.ticked.add((number, hour, accepted))
            self.partitions[number].append({"type": "ticked", "hour": hour, "accepted": accepted})

    def configure(self, settings: Settings, revision: int, sent: int) -> None:
        """Put settings into every partition."""
        for partition in self.partitions:
            partition.append({"type": "configured", "settings": settings, "revision": revision, "sent": sent})

    def ends(self) -> list[int]:
        """Return how long each partition is."""
        return [len(partition) for partition in self.partitions]

    def world(self, *names: str, ends: list[int] | None = None) -> World:
        """Return what all of it means, or what it meant when the partitions were as long as `ends`.

        With names only the partitions of these scopes are looked at, which is all that such a question needs.
        """
        wanted = [partition_of(name, len(self.partitions)) for name in names] or range(len(self.partitions))
        ends = [end if number in wanted else 0 for number, end in enumerate(ends or self.ends())]
        parts = [partition[:end] for partition, end in zip(self.partitions, ends, strict=True)]
        return World(parts, self.erased())

    def erased(self) -> set[tuple[str, str]]:
        """Return (scope, id) of what is erased by now, in the past as well; only operators erase in `global`.

        Of several events of an id the first counts.
        """
        first: dict[tuple[str, str], Event] = {}
        for event in (event for partition in self.partitions for event in partition if event.get("scope")):
            first.setdefault((event["scope"], event["id"]), event)
        named = [it for it in first.values() if it["type"] == "erased"]
        named = [it for it in named if it["scope"] != "global" or it["origin"] == "operator"]
        return {(event["scope"], id) for event in named for id in event["body"]["ids"]}


class World:
    """What a log means: the scopes and the counters, worked out from the first event on."""

    def __init__(self, partitions: list[list[Event]], erased: set[tuple[str, str]]) -> None:
        self._erased = erased
        self.scopes: dict[str, Scope] = {}
        self.counters: list[dict[str, int]] = []
        for number, events in enumerate(partitions):
            self.counters.append(self._read(number, events))

    def visible(self, *names: str, covered: bool = False) -> set[str]:
        """Return the ids that these scopes can show: of memories and of turns of which something lives.

        What something else stands for is shown to who asks by time or origin, as `covered`, and where that is
        not shown. What is archived is shown to nobody who does not ask for that.
        """
        found = set()
        for scope in (self.scopes[name] for name in names if name in self.scopes):
            rows = [*scope.memory_rows(), *scope.turn_rows()]
            shown = {row["id"]: row for row in rows if not row["hidden"] and not scope.aging.is_away(row)}
            found |= {id for id, row in shown.items() if covered or row.get("into") not in shown}
        return found

    def latest_at(self, *names: str) -> int:
        """Return the time of the latest text that these scopes can show, covered ones too; else 0."""
        found = self.visible(*names, covered=True)
        scopes = [self.scopes[name] for name in names if name in self.scopes]
        rows = [row for scope in scopes for row in (*scope.memory_rows(), *scope.turn_rows())]
        return max((row["at"] for row in rows if row["id"] in found), default=0)

    def made_by(self, origins: set[str], sessions: set[str], *names: str) -> set[str]:
        """Return the visible ids of which a living capture has one of these origins and of these sessions."""
        found = set()
        for scope in (self.scopes[name] for name in names if name in self.scopes):
            own = [memory for memory in scope.memories if scope.made_by(memory, origins, sessions)]
            found |= {scope.name_of(memory)["id"] for memory in own}
            turns = [it for it in scope.captures if it["body"]["kind"] == "turn" and it["origin"] in origins]
            found |= {turn["id"] for turn in turns if turn["session"] in sessions}
        return found & self.visible(*names, covered=True)

    def _read(self, number: int, events: list[Event]) -> dict[str, int]:
        count = dict.fromkeys(("events", "duplicates", "divergent", "ignored", "dead_letters"), 0)
        settings, revision = Settings(), -1
        clock: int | None = None
        own: dict[str, Scope] = {}
        first: dict[tuple[str, str], Event] = {}
        derived: set[tuple[str, str]] = set()
        for offset, said in enumerate(events):
            event = {**said, "body": None} if self._is_erased(said, derived) else said
            if event["type"] == "unreadable":
                count["dead_letters"] += 1
            elif event["type"] == "configured":
                clock = event["sent"] if clock is None else clock
                if event["revision"] > revision:
                    if event["settings"].refolded > settings.refolded:
                        for scope in own.values():
                            before = scope.aging.units()
                            scope.refold(event["settings"])
                            scope.aging.take({"type": "configured", "body": None}, before, [], clock)
                    elif event["settings"].embedder != settings.embedder:
                        for scope in own.values():
                            scope.switch(event["settings"].embedder)
                    settings, revision = event["settings"], event["revision"]
                else:
                    count["ignored"] += 1
            elif event["type"] == "ticked":
                time = event["hour"] * HOUR
                if clock is None or time <= clock:
                    continue
                if time - clock > settings.tick_jump_days * DAY and not event["accepted"]:
                    count["ignored"] += 1
                else:
                    clock = time
                    for scope in own.values():
                        scope.aging.turn(clock, settings)
            elif (event["scope"], event["id"]) in first:
                same = timeless(event) == timeless(first[event["scope"], event["id"]])
                count["duplicates" if same else "divergent"] += 1
            else:
                first[event["scope"], event["id"]] = event
                count["events"] += 1
                scope = own[event["scope"]] = self.scopes.setdefault(event["scope"], Scope(event["scope"]))
                at = event["at"] if clock is None else min(event["at"], clock + settings.at_lead_s * SECOND)
                is_free = event["scope"] != "global" or event["type"] in OF_ANYONE
                placed = {**event, "at": at, "offset": offset, "seq": scope.seq}
                may = is_free or event["origin"] == "operator"
                if not may or not scope.take(placed, settings, clock or 0):
                    count["ignored"] += 1
                scope.seq += 1
        return count

    def _is_erased(self, event: Event, derived: set[tuple[str, str]]) -> bool:
        """Whether an event is erased by its id or by that of an earlier one that it refers to, then noted."""
        if event["type"] in ("unreadable", "configured", "ticked", "erased"):
            return False
        name = (event["scope"], event["id"])
        if name in self._erased:
            return True
        if any((event["scope"], ref) in self._erased | derived for ref in event.get("refs", ())):
            derived.add(name)
        return name in derived


class Scope:
    """What the events of one scope mean."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seq = 0
        self.captures: list[Capture] = []
        self.memories: list[Memory] = []
        self.banned_texts: dict[str, int] = {}
        self.banned_ids: dict[str, int] = {}
        self.forgot: list[tuple[Capture, str]] = []
        self.times: dict[str, int] = {}
        self.banned_alike: dict[str, int] = {}
        self.hidden_alike: dict[str, str] = {}
        self.recalls: dict[str, list[tuple[int, list[str]]]] = {}
        self.starts: dict[str, list[tuple[int, list[str]]]] = {}
        self.recalled: dict[str, int] = {}
        self.tombstones: list[Event] = []
        self.decisions: list[Event] = []
        self.vectors: dict[tuple[str, str], str] = {}
        self.pinned: list[str] = []
        self.withdrawn: list[str] = []
        self.known: list[str] = []
        self.texts: list[str] = []
        self.covers: list[Cover] = []
        self.told: dict[str, list[str]] = {}
        self.words: dict[str, dict[str, Any]] = {}
        self.held: dict[tuple[str, int], Any] | None = None
        self.awaited: dict[str, tuple[Cover, list[dict[str, Any]]]] = {}
        self.outdated: list[tuple[Capture, Capture]] = []
        self.apart: list[list[list[str]]] = []
        self.pages = Pages(name)
        self.uses = Uses(self)
        self.aging = Aging(self)

    def take(self, event: Event, settings: Settings, clock: int) -> bool:
        """Take in an event; whether it counts."""
        self.known.append(event["id"])
        before = self.aging.units()
        self.pages.take(event)
        counts = self._take(event, settings)
        self._end_covers()
        self.aging.take(event, before, self.uses.take(event) if counts else [], clock)
        return counts

    def _end_covers(self) -> None:
        while len(held := [cover for cover in self.covers if self._holds(cover)]) < len(self.covers):
            self.covers = held
        self.outdated = [pair for pair in self.outdated if self._is_judged(*pair)]

    def _take(self, event: Event, settings: Settings) -> bool:
        if event["body"] is None or event["type"] in TOLD_ELSEWHERE:
            return True
        if event["type"] == "decided":
            self.decisions.append(event)
            self._decide(event["body"])
            self._outdate(event["body"])
        elif event["type"] == "recalled":
            known = [capture["id"] for capture in self.captures]
            is_start = unasked_by(tuple(event["body"].get("lanes", ()))) == "start"
            for id in set() if is_start else {*event["body"]["results"]} & {*known}:
                self.recalled[id] = self.recalled.get(id, 0) + 1
            if event["session"] is not None:
                returned = [id for id in event["body"]["results"] if id in known]
                shown = self.starts if is_start else self.recalls
                shown.setdefault(event["session"], []).append((event["at"], returned))
        elif event["type"] == "embedded":
            return self._embed(event, settings)
        elif event["type"] == "pinned":
            others = [id for id in self.pinned if id not in event["body"]["ids"]]
            self.pinned = others + (event["body"]["ids"] if event["body"]["on"] else [])
            memories = [memory for id in event["body"]["ids"] if (memory := self.memory_of(id))]
            named = {id for memory in memories for id in ids_of(memory)} if event["body"]["on"] else set()
            self.covers = [cover for cover in self.covers if cover["op"] == "add" or cover["by"] in named
                           or named.isdisjoint(cover["ids"])]  # fmt: skip
        elif event["type"] == "linked":
            said, trust = event["body"], TRUST.index(event["origin"])
            if said["relation"] not in ("holds", "replaced_by"):
                return True  # `Pages` tells.
            if not self.words.get(said["id"], {}).get("settled") or event["origin"] in PEOPLE:
                self.words.pop(said["id"], None)
                if said["on"]:
                    self._say(said["id"], said["to"], trust, event["seq"])
        elif event["type"] == "settled":
            kept = event["body"]["keep"]
            if event["origin"] not in PEOPLE:
                return False
            for id in event["body"]["ids"]:
                if kept:
                    to = None if id in kept else kept[0]
                    self._say(id, to, TRUST.index("operator"), event["seq"], settled=True)
                elif self.words.get(id, {}).get("settled"):
                    del self.words[id]
        elif event["type"] == "withdrawn":
            self.tombstones.append(event)
            named = event["body"]["ids"]
            others = [id for id in self.withdrawn if id not in named]
            captured = [capture["id"] for capture in self.captures if capture["id"] in named]
            self.withdrawn = others + (captured if event["body"]["on"] else [])
        elif event["type"] == "unfolded":
            ids = set(event["body"]["ids"])
            self._unfold(event["body"]["ids"])
            self.covers = [cover for cover in self.covers if ids.isdisjoint([cover["by"], *cover["seen"]])]
            left = (pair for pair in self.outdated if not any(ids & set(self._ids_with(it)) for it in pair))
            self.outdated = list(left)
        elif event["type"] == "captured":
            self.captures.append(event)
            if event["body"]["kind"] == "page":
                self.texts = [id for id in self.texts if id != event["id"]]
            ban = self.banned_texts.get(normal(event)) if folds(event) else None
            if event["id"] in self.banned_ids and folds(event):
                at = self.banned_ids.pop(event["id"])
                self.banned_texts[normal(event)] = max(at, self.banned_texts.get(normal(event), at))
            elif self.says_again(event, ban):
                del self.banned_texts[normal(event)]
            if not self.hidden(event) and folds(event):
                self._say_again(event, self._root_of(event))
            if event["body"]["kind"] != "turn" and event["id"] in self.texts:
                self.memories.append(alone(event, "decided"))
            elif event["body"]["kind"] != "turn":
                if settings.embedder == FLOOR:
                    self._hide_alike(event, settings)
                self._put(event, self._judge(event, settings), self._shown(event, settings))
            self._stand(event)
        else:
            self.tombstones.append(event)
            is_hiding = event["type"] == "forgotten"
            self._count_forgotten(event, settings) if is_hiding else self._show_alike(event)
            for id in event["body"]["ids"]:
                self._hide(id, event) if is_hiding else self._show(id)
        return True

    def switch(self, embedder: str) -> None:
        """Let nothing wait whose text has a vector of the embedder that decides from now on."""
        for memory in self.memories:
            if memory["waits"] is not None and self._vector_of(memory["members"][0][0], embedder):
                memory["waits"] = None

    def refold(self, settings: Settings) -> None:
        """Put every capture anew where the settings say, but for what people have said of it."""
        ties = [tie for memory in self.memories for tie in (*memory["members"], *memory["echoes"])]
        echoes = [capture["id"] for capture, how, _ in ties if how == "echo"]
        waited = {memory["members"][0][0]["id"]: memory["waits"] or [] for memory in self.memories}
        captures, self.memories = self.captures, []
        for capture in captures:
            if capture["body"]["kind"] == "turn":
                continue
            if capture["id"] in self.texts:
                self.memories.append(alone(capture, "decided"))
                continue
            judged = self._judge(capture, settings)
            own = self._vector_of(capture, settings.embedder) if judged[0] == "waiting" else []
            if own:
                judged = self._near(alone(capture), capture, own, settings)
            self._put(capture, judged, waited.get(capture["id"], []), capture["id"] in echoes)
        self._end_covers()

    def _put(self, capture: Capture, judged: Any, shown: list[str], was_echo: bool = False) -> None:
        """Let a capture belong to the memory that it was judged to belong to, else be one of its own."""
        how, memory, similarity = judged
        if memory is None:
            waits = shown if how == "waiting" else None
            self.memories.append(alone(capture, "echo" if was_echo else "new", similarity, waits))
        elif was_echo or set(shown) & set(ids_of(memory)):
            memory["echoes"].append((capture, "echo", similarity))
        else:
            memory["members"].append((capture, how, similarity))

    def _may_join(self, memory: Memory, other: Memory) -> bool:
        """Whether nobody has set a capture of one memory apart from one of another."""
        own, others = ids_of(memory), ids_of(other)
        for split in self.apart:
            holding = [[group for group in split if set(group) & set(ids)] for ids in (own, others)]
            if any(one is not other for one in holding[0] for other in holding[1]):
                return False
        return True

    def hidden(self, capture: Capture) -> bool:
        """Whether a capture is withdrawn or forgotten: by its text where its kind folds, else by its id."""
        id = capture["id"]
        is_hidden = id in self.withdrawn or id in self.hidden_alike or self.pages.hides(id)
        return is_hidden or self.is_banned(capture)

    def is_banned(self, capture: Capture) -> bool:
        """Whether a capture is forgotten."""
        return normal(capture) in self.banned_texts if folds(capture) else capture["id"] in self.banned_ids

    def living(self, memory: Memory) -> list[Capture]:
        """Return the members of a memory that are not forgotten."""
        return [member for member, _, _ in memory["members"] if not self.hidden(member)]

    def spoken(self, living: list[Capture]) -> Capture:
        """Return the member whose text speaks for a memory."""
        return spoken(living)

    def name_of(self, memory: Memory) -> Capture:
        """Return the earliest member that lives, the earliest of all where none does."""
        return (self.living(memory) or [member for member, _, _ in memory["members"]])[0]

    def memory_of(self, id: str) -> Memory | None:
        """Return the memory that a captured id resolves to."""
        return next((memory for memory in self.memories if id in ids_of(memory)), None)

    def memory_rows(self) -> list[dict[str, Any]]:
        """Return every memory with all that a view should say, none of a text that stands for nothing."""
        self.held = {}  # Nothing changes until all rows are made.
        current = {kind: self._current(kind) for kind in ("goal", "plan")}
        left = [it for it in self.memories if not self._has_ended(it) and not self.aging.gone(founder(it))]
        rows = [self._memory_row(memory, current) for memory in left]
        self.held = None
        return rows

    def _once(self, name: str, memory: Memory, make: Callable[[Memory], Any]) -> Any:
        if self.held is None:
            return make(memory)
        if (name, id(memory)) not in self.held:
            self.held[name, id(memory)] = make(memory)
        return self.held[name, id(memory)]

    def made_of(self, memory: Memory) -> list[str] | None:
        """Return what a text was made of, None where it is none, or stands for nothing."""
        own = [cover for cover in self.covers if cover["op"] != "remove" and cover["by"] in ids_of(memory)]
        return own[0]["ids"] if own and is_made(memory) else None

    def _has_ended(self, memory: Memory) -> bool:
        return is_made(memory) and self.made_of(memory) is None

    def covered(self, memory: Memory) -> str | None:
        """Return what stands for a memory, None where it stands by itself."""
        members = [member["id"] for member, _, _ in memory["members"]]
        over = [cover for cover in self.covers if cover["op"] != "add" and set(members) & set(cover["ids"])]
        return over[0]["by"] if over else None

    def tied(self, memory: Memory) -> bool:
        """Whether a cover names any capture of a memory."""
        members = {member["id"] for member, _, _ in memory["members"]}
        return any(not members.isdisjoint([cover["by"], *cover["seen"]]) for cover in self.covers)

    def whole(self, memory: Memory) -> list[str]:
        """Return every id behind a memory, and behind what it was made of."""
        parts, at = [memory], 0
        while at < len(parts):
            told = [id for member, _, _ in parts[at]["members"] for id in self.told.get(member["id"], [])]
            for part in (part for id in told if (part := self.memory_of(id))):
                parts += [part] if not any(part is other for other in parts) else []
            at += 1
        return [id for part in parts for id in ids_of(part)]

    def _tell(self, cover: Cover) -> None:
        """Let what covers others stand for them from now on, and nothing below these for it any more."""
        own = ids_of(memory) if (memory := self.memory_of(cover["by"])) else []
        below = [memory for input in cover["ids"] if (memory := self.memory_of(input))]
        for id in (id for memory in below for id in self.whole(memory)):
            self.told[id] = [other for other in self.told.get(id, []) if other not in own]
        self.told[cover["by"]] = [*self.told.get(cover["by"], []), *cover["ids"]]

    def _decide(self, body: dict[str, Any]) -> None:
        """Let each operation of a decision hold, or wait for its text, if everything is as it was seen."""
        texts = [operation["by"] for operation in body["operations"] if operation["op"] in ("add", "replace")]
        self.texts += [id for id in texts if id not in self.known]
        is_known = any(self.capture(id) or id in self.awaited for id in texts)
        if is_known or not all(map(self._as_seen, body["inputs"])):
            return
        seqs = {given["id"]: given["seq"] for given in body["inputs"]}
        for operation in (it for it in body["operations"] if it["op"] not in ("conflict", "outdate")):
            own = [*operation["ids"], operation["by"]] if operation["op"] == "remove" else operation["ids"]
            kept = {"add": operation["ids"], "replace": operation["ids"][:1], "remove": [operation["by"]]}
            cover = {**operation, "seen": {id: seqs[id] for id in own}, "kept": kept[operation["op"]]}
            if operation["op"] == "remove":
                one = self.memory_of(operation["by"]) in [self.memory_of(id) for id in operation["ids"]]
                seen = [{"id": id, "seq": seq} for id, seq in cover["seen"].items()]
                trusts = (
                    [TRUST.index(self._said_at(seqs[id])["origin"]) for id in operation["ids"]]
                    if (all(map(self._as_seen, seen)))
                    else []
                )
                kept = TRUST.index(self._said_at(seqs[operation["by"]])["origin"]) if trusts else -1
                if not one and trusts and max(trusts) <= kept:
                    self.covers.append(cover)
                    self._tell(cover)
            else:
                self.awaited[operation["by"]] = cover, body["inputs"]

    def _said_at(self, seq: int) -> Capture:
        return next(capture for capture in self.captures if capture["seq"] == seq)

    def _ids_with(self, capture: Capture) -> list[str]:
        return ids_of(memory) if (memory := self.memory_of(capture["id"])) else []

    def _outdate(self, body: dict[str, Any]) -> None:
        """Let a decision that only outdates, or leaves apart, be the last one about each pair."""
        if body["reason"] or any(operation["op"] != "outdate" for operation in body["operations"]):
            return
        named = [(self.memory_of(given["id"]), given["seq"]) for given in body["inputs"]]
        if any(
            it is None or not self.living(it) or spoken(self.living(it))["seq"] != seq for it, seq in named
        ):
            return
        ids = [id for memory, _ in named for id in ids_of(memory)]  # type: ignore[arg-type]
        self.outdated = [pair for pair in self.outdated if not all(it["id"] in ids for it in pair)]
        seqs = {given["id"]: given["seq"] for given in body["inputs"]}
        for operation in body["operations"]:
            pairs = ((seqs[id], seqs[operation["by"]]) for id in operation["ids"])
            self.outdated += [(self._said_at(older), self._said_at(newer)) for older, newer in pairs]

    def _is_judged(self, older: Capture, newer: Capture) -> bool:
        """Whether a pair is as a judge saw it: the older text to the letter, the newer in its words."""
        one, other = self.memory_of(older["id"]), self.memory_of(newer["id"])
        if one is None or other is None or not is_beside(one, other) or is_made(other):
            return False
        if family_of(one) is None or not self.living(one) or not self.living(other):
            return False
        is_as_it_was = spoken(self.living(one)) is older
        return is_as_it_was and normal(spoken(self.living(other))) == normal(newer)

    def _stand(self, text: Capture) -> None:
        """Let a text that was waited for stand for what it was made of."""
        cover, inputs = self.awaited.pop(text["id"], ({}, []))
        own = [given for given in inputs if given["id"] in cover["seen"]]
        kind = text["body"]["kind"]
        if cover and kind not in ("turn", "page") and not self.hidden(text) and all(map(self._as_seen, own)):
            self.covers.append(cover)
            if cover["op"] == "replace":
                self._tell(cover)

    def _as_seen(self, given: dict[str, Any]) -> bool:
        memory = self.memory_of(given["id"])
        if memory is None or not self.living(memory) or spoken(self.living(memory))["seq"] != given["seq"]:
            return False
        return self.covered(memory) is None and not self._has_ended(memory)

    def _holds(self, cover: Cover) -> bool:
        text = self.capture(cover["by"])
        if text is None or (self.hidden(text) and cover["op"] != "remove"):
            return False
        for id, seq in cover["seen"].items():
            memory = self.memory_of(id)
            if memory is None or not self.living(memory) or self._has_ended(memory):
                return False
            now, then = spoken(self.living(memory)), next(c for c in self.captures if c["seq"] == seq)
            if now is not then and (id not in cover["kept"] or normal(now) != normal(then)):
                return False
        return True

    def turn_rows(self) -> list[dict[str, Any]]:
        """Return every turn with all that a view should say of it."""
        turns = [capture for capture in self.captures if capture["body"]["kind"] == "turn"]
        return [self._turn_row(turn) for turn in turns if not self.aging.gone(turn["id"])]

    def tombstone_rows(self) -> list[dict[str, Any]]:
        """Return every ban in force."""
        texts = {f"text:{digest(text)}": ban for text, ban in self.banned_texts.items()}
        ids = {f"id:{id}": ban for id, ban in self.banned_ids.items()}
        bans = (texts | ids).items()
        return [{"key": self.key(id), "id": id, "scope": self.name, "at": at} for id, at in bans]

    def vector_rows(self) -> list[dict[str, Any]]:
        """Return the vector that counts of every capture and embedder."""
        rows = []
        for (embedder, id), vector in self.vectors.items():
            if not self.aging.gone(founder(memory) if (memory := self.memory_of(id)) else id):
                row = {"key": self.key(f"{id}:{embedder}"), "id": id, "scope": self.name}
                rows.append({**row, "embedder": embedder, "vector": vector})
        return rows

    def key(self, id: str) -> str:
        """Return the key of a row, which no other scope has."""
        return f"{self.name}/{id}"

    def entries(self) -> list[str]:
        """Return the ids of what stands in the daily logs."""
        shown = [capture for capture in self.captures if not self.hidden(capture)]
        journal = [c["id"] for c in shown if c["body"]["kind"] == "journal" and c["id"] not in self.texts]
        return [c["id"] for c in shown if c["body"]["kind"] == "turn"] + journal

    def _count_forgotten(self, event: Event, settings: Settings) -> None:
        """Count of each thing once that an event forgets it, from the second on ban what says the same."""
        roots: list[str] = []
        for capture in [self.capture(id) for id in event["body"]["ids"]]:
            if capture is None or not self._may_be_alike(capture):
                continue
            known = self._root_of(capture)
            if known is None:
                first = next(it for it in self.captures if folds(it) and same_words(it, capture))
                known = self._alike(capture, settings) or first["id"]
                self.forgot.append((first, known))
            roots += [] if known in roots else [known]
        for root in roots:
            self.times[root] = self.times.get(root, 0) + 1
            if self.times[root] >= 2:
                self.banned_alike[root] = max(event["at"], self.banned_alike.get(root, event["at"]))

    def _show_alike(self, event: Event) -> None:
        """End the bans on what says the same as what is restored."""
        for capture in [self.capture(id) for id in event["body"]["ids"]]:
            if capture is not None and folds(capture):
                self._end_alike(self.hidden_alike.get(capture["id"]) or self._root_of(capture))

    def _root_of(self, capture: Capture) -> str | None:
        """Return the root of the forgotten text that a capture says in the same words."""
        return next((root for other, root in self.forgot if same_words(other, capture)), None)

    def _end_alike(self, root: str | None) -> None:
        self.banned_alike = {it: at for it, at in self.banned_alike.items() if it != root}
        self.hidden_alike = {id: its for id, its in self.hidden_alike.items() if its != root}

    def _say_again(self, capture: Capture, root: str | None) -> None:
        """End the ban on what says the same as what a person says again."""
        if self.says_again(capture, self.banned_alike.get(root or "")):
            self._end_alike(root)

    def says_again(self, capture: Capture, forgotten_at: int | None) -> bool:
        """Whether a person says what was forgotten before that, and not in the zone of a page."""
        is_person = capture["origin"] in PEOPLE and not (capture["body"]["source"] or "").startswith("vault:")
        return is_person and forgotten_at is not None and capture["at"] > forgotten_at

    def _hide_alike(self, capture: Capture, settings: Settings) -> None:
        """Hide what says in other words what was forgotten twice."""
        if not self._may_be_alike(capture) or self.hidden(capture):
            return
        root = self._alike(capture, settings)
        self._say_again(capture, root)
        if root in self.banned_alike:
            self.hidden_alike[capture["id"]] = root

    def _may_be_alike(self, capture: Capture) -> bool:
        memory = self.memory_of(capture["id"])
        is_text = capture["id"] in self.texts and (memory is None or is_made(memory))
        return FAMILY.get(capture["body"]["kind"]) in ("fact", "journal") and not is_text

    def _alike(self, capture: Capture, settings: Settings) -> str | None:
        """Return the root of the forgotten text that a capture would be one memory with."""
        near: list[tuple[int, int, str]] = []
        text = capture["body"]["text"]
        for other, root in self.forgot if settings.fold_cosine_hundredths >= 0 else []:
            if FAMILY[other["body"]["kind"]] != FAMILY[capture["body"]["kind"]]:
                continue
            if settings.embedder == FLOOR:
                if content_key(text) and content_key(other["body"]["text"]) == content_key(text):
                    near.append((0, -other["seq"], root))
                continue
            one, own = self._vector_of(other, settings.embedder), self._vector_of(capture, settings.embedder)
            found = likeness(one, own, settings.fold_cosine()) if one and own else None
            if found and same_specifics(other["body"]["text"], text):
                near.append((found[0], -other["seq"], root))
        return max(near)[2] if near else None

    def capture(self, id: str) -> Capture | None:
        """Return the capture of an id, None where there is none yet."""
        return next((capture for capture in self.captures if capture["id"] == id), None)

    def _hide(self, id: str, event: Event) -> None:
        capture = self.capture(id)
        is_text = capture is not None and folds(capture)
        bans, what = (self.banned_texts, normal(capture)) if is_text else (self.banned_ids, id)
        bans[what] = max(event["at"], bans.get(what, event["at"]))

    def _show(self, id: str) -> None:
        self.banned_ids.pop(id, None)
        self.withdrawn = [other for other in self.withdrawn if other != id]
        capture = self.capture(id)
        if capture is not None and folds(capture):
            self.banned_texts.pop(normal(capture), None)

    def _embed(self, event: Event, settings: Settings) -> bool:
        """Keep the first vector of a capture under an embedder, and judge what waited; whether it counts."""
        (id,), embedder = event["refs"], event["body"]["embedder"]
        capture = self.capture(id)
        if capture is None or (embedder, id) in self.vectors:
            return False
        if event["body"]["vector"] is not None:
            self.vectors[embedder, id] = event["body"]["vector"]
            memory = self.memory_of(id)
            known = folds(capture) and self._root_of(capture) is not None
            if embedder == settings.embedder and not known:
                self._hide_alike(capture, settings)
            if memory is not None and memory["waits"] is not None and embedder == settings.embedder:
                shown, memory["waits"] = memory["waits"], None
                own = self._vector_of(capture, embedder)
                how, other, similarity = self._near(memory, capture, own, settings)
                if other is not None and how == "similar":
                    self._absorb(memory, other, shown, similarity)
        return True

    def _vector_of(self, capture: Capture, embedder: str) -> list[int]:
        """Return the first vector that came for the words of a capture in its family, else nothing."""
        ids = [other["id"] for other in self.captures if folds(other) and same_words(capture, other)]
        found = (data for (key, id), data in self.vectors.items() if key == embedder and id in ids)
        return components(next(found, ""))

    def _near(
        self, memory: Memory, capture: Capture, own: list[int], settings: Settings
    ) -> tuple[str, Memory | None, int]:
        """Return what the vector of a text of a memory says of that memory and the others of its family."""
        near: list[tuple[Memory, tuple[int, int] | None]] = []
        for other in self.memories if settings.fold_cosine_hundredths >= 0 else []:
            if not is_beside(other, memory) or other["waits"] is not None:
                continue
            text = spoken(self.living(other)) if self.living(other) else None
            known = text and self._vector_of(text, settings.embedder)
            if text and known and self._may_join(memory, other):
                near.append((other, likeness(known, own, settings.fold_cosine())))
        return self._nearest(near, capture["body"]["text"])

    def _nearest(self, near: list[tuple[Memory, Any]], text: str) -> tuple[str, Memory | None, int]:
        """Return what folds with a text, of memories with how near they are."""
        near = sorted(near, key=lambda found: self.name_of(found[0])["seq"])
        said = {id(memory): spoken(self.living(memory))["body"]["text"] for memory, _ in near}
        own = specifics(read(text)).form
        worded = [memory for memory, _ in near if specifics(read(said[id(memory)])).form == own]
        if worded:
            return "similar", worded[0], 10_000
        similar = sorted(((memory, found) for memory, found in near if found), key=lambda found: -found[1][0])
        for memory, (_, similarity) in similar:
            if same_specifics(said[id(memory)], text):
                return "similar", memory, similarity
        return "new", None, 0

    def _absorb(self, memory: Memory, other: Memory, shown: list[str], similarity: int) -> None:
        """Make one of a memory that waited and one that says the same: the later founder is now a member."""
        early, late = sorted((memory, other), key=birth)
        is_echo = late is memory and (late["members"][0][1] == "echo" or set(shown) & set(ids_of(other)))
        founder = (late["members"][0][0], "echo" if is_echo else "similar", similarity)
        self.memories.remove(late)
        early["members"] += late["members"][1:] if is_echo else [founder, *late["members"][1:]]
        early["echoes"] += [*late["echoes"], founder] if is_echo else late["echoes"]
        for ties_of in (early["members"], early["echoes"]):
            ties_of.sort(key=lambda tie: tie[0]["seq"])

    def _unfold(self, ids: list[str]) -> None:
        for memory in list(self.memories):
            if set(ids) & set(ids_of(memory)):
                memory["waits"] = None
            alone = [[(member, "unfolded", 0)] for member, _, _ in memory["members"] if member["id"] in ids]
            rest = [tie for tie in memory["members"] if tie[0]["id"] not in ids]
            first = memory["members"][0]
            if not alone or len(alone) + bool(rest) < 2:
                continue
            stays = [first] if first[0]["id"] in ids else rest
            leave = [group for group in alone if group[0][0] is not first[0]]
            if stays is not rest and rest:
                leave.append([(member, "unfolded", 0) for member, _, _ in rest])
            memory["members"] = stays
            self.apart.append([[member["id"] for member, _, _ in group] for group in (stays, *leave)])
            leave.sort(key=lambda group: group[0][0]["seq"])
            self.memories += [{"members": group, "echoes": [], "waits": None} for group in leave]

    def _judge(self, capture: Capture, settings: Settings) -> tuple[str, Memory | None, int]:
        """Return how a text relates to the memories of its family, to which, and how similar it is."""
        if not folds(capture) or settings.fold_cosine_hundredths < 0:
            return "new", None, 0
        same = [memory for memory in self.memories if family_of(memory) == FAMILY[capture["body"]["kind"]]]
        own = alone(capture)
        family = [memory for memory in same if not is_made(memory) and self._may_join(own, memory)]
        earliest = sorted(family, key=lambda memory: self.name_of(memory)["seq"])
        for memory in earliest:
            if any(normal(member) == normal(capture) for member, _, _ in memory["members"]):
                return "same", memory, 10_000
        if capture["body"]["kind"] in ("goal", "plan"):
            return "new", None, 0
        if settings.embedder != FLOOR:
            return "waiting", None, 0
        # On the floor no vector says that two texts mean the same.
        living = [(memory, None) for memory in earliest if self.living(memory)]
        return self._nearest(living, capture["body"]["text"])

    def _shown(self, capture: Capture, settings: Settings) -> list[str]:
        """Return what the session of a capture was lately shown; nothing where its origin never echoes."""
        if capture["session"] is None or capture["origin"] not in REPEATERS or not settings.echo_recalls:
            return []
        latest = self.recalls.get(capture["session"], [])[-settings.echo_recalls :]
        window = settings.echo_window_s * SECOND
        recent = [returned for at, returned in latest if at <= capture["at"] <= at + window]
        starts = self.starts.get(capture["session"], [])[-STARTS_KEPT:]
        recent += [returned for at, returned in starts if at <= capture["at"]]
        return [id for returned in recent for id in returned]

    def _current(self, kind: str) -> Memory | None:
        """Return the goal or plan said last of those that hold and contradict nothing trusted more."""
        alive = [memory for memory in self.memories if family_of(memory) == kind and self.living(memory)]
        held = [it for it in alive if self._successor(it) is None and self._contradicted(it) is None]

        def force(it: Memory) -> tuple[Any, ...]:
            word = self._word(it)
            said = [(c["origin"] in PEOPLE, c["at"], c["seq"]) for c in self.living(it)]
            return word is not None and word["to"] is None, *max(said)

        return max(held, key=force, default=None)

    def _since(self, memory: Memory) -> int:
        """Return when a memory was first said after another value of the same thing was."""
        living = self.living(memory)
        if not living:
            return int(self.name_of(memory)["at"])
        at = spoken(living)["at"]
        others = [it for _, *pair in self._ties(memory) for it in pair if it is not memory]
        times = [time for other in others if (time := self._when(other)[0]) < at]
        return min(c["at"] for c in living if (not times or max(times) < c["at"]) and c["at"] <= at)

    def _held(self, memory: Memory) -> list[dict[str, int]]:
        """Return when a memory held before other values came: from each time of saying until one did."""
        if not self.living(memory):
            return []
        pairs = [pair for how, *pair in self._ties(memory) if how == "replaced"]
        others = [it for pair in pairs for it in pair if it is not memory]
        own = sorted(c["at"] for c, _, _ in memory["members"] if not self.hidden(c))
        ends = sorted(c["at"] for it in others for c, _, _ in it["members"] if not self.hidden(c))
        ends = [end for end in ends if end <= self._since(memory)]
        found: dict[int, int] = {}
        for at in own:
            end = min((end for end in ends if end >= at), default=None)
            if end is not None and end not in found:
                found[end] = at
        return [{"valid_from": at, "valid_to": end} for end, at in found.items() if at < end]

    def _say(self, id: str, to: str | None, trust: int, seq: int, settled: bool = False) -> None:
        self.words[id] = {"to": to, "trust": trust, "seq": seq, "settled": settled}

    def _word(self, memory: Memory) -> dict[str, Any] | None:
        """Return what somebody said last of a memory who is trusted enough to say it, of others that live."""
        living, found = self.living(memory), []
        words = [self.words[id] for id in ids_of(memory) if id in self.words] if living else []
        words = [word for word in words if word["trust"] >= TRUST.index(spoken(living)["origin"])]
        if any(word["settled"] for word in words):
            words = [word for word in words if word["trust"] >= TRUST.index("user")]
        for word in words:
            other = None if word["to"] is None else self.memory_of(word["to"])
            if word["to"] is None:
                found.append({**word, "other": None})
            elif other is not None and other is not memory and self.living(other):
                least = TRUST.index(spoken(self.living(other))["origin"])
                least = max(least, TRUST.index("user")) if word["settled"] else least
                back = [self.words[id] for id in ids_of(other) if id in self.words]
                back = [it for it in back if it["seq"] > word["seq"] and it["trust"] >= least and it["to"]]
                if not any(self.memory_of(it["to"]) is memory for it in back):
                    found.append({**word, "other": other})
        return max(found, key=lambda word: word["seq"], default=None)

    def _ties(self, memory: Memory) -> list[tuple[str, Memory, Memory]]:
        """Return (what it means, older, newer) of a memory and each that tells another value of one thing."""
        return list(self._once("ties", memory, self._tied))

    def _tied(self, memory: Memory) -> list[tuple[str, Memory, Memory]]:
        if is_made(memory) or not self.living(memory) or family_of(memory) is None:
            return []
        found = []
        for other in self.memories:
            if not is_beside(other, memory) or not self.living(other):
                continue
            older, newer = sorted((memory, other), key=self._when)
            said = [spoken(self.living(it)) for it in (older, newer)]
            texts = [capture["body"]["text"] for capture in said]
            how = (
                replaces(*map(read, texts)) if not set(terms(texts[0])).isdisjoint(terms(texts[1])) else None
            )
            if how is not None:
                is_weaker = TRUST.index(said[1]["origin"]) < TRUST.index(said[0]["origin"])
                means = "contradicted" if is_weaker else "replaced" if how.whole else "in part"
                found.append((means, older, newer))
                continue
            judged = [tuple(self.memory_of(it["id"]) for it in pair) for pair in self.outdated]
            for older, newer in judged:
                if {id(older), id(newer)} == {id(memory), id(other)}:
                    trust = [TRUST.index(spoken(self.living(it))["origin"]) for it in (older, newer)]
                    found.append(("contradicted" if trust[1] < trust[0] else "replaced", older, newer))
        return found

    def _when(self, memory: Memory) -> tuple[int, int]:
        said = spoken(self.living(memory))
        return said["at"], said["seq"]

    def _first(self, memory: Memory, means: str) -> Memory | None:
        found, own = [], self._word(memory)
        for how, older, newer in self._ties(memory):
            word = self._word(newer)
            unknown = own is None or (own["settled"] and birth(newer) > own["seq"])
            if how == means and older is memory and unknown and not (word and word["other"] is memory):
                found.append(newer)
        return min(found, key=self._when, default=None)

    def _successor(self, memory: Memory) -> Memory | None:
        def follow(memory: Memory) -> Memory | None:
            word = self._word(memory)
            return word["other"] if word and word["to"] is not None else self._first(memory, "replaced")

        return self._once("successor", memory, follow)

    def _contradicted(self, memory: Memory) -> Memory | None:
        word = self._word(memory)
        if word and word["to"] is None:
            return None
        older = [it for how, it, newer in self._ties(memory) if how == "contradicted" and newer is memory]
        return max((it for it in older if self._successor(it) is None), key=self._when, default=None)

    def _validity(self, memory: Memory, speaks: Capture) -> dict[str, Any]:
        """Return since when a memory holds, what replaced it, and what it replaced."""
        after = self._successor(memory)
        outdated = None if after else self._first(memory, "in part")
        stronger = None if after else self._contradicted(memory)
        past = self.memories if self.living(memory) else []
        replaced = [it for it in past if self._successor(it) is memory and self.living(it)]
        replaced.sort(key=self._when, reverse=True)
        before = spoken(self.living(replaced[0]))["body"]["text"] if replaced else ""
        told = replaces(read(before), read(speaks["body"]["text"])) if replaced else None
        others = {"replaced_by": after, "outdated_by": outdated, "contradicts": stronger}
        return {
            **{name: None if it is None else self.name_of(it)["id"] for name, it in others.items()},
            "valid_from": self._since(memory), "replaces": [self.name_of(it)["id"] for it in replaced],
            "valid_to": None if after is None else max(self._since(memory), self._since(after)),
            "held": self._held(memory), "before": "" if told is None else told.older,
        }  # fmt: skip

    def _memory_row(self, memory: Memory, current: dict[str, Memory | None]) -> dict[str, Any]:
        name, living = self.name_of(memory), self.living(memory)
        shown = living or [member for member, _, _ in memory["members"]]
        speaks = spoken(living) if living else name
        given = [c["body"]["importance_given"] for c in shown if c["body"]["importance_given"] is not None]
        kind, body, times = family_of(memory), speaks["body"], [capture["at"] for capture in shown]
        return {**self._said(name, speaks), **self._validity(memory, speaks), **self.uses.of(ids_of(memory)),
                **self.aging.of(founder(memory)), "canonical": speaks["id"], "ids": ids_of(memory),
                "members": ties(memory["members"]), "echoes": ties(memory["echoes"]), "first_at": min(times),
                "last_at": max(times), "confirmations": len(shown) - 1,
                "importance_given": max(given, default=None), "hidden": not living,
                "replaced": kind in current and current[kind] is not memory,
                "pinned": any(id in self.pinned for id in ids_of(memory)),
                "provenance": self._provenance(memory), "into": self.covered(memory),
                "made_of": list(dict.fromkeys(self._all_made_of(memory))), "wordings": self._wordings(memory),
                "polarity": polarity(read(body["text"])),
                "importance_confirmed": 500 + int(250 * log10(min(10, len(shown)))),
                "category": category_of(body["kind"], tuple(body["tags"]), read(body["text"]))}  # fmt: skip

    def _wordings(self, memory: Memory) -> list[dict[str, str]]:
        """Return what else is said in a memory that lives: of each text what the most trusted said last."""
        found: dict[str, Capture] = {}
        own = {spaced(spoken(self.living(memory)))} if self.living(memory) else set()
        for capture in sorted(self._spoken_in(memory) if own else [], key=weight, reverse=True):
            if spaced(capture) not in own:
                found.setdefault(spaced(capture), capture)
        return [{"id": capture["id"], "text": capture["body"]["text"]} for capture in found.values()]

    def _spoken_in(self, memory: Memory) -> list[Capture]:
        ties = (*memory["members"], *memory["echoes"])
        return [capture for capture, _, _ in ties if not self.hidden(capture)]

    def _all_made_of(self, memory: Memory) -> Iterator[str]:
        for id in self.made_of(memory) or []:
            yield id
            if (part := self.memory_of(id)) and part["members"][0][0]["id"] == id:
                yield from self._all_made_of(part)

    def made_by(self, memory: Memory, origins: set[str], sessions: set[str]) -> bool:
        """Whether one living capture of a memory is of one of these origins and of one of these sessions."""
        said = self._spoken_in(memory)
        return any(capture["origin"] in origins and capture["session"] in sessions for capture in said)

    def _provenance(self, memory: Memory) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        every = [capture for capture, _, _ in (*memory["members"], *memory["echoes"])]
        for capture in self._spoken_in(memory) or every:
            one = {"origin": capture["origin"], "session": capture["session"]}
            if one not in made:
                made.append(one)
        return made

    def _turn_row(self, capture: Capture) -> dict[str, Any]:
        captions = [media["caption"] for media in capture["body"]["media"] if media["caption"]]
        hidden = self.hidden(capture)
        seen = {"captions": captions, "offset_of": capture["offset"], "hidden": hidden}
        aged = self.aging.of(capture["id"])
        says = polarity(read(capture["body"]["text"])) if capture["origin"] in PEOPLE else "fact"
        pinned = capture["id"] in self.pinned
        return {**self._said(capture, capture), **seen, **aged, "pinned": pinned, "polarity": says}

    def _said(self, name: Capture, speaks: Capture) -> dict[str, Any]:
        body = {field: speaks["body"][field] for field in ("kind", "text", "source", "branch", "path")}
        who = {field: speaks[field] for field in ("actor", "origin", "session", "at")}
        place = {"key": self.key(name["id"]), "id": name["id"], "scope": self.name, "seq": name["seq"]}
        return {**place, **body, **who, "tags": list(speaks["body"]["tags"])}


def timeless(event: Event) -> Event:
    """Return what an event says but for its times."""
    return {key: value for key, value in event.items() if key not in ("at", "sent")}


def alone(capture: Capture, how: str = "new", similarity: int = 0, waits: list[str] | None = None) -> Memory:
    """Return a memory of one capture."""
    return {"members": [(capture, how, similarity)], "echoes": [], "waits": waits}


def folds(capture: Capture) -> bool:
    """Whether captures of this kind are ever one memory."""
    return capture["body"]["kind"] in FAMILY


def family_of(memory: Memory) -> str | None:
    """Return the family of a memory, None where its kind never folds."""
    return FAMILY.get(memory["members"][0][0]["body"]["kind"])


def is_made(memory: Memory) -> bool:
    """Whether a memory is a text that a consolidation made."""
    return bool(memory["members"][0][1] == "decided")


def is_beside(other: Memory, memory: Memory) -> bool:
    """Whether one is another memory of the same family, which no consolidation made."""
    return other is not memory and not is_made(other) and family_of(other) == family_of(memory)


def founder(memory: Memory) -> str:
    """Return the id of the first capture of a memory."""
    return str(memory["members"][0][0]["id"])


def ids_of(memory: Memory) -> list[str]:
    """Return every captured id that resolves to a memory, members first."""
    return [capture["id"] for capture, _, _ in (*memory["members"], *memory["echoes"])]


def ties(joined: list[tuple[Capture, str, int]]) -> list[dict[str, Any]]:
    """Return how captures belong to a memory, as a view says it."""
    keys = ("id", "how", "similarity", "offset")
    return [dict(zip(keys, (it["id"], how, near, it["offset"]), strict=True)) for it, how, near in joined]


def spoken(living: list[Capture]) -> Capture:
    """Return the member whose text speaks for a memory: the greatest in (trust, time, order)."""
    return max(living, key=weight)


def weight(capture: Capture) -> tuple[int, int, int]:
    return TRUST.index(capture["origin"]), capture["at"], capture["seq"]


def spaced(capture: Capture) -> str:
    """Return the text of a capture with single spaces."""
    return " ".join(capture["body"]["text"].split())


cached_normal = cache(normal_text)
"""It takes a while for thousands of texts."""


def normal(capture: Capture) -> str:
    """Return the normalised text of a capture."""
    return cached_normal(capture["body"]["text"])


def same_words(one: Capture, other: Capture) -> bool:
    """Whether two captures of kinds that fold have one normalised text and one family."""
    return normal(one) == normal(other) and FAMILY[one["body"]["kind"]] == FAMILY[other["body"]["kind"]]


def birth(memory: Memory) -> int:
    """Return when the first capture of a memory was said, by which the earlier of two is known."""
    return int(memory["members"][0][0]["seq"])


def components(vector: str) -> list[int]:
    """Return the numbers of a recorded vector, which is two bytes a number in base64."""
    data = b64decode(vector)
    return list(unpack(f"<{len(data) // 2}h", data))


def digest(text: str) -> str:
    """Return the digest by which a ban names a normalised text."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


def likeness(known: list[int], new: list[int], threshold_hundredths: int) -> tuple[int, int] | None:
    """Return how near a known vector is to a new one, None where the cosine is below the threshold.

    Two numbers say it, rounded down: dot² / |known|², which finds the nearest, and the cosine in 1/10,000.
    """
    dot = sum(map(mul, known, new))
    square_a, square_b = (sum(map(mul, each, each)) for each in (known, new))
    if dot <= 0 or dot * dot * 10_000 < threshold_hundredths**2 * square_a * square_b:
        return None
    return dot * dot // square_a, min(10_000, isqrt(dot * dot * 100_000_000 // (square_a * square_b)))


def describe(events: list[Event]) -> Iterator[str]:
    """Yield a line for each event, for people who look for where model and system part."""
    for offset, event in enumerate(events):
        body = event.get("body") or {}
        words = [event.get(field) for field in ("type", "scope", "id", "origin", "session", "at")]
        words += [body.get(field) for field in ("kind", "text", "ids", "results")]
        yield f"{offset:5} " + " ".join(str(word) for word in words if word is not None)
