"""Secrets: finding them in texts, and their placeholders on the log."""
