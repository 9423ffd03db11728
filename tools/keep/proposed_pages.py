"""Writing of proposed pages, with their parent pages. `state/tree` makes the proposals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from memtape.schemas.events import CHILD, NO_EDIT, SYSTEM, Event, Linked, refs_of_edit
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log
from memtape.schemas.slugs import root_id
from memtape.sinks.home.folders import Home
from memtape.state.core.scope import Scope
from memtape.state.tree.proposing import GROUPS, SOURCE, Proposed, is_answered, propose, proposed_id
from memtape.tools.capture.lines import Line
from memtape.tools.capture.writing import Writer
from memtape.tools.keep.states import scope_now


def apply_all(home: Home, log: Log, name: str) -> int:
    """Write all proposed pages of a scope as the system; return their number."""
    scope = scope_now(home, log, name)
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
    made = dict[str, str]()
    for it in sorted(proposals, key=lambda it: it.slug.count("/")):
        group = it.slug.partition("/")[0]
        if group in GROUPS and group != it.slug and group not in made and not is_answered(scope, group):
            title, text = GROUPS[group]
            events += _events(writer, scope, Proposed(group, title, (), text), root_id(scope.name))
            made[group] = proposed_id(scope.name, group)
        events += _events(writer, scope, it, _above(scope, made, it.slug))
        made[it.slug] = it.id or proposed_id(scope.name, it.slug)
    writer.log.append(events)


def _above(scope: Scope, made: Mapping[str, str], slug: str) -> str:
    """Return the id of a new slug's parent page: the longest existing prefix, else the root."""
    while "/" in slug:
        slug = slug.rpartition("/")[0]
        page = scope.pages.at(slug) if slug not in made else None
        if slug in made or (page is not None and page.lives):
            return page.id if page is not None else made[slug]
    return root_id(scope.name)


def _events(writer: Writer, scope: Scope, it: Proposed, above: str) -> list[Event]:
    """Return the events of a proposed page: its text (unless captured by a model), place and refs."""
    captured, id, key = list[Event](), it.id, it.id or it.slug
    if not id:
        line = Line(text=it.text, kind="page", path=it.slug, source=SOURCE, native_id=it.slug, scope=scope.name)
        captured = writer.events_of(line, {})
        id = captured[0].id
    edit = replace(NO_EDIT, id=id, slug=it.slug if it.id else None, title=it.title, refs=it.ids or None)
    link = Linked(id=above, on=True, relation=CHILD, slug=None, to=id)
    return [
        *captured,
        writer.made("edited", edit, scope.name, refs_of_edit(edit), derived_id("edited", scope.name, SOURCE, key)),
        writer.made("linked", link, scope.name, (), derived_id("linked", scope.name, SOURCE, key)),
    ]
