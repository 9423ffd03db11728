"""The view *graph*: memories used together, drawn so that each keeps its place from day to day.

The place of a memory follows from its id alone: nothing moves when other memories come or go.
"""

from __future__ import annotations

from hashlib import blake2b
from math import cos, pi, sin, sqrt
from typing import Any, NamedTuple

from memtape.schemas.times import DAY_US
from memtape.state.subjects.weights import ONE, decayed
from memtape.tools.ask.looking import UseEdge
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery

MOST_EDGES = 400
RADIUS, EDGE = 420.0, 30.0
"""The disc in which memories stand, and the margin around it, in pixels."""


class GraphNode(NamedTuple):
    """A memory or turn in the drawing; `weight` is the sum of its edges."""

    id: str
    kind: str
    text: str
    x: float
    y: float
    weight: float


def graph(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the heaviest edges of a scope and where their ends stand."""
    least = asked.number("least", 0, 0, 10_000) / 100
    listed = client.all_edges(as_of=asked.as_of)
    edges = sorted((edge for edge in listed.edges if edge.weight >= least), key=_by_weight)[:MOST_EDGES]
    nodes = _placed(edges)
    return {
        "all": len(listed.edges),
        "edges": edges,
        "lines": [(edge, nodes[edge.source.id], nodes[edge.target.id]) for edge in edges],
        "nodes": list(nodes.values()),
        "side": 2 * (RADIUS + EDGE),
        "least": int(least * 100),
        "week": decayed(ONE, 7 * DAY_US) / ONE,
        "heaviest": max((edge.weight for edge in edges), default=1.0),
    }


def _by_weight(edge: UseEdge) -> tuple[float, str, str]:
    return -edge.weight, edge.source.id, edge.target.id


def _placed(edges: list[UseEdge]) -> dict[str, GraphNode]:
    """Return the ends of edges where they stand: a digest of the id, spread evenly over the disc."""
    ends = {end.id: end for edge in edges for end in (edge.source, edge.target)}
    weights = dict.fromkeys(ends, 0.0)
    for edge in edges:
        weights[edge.source.id] += edge.weight
        weights[edge.target.id] += edge.weight
    nodes = {}
    for id, end in ends.items():
        digest = blake2b(id.encode(), digest_size=8).digest()
        around, away = (int.from_bytes(half, "big") / 2**32 for half in (digest[:4], digest[4:]))
        turn, far = 2 * pi * around, RADIUS * sqrt(away)
        nodes[id] = GraphNode(id, end.kind, end.text, far * cos(turn), far * sin(turn), weights[id])
    return nodes
