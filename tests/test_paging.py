"""Pages of a search: each text of then that still lives exactly once, in the order of the first page, at every door."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from soaked import examples, soaked

from memtape.flows.embed.embedder import FloorEmbedder
from memtape.schemas.codec import decode
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Embedded, Kind, Recalled, make_embedded, make_tick
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.sinks.logs.configuring import configure
from memtape.state.vectors.recorded import quantised
from memtape.state.views.filters import make_filters
from memtape.tools.agents.mcp.tools import call
from memtape.tools.ask.recorded_vectors import RecordedVectors
from memtape.tools.ask.results import Result
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.keep.erasing import plan

SCOPE = "project:mine"
START = 1_790_000_000_000_000
THINGS = ("kayak", "lantern", "harbour", "violin", "glacier", "orchard", "compass", "saddle", "furnace", "quarry")
KINDS: tuple[Kind, ...] = ("turn", "turn", "fact", "journal", "insight", "document")
QUERY = "What of the heron and the otter?"
KEY = "hashing@1/384"


class World:
    """A home whose clock the test moves, with a project, `global`, and who projects nothing while it is `lagging`."""

    def __init__(self, home: Path, stack: ExitStack, *, embedded: bool = False) -> None:
        (home / "settings.toml").write_text("extract = false\ncatch_up = false\n")
        self.now = START
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(time, "time_ns", lambda: self.now * 1_000)
        self.mine = stack.enter_context(Client(home, scope=SCOPE, origin="user"))
        self.everywhere = stack.enter_context(Client(home, scope=GLOBAL, origin="operator"))
        self.lagging = False
        catch_up = self.mine.reader.catch_up
        patch.setattr(self.mine.reader, "catch_up", lambda scope: None if self.lagging else catch_up(scope))
        self.count = 0
        self.waiting: list[tuple[str, str, str]] | None = None
        """The texts that have no vector yet, each by its scope and id; None where there are no vectors at all."""
        if embedded:
            settings = {"embedder": KEY, "fold_cosine_hundredths": -1}
            configure(self.mine.log, lambda now: msgspec.structs.replace(now, **settings))
            patch.setattr(RecordedVectors, "of_query", lambda its, text, key: np.frombuffer(vector_of(text), "<i2"))
            self.waiting = []

    def line(self, draw: Any, at: int) -> Line:
        """Return a text that says something of its own, in one of several lengths, so that no two rank alike."""
        self.count += 1
        asked = draw(st.sampled_from(("heron", "otter", "heron and the otter", "otters, herons and the otter")))
        rest = " ".join(draw(st.lists(st.sampled_from(THINGS), max_size=6)))
        kind = draw(st.sampled_from(KINDS))
        session = f"s{draw(st.integers(0, 2))}"
        return Line(text=f"{kind} n{self.count} of {asked} {rest}".strip(), kind=kind, session=session, at=at)

    def fill(self, draw: Any, count: int) -> None:
        for _ in range(count):
            client = self.everywhere if draw(st.integers(0, 4)) == 0 else self.mine
            self.say(client, self.line(draw, self.now - draw(st.integers(0, 40)) * DAY_US))
            if self.waiting is not None and draw(st.integers(0, 3)):
                self.embed(draw)

    def say(self, client: Client, line: Line) -> None:
        (receipt,) = client.capture_many([line])
        if self.waiting is not None:
            self.waiting.append((client.scope, receipt.id, line.text))

    def embed(self, draw: Any) -> None:
        """Let some of the texts that wait for vectors have them, whichever came first."""
        for _ in range(draw(st.integers(1, 4))):
            if self.waiting:
                self.embed_all([self.waiting.pop(draw(st.integers(0, len(self.waiting) - 1)))])

    def embed_all(self, texts: list[tuple[str, str, str]]) -> None:
        for scope, id, text in texts:
            body = Embedded(attempt=1, dimensions=384, embedder=KEY, reason=None, vector=vector_of(text))
            self.mine.log.append([make_embedded(scope, id, body, self.now)])

    def pass_time(self, us: int) -> None:
        """Move the clock, and say so in every partition that is read."""
        self.now += us
        partitions = {partition_of(scope, self.mine.log.partitions): None for scope in (SCOPE, GLOBAL)}
        self.mine.log.append([make_tick(number, self.now, accepted=True) for number in partitions])

    def whole(self) -> list[Result]:
        """Return all that is found now, in its order."""
        found = self.mine.search(QUERY, 1_000, quiet=True).results
        return [result for result in found if not result.sums]


def vector_of(text: str) -> bytes:
    return quantised(FloorEmbedder().embed_query(text))


@st.composite
def turmoil(draw: st.DrawFn) -> str:
    happens = ("capture", "forget", "tick", "again", "use", "project", "lag", "unlag", "global", "embed", "embed")
    return draw(st.sampled_from(happens))


def stir(world: World, draw: Any, what: str, first: list[Result], gone: set[str]) -> bool:
    """Do one of the things that happen between pages; whether it may move what was there before."""
    match what:
        case "capture":
            world.fill(draw, draw(st.integers(1, 4)))
        case "global":
            world.say(world.everywhere, world.line(draw, world.now))
        case "embed":
            world.embed(draw)
        case "forget" if first:
            it = draw(st.sampled_from(first))
            if it.text not in gone:
                (world.everywhere if it.scope == GLOBAL else world.mine).forget(it.id)
                gone.add(it.text)
        case "again" if first:
            it = draw(st.sampled_from(first))
            if it.text not in gone and it.scope == SCOPE:
                world.say(world.mine, Line(text=it.text, kind=it.kind, session="again"))
                return True
        case "use" if first:
            it = draw(st.sampled_from(first))
            if it.text not in gone:
                world.mine.use([it.id])
                return True
        case "tick":
            world.pass_time(draw(st.sampled_from((HOUR_US, DAY_US, 40 * DAY_US, 200 * DAY_US))))
        case "project":
            world.mine.project()
        case "lag":
            world.lagging = True
        case "unlag":
            world.lagging = False
    return False


@pytest.mark.parametrize("embedded", [False, True])
@examples(4)
@given(data=st.data())
def test_pages_give_each_text_of_then_that_lives_once_and_in_its_order(embedded: bool, data: st.DataObject) -> None:
    """Whatever was captured, embedded, forgotten or archived between the pages, in the project and in `global`."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place, ExitStack() as on:
        world = World(Path(place), on, embedded=embedded)
        world.fill(data.draw, data.draw(st.integers(3, 14)))
        if data.draw(st.booleans()):
            world.mine.project()
            world.lagging = data.draw(st.booleans())
            world.fill(data.draw, data.draw(st.integers(0, 3)))
        first, size = world.whole(), data.draw(st.integers(1, 5))
        found = world.mine.search(QUERY, size)
        given_texts, gone, moved, missing = list[str](), set[str](), False, dict[str, None]()
        while True:
            results = [result for result in found.results if not result.sums]
            given_texts += [result.text for result in results]
            assert not gone.intersection(result.text for result in results)
            if found.answer.next is None:
                break
            assert len(results) == size and found.answer.after == len(given_texts) - size
            for what in data.draw(st.lists(turmoil(), max_size=3)):
                moved |= stir(world, data.draw, what, first, gone)
            missing |= {text: None for text in gone if text not in given_texts}
            found = world.mine.search(QUERY, size, cursor=found.answer.next)
        expected = [result.text for result in first if result.text not in missing]
        assert sorted(given_texts) == sorted(expected)
        if not moved:
            assert given_texts == expected


