"""Capture texts, and say which memories shaped an answer. None of it imports LanceDB to capture."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import msgspec
from msgspec import Meta

from memtape.schemas.errors import InvalidEvent, InvalidScope, InvalidUse, MemtapeError, Paused
from memtape.schemas.events import Kind, Origin, Used
from memtape.schemas.ids import short_id
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import parse_time
from memtape.schemas.variables import PROD
from memtape.schemas.visible import many
from memtape.tools import query
from memtape.tools.capture.profiles import check_storing
from memtape.tools.capture.writing import Line, MediaLine, Receipt, now_us, parse_line
from memtape.tools.doors.terminal import decoded, progress, say, say_all, some
from memtape.tools.query.telling import AWAY, hidden_told, redacted
from memtape.tools.verb import (
    Asks,
    Failure,
    Lines,
    Offer,
    Output,
    Share,
    Step,
    Tags,
    Text,
    Verb,
    inside,
    people,
    rare,
    said,
    terminal,
)
from memtape.tools.world import World

MAX_DOCUMENT_CHARS = 1024 * 1024
"""A longer document of an agent would hold up every other call."""
NumberedLines = Iterator[tuple[int, bytes]]
MAX_LINE_BYTES = 16 * 1024 * 1024
SHOWN_IDS = 20
BATCH_LINES = 1_000
_BLANK = b" \t\r\n\v\f\xef\xbb\xbf"
"""Characters before a first letter: blanks, and the mark that some programs put at the head of a file."""


class CaptureAsks(Asks, frozen=True):
    text: Annotated[
        str, said("What to remember, in words that stand alone. At most 64 KiB.", argument=True)
    ] = ""
    file: Annotated[
        str | None, terminal("Take the text of a file; a .jsonl file is read as JSON lines.", path="file")
    ] = None
    kind: Annotated[Kind | None, people("By default fact, and document for a file.")] = None
    tags: Annotated[Tags, Meta(description="A word to filter by.")] = ()
    importance: Annotated[Share | None, rare("0 to 1, where you know.")] = None
    source: Annotated[Text | None, rare("Where it comes from: a file, a URL.")] = None
    native_id: Annotated[str | None, people("The source's own id: capturing it again adds nothing.")] = None
    at: Annotated[
        str | None,
        people("When it happened: ISO 8601 or an age such as 3d. By default now.", time=True),
    ] = None
    branch: Annotated[str | None, people("The branch of the repository that it is about.")] = None
    actor: Annotated[str | None, inside("Who said the text, by default the client's actor.")] = None
    origin: Annotated[Origin | None, inside("The kind of actor, by default the client's.")] = None
    session: Annotated[str | None, inside("The session of the text, by default the client's.")] = None
    scope: Annotated[str | None, inside("Another scope than the client's.")] = None
    path: Annotated[str | None, inside("The file that the text is about.")] = None
    media: Annotated[tuple[MediaLine, ...], inside("Pictures and files that came with the text.")] = ()


class AgentCaptureAsks(CaptureAsks, frozen=True):
    text: Annotated[str, Meta(description="What to remember, in words that stand alone. At most 64 KiB.")]
    kind: Annotated[
        Literal["fact", "insight", "journal", "goal", "plan", "document"],
        Meta(
            description="fact: what holds. insight: what was learned. journal: what happened. "
            "goal, plan: the new one takes over. document: kept as it is."
        ),
    ] = "fact"


class CaptureReceipt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A text on the log: its id, scope and position, or that it is spooled; a document has an id a part."""

    id: str
    scope: str
    ids: tuple[str, ...] = ()
    count: int = 1
    partition: int | None = None
    offset: int | None = None
    redacted: dict[str, int]
    profile: str
    hidden: bool = False
    spooled: bool = False


class UseReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """A use on the log, and the ids that it named."""

    id: str
    ids: tuple[str, ...]
    partition: int
    offset: int


