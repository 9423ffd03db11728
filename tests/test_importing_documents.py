"""PDF, HTML, Office and e-mail: what of a file is taken, and that a bad file is named and stops nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tables import DATA
from test_importing import SCOPE, body, events, put, take
from test_importing import client as client  # A fixture.

from memtape.schemas.times import parse_time
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.importing import documents
from memtape.tools.importing.documents import FORMATS, can_read, take_document
from memtape.tools.importing.records import Record, Skipped


def file(name: str) -> bytes:
    """Return a document of `data/documents`."""
    return (DATA / "documents" / name).read_bytes()


def needs(ending: str) -> None:
    if not can_read(ending):
        pytest.skip(f"the extra documents, by which {ending} is read, is not installed")


def read_of(data: bytes, ending: str) -> Record | Skipped:
    (found,) = take_document(data, ending, f"file{ending}", 7)
    return found


def taken(data: bytes, ending: str) -> Record:
    found = read_of(data, ending)
    assert isinstance(found, Record), found
    return found


def refused(data: bytes, ending: str) -> str:
    found = read_of(data, ending)
    assert isinstance(found, Skipped) and found.problem
    return found.reason


def test_a_pdf_gives_its_pages_and_its_title() -> None:
    needs(".pdf")
    found = taken(file("tide.pdf"), ".pdf")
    assert found.text == "# Tide tables\n\nThe gauge reads at noon.\n\nPage two."
    assert (found.origin, found.at, found.kind) == ("user", 7, "document")
    assert taken(file("untitled.pdf"), ".pdf").text == "Only this."
    assert "as a scan is" in refused(file("scan.pdf"), ".pdf")


def test_a_page_gives_what_is_read_of_it() -> None:
    needs(".html")
    found = taken(file("harbour.html"), ".html")
    assert found.text.startswith("# Harbour\n\n") and "## Fees" in found.text and "| B7 |" in found.text
    assert not any(word in found.text for word in ("color", "alert", "Home"))
    assert found.origin == "web"
    assert "Café" in taken('<meta charset="iso-8859-1"><p>Café</p>'.encode("latin-1"), ".htm").text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fees.docx", "# Fees\n\nA berth is free."),
        ("fees.pptx", "## Fees (slide 1)\n\nA berth costs 42 euros.\n\nSay it slowly."),
        ("berths.xlsx", "## Berths\n\n| Berth | Price |\n| --- | --- |\n| B7 | 42 |"),
    ],
)
def test_an_office_file_gives_headings_texts_notes_and_tables(name: str, text: str) -> None:
    needs(name[-5:])
    assert taken(file(name), name[-5:]).text == text


def test_mail_gives_its_head_its_body_and_the_names_of_what_came_along() -> None:
    found = taken(file("buoy.eml"), ".eml")
    assert found.text.startswith("# Größe der Boje\n\nFrom: Mira <mira@h.example>\nTo: Ada <ada@h.example>\nDate: ")
    assert found.text.endswith("The buoy, Café side.")
    assert found.at == parse_time("2026-02-02T08:30:00Z", 0) and found.origin == "web"
    assert [media.uri for media in found.media] == ["buoy.bin"]


def test_mail_of_html_alone_is_read_as_a_page() -> None:
    needs(".html")
    assert taken(file("buoy-html.eml"), ".eml").text.endswith("The buoy, **Café** side.")


@pytest.mark.parametrize("ending", [ending for ending in FORMATS if ending not in (".eml", ".html", ".htm")])
def test_what_is_damaged_is_named(ending: str) -> None:
    needs(ending)
    for data in (b"", b"no such file", b"PK\x03\x04 cut", b"%PDF-1.4 cut", file("fees.docx")[:200]):
        assert "damaged" in refused(data, ending)


def test_what_asks_for_a_password_or_unpacks_to_too_much_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    needs(".docx")
    assert "password" in refused(b"\xd0\xcf\x11\xe0" + bytes(600), ".docx")
    monkeypatch.setattr(documents, "MAX_UNPACKED_BYTES", 10)
    assert "unpacks" in refused(file("fees.docx"), ".docx")
    monkeypatch.setattr(documents, "MAX_FILE_BYTES", 10)
    assert "more than" in refused(file("buoy.eml"), ".eml")


def test_a_folder_is_imported_once_and_found(client: Client, tmp_path: Path) -> None:
    for ending in FORMATS:
        needs(ending)
    names = ["berths.xlsx", "buoy.eml", "c/fees.docx", "fees.pptx", "harbour.html", "tide.pdf"]
    held = {name: file(Path(name).name) for name in names} | {"h.pdf": b"broken", "i.bin": b"\0"}
    for name, data in held.items():
        put(tmp_path / "files", name, data)
    summary = take(client, tmp_path / "files")
    assert (summary.taken, summary.problem_count, summary.unread) == (6, 1, 1)
    assert sorted(str(body(event).path) for event in events(client.log)) == names
    assert take(client, tmp_path / "files", reread=True).taken == 0
    (tmp_path / "files" / "tide.pdf").touch()
    assert take(client, tmp_path / "files").taken == 0
    assert client.search("gauge at noon", limit=1).results[0].path == "tide.pdf"


def test_a_page_beside_an_export_is_the_exports(client: Client, tmp_path: Path) -> None:
    put(tmp_path / "export", "chat.html", file("harbour.html"))
    put(tmp_path / "export", "conversations.json", "[]")
    assert take(client, tmp_path / "export").taken == 0


def test_without_the_library_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "can_read", lambda ending: False)
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    put(tmp_path / "files", "a.pdf", file("tide.pdf"))
    put(tmp_path / "files", "b.md", "A note.")
    run = CliRunner().invoke
    alone = run(main, ["import", str(tmp_path / "files" / "a.pdf"), "--scope", SCOPE])
    assert alone.exit_code == 1 and "pip install '.[documents]'" in alone.stderr
    folder = run(main, ["import", str(tmp_path / "files"), "--scope", SCOPE, "--json"])
    told = json.loads(folder.stdout)
    assert (folder.exit_code, told["taken"]) == (0, 1)
    assert told["skipped"] == {documents.NEEDS.reason: 1}


@pytest.mark.parametrize("text", ["\n\n# Gauges\r\n\r\n" + "Read at noon.\r\n" * 200 + "\n", "A short note.\n"])
def test_a_note_without_front_matter_reads_back_byte_for_byte(client: Client, tmp_path: Path, text: str) -> None:
    path = put(tmp_path, "note.md", text)
    assert take(client, path).taken == 1
    for event in events(client.log):
        assert client.whole(event.id).text.encode() == path.read_bytes()