@pytest.mark.parametrize(
    ("known", "lagging"), soaked([(known, late) for known in (0, 5, 11, 14) for late in (False, True)], (5, True))
)
def test_vectors_that_come_between_pages_move_nothing(known: int, lagging: bool, tmp_path: Path) -> None:
    """Also those that stood on the log at the first page, and that the views had not."""
    with ExitStack() as on:
        world = World(tmp_path, on, embedded=True)
        for n in range(14):
            things = " ".join(THINGS[n % 7 : n % 7 + n % 4])
            text = f"turn n{n} of {('heron', 'otter', 'birds of the marsh')[n % 3]} {things}"
            world.say(world.mine, Line(text=text, kind="turn", session=f"s{n % 3}", at=world.now - n * DAY_US))
        waiting = world.waiting
        assert waiting is not None
        world.embed_all(waiting[:known])
        world.mine.project()
        if lagging:
            world.lagging = True
            world.mine.capture_many([Line(text="An otter that came late.", kind="turn", session="late")])
            world.embed_all(waiting[known : known + 2])
        first = [result.text for result in world.whole()]
        found = world.mine.search(QUERY, 3)
        given_texts = [result.text for result in found.results]
        world.embed_all(waiting[known:])
        world.lagging = False
        world.mine.project()
        while found.answer.next is not None:
            found = world.mine.search(QUERY, 3, cursor=found.answer.next)
            given_texts += [result.text for result in found.results]
        assert given_texts == first
        assert known in (0, 14) or first != [result.text for result in world.whole()]


