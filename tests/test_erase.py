"""Erasing for good: a canary stood in every place of a home, and the eye of the proof finds it in none."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import lance
import msgspec
import numpy as np
import orjson
import pyarrow as pa
import pytest
from builders import captured, event, make_id, recalled
from click.testing import Result
from commanding import call as command
from commanding import document
from hypothesis import given
from hypothesis import strategies as st
from soaked import soaked
from structure_making import make as make_structure
from test_views import history

from memtape.flows import projection
from memtape.flows.workers.worker import Worker
from memtape.schemas import events as ev
from memtape.schemas.codec import canonical, decode
from memtape.schemas.errors import InvalidEvent, NotFound, StillHeld
from memtape.schemas.metrics import told_of_progress
from memtape.schemas.rows import Basis, Guarded, VectorRow
from memtape.schemas.scopes import partition_of
from memtape.schemas.texts import texts_of_body, with_texts
from memtape.sinks.home.builds import Build
from memtape.sinks.home.folders import Home
from memtape.sinks.logs import embedded
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.logs.packed_vectors import packed
from memtape.sinks.remains import STRUCTURE_PATH, Needles, SearchedFile, search_home, without_structure
from memtape.sinks.row_tables import VECTORS
from memtape.sinks.snapshots import Snapshots
from memtape.sinks.tables import Shard
from memtape.state.text.traces import FEW_SOUGHT, Traces, is_searched, parts
from memtape.state.vectors.recorded import quantised
from memtape.state.views.markdown import escape
from memtape.state.views.tree_pages import name_of
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.writing import Line, Writer
from memtape.tools.client import Client
from memtape.tools.keep.erasing import plan
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify
from memtape.tools.keep.workers import WorkerKind
from memtape.tools.verbs.tree import rows

SCOPE = "project:a"
TEXT = "The codename is Zebrafish-Quokka and the vault opens at dawn."
CANARY = Needles(ids=(), texts=(TEXT,), words=("zebrafish", "quokka"))


@pytest.fixture(autouse=True)
def small_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "SNAPSHOT_EVENTS", 15)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def client(home: Home) -> Iterator[Client]:
    with Client(home.path, scope=SCOPE, origin="user", session="s1") as client:
        client.log.append(history(60))
        yield client


def remains(home: Home) -> list[str]:
    """Return the files of a home in which the canary stands."""
    places = search_home(home.path, CANARY)
    assert not any(place.unreadable for place in places), places
    return [place.path for place in places if place.found]


def erase(client: Client, *ids: str, only: bool = False, everywhere: bool = False) -> Any:
    made = plan(client.home, client.log, client.scope, ids, only=only)
    if everywhere:
        made.take_carriers(client.log)
    return client.erase(made)


def call(*words: str, client: Client) -> Result:
    return command(*words, home=client.home.path, scope=client.scope, code=None)


def spread(client: Client) -> str:
    """Say a canary, and have it in every place that a home has."""
    home = client.home
    id = client.capture(TEXT, tags=["zebrafish"], source="quokka").id
    client.capture(f"{TEXT}  ", "journal")
    client.search("codename zebrafish quokka")
    client.forget(id, reason="Zebrafish no longer.")
    client.restore(id)
    client.log.append(history(60, seed=12))
    client.project()
    client.status(as_of="0s")
    for number in range(2):  # Several versions of a table; several builds, of which one was never finished.
        client.capture(f"A further line, number {number}.")
        client.project()
    shutil.copytree(home.current().path, home.build(home.current().number + 1).path)
    (home.vault_notes / "pages" / "projects" / ".a.page.new").write_text(TEXT)
    return id


def test_what_goes_with_a_turn_that_carries_the_text_is_named_and_asked_for(client: Client) -> None:
    branch, ledger = (
        "The invoices service is deployed from the branch release-blue.",
        "We decided to use Postgres for the ledger.",
    )
    turn = client.capture(f"Remember: {branch[0].lower()}{branch[1:]} {ledger}", "turn")
    texts = enumerate((branch, ledger))
    facts = [captured(text, n, "fact", scope=client.scope) for n, text in texts]
    facts = [msgspec.structs.replace(fact, refs=(turn.id,)) for fact in facts]
    client.log.append(facts)
    client.project()
    told = call("erase", facts[0].id, "--everywhere", "--dry-run", client=client).stdout
    assert "Other texts go too" in told and ledger in told
    refused = call("erase", facts[0].id, "--everywhere", client=client)
    assert refused.exit_code == 1 and "would go too" in refused.stderr
    assert call("show", facts[1].id, client=client).exit_code == 0
    assert call("erase", facts[0].id, "--everywhere", "--yes", client=client).exit_code == 0
    assert call("show", facts[1].id, client=client).exit_code == 1


def test_a_canary_is_in_every_place_before_and_in_none_afterwards(client: Client) -> None:
    id = spread(client)
    before = remains(client.home)
    forms = "log.db-wal .snapshot builds/1/lance builds/2/lance as-of/ MEMORY.md logs/ .page.new".split()
    assert all(any(form in path for path in before) for form in forms), before
    erasure = erase(client, id, everywhere=True)
    assert erasure.ok
    assert {item.type for item in erasure.plan.items} == {"captured", "recalled", "forgotten"}
    assert remains(client.home) == []
    assert verify(client.home, client.log).ok


LOST = ("builds", "builds/1/lance", "builds/1/state", "current")


@pytest.mark.parametrize("lost", soaked(LOST, "builds/1/lance", "current"))
def test_it_is_gone_also_where_the_tables_were_lost_and_pages_are_left(client: Client, lost: str) -> None:
    id = client.capture(TEXT, "turn", at="2026-01-02").id
    client.capture("Something else entirely.")
    client.project()
    path = client.home.path / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    assert any(name.endswith("2026-01-02.md") for name in remains(client.home))
    assert erase(client, id).ok
    assert remains(client.home) == []
    client.project()
    assert remains(client.home) == []
    assert verify(client.home, client.log).ok


@pytest.mark.parametrize("kind", ["fact", "turn"])
def test_the_only_thing_that_a_home_ever_held_goes(home: Home, kind: str) -> None:
    """No row is left to be written then, and the pages must go all the same."""
    with Client(home.path, scope=SCOPE, origin="user") as client:
        id = client.capture(TEXT, kind).id
        client.project()
        assert home.scope_folder(SCOPE).joinpath("MEMORY.md").exists()
        erase(client, id)
        assert not remains(home)
        assert verify(home, client.log).ok
        shutil.rmtree(home.current().path)
        client.project()
        assert not remains(home)
        assert verify(home, client.log).ok


def test_what_else_carries_the_text_is_listed_and_stays(client: Client) -> None:
    id = client.capture(TEXT).id
    quoted = client.capture(f"She said: “{TEXT.upper()}” And left.", "turn").id
    with Client(client.home.path, scope="project:b") as other:
        abroad = other.capture(TEXT).id
    client.log.append_raw(0, [b'{"half an event": "' + TEXT.encode()])
    erasure = erase(client, id)
    assert [item.id for item in erasure.plan.carriers] == [quoted, abroad] or [abroad, quoted]
    assert len(erasure.plan.unreadable) == 1
    assert client.show(quoted).turn is not None
    assert remains(client.home)
    assert erase(client, quoted).ok
    with Client(client.home.path, scope="project:b") as other:
        assert erase(other, abroad, everywhere=True).ok
    assert remains(client.home) == []


def events_with_the_text_somewhere() -> dict[str, ev.Event]:
    """One event for each place of each type at which a text can stand, the header's names included."""
    others = dict.fromkeys(("branch", "path", "source"), "a label")
    media = (ev.Media(caption="a caption", kind="image", uri="a place"),)
    bare = captured("It says something else.", "bare", "turn", media=media, tags=("a tag",), **others).body
    asked = recalled([], "asked", "a question").body
    filters = msgspec.structs.replace(asked.filters, tags=("a tag",), sessions=("one",))
    asked = msgspec.structs.replace(asked, filters=filters)
    failed = ev.Embedded(attempt=1, dimensions=1, embedder="a model", reason="a reason", vector=None)
    found = {}
    why: dict[str, Any] = {"ids": (), "reason": "a reason"}
    for type, body, refs in (
        ("captured", bare, ()), ("recalled", asked, ()), ("forgotten", ev.Forgotten(**why), ()),
        ("restored", ev.Restored(**why), ()), ("embedded", failed, (make_id("bare"),)),
    ):  # fmt: skip
        for place in [said.place for said in texts_of_body(body)]:
            with_text = with_texts(body, lambda said, place=place: TEXT if said.place == place else said.text)
            name = f"{type} {place}"
            found[name] = msgspec.structs.replace(event(type, with_text, name, scope=SCOPE), refs=refs)
    for type, body in (("captured", bare), ("used", ev.Used(ids=(), recall=None))):
        for place, named in (("session", {"session": TEXT}), ("actor.name", {"actor": TEXT})):
            name = f"{type} $.{place}"
            found[name] = event(type, body, name, scope="project:b", **named)
    return found


