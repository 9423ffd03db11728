"""The MCP server: its tools, answers and bounds. Of the SDK it loads what serves."""

from memtape.tools.agents.mcp.lean import run_later

run_later()