# One home.


@pytest.mark.parametrize("first", [1, 2, 7])
def test_pages_of_any_length_are_the_whole(client: Client, first: int) -> None:
    """By quotas too, which each page has for itself: what they leave out stands on later pages."""
    client.capture_many([Line(text=f"Staging port {n} is a journal's.", kind="journal") for n in range(4)])
    whole = [it.id for it in client.search("staging port", 100, quiet=True).results]
    for quotas in ([], ["turns=2"], ["journal=1"]):
        page = client.search("staging port", first, quotas=quotas).answer
        given_ids, limit = [it.id for it in page.results], first
        while page.next:
            limit += 2
            page = client.search("staging port", limit, quotas=quotas, cursor=page.next).answer
            assert len(page.results) <= limit
            assert not quotas or page.sources["turns"].returned <= (2 if "turns=2" in quotas else 99)
            given_ids += [it.id for it in page.results]
        assert sorted(given_ids) == sorted(whole) and (quotas or given_ids == whole)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    (tmp_path / "settings.toml").write_text("extract = false\n")
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        client.capture_many(
            [
                Line(text=f"The staging port of service {n} is 54{n:02}.", kind="turn", session=f"s{n % 3}")
                for n in range(23)
            ]
        )
        yield client


def test_a_cursor_of_another_question_scope_or_home_is_refused(client: Client, tmp_path: Path) -> None:
    cursor = client.search("staging port", 5).answer.next
    assert cursor is not None and len(cursor) < 120 and re.fullmatch(r"[\w-]+", cursor)
    other = Client(tmp_path, scope="project:other", log=client.log)
    elsewhere = Client(tmp_path / "elsewhere", scope=SCOPE)
    for asked, query, more, said in (
        (client, "staging ports", {}, "another question"),
        (client, "staging port", {"filters": make_filters(0, not_kinds=["page"])}, "another question"),
        (client, "staging port", {"filters": make_filters(0, since="2026-01-01")}, "another question"),
        (client, "staging port", {"archived": True}, "another question"),
        (client, "staging port", {"quotas": ["turns=3"]}, "another question"),
        (client, "staging port", {"without": ["fresh"]}, "another question"),
        (client, "staging port", {"as_of": "1h"}, "page by page"),
        (other, "staging port", {}, "another scope or home"),
        (elsewhere, "staging port", {}, "another scope or home"),
    ):
        with pytest.raises(MemtapeError, match=said) as told:
            asked.search(query, 5, cursor=cursor, quiet=True, **more)
        assert told.value.hint
    other.close()
    elsewhere.close()


@given(st.data())
@examples(200)
def test_a_damaged_cursor_is_refused(data: st.DataObject) -> None:
    from memtape.tools.ask.cursors import VERSION, Cursor, read, written

    made = Cursor(VERSION, b"place1", b"asked1", 1, 2, {3: 4}, {3: 1}, (None, 5, None), b"").with_given(["a", "b"])
    text = written(made)
    assert read(text) == read(f" {text}\n") == made and read(text).after == 2
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from("Aa09-_=+/é \0"))
    for bad in (text[:place] + other + text[place + 1 :], text[:place], text + other, other, data.draw(st.text())):
        if bad.strip() != text:
            with pytest.raises(MemtapeError, match="cursor is damaged"):
                read(bad)


