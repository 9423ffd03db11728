"""The errors that a caller can act on: one sentence each, with the next step if there is one.

Only errors that cross a room's border live here; an error inside one function stays there.
"""

from __future__ import annotations


class MemtapeError(Exception):
    """Base of every error that Memtape raises on purpose.

    `str(error)` is one sentence for people; `hint` is the next step, or empty. `code` is a stable word for
    programs: the name of the class, as `not_found`.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        chars = (f"_{char.lower()}" if char.isupper() else char for char in type(self).__name__)
        self.code = "".join(chars).lstrip("_")


class InvalidEvent(MemtapeError):
    """An event that may not be on the log.

    `code` is a stable word (`not_json`, `unknown_type`, `newer_version`, `oversized`, `misplaced`, `denied`,
    `private`, `unimportant`, `invalid`) and `where` the path of the offending field (`$.body.text`) or empty.
    Neither holds any part of the payload, so both may be kept in a dead letter; the message may quote it.
    """

    def __init__(self, code: str, message: str, where: str = "", hint: str = "") -> None:
        super().__init__(message, hint)
        self.code = code
        self.where = where

    @property
    def reason(self) -> str:
        """The code and the place, without a word of the payload."""
        return f"{self.code} at {self.where}" if self.where else self.code


class Denied(InvalidEvent):
    """A capture never to be stored: of a file of keys, of a private text, or below a profile's importance."""


class InvalidUse(MemtapeError):
    """What was asked does not fit together. The command line exits with 2, as for an unknown option."""


class InvalidScope(MemtapeError):
    """A scope that is neither `global` nor `project:<name>`."""


class NotAdopted(MemtapeError):
    """A repository whose origin or configuration names another repository's `scope` without permission.

    `elsewhere` is the folder that has it, None if only a repository at the same path had it.
    """

    def __init__(self, folder: str, scope: str, elsewhere: str | None) -> None:
        of = f"in {elsewhere}" if elsewhere is not None else "that was there before"
        super().__init__(
            f"{folder} is a new copy of the repository {of}, and may not use the memory of {scope} yet.",
            f"If the copy is yours, give `memtape project adopt {scope}` in it once;"
            " `memtape project adopt project:NAME` gives it a memory of its own.",
        )


class OffsetOutOfRange(MemtapeError):
    """A read at an offset that the partition does not hold; a reader stops here and never jumps."""


class DamagedLog(MemtapeError):
    """A slot whose bytes do not match their digest, or a log that contradicts its own description."""


class LogGone(MemtapeError):
    """The file of an open log is no longer the one in its folder: it was removed, moved or replaced."""


class DamagedViews(MemtapeError):
    """Unreadable tables of a partition's views, which come back from the log with the next projection."""

    def __init__(self, message: str, hint: str, partition: int) -> None:
        super().__init__(message, hint)
        self.partition = partition


class LogAway(MemtapeError):
    """The broker of a log does not answer. Nothing was stored by the call.

    `spooled` captures wait in the home.
    """

    spooled: int = 0


class LogExists(MemtapeError):
    """A log exists with other properties than the one to create (another number of partitions)."""


class Paused(MemtapeError):
    """A capture while nothing is stored: of the whole home, of a project, or of a run."""


class StillHeld(MemtapeError):
    """Removed bytes still exist, since another process reads an old state of the storage."""


class UnknownOutcome(MemtapeError):
    """An append with an unknown outcome: stored, not stored, or stored in part.

    Append again with the same ids: the state counts an id once.
    """


class Locked(MemtapeError):
    """Another living process holds the lock; `pid` is its id, or None if unreadable."""

    def __init__(self, message: str, pid: int | None, hint: str = "") -> None:
        super().__init__(message, hint)
        self.pid = pid


class Fenced(MemtapeError):
    """The views of a partition have a later claim: what is written under this one is lost."""


class NotFound(MemtapeError):
    """No capture or memory of the asked scopes has this id."""


class ModelTimeout(MemtapeError):
    """A model did not answer within its time limit."""


class BadAnswer(MemtapeError):
    """An unusable answer of a model. A second question may get a better one."""


class ModelAway(MemtapeError):
    """A model that gives no answer now; nothing is wrong with what it was asked."""


class BudgetSpent(MemtapeError):
    """A model that may not be asked any more today."""


class EmbedderUnavailable(MemtapeError):
    """The embedder does not answer now; nothing is wrong with a text, and a later try may succeed."""


class NotEmbedded(MemtapeError):
    """The embedder works but refuses a text, so that the text has no vector."""
