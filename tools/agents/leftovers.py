"""Memtape's traces in files of hosts and repositories after the plugin's removal: reported, removed if ours.

A host's own command removes the plugin and leaves empty keys, trust in removed hooks, copies and hashes.
Removed are entries that only Memtape wrote or needs; the rest is reported, with the way to remove it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from memtape.sinks.home.folders import UNFINISHED, Home, write_whole
from memtape.tools.agents.plugins import MARKETPLACE, PLUGIN, SELECTOR
from memtape.tools.capture.project import GIT_KEY, unpin

PLUGIN_KEYS = ("enabledPlugins", "extraKnownMarketplaces")
GEMINI_LINK = ".gemini-extension-install.json"


class Leftovers(NamedTuple):
    """Removed things and remaining things with a reason, each in one sentence."""

    taken: list[str]
    left: list[str]


def note_before(home: Home, host: str) -> None:
    """Record which files and keys of a host are missing before the installation; an earlier record stays."""
    if _noted(home, host).exists():
        return
    note: dict[str, Any] = {"absent": [str(path) for path in _PLACES[host]() if not path.exists()]}
    if host in _SETTINGS:
        path = _SETTINGS[host]()
        settings = _json(path)
        absent = [key for key in PLUGIN_KEYS if settings is not None and key not in settings]
        note |= {"keys": absent, "file": not path.exists()}
    _noted(home, host).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(_noted(home, host), json.dumps(note).encode())


def take_away(home: Home, host: str, folder: Path, *, last: bool) -> Leftovers:
    """Remove a host's leftovers; with `last`, after the last host, also this repository's files."""
    found = Leftovers([], [])
    if host in _OF_HOST:
        _OF_HOST[host](home, found)
    for path in map(Path, (_json(_noted(home, host)) or {}).get("absent", ())):
        if _is_empty(path):
            path.rmdir() if path.is_dir() else path.unlink()
    _noted(home, host).unlink(missing_ok=True)
    if last:
        _of_repository(home, folder, found)
    return found


def has_traces(host: str) -> bool:
    """Whether a host's own files name Memtape. The host is not asked, since its first run writes files."""
    for path in _TRACES[host]():
        try:
            if path.is_dir() or MARKETPLACE in path.read_text(errors="replace"):
                return True
        except OSError:
            continue
    return False


def drop_dangling_link(host: str) -> None:
    """Take away a link of ours to a home that is gone: Gemini CLI neither lists nor removes it, and refuses another."""
    folder = _gemini() / "extensions" / PLUGIN
    if host != "gemini" or not folder.is_dir():
        return
    link = _json(folder / GEMINI_LINK) or {}
    is_ours = link.get("type") == "link" and [path.name for path in folder.iterdir()] == [GEMINI_LINK]
    if is_ours and not Path(str(link.get("source"))).exists():
        shutil.rmtree(folder)


def _of_claude(home: Home, found: Leftovers) -> None:
    _take_empty(home, "claude", found)
    copy = _claude_settings().parent / "plugins" / "cache" / MARKETPLACE
    if copy.exists():
        shutil.rmtree(copy, ignore_errors=True)
        found.taken.append(f"{copy}: Claude Code's copy of the plugin.")
    for logs in _cache().glob(f"claude-cli-nodejs/*/mcp-logs-plugin-{PLUGIN}-{PLUGIN}"):
        shutil.rmtree(logs, ignore_errors=True)
        if _is_empty(logs.parent):
            logs.parent.rmdir()
        found.taken.append(f"{logs}: Claude Code's log of our server.")
    _named(("installed_plugins.json", "known_marketplaces.json"), copy.parent.parent, "Claude Code", found)


