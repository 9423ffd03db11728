"""Links laid one by one without circles, and the resulting order. The module knows births and no pages.

No function is recursive: a tree may be as deep as its number of pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def laid(links: Iterable[tuple[int, int, int]]) -> dict[int, int]:
    """Return the links (number, from, to) that close a circle, by number with their sources.

    Links are laid in the order of their numbers, and one that would close a circle with those laid is left
    out. After D. J. Pearce and P. H. J. Kelly, "A dynamic topological sort algorithm for directed acyclic
    graphs" (2006): a link that goes down the order costs nothing, any other the places between its ends.
    """
    known = sorted(links)
    children: dict[int, list[int]] = {}
    for _, source, target in known:
        children.setdefault(source, []).append(target)
    ends = dict.fromkeys(end for _, source, target in known for end in (source, target))
    order = _Order(sorted_down(children, sorted(ends, reverse=True)))
    return {number: source for number, source, target in known if not order.lay(source, target)}


def reached(children: Mapping[int, Sequence[int]], start: int) -> dict[int, None]:
    """Return all that can be reached from a start, the start too."""
    found, rest = {start: None}, [start]
    for one in rest:
        for other in children.get(one, ()):
            if other not in found:
                found[other] = None
                rest.append(other)
    return found


def sorted_down(children: Mapping[int, Sequence[int]], starts: Iterable[int]) -> dict[int, int]:
    """Return the place of each start, and of all nodes below, in an order with parents before their children.

    In a circle one of the links goes up. Of two starts not below each other the later one comes first.
    """
    ended: dict[int, None] = {}
    seen: dict[int, None] = {}
    for start in starts:
        if start in seen:
            continue
        seen[start] = None
        open = [(start, iter(children.get(start, ())))]
        while open:
            one, rest = open[-1]
            after = next((other for other in rest if other not in seen), None)
            if after is None:
                ended[one] = None
                open.pop()
            else:
                seen[after] = None
                open.append((after, iter(children.get(after, ()))))
    return {one: place for place, one in enumerate(reversed(ended))}


class _Order:
    """A topological order of linked nodes: every laid link goes down."""

    def __init__(self, place: dict[int, int]) -> None:
        self._place = place
        self._down: dict[int, list[int]] = {}
        self._up: dict[int, list[int]] = {}

    def lay(self, source: int, target: int) -> bool:
        """Lay a link; return False, without a change, if it would close a circle."""
        if source == target:
            return False
        if self._place[source] > self._place[target]:
            below = self._search(self._down, target, self._place[target], self._place[source])
            if source in below:
                return False
            above = self._search(self._up, source, self._place[target], self._place[source])
            moved = [*sorted(above, key=self._place.__getitem__), *sorted(below, key=self._place.__getitem__)]
            places = sorted(map(self._place.__getitem__, moved))
            self._place.update(zip(moved, places, strict=True))
        self._down.setdefault(source, []).append(target)
        self._up.setdefault(target, []).append(source)
        return True

    def _search(self, ways: Mapping[int, Sequence[int]], start: int, first: int, last: int) -> dict[int, None]:
        """Return the nodes reachable from a start among the places from `first` to `last`."""
        found, rest = {start: None}, [start]
        for one in rest:
            for other in ways.get(one, ()):
                if other not in found and first <= self._place[other] <= last:
                    found[other] = None
                    rest.append(other)
        return found
