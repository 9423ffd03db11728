"""Logs of old versions, kept for ever: each must replay to the hash tree that it had when it was made.

`tests/golden/log-v1/pNN.jsonl` holds the payloads of one partition, one on a line, as bytes that are never edited;
`leaves.json` is the tree of digests that they fold to, and `unread.json` the offsets of the dead letters. A leaf's name
ends with the version of its rule. Whoever changes a rule raises that version and pins the leaves anew, with a line in
`CHANGELOG.md`; what stands in the `.jsonl` files stays.

`log-v9` has every type of event that the codec knows. How they were made stands in `golden_making.py`;
`python tests/test_golden_log.py log log-v10` makes another log and never writes over an old one; `pin log-v1` writes
its leaves again. The texts are such that every Unicode since version 13 (Python 3.10) treats them alike, so that no
leaf depends on the Python that reads them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from golden_every_type import make_v2, make_v3, make_v4, make_v5, make_v6, make_v7, make_v8
from golden_making import PARTITIONS, make_v1
from golden_pages import make_v9

from memtape.schemas.codec import decode
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import Event
from memtape.schemas.log import Slot
from memtape.sinks.vault import render
from memtape.state.core.digests import RULES, digest, root, rows_digest, state_leaves
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.core.replay import Replay, replay
from memtape.state.views.index_proof import expected_index, index_leaf
from memtape.state.views.pages import pages_of
from memtape.state.views.rows import all_changes, row_of

if TYPE_CHECKING:
    from memtape.sinks.home.folders import Home
    from memtape.sinks.logs.embedded import EmbeddedLog

GOLDEN = Path(__file__).parent / "golden"
LOGS = sorted(path.name for path in GOLDEN.glob("log-v*"))
TABLES = ("memories", "turns", "tombstones", "vectors", "uses", "edges", "conflicts", "summaries", "archive", "pages")


def slots_of(name: str) -> list[Slot]:
    """Return the slots of a golden log, partition by partition."""
    # Only bytes are split here: a text may hold U+2028, at which `str.splitlines` would cut it in two.
    return [
        Slot(number, offset, payload)
        for number, path in enumerate(sorted((GOLDEN / name).glob("p*.jsonl")))
        for offset, payload in enumerate(path.read_bytes().removesuffix(b"\n").split(b"\n"))
    ]


def pinned(name: str, file: str) -> Any:
    """Return what a golden log is known to mean."""
    return orjson.loads((GOLDEN / name / file).read_bytes())


def tree(replayed: Replay) -> dict[str, str]:
    """Return every leaf of the state hash of a home that holds a log, the views' as they should be included."""
    leaves: dict[str, str] = {}
    for number, partition in sorted(replayed.partitions.items()):
        leaves |= state_leaves([partition])
        for table in TABLES:
            changes = (change for scope in partition.scopes.values() for change in all_changes(scope))
            rows = [row_of(partition.scopes[c.scope], c) for c in changes if c.table == table]
            if rows:
                leaves[f"view/{table}/{number}@{RULES['views']}"] = rows_digest(rows)
        leaves |= index_leaf(number, {name: expected_index(scope) for name, scope in partition.scopes.items()})
        for name, pages in pages_by_scope(partition).items():
            leaves[f"view/vault/{name}@{RULES['views']}"] = digest(sorted(pages.items()))
    return leaves


def pages_by_scope(partition: Partition) -> dict[str, dict[str, str]]:
    """Return the Markdown of every scope of a partition that has any, by path."""
    rendered = {
        name: {page.path: render(page) for page in pages_of(partition, all_changes(scope))}
        for name, scope in partition.scopes.items()
    }
    return {name: {path: text for path, text in pages.items() if text} for name, pages in rendered.items() if pages}


