"""Embedders: effects that make vectors, and which of them can be had here."""
