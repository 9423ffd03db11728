"""Who the synthetic team is, and where in its year the texts stand that are said once and that questions ask for.

Each conversation is said three times, in three projects: lately, in the middle and early. So the same questions are
asked of what is young, mid and old. The projects differ in size too, so that settings compare, and ages do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from random import Random
from typing import NamedTuple

from bench.team_texts import Material
from bench.updates import Asked
from memtape.schemas.events import Actor, Kind
from memtape.schemas.ids import derived_id
from memtape.schemas.scopes import PROJECT_PREFIX
from memtape.schemas.times import DAY_US, HOUR_US, US_PER_S
from memtape.tools.capture.lines import Line, chunks
from memtape.tools.measure.locomo import Conversation

START_US = 1_736_121_600 * US_PER_S
"""The year begins on Monday, 2025-01-06."""
WEEK, IDLE_DAY = 7, 6
"""On Sundays nobody says anything."""
AGES = {"young": (0, 30), "mid": (30, 180), "old": (180, 36_500)}
"""How many days before the end of the year a text of each class of ages was said, from and to."""
SPAN_DAYS = 20
"""A conversation is said within so many days."""
PLACED_SHARE = 4
"""At most one of so many texts is said once, and asked for."""
TURN_GAP_US = 60 * US_PER_S
FIRST_HOUR, HOURS = 8, 8


class Project(NamedTuple):
    """A project, the share of the talk that is about it, and in which part of the year nobody speaks of it."""

    name: str
    share: int
    silent: tuple[float, float] = (0, 0)


PROJECTS = (
    Project("atlas", 8),
    Project("beacon", 6),
    Project("cedar", 5),
    Project("delta", 4),
    Project("ember", 3),
    Project("fjord", 3),
    Project("grove", 2),
    Project("harbor", 2, (0.3, 0.55)),
    Project("isle", 1, (0.5, 1)),
    Project("jetty", 1, (0.7, 1)),
)
"""One project sleeps for three months and comes back; two fall asleep for good."""
ASKED = 7
"""In the first projects, which never sleep, stands what questions ask for."""


class Team(NamedTuple):
    """What a year follows from, beside the texts."""

    seed: int = 7
    days: int = 365
    texts_a_day: int = 1_000
    projects: Sequence[Project] = PROJECTS
    start_us: int = START_US
    notes_a_day: int = 0
    """So many texts of `Material.notes` are kept a day in the first project, beside what is talked about."""

    @property
    def end_us(self) -> int:
        """When the last day ends."""
        return self.start_us + self.days * DAY_US

    def is_silent(self, number: int, day: int) -> bool:
        """Whether nobody speaks of a project on a day."""
        first, last = self.projects[number].silent
        return first * self.days <= day < last * self.days


class Said(NamedTuple):
    """A text that is said once: the number of its project, its id, when it is said, and by whom."""

    project: int
    id: str
    text: str
    kind: Kind
    actor: Actor
    at: int
    session: str


class Wanted(NamedTuple):
    """A question, the ids of the texts that are its evidence, and how old they are at the end of the year."""

    scope: str
    text: str
    evidence: tuple[tuple[str, ...], ...]
    age: str
    category: str


class _Placement(NamedTuple):
    """A conversation in a project, and on which days its sessions are."""

    conversation: Conversation
    project: int
    age: str
    days: tuple[int, ...]


def said_once(team: Team, material: Material) -> dict[int, list[Said]]:
    """Return what is said once, by its day."""
    found: dict[int, list[Said]] = {}
    for placement in _placements(team, material):
        for said in _turns(team, placement):
            found.setdefault((said.at - team.start_us) // DAY_US, []).append(said)
    for number, case in enumerate(material.changes):
        for said in _changing(team, number, case):
            found.setdefault((said.at - team.start_us) // DAY_US, []).append(said)
    return found


def questions_of(team: Team, material: Material) -> Iterator[Wanted]:
    """Yield the questions that what is said once answers; any part of a turn counts as the turn."""
    for placement in _placements(team, material):
        scope = scope_of(team, placement.project)
        name = placement.conversation.name
        ids = {line.native_id: tuple(_ids(scope, name, line)) for line in placement.conversation.lines}
        for question in placement.conversation.questions:
            if question.evidence and question.answered:
                yield Wanted(scope, question.text, tuple(ids[it] for it in question.evidence), placement.age, name)
    for number, case in enumerate(material.changes):
        said = list(_changing(team, number, case))
        if len(said) == len(case.texts):
            current = [said[place] for place in case.current]
            age = age_of(team, min(one.at for one in current))
            evidence = tuple((one.id,) for one in current)
            yield Wanted(scope_of(team, said[0].project), case.question, evidence, age, "changes")


def scope_of(team: Team, project: int) -> str:
    """Return the scope of a project."""
    return f"{PROJECT_PREFIX}{team.projects[project].name}"


def age_of(team: Team, at: int) -> str:
    """Return the class of ages of a text at the end of the year."""
    days = (team.end_us - at) // DAY_US
    return next(age for age, (least, most) in AGES.items() if least <= days < most)


def _placements(team: Team, material: Material) -> Iterator[_Placement]:
    """Yield where conversations stand: as many as there is room for, short ones first, of each corpus by turns."""
    rng, room = Random(f"{team.seed} placing"), team.days * team.texts_a_day // PLACED_SHARE
    project = 0
    for conversation in _by_turns(material.conversations):
        room -= len(conversation.lines) * len(AGES)
        if room < 0:
            return
        for age, (least, most) in AGES.items():
            first, last = max(0, team.days - most), team.days - least
            if last - first >= WEEK:
                days = _days(rng, first, last, len({line.session for line in conversation.lines}))
                yield _Placement(conversation, project % ASKED, age, days)
            project += 1


def _by_turns(conversations: Sequence[Conversation]) -> Iterator[Conversation]:
    """Yield conversations, those with many questions and those with few by turns."""
    ordered = sorted(conversations, key=lambda one: (len(one.lines), one.name))
    many = [one for one in ordered if len(one.questions) > len(one.lines) // 10]
    few = [one for one in ordered if len(one.questions) <= len(one.lines) // 10]
    return (one for pair in zip_longest(many, few) for one in pair if one is not None)


def _days(rng: Random, first: int, last: int, sessions: int) -> tuple[int, ...]:
    """Return the day of each session, in order, between two days, none of them a Sunday."""
    start = rng.randint(first, max(first, last - SPAN_DAYS))
    free = [day for day in range(start, min(last, start + SPAN_DAYS)) if day % WEEK != IDLE_DAY]
    return tuple(free[number * len(free) // sessions] for number in range(sessions))


def _turns(team: Team, placement: _Placement) -> Iterator[Said]:
    scope = scope_of(team, placement.project)
    sessions = groupby(placement.conversation.lines, key=lambda line: line.session)
    for number, (day, (session, lines)) in enumerate(zip(placement.days, sessions, strict=True)):
        at = team.start_us + day * DAY_US + (FIRST_HOUR + number % HOURS) * HOUR_US
        for line in lines:
            at += TURN_GAP_US
            actor = Actor(name=line.actor or "someone", origin=line.origin or "user")
            ids = _ids(scope, placement.conversation.name, line)
            for id, (text, _) in zip(ids, chunks(line.text), strict=True):
                yield Said(placement.project, id, text, "turn", actor, at, f"{scope} {session}")


def _ids(scope: str, name: str, line: Line) -> Iterator[str]:
    """Yield the id of each part of a turn of a conversation."""
    for part, _ in enumerate(chunks(line.text)):
        yield derived_id("captured", scope, name, f"{line.native_id}#{part}")


def _changing(team: Team, number: int, case: Asked) -> Iterator[Said]:
    """Yield the texts of a case as far as the year has room for them, in the order in which they came."""
    rng = Random(f"{team.seed} {case.id}")
    project, day = number % ASKED, rng.randrange(team.days)
    for place, said in enumerate(case.texts):
        day += day % WEEK == IDLE_DAY
        if day >= team.days:
            return
        at = team.start_us + day * DAY_US + (FIRST_HOUR + place % HOURS) * HOUR_US + number * US_PER_S
        id = derived_id("captured", scope_of(team, project), "team", f"{case.id}#{place}")
        yield Said(project, id, said.text, said.kind, Actor(name="Dina", origin=said.origin), at, f"{case.id} {place}")
        day += rng.randint(1, max(1, team.days // 12))
