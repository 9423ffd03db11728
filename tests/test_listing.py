"""The list of memories: each filter, order and page against the rows, and what the tail changes."""

# ruff: noqa: F811  (fixtures are handed in by their names)

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.living import SCOPE
from page_served import living  # noqa: F401

from memtape.schemas.rows import MemoryRow, TurnRow, standing
from memtape.schemas.times import DAY_US, format_time
from memtape.tools.client import Client
from memtape.tools.query.listing import STANDINGS, ListQuery, listed_of

QUESTION = "bilge pump brass bell"


@pytest.fixture
def ada(living: Path, tmp_path: Path) -> Iterator[Client]:
    """A person's client of a copy of a home with life in it."""
    shutil.copytree(living, tmp_path / "home")
    with Client(tmp_path / "home", scope=SCOPE, actor="Ada", origin="user") as client:
        yield client


def rows_of(client: Client) -> list[MemoryRow | TurnRow]:
    """Return every memory and turn of the scope, as the tables have them."""
    opened = client.reader.opened(SCOPE)
    return [*opened.rows(MemoryRow), *opened.rows(TurnRow)]


def plainly(rows: list[MemoryRow | TurnRow], asked: dict[str, Any]) -> list[str]:
    """Return the ids of the rows that match, the latest first."""
    kinds, tags, actors = (asked.get(name, ()) for name in ("kinds", "tags", "actors"))
    wanted = asked.get("standings", STANDINGS[:3])
    found = [
        row
        for row in rows
        if (row.kind in kinds if kinds else row.kind != "turn")
        and all(tag in row.tags for tag in tags)
        and (not actors or row.actor.casefold() in map(str.casefold, actors))
        and (
            standing(row) in wanted or ("pinned" in wanted and row.pinned and standing(row) in STANDINGS[:3])
        )
        and asked.get("since_us", 0) <= row.at < asked.get("until_us", 1 << 60)
    ]
    return [row.id for row in sorted(found, key=lambda row: -row.at)]


def test_each_filter_lists_what_the_rows_say(ada: Client) -> None:
    for text in ("The mast is of spruce.", "The keel is of oak."):
        ada.capture(text, tags=("wood", text.split()[1]))
    ada.project()
    rows = rows_of(ada)
    middle = sorted(row.at for row in rows)[len(rows) // 2]
    asked: list[dict[str, Any]] = [
        {}, {"kinds": ["turn"]}, {"kinds": ["fact", "goal"]}, {"tags": ["wood"]}, {"tags": ["wood", "keel"]},
        {"actors": ["Ada"]}, {"actors": ["codex", "Ada"], "kinds": ["turn", "fact"]},
        {"actors": ["aDA"]}, {"actors": ["nobody"]}, *({"standings": [it]} for it in (*STANDINGS, "pinned")),
        {"standings": ["pinned", "forgotten"]}, {"since_us": middle - DAY_US}, {"until_us": middle},
    ]  # fmt: skip
    seen = dict[str, None]()
    for its in asked:
        times = {name[:-3]: format_time(at) for name, at in its.items() if name.endswith("_us")}
        named = {name: value for name, value in its.items() if not name.endswith("_us")}
        found, plain = ada.recent(1_000, **named, **times), plainly(rows, its)
        assert sorted(it.id for it in found.results) == sorted(plain) and found.count == len(plain), its
        assert [it.at for it in found.results] == sorted((it.at for it in found.results), reverse=True)
        seen |= dict.fromkeys(it.standing for it in found.results)
    assert {"valid", "replaced", "archived", "forgotten"} <= seen.keys()
    every = ada.recent(1)
    assert sum(every.standings[it] for it in STANDINGS) == len(rows) and "turn" in every.kinds


def test_orders_and_pages_show_each_memory_once(ada: Client) -> None:
    for sort in ("latest", "oldest", "uses", "kind", "actor"):
        whole = ada.recent(1_000, sort=sort)
        paged = [
            it for after in range(0, whole.count, 7) for it in ada.recent(7, after=after, sort=sort).results
        ]
        assert [it.id for it in paged] == [it.id for it in whole.results]
    uses = [it.uses for it in ada.recent(1_000, sort="uses").results]
    assert uses == sorted(uses, reverse=True) and uses[0] > 0
    actors = [it.actor.casefold() for it in ada.recent(1_000, sort="actor").results]
    assert actors == sorted(actors)
    assert ada.recent(5, after=100_000).results == ()


def test_the_list_has_what_is_said_and_decided_past_the_views(ada: Client) -> None:
    old, back = (ada.recent(1, standings=its).results[0].id for its in (["valid"], ["forgotten"]))

    def listed(*standings: Any) -> list[str]:
        """List without a projection, from the views and the log behind them."""
        asked = ListQuery(limit=1_000, standings=standings)
        return [it.id for it in ada.reader.reading(lambda views: listed_of(views, SCOPE, asked)).results]

    assert old in listed() and back not in listed()
    new = ada.capture("The bilge pump lies under the bench.").id
    ada.forget(old, reason="it is gone")
    ada.restore(back)
    for projects in (False, True):
        if projects:
            ada.project()
        assert {new, back} <= set(listed()) and old not in listed()
        assert old in listed("forgotten") and not {new, back} & set(listed("forgotten"))


def test_pins_and_archives_past_the_views_stand_as_they_do_once_projected(ada: Client) -> None:
    """Rows and captures of the tail, in the list, a search with archived texts, and opened alone."""

    def seen() -> list[Any]:
        listed = ada.recent(1_000, standings=[*STANDINGS, "pinned"])
        every = [(it.id, it.standing, it.pinned, it.marks) for it in listed.results]
        opened = [it.memory or it.turn for it in map(ada.show, ids[:5])]
        marked = [it and (it.id, it.pinned, it.archived_at is None) for it in opened]
        searched = [ada.search(QUESTION, 50, quiet=True, archived=its).results for its in (False, True)]
        found = [{it.id for it in results} & set(ids) for results in searched]
        return [sorted(every), listed.standings, marked, found]

    valid = [it.id for it in ada.recent(200).results if not it.pinned]
    unpinned, back = (ada.recent(1, standings=[its]).results[0].id for its in ("pinned", "archived"))
    ids = [*valid[:3], unpinned, back]
    with ada.home.lock("projector"):
        ids += [ada.capture(text).id for text in ("The bilge pump is old.", "A brass bell hangs aft.")]
        for id in (ids[0], ids[5]):
            ada.pin(id)
        for id in (ids[1], ids[2], ids[6]):
            ada.archive([id])
        ada.unpin(unpinned)
        ada.unarchive([back])
        ada.pin(ids[2])  # It comes back by that.
        before = seen()
    ada.project()
    assert before == seen()
    assert before[3][0] < before[3][1] and ids[6] in before[3][1]


def test_what_is_erased_is_in_no_list(ada: Client) -> None:
    from memtape.tools.keep.erasing import plan

    id = ada.capture("The harbour master's door has a brass knob.").id
    ada.project()
    ada.forget(id)
    assert id in [it.id for it in ada.recent(100, standings=["forgotten"]).results]
    ada.erase(plan(ada.home, ada.log, SCOPE, [id], only=False))
    for standing_ in (*STANDINGS, "pinned"):
        assert id not in [it.id for it in ada.recent(1_000, standings=[standing_]).results]
