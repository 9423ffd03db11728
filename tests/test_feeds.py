"""What a subject feeds is what its rule can change: each is disturbed in turn, and all rows and pages are looked at."""

from __future__ import annotations

import itertools
import random
import re
from functools import cache
from typing import Any

import msgspec
import pytest
from builders import (
    QUICK,
    START,
    TINY,
    archived,
    as_seen,
    captured,
    configured,
    decided,
    embedded,
    forgotten,
    make_id,
    pinned,
    recalled,
    slots,
    used,
    withdrawn,
)
from test_golden_log import golden_slots, pages_by_scope

from memtape.schemas.events import Captured, Event, Operation, make_tick
from memtape.schemas.log import Slot
from memtape.schemas.rows import ALL_FED
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US
from memtape.state.core import scope as scopes
from memtape.state.core.context import Context
from memtape.state.core.digests import changed_rules, fed_by, rows_digest, rules_version
from memtape.state.core.replay import Replay, replay
from memtape.state.core.scope import SUBJECTS
from memtape.state.core.subject import Subject
from memtape.state.views.rows import all_changes, row_of

SEEDS = (3, 0, 1)
HOW = ("folded", "forgotten", "withdrawn", "echo", "banned")
DISPUTED = ("withdrawn", "echo", "folded", "banned", "covered")
SCOPES_EACH = 3
WORDED, COUNTED = "our build takes fifteen minutes", "the build takes 15 minutes"


def answered(how: str, scope: str) -> list[Event]:
    """An answer carries the second wording of a memory. Whether that uses it depends on which of them speaks for it."""
    fields: dict[str, Any] = {"scope": scope, "origin": "agent", "session": "s"}
    known = fields | {"session": "t"}  # What the session itself has said, its answers do not use.
    shown = [recalled(["worded"], "shown", sent=START + 1, **fields)] if how == "echo" else []
    hide = {"forgotten": forgotten, "withdrawn": withdrawn}.get(how)
    gone = [hide(["counted"], "gone", sent=START + 3, **fields)] if hide else []
    # What was forgotten twice says the same as the second wording, and not as the first.
    twice = [
        captured("The build takes 15 minutes.", "first", **fields),
        embedded("first", [3064, 2571, 0], scope=scope),
        *(forgotten(["first"], f"forgotten {number}", **fields) for number in range(2)),
    ]
    return [
        *(twice if how == "banned" else []),
        captured(WORDED, "worded", **known),
        embedded("worded", [4000, 0, 0], scope=scope),
        captured("The keeper is called Marisol Ferreira.", "keeper", **known),
        *shown,
        captured(COUNTED, "counted", sent=START + 2, **fields),
        embedded("counted", [3864, 1035, 0], scope=scope),
        *gone,
        recalled(["worded", "keeper"], "asked", sent=START + 4, **fields),
        captured("Marisol Ferreira, 15 in all.", "told", "turn", sent=START + 5, **fields),
    ]


def disputed(how: str, scope: str) -> list[Event]:
    """Two values of one thing, which are asked about unless one is withdrawn or was only echoed; a fold affirms one.

    Where another text stands for both, a model's word that one is in conflict with something comes too late.
    """
    fields: dict[str, Any] = {"scope": scope, "session": "s"}
    of_agent = fields | {"origin": "agent"}
    fields = of_agent if how == "banned" else fields  # A person who says it again ends a ban.
    events = [
        captured("The staging database listens on port 5433.", "old", **fields),
        embedded("old", [4000, 0, 0], scope=scope),
        captured("The staging database listens on port 5434.", "new", sent=START + 1, **fields),
        embedded("new", [0, 4000, 0], scope=scope),
    ]
    again = captured("The staging database listens on port 5433.", "again", sent=START + 3, **of_agent)
    alike = captured("Note that the staging database listens on port 5433.", "alike", sent=START + 3, **fields)
    text = captured("The staging database listens on port 5434, before on 5433.", "told", sent=START + 5, **fields)
    apart = Operation(by=make_id("new"), ids=(make_id("besides"),), op="conflict")
    both = Operation(by=text.id, ids=(make_id("old"), make_id("new")), op="replace")
    affirming = {
        "withdrawn": [
            withdrawn(["new"], "gone", sent=START + 2, **fields),
            used(["old"], "so", sent=START + 3, **fields),
        ],
        "echo": [recalled(["old"], "shown", sent=START + 2, **of_agent), again],
        "folded": [alike, embedded("alike", [4000, 0, 0], scope=scope)],
        "banned": [used(["old"], "so", sent=START + 3, **fields)],
        "covered": [
            captured("Backups run at night.", "besides", sent=START + 3, **fields),
            embedded("besides", [-4000, 0, 0], scope=scope),
            decided(["old", "new"], [both], "is covered", sent=START + 5, **fields),
            text,
            embedded("told", [0, 0, 4000], scope=scope),
            decided(["new", "besides"], [apart], "comes late", sent=START + 6, **fields),
        ],
    }
    # What was forgotten twice says the same as the newer one, in other words.
    twice = [
        captured("Note that the staging database listens on port 5434.", "first", **fields),
        embedded("first", [0, 4000, 0], scope=scope),
        *(forgotten(["first"], f"forgotten {number}", **fields) for number in range(2)),
    ]
    return [
        *(twice if how == "banned" else []),
        *events,
        *affirming[how],
        used(["new"], "too", sent=START + 4, **fields),
    ]


