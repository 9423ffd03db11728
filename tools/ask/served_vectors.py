"""The vector of a question from the server of a home, which has its model loaded: 13 ms instead of 200.

One line of JSON asks over the socket of a server and one answers: the components of the vector, or null.
"""

from __future__ import annotations

import socket
import time
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from memtape import __version__

FOLDER = "serving"
"""The folder of a home with the sockets of its servers, as `agents.handing` has it."""
WAIT_S = 0.3
"""So long a server has: a process that loads the model itself takes as long."""
MAX_ANSWER_BYTES = 1024 * 1024


def served_vector(home: Path, embedder: str, text: str) -> NDArray[np.int16] | None:
    """Return the quantised vector of a question under the embedder of a key, None where no server answers in time."""
    asked = orjson.dumps({"vector": text, "embedder": embedder, "version": __version__}) + b"\n"
    deadline = time.monotonic() + WAIT_S
    for path in (home / FOLDER).glob("*.sock"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as talking:
            try:
                talking.settimeout(max(deadline - time.monotonic(), 0.001))
                talking.connect(str(path))
                talking.sendall(asked)
                if (numbers := orjson.loads(_line(talking))) is not None:
                    return np.array(numbers, np.int16)
            except (OSError, ValueError, TypeError, OverflowError):
                continue
    return None


def vector_line(vector: NDArray[np.int16] | None) -> bytes:
    """Return the answer line of a server."""
    return orjson.dumps(None if vector is None else vector.tolist()) + b"\n"


def _line(talking: socket.socket) -> bytes:
    data = bytearray()
    while not data.endswith(b"\n"):
        part = talking.recv(65_536)
        if not part or len(data) > MAX_ANSWER_BYTES:
            raise ValueError("cut short")
        data += part
    return bytes(data)
