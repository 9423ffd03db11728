"""A synthetic team of people and agents: what it says, looks up and uses in ten projects, day by day.

All follows from a seed, sizes and the texts of `team_texts.py`; no clock is read. The events are as the doors make
them: facts are those that the rules take from turns, and what an agent captures by itself. How the events come onto a
log and what is measured on them is not here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import NamedTuple

from bench.team_placing import IDLE_DAY, WEEK, Said, Team, said_once
from bench.team_texts import Material, Topic
from memtape.flows.workers.stating import statement_event
from memtape.schemas.actions import action_tags
from memtape.schemas.events import (
    Actor,
    Body,
    Captured,
    Event,
    Kind,
    Pinned,
    Recalled,
    Used,
    make_tick,
)
from memtape.schemas.ids import derived_id
from memtape.schemas.scopes import PROJECT_PREFIX
from memtape.schemas.times import DAY_US, HOUR_US, US_PER_S
from memtape.schemas.upcasts import version_of
from memtape.state.text.statements import statements
from memtape.state.views.filters import NO_FILTERS

PEOPLE = tuple(Actor(name=name, origin="user") for name in ("Ada", "Bruno", "Chidi", "Dina", "Elif", "Farid"))
AGENTS = tuple(Actor(name=name, origin="agent") for name in ("claude-code", "codex", "gemini", "scheduler"))
TOOL = Actor(name="shell", origin="tool")
TOPICS_AT_ONCE = 4
TOPIC_DAYS = (10, 45)
"""A topic is talked about for so many days, and then dropped; it comes back when all others have had their turn."""
KNOWN_IDS = 300
"""So many of the latest texts of a topic can be recalled."""
OPENERS = ("Again: ", "As said: ", "For the record: ", "Note: ", "Reminder: ", "Still so: ")
ENDINGS = (" Keep this in mind.", " That has not changed.", " We agreed on that.", "")
FIRST_HOUR, LAST_HOUR = 7, 20
TICK_HOUR = 23
NOTES_AT_ONCE = 20
_NUMBER = re.compile(r"\b\d{1,4}\b")
_WORD = re.compile(r"[a-z]{4,12}")


def days_of(team: Team, material: Material, partitions: int) -> Iterator[list[Event]]:
    """Yield the events of each day, in the order of their `sent`; each day ends with a tick of each partition."""
    projects = [_Project(team, material, number) for number in range(len(team.projects))]
    once = said_once(team, material)
    for day in range(team.days):
        placed = once.get(day, [])
        live = [project for project in projects if not team.is_silent(project.number, day)]
        shares = sum(project.share for project in live)
        events: list[Event] = []
        for project in live if day % WEEK != IDLE_DAY else ():
            its = [event for said in placed if said.project == project.number for event in project.said(said)]
            events += its + project.day(day, team.texts_a_day * WEEK * project.share / ((WEEK - 1) * shares) - len(its))
        events.sort(key=lambda event: (event.sent, event.id))
        night = team.start_us + day * DAY_US + TICK_HOUR * HOUR_US
        yield [*events, *(make_tick(number, night) for number in range(partitions))]


class _Talk(NamedTuple):
    """A topic while it is talked about: until which day, and what was said of it."""

    topic: Topic
    until: int
    texts: list[Event]
    facts: list[Event]


class _Project:
    """One project: its topics, what was said of each, and a source of chance of its own."""

    def __init__(self, team: Team, material: Material, number: int) -> None:
        self.number, self.share = number, team.projects[number].share
        self._scope = f"{PROJECT_PREFIX}{team.projects[number].name}"
        self._team = team
        self._rng = Random(f"{team.seed} {number}")
        self._made = 0
        self._due = 0.0
        self._once: list[Event] = []
        self._talks: list[_Talk] = []
        self._dropped: list[_Talk] = []
        self._waiting = [topic for topics in material.topics for topic in topics]
        self._rng.shuffle(self._waiting)
        self._notes = iter(material.notes if number == 0 else ())
        self._noted = _Talk(Topic((), ()), team.days, [], [])

    def said(self, said: Said) -> list[Event]:
        """Return the events of one text that is said once, with what the rules take from it."""
        made = self._captured(said.text, said.kind, said.actor, said.at, said.session, id=said.id)
        self._once.append(made)
        return [made, *self._stated(made)]

    def day(self, day: int, texts: float) -> list[Event]:
        """Return the events of one day, of which over the days about so many are texts: sessions are whole."""
        self._turn_topics(day)
        self._due += texts
        events: list[Event] = []
        while self._due >= 1:
            hour = self._rng.randrange(FIRST_HOUR, LAST_HOUR)
            start = self._team.start_us + day * DAY_US + hour * HOUR_US + self._rng.randrange(HOUR_US)
            session = list(self._session(self._rng.choice(self._talks), start, f"{day}-{len(events)}"))
            self._due -= sum(event.type == "captured" for event in session)
            events += session
        notes = list(islice(self._notes, self._team.notes_a_day))
        for first in range(0, len(notes), NOTES_AT_ONCE):
            events += self._noting(notes[first : first + NOTES_AT_ONCE], day, f"{day}-notes-{first}")
        return events

    def _noting(self, notes: Sequence[str], day: int, name: str) -> Iterator[Event]:
        """Yield a session that keeps some texts, looks up what was kept lately, and uses some of that."""
        rng = self._rng
        person, agent, hour = rng.choice(PEOPLE), rng.choice(AGENTS), rng.randrange(FIRST_HOUR, LAST_HOUR)
        clock = _Clock(self._team.start_us + day * DAY_US + hour * HOUR_US, rng)
        topic = Topic(tuple(notes), tuple(notes))
        talk = self._noted._replace(topic=topic)
        for text in notes:
            kind: Kind = rng.choice(("fact", "fact", "insight"))
            yield self._kept(talk, text, kind, rng.choice((person, agent)), clock.next(), name)
        if (recall := self._recalled(talk, agent, clock.next(), name)) is not None:
            yield from (recall, self._used(recall, agent, clock.next(), name))

    def _turn_topics(self, day: int) -> None:
        """Drop the topics whose time is over, and take up others."""
        self._dropped += [talk for talk in self._talks if talk.until <= day]
        self._talks = [talk for talk in self._talks if talk.until > day]
        while len(self._talks) < TOPICS_AT_ONCE:
            until = day + self._rng.randint(*TOPIC_DAYS)
            if self._waiting:
                self._talks.append(_Talk(self._waiting.pop(), until, [], []))
            else:
                self._talks.append(self._dropped.pop(0)._replace(until=until))

    def _session(self, talk: _Talk, start: int, name: str) -> Iterator[Event]:
        """Yield a session of a person and an agent."""
        rng = self._rng
        person, agent = rng.choice(PEOPLE), rng.choice(AGENTS)
        clock = _Clock(start, rng)
        for number in range(rng.randint(3, 7)):
            looks_up = number == 0 or rng.random() < 0.25
            recall = self._recalled(talk, agent, clock.next(), name) if looks_up else None
            yield from () if recall is None else (recall,)
            yield from self._exchange(talk, person, agent, clock, name)
            if recall is not None and rng.random() < 0.5:
                yield self._used(recall, agent, clock.next(), name)
        if rng.random() < 0.6:
            done, ahead = rng.choice(talk.topic.agents), rng.choice(talk.topic.people)
            yield self._kept(talk, f"Done: {done} Next: {ahead}", "journal", agent, clock.next(), name)
        if rng.random() < 0.06:
            kind: Kind = rng.choice(("goal", "plan"))
            yield self._kept(talk, rng.choice(talk.topic.people), kind, person, clock.next(), name)
        if (known := _before(talk.facts, at := clock.next())) and rng.random() < 0.02:
            yield self._event("pinned", Pinned(ids=(rng.choice(known).id,), on=True), person, at, name)

    def _exchange(self, talk: _Talk, person: Actor, agent: Actor, clock: _Clock, session: str) -> Iterator[Event]:
        """Yield a turn of a person, what the agent does and answers, and a fact that the agent keeps, perhaps."""
        rng = self._rng
        asked = self._kept(talk, self._some(talk.topic.people, 2), "turn", person, clock.next(), session)
        yield from (asked, *self._stated(asked))
        if rng.random() < 0.4:
            yield self._action(talk, clock.next(), session)
        answered = self._kept(talk, self._some(talk.topic.agents, 4), "turn", agent, clock.next(), session)
        yield from (answered, *self._stated(answered))
        if rng.random() < 0.35:
            fact = self._kept(talk, self._fact(talk), "fact", agent, clock.next(), session)
            talk.facts.append(fact)
            del talk.facts[:-KNOWN_IDS]
            yield fact

    def _fact(self, talk: _Talk) -> str:
        """Return a fact: a new one, one that is said again in other words, or one whose value has changed."""
        rng, lot = self._rng, self._rng.random()
        if lot < 0.4 or not talk.facts:
            return rng.choice(talk.topic.agents)
        text = text_of(rng.choice(talk.facts))
        if lot < 0.55 and (found := _NUMBER.search(text)) is not None:
            return f"{text[: found.start()]}{int(found[0]) + rng.randint(1, 9)}{text[found.end() :]}"
        return rng.choice(OPENERS) + text + rng.choice(ENDINGS)

    def _some(self, among: Sequence[str], most: int) -> str:
        """Return up to so many sentences that stand beside each other, now and then with an opener."""
        first = self._rng.randrange(len(among))
        text = " ".join(among[first : first + self._rng.randint(1, most)])
        return self._rng.choice(OPENERS) + text if self._rng.random() < 0.1 else text

    def _action(self, talk: _Talk, at: int, session: str) -> Event:
        words = _WORD.findall(self._rng.choice(talk.topic.agents).lower()) or ["main"]
        path = f"src/{self._rng.choice(words)}.py"
        act = self._rng.choice(("edit", "command", "test"))
        if act == "edit":
            return self._captured(f"edited {path}", "turn", TOOL, at, session, action_tags("edit"), path)
        exit = self._rng.choice((0, 0, 0, 1))
        tags = action_tags("test" if act == "test" else "command", exit)
        return self._captured(f"ran `python {path}`: exit {exit}", "turn", TOOL, at, session, tags)

    def _stated(self, turn: Event) -> Iterator[Event]:
        """Yield what the rules take from a turn."""
        if isinstance(turn.body, Captured) and turn.body.kind == "turn":
            found = statements(turn.body.text, turn.at, of_agent=turn.actor.origin == "agent")
            yield from (statement_event(turn, place, it, turn.sent + US_PER_S) for place, it in enumerate(found))

    def _recalled(self, talk: _Talk, agent: Actor, at: int, session: str) -> Event | None:
        """Return a search that some texts answered: of the topic, of one that was dropped, or what was said once."""
        rng, known, lot = self._rng, talk.texts, self._rng.random()
        if lot < 0.1:
            known = self._once
        elif lot < 0.25 and self._dropped:
            known = rng.choice(self._dropped).texts
        known = _before(known, at)
        if not known:
            return None
        body = Recalled(
            after=0,
            filters=NO_FILTERS,
            lanes=("sparse", "hot", "fresh"),
            limit=10,
            now=at,
            passes=1,
            query=rng.choice(talk.topic.people),
            quotas={},
            results=tuple(event.id for event in rng.sample(known, min(len(known), 8))),
            revision=0,
            trace=(),
            watermark=(),
        )
        return self._event("recalled", body, agent, at, session)

    def _used(self, recall: Event, agent: Actor, at: int, session: str) -> Event:
        assert isinstance(recall.body, Recalled)
        ids = tuple(self._rng.sample(recall.body.results, min(len(recall.body.results), self._rng.randint(1, 3))))
        return self._event("used", Used(ids=ids, recall=recall.id), agent, at, session)

    def _kept(self, talk: _Talk, text: str, kind: Kind, actor: Actor, at: int, session: str) -> Event:
        """Return a text of a topic, which can be recalled from now on."""
        made = self._captured(text, kind, actor, at, session)
        talk.texts.append(made)
        del talk.texts[:-KNOWN_IDS]
        return made

    def _captured(
        self,
        text: str,
        kind: Kind,
        actor: Actor,
        at: int,
        session: str,
        tags: tuple[str, ...] = (),
        path: str | None = None,
        id: str | None = None,
    ) -> Event:
        body = Captured(
            branch=None,
            importance_given=None,
            kind=kind,
            media=(),
            part=None,
            path=path,
            source="team",
            tags=tags,
            text=text,
        )
        return self._event("captured", body, actor, at, session, id)

    def _event(self, type: str, body: Body, actor: Actor, at: int, session: str, id: str | None = None) -> Event:
        self._made += 1
        return Event(
            actor=actor,
            at=at,
            body=body,
            id=id or derived_id(type, self._scope, "team", str(self._made)),
            refs=(),
            scope=self._scope,
            sent=at,
            session=session,
            type=type,
            v=version_of(type),
        )


def text_of(event: Event) -> str:
    """Return the text of a capture."""
    assert isinstance(event.body, Captured)
    return event.body.text


def _before(events: Sequence[Event], at: int) -> list[Event]:
    """Return what had been said at a time: sessions of a day are made one after the other, and may overlap."""
    return [event for event in events if event.sent < at]


class _Clock:
    """The time in a session: each look is half a minute to two minutes after the one before."""

    def __init__(self, start: int, rng: Random) -> None:
        self._at, self._rng = start, rng

    def next(self) -> int:
        """Return the time, in microseconds."""
        self._at += self._rng.randrange(30 * US_PER_S, 120 * US_PER_S)
        return self._at