def aged(scope: str) -> list[Event]:
    """Whatever was said in a scope grows old with some texts that are said besides, until it leaves the views."""
    besides: list[Event] = []
    fields: dict[str, Any] = {"scope": scope, "session": "s", "origin": "agent"}
    for place in ("one", "two", "three", "four"):
        besides += [
            captured(f"Row {place} of {scope}.", f"{kind} {place}", kind, **fields) for kind in ("fact", "turn")
        ]
        besides.append(embedded(f"fact {place}", [0, 0, 4000], scope=scope))
    text = captured(f"Rows of {scope}.", "rows", **fields)
    seen = Operation(by=text.id, ids=(make_id("fact three"), make_id("fact four")), op="add")
    return [
        *besides,
        decided(["fact three", "fact four"], [seen], "rows are made", **fields),
        text,
        embedded("rows", [0, 4000, 0], scope=scope),
        withdrawn(["fact one", "turn one"], "one is gone", **fields),
        pinned(["fact two", "turn two"], "two stays", **fields),
        used(["turn four"], "four is used", **fields),
        archived(["fact three"], "three is away", **fields),
        recalled(["fact three"], "three is shown", **fields),
        captured(f"Row three of {scope}.", "three again", **fields),
        captured(
            "We still need to renew the certificate of api.example.org.", "open", "turn", scope=scope, session="t"
        ),
        archived([] if "banned" in scope else ["worded", "new"], "away", **fields),
    ]


def fed(replayed: Replay) -> dict[str, Any]:
    """All that the views hold, by the name of what is fed."""
    rows: dict[str, list[Any]] = {name: [] for name in ALL_FED}
    for partition in replayed.partitions.values():
        for scope in partition.scopes.values():
            for change in all_changes(scope):
                if change.table in rows:
                    rows[change.table].append(row_of(scope, change))
    pages = [pages_by_scope(partition) for partition in replayed.partitions.values()]
    return {name: rows_digest(found) for name, found in rows.items()} | {"vault": pages}


def otherwise(subject: Subject, seed: int = 0) -> Subject:
    """A subject under another rule: of some events it sees nothing, or, where others need it to, something else."""

    def evolve(state: Any, event: Event, context: Context[Any]) -> list[Any]:
        if random.Random(f"{seed} {event.id}").random() < 0.5:
            return subject.evolve(state, event, context)
        if subject.name == "captures" and isinstance(event.body, Captured):
            body = msgspec.structs.replace(event.body, text=f"{event.body.text} Otherwise.")
            subject.evolve(state, msgspec.structs.replace(event, body=body), context)
            state.by_seq[context.seq].id += "x"
        return []

    return subject._replace(evolve=evolve)


def with_one(subject: Subject) -> tuple[Subject, ...]:
    """The table of subjects with another in the place of its name."""
    return tuple(subject if subject.name == other.name else other for other in SUBJECTS)


def answers() -> list[Slot]:
    """A log of answers."""
    said = [event for how in HOW for number in range(SCOPES_EACH) for event in answered(how, f"project:{how}-{number}")]
    asked = (f"project:disputed-{how}-{number}" for how in DISPUTED for number in range(SCOPES_EACH))
    said += [event for scope in asked for event in disputed(scope.split("-")[1], scope)]
    said += [event for scope in dict.fromkeys(event.scope or "" for event in said) for event in aged(scope)]
    quick = Settings(**QUICK | {"dormant_after_days": -1, "mid_retention_hundredths": 40}, embedder=TINY)
    days = [make_tick(0, START + day * DAY_US) for day in (2, 3, 9, 10, 12)]
    return slots([configured(Settings(embedder=TINY)), *as_seen(said), configured(quick, 1), *days])


LOGS = {"answers": answers, "golden": golden_slots}


@cache
def log_of(name: str) -> list[Slot]:
    return LOGS[name]()


@cache
def fed_as_it_is(name: str) -> dict[str, Any]:
    return fed(replay(log_of(name)))


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_a_subject_feeds_what_its_rule_can_change_and_nothing_else(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logs are replayed under another rule, and under more of them, until all has changed that can."""
    found: dict[str, None] = {}
    for seed, name in itertools.product(SEEDS, LOGS):
        found |= changed_under(subject, seed, [name], monkeypatch)
        if len(found) == len(subject.feeds):
            break
    assert sorted(found) == sorted(subject.feeds)


def changed_under(subject: Subject, seed: int, names: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, None]:
    """What of the views of any of these logs is another where a subject has another rule."""
    monkeypatch.setattr(scopes, "SUBJECTS", SUBJECTS)
    before = {name: fed_as_it_is(name) for name in names}
    monkeypatch.setattr(scopes, "SUBJECTS", with_one(otherwise(subject, seed)))
    found: dict[str, None] = {}
    for name, held in before.items():
        after = fed(replay(log_of(name)))
        found |= {fed: None for fed in ALL_FED if held[fed] != after[fed]}
    return found


def test_what_changed_rules_feed_is_read_from_their_names() -> None:
    recorded = rules_version()
    assert changed_rules(recorded) == []
    assert changed_rules(recorded.replace("usage=", "usage=9")) == ["usage"]
    by_usage = ["edges", "vault", "turns", "memories", "summaries", "archive", "vectors", "uses", "conflicts"]
    assert fed_by(["edges", "usage"]) == by_usage
    assert fed_by(["turns.columns"]) == ["turns", "vault"]
    new = re.sub(r"edges=\d+,", "", recorded)  # As it was before there was such a subject.
    assert fed_by(changed_rules(new)) == ["edges", "vault"]
    for rules in (f"{recorded},gone=1", re.sub(r"views=\d+", "views=0", recorded), recorded + ".1", "", "anything"):
        assert fed_by(changed_rules(rules)) == list(ALL_FED), rules
