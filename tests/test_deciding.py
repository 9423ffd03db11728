"""Decisions: the ids that one names follow from the folded state, which is what rows say when all is projected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import captured, configured, histories, slots
from hypothesis import given
from replaying import replay

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Event
from memtape.schemas.rows import MemoryRow, Row
from memtape.schemas.scopes import partition_of
from memtape.state.core.scope import Scope
from memtape.state.subjects.memories import unit_of
from memtape.state.views.resolution import named_by_decision, named_by_unfolding
from memtape.state.views.rows import all_changes, row_of
from memtape.tools.ask import reading
from memtape.tools.client import Client

A = "project:a"


def rows_of(scope: Scope) -> Iterator[Row]:
    return (row_of(scope, change) for change in all_changes(scope) if change.table in ("memories", "turns"))


@given(histories())
def test_what_is_named_is_what_the_rows_name(events: list[Event]) -> None:
    for partition in replay(slots([configured(), *events])).partitions.values():
        for scope in partition.scopes.values():
            named: dict[str, tuple[str, ...]] = {}
            captures = scope.captures.by_seq.values()
            made = (c for c in captures if c.made and c.kind != "page")  # Pages go on by themselves.
            ended = {c.id for c in made if scope.covers.of_text(c.id) is None}
            purged = {c.id for c in captures if scope.lifecycle.is_purged(unit_of(scope, c))}
            for row in rows_of(scope):
                ids = row.ids if isinstance(row, MemoryRow) else (row.id,)
                members = tuple(member.id for member in row.members) if isinstance(row, MemoryRow) else ids
                for id in ids:
                    named[id] = ids
                    folded = len(members) > 1 or bool(scope.covers.touching(members))
                    memory = scope.memory_of(id)
                    below = () if memory is None else scope.covers.below(scope, memory)
                    told = [part for made in below for part in _whole(scope, made)]
                    seq = scope.captures.seq_of(id)
                    page = None if seq is None else scope.pages.of(seq)
                    versions = [] if page is None else [scope.captures.by_seq[seq].id for seq in page.versions]
                    assert named_by_decision(scope, id, False) == tuple(versions or dict.fromkeys((*ids, *told)))
                    assert named_by_decision(scope, id, True) == (id,)
                    assert named_by_unfolding(scope, id, False) == (members if folded else ())
                    assert named_by_unfolding(scope, id, True) == ((id,) if folded and id in members else ())
            assert named.keys() == {capture.id for capture in captures} - ended - purged


def _whole(scope: Scope, id: str) -> tuple[str, ...]:
    """What a decision about an input of a text names, by the memory that it has become."""
    memory = scope.memory_of(id)
    return () if memory is None else named_by_decision(scope, scope.captures.by_seq[memory.name].id, False)


def test_a_decision_does_not_wait_for_the_views(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was folded since the views were made is named too, whoever projects or does not."""
    monkeypatch.setattr(reading, "INLINE_EVENTS", 0)
    with Client(home, scope=A) as client:
        (home / "settings.toml").write_text("catch_up = false\n")
        first = client.capture("Mira owns the harbour.").id
        client.project()
        second, other = (client.capture(text).id for text in ("Mira owns the harbour.", "The gauge fell."))
        assert client.unfold(first) == [first, second]
        assert client.forget(second) == [second], "it was unfolded"
        with pytest.raises(MemtapeError, match=f"Nothing is folded into {other}"):
            client.unfold(other[:-1])
        with pytest.raises(NotFound, match=f"{A} has no memory or turn"):
            client.forget(captured("Nobody said this.").id)


def test_what_was_erased_cannot_be_decided_about(home: Path) -> None:
    from memtape.tools.keep.erasing import plan

    with Client(home, scope=A) as client:
        id = client.capture("Mira owns the harbour.").id
        client.erase(plan(client.home, client.log, A, [id], only=False))
        with pytest.raises(NotFound, match=f"{id} was erased"):
            client.forget(id)


def test_only_what_is_pending_in_the_scopes_that_are_read_starts_a_projector(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the log is, and whatever waits in another project of the same partition."""
    monkeypatch.setattr(reading, "INLINE_EVENTS", 0)
    started: list[str] = []
    monkeypatch.setattr(reading, "start_detached", lambda home, log: started.append("here"))
    with Client(home, scope=A) as client:
        number = partition_of(A, client.log.partitions)
        beside = next(
            name for n in range(999) if partition_of(name := f"project:beside-{n}", client.log.partitions) == number
        )
        client.capture("Mira owns the harbour.")
        client.project()
        with Client(home, scope=beside) as other:
            other.capture("Nora owns the pier.")
        for question in ("harbour", "pier", "harbour"):
            client.search(question)
        assert not started
        client.capture("The gauge fell.")
        client.search("gauge")
        assert started == ["here"]
