"""The measured part of docs/comparison.md: two tables, between two markers, from `figures.json`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[3] / "docs/comparison.md"
BEGIN, END = "<!-- written by `make bench-peers` from here -->\n", "<!-- to here -->\n"
NONE = "–"
SIZES = (("speed", "1000"), ("speed", "10000"), ("large", "100000"))
BUSY = 1.0
"""From this load on the page says that others used the machine too."""
Figures = Mapping[str, Any]
Cell = Callable[[Figures], str]


def write_tables(figures: Figures) -> None:
    """Write the tables into the page, between the markers."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(_lines(figures)) + f"\n{END}{after}")


def _lines(figures: Figures) -> Iterator[str]:
    ran = {name: own for name, own in figures.items() if _recall(own)}
    ranked = dict(sorted(ran.items(), key=lambda item: -_recall(item[1])["recall"]))
    count = max(_recall(own)["questions"] for own in ran.values())
    busy = ", beside other work" if max(own["load"] for own in ran.values()) > BUSY else ""
    yield f"*{count} questions; milliseconds of processor time at 1,000/10,000/100,000 texts{busy}.*\n"
    yield from _table(SPEEDS, ranked)
    yield from _table(CHECKS, {name: own for name, own in ranked.items() if _checks(own)})
    releases = dict.fromkeys(own["recall"]["release"] for own in ran.values())
    yield f"Versions: {', '.join(releases)}.\n"
    for name, own in figures.items():
        if "error" in own.get("recall", {}):
            error = own["recall"]["error"].partition(". ")[0].replace("`", "'")
            yield f"{name} refuses: `{error}`."


def _table(cells: Mapping[str, Cell], rows: Figures) -> Iterator[str]:
    yield f"|{'|'.join(('', *cells))}|"
    yield "|---|" + "---:|" * len(cells)
    for name, own in rows.items():
        yield f"|{'|'.join((name, *(cell(own) for cell in cells.values())))}|"
    yield ""


def _recall(own: Figures) -> Figures:
    return own.get("recall", {}).get("answer", {})


def _share(told: Figures | None) -> str:
    return f"{told['recall']:.3f}".lstrip("0") if told else NONE


def _timed(own: Figures, task: str = "speed", size: str = "10000") -> Figures:
    return own.get(task, {}).get(size, {}).get("answer", {})


def _rate(own: Figures) -> str:
    told = (_timed(own) or _timed(own, size="1000")).get("written_per_s")
    return f"{told:,.0f}" if told else NONE


def _ms(name: str) -> Cell:
    """Return a cell of milliseconds at each size."""

    def cell(own: Figures) -> str:
        told = [_timed(own, *size).get(name) for size in SIZES]
        return "/".join(NONE if ms is None else f"{ms:.0f}" for ms in told) if any(told) else NONE

    return cell


def _disk(own: Figures) -> str:
    told = _timed(own).get("bytes")
    return f"{told / 1e6:.0f}" if told else NONE


def _checks(own: Figures) -> Figures:
    return own.get("lifecycle", {}).get("answer", {})


def _check(name: str, cell: Callable[[Any], str]) -> Cell:
    """Return a cell of a check: its answer, a dash where nothing is offered, or "error"."""

    def told(own: Figures) -> str:
        answer = _checks(own).get(name)
        return NONE if answer is None else "error" if isinstance(answer, str) else cell(answer)

    return told


def _said(answer: Any) -> str:
    return "yes" if answer is True else "no"


def _killed(own: Figures) -> str:
    told = own.get("killed", {}).get("answer")
    return f"{told['lost']}/{told['acknowledged']}" if told else NONE


SPEEDS: dict[str, Cell] = {
    "recall@10": lambda own: _share(_recall(own)),
    "named": lambda own: _share(own.get("named", {}).get("answer")),
    "texts/s": _rate,
    "search p50": _ms("p50_ms"),
    "p95": _ms("p95_ms"),
    "after an add": _ms("after_ms"),
    "MB": _disk,
}
CHECKS: dict[str, Cell] = {
    "again": _check("again", _said),
    "new first": _check("replaced", lambda it: f"{it['first']}/{it['cases']}"),
    "old unmarked": _check("replaced", lambda it: f"{it['unmarked']}/{it['old']}"),
    "deleted": _check("deleted", lambda it: _said(it["gone"] and it.get("clean", True))),
    "lost": _killed,
    "adds": _check("down", lambda it: _said(it["added"])),
    "finds": _check("down", lambda it: _said(it["searched"])),
    "silent": _check("unrelated", lambda it: f"{it['offered']}/{it['prompts']}"),
    "past": _check("past", _said),
    "replay": _check("rebuilt", _said),
    "hash": _check("hashed", _said),
}
"""The columns of the lifecycle. Each is explained on the page."""
