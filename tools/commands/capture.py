"""The commands that append captures and uses. None of them imports LanceDB to capture."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import click
import msgspec

from memtape.schemas.errors import InvalidEvent, MemtapeError
from memtape.schemas.events import Event, Kind
from memtape.schemas.log import SPOOLED, Position
from memtape.schemas.visible import many
from memtape.tools.ask.telling import AWAY, hidden_told, redacted
from memtape.tools.capture.lines import Line, parse_line
from memtape.tools.capture.profiles import check_storing
from memtape.tools.capture.writing import Erased, Receipt
from memtape.tools.client import Client
from memtape.tools.commands.options import (
    KINDS,
    is_json,
    print_json,
    printed_json,
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
TakenLine = tuple[int, list[Event], Mapping[str, int]]
"""A line as events: its number from 1, and how many secrets of which kind were taken out of it."""
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
    _print_receipts(client, receipts)
    if receipts[0].spooled:
        say(AWAY, err=True)


def _print_receipts(client: Client, receipts: Sequence[Receipt]) -> None:
    """Print the receipts of one text: several for a document in parts."""
    first = receipts[0]
    taken_out = {"redacted": dict(first.redacted), "profile": first.profile} | (
        {"hidden": True} if first.hidden else {}
    )
    if is_json() and len(receipts) == 1:
        where = {"partition": first.position.partition, "offset": first.position.offset}
        print_json({"id": first.id} | (_away(first) or where) | taken_out)
    elif is_json():
        print_json({"count": len(receipts), "ids": [receipt.id for receipt in receipts]} | _away(first) | taken_out)
    else:
        parts = f" in {len(receipts)} parts" if len(receipts) > 1 else ""
        partition, offset = first.position.partition, first.position.offset
        place = f"partition {partition}, offset {offset}" if client.profile.keeps else "kept nowhere"
        if first.spooled:
            place = "in the spool"
        say(f"{first.id}{parts} ({client.scope}, {place}, profile {first.profile})")
        _print_redacted(first.redacted)
        _say_hidden(first.hidden, first.id)


def _away(receipt: Receipt) -> dict[str, object]:
    """Return the JSON fields of a capture that waits for a broker."""
    return {"spooled": True} if receipt.spooled else {}


def _say_hidden(is_hidden: bool, id: str) -> None:
    if is_hidden:
        say(f"It is hidden: the same was forgotten. To show it: memtape restore {id}")


@click.command()
@with_arguments("update")
@with_client
def update(client: Client, id: str, text: str) -> None:
    """Replace a memory by a new text: the text is captured, and the memory is kept as the earlier value.

    Only a source with at least the trust of the memory's source can replace it. A text that says the same in
    other words becomes a further wording of the memory.

    Example:
      memtape update 019ab0c4-9a3c-7000-8000-0123456789ab "The staging database listens on port 5434."
    """
    done = client.update(id, text)
    if printed_json(done):
        return
    said = "It says the same, and is one memory with it." if done.replaced is None else f"It replaced {done.replaced}."
    if done.hidden:
        said = f"It replaces {done.replaced or id} once it is shown."
    say(f"{done.id} ({done.scope}, profile {done.profile}). {said}")
    _say_hidden(done.hidden, done.id)
    _print_redacted(done.redacted)


@click.command()
@with_arguments("used")
@with_client
def used(client: Client, ids: tuple[str, ...], recall: str | None) -> None:
    """Name the memories or turns that shaped an answer: they are found sooner, and linked with each other.

    Looking at a result does not count. With a session, its next answer that carries specifics of the recalled
    memories counts by itself.

    \b
    Example:
      memtape used 019ab0c4-9a3c-7000-8000-0123456789ab
    """
    receipt = client.use(ids, recall)
    if is_json():
        where = receipt.position
        said = {"id": receipt.id, "ids": list(dict.fromkeys(ids))}
        print_json({**said, "partition": where.partition, "offset": where.offset})
    else:
        say(f"Noted the use of {len(dict.fromkeys(ids))}.")


def _print_redacted(counts: Mapping[str, int]) -> None:
    if told := redacted(counts):
        say(told)


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
            taken, refusals = _taken(client, kind, batch)
            events, positions = _append(client, taken, refusals)
            hidden += client.hidden_of(events, positions)
            stored = len(positions)
            count += stored
            spooled += positions.count(SPOOLED)
            refused |= dict(sorted(refusals.items()))
            bar.update(stored if size is None else sum(len(data) for _, data in batch))
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
        _print_redacted(client.redactor.counts)
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


def _taken(
    client: Client, kind: Kind | None, batch: Iterable[tuple[int, bytes]]
) -> tuple[list[TakenLine], dict[int, str]]:
    """Return the lines of a batch as events, and by number why others are refused."""
    taken: list[TakenLine] = []
    refusals: dict[int, str] = {}
    erased: Erased = {}
    for number, data in batch:
        if not data.strip():
            continue
        counted = client.redactor.counts.copy()
        try:
            line = parse_line(data)
            events = client.events_of(line if line.kind else msgspec.structs.replace(line, kind=kind), erased)
            taken.append((number, events, client.redactor.counts - counted))
        except (InvalidEvent, MemtapeError) as error:
            client.redactor.counts = counted  # Nothing of this line is stored.
            refusals[number] = str(error)
    return taken, refusals


def _append(client: Client, taken: list[TakenLine], refusals: dict[int, str]) -> tuple[list[Event], list[Position]]:
    """Append the events of lines and return them and their positions; a line that the log refuses is named."""
    from memtape.sinks.logs.admission import check_admissible

    def append(lines: list[TakenLine]) -> tuple[list[Event], list[Position]]:
        events = [event for _, its, _ in lines for event in its]
        return events, client.log.append(events)

    try:
        return append(taken)
    except InvalidEvent:  # The log took none of them.
        kept = []
        for number, its, counts in taken:
            try:
                for event in its:
                    check_admissible(event)
                kept.append((number, its, counts))
            except InvalidEvent as error:
                client.redactor.counts -= Counter(counts)
                refusals[number] = str(error)
        return append(kept)
