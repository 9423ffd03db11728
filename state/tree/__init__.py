"""The tree of pages: walks, checks and proposals. A page is in `state/subjects/pages.py`."""
