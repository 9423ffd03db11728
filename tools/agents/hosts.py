"""The hosts that `memtape agents connect` knows, as one table: a row says all that differs between them.

Hooks read from it the names of events and the form of an answer; connecting, leaving and the doctor read the host's own
commands and files. Nothing here acts or reads anything. Sources: Claude Code 2.1, Codex 0.169, Gemini CLI 0.61, Copilot
CLI 1.0.102 and Qwen Code 0.15.10, as they ran, and Memtape's plugin for OpenCode 1.18.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple

import orjson

Action = Literal["start", "prompt", "answer", "subagent", "act", "flush", "retell", "end"]
SERVED: tuple[Action, ...] = ("start", "prompt", "answer", "subagent", "act")
"""The actions that a server does for a hook."""

MAX_CONTEXT_CHARS = 10_000
"""The length at which Claude Code and Codex cut; Codex at 2,500 tokens of 4 bytes."""
CONTEXT_TOKENS = 800
"""The longest context of a start."""
MAX_AGENT_CHARS, MAX_NAME_CHARS = 60, 200

PLUGIN = "memtape"
MARKETPLACE = "memtape-local"
"""A name of its own, so that no marketplace of the user's is taken for ours or replaced."""
SELECTOR = f"{PLUGIN}@{MARKETPLACE}"
"""How hosts name the plugin."""
CODEX_WAITS = (
    "Codex asks its model without tools that are not there after a second: `mcp_optional_startup_grace_ms = 5000`"
    " at the top of ~/.codex/config.toml has it wait for five."
)
"""The setting is one of all servers, so that it is the user's to choose. A server takes a second and more to start."""

Words = tuple[str, ...]


SettingsEntry = tuple[str, Words, str]
"""A place in a host's file of settings: the file, a path of keys, and the key that is ours or begins so."""


class Host(NamedTuple):
    """A host: what it is called, its hooks, what it installs, and where it keeps that.

    `form` is what Memtape writes for it. `install` and `remove` are the host's own commands, with `{folder}` for the
    written files. `lists` has commands that list installed things, each with Memtape's name in the output. `place` is
    the host's folder: a variable, a default below the user's folder, and the rest. All paths are below it. `traces` are
    files that name us, and folders that are ours, where something is installed. A removal leaves `copies` and
    `entries`, and the paths `made` for us, inner ones first, which go where they are empty.
    """

    name: str
    program: str
    actions: Mapping[str, Action]
    form: Literal["plugin", "extension", "script"]
    place: tuple[str, str, str]
    traces: Words
    then: str
    install: tuple[Words, ...] = ()
    remove: tuple[Words, ...] = ()
    lists: tuple[tuple[Words, str], ...] = ()
    commands: Literal["markdown", "toml", "skill", ""] = ""
    """The form of its slash commands."""
    server: Mapping[str, Any] = {}
    """What the entry of the server has besides the command."""
    end_s: int = 10
    """The longest that a hook at a session's end may take."""
    flat: bool = False
    """Whether an added context is a key of its own in an answer."""
    trust: Words = ()
    """The command of a server that tells which hooks a person trusts, where a host runs no others."""
    copies: Words = ()
    entries: tuple[SettingsEntry, ...] = ()
    made: Words = ()

    @property
    def folder(self) -> Path:
        """The folder of the host's settings."""
        variable, default, rest = self.place
        return Path(os.environ.get(variable) or Path.home() / default) / rest


def _added(program: str, verb: str) -> tuple[Words, Words]:
    """Return the commands of a host that installs plugins from marketplaces."""
    return (program, "plugin", "marketplace", "add", "{folder}"), (program, "plugin", verb, SELECTOR)


def _removed(program: str, verb: str) -> tuple[Words, Words]:
    return (program, "plugin", verb, SELECTOR), (program, "plugin", "marketplace", "remove", MARKETPLACE)


def _listed(program: str) -> tuple[tuple[Words, str], ...]:
    plugins, markets = (program, "plugin", "list", "--json"), (program, "plugin", "marketplace", "list", "--json")
    return (plugins, f'"{SELECTOR}"'), (markets, f'"{MARKETPLACE}"')


