"""The state hash: a tree of digests over canonical logical state, by which two states are called the same.

A leaf stands for each scope and subject, for each partition's clock and settings, and for each view.
Offsets, guards, counters and watermarks are left out, since a copy on another log has others. A changed
rule raises the version of its subject here, which changes the leaf's name and so the hash.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import chain
from typing import Any

import msgspec

from memtape.schemas.codec import canonical
from memtape.schemas.rows import GoneRow, MemoryRow, Row, TurnRow
from memtape.schemas.settings import Settings
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.subjects.edges import Edges
from memtape.state.subjects.memories import Join
from memtape.state.subjects.usage import Usage

RULES = {
    "captures": 1,
    "embeddings": 1,
    "memories": 2,
    "tombstones": 1,
    "recalls": 2,
    "usage": 1,
    "edges": 2,
    "views": 6,
    "duplicates": 2,
}
"""The version of each subject's rules; that of `duplicates`, which id counts and which erases, is no leaf's."""


def rules_version() -> str:
    """Return all rule versions as one word, Python's Unicode version included, since it decides what equals what."""
    versions = ",".join(f"{subject}={version}" for subject, version in RULES.items())
    return f"{versions},unicode={unicodedata.unidata_version}"


def state_leaves(partitions: Iterable[Partition]) -> dict[str, str]:
    """Return the digest of every subject of every scope, and of every partition that has been configured."""
    leaves: dict[str, str] = {}
    for partition in partitions:
        if partition.clock is not None:
            head = (partition.clock, partition.revision, changed_settings(partition.settings))
            leaves[f"partition/{partition.number}"] = digest([head])
        for scope in partition.scopes.values():
            for subject, items in _subjects(scope).items():
                leaves[f"scope/{scope.name}/{subject}@{RULES[subject]}"] = digest(items)
    return leaves


def changed_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that are not as they were introduced, so that a new setting moves no hash."""
    introduced = msgspec.to_builtins(Settings())
    return {name: value for name, value in msgspec.to_builtins(settings).items() if value != introduced[name]}


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
    """Return a row as the state hash sees it: without the offsets, which belong to one log."""
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


def _subjects(scope: Scope) -> dict[str, Iterator[Any]]:
    id_of = {seq: capture.id for seq, capture in scope.captures.by_seq.items()}

    def ties(joins: list[Join]) -> list[tuple[str, str, int]]:
        return [(id_of[join.seq], join.how, join.similarity) for join in joins]

    return {
        "captures": (
            (capture.id, capture.seq, capture.at, capture.session, capture.actor, capture.body, capture.hidden)
            for capture in scope.captures.by_seq.values()
        ),
        "embeddings": (
            (embedder, id_of[seq], vector)
            for embedder, vectors in sorted(scope.embeddings.vectors.items())
            for seq, vector in sorted(vectors.items())
        ),
        "memories": chain(
            (
                (
                    id_of[memory.name],
                    id_of.get(memory.canonical),
                    ties(memory.members),
                    ties(memory.echoes),
                    ties([memory.revises]) if memory.revises else None,
                )
                for memory in scope.memories.by_birth.values()
            ),
            (
                ("waiting", id_of[birth], [id_of[seq] for seq in shown])
                for birth, shown in sorted(scope.memories.waiting.items())
            ),
        ),
        "tombstones": (
            item
            for bans in (
                {normal.hex(): tombstone for normal, tombstone in scope.tombstones.texts.items()},
                scope.tombstones.ids,
            )
            for item in sorted((key, ban.event_id, ban.at) for key, ban in bans.items())
        ),
        "recalls": (
            (session, [(recall.at, [id_of[seq] for seq in recall.seqs]) for recall in recalls])
            for session, recalls in sorted(scope.recalls.latest.items())
        ),
        "usage": _usage(scope.usage, id_of),
        "edges": _edges(scope.edges, id_of),
    }


def _usage(usage: Usage, id_of: dict[int, str]) -> Iterator[Any]:
    yield from (("own", id_of[seq], use) for seq, use in sorted(usage.own.items(), key=lambda item: item[0]))
    yield from (("other", id, use) for id, use in sorted(usage.others.items(), key=lambda item: item[0]))
    for session, recalls in sorted(usage.shown.items(), key=lambda item: item[0]):
        shown = [
            (recall.id, recall.query, *([id_of[seq] for seq in seqs] for seqs in (recall.seqs, recall.used)))
            for recall in recalls
        ]
        yield "shown", session, shown
    yield from (("asked", session, id_of[seq]) for session, seq in sorted(usage.asked.items()))


def _edges(edges: Edges, id_of: dict[int, str]) -> Iterator[Any]:
    for low, high in sorted(edges.pairs):
        yield "edge", id_of[low], id_of[high], edges.pairs[low, high]
    for session, window in sorted(edges.windows.items(), key=lambda item: item[0]):
        yield "window", session, window.start, [id_of[seq] for seq in window.seqs]
    for low, high in sorted(edges.learned.pairs):
        yield "learned", id_of[low], id_of[high], edges.learned.pairs[low, high]
    for window in edges.learned.kept:
        yield "kept", window.start, [id_of[seq] for seq in window.seqs]
