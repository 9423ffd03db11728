"""The MCP server: its tools and their answers."""
