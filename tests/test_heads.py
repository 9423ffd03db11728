"""A head that was saved elsewhere tells each way to tamper with a log, and an erasure is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from builders import captured, erased
from commanding import call, document

from memtape.schemas.codec import blanked, encode
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.keep.heads import check_head, head_of

A = "project:a"
Payloads = list[bytes]


def changed(payloads: Payloads) -> Payloads:
    text = payloads[3].replace(b"text ", b"test ")
    assert text != payloads[3]
    return [*payloads[:3], text, *payloads[4:]]


TAMPERINGS: dict[str, tuple[Callable[[Payloads], Payloads], str, str]] = {
    "the last event cut off": (lambda it: it[:-1], "lost", "9"),
    "an event taken out": (lambda it: [*it[:2], *it[3:]], "moved", "2"),
    "an event changed": (changed, "changed", "3"),
    "two events swapped": (lambda it: [*it[:4], it[5], it[4], *it[6:]], "moved", "4"),
    "an event put in": (lambda it: [*it[:2], encode(captured("new", scope=A)), *it[2:]], "changed", "2"),
    "an event blanked without an erasure": (lambda it: [*it[:3], blanked(it[3]), *it[4:]], "changed", "3"),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_each_tampering_is_told_with_its_place(tmp_path: Path, what: str) -> None:
    tamper, told, offset = TAMPERINGS[what]
    with closing(EmbeddedLog(tmp_path / "log.db", 1)) as log:
        log.append([captured(f"text {n}", id=str(n), scope=A) for n in range(8)])
        head = head_of(log)
        payloads = [slot.payload for slot in log.read(0, 0, 100)]
    with closing(EmbeddedLog(tmp_path / "other.db", 1, copy_of=log.log_id)) as other:
        other.append_raw(0, payloads)
        same = check_head(other, head)
        assert (same.ok, same.events, same.appended, same.differences) == (True, 10, 0, ())
    with closing(EmbeddedLog(tmp_path / "third.db", 1, copy_of=log.log_id)) as third:
        third.append_raw(0, tamper(payloads))
        verdict = check_head(third, head)
    assert not verdict.ok and verdict.differences[0] == (f"0/{offset}", told)


def test_erasures_and_later_events_are_no_tampering(tmp_path: Path) -> None:
    with closing(EmbeddedLog(tmp_path / "log.db", 1)) as log:
        events = [captured(f"text {n}", id=str(n), scope=A) for n in range(5)]
        places = log.append(events)
        head = head_of(log)
        log.append([erased(["2"], "gone", scope=A), captured("later", scope=A)])
        log.blank({0: [places[2].offset]})
        verdict = check_head(log, head)
    assert (verdict.ok, verdict.erased, verdict.appended) == (True, 1, 2)


def test_the_command_exits_with_1_where_the_log_is_another(home: Path, tmp_path: Path) -> None:
    call("capture", "The staging database listens on port 5433.", home=home)
    head = tmp_path / "head.json"
    assert document("verify", "--save-head", head, home=home)["events"] > 1
    assert "5433" not in head.read_text() and head.stat().st_mode & 0o077 == 0
    assert "is there already" in call("verify", "--save-head", head, home=home, code=1).stderr
    assert document("verify", "--head", head, home=home)["ok"]
    kept = json.loads(head.read_text())
    slots = [slot[:-12] + "AAAAAAAAAAA=" if slot else slot for slot in kept["slots"]]
    head.write_text(json.dumps(kept | {"slots": slots}))
    told = call("verify", "--head", head, home=home, code=1).stdout
    assert "The log is not what it was" in told
    head.write_text(json.dumps(kept | {"log_id": kept["log_id"][:-1] + "x"}))
    assert "of another log" in call("verify", "--head", head, home=home, code=1).stderr
    head.write_text("{")
    assert "is no head" in call("verify", "--head", head, home=home, code=1).stderr
