"""`docs/scale.md` as it is written from what `scale` measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bench.chart import curves

Figures = dict[str, float]
"""What was measured at one size: seconds end in `_s`, megabytes in `_mb`."""
Said = Callable[[Figures], str]
PARTS = ("fold", "rows", "pages", "tables", "index", "vault", "watermark")

HEAD = """# What it costs at which size

Written by `make bench-scale`. One scope, turns of two people in sessions of 20, made-up words by Zipf's law. Processor
time on two shared cores, wall time in brackets; each stage in a process of its own. [Benchmarks](benchmarks.md) has
1,000,000 texts.

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
            "\nThe same questions in other libraries, median:\n",
            *_table("texts", RIVALS, measured),
            "\nThe others know no session, neighbour or scope. The reducers alone, in a plain loop:\n",
            *_table("texts", (("fold alone", _fold),), measured),
            "\nShares of the time of `run --once`; the rest is Bytewax, reading and finding statements:\n",
            *_table("texts", tuple((part, _share(part)) for part in PARTS), measured),
            "",
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
