"""The tables of `data/`, which a person edits: cases as data, and no code that says what is right of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

DATA = Path(__file__).parent / "data"


def table(name: str) -> dict[str, Any]:
    """Return what stands in `data/NAME.toml`, by its names."""
    found: dict[str, Any] = msgspec.toml.decode((DATA / f"{name}.toml").read_bytes())
    return found


def rows(name: str) -> list[dict[str, Any]]:
    """Return what stands in the lines of `data/NAME.jsonl`."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_bytes().split(b"\n") if line]
