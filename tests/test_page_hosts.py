"""The view *next start* host by host: to the letter what the hook of a host prints, and what its server tells."""

# ruff: noqa: F811  (fixtures are handed in by their names)

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from bench.living import SCOPE
from forking import memtape
from mcp.client.client import Client as McpClient
from page_served import Page, living, own, page  # noqa: F401
from test_mcp import stdio, talk, text_of

from memtape.schemas.visible import visible
from memtape.sinks.home.folders import Home
from memtape.tools.agents.hosts import HOSTS, begins_at_prompt
from memtape.tools.ask.measuring import tokenizer
from memtape.tools.capture.project import adopt

ROOT = Path(__file__).parent.parent


def told_on(page: Page, name: str, **given: str) -> str:
    """Return what the view shows under a name, to the letter."""
    (shown,) = re.findall(
        rf'<pre[^>]*aria-label="{re.escape(name)}">(.*?)</pre>', page.get("/start", **given).text, re.S
    )
    return unescape(shown)


@pytest.fixture
def project(tmp_path: Path, own: Page) -> Path:
    """A repository that is pinned to the scope of the page."""
    folder = tmp_path / "work"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    adopt(folder, Home(own.home), SCOPE)
    return folder


@pytest.mark.parametrize("host", HOSTS)
def test_a_hook_prints_what_the_page_shows(own: Page, project: Path, host: str) -> None:
    form = HOSTS[host]
    wanted = "prompt" if begins_at_prompt(host) else "start"
    event = next(event for event, action in form.actions.items() if action == wanted)
    shown = told_on(own, f"What {HOSTS[host].name} is given")
    asked = {"hook_event_name": event, "session_id": "new", "cwd": str(project), "prompt": "Where were we?"}
    printed = subprocess.run(
        [*memtape(), "agents", "hook", "--host", host, "--home", str(own.home)],
        input=json.dumps(asked).encode(), capture_output=True, timeout=60, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    ).stdout.decode()  # fmt: skip
    assert SCOPE in printed and shown == visible(printed)
    given = json.loads(printed)
    context = given["additionalContext"] if form.flat else given["hookSpecificOutput"]["additionalContext"]
    row = re.search(rf"{HOSTS[host].name}.*?</tr>", own.get("/start").text, re.DOTALL)
    assert row is not None and f"<td>{tokenizer().count(context)}</td>" in row[0]


def test_a_server_tells_what_the_page_shows(own: Page, project: Path) -> None:
    instructions = told_on(own, "Instructions of the server")
    shown, fewer = (
        told_on(own, "What Any other host is given"),
        told_on(own, "What Any other host is given", budget="300"),
    )

    async def action(client: McpClient) -> None:
        assert client.instructions == instructions
        listed = [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
            for tool in (await client.list_tools()).tools
        ]
        assert [json.loads(line) for line in told_on(own, f"{len(listed)} tools").splitlines()] == listed
        assert visible(text_of(await client.call_tool("get_context"))) == shown
        asked = await client.call_tool("get_context", {"budget_tokens": 300})
        assert visible(text_of(asked)) == fewer != shown

    talk(stdio(own.home, project), action)
