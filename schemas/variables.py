"""Environment variables read by several rooms. The module imports nothing: the lightest processes load it."""

SESSION_VARIABLE = "MEMTAPE_SESSION"
"""The session of the captures and recalls of a process, set by its starter."""

PROFILE_VARIABLE = "MEMTAPE_PROFILE"
"""The profile of a process and its children, which precedes the profile in a home's settings."""
PROD, NO_PERSIST = "prod", "dev_no_persist"
"""The default profile, and the profile that stores nothing."""

ORIGIN_VARIABLE = "MEMTAPE_ORIGIN"
"""Who speaks by commands without a terminal, which precedes the origin in a home's settings."""
AGENT_VARIABLES = (
    *("AI_AGENT", "CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "COPILOT_CLI", "CURSOR_AGENT"),
    *("GEMINI_CLI", "OPENCODE", "QWEN_CODE"),
)
"""Variables that agents set for the commands that they run."""

HOOKS_VARIABLE, HOOKS_OFF, HOOKS_ALONE = "MEMTAPE_HOOKS", "off", "alone"
"""Turns hooks off for a process and its children: an agent used as a model has nothing to remember."""