_LIKE_CLAUDE: dict[str, Action] = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "Stop": "answer",
    "SubagentStop": "subagent",
    "PreCompact": "flush",
    "SessionEnd": "end",
}
_TOLD_AT_PROMPTS: dict[str, Action] = {
    # What was told at the first prompt is gone after a compaction, so that the next prompt is told again.
    "UserPromptSubmit": "prompt",
    "PostToolUse": "act",
    "Stop": "answer",
    "PreCompact": "retell",
    "SessionEnd": "end",
}
_MCP = "Start `{program}` anew in your project; `/mcp` shows memtape."
_PLUGIN_KEYS: tuple[SettingsEntry, ...] = (
    ("settings.json", ("enabledPlugins",), SELECTOR), ("settings.json", ("extraKnownMarketplaces",), MARKETPLACE)
)  # fmt: skip
_ENABLED = "extensions/extension-enablement.json"

HOSTS: dict[str, Host] = {
    "claude": Host(
        "Claude Code",
        "claude",
        _LIKE_CLAUDE,
        "plugin",
        ("CLAUDE_CONFIG_DIR", ".claude", ""),
        ("settings.json", "plugins/known_marketplaces.json"),
        _MCP.format(program="claude"),
        _added("claude", "install"),
        _removed("claude", "uninstall"),
        lists=_listed("claude"),
        commands="markdown",
        copies=(f"plugins/cache/{MARKETPLACE}",),
        entries=_PLUGIN_KEYS,
        made=("plugins/cache", "plugins/marketplaces", "plugins"),
    ),
    "codex": Host(
        "Codex",
        "codex",
        _LIKE_CLAUDE,
        "plugin",
        ("CODEX_HOME", ".codex", ""),
        ("config.toml",),
        "Start `codex` anew, open `/hooks` and trust those of memtape: until then it skips them without a word."
        f" {CODEX_WAITS}",
        _added("codex", "add"),
        _removed("codex", "remove"),
        lists=_listed("codex"),
        commands="skill",  # It has no commands of plugins, and passes them over.
        # `required` would give the first turn its tools always, and would end Codex where we cannot start.
        server={"startup_timeout_sec": 30},
        end_s=3,
        trust=("codex", "app-server"),
        copies=(f"plugins/cache/{MARKETPLACE}",),
        entries=(("config.toml", ("hooks", "state"), f"{SELECTOR}:"),),
        made=("config.toml", "plugins/cache", "plugins", ".tmp/marketplaces", ".tmp"),
    ),
    "gemini": Host(
        "Gemini CLI",
        "gemini",
        # Its PreCompress comes before every call of the model, so that it is no boundary of anything.
        {"SessionStart": "start", "BeforeAgent": "prompt", "AfterAgent": "answer", "SessionEnd": "end"},
        "extension",
        ("GEMINI_CLI_HOME", "", ".gemini"),
        (f"extensions/{PLUGIN}",),
        _MCP.format(program="gemini"),
        install=(("gemini", "extensions", "link", "{folder}", "--consent"),),
        remove=(("gemini", "extensions", "uninstall", PLUGIN),),
        lists=((("gemini", "extensions", "list", "--output-format", "json"), f'"{PLUGIN}"'),),
        commands="toml",
        # Without it a server would start in the extension's own folder, whose project is not the user's.
        server={"cwd": "${workspacePath}"},
        entries=((_ENABLED, (), PLUGIN), ("trustedFolders.json", (), "{home}")),
        made=("extensions",),
    ),
    "copilot": Host(
        "Copilot CLI",
        "copilot",
        # It tells no answer, but where its transcript is.
        {
            "SessionStart": "start",
            "UserPromptSubmit": "prompt",
            "PostToolUse": "act",
            "Stop": "answer",
            "SubagentStop": "answer",
            "SessionEnd": "end",
        },
        "plugin",
        ("COPILOT_HOME", ".copilot", ""),
        ("settings.json",),
        _MCP.format(program="copilot"),
        _added("copilot", "install"),
        _removed("copilot", "uninstall"),
        lists=(
            (("copilot", "plugin", "list", "--json"), f'"{PLUGIN}"'),
            (("copilot", "plugin", "marketplace", "list"), f"• {MARKETPLACE} "),
        ),
        # Without it a server would start in the plugin's own folder; this means that of the session.
        server={"cwd": "."},
        flat=True,
        copies=(f"plugin-data/{MARKETPLACE}",),
        entries=_PLUGIN_KEYS,
        made=("installed-plugins", "plugin-data"),
    ),
    "opencode": Host(
        "OpenCode",
        "opencode",
        _TOLD_AT_PROMPTS,
        "script",
        ("XDG_CONFIG_HOME", ".config", "opencode"),
        (),
        "Start `opencode` anew in your project; `opencode mcp list` shows memtape.",
        made=("plugins", ""),
    ),
    "qwen": Host(
        "Qwen Code",
        "qwen",
        _TOLD_AT_PROMPTS | {"PostToolUseFailure": "act", "SubagentStop": "answer"},
        "extension",
        ("QWEN_HOME", ".qwen", ""),
        (f"extensions/{PLUGIN}",),
        _MCP.format(program="qwen"),
        install=(("qwen", "extensions", "install", "{folder}", "--consent"),),
        remove=(("qwen", "extensions", "uninstall", PLUGIN),),
        lists=((("qwen", "extensions", "list"), f"✓ {PLUGIN} "),),
        entries=((_ENABLED, (), PLUGIN),),
        made=("extensions",),
    ),
}


