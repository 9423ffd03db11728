"""Scopes: who shares a memory, the form of a scope's name, and the partition of its events.

A scope is `global`, or `project:` and a name of `[a-z0-9][a-z0-9._-]{0,79}`. The scope of a folder or
repository is derived elsewhere, because that reads the machine: see `tools/capture/project.py`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from memtape.schemas.errors import InvalidScope

GLOBAL = "global"
PROJECT_PREFIX = "project:"
SCOPE_PATTERN = r"^(global|project:[a-z0-9][a-z0-9._-]{0,79})\Z"

_SCOPE = re.compile(SCOPE_PATTERN)
_NOT_A_NAME = re.compile(r"[^a-z0-9]+")
_MASK = 0xFFFFFFFF


def check_scope(scope: str) -> str:
    """Return `scope` unchanged, or raise `InvalidScope` with the form that is wanted."""
    if not _SCOPE.match(scope):
        raise InvalidScope(
            f"{scope[:100]!r} is not a scope.",
            "Use 'global' or 'project:<name>', the name of lower-case letters, digits, '.', '_' and '-'.",
        )
    return scope


def scopes_read(scope: str) -> tuple[str, ...]:
    """Return the scopes read by a reader in `scope`: the scope itself, then `global`."""
    return (scope,) if scope == GLOBAL else (scope, GLOBAL)


def slug(name: str) -> str:
    """Return the part of a scope that is for people: at most 60 of `[a-z0-9-]`, never empty."""
    return _NOT_A_NAME.sub("-", name.lower()).strip("-")[:60].strip("-") or "project"


@lru_cache(maxsize=4096)
def partition_of(scope: str, partitions: int) -> int:
    """Return the partition of a scope: `(murmur2(key) & 0x7fffffff) % n`, as Kafka's own clients do."""
    return (murmur2(scope.encode()) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """Return the unsigned 32-bit MurmurHash2 of `data` under the seed that Kafka's partitioner uses.

    Source: A. Appleby's MurmurHash2, seed 0x9747b28c as in `org.apache.kafka.common.utils.Utils`.
    It stands here, tested against kafka-python, since importing that library costs a capture 0.2 s.
    """
    multiplier = 0x5BD1E995
    length = len(data)
    hashed = (0x9747B28C ^ length) & _MASK
    whole = length & ~3
    for start in range(0, whole, 4):
        word = (int.from_bytes(data[start : start + 4], "little") * multiplier) & _MASK
        word = ((word ^ (word >> 24)) * multiplier) & _MASK
        hashed = ((hashed * multiplier) & _MASK) ^ word
    if length > whole:
        hashed ^= int.from_bytes(data[whole:], "little")
        hashed = (hashed * multiplier) & _MASK
    hashed = ((hashed ^ (hashed >> 13)) * multiplier) & _MASK
    return hashed ^ (hashed >> 15)
