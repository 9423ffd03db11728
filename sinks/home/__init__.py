"""The data folder: where each thing lies, its locks, requests, marks and settings."""
