"""Starting the one server of a home, for a hook or a session of a host.

Only the least is imported here, as in `forwarding`. The server is the process that holds the home's `hook-server.lock`
(`server`); no other takes hooks and sessions.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from memtape.schemas.variables import (
    CAPTURE_VARIABLE,
    HOOKS_ALONE,
    HOOKS_OFF,
    HOOKS_VARIABLE,
    NO_PERSIST,
    PROD,
    PROFILE_VARIABLE,
)
from memtape.sinks.home.folders import Home
from memtape.tools.keep.starting import start_one
from memtape.tools.keep.wire import MAX_ADDRESS_BYTES, address


def may_stay(home: Path) -> bool:
    """Whether a server may serve this home, started by this process or being it. Raises `ValueError` for bad settings.

    None may under `MEMTAPE_HOOKS=alone`, as where a test counts processes, for a run that stores nothing or names
    another profile than the home has, nor where a path is too long for a socket.
    """
    if os.environ.get(HOOKS_VARIABLE) in (HOOKS_ALONE, HOOKS_OFF) or os.environ.get(CAPTURE_VARIABLE):
        return False
    if len(os.fsencode(address(str(home.absolute())))) > MAX_ADDRESS_BYTES:
        return False
    named = os.environ.get(PROFILE_VARIABLE) or ""
    try:
        text = Home(home, make=False).settings_path.read_bytes()
    except FileNotFoundError:
        text = b""
    if b"hook_server" not in text and b"profile" not in text:  # The reader of settings need not be loaded.
        return named in ("", PROD)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    settings = tomllib.loads(text.decode())
    own = settings.get("profile", PROD)
    return settings.get("hook_server") is not False and named in ("", own) and own != NO_PERSIST


def start_server(
    home: Path, host: str = "claude", environment: dict[str, str] | None = None, data: bytes = b""
) -> subprocess.Popen[bytes] | None:
    """Start a home's server, with a hook's input as its first work; None while another is being started."""
    words = ["hook", "--host", host, "--stay", "--home", str(home)]
    return start_one(Home(home, make=False).start_lock("server"), words, environment, data)
