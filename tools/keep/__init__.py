"""Keeping a home: its owner, projection, rebuild, verify, erase, copy and embedders."""
