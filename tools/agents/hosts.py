"""The table of hosts, `hosts.json`, and the input of a hook.

Nothing here acts; a hook without a server loads this file.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple

import msgspec
import orjson

Action = Literal["start", "prompt", "answer", "subagent", "flush", "retell", "end"]
SERVED: tuple[Action, ...] = ("start", "prompt", "answer", "subagent")
"""The actions that a server does for a hook."""

MAX_CONTEXT_CHARS = 10_000
"""The length at which Claude Code and Codex cut; Codex at 2,500 tokens of 4 bytes."""
CONTEXT_TOKENS = 800
"""The longest context of a start."""
MAX_AGENT_CHARS, MAX_NAME_CHARS = 60, 200

Words = tuple[str, ...]
SettingsEntry = tuple[str, Words, str]
"""A place in a host's file of settings: the file, a path of keys, and the key that is ours or begins so."""


class Host(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A host in `hosts.json`: its name, what its hooks do, what it installs, and where it keeps that.

    `hooks` has the action at each event. A compaction that takes away what the first prompt was told is a
    `retell`; Gemini's PreCompress comes before every call of its model, and is no such boundary. `form` is
    what Memtape writes for it. `install` and `remove` are the host's own commands, with `{folder}` for the
    written files. `lists` has commands that list installed things, each with Memtape's name in the output.
    `place` is the host's folder: a variable, a default below the user's folder, and the rest. All paths are
    below it. `traces` are files that name us, and folders that are ours, where something is installed. A
    removal leaves `copies` and `entries`, and the paths `made` for us, inner ones first, which go where they
    are empty.
    """

    name: str
    program: str
    form: Literal["plugin", "extension", "script"]
    place: tuple[str, str, str]
    then: str
    """What a person does next."""
    hooks: dict[str, Action]
    flat: bool = False
    """Whether an added context is a key of its own in an answer, which then has no note."""
    writes_late: bool = False
    """Whether a hook is told no answer, but where the transcript is into which the host writes it."""
    waits: str = ""
    """What a person can set where a server starts slowly, for all servers."""
    commands: dict[str, str] = {}
    """The files of a slash command, by path. Codex has none of plugins, and gets skills."""
    said: str = ""
    """The words after a slash command, as its files name them."""
    traces: Words = ()
    install: tuple[Words, ...] = ()
    remove: tuple[Words, ...] = ()
    lists: tuple[tuple[Words, str], ...] = ()
    server: dict[str, Any] = {}
    """What the entry of the server has besides the command: a `cwd` where the server would else start in the
    folder of the plugin. `required` would end Codex where we cannot start."""
    ask: Words = ()
    """A command that reads a prompt on stdin and writes only the answer to stdout; empty for none."""
    end_s: int = 10
    """The longest that a hook at a session's end may take."""
    trust: Words = ()
    """The command of a server that tells which hooks a person trusts, where a host runs no others."""
    caches: Words = ()
    """What it caches of our server below the cache folder: logs, and tools in files that name the server."""
    copies: Words = ()
    entries: tuple[SettingsEntry, ...] = ()
    made: Words = ()

    @property
    def folder(self) -> Path:
        """The folder of the host's settings."""
        variable, default, rest = self.place
        return Path(os.environ.get(variable) or Path.home() / default) / rest

    @property
    def begins_at_prompt(self) -> bool:
        """Whether a start takes no context, so that the first prompt after it gets the start's context."""
        return "start" not in self.hooks.values()


HOSTS = msgspec.json.decode(Path(__file__).with_name("hosts.json").read_bytes(), type=dict[str, Host])


class HookInput(NamedTuple):
    """The input of a hook. Missing and malformed fields are empty."""

    host: str
    event: str
    action: Action
    session: str
    folder: str
    transcript: str
    text: str
    """What a prompt or an answer says."""
    prompt_id: str
    agent_transcript: str
    """The transcript of a subagent that has just ended, where the host names it."""
    resumed: bool
    """Whether a start goes on with a session that was told one before, and still has it."""
    agent: str = ""
    """The subagent that answers, empty for the session's own agent."""


def read(host: str, data: bytes) -> HookInput | None:
    """Return a hook's input from a host's JSON, None for an event unknown here. Raises `ValueError`."""
    if host not in HOSTS:
        raise ValueError("unknown host")
    told = orjson.loads(data)
    if not isinstance(told, dict):
        raise ValueError("not an object")
    event = _text(told, "hook_event_name")
    action = HOSTS[host].hooks.get(event)
    agent = (_text(told, "agent_name") or _text(told, "agent_type"))[:MAX_AGENT_CHARS]
    of_agent = event == "SubagentStop"
    # No person has said what an agent asks of another, which tells its answer once it has ended.
    if action is None or (_text(told, "parent_agent_id") and action in ("prompt", "answer") and not of_agent):
        return None
    answer = _text(told, "last_assistant_message") or _text(told, "prompt_response")
    text = {"prompt": _text(told, "prompt"), "answer": answer}.get(action, "")
    return HookInput(
        host=host, event=event, action=action, text=text, agent=agent if of_agent else "",
        session=_text(told, "session_id"), folder=_text(told, "cwd"),
        transcript=_text(told, "transcript_path"), resumed=_text(told, "source") == "resume",
        agent_transcript=_text(told, "agent_transcript_path"),
        prompt_id=_text(told, "prompt_id")[:MAX_NAME_CHARS],
    )  # fmt: skip


def placed(data: bytes, folder: PurePath) -> bytes:
    """Return a host's JSON with `folder` as its folder and an absolute path of its transcript."""
    told: dict[str, Any] = orjson.loads(data)
    for key in ("transcript_path", "agent_transcript_path"):
        if transcript := _text(told, key):
            told[key] = str(folder / transcript)
    return orjson.dumps(told | {"cwd": str(folder)})


def note_of(memories: int, tokens: int) -> str:
    """Return the person's note about the memories given to an agent; empty for none."""
    return f"memory: {memories:,} given, {tokens:,} tokens" if memories else ""


def _text(told: dict[str, Any], key: str) -> str:
    value = told.get(key)
    return value if isinstance(value, str) else ""