def test_an_event_that_has_the_text_in_any_place_is_named(home: Home) -> None:
    with Client(home.path, scope=SCOPE, origin="user") as client:
        id = client.capture(TEXT).id
        everywhere = events_with_the_text_somewhere()
        client.log.append(list(everywhere.values()))
        made = plan(home, client.log, SCOPE, [id], only=False)
        named = {f"{item.type} {place}" for item in made.carriers for place in item.places}
        ends = ("$.session", "$.actor.name", "lanes[0]", "embedder")
        stay = {name for name in everywhere if name.endswith(ends)}
        assert named == everywhere.keys() - stay
        kept = {(it.scope, it.place, it.text, it.events) for it in made.kept}
        names = {("project:b", place, TEXT, 2) for place in ("$.session", "$.actor.name")}
        assert kept == names | {(SCOPE, f"$.body.{place}", TEXT, 1) for place in ("lanes[0]", "embedder")}
        erasure = erase(client, id, everywhere=True)
        assert not erasure.after.proves and erasure.after.needles.hidden == 1
        left = [decode(slot.payload) for number in range(16) for slot in client.log.read(number, 0, 1_000)]
        assert {it.id for it in left if TEXT in repr(it)} == {everywhere[name].id for name in stay}


def test_it_is_gone_for_every_reader_before_any_byte_is(client: Client) -> None:
    id = client.capture(TEXT).id
    client.capture(TEXT.rstrip("."))
    client.project()
    client.append("erased", ev.Erased(ids=(id,)), SCOPE)
    with client.home.lock("projector"):
        assert not client.search("zebrafish", quiet=True).results
        with pytest.raises(NotFound, match="erased"):
            client.show(id)


