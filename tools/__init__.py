"""Who asks: the Python client, the commands over it, retrieval, the projector's wiring, and benchmarks.

Nothing here writes a view by hand, and nothing here decides what an event means.
"""
