"""Writing the pages that are proposed by rule, with the pages below which they stand. The rule is in `state/tree`."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from memtape.schemas.events import CHILD, NO_EDIT, SYSTEM, Event, Linked, refs_of_edit
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log
from memtape.schemas.scopes import partition_of
from memtape.schemas.slugs import root_id
from memtape.sinks.home.folders import Home
from memtape.state.core.scope import Scope
from memtape.state.tree.proposing import GROUPS, SOURCE, Proposed, is_answered, propose, proposed_id
from memtape.tools.capture.lines import Line
from memtape.tools.capture.writing import Writer
from memtape.tools.keep.states import state_at


def apply_all(home: Home, log: Log, name: str) -> int:
    """Write all that is proposed for a scope, by nobody; return how many pages that were."""
    number = partition_of(name, log.partitions)
    scope = state_at(log, home.current(), number, log.ends()[number]).scopes.get(name)
    proposals = [] if scope is None else propose(scope)
    if scope is None or not proposals:
        return 0
    writer = Writer(home, log, scope=name, actor=SYSTEM.name, origin=SYSTEM.origin)
    writer.session = None
    apply_proposals(writer, scope, proposals)
    return len(proposals)


def apply_proposals(writer: Writer, scope: Scope, proposals: Iterable[Proposed]) -> None:
    """Write the pages of proposals, all at once, and the page below which each stands where there is none yet."""
    events: list[Event] = []
    made = dict[str, None]()
    for it in proposals:
        group = it.slug.partition("/")[0]
        if group != it.slug and group not in made and not is_answered(scope, group):
            title, text = GROUPS[group]
            events += _events(writer, scope, Proposed(group, title, (), text), root_id(scope.name))
            made[group] = None
        page = scope.pages.at(group) if scope.pages.by_birth else None
        above = page.id if page is not None and page.lives else proposed_id(scope.name, group) if group in made else ""
        events += _events(writer, scope, it, above if above and group != it.slug else root_id(scope.name))
        made[it.slug] = None
    writer.log.append(events)


def _events(writer: Writer, scope: Scope, it: Proposed, above: str) -> list[Event]:
    line = Line(text=it.text, kind="page", path=it.slug, source=SOURCE, native_id=it.slug, scope=scope.name)
    (captured,) = writer.events_of(line, {})
    edit = replace(NO_EDIT, id=captured.id, title=it.title, refs=it.ids or None)
    link = Linked(id=above, on=True, relation=CHILD, slug=None, to=captured.id)
    return [
        captured,
        writer.made("edited", edit, scope.name, refs_of_edit(edit), derived_id("edited", scope.name, SOURCE, it.slug)),
        writer.made("linked", link, scope.name, (), derived_id("linked", scope.name, SOURCE, it.slug)),
    ]
