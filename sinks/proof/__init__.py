"""Everything that the bytes of a home still hold, for the proof of an erasure."""
