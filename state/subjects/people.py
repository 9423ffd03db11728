"""The people and projects of a scope: speakers and named ones, by name, with the days on which they spoke.

The state follows from the captures. A name is shown once it was heard or named three times, and at most 50
names are: invented names fill no more pages. A person's valid statements are in the memories.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from memtape.schemas.events import PEOPLE, SPEAKING, Captured, Event
from memtape.schemas.rows import Change, Context
from memtape.schemas.times import DAY_US
from memtape.state.subjects.captures import Capture, HasCaptures
from memtape.state.text.named import PROJECT_KEY, is_named, key_of_name, people_named, projects_named

PEOPLE_TOLD = 50
LEAST_HEARD = 3
MOST_KNOWN = 1_024
"""Names stored at once; beyond, the oldest name not shown is dropped."""
NAMED_KEPT = 20
_NAMING = ("turn", "fact", "insight", "goal", "plan")


class Person(msgspec.Struct):
    """A person or project by name, as first written. `is_agent` says whether an agent spoke under the name.

    `spoke` counts by day, in days since 1970, the visible captures by them. `named` are the seqs of the last
    captures by others that name them.
    """

    name: str
    is_agent: bool = False
    spoke: dict[int, int] = {}
    named: list[int] = []


class People(msgspec.Struct, array_like=True):
    """The people of a scope by `key_of_name`, in order of appearance; readers see the `told` ones."""

    known: dict[str, Person] = {}
    told: dict[str, None] = {}

    def named_in(self, seqs: Collection[int]) -> list[str]:
        """Return the told people whom captures name."""
        return [key for key in self.told if any(seq in seqs for seq in self.known[key].named)]


def evolve(state: People, event: Event, context: Context[HasCaptures]) -> list[Change]:
    """Apply a capture: its speaker and the people named in it; and the captures hidden or shown."""
    touched: dict[str, None] = {}
    by_seq = context.of.captures.by_seq
    for seq in dict.fromkeys(context.flipped):
        if seq != context.seq:
            _hear(state, by_seq[seq], -1 if by_seq[seq].hidden else 1, touched)
    if isinstance(event.body, Captured):
        capture = by_seq[context.seq]
        if not capture.hidden and not capture.made:
            _hear(state, capture, 1, touched)
            if capture.kind in _NAMING and capture.turn < 0:
                _name(state, capture, event.body.text, touched)
    return [Change("people", context.scope, key) for key in touched]


def _hear(state: People, capture: Capture, count: int, touched: dict[str, None]) -> None:
    """Add `count` to the captures of a speaker on the capture's day."""
    if capture.actor.origin not in SPEAKING or capture.turn >= 0 or capture.made:
        return
    key = key_of_name(capture.actor.name)
    person = _known(state, capture.actor.name, key)
    if person is None:
        return
    day, before = capture.at // DAY_US, (days_of(person), person.is_agent)
    person.is_agent |= capture.actor.origin == "agent"
    person.spoke[day] = person.spoke.get(day, 0) + count
    if person.spoke[day] <= 0:
        del person.spoke[day]
    if _is_told(state, key, person, touched) and (days_of(person), person.is_agent) != before:
        touched[key] = None


def _name(state: People, capture: Capture, text: str, touched: dict[str, None]) -> None:
    """Record the people named in a text: by words used of people alone, or known already.

    Agents write long texts in turns, about real and invented people: there only known people are looked for.
    """
    own = key_of_name(capture.actor.name)
    is_of_agent = capture.kind == "turn" and capture.actor.origin not in PEOPLE
    found: dict[str, str] = {}
    if not is_of_agent:
        found |= {key_of_name(name): name for name in people_named(text)}
        found |= {PROJECT_KEY + key_of_name(name): name for name in projects_named(text)}
    known = ((key, state.known[key].name) for key in state.told)
    found |= {key: name for key, name in known if is_named(name, text)}
    for key, name in found.items():
        person = _known(state, name, key) if key != own else None
        if person is None:
            continue
        person.named.append(capture.seq)
        del person.named[:-NAMED_KEPT]
        if _is_told(state, key, person, touched):
            touched[key] = None


def days_of(person: Person) -> tuple[int, int] | None:
    """Return the first and the last day of a person's captures, None without captures."""
    return (min(person.spoke), max(person.spoke)) if person.spoke else None


def _known(state: People, name: str, key: str) -> Person | None:
    if not key:
        return None
    person = state.known.get(key)
    if person is None:
        if len(state.known) >= MOST_KNOWN:
            del state.known[next(key for key in state.known if key not in state.told)]
        person = state.known[key] = Person(" ".join(name.split()), spoke={}, named=[])
    return person


def _is_told(state: People, key: str, person: Person, touched: dict[str, None]) -> bool:
    """Return whether a person is shown to readers, from now on if named often enough."""
    heard = sum(person.spoke.values()) + len(person.named)
    if key not in state.told and len(state.told) < PEOPLE_TOLD and heard >= LEAST_HEARD:
        state.told[key] = None
        touched[key] = None
    return key in state.told
