"""The product, broken on purpose: each mutant of `mutants.toml` is one small change, and its test must fail.

`make mutants` copies the checkout once for each mutant, puts the change in, and runs the test there. A
survivor names a promise that nothing holds. `python tests/mutants.py NAME …` tries those of some names.

No mutant may be put into the checkout itself, and nothing here is imported by the product.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("schemas", "state", "flows", "sinks", "tools")
COPIED = (*ROOMS, "memtape", "tests", "docs", "examples", "pyproject.toml", "README.md", "CONTRIBUTING.md",
          "Makefile")  # fmt: skip
TIMEOUT_S = 300


class Mutant(msgspec.Struct, forbid_unknown_fields=True):
    """A change: `old`, which stands once in `file`, becomes `new`; `test`, as pytest names it, then fails."""

    name: str
    why: str
    file: str
    old: str
    new: str
    test: str


LISTED = Path(__file__).with_suffix(".toml").read_bytes()
MUTANTS = msgspec.toml.decode(LISTED, type=dict[str, list[Mutant]])["mutant"]


def why_not(mutant: Mutant, root: Path = ROOT) -> str:
    """Return why a mutant cannot be made of the checkout as it is, or nothing."""
    count = (root / mutant.file).read_text(encoding="utf-8").count(mutant.old)
    return "" if count == 1 else f"{mutant.name}: its old text stands {count} times in {mutant.file}"


class Outcome(NamedTuple):
    """What the tests said of a mutant: `killed` by the test `by`, or why not."""

    killed: bool
    by: str


def copy_checkout(folder: Path) -> None:
    """Copy what tests need, links as links, so that the rooms of the copy are its own."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            left_out = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(source, folder / name, symlinks=True, ignore=left_out)
        elif source.exists():
            shutil.copy(source, folder / name)


def run_tests(folder: Path, tests: Iterable[str]) -> subprocess.CompletedProcess[str]:
    """Run tests in a copy of the checkout, with the same examples every time."""
    env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("MEMTAPE_SEED", None)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow and not soak", "--no-header"]
    command += ["-p", "no:cacheprovider", f"--rootdir={folder}", "-k", "not mutant", *dict.fromkeys(tests)]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=TIMEOUT_S)


def try_mutant(mutant: Mutant) -> Outcome:
    """Put a mutant into a copy of the checkout and return what the tests say."""
    reason = why_not(mutant)
    if reason:
        return Outcome(False, reason)
    with tempfile.TemporaryDirectory(prefix="memtape-") as name:
        folder = Path(name)
        copy_checkout(folder)
        path = folder / mutant.file
        path.write_text(path.read_text(encoding="utf-8").replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            done = run_tests(folder, [mutant.test])
        except subprocess.TimeoutExpired:
            return Outcome(True, f"(no answer within {TIMEOUT_S} s)")
    failed = re.search(r"^FAILED (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if done.returncode == 1 and failed:
        return Outcome(True, failed[1])
    if done.returncode == 0:
        return Outcome(False, "SURVIVED")
    return Outcome(False, f"BROKEN, no test could run: {(done.stdout + done.stderr)[-500:]}")


def check_unmutated(mutants: Iterable[Mutant]) -> str:
    """Return what fails in a copy that nothing was put into, or nothing: only then answers mean anything."""
    with tempfile.TemporaryDirectory(prefix="memtape-") as name:
        folder = Path(name)
        copy_checkout(folder)
        where = [sys.executable, "-c", "import memtape.state.fold.candidates as fold; print(fold.__file__)"]
        env = {**os.environ, "PYTHONPATH": name}
        found = subprocess.run(where, cwd=folder, env=env, capture_output=True, text=True).stdout.strip()
        if not Path(found).resolve().is_relative_to(folder.resolve()):
            return f"the copy would test {found}"
        done = run_tests(folder, [mutant.test for mutant in mutants])
        return "" if done.returncode == 0 else done.stdout[-3_000:]


def main(names: list[str]) -> int:
    """Try mutants, print a table, and return 1 if one survived."""
    chosen = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    failure = check_unmutated(chosen)
    if failure:
        print(f"The tests fail without any mutant:\n{failure}")
        return 1
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = []
        for mutant, outcome in zip(chosen, pool.map(try_mutant, chosen), strict=False):
            outcomes.append(outcome)
            print(f"{mutant.name:<50} {outcome.by}", flush=True)
    killed = sum(outcome.killed for outcome in outcomes)
    print(f"{killed} of {len(outcomes)} mutants were noticed.")
    return 0 if killed == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
