"""What makes a golden log event by event, as the embedded log would have it. No test runs it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import msgspec

from memtape.schemas.codec import canonical
from memtape.schemas.events import (
    Actor,
    Captured,
    Event,
    Mark,
    Recalled,
    Traced,
    make_configured,
    make_tick,
)
from memtape.schemas.ids import derived_id
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.schemas.upcasts import version_of
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

    def __init__(self) -> None:
        self.payloads: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
        self.rng = random.Random(SEED)
        self.now = T
        self.count = 0
        self.revision = -1
        self.ticked: dict[tuple[int, int], None] = {}
        self.log_id = self.id("log")

    def id(self, name: object) -> str:
        return derived_id("golden", None, "log", str(name))

    def event(self, type: str, scope: str, body: Any, **fields: Any) -> Event:
        self.count += 1
        origin = fields.pop("origin", "operator" if scope == "global" else "user")
        said = {
            "id": self.id(self.count),
            "at": self.now,
            "sent": self.now,
            "session": None,
            "refs": (),
            "v": version_of(type),
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

    def configure(self, **settings: Any) -> None:
        """Give the log settings at the next revision."""
        self.revision += 1
        self.configure_at(self.revision, **settings)

    def configure_at(self, revision: int, **settings: Any) -> None:
        event = make_configured(
            self.log_id, PARTITIONS, Settings(**settings), revision, self.now, self.id(f"configured {self.count}")
        )
        self.count += 1
        for number in range(PARTITIONS):
            self.raw(number, canonical(event))

    def tick(self, number: int, time: int, accepted: bool = False) -> None:
        self.raw(number, canonical(make_tick(number, time, accepted)))
