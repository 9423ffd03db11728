"""The vector of a question from the server of a home, which has its model loaded: 13 ms instead of 200.

One line of JSON asks over the socket of a server and one answers: the components of the vector, or null.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from memtape import __version__
from memtape.tools.keep.wire import connected, read_line

WAIT_S = 0.3
"""So long a server has: a process that loads the model itself takes as long."""


def served_vector(home: Path, embedder: str, text: str) -> NDArray[np.int16] | None:
    """Return the quantised vector of a question under the embedder of a key, None where no server answers in time."""
    asked = orjson.dumps({"vector": text, "embedder": embedder, "version": __version__}) + b"\n"
    deadline = time.monotonic() + WAIT_S
    talking = None
    try:
        talking = connected(str(home), asked, deadline)
        numbers = orjson.loads(read_line(talking, deadline))
        return None if numbers is None else np.array(numbers, np.int16)
    except (OSError, ValueError, TypeError, OverflowError):
        return None
    finally:
        if talking is not None:
            talking.close()


def vector_line(vector: NDArray[np.int16] | None) -> bytes:
    """Return the answer line of a server."""
    return orjson.dumps(None if vector is None else vector.tolist()) + b"\n"
