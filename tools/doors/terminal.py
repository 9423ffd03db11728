"""What commands print on a terminal and ask there: text, JSON, errors, bars, questions, and events of
operation."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from memtape.schemas.errors import InvalidUse, LogAway, MemtapeError
from memtape.schemas.metrics import FOLDING, told_of_progress
from memtape.schemas.patterns import lazy
from memtape.schemas.visible import many, visible, visible_json
from memtape.sinks.home.counts import note
from memtape.tools.capture.profiles import keeps_nothing
from memtape.tools.verb import encoded

ListedT = TypeVar("ListedT")

LEAST_PHASE_S = 0.5
"""A shorter phase of work has no bar."""
DISK_HINT = (
    "See that the disk has room, that the home can be written, and that no limit on file sizes (`ulimit -f`) "
    "is in force. What was acknowledged stands on the log."
)
_RUST_LINE = lazy(r", /\S+\.rs:\d+:\d+")
"""Where in their own code libraries say that something failed."""


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text for people, on stdout or stderr, escaped for terminals. Every command prints by this."""
    click.echo(visible(text), err=err, nl=nl)


def print_json(value: Any, *, indent: bool = True) -> None:
    """Print a JSON document on stdout, on one line unless `indent`; hidden characters are escaped."""
    sys.stdout.buffer.write(visible_json(encoded(value, indent=indent)))
    sys.stdout.buffer.flush()


def is_asked() -> bool:
    """Whether a person at a terminal can answer."""
    return sys.stdin is not None and sys.stdin.isatty()


def confirmed(question: str) -> bool:
    """Whether a person at the terminal confirms; False without a terminal."""
    return is_asked() and click.confirm(question, err=True)


def is_json() -> bool:
    """Whether the running command was given `--json`."""
    return bool(click.get_current_context().params["as_json"])


def printed_json(value: Any, *, indent: bool = True) -> bool:
    """Print an answer as `print_json` if the running command was given `--json`; return whether it was."""
    if is_json():
        print_json(value, indent=indent)
    return is_json()


@contextmanager
def explained(home: Path) -> Iterator[None]:
    """Print errors of Memtape or the system as one sentence and the next step; exit with 1, for wrong use 2.

    The error is counted in the home if the home exists and the profile keeps anything.
    """
    try:
        yield
    except BrokenPipeError:  # Whoever read our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except InvalidUse as error:
        raise click.UsageError(f"{error} {error.hint}".rstrip()) from None
    except (MemtapeError, OSError) as error:
        hint = error.hint if isinstance(error, MemtapeError) else DISK_HINT
        told = _RUST_LINE.sub("", str(error))
        if home.is_dir() and not keeps_nothing(home):
            note(home, [("error", "cli", "", 1)])
        if is_json():
            waiting = {"spooled": error.spooled} if isinstance(error, LogAway) and error.spooled else {}
            code = error.code if isinstance(error, MemtapeError) else "system"
            print_json({"error": told, "hint": hint, "code": code} | waiting)
        say(f"Error: {told}" + (f"\n{hint}" if hint else ""), err=True)
        sys.exit(1)


def some(
    found: Sequence[ListedT], line: Callable[[ListedT], str], title: str = "", most: int = 50
) -> Iterator[str]:
    """Yield under a title a line for each of the first of many, and the number of the rest."""
    if found and title:
        yield title
    yield from map(line, found[:most])
    if len(found) > most:
        yield f"  … and {len(found) - most:,} more; --json names them."


def say_all(lines: Iterable[str], *, err: bool = False) -> None:
    """Print lines for people."""
    for line in lines:
        say(line, err=err)


def say_lag(lag: int, what: str) -> None:
    """Print on stderr how many events the views lack, and their effect."""
    if lag:
        say(f"The views lack {many(lag, 'event')}, and what they {what}.", err=True)


def decoded(data: bytes) -> str:
    """Return the bytes of a file or of stdin as text. Raises `MemtapeError` for bytes that are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        told = f"The text is not UTF-8: byte {error.start} cannot be read."
        raise MemtapeError(told, "Convert it, for example with iconv.") from None


@contextmanager
def phases() -> Iterator[None]:
    """Show on stderr how far long work is, a bar for each phase that takes longer than `LEAST_PHASE_S`."""
    shown, current, bar, began = ExitStack(), "", None, 0.0

    def update(phase: str, done: int, total: int) -> None:
        nonlocal current, bar, began
        if phase == FOLDING and current not in ("", FOLDING):
            return
        if phase != current:
            shown.close()
            current, bar, began = phase, None, time.monotonic()
        if bar is None and total and time.monotonic() - began >= LEAST_PHASE_S:
            bar = shown.enter_context(progress(total, phase.capitalize()))
        if bar is not None:
            bar.update(min(done, total) - bar.pos)
        if done == total:  # What comes after it is printed below it.
            shown.close()
            current = ""

    with shown, told_of_progress(update):
        yield


def progress(length: int | None, label: str) -> Any:
    """Return a progress bar on stderr, which only a terminal shows, with the time left.

    Without a length it only counts.
    """
    # A generator is what click takes for work whose length nobody can tell.
    unknown = (None for _ in ()) if length is None else None
    hidden = not sys.stderr.isatty()
    return click.progressbar(unknown, length, label=label, file=sys.stderr, hidden=hidden, show_pos=True)


@contextmanager
def logged(form: str | None, level: str | None) -> Iterator[bool]:
    """Tell events of operation on stderr, a line each, if a form or level is given; yield whether one is."""
    if form is None and level is None:
        yield False
        return
    import logging  # A hook has no time for it.

    from memtape.tools.keep.operations import LOGGER as logger
    from memtape.tools.keep.operations import Lines

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines(as_json=form == "json"))
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel((level or "info").upper())
    logger.propagate = False
    try:
        yield True
    finally:
        logger.removeHandler(handler)
        logger.level, logger.propagate = before