def test_nothing_brings_it_back(client: Client, tmp_path: Path) -> None:
    id = client.capture(TEXT, native_id="n1", source="chat").id
    client.project()
    home, log, number = client.home, client.log, partition_of(SCOPE, client.log.partitions)
    shutil.copytree(home.current().path, tmp_path / "old")
    (slot,) = [slot for slot in log.read(number, 0, 10_000) if id.encode() in slot.payload]
    assert erase(client, id).ok
    # An older index and older snapshots put back by hand.
    shutil.rmtree(home.current().path)
    shutil.copytree(tmp_path / "old", home.current().path)
    assert remains(home)
    client.project()
    assert remains(home) == []
    # The source is imported again.
    with pytest.raises(InvalidEvent, match="was erased"):
        client.capture(TEXT, native_id="n1", source="chat")
    # A slot that arrives later, a late event that derives from it, and another of the same id.
    late = msgspec.structs.replace(captured(TEXT, "vector", scope=SCOPE), refs=(id,))
    log.append_raw(number, [slot.payload, canonical(late)])
    assert not client.search("zebrafish", quiet=True).results
    with Owner(home, log) as owner:
        owner.project()
    assert remains(home) == []
    with Owner(home, log) as owner:
        owner.rebuild()
    client.status(as_of="0s")
    assert remains(home) == []
    assert verify(home, log).ok


