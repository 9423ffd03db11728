"""Checks of the home, the server, and each host with its hooks; each finding has its next step.

The checks use the means of agents: a capture and a search for it, the server's own protocol, the hosts' own
commands. They mend nothing, and append nothing to the log: the capture goes into a temporary home.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import msgspec
import uuid_utils

from memtape.flows.models import choose_model
from memtape.schemas.errors import MemtapeError, ModelTimeout
from memtape.schemas.times import DAY_US
from memtape.schemas.variables import HOOKS_ALONE, HOOKS_VARIABLE
from memtape.schemas.visible import many
from memtape.sinks.home.counts import FLUSHES, HomeCounts
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings, trial_settings
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.row_tables import MOST_FILES
from memtape.tools.agents.connecting import LINK, is_connected, own_command, plugin_folder, run_host
from memtape.tools.agents.errors import ERRORS_NAME, latest_errors
from memtape.tools.agents.hosts import HOSTS, Host
from memtape.tools.agents.plugins import PLUGIN, SCRIPT, SELECTOR, script_hook, started_by
from memtape.tools.capture.profiles import keeps_nothing, pauses_of, profile_of
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.query.telling import held
from memtape.tools.recalling import offer

DOCTOR = {"name": "memtape-doctor", "version": "1"}
PROBE_SCOPE = "project:memtape-doctor"
SHOWN_ERRORS = 5
RECENT_US = DAY_US
"""An error counts as a task for this long; older ones need nothing unless they happen again."""
ANSWER_WAIT_S = 20
MODEL_WAIT_S = 5.0
MUCH_LAG = 2_000
CODEX_WAITS_MS = 1_000

State = Literal["good", "to do", "bad", "not there"]


class Finding(msgspec.Struct, frozen=True):
    """A check: its state and observation, the next step (empty where there is none), and its subject."""

    state: State
    seen: str
    todo: str = ""
    subject: str = ""


Look = Callable[[Home], Finding]


def examine(home: Home) -> Iterator[Finding]:
    """Yield the findings in the order of the checks. Never raises."""
    for subject, look in LOOKS.items():
        try:
            found = look(home)
        except MemtapeError as error:
            found = Finding("bad", str(error), error.hint)
        except Exception as error:  # A doctor who faints helps nobody.
            found = Finding("bad", f"It could not be looked at ({type(error).__name__}: {error}).")
        yield msgspec.structs.replace(found, subject=subject)
        if keeps_nothing(home.path):  # All else looks at what is kept.
            return


def _round_trip(home: Home) -> Finding:
    word = f"probe{uuid_utils.uuid7().hex}"
    # A home with the same settings inside this home, thus on the same disk.
    with (
        tempfile.TemporaryDirectory(prefix=".doctor-", dir=home.path, ignore_cleanup_errors=True) as folder,
        contextlib.closing(EmbeddedLog(Home(Path(folder)).log_path)) as log,
    ):
        trial_settings(home, Home(Path(folder)))
        client = Client(Home(Path(folder)), scope=PROBE_SCOPE, actor="memtape", origin="tool", log=log)
        begun = time.monotonic()
        receipt = client.capture(f"The doctor's {word}.", kind="turn")
        captured_ms = round((time.monotonic() - begun) * 1_000)
        found = client.search(word, 1, quiet=True).results
        found_ms = round((time.monotonic() - begun) * 1_000)
        if [result.id for result in found] != [receipt.id]:
            return Finding("bad", "A capture does not come back in a search.", "Run `memtape verify`.")
    said = f"A capture took {captured_ms:,} ms and came back in a search after {found_ms:,} ms."
    return Finding("good", said)


def _log(home: Home) -> Finding:
    with Client(home.path) as client:
        client.log.check()
        slots = sum(client.log.ends())
        begun = time.monotonic()
        offer(client, "doctor", lambda *_: [], 1)
        took_ms = round((time.monotonic() - begun) * 1_000)
        return Finding("good", f"{slots:,} slots on {client.log.place}, searched in {took_ms:,} ms.")


def _storing(home: Home) -> Finding:
    if keeps_nothing(home.path):
        return Finding("good", f"{profile_of(home.path).told} Nothing else was looked at.")
    if told := pauses_of(home.path).lasting(now_us()):
        return Finding("to do", " ".join(it.told for it in told), " ".join(it.then for it in told))
    return Finding("good", "Nothing is paused.")


def _views(home: Home) -> Finding:
    with Client(home.path) as client:
        state = client.status()
    seen = f"{held(state.memories, state.turns)}, {many(state.lag, 'event')} not folded yet."
    if state.dead_letters:
        unread = f"{seen} {many(state.dead_letters, 'event')} cannot be read."
        return Finding("bad", unread, "`memtape status`.")
    if state.lag > MUCH_LAG and state.projector_pid is None:
        return Finding("to do", seen, "`memtape run --once` folds them.")
    files = {path.parent.stem: len([*path.iterdir()]) for path in home.current().path.glob("lance/*/*/data")}
    if crowded := [f"{name} has {count}" for name, count in files.items() if count > MOST_FILES]:
        told = f"{seen} Tables have too many files to be read fast: {', '.join(crowded)}."
        return Finding("to do", told, "`memtape rebuild` writes them anew.")
    return Finding("good", seen)


def _embedder(home: Home) -> Finding:
    with Client(home.path) as client:
        state = client.status().embedder
    seen = f"{state.effective} decides what is similar."
    if state.degraded or state.warning:
        return Finding("to do", f"{seen} {state.warning}".strip(), "`memtape admin embedder` says more.")
    if state.offer:
        return Finding("to do", seen, state.offer)
    return Finding("good", seen)


def _model(home: Home) -> Finding:
    model = choose_model(local_settings(home).model)
    if model is None:
        return Finding("not there", "None is configured, and nothing needs one.")
    begun = time.monotonic()
    try:
        model.answer("Answer with the one word OK.", MODEL_WAIT_S)
    except ModelTimeout as error:
        return Finding("to do", str(error), "Start it, or use a faster one: a flush waits 12 s at most.")
    return Finding("good", f"{model.place} answers after {round((time.monotonic() - begun) * 1_000):,} ms.")


def _server(home: Home) -> Finding:
    words = [*own_command(), "agents", "mcp", "--home", str(home.path.absolute())]
    begun, serving = time.monotonic(), home.lock("hook-server").holder()
    # Where none serves this home, none is left behind.
    alone = {HOOKS_VARIABLE: HOOKS_ALONE} if serving is None else {}
    with _talking(words, alone) as ask:
        ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=DOCTOR)
        ask(None, method="notifications/initialized")
        listed = ask("tools/list")
    took_ms = round((time.monotonic() - begun) * 1_000)
    tools = listed.get("result", {}).get("tools", [])
    if not tools:
        return Finding("bad", "It does not answer with its tools.", f"Run `{' '.join(words)}` to see why.")
    waits = (it.waits for it in HOSTS.values() if it.waits and shutil.which(it.program))
    todo = next(waits, "") if took_ms > CODEX_WAITS_MS else ""
    by = "" if serving is None else f" The server of this home, process {serving}, answered."
    return Finding("good", f"It offers {len(tools)} tools after {took_ms:,} ms.{by}", todo)


def _host(host: str, home: Home) -> Finding:
    about = HOSTS[host]
    if shutil.which(about.program) is None:
        return Finding("not there", f"`{about.program}` is not on the PATH.")
    told = _told_hooks(about)
    # Codex cannot list its plugins where the folder of one is gone, and runs the hooks of a copy.
    if astray := _pointing_here(home, host, [hook.get("command", "") for hook in told]):
        return astray
    installed = _installed(about, home, host)
    if installed is None:
        return Finding("to do", "It is installed and not connected.", f"`memtape agents connect {host}`.")
    is_enabled, hooks = installed
    if not is_enabled:
        return Finding("to do", "The plugin is disabled.", f"Enable {PLUGIN} in `{about.program}`.")
    if not told and not hooks:
        return Finding("to do", "It has none of our hooks.", _anew(host))
    if len({*hooks, *(hook.get("command", "") for hook in told)}) > 1:
        seen = "It has two plugins of Memtape, so that hooks run twice."
        return Finding("to do", seen, f"`memtape agents disconnect {host}` removes {SELECTOR}.")
    if astray := _pointing_here(home, host, hooks):
        return astray
    untrusted = [hook for hook in told if hook.get("trustStatus") not in ("trusted", "managed")]
    if untrusted:
        of = f"{len(untrusted)} of {len(told)} hooks"
        seen = f"{of} are not trusted, so that it skips them without a word."
        todo = f"Open `/hooks` in {about.program} and trust those of memtape."
        return Finding("to do", seen, todo)
    return Finding("good", "Plugin, server and hooks are on.")


def _errors(home: Home) -> Finding:
    lines = latest_errors(home.path, SHOWN_ERRORS, now_us() - RECENT_US)
    tally = sorted(HomeCounts(home.path).tally(FLUSHES).items())
    counts = ", ".join(f"{name} {count:,}" for name, count in tally)
    flushes = f" Flushes before compaction: {counts}." if counts else ""
    if not lines:
        since = " since yesterday" if latest_errors(home.path, 1) else ""
        return Finding("good", f"No hook or server has met an error{since}.{flushes}")
    seen = "The latest:\n  " + "\n  ".join(lines) + (f"\n {flushes}" if flushes else "")
    return Finding("to do", seen, f"They are shown for a day. All are in {home.path / ERRORS_NAME}.")


LOOKS: dict[str, Look] = {
    "storing": _storing,
    "capture and search": _round_trip,
    "log": _log,
    "views": _views,
    "embedder": _embedder,
    "model": _model,
    "MCP server": _server,
    **{about.name: partial(_host, host) for host, about in HOSTS.items()},
    "errors of hooks and servers": _errors,
}


def _installed(about: Host, home: Home, host: str) -> tuple[bool, list[str]] | None:
    """Return whether our plugin is enabled in a host, and its hooks' commands; None without a plugin."""
    if about.form == "script":
        script = plugin_folder(home, host) / SCRIPT
        return (True, [script_hook(script.read_bytes())]) if is_connected(home, host) else None
    if about.form == "extension":
        folder = about.folder / "extensions" / PLUGIN
        link = folder / LINK  # An extension may be a link to the files that were written.
        source = json.loads(link.read_bytes()).get("source") if link.is_file() else None
        return (True, _hooks_in(Path(source or folder))) if folder.is_dir() else None
    words, _ = about.lists[0]
    listed = json.loads(run_host(list(words)).stdout)
    entries = listed if isinstance(listed, list) else listed.get("installed", [])
    named = ("id", "pluginId", "name")  # By `agents connect`, or by a marketplace.
    ours = [it for it in entries if PLUGIN in (str(it.get(key)).partition("@")[0] for key in named)]
    folders = [Path(it.get("installPath") or Path(it.get("installedFrom", "")) / PLUGIN) for it in ours]
    hooks = [hook for folder in folders for hook in _hooks_in(folder)]
    return (any(entry.get("enabled") for entry in ours), hooks) if ours else None


