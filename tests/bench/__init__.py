"""Benchmarks: scripts that `make` and people run, and what several of them share. None is part of the product."""
