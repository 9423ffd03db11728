"""The data folder: where each thing lies, its locks, marks and settings."""
