"""A home that is made from an export has the same memories, wherever the logs of both stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commanding import call, document
from hypothesis import given
from hypothesis import strategies as st
from kafka_broker import Broker
from msgspec.structs import asdict

from memtape.schemas.events import OWN_TAGS
from memtape.schemas.rows import MemoryRow, TurnRow
from memtape.schemas.scopes import partition_of
from memtape.schemas.visible import visible
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.logs.kafka import KafkaLog
from memtape.state.views.markdown import escape, quote, unescape
from memtape.tools.client import Client

A, B = "project:a", "project:b"
OF_THE_LOG = {"seq", "offset_of", "key"}
"""Where something stands on a log is another's matter."""


def talk(home: Path) -> None:
    """Say, correct, forget, pin, replace and erase in two projects."""
    with Client(home, scope=A, origin="user", actor="Ada", session="s") as client:
        for text in ("Always run ruff before you push.", "We decided to keep Postgres for the ledger."):
            client.capture(text, kind="turn")
        old = client.capture("The staging database listens on port 5432.", tags=("infra",)).id
        client.update(old, "The staging database listens on port 5433.")
        client.capture("the staging database listens on port 5433")
        gone, hidden, kept = (
            client.capture(text).id
            for text in ("The cellar code is violetmarmalade.", "Lunch is at noon.", "Mira owns the harbour.")
        )
        client.capture("# The crane\n\n" + "The crane lifts crates. " * 200, kind="document")
        client.forget(hidden)
        client.pin(kept)
        client.use([kept])
        client.project()
        call("erase", gone, home=home, scope=A)
    with Client(home, scope=B, origin="agent", actor="codex") as client:
        client.capture("The port of the gate is 7001.")
        client.project()


def memories(client: Client, scope: str) -> list[dict[str, Any]]:
    """Return the rows of memories and turns of a scope, without their places on the log."""
    client.project()
    shard = client.reader.shard(partition_of(scope, client.log.partitions))
    found = [asdict(row) for kind in (MemoryRow, TurnRow) for row in shard.rows(kind, scope)]
    for row in found:
        for part in ("members", "echoes"):
            row[part] = [(it.id, it.how, it.similarity) for it in row.get(part, ())]
    return sorted(
        ({k: v for k, v in row.items() if k not in OF_THE_LOG} for row in found), key=lambda r: r["id"]
    )


@pytest.fixture
def said(tmp_path: Path) -> Path:
    talk(tmp_path / "home")
    return tmp_path / "home"


@pytest.mark.parametrize("place", ["embedded", "kafka"])
def test_a_home_made_from_an_export_has_the_same_memories(
    said: Path, tmp_path: Path, place: str, request: pytest.FixtureRequest
) -> None:
    lines = tmp_path / "memory.jsonl"
    assert document("export", lines, "--all", home=said)["events"] > 10
    assert "violetmarmalade" not in lines.read_text() and lines.stat().st_mode & 0o077 == 0
    other = tmp_path / "other"
    if place == "kafka":
        broker: Broker = request.getfixturevalue("kafka")
        log: Any = KafkaLog(broker.url(), 3)
    else:
        other.mkdir()
        log = EmbeddedLog(other / "log.db", 5)
    with Client(said, scope=A) as before, Client(other, scope=A, log=log) as after:
        from memtape.tools.importing.finding import named_files
        from memtape.tools.importing.taking import Importer

        summary = Importer(after).take(named_files(lines))
        assert summary.taken and not summary.problem_count
        for scope in (A, B):
            assert memories(after, scope) == memories(before, scope) != []
        again = Importer(after).take(named_files(lines))
        assert (again.taken, again.unchanged) == (0, 1)
        assert after.hidden()[0].text == "Lunch is at noon." and after.verify().ok
    if place == "embedded":
        back = call("export", "--all", home=other).stdout.splitlines()
        assert sorted(back) == sorted(lines.read_text().splitlines())


@pytest.mark.parametrize("name", ["memory.jsonl", "memory.md"])
def test_an_export_says_what_the_project_is_given_of_global(said: Path, tmp_path: Path, name: str) -> None:
    assert "global" not in call("export", tmp_path / f"1-{name}", home=said, scope=A).output
    with Client(said, scope="global", origin="operator") as client:
        client.capture("In all projects, use tabs.")
    told = call("export", tmp_path / name, home=said, scope=A).stdout
    assert "Not in it is global" in told and "use tabs" not in (tmp_path / name).read_text()
    assert "Not in it is global" in call("export", home=said, scope=A).stderr
    everything = tmp_path / f"all-{name}.jsonl"
    assert document("export", everything, "--all", home=said)["left_global"] is False
    other = tmp_path / "other"
    call("import", everything, home=other)
    assert "use tabs" in call("context", home=other, scope=A).stdout