def test_an_erasure_between_two_runs_of_a_projector_leaves_no_page(home: Home) -> None:
    with Client(home.path, scope=SCOPE, origin="user") as client:
        id = client.capture(TEXT, "fact").id

        class Erasing(Worker):
            def catch_up(self) -> None:
                if id not in client.erased_ids(SCOPE):
                    erased = Writer(client.home, client.log).made("erased", ev.Erased(ids=(id,)), SCOPE)
                    client.log.append([erased])

        kinds = {"erasing": WorkerKind(lambda home, log, on_note: Erasing(log, on_note), once="after")}
        with Owner(client.home, client.log, kinds=kinds) as owner:
            owner.project()
            assert TEXT in (client.home.scope_folder(SCOPE) / "MEMORY.md").read_text()
            owner.work()
            owner.project()
        assert remains(client.home) == []


def test_a_living_projector_erases_when_it_is_asked(client: Client) -> None:
    id = client.capture(TEXT).id
    client.project()
    log = EmbeddedLog(client.home.log_path)
    with Owner(client.home, log) as owner:
        thread = threading.Thread(target=owner.serve)
        thread.start()
        try:
            erasure = erase(client, id)
        finally:
            owner.stop()
            thread.join()
    log.close()
    assert erasure.ok
    assert remains(client.home) == []


