"""The names of a scope's standing pages in the vault, and the maximum number of characters of each.

`state/views/standing_pages.py` decides their content. The names are here so that a reader of a page need not
load the fold.
"""

from __future__ import annotations

ESSENTIALS, THREADS, RECENT, BUFFER, ARCHIVE = "essentials.md", "threads.md", "recent.md", "buffer.md", "archive.md"
PEOPLE, PROJECTS = "people", "projects"
LIMITS = {ESSENTIALS: 10_000, THREADS: 10_000, RECENT: 2_000, BUFFER: 4_000, ARCHIVE: 10_000}