def capture(world: World, asked: CaptureAsks) -> CaptureReceipt:
    """Put a text on the log: TEXT, a file, or stdin.

        memtape capture "The staging database listens on port 5433." --tag infra
        memtape capture - < conversation.jsonl
        git log -1 --format=%B | memtape capture - --kind journal

    With - as TEXT, stdin is JSON lines if it begins with {, one capture each: {"text": "…", "kind": "turn",
    "at": "…", "actor": "…", "session": "…", "tags": ["…"], "source": "…", "native_id": "…"}. Only text is
    needed. They are stored in batches, each whole or not at all; a refused line is named and the others are
    kept. If stdin begins with anything else it is one text, as without -.

    Secrets in the text, such as keys, tokens and passwords, are replaced before it is stored. Files with
    nothing but secrets (.env, *.pem, .netrc and the like) are refused.

    Returns the receipt. A document of more than 1,000 characters is cut into parts, each with an id in `ids`.
    Raises `InvalidEvent` for a text that may not be on the log, and `Denied` for the content of a file of
    secrets or a wholly private text.
    """
    if len(asked.text) > MAX_DOCUMENT_CHARS and world.door == "mcp":
        raise MemtapeError(
            f"The text has {len(asked.text):,} characters; at most {MAX_DOCUMENT_CHARS:,} go into one call.",
            "Add it in parts.",
        )
    fields = {name: getattr(asked, name) for name in asked.__struct_fields__ if name != "file"}
    fields |= {"source": asked.source or None, "kind": asked.kind or "fact"}
    receipts = world.capture_line(Line(**fields))
    first, is_one = receipts[0], len(receipts) == 1  # A document in parts has a receipt of each.
    place = first.position if is_one and not first.spooled else None
    return CaptureReceipt(
        id=first.id,
        scope=world.scope,
        ids=() if is_one else tuple(receipt.id for receipt in receipts),
        count=len(receipts),
        partition=place.partition if place else None,
        offset=place.offset if place else None,
        redacted=dict(first.redacted),
        profile=first.profile,
        hidden=first.hidden,
        spooled=first.spooled,
    )


def use(
    world: World,
    ids: Annotated[tuple[str, ...], Meta(min_length=1), said("What you used.", 100)],
    recall: Annotated[str | None, Meta(description="The recall that the search named.")] = None,
) -> UseReceipt:
    """Name the memories or turns that shaped an answer: they are found sooner, and linked with each other.

        memtape agents used 019ab0c4-9a3c-7000-8000-0123456789ab

    Looking at a result does not count. With a session, its next answer that carries specifics of the recalled
    memories counts by itself.

    Returns the noted ids. `recall` is `Answer.recall_id`. The use of a memory of `global` is recorded and
    counts in this scope alone; that of another scope's memory in its own scope. Raises `NotFound` for an
    unknown id, and `MemtapeError` for no ids and for those of several scopes.
    """
    named = tuple(dict.fromkeys(ids))
    if not named:
        raise MemtapeError("No id was named.", "Name the ids of results that shaped the answer.")
    if recall is not None and not query.plan.is_whole(recall):
        _, recall = world.meant(recall, ("recalled",))
    check_storing(world.home.path, lambda: world.scope)

    def place(scope: str, id: str) -> tuple[str, str]:
        return id, world.reader.read(lambda views: views.find(scope, id), scope).scope or scope

    stands = dict(world.within(id, place) for id in named)
    scope = query.plan.only_scope(world.scope if scope == GLOBAL else scope for scope in stands.values())
    body = Used(ids=tuple(stands), recall=recall)
    receipt = world.append("used", body, world.made_scope() if scope == world.scope else scope)
    return UseReceipt(id=receipt.id, ids=named, **msgspec.structs.asdict(receipt.position))


def _capture_shell(world: World, asked: CaptureAsks) -> Output:
    """Take a text, a file or stdin; stdin and a .jsonl file may be many captures."""
    check_storing(world.home.path, lambda: world.scope)
    path, text = None if asked.file is None else Path(asked.file), asked.text or None
    if path is not None:
        world.redactor.check_path(str(path))
        if text is not None:
            raise InvalidUse("Give TEXT or --file, not both.")
    elif text is None and sys.stdin.isatty():
        raise InvalidUse("Give TEXT, --file, or pipe a text to stdin.")
    if text in (None, "-"):
        with nullcontext(sys.stdin.buffer) if path is None else path.open("rb") as stream:
            head = b""  # The blanks that stdin begins with, and the byte after them.
            while text == "-" and not head.strip(_BLANK) and (byte := stream.read(1)):
                head += byte
            if head.endswith(b"{") or (path is not None and path.suffix == ".jsonl"):
                lines = enumerate(_raw_lines(stream, begun=head[-1:]), start=1 + head.count(b"\n"))
                yield from _capture_lines(world, asked.kind, lines, path.stat().st_size if path else None)
                return
            text = decoded(head + stream.read())
    kind = asked.kind or ("document" if path else "fact")
    source = asked.source or (path.name if path is not None else None)
    done = capture(world, msgspec.structs.replace(asked, text=text, kind=kind, source=source))
    yield done
    if not world.profile.keeps:
        yield f"Kept nowhere: profile {done.profile}."
    else:
        place = " in the spool" if done.spooled else f" in {done.count} parts" if done.count > 1 else ""
        can_undo = done.count == 1 and not (done.hidden or done.spooled)
        undo = f" Undo: memtape forget {short_id(done.id)}" if can_undo else ""
        kept = "Stored" if done.hidden else "Remembered"
        yield f"{kept} in {world.scope}{place}{in_profile(done.profile)}.{undo}"
    yield from capture_notes(done.hidden, done.id, done.redacted)
    if done.spooled:
        say(AWAY, err=True)


