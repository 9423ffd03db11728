"""The meaning of events: reducers, the fold rule, ranking, pages and digests.

Pure. Nothing here imports Bytewax, LanceDB or Kafka, reads a clock, a file, the environment or randomness,
iterates a set, or stores a float. Each subject offers a state class and `evolve(state, event, context)`,
which returns `list[Change]`, changes its state in place, and never raises on a valid event.
"""
