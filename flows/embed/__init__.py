"""Embedders: effects that make vectors, and the list of the embedders available here."""