def _anew(host: str) -> str:
    return f"`memtape agents connect {host}` installs it anew, `memtape agents disconnect {host}` removes it."


def _hooks_in(folder: Path) -> list[str]:
    try:
        hooks = json.loads((folder / "hooks" / "hooks.json").read_bytes())["hooks"]
    except (OSError, ValueError, KeyError):
        return []
    return [called["command"] for groups in hooks.values() for group in groups for called in group["hooks"]]


def _pointing_here(home: Home, host: str, hooks: Sequence[str]) -> Finding | None:
    """Return a finding where hooks are of an installation that is gone, of another, or of another home."""
    for command, words in (started_by(hook) for hook in dict.fromkeys(hooks)):
        if not command:
            continue
        if "--home" not in words:
            return None  # A published extension takes the command and the home of the environment.
        there = Path(words[words.index("--home") + 1])
        try:
            starts = command == own_command() or run_host([*command, "--version"]).returncode == 0
        except MemtapeError:
            starts = False
        if not starts:
            seen = f"It has hooks of an installation that is gone at {command[0]}: they do nothing."
            return Finding("to do", seen, _anew(host))
        if there != home.path.absolute():
            lost = "" if there.is_dir() else ", which is gone, so that they do nothing"
            seen = f"It has hooks of another home, {there}{lost}."
            return Finding("to do", seen, f"`memtape agents connect {host}` moves it here.")
        if command != own_command():
            seen = f"Its hooks start another installation of Memtape than this, {command[0]}."
            return Finding("to do", seen, f"`memtape agents connect {host}`, if this is the one to use.")
    if hooks and not plugin_folder(home, host).exists():
        return Finding("to do", "What it installed is of a home that was here before.", _anew(host))
    return None


