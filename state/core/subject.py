"""The shape that every subject has, as one row of the table `SUBJECTS` in `scope`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from memtape.schemas.events import Event
from memtape.schemas.rows import Change
from memtape.state.core.context import Context


class Subject(NamedTuple):
    """The functions of one subject. Its state is Any here, and a class of its own in its file.

    `name` names the subject, its attribute of a scope and its leaf of the state hash; `version` is that of
    its rules. `evolve` applies any event and returns the changed rows and entries; it never raises.
    `restore` gets the scope with all earlier subjects of the table restored. `digest` yields the content of
    the hash. A `sparse` subject has no leaf while empty, so that a new subject changes no older hash.
    """

    name: str
    version: int
    new: Callable[[], Any]
    evolve: Callable[[Any, Event, Context[Any]], list[Change]]
    snapshot: Callable[[Any], bytes]
    restore: Callable[[bytes, Any], Any]
    digest: Callable[[Any, Any], Iterable[Any]]
    sparse: bool = False
