"""The workers: each reads the log, appends what it found, and keeps its own position."""
