"""Environment variables read by several rooms. The module imports nothing: the lightest processes load it."""

SESSION_VARIABLE = "MEMTAPE_SESSION"
"""By which whoever starts a process says to which session its captures and recalls belong."""

PROFILE_VARIABLE = "MEMTAPE_PROFILE"
"""By which a process and its children have a profile, before the one that the settings of a home name."""
PROD, NO_PERSIST = "prod", "dev_no_persist"
"""The profile where none is named, and the one under which nothing is kept."""

HOOKS_VARIABLE, HOOKS_OFF, HOOKS_ALONE = "MEMTAPE_HOOKS", "off", "alone"
"""By which a process and its children do without hooks: an agent that is used as a model has nothing to remember."""
