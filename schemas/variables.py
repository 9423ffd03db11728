"""Environment variables read by several rooms. The module imports nothing: the lightest processes load it."""

SESSION_VARIABLE = "MEMTAPE_SESSION"
"""The session of the captures and recalls of a process, set by its starter."""

PROFILE_VARIABLE = "MEMTAPE_PROFILE"
"""The profile of a process and its children, which precedes the profile in a home's settings."""
PROD, NO_PERSIST = "prod", "dev_no_persist"
"""The default profile, and the profile that stores nothing."""

HOOKS_VARIABLE, HOOKS_OFF, HOOKS_ALONE = "MEMTAPE_HOOKS", "off", "alone"
"""Turns hooks off for a process and its children: an agent used as a model has nothing to remember."""
