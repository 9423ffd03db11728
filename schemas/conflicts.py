"""The row of a conflict, a question to people about two memories, and the sort order of rows.

When a conflict is raised and the effect of an answer are elsewhere (`state`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

ConflictWhy = Literal["both_affirmed", "weaker", "model", "opposed"]
Severity = Literal["high", "medium", "low"]
ConflictStatus = Literal["pending", "accepted", "dismissed", "expired"]
"""`accepted`: one side is kept. `dismissed`: both are. `expired`: a side is gone, or something else replaced one."""

TOLD_WHY: dict[ConflictWhy, str] = {
    "both_affirmed": "both were affirmed",
    "weaker": "who is trusted less says otherwise",
    "model": "a model says that both cannot hold",
    "opposed": "one person wants both",
}


class ConflictRow(msgspec.Struct, frozen=True, kw_only=True):
    """A conflict between the memories of two captured ids, with their texts; `a` was said first.

    `a_evidence` and `b_evidence` are the ids of the events that affirmed each side before the conflict was
    `raised_at`, or of a model's decision that both cannot hold. `kept` is `a` or `b` if one of them was kept.
    `settled_at` is the time of people's answer, or of expiry.
    """

    key: str
    id: str
    scope: str
    a: str
    b: str
    why: ConflictWhy
    severity: Severity
    a_evidence: tuple[str, ...]
    b_evidence: tuple[str, ...]
    raised_at: int
    status: ConflictStatus
    kept: str | None = None
    settled_at: int | None = None
    note: str | None = None


def by_weight(row: ConflictRow) -> tuple[int, int, str]:
    """Return the sort key of a list of conflicts: pending ones first, then the gravest, then the latest."""
    order = _SEVERITIES.index(row.severity) if row.status == "pending" else len(_SEVERITIES)
    return order, -(row.raised_at if row.status == "pending" else row.settled_at or 0), row.id


_SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")
