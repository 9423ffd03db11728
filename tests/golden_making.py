"""How the golden logs were made: `log-v1` here, `log-v2` in `golden_every_type.py`. Nothing of it runs in a test."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import msgspec
import orjson

from memtape.schemas.codec import canonical
from memtape.schemas.events import (
    EVENT_TYPES,
    Actor,
    Captured,
    Event,
    Forgotten,
    Mark,
    Media,
    Part,
    Recalled,
    Restored,
    Traced,
    make_configured,
    make_tick,
)
from memtape.schemas.ids import derived_id
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.state.views.filters import NO_FILTERS

T = 1_790_000_000_000_000  # 2026-09-21, in microseconds.
PARTITIONS = 4
SCOPES = (
    "project:atlas-7f3a",
    "project:memtape",
    "project:0.a_b-c",
    "project:" + "z" * 80,
    "project:lighthouse",
    "global",
)
SEED = 7

TEXTS = """
The staging database listens on port 5433.
the staging db listens on port 5433
The staging database listens on port 5434.
The staging database never listens on port 5433.
  The  staging   database listens on port 5433.
Our repo uses tabs
our repository uses tabs
Our repo does not use tabs
We deploy on Tuesdays.
We deploy on Thursdays.
Anna works at Google.
Anna works at Microsoft.
Run `git add .` before the commit.
Run `git add` before the commit.
The user prefers short answers!
user prefers short answers
Die Größe der Datenbank ist 40 GB.
Die Größe der Datenbank ist 80 GB.
DIE GRÖSSE DER DATENBANK IST 40 GB.
Le café est fermé le lundi.
Le cafe\u0301 est fermé le lundi.
La réunion n'est pas lundi.
El niño prefiere el té.
Ο πελάτης θέλει ΟΔΟΣ και οδός.
Клиент просит отчёт каждую пятницу.
Клиент не просит отчёт каждую пятницу.
İstanbul'da ılık bir gün
東京の予算は三百万円です。
東京の予算は四百万円です。
服务器在北京。
服务器不在北京。
Ｐｏｒｔ　８０８１ ｉｓ ｏｐｅｎ
서버는 서울에 있습니다
المستخدم يفضل الإجابات القصيرة
המשתמש מעדיף תשובות קצרות
डेटाबेस हर रात सहेजा जाता है।
ฐานข้อมูลสำรองทุกคืน
Cơ sở dữ liệu được sao lưu mỗi đêm.
👩\u200d🚀 launches at 09:00 🚀
tab\tand quote "q" and \\ and line sep \u2028 and del \x7f
The file is ../etc/passwd and the link [x](javascript:alert(1)) <b>bold</b>
# Not a heading
1. Not a list
!!!
the
""".strip("\n").split("\n")


class Maker:
    """Puts events in their partitions, each with the hour's tick before it, as the embedded log does."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.payloads: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
        self.rng = random.Random(SEED)
        self.now = T
        self.count = 0
        self.ticked: dict[tuple[int, int], None] = {}
        self.log_id = self.id("log")

    def id(self, name: object) -> str:
        return derived_id("golden", None, self.name, str(name))

    def event(self, type: str, scope: str, body: Any, **fields: Any) -> Event:
        self.count += 1
        origin = fields.pop("origin", "operator" if scope == "global" else "user")
        said = {
            "id": self.id(self.count),
            "at": self.now,
            "sent": self.now,
            "session": None,
            "refs": (),
            "v": EVENT_TYPES[type].version,
        }
        actor = Actor(name=fields.pop("actor", "Ada"), origin=origin)
        return Event(**{**said, "actor": actor, "body": body, "scope": scope, "type": type, **fields})

    def captured(self, scope: str, text: str, kind: str = "fact", **fields: Any) -> Event:
        body: dict[str, Any] = dict.fromkeys(("branch", "importance_given", "part", "path", "source"))
        body |= {"kind": kind, "media": (), "tags": (), "text": text}
        body |= {key: fields.pop(key) for key in list(fields) if key in body}
        return self.event("captured", scope, Captured(**body), **fields)

    def recalled(
        self, scope: str, results: Iterable[str], session: str | None, trace: tuple[Traced, ...] = (), **fields: Any
    ) -> Event:
        body = Recalled(
            after=0,
            filters=msgspec.structs.replace(NO_FILTERS, kinds=("fact",), since=T - DAY_US, tags=("infra",)),
            lanes=("sparse",),
            limit=10,
            now=self.now,
            passes=max((taken.look for taken in trace), default=1),
            query="what do we know?",
            quotas={},
            results=tuple(results),
            revision=0,
            trace=trace,
            watermark=(Mark(offset=3, partition=0),),
        )
        return self.event("recalled", scope, body, session=session, **fields)

    def say(self, event: Event, payload: bytes | None = None, *, ticked: bool = True) -> str:
        """Put an event on the log and return its id; without its tick, as another producer might leave it out."""
        assert event.scope is not None
        number, hour = partition_of(event.scope, PARTITIONS), event.sent // HOUR_US
        if ticked and (number, hour) not in self.ticked:
            self.ticked[number, hour] = None
            self.raw(number, canonical(make_tick(number, event.sent)))
        self.raw(number, canonical(event) if payload is None else payload)
        return event.id

    def raw(self, number: int, payload: bytes) -> None:
        assert b"\n" not in payload
        self.payloads[number].append(payload)

    def configure(self, revision: int, **settings: Any) -> None:
        event = make_configured(
            self.log_id, PARTITIONS, Settings(**settings), revision, self.now, self.id(f"configured {self.count}")
        )
        self.count += 1
        for number in range(PARTITIONS):
            self.raw(number, canonical(event))

    def tick(self, number: int, time: int, accepted: bool = False) -> None:
        self.raw(number, canonical(make_tick(number, time, accepted)))


