"""Secrets: how they are found in texts, and what stands for them on the log."""
