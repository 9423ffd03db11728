"""`docs/scale.md` as it is written from what `scale` measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bench.chart import curves

Figures = dict[str, float]
"""What was measured at one size: seconds end in `_s`, megabytes in `_mb`."""
Said = Callable[[Figures], str]
PARTS = ("fold", "rows", "pages", "tables", "index", "vault", "watermark")

HEAD = """# What it costs at which size

Written by `make bench-scale` (`tests/bench/scale.py`), and not by hand. One scope, turns of two people in sessions of
20, made-up words by Zipf's law. Two cores that others share: processor time is given, wall time in brackets. Each stage
ran in a process of its own.

![Processor time of a search, and of projecting a text, against the number of texts](scale.svg)
"""


def _ms(name: str) -> Said:
    return lambda figures: f"{figures[name] * 1_000:,.1f} ms"


def _s(name: str) -> Said:
    return lambda figures: f"{figures[f'{name}_s']:,.1f} s ({figures[f'{name}_wall_s']:,.1f})"


def _process(name: str) -> Said:
    return lambda figures: f"{figures[f'{name}_s'] * 1_000:,.0f} ms ({figures[f'{name}_wall_s'] * 1_000:,.0f})"


def _mb(name: str) -> Said:
    return lambda figures: f"{figures[f'{name}_mb']:,.0f} MB"


def _server(figures: Figures) -> str:
    return f"{figures['hook_server_mb']:,.0f} MB ({figures['hook_server_own_mb']:,.0f})"


ROWS: tuple[tuple[str, Said, str], ...] = (
    ("search in a new process, beyond the imports", _ms("first_s"), "20, 30, 60 ms"),
    ("warm search, p50", _ms("warm_p50_s"), "1, 2, 5 ms"),
    ("warm search, p95", _ms("warm_p95_s"), "2, 4, 10 ms"),
    ("ranked by words and vectors, p50", _ms("vectors_p50_s"), "2, 4, 10 ms"),
    ("the same, p95", _ms("vectors_p95_s"), "4, 8, 20 ms"),
    ("search right after a capture, above warm", _ms("after_capture_s"), "5 ms"),
    ("memory of a reader", _mb("reader"), "80, 90, 150 MB"),
    ("capture", _s("capture"), "15,000 texts/s"),
    ("`run --once` of all", _s("project"), "-, -, 10 s"),
    ("memory of that", _mb("project"), "-, -, 400 MB"),
    ("`run --once` with nothing new", _s("restart"), "-, -, 1 s"),
    ("rebuild with its proof", _s("rebuild"), "-, -, 15 s"),
    ("memory of that", _mb("rebuild"), "-, -, 400 MB"),
    ("a capture until it is projected beside `run`, p50, wall", _ms("projected_p50_s"), ""),
    ("the same, p95, wall", _ms("projected_p95_s"), "150 ms"),
    ("`python -c pass`, p50", _process("hook_python_p50"), ""),
    ('`python -c "import numpy"`, p50', _process("hook_numpy_p50"), ""),
    ("hook of a prompt with a server, p50", _process("hook_prompt_served_p50"), ""),
    ("the same, p95", _process("hook_prompt_served_p95"), "150 ms wall"),
    ("hook of a start with a server, p50", _process("hook_start_served_p50"), ""),
    ("the same, p95", _process("hook_start_served_p95"), "150 ms wall"),
    ("memory of that server after these hooks (without mapped files)", _server, "150 MB"),
    ("hook of a prompt without a server, p50", _process("hook_prompt_alone_p50"), ""),
    ("the same, p95", _process("hook_prompt_alone_p95"), "150 ms wall"),
    ("hook of a start without a server, p50", _process("hook_start_alone_p50"), ""),
    ("the same, p95", _process("hook_start_alone_p95"), "150 ms wall"),
)
_AIM = ["aim, by size", "---"]
FOOT = """
Before there was an index (6b11899, the same texts, counted in the same way) these shares were, by size: fold 15, 27 and
28 %, rows 1, 2 and 2 %, pages 1, 4 and 4 %, tables 21, 6 and 4 %, vault 24, 41 and 40 %, watermark 0 %, of 1.2, 6.5 and
29.3 s. So the index is what a projection costs more, and what a search no longer does.

## What is missed, and what it would take

- **Writing.** A text costs some 400 µs here: half of that to take it apart for the index, in Python, a sixth to fold
  it, a tenth to write its line of the day's page. A proof takes every text apart again, and compares every row. Reading
  words, languages and normal forms in compiled code would take most of the first; the second needs a state that is
  not made of Python's objects. What turns state is found before they are projected, and is part of it: 12.1 s for
  9.7 without, at 20,000 turns in one run.
