"""A bucket of an S3 server: objects by name below a prefix, some of them made only once.

Credentials, region and endpoint are those of boto3: `AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, `~/.aws/config`
and the like. Nothing here knows what the objects are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from memtape.schemas.errors import MemtapeError

URL = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/(?P<prefix>[\w./-]+)", re.ASCII)
CONNECT_S, READ_S, ATTEMPTS = 5, 20, 6
"""The waits (s) for a connection and for an answer, and how often a request is sent in all."""
CONNECTIONS = 8
MOST_DELETED = 1_000
"""The most objects that one request deletes."""
NO_VERSION = "null"
"""The version of an object in a bucket without versions."""
_TAKEN = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")
_MISSING = ("NoSuchKey", "NoSuchVersion", "404")


class ObjectMissing(MemtapeError):
    """The bucket has no object of this name any more."""


class ObjectVersion(NamedTuple):
    """A stored version of an object, or a marker of a deletion; a bucket without versions has one of each."""

    name: str
    version: str
    is_marker: bool = False


class Bucket:
    """The objects of a bucket below a prefix. Safe from several threads.

    Raises `MemtapeError` where the server cannot be reached or refuses.
    """

    def __init__(self, url: str) -> None:
        found = URL.fullmatch(url.rstrip("/"))
        if found is None:
            raise MemtapeError(f"{url} names no place in a bucket.", "Write s3://BUCKET/PREFIX.")
        self.url, self._bucket, self._prefix = url, found["bucket"], found["prefix"] + "/"
        self._client = _client_of()

    def put(self, name: str, data: bytes) -> str:
        """Store an object, and return its version."""
        with self._explained():
            done = self._client.put_object(Bucket=self._bucket, Key=self._prefix + name, Body=data)
        return str(done.get("VersionId", NO_VERSION))

    def put_new(self, name: str, data: bytes) -> bool:
        """Store an object unless there is one of this name; return whether the stored one is `data`.

        A request whose answer was lost is sent again, and refused since the object is there: it is read.
        """
        from botocore.exceptions import ClientError

        with self._explained():
            try:
                key = self._prefix + name
                self._client.put_object(Bucket=self._bucket, Key=key, Body=data, IfNoneMatch="*")
            except ClientError as error:
                if error.response["Error"].get("Code") not in _TAKEN:
                    raise
                return self.get(name) == data
        return True

    def get(self, name: str, version: str | None = None) -> bytes:
        """Return an object; raise `ObjectMissing`."""
        more = {"VersionId": version} if version else {}
        with self._explained():
            found = self._client.get_object(Bucket=self._bucket, Key=self._prefix + name, **more)
            return bytes(found["Body"].read())

    def copy(self, source: str, target: str) -> str:
        """Copy an object inside the bucket, and return the version; raise `ObjectMissing`."""
        with self._explained():
            place = {"Bucket": self._bucket, "Key": self._prefix + source}
            done = self._client.copy_object(Bucket=self._bucket, Key=self._prefix + target, CopySource=place)
        return str(done.get("VersionId", NO_VERSION))

    def list(self, start: str = "") -> dict[str, str]:
        """Return the tag of each object whose name starts so, by name in order."""
        found = {}
        with self._explained():
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix + start):
                for it in page.get("Contents", ()):
                    found[it["Key"].removeprefix(self._prefix)] = it["ETag"]
        return found

    def versions(self, start: str = "") -> Iterator[ObjectVersion]:
        """Yield every stored version of the objects whose names start so, markers of deletion too."""
        with self._explained():
            pages = self._client.get_paginator("list_object_versions")
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix + start):
                for kind in ("Versions", "DeleteMarkers"):
                    for it in page.get(kind, ()):
                        name = it["Key"].removeprefix(self._prefix)
                        yield ObjectVersion(name, it["VersionId"], kind == "DeleteMarkers")

    def delete(self, gone: Collection[ObjectVersion]) -> None:
        """Delete versions of objects for good."""
        places = [{"Key": self._prefix + it.name, "VersionId": it.version} for it in gone]
        with self._explained():
            for first in range(0, len(places), MOST_DELETED):
                some: Any = places[first : first + MOST_DELETED]
                found = self._client.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": some, "Quiet": True}
                )
                for error in found.get("Errors", ()):
                    raise MemtapeError(f"{self.url} keeps {error.get('Key')}: {error.get('Message')}.")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            told = error.response["Error"]
            if told.get("Code") in _MISSING:
                raise ObjectMissing(f"{self.url} lacks an object.") from None
            raise MemtapeError(
                f"{self.url} cannot be used: {told.get('Message') or told.get('Code')}.",
                "Check the bucket and its permissions: list, get, put and delete, versions too.",
            ) from None
        except BotoCoreError as error:
            raise MemtapeError(
                f"{self.url} cannot be reached: {error}.",
                "Check the network and the credentials (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`).",
            ) from None


def _client_of() -> Any:
    """Return a client of S3 by the settings of boto3."""
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise MemtapeError(
            "Views in a bucket need boto3.", "Install it: pip install 'memtape[s3]'."
        ) from None
    config = Config(
        connect_timeout=CONNECT_S,
        read_timeout=READ_S,
        max_pool_connections=CONNECTIONS,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
    )
    return boto3.client("s3", config=config)
