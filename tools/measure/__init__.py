"""Measuring recall on corpora of questions, and drawing what was measured."""
