"""The year of a synthetic team: the team says what it is meant to, and one log comes to one hash however it is folded.

The figures themselves are for `make bench-year`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from bench import year, year_page
from bench.chart import areas
from bench.team import days_of
from bench.team_placing import AGES, IDLE_DAY, WEEK, Team, age_of, questions_of, scope_of
from bench.team_texts import Material, read_material
from bench.year_log import MONTH_DAYS, PARTITIONS, Year

from memtape.schemas.events import Captured, Event, Recalled, Ticked
from memtape.schemas.times import DAY_US

SVG = "{http://www.w3.org/2000/svg}"
DATA = Path(__file__).parent / "data" / "statements.jsonl"
ROOT = Path(__file__).parent.parent
SMALL = Team(days=4, texts_a_day=60)
WHOLE = Team(days=365, texts_a_day=30)
CONVERSATIONS, ASKED_EVERY = 3, 9


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    """What others wrote for another test, as three conversations in which every ninth turn is asked for."""
    rows = [json.loads(line) for line in DATA.read_text().splitlines()]
    said = [row for row in rows if "text" in row and len(row["text"]) < 400]
    turns = [
        {"id": str(n), "text": it["text"], "role": "user" if it["role"] == "person" else "ai", "session": n // 20}
        for n, it in enumerate(said)
    ]
    parts = [turns[start::CONVERSATIONS] for start in range(CONVERSATIONS)]
    conversations = [
        {
            "id": f"part-{number}",
            "turns": part,
            "questions": [{"question": it["text"][:60], "evidence": [it["id"]]} for it in part[::ASKED_EVERY]],
        }
        for number, part in enumerate(parts)
    ]
    path, changes = (tmp_path_factory.mktemp("texts") / name for name in ("corpus.json", "changes.jsonl"))
    path.write_text(json.dumps({"conversations": conversations}))
    case: dict[str, Any] = {"id": "port", "kind": "single", "question": "Which port?", "current": [1], "replaced": [0]}
    texts = [f"The billing service listens on port {port}." for port in (8080, 9090)]
    case["texts"] = [{"text": text, "at": "2024-03-01", "origin": "user", "kind": "fact"} for text in texts]
    changes.write_text(json.dumps(case))
    return read_material([path], changes)


@pytest.fixture(scope="module")
def days(material: Material) -> list[list[Event]]:
    """A whole year."""
    return list(days_of(WHOLE, material, PARTITIONS))


def test_a_year_follows_from_its_seed(material: Material) -> None:
    first, again = (list(days_of(SMALL, material, PARTITIONS)) for _ in range(2))
    assert first == again
    assert first != list(days_of(SMALL._replace(seed=8), material, PARTITIONS))


def test_on_sundays_and_in_a_sleep_nobody_speaks(days: list[list[Event]]) -> None:
    spoken = [Counter(event.scope for event in day if event.scope is not None) for day in days]
    texts = sum(isinstance(event.body, Captured) for day in days for event in day)
    assert WHOLE.days * WHOLE.texts_a_day <= texts < 1.2 * WHOLE.days * WHOLE.texts_a_day
    for number, day in enumerate(days):
        assert [event.sent for event in day] == sorted(event.sent for event in day)
        assert sum(isinstance(event.body, Ticked) for event in day) == PARTITIONS
        assert all(0 <= event.sent - WHOLE.start_us - number * DAY_US < DAY_US for event in day)
        assert not (spoken[number] and number % WEEK == IDLE_DAY)
        assert not any(spoken[number][scope_of(WHOLE, it)] for it in range(10) if WHOLE.is_silent(it, number))
    assert sum(map(bool, spoken)) > WHOLE.days // 2
    (back,) = (it for it in range(10) if not WHOLE.is_silent(it, 364) and WHOLE.is_silent(it, 130))
    quiet = [number for number in range(365) if WHOLE.is_silent(back, number)]
    assert len(quiet) >= 90 and any(day[scope_of(WHOLE, back)] for day in spoken[quiet[-1] + 1 :])


def test_topics_are_said_again_and_dropped_and_what_is_asked_for_is_said_once(
    material: Material, days: list[list[Event]]
) -> None:
    said = [event for day in days for event in day if isinstance(event.body, Captured)]
    times = {event.id: event.at for event in said}
    assert len(times) == len(said)
    questions = list(questions_of(WHOLE, material))
    assert {question.age for question in questions} == AGES.keys()
    for question in questions:
        ids = [id for turn in question.evidence for id in turn]
        assert ids and all(age_of(WHOLE, times[id]) == question.age for id in ids)
    topics = {text for topics in material.topics for topic in topics for text in (*topic.people, *topic.agents)}
    for conversation in material.conversations:
        wanted = {id for question in conversation.questions for id in question.evidence}
        assert not any(line.text in topics for line in conversation.lines if line.native_id in wanted)
    texts = Counter(event.body.text for event in said if isinstance(event.body, Captured))
    assert texts.most_common(1)[0][1] > 5
    assert {"turn", "fact", "journal", "goal", "plan"} <= {event.body.kind for event in said}  # type: ignore[union-attr]


def test_nobody_recalls_what_is_not_there_yet(days: list[list[Event]]) -> None:
    known: dict[str, str | None] = {}
    recalled = 0
    for event in (event for day in days for event in day):
        if isinstance(event.body, Recalled):
            recalled += 1
            assert all(known[id] == event.scope for id in event.body.results)
        known[event.id] = event.scope
    assert recalled > 100


@pytest.mark.slow
@pytest.mark.soak(short="test_a_killed_projector_leaves_what_the_next_one_makes_right")
@pytest.mark.parametrize(("days", "texts_a_day", "seed"), [(2, 20, 32), (4, 60, 7)])
def test_a_year_has_one_hash_however_it_is_folded_and_whoever_is_killed(
    material: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int, texts_a_day: int, seed: int
) -> None:
    team = Team(seed, days, texts_a_day)
    monkeypatch.setattr(year, "SEARCHES", 1)
    monkeypatch.setattr(year, "KILLED_SHARE", 0.7)
    monkeypatch.setattr(year, "MOST_PARTS", 8)
    made = year.made(tmp_path, team, material)
    (tmp_path / "variant").mkdir()
    with year.Bench(tmp_path / "variant", team, made, {}, year.Pace()) as bench:
        told = bench.measured()
        assert bench.measured() == told  # It is read back, and not measured again.
    assert len(year_page.hashes(told)) == 1 and year_page.is_sound(told)
    assert told["days"]["kills"] >= 1
    assert [its["ok"] for its in told["checked"].values()] == [True, True]
    assert len({its["home_hash"] for its in told["checked"].values()}) == 1
    assert sum(told["days"]["months"][-1]["tiers"].values()) > told["texts"] // 2
    assert told["questions"]["classes"]["young"]["recall"] > 0.5
    run = year_page.Run(days, texts_a_day, seed, 1, 0, {"as it is": told})
    written = year_page.page([run])
    assert "one hash" in written and "**not**" not in written and f"{texts_a_day} texts a day" in written
    assert list(ElementTree.fromstring(year_page.tiers_chart([run])).iter(f"{SVG}polygon"))


@pytest.mark.slow
@pytest.mark.soak(short="test_a_year_has_one_hash_however_it_is_folded_and_whoever_is_killed")
def test_of_other_settings_is_told_what_is_found(material: Material, tmp_path: Path) -> None:
    made = year.made(tmp_path, SMALL, material)
    (tmp_path / "off").mkdir()
    with year.Bench(tmp_path / "off", SMALL, made, year.VARIANTS[year.OFF], year.Pace()) as bench:
        off = bench.measured()
    assert {name.partition(",")[0] for name in off["questions"]["classes"]} >= {"young"} and "days" not in off
    assert "60 texts a day" in year_page.page([year_page.Run(4, 60, SMALL.seed, 1, 0, {"off": off})])


def test_two_hashes_and_views_that_differ_are_told() -> None:
    told = {"oracle": {"state_hash": "a"}, "checked": {"whole": {"state_hash": "a", "ok": True}}}
    assert year_page.is_sound(told)
    for daily in ({"state_hash": "b", "ok": True}, {"state_hash": "a", "ok": False}):
        other = told | {"checked": {**told["checked"], "daily": daily}}  # type: ignore[dict-item]
        assert not year_page.is_sound(other)
    assert year_page.hashes(other | {"oracle": {"state_hash": "b"}}) == ["a", "b"]


def test_the_last_month_takes_what_remains() -> None:
    assert Year(0, 0, ((0,),) * 365, (0,) * 365, (), frozenset()).months == [*range(MONTH_DAYS, 331, MONTH_DAYS), 365]
    assert Year(0, 0, ((0,),) * 8, (0,) * 8, (), frozenset()).months == [8]


def test_areas_stand_upon_each_other() -> None:
    drawn = ElementTree.fromstring(areas("a & b", ["0", "1"], {"short": [0, 6], "mid": [0, 4]}))
    tops = [polygon.get("points", "").split()[1] for polygon in drawn.iter(f"{SVG}polygon")]
    assert [int(top.split(",")[1]) for top in tops] == [46 + 220 - 132, 46]


def test_the_page_that_stands_there_has_the_rows_that_would_be_written() -> None:
    stands = (ROOT / "docs" / "year.md").read_text()
    assert stands.startswith(year_page.HEAD)
    for name, _ in (*year_page.BY_MONTH, *year_page.FOLDED, *year_page.COSTS):
        assert re.search(rf"^\| {re.escape(name)} \|", stands, re.M), name
