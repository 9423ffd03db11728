"""How events move: from a log through the reducers to whatever takes the deltas, and the workers beside it.

A flow decides nothing about what an event means (`state`) and knows no format (`sinks`); the log and the
views are handed in by `tools`.
"""
