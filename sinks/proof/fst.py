"""The terms of an `fst` automaton, in which LanceDB's full-text indexes keep their words.

Terms share prefixes and suffixes there, so that none of them stands in the bytes. This file reads versions 2 and 3
of the format as the crate `fst` 0.4 writes it (raw/node.rs); it writes nothing. Outputs are skipped.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_HEADER_BYTES = 16
_INDEXED_ABOVE = 32
"""A node with more transitions than this has an index of 256 bytes beside them."""
_COMMON = b"te/oasripcnw.hlm-du012g=:bf3y5&_4v9678k%?xCDASFIBEjPTzRNM+LOqHGW"
"""The bytes that a node can name by a number of six bits, counted from 1."""


class _Node(NamedTuple):
    """One state: whether a term ends here, and (byte, address of the next node) of each way on."""

    final: bool
    ways: tuple[tuple[int, int], ...]


def terms(data: bytes) -> Iterator[bytes]:
    """Yield the terms of an automaton in their order; raises `ValueError` for bytes that are none."""
    try:
        version = int.from_bytes(data[:8], "little")
        if version not in (2, 3):
            raise ValueError(f"version {version} of the format is unknown")
        footer = len(data) - 16 - (4 if version == 3 else 0)
        count, root = struct.unpack_from("<QQ", data, footer)
        yield from _walk(data[:footer], root, count)
    except (IndexError, struct.error) as error:
        raise ValueError("the automaton is damaged") from error


def _walk(data: bytes, root: int, count: int) -> Iterator[bytes]:
    """Yield what lies on every way from the root. Addresses only fall, so that it ends on damaged bytes too."""
    found = 0
    ahead = [(root, b"")]
    while ahead:
        address, term = ahead.pop()
        node = _node(data, address)
        if node.final:
            found += 1
            yield term
        if found > count or len(ahead) > len(data):
            raise ValueError("the automaton is damaged")
        ahead += [(target, term + bytes([byte])) for byte, target in reversed(node.ways)]
    if found != count:
        raise ValueError("the automaton is damaged")


def _node(data: bytes, address: int) -> _Node:
    """Return the node whose last byte is at an address; it lies before that, in reverse."""
    if address == 0:
        return _Node(True, ())
    if not _HEADER_BYTES <= address < len(data):
        raise ValueError("the automaton is damaged")
    state = data[address]
    if state < 0b10_000000:
        return _many(data, address, state)
    at = address
    common = state & 0b111111
    if not common:
        at -= 1
    byte = _COMMON[common - 1] if common else data[at]
    if state >= 0b11_000000:  # The next node is the one that was written just before.
        return _Node(False, ((byte, at - 1),))
    sizes = data[at - 1]
    end = at - 1 - (sizes >> 4) - (sizes & 15)
    return _Node(False, ((byte, _target(data, at - 1 - (sizes >> 4), sizes >> 4, end)),))


def _many(data: bytes, address: int, state: int) -> _Node:
    """Return a node with any number of transitions, each kind of field in an array of its own."""
    at, count = address, state & 0b111111
    if not count:
        at -= 1
        count = 256 if data[at] == 1 else data[at]
    at -= 1
    step, out = data[at] >> 4, data[at] & 15
    final = bool(state & 0b1_000000)
    at -= 256 if count > _INDEXED_ABOVE else 0
    end = at - count - count * step - count * out - (out if final else 0)
    ways = ((data[at - 1 - i], _target(data, at - count - (i + 1) * step, step, end)) for i in range(count))
    return _Node(final, tuple(ways))


def _target(data: bytes, at: int, size: int, end: int) -> int:
    """Return the address that a distance back from the end of a node names; 0 is the empty final node."""
    distance = int.from_bytes(data[at : at + size], "little")
    if not 0 <= distance <= end:
        raise ValueError("the automaton is damaged")
    return end - distance if distance else 0
