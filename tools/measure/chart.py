"""Draws what was measured as a small SVG: bars for what `memtape eval` found, and columns for what `memtape stats` did.

It is drawn by hand: pygal 3.1.3 takes about half the lines, but at its own size the values over nine bars lie on each
other (17 px apart, 38 px wide), two charts of the same figures differ, and each has a script and four times the bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
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
    parts = [text_at(LEFT, 24 + LINE * place, line, "start", 15) for place, line in enumerate(titles)]
    for tenth in TENTHS:
        y = top + HEIGHT - HEIGHT * tenth // 10
        parts.append(f'<line x1="{LEFT}" x2="{width - GAP}" y1="{y}" y2="{y}" stroke="#d9dee3"/>')
        parts.append(text_at(LEFT - 6, y + 4, f"{tenth / 10:.1f}", "end"))
    for place, cut in enumerate(cuts):
        left = LEFT + GAP // 2 + place * group
        parts += _group(left, top, {name: measured[name]["turn"][cut] for name in names})
        parts.append(text_at(left + (group - GAP) // 2, top + HEIGHT + 18, f"recall@{cut}", "middle"))
    for place, name in enumerate(names):
        y = top + HEIGHT + 44 + place * ROW
        parts.append(f'<rect x="{LEFT}" y="{y - 10}" width="12" height="12" fill="{COLOURS.get(name, OTHER)}"/>')
        parts.append(text_at(LEFT + 18, y, name, "start"))
    return svg_of(width, height, parts)


def columns(title: str, places: Sequence[str], panels: Mapping[str, Sequence[float]]) -> str:
    """Return the SVG of small charts below each other, each with a column for each place from left to right."""
    tall, gap = HEIGHT // 3, ROW * 2
    width, wide = LEFT + PLOT + GAP, PLOT / max(1, len(places))
    parts = [text_at(LEFT, 24, title, "start", 15)]
    for number, (name, values) in enumerate(panels.items()):
        top, high = TOP + ROW + number * (tall + gap), max(values, default=0) or 1
        parts.append(text_at(LEFT, top - 6, name, "start"))
        parts.append(text_at(LEFT - 6, top + 8, f"{max(values, default=0):,.0f}", "end", 9))
        parts.append(f'<line x1="{LEFT}" x2="{LEFT + PLOT}" y1="{top + tall}" y2="{top + tall}" stroke="#d9dee3"/>')
        for place, value in enumerate(values):
            up = round(tall * value / high)
            box = f'x="{LEFT + place * wide:.1f}" y="{top + tall - up}" width="{wide * 0.8:.1f}" height="{up}"'
            parts.append(f'<rect {box} fill="{CURVES[number % len(CURVES)]}"/>' if up else "")
    bottom = TOP + ROW + len(panels) * (tall + gap)
    parts.append(text_at(LEFT, bottom - ROW, places[0], "start"))
    parts.append(text_at(LEFT + PLOT, bottom - ROW, places[-1], "end"))
    return svg_of(width, bottom, [part for part in parts if part])


def svg_of(width: int, height: int, parts: list[str]) -> str:
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
        parts.append(text_at(x + BAR // 2 - 1, y - 4, f"{value:.2f}".removeprefix("0"), "middle", 9))
    return parts


def text_at(x: int, y: int, text: str, anchor: str, size: int = 11) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="#333">{escape(text)}</text>'
