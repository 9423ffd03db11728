"""The shape that every subject has, as one row of the table `SUBJECTS` in `scope`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from memtape.schemas.events import Event
from memtape.schemas.rows import Change, Fed
from memtape.state.core.context import Context


class Subject(NamedTuple):
    """What one subject does with its state, which is Any here and a class of its own in its file.

    `name` names the subject, its attribute of a scope and its leaf of the state hash; `version` is that of its rules.
    `feeds` are the tables whose rows another rule here may change, also by way of the subjects that read this one.
    `evolve` takes in any event and returns the rows and entries that it touched; it never raises. `restore` gets the
    scope, of which the subjects that stand before in the table are restored already. `digest` yields what the hash
    covers. A `sparse` subject has no leaf where it holds nothing, so that one more subject moves no older hash.
    """

    name: str
    version: int
    feeds: tuple[Fed, ...]
    new: Callable[[], Any]
    evolve: Callable[[Any, Event, Context[Any]], list[Change]]
    snapshot: Callable[[Any], bytes]
    restore: Callable[[bytes, Any], Any]
    digest: Callable[[Any, Any], Iterable[Any]]
    sparse: bool = False
