"""Is everything as it should be: the home, the server, each host and its hooks; each finding with what to do.

It looks with what agents use: a capture that is searched for, the server's own protocol, the hosts' own commands. It
mends nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
import uuid_utils

from memtape.flows.model.model import choose_model
from memtape.schemas.errors import MemtapeError, ModelTimeout
from memtape.schemas.visible import many
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.tools.agents.connecting import CONNECTABLE, own_command, plugin_folder, run_host
from memtape.tools.agents.errors import latest_errors
from memtape.tools.agents.flushing import outcomes
from memtape.tools.agents.plugins import MARKETPLACE, PLUGIN
from memtape.tools.client import Client

PROBE_SCOPE = "project:memtape-doctor"
SHOWN_ERRORS = 5
ANSWER_WAIT_S = 20
MODEL_WAIT_S = 5.0
MUCH_LAG = 2_000
_SELECTOR = f"{PLUGIN}@{MARKETPLACE}"

State = Literal["good", "to do", "bad", "not there"]


class Finding(msgspec.Struct, frozen=True):
    """What was looked at, how it is, what was seen, and what to do about it (empty where nothing is)."""

    subject: str
    state: State
    seen: str
    todo: str = ""


def examine(home: Home) -> Iterator[Finding]:
    """Yield the findings one by one, as they come. Never raises."""
    for subject, look in _LOOKS.items():
        try:
            yield look(subject, home)
        except MemtapeError as error:
            yield Finding(subject, "bad", str(error), error.hint)
        except Exception as error:  # A doctor who faints helps nobody.
            yield Finding(subject, "bad", f"It could not be looked at ({type(error).__name__}: {error}).")


def _round_trip(subject: str, home: Home) -> Finding:
    word = f"probe{uuid_utils.uuid7().hex}"
    with Client(home.path, scope=PROBE_SCOPE, actor="memtape", origin="tool") as client:
        begun = time.monotonic()
        receipt = client.capture(f"The doctor's {word}.", kind="turn", tags=("doctor",))
        captured_ms = round((time.monotonic() - begun) * 1_000)
        found = client.search(word, 1, quiet=True).answer.results
        found_ms = round((time.monotonic() - begun) * 1_000)
        if [result.id for result in found] != [receipt.id]:
            return Finding(subject, "bad", "A capture does not come back in a search.", "Run `memtape verify`.")
        client.forget(receipt.id, reason="probe of the doctor")
    return Finding(subject, "good", f"A capture took {captured_ms} ms and came back in a search after {found_ms} ms.")


def _views(subject: str, home: Home) -> Finding:
    with Client(home.path, scope=PROBE_SCOPE) as client:
        state = client.status()
    held = f"{many(state.memories, 'memory', 'memories')}, {many(state.turns, 'turn')}"
    seen = f"{held}, {many(state.lag, 'event')} not folded yet."
    if state.dead_letters:
        unread = f"{seen} {many(state.dead_letters, 'event')} cannot be read."
        return Finding(subject, "bad", unread, "`memtape status`.")
    if state.lag > MUCH_LAG and state.projector_pid is None:
        return Finding(subject, "to do", seen, "`memtape run --once` folds them.")
    return Finding(subject, "good", seen)


def _embedder(subject: str, home: Home) -> Finding:
    with Client(home.path, scope=PROBE_SCOPE) as client:
        state = client.status().embedder
    seen = f"{state.effective} decides what is similar."
    if state.degraded or state.warning:
        return Finding(subject, "to do", f"{seen} {state.warning}".strip(), "`memtape embedder` says more.")
    return Finding(subject, "good", seen)


def _model(subject: str, home: Home) -> Finding:
    model = choose_model(local_settings(home).model)
    if model is None:
        return Finding(subject, "not there", "None is configured, and nothing needs one.")
    begun = time.monotonic()
    try:
        model.answer("Answer with the one word OK.", MODEL_WAIT_S)
    except ModelTimeout as error:
        return Finding(subject, "to do", str(error), "Start it, or use a faster one: a flush waits 12 s at most.")
    return Finding(subject, "good", f"{model.place} answers after {round((time.monotonic() - begun) * 1_000):,} ms.")


def _server(subject: str, home: Home) -> Finding:
    words = [*own_command(), "mcp", "--home", str(home.path.absolute())]
    begun = time.monotonic()
    with _talking(words) as ask:
        ask(
            "initialize",
            protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "memtape-doctor", "version": "1"},
        )  # fmt: skip
        ask(None, method="notifications/initialized")
        listed = ask("tools/list")
    took_ms = round((time.monotonic() - begun) * 1_000)
    tools = listed.get("result", {}).get("tools", [])
    if not tools:
        return Finding(subject, "bad", "It does not answer with its tools.", f"Run `{' '.join(words)}` to see why.")
    return Finding(subject, "good", f"It offers {len(tools)} tools after {took_ms} ms.")


def _claude(subject: str, home: Home) -> Finding:
    def state() -> Finding:
        listed = json.loads(run_host(["claude", "plugin", "list", "--json"]).stdout)
        ours = [plugin for plugin in listed if plugin.get("id") == _SELECTOR]
        if not ours:
            return _not_connected(subject, "claude")
        if not ours[0].get("enabled"):
            return Finding(subject, "to do", "The plugin is disabled.", f"`claude plugin enable {_SELECTOR}`.")
        return _pointing_here(subject, home, "claude") or Finding(subject, "good", "Plugin, server and hooks are on.")

    return _of_host(subject, "claude", state)


def _codex(subject: str, home: Home) -> Finding:
    def state() -> Finding:
        listed = json.loads(run_host(["codex", "plugin", "list", "--json"]).stdout)
        ours = [plugin for plugin in listed.get("installed", []) if plugin.get("pluginId") == _SELECTOR]
        if not ours:
            return _not_connected(subject, "codex")
        if not ours[0].get("enabled"):
            return Finding(subject, "to do", "The plugin is disabled.", "Enable it in `/plugins` of codex.")
        hooks = _codex_hooks()
        untrusted = [hook for hook in hooks if hook.get("trustStatus") not in ("trusted", "managed")]
        if not hooks:
            return Finding(subject, "bad", "It knows none of our hooks.", "`memtape connect codex` installs them.")
        if untrusted:
            seen = f"{len(untrusted)} of {len(hooks)} hooks are not trusted, so that it skips them without a word."
            return Finding(subject, "to do", seen, "Open `/hooks` in codex and trust those of memtape.")
        return _pointing_here(subject, home, "codex") or Finding(
            subject, "good", "Plugin and hooks are on and trusted."
        )

    return _of_host(subject, "codex", state)


def _gemini(subject: str, home: Home) -> Finding:
    def state() -> Finding:
        done = run_host(["gemini", "extensions", "list"])
        if PLUGIN not in done.stdout + done.stderr:
            return _not_connected(subject, "gemini")
        return _pointing_here(subject, home, "gemini") or Finding(subject, "good", "The extension is on.")

    return _of_host(subject, "gemini", state)


def _errors(subject: str, home: Home) -> Finding:
    lines = latest_errors(home.path, SHOWN_ERRORS)
    counts = ", ".join(f"{name} {count:,}" for name, count in sorted(outcomes(home.path).items()))
    flushes = f" Flushes before compaction: {counts}." if counts else ""
    if not lines:
        return Finding(subject, "good", f"No hook or server has met an error.{flushes}")
    seen = "The latest:\n  " + "\n  ".join(lines) + (f"\n {flushes}" if flushes else "")
    return Finding(subject, "to do", seen, f"Once mended, delete {home.path / 'agents.log'}.")


_LOOKS: dict[str, Callable[[str, Home], Finding]] = {
    "capture and search": _round_trip,
    "views": _views,
    "embedder": _embedder,
    "model": _model,
    "MCP server": _server,
    "Claude Code": _claude,
    "Codex": _codex,
    "Gemini CLI": _gemini,
    "errors of hooks and servers": _errors,
}


def _of_host(subject: str, host: str, state: Callable[[], Finding]) -> Finding:
    """Return how a host is, where it is installed."""
    if shutil.which(CONNECTABLE[host].program) is None:
        return Finding(subject, "not there", f"`{CONNECTABLE[host].program}` is not on the PATH.")
    return state()


def _not_connected(subject: str, host: str) -> Finding:
    return Finding(subject, "to do", "It is installed and not connected.", f"`memtape connect {host}`.")


def _pointing_here(subject: str, home: Home, host: str) -> Finding | None:
    """Return a finding where the plugin was made for another home or by another installation."""
    folder = plugin_folder(home, host)
    if not folder.exists():
        return Finding(subject, "to do", "It is connected to another home.", f"`memtape connect {host}` moves it here.")
    held = "".join(path.read_text(errors="replace") for path in folder.rglob("hooks.json"))
    program = own_command()[0]
    if program not in held:
        seen = "Its hooks start another installation of Memtape than this."
        return Finding(subject, "to do", seen, f"`memtape connect {host}`, if this is the one to use.")
    return None


def _codex_hooks() -> list[dict[str, Any]]:
    with _talking(["codex", "app-server"]) as ask:
        ask("initialize", clientInfo={"name": "memtape-doctor", "version": "1"})
        ask(None, method="initialized")
        listed = ask("hooks/list", cwds=[os.getcwd()])
    hooks = [hook for place in listed.get("result", {}).get("data", []) for hook in place.get("hooks", [])]
    return [hook for hook in hooks if hook.get("pluginId") == _SELECTOR]


@contextlib.contextmanager
def _talking(words: list[str]) -> Iterator[Callable[..., dict[str, Any]]]:
    """Start a program that speaks JSON-RPC in lines, and give a function that asks it; it ends with the block."""
    started = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
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
