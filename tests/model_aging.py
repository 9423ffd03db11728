"""The naive model of aging: at each tick every text is looked at, and what it is worth is added up anew.

The rules of `state/subjects/lifecycle.py` and `state/lifecycle/`, written a second time. Only what a group of
texts says in short (`summed`), and whether a text says what is wanted from now on (`instructs`), is taken
from the code, and has tests of its own.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil, log
from typing import Any

from memtape.schemas.ids import derived_id
from memtape.state.lifecycle.summing import summed
from memtape.state.text.instructions import heard_in
from memtape.state.text.reading import read

HOUR = 3_600_000_000
DAY = 24 * HOUR
WEEK = 7 * DAY
MONDAY = 4 * DAY
"""The first Monday of the era."""
AGING = {"turn": "turn", "fact": "fact", "insight": "fact", "journal": "journal"}
MOST_MOVED = 500
LEAST = 3
STEPS = ("", "mid", "long", "archive", "purge")
WORTH = ("deadline", "todo", "urgent", "risk", "decision", "blocker", "meeting", "action item", "milestone",
         "bug", "incident", "follow up")  # fmt: skip
HAPPENS = ("captured", "recalled", "used", "pinned", "archived", "forgotten", "restored", "unfolded",
           "linked", "edited", "settled")  # fmt: skip
HAPPENINGS = (
    "short to mid", "mid to long", "joined a summary", "cut", "too little room", "archived by age",
    "archived by hand", "back by use", "back by pin", "back by hand", "said again", "two became one",
    "purged", "purged and back", "off", "settings changed", "wanted from now on", "dormant", "project purged",
    "woken when purged", "woken by a commit", "finished", "resumed",
    *(f"woken by {type}" for type in HAPPENS),
    *(f"lost a source by {type}" for type in ("forgotten", "withdrawn", "unfolded", "embedded")),
)  # fmt: skip
"""All that can happen to texts that age. What is erased was never said, for who knows the whole log."""

Unit = dict[str, Any]
"""A turn, or a memory: its `id` (of the first capture), `members`, those that live, and `ids` with echoes."""
Group = tuple[int, str, int, str]
"""What is summed up together: its level, kind, start and label."""


class Aging:
    """How a scope's texts age, and how the project stands."""

    def __init__(self, scope: Any) -> None:
        self.scope = scope
        self.tiers: dict[str, str] = {}
        self.archived: dict[str, tuple[int, str]] = {}
        self.purged: list[str] = []
        self.groups: dict[Group, list[str]] = {}
        self.state, self.since, self.name, self.is_purged = "active", 0, "", False
        self.happened, self.git_at, self.at = 0, 0, 0
        self.by = ""
        self.settings: Any = None
        self.met: dict[str, None] = {}

    def units(self) -> list[Unit]:
        """Return everything that can be archived, in the order of the first captures."""
        turns = [it for it in self.scope.captures if it["body"]["kind"] == "turn"]
        found = [{"first": it, "members": [it], "ids": [it["id"]], "kind": "turn"} for it in turns]
        for memory in self.scope.memories:
            first, how, _ = memory["members"][0]
            members, ties = memory["members"], (*memory["members"], *memory["echoes"])
            ids, kind = [tie[0]["id"] for tie in ties], AGING.get(first["body"]["kind"])
            unit = {"first": first, "members": [member for member, _, _ in members], "ids": ids}
            found.append({**unit, "kind": kind, "is_made": how == "decided"})
        found.sort(key=lambda unit: unit["first"]["seq"])
        for unit in found:
            unit["id"] = unit["first"]["id"]
            unit["living"] = [member for member in unit["members"] if not self.scope.hidden(member)]
            unit["said"] = max(member["at"] for member in unit["living"] or [unit["first"]])
        return found

    def take(self, event: dict[str, Any], before: list[Unit], used: list[str], clock: int) -> None:
        """Take in an event after all else has; `before` are the units that were there before it."""
        type, body, units = event["type"], event["body"], self.units()
        sources = self._sources(before)
        self.by, self.at = type, max(clock, event.get("at", 0))
        if type in HAPPENS and body is not None:
            self.happened = clock
            self._wake()
        back = [*used]
        if body is not None and type in ("archived", "pinned"):
            named = [unit for unit in units if not {*unit["ids"]}.isdisjoint(body["ids"])]
            if type == "archived" and body["on"]:
                for unit in named:
                    self.met["archived by hand"] = None
                    self.archived.setdefault(unit["id"], (clock, "asked"))
            elif type == "archived" or body["on"]:
                back += [unit["id"] for unit in named]
        was = {unit["id"]: [member["id"] for member in unit["members"]] for unit in before}
        for unit in units:
            again = [it["id"] for it in unit["living"] if it["id"] not in was.get(unit["id"], unit["ids"])]
            # What was a memory of its own is said again too.
            again += [id for id in unit["ids"] if id in was and id != unit["id"]]
            if again or not {*unit["ids"]}.isdisjoint(back):
                self._come_back(unit, again, was, used)
        self._drop({unit["id"] for unit in units})
        if type == "scope_changed" and body is not None:
            self._change(body, clock)
        if {*sources} - {*self._sources(units)}:
            self.met[f"lost a source by {type}"] = None

    def _sources(self, units: list[Unit]) -> list[str]:
        """Return the captures that summaries say, by the units as they are."""
        summed_up = [id for ids in self.groups.values() for id in ids]
        living = [it["living"] for it in units if it["living"] and it["id"] in summed_up]
        return [self.scope.spoken(members)["id"] for members in living]

    def _come_back(self, unit: Unit, again: list[str], was: dict[str, Any], used: list[str]) -> None:
        """Let a unit be there again, and note why."""
        if self.archived.pop(unit["id"], None) is None:
            return
        whys = {"pinned": "back by pin", "archived": "back by hand"}
        why = whys.get(self.by, "said again" if again else "")
        why = "back by use" if not {*unit["ids"]}.isdisjoint(used) else why
        self.met["two became one" if {*again} & {*was} else why] = None
        if unit["id"] in self.purged:
            self.met["purged and back"] = None

    def _drop(self, living: set[str]) -> None:
        """Forget what is no unit any more, since it became one with another."""
        self.tiers = {id: tier for id, tier in self.tiers.items() if id in living}
        self.archived = {id: how for id, how in self.archived.items() if id in living}
        self.purged = [id for id in self.purged if id in self.archived]
        for key, ids in self.groups.items():
            self.groups[key] = [id for id in ids if id in living]

    def summary_id(self, key: Group) -> str:
        """Return the id of a summary, which follows from what tells it from others."""
        level, kind, start, label = key
        return derived_id("summary", self.scope.name, None, f"{start}:{level}:{kind}:{label}")

    def _change(self, body: dict[str, Any], clock: int) -> None:
        self.name = self.name if body["name"] is None else body["name"]
        self.git_at = max(self.git_at, min(body["git_at"] or 0, clock))
        if body["state"] is not None:
            self.happened = clock
            if body["state"] != self.state:
                self._stand(body["state"], self.at)
        elif self.git_at > self.since:
            self.by = "a commit"
            self._wake()

    def _wake(self) -> None:
        if self.state == "dormant":
            self.met[f"woken by {self.by}"] = None
            if self.is_purged:
                self.met["woken when purged"] = None
            self._stand("active", self.at)

    def _stand(self, how: str, since: int) -> None:
        self.met["resumed" if self.state == "finished" else how] = None
        self.state, self.since, self.is_purged = how, since, False

    def turn(self, clock: int, settings: Any) -> None:
        """Let a tick that moved the clock move what is due."""
        if not settings.lifecycle:
            if any(self._step(unit, clock, settings) for unit in self.units()):
                self.met["off"] = None
            return
        if self.tiers and self.settings not in (None, settings):
            self.met["settings changed"] = None
        self.settings = settings
        groups: dict[tuple[int, int, str, str], list[Unit]] = {}
        for unit in self.units():
            step = self._step(unit, clock, settings)
            if step:
                groups.setdefault(self._group(unit, step), []).append(unit)
        left = MOST_MOVED
        for key in sorted(groups):
            due = sorted(groups[key], key=lambda it: (it["said"], it["first"]["seq"]))
            left -= self._move(key, due, left, clock)
        self._rest(clock, settings)

    def _rest(self, clock: int, settings: Any) -> None:
        """Let a project in which nothing happens be dormant, and then leave the views."""
        if self.scope.name == "global":
            return
        after, purge = settings.dormant_after_days, settings.purge_after_days
        if self.state == "active" and after >= 0 and max(self.happened, self.git_at) + after * DAY <= clock:
            self._stand("dormant", clock)
        elif self.state == "dormant" and purge >= 0 and self.since + purge * DAY <= clock:
            self.is_purged = True
            self.met["project purged"] = None

    def _step(self, unit: Unit, clock: int, settings: Any) -> int:
        """Return the step that a unit is due for, as its place in `STEPS`, 0 for none."""
        if unit["id"] in self.archived:
            due = self.archived[unit["id"]][0] + settings.purge_after_days * DAY
            may = settings.purge_after_days >= 0 and self.state != "finished"
            return 4 if may and due <= clock and unit["id"] not in self.purged else 0
        if unit["kind"] is None or unit.get("is_made") or self._pinned(unit) or not unit["living"]:
            return 0
        said, tier = unit["said"], STEPS.index(self.tiers.get(unit["id"], ""))
        if tier < 2:
            due = (day_of(said) + DAY, week_of(said) + WEEK)[tier]
            due += (settings.mid_after_days, settings.long_after_days)[tier] * DAY
            limit = (settings.mid_retention_hundredths, settings.long_retention_hundredths)[tier]
            return tier + 1 if due <= clock and self.retention(unit, clock) <= limit * 10_000 else 0
        seen = any(self.scope.uses.recalled[id] or id in self.scope.uses.used for id in unit["ids"])
        after = settings.archive_after_days
        if seen or after < 0 or said + after * DAY > clock:
            return 0
        speaks = self.scope.spoken(unit["living"])
        if speaks["origin"] in ("user", "operator") and heard_in(read(speaks["body"]["text"])).instructs:
            self.met["wanted from now on"] = None
            return 0
        return 3

    def _group(self, unit: Unit, step: int) -> tuple[int, int, str, str]:
        """Return the group of a unit: where it starts, the step, its kind, and its label."""
        first, kind = unit["first"], str(unit["kind"])
        if step == 1:
            label = first["session"] if kind == "turn" and first["session"] is not None else first["actor"]
            return day_of(unit["said"]), step, kind, label
        if step == 2:
            return week_of(unit["said"]), step, kind, ""
        return day_of(unit["said"] if step == 3 else self.archived[unit["id"]][0]), step, "", ""

    def _move(self, key: tuple[int, int, str, str], units: list[Unit], left: int, clock: int) -> int:
        start, step, kind, label = key
        needs = LEAST if step in (1, 2) and (step, kind, start, label) not in self.groups else 1
        moved = units[:left]
        if len(moved) < needs:
            if len(units) >= needs > 1 and left:
                self.met["too little room"] = None
            return 0
        if len(moved) < len(units):
            self.met["cut"] = None
        if step < 3 and (step, kind, start, label) in self.groups:
            self.met["joined a summary"] = None
        self.met[("", "short to mid", "mid to long", "archived by age", "purged")[step]] = None
        for unit in moved:
            if step == 4:
                self.purged.append(unit["id"])
            elif step == 3:
                self.archived[unit["id"]] = clock, "age"
            else:
                self.tiers[unit["id"]] = STEPS[step]
                self.groups.setdefault((step, kind, start, label), []).append(unit["id"])
        return len(moved)

    def _pinned(self, unit: Unit) -> bool:
        return any(id in self.scope.pinned for id in unit["ids"])

    def retention(self, unit: Unit, clock: int) -> int:
        """Return what a unit is worth, in millionths."""
        used = [at for id in unit["ids"] for at in self.scope.uses.used.get(id, [])]
        speaks = self.scope.spoken(unit["living"])
        age = clock - max([unit["said"], *used])
        recency = min(350_000, max(0, ceil(350_000 * (1 - Fraction(age, 180 * DAY)))))
        access = round(300_000 * log(1 + min(9, len(used) + len(unit["living"]) - 1)) / log(10))
        given = [member["body"]["importance_given"] or 0 for member in unit["living"]]
        importance = 250_000 * max(25 * min(4, keywords(speaks["body"]["text"])), 0, *given) // 100
        media = 70_000 if any(member["body"]["media"] for member in unit["living"]) else 25_000
        return min(1_000_000, recency + access + importance + media + 300_000 * self._pinned(unit))

    def of(self, id: str) -> dict[str, Any]:
        """Return what the row of a unit says of its age, by the id of its first capture."""
        archived = self.archived.get(id)
        return {"tier": self.tiers.get(id, "short"), "archived_at": archived[0] if archived else None}

    def gone(self, id: str) -> bool:
        """Whether a unit's rows have left the views."""
        return self.is_purged or id in self.purged

    def is_away(self, row: dict[str, Any]) -> bool:
        """Whether a row is archived, by itself or with what was said before its project was finished."""
        return row["archived_at"] is not None or (self.state == "finished" and row["at"] <= self.since)

    def summary_rows(self) -> list[dict[str, Any]]:
        """Return every summary of which a source is left."""
        units = {unit["id"]: unit for unit in self.units()}
        rows = []
        for key, ids in self.groups.items():
            level, kind, start, label = key
            own = [unit for id in ids if (unit := units[id])["living"]]
            if not own:
                continue
            said = [self.scope.spoken(unit["living"]) for unit in own]
            ordered = sorted(said, key=lambda it: (it["at"], it["seq"]))
            short = summed(tuple((whole(it), it["actor"]) for it in ordered))
            times = [capture["at"] for capture in said]
            id, end = self.summary_id(key), start + (DAY if level == 1 else WEEK)
            rows.append({
                "text": "\n".join(short.highlights), "id": id, "key": self.scope.key(id),
                "scope": self.scope.name, "level": level, "kind": kind, "label": label, "since": start,
                "until": end, "first_at": min(times), "last_at": max(times),
                "highlights": list(short.highlights), "keywords": list(short.keywords),
                "quality": short.quality, "sources": [capture["id"] for capture in said],
            })  # fmt: skip
        return rows

    def archive_rows(self) -> list[dict[str, Any]]:
        """Return what is archived."""
        units = {unit["id"]: unit["first"] for unit in self.units()}
        rows = []
        for id, (at, why) in self.archived.items():
            own, of = units[id], {"key": self.scope.key(id), "id": id, "scope": self.scope.name}
            said = {"kind": own["body"]["kind"], "at": own["at"], "offset_of": own["offset"]}
            rows.append({**of, **said, "archived_at": at, "why": why, "purged": id in self.purged})
        return rows

    def mark(self) -> dict[str, Any]:
        """Return how the project stands, as a whole and in figures."""
        tiers = [tier for id, tier in self.tiers.items() if id not in self.archived]
        return {"state": self.state, "since": self.since, "name": self.name, "mid": tiers.count("mid"),
                "long": tiers.count("long"), "summaries": len(self.groups), "archived": len(self.archived),
                "purged": len(self.purged), "is_purged": self.is_purged}  # fmt: skip


def day_of(at: int) -> int:
    """Return where the UTC day of a time starts."""
    return at // DAY * DAY


def week_of(at: int) -> int:
    """Return where the week of a time starts, on a Monday."""
    return (at - MONDAY) // WEEK * WEEK + MONDAY


def keywords(text: str) -> int:
    """Return how many of the words that tell of importance a text has."""
    said = " ".join(re.findall(r"\w+", text.lower()))
    return sum(re.search(rf"\b{word}s?\b", said) is not None for word in WORTH)


def whole(capture: dict[str, Any]) -> str:
    """Return all that a capture says, captions included."""
    captions = [media["caption"] for media in capture["body"]["media"] if media["caption"]]
    return "\n".join([capture["body"]["text"], *captions])
