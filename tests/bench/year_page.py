"""`docs/year.md` and its chart as they are written from what `year` measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from bench.chart import areas
from bench.team_placing import AGES

TIERS = ("short", "mid", "long", "archived")
Told = dict[str, Any]
Said = Callable[[Told], str]

HEAD = """# A year of a synthetic team

Written by `make bench-year`. Six people and four agents talk about ten projects: turns, actions, facts, journals,
goals, plans, searches, uses and pins. Topics come and go, facts are repeated and changed, three projects fall asleep.

The texts are sentences of LoCoMo (Maharana et al., ACL 2024) and BEAM (Tavakoli et al.), which their users bring, and
changing values written for this project. The conversations that hold the answers stand once in each of three projects:
in the last 30 days (young), 30 to 180 days before the end (mid) and earlier (old). Compare recall of one age between
settings, not between ages.

![Living texts by tier, after each month](year.svg)
"""


class Run(msgspec.Struct, frozen=True):
    """What was measured of one year, by the name of each variant of the settings, and what the year follows from.

    A process took in `every` so many days, and of the `daily_last` days one.
    """

    days: int
    texts_a_day: int
    seed: int
    every: int
    daily_last: int
    measured: Mapping[str, Told]

    @property
    def title(self) -> str:
        """How much was said."""
        return f"{self.texts_a_day:,} texts a day"

    @property
    def pace(self) -> str:
        """How the days were taken in, as a part of a sentence."""
        taken = "day by day" if self.every == 1 else f"{self.every} days at a time"
        return f"{taken}, and the last {self.daily_last} day by day" if self.daily_last else taken


def page(runs: Sequence[Run]) -> str:
    """Return the whole page of some years, which differ in how much was said."""
    parts = [HEAD, "Times are processor time.\n"]
    for run in runs:
        texts = [f"{told['texts']:,}" for told in run.measured.values()]
        parts.append(f"## {run.title}\n\n{run.days} days, {texts[0]} texts, seed {run.seed}; taken in {run.pace}.\n")
        parts += [*_compared(run.measured), ""]
        for name, told in run.measured.items():
            parts += [f"### {name.capitalize()}, {run.title}\n", *_variant(told)]
    return "\n".join(parts)


def hashes(told: Told) -> list[str]:
    """Return the different hashes of the state of one year, which is one where all is well."""
    found = [told["oracle"]["state_hash"], *(its["state_hash"] for its in told["checked"].values())]
    return sorted(set(found))


def is_sound(told: Told) -> bool:
    """Whether a year comes to one hash and its views are what the log says, as far as anybody looked."""
    return "checked" not in told or (len(hashes(told)) == 1 and all(its["ok"] for its in told["checked"].values()))


def _compared(measured: Mapping[str, Told]) -> list[str]:
    """Return the table of recall by age under each variant, and what was brought back under the last, if anything."""
    of = {name: told["questions"]["classes"] for name, told in measured.items()}
    ages = [age for age in AGES if all(age in its for its in of.values())]
    lines = [[age, *(f"{its[age]['recall']:.3f}" for its in of.values())] for age in ages]
    head = ["recall@10", *of]
    table = [f"| {' | '.join(cells)} |" for cells in [head, ["---", *("---:" for _ in of)], *lines]]
    back = list(measured.values())[-1].get("restored")
    if back is None:
        return table
    seen = {kind: [True, *its][-3:] for kind, its in back.items()}  # What sleeps was not looked for before.
    kinds = [f"| {kind} | {' | '.join('found' if it else 'not' for it in its)} |" for kind, its in seen.items()]
    restored = ["| a text that is | before | left out | brought back |", "| --- | --- | --- | --- |", *kinds]
    return [*table, "\nOne text of each kind that a search leaves out:\n", *restored]


def tiers_chart(runs: Sequence[Run]) -> str:
    """Return the chart of the living texts by tier after each month, of the last variant of the first year."""
    (*_, last) = runs[0].measured.values()
    months = last["days"]["months"]
    tiers = sorted({tier for month in months for tier in month["tiers"]}, key=TIERS.index)
    # A year begins with nothing.
    series = {tier: [0, *(month["tiers"].get(tier, 0) for month in months)] for tier in tiers}
    places = ["0", *(str(number) for number, _ in enumerate(months, 1))]
    return areas(f"Living texts by tier, after each month, {runs[0].title}", places, series)


def _variant(told: Told) -> list[str]:
    return [
        f"{told['texts']:,} texts, {told['events']:,} events. In one go it took {_taken(told['whole'])}.\n",
        *(_of_default(told) if "oracle" in told else ()),
        *_recall(told["questions"]),
        "",
    ]


def _of_default(told: Told) -> list[str]:
    """Return what is told of a year under the default settings alone."""
    oracle, days = told["oracle"], told["days"]
    sound = all(its["ok"] for its in told["checked"].values())
    return [
        "Folded by the oracle, projected in one go, and projected as they came, in new processes of which "
        f"{days['kills']} were killed: {_hashes(hashes(told))}",
        f"The views of both homes are {'what the log says' if sound else '**not** what the log says'}.\n",
        *_table(["after month", *_numbers(days["months"])], BY_MONTH, days["months"]),
        "",
        *_table(["in month", *_numbers(oracle["months"])], FOLDED, oracle["months"]),
        "",
        "What a search, an epoch and an idle tick cost in the largest project:\n",
        *_costs(days["months"]),
        "",
    ]


def _taken(whole: Told) -> str:
    """Return what a projection took, as a part of a sentence."""
    seconds = "a time that is not known, since it was stopped and went on," if whole.get("goes_on") else None
    return f"{seconds or _number('project_s')(whole) + ' s'} and {whole['project_mb']:,.0f} MB"


def _hashes(found: list[str]) -> str:
    return f"one hash, `{found[0]}`." if len(found) == 1 else f"**{len(found)} hashes.**"


def _numbers(months: list[Told]) -> list[str]:
    return [str(number) for number, _ in enumerate(months, 1)]


def _speed(month: Told) -> str:
    return f"{month['events'] / month['fold_s']:,.0f}"


def _number(name: str) -> Said:
    return lambda figures: f"{figures[name]:,.0f}"


def _tier(tier: str) -> Said:
    return lambda month: f"{month['tiers'].get(tier, 0):,}"


BY_MONTH: tuple[tuple[str, Said], ...] = (
    ("texts", _number("texts")),
    *((f"living, {tier}", _tier(tier)) for tier in TIERS),
    ("log, MB", _number("log_mb")),
    ("tables, MB", _number("tables_mb")),
    ("index, MB", _number("index_mb")),
    ("snapshots, MB", _number("snapshots_mb")),
    ("vault, MB", _number("vault_mb")),
    ("projected each day, s in the month", _number("project_s")),
    ("the most memory of that, MB", _number("project_mb")),
)


def _ms(name: str) -> Said:
    return lambda figures: f"{figures[f'{name}_p50_s'] * 1_000:,.1f} ({figures[f'{name}_p95_s'] * 1_000:,.1f})"


COSTS: tuple[tuple[str, Said], ...] = (
    ("search in a new process after a capture, beyond the imports", _ms("first")),
    ("epoch of one capture", _ms("epoch")),
    ("idle tick", _ms("tick")),
    ("state read back at a start", lambda month: f"{month['restored_s'] * 1_000:,.0f}"),
)


FOLDED: tuple[tuple[str, Said], ...] = (("events", _number("events")), ("folded by the oracle, events/s", _speed))


def _costs(months: list[Told]) -> list[str]:
    """Return the table of what was measured after the first month and after the last."""
    measured = [(number, month) for number, month in enumerate(months, 1) if "epoch_p50_s" in month]
    head = ["ms, p50 (p95)", *(f"month {number}" for number, _ in measured)]
    return _table(head, COSTS, [month for _, month in measured])


def _recall(asked: Told) -> list[str]:
    classes = {name: its for age in AGES for name, its in asked["classes"].items() if name.split(",")[0] == age}
    rows = [(f"{its['recall']:.3f}", f"{its['questions']:,}") for its in classes.values()]
    head = ["| evidence | recall@10 | questions |", "| --- | ---: | ---: |"]
    lines = [f"| {name} | {recall} | {count} |" for name, (recall, count) in zip(classes, rows, strict=True)]
    return [*head, *lines, f"\nWarm, a search took {_ms('warm')(asked)} ms, p50 (p95)."]


def _table(head: list[str], rows: Iterable[tuple[str, Said]], figures: list[Told]) -> list[str]:
    body = [[name, *map(said, figures)] for name, said in rows]
    return [f"| {' | '.join(cells)} |" for cells in [head, ["---", *("---:" for _ in head[1:])], *body]]
