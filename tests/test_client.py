"""The Python client: arguments and errors in Python's words, times, threads, and what type checkers know."""

from __future__ import annotations

import asyncio
import inspect
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import memtape
from memtape import AsyncClient, Client, MemtapeError
from memtape.schemas.errors import InvalidUse
from memtape.state.views.filters import FILTERS
from memtape.tools.capture.writing import Line
from memtape.tools.methods import in_python
from memtape.tools.table import METHODS, VERBS
from memtape.tools.verb import python_fields

DAY = timedelta(days=1)
NOW = datetime.now(timezone.utc)


def test_a_time_is_a_datetime_microseconds_iso_or_an_age(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a") as client:
        late = client.capture("The harbour opens at six.", at=NOW - DAY)
        early = client.capture("The harbour closes at nine.", at="3d")
        since = NOW - 2 * DAY
        zone = timezone(timedelta(hours=5))
        microseconds = round(since.timestamp() * 1_000_000)
        for moment in (since, since.astimezone(zone), microseconds, since.isoformat(), "2d"):
            found = client.search("harbour", since=moment, quiet=True).results
            assert [it.id for it in found] == [late.id], moment
            assert [it.id for it in client.search("harbour", until=moment).results] == [early.id], moment
            assert [it.id for it in client.context(since=moment).items] in ([], [late.id]), moment
            assert client.search("harbour", as_of=moment).results == [], moment
            assert len(client.timeline(moment)) == 2 and client.stats(since=moment).days
            assert client.diff(moment, NOW + DAY).added and client.prune(before=moment, dry_run=True).dry_run


def test_a_datetime_without_a_zone_is_refused_with_the_next_step(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a") as client:
        for call in (client.search, client.capture):
            name = "since" if call == client.search else "at"
            with pytest.raises(InvalidUse, match=f"{name} is a datetime without a time zone") as refused:
                call("harbour", **{name: datetime(2026, 1, 1)})
            assert "datetime.now(timezone.utc)" in refused.value.hint


def test_a_value_of_another_type_names_the_method_and_the_argument(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a") as client:
        client.capture("The harbour opens at six.")
        for call, told, hint in (
            (lambda: client.recent("x"), "recent(limit=…): Expected `int`, got `str`.", "See help"),
            (lambda: client.search("x", not_kinds="a"), "There is no kind 'a'.", "search(not_kinds=…) takes"),
            (lambda: client.refold(fold="x"), "fold cannot be 'x'.", "refold(fold=…) takes 'on', 'off'."),
            (lambda: client.forget(None), "forget(id=…): Expected `str`, got `null`.", "See help"),
        ):
            with pytest.raises(InvalidUse) as refused:
                call()
            assert str(refused.value).startswith(told) and refused.value.hint.startswith(hint)


def test_ids_are_erased_and_a_closed_client_and_an_unknown_origin_say_so(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a") as client:
        id = client.capture("The harbour opens at six.").id
        assert client.erase([id[-8:]]).ok and not client.search("harbour").results
    with pytest.raises(MemtapeError, match="was closed"):
        client.recent()
    with pytest.raises(InvalidUse, match="There is no origin 'god'"):
        Client(tmp_path, origin="god")  # type: ignore[arg-type]


def test_errors_name_methods_and_arguments_not_commands_and_options(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a", origin="user") as client:
        for call, told in (
            (lambda: client.accept(), "Give ids, or every=True for every rule."),
            (lambda: client.unarchive(), "Give ids, or all_of. `archived()` lists both."),
            (lambda: client.prune(tags=[]), 'Name one, as tags="env:dev".'),
            (lambda: client.settle("abcdefgh", "A"), "`conflicts(settled=True)` shows their ids."),
            (lambda: client.read_page("harbour"), "`draw_tree()` draws all; `new_page()` writes one."),
        ):
            with pytest.raises(MemtapeError) as refused:
                call()
            assert told in f"{refused.value} {refused.value.hint}"


def test_only_commands_without_a_method_and_quoted_words_stay(tmp_path: Path) -> None:
    fields = python_fields(VERBS[METHODS["search"]].asks)
    for text, told in (
        ("`memtape run --once` makes them anew.", "`memtape run --once` makes them anew."),
        ("`memtape show --why ID` says why.", "`why(ID)` says why."),
        ("Who is a person says --origin user.", 'Who is a person says origin="user".'),
        ("`memtape without hot, edges`", "`memtape without hot, edges`"),
        ("Use --kind, `--kind` or --nothing.", "Use kinds, `--kind` or --nothing."),
    ):
        assert in_python(text, fields) == told


def test_eight_threads_share_a_client_and_nothing_is_lost(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a", origin="user") as client:

        def work(number: int) -> list[str]:
            kept = []
            for word in (f"{name}{number}" for name in ("alder", "birch", "cedar")):
                made = client.capture(f"The gate {word} listens on port {5000 + number}.")
                assert made.id in [it.id for it in client.search(word).results]
                if word.startswith("birch"):
                    client.forget(made.id)
                    assert made.id not in [it.id for it in client.search(word).results]
                else:
                    kept.append(made.id)
            return kept

        with ThreadPoolExecutor(8) as threads:
            kept = [id for ids in threads.map(work, range(8)) for id in ids]
        assert len(kept) == 16 and {it.id for it in client.recent(limit=100).results} == set(kept)
        assert len(client.hidden()) == 8 and client.verify().ok


def test_an_asynchronous_client_has_the_same_methods_and_closes_itself(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        async with AsyncClient(tmp_path, scope="project:a") as memory:
            await asyncio.gather(*(memory.capture(f"The gate alder{number} is open.") for number in range(5)))
            with pytest.raises(MemtapeError, match="There is no kind 'x'"):
                await memory.search("gate", kinds=["x"])
            await memory.capture_many([Line(text="The gate alder5 is open.")])
            assert await memory.project() > 0
            found = (await memory.search("gate alder3")).results
            inner = memory._client
        assert inner is not None
        with pytest.raises(Exception, match="closed"):
            inner.search("gate")
        return [it.text for it in found]

    assert (text := asyncio.run(talk())) and text[0] == "The gate alder3 is open."
    assert all(inspect.iscoroutinefunction(getattr(AsyncClient, method)) for method in METHODS)


SAMPLE = """
import asyncio
from datetime import datetime, timezone
from memtape import AsyncClient, Client, Filters, MemtapeError, NotFound

wanted: Filters = {"kinds": ["fact"], "since": datetime.now(timezone.utc), "tags": ("infra",)}
with Client("home", scope="project:a", actor="Ada", origin="user") as memory:
    memory.capture("text", kind="turn", tags=["a"], origin="user", at="3d", session="s").id.upper()
    memory.add([{"role": "user", "content": "text"}], session="s").taken.bit_length()
    memory.search("text", **wanted).results[0].text.upper()
    memory.search("text", kinds=["fact"], tags=["a"], since="3d", limit=3)
    try:
        memory.show("12345678")
    except NotFound as error:
        error.hint.upper()
    except MemtapeError as error:
        error.code.upper()

async def talk() -> str:
    async with AsyncClient(scope="project:a") as memory:
        return (await memory.search("text", until=datetime.now(timezone.utc))).results[0].text
"""
WRONG = """
memory.capture(5)
memory.capture("text", kind="rumour")
memory.search("text", kind="fact")
memory.search("text", since=3.5)
memory.search("text").results[0].nothing
memory.forget()
memory.add("text")
Client(origin="robot")
other: Filters = {"kind": ["fact"]}
asyncio.run(AsyncClient().search(7))
"""


def test_a_type_checker_takes_right_calls_and_refuses_each_wrong_one(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(SAMPLE + WRONG)
    cache = Path(__file__).parent.parent / ".mypy_cache"
    command = ["-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(cache), str(sample)]
    told = subprocess.run([sys.executable, *command], capture_output=True, text=True).stdout
    first = (SAMPLE + WRONG).split("\n").index("memory.capture(5)") + 1
    lines = [int(found[1]) for found in re.finditer(r"sample.py:(\d+): error", told)]
    assert list(dict.fromkeys(lines)) == list(range(first, first + 10)), told


def test_public_names_are_loaded_when_they_are_asked_for() -> None:
    assert all(getattr(memtape, name) is not None for name in memtape.__all__)
    assert set(memtape.Filters.__annotations__) == set(FILTERS)
    assert memtape.Filters(kinds=["fact"]) == {"kinds": ["fact"]}


class SdkAnswer:
    """A message as SDKs return it: an object with `model_dump`."""

    def model_dump(self) -> dict[str, Any]:
        return {"role": "assistant", "content": "It closes at nine.", "tool_calls": None, "refusal": None}


OPENAI: list[Any] = [
    {"role": "system", "content": "You are the harbour's assistant."},
    {"role": "user", "content": "The gate alder is open."},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "21:00"},
    SdkAnswer(),
    {"role": "user", "content": [{"type": "text", "text": "Please"}, {"type": "text", "text": "close it."}]},
    {"role": "user", "name": "Bob", "content": "The gate alder is open."},
]
ANTHROPIC: list[Any] = [
    {"role": "user", "content": [{"type": "text", "text": "The gate birch is open."}]},
    {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "…"}, {"type": "tool_use", "id": "t"}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "21:00"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "It closes at nine."}]},
]


@pytest.mark.parametrize("profile", ["prod", "dev_no_persist"])
def test_a_conversation_is_added_once_as_turns_of_its_session(tmp_path: Path, profile: str) -> None:
    with Client(tmp_path, scope="project:a", actor="Ada", origin="user", profile=profile) as client:
        for messages, session, taken, skipped in ((OPENAI, "s1", 4, 3), (ANTHROPIC, "s2", 2, 3)):
            begun = client.add(messages[:2], session)
            rest = client.add(messages, session)  # A growing conversation, and then a retry.
            again = client.add(messages, session)
            assert begun.taken + rest.taken == taken == again.known and again.taken == 0
            assert again.skipped.total() == skipped and not again.problem_count
        told = [(it.actor, it.origin, it.text) for it in client.recent(kinds=["turn"]).results]
    assert told[::-1] == [
        ("Ada", "user", "The gate alder is open."),
        ("assistant", "agent", "It closes at nine."),
        ("Ada", "user", "Please\n\nclose it."),
        ("Bob", "user", "The gate alder is open."),
        ("Ada", "user", "The gate birch is open."),
        ("assistant", "agent", "It closes at nine."),
    ]


def test_a_conversation_needs_a_session_and_keeps_no_secret(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a", actor="bot") as client:
        with pytest.raises(InvalidUse, match="has a session"):
            client.add(OPENAI)
        client.session = "s"
        client.add([{"role": "user", "content": "The password of staging is Harbour-4417."}])
        client.add([{"role": "assistant", "content": "Noted."}, {"role": "robot", "content": "beep"}])
        found = client.search("password staging", sessions=["s"]).results
        assert {it.actor: it.text for it in found}["bot"] == "Noted."
        assert "[redacted:password:" in {it.actor: it.text for it in found}["user"]
        assert b"Harbour-4417" not in b"".join(path.read_bytes() for path in tmp_path.glob("log.db*"))