def _of_copilot(home: Home, found: Leftovers) -> None:
    path = _copilot_settings()
    settings = _json(path) or {}
    enabled = settings.get("enabledPlugins")
    if isinstance(enabled, dict) and enabled.get(SELECTOR) is False:
        if path.read_text().rstrip("\n") == _host_form(settings).rstrip("\n"):
            del enabled[SELECTOR]
            rewrite(path, _host_form(settings))
        else:
            found.left.append(f"{SELECTOR} in {path}, switched off: somebody has edited that file.")
    shutil.rmtree(path.parent / "plugin-data" / MARKETPLACE, ignore_errors=True)
    for tools in _cache().glob("copilot/mcp-tools/*.json"):
        if (_json(tools) or {}).get("serverName") == PLUGIN:
            tools.unlink()
            found.taken.append(f"{tools}: what Copilot CLI kept of our tools.")
    _take_empty(home, "copilot", found)


def _take_empty(home: Home, host: str, found: Leftovers) -> None:
    """Remove empty keys of a host's settings that were absent before."""
    path, noted = _SETTINGS[host](), _json(_noted(home, host)) or {}
    settings = _json(path) or {}
    empty = [key for key in PLUGIN_KEYS if settings.get(key) == {}]
    ours = [key for key in empty if key in noted.get("keys", ())]
    rest = {key: value for key, value in settings.items() if key not in ours}
    if ours and path.read_text().rstrip("\n") == _host_form(settings).rstrip("\n"):  # Else somebody has edited it.
        if rest or not noted["file"]:
            rewrite(path, _host_form(rest))
        else:
            path.unlink()
        found.taken.append(f"{' and '.join(ours)}, empty, from {path}.")
        empty = [key for key in empty if key not in ours]
    if empty:
        found.left.append(f"{' and '.join(empty)} in {path}: empty, and perhaps not ours.")


def _named(names: tuple[str, ...], folder: Path, host: str, found: Leftovers) -> None:
    """Report the host's own list files, which no longer mention Memtape."""
    there = [name for name in names if (folder / name).exists()]
    if there:
        found.left.append(f"{' and '.join(there)} in {folder}: {host}'s own lists, without Memtape in them.")


def _of_codex(home: Home, found: Leftovers) -> None:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    path = _codex() / "config.toml"
    shutil.rmtree(_codex() / "plugins" / "cache" / MARKETPLACE, ignore_errors=True)
    try:
        document: Any = tomlkit.parse(path.read_text())
        state = document["hooks"]["state"]
        ours = [key for key in state if key.startswith(f"{SELECTOR}:")]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, TOMLKitError):
        return
    if not ours:
        return
    for key in ours:
        del state[key]
    for table, key in ((document["hooks"], "state"), (document, "hooks")):
        if not table[key].as_string().strip():  # Neither a key nor somebody's comment.
            del table[key]
    rewrite(path, tomlkit.dumps(document))
    found.taken.append(f"Trust in {len(ours)} hooks of ours, from {path}.")


def _of_gemini(home: Home, found: Leftovers) -> None:
    ours = str(home.path.absolute())
    _take_keys(
        _gemini() / "trustedFolders.json", lambda key: key == ours or key.startswith(ours + os.sep), "Trust in", found
    )
    enabled = _gemini() / "extensions" / "extension-enablement.json"
    _take_keys(enabled, lambda key: key == PLUGIN, "Where it was enabled, as", found)
    path = _gemini() / "extension_integrity.json"
    if PLUGIN in ((_json(path) or {}).get("store") or {}):
        found.left.append(f"{path}: a hash of the extension, signed, so that Gemini CLI alone can change it.")


def _of_qwen(home: Home, found: Leftovers) -> None:
    enabled = qwen_home() / "extensions" / "extension-enablement.json"
    _take_keys(enabled, lambda key: key == PLUGIN, "Where it was enabled, as", found)


_OF_HOST: dict[str, Callable[[Home, Leftovers], None]] = {
    "claude": _of_claude,
    "codex": _of_codex,
    "copilot": _of_copilot,
    "qwen": _of_qwen,
    "gemini": _of_gemini,
}


def _take_keys(path: Path, is_ours: Callable[[str], bool], what: str, found: Leftovers) -> None:
    """Remove Memtape's keys from a host's file; only report them where a person formatted the file."""
    document = _json(path) or {}
    ours = [key for key in document if is_ours(key)]
    if not ours:
        return
    named = f"{what} {' and '.join(ours)}"
    written = path.read_text()
    if written.rstrip("\n") != json.dumps(document, indent=2, ensure_ascii=False):
        found.left.append(f"{named}, in {path}: somebody has edited that file, so that it is left alone.")
        return
    rest = {key: value for key, value in document.items() if key not in ours}
    rewrite(path, json.dumps(rest, indent=2, ensure_ascii=False) + "\n" * written.endswith("\n"))
    found.taken.append(f"{named}, from {path}.")


