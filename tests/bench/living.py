"""A home with life in it, to look at pages: some weeks of a team, and what people decided of it since.

All follows from a seed, a size and the day on which it ends. The sentences are made here from lists of words.
Nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from builders import captured, recalled, used
from tables import table

from memtape.schemas.codec import encode
from memtape.schemas.events import Event, make_configured, make_tick
from memtape.schemas.ids import derived_id
from memtape.schemas.log import DEFAULT_PARTITIONS
from memtape.schemas.scopes import PROJECT_PREFIX
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US, HOUR_US, US_PER_S
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.client import Client
from memtape.tools.recalling import handed_start

DAYS = 45
SCOPE, OTHER = f"{PROJECT_PREFIX}harbour", f"{PROJECT_PREFIX}atlas"
PEOPLE = ("Ada", "Bruno", "Chidi")
AGENTS = ("claude-code", "codex", "gemini")
SAYS = table("living")
AGAIN, CHANGED = 10, 30
"""One note of so many is said again later, and of one of so many another number holds later."""
CONFLICTS, PINNED, FORGOTTEN, ARCHIVED = 500, 400, 1_000, 40
"""One memory of so many is each of these where there are many."""


def make_living(path: Path, texts: int, end_us: int, seed: int = 7, memories: int = 0) -> None:
    """Make a home of about so many texts of weeks that end on a day, with all that can stand on a page in it.

    Beside these texts, of which many fold, it has so many `memories` that do not.
    """
    rng = Random(seed)
    start_us = (end_us // DAY_US - DAYS) * DAY_US
    log_id = derived_id("log", None, "living", str(seed))
    home = Home(path)
    path.mkdir(parents=True, exist_ok=True)
    home.settings_path.write_text("catch_up = false\n")  # Else another process may project it meanwhile.
    # A log has no past from before its first `configured`, so that here it is as old as what is said.
    with closing(EmbeddedLog(home.log_path, DEFAULT_PARTITIONS, copy_of=log_id)) as log:
        configured = encode(make_configured(log_id, DEFAULT_PARTITIONS, Settings(), 0, start_us, log_id))
        for number in range(DEFAULT_PARTITIONS):
            log.append_raw(number, [configured])
        log.finish_copy()
    with closing(EmbeddedLog(home.log_path)) as log:
        kept = list(notes(rng, memories))
        for day in range(DAYS):
            share = kept[day * len(kept) // DAYS : (day + 1) * len(kept) // DAYS]
            night = start_us + day * DAY_US + 23 * HOUR_US
            ticks = [make_tick(number, night) for number in range(log.partitions)]
            log.append([*_day(rng, day, texts // DAYS, share, night - 16 * HOUR_US), *ticks])
    with Client(path, scope=SCOPE, actor="Ada", origin="user") as person:
        person.project()
        _decide(person, rng)
        person.project()  # What is pinned now is not archived below.
        _decide_many(person, rng, memories)
        for name in AGENTS:
            _ask(path, name, rng)
        person.project()


def _day(rng: Random, day: int, texts: int, kept: Sequence[str], at: int) -> Iterator[Event]:
    """Yield what people and agents say on a day in sessions, what they look up and use, and what is kept."""
    known: list[str] = []
    for place in range(max(2, texts)):
        at += rng.randrange(1, 8) * 60 * US_PER_S
        agent, name = rng.choice(AGENTS), f"{day}-{place}"
        scope = OTHER if place % 5 == 4 else SCOPE
        fields: dict[str, Any] = {"scope": scope, "session": f"{day}-{place // 7}", "sent": at}
        by_agent = {"actor": agent, "origin": "agent"}
        by_person = {"actor": rng.choice(PEOPLE), "origin": "user"}
        last = rng.choice(("fact", "goal", "plan"))
        kind = ("turn", "turn", "fact", "turn", "turn", "journal", last)[place % 7]
        text = _filled(rng, rng.choice(SAYS["said"]))
        yield captured(text, name, kind, **fields, **(by_agent if place % 2 else by_person))
        if scope == SCOPE:
            known.append(name)
        if place % 3 == 2 and scope == SCOPE:
            found = rng.sample(known, min(len(known), 4))
            yield recalled(found, f"r{name}", questions(rng, 1)[0], **fields, **by_agent)
            yield used(found[:2], f"u{name}", f"r{name}", **fields, **by_agent)
    for place, text in enumerate(kept):
        fields = {"scope": SCOPE, "session": f"{day}-notes", "sent": at + place * US_PER_S}
        yield captured(text, f"{day} note {place}", rng.choice(("fact", "fact", "insight")), **fields)


def questions(rng: Random, count: int) -> list[str]:
    """Return what is asked about it."""
    return [_filled(rng, rng.choice(SAYS["questions"])) for _ in range(count)]


def notes(rng: Random, count: int) -> Iterator[str]:
    """Yield what is kept of so many things in order, some of it again, some with another number later."""
    told: list[tuple[float, str]] = []
    for place in range(count):
        form, seed = rng.choice(SAYS["notes"]).replace("{name}", _name(place)), rng.random()
        text = _filled(Random(seed), form)
        told.append((place, text))
        if place % AGAIN == 0:
            told.append((rng.uniform(place, count), text))
        if place % CHANGED == 1:
            told.append((rng.uniform(place, count), _filled(Random(seed), form, rng.randint(2, 9_000))))
    return (text for _, text in sorted(told))


def _name(number: int) -> str:
    """Return a name of three syllables; those of numbers below 343,000 differ."""
    syllables = [f"{consonant}{vowel}" for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    spread = number * 100_003 % len(syllables) ** 3
    parts = (spread // len(syllables) ** place % len(syllables) for place in range(3))
    return "".join(syllables[part] for part in parts).capitalize()


def _filled(rng: Random, form: str, number: int | None = None) -> str:
    thing, other = (name.replace("_", " ") for name in rng.sample(SAYS["things"], 2))
    part, place = rng.choice(SAYS["parts"]).replace("_", " "), rng.choice(SAYS["places"])
    why = rng.choice(SAYS["whys"]).format(place=place)
    drawn, day = rng.randint(2, 9_000), rng.randint(4, 20)
    number = drawn if number is None else number
    return form.format(thing=thing, other=other, part=part, place=place, why=why, number=number, day=day)


def _decide(person: Client, rng: Random) -> None:
    """Do what a person does: rules, a conflict, pins, an archive, what is forgotten, a word for everybody."""
    for rule in SAYS["rules"]:
        person.capture(rule, kind="turn")
    person.accept(person.proposals()[0][0].id)
    old, new = (person.capture(f"The staging database listens on port {port}.").id for port in (5433, 5434))
    for id in (old, new):
        person.use([id])
    known = [result.id for result in person.recent(60).results]
    rng.shuffle(known)
    taken = iter([id for id in known if id not in (old, new)])
    for reason in ("said by mistake", "no longer of use", None):
        person.forget(next(taken), reason=reason)
    person.archive([next(taken) for _ in range(6)], reason="the spring release is over")
    for _ in range(3):
        person.pin(next(taken))


def _decide_many(person: Client, rng: Random, memories: int) -> None:
    """Do the same by hand as often as somebody does it who has so many memories."""
    for place in range(memories // CONFLICTS):
        name = _name(memories + place)
        said = (f"The database of {name} listens on port {port}." for port in (6_000, 6_001))
        ids = [person.capture(text).id for text in said]
        for id in ids:
            person.use([id])
    if not memories:
        return
    known = [result.id for result in person.recent(1_000).results if not result.pinned]
    rng.shuffle(known)
    taken = iter(known)
    for _ in range(memories // FORGOTTEN):
        person.forget(next(taken), reason="said by mistake")
    for _ in range(memories // PINNED):
        person.pin(next(taken))
    person.archive([next(taken) for _ in range(memories // ARCHIVED)], reason="that is over")


def _ask(path: Path, name: str, rng: Random) -> None:
    """Start a session of an agent, look something up and use it."""
    with Client(path, scope=SCOPE, actor=name, origin="agent", session=f"{name}-today") as agent:
        handed_start(agent, agent.context(800))
        for question in questions(rng, 4):
            found = agent.search(question, 5)
            if ids := [result.id for result in found.results[:2]]:
                agent.use(ids, found.recall_id)
