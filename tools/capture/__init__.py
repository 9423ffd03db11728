"""Texts on their way to the log: lines, projects, ids, what is injected, and what is refused."""