def make_v1() -> list[list[bytes]]:
    """Return the payloads of the golden log of version 1, by partition."""
    maker = Maker("log-v1")
    maker.configure(0)
    atlas = SCOPES[0]
    for text in TEXTS:
        maker.now += 20_000_000
        maker.say(maker.captured(atlas, text))
    _cases(maker)
    _dead_letters(maker)
    _crowd(maker, 150)
    return maker.payloads


def _cases(m: Maker) -> None:
    """What each rule has to say, once."""
    atlas, other = SCOPES[0], SCOPES[1]
    # Repetitions, echoes by every origin and in every distance, canonical texts by trust and by time.
    first = m.say(m.captured(other, "The proxy asks port 8080.", origin="agent", session="s1"))
    m.say(m.captured(other, "the proxy asks port 8080", origin="user", tags=("infra", "größe"), importance_given=80))
    m.say(m.recalled(other, [first, m.id("nobody")], "s1", origin="agent"))
    for minutes, origin, session in (
        (5, "agent", "s1"), (6, "tool", "s1"), (7, "model", "s1"), (8, "user", "s1"), (9, "agent", "s2"),
        (10, "web", "s1"), (45, "agent", "s1"),
    ):  # fmt: skip
        m.now = T + 20 * 60_000_000 + minutes * 60_000_000
        m.say(m.captured(other, "The proxy asks port 8080", origin=origin, session=session, actor="claude"))
    m.say(m.captured(other, "The proxy asks port 8081.", origin="operator", source="chat:1", branch="fix/port"))
    # Goals and plans take over, one of them comes back, one is forgotten.
    for text in ("Ship it.", "Polish it.", "ship it.", "Rest."):
        m.now += 60_000_000
        last = m.say(m.captured(other, text, "goal"))
        m.say(m.captured(other, f"First: {text}", "plan", path="docs/plan.md"))
    m.say(m.event("forgotten", other, Forgotten(ids=(last,), reason="Nobody rests.")))
    # Session memory, documents in parts, media, the far past, the future that is clamped.
    media = (Media(caption="A whiteboard with three boxes", kind="image", uri="https://example.org/board.png"),
             Media(caption=None, kind="file", uri=None))  # fmt: skip
    m.say(m.captured(other, "", "turn", media=media, session="s1"))
    m.say(m.captured(other, "Long ago.", "turn", at=-62_135_596_800_000_000, session="s 2 [x]"))
    m.say(m.captured(other, "In the summer of 1969.", "journal", at=-15_000_000_000_000))
    for index in range(3):
        part = Part(count=3, index=index)
        m.say(m.captured(other, f"## Part {index}\n\n- a list\n" * 5, "document", part=part, path="docs/Runbook.md"))
    m.say(m.captured(other, "How we write pages.", "page", tags=("style",)))
    m.say(m.captured(other, "Long text. " * 400, "insight", origin="model"))
    ahead = m.now + 5 * HOUR_US
    m.say(m.captured(other, "Sent by a clock that is ahead.", sent=ahead, at=ahead))
    # Tombstones: before their captures, on members, on echoes, on turns, twice, ended and ended in vain.
    late, turn = m.id("late"), m.id("late turn")
    m.say(m.event("forgotten", atlas, Forgotten(ids=(late, turn), reason=None)))
    m.say(m.captured(atlas, "Nobody may know that Anna leaves.", id=late))
    m.say(m.captured(atlas, "Anna leaves, she says.", "turn", id=turn))
    again = m.say(m.captured(atlas, "nobody may know that Anna leaves", "journal"))
    m.say(m.event("restored", atlas, Restored(ids=(late,), reason="She told us herself.")))
    m.say(m.event("forgotten", atlas, Forgotten(ids=(again, again), reason=None)))
    m.say(m.event("forgotten", atlas, Forgotten(ids=(late,), reason=None)))
    m.say(m.event("forgotten", atlas, Forgotten(ids=(), reason=None)))
    m.say(m.event("restored", atlas, Restored(ids=(m.id("nobody"), turn), reason=None)))
    # Duplicates: to the byte, with another `sent`, and divergent ones that change nothing.
    event = m.captured(atlas, "The cache is Redis.", origin="agent", session="s1")
    for again_said in (event, event, msgspec.structs.replace(event, sent=event.sent + 1),
                       msgspec.structs.replace(event, session="s2")):  # fmt: skip
        m.say(again_said)
    m.say(m.captured(atlas, "The cache is Memcached.", id=event.id))
    m.say(m.event("forgotten", atlas, Forgotten(ids=(event.id,), reason=None), id=event.id))
    # Blank events: erased before they were read, an id that comes again, and an erased tombstone.
    blank = m.event("captured", atlas, None, session="s1")
    m.say(blank)
    m.say(m.captured(atlas, "This id was erased.", id=blank.id))
    m.say(m.event("forgotten", atlas, None))
    m.say(m.event("recalled", atlas, None, session="s1"))
    m.say(m.event("captured", SCOPES[3], None))
    # What another producer wrote, with its own order, spaces and escapes.
    event = m.captured(atlas, "Grüße aus Köln", "turn")
    fields = msgspec.to_builtins(event)
    m.say(event, msgspec.json.format(orjson.dumps(dict(reversed(fields.items()))), indent=0).replace(b": ", b" : ")
          .replace("ü".encode(), b"\\u00fc"))  # fmt: skip
    # `global` belongs to operators, but anyone may recall from it.
    m.say(m.captured("global", "Everybody writes British English."))
    m.say(m.captured("global", "Everybody obeys the agents.", origin="agent"))
    m.say(m.event("forgotten", "global", Forgotten(ids=(m.id(1),), reason=None), origin="user"))
    m.say(m.recalled("global", [], "s1", origin="agent"))
    # The clock: far ticks are ignored until an operator says yes; ticks come twice, late and misplaced.
    lonely = SCOPES[4]
    for time, accepted in ((m.now, False), (m.now + 500 * DAY_US, False), (m.now + 500 * DAY_US, True)):
        m.tick(1, time, accepted)
        m.say(m.captured(lonely, "The lamp turns once a minute.", at=time + HOUR_US, sent=time + HOUR_US))
        m.say(m.captured(lonely, "The lamp turns twice a minute.", at=time + 3 * HOUR_US, sent=time + 3 * HOUR_US),
              ticked=False)  # fmt: skip
    m.tick(2, m.now)
    m.tick(2, m.now - DAY_US)
    # Settings: a new revision, the same again, an older one, folding off and on.
    m.configure(1, revision_cosine_hundredths=50, echo_window_s=600, at_lead_s=0, memory_page_lines=60)
    m.configure(1, revision_cosine_hundredths=99)
    m.configure(0)
    m.say(m.captured(atlas, "The gateway uses port 9000.", at=m.now + 60_000_000))
    m.configure(3, fold_cosine_hundredths=-1)
    m.say(m.captured(atlas, "The gateway uses port 9000."))
    m.say(m.captured(atlas, "The gateway uses port 9001."))
    m.configure(4)
    m.say(m.captured(atlas, "the gateway uses port 9000"))


