"""A year of a synthetic team: `python tests/bench/year.py --corpus FILE`, or `make bench-year`.

The log is folded in one go and, under the default settings, in a second home day by day in new processes of which some
are killed; both must come to one hash. What it costs is measured after the first month and after the last, and recall
by how old the evidence is. Other settings are there to compare recall with: a year is folded under them in one go,
and asked the same questions.

A year at 1,000 texts a day takes hours. What was measured is kept in the folder, step by step: the same command again
goes on where it was stopped.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import click
import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # It holds `bench`.

from bench.team_placing import Team, scope_of
from bench.team_texts import Material, read_material
from bench.year_log import Year, append_day, make_home, make_year, opened
from bench.year_page import Run, is_sound, page, tiers_chart
from bench.year_stages import capture, end_of, percentiles
from memtape.schemas.times import US_PER_S
from memtape.sinks.home.folders import Home, write_whole
from memtape.sinks.logs.opening import LOG_VARIABLE

OFF, ON = "lifecycle off", "lifecycle on"
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    OFF: {"lifecycle": False},
    "archived after 90 days": {"archive_after_days": 90},
    ON: {},
}
"""Settings under which a year is measured, by a name for each; the default last, of which the chart is drawn.

Within a year nothing is archived by age under the default: what that costs in recall is shown by a shorter time.
"""
KILLED_SHARE = 0.2
"""As likely as that a projector is killed before it has written a day."""
MOST_PARTS = 24
"""A killed projector dies before one of so many parts of its epochs."""
SEARCHES = 20
DOCS = Path(__file__).resolve().parents[2] / "docs"

FIGURES = "year.json"

Told = dict[str, Any]
NOTHING_TAKEN: Told = {"project_s": 0.0, "project_mb": 0.0}


class Pace(NamedTuple):
    """How many days a process takes in; of the `daily_last` days each is taken in by itself."""

    every: int = 1
    daily_last: int = 0

    def ends_with(self, day: int, year: Year) -> bool:
        """Whether a process takes in what there is up to a day."""
        return day % self.every == 0 or day in year.months or day > len(year.ends) - self.daily_last


class Made(NamedTuple):
    """A year's log, in a home without views, and where the year stands as a file."""

    home: Home
    path: Path
    year: Year


def made(folder: Path, team: Team, material: Material) -> Made:
    """Make the log of a year, which is the same under all variants but for the settings that it begins with."""
    home, path = Home(folder / "log"), folder / "made.json"
    if not path.exists():
        shutil.rmtree(home.path, ignore_errors=True)  # It was not finished.
        year = make_year(make_home(home.path, team, {}), team, material)
        path.write_bytes(msgspec.json.encode(year))
    return Made(home, path, msgspec.json.decode(path.read_bytes(), type=Year))


