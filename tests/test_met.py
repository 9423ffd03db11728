"""Every suite that holds a law of the whole meets every type of event that the codec knows.

What a suite met is taken from the histories that it works on. The lives of `test_model.py` and of `crash.py`
hold it themselves at their ends, over the logs that they have left.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import crash
import model_aging
import pytest
from builders import AGING, START, configured, histories, slots
from hypothesis import Phase, given, seed, settings
from met import events_in, missing
from test_golden_log import golden_slots
from test_model import told

from memtape.schemas.events import EVENT_TYPES, Event, make_tick


def drawn() -> list[Event]:
    """What the laws, the erasures and the model are held over, some examples of it."""
    events: list[Event] = []

    @settings(max_examples=100, derandomize=True, database=None)
    @given(histories())
    def take(history: list[Event]) -> None:
        events.extend(history)

    take()
    return events


SUITES: dict[str, Callable[[], list[Event]]] = {
    "the golden log": lambda: events_in(golden_slots()),
    "the histories of the laws": drawn,
    # A log ticks by itself when something is appended.
    "the histories of crashes": lambda: [*itertools.islice(crash.history(400, 1), 400), make_tick(0, START)],
}


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_meets_every_type_of_event(suite: str) -> None:
    assert missing(SUITES[suite]()) == []


@pytest.mark.slow
@pytest.mark.soak(short="test_a_suite_meets_every_type_of_event")
def test_histories_meet_all_that_can_happen_to_texts_that_age() -> None:
    """Passes have room for a few, so that what waits for the next is met too."""
    met: dict[str, None] = {}

    @settings(max_examples=50, database=None, phases=[Phase.generate])
    @given(histories(60, (AGING,)))
    def take(history: list[Event]) -> None:
        scopes = told(slots([configured(), *history]), 1).world().scopes.values()
        met.update({name: None for scope in scopes for name in scope.aging.met})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_aging, "MOST_MOVED", 4)
        for number in range(60):
            seed(number)(take)()
            missed = [name for name in model_aging.HAPPENINGS if name not in met]
            if not missed:
                break
    assert missed == []


def test_a_type_that_nobody_met_is_named() -> None:
    names = [*EVENT_TYPES, "embedded, failed"]
    names.remove("configured")
    assert missing([configured()]) == names
