"""Lines that several verbs show: the latest texts, lists, the ids of a decision, and hints."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Captured, Event
from memtape.schemas.times import format_time
from memtape.schemas.visible import one_line
from memtape.tools.doors.terminal import say
from memtape.tools.query.telling import redacted, said_of, when_of

if TYPE_CHECKING:
    from memtape.state.views.ages import Place, Stays
    from memtape.tools.query.results import Result
    from memtape.tools.world import World

ListedT = TypeVar("ListedT")

TEXT_CHARS = 300
TOLD_STAYS: dict[Stays, str] = {
    "too young": "too young",
    "worth keeping": "worth keeping at hand: retention is above the limit",
    "used": "recalled or used since it was captured, so that age alone archives none",
    "group too small": "of a day or week with fewer than three that may move",
    "no room": "beyond the 500 that move in one pass",
    "switched off": "as the settings say",
    "archived": "archived, and not due to leave the views",
    "purged": "have left the views",
    "pinned": "pinned",
    "hidden": "forgotten or withdrawn",
    "does not age": "of a kind that does not age",
}
TOLD_PLACES: dict[Place, str] = {
    "mid": "to the tier mid",
    "long": "to the tier long",
    "archived": "into the archive",
    "purged": "out of the views",
}
SHOWN_FOLDERS = 3


def capture_notes(is_hidden: bool, id: str, counts: Mapping[str, int]) -> Iterator[str]:
    """Yield notes on a capture: the redacted secrets, and whether a tombstone hides the capture."""
    if told := redacted(counts):
        yield told
    if is_hidden:
        yield f"It is hidden: the same was forgotten. To show it: memtape restore {id}"


def decoded(data: bytes) -> str:
    """Return bytes as text. Raises `MemtapeError` for bytes that are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise MemtapeError(
            f"The text is not UTF-8: byte {error.start} cannot be read.",
            "Convert it, for example with iconv.",
        ) from None


def each(
    found: Sequence[ListedT],
    lines: Callable[[int, ListedT], Iterable[str]],
    nothing: str,
) -> Iterator[str]:
    """Yield the lines of each entry of a list; `lines` gets the entry's number from 1 on."""
    for number, one in enumerate(found, start=1):
        yield from lines(number, one)
    if not found:
        yield nothing


def event_line(event: Event, *, texts: bool = True) -> str:
    """Return an event on one line: time, type, id, speaker, and the beginning of the text."""
    kind = f" {event.body.kind}" if isinstance(event.body, Captured) else ""
    who = f"{one_line(event.actor.name, 40)} ({event.actor.origin})"
    blank, said = " (erased)" if event.body is None else "", said_of(event) if texts else ""
    return f"{when_of(event)}  {event.type}{kind}{blank}  {event.id}  {who}  {said}".rstrip()


def latest(found: Sequence[Result]) -> Iterator[str]:
    """Yield texts without a search."""
    return each(found, _result, "Nothing of the kind is remembered yet; `memtape status` says what there is.")


def _result(_: int, result: Result) -> list[str]:
    about = f"{result.kind} · {one_line(result.actor, 40)} ({result.origin})"
    marks = "".join(f" · {one_line(mark, TEXT_CHARS)}" for mark in result.marks)
    return [
        f"{format_time(result.at)}  {result.id}  {about}{marks}",
        f"    {one_line(result.text, TEXT_CHARS)}",
    ]


def say_where_it_was(world: World) -> None:
    """For a folder without memory, print the folders that may be its earlier place, and the next step."""
    if world.is_made():
        return
    from memtape.tools.capture.project import once_elsewhere

    for folder in once_elsewhere(Path.cwd(), world.home)[:SHOWN_FOLDERS]:
        say(
            f"If this was {folder}, `memtape project adopt {shlex.quote(folder)}` brings its memory here.",
            err=True,
        )


def told_stays(why: Stays | None) -> str:
    """Return why a unit stays where it is."""
    return TOLD_STAYS[why] if why is not None else "due"


def told_share(millionths: int) -> str:
    """Return a share in thousandths, as `0.350`."""
    return f"{millionths // 1_000_000}.{millionths % 1_000_000 // 1_000:03}"