def test_markdown_has_what_is_remembered_and_nothing_is_written_over(said: Path, tmp_path: Path) -> None:
    page = tmp_path / "memory.md"
    assert document("export", page, home=said, scope=A)["pages"] == 1
    told = page.read_text()
    assert "> Mira owns the harbour." in told and "Lunch" not in told and "violetmarmalade" not in told
    assert "port of the gate" not in told
    assert "is there already" in call("export", page, home=said, scope=A, code=1).stderr
    assert page.read_text() == told
    assert "goes with JSON lines" in call("export", tmp_path / "x.md", "--all", home=said, code=2).stderr


def test_a_home_made_from_markdown_has_the_texts_that_the_pages_show(said: Path, tmp_path: Path) -> None:
    odd = "a line\n## heading\n- [x] item ``code``\n    www.x.y &#32; \\\\*\n> quote, `^01`\n\n1. one: two"
    with Client(said, scope=A, origin="user", actor="Ada *L*") as client:
        client.capture(odd, kind="insight", tags=("to_do", "a:b"))
        client.project()
    page = tmp_path / "memory.md"
    call("export", page, home=said, scope=A)
    other = tmp_path / "other"
    done = document("import", page, home=other)
    assert (done["taken"], done["problem_count"]) == (document("search", home=said, scope=A)["count"], 0)
    fields = ("id", "kind", "actor", "origin")

    def shown(home: Path) -> list[dict[str, Any]]:
        """Return the memories; no page shows spaces at the end of a line, and no tag of ours is taken."""
        found = document("search", "--limit", "50", home=home, scope=A)["results"]
        told = [{name: one[name] for name in fields} for one in found]
        for one, of in zip(told, found, strict=True):
            one["text"] = "\n".join(map(str.rstrip, of["text"].split("\n")))
            one["tags"] = [tag for tag in of["tags"] if tag not in OWN_TAGS]
        return sorted(told, key=lambda it: str(it["id"]))

    assert shown(other) == shown(said) and odd in [it["text"] for it in shown(other)]
    for home in (other, said):
        (tmp_path / f"{home.name}.md").write_text(page.read_text())
        again = document("import", tmp_path / f"{home.name}.md", home=home)
        assert (again["taken"], again["known"]) == (0, done["taken"])


def test_a_memory_whose_lines_were_changed_is_named_and_the_rest_is_taken(said: Path, tmp_path: Path) -> None:
    page = tmp_path / "memory.md"
    call("export", page, home=said, scope=A)
    told = page.read_text()
    first = told.index("` by ")
    page.write_text(told[: first - 5] + told[first:] + "\n## no day\n\n> a line\n")
    done = document("import", page, home=tmp_path / "other")
    assert done["taken"] > 0 and done["problem_count"] == 2
    assert {it["reason"] for it in done["problems"]} == {"a memory whose lines were changed"}


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_what_a_quotation_escapes_is_read_back(text: str) -> None:
    shown = visible(text).split("\n")
    assert [unescape(line[2:]) for line in quote(text)] == [line.rstrip() for line in shown]
    assert unescape(escape(shown[0])) == shown[0]


def test_an_import_takes_no_erasure_and_no_secret_and_goes_where_told(said: Path, tmp_path: Path) -> None:
    with Client(said, scope=A) as client:
        victim = client.search("harbour", 1, quiet=True).results[0].id
    lines = call("export", home=said, scope=A).stdout.splitlines()
    event = json.loads(next(line for line in lines if "Mira owns" in line))
    token = {**event, "id": f"{victim[:-1]}{'0' if victim[-1] != '0' else '1'}"}
    token["body"] = {**event["body"], "text": "The token is ghp_0123456789abcdefghijABCDEFGHIJ012345."}
    erased = {**event, "id": f"{victim[:-4]}ffff", "type": "erased", "body": {"ids": [victim]}}
    file = tmp_path / "crafted.jsonl"
    file.write_text("\n".join(map(json.dumps, (event, erased, token, {**event, "v": 99}))) + "\n")
    done = document("import", file, home=said)
    assert (done["taken"], done["known"], done["problem_count"]) == (1, 1, 2)
    found = document("search", "token", home=said, scope=A)["results"][0]["text"]
    assert "ghp_" not in found and "redacted" in found
    assert document("show", victim, home=said, scope=A)["memory"]["text"] == "Mira owns the harbour."
    there = tmp_path / "there.jsonl"
    there.write_text("\n".join(lines) + "\n")
    assert document("import", there, "--scope", "project:c", home=said)["scopes"].keys() == {"project:c"}
    found = document("search", "harbour", home=said, scope="project:c")["results"]
    assert [it["text"] for it in found][:1] == ["Mira owns the harbour."]


def test_an_import_into_a_new_folder_says_how_to_give_it_that_project(
    said: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, home = tmp_path / "memory.jsonl", tmp_path / "other"
    call("export", lines, home=said, scope=A)
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    assert f"`memtape project adopt {A}`" in call("import", lines, home=home).stdout
    call("project", "adopt", A, home=home)
    assert document("search", "harbour", home=home)["results"]
