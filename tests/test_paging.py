"""Pages of a search: each text that lives exactly once, at every door."""

from __future__ import annotations

import itertools
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from soaked import examples

from memtape.schemas.codec import decode
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Kind, Recalled
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.schemas.times import HOUR_US
from memtape.tools.ask.results import Result
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.doors.mcp import call

SCOPE = "project:mine"
START = 1_790_000_000_000_000
KINDS: tuple[Kind, ...] = ("turn", "turn", "fact", "journal", "insight", "document")
QUERY = "What of the heron and the otter?"


@pytest.mark.parametrize("first", [1, 7])
def test_pages_of_any_length_are_the_whole(client: Client, first: int) -> None:
    """By quotas too, which each page has for itself: what they leave out stands on later pages."""
    client.capture_many([Line(text=f"Staging port {n} is a journal's.", kind="journal") for n in range(4)])
    whole = [it.id for it in client.search("staging port", 100, quiet=True).results]
    for quotas in ([], ["turns=2"], ["journal=1"]):
        page = client.search("staging port", first, quotas=quotas)
        given_ids, limit = [it.id for it in page.results], first
        while page.next:
            limit += 2
            page = client.search("staging port", limit, quotas=quotas, cursor=page.next)
            assert len(page.results) <= limit
            assert not quotas or page.sources["turns"].returned <= (2 if "turns=2" in quotas else 99)
            given_ids += [it.id for it in page.results]
        assert sorted(given_ids) == sorted(whole) and (quotas or given_ids == whole)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    (tmp_path / "settings.toml").write_text("extract = false\n")
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        said = {f"The staging port of service {n} is 54{n:02}.": f"s{n % 3}" for n in range(23)}
        client.capture_many(Line(text=text, kind="turn", session=session) for text, session in said.items())
        yield client


def test_a_cursor_of_another_question_scope_or_home_is_refused(client: Client, tmp_path: Path) -> None:
    cursor = client.search("staging port", 5).next
    assert cursor is not None and len(cursor) < 120 and re.fullmatch(r"[\w-]+", cursor)
    other = Client(tmp_path, scope="project:other", log=client.log)
    elsewhere = Client(tmp_path / "elsewhere", scope=SCOPE)
    for asked, query, more in (
        (client, "staging ports", {}),
        (client, "staging port", {"not_kinds": ["page"]}),
        (client, "staging port", {"since": "2026-01-01"}),
        (client, "staging port", {"archived": True}),
        (client, "staging port", {"quotas": ["turns=3"]}),
        (client, "staging port", {"without": ["fresh"]}),
        (client, "staging port", {"as_of": "1h"}),
        (other, "staging port", {}),
        (elsewhere, "staging port", {}),
    ):
        with pytest.raises(MemtapeError, match="page by page" if "as_of" in more else "another question"):
            asked.search(query, 5, cursor=cursor, quiet=True, **more)
    other.close()
    elsewhere.close()


@given(st.data())
@examples(200)
def test_a_damaged_cursor_is_refused(data: st.DataObject) -> None:
    from memtape.tools.ask.retrieval import Cursor, read, written

    made = Cursor(b"question", 1, 2, (None, 5, None), b"aaaaabbbbb")
    text = written(made)
    assert read(text) == read(f" {text}\n") == made and len(read(text).ids()) == 2
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from("Aa09-_=+/é \0"))
    for bad in (text[:place] + other + text[place + 1 :], text[:place], text + other, other, data.draw(st.text())):
        if bad.strip() != text:
            with pytest.raises(MemtapeError, match="cursor is damaged"):
                read(bad)


def test_an_age_may_be_asked_again_and_another_may_not(client: Client) -> None:
    def asked(since: str, cursor: str | None = None) -> Any:
        return client.search("staging port", 5, since=since, cursor=cursor)

    page = asked("3d")
    assert asked("3d", page.next).after == 5
    for other in ("2d", "4d", "2026-01-01"):
        with pytest.raises(MemtapeError, match="another question"):
            asked(other, page.next)


WORDS = ("heron", "otter", "heron and the otter", "otters, herons and the otter")
HAPPENS = ("capture", "global", "forget", "use", "tick", "project")


@examples(4)
@given(data=st.data())
def test_pages_give_each_text_that_lives_once(data: st.DataObject) -> None:
    """Whatever was captured, forgotten or used between the pages; where nothing was, in the order of one long page."""
    draw = data.draw
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place, ExitStack() as on:
        (Path(place) / "settings.toml").write_text("extract = false\n")
        mine = on.enter_context(Client(place, scope=SCOPE, origin="user"))
        everywhere = on.enter_context(Client(place, scope=GLOBAL, origin="operator", log=mine.log))
        count = iter(range(1_000))

        def fill(to: Client, most: int) -> None:
            for n in itertools.islice(count, draw(st.integers(1, most))):
                text = f"{draw(st.sampled_from(KINDS))} n{n} of {draw(st.sampled_from(WORDS))} {'quarry ' * (n % 7)}"
                kind, at = draw(st.sampled_from(KINDS)), START - n * HOUR_US
                to.capture_many([Line(text=text, kind=kind, session=f"s{n % 3}", at=at)])

        def whole() -> list[Result]:
            return [it for it in mine.search(QUERY, 1_000, quiet=True).results if not it.sums]

        fill(mine, 14)
        fill(everywhere, 4)
        first, size = whole(), draw(st.integers(1, 5))
        found, given_ids, gone, stirred = mine.search(QUERY, size), list[str](), set[str](), False
        while True:
            results = [it for it in found.results if not it.sums]
            given_ids += [it.id for it in results]
            assert found.after == len(given_ids) - len(results) and gone.isdisjoint(it.id for it in results)
            if found.next is None:
                break
            assert len(results) == size
            for what in draw(st.lists(st.sampled_from(HAPPENS), max_size=3)):
                stirred, it = True, draw(st.sampled_from(first))
                match what:
                    case "capture":
                        fill(mine, 3)
                    case "global":
                        fill(everywhere, 1)
                    case "forget" if it.id not in gone:
                        (everywhere if it.scope == GLOBAL else mine).forget(it.id)
                        gone |= {it.id} - set(given_ids)
                    case "use" if it.id not in gone and it.scope == SCOPE:
                        mine.use([it.id])
                    case "project":
                        mine.project()
            found = mine.search(QUERY, size, cursor=found.next)
        assert len(given_ids) == len(set(given_ids))
        assert {it.id for it in first} <= set(given_ids) | gone
        assert stirred or given_ids == [it.id for it in first]


def test_a_page_is_on_the_log_as_one_and_is_not_compared(client: Client) -> None:
    first = client.search("staging port", 5)
    second = client.search("staging port", 5, cursor=first.next)
    slots = client.log.read(partition_of(SCOPE, client.log.partitions), 0, 999, types=["recalled"])
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
