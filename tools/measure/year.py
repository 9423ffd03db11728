"""A year of a synthetic team: `python -m memtape.tools.measure.year --corpus FILE`, or `make bench-year`.

The log is folded in one go and, in a second home, day by day in new processes of which some are killed; both must come
to one hash. What it costs is measured after the first month and after the last, and recall by how old the evidence is.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import click
import msgspec

from memtape.schemas.times import US_PER_S
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.opening import LOG_VARIABLE
from memtape.tools.measure.team_placing import Team, scope_of
from memtape.tools.measure.team_texts import Material, read_material
from memtape.tools.measure.year_log import Year, append_day, make_home, make_year, opened
from memtape.tools.measure.year_page import page, tiers_chart
from memtape.tools.measure.year_stages import capture, end_of

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

Told = dict[str, Any]


class Bench:
    """One year under one variant of the settings, in a folder of its own."""

    def __init__(
        self, folder: Path, team: Team, material: Material, variant: Mapping[str, Any], every: int = 1
    ) -> None:
        self._folder, self._team, self._material, self._every = folder, team, material, every
        self._ages = variant.get("lifecycle", True)
        self._whole = make_home(folder / "whole", team, variant)
        self._daily = make_home(folder / "daily", team, variant)
        self._path = folder / "year.json"
        words = [sys.executable, "-m", "memtape.tools.measure.year_stages"]
        self._server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def measured(self) -> Told:
        """Return everything that is measured."""
        start = time.perf_counter()
        year = make_year(self._whole, self._team, self._material)
        self._path.write_bytes(msgspec.json.encode(year))
        told: Told = {"texts": year.texts[-1], "events": sum(year.ends[-1]), "made_wall_s": time.perf_counter() - start}
        told["whole"] = self._stage("project", self._whole)
        told["oracle"] = self._stage("replayed", self._whole)
        told["days"] = self._days(year)
        told["checked"] = {
            name: self._stage("checked", home) for name, home in (("whole", self._whole), ("daily", self._daily))
        }
        told["questions"] = self._stage("questions", self._daily)
        return told | (self._stage("restored", self._whole) if self._ages else {})

    def _days(self, year: Year) -> Told:
        """Bring a home up to date after each day, or `every` so many, in new processes, some of which are killed."""
        rng = Random(f"{self._team.seed} kills")
        kills, months, taken = 0, [], Told(project_s=0.0, project_mb=0.0)
        with opened(self._whole) as log:
            for day, ends in enumerate(year.ends, 1):
                append_day(log, self._daily, ends)
                if day % self._every and day not in year.months:
                    continue
                while rng.random() < KILLED_SHARE:
                    kills += self._killed(rng.randint(1, MOST_PARTS))
                run = self._stage("project", self._daily)
                taken["project_s"] += run["project_s"]
                taken["project_mb"] = max(taken["project_mb"], run["project_mb"])
                if day in year.months:
                    months.append(self._month(year, day) | taken)
                    taken = Told(project_s=0.0, project_mb=0.0)
        return {"kills": kills, "months": months}

    def _killed(self, die_at: int) -> bool:
        """Run a projector that is to die, and return whether it did; where there was little to write it lives."""
        code, _ = self._ended("project", self._daily, {"die_at": die_at})
        return code == -signal.SIGKILL

    def _month(self, year: Year, day: int) -> Told:
        """Return what a month leaves; after the first and the last also what a search, an epoch and a tick cost."""
        told = {"day": day, "texts": year.texts[day - 1]} | self._stage("sizes", self._daily)
        if day not in (year.months[0], year.months[-1]):
            return told
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
        for name in ("first_s", "first_wall_s"):
            ordered = sorted(search[name] for search in searches)
            told |= {f"{name[:-2]}_p50_s": ordered[len(ordered) // 2], f"{name[:-2]}_p95_s": ordered[-2]}
        return told

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
        asked = [name, str(home.path), more | {"year": str(self._path)}]
        self._server.stdin.write(msgspec.json.encode(asked) + b"\n")
        self._server.stdin.flush()
        code, told = msgspec.json.decode(self._server.stdout.readline())
        return code, told


def hashes(told: Told) -> list[str]:
    """Return the different hashes of the state of one year, which is one where all is well."""
    found = [told["oracle"]["state_hash"], *(its["state_hash"] for its in told["checked"].values())]
    return sorted(set(found))


@click.command()
@click.option("--corpus", "corpora", type=click.Path(exists=True, path_type=Path), multiple=True, required=True)
@click.option("--changes", type=click.Path(exists=True, path_type=Path), help="Cases of values that change.")
@click.option("--days", default=365, show_default=True)
@click.option("--texts-a-day", default=1_000, show_default=True)
@click.option("--every", default=1, show_default=True, help="How many days a process takes in.")
@click.option("--seed", default=7, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder, for homes and figures.")
@click.option("--write/--no-write", default=True, help="Write docs/year.md and docs/year.svg.")
def main(
    corpora: tuple[Path, ...],
    changes: Path | None,
    days: int,
    texts_a_day: int,
    every: int,
    seed: int,
    out: Path,
    write: bool,
) -> None:
    """Measure a year under each variant of the settings; what was measured stands in OUT/year.json.

    Fails where the homes of a year do not come to one hash.
    """
    os.environ.pop(LOG_VARIABLE, None)  # What is made up here is not for a log that somebody works with.
    team, material = Team(seed, days, texts_a_day), read_material(corpora, changes)
    measured: dict[str, Told] = {}
    for number, (name, variant) in enumerate(VARIANTS.items()):
        with Bench(out / f"variant-{number}", team, material, variant, every) as bench:
            measured[name] = bench.measured()
        click.echo(msgspec.json.format(msgspec.json.encode(measured[name])).decode())
    (out / "year.json").write_bytes(msgspec.json.encode(measured))
    if write:
        (DOCS / "year.svg").write_text(tiers_chart(measured), encoding="utf-8")
        (DOCS / "year.md").write_text(page(team, every, measured), encoding="utf-8")
    for name, told in measured.items():
        sound = all(its["ok"] for its in told["checked"].values())
        if len(hashes(told)) > 1 or not sound:
            raise click.ClickException(f"{name}: the homes do not come to one hash, or their views are not sound.")


if __name__ == "__main__":
    main()
