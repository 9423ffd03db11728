"""One day anew: the real hosts say what the scripts of `examples/one_day` have people say. Run by `make one-day-anew`.

Each host is connected by `memtape connect` and started once a prompt, without a terminal, in a clone of this
repository, with one memory for all. A model on loopback answers what the script has it answer, and calls the host's
own shell where the script names a command. What is kept are the transcripts that the hosts wrote, without rows of
their makers.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from clients import PACKAGES, Trial, install
from fake_model import FakeModel

ROOT = Path(__file__).parent.parent
DAY = ROOT / "examples" / "one_day"
NEUTRAL = "/home/dev/memtape"
HOOK_CONTEXT = re.compile(r"<hook_context>.*?</hook_context>\s*", re.DOTALL)
SHELLS = {"Bash": "command", "run_shell_command": "command", "exec_command": "cmd", "shell_command": "command"}
"""The hosts' tools that run a command, and the argument that has the command."""


class Script:
    """A host's day: what is to be said next, and what the model answers to it."""

    def __init__(self) -> None:
        self.now: dict[str, Any] = {}
        self.called = False

    def turn(self, turn: dict[str, Any]) -> None:
        """Go on to the next prompt."""
        self.now, self.called = turn, False

    def decide(self, turns: list[tuple[str, str]], tools: list[str]) -> tuple[str, str, dict[str, str]]:
        """Answer the prompt of now, after its command where it has one. Hosts ask for titles and the like too."""
        if not any(self.now["prompt"] in text for role, text in turns if role == "user"):
            return "Nothing to say.", "", {}
        shell = next((tool for tool in tools if tool in SHELLS), None)
        if "run" not in self.now or self.called or shell is None:
            return self.now["reply"], "", {}
        self.called = True
        command = {SHELLS[shell]: self.now["run"]}
        return "", shell, command | ({"description": "Look it up"} if shell != "exec_command" else {})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "memtape" / "clients")
    parser.add_argument("--only", nargs="*", choices=list(PACKAGES), default=list(PACKAGES))
    parser.add_argument("--turns", type=int, default=1_000, help="So many prompts of each host at most.")
    parser.add_argument("--memtape", type=Path, default=Path(sys.executable).with_name("memtape"))
    parser.add_argument("--folder", type=Path, help="Where the run is kept; by default it is thrown away.")
    parser.add_argument("--into", type=Path, default=DAY)
    asked = parser.parse_args()
    programs = install(asked.cache, asked.only)
    folder = Path(tempfile.mkdtemp(prefix="memtape-day-")) if asked.folder is None else asked.folder
    folder.mkdir(exist_ok=True)
    script = Script()
    try:
        with FakeModel(script.decide) as model:
            trial = Trial(folder, asked.memtape, programs, model, asked.only)
            clone(trial.project)
            return Making(trial, script, asked.turns, asked.into).run()
    finally:
        if asked.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


def clone(project: Path) -> None:
    """Have what this repository has at its newest commit, without its remote."""
    for words in (["fetch", "--quiet", str(ROOT), "HEAD"], ["reset", "--quiet", "--hard", "FETCH_HEAD"]):
        subprocess.run(["git", "-C", str(project), *words], check=True)


