"""Proposed pages of a scope, by rule or by a model.

A rule proposes a page for memories with a common tag, name or session, a model by a decision. The slug of a
rule's proposal derives from its subject, so that it is made once. An applied proposal is or was a page, a
declined one is forgotten, a rule's before its capture; neither is proposed again. Nothing is appended to the
log here, and no model is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

from memtape.schemas.events import CONSOLIDATED_TAG, DEV_TAG, DISTILLED_TAG, FLUSH_TAG, REPOSITORY_TAG, STATED_TAG
from memtape.schemas.ids import derived_id
from memtape.schemas.patterns import lazy
from memtape.schemas.slugs import is_slug, slug_of
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.state.core.scope import Scope
from memtape.state.subjects.covers import is_shown
from memtape.state.subjects.lifecycle import is_archived
from memtape.state.subjects.memories import Memory
from memtape.state.subjects.validity import holds
from memtape.state.text.lexicon import SEARCH_STOP

SOURCE = "proposed"
"""The source of a proposed page; its native id is its slug."""
LEAST, LEAST_OF_SESSION = 3, 5
"""Minimum memories of a page: of a tag or a name, and of a session."""
MOST, MOST_REFS = 12, 100
"""Maximum proposals of each kind, the largest first, and memories of each."""
TITLE_CHARS = 60
HEADING = "# "
TOPICS = 3

GROUPS = {
    "overview": ("Overview", "What this project is about: its goal, its plan, and what is used most."),
    "tags": ("Tags", "Pages of what carries one tag."),
    "names": ("Names", "Pages of what names one thing."),
    "sessions": ("Sessions", "Pages of what was kept in one session."),
}
"""The pages below the root under which proposals are placed, each with its title and text."""

_OWN_TAGS = (STATED_TAG, DISTILLED_TAG, CONSOLIDATED_TAG, DEV_TAG, FLUSH_TAG, REPOSITORY_TAG)
_NAME = lazy(r"`([^`\n]{2,60})`|(?<![.!?:;\n] )(?<!\A)(?<![\w'’.-])([A-Z][\w-]+(?: [A-Z][\w-]+){0,2})")


class Proposed(NamedTuple):
    """A proposed page: its slug and title, the ids of its memories, and the reason.

    A model's proposal was captured before: under `id`, by the model `by`. A rule's proposal has neither.
    """

    slug: str
    title: str
    ids: tuple[str, ...]
    why: str
    id: str = ""
    by: str = ""

    @property
    def text(self) -> str:
        """The text of the page: the memories are listed beside it, in their state by then."""
        return f"{HEADING}{self.title}\n\n{self.why}"


class _Told(NamedTuple):
    """A memory for pages: its id, day and sessions, and its tags and names."""

    id: str
    at: int
    sessions: tuple[str, ...]
    tags: tuple[str, ...]
    names: tuple[str, ...]
    weight: int


def propose(scope: Scope) -> list[Proposed]:
    """Return the unanswered proposals of a scope: by rule, then by models.

    The call reads the text of each memory once.
    """
    told = [_told(scope, memory) for memory in memories(scope)]
    found = (*_overview(scope, told), *_by_tag(told), *_by_name(told), *_by_session(told))
    by_rule = {it.slug: it for it in found if not is_answered(scope, it.slug)}
    return [*by_rule.values(), *(it for it in proposed_by_models(scope) if it.slug not in by_rule)]


def proposed_by_models(scope: Scope) -> list[Proposed]:
    """Return the models' unanswered proposals, earliest first, each slug once.

    A proposal ends if one of its memories has changed since the model read it.
    """
    found = dict[str, Proposed]()
    for seq in scope.pages.proposed:
        capture = scope.captures.by_seq[seq]
        body, cover = scope.captures.body(capture), scope.covers.of_text(capture.id)
        slug = body.path or ""
        is_gone = scope.tombstones.of(capture) is not None or capture.id in scope.withdrawals.ids
        if cover is None or is_gone or not scope.pages.is_proposed(capture) or not is_slug(slug):
            continue
        if not is_answered(scope, slug):
            title, _, why = body.text.removeprefix(HEADING).partition("\n\n")
            title = one_line(title, TITLE_CHARS)
            found.setdefault(slug, Proposed(slug, title, cover.ids, one_line(why), capture.id, capture.actor.name))
    return list(found.values())


def proposed_id(scope: str, slug: str) -> str:
    """Return the id that the capture of a proposed page has."""
    return derived_id("captured", scope, SOURCE, slug)


def is_answered(scope: Scope, slug: str) -> bool:
    """Return whether a proposal was applied or declined, or a page has its slug."""
    id = proposed_id(scope.name, slug)
    return scope.captures.get(id) is not None or id in scope.tombstones.ids or slug in scope.pages.slugs


def memories(scope: Scope) -> Iterator[Memory]:
    """Yield the memories for pages: shown, valid, and aging with the project."""
    for memory in scope.memories.by_birth.values():
        if memory.canonical >= 0 and is_shown(scope, scope.covers, memory) and holds(scope, memory):
            capture = scope.captures.by_seq[memory.canonical]
            if capture.family is not None and not is_archived(scope, memory.birth):
                yield memory


def _told(scope: Scope, memory: Memory) -> _Told:
    captures = [scope.captures.by_seq[join.seq] for join in memory.joins]
    spoken = scope.captures.by_seq[memory.canonical]
    tags = (tag for capture in captures for tag in scope.captures.body(capture).tags if tag not in _OWN_TAGS)
    return _Told(
        id=scope.captures.by_seq[memory.name].id,
        at=spoken.at,
        sessions=tuple(dict.fromkeys(capture.session for capture in captures if capture.session)),
        tags=tuple(dict.fromkeys(tags)),
        names=tuple(dict.fromkeys(_names(scope.captures.body(spoken).text))),
        weight=len(captures) + (2 if spoken.kind in ("goal", "plan") else 0),
    )


def _names(text: str) -> Iterator[str]:
    """Yield the names in a text: words between backticks, and capitalized words inside a sentence."""
    for quoted, name in _NAME.findall(text):
        found = quoted.strip() or name
        if found.casefold() not in SEARCH_STOP and any(char.isalpha() for char in found):
            yield found


def _overview(scope: Scope, told: list[_Told]) -> Iterator[Proposed]:
    led = sorted(told, key=lambda it: (-it.weight, it.at, it.id))[:MOST]
    if len(led) >= LEAST:
        title, why = GROUPS["overview"]
        yield Proposed("overview", title, tuple(it.id for it in led), why)


def _by_tag(told: list[_Told]) -> Iterator[Proposed]:
    for tag, of in _largest([(tag, it) for it in told for tag in it.tags], LEAST):
        title = one_line(tag, TITLE_CHARS)
        yield Proposed(f"tags/{_last(tag)}", title, of, f"{many(len(of), 'memory', 'memories')} carry the tag {title}.")


def _by_name(told: list[_Told]) -> Iterator[Proposed]:
    tags = {tag.casefold() for it in told for tag in it.tags}
    named = [(name, it) for it in told for name in it.names if name.casefold() not in tags]
    for name, of in _largest(named, LEAST):
        title = one_line(name, TITLE_CHARS)
        yield Proposed(f"names/{_last(name)}", title, of, f"{many(len(of), 'memory', 'memories')} name {title}.")


def _by_session(told: list[_Told]) -> Iterator[Proposed]:
    days = {session: it.at for it in reversed(told) for session in it.sessions}
    by_id = {it.id: it for it in told}
    for session, of in _largest([(session, it) for it in told for session in it.sessions], LEAST_OF_SESSION):
        day = format_day(days[session])
        topics = [name for name, _ in _largest([(name, by_id[id]) for id in of for name in by_id[id].names], 2)]
        title = ", ".join(topics[:TOPICS]) or f"Session of {day}"
        mark = blake2b(session.encode(), digest_size=4).hexdigest()
        why = f"{many(len(of), 'memory', 'memories')} were kept in the session of {day}."
        yield Proposed(f"sessions/{day}-{mark}", one_line(title, TITLE_CHARS), of, why)


def _last(name: str) -> str:
    """Return the last segment of a slug for a name."""
    return slug_of(name.replace("/", "-"))


def _largest(pairs: list[tuple[str, _Told]], least: int) -> list[tuple[str, tuple[str, ...]]]:
    """Return the groups of at least `least`, the largest first, then the one with the earliest member."""
    groups: dict[str, dict[str, None]] = {}
    for name, it in pairs:
        groups.setdefault(name, {})[it.id] = None
    found = [(name, tuple(ids)[:MOST_REFS]) for name, ids in groups.items() if len(ids) >= least]
    return sorted(found, key=lambda pair: -len(pair[1]))[:MOST]
