"""A search index as plain arrays: entries of texts, segments and their merging, and all texts of a scope."""
