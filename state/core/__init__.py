"""The composition of subjects: partition, scope, their digests, and the replay that tests every flow."""