class Making:
    """The day of each host, one after another."""

    def __init__(self, trial: Trial, script: Script, turns: int, into: Path) -> None:
        self.trial, self.script, self.turns, self.into = trial, script, turns, into
        self.failed = 0
        self.given: dict[str, dict[str, int]] = {}

    def run(self) -> int:
        for host in self.trial.hosts:
            if self.trial.memtape("connect", host).returncode:
                sys.exit(f"{host} was not connected.")
        for host in self.trial.hosts:
            turns = msgspec.toml.decode((DAY / f"{host}.toml").read_bytes())["turn"][: self.turns]
            for number, turn in enumerate(turns):
                self.say(host, turn, first=number == 0)
            rows = self.rows(host)
            self.given[host] = {"prompts": len(turns), **given(host, rows)}
            kept = self.kept(host, rows)
            (self.into / f"{host}.jsonl").write_text(
                "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)
            )
            print(f"{host}: {len(turns)} prompts, {len(kept)} rows kept", flush=True)
        self.given["all"] = self.taken()
        (self.into / "given.json").write_text(json.dumps(self.given, indent=2) + "\n")
        return 1 if self.failed else 0

    def say(self, host: str, turn: dict[str, Any], first: bool) -> None:
        """Start the host with a prompt, in the session of its last prompt."""
        self.script.turn(turn)
        words = list(self.trial.words[host])
        if not first:
            if host == "codex":
                words[2:2] = ["resume", "--last"]
            else:
                words[1:1] = ["--continue"] if host == "claude" else ["--resume", "latest"]
        done = self.trial.ran([turn["prompt"] if word == "{prompt}" else word for word in words])
        if done.returncode or turn["reply"].split("\n")[0][:40] not in done.stdout:
            self.failed += 1
            print(f"FAIL {host}: {turn['prompt'][:60]}\n{done.stdout[-800:]}\n{done.stderr[-800:]}", flush=True)

    def taken(self) -> dict[str, int]:
        """Return how many turns hooks captured, and how many an import of the hosts' own transcripts adds to them."""
        self.trial.memtape("run", "--once")
        turns = json.loads(self.trial.memtape("status", "--json").stdout)["turns"]
        added = json.loads(self.trial.memtape("import", "--all", "--json").stdout)["taken"]
        return {"turns": turns, "added": added}

    def rows(self, host: str) -> list[dict[str, Any]]:
        """Return what a host wrote of its only session."""
        user = Path(self.trial.environment["HOME"])
        pattern = {"claude": ".claude/projects/*/*.jsonl", "codex": ".codex/sessions/**/*.jsonl",
                   "gemini": ".gemini/tmp/*/chats/*.jsonl"}[host]  # fmt: skip
        # Gemini begins a file of the same session in each minute in which it is resumed.
        found = sorted(user.glob(pattern))
        if not found or (host != "gemini" and len(found) > 1):
            sys.exit(f"{host} wrote {len(found)} transcripts instead of one: {found}")
        return [json.loads(line) for path in found for line in path.read_text().splitlines()]

    def kept(self, host: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the rows of turns, with the paths of nobody's machine."""
        chosen = [row for row in map(CHOSEN[host], rows) if row is not None]
        chosen = [row for place, row in enumerate(chosen) if place == 0 or "startTime" not in row]
        text = json.dumps(chosen, ensure_ascii=False)
        for path in {str(self.trial.project), str(self.trial.project.resolve())}:
            text = text.replace(path, NEUTRAL)
        if str(self.trial.project.parent) in text:
            sys.exit(f"A path of this machine is left in the transcript of {host}.")
        return list(json.loads(text))


def given(host: str, rows: list[dict[str, Any]]) -> dict[str, int]:
    """Return how often hooks told a host the context of a start, or memories for a prompt, and how many characters."""
    texts = [text for row in rows for text in INJECTED[host](row) if "memtape" in text]
    starts = [text for text in texts if "Memory of project:" in text]
    offers = [text for text in texts if "Memory of project:" not in text]
    return {
        "starts": len(starts),
        "start_chars": sum(map(len, starts)),
        "offers": len(offers),
        "offer_chars": sum(map(len, offers)),
    }


def injected_by_claude(row: dict[str, Any]) -> list[str]:
    attached = row.get("attachment") or {}
    content = attached.get("content") if attached.get("type") == "hook_additional_context" else None
    return [content] if isinstance(content, str) else list(content or ())


def injected_by_codex(row: dict[str, Any]) -> list[str]:
    payload = row.get("payload") or {}
    is_context = row["type"] == "response_item" and payload.get("role") == "developer"
    return [part["text"] for part in payload["content"] if "<memtape>" in part["text"]] if is_context else []


def injected_by_gemini(row: dict[str, Any]) -> list[str]:
    parts = row.get("content") if row.get("type") == "user" else None
    texts = [part.get("text", "") for part in parts] if isinstance(parts, list) else []
    return [told for text in texts for told in HOOK_CONTEXT.findall(text)]


INJECTED: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "claude": injected_by_claude,
    "codex": injected_by_codex,
    "gemini": injected_by_gemini,
}


def of_claude(row: dict[str, Any]) -> dict[str, Any] | None:
    """Keep what was said and what tools answered."""
    if row.get("type") not in ("user", "assistant") or row.get("isMeta"):
        return None
    names = ("type", "uuid", "parentUuid", "sessionId", "timestamp", "cwd", "gitBranch", "version", "isSidechain",
             "promptSource", "promptId")  # fmt: skip
    message = {name: row["message"][name] for name in ("role", "content")}
    return {name: row[name] for name in names if name in row} | {"message": message}


def of_codex(row: dict[str, Any]) -> dict[str, Any] | None:
    """Keep the head, without instructions, and what was said, called and answered."""
    payload = row["payload"]
    if row["type"] == "session_meta":
        names = ("id", "timestamp", "cwd", "cli_version", "source", "history_mode")
        return row | {"payload": {name: payload[name] for name in names if name in payload}}
    if row["type"] != "response_item" or payload["type"] == "reasoning":
        return None
    kinds = (payload.get("internal_chat_message_metadata_passthrough") or payload).get("content_item_kinds")
    if payload["type"] == "message" and (
        payload["role"] not in ("user", "assistant") or (payload["role"] == "user" and kinds != ["user.text"])
    ):
        return None
    slim = {name: value for name, value in payload.items() if name != "internal_chat_message_metadata_passthrough"}
    slim |= {"content_item_kinds": kinds} if kinds and payload.get("role") == "user" else {}
    return {name: row[name] for name in ("timestamp", "ordinal", "type") if name in row} | {"payload": slim}


def of_gemini(row: dict[str, Any]) -> dict[str, Any] | None:
    """Keep the head, what was said, and what tools answered."""
    if "sessionId" in row and "startTime" in row:
        return {name: row[name] for name in ("sessionId", "projectHash", "startTime", "kind") if name in row}
    if row.get("type") not in ("user", "gemini"):
        return None
    names = ("id", "timestamp", "type", "content", "toolCalls")
    kept = {name: row[name] for name in names if name in row}
    # What the hooks told is some seven thousand characters of each prompt here, and was never said.
    if isinstance(row["content"], list):
        parts = [
            part | {"text": HOOK_CONTEXT.sub("", part["text"])} if "text" in part else part for part in row["content"]
        ]
        kept["content"] = parts
    return kept


CHOSEN: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
    "claude": of_claude,
    "codex": of_codex,
    "gemini": of_gemini,
}

if __name__ == "__main__":
    sys.exit(main())
