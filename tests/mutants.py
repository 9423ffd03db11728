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
        "return msgspec.msgpack.encode((state.texts, state.ids))",
        "return msgspec.msgpack.encode((state.texts, {}))",
        ("tests/test_laws.py",),
    ),
    Mutant(
        "a ban that does not reach the past",
        "state/subjects/tombstones.py",
        "    for seq in of.captures.seqs_of_normal[normal]:\n        _look(state, of, of.captures.by_seq[seq], effect)",
        "    _look(state, of, of.captures.by_seq[of.captures.seqs_of_normal[normal][-1]], effect)",
        ("tests/test_fold.py",),
    ),
    Mutant(
        "a withdrawal that ends with a ban",
        "state/subjects/tombstones.py",
        "    hidden = state.of(capture) is not None or capture.id in of.withdrawals.ids",
        "    hidden = state.of(capture) is not None",
        ("tests/test_withdrawing.py",),
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
        "a clock that believes every tick",
        "state/core/partition.py",
        "> state.settings.tick_jump_days * DAY_US and not tick.accepted:",
        "> state.settings.tick_jump_days * DAY_US * 100:",
        ("tests/test_laws.py",),
    ),
    Mutant(
        "settings that go back",
        "state/core/partition.py",
        "if configured.revision > state.revision:",
        "if configured.revision != state.revision:",
        ("tests/test_golden_log.py",),
    ),
    Mutant(
        "duplicates counted as confirmations",
        "state/core/scope.py",
        "    if state.known(event, counters):\n        return []\n",
        "    state.known(event, counters)\n",
        ("tests/test_fold.py",),
    ),
    Mutant(
        "a duplicate that is told by its time of sending",
        "schemas/codec.py",
        "msgspec.structs.replace(event, sent=0)",
        "msgspec.structs.replace(event, session=None)",
        ("tests/test_golden.py", "tests/test_model.py"),
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
        "rubbish for everything counts against the texts",
        "flows/embed/http.py",
        "if all(isinstance(one, EmbeddingFailure) for one in made) and",
        "if False and",
        ("tests/test_embedders.py", "tests/test_embedder_changes.py"),
    ),
    Mutant(
        "what came before an outage is thrown away",
        "flows/workers/embed.py",
        "self._record(batch[: len(made)], made, now_us)",
        "self._record(batch, made, now_us) if len(made) == len(batch) else None",
        ("tests/test_embedder_changes.py",),
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
        'doubt = "" if magic + b"\\n" == MAGIC and header == expected else _reason(magic + b"\\n", header, expected)',
        'doubt = ""',
        ("tests/test_time.py::test_a_doubtful_snapshot_is_discarded_and_said",),
    ),
    Mutant(
        "a start at the higher of two markers",
        "flows/views.py",
        "start = written if resume_state is None else min(resume_state, written)",
        "start = written if resume_state is None else max(resume_state, written)",
        ("tests/test_views.py::test_a_shard_that_cannot_be_opened_is_written_again",),
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
        "if echoed or not set(shown).isdisjoint(known):",
        "if echoed:",
        ("tests/test_fold.py",),
    ),
    Mutant(
        "wordings of one memory take the places of others",
        "state/ranking/ranker.py",
        "if not self._texts.is_worded:\n            return np.arange(len(places))",
        "if places is not None:\n            return np.arange(len(places))",
        ("tests/test_wordings.py",),
    ),
    Mutant(
        "folding anew forgets who was set apart",
        "state/subjects/refolding.py",
        "barred = memories.set_apart(state, (capture.seq,))",
        "barred: list[int] = []",
        ("tests/test_refolding.py",),
    ),
    Mutant(
        "echoes of people",
        "state/subjects/recalls.py",
        "if capture.session is None or capture.actor.origin not in ECHOING:",
        "if capture.session is None:",
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
        "a dead member that still speaks",
        "state/subjects/memories.py",
        "    memory.canonical = max(living, key=lambda capture: capture.rank).seq if living else -1\n",
        "    memory.canonical = max(members, key=lambda capture: capture.rank).seq if living else -1\n",
        ("tests/test_fold.py",),
    ),
    Mutant(
        "a fold that ignores negation",
        "state/text/normal.py",
        '    return tuple(_tokens(_FINAL_STOP.sub("", normal_text(text))))',
        '    return tuple(it for it in _tokens(_FINAL_STOP.sub("", normal_text(text))) if it not in ("not", "never"))',
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
        "a page that nobody touched",
        "state/views/pages.py",
        "        for path in _paths(partition.scopes[change.scope], change):\n",
        "        for path in list(_paths(partition.scopes[change.scope], change))[1:]:\n",
        ("tests/test_laws.py", "tests/test_vault.py", "tests/test_model.py"),
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
        "                folded.dead_letters.append(dead_letter(slot, error))\n",
        "                folded.dead_letters.append(dead_letter(slot, error))\n                break\n",
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
        "a past that is one event late",
        "sinks/logs/embedded.py",
        "WHERE partition = ? AND sent > ?",
        "WHERE partition = ? AND sent >= ?",
        ("tests/test_time.py::test_as_of_a_time_is_before_the_first_event_sent_after_it",),
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
        "a search that passes over free pages",
        "sinks/proof/sqlite_pages.py",
        '        yield Piece(f"page {number}", page(number))\n',
        "",
        ("tests/test_remains.py::test_a_canary_is_found_in",),
    ),
    Mutant(
        "what derives from the erased",
        "state/core/erasures.py",
        "any(ref in named or ref in derived for ref in event.refs)",
        "any(ref in named for ref in event.refs)",
        ("tests/test_erasures.py::test_what_derives_from_an_erased_event_is_erased_however_late_it_comes",),
    ),
    Mutant(
        "a use that is said and seen counted twice",
        "state/subjects/usage.py",
        "            context.used = [seq for seq in told if seq not in known]\n",
        "            context.used = told\n",
        ("tests/test_usage.py",),
    ),
    Mutant(
        "a weight that does not decay when it is added to",
        "state/subjects/edges.py",
        "edge.weight = decayed(edge.weight, later - edge.at) + decayed(weight, later - at)",
        "edge.weight = edge.weight + decayed(weight, later - at)",
        ("tests/test_edges.py",),
    ),
    Mutant(
        "a learned weight that uses of one end alone leave as it is",
        "state/subjects/association.py",
        "for seq in added for other in state.of.get(seq, ()))",
        "for seq in added for other in ())",
        ("tests/test_association.py",),
    ),
    Mutant(
        "windows that count for ever",
        "state/subjects/association.py",
        "state.kept[-1].start - state.kept[0].start > SPAN_US or ",
        "",
        ("tests/test_association.py",),
    ),
    Mutant(
        "links that do not follow a forgotten memory",
        "state/views/pages.py",
        "yield from _named_paths(scope, (scope.captures.by_seq[seq].id for seq in _ends(scope, capture.seq)))",
        "yield from ()",
        ("tests/test_edges.py",),
    ),
    Mutant(
        "a sentence read by itself",
        "state/text/passages.py",
        "terms(text[start:end], language)",
        "terms(text[start:end])",
        ("tests/test_ranking.py::test_a_sentence_is_read_in_the_language_of_its_text",),
    ),
    Mutant(
        "a now that only others move",
        "tools/ask/retrieval.py",
        "        return asked - asked % HOUR_US\n",
        "        return 0\n",
        ("tests/test_now.py",),
    ),
    Mutant(
        "evidence lost without a word",
        "tools/measure/corpus.py",
        "    corpus.missing = len(missing)\n",
        "    corpus.missing = 0\n",
        ("tests/test_eval.py::test_evidence_that_no_turn_has_is_counted_and_said",),
    ),
    Mutant(
        "agents that instruct",
        "state/views/context.py",
        'INSTRUCTING: tuple[Origin, ...] = PEOPLE',
        'INSTRUCTING: tuple[Origin, ...] = (*PEOPLE, "agent")',
        ("tests/test_context.py",),
    ),
    Mutant(
        "an origin of one capture and a session of another",
        "state/views/filters.py",
        "    return any(\n"
        "        (not filters.origins or made.origin in filters.origins)\n"
        "        and (not filters.sessions or made.session in filters.sessions)\n"
        "        for made in result.provenance\n"
        "    )\n",
        "    return any(not filters.origins or made.origin in filters.origins for made in result.provenance) and any(\n"
        "        not filters.sessions or made.session in filters.sessions for made in result.provenance\n"
        "    )\n",
        ("tests/test_filters.py",),
    ),
    Mutant(
        "a forgotten capture that lends its origin",
        "state/views/rows.py",
        "    shown = [capture for capture in captures if not capture.hidden] or captures\n",
        "    shown = captures\n",
        ("tests/test_filters.py",),
    ),
    Mutant(
        "a budget kept by its parts alone",
        "state/views/context.py",
        "    while chosen and count(render(form, chosen)) > budget:",
        "    while False:",
        ("tests/test_context.py",),
    ),
    Mutant(
        "statements that outlive their flush",
        "tools/agents/distilling.py",
        "refs=(flushed.id,)",
        "refs=()",
        ("tests/test_distilling.py",),
    ),
    Mutant(
        "facts that outlive what they may be made of",
        "tools/keep/facts.py",
        "refs=tuple(each.id for each in window)",
        "refs=(turn.id,)",
        ("tests/test_facts.py",),
    ),
    Mutant(
        "an answer that is kept though its turn went",
        "flows/workers/distill.py",
        "if not all(turn.id in standing for turn in window):",
        "if False:",
        ("tests/test_facts.py",),
    ),
    Mutant(
        "a model that leads",
        "state/subjects/leading.py",
        'spoken.actor.origin == "model",',
        "False,",
        ("tests/test_distilling.py",),
    ),
    Mutant(
        "a working directory on the path",
        "tools/keep/starting.py",
        "for place in sys.path if place]",
        "for place in sys.path]",
        ("tests/test_starting.py",),
    ),
    Mutant(
        "a cut before the secrets are out",
        "tools/capture/secrets/redaction.py",
        "        read = text[: chars + LOOKAHEAD_CHARS]\n",
        "        read = text[:chars]\n",
        ("tests/test_cuts.py",),
    ),
    Mutant(
        "a reader of secrets that is not asked",
        "tools/capture/secrets/codes.py",
        "either(_PHRASE_STEMS, _SEED_STEMS)",
        "either(_PHRASE_STEMS)",
        ("tests/test_secret_gates.py",),
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
