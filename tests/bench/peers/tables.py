"""The measured part of docs/comparison.md: three tables, between two markers, from `figures.json`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[3] / "docs/comparison.md"
BEGIN, END = "<!-- written by `make bench-peers` from here -->\n", "<!-- to here -->\n"
NONE = "–"
Figures = Mapping[str, Any]


def write_tables(figures: Figures) -> None:
    """Write the tables into the page, where the page has the markers."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + "\n" + "\n".join(_lines(figures)) + "\n" + END + after)


def _lines(figures: Figures) -> Iterator[str]:
    run = {name: own for name, own in figures.items() if any("answer" in it for it in _answers(own))}
    recalled = sorted(
        (name for name in run if _recall(run[name]) is not None), key=lambda name: -_mean(run[name])
    )
    yield from _table(
        ("texts/s", "p50", "p95", "after add", "10,000 on disk", "p50, 100,000"),
        {name: run[name] for name in figures if "speed" in run.get(name, {})},
        (_rate, _ms("p50_ms"), _ms("p95_ms"), _ms("after_ms"), _disk, _ms("p50_ms", "large", "100000")),
        "10,000 texts",
    )
    yield from _table(
        ("recall@10", "version"),
        {name: run[name] for name in recalled},
        (lambda own: f"{_mean(own):.3f}".lstrip("0"), lambda own: own["recall"]["release"]),
        "given plain text",
    )
    living = {name: run[name] for name in figures if "answer" in run.get(name, {}).get("lifecycle", {})}
    yield from _table(tuple(CHECKS), living, tuple(CHECKS.values()), "")
    for name, own in figures.items():
        if name not in run:
            error = next(it["error"] for it in _answers(own))
            yield f"- {name} refuses: `{error}`"


def _table(
    heads: tuple[str, ...], rows: Figures, cells: tuple[Callable[[Figures], str], ...], corner: str
) -> Iterator[str]:
    yield f"| {corner} | " + " | ".join(heads) + " |"
    yield "| --- |" + " ---: |" * len(heads)
    for name, own in rows.items():
        yield f"| {name} | " + " | ".join(cell(own) for cell in cells) + " |"
    yield ""


def _answers(own: Figures) -> Iterator[Figures]:
    for told in own.values():
        if isinstance(told, dict):
            yield from [told] if told.keys() & {"answer", "error"} else told.values()


def _recall(own: Figures) -> list[float] | None:
    return own.get("recall", {}).get("answer", {}).get("shares")


def _mean(own: Figures) -> float:
    shares = _recall(own) or [0.0]
    return sum(shares) / len(shares)


def _timed(own: Figures, task: str = "speed", size: str = "10000") -> Figures:
    return own.get(task, {}).get(size, {}).get("answer", {})


def _rate(own: Figures) -> str:
    told = _timed(own).get("written_per_s")
    return f"{told:,.0f}" if told else NONE


def _ms(name: str, task: str = "speed", size: str = "10000") -> Callable[[Figures], str]:
    def cell(own: Figures) -> str:
        told = _timed(own, task, size).get(name)
        return f"{told:.0f} ms" if told is not None else NONE

    return cell


def _disk(own: Figures) -> str:
    told = _timed(own).get("bytes")
    return f"{told / 1e6:.0f} MB" if told else NONE


def _check(name: str, cell: Callable[[Any], str]) -> Callable[[Figures], str]:
    """Return a cell of a check: its answer, a dash where nothing is offered, or "error"."""

    def told(own: Figures) -> str:
        answer = own["lifecycle"]["answer"].get(name)
        return NONE if answer is None else "error" if isinstance(answer, str) else cell(answer)

    return told


def _said(answer: bool) -> str:
    return "yes" if answer else "no"


def _killed(own: Figures) -> str:
    told = own.get("killed", {}).get("answer")
    return f"{told['lost']} of {told['acknowledged']}" if told else NONE


CHECKS: dict[str, Callable[[Figures], str]] = {
    "once": _check("again", _said),
    "current first": _check("replaced", lambda it: f"{it['first']}/{it['cases']}"),
    "old unmarked": _check("replaced", lambda it: f"{it['unmarked']}/{it['old']}"),
    "bytes gone": _check("deleted", lambda it: _said(it["gone"] and it.get("clean", True))),
    "lost": _killed,
    "without embedder": _check(
        "down", lambda it: f"{_said(it['added'] is True)}, {_said(it['searched'] is True)}"
    ),
    "silent": _check("unrelated", lambda it: f"{it['offered']}/{it['prompts']}"),
    "past": _check("past", _said),
    "replay": _check("rebuilt", _said),
    "same hash": _check("hashed", _said),
}
"""The columns of the lifecycle."""
