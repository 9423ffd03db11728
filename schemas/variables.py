"""Environment variables read by several rooms. The module imports nothing: the lightest processes load it."""

SESSION_VARIABLE = "MEMTAPE_SESSION"
"""The session of the captures and recalls of a process, set by its starter."""

PROFILE_VARIABLE = "MEMTAPE_PROFILE"
"""The profile of a process and its children, which precedes the profile in a home's settings."""
PROD, NO_PERSIST = "prod", "dev_no_persist"
"""The profile where none is named, and the one under which nothing is kept."""

HOOKS_VARIABLE, HOOKS_OFF, HOOKS_ALONE = "MEMTAPE_HOOKS", "off", "alone"
"""By which a process and its children do without hooks: an agent that is used as a model has nothing to remember."""