def begins_at_prompt(host: str) -> bool:
    """Whether a host's start takes no context, so that the first prompt after it gets the start's context."""
    return "start" not in HOSTS[host].actions.values()


class Done(NamedTuple):
    """An answered tool call: its name in the session, tool, input, output, failure and exit code."""

    name: str
    tool: str
    given: Any
    output: str
    failed: bool
    exit: int | None


class HookInput(NamedTuple):
    """The input of a hook. Missing and malformed fields are empty."""

    host: str
    event: str
    action: Action
    session: str
    folder: str
    transcript: str
    prompt: str
    answer: str
    prompt_id: str
    agent_transcript: str
    """The transcript of a subagent that has just ended, where the host names it."""
    resumed: bool
    """Whether a start goes on with a session that was told one before, and still has it."""
    agent: str = ""
    """The subagent that answers, empty for the session's own agent."""
    done: Done | None = None


def read(host: str, data: bytes) -> HookInput | None:
    """Return a hook's input from a host's JSON, None for an event unknown here. Raises `ValueError`."""
    if host not in HOSTS:
        raise ValueError("unknown host")
    told = orjson.loads(data)
    if not isinstance(told, dict):
        raise ValueError("not an object")
    event = _text(told, "hook_event_name")
    action = HOSTS[host].actions.get(event)
    agent = (_text(told, "agent_name") or _text(told, "agent_type"))[:MAX_AGENT_CHARS]
    of_agent = event == "SubagentStop"
    # What one agent asks of another no person has said, and what the other answers it tells once it has ended.
    if action is None or (_text(told, "parent_agent_id") and action in ("prompt", "answer") and not of_agent):
        return None
    return HookInput(
        host=host,
        event=event,
        action=action,
        session=_text(told, "session_id"),
        folder=_text(told, "cwd"),
        transcript=_text(told, "transcript_path"),
        prompt=_text(told, "prompt"),
        answer=_text(told, "last_assistant_message") or _text(told, "prompt_response"),
        prompt_id=_text(told, "prompt_id")[:MAX_NAME_CHARS],
        agent_transcript=_text(told, "agent_transcript_path"),
        resumed=_text(told, "source") == "resume",
        agent=agent if of_agent else "",
        done=_done(told, event) if action == "act" else None,
    )


def _done(told: dict[str, Any], event: str) -> Done:
    """Return the tool call of a hook's input. Hosts differ: some give the call an id, some only a time;
    outputs have many forms.
    """
    result = told.get("tool_response", told.get("tool_result"))
    of = result if isinstance(result, dict) else {"output": result}
    output = next((of[key] for key in ("llmContent", "text_result_for_llm", "output") if of.get(key)), "")
    parts = output if isinstance(output, list) else [output]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    tool, exit = _text(told, "tool_name"), of.get("exit")
    return Done(
        name=(_text(told, "tool_use_id") or f"{_text(told, 'timestamp')}:{tool}")[:MAX_NAME_CHARS],
        tool=tool,
        given=told.get("tool_input"),
        output="\n".join(text for text in (*texts, _text(told, "error")) if isinstance(text, str) and text),
        failed=event == "PostToolUseFailure" or of.get("result_type") not in (None, "success"),
        exit=exit if isinstance(exit, int) and not isinstance(exit, bool) else None,
    )


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


def answer(event: str, context: str, note: str = "", *, flat: bool = False) -> bytes:
    """Return a host's own form of an added context, and of a note that the host shows to the person.

    The form has only these keys, since one host drops all others. `docs/agents.md` says how each host shows a
    note; a `flat` form has none.
    """
    if flat:
        return orjson.dumps({"additionalContext": context})
    told: dict[str, Any] = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
    return orjson.dumps(told | ({"systemMessage": note} if note else {}))


def _text(told: dict[str, Any], key: str) -> str:
    value = told.get(key)
    return value if isinstance(value, str) else ""
