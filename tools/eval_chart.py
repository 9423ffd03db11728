"""Draws what `recollect eval` measured as a small SVG: a group of bars for each cut, a bar for each retriever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

BAR, GAP, HEIGHT, LEFT, TOP = 26, 24, 220, 44, 46
ROW = 18
COLOURS = ("#9aa5b1", "#7b8794", "#c9a227", "#2a6fdb", "#5b8def", "#86aaf2", "#b0c8f7", "#d3e0fb")
TENTHS = (0, 2, 4, 6, 8, 10)


def bars(title: str, measured: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the SVG of evidence recall by turn; `measured` is `retrievers` of what `evaluate` returns."""
    names = list(measured)
    cuts = list(next(iter(measured.values()))["turn"])
    group = BAR * len(names) + GAP
    width = max(LEFT + group * len(cuts) + GAP, 420)
    height = TOP + HEIGHT + 40 + ROW * len(names)
    parts = [_text(LEFT, 24, title, "start", 15)]
    for tenth in TENTHS:
        y = TOP + HEIGHT - HEIGHT * tenth // 10
        parts.append(f'<line x1="{LEFT}" x2="{width - GAP}" y1="{y}" y2="{y}" stroke="#d9dee3"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{tenth / 10:.1f}", "end"))
    for place, cut in enumerate(cuts):
        left = LEFT + GAP // 2 + place * group
        parts += _group(left, [measured[name]["turn"][cut] for name in names])
        parts.append(_text(left + (group - GAP) // 2, TOP + HEIGHT + 18, f"recall@{cut}", "middle"))
    for place, name in enumerate(names):
        y = TOP + HEIGHT + 44 + place * ROW
        parts.append(f'<rect x="{LEFT}" y="{y - 10}" width="12" height="12" fill="{_colour(place)}"/>')
        parts.append(_text(LEFT + 18, y, name, "start"))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>'
    )
    return "\n".join([head, *parts, "</svg>", ""])


def _group(left: int, values: Sequence[float]) -> list[str]:
    parts = []
    for place, value in enumerate(values):
        tall = round(HEIGHT * value)
        x, y = left + place * BAR, TOP + HEIGHT - tall
        parts.append(f'<rect x="{x}" y="{y}" width="{BAR - 3}" height="{tall}" fill="{_colour(place)}"/>')
        parts.append(_text(x + BAR // 2 - 1, y - 4, f"{value:.2f}".removeprefix("0"), "middle", 9))
    return parts


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def _text(x: int, y: int, text: str, anchor: str, size: int = 11) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="#333">{escape(text)}</text>'
