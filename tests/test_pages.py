"""Pages: versions, places, edits and links, against a naive model and case by case; and what is erased of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from builders import TREE, captured, configured, edited, erased, make_id, page_id, page_link, slots, worlds
from hypothesis import given
from model_pages import FIELDS, Pages
from replaying import replay

from memtape.schemas.events import Event, Part
from memtape.schemas.ids import ROOT, SLUG_CHARS, is_slug, slug_of
from memtape.schemas.rows import MemoryRow, PageRow
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold
from memtape.state.core.scope import Scope
from memtape.state.views.resolution import named_by_decision, whole
from memtape.state.views.rows import memory_row
from memtape.state.views.tree_pages import page_row

SCOPE = "project:test"


def folded(events: list[Event]) -> Scope:
    """The scope of a history, of which all that it erases is known."""
    partition = Partition(0, erasures_of(slots(events)))
    fold(partition, slots([configured(), *events]))
    return partition.scopes.get(SCOPE) or Scope(SCOPE)


def row(scope: Scope, name: object) -> PageRow | None:
    return page_row(scope, page_id(name))


def the(scope: Scope, name: object) -> PageRow:
    found = row(scope, name)
    assert found is not None
    return found


def shown(scope: Scope) -> list[str]:
    """The texts of pages that are not hidden."""
    rows = (memory_row(scope, capture.id) for capture in scope.captures.by_seq.values())
    return [found.text for found in rows if isinstance(found, MemoryRow) and found.kind == "page" and not found.hidden]


def page(text: str, name: object, slug: str | None = "a", **fields: Any) -> Event:
    return captured(text, name, "page", path=slug, **fields)


# --- Against a model ---


def told(scope: Scope) -> dict[str, Any]:
    """All that is shown of each page that lives, as the state has it."""
    found = {}
    for page in scope.pages.by_birth.values():
        made = page_row(scope, page.id)
        if made is None or made.id == page_id(ROOT):
            continue
        given = {name: page.given[name].value for name in FIELDS if name in page.given}
        ends = [(link, scope.pages.end(link)) for link in page.links.values()]
        links = [(link.relation, link.to if end is None else end.id) for link, end in ends]
        found[page.id] = (made.slug, made.version, list(made.beside), given, links)
    return found


def as_event(event: Event) -> dict[str, Any]:
    """An event as the model knows it."""
    return msgspec.to_builtins(event) | {"origin": event.actor.origin}


@given(worlds(of=(TREE,)))
def test_pages_are_what_a_naive_model_says_after_every_event(events: list[Event]) -> None:
    seen = list[str]()
    naive, partition = Pages(SCOPE), Partition(0)
    fold(partition, slots([configured()]))
    for offset, said in enumerate(events, start=1):
        fold(partition, slots([said], start=offset))
        if said.id not in seen:
            seen.append(said.id)
            naive.take(as_event(said))
        scope = partition.scopes[SCOPE]
        assert told(scope) == naive.told()
    for page in partition.scopes[SCOPE].pages.by_birth.values() if events else ():
        standing = page.standing
        living = (standing.current, *standing.beside)
        for seq in page.versions:
            assert partition.scopes[SCOPE].captures.by_seq[seq].hidden is (seq not in living)


# --- Versions ---


def test_the_id_of_a_page_names_all_its_versions_and_only_one_alone() -> None:
    scope = folded([page("One.", 1), page("Two.", 2), page("Other.", 3, "b")])
    assert [it.id for it in whole(scope, [make_id(1)])] == [make_id(1), make_id(2)]
    assert named_by_decision(scope, make_id(2), only=False) == (make_id(1), make_id(2))
    assert named_by_decision(scope, make_id(2), only=True) == (make_id(2),)


def test_a_part_of_a_long_text_is_no_page_and_no_slug_is_none() -> None:
    part = Part(index=0, count=2)
    scope = folded([page("One of two.", 1, part=part), page("A path.", 2, "Notes/a.md"), page("Root.", 3, ROOT),
                    page("Long.", 4, "a" * 300)])  # fmt: skip
    assert scope.pages.by_birth == {} and len(shown(scope)) == 4
    assert row(scope, 1) is None and page_row(scope, "x" * 300) is None


def test_the_root_may_have_a_text_and_has_an_id_before_anything_is_said() -> None:
    scope = folded([page("All of it.", 1, None), edited(ROOT, "e", by=1, title="Start", slug="a")])
    found = the(scope, ROOT)
    assert (found.slug, found.title, found.version, found.summary) == (ROOT, "Start", make_id(1), "All of it.")


# --- Erasing, slugs ---


def test_erasing_a_page_counts_as_if_nothing_of_it_had_been_said() -> None:
    other = [page("Other.", 9, "z"), page_link(ROOT, "child", "k", 9)]
    about = [page("One.", 1), edited(1, "e", title="Secret title", base=1), page("Two.", 2),
             edited(1, "g", by=2, base=1), page_link(9, "related", "l", 1), page_link(1, "child", "m", 9)]  # fmt: skip
    scope = folded([*other, *about, erased([1, 2], "x")])
    assert told(scope) == told(folded(other))
    assert the(scope, 9).edges == () and the(scope, 9).parents == (page_id(ROOT),)
    log = slots([configured(), *other, *about, erased([1, 2], "x")])
    assert replay(log).state_hash == replay(log).state_hash
    assert b"Secret" not in repr(told(scope)).encode()


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Notes/How To.md", "notes/how-to-md"), ("größe", "große"), ("a//b", "a/b"), ("Ünï côdé", "uni-code"), ("a", "a")],
)
def test_a_name_becomes_a_slug(name: str, slug: str) -> None:
    found = slug_of(name)
    assert is_slug(found) and (found == slug or not slug.isascii())


def test_whatever_is_called_a_page_has_a_slug_of_its_own() -> None:
    for name in ("", "_root", "東京", "a" * 300, "/".join("segment" for _ in range(60)), "..", "/", "\ud800"):
        assert is_slug(slug_of(name)) and len(slug_of(name)) <= SLUG_CHARS
        assert slug_of(name + "1") != slug_of(name)
