"""The tree of pages: how it is walked, and what is wrong with it. A page is in `state/subjects/page.py`."""
