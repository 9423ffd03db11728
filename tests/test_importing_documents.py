"""PDF, HTML, Office and e-mail: what of a file is taken, and that a bad file is named and stops nothing."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_importing import SCOPE, body, events, put, take

from memtape.schemas.times import parse_time
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.importing import documents
from memtape.tools.importing.documents import FORMATS, can_read, take_document
from memtape.tools.importing.records import Record, Skipped

PAGE = """<html><head><title>Harbour</title><style>p{color:red}</style><script>alert("no text")</script></head><body>
<nav>Home</nav><h2>Fees</h2><p>A berth costs 42 euros.</p><table><tr><th>Berth</th></tr><tr><td>B7</td></tr></table>
</body></html>"""


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path / "home", scope=SCOPE, actor="Ada", origin="user") as client:
        yield client


def pdf(*pages: str, title: str = "") -> bytes:
    """Return a PDF with a line of text on each page."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET"
        font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * number} 0 R /Resources {font} >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    data, places = b"%PDF-1.4\n", []
    for number, held in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{held}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\n"
    return data + f"{end}startxref\n{len(data)}\n%%EOF".encode()


def word(*paragraphs: tuple[str, str]) -> bytes:
    """Return a document of Word of paragraphs, each with its style."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    said = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in paragraphs
    )
    kinds = "http://schemas.openxmlformats.org/package/2006"
    types = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    of_document = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    files = {
        "[Content_Types].xml": f'<Types xmlns="{kinds}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" '
        f'ContentType="{types}.document.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{kinds}/relationships"><Relationship Id="r1" '
        f'Type="{of_document}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{kinds}/relationships"><Relationship Id="s1" '
        f'Type="{of_document}/styles" Target="styles.xml"/></Relationships>',
        "word/styles.xml": f'<w:styles {space}><w:style w:type="paragraph" w:styleId="Heading1">'
        '<w:name w:val="heading 1"/></w:style></w:styles>',
        "word/document.xml": f"<w:document {space}><w:body>{said}</w:body></w:document>",
    }
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + text)
    return data.getvalue()


def slides() -> bytes:
    from pptx import Presentation

    deck, data = Presentation(), BytesIO()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Fees"
    slide.placeholders[1].text = "A berth costs 42 euros."
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    deck.save(data)
    return data.getvalue()


def sheets() -> bytes:
    from openpyxl import Workbook

    book, data = Workbook(), BytesIO()
    book.active.title = "Berths"
    for row in (["Berth", "Price"], [], ["B7", 42]):
        book.active.append(row)
    book.save(data)
    return data.getvalue()


def mail(html: bool = False) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = (
        "Mira <mira@h.example>",
        "Ada <ada@h.example>",
        "Größe der Boje",
    )
    message["Date"] = "Mon, 02 Feb 2026 09:30:00 +0100"
    if html:
        message.set_content("<p>The buoy, <b>Café</b> side.</p>", subtype="html", charset="iso-8859-1")
    else:
        message.set_content("The buoy, Café side.\n")
        message.add_attachment(b"\0", maintype="application", subtype="octet-stream", filename="buoy.bin")
    return bytes(message)


def needs(ending: str) -> None:
    if not can_read(ending):
        pytest.skip(f"the extra documents, by which {ending} is read, is not installed")


def taken(data: bytes, ending: str) -> Record:
    (found,) = take_document(data, ending, f"file{ending}", 7)
    assert isinstance(found, Record), found
    return found


def refused(data: bytes, ending: str) -> str:
    (found,) = take_document(data, ending, f"file{ending}", 7)
    assert isinstance(found, Skipped) and found.problem
    return found.reason


def test_a_pdf_gives_its_pages_and_its_title() -> None:
    needs(".pdf")
    found = taken(pdf("The gauge reads at noon.", "Page two.", title="Tide tables"), ".pdf")
    assert found.text == "# Tide tables\n\nThe gauge reads at noon.\n\nPage two."
    assert (found.origin, found.at, found.kind) == ("user", 7, "document")
    assert taken(pdf("Only this.", title="untitled"), ".pdf").text == "Only this."
    assert "as a scan is" in refused(pdf(""), ".pdf")


def test_a_page_gives_what_is_read_of_it() -> None:
    needs(".html")
    found = taken(PAGE.encode(), ".html")
    assert found.text.startswith("# Harbour\n\n") and "## Fees" in found.text and "| B7 |" in found.text
    assert not any(word in found.text for word in ("color", "alert", "Home"))
    assert found.origin == "web"
    assert "Café" in taken('<meta charset="iso-8859-1"><p>Café</p>'.encode("latin-1"), ".htm").text


@pytest.mark.parametrize(
    ("ending", "make", "text"),
    [
        (".docx", lambda: word(("Heading1", "Fees"), ("Normal", "A berth is free.")), "# Fees\n\nA berth is free."),
        (".pptx", slides, "## Fees (slide 1)\n\nA berth costs 42 euros.\n\nSay it slowly."),
        (".xlsx", sheets, "## Berths\n\n| Berth | Price |\n| --- | --- |\n| B7 | 42 |"),
    ],
)  # fmt: skip
def test_an_office_file_gives_headings_texts_notes_and_tables(
    ending: str, make: Callable[[], bytes], text: str
) -> None:
    needs(ending)
    assert taken(make(), ending).text == text


def test_mail_gives_its_head_its_body_and_the_names_of_what_came_along() -> None:
    found = taken(mail(), ".eml")
    assert found.text.startswith("# Größe der Boje\n\nFrom: Mira <mira@h.example>\nTo: Ada <ada@h.example>\nDate: ")
    assert found.text.endswith("The buoy, Café side.")
    assert found.at == parse_time("2026-02-02T08:30:00Z", 0) and found.origin == "web"
    assert [media.uri for media in found.media] == ["buoy.bin"]


def test_mail_of_html_alone_is_read_as_a_page() -> None:
    needs(".html")
    assert taken(mail(html=True), ".eml").text.endswith("The buoy, **Café** side.")


@pytest.mark.parametrize("ending", [ending for ending in FORMATS if ending not in (".eml", ".html", ".htm")])
def test_what_is_damaged_is_named(ending: str) -> None:
    needs(ending)
    for data in (b"", b"no such file", b"PK\x03\x04 cut", b"%PDF-1.4 cut", word(("Normal", "x"))[:200]):
        assert "damaged" in refused(data, ending)


def test_what_asks_for_a_password_or_unpacks_to_too_much_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    needs(".docx")
    assert "password" in refused(b"\xd0\xcf\x11\xe0" + bytes(600), ".docx")
    monkeypatch.setattr(documents, "MAX_UNPACKED_BYTES", 10)
    assert "unpacks" in refused(word(("Normal", "x")), ".docx")
    monkeypatch.setattr(documents, "MAX_FILE_BYTES", 10)
    assert "more than" in refused(mail(), ".eml")


def test_a_folder_is_imported_once_and_found(client: Client, tmp_path: Path) -> None:
    for ending in FORMATS:
        needs(ending)
    made = {"a.pdf": pdf("The gauge reads at noon."), "b.html": PAGE.encode(), "c/d.docx": word(("Normal", "Word."))}
    made |= {"e.pptx": slides(), "f.xlsx": sheets(), "g.eml": mail(), "h.pdf": b"broken", "i.bin": b"\0"}
    for name, data in made.items():
        put(tmp_path / "files", name, data)
    summary = take(client, tmp_path / "files")
    assert (summary.taken, summary.problem_count, summary.unread) == (6, 1, 1)
    assert sorted(str(body(event).path) for event in events(client.log)) == [
        "a.pdf", "b.html", "c/d.docx", "e.pptx", "f.xlsx", "g.eml"
    ]  # fmt: skip
    assert take(client, tmp_path / "files", reread=True).taken == 0
    (tmp_path / "files" / "a.pdf").touch()
    assert take(client, tmp_path / "files").taken == 0
    assert client.search("gauge at noon", limit=1).results[0].path == "a.pdf"


def test_a_page_beside_an_export_is_the_exports(client: Client, tmp_path: Path) -> None:
    put(tmp_path / "export", "chat.html", PAGE)
    put(tmp_path / "export", "conversations.json", "[]")
    assert take(client, tmp_path / "export").taken == 0


def test_without_the_library_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "can_read", lambda ending: False)
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    put(tmp_path / "files", "a.pdf", pdf("Noon."))
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
