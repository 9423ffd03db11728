"""Reassembly of a document from its parts, byte for byte without overlap and titles, or missing parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from memtape.schemas.codec import body_of_capture
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Captured, Event, Forgotten, Restored, Withdrawn
from memtape.schemas.log import Log
from memtape.schemas.places import Place, place_in
from memtape.schemas.scopes import partition_of
from memtape.state.core.erasures import erasures_of
from memtape.tools.ask.retrieval import Retriever

NAMED = 5
"""This many missing parts are named one by one."""


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """A document as on the log: as captured, without secrets. `parts` is the number of its parts.

    `id` is the id of its first part, `path` the document's own path.
    """

    id: str
    scope: str
    path: str | None
    parts: int
    text: str


class _DocumentPart(msgspec.Struct):
    text: str
    place: Place
    hidden: bool


def whole_document(retriever: Retriever, log: Log, scope: str, asked: str) -> Whole:
    """Return the document of a part's id, or the whole text of one event.

    Raises `NotFound`, and `MemtapeError` with the parts that are erased, forgotten or missing.
    """
    found = retriever.find(scope, asked)
    if isinstance(found, Event):
        assert isinstance(found.body, Captured) and found.scope is not None
        scope, path, text = found.scope, found.body.path, found.body.text
    else:
        scope, path, text = found.scope, found.path, found.text
    place = place_in(path)
    if place is None:
        _check_alone(log, scope, asked)
        return Whole(id=found.id, scope=scope, path=path, parts=1, text=text)
    parts = _parts(retriever, scope, place)
    if missing := list(_missing(log, scope, place, parts)):
        more = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
        restore = next((f"`memtape restore {id}` shows a hidden one." for id, why in missing if why == _HIDDEN), "")
        named = ", ".join(f"part {place.ids(scope).index(id) + 1} ({why})" for id, why in missing[:NAMED])
        raise MemtapeError(f"Of {place.count:,} parts of this document these are missing: {named}{more}.", restore)
    text = joined((part.text, part.place) for part in parts.values())
    return Whole(id=place.document, scope=scope, path=place.path, parts=place.count, text=text)


def joined(parts: Iterable[tuple[str, Place]]) -> str:
    """Return the text of a document, of the texts and places of all its parts in their order."""
    pieces, end = [], 0
    for text, place in parts:
        length = place.end - place.start
        if not place.start <= end < place.end or len(text) < length:
            raise MemtapeError(f"Part {place.number} of the document does not go on where the one before ends.")
        pieces.append(text[len(text) - length :][end - place.start :])
        end = place.end
    return "".join(pieces)


_HIDDEN = "forgotten or withdrawn"


def _parts(retriever: Retriever, scope: str, place: Place) -> dict[str, _DocumentPart]:
    """Return the parts of a document that the views or the tail have, by their ids, in their order."""
    ids, partition = place.ids(scope), partition_of(scope, retriever.partitions)
    found: dict[str, _DocumentPart] = {}
    opened = retriever.opened(scope)
    for row in (row for id in ids for row in opened.rows_called(id)):
        if own := place_in(row.path):
            found[row.id] = _DocumentPart(row.text, own, row.hidden)
    wanted = dict.fromkeys(ids)
    for event in retriever.tail(scope, retriever.offset(partition)):
        match event.body:
            case Captured(text=text, path=path) if event.id in wanted and event.id not in found:
                if own := place_in(path):
                    found[event.id] = _DocumentPart(text, own, False)
            case Forgotten(ids=named) | Restored(ids=named) | Withdrawn(ids=named):
                for id in found.keys() & set(named):
                    found[id].hidden = event.body.on if isinstance(event.body, Withdrawn) else event.type == "forgotten"
            case _:
                pass
    return {id: found[id] for id in ids if id in found}


def _missing(log: Log, scope: str, place: Place, parts: dict[str, _DocumentPart]) -> Iterator[tuple[str, str]]:
    """Yield the id of each part that cannot be read, and why."""
    erased = erasures_of(log.erased(partition_of(scope, log.partitions))).named.get(scope, {})
    for id in place.ids(scope):
        if id in erased:
            yield id, "erased"
        elif id not in parts:
            yield id, "not on the log"
        elif parts[id].hidden:
            yield id, _HIDDEN


def _check_alone(log: Log, scope: str, id: str) -> None:
    """Raise `MemtapeError` for a piece of a long text that is no document."""
    for offset in log.known(scope, [id]).values():
        for slot in log.read(partition_of(scope, log.partitions), offset, 1):
            body = body_of_capture(slot.payload)
            if body is not None and body.part is not None:
                raise MemtapeError(
                    f"This is part {body.part.index + 1} of {body.part.count}, which does not tell where it stands.",
                    "It is no document's: only a document is put together again.",
                )
