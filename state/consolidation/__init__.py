"""Consolidation of similar memories: the start of a pass, its clusters, and the decisions by rule."""
