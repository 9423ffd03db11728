"""The disk use of a home: bytes of log, views, snapshots, pages and the rest. Files are not read."""

from __future__ import annotations

import os

from memtape.sinks.home.folders import Home

KINDS = ("log", "tables", "index", "snapshots", "pages", "past", "rest")


def disk_of(home: Home) -> dict[str, int]:
    """Return the bytes of each kind that there is, in the order of `KINDS`; a file that goes meanwhile counts as 0."""
    if home.is_nowhere:
        return {}
    found, log = dict.fromkeys(KINDS, 0), home.log_path.name
    waiting: list[tuple[str, tuple[str, ...]]] = [(str(home.path), ())]
    while waiting:
        folder, place = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            its = (*place, entry.name)
            try:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, its))
                else:
                    found[_kind(its, log)] += entry.stat(follow_symlinks=False).st_size
            except OSError:
                continue
    return {kind: size for kind, size in found.items() if size}


def _kind(place: tuple[str, ...], log: str) -> str:
    """Return the kind of a file by its place in the home."""
    match place:
        case (name,) if name.startswith(log):
            return "log"
        case ("builds", _, "lance", _, "index", *_):
            return "index"
        case ("builds", _, "lance", *_):
            return "tables"
        case ("builds", _, "state", *_):
            return "snapshots"
        case ("vault", *_):
            return "pages"
        case ("as-of", *_):
            return "past"
    return "rest"
