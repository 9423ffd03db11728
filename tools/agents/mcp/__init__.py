"""The MCP server: its tools, answers and bounds."""