def test_a_reader_of_an_old_state_is_named(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "CHECKPOINT_WAIT_S", 0.2)
    id = client.capture(TEXT).id
    reader = sqlite3.connect(client.home.log_path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM slots").fetchone()
    with pytest.raises(StillHeld, match="still holds"):
        erase(client, id)
    assert any("log.db" in path for path in remains(client.home))
    assert not client.search("zebrafish", quiet=True).results
    reader.close()
    assert erase(client, id).ok
    assert remains(client.home) == []


def test_the_command_lists_erases_and_proves(client: Client) -> None:
    id = client.capture(TEXT).id
    dry = call("erase", id, "--dry-run", client=client)
    assert "Zebrafish" in dry.output and client.show(id)
    done = call("erase", id, client=client)
    assert done.exit_code == 0, done.output
    assert "Erased for good" in done.output and "log.db" in done.output
    assert "Zebrafish" not in done.output.partition("Looked for")[2]


@pytest.mark.parametrize("text", ["bus 4711", TEXT])
def test_what_cannot_be_looked_for_is_not_called_gone(client: Client, text: str) -> None:
    """Of a text that is too short, or that the name of a session says as well."""
    if text == TEXT:
        with Client(client.home.path, scope="project:b", session=TEXT) as other:
            other.capture("Something else.")
    ids = [client.capture(text, "turn").id for _ in range(2)]
    run = partial(command, "erase", "--only", home=client.home.path, scope=SCOPE, code=1)
    result = run(ids[0])
    assert "Not proven" in result.output and "looked for was found" not in result.output
    assert (f"session {TEXT!r} of 1 event in project:b" in result.output) is (text == TEXT)
    assert json.loads(run(ids[1], "--json").stdout)["proven"] is False


def test_what_was_selected_is_confirmed_first_and_many_go_at_once(client: Client) -> None:
    texts = [f"Secret of Zebrafish number {number}." for number in range(100)]
    said = [captured(text, kind="turn", scope=SCOPE, session="secret") for text in texts]
    client.log.append(said)
    done = document("erase", "--session", "secret", "--yes", home=client.home.path, scope=SCOPE)
    assert done["ok"] and [item["id"] for item in done["erased"]] == [event.id for event in said]
    assert not any(found["found"] for found in done["after"]["files"])
    id = client.capture(TEXT, tags=["codename"]).id
    refused = call("erase", "--tag", "codename", client=client)
    assert refused.exit_code == 1 and "--yes" in refused.output
    assert call("erase", "--tag", "codename", "--yes", client=client).exit_code == 0
    with pytest.raises(NotFound, match="was erased"):
        client.show(id)
    assert "Nothing in project:a matches" in call("erase", "--tag", "codename", client=client).output


def test_bad_ids_erase_nothing(client: Client) -> None:
    ours = client.capture(TEXT).id
    with Client(client.home.path, scope="project:b") as other:
        theirs = other.capture("Something of another scope.").id
    ends = client.log.ends()
    for id in (make_id("nowhere"), "no id", theirs):
        result = call("erase", ours, id, client=client)
        assert result.exit_code == 1 and client.log.ends() == ends
        assert any(said in result.output for said in ("nothing was erased", "has no event", "of project:"))
    assert erase(client, ours).ok
    again = call("erase", ours, client=client)
    assert again.exit_code == 1 and "Erased before" in again.output and "Not proven" in again.output


@pytest.mark.parametrize("place", soaked(["tags", "source", "branch", "path"], "source"))
def test_a_word_of_the_text_in_a_label_of_another_leaves_it_unproven(client: Client, place: str) -> None:
    id = client.capture("The vault opens with saffron-lighthouse.").id
    label = ("saffron-lighthouse",) if place == "tags" else "saffron-lighthouse"
    other = client.capture("Something else.", **{place: label}).id
    result = call("erase", id, client=client)
    assert result.exit_code == 1 and "Not proven" in result.output and "saffron, lighthouse" in result.output
    command("erase", other, home=client.home.path, scope=SCOPE)


@pytest.mark.parametrize("file", ["settings.toml", "folders.json"])
def test_a_word_that_a_path_of_the_machine_has_too_does_not_keep_a_text_from_being_gone(
    client: Client, tmp_path: Path, file: str
) -> None:
    """These files of a home say paths and addresses of the machine."""
    place = tmp_path / "saffron-lighthouse"
    id = client.capture("saffron-lighthouse").id
    match file:
        case "settings.toml":
            (client.home.path / file).write_text('[model]\nurl = "http://saffron-lighthouse.example/v1"\n')
        case "folders.json":
            place.mkdir()
            scope_of_folder(place, client.home)
    assert "saffron" in (client.home.path / file).read_text()
    said = call("erase", id, client=client).output
    assert "nothing of what was looked for was found" in said, said


@pytest.fixture
def paged(tmp_path: Path) -> Iterator[Client]:
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text("catch_up = false\n")
    with Client(home, scope=SCOPE, actor="Ada", origin="user") as made:
        made.new_page("deploy", "We deploy on Tuesdays.")
        made.new_page("deploy/staging", "Staging listens on port 5433.")
        project(made)
        yield made


def project(paged: Client) -> None:
    with Owner(paged.home, paged.log) as owner:
        owner.project()


def file(paged: Client, slug: str) -> Path:
    return paged.home.scope_folder(SCOPE) / "pages" / f"{slug}.md"


def settled(paged: Client) -> None:
    """See that nothing is left, views are what the log says, and making them anew brings nothing back."""
    assert remains(paged.home) == []
    assert verify(paged.home, paged.log).ok
    project(paged)
    with Owner(paged.home, paged.log) as owner:
        assert owner.rebuild()
    assert remains(paged.home) == [] and verify(paged.home, paged.log).ok


def test_a_page_goes_with_all_its_versions_and_all_that_was_given_it(paged: Client) -> None:
    page = paged.new_page("deploy/codename", f"# Zebrafish\n\n{TEXT}", hints=["Who is quokka?"])
    project(paged)
    said = {"title": "Zebrafish-Quokka", "summary": "Of zebrafish."}
    paged.edit_page("deploy/codename", f"{TEXT} Twice.", **said)
    paged.link_pages("deploy/codename", "deploy/staging")
    paged.link_pages("deploy", "deploy/codename", "depends_on")
    project(paged)
    path = file(paged, "deploy/codename")
    text = path.read_text().replace("Twice.", "Thrice, quokka.")
    path.write_text(text.replace("children:", "quokka: 1\nchildren:"))
    project(paged)
    assert paged.read_page("deploy/codename").text.endswith("Thrice, quokka.")
    assert len(paged.read_page("deploy/codename").history) == 3
    paged.search("codename zebrafish quokka")
    before = remains(paged.home)
    for form in ("log.db", "builds/", "pages/deploy.md", "pages/deploy/codename.md"):  # In the index too.
        assert any(form in name for name in before), before
    erasure = erase(paged, page.id, everywhere=True)
    assert erasure.ok and {"captured", "edited"} <= {item.type for item in erasure.plan.items}
    left = sorted(map(name_of, rows(paged).values()))
    assert not path.exists() and left == ["_root", "deploy", "deploy/staging"]
    settled(paged)
    assert "codename" not in file(paged, "deploy").read_text()


def test_a_person_is_told_of_a_file_of_theirs_that_still_says_it(paged: Client) -> None:
    """What a person keeps beside the pages is theirs: the erasure is not proven before they delete it."""
    page = paged.new_page("codename", TEXT)
    project(paged)
    path = file(paged, "codename")
    path.write_text(path.read_text().replace("title:", "title: [") + "\nA note of zebrafish below.\n")
    project(paged)
    kept = [name for name in remains(paged.home) if "(yours)" in name]
    assert kept
    erasure = erase(paged, page.id, everywhere=True)
    left = remains(paged.home)
    assert erasure.ok is (not left) and all("(yours)" in name for name in left)
    for place in search_home(paged.home.path, CANARY):
        if place.found:
            (paged.home.path / place.path).unlink()
    settled(paged)


def test_a_slug_that_is_the_text_names_no_file_afterwards(paged: Client) -> None:
    page = paged.new_page("zebrafish-quokka/zebrafish", TEXT)
    paged.link_pages("deploy", "zebrafish-quokka/zebrafish")
    project(paged)
    path = file(paged, "zebrafish-quokka/zebrafish")
    path.write_text(path.read_text().replace("at dawn.", "at dusk."))
    project(paged)
    assert paged.read_page(page.id).text.endswith("at dusk.")
    assert erase(paged, page.id, everywhere=True).ok
    assert not list(paged.home.path.rglob("*zebrafish*"))
    settled(paged)


MARKED = 'The *vault*, says "Zebrafish-Quokka",\nand C:\\new is <b>where</b> [it](is): größer als 東京の予算.'
BLANKED = "UPDATE t SET payload = x'00' WHERE k = 1"
ID = "019a7b3c-0001-7d2e-9f10-5c8e4b2a0001"
OTHER = "Nothing of the kind stands here, and nobody asked."


def look(home: Path, text: str = MARKED) -> list[SearchedFile]:
    needles = Needles(ids=(ID,), texts=(text,), words=("zebrafish", "quokka"))
    return [place for place in search_home(home, needles) if place.found or place.unreadable]


def kinds(home: Path, text: str = MARKED) -> set[str]:
    places = look(home, text)
    assert not any(place.unreadable for place in places), places
    return {finding.kind for place in places for finding in place.found}


def table(home: Path, texts: list[str]) -> lance.LanceDataset:
    folder = home / "builds/1/lance/p00"
    folder.mkdir(parents=True, exist_ok=True)
    return lance.write_dataset(pa.table({"text": texts}), folder / "t.lance", mode="overwrite")


def old_version(home: Path) -> None:
    made = table(home, [MARKED, *[OTHER] * 50])
    made.delete("text LIKE '%Quokka%'")
    made.cleanup_old_versions(timedelta(0))
    assert made.count_rows() == 50


def orphan(home: Path) -> None:
    table(home, [MARKED])
    for path in (home / "builds/1/lance/p00/t.lance/_versions").iterdir():
        path.unlink()


def snapshot(home: Path) -> None:
    snapshots = Snapshots(Build(home / "builds/1"), 0, Basis("log", "rules", 0))
    snapshots.write(12, "", b"\xdc\x00" + MARKED.encode() + b"\xc0")


def database(home: Path, text: str, statement: str = "", secure: str = "OFF") -> None:
    with sqlite3.connect(home / "log.db", isolation_level=None) as db:
        db.execute(f"PRAGMA secure_delete={secure}")
        db.execute("CREATE TABLE t (k INTEGER, o INTEGER, payload BLOB, PRIMARY KEY (k, o)) WITHOUT ROWID")
        payload = orjson.dumps({"body": {"text": text}, "id": "x"})
        db.execute("INSERT INTO t VALUES (1, 1, ?)", [payload])
        db.executemany("INSERT INTO t VALUES (2, ?, ?)", [(number, OTHER.encode()) for number in range(200)])
        if statement:
            db.execute(statement)
    db.close()


def write_ahead(home: Path) -> None:
    db = sqlite3.connect(home / "log.db", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE t (payload BLOB)")
    db.execute("INSERT INTO t VALUES (?)", [orjson.dumps({"text": MARKED})])
    wal = (home / "log.db-wal").read_bytes()
    db.execute("DELETE FROM t")
    db.close()
    (home / "log.db-wal").write_bytes(wal)


def holding(name: str, data: bytes) -> Callable[[Path], None]:
    def write(home: Path) -> None:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return write


PLACES: dict[str, Callable[[Path], None]] = {
    "an old version of a table": old_version,
    "a data file that no version names": orphan,
    "a free page of a database": lambda home: database(home, MARKED, "DELETE FROM t"),
    "a changed row of a database": lambda home: database(home, MARKED, BLANKED),
    "a write-ahead file": write_ahead,
    "a snapshot": snapshot,
    "a page of Markdown": holding(
        "vault/a.md", "".join(f"> {escape(line)}\n" for line in MARKED.split("\n")).encode()
    ),
    "JSON": holding("requests/x.json", orjson.dumps({"text": MARKED})),
    "JSON in ASCII": holding("log.txt", json.dumps({"text": MARKED}).encode()),
    "an unfinished file": holding("builds/1/state/p00/.a.snapshot.new", MARKED.encode()),
    "a file that nobody knows": holding(".stray", b"\x00\xff\x01" + MARKED.encode() + b"\xfe"),
    "a long file": holding("big", OTHER.encode() * 90_000 + MARKED.encode() + OTHER.encode() * 1_000),
}  # fmt: skip


VECTOR, LIKE_IT = quantised(np.arange(1, 17, dtype=np.float32)), quantised(np.arange(2, 18, dtype=np.float32))


def vectors(home: Path, rows: list[bytes]) -> Shard:
    """A table of vectors as the views have one."""
    shard = Shard(home / "builds/1/lance/p00", 0)
    key = "m@1/16"
    of: dict[str, Any] = {"scope": "project:a", "embedder": key}
    made = [VectorRow(key=f"project:a/{n}:{key}", id=str(n), vector=it, **of) for n, it in enumerate(rows)]
    shard.write([Guarded("vectors", row, 0, number) for number, row in enumerate(made)])
    return shard


def old_vectors(home: Path) -> None:
    vectors(home, [VECTOR, LIKE_IT])
    table = lance.dataset(next((home / "builds/1/lance/p00").glob(f"{VECTORS}*.lance")))
    table.delete("id = '0'")


VECTOR_PLACES: dict[str, Callable[[Path], None]] = {
    "a table": lambda home: vectors(home, [LIKE_IT, VECTOR]) and None,
    "an old version of a table": old_vectors,
    "a snapshot": holding("builds/1/state/p00/1.snapshot", b"\x00" * 99 + VECTOR + b"\x00"),
    "the log": lambda home: database(home, b64encode(VECTOR).decode()),
    "the log, packed": holding("log.db", b"\x00" * 99 + packed(VECTOR) + b"\x00"),
}


@pytest.mark.parametrize("place", VECTOR_PLACES)
def test_a_vector_is_found_in(place: str, tmp_path: Path) -> None:
    VECTOR_PLACES[place](tmp_path)
    places = search_home(tmp_path, Needles(ids=(), texts=(), words=(), vectors=(VECTOR,)))
    assert {finding.kind for place in places for finding in place.found} == {"vector"}
    assert all((tmp_path / place.path).is_file() for place in places)
    other = Needles(ids=(), texts=(), words=(), vectors=(quantised(np.arange(3, 19, dtype=np.float32)),))
    assert not [place for place in search_home(tmp_path, other) if place.found]
    assert not [place for place in places if place.unreadable]


@pytest.mark.parametrize("place", PLACES)
def test_a_canary_is_found_in(place: str, tmp_path: Path) -> None:
    PLACES[place](tmp_path)
    assert {"text", "word"} <= kinds(tmp_path)


def test_what_was_overwritten_or_made_anew_is_not_found(tmp_path: Path) -> None:
    database(tmp_path, MARKED, BLANKED, "ON")
    table(tmp_path, [OTHER])
    assert kinds(tmp_path) == set()


def test_an_id_may_stand_in_headers_and_gone_rows_and_nowhere_else(tmp_path: Path) -> None:
    rows = pa.table({"key": [f"s/{ID}"], "id": [ID], "text": [None], "gone": [True]})
    lance.write_dataset(rows, tmp_path / "t.lance")
    holding("log.db", ID.encode())(tmp_path)
    assert kinds(tmp_path) == set()
    living = pa.table({"id": ["x"], "members": [[{"id": ID, "how": "same"}]], "gone": [False]})
    lance.write_dataset(living, tmp_path / "living.lance")
    assert kinds(tmp_path) == {"id"}
    shutil.rmtree(tmp_path / "living.lance")
    assert kinds(tmp_path) == set()
    holding("vault/a.md", ID.encode())(tmp_path)
    assert kinds(tmp_path) == {"id"}


BROKEN = [
    ("a.lance", b"not lance"), ("b.lance", b""), ("log.db", b"SQLite format 3\x00"), ("empty", b""),
    ("log.db", b"SQLite format 3\x00" + bytes(range(256)) * 40), ("log.db-wal", b"\x00" * 31),
    ("log.db-wal", b"\x37\x7f\x06\x82" + b"\xff" * 9_000),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data"), BROKEN)
def test_a_file_that_is_not_what_it_says_stops_nothing(name: str, data: bytes, tmp_path: Path) -> None:
    holding(name, data)(tmp_path)
    holding("z", MARKED.encode())(tmp_path)
    found = {place.path: place for place in look(tmp_path)}
    assert found["z"].found
    if name.endswith(".lance"):
        assert found[name].unreadable


SAID = ("Zebrafish-Quokka", "vault 8080", "größer als", "予算は三百万円")
texts = st.tuples(st.text(max_size=150), st.sampled_from(SAID), st.text(max_size=150))
texts = texts.map("".join).filter(is_searched)


@given(texts)
def test_any_text_is_found_in_any_form(text: str) -> None:
    traces = Traces(parts(text))
    number = traces.texts.index(text)
    quoted = "\n".join(f"> {escape(line)}" for line in text.split("\n"))
    shouted = f"  {text.upper().lower()}" if text.isascii() else text
    for form in (text, f"before. {text} !after", shouted, quoted):
        if form is quoted and any(not char.isprintable() and char != "\n" for char in text):
            continue  # What cannot be seen is shown by a name on a page, and found in the other places.
        assert number in traces.find(form).texts


@given(
    st.lists(st.text("abß 予算-_\n", max_size=12), min_size=1, max_size=4),
    st.lists(st.sampled_from(("ab", "ba", "b", "算")), max_size=2),
    st.text("abAB ß予算-_・\n", max_size=40),
)
def test_few_texts_are_found_where_many_are(sought: list[str], words: list[str], text: str) -> None:
    others = [f"other{number} text{number}" for number in range(FEW_SOUGHT)]
    few, many = Traces(sought, words), Traces([*sought, *others], words)
    for told in (text, *sought, f"a{text}", f"{text} {sought[0]}", f"{sought[0]}b{sought[0]}"):
        found = few.find(told)
        assert (sorted(found.texts), found.words) == (sorted(many.find(told).texts), many.find(told).words)


def test_words_are_found_whole_and_in_any_case() -> None:
    traces = Traces((), ("quokka", "größe"))
    assert traces.find("A QUOKKA, GRÖSSE").words == ["quokka"]
    assert traces.find("quokkas").words == []


def test_the_words_of_structure_are_those_of_a_new_home() -> None:
    """`structure_making.py` writes the file anew where a format, a library or a page has changed."""
    assert STRUCTURE_PATH.read_text(encoding="utf-8").splitlines() == make_structure()


def test_what_every_home_says_proves_nothing() -> None:
    both = {"ids": ("1",), "vectors": (b"v",)}
    needles = Needles(texts=("MEMORY.md", "memory of it"), words=("memories", "lighthouse"), **both)
    assert without_structure(needles) == Needles(texts=("memory of it",), words=("lighthouse",), **both)


def test_each_bar_moves_before_its_end_in_a_home_of_one_scope(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        lines = [Line(text=f"The crane {n} lifts {n * 7} crates.", kind="turn") for n in range(200)]
        first = next(iter(client.capture_many(lines))).id
        client.project()
        with told_of_progress(lambda *phase: told.append(phase)):
            client.verify()
            erase(client, first)
    for name in ("replaying", "reading the log", "searching before", "searching after"):
        steps = [done / total for phase, done, total in told if phase == name and total]
        assert steps == sorted(steps) and any(0 < step < 1 for step in steps), (name, steps)
