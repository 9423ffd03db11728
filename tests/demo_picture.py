"""The moving picture of README: `memtape demo` as a terminal printed it, a step at a time, in an SVG.

python tests/demo_picture.py docs/pictures/demo.svg
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

STEP_S = 3.0
COLUMNS, LINES = 104, 9
LINE_PX, CHAR_PX, EDGE_PX = 20, 8.0, 20
STYLE = """
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d7dae0; white-space: pre }
.what { fill: #8fd4a0; font-weight: 600 } .typed { fill: #8ab4f8 } .frame { fill: #1c1f26 }
.step { opacity: 0; animation: shown %.1fs infinite }
@keyframes shown { 0%%, %.2f%% { opacity: 1 } %.2f%%, 100%% { opacity: 0 } }
"""


def steps_of(printed: str) -> list[list[str]]:
    """Return the steps that the demo has printed: each its title, the command, and what that says."""
    steps: list[list[str]] = []
    for line in printed.splitlines():
        if line[:1].isdigit() and line[1:3] == ". ":
            steps.append([])
        if steps and line.strip():
            steps[-1].append(line)
    return steps


def text_of(line: str, y: float) -> str:
    """Return a line of the terminal, cut at its width."""
    kind = "what" if line[:1].isdigit() else "typed" if line.startswith("$") else "said"
    said = line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1]}…"
    return f'<text class="{kind}" x="{EDGE_PX}" y="{y}">{escape(said)}</text>'


def picture(steps: list[list[str]]) -> str:
    """Return an SVG that shows one step after the other, and begins again."""
    whole_s = STEP_S * len(steps)
    share = 100 / len(steps)
    width, height = 2 * EDGE_PX + COLUMNS * CHAR_PX, 2 * EDGE_PX + LINES * LINE_PX
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">',
        "<title>A fact is told, changed, known to another agent, and erased for good</title>",
        f"<style>{STYLE % (whole_s, share - 0.4, share)}</style>",
        f'<rect class="frame" width="{width:.0f}" height="{height}" rx="10"/>',
    ]
    for number, lines in enumerate(steps):
        ys = (EDGE_PX + LINE_PX * (n + 0.8) for n in range(LINES))
        said = "".join(text_of(line, y) for line, y in zip(lines, ys, strict=False))
        parts.append(f'<g class="step" style="animation-delay: {number * STEP_S:.1f}s">{said}</g>')
    return "\n".join([*parts, "</svg>", ""])


def main(path: Path) -> None:
    """Run the demo in a home that is thrown away, and write the picture of what it has printed."""
    with tempfile.TemporaryDirectory() as home:
        variables = os.environ | {"MEMTAPE_HOME": home, "NO_COLOR": "1"}
        words = [sys.executable, "-m", "memtape", "demo"]
        done = subprocess.run(words, env=variables, cwd=home, capture_output=True, text=True, check=True)
    steps = [lines[:LINES] for lines in steps_of(done.stdout)]
    path.write_text(picture(steps), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
