"""Folding anew: what it keeps, what it makes of another embedder's vectors, and how people ask for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import builders as b
import pytest
from builders import ELSEWHERE, TINY, captured, configured, embedded, histories, make_id, slots
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from test_fold import AGAIN, EAST, FACT, NORTH, texts_of

from memtape.schemas.embedding import FLOOR
from memtape.schemas.events import Event, Operation
from memtape.schemas.log import settings_on
from memtape.schemas.rows import MemoryRow
from memtape.schemas.settings import Settings
from memtape.state.core.digests import state_leaves
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold
from memtape.state.core.scope import Scope
from memtape.state.views.diff import folds_of, moved
from memtape.state.views.rows import all_changes, row_of
from memtape.tools.client import Client
from memtape.tools.doors.cli import main

SCOPE = "project:mine"
LONG, SHORT = "The staging database listens on port 5433.", "the staging db listens on port 5433"
Options = dict[str, object]


def anew(revision: int = 1_000, refolded: int = 1_000, **settings: Any) -> Event:
    """The event by which all is folded anew."""
    return configured(Settings(**{"embedder": TINY, "refolded": refolded} | settings), revision)


def partition_of(events: Sequence[Event]) -> Partition:
    said = slots([configured(Settings(embedder=TINY)), *events])
    partition = Partition(0, erasures_of(said))
    fold(partition, said)
    return partition


def scope_of(*events: Event) -> Scope:
    return partition_of(events).scopes["project:test"]


def leaves(partition: Partition) -> dict[str, str]:
    """The digests of the state, without that of settings and clock."""
    named = state_leaves([partition]).items()
    return {name: leaf for name, leaf in named if not name.startswith("partition/")}


embedders, cosines = st.sampled_from((TINY, ELSEWHERE, FLOOR)), st.sampled_from((85, 85, -1))


def echoes_of(scope: Scope) -> set[int]:
    joins = (join for memory in scope.memories.by_birth.values() for join in memory.joins)
    return {join.seq for join in joins if join.how == "echo"}


some_settings = st.fixed_dictionaries({"embedder": embedders, "fold_cosine_hundredths": cosines})


@given(histories(), some_settings)
def test_what_was_set_apart_stays_apart_and_an_echo_an_echo(events: list[Event], settings: Options) -> None:
    before = partition_of(events)
    after = partition_of([*events, anew(**settings)])
    for name, scope in before.scopes.items():
        own = after.scopes[name]
        assert echoes_of(scope) <= echoes_of(own)
        for split in scope.memories.splits:
            for group in split:
                others = [seq for other in split if other is not group for seq in other]
                births = ([own.memories.birth_of[seq] for seq in its] for its in (group, others))
                assert {*next(births)}.isdisjoint(next(births))
        assert own.memories.birth_of.keys() == scope.memories.birth_of.keys()
        if settings["fold_cosine_hundredths"] == -1:
            assert all(len(memory.joins) == 1 for memory in own.memories.by_birth.values())


@given(histories(), some_settings)
def test_folding_anew_twice_changes_nothing_more(events: list[Event], settings: Options) -> None:
    once = [*events, anew(**settings)]
    twice = [*once, anew(1_001, 1_001, **settings)]
    assert leaves(partition_of(twice)) == leaves(partition_of(once))
    changes = fold(partition_of(once), slots([anew(1_001, 1_001, **settings)], start=10_000))
    assert changes == {}


@given(histories(), some_settings)
def test_the_pairs_say_who_comes_together_and_who_apart(events: list[Event], settings: Options) -> None:
    before, after = partition_of(events), partition_of([*events, anew(**settings)])
    for name, scope in before.scopes.items():
        old, new = folds_of(scope), folds_of(after.scopes[name])
        pairs = moved(name, old, new)
        one_before = [{said.id for said in its} for its in old.values()]
        one_after = [{said.id for said in its} for its in new.values()]
        for pair in pairs:
            ids = {pair.first.id, pair.second.id}
            was, is_now = (any(ids <= one for one in each) for each in (one_before, one_after))
            assert (was, is_now) == ((False, True) if pair.change == "together" else (True, False))
        assert bool(pairs) == (sorted(map(sorted, one_before)) != sorted(map(sorted, one_after)))


def test_a_text_without_a_vector_waits_after_it_and_what_was_unfolded_does_not_fold_when_it_comes() -> None:
    said = [captured(FACT, 1), captured(FACT, 2), captured(AGAIN, 3), b.unfolded([2], "x")]
    scope = scope_of(*said, anew())
    assert texts_of(scope) == [[FACT], [FACT], [AGAIN]]
    for late in ([1, 3], [3, 1], [1, 3, 2]):
        came = [embedded(it, EAST) for it in late]
        assert texts_of(scope_of(*said, anew(), *came)) == [[FACT, AGAIN], [FACT]]


def test_a_cover_ends_where_what_it_stands_for_folds_otherwise() -> None:
    """And it goes on where that says what it said."""
    operation = Operation(by=make_id(9), ids=(make_id(1), make_id(2)), op="replace")

    def history(again: str) -> list[Event]:
        said = [captured(FACT, 1), captured("The harbour is deep.", 2), captured(again, 3)]
        vectors = [embedded(1, EAST), embedded(2, NORTH), embedded(3, [0, 0, 2000])]
        vectors += [embedded(3, EAST, ELSEWHERE), embedded(1, EAST, ELSEWHERE)]
        decision = b.decided([1, 2], [operation], "c")
        text = replace(captured("Made of two.", 9), refs=(decision.id, *operation.ids))
        return b.as_seen([configured(Settings(embedder=TINY)), *said, *vectors, decision, text])[1:]

    def standing(scope: Scope) -> bool:
        return bool(scope.covers.holding)

    apart = history(AGAIN)
    assert standing(scope_of(*apart)) and standing(scope_of(*apart, anew()))
    after = scope_of(*apart, anew(embedder=ELSEWHERE))
    assert not standing(after)
    rows = [row_of(after, change) for change in all_changes(after) if change.table == "memories"]
    assert all(isinstance(row, MemoryRow) and row.into is None for row in rows)
    kept = history("The harbour is wide.")
    assert standing(scope_of(*kept, anew(embedder=ELSEWHERE)))


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope=SCOPE, actor="Ada", origin="user") as client:
        yield client


def command(client: Client, *words: str) -> str:
    done = CliRunner().invoke(main, [*words, "--home", str(client.home.path)])
    assert done.exit_code == 0, done.output
    return done.stdout


def found(client: Client) -> list[str]:
    return [result.text for result in client.search("staging port", quiet=True).results]


def test_folding_is_tried_switched_off_and_on_again(client: Client) -> None:
    one, two, _ = (client.capture(text).id for text in (LONG, SHORT, "We sail."))
    client.project()
    before, ends = client.verify().state_hash, client.log.ends()
    tried = command(client, "admin", "refold", "--fold", "off", "--dry-run")
    assert f"apart in {SCOPE}:\n  {LONG} ({one[-8:]})\n  {SHORT} ({two[-8:]})\n" in tried
    assert "Come apart from others: 1 memory." in tried
    assert "`memtape admin refold --fold off` does it" in tried
    assert client.log.ends() == ends and client.verify().state_hash == before and found(client) == [SHORT]
    done = json.loads(command(client, "admin", "refold", "--fold", "off", "--json"))
    assert (done["done"], done["folding"], done["together"], done["apart"]) == (True, False, 0, 1)
    assert [(pair["first"]["id"], pair["second"]["id"]) for pair in done["pairs"]] == [(one, two)]
    views = client.reader.reading(lambda views: views.found(SCOPE)[0])  # Without another look at the log.
    assert len(views.places()) == 3 and sorted(found(client)) == sorted([LONG, SHORT]) and client.verify().ok
    assert settings_on(client.log).refolded == 1
    on = command(client, "admin", "refold", "--fold", "on")
    assert "Taken in by others: 1 memory." in on and found(client) == [SHORT] and client.verify().ok
    assert settings_on(client.log) == Settings(refolded=2)
    assert "0 memories. Come apart from others: 0 memories" in command(client, "admin", "refold")
