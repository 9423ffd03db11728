"""A search in several looks: the results of a look give the next query."""