def test_an_age_may_be_asked_again_and_another_may_not(client: Client) -> None:
    def asked(since: str, cursor: str | None = None) -> Any:
        filters = make_filters(time.time_ns() // 1_000, since=since)
        return client.search("staging port", 5, filters=filters, cursor=cursor).answer

    page = asked("3d")
    assert asked("3d", page.next).after == 5
    for other in ("2d", "4d", "2026-01-01"):
        with pytest.raises(MemtapeError, match="another question"):
            asked(other, page.next)


def test_what_is_erased_or_told_otherwise_is_told_as_it_is_now(client: Client) -> None:
    """Of a memory that was said in two wordings the one that lives is told, and nothing of the other."""
    with Client(client.home, scope=SCOPE, origin="agent") as agent:
        port = client.capture("The staging port of the proxy is 6000.")
        agent.capture("the staging port of the proxy is 6000")
    page = client.search("staging port", 1, filters=make_filters(0, not_kinds=["page"])).answer
    order = [it.id for it in client.search("staging port", 100, quiet=True).results]
    client.erase(plan(client.home, client.log, SCOPE, [order[5]], only=True))
    client.forget(port.id, only=True)
    given_ids = [it.id for it in page.results]
    while page.next:
        page = client.search("staging port", 4, cursor=page.next, filters=make_filters(0, not_kinds=["page"])).answer
        given_ids += [it.id for it in page.results]
        assert not any(it.id == order[5] for it in page.results)
    assert len(given_ids) == len(set(given_ids)) and set(order) - set(given_ids) <= {order[5], port.id}


def test_what_was_archived_meanwhile_is_given_and_marked(client: Client) -> None:
    order = [it.id for it in client.search("staging port", 100, quiet=True).results]
    page = client.search("staging port", 5).answer
    client.archive([order[7]])
    (found,) = [it for it in client.search("staging port", 5, cursor=page.next).results if it.id == order[7]]
    assert found.archived_at is not None and any("archived on" in mark for mark in found.marks)
    assert order[7] not in [it.id for it in client.search("staging port", 100).results]


def test_what_was_said_before_its_project_was_finished_is_given(client: Client) -> None:
    order = [it.id for it in client.search("staging port", 100, quiet=True).results]
    page = client.search("staging port", 5, explain=True).answer
    client.projects.finish()
    told = client.search("staging port", 18, cursor=page.next, explain=True).answer
    assert [it.id for it in told.results] == order[5:] and told.next is None
    assert all(it.archived_at is not None and it.why is not None and it.why.parts for it in told.results)


def test_a_page_is_on_the_log_as_one_and_is_not_compared(client: Client) -> None:
    first = client.search("staging port", 5)
    second = client.search("staging port", 5, cursor=first.answer.next)
    slots = client.read_log(partition_of(SCOPE, client.log.partitions), 0, 999, ["recalled"])
    bodies = [body for slot in slots if isinstance(body := decode(slot.payload).body, Recalled)]
    assert [body.after for body in bodies] == [0, 5] and bodies[0].now == bodies[1].now
    assert bodies[1].results == tuple(it.id for it in second.results)
    assert client.compare(["memtape"])["recalls"] == 1


def test_every_door_turns_pages(client: Client) -> None:
    order = [it.id for it in client.search("staging port", 100, quiet=True).results]
    words = ["search", "staging port", "--scope", SCOPE, "--home", str(client.home.path), "--limit", "5"]
    told = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert told["sources"]["turns"] == {"found": 23, "limit": None, "returned": 5}
    more = json.loads(CliRunner().invoke(main, [*words, "--json", "--cursor", told["next"]]).stdout)
    assert [it["id"] for it in more["results"]] == order[5:10]
    text = CliRunner().invoke(main, [*words, "--cursor", told["next"]])
    assert text.stdout.startswith(" 6. ") and "--cursor" in text.stderr
    answer = call(client, "search_memories", {"query": "staging port", "limit": 5})
    cursor = re.search(r"cursor=([\w-]+)", answer)
    assert cursor is not None
    answer = call(client, "search_memories", {"query": "staging port", "limit": 5, "cursor": cursor[1]})
    assert all(f"`{id}`" in answer for id in order[5:10])
    wrong = CliRunner().invoke(main, [*words, "--cursor", "nonsense"])
    assert wrong.exit_code == 1 and "damaged" in wrong.stderr and "Traceback" not in wrong.stderr
