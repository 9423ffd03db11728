"""Forgetting old captures with a tag, as those from development: the plan, and its events.

Each is hidden by a `forgotten` event and returns by `restored`. Nothing is erased here.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

import msgspec

from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import CONSOLIDATED_TAG, DISTILLED_TAG, MAX_IDS, STATED_TAG, Event, Forgotten
from memtape.schemas.log import Log
from memtape.schemas.metrics import tell_progress
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.schemas.times import format_time
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture
from memtape.tools.capture.profiles import check_kept
from memtape.tools.capture.writing import Writer, check_label
from memtape.tools.keep.states import state_at

_DERIVED = (STATED_TAG, DISTILLED_TAG, CONSOLIDATED_TAG)
"""The first tags of captures made from other captures, in their refs. One by a decision may have none."""
_TOLD_CHARS = 200


class PrunedItem(msgspec.Struct, frozen=True, kw_only=True):
    """A capture to be forgotten: `at` is its time in microseconds, `text` its beginning."""

    id: str
    scope: str
    kind: str
    at: int
    text: str


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """A plan of pruning, or after the pruning its result: captures with any of `tags` from before `before`.

    `kept` counts texts that stay, since they were also captured without the tag or later. `hidden` counts
    those already hidden. `dry_run` says that nothing was appended.
    """

    tags: tuple[str, ...]
    before: int
    dry_run: bool
    items: tuple[PrunedItem, ...]
    kept: int = 0
    hidden: int = 0


def plan(writer: Writer, tags: Sequence[str], before: int, *, every: bool) -> Pruned:
    """Return the captures to be forgotten in the writer's scope, or in `every` one.

    Memories derived from these alone go too; `global` is an operator's. Raises `MemtapeError`.
    """
    check_kept(writer.home, "A pruning")
    named = tuple(dict.fromkeys(tag.strip() for tag in tags))
    if not all(named) or not named:
        raise MemtapeError("No tag is named, and nothing was forgotten.", "Name one, as --tag env:dev.")
    for tag in named:
        check_label("tag", tag)
    log, own = writer.log, None if every else writer.scope
    numbers = range(log.partitions) if own is None else [partition_of(own, log.partitions)]
    items, kept, hidden = list[PrunedItem](), 0, 0
    for done, number in enumerate(numbers):
        tell_progress("looking", done, len(numbers))
        state = state_at(log, writer.home.current(), number, log.ends()[number])
        for name, scope in sorted(state.scopes.items()):
            if own in (None, name) and (name != GLOBAL or writer.actor.origin == "operator"):
                old = _old_captures(log, scope, number, named, before)
                shown = [capture for capture, _ in old.values() if not capture.hidden]
                going = [capture for capture in shown if not _is_also_said(scope, capture, old)]
                for capture in going:
                    text, at = scope.captures.body(capture).text, old[capture.id][1].sent
                    text = text if len(text) <= _TOLD_CHARS else f"{text[: _TOLD_CHARS - 1]}…"
                    items.append(PrunedItem(id=capture.id, scope=name, kind=capture.kind, at=at, text=text))
                kept, hidden = kept + len(shown) - len(going), hidden + len(old) - len(shown)
    tell_progress("looking", len(numbers), len(numbers))
    return Pruned(tags=named, before=before, dry_run=True, items=tuple(items), kept=kept, hidden=hidden)


def prune(writer: Writer, made: Pruned) -> Pruned:
    """Append the planned `forgotten` events; return the plan as done."""
    ids: dict[str, list[str]] = {}
    for item in made.items:
        ids.setdefault(item.scope, []).append(item.id)
    reason = f"pruned: {', '.join(made.tags)}, before {format_time(made.before)}"[:_TOLD_CHARS]
    for scope, named in ids.items():
        for first in range(0, len(named), MAX_IDS):
            body = Forgotten(ids=tuple(named[first : first + MAX_IDS]), reason=reason)
            writer.append("forgotten", body, scope)
    return msgspec.structs.replace(made, dry_run=False)


def _old_captures(
    log: Log, scope: Scope, number: int, tags: Sequence[str], before: int
) -> dict[str, tuple[Capture, Event]]:
    """Return by id the old captures of a scope that carry a tag, and the memories derived from them alone."""
    found: dict[str, tuple[Capture, Event]] = {}
    for capture in scope.captures.by_seq.values():
        own = scope.captures.body(capture).tags
        is_tagged = any(tag in own for tag in tags)
        if not (is_tagged or capture.made or own[:1] in [(tag,) for tag in _DERIVED]):
            continue
        (slot,) = log.read(number, capture.offset, 1)
        event = event_of(slot.payload)
        if event is None:
            continue
        # A statement refers to its turn first, and then to what it corrects.
        refs = event.refs[:1] if own[:1] == (STATED_TAG,) else event.refs
        taken_from = [id for id in refs if scope.captures.get(id) is not None]
        is_derived = bool(taken_from) and all(id in found for id in taken_from)
        if (event.sent < before) if is_tagged else is_derived:
            found[capture.id] = capture, event
    return found


def _is_also_said(scope: Scope, capture: Capture, old: Container[str]) -> bool:
    """Whether the text of a capture is banned with it and is shown by another that stays."""
    seqs = scope.captures.seqs_of_normal.get(capture.normal, []) if capture.family else []
    same = (scope.captures.by_seq[seq] for seq in seqs)
    return any(not other.hidden and other.id not in old for other in same)
