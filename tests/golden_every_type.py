"""What the golden log says of memories, by every type of event that speaks of them. No test runs it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from builders import pack
from golden_maker import PARTITIONS, SCOPES, TEXTS, Maker

from memtape.schemas.embedding import FLOOR
from memtape.schemas.events import (
    MAKING,
    Archived,
    Decided,
    Embedded,
    Erased,
    Forgotten,
    Input,
    Linked,
    Operation,
    Pinned,
    Restored,
    ScopeChanged,
    Settled,
    Unfolded,
    Used,
    Withdrawn,
    make_embedded,
)
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US, HOUR_US

MINUTE_US = 60_000_000
ONE, OTHER = "tiny@one/4", "tiny@other/4"
EAST, NEAR_EAST, NORTH, WEST = (4000, 0, 0, 0), (3900, 800, 0, 0), (0, 4000, 0, 0), (-4000, 0, 0, 0)
FACT, AGAIN, OTHERWISE = "the build takes 5 minutes", "The build takes five minutes.", "the build takes 6 minutes"


def told(m: Maker, ids: Iterable[str], recall: str | None = None, scope: str = SCOPES[1], **fields: Any) -> str:
    return m.say(m.event("used", scope, Used(ids=tuple(ids), recall=recall), **fields))


def vector(m: Maker, ref: str, values: Sequence[int] | None, embedder: str = ONE, scope: str = SCOPES[0],
           attempt: int = 1) -> str:  # fmt: skip
    """Record the vector of a text, or that it was refused."""
    reason, packed = (None, pack(list(values))) if values else ("it was refused", None)
    body = Embedded(attempt=attempt, dimensions=4, embedder=embedder, reason=reason, vector=packed)
    return m.say(make_embedded(scope, ref, body, m.now))


def erase(m: Maker, ids: Iterable[str], scope: str = SCOPES[0], **fields: Any) -> str:
    return m.say(m.event("erased", scope, Erased(ids=tuple(ids)), **fields))


def unfold(m: Maker, ids: Iterable[str], scope: str = SCOPES[0]) -> str:
    return m.say(m.event("unfolded", scope, Unfolded(ids=tuple(ids))))


def say_pins(m: Maker) -> None:
    """What is pinned and unpinned: memories, what folds into them, a turn, what comes later and what is nowhere."""
    scope = SCOPES[2]
    memory, turn = m.say(m.captured(scope, "The mooring buoy is green.")), m.say(m.captured(scope, "Aye.", "turn"))
    for ids, on in (((memory, turn), True), ((memory, m.id("nobody")), True), ((turn,), False), ((turn,), False)):
        m.say(m.event("pinned", scope, Pinned(ids=ids, on=on)))
    again = m.say(m.captured(scope, "The mooring buoy is green!"))
    m.say(m.event("pinned", scope, Pinned(ids=(memory,), on=False)))
    m.say(m.event("pinned", scope, Pinned(ids=(again,), on=True)))
    for text in ("Aye aye.", "All hands.", "Anchors aweigh."):
        m.say(m.event("pinned", scope, Pinned(ids=(m.say(m.captured(scope, text, "turn")),), on=True)))


def say_withdrawals(m: Maker) -> None:
    """What a source says no longer: of a memory of two, of a part of a document and of a turn; and what ends that."""
    scope = SCOPES[2]
    fact = m.say(m.captured(scope, "The fog horn sounds twice."))
    m.say(m.captured(scope, "The fog horn sounds twice!"))
    part, turn = m.say(m.captured(scope, "Of the fog horn.", "document")), m.say(m.captured(scope, "Fog.", "turn"))
    gone, back = m.say(m.captured(scope, "The bell rings at noon.")), m.say(m.captured(scope, "The bell is bronze."))
    for ids, on in (((fact, part, turn), True), ((turn, m.id("nobody")), False), ((turn, gone, back), True)):
        m.say(m.event("withdrawn", scope, Withdrawn(ids=ids, on=on)))
    m.say(m.event("forgotten", scope, Forgotten(ids=(gone, part), reason=None)))
    m.say(m.event("withdrawn", scope, Withdrawn(ids=(gone,), on=False)))
    m.say(m.event("restored", scope, Restored(ids=(back, part), reason=None)))
    m.say(m.captured(scope, "The bell rings at noon!"))
    for text in ("Mist.", "Haze.", "Rain."):
        m.say(m.event("withdrawn", scope, Withdrawn(ids=(m.say(m.captured(scope, text, "turn")),), on=True)))


def say_decisions(m: Maker) -> None:
    """What was made of memories: what holds, what ended, what came too late, what never came, and what failed."""
    scope = SCOPES[2]
    texts = ("The lock opens at 5.", "The lock opens at 6.", "The lock opens at seven.", "The lock opens at 7.")
    said = [_fact(m, text) for text in texts]
    made = _decide(m, said[:2], "replace", "The lock opens at 6; before at 5."), _seq(m) - 1
    _decide(m, [said[0], said[2]], "replace", "It opens.")  # The first is told by another text already.
    _decide(m, said[2:], "remove", None)
    entries = [_fact(m, f"Dredged the north basin, part {n}.", "journal") for n in range(3)]
    _decide(m, entries, "replace", "Dredged the north basin in three parts.")
    others = [_fact(m, f"The weir has {n} gates.") for n in (3, 4)]
    _decide(m, others, "replace", "The weir has 4 gates; before 3.")
    m.say(m.captured(scope, "The weir has 3 gates."))  # What was told as past is said again.
    apart = [_fact(m, f"The tug is called {name}.") for name in ("Ada", "Bee")]
    m.say(m.event("unfolded", scope, Unfolded(ids=(_decide(m, apart, "replace", "The tug is Bee, before Ada."),))))
    gone = [_fact(m, f"The quay is {metres} m long.") for metres in (40, 60)]
    _decide(m, gone, "replace", "The quay is 60 m long, before 40.")
    m.say(m.event("forgotten", scope, Forgotten(ids=(gone[0][0],), reason=None)))
    both = [_fact(m, "The slip was greased."), _fact(m, "The winch was greased.")]
    _decide(m, both, "add", "Slip and winch were greased.")
    _decide(m, both, "replace", None)  # Its text never comes.
    erased = [_fact(m, "The crane lifts 3 t."), _fact(m, "The crane lifts 5 t.")]
    _decide(m, erased, "replace", "The crane lifts 5 t, before 3 t.")
    erase(m, [erased[0][0]], scope)
    for attempt in (1, 2, 3):
        m.say(m.event("decided", scope, Decided(attempt=attempt, inputs=_inputs(both), operations=(),
                                                reason="it was late", until=None)))  # fmt: skip
    for passed, until in ((scope, _seq(m)), *((other, 5) for other in SCOPES if other != scope)):
        ended = Decided(attempt=1, inputs=(), operations=(), reason=None, until=until)
        m.say(m.event("decided", passed, ended))
    last = _decide(m, [made], "replace", "The lock opens at six.")
    m.say(m.event("pinned", scope, Pinned(ids=(last,), on=True)))


def say_values(m: Maker) -> None:
    """Values that change: in order and late, in part, by who is trusted less, as people say; and what settles them."""
    scope = SCOPES[2]
    ports = [m.say(m.captured(scope, f"The tide gauge listens on port {port}.")) for port in (8080, 8081, 8082)]
    m.say(m.captured(scope, "The tide gauge listens on port 8079.", at=m.now - 90 * DAY_US))
    m.say(m.captured(scope, "The tide gauge listens on port 9090.", origin="agent", session="s1"))
    m.say(m.captured(scope, "The tide gauge listens on port 9090!", origin="agent", session="s2"))
    both = m.say(m.captured(scope, "The pilot boat is moored at pier 3, and its hull was painted."))
    m.say(m.captured(scope, "The pilot boat is moored at pier 5 now."))
    crews = [m.say(m.captured(scope, f"{name} leads the night crew.")) for name in ("Ada", "Ben", "Cleo")]
    goals = [m.say(m.captured(scope, f"The target for dredging is {n} tons.", "goal")) for n in (40, 60)]
    m.say(m.captured(scope, "The target for dredging is 20 tons.", "goal", origin="agent"))
    m.say(m.captured(scope, "The target for dredging is 10 tons.", "goal", at=m.now - 90 * DAY_US))

    def link(id: str, to: str | None = None, on: bool = True, **fields: Any) -> None:
        relation: Any = "holds" if to is None else "replaced_by"
        m.say(m.event("linked", scope, Linked(id=id, on=on, relation=relation, slug=None, to=to), **fields))

    link(ports[0])
    link(ports[1], ports[0])
    link(crews[2], crews[0])
    link(crews[1], origin="agent")  # It was said by a person.
    link(goals[1], goals[0])
    link(goals[1], goals[0], on=False)
    link(m.id("nobody"), both)
    told(m, [ports[1], ports[2]], None, scope=scope)
    told(m, crews[:2], None, scope=scope)
    for name in ("Ada", "Ben"):
        m.say(m.captured(scope, f"{name} leads the night crew!"))

    def settle(ids: tuple[str, str], keep: tuple[str, ...], **fields: Any) -> None:
        m.say(m.event("settled", scope, Settled(ids=ids, keep=keep, note="The harbour master said so."), **fields))

    settle((crews[0], crews[1]), (crews[0],))
    settle((crews[1], crews[0]), (crews[0], crews[1]))
    settle((ports[1], ports[2]), (ports[1],), origin="agent")
    settle((ports[2], m.id("nobody")), (ports[2],))
    m.say(m.event("forgotten", scope, Forgotten(ids=(crews[2],), reason=None)))
    erase(m, [ports[2]], scope)
    m.configure(embedder=OTHER, refolded=1)
    m.configure(embedder=FLOOR, refolded=2)
    m.say(m.captured(scope, "The tide gauge listens on port 8080!"))


def say_opposed(m: Maker) -> None:
    """What a model says cannot both hold: once, again, of what was replaced or has changed, and what becomes of it."""
    scope = SCOPES[2]
    pairs = [
        [_fact(m, f"The {name} is painted by Ada."), _fact(m, f"Ben has the {name} coated in May.")]
        for name in ("hull", "mast", "keel", "rudder")
    ]
    for pair in pairs[:3]:
        _decide(m, pair, "conflict", None)
    _decide(m, pairs[0], "conflict", None)
    _decide(m, [pairs[3][0], (pairs[3][1][0], 0)], "conflict", None)
    gates = [_fact(m, f"The sluice gate is set to level {n}.") for n in (2, 3)]
    _decide(m, gates, "conflict", None)  # The second replaced the first.
    keep = pairs[0][1][0]
    m.say(m.event("settled", scope, Settled(ids=(pairs[0][0][0], keep), keep=(keep,), note=None)))
    m.say(m.event("forgotten", scope, Forgotten(ids=(pairs[1][0][0],), reason=None)))


def say_ages(m: Maker) -> None:
    """Texts that age to the archive and out of the views, and come back; a project that rests, ends and goes on."""
    scope, other = SCOPES[4], SCOPES[3]
    m.configure(archive_after_days=30, dormant_after_days=-1, long_after_days=7, long_retention_hundredths=100,
                mid_after_days=1, mid_retention_hundredths=100, purge_after_days=7, tick_jump_days=4_000)  # fmt: skip
    m.now += 500 * DAY_US  # The partitions' clocks stand that far ahead.

    def week(day: int) -> dict[str, list[str]]:
        said = {
            kind: [
                m.say(m.captured(scope, f"Watch {n} of day {day}: {what}.", kind, session="s1"))
                for n, what in enumerate(("the lamp was lit", "a meeting about the risk", "fog", "the boat left"))
            ]
            for kind in ("turn", "fact", "journal")
        }
        m.say(m.event("pinned", scope, Pinned(ids=(said["fact"][3],), on=True)))
        return said

    def pass_days(days: int) -> None:
        m.now += days * DAY_US
        for number in range(PARTITIONS):
            m.tick(number, m.now)

    first = week(1)
    pass_days(3)
    m.say(m.captured(scope, "A late word of the watch.", "turn", session="s1", at=m.now - 3 * DAY_US))
    m.say(m.event("forgotten", scope, Forgotten(ids=(first["turn"][0],), reason=None)))
    m.say(m.event("withdrawn", scope, Withdrawn(ids=(first["journal"][0],), on=True)))
    pass_days(18)
    told(m, [first["turn"][1]], None, scope=scope)
    m.say(m.event("archived", scope, Archived(ids=(first["turn"][2], m.id("nobody")), on=True, reason="It is told.")))
    m.say(m.event("archived", scope, Archived(ids=(first["fact"][0],), on=True, reason=None)))
    m.say(m.captured(scope, "watch 0 of day 1: the lamp was lit"))  # Said again, it comes back.
    second = week(2)
    pass_days(20)
    pass_days(1)
    pass_days(9)  # What was archived leaves the views.
    m.say(m.event("archived", scope, Archived(ids=(first["turn"][3],), on=False, reason=None)))
    told(m, [first["journal"][1]], None, scope=scope)
    m.say(m.event("pinned", scope, Pinned(ids=(first["fact"][1],), on=True)))
    erase(m, [second["turn"][1]], scope)
    m.configure(dormant_after_days=20, lifecycle=True, purge_after_days=7, tick_jump_days=4_000)
    pass_days(21)
    pass_days(8)
    m.say(m.recalled(scope, second["fact"], "s2"))  # It wakes the project, of which nothing was in the views.
    m.say(m.event("scope_changed", scope, ScopeChanged(git_at=m.now, name="The lighthouse", state=None)))
    pass_days(21)
    m.say(m.event("scope_changed", scope, ScopeChanged(git_at=m.now, name=None, state=None)))
    m.say(m.event("scope_changed", scope, ScopeChanged(git_at=None, name=None, state="finished")))
    m.say(m.captured(scope, "The lighthouse is a museum now."))
    for how in ("finished", "active", "finished"):
        m.say(m.captured(other, f"It is {how}."))
        m.say(m.event("scope_changed", other, ScopeChanged(git_at=None, name=None, state=how)))
    m.configure(lifecycle=False, tick_jump_days=4_000)
    pass_days(40)
    m.configure(tick_jump_days=4_000)
    pass_days(1)


def _fact(m: Maker, text: str, kind: str = "fact") -> tuple[str, int]:
    """Say something and return its id and seq."""
    seq = _seq(m)
    return m.say(m.captured(SCOPES[2], text, kind)), seq


def _seq(m: Maker) -> int:
    """Return how many events the scope of the decisions has by now, each id once."""
    events = (msgspec.json.decode(payload) for payload in m.payloads[partition_of(SCOPES[2], PARTITIONS)])
    return len({said["id"] for said in events if said.get("scope") == SCOPES[2]})


def _inputs(said: Iterable[tuple[str, int]]) -> tuple[Input, ...]:
    return tuple(Input(id=id, seq=seq) for id, seq in said)


def _decide(m: Maker, said: Sequence[tuple[str, int]], op: Any, text: str | None) -> str:
    """Decide about what was said, and say the text that was made of it; return the id of what stands for it."""
    ids = tuple(id for id, _ in said)
    by = m.id(f"made {_seq(m)}") if op in MAKING else ids[0]
    operation = Operation(by=by, ids=ids[::-1] if op in MAKING else ids[1:], op=op)
    body = Decided(attempt=1, inputs=_inputs(said), operations=(operation,), reason=None, until=None)
    decided = m.say(msgspec.structs.replace(m.event("decided", SCOPES[2], body), refs=ids))
    if text is not None:
        made = m.captured(SCOPES[2], text, "journal" if "Dredged" in text else "fact")
        m.say(msgspec.structs.replace(made, id=by, refs=(decided, *ids)))
    return by


def say_uses(m: Maker) -> None:
    """What is said to be used, what a turn carries, and what is learned of pairs over windows and days."""
    scope = SCOPES[1]
    said = [
        m.say(m.captured(scope, text)) for text in (*TEXTS[:12], "The lighthouse keeper is called Marisol Ferreira.")
    ]
    everywhere = m.say(m.captured("global", "Everybody writes British English."))
    for number in range(12):
        m.now += 7 * HOUR_US
        shown = m.say(m.recalled(scope, [*said[number : number + 3], everywhere, m.id("nobody")], f"s{number % 3}"))
        m.now += MINUTE_US
        told(m, [said[0], said[4], said[number]], shown, session=f"s{number % 3}")
        told(m, [said[0], said[number], everywhere], session=f"s{number % 3}", at=m.now - number * MINUTE_US)
    told(m, [], None)
    told(m, [said[1], said[2]], m.id("no recall"))  # Without a session: a window of its own.
    told(m, [everywhere], scope="global", origin="agent")  # It is not the agent's to say there.
    told(m, [everywhere], scope="global")
    m.say(m.recalled(scope, [said[12], said[2]], "s1", origin="agent"))
    m.say(m.captured(scope, "Who keeps the light?", "turn", session="s1"))
    m.say(m.captured(scope, "Marisol Ferreira keeps it.", "turn", session="s1", origin="agent"))
    m.say(m.captured(scope, "As I said, Marisol Ferreira.", "turn", session="s1", origin="agent"))
    m.now += 30 * DAY_US
    for number in range(0, 9, 2):
        told(m, [said[0], said[number], said[number + 1]], session="s2")
    # Folded memories that were used and linked, taken apart again; and what was never one.
    unfold(m, [said[1]], scope)
    unfold(m, [said[0], said[9], m.id("nobody")], scope)
    unfold(m, [], scope)
    m.say(m.event("forgotten", scope, Forgotten(ids=(said[4],), reason=None)))


def say_vectors(m: Maker) -> None:
    """What waits for a vector, and how it is judged when one comes, in whatever order."""
    scope = SCOPES[0]
    m.configure(embedder=ONE)
    first = m.say(m.captured(scope, FACT))
    vector(m, first, EAST)
    vector(m, first, NORTH, OTHER)
    again = m.say(m.captured(scope, AGAIN, session="s1"))
    otherwise = m.say(m.captured(scope, OTHERWISE))
    vector(m, otherwise, NEAR_EAST)
    vector(m, again, NEAR_EAST)
    for attempt in (1, 2, 3):
        vector(m, (refused := m.say(m.captured(scope, f"Refused {attempt} times."))), None, attempt=attempt)
    vector(m, refused, WEST)
    stranger = make_embedded(scope, first, body_of(WEST), m.now)
    m.say(msgspec.structs.replace(stranger, id=m.id("a second vector")))
    m.say(stranger)  # Its id is that of the first, so that it diverges.
    vector(m, m.id("nobody"), EAST)
    vector(m, m.say(m.captured(scope, "A turn has a vector too.", "turn")), NORTH)
    # An echo that is known for one when its vector comes, long after what it repeats was shown.
    m.say(m.recalled(scope, [first], "s1", origin="agent"))
    echo = m.say(m.captured(scope, "Note that the build takes five minutes", session="s1", origin="agent"))
    m.now += 2 * HOUR_US
    vector(m, echo, EAST)
    # The later text's vector comes first; both are forgotten and one is restored while others wait.
    one, two = m.say(m.captured(scope, "Tea is at four.")), m.say(m.captured(scope, "Tea is at four, always."))
    vector(m, two, NORTH)
    m.say(m.event("forgotten", scope, Forgotten(ids=(one,), reason=None)))
    vector(m, one, NORTH)
    m.say(m.event("restored", scope, Restored(ids=(one,), reason=None)))
    unfold(m, [again, m.say(m.captured(scope, "Nothing is known of this yet."))])
    # What was forgotten twice is hidden where it is said again in other words.
    shut = m.say(m.captured(scope, "The shop opens at 8 o'clock."))
    vector(m, shut, NORTH)
    for _ in range(2):
        m.say(m.event("forgotten", scope, Forgotten(ids=(shut,), reason=None)))
    vector(m, m.say(m.captured(scope, "The shop opens at eight o'clock!", origin="agent")), NORTH)
    # Folding is off for a while, so that the same words stand twice, of which one waits.
    waits = m.say(m.captured(scope, "The door is blue."))
    m.configure(embedder=ONE, fold_cosine_hundredths=-1)
    m.say(m.captured(scope, "The door is blue."))
    m.configure(embedder=ONE, fold_cosines_hundredths={ONE: 60})
    vector(m, waits, WEST)
    vector(m, m.say(m.captured(scope, "the door is blue, as said")), WEST)


def body_of(values: Sequence[int]) -> Embedded:
    return Embedded(attempt=1, dimensions=4, embedder=ONE, reason=None, vector=pack(list(values)))


def say_switches(m: Maker) -> None:
    """Another embedder takes over, the floor does, and the first comes back, while vectors are on their way."""
    scope = SCOPES[0]
    m.configure(embedder=ONE, embedder_next=OTHER)
    here = m.say(m.captured(scope, "The harbour opens at six."))
    vector(m, here, EAST, OTHER)
    there = m.say(m.captured(scope, "The harbour opens at six o'clock."))
    m.configure(embedder=OTHER)
    vector(m, there, EAST, OTHER)
    flying = m.say(m.captured(scope, "The harbour opens at seven."))
    m.configure(embedder=FLOOR)
    m.say(m.captured(scope, "The harbour closes at nine."))
    m.configure(embedder=OTHER)
    vector(m, flying, NEAR_EAST, OTHER)
    m.configure(embedder=ONE)
    vector(m, flying, EAST)
    vector(m, here, EAST)


def say_erasures(m: Maker) -> None:
    """What is erased before it comes and after, what derives from it, and what nobody may erase."""
    scope, other = SCOPES[0], SCOPES[2]
    late = m.id("erased before it is said")
    erase(m, [late])
    m.say(m.captured(scope, "Nobody will read this.", id=late))
    vector(m, late, EAST)
    members = [m.say(m.captured(other, text)) for text in TEXTS[:5]]
    shown = m.say(m.recalled(other, members, "s1"))
    told(m, members[:3], shown, scope=other, session="s1")
    derived = m.say(m.captured(other, "A model says this of it.", origin="model", refs=(members[1],)))
    m.say(m.captured(other, "And this of that.", origin="model", refs=(derived,)))
    event = m.event("erased", other, Erased(ids=(members[1], members[3])))
    m.say(event)
    m.say(event)
    m.say(m.captured(other, "And this much later.", origin="model", refs=(derived,)))
    erase(m, [shown], other)
    erase(m, [], other)
    everywhere = m.say(m.captured("global", "Nobody tells."))
    erase(m, [everywhere], "global", origin="agent")
    erase(m, [m.say(m.captured("global", "Nobody asks."))], "global")
