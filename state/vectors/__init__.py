"""Vectors as they are recorded, the lexical floor, and which embedder decides."""
