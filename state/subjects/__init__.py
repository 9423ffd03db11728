"""The meaning of events, a reducer a file: its state and `evolve`."""