def copy_into(home: Home, name: str) -> EmbeddedLog:
    """Return an embedded log in a home that holds a golden log and nothing else."""
    from memtape.sinks.logs.embedded import EmbeddedLog

    slots = slots_of(name)
    partitions = slots[-1].partition + 1
    first = decode(slots[0].payload)
    log = EmbeddedLog(home.log_path, partitions)
    # There is no command yet that copies a log, so what a new log begins with is taken out by hand.
    log._db.execute("DELETE FROM slots")
    log._db.execute("DELETE FROM meta WHERE key LIKE 'end of %'")
    log.log_id = first.body.log_id  # type: ignore[union-attr]
    log._db.execute("UPDATE meta SET value = ? WHERE key = 'log_id'", [log.log_id])
    for number in range(partitions):
        log.append_raw(number, [slot.payload for slot in slots if slot.partition == number])
    return log


each_log = pytest.mark.parametrize("name", LOGS)


@each_log
def test_a_golden_log_replays_to_its_tree_leaf_by_leaf(name: str) -> None:
    leaves = pinned(name, "leaves.json")
    found = tree(replay(slots_of(name)))
    other = [f"{leaf}: pinned {leaves.get(leaf)}, now {found.get(leaf)}" for leaf in sorted(leaves | found)
             if leaves.get(leaf) != found.get(leaf)]  # fmt: skip
    assert not other, "\n".join(["Leaves differ. A changed rule raises its version in state/core/digests.py:", *other])


@each_log
def test_a_golden_log_restored_after_every_event_is_what_it_was(name: str) -> None:
    slots = slots_of(name)
    erased = {number: erasures_of(slot for slot in slots if slot.partition == number) for number in range(PARTITIONS)}
    partitions = {number: Partition(number, erasures) for number, erasures in erased.items()}
    for slot in slots:
        fold(partitions[slot.partition], [slot])
        partitions[slot.partition] = restore(snapshot(partitions[slot.partition]))
    assert state_leaves(partitions.values()).items() <= pinned(name, "leaves.json").items()


@each_log
def test_a_golden_log_leaves_the_same_events_unread(name: str) -> None:
    """A reader that learns more may read more; then these offsets and the leaves are pinned anew."""
    assert unread(replay(slots_of(name))) == pinned(name, "unread.json")


@each_log
def test_a_home_that_holds_a_golden_log_verifies_to_its_root(name: str, tmp_path: Path) -> None:
    from memtape.sinks.home.folders import Home
    from memtape.tools.keep.owner import Owner
    from memtape.tools.keep.verify import verify

    home = Home(tmp_path / "home")
    home.settings_path.write_text("extract = false\n")  # What its turns state is not on the log.
    log = copy_into(home, name)
    with Owner(home, log) as owner:
        owner.project()
    verdict = verify(home, log)
    assert verdict.ok, verdict.differences[:5]
    assert verdict.state_hash == root(pinned(name, "leaves.json"))
    assert verdict.events == len(slots_of(name))
    log.close()


def read(slot: Slot) -> Event | None:
    try:
        return decode(slot.payload)
    except InvalidEvent:
        return None


def unread(replayed: Replay) -> dict[str, list[int]]:
    """Return the offsets of dead letters by partition."""
    offsets: dict[str, list[int]] = {}
    for letter in replayed.dead_letters:
        offsets.setdefault(str(letter.partition), []).append(letter.offset)
    return offsets


def write(name: str) -> None:
    """Make a golden log and pin what it means; refuse where one stands."""
    folder = GOLDEN / name
    folder.mkdir(parents=True)
    made = {"log-v1": make_v1, "log-v2": make_v2, "log-v3": make_v3, "log-v4": make_v4, "log-v5": make_v5}
    made |= {"log-v6": make_v6, "log-v7": make_v7, "log-v8": make_v8, "log-v9": make_v9}
    for number, payloads in enumerate(made[name]()):
        (folder / f"p{number:02}.jsonl").write_bytes(b"".join(payload + b"\n" for payload in payloads))
    pin(name)


def pin(name: str) -> None:
    """Write down what a golden log means by the rules of today."""
    replayed = replay(slots_of(name))
    for file, value in (("leaves.json", tree(replayed)), ("unread.json", unread(replayed))):
        data = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
        (GOLDEN / name / file).write_bytes(data + b"\n")


if __name__ == "__main__":
    {"log": write, "pin": pin}[sys.argv[1]](sys.argv[2])
