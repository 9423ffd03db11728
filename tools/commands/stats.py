"""The command that draws daily counts as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from memtape.schemas.times import parse_time
from memtape.schemas.visible import many
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.commands.options import Phases, print_json, say, with_home

if TYPE_CHECKING:
    from memtape.tools.ask.stats import DayStats

BLOCKS = "▁▂▃▄▅▆▇█"
COLUMNS = 60
"""So many columns a chart has at most: of more days each column is several."""


class Chart(NamedTuple):
    """A chart: its title, its unit, and the value of some days together; None where nothing was to be measured."""

    title: str
    unit: str
    value: Callable[[Sequence[DayStats]], float | None]


def _sum(*names: str) -> Callable[[Sequence[DayStats]], float | None]:
    return lambda days: sum(getattr(day, name) for day in days for name in names)


def _share(part: str, *whole: str) -> Callable[[Sequence[DayStats]], float | None]:
    def share(days: Sequence[DayStats]) -> float | None:
        total = _sum(*whole)(days)
        return 100 * (_sum(part)(days) or 0) / total if total else None

    return share


CHARTS = (
    Chart("captured", "texts", _sum("turns", "documents", "long_term")),
    Chart("searches", "", _sum("searches")),
    Chart("given unasked", "", _sum("given")),
    Chart("used", "", _sum("used")),
    Chart("found nothing", "% of searches", _share("empty", "searches")),
    Chart("use rate", "% of recalls", _share("used", "searches", "given")),
    Chart("fold rate", "% of long-term captures", _share("folded", "long_term")),
)
"""The drawn charts."""


@click.command()
@click.option("--since", default="30d", show_default=True, help="From then on: ISO 8601, or an age as 3d.")
@click.option("--scope", help="Only this scope, by default all of the home.")
@with_home
def stats(client: Client, since: str, scope: str | None, as_json: bool) -> None:
    """Draw daily counts (UTC): growth of the memory, searches and uses, and folds.

    A use rate above 100 % says that recalls were used more than once.

    \b
    Example:
      memtape stats --since 90d
      memtape stats --scope project:shop
    """
    now = now_us()
    with Phases() as phases:
        found = client.stats(parse_time(since, now), scope, lambda done, total: phases.update("reading", done, total))
    groups = grouped(found.days)
    if as_json:
        print_json(found)
        return
    of_days = f", a column {many(len(groups[0]), 'day')}" if len(groups[0]) > 1 else ""
    say(f"{found.days[0].day} to {found.days[-1].day}{of_days}; {found.before:,} events stood before.")
    for chart in CHARTS:
        say(drawn(chart, found.days, groups))


def grouped(days: Sequence[DayStats]) -> list[Sequence[DayStats]]:
    """Return days in as many groups as a chart has columns at most; the last may have fewer."""
    size = -(-len(days) // COLUMNS)
    return [days[start : start + size] for start in range(0, len(days), size)]


def drawn(chart: Chart, days: Sequence[DayStats], groups: Sequence[Sequence[DayStats]]) -> str:
    """Return a chart as a line: its subject, a block for each column, the highest column, and the total."""
    values = [chart.value(group) for group in groups]
    most = max((value for value in values if value is not None), default=0)
    top = len(BLOCKS) - 1
    blocks = "".join(" " if not value else BLOCKS[min(top, int(top * value / most + 0.5))] for value in values)
    whole = chart.value(days)
    told = "nothing to measure" if whole is None else f"{whole:,.0f}{f' {chart.unit}' if chart.unit else ''} in all"
    most_told = f", at most {most:,.0f}" if most else ""
    return f"{chart.title:<14}│{blocks:<{len(groups)}}│ {told}{most_told}"
