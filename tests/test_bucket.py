"""A bucket of an S3 server: what is made once, versions, faults, and the copies of views in homes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lance
import pytest
from s3_server import BUCKET, S3Server, serving_s3, wait_for_nothing
from test_claims import Writer
from test_views import history

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.bucket import Bucket, ObjectMissing
from memtape.sinks.home.bucket_claims import digest_of, manifest_of
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import MemoryLog
from memtape.tools.keep.verify import verify

URL = f"s3://{BUCKET}/views/of/a-team"


@pytest.fixture
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    wait_for_nothing(monkeypatch)
    with serving_s3(versions=getattr(request, "param", False)) as made:
        yield made


WITH_AND_WITHOUT_VERSIONS = pytest.mark.parametrize(
    "server", [False, True], ids=["plain", "with versions"], indirect=True
)


def home_of(path: Path) -> Home:
    made = Home(path)
    made.settings_path.write_text(f'views = "{URL}"\n')
    return made


def serve(home: Home, log: MemoryLog) -> Writer:
    """Return the owner of partition 0, which has served all of the log."""
    writer = Writer(home, log)
    while not writer.is_served:
        writer.take_over()
    return writer


@WITH_AND_WITHOUT_VERSIONS
def test_an_object_is_made_once_whoever_tries_and_whatever_answer_is_lost(server: S3Server) -> None:
    bucket = Bucket(URL)
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: bucket.put_new("claims/1", b"%d" % n), range(8)))
    assert sum(won) == 1 and bucket.get("claims/1") == b"%d" % won.index(True)
    faults = iter(["lost", 500, 503, None])
    server.faults = lambda method, path: next(faults, None)
    assert bucket.put_new("claims/2", b"mine")
    assert not bucket.put_new("claims/2", b"another's")
    assert list(bucket.list("claims/")) == ["claims/1", "claims/2"]


@WITH_AND_WITHOUT_VERSIONS
def test_deleting_leaves_no_version_of_an_object(server: S3Server) -> None:
    bucket = Bucket(URL)
    for data in (b"one", b"two"):
        bucket.put("it", data)
    bucket.copy("it", "other")
    bucket.delete([it for it in bucket.versions() if it.name == "it"])
    assert [it.name for it in bucket.versions()] == ["other"]
    assert bucket.get("other") == b"two"
    with pytest.raises(ObjectMissing):
        bucket.get("it")


def test_a_bucket_that_cannot_be_used_is_told_with_the_next_step(
    server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MemtapeError, match="names no place") as refusal:
        Bucket("s3://Team")
    assert "s3://BUCKET/PREFIX" in refusal.value.hint
    with pytest.raises(MemtapeError, match="cannot be used") as refusal:
        Bucket("s3://nobodys-bucket/views").list()
    assert "permissions" in refusal.value.hint
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(MemtapeError, match="cannot be reached") as refusal:
        home_of(tmp_path).current()
    assert "AWS_ENDPOINT_URL" in refusal.value.hint


def test_a_home_reads_its_copy_while_the_bucket_is_away(server: S3Server, tmp_path: Path) -> None:
    log = MemoryLog(1)
    log.append(history(20))
    owner, reader = serve(home_of(tmp_path / "owner"), log), home_of(tmp_path / "reader")
    assert verify(reader, log).ok
    server.faults = lambda method, path: 503
    assert verify(reader, log).ok
    server.faults = lambda method, path: None
    log.append(history(20, seed=1))
    owner.write()
    owner.claim.publish()
    while owner.views is not None and owner._offset < log.ends()[0]:
        owner.write()
    assert verify(reader, log).ok


def test_a_copy_fetches_only_what_is_new_and_an_owner_stores_only_what_is_new(
    server: S3Server, tmp_path: Path
) -> None:
    log = MemoryLog(1)
    log.append(history(60))
    serve(home_of(tmp_path / "one"), log)
    reader = home_of(tmp_path / "reader")
    assert verify(reader, log).ok
    server.requests.clear()
    second = serve(home_of(tmp_path / "two"), log)
    served = f"/{second.claim.name}/"
    assert "PUT" not in {method for method, path in server.requests if served in path}
    copied = [path for method, path in server.requests if method == "COPY"]
    fetched = [path for method, path in server.requests if method == "GET" and "a-team/p00-" in path]
    assert len(copied) == len(fetched) > 10
    server.requests.clear()
    assert verify(reader, log).ok
    assert [path for method, path in server.requests if "a-team/p00-" in path] == []
    assert (reader.path / "shared" / second.claim.name).is_dir()


@WITH_AND_WITHOUT_VERSIONS
def test_a_manifest_names_the_bytes_that_it_was_made_for(server: S3Server, tmp_path: Path) -> None:
    log = MemoryLog(1)
    log.append(history(20))
    owner = serve(home_of(tmp_path), log)
    bucket = Bucket(URL)
    before = manifest_of(bucket, owner.claim.name).files
    log.append(history(20, seed=1))
    owner.write()
    after = manifest_of(bucket, owner.claim.name).files
    changed = [path for path in before.keys() & after.keys() if before[path] != after[path]]
    assert "lance/p00/watermark.json" in changed
    for file in (*before.values(), *after.values()):
        assert digest_of(bucket.get(file.object)) == file.digest


def test_damage_that_a_reader_notes_reaches_the_owner_on_another_machine(
    server: S3Server, tmp_path: Path
) -> None:
    log = MemoryLog(1)
    log.append(history(30))
    owner, reader = serve(home_of(tmp_path / "owner"), log), home_of(tmp_path / "reader")
    assert not owner.claim.is_damaged()
    (reader.current().shard(0) / "watermark.json").write_bytes(b"{")
    reader.current().note_damage(0)
    assert owner.claim.is_damaged()
    third = serve(home_of(tmp_path / "third"), log)
    assert not third.claim.is_damaged()
    assert verify(reader, log).ok


def test_lancedb_opens_the_tables_in_the_bucket(server: S3Server, tmp_path: Path) -> None:
    log = MemoryLog(1)
    log.append(history(40))
    owner = serve(home_of(tmp_path), log)
    options = {"allow_http": "true", "aws_endpoint": server.environment["AWS_ENDPOINT_URL"]}
    for table in sorted(owner.claim.build.shard(0).glob("*.lance")):
        there = lance.dataset(f"{URL}/{owner.claim.name}/lance/p00/{table.name}", storage_options=options)
        assert there.count_rows() == lance.dataset(str(table)).count_rows() > 0