def _dead_letters(m: Maker) -> None:
    """What no reader of version 1 can read, each on one line of text."""
    good = canonical(m.captured(SCOPES[0], "A good text."))
    fields = orjson.loads(good)
    body = fields["body"]
    for number, wrong in enumerate(
        (
            b'{"half an event',
            b"",
            b"null",
            b"[1, 2]",
            b'"a text"',
            b"not JSON at all, \xf0\x9f\x98\x80",
            good[:-1],
            good + good,
            good.replace(b"A good text.", b"NUL \\u0000 inside"),
            good.replace(b"A good text.", b"a lone surrogate \\ud800"),
            canonical({**fields, "more": 1}),
            canonical({key: value for key, value in fields.items() if key != "refs"}),
            canonical({**fields, "type": "rumoured"}),
            canonical({**fields, "type": ["captured"]}),
            canonical({**fields, "v": 1_000}),
            canonical({**fields, "v": 0}),
            canonical({**fields, "v": True}),
            canonical({**fields, "id": fields["id"].upper()}),
            canonical({**fields, "scope": "project:../../etc"}),
            canonical({**fields, "scope": None}),
            canonical({**fields, "at": fields["sent"] + 301_000_000}),
            canonical({**fields, "at": 1.5}),
            canonical({**fields, "actor": {"name": "Ada", "origin": "god"}}),
            canonical({**fields, "body": {**body, "kind": "rumour"}}),
            canonical({**fields, "body": {**body, "text": " \t "}}),
            canonical({**fields, "body": {**body, "importance_given": 101}}),
            canonical({**fields, "body": {**body, "part": {"count": 1, "index": 1}}}),
            good.replace(b'"importance_given":null', b'"importance_given":1e999'),
            canonical({**fields, "scope": SCOPES[1]}),
            canonical(make_tick(3, m.now)),
        )
    ):
        m.raw(2 if number >= 28 else number % PARTITIONS, wrong)
        if number % 5 == 0:
            m.say(m.captured(SCOPES[number % len(SCOPES)], f"After the dead letter number {number}."))


