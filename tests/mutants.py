"""The product, broken on purpose: each mutant is one small change, and the suite must notice it.

`make mutants` copies the checkout once for each mutant, puts the change in, and runs a few fast tests there. One of
them must fail; a mutant that survives names a promise that nothing holds. `tests/mutants.md` says why each matters and
which test notices it. `python tests/mutants.py NAME …` runs those of some names.

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

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("schemas", "state", "flows", "sinks", "tools")
COPIED = (
    *ROOMS,
    "memtape",
    "tests",
    "docs",
    "examples",
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "Makefile",
)
TIMEOUT_S = 300


class Mutant(NamedTuple):
    """A change (`old`, which stands once in `file`, becomes `new`) and the tests that are asked, in pytest's words."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTANTS = [
    Mutant(
        "a skipped event",
        "flows/views.py",
        "self._offset = slots[-1].offset + 1",
        "self._offset = slots[-1].offset + 1 + (len(slots) == limit < 500)",
        ("tests/test_views.py::test_the_same_log_gives_the_same_views_however_it_is_projected",),
    ),
    Mutant(
        "a forgotten guard in the merge",
        "sinks/tables.py",
        "table.merge_insert(key).when_matched_update_all(newer)",
        "table.merge_insert(key).when_matched_update_all()",
        ("tests/test_views.py::test_a_write_is_idempotent_and_never_goes_back",),
    ),
    Mutant(
        "a lost tombstone",
        "state/subjects/tombstones.py",
        "    elif _is_later(tombstone, state.ids.get(id)):\n",
        "    elif capture is not None and _is_later(tombstone, state.ids.get(id)):\n",
        ("tests/test_fold.py",),
    ),
    Mutant(
        "a tombstone lost in a snapshot",
        "state/subjects/tombstones.py",
        "    def get(self, row_id",
        "    def __post_init__(self) -> None:\n        self.ids = {}\n\n    def get(self, row_id",
        ("tests/test_laws.py",),
    ),
    Mutant(
        "a clock that reads wall time",
        "state/core/partition.py",
        "return event.at if state.clock is None else min(event.at,",
        "return event.at if state.clock is None else min(__import__('time').time_ns() // 1_000,",
        ("tests/test_laws.py", "tests/test_rooms.py"),
    ),
    Mutant(
        "a time that is not clamped",
        "state/core/partition.py",
        "min(event.at, state.clock + state.settings.at_lead_s * US_PER_S)",
        "event.at",
        ("tests/test_laws.py",),
    ),
    Mutant(
        "duplicates counted as confirmations",
        "state/core/scope.py",
        "    if state.known(event, counters):\n        return []\n",
        "    state.known(event, counters)\n",
        ("tests/test_fold.py",),
    ),
    Mutant(
        "global written by anyone",
        "schemas/events.py",
        'return event.scope != GLOBAL or event.actor.origin == "operator" or EVENT_TYPES[event.type].of_anyone',
        "return True",
        ("tests/test_fold.py",),
    ),
    Mutant(
        "a watermark written before its rows",
        "sinks/epochs.py",
        "            self._shard.write(delta.rows, delta.dead_letters)\n",
        "            self._finish(delta.watermark)\n            self._shard.write(delta.rows, delta.dead_letters)\n",
        ("tests/test_invariance.py",),
    ),
    Mutant(
        "a snapshot restored without its index",
        "state/subjects/memories.py",
        "            _know(state, memory, of.captures.by_seq[join.seq])\n        for join in memory.echoes:",
        "            state.birth_of[join.seq] = memory.birth\n        for join in memory.echoes:",
        ("tests/test_laws.py",),
    ),
    Mutant(
        "similar vectors fold whatever is said",
        "state/fold/candidates.py",
        "for birth in self._births.get(own.kept, ())]",
        "for birth in self._said]",
        ("tests/test_dense.py",),
    ),
    Mutant(
        "the last vector of a text counts",
        "state/subjects/embeddings.py",
        "if capture is None or capture.seq in state.vectors.get(body.embedder, ()):",
        "if capture is None:",
        ("tests/test_dense.py",),
    ),
    Mutant(
        "a snapshot believed without its digest",
        "sinks/snapshots.py",
        'if header != expected else ""',
        'if False else ""',
        ("tests/test_time.py::test_a_doubtful_snapshot_is_discarded_and_said",),
    ),
    Mutant(
        "the wrong partition function",
        "schemas/scopes.py",
        "return (murmur2(scope.encode()) & 0x7FFFFFFF) % partitions",
        "return murmur2(scope.encode()) % partitions",
        ("tests/test_golden.py",),
    ),
    Mutant(
        "echoes counted as confirmations",
        "state/subjects/memories.py",
        "if echoed or _has_any(memory, shown):",
        "if echoed:",
        ("tests/test_fold.py",),
    ),
    Mutant(
        "a canonical text chosen by time only",
        "state/subjects/captures.py",
        "return TRUST[self.actor.origin], self.at, self.seq",
        "return 0, self.at, self.seq",
        ("tests/test_fold.py",),
    ),
    Mutant(
        "a gone row that is not written",
        "state/views/rows.py",
        "            rows.append(Guarded(change.table, row_of(scope, change), scope.generation, offset))\n",
        "            row = row_of(scope, change)\n"
        "            if not isinstance(row, GoneRow):\n"
        "                rows.append(Guarded(change.table, row, scope.generation, offset))\n",
        ("tests/test_laws.py",),
    ),
    Mutant(
        "Markdown that is not escaped",
        "sinks/markdown.py",
        "\\\\`*_[]<>#|~$&@^=%!{}",
        "\\\\`*_[]#|~$&@^=%!{}",
        ("tests/test_vault.py",),
    ),
    Mutant(
        "the order of a set in a digest",
        "state/subjects/tombstones.py",
        "yield from sorted((key, ban.event_id, ban.at) for key, ban in bans.items())",
        "yield from {(key, ban.event_id, ban.at) for key, ban in bans.items()}",
        ("tests/test_golden_log.py",),
    ),
    Mutant(
        "a search that sees another scope",
        "sinks/tables.py",
        '            conditions.append(f"scope = {quoted(scope)}")\n',
        '            conditions.append("true")\n',
        ("tests/test_search.py", "tests/test_model.py"),
    ),
    Mutant(
        "a tail whose tombstones are ignored",
        "state/views/tail.py",
        "                case Forgotten(ids=ids):\n                    self._forget(ids, event.at)\n",
        "                case Forgotten(ids=ids):\n                    pass\n",
        ("tests/test_search.py",),
    ),
    Mutant(
        "a door that lets anything in",
        "schemas/codec.py",
        "    decode(payload)\n    return payload\n",
        "    return payload\n",
        ("tests/test_codec.py",),
    ),
    Mutant(
        "a dead letter that stops the rest",
        "state/core/partition.py",
        "            folded.dead_letters.append(dead_letter(slot, error))\n",
        "            folded.dead_letters.append(dead_letter(slot, error))\n            break\n",
        ("tests/test_laws.py", "tests/test_golden_log.py"),
    ),
    Mutant(
        "damage that is not noticed",
        "sinks/logs/embedded.py",
        "if not sound or _digest(salt, payload) != digest:",
        "if not sound:",
        ("tests/test_embedded_log.py::test_a_flipped_bit_is_found_and_its_slot_named",),
    ),
    Mutant(
        "an append that is not durable",
        "sinks/logs/embedded.py",
        "PRAGMA synchronous=FULL",
        "PRAGMA synchronous=OFF",
        ("tests/test_embedded_log.py::test_every_connection_is_durable_and_overwrites_what_it_deletes",),
    ),
    Mutant(
        "a rebuild that is served unverified",
        "tools/keep/rebuild.py",
        "    if not verdict.ok:\n        build.discard()\n",
        "    if not verdict.ok and not verdict.differences:\n        build.discard()\n",
        ("tests/test_invariance.py",),
    ),
    Mutant(
        "a verify that trusts the pages",
        "tools/keep/verify.py",
        "            what = _difference(expected.get(path), pages.get(path))\n",
        "            what = _difference(expected.get(path), expected.get(path))\n",
        ("tests/test_views.py::test_verify_names_what_differs",),
    ),
    Mutant(
        "an erasure that only counts from its place on",
        "state/core/replay.py",
        "Replay({number: erasures_of(found) for number, found in by_partition.items()}, bodies)",
        "Replay({}, bodies)",
        ("tests/test_erasures.py::test_erasing_is_folding_a_log_whose_slots_are_blank",),
    ),
    Mutant(
        "a write-ahead file that is not emptied",
        "sinks/logs/embedded.py",
        "        self._empty_wal()\n",
        "",
        ("tests/test_erase.py::test_a_canary_is_in_every_place_before_and_in_none_afterwards",),
    ),
    Mutant(
        "an old build that outlives an erasure",
        "tools/keep/rebuild.py",
        "    discard_old_builds(home)\n    on_phase",
        "    on_phase",
        ("tests/test_erase.py::test_a_canary_is_in_every_place_before_and_in_none_afterwards",),
    ),
    Mutant(
        "a tail that ignores erasures",
        "state/views/tail.py",
        "                    self._erase(ids)\n",
        "                    pass\n",
        ("tests/test_erase.py::test_it_is_gone_for_every_reader_before_any_byte_is",),
    ),
    Mutant(
        "what derives from the erased",
        "state/core/erasures.py",
        "any(ref in named or ref in derived for ref in event.refs)",
        "any(ref in named for ref in event.refs)",
        ("tests/test_erasures.py::test_what_derives_from_an_erased_event_is_erased_however_late_it_comes",),
    ),
    Mutant(
        "agents that instruct",
        "state/views/context.py",
        'INSTRUCTING: tuple[Origin, ...] = PEOPLE',
        'INSTRUCTING: tuple[Origin, ...] = (*PEOPLE, "agent")',
        ("tests/test_context.py",),
    ),
    Mutant(
        "a cut before the secrets are out",
        "tools/capture/secrets/redaction.py",
        "        read = text[: chars + LOOKAHEAD_CHARS]\n",
        "        read = text[:chars]\n",
        ("tests/test_cuts.py",),
    ),
    Mutant(
        "a keyword of a secret that is not sought",
        "tools/capture/secrets/rules.toml",
        "pass pw pwd kennwort",
        "pw pwd kennwort",
        ("tests/test_secret_rules.py",),
    ),
    Mutant(
        "a memory that ends a host's block",
        "tools/capture/injected.py",
        "    return f\"<{MARKER}>\\n{without_tags(context)}\\n</{MARKER}>\"\n",
        "    return f\"<{MARKER}>\\n{context}\\n</{MARKER}>\"\n",
        ("tests/test_injected.py",),
    ),
]  # fmt: skip


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
            shutil.copytree(source, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        elif source.exists():
            shutil.copy(source, folder / name)


def run_tests(folder: Path, tests: Iterable[str]) -> subprocess.CompletedProcess[str]:
    """Run tests in a copy of the checkout, with the same examples every time."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("MEMTAPE_SEED", None)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow and not soak", "--no-header"]
    command += ["-p", "no:cacheprovider", f"--rootdir={folder}", "-k", "not mutant", *dict.fromkeys(tests)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)


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
            done = run_tests(folder, mutant.tests)
        except subprocess.TimeoutExpired:
            return Outcome(True, f"(no answer within {TIMEOUT_S} s)")
    failed = re.search(r"^FAILED (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if done.returncode == 1 and failed:
        return Outcome(True, failed[1])
    if done.returncode == 0:
        return Outcome(False, "SURVIVED")
    return Outcome(False, f"BROKEN, no test could run: {(done.stdout + done.stderr)[-500:]}")


def check_unmutated(mutants: Iterable[Mutant]) -> str:
    """Return what fails in a copy that nothing was put into, or nothing; otherwise no answer would mean anything."""
    with tempfile.TemporaryDirectory(prefix="memtape-") as name:
        folder = Path(name)
        copy_checkout(folder)
        where = [sys.executable, "-c", "import memtape.state.fold.candidates as fold; print(fold.__file__)"]
        environment = {**os.environ, "PYTHONPATH": name}
        found = subprocess.run(where, cwd=folder, env=environment, capture_output=True, text=True).stdout.strip()
        if not Path(found).resolve().is_relative_to(folder.resolve()):
            return f"the copy would test {found}"
        done = run_tests(folder, [test for mutant in mutants for test in mutant.tests])
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
