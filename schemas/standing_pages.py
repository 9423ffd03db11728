"""The names of the standing pages of a scope in the vault, and how many characters each has at most.

What stands on them is decided in `state/views/standing_pages.py`. They stand here so that whoever reads a page needs
not load the fold.
"""

from __future__ import annotations

ESSENTIALS, THREADS, RECENT, BUFFER, ARCHIVE = "essentials.md", "threads.md", "recent.md", "buffer.md", "archive.md"
PEOPLE, PROJECTS = "people", "projects"
LIMITS = {ESSENTIALS: 10_000, THREADS: 10_000, RECENT: 2_000, BUFFER: 4_000, ARCHIVE: 10_000}
