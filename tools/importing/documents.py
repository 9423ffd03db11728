"""Texts of files: notes in Markdown, memory files of Claude Code, and PDF, HTML, Office and e-mail made
Markdown.

A native id has a text's path and digest: a changed or moved text is taken again. Libraries of the extra
`documents` are loaded when a file needs them; without the extra nothing else is missing. Nothing here opens a
file.
"""

from __future__ import annotations

import logging
import re
import zipfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from io import BytesIO
from typing import Any

from memtape.schemas.events import Kind, Origin
from memtape.schemas.private import without_private
from memtape.tools.capture.injected import clean, said
from memtape.tools.capture.native_ids import CLAUDE_CODE, CLAUDE_MEMORY, DOCUMENTS, MARKDOWN, versioned
from memtape.tools.capture.writing import MediaLine
from memtape.tools.importing.records import (
    EMPTY,
    INJECTED,
    Found,
    Record,
    Skipped,
    rewritten,
    text_of,
    time_of,
)

MARKDOWN_ENDINGS = (".md", ".markdown")
Mail = tuple[str, object, tuple[str, ...]]
MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_UNPACKED_BYTES = 512 * 1024 * 1024
"""An Office file is a zip archive; one with a larger declared content is skipped."""
MAX_MEDIA = MAX_TAGS = 64
MAX_FACT_CHARS = 2_000
MAX_FRONT_MATTER_CHARS = 64 * 1_024

NEEDS = Skipped(
    "a document whose library is missing; in the checkout of Memtape: pip install '.[documents]'", named=True
)
TOO_LARGE = Skipped(f"a document of more than {MAX_FILE_BYTES // 2**20} MB", problem=True)
_UNPACKS = Skipped(f"an Office file that unpacks to more than {MAX_UNPACKED_BYTES // 2**20} MB", problem=True)
_LOCKED = Skipped("a document that asks for a password", problem=True)
_NO_TEXT = Skipped("a document without text, as a scan is", problem=True)
_BAD_FRONT = Skipped("front matter that is no YAML", problem=True)
_LEADS_ON = Skipped("a line that leads to another file")

_NO_TITLES = ("untitled", "(anonymous)")
"""Titles that programs give to a PDF without a title."""
_NOT_READ = ("script", "style", "nav", "noscript", "template")
"""The elements of a page that are not its text."""

_FRONT = re.compile(r"(?ms)\A\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_TAG = re.compile(r"(?:(?<=\s)|(?<=\A))#([^\W\d_][\w/-]*|\w*[^\W\d][\w/-]*)")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_BULLET = re.compile(r"^[-*+] +(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_POINTER = re.compile(r"\A(?:\[[^\]]*\]\([^)]*\.md\)|\[\[[^\]]*\]\])")


def take_document(data: bytes, ending: str, path: str, modified: int) -> Iterator[Found]:
    """Yield a document, or its skip. `ending` is a key of `FORMATS`; `modified` is the default time."""
    read_as, _, origin = FORMATS[ending]
    if len(data) > MAX_FILE_BYTES:
        yield TOO_LARGE
        return
    try:
        if ending in _OFFICE and data.startswith(b"\xd0\xcf\x11\xe0"):  # As with a password: no archive.
            yield _LOCKED
            return
        if ending in _OFFICE:
            with zipfile.ZipFile(BytesIO(data)) as archive:
                size = sum(info.file_size for info in archive.infolist())
            if size > MAX_UNPACKED_BYTES:
                yield _UNPACKS
                return
        read = read_as(data)
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
    told, at, attached = read if isinstance(read, tuple) else (read, None, ())
    text = said(told).strip()
    if not text:
        yield _NO_TEXT if ending == ".pdf" else EMPTY
        return
    media = tuple(MediaLine(kind="file", uri=name) for name in attached[:MAX_MEDIA])
    yield Record(
        source=DOCUMENTS, native_id=versioned(path, text), kind="document", origin=origin, text=text,
        path=path, at=time_of(at) or modified, media=media,
    )  # fmt: skip


def front_matter(text: str) -> tuple[dict[str, Any], str, bool]:
    """Return the fields at the head of a note, its body, and whether the head could be read."""
    import yaml

    found = _FRONT.match(text[:MAX_FRONT_MATTER_CHARS])
    if not found:
        return {}, text, True
    try:
        fields = yaml.safe_load(found[1])
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        return {}, text, False
    is_sound = fields is None or isinstance(fields, dict)
    return (fields or {}, text[found.end() :], True) if is_sound else ({}, text, False)


def take_note(text: str, path: str, modified: int) -> Iterator[Found]:
    """Yield a note as a document.

    `path` is below the folder that was named, `modified` the time of a note that does not say its own.
    """
    fields, body, sound = front_matter(clean(text))
    if not sound:
        yield _BAD_FRONT
    times = (time_of(fields.get(key)) for key in ("created", "created_at", "date", "modified"))
    title, told = text_of(fields, "title"), said(body)
    if not told:
        yield INJECTED if body.strip() else EMPTY
        return
    if title and not told.startswith("# "):
        told = f"# {title}\n\n{told}"
    elif told == body.strip():
        told = body  # White space around it is the file's own, which can be read back as it was.
    given = fields.get("tags", fields.get("tag"))
    if isinstance(given, str):
        given = re.split(r"[,\s]+", given)
    given = given if isinstance(given, list) else []
    named = [str(tag).lstrip("#") for tag in given if isinstance(tag, str | int)]
    found = _TAG.findall(_CODE.sub(" ", body))
    yield Record(
        source=MARKDOWN, native_id=versioned(path, told), kind="document", origin="user", text=told,
        path=path, at=next(filter(None, times), modified), tags=_distinct((*named, *found)),
    )  # fmt: skip


def take_memory(text: str, path: str, modified: int, cwd: str | None) -> Iterator[Found]:
    """Yield the records of a Claude Code memory file: each point of MEMORY.md, a topic's file as a whole.

    Points of MEMORY.md that only lead to the file of a topic are left out, since the file says it.
    """
    fields, body, sound = front_matter(clean(text))
    if not sound:
        yield _BAD_FRONT
    metadata = fields.get("metadata")
    type = text_of(metadata, "type") or text_of(fields, "type")
    common: dict[str, Any] = {"origin": "agent", "actor": CLAUDE_CODE, "path": path}
    common |= {"at": modified, "cwd": cwd, "tags": _distinct((type,)) if type else ()}
    index = path.rpartition("/")[2] == "MEMORY.md"
    passages = [body]
    if index:  # The points of lists, and the text between them by paragraphs; headings are left out.
        pieces = enumerate(_BULLET.split(re.sub(r"(?m)^#.*(?:\n|\Z)", "", body)))
        split = ([it] if number % 2 else re.split(r"\n\s*\n", it) for number, it in pieces)
        passages = [text for its in split for text in map(str.strip, its) if text]
    for passage in passages:
        if index and _POINTER.match(passage):
            yield _LEADS_ON
            continue
        kind: Kind = "fact" if len(said(passage)) <= MAX_FACT_CHARS else "document"
        yield rewritten(CLAUDE_MEMORY, path, passage, kind=kind, **common)


def _distinct(tags: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))[:MAX_TAGS]


