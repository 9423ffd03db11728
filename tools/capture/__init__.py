"""Texts on their way to the log: lines, projects, ids, injected text, and refusals."""
