"""People and agents archive and bring back, and what searches, starts and lists make of what has aged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import builders as b
import pytest
from click.testing import Result
from commanding import call as command
from met import events_of
from soaked import soaked

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Archived, Erased, Event, ScopeChanged, Withdrawn, make_tick
from memtape.schemas.rows import ArchiveRow, MemoryRow, SummaryRow, TurnRow, VectorRow
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US, HOUR_US, format_day, format_time
from memtape.sinks.remains import Needles, search_home
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.subjects import lifecycle
from memtape.state.subjects.lifecycle import Lifecycle
from memtape.state.views.filters import make_filters
from memtape.tools.capture.profiles import pause, resume
from memtape.tools.capture.writing import Line, now_us
from memtape.tools.client import Client
from memtape.tools.doors.mcp import call
from memtape.tools.keep.erasing import plan
from memtape.tools.keep.rebuild import rebuild
from memtape.tools.query import reading
from memtape.tools.query.inspection import PURGED
from memtape.tools.query.ordering import answered
from memtape.tools.query.plan import SearchQuery, state_of
from memtape.tools.recalling import offer

SCOPE = "project:test"
PORT = "The staging database listens on port 5433."
NOBODY = "01234567-89ab-7def-8123-456789abcdef"


@pytest.fixture
def client(home: Path) -> Iterator[Client]:
    with Client(home, scope=SCOPE, origin="user", actor="Ada") as client:
        yield client


def memtape(client: Client, *words: str, code: int | None = 0) -> Result:
    return command(*words, home=client.home.path, scope=SCOPE, code=code)


def run(client: Client, *words: str, code: int | None = 0) -> Result:
    return memtape(client, *words, "--origin", "user", code=code)


def document(client: Client, *words: str) -> Any:
    return json.loads(run(client, *words, "--json").stdout)


def refused(client: Client, *words: str) -> str:
    return run(client, *words, code=1).stderr


def days_pass(client: Client, days: int, scope: str = "", steps: int = 1) -> None:
    """Let the clock of a scope tick in so many steps, at last so many days from now."""
    number = partition_of(scope or client.scope, client.log.partitions)
    for step in range(1, steps + 1):
        client.log.append([make_tick(number, now_us() + days * DAY_US * step // steps)])
    client.project()


def life(client: Client) -> Lifecycle:
    scope = state_of(client, SCOPE)
    assert scope is not None
    return scope.lifecycle


Row = TypeVar("Row")


def table(client: Client) -> list[ArchiveRow]:
    client.project()
    return rows(client, ArchiveRow)


@pytest.mark.parametrize("kind", ["fact", "turn", "goal", "document", "journal"])
def test_whatever_is_named_is_archived_and_comes_back(client: Client, kind: str) -> None:
    id = client.capture(PORT, kind).id  # type: ignore[arg-type]
    said = run(client, "archive", id[:13], "--reason", "done with").output
    assert f"Archived {kind} {id[-8:]}: {PORT}" in said and f"memtape archive --undo {id[-8:]}" in said
    assert [(row.id, row.why, row.purged) for row in table(client)] == [(id, "asked", False)]
    listed = document(client, "archive", "--list")
    assert [(it["id"], it["text"], it["kind"]) for it in listed["archived"]] == [(id, PORT, kind)]
    assert listed["counts"] == {"asked": 1}
    assert "somebody asked for it: 1" in run(client, "archive", "--list").output
    assert f"Brought back {kind} {id[-8:]}" in run(client, "archive", "--undo", id).output
    assert table(client) == [] and "Nothing is archived" in run(client, "archive", "--list").output


def test_what_stands_so_already_is_told_and_put_on_the_log_once(client: Client) -> None:
    one, other = client.capture(PORT).id, client.capture("Use tabs.").id
    client.archive([one])
    before = sum(client.log.ends())
    assert [it.id for it in client.archive([one]).already] == [one]
    assert [it.id for it in client.unarchive([other]).already] == [other]
    assert sum(client.log.ends()) == before
    done = document(client, "archive", one, other)
    assert [it["id"] for it in done["done"]] == [other] and [it["id"] for it in done["already"]] == [one]


def test_what_has_left_the_views_is_listed_and_comes_back_unless_it_is_erased(client: Client) -> None:
    id, secret, gone = (client.capture(it).id for it in (PORT, "The harbour opens at six.", "Tomas leads."))
    client.archive([id, secret, gone])
    days_pass(client, 31)
    assert client.archived().archived == () and client.archived().purged == 3
    client.erase(plan(client.home, client.log, SCOPE, [gone], only=False))
    assert "was erased" in refused(client, "archive", "--undo", gone)
    purged = {it.id: (it.text, it.purged) for it in client.archived(purged=True).archived}
    assert purged == {id: (PORT, True), secret: ("The harbour opens at six.", True)}
    assert "memtape archive --list --purged" in run(client, "archive", "--list").output
    one = ("archive", "--list", "--purged", "--limit", "1")
    assert document(client, *one)["counts"] == {"asked": 2}
    assert "1 more; --limit shows them." in run(client, *one).output
    assert document(client, "show", "--why", id)["events"][0]["how"] == "purged"
    run(client, "archive", "--undo", id)
    client.project()
    opened = client.show(id)
    assert opened.memory is not None and opened.memory.text == PORT
    assert document(client, "archive", "--undo", "--all-of", "asked")["done"][0]["id"] == secret
    assert client.archived(purged=True).archived == () and client.verify().ok


def test_all_that_was_archived_by_age_comes_back_at_once(client: Client) -> None:
    ids = [client.capture(f"Turn {n} is about boat {n}.", "turn").id for n in range(3)]
    asked = client.capture(PORT).id
    for days in (60, 180, 370):
        days_pass(client, days)
    client.archive([asked])
    assert [it.why for it in client.archived(100).archived] == ["asked", "age", "age", "age"]
    done = run(client, "archive", "--undo", "--all-of", "age")
    assert done.output.count("Brought back turn") == 3
    assert {row.id for row in table(client)} == {asked}
    assert all(client.show(id).turn is not None for id in ids)
    refusal = refused(client, "archive", "--undo", "--all-of", "age")
    assert "Nothing of project:test was archived for the reason age" in refusal


def test_what_cannot_be_archived_is_refused_with_the_next_step(client: Client, home: Path) -> None:
    pinned, hidden, plain = (client.capture(text).id for text in (PORT, "Use tabs.", "Ada leads."))
    client.pin(pinned)
    client.forget(hidden)
    assert f"memtape pin --undo {pinned[-8:]}" in refused(client, "archive", plain, pinned)
    assert f"memtape restore {hidden[-8:]}" in refused(client, "archive", hidden)
    assert life(client).archived == {}, "none of those that were named is archived where one cannot be"
    for words in (["archive"], ["archive", "--undo"]):
        for id in (NOBODY, "nobody", "../../etc/passwd", "x' OR 1=1 --"):
            assert "no memory" in refused(client, *words, id)
    with Client(home, scope="project:other", origin="user") as other:
        elsewhere = other.capture("The other project's secret.").id
    for words in (["archive"], ["archive", "--undo"], ["show", "--why"]):
        told = refused(client, *words, elsewhere)
        assert "no memory" in told and "secret" not in told
    with Client(home, scope="global", origin="operator") as everywhere:
        shared = everywhere.capture("Use tabs everywhere.").id
    assert "only operators" in refused(client, "archive", shared)
    with Client(home, scope=SCOPE, origin="operator") as operator:
        assert operator.archive([shared]).done[0].scope == "global"
    assert [it.scope for it in client.archived().archived] == ["global"]
    wrong = (["--undo"], [], ["--list", "--limit", "x"], ["--list", "--limit", "0"], ["--list", plain])
    for words in (*wrong, ["--undo", plain, "--all-of", "age"]):
        assert run(client, "archive", *words, code=None).exit_code in (1, 2), words
    assert "4,096" in refused(client, "archive", plain, "--reason", "x" * 5_000)
    with pytest.raises(MemtapeError, match="No id was named"):
        client.archive([])


def test_an_agent_sees_the_archive_of_its_project_alone_and_leaves_what_all_share(
    client: Client, home: Path
) -> None:
    with Client(home, scope="global", origin="operator") as everywhere:
        shared = everywhere.capture("Use tabs everywhere.").id
    with Client(home, scope="project:other", origin="user") as other:
        other.archive([other.capture("Seven harbours.").id])
        other.finish()
    id = client.capture(PORT).id
    with Client(home, scope=SCOPE, actor="codex", confined=True) as agent:
        agent.archive([id[:13]], reason="done")
        listed = agent.archived()
        assert [it.id for it in listed.archived] == [id] and not listed.projects
        days_pass(client, 0)
        with pytest.raises(MemtapeError, match="only operators"):
            agent.archive([shared])
        for ask in (agent.archive, agent.unarchive):
            with pytest.raises(NotFound):
                ask([NOBODY])
        client.pin(id)
        with pytest.raises(MemtapeError) as pinned:
            agent.archive([id])
        assert pinned.value.hint.startswith("`unpin(")


def test_a_project_lists_no_archived_text_of_another_in_its_partition(home: Path) -> None:
    scopes = ("project:b1", "project:other")
    for scope in scopes:
        with Client(home, scope=scope, origin="user") as client:
            client.archive([client.capture(f"A text of {scope}.").id])
            client.project()
    for scope in scopes:
        with Client(home, scope=scope, origin="user") as client:
            assert len({partition_of(it, client.log.partitions) for it in scopes}) == 1
            assert [it.text for it in client.archived().archived] == [f"A text of {scope}."]


TEXT = "The gateway of the lighthouse listens on port 7001."
TURNS = (
    "The lighthouse gateway drops packets after the nightly deploy.",
    "Mira measured the lighthouse gateway: nine seconds for a packet.",
    "The lighthouse gateway was given a new antenna, and packets arrive.",
    "Nobody touched the lighthouse gateway since the antenna came.",
)


def say_old(client: Client, days: int = 120, session: str = "s-old") -> list[str]:
    """Say turns of one day, so many days ago, and return their ids."""
    noon = (now_us() - days * DAY_US) // DAY_US * DAY_US + DAY_US // 2
    how: dict[str, Any] = {"kind": "turn", "session": session, "origin": "user"}
    lines = [Line(text=text, at=noon + n * 60_000_000, **how) for n, text in enumerate(TURNS)]
    return [receipt.id for receipt in client.capture_many(lines)]


def sum_up(client: Client) -> list[str]:
    """Say old turns that a summary tells, and return their ids."""
    client.capture("Coffee is bought on Mondays.")
    ids = say_old(client)
    days_pass(client, 1)
    return ids


def archive(client: Client, ids: list[str], on: bool = True) -> None:
    client.append("archived", Archived(ids=tuple(ids), on=on, reason=None), client.scope)


def offered(client: Client, prompt: str) -> list[str]:
    return [result.id for result in offer(client, prompt, lambda results, *_: list(results), 5).results]


def finish(client: Client, state: str = "finished") -> None:
    client.append("scope_changed", ScopeChanged(git_at=None, name=None, state=state), SCOPE)


def found(client: Client, query: str, **how: Any) -> list[str]:
    return [result.text for result in client.search(query, quiet=True, **how).results]


def said(client: Client, query: str, **how: Any) -> list[str]:
    """What a search finds that somebody said, summaries left out."""
    results = client.search(query, quiet=True, **how).results
    return [result.text for result in results if not result.sums]


def searched(client: Client, query: str, *more: str) -> str:
    return memtape(client, "search", query, "--quiet", *more).output


def position_of(client: Client) -> str:
    """Return where the log ends, as `--as-of` takes it."""
    return ",".join(f"{number}/{end}" for number, end in enumerate(client.log.ends()))


def is_sound(client: Client) -> bool:
    """Whether views and index are what the log says."""
    client.project()
    return client.verify().ok


def rows(client: Client, row_type: type[Row]) -> list[Row]:
    return client.reader.shard(partition_of(SCOPE, client.log.partitions)).rows(row_type, SCOPE)


def test_what_is_archived_is_found_where_it_is_asked_for_now_and_in_the_past(client: Client) -> None:
    kept = client.capture("The lighthouse gateway is painted white.").id
    away = client.capture(TEXT).id
    archive(client, [away])
    assert found(client, "gateway lighthouse") == ["The lighthouse gateway is painted white."]
    results = client.search("gateway lighthouse", quiet=True, archived=True).results
    assert {result.id for result in results} == {kept, away}
    (marked,) = (result for result in results if result.id == away)
    assert marked.archived_at is not None
    assert marked.marks == (f"archived on {format_day(marked.archived_at)}",)
    opened = client.show(away)
    assert opened.memory is not None and opened.marks == marked.marks and not opened.hidden
    assert client.why(away).events
    told = searched(client, "gateway lighthouse", "--archived")
    assert marked.marks[0] in told and "painted white" in told
    assert away not in searched(client, "gateway lighthouse")
    assert is_sound(client)
    then = position_of(client)
    archive(client, [away], on=False)
    assert len(found(client, "gateway")) == 2
    assert said(client, "gateway", as_of=then) == ["The lighthouse gateway is painted white."]
    assert len(said(client, "gateway", as_of=then, archived=True)) == 2


@pytest.mark.parametrize("how", ["used", "pinned", "said again", "brought back"])
def test_what_is_used_pinned_or_said_again_is_found_again(client: Client, how: str) -> None:
    id = client.capture(TEXT).id
    archive(client, [id])
    assert found(client, "gateway") == []
    ways = {
        "used": lambda: client.use([id]), "pinned": lambda: client.pin(id),
        "said again": lambda: client.capture(TEXT), "brought back": lambda: archive(client, [id], on=False),
    }  # fmt: skip
    ways[how]()
    assert found(client, "gateway") == [TEXT]
    assert is_sound(client)


def test_starts_prompts_and_lists_leave_out_what_is_archived(client: Client) -> None:
    id = client.capture("Deploys of the lighthouse gateway run on Fridays at noon.").id
    turn = client.capture("The lighthouse gateway is down, says Mira.", "turn").id
    client.capture("The harbour office has a new printer.")
    asked = "When do deploys of the lighthouse gateway run?"
    assert id in offered(client, asked) and id in client.context().ids
    archive(client, [id, turn])
    client.project()
    assert not {id, turn} & {*offered(client, asked)}
    assert id not in client.context().ids and "Fridays" not in client.context().text
    assert [result.text for result in client.recent(10).results] == ["The harbour office has a new printer."]
    assert not {id, turn} & {result.id for result in client.timeline(format_time(now_us()))}


def test_statistics_are_those_of_what_is_at_hand(tmp_path: Path) -> None:
    """A scope in which summaries stand, or archived texts, ranks what is at hand as one without either."""
    one, two = (Client(tmp_path / name, scope=SCOPE, origin="user") for name in ("one", "two"))
    with one, two:
        for client in (one, two):
            client.capture("Coffee is bought on Mondays.")
            say_old(client)
        days_pass(one, 1)
        assert rows(one, SummaryRow) and not rows(two, SummaryRow)
        archive(one, [one.capture(f"The lighthouse gateway, part {n}, is spare.").id for n in range(20)])
        for query in ("lighthouse gateway", "antenna packets", "coffee", "who measured the packets?"):
            told = [one.search(query, quiet=True), two.search(query, quiet=True)]
            first, second = ([(it.text, it.score) for it in its.results if not it.sums] for its in told)
            assert first == second and first
            assert told[0].held == told[1].held
        texts = found(one, "lighthouse gateway", archived=True, limit=50)
        assert sum("lighthouse" in text for text in texts) == 24
        assert is_sound(one)


def test_a_finished_project_keeps_what_was_said_before_to_itself(client: Client) -> None:
    before = client.capture("The lighthouse gateway is painted white.").id
    client.capture("Is the lighthouse gateway white?", "turn")
    finish(client)
    answer = client.search("lighthouse gateway", quiet=True)
    assert not answer.results
    assert answer.aside.startswith("Finished on ") and "--archived" in answer.aside
    assert "memtape project finish --undo" in searched(client, "lighthouse gateway")
    assert before not in client.context().ids
    results = client.search("lighthouse gateway", quiet=True, archived=True).results
    assert len(results) == 2 and all(it.marks[-1].startswith("archived on ") for it in results)
    assert client.show(before).memory is not None
    client.capture("The lighthouse gateway is a museum now.")
    assert found(client, "lighthouse gateway") == ["The lighthouse gateway is a museum now."]
    assert client.search("lighthouse gateway", quiet=True).aside
    finish(client, "active")
    answer = client.search("lighthouse gateway", quiet=True)
    assert len(answer.results) == 3 and not answer.aside
    assert is_sound(client)


def test_what_is_purged_leaves_views_and_index_and_comes_back(client: Client) -> None:
    id = client.capture(TEXT).id
    archive(client, [id])
    days_pass(client, 40)
    assert not rows(client, MemoryRow) and not rows(client, VectorRow)
    opened = client.reader.opened(SCOPE)
    assert not opened.rows_called(id) and not list(opened.rows(MemoryRow))
    assert found(client, "gateway", archived=True) == []
    shown = client.show(id)
    assert shown.captured is not None and shown.marks == (PURGED,)
    assert PURGED in memtape(client, "show", id).output
    assert [(behind.part, behind.how) for behind in client.why(id).events] == [("capture", "purged")]
    assert is_sound(client)
    archive(client, [id], on=False)
    assert found(client, "gateway") == [TEXT]
    client.project()
    before = client.verify().state_hash
    rebuild(client.home, client.log)
    after = client.verify()
    assert after.ok and after.state_hash == before


@pytest.mark.parametrize("door", ["search", "start as it is", "show", "use"])
def test_a_question_wakes_a_project_that_sleeps(client: Client, door: str) -> None:
    id = client.capture(TEXT).id
    days_pass(client, 240, steps=4)
    assert client.reader.life(SCOPE).is_purged and not rows(client, MemoryRow)
    assert client.verify().ok
    match door:
        case "search":
            assert found(client, "gateway") == [TEXT]
        case "start as it is":
            assert id in client.context(as_is=True).ids
        case "show":
            assert client.show(id).memory is not None
        case _:
            client.use([id])
            assert found(client, "gateway") == [TEXT]
    assert not client.reader.life(SCOPE).is_purged
    assert is_sound(client)


def test_the_past_and_the_status_wake_nobody_and_who_cannot_be_woken_is_answered(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.capture(TEXT)
    days_pass(client, 240, steps=4)
    ends = client.log.ends()
    client.status()
    assert found(client, "gateway", as_of=position_of(client)) == []
    pause(client.home.path, SCOPE, now_us(), None)  # Who stores nothing wakes nobody either, and is told so.
    answer = client.search("gateway", quiet=True)
    assert not answer.results and answer.aside.startswith("Dormant since ")
    assert client.log.ends() == ends and resume(client.home.path, SCOPE, now_us())
    monkeypatch.setattr(reading, "WAKE_S", 0.1)
    with client.home.lock("projector"), Client(client.home, scope=SCOPE, log=client.log) as other:
        assert found(other, "gateway") == []  # It has projected nothing, and cannot now.
    assert found(client, "gateway") == [TEXT]


def test_a_dormant_project_is_found_as_always_and_its_question_wakes_it(client: Client) -> None:
    client.capture(TEXT)
    days_pass(client, 100)
    assert client.reader.life(SCOPE).state == "dormant"
    assert [result.text for result in client.search("gateway").results] == [TEXT]
    client.project()
    days_pass(client, 101)
    assert client.reader.life(SCOPE).state == "active"


NARROWED: tuple[tuple[dict[str, Any], bool], ...] = (
    ({}, True), ({"kinds": ["turn"]}, True), ({"sessions": ["s-old"]}, True), ({"since": "125d"}, True),
    ({"until": "110d"}, True), ({"kinds": ["fact"]}, False), ({"sessions": ["s-new"]}, False),
    ({"since": "110d"}, False), ({"until": "125d"}, False), ({"tags": ["x"]}, False),
    ({"origins": ["user"]}, False),
)  # fmt: skip
"""Filters narrow summaries too."""


def test_where_little_is_found_summaries_tell_of_the_rest(client: Client) -> None:
    ids = sum_up(client)
    assert len(said(client, "lighthouse gateway")) == 4
    assert all(not result.sums for result in client.search("lighthouse gateway", quiet=True).results)
    archive(client, ids)
    (told,) = client.search("lighthouse gateway", quiet=True).results
    day = format_day(now_us() - 120 * DAY_US)
    assert told.sums == tuple(ids) and told.marks == (f"summary of 4 turns, day of {day}",)
    shown = json.loads(searched(client, "lighthouse gateway", "--json"))
    assert shown["results"][0]["sums"] == ids and "archived" in shown["aside"]
    assert f"summary of 4 turns, day of {day}" in searched(client, "lighthouse gateway")
    for narrowed, is_told in NARROWED:
        results = client.search("lighthouse gateway", quiet=True, **narrowed).results
        assert any(result.sums for result in results) is is_told, narrowed
    agents_are_told(client, ids)
    client.project()
    assert not offered(client, "What about the lighthouse gateway?"), "no summary for prompts"
    asked = SearchQuery("lighthouse gateway", make_filters(0), repeats=True, limit=10)
    assert not answered(client.reader, SCOPE, asked).results
    assert client.context().text.count("lighthouse") == 0
    client.capture("The lighthouse gateway is painted white.")
    first, second = client.search("lighthouse gateway", quiet=True).results
    assert first.text == "The lighthouse gateway is painted white."
    assert second.sums and second.score <= first.score
    assert len(client.search("lighthouse gateway", 1, quiet=True).results) == 1
    recall = client.search("lighthouse gateway")
    recalled = [event for event in events_of(client.log) if event.type == "recalled"][-1]
    assert recall.recall_id is not None and told.id not in repr(recalled) and first.id in repr(recalled)
    assert is_sound(client)


def agents_are_told(client: Client, ids: list[str]) -> None:
    """Agents are told what is archived and what sums it up."""
    told = call(client, "search_memories", {"query": "lighthouse gateway"})
    (row,) = rows(client, SummaryRow)
    parts = ("summary of 4 turns", f"`{row.id}`", "search_memories with archived finds them")
    assert all(part in told for part in parts)
    opened = call(client, "get_memory", {"id": row.id})
    assert all(text in opened for text in (*TURNS, *(id[-8:] for id in ids))) and "archived on " in opened
    told = call(client, "search_memories", {"query": "lighthouse gateway", "archived": True})
    assert all(id in told for id in ids) and row.id not in told


def test_a_summary_opens_into_what_it_sums_up(client: Client) -> None:
    ids = sum_up(client)
    archive(client, ids[:2])
    (row,) = rows(client, SummaryRow)
    opened = client.show(row.id)
    assert opened.summary == row and [source.text for source in opened.sources] == list(TURNS)
    assert [bool(source.marks) for source in opened.sources] == [True, True, False, False]
    told = memtape(client, "show", row.id).output
    assert all(text in told for text in (*TURNS, *(id[-8:] for id in ids), "keywords ", "summary of 4 turns"))
    assert [behind.event.id for behind in client.why(row.id).events] == ids
    assert all(id[-8:] in memtape(client, "show", "--why", row.id).output for id in ids)
    archive(client, ids)
    days_pass(client, 45)
    assert not rows(client, TurnRow)
    opened = client.show(row.id)
    assert [(source.text, source.marks) for source in opened.sources] == [(text, (PURGED,)) for text in TURNS]
    (result,) = client.search("lighthouse gateway", quiet=True).results
    assert result.id == row.id
    assert is_sound(client)


@pytest.mark.parametrize("how", soaked("forgotten withdrawn erased restored".split(), "erased", "restored"))
def test_a_summary_waits_for_what_the_tail_hides_of_it(client: Client, how: str) -> None:
    ids = sum_up(client)
    if how == "restored":
        client.forget(ids[0])
    archive(client, ids)
    client.project()
    (row,) = rows(client, SummaryRow)
    bodies = {"withdrawn": Withdrawn(ids=(ids[0],), on=True), "erased": Erased(ids=(ids[0],))}
    with client.home.lock("projector"):
        if how in bodies:
            client.append(how, bodies[how], SCOPE)
        else:
            (client.restore if how == "restored" else client.forget)(ids[0])
        hidden = [result for result in client.search("lighthouse gateway", quiet=True).results if result.sums]
        if how != "restored":
            assert not hidden
            with pytest.raises(NotFound):
                client.show(row.id)
    if how == "erased":
        return
    client.project()
    results = client.search("lighthouse gateway", quiet=True).results
    assert [TURNS[0] in result.text for result in results] == [how == "restored"]
    assert TURNS[0] not in memtape(client, "show", row.id).output or how == "restored"
    assert is_sound(client)


def test_what_is_erased_stands_in_no_summary(client: Client) -> None:
    ids = sum_up(client)
    noon = (now_us() - 120 * DAY_US) // DAY_US * DAY_US + DAY_US // 2
    text = "The codename is Zebrafish-Quokka, and the lighthouse gateway knows."
    extra = client.capture_many([Line(text=text, kind="turn", at=noon, session="s-old", origin="user")])
    days_pass(client, 2)
    row, _ = sorted(rows(client, SummaryRow), key=lambda row: row.level)
    assert extra[0].id in row.sources and "Quokka" in row.text
    archive(client, [*ids, extra[0].id])
    assert "Quokka" in memtape(client, "show", row.id).output
    days_pass(client, 40)
    proof = client.erase(plan(client.home, client.log, SCOPE, (extra[0].id,), only=False))
    canary = Needles(ids=(), texts=("codename is Zebrafish-Quokka",), words=("zebrafish", "quokka"))
    assert not [place.path for place in search_home(client.home.path, canary) if place.found], proof
    results = client.search("lighthouse gateway", quiet=True).results
    assert [result.sums for result in results] == [tuple(ids)] * 2
    assert not any("Quokka" in result.text for result in results)
    assert is_sound(client)


def test_what_people_order_holds_though_it_is_archived(client: Client) -> None:
    client.capture("The salary of Mira is paid on the fifth, at the harbour office.")
    order = client.capture("Never mention the salary of Mira.").id
    asked = "When is the salary of Mira paid at the harbour office?"
    client.project()
    before, orders = offered(client, asked), [given.ids for given in client.orders()]
    assert orders == [(order,)]
    archive(client, [order])
    client.project()
    assert offered(client, asked) == before == [] and [given.ids for given in client.orders()] == orders
    finish(client)
    assert [given.ids for given in client.orders()] == orders
    client.forget(order)
    assert not client.orders()


TEXTS = 6_000
FEW = 2_000
"""Of so many texts some are memories, since folding twenty thousand of them takes minutes."""


def texts_of_a_year(count: int, kinds: tuple[str, ...]) -> list[Event]:
    """Texts of a year: some that move on in groups, some that wait for others, and some that are pinned."""
    events: list[Event] = []
    for number in range(count):
        at = b.START - number // 50 * 365 // (count // 50) * DAY_US
        session = f"alone {number}" if number % 7 == 0 else "s1"
        kind = kinds[number % len(kinds)]
        events.append(b.captured(f"Watch {number} saw boat {number}.", number, kind, at=at, session=session))
    return [*events, b.pinned(list(range(0, count, 50)), "pins")]


def ticks(partition: Partition, hours: int) -> list[int]:
    """Return how many rows each of so many hours touched."""
    hour = ((partition.clock or 0) // HOUR_US + 1) * HOUR_US
    said = (make_tick(0, hour + n * HOUR_US) for n in range(hours))
    return [len(fold(partition, b.slots([tick], start=partition.offset))) for tick in said]


HOW = ("after a pass", "after a restore")
WHAT = ((TEXTS, ("turn",)), (FEW, ("turn", "fact", "journal")))
LIVES = [(count, kinds, how) for count, kinds in WHAT for how in HOW]


@pytest.mark.parametrize(("count", "kinds", "how"), soaked(LIVES, LIVES[2], LIVES[3]))
def test_an_idle_tick_looks_at_nothing(
    count: int, kinds: tuple[str, ...], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = Partition(0)
    fold(partition, b.slots([b.configured(), *texts_of_a_year(count, kinds)]))
    while any(touched := ticks(partition, 1)):
        assert touched[0] < count
    mark = partition.scopes["project:test"].lifecycle.mark()
    assert min(mark.mid, mark.long, mark.summaries) > 0 and mark.mid + mark.long < count
    if how == "after a restore":
        partition = restore(snapshot(partition))
        assert ticks(partition, 1) == [0]
    units, step_of = list[int](), lifecycle.step_of  # Where a pass looks from now on.
    noted = lambda its, unit, it: units.append(unit) or step_of(its, unit, it)  # noqa: E731
    monkeypatch.setattr(lifecycle, "step_of", noted)
    assert ticks(partition, 3) == [0, 0, 0] and units == []