def in_profile(name: str) -> str:
    """Return the words for a profile other than the default."""
    return "" if name == PROD else f", profile {name}"


def capture_notes(is_hidden: bool, id: str, counts: Mapping[str, int]) -> Lines:
    """Yield notes on a capture: the redacted secrets, and whether a tombstone hides the capture."""
    if counts:
        yield redacted(counts)
    if is_hidden:
        yield Step("It is hidden: the same was forgotten. To show it", "restore", id)


def _capture_lines(world: World, kind: Kind | None, lines: NumberedLines, size: int | None) -> Output:
    count, refused, spooled, hidden = 0, dict[int, str](), 0, list[str]()
    # Of a pipe nobody knows the length, so that its bar counts events and that of a file its bytes.
    with progress(size, "Capturing") as bar:
        while batch := list(itertools.islice(lines, BATCH_LINES)):
            refusals: dict[int, str] = {}
            read = list[tuple[int, Line]]()
            for number, data in batch:
                try:
                    if data.strip():
                        line = parse_line(data)
                        if isinstance(line.at, str):
                            parse_time(line.at, now_us())
                        read.append((number, line if line.kind else msgspec.structs.replace(line, kind=kind)))
                except MemtapeError as error:
                    refusals[number] = str(error)
            receipts = _stored(world, read, refusals)
            count += len(receipts)
            spooled += sum(receipt.spooled for receipt in receipts)
            hidden += [receipt.id for receipt in receipts if receipt.hidden]
            refused |= dict(sorted(refusals.items()))
            bar.update(len(receipts) if size is None else sum(len(data) for _, data in batch))
    said: dict[str, object] = {
        "count": count,
        "refused": [{"line": n, "error": why} for n, why in refused.items()],
        "redacted": dict(world.redactor.counts),
    }
    said |= {"spooled": spooled} if spooled else {}
    said |= {"hidden": len(hidden), "hidden_ids": hidden[:SHOWN_IDS]} if hidden else {}
    said |= {"profile": world.profile.name}
    yield Failure(said) if refused else said
    kept = "" if world.profile.keeps else ", kept nowhere"
    yield f"Captured {many(count, 'event')}{kept}{in_profile(world.profile.name)}."
    yield from filter(None, (redacted(world.redactor.counts), hidden_told(len(hidden), hidden)))
    if spooled:
        say(AWAY, err=True)
    why = some(list(refused.items()), lambda it: f"Line {it[0]} was refused: {it[1]}", most=SHOWN_IDS)
    say_all(why, err=True)
    if refused and not count and size is None:
        say("To capture stdin as one text, leave out the -.", err=True)


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


def _stored(world: World, lines: Sequence[tuple[int, Line]], refusals: dict[int, str]) -> list[Receipt]:
    """Capture lines and return their receipts; a line that cannot be taken is found by halving, and named."""
    counts = world.redactor.counts.copy()
    try:
        receipts = world.capture_many(line for _, line in lines)
    except (InvalidEvent, InvalidScope, Paused) as error:  # None of them was taken.
        world.redactor.counts = counts
        if len(lines) == 1:
            refusals[lines[0][0]] = str(error)
            return []
        half = len(lines) // 2
        return [*_stored(world, lines[:half], refusals), *_stored(world, lines[half:], refusals)]
    refusals |= {lines[place][0]: str(error) for place, error in receipts.refused}
    return receipts


def _tell_capture(world: World, asked: CaptureAsks, done: CaptureReceipt) -> str:
    in_parts = done.partition is None
    place = f"in {done.count} parts" if in_parts else f"position {done.partition}/{done.offset}"
    if done.spooled:
        place = "waiting in the spool: the broker of the log does not answer"
    told = f"in {world.scope} as `{done.id}` ({place})"
    profile = f" {world.profile.told}" if world.profile.told else ""
    if not done.hidden:
        return f"Remembered {told}.{profile}"
    again = f"If the user wants it again: restore_memory `{done.id}`"
    return f"Stored {told}, but hidden: the same was forgotten, and no search finds it. {again}.{profile}"


VERBS = (
    Verb(
        "capture",
        capture,
        shell=_capture_shell,
        effect="adds",
        tool=Offer(
            "Remember something about this project: a decision and why, a fact, a preference, what failed.",
            _tell_capture,
            idempotent=False,
            asks=AgentCaptureAsks,
        ),
    ),
    Verb(
        "agents used",
        use,
        lines=lambda world, asked, done: [f"Noted the use of {len(done.ids)}."],
        effect="adds",
        tool=Offer("Say which memories helped, so that they are found sooner."),
    ),
)
