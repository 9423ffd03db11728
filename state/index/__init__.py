"""A search index as plain arrays: what it keeps of each text, segments and their merging, and the whole of a scope."""