- **Warm searches.** Half of the time beyond 20,000 texts is adding up common words, of which made-up texts have more
  than people's. A cut by the greatest score that is left would spare it. One to two milliseconds of every question
  are for looking whether the log is the one that the views were made from, and for the two scopes that are asked.
- **After a capture.** The sessions and the lengths of texts in context are extended by what is new. What each term of
  the question is worth is found out anew, since the capture moves the mean length and how rare a term is: about 1 ms
  a common term at 100,000. What would be left to keep is how often each text has a term in context. In
  four runs of both, extending sessions made 20 to 23 ms of 23 to 30 at 100,000.
- **A rebuild's memory** is that of the proof, which holds a digest of every row and of what the index says of it.
- **1,000,000 texts** were run stage by stage, beside other work and without rivals (`python
  tests/bench/scale.py --stage fill --home H --sizes 1000000`, then `project`, `restart`, `search`, `rebuild`):
  captured in 97 s, projected in 459 s with 1.5 GB (asked for: 90 s, 1 GB), started again in 0.6 s (5), found by a new
  process in 0.58 s (0.3), warm in 130 and 252 ms at p50 and p95 (30 and 60), 153 ms above that after a capture (30), by
  a reader of 856 MB (400), and rebuilt with its proof in 1,081 s with 4.0 GB (120 s, 1 GB). An idle hour folds in
  0.03 ms at p50 and 0.07 at p95 (1 ms); the first one after a start takes 1 s, since what is due is found anew.
- **Hooks.** A hook that a server takes loads some of the standard library and asks, for twice what Python takes to
  start. The server's own time, 25 to 60 ms, is in the wall time alone. Of 430 ms of processor time without a server
  Python takes 20, numpy 110 on one thread, the modules beside it 170, and to capture and search 125, a third of which
  compiles expressions. So Python and numpy alone take what a hook may, and a hook that finds no server leaves one
  behind for the next.
"""
RIVALS: tuple[tuple[str, Said], ...] = (
    ("Memtape, warm", _ms("warm_p50_s")),
    ("rank-bm25, `get_top_n`", _ms("rank_bm25_s")),
    ("SQLite FTS5, words joined by OR", _ms("fts5_s")),
    ("numpy, cosine of 384 dimensions", _ms("cosine_s")),
)


DRAWN = {
    "search in a new process, beyond the imports": "first_s",
    "warm search": "warm_p50_s",
    "rank-bm25": "rank_bm25_s",
    "SQLite FTS5": "fts5_s",
    "run --once of all": "project_s",
    "rebuild with its proof": "rebuild_s",
}


def drawn(measured: Mapping[int, Figures]) -> str:
    """Return the chart."""
    series = {name: {count: figures[key] for count, figures in measured.items()} for name, key in DRAWN.items()}
    return curves("Processor time against the number of texts", series)


def page(measured: Mapping[int, Figures]) -> str:
    """Return the whole page; `measured` has the figures of each number of texts."""
    asked = [(name, said) for name, said, _ in ROWS]
    aims = [aim for _, _, aim in ROWS]
    return "\n".join(
        [
            HEAD,
            *(f"{line} {aim} |" for line, aim in zip(_table("texts", asked, measured), _AIM + aims, strict=True)),
            "\nThe same questions asked of others, in the same run, median:\n",
            *_table("texts", RIVALS, measured),
            "\nThey know no session, no neighbour and no scope. The cosine compares all vectors. The reducers alone,",
            "in a plain loop, beside `run --once`:\n",
            *_table("texts", (("fold alone", _fold),), measured),
            "\nWhere the time of `run --once` goes, in shares of processor time; the rest is Bytewax, reading and "
            "finding statements:\n",
            *_table("texts", tuple((part, _share(part)) for part in PARTS), measured),
            FOOT,
        ]
    )


def _fold(figures: Figures) -> str:
    return f"{figures['reducers_s']:,.1f} s of {figures['project_s']:,.1f} s"


def _share(part: str) -> Said:
    return lambda figures: f"{figures.get(f'part_{part}_s', 0) / figures['project_s']:.0%}"


def _table(what: str, rows: Sequence[tuple[str, Said]], measured: Mapping[int, Figures]) -> list[str]:
    head = [what, *(f"{count:,}" for count in measured)]
    body = [[name, *(said(figures) for figures in measured.values())] for name, said in rows]
    ruled = [head, ["---", *("---:" for _ in measured)], *body]
    return [f"| {' | '.join(cells)} |" for cells in ruled]