def _of_repository(home: Home, folder: Path, found: Leftovers) -> None:
    scope, taken = unpin(folder, home)
    if taken:
        found.taken.append(f"{GIT_KEY} from the git configuration of this repository: its origin names {scope} again.")
    elif scope:
        found.left.append(
            f"{GIT_KEY} in the git configuration of this repository: without it, what was captured under {scope} is"
            f" not found here any more. `git config --local --unset {GIT_KEY}` takes it away."
        )
    found.left.append(f"{GIT_KEY} in the git configuration of other repositories that were captured in.")


def _noted(home: Home, host: str) -> Path:
    return home.path / "plugins" / f"{host}-before.json"


def _is_empty(path: Path) -> bool:
    """Whether a folder has nothing in it, or a file of settings says nothing."""
    try:
        return not any(path.iterdir()) if path.is_dir() else path.read_bytes().strip() in (b"", b"{}")
    except OSError:
        return False


def _claude_settings() -> Path:
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "settings.json"


def _codex() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")


def _cache() -> Path:
    """Return the cache folder of programs under Node."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _copilot_settings() -> Path:
    return Path(os.environ.get("COPILOT_HOME") or Path.home() / ".copilot") / "settings.json"


def _gemini() -> Path:
    return Path(os.environ.get("GEMINI_CLI_HOME") or Path.home()) / ".gemini"


def qwen_home() -> Path:
    """Return the folder of Qwen Code's settings and extensions."""
    return Path(os.environ.get("QWEN_HOME") or Path.home() / ".qwen")


def _below(folder: Path, *names: str) -> list[Path]:
    return [folder / name for name in names]


_SETTINGS: dict[str, Callable[[], Path]] = {"claude": _claude_settings, "copilot": _copilot_settings}
"""Where a host writes which plugins it has, under `PLUGIN_KEYS`."""

_PLACES: dict[str, Callable[[], list[Path]]] = {
    "claude": lambda: _below(_claude_settings().parent, "plugins/cache", "plugins/marketplaces", "plugins"),
    "codex": lambda: _below(_codex(), "config.toml", "plugins/cache", "plugins", ".tmp/marketplaces", ".tmp", ""),
    "copilot": lambda: _below(_copilot_settings().parent, "installed-plugins", "plugin-data", ""),
    "gemini": lambda: _below(_gemini(), "extensions/extension-enablement.json", "extensions"),
    "opencode": list,
    "qwen": lambda: _below(qwen_home(), "extensions/extension-enablement.json", "extensions", ""),
}
"""Paths that hosts create for an installation, inner ones first: removed if empty and absent before."""


_TRACES: dict[str, Callable[[], list[Path]]] = {
    "claude": lambda: _below(_claude_settings().parent, "settings.json", "plugins/known_marketplaces.json"),
    "codex": lambda: _below(_codex(), "config.toml"),
    "copilot": lambda: _below(_copilot_settings().parent, "settings.json"),
    "gemini": lambda: _below(_gemini(), f"extensions/{PLUGIN}"),
    "opencode": list,
    "qwen": lambda: _below(qwen_home(), f"extensions/{PLUGIN}"),
}
"""Files of a host that name us where it has our plugin, and folders that are ours."""


def _host_form(settings: dict[str, Any]) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _json(path: Path) -> dict[str, Any] | None:
    """Return the object in a file, an empty one where there is no file, None where the file holds something else."""
    try:
        value = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def rewrite(path: Path, text: str) -> None:
    """Replace a person's file atomically, at its real path and with its permissions."""
    path = path.resolve()
    temporary = path.with_name(f".{path.name}{UNFINISHED}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", newline="") as file:
        file.write(text)
    shutil.copymode(path, temporary)
    temporary.replace(path)
