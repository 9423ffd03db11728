"""PDF, HTML, Office and e-mail to text, in the form of Markdown where the format has headings, lists and tables.

Libraries of the extra `documents` read them, and are loaded when a file needs them; without the extra nothing else is
missing. Nothing here opens a file.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING

from memtape.schemas.events import Origin
from memtape.schemas.private import without_private
from memtape.tools.capture.injected import said
from memtape.tools.capture.lines import MediaLine
from memtape.tools.capture.native_ids import DOCUMENTS, versioned
from memtape.tools.importing.records import EMPTY, Found, Record, Skipped, time_of

if TYPE_CHECKING:
    from email.message import EmailMessage

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_UNPACKED_BYTES = 512 * 1024 * 1024
"""An Office file is a zip archive; one with a larger declared content is skipped."""
MAX_MEDIA = 64

NEEDS = Skipped("a document whose library is missing; in the checkout of Memtape: pip install '.[documents]'")
TOO_LARGE = Skipped(f"a document of more than {MAX_FILE_BYTES // 2**20} MB", problem=True)
_UNPACKS = Skipped(f"an Office file that unpacks to more than {MAX_UNPACKED_BYTES // 2**20} MB", problem=True)
_LOCKED = Skipped("a document that asks for a password", problem=True)
_NO_TEXT = Skipped("a document without text, as a scan is", problem=True)

_NO_TITLES = ("untitled", "(anonymous)")
"""Titles that programs give to a PDF without a title."""
_NOT_READ = ("script", "style", "nav", "noscript", "template")
"""The elements of a page that are not its text."""


def take_document(data: bytes, ending: str, path: str, modified: int) -> Iterator[Found]:
    """Yield a document, or its skip. `ending` is a key of `FORMATS`; `modified` is the default time."""
    read_as, _, origin = FORMATS[ending]
    if len(data) > MAX_FILE_BYTES:
        yield TOO_LARGE
        return
    try:
        read, (at, attached) = read_as(data), _about_mail(data) if ending == ".eml" else (None, ())
    except ModuleNotFoundError:
        yield Skipped(NEEDS.reason, problem=True)
        return
    # Each library raises errors of its own on damaged files, and those of what it is made with.
    except Exception as error:
        yield Skipped(f"damaged, or not what its name says ({type(error).__name__})", problem=True)
        return
    if isinstance(read, Skipped):
        yield read
        return
    text = said(read).strip()
    if not text:
        yield _NO_TEXT if ending == ".pdf" else EMPTY
    else:
        media = tuple(MediaLine(kind="file", uri=name) for name in attached[:MAX_MEDIA])
        yield Record(
            source=DOCUMENTS, native_id=versioned(path, text), kind="document", origin=origin, text=text,
            path=path, at=time_of(at) or modified, media=media,
        )  # fmt: skip


def can_read(ending: str) -> bool:
    """Whether the library is installed that a format needs."""
    _, needs, _ = FORMATS[ending]
    return needs is None or find_spec(needs) is not None


def _pdf(data: bytes) -> str | Skipped:
    from pypdf import PdfReader
    from pypdf.errors import FileNotDecryptedError

    reader = PdfReader(BytesIO(data))
    try:
        pages = [page.extract_text() for page in reader.pages]
    except FileNotDecryptedError:
        return _LOCKED
    title = str((reader.metadata and reader.metadata.title) or "").strip()
    return _titled(title if title.lower() not in _NO_TITLES else "", "\n\n".join(pages))


def _markdown(page: bytes | str) -> str:
    """Return a page of HTML as Markdown."""
    from bs4 import BeautifulSoup, UnicodeDammit
    from markdownify import ATX, MarkdownConverter

    if isinstance(page, bytes):
        page = UnicodeDammit(page, is_html=True).unicode_markup or page.decode(errors="replace")
    soup = BeautifulSoup(without_private(page), "html.parser")  # The tags of what is private are none in Markdown.
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    for element in soup.find_all(_NOT_READ):
        element.decompose()
    has_heading = soup.find("h1") is not None
    text = MarkdownConverter(heading_style=ATX, escape_underscores=False, escape_asterisks=False).convert_soup(
        soup.body or soup
    )
    return _titled("" if has_heading else title, text)


def _word(file: BytesIO) -> str:
    import mammoth

    return _markdown(mammoth.convert_to_html(file).value)


def _slides(file: BytesIO) -> str:
    from pptx import Presentation

    pieces = []
    for number, slide in enumerate(Presentation(file).slides, start=1):
        title = slide.shapes.title
        pieces.append(f"## {_line(title.text_frame.text) if title is not None else ''}".rstrip() + f" (slide {number})")
        for shape in slide.shapes:
            if shape.has_text_frame and (title is None or shape.shape_id != title.shape_id):
                pieces.append(shape.text_frame.text)
            elif shape.has_table:
                pieces.append(_table([cell.text for cell in row.cells] for row in shape.table.rows))
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            pieces.append(slide.notes_slide.notes_text_frame.text)
    return "\n\n".join(piece for piece in pieces if piece.strip())


def _sheets(file: BytesIO) -> str:
    from openpyxl import load_workbook

    book = load_workbook(file, read_only=True, data_only=True)
    pieces = []
    for sheet in book.worksheets:
        rows = ([str(cell) if cell is not None else "" for cell in row] for row in sheet.iter_rows(values_only=True))
        pieces.append(f"## {_line(sheet.title)}\n\n{_table(row for row in rows if any(row))}")
    return "\n\n".join(pieces)


def _message(data: bytes) -> EmailMessage:
    from email import message_from_bytes, policy

    return message_from_bytes(data, policy=policy.default)


def _mail(data: bytes) -> str:
    message = _message(data)
    told = {name: _line(str(message[name] or "")) for name in ("From", "To", "Cc", "Date")}
    head = "\n".join(f"{name}: {value}" for name, value in told.items() if value)
    body = message.get_body(("plain", "html"))
    text = "" if body is None else str(body.get_content())
    if body is not None and body.get_content_subtype() == "html":
        text = _markdown(text)
    return _titled(_line(str(message["Subject"] or "")), f"{head}\n\n{text}")


def _about_mail(data: bytes) -> tuple[object, tuple[str, ...]]:
    """Return the date of a mail, and the names of its attached files."""
    message = _message(data)
    names = (part.get_filename() for part in message.iter_attachments())
    return getattr(message["Date"], "datetime", None), tuple(filter(None, names))


def _office(read: Callable[[BytesIO], str]) -> Callable[[bytes], str | Skipped]:
    """Return the reader of an Office file, which refuses a file that is locked or would unpack to too much."""

    def read_sound(data: bytes) -> str | Skipped:
        if data.startswith(b"\xd0\xcf\x11\xe0"):  # An Office file with a password is no archive, but one of these.
            return _LOCKED
        with zipfile.ZipFile(BytesIO(data)) as archive:
            if sum(info.file_size for info in archive.infolist()) > MAX_UNPACKED_BYTES:
                return _UNPACKS
        return read(BytesIO(data))

    return read_sound


def _table(rows: Iterator[list[str]]) -> str:
    """Return rows as a table of Markdown, a row a line."""
    lines = [f"| {' | '.join(map(_line, row))} |" for row in rows]
    if lines:
        lines.insert(1, "|" + " --- |" * (lines[0].count(" | ") + 1))
    return "\n".join(lines)


def _titled(title: str, text: str) -> str:
    return f"# {_line(title)}\n\n{text}" if title.strip() else text


def _line(text: str) -> str:
    return " ".join(text.split())


FORMATS: dict[str, tuple[Callable[[bytes], str | Skipped], str | None, Origin]] = {
    ".pdf": (_pdf, "pypdf", "user"),
    ".html": (_markdown, "markdownify", "web"),
    ".htm": (_markdown, "markdownify", "web"),
    ".docx": (_office(_word), "mammoth", "user"),
    ".pptx": (_office(_slides), "pptx", "user"),
    ".xlsx": (_office(_sheets), "openpyxl", "user"),
    ".eml": (_mail, None, "web"),
}
"""By the end of a file's name its reader, the module that the reader needs, and the origin of the text.

Pages and mail count as written by others.
"""
