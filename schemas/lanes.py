"""The lanes by which a text can be found or moved; what each of them does is in `state/ranking/lanes.py`."""

from __future__ import annotations

from typing import Literal, get_args

Lane = Literal["sparse", "dense", "hot", "fresh", "edges"]
LANES: tuple[Lane, ...] = get_args(Lane)
