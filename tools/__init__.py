"""The callers: the Python client, its commands, retrieval, the projector's wiring, and benchmarks.

Nothing here writes a view by hand, and nothing here decides the meaning of an event.
"""
