"""The commands for agents: mcp, hook, connect, disconnect, doctor."""

from __future__ import annotations

from pathlib import Path

import click

from recollect.schemas.errors import RecollectError
from recollect.schemas.scopes import GLOBAL, check_scope
from recollect.sinks.home import Home
from recollect.tools.options import print_json, with_folder


@click.command()
@click.option("--http", is_flag=True, help="Serve HTTP on loopback instead of stdin and stdout; needs a token.")
@click.option("--port", default=8642, show_default=True, type=click.IntRange(0, 65_535), help="0 takes a free one.")
@click.option("--scope", help="project:NAME, by default the project of the client's root or of this folder.")
@click.option("--actor", help="Who speaks, by default what the client calls itself.")
@with_folder
def mcp(home: Path, http: bool, port: int, scope: str | None, actor: str | None, as_json: bool) -> None:
    """Serve this memory to agents over the Model Context Protocol.

    Agents can add, search, open, forget and restore memories of their project. They cannot erase, configure, or write
    to global. Over HTTP the address and the file that holds the token are named on stderr.

    \b
    Example:
      recollect mcp
      recollect mcp --http --port 8642
    """
    if as_json and not http:
        raise click.UsageError("Over stdio the protocol has stdout for itself; --json goes with --http.")
    if scope == GLOBAL:
        raise RecollectError("An agent's scope is never global, which only operators write.", "Name a project.")
    from recollect.tools.mcp_server import HTTP_PATH, LOOPBACK, Memory, listen, serve_http, serve_stdio, token_of

    memory = Memory(home, scope=check_scope(scope) if scope else None, actor=actor)
    if not http:
        serve_stdio(memory)
        return
    token, path = token_of(Home(home))
    listening = listen(port)
    url = f"http://{LOOPBACK}:{listening.getsockname()[1]}{HTTP_PATH}"
    if as_json:
        print_json({"url": url, "token_file": str(path)})
    click.echo(f"Serving {url}. The token is in {path}.", err=True)
    serve_http(memory, listening, token)