class Bench:
    """One year under one variant of the settings, in a folder of its own."""

    def __init__(self, folder: Path, team: Team, made: Made, variant: Mapping[str, Any], pace: Pace) -> None:
        self._folder, self._team, self._made, self._variant, self._pace = folder, team, made, variant, pace
        self._whole, self._daily = Home(folder / "whole"), Home(folder / "daily")
        words = [sys.executable, str(Path(__file__).with_name("year_stages.py"))]
        self._server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def measured(self) -> Told:
        """Return everything that is measured; what was measured before is read back.

        Under other settings than the default ones that is what is found of it.
        """
        year = self._made.year
        told: Told = {"texts": year.texts[-1], "events": sum(year.ends[-1])}
        told["whole"] = self._once("whole", self._in_one_go)
        told["questions"] = self._once("questions", lambda: self._stage("questions", self._whole))
        return told if self._variant else told | self._of_default()

    def _of_default(self) -> Told:
        """Return what the oracle says, what it is to take a year in day by day, and whether all come to the same.

        What was left out is brought back last, since the home is no more that of the year then.
        """
        told: Told = {
            "oracle": self._once("oracle", lambda: self._stage("replayed", self._whole)),
            "days": self._days(),
        }
        homes = {"whole": self._whole, "daily": self._daily}
        told["checked"] = {
            name: self._once(f"checked-{name}", partial(self._stage, "checked", home)) for name, home in homes.items()
        }
        return told | self._once("restored", lambda: self._stage("restored", self._whole))

    def _once(self, name: str, measure: Callable[[], Told]) -> Told:
        """Return figures that were kept under a name, or measure and keep them."""
        path = self._folder / f"{name}.json"
        if not path.exists():
            write_whole(path, msgspec.json.encode(measure()))
        return _read(path)

    def _in_one_go(self) -> Told:
        """Project the whole log in one process; one that goes on where another was stopped says so."""
        begun = self._folder / "whole-begun"
        goes_on = begun.exists()
        if not goes_on:
            shutil.rmtree(self._whole.path, ignore_errors=True)
            make_home(self._whole.path, self._team, self._variant)
            with opened(self._made.home) as log:
                for ends in self._made.year.ends:
                    append_day(log, self._whole, ends)
            begun.touch()
        return self._stage("project", self._whole) | {"goes_on": goes_on}

    def _days(self) -> Told:
        """Bring a home up to date after each day, or some, in new processes, some of which are killed."""
        year, path = self._made.year, self._folder / "days.json"
        if not path.exists():
            shutil.rmtree(self._daily.path, ignore_errors=True)
            make_home(self._daily.path, self._team, self._variant)
            write_whole(path, msgspec.json.encode({"day": 0, "kills": 0, "months": [], "taken": NOTHING_TAKEN}))
        told = _read(path)
        with opened(self._made.home) as log:
            for day in range(told["day"] + 1, len(year.ends) + 1):
                append_day(log, self._daily, year.ends[day - 1])
                if self._pace.ends_with(day, year):
                    self._day(day, told)
                    told["day"] = day
                    write_whole(path, msgspec.json.encode(told))
        return told

    def _day(self, day: int, told: Told) -> None:
        """Take in what has come up to a day, and add what that took to what is told."""
        rng = Random(f"{self._team.seed} kills {day}")
        while rng.random() < KILLED_SHARE:
            told["kills"] += self._killed(rng.randint(1, MOST_PARTS))
        run, taken = self._stage("project", self._daily), told["taken"]
        told["taken"] = {
            "project_s": taken["project_s"] + run["project_s"],
            "project_mb": max(taken["project_mb"], run["project_mb"]),
        }
        if day in self._made.year.months:
            told["months"].append(self._month(self._made.year, day) | told["taken"])
            told["taken"] = NOTHING_TAKEN

    def _killed(self, die_at: int) -> bool:
        """Run a projector that is to die, and return whether it did; where there was little to write it lives."""
        code, _ = self._ended("project", self._daily, {"die_at": die_at})
        return code == -signal.SIGKILL

    def _month(self, year: Year, day: int) -> Told:
        """Return what a month leaves; after the first and the last also what a search, an epoch and a tick cost."""
        told = {"day": day, "texts": year.texts[day - 1]} | self._stage("sizes", self._daily)
        if day not in (year.months[0], year.months[-1]):
            return told
        shutil.rmtree(self._folder / "moment", ignore_errors=True)
        copy = Home(shutil.copytree(self._daily.path, self._folder / "moment"))
        scope = scope_of(self._team, 0)
        asked = [question.text for question in year.questions if question.scope == scope]
        searches = []
        for place in range(SEARCHES):
            with opened(copy) as log:
                log.append([capture(scope, end_of(year, day) - US_PER_S * (SEARCHES - place), place)])
            question = asked[place * len(asked) // SEARCHES]
            searches.append(self._stage("searched", copy, scope=scope, question=question, day=day))
        self._stage("project", copy)
        told |= self._stage("epochs", copy, scope=scope, day=day)
        shutil.rmtree(copy.path)
        return told | percentiles("first", [search["first_s"] for search in searches])

    def _stage(self, name: str, home: Home, **more: Any) -> Told:
        """Run a stage and return its figures."""
        code, told = self._ended(name, home, more)
        if code != 0:
            raise click.ClickException(f"The stage {name} has ended with {code}.")
        found: Told = msgspec.json.decode(told)
        return found

    def _ended(self, name: str, home: Home, more: Told) -> tuple[int, str]:
        """Run a stage in a process of its own, and return how it ended and what it said."""
        assert self._server.stdin is not None and self._server.stdout is not None
        asked = [name, str(home.path), more | {"year": str(self._made.path)}]
        self._server.stdin.write(msgspec.json.encode(asked) + b"\n")
        self._server.stdin.flush()
        code, told = msgspec.json.decode(self._server.stdout.readline())
        return code, told


def _read(path: Path) -> Told:
    found: Told = msgspec.json.decode(path.read_bytes())
    return found


@click.command()
@click.option("--corpus", "corpora", type=click.Path(exists=True, path_type=Path), multiple=True, required=True)
@click.option("--changes", type=click.Path(exists=True, path_type=Path), help="Cases of values that change.")
@click.option("--days", default=365, show_default=True)
@click.option("--texts-a-day", default=1_000, show_default=True)
@click.option("--every", default=1, show_default=True, help="How many days a process takes in.")
@click.option("--daily-last", default=0, show_default=True, help="Each of so many last days has a process.")
@click.option("--variant", "variants", type=click.Choice(list(VARIANTS)), multiple=True, help="By default all.")
@click.option("--seed", default=7, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A folder, for homes and figures.")
@click.option("--beside", type=click.Path(exists=True, path_type=Path), multiple=True, help="OUT of another run.")
@click.option("--write/--no-write", default=True, help="Write docs/year.md and docs/year.svg.")
def main(
    corpora: tuple[Path, ...],
    changes: Path | None,
    days: int,
    texts_a_day: int,
    every: int,
    daily_last: int,
    variants: tuple[str, ...],
    seed: int,
    out: Path,
    beside: tuple[Path, ...],
    write: bool,
) -> None:
    """Measure a year under each variant of the settings; what was measured stands in OUT/year.json.

    The same command goes on where it was stopped. Fails where the homes of a year do not come to one hash.
    """
    os.environ.pop(LOG_VARIABLE, None)  # What is made up here is not for a log that somebody works with.
    team = Team(seed, days, texts_a_day)
    log = made(out, team, read_material(corpora, changes))
    measured: dict[str, Told] = {}
    for name in variants or VARIANTS:
        folder = out / name.replace(" ", "-")
        folder.mkdir(exist_ok=True)
        with Bench(folder, team, log, VARIANTS[name], Pace(every, daily_last)) as bench:
            measured[name] = bench.measured()
        click.echo(msgspec.json.format(msgspec.json.encode(measured[name])).decode())
    run = Run(days, texts_a_day, seed, every, daily_last, measured)
    (out / FIGURES).write_bytes(msgspec.json.encode(run))
    if write:
        runs = [run, *(msgspec.json.decode((other / FIGURES).read_bytes(), type=Run) for other in beside)]
        (DOCS / "year.svg").write_text(tiers_chart(runs), encoding="utf-8")
        (DOCS / "year.md").write_text(page(runs), encoding="utf-8")
    for name, told in measured.items():
        if not is_sound(told):
            raise click.ClickException(f"{name}: the homes do not come to one hash, or their views are not sound.")


if __name__ == "__main__":
    main()
