"""The logs: embedded, on Kafka and in memory; their door, and which one a home has."""
