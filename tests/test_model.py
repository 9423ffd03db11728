"""A long life of a real home beside the naive model: whatever is said, hidden and rebuilt, both agree.

A seed chooses everything, ids and the time of day included. It is printed; `MEMTAPE_SEED` chooses another.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import builders
import model_aging
import msgspec
import pytest
import uuid_utils
from builders import ELSEWHERE, START, TINY, captured, configured, histories, pack, slots
from hypothesis import given
from met import events_of, missing
from model import PEOPLE, Model, Scope, World, describe, family_of, founder, ids_of, is_made, spoken
from replaying import replay
from tables import table
from test_golden_log import golden_slots

from memtape.flows import projection
from memtape.schemas import events as ev
from memtape.schemas.codec import canonical, decode
from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import InvalidEvent, NotFound
from memtape.schemas.events import Actor, Event
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Slot
from memtape.schemas.rows import TABLES, Change, UseRow
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.schemas.times import format_day
from memtape.schemas.visible import one_line
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.tables import Shard
from memtape.state.core.partition import Partition
from memtape.state.subjects import lifecycle
from memtape.state.views.markdown import escape
from memtape.state.views.rows import all_changes, row_of
from memtape.tools.capture.writing import Line, MediaLine
from memtape.tools.client import Client
from memtape.tools.keep.erasing import plan
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.owning import rebuild_as_owner
from memtape.tools.query import reading
from memtape.tools.query.status import ScopeCount

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
PARTITIONS = 16
# The second and the third share a partition, so that a guard or a watermark of one could touch the other.
SCOPES = ("project:atlas", "project:b1", "project:b10", "project:zeta", "global")
KINDS = (*["fact"] * 4, "insight", "insight", "journal", "goal", "plan", "turn", "turn", "document", "page")
ORIGINS = ("operator", "user", "agent", "tool", "web", "model")
SESSIONS = (None, "s1", "s2", "s3")
NATIVE_IDS = 60
VECTORS = ([2000, 0, 0], [1950, 400, 0], [1950, 0, 400], [0, 2000, 0])

SAID = table("life")
"""Subject, verb and object are put together: texts come again, differ in a word, or say the opposite."""
WORDINGS: tuple[Callable[[str], str], ...] = (
    lambda text: text, lambda text: text, lambda text: text + ".", str.lower, lambda text: text + "!",
    lambda text: "  " + text.replace(" ", "   "),
    lambda text: text.replace("database", "db").replace("repo", "repository"),
)  # fmt: skip
HALF, INFINITE = b'{"half an event', b'{"a": 1e999}'
UNREADABLE = (HALF, b"\xff\xfe\x00", b"", b"[]", b'{"type": "captured"}', INFINITE, b"[" * 2_000)


class Life:
    """A home and its model, and what may happen to both."""

    def __init__(self, path: Path, seed: int, patch: pytest.MonkeyPatch) -> None:
        self.rng = random.Random(seed)
        self.now = START
        self.patch = patch
        patch.setattr(time, "time_ns", lambda: self.now * 1_000)
        patch.setattr(uuid_utils, "uuid7", self.new_id)
        patch.setattr(projection, "SNAPSHOT_EVENTS", 60)
        self.home = Home(path)
        # The model knows no statements.
        self.home.settings_path.write_text("catch_up = false\nextract = false\n")
        self.settings = Settings()
        self.revision = 0
        self.model = Model(PARTITIONS, self.settings, START)
        self.log = EmbeddedLog(self.home.log_path)
        self.clients: dict[str, Client] = {}
        self.texts: dict[str, None] = {}
        self.natives: dict[tuple[str, str], tuple[Line, Actor]] = {}
        self.moments: list[list[int]] = []
        self.done: list[str] = []

    def new_id(self) -> str:
        """Return an id of version 7 that the seed decides."""
        return str(uuid.UUID(int=self.rng.getrandbits(128) & ~(0xF << 76 | 3 << 62) | (7 << 76 | 2 << 62)))

    def step(self) -> None:
        """Let some time pass, and something happen."""
        short = (0, 1, 5 * SECOND, 5 * SECOND, MINUTE, MINUTE)
        self.now += self.rng.choice((*short, 10 * MINUTE, HOUR, -90 * SECOND))
        if self.rng.random() < 0.02:
            self.now += self.rng.choice((DAY, 3 * DAY, 40 * DAY))
        (step,) = self.rng.choices(list(STEPS), list(STEPS.values()))
        undone = [other for other in STEPS if other.__name__ not in self.done]
        if undone and self.rng.random() < 0.1:  # So that what is rare happens in every long life.
            step = self.rng.choice(undone)
        self.done.append(step.__name__)
        step(self)

    def client(self, scope: str | None = None, origin: str | None = None) -> Client:
        """Return the client of a scope, with another actor and session each time."""
        scope = scope or self.rng.choice(SCOPES)
        if scope not in self.clients:
            self.clients[scope] = Client(self.home.path, scope=scope, log=self.log)
        client = self.clients[scope]
        origin = origin or ("operator" if scope == "global" else self.rng.choice(ORIGINS))
        client.actor = Actor(name=self.rng.choice(("Ada", "claude")), origin=origin)
        client.session = self.rng.choice(SESSIONS)
        # Some searches bring the views up to date before they answer, others answer over what is pending.
        self.patch.setattr(reading, "INLINE_EVENTS", self.rng.choice((0, 10**9)))
        return client

    def text(self) -> str:
        """Return a text, often one that was said before or is close to one."""
        rng = self.rng
        made = " ".join(rng.choice(SAID[words]) for words in ("subjects", "verbs", "objects"))
        text = rng.choice(SAID["fixed"]) if rng.random() < 0.3 else rng.choice(WORDINGS)(made)
        self.texts[text] = None
        return text

    def line(self, kind: str, **fields: Any) -> Line:
        """Return a capture with everything that it may have."""
        rng = self.rng
        age = rng.choice((None, None, 0, -(4 * MINUTE), MINUTE, DAY, 30 * DAY))
        said: dict[str, Any] = {
            "text": self.text(), "kind": kind, "at": None if age is None else self.now - age,
            "tags": rng.choice(((), (), ("infra",), ("infra", "größe"))),
            "source": rng.choice((None, "chat:1")), "branch": rng.choice((None, "main")),
            "path": rng.choice((None, "docs/a.md")), "importance": rng.choice((None, None, 0.2, 0.9)),
            "media": rng.choice(((), (), (MediaLine(caption="A map of the staging network"), MediaLine()))),
        }  # fmt: skip
        return Line(**(said | fields))

    def tell(self, client: Client, line: Line, actor: Actor, session: str | None, id: str, at: int) -> None:
        """Tell the model what was captured."""
        body = {name: getattr(line, name) for name in ("branch", "kind", "path", "source", "text")}
        body["importance_given"] = None if line.importance is None else round(line.importance * 100)
        media = [{"caption": it.caption, "kind": it.kind, "uri": it.uri} for it in line.media]
        body |= {"media": media, "part": None, "tags": list(line.tags)}
        self.model.append(self.event("captured", client.scope, id, body, actor, session, at))

    def event(
        self, type: str, scope: str, id: str, body: Any, by: Actor, session: str | None, at: int | None = None
    ) -> dict[str, Any]:
        """Return an event as the model knows it, sent now."""
        return {"type": type, "scope": scope, "id": id, "body": body, "actor": by.name, "origin": by.origin,
                "session": session, "at": self.now if at is None else at, "sent": self.now}  # fmt: skip

    def any_id(self, scope: str, strange: float = 0.0) -> str | None:
        """Return the id of any capture of a scope, visible or not; now and then one of another."""
        if strange and self.rng.random() < strange:
            scope = self.rng.choice(SCOPES)
        ids = [event["id"] for event in self._captured(scope)]
        return self.rng.choice(ids) if ids else None

    def whole_query(self) -> str:
        """Return a query with every word that was ever said."""
        return " ".join(dict.fromkeys(word for text in (*self.texts, "map") for word in text.split()))

    def capture(self) -> None:
        client = self.client()
        lines = [self.line(self.rng.choice(KINDS)) for _ in range(self.rng.choice((1, 1, 1, 2, 5)))]
        for line, receipt in zip(lines, client.capture_many(lines), strict=True):
            at = self.now if line.at is None else line.at
            self.tell(client, line, client.actor, client.session, receipt.id, at)

    def capture_of_a_source(self) -> None:
        """Capture what has an id of its own: for the first time, again, or again with other words."""
        client = self.client()
        native = f"n{self.rng.randrange(NATIVE_IDS)}"
        line, actor = self.natives.get((client.scope, native), (None, client.actor))
        if line is None or self.rng.random() < 0.3:
            own = {"native_id": native, "source": "chat:1", "session": "s1", "at": self.now}
            line = self.line(self.rng.choice(KINDS), **own)
            actor = client.actor
            self.natives[client.scope, native] = line, actor
        client.actor = actor
        if (client.scope, derived_id("captured", client.scope, "chat:1", native)) in self.model.erased():
            with pytest.raises(InvalidEvent, match="was erased"):
                client.capture_many([line])
            return
        receipt = client.capture_many([line])[0]
        self.tell(client, line, actor, "s1", receipt.id, line.at)

    def search(self) -> None:
        """Search as an agent does, which is an event, and see that nothing is shown that should not be."""
        client = self.client()
        asked = ("staging database port", "deploy Tuesdays", "予算は", self.whole_query())
        query = self.rng.choice((*SAID["objects"], *asked))
        limit = self.rng.choice((1, 3, 10, 1_000))
        inline = reading.INLINE_EVENTS > 0
        found = client.search(query, limit)
        self.tell_of_waking(client.scope)
        results = [result.id for result in found.results]
        body = {"query": query, "results": results}
        self._tell("recalled", client, body, found.recall_id or "")
        if inline:  # A summary is told where nothing that is at hand answers.
            at_hand = {result.id for result in found.results if not result.sums}
            reads = (client.scope, "global")
            ends = [client.reader.watermark(number).offset for number in range(PARTITIONS)]
            assert at_hand <= self.model.world(*reads, ends=ends).visible(*reads)

    def tell_of_waking(self, scope: str) -> None:
        """Tell the model where a question has a project go on whose rows had left the views."""
        number = partition_of(scope, PARTITIONS)
        for slot in self.log.read(number, self.model.ends()[number], 1_000, types=("scope_changed",)):
            self.model.append(as_event(decode(slot.payload)))

    def forget(self) -> None:
        client = self.client()
        id = self.any_id(client.scope, strange=0.1)
        if id is not None:
            self._name(client, id, only=self.rng.random() < 0.3, type="forgotten")

    def restore(self) -> None:
        client = self.client()
        world = self.model.world(client.scope).scopes.get(client.scope)
        hidden = [capture["id"] for capture in world.captures if world.hidden(capture)] if world else []
        if hidden:
            self._name(client, self.rng.choice(hidden), only=False, type="restored")

    def erase(self) -> None:
        """Erase something for good, and see that it goes with what is one with it."""
        client = self.client()
        id = self.any_id(client.scope)
        if id is None or (client.scope, id) in self.model.erased() or not self._holds(client.scope, id):
            return
        only = self.rng.random() < 0.3
        made = plan(self.home, self.log, client.scope, [id], only=only)
        world = self.model.world(client.scope).scopes[client.scope]
        memory = world.memory_of(id)
        assert {item.id for item in made.items} >= ({id} if only or memory is None else set(ids_of(memory)))
        after = client.erase(made).after
        assert after.clean, [place for place in after.places if place.found or place.unreadable]
        self._tell("erased", client, {"ids": [item.id for item in made.items]})

    def embed(self) -> None:
        """Record a vector of a text that lives, waits, is dead or never came, or that it got none."""
        scope = self.rng.choice(SCOPES)
        for _ in range(self.rng.choice((1, 5, 20))):
            ref = self.any_id(scope, strange=0.05) or self.new_id()
            vector = self.rng.choice((*VECTORS, None))
            said = {"reason": "it was refused", "vector": None}
            if vector is not None:
                said = {"reason": None, "vector": pack(vector)}
            embedder, attempt = self.rng.choice((TINY, TINY, ELSEWHERE)), self.rng.randint(1, 3)
            body = ev.Embedded(attempt=attempt, dimensions=3, embedder=embedder, **said)
            event = ev.make_embedded(scope, ref, body, self.now)
            if self.rng.random() < 0.2:  # Another worker gives it an id of its own.
                event = msgspec.structs.replace(event, id=self.new_id())
            if not self.log.known(scope, [event.id]):
                self._say(event)

    def use(self) -> None:
        """Say that something was used, of this scope or of another."""
        self._say_of_some("used", lambda ids: ev.Used(ids=ids, recall=None))

    def withdraw(self) -> None:
        """Say that a source says some texts no longer, or again."""
        self._say_of_some("withdrawn", lambda ids: ev.Withdrawn(ids=ids, on=self.rng.random() < 0.6))

    def archive(self) -> None:
        """Say that some texts are archived, or are to come back."""
        on = self.rng.random() < 0.7
        self._say_of_some("archived", lambda ids: ev.Archived(ids=ids, on=on, reason=None))

    def _say_of_some(self, type: str, make: Callable[[tuple[str, ...]], Any]) -> None:
        """Say something of what there is, what is hidden, and what never was."""
        scope = self.rng.choice(SCOPES)
        self._say(self._raw_event(type, make(self._some_ids(scope)), scope, "operator"))

    def _some_ids(self, scope: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(id for _ in range(3) if (id := self.any_id(scope, strange=0.1))))

    def _say(self, *events: Event) -> None:
        """Append events to the log, and tell the model."""
        self.log.append(events)
        for event in events:
            self.model.append(as_event(event))

    def pin(self) -> None:
        """Pin or unpin what a client can see: one capture, or every capture that is the same memory."""
        self.project()
        client = self.client()
        world = self.model.world(client.scope).scopes.get(client.scope)
        memories = world.memories if world else []
        if not memories:
            return
        memory = self.rng.choice(memories)
        id, on = self.rng.choice(ids_of(memory)), self.rng.random() < 0.6
        named = list((client.pin(id) if on else client.unpin(id)).ids)
        assert named == [id] if on else sorted(named) == sorted(world.whole(memory))
        self._tell("pinned", client, {"ids": named, "on": on})

    def link(self) -> None:
        """Say that something holds, or was replaced by something else, or take that back; whoever says it."""
        scope = self.rng.choice(SCOPES)
        one, other = (self.any_id(scope, strange=0.1) for _ in range(2))
        relation = self.rng.choice(("holds", "replaced_by", "child"))
        if one is None or (relation != "holds" and other is None):
            return
        to = None if relation == "holds" else other
        body = ev.Linked(id=one, on=self.rng.random() < 0.7, relation=relation, slug=None, to=to)
        origin = "operator" if scope == "global" else self.rng.choice(("operator", "user", "agent"))
        self._say(self._raw_event("linked", body, scope, origin))

    def edit(self) -> None:
        """Give a page a place, a title or the text of another page, or nothing to what is no page."""
        scope = self.rng.choice(SCOPES)
        one, by = (self.any_page(scope) for _ in range(2))
        if one is None:
            return
        slug = self.rng.choice(builders.SLUGS)
        given = self.rng.choice(({"slug": slug}, {"title": "Title"}, {"by": by}, {"base": by}))
        body = msgspec.convert(dict.fromkeys(ev.Edited.__struct_fields__) | {"id": one} | given, ev.Edited)
        origin = "operator" if scope == "global" else self.rng.choice(("operator", "user", "agent"))
        self._say(self._raw_event("edited", body, scope, origin))

    def any_page(self, scope: str) -> str | None:
        """Return the id of a page of a scope, or of anything of it where it has none."""
        captured = self._captured(scope)
        ids = [event["id"] for event in captured if (event["body"] or {}).get("kind") == "page"]
        return self.rng.choice(ids) if ids else self.any_id(scope)

    def _captured(self, scope: str) -> list[dict[str, Any]]:
        said = self.model.partitions[partition_of(scope, PARTITIONS)]
        return [event for event in said if event["type"] == "captured" and event["scope"] == scope]

    def settle(self) -> None:
        """Settle a conflict between two things, whether there is one or not."""
        scope = self.rng.choice(SCOPES)
        one, other = (self.any_id(scope, strange=0.1) for _ in range(2))
        if one is None or other is None or one == other:
            return
        keep = self.rng.choice(((one,), (other,), (one, other), ()))
        body = ev.Settled(ids=(one, other), keep=keep, note=None)
        self._say(self._raw_event("settled", body, scope, "operator"))

    def change_scope(self) -> None:
        """Say that a project is finished or goes on, what it is called, or when somebody committed to it."""
        state = self.rng.choice(("finished", "active", "active", None))
        body = ev.ScopeChanged(git_at=self.rng.choice((None, self.now)), name="A project", state=state)
        self._say(self._raw_event("scope_changed", body, self.rng.choice(SCOPES[:-1]), "operator"))

    def decide(self) -> None:
        """Say what becomes of memories as they are, or as one was before, with its text or without."""
        scope = self.rng.choice(SCOPES[:-1])
        world = self.model.world(scope).scopes.get(scope)
        alike = [memory for memory in world.memories if world.living(memory)] if world else []
        facts = [memory for memory in alike if family_of(memory) == self.rng.choice(("fact", "journal"))]
        if world is None or len(facts) < 2:
            return
        seen = {world.name_of(it)["id"]: spoken(world.living(it))["seq"] for it in self.rng.sample(facts, 2)}
        inputs = tuple(ev.Input(id=id, seq=seq + (self.rng.random() < 0.1)) for id, seq in seen.items())
        ids = tuple(given.id for given in inputs)
        by, op = self.new_id(), self.rng.choice(("replace", "replace", "add"))
        operations = (ev.Operation(by=by, ids=ids, op=op),)
        if self.rng.random() < 0.4:
            op = self.rng.choice(("remove", "conflict", "outdate", "outdate"))
            operations = (ev.Operation(by=ids[0], ids=ids[1:], op=op),) if self.rng.random() < 0.8 else ()
        body = ev.Decided(attempt=1, inputs=inputs, operations=operations, reason=None, until=None)
        said = [self._raw_event("decided", body, scope, "tool")]
        if operations and operations[0].by == by and self.rng.random() < 0.8:
            kind = world.name_of(facts[0])["body"]["kind"]
            text = captured(self.rng.choice(list(self.texts)), kind=kind, tags=("consolidated",)).body
            said.append(self._raw_event("captured", text, scope, "user", by))
        for number, event in enumerate(said):
            refs = (*((said[0].id,) if number else ()), *ids)
            said[number] = msgspec.structs.replace(event, refs=refs)
        self._say(*said)

    def unfold(self) -> None:
        client = self.client()
        world = self.model.world(client.scope).scopes.get(client.scope)
        folded = [it for it in world.memories if len(it["members"]) > 1 or world.tied(it)] if world else []
        if not folded:
            return
        members = [member["id"] for member, _, _ in self.rng.choice(folded)["members"]]
        only = self.rng.random() < 0.5
        id = self.rng.choice(members)
        named = list(client.unfold(id, only=only).ids)
        assert named == ([id] if only else members)
        self._tell("unfolded", client, {"ids": named})

    def _name(self, client: Client, id: str, only: bool, type: str) -> None:
        """Forget or restore by a client, and see that it names what is the same memory."""
        reads = (client.scope, "global")
        scope = next((name for name in reads if self._holds(name, id)), None)
        if scope is None:
            with pytest.raises(NotFound):
                client.forget(id)
            return
        if scope == "global" and client.actor.origin != "operator":
            with pytest.raises(InvalidEvent):
                client.forget(id)
            return
        done = client.forget(id, only=only) if type == "forgotten" else client.restore(id)
        named = list(done.ids)
        world = self.model.world(scope).scopes[scope]
        memory = world.memory_of(id)
        page = world.pages.owner(id)
        versions = list(dict.fromkeys(step[0] for step in page["steps"])) if page is not None else []
        assert sorted(named) == sorted([id] if only or memory is None else versions or world.whole(memory))
        self._tell(type, client, {"ids": named}, scope=scope)

    def _tell(self, type: str, client: Client, body: Any, id: str = "", scope: str = "") -> None:
        """Tell the model of what a client appended last."""
        scope = scope or client.scope
        event = self.event(type, scope, id or self.last_id(scope), body, client.actor, client.session)
        self.model.append(event)

    def _holds(self, scope: str, id: str) -> bool:
        found = self.model.world(scope).scopes.get(scope)
        return found is not None and any(capture["id"] == id for capture in found.captures)

    def last_id(self, scope: str) -> str:
        """Return the id of the last event of a scope's partition, for verbs that do not say it."""
        number = partition_of(scope, PARTITIONS)
        (slot,) = self.log.read(number, self.log.ends()[number] - 1, 1)
        return str(msgspec.json.decode(slot.payload)["id"])

    def tombstone_on_what_may_come(self) -> None:
        """Forget or restore ids of which some are not there yet, as another producer may."""
        scope = self.rng.choice(SCOPES[:-1])
        natives = [f"n{self.rng.randrange(NATIVE_IDS)}" for _ in range(3)]
        ids = tuple(derived_id("captured", scope, "chat:1", native) for native in natives)
        type, of_type = self.rng.choice((("forgotten", ev.Forgotten), ("restored", ev.Restored)))
        self._say(self._raw_event(type, of_type(ids=ids, reason=None), scope, "user"))

    def _raw_event(self, type: str, body: Any, scope: str, origin: str, id: str | None = None) -> Event:
        actor = Actor(name="another", origin=origin)
        return Event(actor=actor, at=self.now, body=body, id=id or self.new_id(), refs=(), scope=scope,
                     sent=self.now, session=None, type=type, v=ev.version_of(type))  # fmt: skip

    def blank_event(self) -> None:
        """An erased event, of which only the header is left, as a copy of a log may hold."""
        scope = self.rng.choice(SCOPES[:-1])
        id = derived_id("captured", scope, "chat:1", f"n{self.rng.randrange(NATIVE_IDS)}")
        event = self._raw_event("captured", None, scope, "user", id)
        number = partition_of(scope, PARTITIONS)
        self.log.append_raw(number, [canonical(event)])
        self.model.append_raw(number, self.event("captured", scope, id, None, event.actor, None))

    def write_to_global_by_an_agent(self) -> None:
        """What another producer should not have let in is counted and has no effect."""
        body = captured("The staging database belongs to the agents").body
        event = self._raw_event("captured", body, "global", "agent")
        number = partition_of("global", PARTITIONS)
        self.log.append_raw(number, [canonical(event)])
        said = msgspec.to_builtins(body)
        self.model.append_raw(number, self.event("captured", "global", event.id, said, event.actor, None))

    def unreadable_bytes(self) -> None:
        number = self.rng.randrange(PARTITIONS)
        misplaced = self._raw_event("forgotten", ev.Forgotten(ids=(), reason=None), SCOPES[0], "user")
        payloads = [self.rng.choice(UNREADABLE)]
        if number != partition_of(SCOPES[0], PARTITIONS):
            payloads.append(canonical(misplaced))
        self.log.append_raw(number, payloads)
        for _ in payloads:
            self.model.append_raw(number, {"type": "unreadable"})

    def configure(self) -> None:
        """Change settings, now and then under a revision that is not above the current one."""
        rng = self.rng
        revision = self.revision + rng.choice((0, 1, 1, 1))
        settings = Settings(
            embedder=rng.choice((FLOOR, FLOOR, TINY, ELSEWHERE)), echo_window_s=rng.choice((1_800, 60)),
            fold_cosine_hundredths=rng.choice((85, 85, 85, -1)), at_lead_s=rng.choice((3_600, 0)),
            refolded=rng.randint(0, 3), **rng.choice(builders.LIVES),
        )  # fmt: skip
        place = self.log.log_id, PARTITIONS
        self.log.append([ev.make_configured(*place, settings, revision, self.now, self.new_id())])
        self.model.configure(settings, revision, self.now)
        self.revision = revision

    def tick(self) -> None:
        """Tick a partition or all, now and then far ahead of the clock, by an operator's word or without."""
        ahead = self.rng.choice((0, 0, HOUR, 500 * DAY))
        accepted = self.rng.random() < 0.3
        if accepted:
            self.now += ahead
            ahead = 0
        for number in self.rng.choice((range(PARTITIONS), [self.rng.randrange(PARTITIONS)])):
            tick = ev.make_tick(number, self.now + ahead, accepted)
            self.log.append([tick])
            self.model.tick(number, (self.now + ahead) // HOUR, accepted=accepted)

    def project(self) -> None:
        with Owner(self.home, self.log) as owner:
            owner.project()

    def restart(self) -> None:
        self.log.close()
        self.clients.clear()
        self.log = EmbeddedLog(self.home.log_path)

    def rebuild(self) -> None:
        self.project()
        rebuild_as_owner(self.home, self.log, lambda _: None)

    def lose_views(self) -> None:
        build = self.home.current()
        shards = sorted((build.path / "lance").glob("p*"))
        lost = [self.home.vault, self.home.path / "builds", build.state, self.home.as_of, *shards[:2]]
        shutil.rmtree(self.rng.choice(lost), ignore_errors=True)
        self.clients.clear()

    def meet(self) -> None:
        """Do what would append the types of events that the log lacks, so that every life meets them all."""
        for _ in range(100):
            if not (types := missing(events_of(self.log))):
                return
            self.capture()
            self.configure()  # Under settings by which nothing folds, nothing can be unfolded.
            self.forget()  # Nothing else may be hidden.
            for step in SAYING:
                step(self)
        raise AssertionError(f"No life of this home meets {', '.join(types)}.")

    def compare(self) -> None:
        """Bring the views up to date and hold everything that can be asked against the model."""
        self.project()
        assert self.model.ends() == self.log.ends()
        world = self.model.world()
        build = self.home.current()
        shards = [Shard(build.shard(number), number) for number in range(PARTITIONS)]
        tables = [tables_of(scope) for scope in world.scopes.values()]
        for name in tables_of(Scope("")):
            rows = [row for shard in shards for row in shard.rows(TABLES[name])]
            differs = tables_differ([row for each in tables for row in each[name]], rows)
            assert not differs, differs
        self.compare_searches(world, None)
        self.compare_vault(world, shards)
        self.compare_counts(world, shards)
        self.compare_opened(world)
        verdict = self.client().verify()
        assert verdict.ok, verdict.differences[:5]
        if self.moments:
            ends = self.rng.choice(self.moments)
            position = ",".join(f"{number}/{end}" for number, end in enumerate(ends))
            self.compare_searches(self.model.world(ends=ends), position)
        self.moments.append(self.log.ends())

    def compare_searches(self, world: World, as_of: str | None) -> None:
        """A search with all words finds what is visible in the scope and in `global`, and nothing else."""
        asked: dict[str, Any] = {"limit": 1_000, "quiet": True, "as_of": as_of}
        for scope in SCOPES:
            answer = self.client(scope).search(self.whole_query(), **asked)
            found, visible = [result.id for result in answer.results], world.visible(scope, "global")
            assert len(found) == len(set(found)) < 1_000
            # Turns that say the same take one place, with the count of the others.
            assert set(found) <= visible
            assert len(found) + sum(result.again for result in answer.results) == len(visible)
            assert answer.lag == 0
            origins = self.rng.sample(ORIGINS, 2)
            sessions = self.rng.sample([name for name in SESSIONS if name], 1)
            by: dict[str, Any] = {"origins": origins, "sessions": sessions}
            narrowed = self.client(scope).search(self.whole_query(), **by, **asked)
            expected = world.made_by(set(origins), set(sessions), scope, "global")
            assert {result.id for result in narrowed.results} <= expected
            assert sum(1 + result.again for result in narrowed.results) == len(expected)
            if as_of is None:
                latest = world.latest_at(scope, "global")
                assert answer.now == max(self.now - self.now % HOUR, latest)

    def compare_vault(self, world: World, shards: list[Shard]) -> None:
        """The pages hold what is visible, each memory and each entry once, and nothing else."""
        for name, scope in world.scopes.items():
            folder = self.home.scope_folder(name)
            memories = ids_in((folder / "memories").glob("*.md"), r"^`([0-9a-f-]{36})` by ")
            entries = ids_in((folder / "logs").glob("*.md"), r"^\*\*\d\d:\d\d .*?`([0-9a-f-]{36})`")
            assert sorted(memories) == sorted(row["id"] for row in scope.memory_rows() if not row["hidden"])
            assert sorted(entries) == sorted(scope.entries())
            used = {row.id: row.used for shard in shards for row in shard.rows(UseRow, name)}
            self.compare_index(folder / "MEMORY.md", scope, used)

    def compare_index(self, path: Path, scope: Scope, used: dict[str, int]) -> None:
        """`MEMORY.md` says goal and plan, then what is pinned, used, recalled, confirmed most, latest first.

        Last comes what models say, and below all of these what contradicts a text that is trusted more.
        """
        lines = path.read_text().splitlines() if path.exists() else []
        rows = [row for row in scope.memory_rows() if not scope.aging.is_away(row)]
        for title in ("Goal", "Plan"):
            said = [lines[place + 2] for place, line in enumerate(lines) if line == f"## {title}"]
            of_kind = [row for row in rows if row["kind"] == title.lower() and not row["replaced"]]
            assert list(map(without_link, said)) == [short(row) for row in of_kind if not row["hidden"]]
        facts = [row for row in rows if row["kind"] in ("fact", "insight") and row["valid_to"] is None]
        facts = [row for row in facts if not row["hidden"] and not row["into"]]
        leading = sorted(facts, key=lambda row: importance(row, used, scope.recalled), reverse=True)[:160]
        leading.sort(key=lambda row: row["contradicts"] is not None)
        listed = [without_link(line.removeprefix("- ")) for line in lines if line.startswith("- ")]
        assert listed == list(map(short, leading))

    def compare_counts(self, world: World, shards: list[Shard]) -> None:
        status = self.client().status()
        # A partition of which no view has a row says nothing yet of what it has counted.
        counters = [counted for shard, counted in zip(shards, world.counters, strict=True) if shard.exists()]
        for field in world.counters[0]:
            assert getattr(status, field) == sum(counted[field] for counted in counters), field
        assert status.dead_letters == sum(counted["dead_letters"] for counted in world.counters)
        assert status.lag == 0
        for name, scope in world.scopes.items():
            memories, turns = scope.memory_rows(), scope.turn_rows()
            if memories or turns:
                # What nobody has hidden and nobody sees, as a page's proposal alone, counts as nothing.
                count = status.scopes.get(name, ScopeCount(memories=0, turns=0, hidden=0))
                assert count.memories == sum(not row["hidden"] for row in memories)
                assert count.turns == sum(not row["hidden"] for row in turns)
                # A version of before and a proposal are hidden too, but nobody has hidden them.
                told = [row for row in (*memories, *turns) if row["hidden"]]
                told = [row for row in told if row["kind"] != "page" or row["id"] in scope.banned_ids]
                assert count.hidden == len(told)

    def compare_opened(self, world: World) -> None:
        """Any captured id opens the memory that it belongs to, and `why` names every event behind it."""
        for name, scope in world.scopes.items():
            client = self.client(name)
            for capture in self.rng.sample(scope.captures, min(2, len(scope.captures))):
                id = capture["id"]
                memory = scope.memory_of(id)
                if memory is not None and is_made(memory) and scope.made_of(memory) is None:
                    with pytest.raises(NotFound):
                        client.show(id)
                    continue
                gone = scope.aging.gone(id if memory is None else founder(memory))
                if gone and scope.is_banned(capture):  # What is purged and forgotten is told to nobody.
                    with pytest.raises(NotFound):
                        client.show(id)
                    continue
                opened = client.show(id)
                if gone:
                    assert opened.captured is not None and opened.captured.id == id  # The log keeps it.
                    continue
                behind = {event.event.id for event in client.why(id).events}
                if memory is None:
                    assert opened.turn is not None and opened.turn.id == id
                else:
                    assert opened.memory is not None and opened.memory.id == scope.name_of(memory)["id"]
                ids = [id] if memory is None else ids_of(memory)
                hiding = {event["id"] for event in scope.tombstones if set(ids) & set(event["body"]["ids"])}
                bodies = {event["id"]: event["body"] for event in scope.decisions}
                named = {by: {it["id"] for it in its["inputs"]} for by, its in bodies.items()}
                decided = {by for by, its in named.items() if its & set(ids) and not bodies[by]["reason"]}
                assert behind == set(ids) | hiding | decided


STEPS: dict[Callable[[Life], None], float] = {
    Life.capture: 40, Life.capture_of_a_source: 14, Life.search: 14, Life.forget: 8,
    Life.restore: 5, Life.unfold: 2, Life.pin: 2, Life.withdraw: 2, Life.archive: 2, Life.change_scope: 1,
    Life.decide: 3, Life.embed: 8, Life.use: 2, Life.erase: 0.5, Life.tombstone_on_what_may_come: 3,
    Life.blank_event: 1, Life.write_to_global_by_an_agent: 0.5, Life.unreadable_bytes: 0.7,
    Life.configure: 1.5, Life.tick: 1, Life.project: 2, Life.restart: 1, Life.rebuild: 0.5,
    Life.lose_views: 1,
}  # fmt: skip
"""What may happen, and how often."""
SAYING = (
    Life.search, Life.use, Life.restore, Life.erase, Life.unfold, Life.pin, Life.link, Life.edit, Life.settle,
    Life.withdraw, Life.archive, Life.change_scope, Life.decide, Life.tick, Life.embed,
)  # fmt: skip


def tables_of(scope: Scope) -> dict[str, list[dict[str, Any]]]:
    """Return the rows that the model says of a scope, by table."""
    return {"memories": scope.memory_rows(), "turns": scope.turn_rows(), "tombstones": scope.tombstone_rows(),
            "vectors": scope.vector_rows(), "archive": scope.aging.archive_rows()}  # fmt: skip


def tables_differ(rows: Iterable[dict[str, Any]], real: Iterable[Any]) -> str:
    """Return how the first row of the model that differs from the real one does, or nothing."""
    made = [listed(msgspec.to_builtins(row)) for row in real]
    expected = {row["key"]: row for row in rows}
    # The model does not follow a memory's status; `test_standing` holds it.
    found = {row["key"]: {field: row[field] for field in row if field != "status"} for row in made}
    for key in sorted(expected.keys() | found.keys()):
        if expected.get(key) != found.get(key):
            one, other = expected.get(key) or {}, found.get(key) or {}
            fields = sorted(it for it in one.keys() | other.keys() if one.get(it) != other.get(it))
            said = "".join(f"\n  {f}: model {one.get(f)!r}, views {other.get(f)!r}" for f in fields)
            return f"{key} differs in{said}"
    return ""


def short(row: dict[str, Any]) -> str:
    """Return a memory as `MEMORY.md` shows it; what escapes a text has tests of its own."""
    times = "once" if row["confirmations"] == 1 else f"{row['confirmations']} times"
    confirmed = f" (confirmed {times}, last {format_day(row['last_at'])})" if row["confirmations"] else ""
    said_by = row["origin"] if row["origin"] in ("web", "model") else f"{row['origin']} {row['actor']}"
    notes = [said_by] * (row["origin"] not in PEOPLE) + ["pinned"] * row["pinned"]
    if row["valid_to"] is not None:
        notes.append(f"replaced on {format_day(row['valid_to'])} by {row['replaced_by']}")
    elif row["replaces"]:
        before = f"; before: {one_line(row['before'], 80)}" if row["before"] else ""
        notes.append(f"since {format_day(row['valid_from'])}{before}")
    notes += [f"in part replaced by {row['outdated_by']}"] * bool(row["outdated_by"])
    notes += [f"contradicts {row['contradicts']}, which is trusted more"] * bool(row["contradicts"])
    notes += ["consolidated"] * bool(row["made_of"])
    return escape(one_line(row["text"], 400)) + confirmed + "".join(f" ({escape(note)})" for note in notes)


def without_link(line: str) -> str:
    """Return a line of `MEMORY.md` without the link to its memory."""
    return re.sub(r" \[[0-9a-f-]{13}\]\(memories/\d{3}\.md#\^[0-9a-f-]{36}\)$", "", line)


def importance(row: dict[str, Any], used: dict[str, int], recalled: dict[str, int]) -> tuple[int, ...]:
    """Return what orders `MEMORY.md`: who says it, pinned, uses, recalls in binary digits, texts, time."""
    uses = sum(used.get(id, 0) for id in row["ids"])
    digits = max(recalled.get(id, 0).bit_length() for id in row["ids"])
    first = row["members"][0]["offset"]
    return row["origin"] != "model", row["pinned"], uses, digits, len(row["members"]), row["at"], first


def listed(value: Any) -> Any:
    """Return a value with lists for tuples, as the model has them."""
    if isinstance(value, dict):
        return {key: listed(inner) for key, inner in value.items()}
    return [listed(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def ids_in(pages: Iterable[Path], pattern: str) -> list[str]:
    """Return the ids that stand on pages where a pattern says that they should."""
    return [id for page in pages for id in re.findall(pattern, page.read_text(), re.MULTILINE)]


def live(path: Path, patch: pytest.MonkeyPatch, steps: int, every: int, seed: int = 4) -> Life:
    """Let a home live for so many steps, comparing it with its model all the time."""
    seed = int(os.environ.get("MEMTAPE_SEED") or seed)
    print(f"\nMEMTAPE_SEED={seed}")
    assert partition_of(SCOPES[1], PARTITIONS) == partition_of(SCOPES[2], PARTITIONS)
    life = Life(path, seed, patch)
    try:
        for number in range(1, steps + 1):
            life.step()
            if number == steps:
                life.meet()
            if number % every == 0 or number == steps:
                life.compare()
        assert missing(events_of(life.log)) == []
    except BaseException:
        print(f"It went wrong in step {len(life.done)}, {life.done[-1]}. The last events of each partition:")
        for number in dict.fromkeys(partition_of(scope, PARTITIONS) for scope in SCOPES):
            print(f"partition {number}", *list(describe(life.model.partitions[number]))[-8:], sep="\n")
        raise
    finally:
        life.log.close()
    return life


def told(slots: Iterable[Slot], partitions: int) -> Model:
    """Return a model that was told what stands in slots, for histories that no client made."""
    model = Model(partitions, Settings(), 0)
    model.partitions = [[] for _ in range(partitions)]
    for slot in slots:
        model.append_raw(slot.partition, as_told(slot, partitions))
    return model


def as_told(slot: Slot, partitions: int) -> dict[str, Any]:
    """Return what a slot says, unreadable where it stands in another partition than it should."""
    try:
        event = decode(slot.payload)
    except InvalidEvent:
        return {"type": "unreadable"}
    match event.body:
        case ev.Configured() as body:
            of = {"type": event.type, "sent": event.sent}
            return of | {"settings": body.settings, "revision": body.revision}
        case ev.Ticked() as body if body.partition == slot.partition:
            return {"type": event.type, "hour": body.hour, "accepted": body.accepted}
    if event.scope is None or partition_of(event.scope, partitions) != slot.partition:
        return {"type": "unreadable"}
    return as_event(event)


def as_event(event: Event) -> dict[str, Any]:
    """Return an event as the model knows it."""
    said = dict(listed(msgspec.to_builtins(event)))
    return said | {"actor": event.actor.name, "origin": event.actor.origin}


def rows_differ(model: Model, partitions: Iterable[Partition]) -> str:
    """Return how the rows that the state holds differ from those of the model, or nothing."""
    world = model.world()
    for partition in partitions:
        met = msgspec.to_builtins(partition.counters)
        counted = {field: met[field] for field in world.counters[partition.number]}
        if counted != world.counters[partition.number]:
            return f"counters: model {world.counters[partition.number]}, state {counted}"
        for scope in partition.scopes.values():
            twin = world.scopes[scope.name]
            changes = all_changes(scope)
            for name, rows in tables_of(twin).items():
                if differs := tables_differ(rows, (row_of(scope, it) for it in changes if it.table == name)):
                    return differs
            if differs := aging_differs(scope, twin, changes):
                return differs
    return ""


def aging_differs(scope: Any, twin: Scope, changes: list[Change]) -> str:
    """Return how the summaries of a scope, or how it stands, differ from those of the model, or nothing."""
    rows = [row_of(scope, change) for change in changes if change.table == "summaries"]
    if len({row.id for row in rows}) < len(rows):
        return f"{scope.name} has a summary twice"
    if differs := tables_differ(twin.aging.summary_rows(), rows):
        return differs
    mark, expected = msgspec.structs.asdict(scope.lifecycle.mark()), twin.aging.mark()
    return "" if mark == expected else f"{scope.name}: model {expected}, state {mark}"


def agree(history: list[Slot], partitions: int) -> None:
    """See that the state of a history is what the model says."""
    differs = rows_differ(told(history, partitions), replay(history).partitions.values())
    assert not differs, differs


@given(histories())
def test_any_small_world_is_what_the_model_says(events: list[Event]) -> None:
    agree(slots([configured(), *events]), 1)


@given(histories())
def test_passes_that_have_room_for_few_move_what_the_model_says(events: list[Event]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lifecycle, "MOST_A_PASS", 4)
        patch.setattr(model_aging, "MOST_MOVED", 4)
        agree(slots([configured(), *events]), 1)


def test_the_golden_log_means_what_the_model_says() -> None:
    """So that what is pinned for ever is not only what the code said on the day, but what the rules say."""
    history = golden_slots()
    agree(history, history[-1].partition + 1)


def test_a_life_of_a_home_is_what_the_model_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    live(tmp_path / "home", monkeypatch, steps=60, every=30)


@pytest.mark.slow
@pytest.mark.soak(short="test_a_life_of_a_home_is_what_the_model_says")
def test_a_long_life_of_a_home_is_what_the_model_says(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    life = live(home, monkeypatch, steps=900, every=225, seed=random.randrange(10**6))
    assert set(life.done) == {step.__name__ for step in STEPS}
