"""Serving of a home's metrics on loopback during `memtape run`. `metrics` makes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home

LOOPBACK = "127.0.0.1"
PATH = "/metrics"
OWN_HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""The names by which this machine may be asked: a page of elsewhere that has a name point here has another."""


@contextmanager
def served_metrics(home: Home, log: Log, port: int) -> Iterator[int]:
    """Serve the metrics of a home while the context lasts, and give the port: any that is free for 0.

    Raises `MemtapeError` where the port is taken.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            from memtape.tools.ask.metrics import exposition

            if self.headers.get("Host", "").rpartition(":")[0] not in OWN_HOSTS:
                return self._answer(403, b"This is served to this machine alone.\n", "text/plain")
            if self.path.partition("?")[0] != PATH:
                return self._answer(404, f"Only {PATH} is here.\n".encode(), "text/plain")
            try:
                body, kind = exposition(home, log)
            except MemtapeError as error:
                return self._answer(503, f"{type(error).__name__}\n".encode(), "text/plain")
            self._answer(200, body, kind)

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a scrape each 15 seconds is no event."""

    try:
        server = ThreadingHTTPServer((LOOPBACK, port), Handler)
    except OSError as error:
        raise MemtapeError(f"Port {port} cannot be had: {error.strerror}.", "Name another with --metrics.") from None
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
