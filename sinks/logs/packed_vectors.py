"""The vector of an `embedded` event in the file of a log: beside the payload, in as few bits as possible.

A payload has a vector in base64, a third longer than its bytes, of which most components need 10 bits of 16.
The same vector has the same packed form everywhere, so that the proof of an erasure finds it.
"""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from binascii import Error as NotBase64

from memtape.schemas.events import MAX_DIMENSIONS

_FIELD = b'"vector":"'  # No text of an event has it: JSON escapes the quotes of a text.
_HEAD = struct.Struct("<BH")
"""The bits of a component, and the number of components; then these, most significant bit first."""
_BITS = 16  # Of a component of a recorded vector.


def parted(payload: bytes) -> tuple[bytes, bytes | None]:
    """Return a payload without its vector, and the packed vector; None where the payload stays whole."""
    before, field, rest = payload.partition(_FIELD)
    told, quote, after = rest.partition(b'"')
    try:
        vector = b64decode(told, validate=True) if field and quote else b""
    except NotBase64:
        vector = b""
    dimensions, is_odd = divmod(len(vector), 2)
    if is_odd or not 0 < dimensions <= MAX_DIMENSIONS or b64encode(vector) != told:
        return payload, None
    return before + field + quote + after, packed(vector)


def joined(payload: bytes, vector: bytes) -> bytes:
    """Return the payload of which `parted` made these. Raises `ValueError` or `struct.error` for others."""
    before, field, after = payload.partition(_FIELD)
    return before + field + b64encode(unpacked(vector)) + after


def packed(vector: bytes) -> bytes:
    """Return a recorded vector in as few bits a component as its greatest one needs."""
    import numpy as np

    values = np.frombuffer(vector, "<i2").astype(">i2")
    most = max(int(values.max()), -1 - int(values.min()), 0)
    width = most.bit_length() + 1
    bits = np.unpackbits(values.view(np.uint8).reshape(-1, 2), axis=1)[:, _BITS - width :]
    return _HEAD.pack(width, len(values)) + np.packbits(bits).tobytes()


def unpacked(data: bytes) -> bytes:
    """Return the recorded vector of a packed one. Raises `ValueError` or `struct.error` for other bytes."""
    import numpy as np

    width, count = _HEAD.unpack_from(data)
    stored = np.frombuffer(data, np.uint8, offset=_HEAD.size)
    bits = np.unpackbits(stored, count=count * width).reshape(count, width)
    signs = np.repeat(bits[:, :1], _BITS - width, axis=1)
    values = np.packbits(np.concatenate([signs, bits], axis=1), axis=1).view(">i2")
    return values.astype("<i2").tobytes()
