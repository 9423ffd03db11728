"""Lines that several verbs show: the latest texts, and hints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memtape.schemas.errors import MemtapeError
from memtape.schemas.times import format_time
from memtape.schemas.visible import many, one_line
from memtape.tools.doors.terminal import say

if TYPE_CHECKING:
    from memtape.tools.query.results import Result
    from memtape.tools.world import World

TEXT_CHARS = 300


def decoded(data: bytes) -> str:
    """Return bytes as text. Raises `MemtapeError` for bytes that are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise MemtapeError(
            f"The text is not UTF-8: byte {error.start} cannot be read.",
            "Convert it, for example with iconv.",
        ) from None


def latest_lines(world: World, asked: Any, found: Sequence[Result]) -> Iterator[str]:
    """Yield texts without a search."""
    for it in found:
        marks = "".join(f" · {one_line(mark, TEXT_CHARS)}" for mark in it.marks)
        about = f"{it.kind} · {one_line(it.actor, 40)} ({it.origin}){marks}"
        yield f"{format_time(it.at)}  {it.id}  {about}"
        yield f"    {one_line(it.text, TEXT_CHARS)}"
    if not found:
        yield "Nothing of the kind is remembered yet; `memtape status` says what there is."


def say_lag(lag: int, what: str) -> None:
    """Print on stderr how many events the views lack, and their effect."""
    if lag:
        say(f"The views lack {many(lag, 'event')}, and what they {what}.", err=True)
