"""An S3 server on loopback, in a thread of the tests, with the faults of a network and of a busy server.

`faults` says what becomes of each request: `None` serves it, a number of seconds serves it late, a status
refuses it, and "lost" serves it and then refuses, as if the answer had been lost.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from memtape.sinks.home import bucket_views

Fault = float | int | str | None
BUCKET = "team"
_STATUS = {500: "500 Internal Server Error", 503: "503 Slow Down"}


class S3Server:
    """A running server; `requests` has the method and path of each request, `COPY` for a copy."""

    def __init__(self) -> None:
        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Silent(WSGIRequestHandler):
            def log(self, *_: object) -> None:
                """Say nothing: `requests` has it."""

        self._app: Any = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True, request_handler=Silent)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._serving = threading.Lock()
        self.requests: list[tuple[str, str]] = []
        self.faults: Callable[[str, str], Fault] = lambda method, path: None

    @property
    def environment(self) -> dict[str, str]:
        """What a client of this server has in its environment."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._server.server_port}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def _serve(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        is_copy = "HTTP_X_AMZ_COPY_SOURCE" in environ
        method, path = "COPY" if is_copy else environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.requests.append((method, path))
        fault = self.faults(method, path)
        if isinstance(fault, float):
            time.sleep(fault)
        elif isinstance(fault, int):
            start(_STATUS[fault], [("Content-Length", "0")])
            return [b""]
        with self._serving:  # One request at a time: what is conditional is decided in one step.
            if fault == "lost":
                b"".join(self._app(environ, lambda *given: None))
                start(_STATUS[500], [("Content-Length", "0")])
                return [b""]
            return list(self._app(environ, start))

    def __enter__(self) -> S3Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def wait_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no copy of views be taken for fresh, and no refused request wait before it is sent again."""
    monkeypatch.setattr(bucket_views, "REFRESH_S", 0.0)
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.0)


@contextmanager
def serving_s3(*, versions: bool = False) -> Iterator[S3Server]:
    """Serve a bucket in a block, with the environment of a client; `versions`: the bucket keeps old ones."""
    with S3Server() as server:
        before = {name: os.environ.get(name) for name in server.environment}
        os.environ.update(server.environment)
        try:
            import boto3
            from moto.backends import get_backend

            get_backend("s3").reset()  # The state of moto is that of the process.
            client = boto3.client("s3")
            client.create_bucket(Bucket=BUCKET)
            if versions:
                client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
            yield server
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