def _told_hooks(about: Host) -> list[dict[str, Any]]:
    """Return our hooks as told by a host that runs only trusted ones; none for any other host."""
    if not about.trust:
        return []
    with _talking(list(about.trust)) as ask:
        ask("initialize", clientInfo=DOCTOR)
        ask(None, method="initialized")
        listed = ask("hooks/list", cwds=[os.getcwd()])
    hooks = [hook for place in listed.get("result", {}).get("data", []) for hook in place.get("hooks", [])]
    return [hook for hook in hooks if str(hook.get("pluginId")).startswith(f"{PLUGIN}@")]


@contextlib.contextmanager
def _talking(
    words: list[str], variables: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Callable[..., dict[str, Any]]]:
    """Start a program that speaks JSON-RPC in lines; yield a function that sends a request. The block's end
    stops the program.
    """
    started = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, **variables},
    )  # fmt: skip
    assert started.stdin is not None and started.stdout is not None
    incoming, outgoing = started.stdin, started.stdout
    number = 0

    def ask(asked: str | None, *, method: str = "", **params: Any) -> dict[str, Any]:
        nonlocal number
        number += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": asked or method}
        if asked is not None:
            message |= {"id": number, "params": params}
        incoming.write(json.dumps(message) + "\n")
        incoming.flush()
        while asked is not None:
            line = outgoing.readline()
            if not line:
                raise MemtapeError(f"`{Path(words[0]).name}` ended before it answered.")
            answered: dict[str, Any] = json.loads(line)
            if answered.get("id") == number:
                return answered
        return {}

    late = threading.Timer(ANSWER_WAIT_S, started.kill)
    late.start()
    try:
        yield ask
    finally:
        late.cancel()
        started.kill()
        started.wait()
        incoming.close()
        outgoing.close()
