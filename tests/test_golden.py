"""What must never change once it is on somebody's log: old bytes, derived ids, partitions, published schemas.

`tests/golden/v1/<type>.json` holds payloads as they stand on logs, one on a line. Nothing there is edited.
A new version of a type gets a file in the folder of its version, and the old lines go on being read.
"""

from __future__ import annotations

import warnings
from hashlib import blake2b
from pathlib import Path

import json_schemas
import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memtape.schemas.codec import canonical, content_digest, decode, encode
from memtape.schemas.events import EVENT_TYPES, Configured, Event, Ticked, make_tick, tick_id, version_of
from memtape.schemas.ids import derived_id
from memtape.schemas.scopes import partition_of

with warnings.catch_warnings():
    # kafka-python reads its files in a way that Python 3.11 frowns on.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.partitioner.default import murmur2 as kafka_murmur2

GOLDEN = Path(__file__).parent / "golden"
FILES = [(type, version) for type in EVENT_TYPES for version in range(1, version_of(type) + 1)]
FIRST_TURN = "478f4553-d886-897a-b131-a0ec026bc1ac"
FIRST_PART = "a8790228-8729-8feb-ab11-c899c01bc9dd"
SECOND_TURN = "d4ee712b-a9d8-818d-be8e-f9dc39befd7d"


def golden(type: str, version: int = 1) -> list[bytes]:
    # Only bytes are split here: a text may hold U+2028, at which `str.splitlines` would cut it in two.
    return (GOLDEN / f"v{version}" / f"{type}.json").read_bytes().splitlines()


DIGESTS = "3ed9a0e963767452"
"""Digest of the `content_digest` of each golden event: it tells a repetition from another event.

A `configured` is left out, since its content grows when a setting is introduced; nothing compares it. A new
version of a type changes the digests of its old events, which are lifted to it, and its subjects' rules.
"""


@pytest.mark.parametrize("type", EVENT_TYPES)
def test_bytes_of_the_newest_version_are_written_again_as_they_were(type: str) -> None:
    for payload in golden(type, version_of(type)):
        event, old = decode(payload), orjson.loads(payload)
        again = orjson.loads(encode(event))
        if isinstance(event.body, Configured):
            # A setting introduced later stands in what is written, with the value frozen at its introduction.
            said = again["body"]["settings"]
            again["body"]["settings"] = {key: said[key] for key in old["body"]["settings"]}
        assert canonical(again) == canonical(old)


def test_digests_of_contents_derived_ids_and_published_schemas_stay() -> None:
    types = sorted(EVENT_TYPES.keys() - {"configured"})
    events = [decode(payload) for type in types for payload in golden(type)]
    digests = b"".join(content_digest(event).to_bytes(8, "big") for event in events)
    assert blake2b(digests, digest_size=8).hexdigest() == DIGESTS
    assert derived_id("captured", "project:atlas-7f3a", "claude:7c1e4f52", "msg_01") == FIRST_TURN
    assert derived_id("captured", "project:atlas-7f3a", "claude:7c1e4f52", "msg_02") == SECOND_TURN
    assert derived_id("captured", "project:atlas-7f3a", "file:docs/Runbook.md", "1/3") == FIRST_PART
    folder = json_schemas.FOLDER
    published = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.json")}
    assert {name: published.get(name) for name in json_schemas.files()} == json_schemas.files()
    events = [name for name in published if not name.startswith("answers/")]
    assert sorted(events) == sorted(f"{type}.v{version}.json" for type, version in FILES)


@pytest.mark.parametrize("tick", list(map(decode, golden("ticked"))))
def test_ids_of_ticks_stay(tick: Event) -> None:
    assert isinstance(tick.body, Ticked)
    assert tick_id(tick.body) == tick.id
    assert make_tick(tick.body.partition, tick.sent, tick.body.accepted) == tick


@given(st.text(st.characters(codec="utf-8"), max_size=100), st.integers(1, 1_024))
@example("project:memtape", 16)
def test_partitions_are_those_of_kafkas_clients(key: str, partitions: int) -> None:
    """So that a producer in another language, with the scope as its key, writes to the same partition."""
    assert partition_of(key, partitions) == (kafka_murmur2(key.encode()) & 0x7FFFFFFF) % partitions
