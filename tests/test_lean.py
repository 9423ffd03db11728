"""Of the MCP SDK a server loads what serves; whoever asks for the rest of it gets it."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import memtape.tools.agents.mcp.sessions
left_out = ("mcp.client", "mcp.server.mcpserver", "httpx2")
assert not [name for name in left_out if name in sys.modules], "the SDK's clients are loaded"
import mcp, mcp.server
from mcp.server.lowlevel import Server
assert mcp.server.Server is Server
from mcp import ClientSession
from mcp.server import MCPServer
assert ClientSession is sys.modules["mcp.client.session"].ClientSession and mcp.__name__ == "mcp"
try:
    mcp.nothing
except AttributeError as error:
    assert "nothing" in str(error)
else:
    raise AssertionError("a name that is not there was found")
"""


def test_a_server_loads_no_client_of_the_sdk_and_who_asks_has_it() -> None:
    subprocess.run([sys.executable, "-c", CODE], check=True, timeout=120)
