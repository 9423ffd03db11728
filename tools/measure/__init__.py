"""Measuring: benchmarks, and recall on corpora of questions."""
