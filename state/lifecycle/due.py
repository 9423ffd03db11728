"""The times of checks of texts: a calendar of hours, so that a tick costs its due texts and never the scope.

The calendar follows from the rest of a state and decides nothing: a unit checked too early is checked again
later.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush


class DueUnits:
    """Units by the hour of their next check; a unit may be in several hours."""

    def __init__(self) -> None:
        self._units: dict[int, list[int]] = {}
        self._hours: list[int] = []

    def put(self, hour: int, unit: int) -> None:
        """Let a unit be looked at from an hour on."""
        units = self._units.get(hour)
        if units is None:
            units = self._units[hour] = []
            heappush(self._hours, hour)
        units.append(unit)

    def has_any(self, hour: int) -> bool:
        """Return whether anything is to be looked at by an hour."""
        return bool(self._hours) and self._hours[0] <= hour

    def taken(self, hour: int) -> Iterable[int]:
        """Take out and return the units that are to be looked at by an hour, each once."""
        units: dict[int, None] = {}
        while self.has_any(hour):
            units |= dict.fromkeys(self._units.pop(heappop(self._hours)))
        return units
