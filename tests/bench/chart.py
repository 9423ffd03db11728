"""Draws what benches measured as a small SVG: curves for what things cost, and areas for what grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10

from memtape.tools.measure.chart import CURVES, GAP, HEIGHT, LEFT, PLOT, ROW, TENTHS, TOP, svg_of, text_at


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

    parts = [text_at(LEFT, 24, title, "start", 15)]
    for power in range(low, high + 1):
        _, y = at(sizes[0], 10.0**power)
        parts.append(f'<line x1="{LEFT}" x2="{width - GAP}" y1="{y}" y2="{y}" stroke="#d9dee3"/>')
        parts.append(text_at(LEFT - 6, y + 4, f"{10.0**power:g} s", "end"))
    parts += [text_at(at(size, 10.0**low)[0], top + HEIGHT + 18, f"{size:,}", "middle") for size in sizes]
    for place, (name, values) in enumerate(series.items()):
        colour = CURVES[place % len(CURVES)]
        points = [at(size, value) for size, value in sorted(values.items())]
        joined = " ".join(f"{x},{y}" for x, y in points)
        parts.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in points]
        y = top + HEIGHT + 44 + place * ROW
        parts.append(f'<rect x="{LEFT}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        parts.append(text_at(LEFT + 18, y, name, "start"))
    return svg_of(width, top + HEIGHT + 40 + ROW * len(series), parts)


def areas(title: str, places: Sequence[str], series: Mapping[str, Sequence[float]]) -> str:
    """Return the SVG of amounts that stand upon each other, each at some places from left to right."""
    width, high = LEFT + PLOT + GAP, max(map(sum, zip(*series.values(), strict=True))) or 1
    parts = [text_at(LEFT, 24, title, "start", 15)]

    def at(place: int, value: float) -> str:
        return f"{LEFT + PLOT * place // max(1, len(places) - 1)},{TOP + HEIGHT - round(HEIGHT * value / high)}"

    for tenth in TENTHS:
        y = TOP + HEIGHT - HEIGHT * tenth // 10
        parts.append(f'<line x1="{LEFT}" x2="{width - GAP}" y1="{y}" y2="{y}" stroke="#d9dee3"/>')
        parts.append(text_at(LEFT - 6, y + 4, f"{high * tenth / 10:,.0f}", "end", 9))
    below = [0.0] * len(places)
    for number, (name, values) in enumerate(series.items()):
        above = [low + value for low, value in zip(below, values, strict=True)]
        edge = [*map(at, range(len(places)), above), *reversed([*map(at, range(len(places)), below)])]
        y, colour, below = TOP + HEIGHT + 44 + number * ROW, CURVES[number % len(CURVES)], above
        parts.append(f'<polygon points="{" ".join(edge)}" fill="{colour}"/>')
        parts.append(f'<rect x="{LEFT}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        parts.append(text_at(LEFT + 18, y, name, "start"))
    for place, name in enumerate(places):
        parts.append(text_at(int(at(place, 0).split(",")[0]), TOP + HEIGHT + 18, name, "middle"))
    return svg_of(width, TOP + HEIGHT + 40 + ROW * len(series), parts)
