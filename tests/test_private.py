"""Every text of an event has its place, and what is `<private>…</private>` reaches no log by any door."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec
import pytest
import transcripts as t
from builders import captured, event, forgotten, recalled, restored, settled
from commanding import call
from hypothesis import given
from hypothesis import strategies as st
from met import events_of
from msgspec.structs import replace
from tables import table

from memtape.schemas.errors import Denied
from memtape.schemas.events import EVENT_TYPES, Captured
from memtape.schemas.log import Log
from memtape.schemas.places import ZONE_END, ZONE_START
from memtape.schemas.private import MARK, without_marks, without_private, without_private_parts
from memtape.schemas.texts import texts_of, texts_of_body, with_texts
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import MemoryLog
from memtape.tools.capture.native_ids import CLAUDE_CODE, digest, heard
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.client import Client
from memtape.tools.importing import documents
from memtape.tools.importing.finding import ImportSource, named_files
from memtape.tools.importing.records import Record
from memtape.tools.importing.taking import Importer
from memtape.tools.keep.zones import Zones

HIDDEN = "heliotrope"
"""What is private in these tests: no other text has the word."""


@pytest.mark.parametrize(("said", "kept"), table("private")["cases"])
def test_what_stands_in_tags_is_left_out(said: str, kept: str) -> None:
    assert without_private(said) == kept


pieces = st.lists(
    st.sampled_from(
        ["<private>", "</private>", "<PRIVATE x='<'>", "< / private>", "`", "```\n", "<", ">", "private", "a",
         " ",
         "\n", "<private ", "/", MARK, "\x00"]
    ),
    max_size=30,
)  # fmt: skip


@given(pieces.map("".join))
def test_a_text_is_public_once_its_private_parts_are_out(text: str) -> None:
    public = without_private(text)
    assert without_private(public) == public
    assert len(public) <= len(text)
    lines = without_private(text, keeps_lines=True)
    assert lines.count("\n") == text.count("\n")


def depth_hidden(parts: list[str]) -> list[bool]:
    """Which words are private, by counting: a word is, if a tag before it is open."""
    before = [parts[:place] for place in range(len(parts))]
    return [its.count("<private>") > its.count("</private>") for its in before]


@given(st.lists(st.sampled_from(["<private>", "word"]), max_size=12), st.data())
def test_what_is_private_by_counting_tags_is_left_out(parts: list[str], data: st.DataObject) -> None:
    told, depth = [], 0
    for part in parts:
        while depth and data.draw(st.booleans()):
            told.append("</private>")
            depth -= 1
        depth += part == "<private>"
        told.append(part)
    numbered = [f"word{place}" if part == "word" else part for place, part in enumerate(told)]
    hidden = depth_hidden(told)
    kept = without_private(" ".join(numbered)).split()
    assert [word for word in kept if word.startswith("word")] == [
        word
        for word, is_hidden in zip(numbered, hidden, strict=True)
        if word.startswith("word") and not is_hidden
    ]  # fmt: skip


def test_a_text_made_to_take_long_does_not() -> None:
    for text in (part * 20_000 for part in ("<private ", "<private>", "<", "< \n", "</private>")):
        assert len(without_private(text)) <= len(text)
    deep = "<private a" + "<private>" * 5_000 + "</private>" * 5_000 + ">" * 100
    assert without_private(without_private(deep)) == without_private(deep)


@pytest.mark.parametrize("type", EVENT_TYPES)
def test_no_text_of_any_type_of_event_passes_the_door_with_its_private_parts(type: str) -> None:
    body = with_texts(
        filled(EVENT_TYPES[type].body, "$.body", {}),
        lambda said: said.text if said.role == "program" else f"{said.place} <private>{HIDDEN}</private>",
    )
    given = event(type, body, "x", session=f"s <private>{HIDDEN}", actor=f"Ada <private>{HIDDEN}")
    public = without_private_parts(given, b"<private>")
    assert public is not None
    texts = {said.place: said.text for said in texts_of(public) if said.role != "program"}
    places = [said.place for said in texts_of(given) if said.role != "program"]
    who = {"$.session": f"s {MARK}", "$.actor.name": f"Ada {MARK}"}
    assert texts == {place: f"{place} {MARK}" for place in places} | who
    assert without_private_parts(public, b"<private>") is None


def test_every_log_keeps_private_parts_out_and_so_does_a_cut(home: Path) -> None:
    secret = f"<private>{HIDDEN}</private>"
    events = [
        captured(f"a {secret}", tags=(f"t {secret}",), path=secret, session=secret, actor=secret),
        recalled([], "r", query=f"what is {secret}"),
        replace(forgotten(["a"], "f"), body=replace(forgotten(["a"], "f").body, reason=secret)),
        replace(restored(["a"], "g"), body=replace(restored(["a"], "g").body, reason=secret)),
    ]
    kept = settled(("a", "b"), ["a"], "s")
    events.append(replace(kept, body=replace(kept.body, note=secret)))
    with Client(home, scope="project:test") as client:
        logs: list[Log] = [client.log, MemoryLog()]
        for log in logs:
            log.append(events)
            held = b"".join(slot.payload for n in range(log.partitions) for slot in log.read(n, 0, 100))
            assert HIDDEN.encode() not in held and held.count(MARK.encode()) == 9
    assert not any(HIDDEN.encode() in path.read_bytes() for path in home.rglob("*") if path.is_file())
    redactor = Redactor(Home(home))
    text = f"`<private>` {HIDDEN} {'x ' * 9_000}`</private>`"
    assert HIDDEN not in redactor.head(text, 2_000) + redactor.head(f"<private>{HIDDEN}{text}", 50)
    assert redactor.text("the password is <private>x</private>.") == "the password is [private]."
    assert without_marks("[private] a [private]") == "a"


def held(home: Path) -> list[str]:
    """Return the texts of all captures, and make sure that nothing private stands in any file of a home."""
    with Client(home, scope="project:test") as client:
        bodies = [event.body for event in events_of(client.log)]
        client.project()
    assert not [path for path in home.rglob("*") if path.is_file() and HIDDEN.encode() in path.read_bytes()]
    return [body.text for body in bodies if isinstance(body, Captured)]


def test_commands_and_client_store_what_is_public_and_refuse_what_is_not(home: Path) -> None:
    told: dict[str, Any] = {"home": home, "scope": "project:test"}
    assert "1 private" in call("capture", f"the port <private>{HIDDEN}</private> is 5433", **told).output
    assert "nothing was stored" in call("capture", f"<private>{HIDDEN}</private>", code=1, **told).output
    lines = f'{{"text": "one <private>{HIDDEN}"}}\n{{"text": "<private>{HIDDEN}"}}\n{{"text": "three"}}\n'
    taken = call("capture", "-", input=lines, code=1, **told).output
    assert "Captured 2 events" in taken and "Line 2 was refused" in taken
    with Client(home, scope="project:test", origin="user") as client:
        with pytest.raises(Denied):
            client.capture(f"<private>{HIDDEN}")
        long = f"{'A sentence of it. ' * 80}<private>{f'{HIDDEN}. ' * 300}</private> {'The end of it. ' * 80}"
        client.capture(long, "document")
        found = client.search(f"port <private>{HIDDEN}</private>")
        assert found.results[0].text == "the port [private] is 5433"
        client.forget(found.results[0].id, reason=f"since <private>{HIDDEN}</private>")
    assert "private as a whole" in call("search", f"<private>{HIDDEN}</private>", code=1, **told).output
    texts = held(home)
    assert texts[:3] == ["the port [private] is 5433", "one [private]", "three"] and len(texts) > 4


def test_imports_of_every_format_leave_private_parts_out(home: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    private = f"<private>\n\n- {HIDDEN}\n\n# {HIDDEN}\n</private>"
    (notes / "a.md").write_text(f"# Title\n\nkept one\n\n{private}\n\nkept two\n")
    (notes / "b.md").write_text(f"---\npermalink: b\n---\n- [t] kept three\n<private>\n- [t] {HIDDEN}\n")
    (notes / "c.md").write_text(f"<private>{HIDDEN}")
    page = f"<p>kept four <private>{HIDDEN}</p><p>{HIDDEN}</private></p><p>kept five</p>"
    (notes / "d.html").write_text(page)
    session = tmp_path / "session.jsonl"
    hidden = f"<private>{HIDDEN}</private>"
    answer = {"type": "text", "text": f"<private>{HIDDEN}"}
    said = [
        {"type": "user", "uuid": "1", "message": {"content": f"kept six {hidden}"}},
        {"type": "assistant", "uuid": "2", "message": {"content": [answer]}},
    ]
    rows = [row | {"sessionId": "s", "cwd": str(tmp_path)} for row in said]
    session.write_bytes(t.lines(rows))
    with Client(home, scope="project:test") as client:
        importer = Importer(client, "project:test")
        told = ImportSource(session, CLAUDE_CODE, "session.jsonl", str(tmp_path), "s")
        summary = importer.take([*named_files(notes), told])
    assert summary.skipped["private as a whole, and not taken"] == 2 and not summary.problem_count
    texts = "\n".join(held(home))
    assert all(f"kept {number}" in texts for number in "one two three four five six".split())


def test_what_is_private_in_a_zone_stays_in_its_file_and_is_not_taken(home: Path) -> None:
    with Client(home, scope="project:test") as client:
        client.capture("something")
        client.project()
        page = Home(home).scope_folder("project:test") / "MEMORY.md"
        hidden = f"<private>{HIDDEN}</private>"
        written = f"- kept one <private>{HIDDEN}\n- {HIDDEN}\n</private>\n- {hidden}\n- kept two\n"
        text = page.read_text()
        start = text.index(ZONE_START) + len(ZONE_START)
        page.write_text(f"{text[:start]}\n{written}{text[text.index(ZONE_END) :]}")
        zones = Zones(Home(home), client.log)
        zones.catch_up()
        client.project()
        assert written in page.read_text() and zones.done == 2
        page.unlink()
    assert held(home)[1:] == ["kept one [private]", "kept two"]


def test_an_id_tells_nothing_of_what_is_private_and_a_tag_of_it_is_no_element() -> None:
    one, other = ("the key is <private>a</private>", "the key is <private>b</private>")
    assert heard("s", "user", one) == heard("s", "user", other)
    assert digest(one) == digest("the key is [private]")
    found = list(documents.take_document(b"<p>kept <private>x</private>, <b>bold</b></p>", ".html", "a", 0))
    assert isinstance(found[0], Record) and found[0].text == "kept [private], **bold**"


def filled(hint: Any, place: str, texts: dict[str, str]) -> Any:
    """Make a value of a type in which every text is its place, and note it; ids and fixed words are none."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is typing.Annotated:
        pattern = next((meta.pattern for meta in arguments[1:] if isinstance(meta, msgspec.Meta)), None)
        return "an id" if arguments[0] is str and pattern else filled(arguments[0], place, texts)
    if origin in (typing.Union, types.UnionType):
        return filled(next(argument for argument in arguments if argument is not type(None)), place, texts)
    if origin is Literal:
        return arguments[0]
    if origin is tuple:
        return tuple(filled(arguments[0], f"{place}[{number}]", texts) for number in range(2))
    if origin is dict and typing.get_origin(arguments[0]) is Literal:
        return {typing.get_args(arguments[0])[0]: filled(arguments[1], place, texts)}
    if origin is dict:
        texts[place] = f"a key of {place}"
        return {texts[place]: filled(arguments[1], f"{place}.{texts[place]}", texts)}
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        hints = typing.get_type_hints(hint, include_extras=True)
        return hint(**{name: filled(inner, f"{place}.{name}", texts) for name, inner in hints.items()})
    if hint is str:
        texts[place] = f"a text at {place}"
        return texts[place]
    if hint in (int, bool, bytes):
        return hint()
    raise AssertionError(f"{place} has the type {hint}, which this test has to learn.")


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from (found for part in pair for found in strings(part))
    elif isinstance(value, (list, tuple)):
        yield from (found for inner in value for found in strings(inner))


@pytest.mark.parametrize("type", EVENT_TYPES)
def test_every_text_of_a_body_is_yielded_at_its_place_and_can_be_changed(type: str) -> None:
    texts: dict[str, str] = {}
    body = filled(EVENT_TYPES[type].body, "$.body", texts)
    assert {said.place: said.text for said in texts_of_body(body)} == texts
    changed = with_texts(body, lambda said: "changed")
    assert not any("$.body" in string for string in strings(msgspec.to_builtins(changed)))
    assert with_texts(body, lambda said: said.text) == body


def test_what_somebody_said_is_told_apart_from_names_and_labels() -> None:
    roles: dict[str, list[str]] = {}
    for type in EVENT_TYPES:
        for said in texts_of_body(filled(EVENT_TYPES[type].body, "$.body", {})):
            roles.setdefault(said.role, []).append(f"{type} {said.place.removeprefix('$.body.')}")
    told = {role: " ".join(place for place in places if "[1]" not in place) for role, places in roles.items()}
    assert told == table("text-roles")["roles"]
    blank = event("captured", None, "x", session="a session", name="Ada")
    found = {said.place: said.text for said in texts_of(blank)}
    assert found == {"$.session": "a session", "$.actor.name": "Ada"}
