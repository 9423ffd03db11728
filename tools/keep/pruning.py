"""Forgetting old captures with a tag, as those from development: the plan, and its events.

Each is hidden by a `forgotten` event and returns by `restored`. Nothing is erased here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from memtape.schemas.codec import decode
from memtape.schemas.errors import InvalidEvent, MemtapeError
from memtape.schemas.events import CONSOLIDATED_TAG, DISTILLED_TAG, MAX_IDS, STATED_TAG, Event, Forgotten
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.schemas.times import format_time
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture
from memtape.tools.capture.lines import check_label
from memtape.tools.capture.profiles import check_kept
from memtape.tools.capture.writing import Writer
from memtape.tools.keep.states import state_at

OnProgress = Callable[[int, int], None]
"""Is told how many partitions of how many were looked at."""
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


def plan(
    writer: Writer,
    tags: Sequence[str],
    before: int,
    *,
    every: bool = False,
    on_progress: OnProgress = lambda done, total: None,
) -> Pruned:
    """Return the captures to be forgotten in the writer's scope, or in `every` one.

    Raises `MemtapeError` without a tag. Memories derived only from such captures are forgotten too. `global`
    is only for an operator.
    """
    check_kept(writer.home, "A pruning")
    named = tuple(dict.fromkeys(tag.strip() for tag in tags))
    if not all(named) or not named:
        raise MemtapeError("No tag is named, and nothing was forgotten.", "Name one, as --tag env:dev.")
    for tag in named:
        check_label("tag", tag)
    log, own = writer.log, None if every else writer.scope
    numbers = range(log.partitions) if own is None else [partition_of(own, log.partitions)]
    made = Pruned(tags=named, before=before, dry_run=True, items=())
    for done, number in enumerate(numbers):
        on_progress(done, len(numbers))
        for name, scope in sorted(state_at(log, writer.home.current(), number, log.ends()[number]).scopes.items()):
            if own in (None, name) and (name != GLOBAL or writer.actor.origin == "operator"):
                made = _with(made, _OldCaptures(writer, scope, number, named, before))
    on_progress(len(numbers), len(numbers))
    return made


def prune(writer: Writer, made: Pruned) -> Pruned:
    """Append the planned `forgotten` events; return the plan as done."""
    ids: dict[str, list[str]] = {}
    for item in made.items:
        ids.setdefault(item.scope, []).append(item.id)
    reason = f"pruned: {', '.join(made.tags)}, before {format_time(made.before)}"[:_TOLD_CHARS]
    for scope, named in ids.items():
        for first in range(0, len(named), MAX_IDS):
            writer.append("forgotten", Forgotten(ids=tuple(named[first : first + MAX_IDS]), reason=reason), scope)
    return msgspec.structs.replace(made, dry_run=False)


class _OldCaptures:
    """The old captures of one scope that carry a tag, by id, and the memories derived from them alone."""

    def __init__(self, writer: Writer, scope: Scope, number: int, tags: tuple[str, ...], before: int) -> None:
        self._log = writer.log
        self._number = number
        self._tags = frozenset(tags)
        self._before = before
        self.scope = scope
        self.found: dict[str, tuple[Capture, Event]] = {}
        for capture in scope.captures.by_seq.values():
            if (event := self._of(capture)) is not None:
                self.found[capture.id] = capture, event

    def _of(self, capture: Capture) -> Event | None:
        """Return the event of a capture to be forgotten, None if it stays."""
        tags = self.scope.captures.body(capture).tags
        tagged = not self._tags.isdisjoint(tags)
        if not (tagged or capture.made or tags[:1] in [(tag,) for tag in _DERIVED]):
            return None
        try:
            (slot,) = self._log.read(self._number, capture.offset, 1)
            event = decode(slot.payload)
        except (ValueError, InvalidEvent):  # It is erased by now.
            return None
        if tagged:
            return event if event.sent < self._before else None
        # A statement refers to its turn first, and then to what it corrects.
        refs = event.refs[:1] if tags[:1] == (STATED_TAG,) else event.refs
        taken_from = [id for id in refs if self.scope.captures.get(id) is not None]
        return event if taken_from and all(id in self.found for id in taken_from) else None

    def also_said(self, capture: Capture) -> bool:
        """Whether the text of a capture is banned with it and is shown by another that stays."""
        seqs = self.scope.captures.seqs_of_normal.get(capture.normal, []) if capture.family else []
        same = (self.scope.captures.by_seq[seq] for seq in seqs)
        return any(not other.hidden and other.id not in self.found for other in same)

    def items(self, shown: Sequence[Capture]) -> Iterator[PrunedItem]:
        """Yield the items to be forgotten."""
        for capture in shown:
            event, text = self.found[capture.id][1], self.scope.captures.body(capture).text
            told = text if len(text) <= _TOLD_CHARS else f"{text[: _TOLD_CHARS - 1]}…"
            yield PrunedItem(id=capture.id, scope=self.scope.name, kind=capture.kind, at=event.sent, text=told)


def _with(made: Pruned, old: _OldCaptures) -> Pruned:
    """Return the plan with the old captures of one more scope."""
    captures = [capture for capture, _ in old.found.values()]
    shown = [capture for capture in captures if not capture.hidden]
    going = [capture for capture in shown if not old.also_said(capture)]
    return msgspec.structs.replace(
        made,
        items=(*made.items, *old.items(going)),
        kept=made.kept + len(shown) - len(going),
        hidden=made.hidden + len(captures) - len(shown),
    )
