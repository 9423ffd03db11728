"""The composition of subjects: partition, scope, and their digests."""
