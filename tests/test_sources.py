"""What a search leaves out, of which tier its results are, and its sources with their counts and quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_archiving import archive, sum_up

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Kind, Origin
from memtape.tools.ask.ordering import SOURCE_OF, SOURCES, quotas_of, source_of
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client

SCOPE = "project:mine"
KINDS: tuple[Kind, ...] = get_args(Kind)
ORIGINS: tuple[Origin, ...] = ("user", "agent", "web", "tool")


def line_of(n: int) -> Line:
    text = f"{KINDS[n % 8]} {n}: the {('heron', 'otter', 'lynx')[n % 3]} likes kayaks of size {n}."
    session, tags = (None, "s1", "s2")[n % 3], (("red",), ("blue", "red"), ())[n // 16]
    return Line(text=text, kind=KINDS[n % 8], origin=ORIGINS[n % 4], session=session, tags=tags)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A home with 48 texts of all kinds, of which the last ones are not projected."""
    home = tmp_path_factory.mktemp("home")
    (home / "settings.toml").write_text("extract = false\n")
    with pytest.MonkeyPatch.context() as patch, Client(home, scope=SCOPE, origin="user") as client:
        lines = [line_of(n) for n in range(48)]
        client.capture_many([*lines[:40], lines[0]])
        client.project()
        patch.setattr(client.reader, "catch_up", lambda scope: None)
        client.capture_many(lines[40:])
        yield client


def ids(client: Client, **fields: Any) -> list[str]:
    """Texts stand for ids: of turns that say the same either may be told."""
    return [it.text for it in client.search("kayaks", 1_000, **fields, quiet=True).results]


NARROWED = {"kinds": KINDS, "tags": ("red", "blue", "none"), "origins": ORIGINS,
            "sessions": ("s1", "s2", "nobody's")}  # fmt: skip
FILTERS = [(field, value) for field, values in NARROWED.items() for value in values]


@given(st.sampled_from(FILTERS), st.sets(st.sampled_from(KINDS), max_size=4))
def test_what_is_left_out_is_what_would_pass(client: Client, by: tuple[str, str], kinds: set[Kind]) -> None:
    """Beside any other filter, in rows and behind them, and nothing else moves."""
    name, value = by
    others: dict[str, Any] = {} if name == "kinds" else {"kinds": sorted(kinds)}
    whole = ids(client, **others)
    let, left = ids(client, **{name: [value]}, **others), ids(client, **{f"not_{name}": [value]}, **others)
    assert sorted(let + left) == sorted(whole) and not set(let) & set(left)


@given(st.dictionaries(st.sampled_from(SOURCES), st.integers(0, 5)), st.integers(1, 60))
def test_quotas_leave_the_order_and_only_cut(client: Client, quotas: dict[Any, int], limit: int) -> None:
    given = [f"{source}={count}" for source, count in quotas.items()]
    whole = client.search("kayaks", 1_000, quiet=True)
    answer = client.search("kayaks", limit, quotas=given, quiet=True)
    expected, counts = list[str](), Counter[str]()
    for result in whole.results:
        source = source_of(result)
        if counts[source] < quotas.get(source, 1_000) and len(expected) < limit:
            counts[source] += 1
            expected.append(result.id)
    if not quotas:
        expected = expected[:limit]
    if quotas or limit >= len(whole.results):
        assert [it.id for it in answer.results if not it.sums] == expected
    assert answer.sources.keys() == set(SOURCES)
    for source, its in answer.sources.items():
        assert its.found == whole.sources[source].found and its.limit == quotas.get(source)
        assert its.returned == sum(source_of(it) == source for it in answer.results) <= its.found
    assert sum(its.found for its in whole.sources.values()) == len(whole.results)
    assert sum(it.again for it in whole.results) == 1


def test_tiers_are_those_that_texts_and_summaries_have_come_to(tmp_path: Path) -> None:
    with Client(tmp_path, scope=SCOPE, origin="user", session="s-now") as client:
        moved = sum_up(client)
        young = client.capture("The lighthouse gateway is painted white.").id

        def found(*tiers: str, **more: Any) -> list[tuple[str, bool]]:
            results = client.search("lighthouse gateway", tiers=tiers, **more, quiet=True).results
            return [(it.id, bool(it.sums)) for it in results]

        assert sorted(id for id, _ in found("mid")) == sorted(moved)
        assert [id for id, is_summary in found("short") if not is_summary] == [young]
        assert found("long") == [] and {*found("short", "mid"), *found("long")} == set(found())
        archive(client, moved)
        # What is archived is told by a summary of a day, which is of the tier that its texts have come to.
        assert [is_summary for _, is_summary in found("mid")] == [True]
        assert found("short") == [(young, False)] and found("long") == []
        assert not any(is_summary for _, is_summary in (*found(not_tags=["x"]), *found(not_origins=["web"])))
        assert not any(is_summary for _, is_summary in found(not_sessions=["s-old"]))
        assert any(is_summary for _, is_summary in found(not_sessions=["s-new"], not_kinds=["fact"]))
        answer = client.search("lighthouse gateway", quiet=True, quotas=["summaries=0"])
        assert not any(it.sums for it in answer.results) and answer.sources["summaries"].found == 1


def test_every_kind_has_a_source() -> None:
    assert SOURCE_OF.keys() == set(KINDS) and {*SOURCE_OF.values(), "summaries"} == set(SOURCES)


def test_what_is_no_quota_is_refused(client: Client) -> None:
    quotas = quotas_of([" turns = 3 , documents=0", "pages=1000"])
    assert quotas == {"turns": 3, "documents": 0, "pages": 1_000}
    for wrong in (*"turns turn=3 turns= turns=-1 turns=1.5 turns=1001 turns=3,turns=3 turns=٣".split(), ""):
        with pytest.raises(MemtapeError, match=r"no source|no quota|two quotas") as told:
            client.search("kayaks", quotas=[wrong])
        assert told.value.hint
