"""Write what the commands of docs/tree.md print, in a home that is thrown away. Run by `make tree-page`.

Each line of a console block that begins with `$ ` is run by sh, one after another, and what it prints takes
the place of what stood below it. Ids are shortened, since each run has others.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tree.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
ID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


def main() -> int:
    """Run the page and write it anew; 1 where a command could not be run."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "memtape").write_text(f'#!/bin/sh\nexec {sys.executable} -m memtape "$@"\n')
        (place / "memtape").chmod(0o755)
        (place / "tools").symlink_to(ROOT / "tools")
        (place / "home").mkdir()
        # No run in the background takes the lock.
        (place / "home" / "settings.toml").write_text("catch_up = false\n")
        env = {name: value for name, value in os.environ.items() if not name.startswith("MEMTAPE_")}
        env |= {"MEMTAPE_HOME": "home", "PYTHONPATH": str(ROOT), "USER": "ada"}
        env["PATH"] = f"{place}:{env['PATH']}"
        PAGE.write_text(BLOCK.sub(lambda found: _shown(found[1], place, env), PAGE.read_text()))
    return 0


def _shown(block: str, place: Path, env: dict[str, str]) -> str:
    """Return a block with what its commands print."""
    lines = []
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        called = ["sh", "-c", command]
        done = subprocess.run(called, cwd=place, env=env, capture_output=True, text=True, timeout=600)
        said = ID.sub(r"\1…", done.stdout + done.stderr)
        lines += [f"$ {command}", *(line.rstrip() for line in said.rstrip("\n").split("\n") if said.strip())]
    return "\n".join(["```console", *lines, "```"])


if __name__ == "__main__":
    sys.exit(main())
