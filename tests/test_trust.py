"""The lists of a log: from an event on, who speaks as a person there, the same for every reader."""

from __future__ import annotations

from builders import captured, configured, make_id, slots
from replaying import replay

from memtape.schemas.events import Actor, Event, is_trusted, may_write
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.settings import Settings

LISTS = Settings(trusted_origins={"ada": "user", "keeper": "operator"})


def told(number: int, actor: str, origin: str, scope: str = "project:a") -> Event:
    return captured(f"text {number}", f"id {number}", scope=scope, actor=actor, origin=origin)


def test_from_the_lists_on_who_is_not_named_is_no_person() -> None:
    events = [
        configured(),
        told(1, "bob", "user"),
        configured(LISTS, revision=1),
        told(2, "bob", "user"),
        told(3, "ada", "user"),
        told(4, "ada", "operator"),
        told(5, "keeper", "user"),
        told(6, "bob", "agent"),
        told(7, "codex", "agent", GLOBAL),
        told(8, "keeper", "operator", GLOBAL),
    ]
    partition = replay(slots(events)).partitions[0]
    captures = [scope.captures for scope in partition.scopes.values()]
    heard = [n for n in range(1, 9) if any(its.get(make_id(f"id {n}")) is not None for its in captures)]
    assert heard == [1, 3, 5, 6, 8]
    assert partition.counters.ignored == 3 and not partition.counters.dead_letters


def test_without_lists_everybody_is_who_they_say() -> None:
    assert is_trusted(Actor(name="bob", origin="operator"), Settings())
    assert may_write(told(1, "bob", "operator", GLOBAL), Settings())
