"""Erasing for good, with everything real: a canary that stood in every place of a home stands in none afterwards."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import captured, event, make_id, recalled
from click.testing import CliRunner, Result
from soaked import soaked
from test_views import history

from memtape.flows import projection
from memtape.schemas.codec import canonical, decode
from memtape.schemas.errors import InvalidEvent, NotFound, StillHeld
from memtape.schemas.events import Embedded, Erased, Event, Forgotten, Media, Recalled, Restored, Used
from memtape.schemas.scopes import partition_of
from memtape.schemas.texts import texts_of_body, with_texts
from memtape.sinks.home.folders import Home
from memtape.sinks.home.unerased import remember_copy
from memtape.sinks.logs import embedded
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.remains import Needles, search_home
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.keep.erasing import plan, prove
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify

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
        made.take_carriers()
    return client.erase(made)


def call(*words: str, client: Client) -> Result:
    return CliRunner().invoke(main, [*words, "--home", str(client.home.path), "--scope", client.scope])


def document(*words: str, client: Client) -> Any:
    result = call(*words, "--json", client=client)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


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
    for number in range(2):  # Several versions of a table, and several builds of which one was never finished.
        client.capture(f"A further line, number {number}.")
        client.project()
    shutil.copytree(home.current().path, home.build(home.current().number + 1).path)
    (home.vault_notes / "pages" / "projects" / ".a.page.new").write_text(TEXT)
    return id


def test_a_canary_is_in_every_place_before_and_in_none_afterwards(client: Client) -> None:
    id = spread(client)
    before = remains(client.home)
    forms = ("log.db-wal", ".snapshot", "builds/1/lance", "builds/2/lance", "as-of/", "MEMORY.md", "logs/", ".page.new")
    assert all(any(form in path for path in before) for form in forms), before
    erasure = erase(client, id, everywhere=True)
    assert erasure.ok
    assert {item.type for item in erasure.plan.items} == {"captured", "recalled", "forgotten"}
    assert remains(client.home) == []
    assert verify(client.home, client.log).ok
    assert prove(client.home, client.log, [id], [TEXT])[0].clean


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


def events_with_the_text_somewhere() -> dict[str, Event]:
    """One event for each place of each type of event at which a text can stand, the header's names included."""
    others = dict.fromkeys(("branch", "path", "source"), "a label")
    media = (Media(caption="a caption", kind="image", uri="a place"),)
    bare = captured("It says something else.", "bare", "turn", media=media, tags=("a tag",), **others).body
    asked = recalled([], "asked", "a question").body
    assert isinstance(asked, Recalled)
    asked = msgspec.structs.replace(
        asked, filters=msgspec.structs.replace(asked.filters, tags=("a tag",), sessions=("one",))
    )
    failed = Embedded(attempt=1, dimensions=1, embedder="a model", reason="a reason", vector=None)
    found = {}
    for type, body, refs in (
        ("captured", bare, ()),
        ("recalled", asked, ()),
        ("forgotten", Forgotten(ids=(), reason="a reason"), ()),
        ("restored", Restored(ids=(), reason="a reason"), ()),
        ("embedded", failed, (make_id("bare"),)),
    ):
        for place in [said.place for said in texts_of_body(body)]:
            with_text = with_texts(body, lambda said, place=place: TEXT if said.place == place else said.text)
            name = f"{type} {place}"
            found[name] = msgspec.structs.replace(event(type, with_text, name, scope=SCOPE), refs=refs)
    for type, body in (("captured", bare), ("used", Used(ids=(), recall=None))):
        found[f"{type} $.session"] = event(type, body, f"{type} $.session", scope="project:b", session=TEXT)
        found[f"{type} $.actor.name"] = event(type, body, f"{type} $.actor.name", scope="project:b", actor=TEXT)
    return found


def test_an_event_that_has_the_text_in_any_place_is_named(home: Home) -> None:
    with Client(home.path, scope=SCOPE, origin="user") as client:
        id = client.capture(TEXT).id
        everywhere = events_with_the_text_somewhere()
        client.log.append(list(everywhere.values()))
        made = plan(home, client.log, SCOPE, [id], only=False)
        named = {f"{item.type} {place}" for item in made.carriers for place in item.places}
        stay = {name for name in everywhere if name.endswith(("$.session", "$.actor.name", "lanes[0]", "embedder"))}
        assert named == everywhere.keys() - stay
        assert {(kept.scope, kept.place, kept.text, kept.events) for kept in made.kept} == {
            ("project:b", "$.session", TEXT, 2),
            ("project:b", "$.actor.name", TEXT, 2),
            (SCOPE, "$.body.lanes[0]", TEXT, 1),
            (SCOPE, "$.body.embedder", TEXT, 1),
        }
        erasure = erase(client, id, everywhere=True)
        assert not erasure.after.proves and erasure.after.needles.hidden == 1
        left = [decode(slot.payload) for number in range(16) for slot in client.log.read(number, 0, 1_000)]
        assert {it.id for it in left if TEXT in repr(it)} == {everywhere[name].id for name in stay}


