"""Dead letters: what other programs have written and nobody could read, and what is appended anew."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from builders import captured, erased
from commanding import call

from memtape.schemas.codec import encode
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.client import Client

A = "project:a"


def fates(home: Home) -> list[tuple[str, str]]:
    with Client(home.path, scope=A) as client:
        return [(it.reason, it.fate) for it in client.dead_letters().letters]


def test_an_event_in_a_wrong_partition_is_appended_once_where_it_belongs(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    log, there = EmbeddedLog(home.log_path, 4), partition_of(A, 4)
    wrong = (there + 1) % 4
    texts = [
        encode(captured(text, text, scope=A)) for text in ("The ferry leaves at nine.", "It was erased.")
    ]
    log.append_raw(wrong, [texts[0], b"garbage", texts[1], texts[0]])
    log.append([erased(["It was erased."], "erasure", scope=A)])
    call("run", "--once", home=home.path)
    before = ("misplaced at $.scope", "misplaced")
    unread, gone = ("not_json", "unreadable"), ("misplaced at $.scope", "settled")
    assert fates(home) == [before, unread, gone, before]
    assert "Appended 1 event." in call("admin", "deadletters", "--retry", home=home.path).output
    assert fates(home) == [gone, unread, gone, gone]
    told = call("admin", "deadletters", "--retry", home=home.path).output
    assert "Appended" not in told and "4 events on the log could not be read." in told
    with Client(home.path, scope=A) as client:
        assert [it.text for it in client.search("ferry").results] == ["The ferry leaves at nine."]
    log.close()


def test_no_part_of_a_payload_is_shown(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with closing(EmbeddedLog(home.log_path, 1)) as log:
        log.append_raw(0, [b'{"secret": "Harbour-4417"}'])
    call("run", "--once", home=home.path)
    for words in ([], ["--json"], ["--retry"]):
        assert "Harbour" not in call("admin", "deadletters", *words, home=home.path).output
