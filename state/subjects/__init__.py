"""The meaning of events, a reducer a file: its state, `evolve`, `snapshot` and `restore`."""