def test_it_is_gone_for_every_reader_before_any_byte_is(client: Client) -> None:
    id = client.capture(TEXT).id
    client.capture(TEXT.rstrip("."))
    client.project()
    client.append("erased", Erased(ids=(id,)), SCOPE)
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
    assert all(decode(it.payload).body is None for it in log.read(number, slot.offset, 10_000) if it.payload in (slot,))
    with Owner(home, log) as owner:
        owner.rebuild(lambda *_: None)
    client.status(as_of="0s")
    assert remains(home) == []
    assert verify(home, log).ok


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


def test_a_reader_of_an_old_state_is_named_as_what_keeps_it(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_the_command_lists_erases_and_proves(client: Client, tmp_path: Path) -> None:
    id = client.capture(TEXT).id
    dry = call("erase", id, "--dry-run", client=client)
    assert "Zebrafish" in dry.output and client.show(id)
    done = call("erase", id, client=client)
    assert done.exit_code == 0, done.output
    assert "Erased for good" in done.output and "log.db" in done.output
    assert "Zebrafish" not in done.output.partition("Looked for")[2]
    text = tmp_path / "text"
    text.write_text(TEXT)
    again = CliRunner().invoke(main, ["verify", "--erased", id, "--text", str(text), "--home", str(client.home.path)])
    assert again.exit_code == 0 and "Nothing of what was looked for was found." in again.output
    (client.home.path / "stray").write_text(TEXT)
    again = CliRunner().invoke(main, ["verify", "--erased", id, "--text", str(text), "--home", str(client.home.path)])
    assert again.exit_code == 1 and "stray" in again.output


@pytest.mark.parametrize("text", ["bus 4711", TEXT])
def test_what_cannot_be_looked_for_is_not_called_gone(client: Client, tmp_path: Path, text: str) -> None:
    """Of a text that is too short, or that the name of a session says as well."""
    if text == TEXT:
        with Client(client.home.path, scope="project:b", session=TEXT) as other:
            other.capture("Something else.")
    ids = [client.capture(text, "turn").id for _ in range(2)]
    path = tmp_path / "text"
    path.write_text(text)
    for words in (("erase", ids[0], "--only"), ("verify", "--erased", ids[0], "--text", str(path))):
        where = ("--home", str(client.home.path), *(("--scope", SCOPE) if words[0] == "erase" else ()))
        result = CliRunner().invoke(main, [*words, *where])
        assert result.exit_code == 1 and "Not proven" in result.output and "looked for was found" not in result.output
        assert (f"session {TEXT!r} of 1 event in project:b" in result.output) is (text == TEXT)
        again = [word if word != ids[0] or words[0] == "verify" else ids[1] for word in words]
        assert json.loads(CliRunner().invoke(main, [*again, *where, "--json"]).stdout)["proven"] is False


def test_what_was_selected_is_confirmed_first_and_many_go_at_once(client: Client) -> None:
    texts = [f"Secret of Zebrafish number {number}." for number in range(100)]
    said = [captured(text, kind="turn", scope=SCOPE, session="secret") for text in texts]
    client.log.append(said)
    done = document("erase", "--session", "secret", "--yes", client=client)
    assert done["ok"] and [item["id"] for item in done["erased"]] == [event.id for event in said]
    assert not any(found["found"] for found in done["after"]["files"])
    id = client.capture(TEXT, tags=["codename"]).id
    refused = call("erase", "--tag", "codename", client=client)
    assert refused.exit_code == 1 and "--yes" in refused.output
    assert call("erase", "--query", "zebrafish", "--yes", client=client).exit_code == 0
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
        assert result.exit_code == 1
        assert (
            "nothing was erased" in result.output or "has no event" in result.output or "of project:" in result.output
        )
        assert client.log.ends() == ends
    assert erase(client, ours).ok
    again = call("erase", ours, client=client)
    assert again.exit_code == 1 and "Erased before" in again.output and "Not proven" in again.output
    assert call("verify", "--erased", theirs, client=client).exit_code != 0


@pytest.mark.parametrize("place", soaked(["tags", "source", "branch", "path"], "source"))
def test_a_word_of_the_text_in_a_label_of_another_event_leaves_it_unproven(client: Client, place: str) -> None:
    id = client.capture("The vault opens with saffron-lighthouse.").id
    label = ("saffron-lighthouse",) if place == "tags" else "saffron-lighthouse"
    other = client.capture("Something else.", **{place: label}).id
    result = call("erase", id, client=client)
    assert result.exit_code == 1 and "Not proven" in result.output and "saffron, lighthouse" in result.output
    result = call("erase", other, client=client)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("file", ["settings.toml", "folders.json", "copies.json"])
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
        case "copies.json":
            remember_copy(client.home, client.log, str(place))
    assert "saffron" in (client.home.path / file).read_text()
    result = call("erase", id, client=client)
    assert result.exit_code == 0 and "nothing of what was looked for was found" in result.output, result.output
