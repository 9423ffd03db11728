"""The Python client: arguments and errors in Python's words, times, threads, and what type checkers know."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from memtape import Client
from memtape.schemas.errors import InvalidUse, MemtapeError
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
        assert len(kept) == 16 and {it.id for it in client.recent(100)} == set(kept)
        assert len(client.hidden()) == 8 and client.verify().ok