def _crowd(m: Maker, count: int) -> None:
    """A crowd of scopes in which things collide, as in a long life."""
    ids: dict[str, list[str]] = {scope: [] for scope in SCOPES}
    kinds = ("fact", "fact", "insight", "journal", "goal", "plan", "turn", "turn", "document", "page")
    for _ in range(count):
        m.now += m.rng.choice((1, 30_000_000, 600_000_000, HOUR_US))
        scope = m.rng.choice(SCOPES)
        origin = "operator" if scope == "global" else m.rng.choice(("user", "agent", "tool", "model", "web"))
        session = m.rng.choice((None, "s1", "s2"))
        what = m.rng.random()
        some = m.rng.sample(ids[scope], min(2, len(ids[scope])))
        if what < 0.75:
            text = m.rng.choice(TEXTS[:36])
            at = m.now - m.rng.choice((0, 0, 5, DAY_US, 40 * DAY_US))
            kind = m.rng.choice(kinds)
            ids[scope].append(m.say(m.captured(scope, text, kind, origin=origin, session=session, at=at)))
        elif what < 0.85:
            m.say(m.recalled(scope, some, session, origin=origin))
        else:
            form = m.rng.choice((("forgotten", Forgotten), ("restored", Restored)))
            m.say(m.event(form[0], scope, form[1](ids=tuple(some), reason=None), origin=origin))
