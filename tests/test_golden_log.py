"""A log of every type of event, kept for ever: it must replay to the hash tree that it had when it was made.

`tests/golden/log/pNN.jsonl` holds the payloads of one partition, one on a line. They are never edited once a
release has written such. `leaves.json` is their tree of digests, `unread.json` the offsets of dead letters.
A leaf's name ends with the version of its rule. Whoever changes a rule raises it and pins the leaves
anew, with a line in `CHANGELOG.md`; the `.jsonl` files stay.

`python tests/test_golden_log.py pin` writes the leaves again. A new type of event stands at the end of one
file, in texts that every Unicode since version 13 (Python 3.10) treats alike.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from replaying import Replay, replay

from memtape.schemas.codec import decode
from memtape.schemas.log import Slot
from memtape.schemas.rows import TABLES, GoneRow
from memtape.state.core.digests import RULES, digest, root, rows_digest, state_leaves
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.core.scope import SUBJECTS, Scope
from memtape.state.views.index_proof import expected_content, index_leaf
from memtape.state.views.pages import pages_of
from memtape.state.views.rows import all_changes, row_of

if TYPE_CHECKING:
    from memtape.sinks.home.folders import Home
    from memtape.sinks.logs.embedded import EmbeddedLog

GOLDEN = Path(__file__).parent / "golden" / "log"
PARTITIONS = 4


def golden_slots() -> list[Slot]:
    """Return the slots of the golden log, partition by partition."""
    # Only bytes are split here: a text may hold U+2028, at which `str.splitlines` would cut it in two.
    return [
        Slot(number, offset, payload)
        for number, path in enumerate(sorted(GOLDEN.glob("p*.jsonl")))
        for offset, payload in enumerate(path.read_bytes().removesuffix(b"\n").split(b"\n"))
    ]


def pinned(file: str) -> Any:
    """Return what the golden log is known to mean."""
    return orjson.loads((GOLDEN / file).read_bytes())


def tree(replayed: Replay) -> dict[str, str]:
    """Return every leaf of the state hash of a home that holds a log, with those of the views."""
    leaves: dict[str, str] = {}
    for number, partition in sorted(replayed.partitions.items()):
        leaves |= state_leaves([partition])
        for table in TABLES:
            changes = (change for scope in partition.scopes.values() for change in all_changes(scope))
            rows = [row_of(partition.scopes[c.scope], c) for c in changes if c.table == table]
            if rows:
                leaves[f"view/{table}/{number}@{RULES['views']}"] = rows_digest(rows)
        leaves |= index_leaf(number, {name: content_of(it) for name, it in partition.scopes.items()})
        for name, pages in pages_by_scope(partition).items():
            leaves[f"view/vault/{name}@{RULES['views']}"] = digest(sorted(pages.items()))
    return leaves


def content_of(scope: Scope) -> dict[tuple[str, str], str]:
    """Return what the index of a scope says of its rows."""
    made = [(it.table, row_of(scope, it)) for it in all_changes(scope) if it.table in TABLES]
    return dict(expected_content([(table, row) for table, row in made if not isinstance(row, GoneRow)]))


def pages_by_scope(partition: Partition) -> dict[str, dict[str, str]]:
    """Return the Markdown of every scope of a partition that has any, by path."""
    rendered = {
        name: {page.path: page.text for page in pages_of(partition, all_changes(scope))}
        for name, scope in partition.scopes.items()
    }
    return {name: {path: it for path, it in pages.items() if it} for name, pages in rendered.items() if pages}


def copy_into(home: Home, slots: Sequence[Slot]) -> EmbeddedLog:
    """Return an embedded log in a home that holds these slots and nothing else."""
    from memtape.sinks.logs.embedded import EmbeddedLog

    partitions, configured = slots[-1].partition + 1, decode(slots[0].payload).body
    log = EmbeddedLog(home.log_path, partitions, copy_of=configured.log_id)  # type: ignore[union-attr]
    for number in range(partitions):
        log.append_raw(number, [slot.payload for slot in slots if slot.partition == number])
    log.finish_copy()
    return log


def test_a_golden_log_replays_to_its_tree_however_often_it_is_restored() -> None:
    leaves, replayed = pinned("leaves.json"), replay(golden_slots())
    found = tree(replayed)
    other = [f"{leaf}: pinned {leaves.get(leaf)}, now {found.get(leaf)}" for leaf in sorted(leaves | found)
             if leaves.get(leaf) != found.get(leaf)]  # fmt: skip
    assert not other, "\n".join(["Leaves differ. A rule's version stands in state/core/digests.py:", *other])
    assert unread(replayed) == pinned("unread.json")
    leaves = [leaf.partition("@")[0].split("/") for leaf in pinned("leaves.json")]
    subjects = {name for room, *_, name in leaves if room == "scope"}
    assert subjects == {subject.name for subject in SUBJECTS}
    assert {name for room, name, *_ in leaves if room == "view"} == {*TABLES, "index", "vault"}
    slots = golden_slots()
    own = {n: [slot for slot in slots if slot.partition == n] for n in range(PARTITIONS)}
    partitions = {number: Partition(number, erasures_of(its)) for number, its in own.items()}
    for slot in slots:
        fold(partitions[slot.partition], [slot])
        partitions[slot.partition] = restore(snapshot(partitions[slot.partition]))
    assert state_leaves(partitions.values()).items() <= pinned("leaves.json").items()


def test_a_home_that_holds_a_golden_log_verifies_to_its_root(tmp_path: Path) -> None:
    from memtape.sinks.home.folders import Home
    from memtape.tools.keep.owner import Owner
    from memtape.tools.keep.verify import verify

    home = Home(tmp_path / "home")
    home.settings_path.write_text("extract = false\n")  # What its turns state is not on the log.
    log = copy_into(home, golden_slots())
    with Owner(home, log) as owner:
        owner.project()
    verdict = verify(home, log)
    assert verdict.ok, verdict.differences[:5]
    assert verdict.state_hash == root(pinned("leaves.json")) and verdict.events == len(golden_slots())
    log.close()


def unread(replayed: Replay) -> dict[str, list[int]]:
    """Return the offsets of dead letters by partition."""
    offsets: dict[str, list[int]] = {}
    for letter in replayed.dead_letters:
        offsets.setdefault(str(letter.partition), []).append(letter.offset)
    return offsets


def pin() -> None:
    """Write down what the golden log means by the rules of today."""
    replayed = replay(golden_slots())
    for file, value in (("leaves.json", tree(replayed)), ("unread.json", unread(replayed))):
        data = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
        (GOLDEN / file).write_bytes(data + b"\n")


if __name__ == "__main__":
    assert sys.argv[1:] == ["pin"]
    pin()
