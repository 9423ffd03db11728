"""The MCP server: its tools, answers and bounds. Only the serving part of the SDK is imported."""

from memtape.tools.agents.mcp.lean import run_later

run_later()
