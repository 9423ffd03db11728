"""What events mean, a reducer a file: its state, `evolve`, `snapshot` and `restore`."""
