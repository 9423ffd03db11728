"""The log of a synthetic team's year: made whole at once, or copied day by day; and what a year is about, as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from bench.team import days_of
from bench.team_placing import Team, Wanted, questions_of
from bench.team_texts import Material
from memtape.schemas.codec import encode
from memtape.schemas.events import Captured, Recalled, make_configured
from memtape.schemas.ids import derived_id
from memtape.schemas.log import slots_between
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog

PARTITIONS = 16
MONTH_DAYS = 30
HOME_SETTINGS = "catch_up = false\nextract = false\nconsolidate = false\n"
"""No worker adds anything: what the rules take from turns is on the log already, as of its day."""


class Year(msgspec.Struct, frozen=True):
    """A year on a log: after each day where partitions end and how many texts there are; what is asked about it.

    `recalled` has, of the ids that are evidence, those that somebody looked up in that year.
    """

    start_us: int
    end_us: int
    ends: tuple[tuple[int, ...], ...]
    texts: tuple[int, ...]
    questions: tuple[Wanted, ...]
    recalled: frozenset[str]

    @property
    def months(self) -> list[int]:
        """The number of days after which each month ends; the last one has what remains."""
        days = len(self.ends)
        return [*range(MONTH_DAYS, days - MONTH_DAYS + 1, MONTH_DAYS), days]


def make_home(path: Path, team: Team, variant: Mapping[str, Any]) -> Home:
    """Make a home whose log has its settings, as of the first day, and nothing else."""
    path.mkdir(parents=True)
    home = Home(path)
    home.settings_path.write_text(HOME_SETTINGS)
    log_id = derived_id("log", None, "team", str(team.seed))
    settings = make_configured(log_id, PARTITIONS, Settings(**variant), 0, team.start_us, log_id)
    with closing(EmbeddedLog(home.log_path, PARTITIONS, copy_of=log_id)) as log:
        for number in range(PARTITIONS):
            log.append_raw(number, [encode(settings)])
        log.finish_copy()
    return home


def make_year(home: Home, team: Team, material: Material) -> Year:
    """Append a whole year by the ordinary door, a day at a time, and return what stands there."""
    ends: list[tuple[int, ...]] = []
    texts: list[int] = []
    questions = tuple(questions_of(team, material))
    asked_for = frozenset(id for question in questions for turn in question.evidence for id in turn)
    recalled: set[str] = set()
    with closing(EmbeddedLog(home.log_path)) as log:
        for events in days_of(team, material, log.partitions):
            log.append(events)
            ends.append(tuple(log.ends()))
            captured = sum(isinstance(event.body, Captured) for event in events)
            texts.append(captured + (texts[-1] if texts else 0))
            found = (event.body.results for event in events if isinstance(event.body, Recalled))
            recalled.update(asked_for.intersection(id for results in found for id in results))
    return Year(team.start_us, team.end_us, tuple(ends), tuple(texts), questions, frozenset(recalled))


def append_day(source: EmbeddedLog, home: Home, ends: tuple[int, ...]) -> None:
    """Append to the log of a home what another log has up to the end of a day, as it stands there."""
    with closing(EmbeddedLog(home.log_path)) as log:
        for number, start in enumerate(log.ends()):
            payloads = [slot.payload for slot in slots_between(source, number, start, ends[number])]
            if payloads:
                log.append_raw(number, payloads)


@contextmanager
def opened(home: Home) -> Iterator[EmbeddedLog]:
    """Open the log of a home."""
    with closing(EmbeddedLog(home.log_path)) as log:
        yield log
