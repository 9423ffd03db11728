"""The files of the search index: how a segment lies on disk, and the manifest that names a scope's segments.

A segment's file is laid out as safetensors describes it: the length of a JSON header in eight bytes, the
header with the type, shape and place of each array, then the arrays. It is written whole, never changed, and
mapped by readers.
"""

from __future__ import annotations

import mmap
import os
import re
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

import msgspec
import numpy as np
from numpy.typing import NDArray

from memtape.sinks.home.files import private, unfinished_beside
from memtape.state.index.segments import Segment, array_types
from memtape.state.index.vectors import VectorSegment

SegmentT = TypeVar("SegmentT", Segment, VectorSegment)

FORMAT = 1  # The format of segments and manifests; files of another format are rebuilt.
MANIFEST = "manifest.json"
SEGMENT_NAME = re.compile(r"\d+-\d+")
VECTORS_NAME = re.compile(r"\d+-vectors-\d+-\d+")
MAPPED_BYTES, MOST_MAPPED = 1 << 20, 64
"""A mapping keeps its file open, and a process may have 256 open files. Smaller or further files are read
instead.
"""

_NAMES = {"|u1": "U8", "<u2": "U16", "<u4": "U32", "<u8": "U64", "<i2": "I16", "<i8": "I64"}
_PAD = 8
_TYPES_OF = {kind: array_types(kind) for kind in (Segment, VectorSegment)}


class ManifestSegment(msgspec.Struct, frozen=True):
    """A segment in a manifest: the name of its file, its rows, and the size of the file in bytes."""

    name: str
    rows: int
    bytes: int
    embedder: str = ""  # The key of the embedder, in a segment of vectors.


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a scope's index.

    `number` counts the manifests of the scope. `usual` is the language of texts that may be in several.
    `living` names the file with a bit for each row of all segments, those of `vectors` last: 0 for a replaced
    or removed row. The file does not exist if all rows live. `living_crc` is its CRC-32. `made` names the
    index since its last rebuild.
    """

    format: int
    scope: str
    number: int
    usual: int
    segments: list[ManifestSegment]
    made: str
    living: str = ""
    living_crc: int = 0
    vectors: list[ManifestSegment] = []


# msgspec looks at a type when it first meets it, and two threads that do so at once crash the process.
_HEADER, _MANIFEST = msgspec.json.Decoder(dict[str, dict[str, Any]]), msgspec.json.Decoder(Manifest)
_MAPPED: WeakSet[mmap.mmap] = WeakSet()


def write_segment(path: Path, segment: Segment | VectorSegment) -> int:
    """Write a segment whole or not at all, and return its size in bytes."""
    types = _TYPES_OF[type(segment)]
    # The widest first, so that each array begins where its type may.
    arrays = sorted(segment._asdict().items(), key=lambda item: -np.dtype(types[item[0]]).itemsize)
    header: dict[str, dict[str, Any]] = {}
    end = 0
    for name, array in arrays:
        place = end, end + array.nbytes
        header[name] = {"dtype": _NAMES[types[name]], "shape": array.shape, "data_offsets": place}
        end += array.nbytes
    said = msgspec.json.encode(header)
    said += b" " * (-len(said) % _PAD)
    unfinished = unfinished_beside(path)
    with open(unfinished, "wb", opener=private) as file:
        file.write(len(said).to_bytes(8, "little") + said)
        for _, array in arrays:
            file.write(np.ascontiguousarray(array).data)
    unfinished.replace(path)
    return 8 + len(said) + end


def read_segment(path: Path, kind: type[SegmentT], size: int | None = None) -> SegmentT:
    """Map a segment of a kind. Raises `ValueError` for a file of another format, or not of `size` bytes."""
    mapped: mmap.mmap | bytes
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size >= MAPPED_BYTES and len(_MAPPED) < MOST_MAPPED:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            _MAPPED.add(mapped)
        else:
            mapped = file.read()
    if size is not None and len(mapped) != size:
        raise ValueError(f"{path.name} has {len(mapped)} bytes and not {size}.")
    begin = 8 + int.from_bytes(mapped[:8], "little")
    header = _HEADER.decode(mapped[8:begin])
    arrays: dict[str, NDArray[Any]] = {}
    for name, code in _TYPES_OF[kind].items():
        dtype, (start, end) = np.dtype(code), header[name]["data_offsets"]
        if header[name]["dtype"] != _NAMES[code]:
            raise ValueError(f"{name} is of another type than it should be.")
        found = np.frombuffer(mapped, dtype, (end - start) // dtype.itemsize, begin + start)
        arrays[name] = found.reshape(header[name]["shape"])
    return kind(**arrays)


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a scope's index, None without one. Raises the errors of `open` and `msgspec`."""
    try:
        data = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    return _MANIFEST.decode(data)
