"""The state hash: a tree of digests over canonical logical state, which is equal for equal states.

A leaf stands for each scope and subject, for each partition's clock and settings, and for each view. Offsets,
guards, counters and watermarks are left out, since a copy on another log has others. A changed rule raises
the version of its subject (`RULES`), which changes the leaf's name and so the hash.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

import msgspec
import Stemmer

from memtape.schemas.codec import canonical
from memtape.schemas.rows import TABLES, Counters, GoneRow, MemoryRow, Row, TurnRow
from memtape.state.core.partition import Partition
from memtape.state.core.scope import SUBJECTS
from memtape.state.index.entries import KINDS, ORIGINS
from memtape.state.index.segments import Segment
from memtape.state.index.vectors import VectorSegment
from memtape.state.text.lexicon import words_digest
from memtape.state.text.terms import TOLD_LANGUAGES

RULES = {subject.name: 1 for subject in SUBJECTS} | {"views": 1, "index": 4, "duplicates": 1}
RULES |= dict.fromkeys(("memories", "paraphrases", "covers", "passes", "threads"), 2) | {"validity": 3}
"""The versions of the rules of each subject; of `views`, the rules that make rows and pages; of `index`, that
tokenize texts; and of `duplicates`, that pick the event of an id to count and erase by, and have no own leaf.
"""

_COLUMNS = ".columns"


def rules_version() -> str:
    """Return the versions of all rules behind the views, as one word.

    They are rule versions, the columns of rows and of the search index with their units, the counts for
    `status`, and all other inputs of decisions: Python's Unicode version, the stemmer's version, and the
    digest of the commonest words.
    """
    columns = {f"{name}{_COLUMNS}": digest([type.__struct_fields__])[:8] for name, type in TABLES.items()}
    columns[f"counters{_COLUMNS}"] = digest([Counters.__struct_fields__])[:8]
    made = [list(TABLES), KINDS, ORIGINS, TOLD_LANGUAGES, Segment._fields, VectorSegment._fields]
    columns[f"index{_COLUMNS}"] = digest([made])[:8]
    tables = {"unicode": unicodedata.unidata_version, "stemmer": Stemmer.version(), "words": words_digest()}
    versions = RULES | columns | tables
    return ",".join(f"{name}={version}" for name, version in versions.items())


def changed_rules(recorded: str) -> list[str]:
    """Return the names in `rules_version` that changed, came or went since the recorded one."""
    both = ((said.partition("=")[::2] for said in rules.split(",")) for rules in (recorded, rules_version()))
    before, now = map(dict[str, str], both)
    return [name for name in before | now if before.get(name) != now.get(name)]


def state_leaves(partitions: Iterable[Partition]) -> dict[str, str]:
    """Return the digest of every subject with content in a scope, and of every configured partition."""
    leaves: dict[str, str] = {}
    for partition in partitions:
        if partition.clock is not None:
            head = (partition.clock, partition.revision, partition.settings)
            leaves[f"partition/{partition.number}"] = digest([head])
        for scope in partition.scopes.values():
            for subject in SUBJECTS:
                items = subject.digest(scope)
                if items:
                    leaves[f"scope/{scope.name}/{subject.name}@{RULES[subject.name]}"] = digest(items)
    return leaves


def root(leaves: Mapping[str, str]) -> str:
    """Return the digest of a tree: the state hash, 32 hex digits."""
    return digest(sorted(leaves.items()))


def digest(items: Iterable[Any]) -> str:
    """Return blake2b-128 over the canonical forms of items, in order."""
    hashed = blake2b(digest_size=16)
    for item in items:
        hashed.update(canonical(item) + b"\n")
    return hashed.hexdigest()


def logical_row(row: Row) -> dict[str, Any]:
    """Return a row as the state hash sees it: without offsets, which belong to one log."""
    fields: dict[str, Any] = msgspec.to_builtins(row)
    if isinstance(row, MemoryRow):
        for tie in (*fields["members"], *fields["echoes"]):
            del tie["offset"]
    elif isinstance(row, TurnRow):
        del fields["offset_of"]
    return fields


def rows_digest(rows: Iterable[Row]) -> str:
    """Return the digest of a table's rows in the order of their keys; gone rows do not count."""
    living = (row for row in rows if not isinstance(row, GoneRow))
    return digest(logical_row(row) for row in sorted(living, key=lambda row: row.key))
