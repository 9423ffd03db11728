"""Where it lands: logs, LanceDB tables, the Markdown vault and locks. Each file owns one format, reading and writing.

No meaning is decided here: what a row or a page holds comes from `state`, ready made.
"""
