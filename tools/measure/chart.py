"""Draws what was measured as a small SVG: bars for what `memtape eval` found, curves for what things cost,
and areas for what grows.

It is drawn by hand: pygal 3.1.3 takes about half the lines, but at its own size the values over nine bars lie on each
other (17 px apart, 38 px wide), two charts of the same figures differ, and each has a script and four times the bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from textwrap import wrap
from typing import Any

BAR, GAP, HEIGHT, LEFT, TOP = 26, 24, 220, 44, 46
ROW = 18
LINE, TITLE_PX = 20, 8
"""The height of a line of the title, and about the width of one of its characters."""
COLOURS = {
    "bm25": "#9aa5b1",
    "dense": "#5c6b7a",
    "rrf": "#c9a227",
    "memtape": "#2a6fdb",
    "memtape without sparse": "#e07a5f",
    "memtape without dense": "#3d9a8b",
    "memtape without hot": "#a06cd5",
    "memtape without fresh": "#86aaf2",
    "memtape without edges": "#c06c9a",
}
"""A retriever has one colour in every chart, whatever stands beside it."""
OTHER = "#444444"
CURVES = ("#2a6fdb", "#3d9a8b", "#e07a5f", "#9aa5b1", "#c9a227", "#a06cd5")
PLOT = 480
TENTHS = (0, 2, 4, 6, 8, 10)


def bars(title: str, measured: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the SVG of evidence recall by turn; `measured` is `retrievers` of what `evaluate` returns."""
    names = list(measured)
    cuts = list(next(iter(measured.values()))["turn"])
    group = BAR * len(names) + GAP
    width = max(LEFT + group * len(cuts) + GAP, 420)
    titles = wrap(title, (width - LEFT - GAP) // TITLE_PX, break_on_hyphens=False) or [""]
    top = TOP + LINE * (len(titles) - 1)
    height = top + HEIGHT + 40 + ROW * len(names)
    parts = [_text(LEFT, 24 + LINE * place, line, "start", 15) for place, line in enumerate(titles)]
    for tenth in TENTHS:
        y = top + HEIGHT - HEIGHT * tenth // 10
        parts.append(f'<line x1="{LEFT}" x2="{width - GAP}" y1="{y}" y2="{y}" stroke="#d9dee3"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{tenth / 10:.1f}", "end"))
    for place, cut in enumerate(cuts):
        left = LEFT + GAP // 2 + place * group
        parts += _group(left, top, {name: measured[name]["turn"][cut] for name in names})
        parts.append(_text(left + (group - GAP) // 2, top + HEIGHT + 18, f"recall@{cut}", "middle"))
    for place, name in enumerate(names):
        y = top + HEIGHT + 44 + place * ROW
        parts.append(f'<rect x="{LEFT}" y="{y - 10}" width="12" height="12" fill="{COLOURS.get(name, OTHER)}"/>')
        parts.append(_text(LEFT + 18, y, name, "start"))
    return _svg(width, height, parts)


def curves(title: str, series: Mapping[str, Mapping[int, float]]) -> str:
    """Return the SVG of seconds against sizes, both by powers of ten; each series has the seconds of some sizes."""
    sizes = sorted({size for values in series.values() for size in values})
    seconds = [value for values in series.values() for value in values.values()]
    low = floor(log10(min(seconds)))
    high = max(ceil(log10(max(seconds))), low + 1)
    first, last = log10(sizes[0]), max(log10(sizes[-1]), log10(sizes[0]) + 1)
    width, top = LEFT + PLOT + GAP, TOP

    def at(size: int, value: float) -> tuple[int, int]:
        """Return where a point stands."""
        right = PLOT * (log10(size) - first) / (last - first)
        return LEFT + round(right), top + HEIGHT - round(HEIGHT * (log10(value) - low) / (high - low))

    parts = [_text(LEFT, 24, title, "start", 15)]
    for power in range(low, high + 1):
        _, y = at(sizes[0], 10.0**power)
        parts.append(f'<line x1="{LEFT}" x2="{width - GAP}" y1="{y}" y2="{y}" stroke="#d9dee3"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{10.0**power:g} s", "end"))
    parts += [_text(at(size, 10.0**low)[0], top + HEIGHT + 18, f"{size:,}", "middle") for size in sizes]
    for place, (name, values) in enumerate(series.items()):
        colour = CURVES[place % len(CURVES)]
        points = [at(size, value) for size, value in sorted(values.items())]
        joined = " ".join(f"{x},{y}" for x, y in points)
        parts.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in points]
        y = top + HEIGHT + 44 + place * ROW
        parts.append(f'<rect x="{LEFT}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(LEFT + 18, y, name, "start"))
    return _svg(width, top + HEIGHT + 40 + ROW * len(series), parts)


def areas(title: str, places: Sequence[str], series: Mapping[str, Sequence[float]]) -> str:
    """Return the SVG of amounts that stand upon each other, each at some places from left to right."""
    width, high = LEFT + PLOT + GAP, max(map(sum, zip(*series.values(), strict=True))) or 1
    parts = [_text(LEFT, 24, title, "start", 15)]

    def at(place: int, value: float) -> str:
        return f"{LEFT + PLOT * place // max(1, len(places) - 1)},{TOP + HEIGHT - round(HEIGHT * value / high)}"

    for tenth in TENTHS:
        y = TOP + HEIGHT - HEIGHT * tenth // 10
        parts.append(f'<line x1="{LEFT}" x2="{width - GAP}" y1="{y}" y2="{y}" stroke="#d9dee3"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{high * tenth / 10:,.0f}", "end", 9))
    below = [0.0] * len(places)
    for number, (name, values) in enumerate(series.items()):
        above = [low + value for low, value in zip(below, values, strict=True)]
        edge = [*map(at, range(len(places)), above), *reversed([*map(at, range(len(places)), below)])]
        y, colour, below = TOP + HEIGHT + 44 + number * ROW, CURVES[number % len(CURVES)], above
        parts.append(f'<polygon points="{" ".join(edge)}" fill="{colour}"/>')
        parts.append(f'<rect x="{LEFT}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(LEFT + 18, y, name, "start"))
    for place, name in enumerate(places):
        parts.append(_text(int(at(place, 0).split(",")[0]), TOP + HEIGHT + 18, name, "middle"))
    return _svg(width, TOP + HEIGHT + 40 + ROW * len(series), parts)


def columns(title: str, places: Sequence[str], panels: Mapping[str, Sequence[float]]) -> str:
    """Return the SVG of small charts below each other, each with a column for each place from left to right."""
    tall, gap = HEIGHT // 3, ROW * 2
    width, wide = LEFT + PLOT + GAP, PLOT / max(1, len(places))
    parts = [_text(LEFT, 24, title, "start", 15)]
    for number, (name, values) in enumerate(panels.items()):
        top, high = TOP + ROW + number * (tall + gap), max(values, default=0) or 1
        parts.append(_text(LEFT, top - 6, name, "start"))
        parts.append(_text(LEFT - 6, top + 8, f"{max(values, default=0):,.0f}", "end", 9))
        parts.append(f'<line x1="{LEFT}" x2="{LEFT + PLOT}" y1="{top + tall}" y2="{top + tall}" stroke="#d9dee3"/>')
        for place, value in enumerate(values):
            up = round(tall * value / high)
            box = f'x="{LEFT + place * wide:.1f}" y="{top + tall - up}" width="{wide * 0.8:.1f}" height="{up}"'
            parts.append(f'<rect {box} fill="{CURVES[number % len(CURVES)]}"/>' if up else "")
    bottom = TOP + ROW + len(panels) * (tall + gap)
    parts.append(_text(LEFT, bottom - ROW, places[0], "start"))
    parts.append(_text(LEFT + PLOT, bottom - ROW, places[-1], "end"))
    return _svg(width, bottom, [part for part in parts if part])


def _svg(width: int, height: int, parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>'
    )
    return "\n".join([head, *parts, "</svg>", ""])


def _group(left: int, top: int, values: Mapping[str, float]) -> list[str]:
    parts = []
    for place, (name, value) in enumerate(values.items()):
        tall = round(HEIGHT * value)
        x, y = left + place * BAR, top + HEIGHT - tall
        parts.append(f'<rect x="{x}" y="{y}" width="{BAR - 3}" height="{tall}" fill="{COLOURS.get(name, OTHER)}"/>')
        parts.append(_text(x + BAR // 2 - 1, y - 4, f"{value:.2f}".removeprefix("0"), "middle", 9))
    return parts


def _text(x: int, y: int, text: str, anchor: str, size: int = 11) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="#333">{escape(text)}</text>'
