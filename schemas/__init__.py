"""What is said: events, their bytes, ids, scopes, settings, rows and errors.

Everything here is a value or a pure function of values. No file, socket, clock or source of randomness may be
touched in this room, and nothing here decides what an event means: that is `state`.
"""
