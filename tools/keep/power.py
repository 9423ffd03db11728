"""Whether the machine runs on its battery, as far as the system tells."""

from __future__ import annotations

from pathlib import Path

SUPPLIES = Path("/sys/class/power_supply")
"""Where Linux has a folder for each supply of power."""


def is_on_battery(supplies: Path = SUPPLIES) -> bool:
    """Return whether a battery is being discharged and no mains is on; False where the system does not say."""
    told = [(_read(place / "type"), place) for place in sorted(supplies.glob("*"))]
    if any(kind == "Mains" and _read(place / "online") == "1" for kind, place in told):
        return False
    return any(kind == "Battery" and _read(place / "status") == "Discharging" for kind, place in told)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
