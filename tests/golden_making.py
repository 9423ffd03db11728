"""How the golden log is made: `make_log` says what every rule and every type of event has to say. No test runs it."""

from __future__ import annotations

from typing import Any

import msgspec
import orjson
from golden_every_type import (
    AGAIN,
    EAST,
    FACT,
    NEAR_EAST,
    NORTH,
    ONE,
    OTHER,
    OTHERWISE,
    WEST,
    body_of,
    erase,
    say_ages,
    say_decisions,
    say_erasures,
    say_opposed,
    say_pins,
    say_switches,
    say_uses,
    say_values,
    say_vectors,
    say_withdrawals,
    told,
    unfold,
    vector,
)
from golden_maker import PARTITIONS, SCOPES, TEXTS, Maker, T
from golden_pages import say_pages, say_talk

from memtape.schemas.codec import canonical
from memtape.schemas.embedding import FLOOR
from memtape.schemas.events import EVENT_TYPES, Forgotten, Media, Part, Restored, make_embedded, make_tick
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US, HOUR_US

CROWD = 60
"""So many events meet by chance."""


def make_log() -> list[list[bytes]]:
    """Return the payloads of the golden log, by partition."""
    m = Maker()
    m.configure()
    for text in TEXTS:
        m.now += 20_000_000
        m.say(m.captured(SCOPES[0], text))
    for say in (
        _echoes, _kinds, _tombstones, _odd_events, _settings, say_uses, say_vectors, say_switches, say_erasures,
        say_pins, say_withdrawals, say_decisions, say_values, say_opposed, say_pages, say_talk, _blank,
        _dead_letters, _crowd, _far_ticks, say_ages,
    ):  # fmt: skip
        say(m)
    return m.payloads


def _echoes(m: Maker) -> None:
    """Repetitions, echoes by every origin and in every distance, canonical texts by trust and by time."""
    other = SCOPES[1]
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


def _kinds(m: Maker) -> None:
    """Goals and plans that take over, come back and are forgotten; session memory, documents in parts, media, times."""
    other = SCOPES[1]
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


def _tombstones(m: Maker) -> None:
    """Tombstones before their captures, on members, on echoes, on turns, twice, ended and ended in vain."""
    atlas = SCOPES[0]
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


def _odd_events(m: Maker) -> None:
    """Duplicates, blank events, bytes of another producer, and what stands in `global`."""
    atlas = SCOPES[0]
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


def _settings(m: Maker) -> None:
    """A new revision, the same again, an older one, folding off and on."""
    atlas = SCOPES[0]
    m.configure(echo_window_s=600, at_lead_s=0, memory_page_lines=60)
    m.configure_at(m.revision, echo_window_s=99)
    m.configure_at(0)
    m.say(m.captured(atlas, "The gateway uses port 9000.", at=m.now + 60_000_000))
    m.configure(fold_cosine_hundredths=-1)
    m.say(m.captured(atlas, "The gateway uses port 9000."))
    m.say(m.captured(atlas, "The gateway uses port 9001."))
    m.configure()
    m.say(m.captured(atlas, "the gateway uses port 9000"))


def _far_ticks(m: Maker) -> None:
    """Ticks far ahead, which are ignored until an operator says yes; ticks come twice, late and misplaced."""
    lonely = SCOPES[4]
    for time, accepted in ((m.now, False), (m.now + 500 * DAY_US, False), (m.now + 500 * DAY_US, True)):
        m.tick(1, time, accepted)
        m.say(m.captured(lonely, "The lamp turns once a minute.", at=time + HOUR_US, sent=time + HOUR_US))
        m.say(m.captured(lonely, "The lamp turns twice a minute.", at=time + 3 * HOUR_US, sent=time + 3 * HOUR_US),
              ticked=False)  # fmt: skip
    m.tick(2, m.now)
    m.tick(2, m.now - DAY_US)
    accepted = make_tick(partition_of(SCOPES[0], PARTITIONS), m.now + 500 * DAY_US, accepted=True)
    m.raw(partition_of(SCOPES[0], PARTITIONS), canonical(accepted))


def _dead_letters(m: Maker) -> None:
    """What no reader can read, each on one line of text."""
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


def _blank(m: Maker) -> None:
    """Of every type that may be blank one of which only the header is left, and an id that comes again after that."""
    scope = SCOPES[3]
    said = m.say(m.captured(scope, "The pump is red."))
    for type, known in EVENT_TYPES.items():
        if known.can_be_blank and type != "embedded":
            m.say(m.event(type, scope, None, session="s1"))
    gone = make_embedded(scope, said, body_of(EAST), m.now)
    m.say(msgspec.structs.replace(gone, body=None))
    m.say(gone)


def _crowd(m: Maker) -> None:
    """A crowd of scopes in which every type of event meets what lives, waits and is dead."""
    ids: dict[str, list[str]] = {scope: [] for scope in SCOPES}
    kinds = ("fact", "fact", "fact", "insight", "journal", "goal", "plan", "turn", "turn", "document", "page")
    texts = (*TEXTS[:20], FACT, AGAIN, OTHERWISE, "Note that the build takes five minutes")
    for number in range(CROWD):
        m.now += m.rng.choice((1, 30_000_000, 600_000_000, HOUR_US))
        scope = m.rng.choice(SCOPES)
        common: dict[str, Any] = {"origin": m.rng.choice(("user", "agent", "tool", "model", "web"))}
        if scope == "global":
            common = {"origin": m.rng.choice(("operator", "operator", "agent"))}
        common["session"] = m.rng.choice((None, "s1", "s2"))
        some = m.rng.sample(ids[scope], min(2, len(ids[scope])))
        match m.rng.choice(("captured",) * 8 + ("embedded",) * 8 + ("recalled", "used", "named", "rare")):
            case "captured":
                at = m.now - m.rng.choice((0, 0, 5, DAY_US, 40 * DAY_US))
                said = m.captured(scope, m.rng.choice(texts), m.rng.choice(kinds), at=at, **common)
                ids[scope].append(m.say(said))
            case "embedded":
                for id in some:
                    values = m.rng.choice((EAST, NEAR_EAST, NORTH, WEST, None))
                    vector(m, id, values, m.rng.choice((ONE, ONE, OTHER)), scope, m.rng.randint(1, 3))
            case "recalled":
                ids[scope].append(m.say(m.recalled(scope, some, common["session"], origin=common["origin"])))
            case "used":
                told(m, some, m.rng.choice((None, *ids[scope][-1:])), scope, **common)
            case "named":
                type, body = m.rng.choice((("forgotten", Forgotten), ("restored", Restored)))
                m.say(m.event(type, scope, body(ids=tuple(some), reason=None), **common))
            case _ if number % 3 == 0:
                m.configure(embedder=m.rng.choice((ONE, ONE, OTHER, FLOOR)))
            case _ if number % 3 == 1:
                unfold(m, some, scope)
            case _:
                erase(m, some[:1], scope, **common)
