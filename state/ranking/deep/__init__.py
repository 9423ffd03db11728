"""A search that looks again: what was found says what to ask next."""
