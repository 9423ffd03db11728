"""The storage: logs, LanceDB tables, the Markdown vault and locks. Each file reads and writes one format.

No meaning is decided here: the content of a row or a page comes from `state`, ready made.
"""
