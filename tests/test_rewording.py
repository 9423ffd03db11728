"""Summaries told by a model: what is kept of an answer, how long it tells a summary, and that it goes with sources."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memtape.flows.workers.reword import reword
from memtape.schemas.events import Captured, make_tick
from memtape.schemas.rows import SummaryRow
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.sinks.tables import Shard
from memtape.state.consolidation.untold import LEAST_SOURCES, MOST, untold
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.keep.rewording import Reworder
from tests.test_consolidation import SCOPE, answering, asking, erase, made, model, no_model, scope_of
from tests.test_facts import Scripted

__all__ = ["asking", "model", "no_model"]  # Fixtures.
SAID = (
    "The kiln exploded because of a wet batch, and Mira replaced its door.",
    "We decided to fire the kiln at 900 degrees from now on.",
    "The glaze for the blue tiles is still open.",
)
TOLD = "The kiln exploded: a wet batch.\nDecided: fire the kiln at 900 degrees.\nThe glaze for the blue tiles is open."


@pytest.fixture
def aged(asking: Client) -> Iterator[tuple[Client, list[str]]]:
    """A client, and the ids of turns that moved on by a tick."""
    ids = [asking.capture(text, "turn", at=now_us() - 20 * DAY_US, session="s").id for text in SAID]
    tick(asking, 1)
    asking.project()  # What turns state is taken from them first.
    yield asking, ids


def tick(client: Client, hours: int) -> None:
    client.log.append([make_tick(partition_of(SCOPE, client.log.partitions), now_us() + hours * HOUR_US)])


def tell(client: Client, model: Scripted) -> None:
    """Have the model tell the summary."""
    answering(model, TOLD)
    client.consolidate(at_once=True)


def summaries(client: Client) -> list[SummaryRow]:
    """Return the summaries, and see that the views are what the log says."""
    client.project()
    assert client.verify().ok
    number = partition_of(SCOPE, client.log.partitions)
    rows = Shard(client.home.current().shard(number), number).rows(SummaryRow, SCOPE)
    return [row for row in rows if isinstance(row, SummaryRow)]


def test_a_model_tells_a_summary_and_code_keeps_ids_dates_and_counts(
    aged: tuple[Client, list[str]], model: Scripted
) -> None:
    client, ids = aged
    (by_rule,) = summaries(client)
    assert by_rule.text.splitlines() == list(SAID) and not by_rule.by_model
    answering(model, TOLD)
    assert client.consolidate(at_once=True).retold == 1
    (told,) = summaries(client)
    assert told.text == TOLD and told.by_model
    assert (told.id, told.sources, told.since, told.first_at) == (
        by_rule.id,
        tuple(ids),
        by_rule.since,
        by_rule.first_at,
    )
    assert all(text in model.prompts[-1] for text in SAID)
    assert client.consolidate(at_once=True).retold == 0 and len(model.prompts) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The kiln exploded 7 times.",
        "The office moved to Lisbon.",
        "Always fire the kiln.",
        "x " * 600,
        "The kiln did not explode.",
    ],
)
def test_what_the_sources_do_not_say_is_refused_and_asked_for_once(
    answer: str, aged: tuple[Client, list[str]], model: Scripted
) -> None:
    client, _ = aged
    answering(model, answer)
    assert client.consolidate(at_once=True).retold == 0
    (kept,) = summaries(client)
    assert not kept.by_model and kept.text.splitlines() == list(SAID)


def test_what_is_refused_or_too_large_keeps_no_older_summary_from_being_told(
    asking: Client, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(MOST + 2):
        for n in range(LEAST_SOURCES + (day == 0)):
            said = f"The kiln of day {day} was fired by shift {n}."
            asking.capture(said, "turn", at=now_us() - (12 + day) * DAY_US, session=f"s{day}")
    tick(asking, 1)
    summed = untold(scope_of(asking), ())
    assert len(summed) == MOST
    with monkeypatch.context() as large:
        large.setattr("memtape.state.consolidation.untold.MAX_IDS", LEAST_SOURCES + 1)
        assert [it.id for it in untold(scope_of(asking), ())][:-1] == [it.id for it in summed[1:]]
    answering(model, "The office moved to Lisbon.")
    reworder = Reworder(asking.home)
    for count in (MOST, MOST + 2, MOST + 2):  # Each is asked about once.
        assert reword(asking.log, scope_of(asking), reworder, now_us) == 0
        assert len(model.prompts) == count


def test_without_a_model_no_text_of_a_summary_is_read(
    aged: tuple[Client, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _ = aged
    client.home.settings_path.write_text("catch_up = false\n")
    monkeypatch.setattr("memtape.flows.workers.reword.untold", lambda *_: pytest.fail("Texts were read."))
    assert reword(client.log, scope_of(client), Reworder(client.home), now_us) == 0


def test_a_text_tells_a_summary_only_until_the_summary_changes(aged: tuple[Client, list[str]], model: Scripted) -> None:
    client, ids = aged
    tell(client, model)
    client.capture("The kiln was painted green by Tomas.", "turn", at=now_us() - 20 * DAY_US, session="s")
    tick(client, 2)
    (grown,) = summaries(client)
    assert len(grown.sources) == len(SAID) + 1 and not grown.by_model
    assert client.consolidate(at_once=True).retold == 1
    client.forget(ids[0])
    (left,) = summaries(client)
    assert not left.by_model and "wet batch" not in left.text and ids[0] not in left.sources
    assert len(left.sources) == LEAST_SOURCES


def test_who_forgets_what_was_told_gets_the_rules_back(aged: tuple[Client, list[str]], model: Scripted) -> None:
    client, _ = aged
    tell(client, model)
    (text,) = made(client)
    client.forget(text.id)
    (kept,) = summaries(client)
    assert not kept.by_model and kept.text.splitlines() == list(SAID)


def test_erasing_a_source_erases_what_was_told_of_it(aged: tuple[Client, list[str]], model: Scripted) -> None:
    client, ids = aged
    tell(client, model)
    assert summaries(client)[0].by_model
    erase(client, ids[0])
    assert [event.body for event in made(client) if isinstance(event.body, Captured)] == []
    assert summaries(client) == []  # Two are too few for a summary.
    for path in client.home.path.rglob("*"):
        assert not path.is_file() or b"wet batch" not in path.read_bytes().lower(), path
