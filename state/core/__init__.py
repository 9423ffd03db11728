"""What holds the subjects together: the partition, the scope, their digests and the replay that tests every flow."""