def can_read(ending: str) -> bool:
    """Whether the library is installed that a format needs."""
    _, needs, _ = FORMATS[ending]
    return needs is None or find_spec(needs) is not None


def _pdf(data: bytes) -> str | Skipped:
    from pypdf import PdfReader
    from pypdf.errors import FileNotDecryptedError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # It tells stderr of each mistake of a file.
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
    # The tags of what is private are none in Markdown.
    soup = BeautifulSoup(without_private(page), "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    for element in soup.find_all(_NOT_READ):
        element.decompose()
    has_heading = soup.find("h1") is not None
    maker = MarkdownConverter(heading_style=ATX, escape_underscores=False, escape_asterisks=False)
    return _titled("" if has_heading else title, maker.convert_soup(soup.body or soup))


def _word(data: bytes) -> str:
    import mammoth

    return _markdown(mammoth.convert_to_html(BytesIO(data)).value)


def _slides(data: bytes) -> str:
    from pptx import Presentation

    pieces = []
    for number, slide in enumerate(Presentation(BytesIO(data)).slides, start=1):
        title = slide.shapes.title
        named = f" {_line(title.text_frame.text)}".rstrip() if title is not None else ""
        pieces.append(f"##{named} (slide {number})")
        for shape in slide.shapes:
            if shape.has_text_frame and (title is None or shape.shape_id != title.shape_id):
                pieces.append(shape.text_frame.text)
            elif shape.has_table:
                pieces.append(_table([cell.text for cell in row.cells] for row in shape.table.rows))
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            pieces.append(slide.notes_slide.notes_text_frame.text)
    return "\n\n".join(piece for piece in pieces if piece.strip())


def _sheets(data: bytes) -> str:
    from openpyxl import load_workbook

    book = load_workbook(BytesIO(data), read_only=True, data_only=True)
    pieces = []
    for sheet in book.worksheets:
        every = sheet.iter_rows(values_only=True)
        rows = ([str(cell) if cell is not None else "" for cell in row] for row in every)
        pieces.append(f"## {_line(sheet.title)}\n\n{_table(row for row in rows if any(row))}")
    return "\n\n".join(pieces)


def _mail(data: bytes) -> Mail:
    """Return an e-mail's text, its moment and the names of its attached files."""
    from email import message_from_bytes, policy

    message = message_from_bytes(data, policy=policy.default)
    told = {name: _line(str(message[name] or "")) for name in ("From", "To", "Cc", "Date")}
    head = "\n".join(f"{name}: {value}" for name, value in told.items() if value)
    body = message.get_body(("plain", "html"))
    text = "" if body is None else str(body.get_content())
    if body is not None and body.get_content_subtype() == "html":
        text = _markdown(text)
    attached = filter(None, (part.get_filename() for part in message.iter_attachments()))
    titled = _titled(_line(str(message["Subject"] or "")), f"{head}\n\n{text}")
    return titled, getattr(message["Date"], "datetime", None), tuple(attached)


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


_OFFICE = (".docx", ".pptx", ".xlsx")
FORMATS: dict[str, tuple[Callable[[bytes], str | Mail | Skipped], str | None, Origin]] = {
    ".pdf": (_pdf, "pypdf", "user"),
    ".html": (_markdown, "markdownify", "web"),
    ".htm": (_markdown, "markdownify", "web"),
    ".docx": (_word, "mammoth", "user"),
    ".pptx": (_slides, "pptx", "user"),
    ".xlsx": (_sheets, "openpyxl", "user"),
    ".eml": (_mail, None, "web"),
}
"""By the end of a file's name its reader, the module that the reader needs, and the origin of the text.

Pages and mail count as written by others.
"""
