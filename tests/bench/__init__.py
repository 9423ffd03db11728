"""Benchmarks: scripts that `make` and people run, and what they share. None is part of the product."""
