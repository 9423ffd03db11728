"""The most recent sessions of a scope, a fixed number regardless of the scope's age."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")

SESSIONS = 256
"""Sessions stored; beyond, the one silent for longest is dropped."""


def put_latest(of_session: dict[str, T], session: str, value: T) -> None:
    """Set a session's value and make it the latest; drop the session silent for longest."""
    of_session.pop(session, None)
    of_session[session] = value
    if len(of_session) > SESSIONS:
        del of_session[next(iter(of_session))]
