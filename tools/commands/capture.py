"""The commands that append captures and uses. None of them imports LanceDB to capture."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import click
import msgspec

from memtape.schemas.errors import InvalidEvent, InvalidScope, MemtapeError, Paused
from memtape.schemas.events import Kind
from memtape.schemas.times import parse_time
from memtape.schemas.visible import many
from memtape.tools.ask.telling import AWAY, hidden_told, redacted
from memtape.tools.capture.lines import Line, parse_line
from memtape.tools.capture.profiles import check_storing
from memtape.tools.capture.writing import Receipt, now_us
from memtape.tools.client import Client
from memtape.tools.commands.options import (
    KINDS,
    Output,
    is_json,
    print_json,
    print_output,
    progress,
    say,
    say_some,
    with_arguments,
    with_client,
)
from memtape.tools.commands.projects import say_where_it_was

MAX_LINE_BYTES = 16 * 1024 * 1024
SHOWN_IDS = 20
BATCH_LINES = 1_000
_BLANK = b" \t\r\n\v\f\xef\xbb\xbf"
"""Characters before a first letter: blanks, and the mark that some programs put at the head of a file."""


@click.command()
@click.argument("text", required=False)
@click.option(
    "--file",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Take the text of a file; a .jsonl file is read as JSON lines.",
)
@click.option("--kind", type=click.Choice(KINDS), help="By default fact, and document for a file.")
@with_arguments("capture", "tags", "importance", "source")
@click.option("--native-id", help="The source's own id: capturing it again adds nothing.")
@click.option("--at", help="When it happened: ISO 8601 or an age such as 3d. By default now.")
@click.option("--branch", help="The branch of the repository that it is about.")
@with_client
def capture(client: Client, text: str | None, path: Path | None, kind: Kind | None, **fields: Any) -> None:
    """Put a text on the log: TEXT, a file, or stdin.

    With - as TEXT, stdin is JSON lines if it begins with {, one capture each: {"text": "…", "kind": "turn",
    "at": "…", "actor": "…", "session": "…", "tags": ["…"], "source": "…", "native_id": "…"}. Only text is
    needed. They are stored in batches, each whole or not at all; a refused line is named and the others are
    kept. If stdin begins with anything else it is one text, as without -.

    Secrets in the text, such as keys, tokens and passwords, are replaced before it is stored. Files with
    nothing but secrets (.env, *.pem, .netrc and the like) are refused.

    \b
    Example:
      memtape capture "The staging database listens on port 5433." --tag infra
      memtape capture - < conversation.jsonl
      git log -1 --format=%B | memtape capture - --kind journal
    """
    say_where_it_was(client)
    check_storing(client.home.path, lambda: client.scope)
    if path is not None and path.suffix == ".jsonl":
        client.redactor.check_path(str(path))
        with path.open("rb") as file:
            _capture_lines(client, kind, enumerate(_raw_lines(file), start=1), path.stat().st_size)
        return
    if text == "-" and path is None:
        head = _head(sys.stdin.buffer)
        if head.endswith(b"{"):
            lines = enumerate(_raw_lines(sys.stdin.buffer, begun=b"{"), start=1 + head.count(b"\n"))
            _capture_lines(client, kind, lines, None)
            return
        text = decoded(head + sys.stdin.buffer.read())
    if path is not None:
        client.redactor.check_path(str(path))
    said = _read_text(text, path)
    line = Line(text=said, kind=kind or ("document" if path else "fact"), **fields)
    if line.source is None and path is not None:
        line = msgspec.structs.replace(line, source=path.name)
    receipts = client.capture_many([line])
    for _, error in receipts.refused:
        raise error
    print_output(_receipts(client, receipts))
    if receipts[0].spooled:
        say(AWAY, err=True)


def _receipts(client: Client, receipts: Sequence[Receipt]) -> Output:
    """Yield the receipts of one text: several for a document in parts."""
    first = receipts[0]
    about = {"redacted": dict(first.redacted), "profile": first.profile} | ({"hidden": True} if first.hidden else {})
    waits = {"spooled": True} if first.spooled else {}
    if len(receipts) == 1:
        yield {"id": first.id} | (waits or msgspec.structs.asdict(first.position)) | about
    else:
        yield {"count": len(receipts), "ids": [receipt.id for receipt in receipts]} | waits | about
    parts = f" in {len(receipts)} parts" if len(receipts) > 1 else ""
    place = f"partition {first.position.partition}, offset {first.position.offset}"
    if first.spooled or not client.profile.keeps:
        place = "in the spool" if first.spooled else "kept nowhere"
    yield f"{first.id}{parts} ({client.scope}, {place}, profile {first.profile})"
    yield from capture_notes(first.hidden, first.id, first.redacted)


def capture_notes(is_hidden: bool, id: str, counts: Mapping[str, int]) -> Iterator[str]:
    """Yield what else there is to say of a capture: what was redacted, and that it is hidden."""
    if told := redacted(counts):
        yield told
    if is_hidden:
        yield f"It is hidden: the same was forgotten. To show it: memtape restore {id}"


@click.command()
@with_arguments("agents used")
@with_client
def used(client: Client, ids: tuple[str, ...], recall: str | None) -> Output:
    """Name the memories or turns that shaped an answer: they are found sooner, and linked with each other.

    Looking at a result does not count. With a session, its next answer that carries specifics of the recalled
    memories counts by itself.

    \b
    Example:
      memtape agents used 019ab0c4-9a3c-7000-8000-0123456789ab
    """
    receipt, named = client.use(ids, recall), list(dict.fromkeys(ids))
    yield {"id": receipt.id, "ids": named} | msgspec.structs.asdict(receipt.position)
    yield f"Noted the use of {len(named)}."


def _read_text(text: str | None, path: Path | None) -> str:
    if text is not None and path is not None:
        raise click.UsageError("Give TEXT or --file, not both.")
    if text is not None:
        return text
    if path is None and sys.stdin.isatty():
        raise click.UsageError("Give TEXT, --file, or pipe a text to stdin.")
    return decoded(path.read_bytes() if path is not None else sys.stdin.buffer.read())


def decoded(data: bytes) -> str:
    """Return bytes as text. Raises `MemtapeError` for bytes that are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise MemtapeError(
            f"The text is not UTF-8: byte {error.start} cannot be read.", "Convert it, for example with iconv."
        ) from None


def _head(stream: BinaryIO) -> bytes:
    """Return the blanks that a stream begins with, and the byte after them."""
    head = b""
    while byte := stream.read(1):
        head += byte
        if byte not in _BLANK:
            break
    return head


def _capture_lines(client: Client, kind: Kind | None, lines: Iterator[tuple[int, bytes]], size: int | None) -> None:
    count, refused, spooled, hidden = 0, dict[int, str](), 0, list[str]()
    # Of a pipe nobody knows the length, so that its bar counts events and that of a file its bytes.
    with progress(size, "Capturing") as bar:
        while batch := list(itertools.islice(lines, BATCH_LINES)):
            refusals: dict[int, str] = {}
            receipts = _stored(client, list(_read_lines(batch, kind, refusals)), refusals)
            count += len(receipts)
            spooled += sum(receipt.spooled for receipt in receipts)
            hidden += [receipt.id for receipt in receipts if receipt.hidden]
            refused |= dict(sorted(refusals.items()))
            bar.update(len(receipts) if size is None else sum(len(data) for _, data in batch))
    if is_json():
        said = {
            "count": count,
            "refused": [{"line": n, "error": why} for n, why in refused.items()],
            "redacted": dict(client.redactor.counts),
        }
        told: dict[str, object] = {"spooled": spooled} if spooled else {}
        told |= {"hidden": len(hidden), "hidden_ids": hidden[:SHOWN_IDS]} if hidden else {}
        print_json(said | told | {"profile": client.profile.name})
    else:
        kept = "" if client.profile.keeps else ", kept nowhere"
        say(f"Captured {many(count, 'event')}{kept}. Profile {client.profile.name}.")
        if told_of := redacted(client.redactor.counts):
            say(told_of)
        if note := hidden_told(len(hidden), hidden):
            say(note)
    if spooled:
        say(AWAY, err=True)
    say_some(list(refused.items()), lambda it: f"Line {it[0]} was refused: {it[1]}", most=SHOWN_IDS, err=True)
    if refused:
        if not count and size is None:
            say("To capture stdin as one text, leave out the -.", err=True)
        sys.exit(1)


def _raw_lines(stream: BinaryIO, begun: bytes = b"") -> Iterator[bytes]:
    """Yield lines; a line too long for a capture is cut, to bound the memory, and later refused.

    `begun` is the part of the first line already read.
    """
    while data := begun + stream.readline(MAX_LINE_BYTES - len(begun)):
        begun = b""
        if len(data) == MAX_LINE_BYTES and not data.endswith(b"\n"):
            while rest := stream.readline(MAX_LINE_BYTES):
                if rest.endswith(b"\n"):
                    break
        yield data


def _read_lines(
    batch: Iterable[tuple[int, bytes]], kind: Kind | None, refusals: dict[int, str]
) -> Iterator[tuple[int, Line]]:
    """Yield the lines of a batch with their numbers; others are named in `refusals`."""
    for number, data in batch:
        if not data.strip():
            continue
        try:
            line = parse_line(data)
            if isinstance(line.at, str):
                parse_time(line.at, now_us())
            yield number, line if line.kind else msgspec.structs.replace(line, kind=kind)
        except MemtapeError as error:
            refusals[number] = str(error)


def _stored(client: Client, lines: Sequence[tuple[int, Line]], refusals: dict[int, str]) -> list[Receipt]:
    """Capture lines and return their receipts; a line that cannot be taken is found by halving, and named."""
    counts = client.redactor.counts.copy()
    try:
        receipts = client.capture_many(line for _, line in lines)
    except (InvalidEvent, InvalidScope, Paused) as error:  # None of them was taken.
        client.redactor.counts = counts
        if len(lines) == 1:
            refusals[lines[0][0]] = str(error)
            return []
        half = len(lines) // 2
        return [*_stored(client, lines[:half], refusals), *_stored(client, lines[half:], refusals)]
    refusals |= {lines[place][0]: str(error) for place, error in receipts.refused}
    return receipts
