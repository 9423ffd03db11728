"""The endpoint that gives every product the same vectors.

    python -m bench.peers.embeddings PORT_FILE VECTORS

The model `minilm` is all-MiniLM-L6-v2 as Memtape runs it. Its vectors are kept in the file VECTORS, so that
each text is embedded once for all products. The model `hashed` adds up a drawn vector for each word: it costs
next to nothing. Answers are in the form of OpenAI, on loopback.
"""

from __future__ import annotations

import base64
import re
import sqlite3
import sys
import threading
import zlib
from collections.abc import Sequence
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from memtape.flows.embed.minilm import DIMENSIONS, MiniLm
from memtape.flows.embed.target import packaged_minilm

WORDS = 1 << 14
VECTORS = sys.argv[2]
_FIND, _KEEP = "select vector from vectors where text = ?", "insert or ignore into vectors values (?, ?)"
_WORD = re.compile(r"\w+")
_one_at_a_time = threading.Lock()
_known: dict[str, NDArray[np.float32]] = {}


@cache
def _drawn() -> NDArray[np.float32]:
    return np.random.default_rng(7).standard_normal((WORDS, DIMENSIONS), np.float32)


@cache
def _minilm() -> MiniLm:
    folder = packaged_minilm()
    if folder is None:
        raise SystemExit("MiniLM is not installed. Run `make venv`.")
    return MiniLm(folder)


def hashed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the unit sums of the drawn vectors of the words."""
    sums = np.empty((len(texts), DIMENSIONS), np.float32)
    for row, text in enumerate(texts):
        words = _WORD.findall(text.lower()) or [""]
        sums[row] = _drawn()[[zlib.crc32(word.encode()) % WORDS for word in words]].sum(axis=0)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def minilm(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of MiniLM, each made once."""
    with _one_at_a_time, sqlite3.connect(VECTORS, timeout=60) as kept:
        kept.execute("create table if not exists vectors (text text primary key, vector blob)")
        for text in dict.fromkeys(texts):
            for (vector,) in () if text in _known else kept.execute(_FIND, (text,)):
                _known[text] = np.frombuffer(vector, np.float32)
        if new := [text for text in dict.fromkeys(texts) if text not in _known]:
            _known.update(zip(new, _minilm().encode(new), strict=True))
            kept.executemany(_KEEP, [(text, _known[text].tobytes()) for text in new])
        return np.stack([_known[text] for text in texts])


class Handler(BaseHTTPRequestHandler):
    """Answers `POST /v1/embeddings`."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer with a vector for each text, as numbers or in base64."""
        asked = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        vectors = (hashed if asked["model"].endswith("hashed") else minilm)(texts)
        is_bytes = asked.get("encoding_format") == "base64"
        rows = [base64.b64encode(row.tobytes()).decode() for row in vectors] if is_bytes else list(vectors)
        data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        told = {"object": "list", "data": data, "model": asked["model"], "usage": usage}
        body = orjson.dumps(told, option=orjson.OPT_SERIALIZE_NUMPY)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class VectorServer(ThreadingHTTPServer):
    """Goes on where a killed process leaves its connection."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Print errors but for lost connections."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def main(port_file: Path) -> None:
    """Serve, and write the port to a file."""
    server = VectorServer(("127.0.0.1", 0), Handler)
    port_file.write_text(str(server.server_port))
    server.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
