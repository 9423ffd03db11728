"""What searches, starts and lists make of what has aged: archived texts, summaries, and projects that rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from soaked import soaked

from memtape.schemas.errors import NotFound
from memtape.schemas.events import Archived, Erased, ScopeChanged, Withdrawn, make_tick
from memtape.schemas.rows import MemoryRow, SummaryRow, TurnRow, VectorRow
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US, format_day, format_time
from memtape.sinks.home.pauses import pause
from memtape.sinks.remains import Needles, search_home
from memtape.state.views.filters import make_filters
from memtape.tools.ask import reading
from memtape.tools.ask.ordering import SearchQuery
from memtape.tools.ask.retrieval import PURGED
from memtape.tools.capture.lines import Line
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.doors.mcp import call
from memtape.tools.keep.erasing import plan
from memtape.tools.keep.rebuild import rebuild
from memtape.tools.recalling import offer

SCOPE = "project:mine"
TURNS = (
    "The lighthouse gateway drops packets after the nightly deploy.",
    "Mira measured the lighthouse gateway: nine seconds for a packet.",
    "The lighthouse gateway was given a new antenna, and packets arrive.",
    "Nobody touched the lighthouse gateway since the antenna came.",
)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope=SCOPE, actor="Ada", origin="user", session="s-now") as client:
        yield client


def pass_days(client: Client, days: int, steps: int = 1) -> None:
    """Let the clock of the scope's partition tick `days` ahead of now, and the views follow."""
    number = partition_of(SCOPE, client.log.partitions)
    for step in range(1, steps + 1):
        client.log.append([make_tick(number, now_us() + days * DAY_US * step // steps)])
    client.project()


def say_old(client: Client, days: int = 120, session: str = "s-old") -> list[str]:
    """Say turns of one day, so many days ago, and return their ids."""
    noon = (now_us() - days * DAY_US) // DAY_US * DAY_US + DAY_US // 2
    lines = [
        Line(text=text, kind="turn", at=noon + n * 60_000_000, session=session, origin="user")
        for n, text in enumerate(TURNS)
    ]
    return [receipt.id for receipt in client.capture_many(lines)]


def sum_up(client: Client) -> list[str]:
    """Say old turns that a summary tells, and return their ids."""
    client.capture("Coffee is bought on Mondays.")
    ids = say_old(client)
    pass_days(client, 1)
    return ids


def archive(client: Client, ids: list[str], on: bool = True) -> None:
    client.append("archived", Archived(ids=tuple(ids), on=on, reason=None), SCOPE)


def offered(client: Client, prompt: str) -> list[str]:
    return [result.id for result in offer(client, prompt, lambda results, *_: list(results), 5).results]


def finish(client: Client, state: str = "finished") -> None:
    client.append("scope_changed", ScopeChanged(git_at=None, name=None, state=state), SCOPE)  # type: ignore[arg-type]


def found(client: Client, query: str, **how: object) -> list[str]:
    return [result.text for result in client.search(query, quiet=True, **how).results]  # type: ignore[arg-type]


def said(client: Client, query: str, **how: object) -> list[str]:
    """What a search finds that somebody said, summaries left out."""
    results = client.search(query, quiet=True, **how).results  # type: ignore[arg-type]
    return [result.text for result in results if not result.sums]


def memtape(client: Client, *args: str) -> Result:
    where = ("--home", str(client.home.path), "--scope", SCOPE)
    return CliRunner().invoke(main, [*args, *where], catch_exceptions=False)


def is_sound(client: Client) -> bool:
    """Whether views and index are what the log says."""
    client.project()
    return client.verify().ok


def rows(client: Client, row_type: type) -> list[object]:
    return client.reader.retriever.shard(partition_of(SCOPE, client.log.partitions)).rows(row_type, SCOPE)


def test_what_is_archived_is_found_where_it_is_asked_for_now_and_in_the_past(client: Client) -> None:
    kept = client.capture("The lighthouse gateway is painted white.").id
    away = client.capture("The gateway of the lighthouse listens on port 7001.").id
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
    told = memtape(client, "search", "gateway lighthouse", "--archived", "--quiet").output
    assert f"archived on {format_day(marked.archived_at)}" in told and "painted white" in told
    assert away not in memtape(client, "search", "gateway lighthouse", "--quiet").output
    assert is_sound(client)
    then = ",".join(f"{number}:{end}" for number, end in enumerate(client.log.ends()))
    archive(client, [away], on=False)
    assert len(found(client, "gateway")) == 2
    assert said(client, "gateway", as_of=then) == ["The lighthouse gateway is painted white."]
    assert len(said(client, "gateway", as_of=then, archived=True)) == 2


@pytest.mark.parametrize("how", ["used", "pinned", "said again", "brought back"])
def test_what_is_used_pinned_or_said_again_is_found_again(client: Client, how: str) -> None:
    text = "The gateway of the lighthouse listens on port 7001."
    id = client.capture(text).id
    archive(client, [id])
    assert found(client, "gateway") == []
    ways = {
        "used": lambda: client.use([id]), "pinned": lambda: client.pin(id), "said again": lambda: client.capture(text),
        "brought back": lambda: archive(client, [id], on=False),
    }  # fmt: skip
    ways[how]()
    assert found(client, "gateway") == [text]
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
    assert [result.text for result in client.recent(10)] == ["The harbour office has a new printer."]
    assert not {id, turn} & {result.id for result in client.timeline(format_time(now_us()))}


def test_statistics_are_those_of_what_is_at_hand(tmp_path: Path) -> None:
    """A scope in which summaries stand, or archived texts, ranks what is at hand as one in which neither does."""
    with Client(tmp_path / "one", scope=SCOPE, origin="user") as one, Client(tmp_path / "two", scope=SCOPE) as two:
        for client in (one, two):
            client.capture("Coffee is bought on Mondays.", origin="user")
            say_old(client)
        pass_days(one, 1)
        assert rows(one, SummaryRow) and not rows(two, SummaryRow)
        away = [one.capture(f"The lighthouse gateway, part {n}, is spare.", origin="user").id for n in range(20)]
        archive(one, away)
        for query in ("lighthouse gateway", "antenna packets", "coffee", "who measured the packets?"):
            told = [one.search(query, quiet=True), two.search(query, quiet=True)]
            first, second = ([(it.text, it.score) for it in its.results if not it.sums] for its in told)
            assert first == second and first
            assert told[0].held == told[1].held
        assert len(found(one, "lighthouse gateway", archived=True, limit=50)) == 24
        assert is_sound(one)


def test_a_finished_project_keeps_what_was_said_before_to_itself(client: Client) -> None:
    before = client.capture("The lighthouse gateway is painted white.").id
    client.capture("Is the lighthouse gateway white?", "turn")
    finish(client)
    answer = client.search("lighthouse gateway", quiet=True)
    assert not answer.results
    assert answer.aside.startswith("Finished on ") and "--archived" in answer.aside
    assert "memtape project finish --undo" in memtape(client, "search", "lighthouse gateway", "--quiet").output
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
    text = "The gateway of the lighthouse listens on port 7001."
    id = client.capture(text).id
    archive(client, [id])
    pass_days(client, 40)
    assert not rows(client, MemoryRow) and not rows(client, VectorRow)
    opened = client.reader.retriever.opened(SCOPE)
    assert not opened.rows_called(id) and not list(opened.rows(MemoryRow))
    assert found(client, "gateway", archived=True) == []
    shown = client.show(id)
    assert shown.captured is not None and shown.marks == (PURGED,)
    assert PURGED in memtape(client, "show", id).output
    assert [(behind.part, behind.how) for behind in client.why(id).events] == [("capture", "purged")]
    assert is_sound(client)
    archive(client, [id], on=False)
    assert found(client, "gateway") == [text]
    before = client.verify().state_hash
    rebuild(client.home, client.log, lambda *_: None)
    after = client.verify()
    assert after.ok and after.state_hash == before


@pytest.mark.parametrize("door", ["search", "start as it is", "show", "use"])
def test_a_question_wakes_a_project_that_sleeps(client: Client, door: str) -> None:
    text = "The gateway of the lighthouse listens on port 7001."
    id = client.capture(text).id
    pass_days(client, 240, steps=4)
    assert client.reader.retriever.life(SCOPE).is_purged and not rows(client, MemoryRow)
    assert client.verify().ok
    match door:
        case "search":
            assert found(client, "gateway") == [text]
        case "start as it is":
            assert id in client.context(as_is=True).ids
        case "show":
            assert client.show(id).memory is not None
        case _:
            client.use([id])
            assert found(client, "gateway") == [text]
    assert not client.reader.retriever.life(SCOPE).is_purged
    assert is_sound(client)


def test_the_past_and_the_status_wake_nobody_and_who_cannot_be_woken_is_answered(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.capture("The gateway of the lighthouse listens on port 7001.")
    pass_days(client, 240, steps=4)
    ends = client.log.ends()
    client.status()
    assert found(client, "gateway", as_of=",".join(f"{number}:{end}" for number, end in enumerate(ends))) == []
    assert client.log.ends() == ends
    monkeypatch.setattr(reading, "WAKE_S", 0.1)
    with client.home.lock("projector"):
        assert found(client, "gateway") == []
    assert found(client, "gateway") == ["The gateway of the lighthouse listens on port 7001."]


def test_a_dormant_project_is_found_as_always_and_its_question_wakes_it(client: Client) -> None:
    text = "The gateway of the lighthouse listens on port 7001."
    client.capture(text)
    pass_days(client, 100)
    assert client.reader.retriever.life(SCOPE).state == "dormant"
    assert [result.text for result in client.search("gateway").results] == [text]
    client.project()
    pass_days(client, 101)
    assert client.reader.retriever.life(SCOPE).state == "active"


def test_where_little_is_found_summaries_tell_of_the_rest(client: Client) -> None:
    ids = sum_up(client)
    assert len(said(client, "lighthouse gateway")) == 4
    assert all(not result.sums for result in client.search("lighthouse gateway", quiet=True).results)
    archive(client, ids)
    (told,) = client.search("lighthouse gateway", quiet=True).results
    day = format_day(now_us() - 120 * DAY_US)
    assert told.sums == tuple(ids) and told.marks == (f"summary of 4 turns, day of {day}",)
    shown = json.loads(memtape(client, "search", "lighthouse gateway", "--quiet", "--json").output)
    assert shown["results"][0]["sums"] == ids and "archived" in shown["aside"]
    assert f"summary of 4 turns, day of {day}" in memtape(client, "search", "lighthouse gateway", "--quiet").output
    check_filters(client)
    check_agents(client, ids)
    client.project()
    assert not offered(client, "What about the lighthouse gateway?"), "no summary for prompts"
    asked = SearchQuery("lighthouse gateway", make_filters(0), repeats=True, limit=10)
    assert not client.reader.retriever.answer(SCOPE, asked).results
    assert client.context().text.count("lighthouse") == 0
    client.capture("The lighthouse gateway is painted white.")
    first, second = client.search("lighthouse gateway", quiet=True).results
    assert first.text == "The lighthouse gateway is painted white." and second.sums and second.score <= first.score
    assert len(client.search("lighthouse gateway", 1, quiet=True).results) == 1
    recall = client.search("lighthouse gateway")
    slot = client.log.read(partition_of(SCOPE, client.log.partitions), 0, 1_000, scope=SCOPE, types=("recalled",))[-1]
    assert recall.recall_id is not None and told.id not in slot.payload.decode() and first.id in slot.payload.decode()
    assert is_sound(client)


def check_filters(client: Client) -> None:
    """Filters narrow summaries too."""

    def asked(**narrowed: object) -> bool:
        results = client.search("lighthouse gateway", quiet=True, **narrowed).results
        return any(result.sums for result in results)

    for passing in ({}, {"kinds": ["turn"]}, {"sessions": ["s-old"]}, {"since": "125d"}, {"until": "110d"}):
        assert asked(**passing)
    for name, value in (("kinds", ["fact"]), ("sessions", ["s-new"]), ("since", "110d"), ("until", "125d"),
                        ("tags", ["x"]), ("origins", ["user"])):  # fmt: skip
        assert not asked(**{name: value})


def check_agents(client: Client, ids: list[str]) -> None:
    """Agents are told what is archived and what sums it up."""
    told = call(client, "search_memories", {"query": "lighthouse gateway"})
    (row,) = rows(client, SummaryRow)
    assert isinstance(row, SummaryRow)
    assert "summary of 4 turns" in told and f"`{row.id}`" in told and "search_memories with archived finds them" in told
    opened = call(client, "get_memory", {"id": row.id})
    assert all(text in opened for text in (*TURNS, *ids)) and "archived on " in opened
    told = call(client, "search_memories", {"query": "lighthouse gateway", "archived": True})
    assert all(id in told for id in ids) and row.id not in told


def test_a_summary_opens_into_what_it_sums_up(client: Client) -> None:
    ids = sum_up(client)
    archive(client, ids[:2])
    (row,) = rows(client, SummaryRow)
    assert isinstance(row, SummaryRow)
    opened = client.show(row.id)
    assert opened.summary == row and [source.text for source in opened.sources] == list(TURNS)
    assert [bool(source.marks) for source in opened.sources] == [True, True, False, False]
    told = memtape(client, "show", row.id).output
    assert all(text in told for text in (*TURNS, *ids, "keywords ", "summary of 4 turns"))
    assert [behind.event.id for behind in client.why(row.id).events] == ids
    assert all(id in memtape(client, "show", "--why", row.id).output for id in ids)
    archive(client, ids)
    pass_days(client, 45)
    assert not rows(client, TurnRow)
    opened = client.show(row.id)
    assert [(source.text, source.marks) for source in opened.sources] == [(text, (PURGED,)) for text in TURNS]
    (result,) = client.search("lighthouse gateway", quiet=True).results
    assert result.id == row.id
    assert is_sound(client)


@pytest.mark.parametrize("how", soaked(["forgotten", "withdrawn", "erased", "restored"], "erased", "restored"))
def test_a_summary_waits_for_what_the_tail_hides_of_it(client: Client, how: str) -> None:
    ids = sum_up(client)
    if how == "restored":
        client.forget(ids[0])
    archive(client, ids)
    client.project()
    (row,) = rows(client, SummaryRow)
    assert isinstance(row, SummaryRow)
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
    pass_days(client, 2)
    row, _ = sorted(rows(client, SummaryRow), key=lambda row: row.level)  # type: ignore[attr-defined]
    assert extra[0].id in row.sources and "Quokka" in row.text
    archive(client, [*ids, extra[0].id])
    assert "Quokka" in memtape(client, "show", row.id).output
    pass_days(client, 40)
    made = plan(client.home, client.log, SCOPE, (extra[0].id,), only=False)
    proof = client.erase(made)
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


def test_who_stores_nothing_wakes_nobody_and_is_told_so(client: Client) -> None:
    client.capture("The gateway of the lighthouse listens on port 7001.")
    pass_days(client, 240, steps=4)
    pause(client.home.path, SCOPE, now_us(), None)
    ends = client.log.ends()
    answer = client.search("gateway", quiet=True)
    assert not answer.results and answer.aside.startswith("Dormant since ")
    assert client.log.ends() == ends
