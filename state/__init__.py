"""The meaning of events: reducers, the fold rule, ranking, pages, digests and the replay oracle.

Pure. Nothing here imports Bytewax, LanceDB or Kafka, reads a clock, a file, the environment or randomness,
iterates a set, or stores a float. Each subject offers the same names: a state class, `evolve(state, event,
context)`, which returns `list[Change]`, `snapshot`, `restore` and `digest`. `evolve` changes its state in
place and never raises on a valid event.
"""
