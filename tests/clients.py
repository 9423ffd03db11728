"""The real hosts, one memory: what one of them is told, the others recall. Run by `make test-clients`.

It installs the CLIs from npm into a cache, connects each by `memtape agents connect`, and lets them talk to a model on
loopback (`fake_model`) in homes of their own. Nothing of the user's is read or written, and no other network is needed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fake_model import FakeModel

from memtape.tools.agents.hosts import MARKETPLACE
from memtape.tools.doors.markdown import DATA_NOT_ORDERS

PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "copilot": "@github/copilot",
    "opencode": "opencode-ai",
    "qwen": "@qwen-code/qwen-code",
}
SAID = {
    "claude": "The staging database listens on port 5433.",
    "codex": "Releases are cut on Tuesdays by Mira.",
    "gemini": "The tide service is written in Elixir.",
    "copilot": "The harbour desk opens at seven.",
    "opencode": "Backups of the ledger are kept in Tromsø.",
    "qwen": "The buoy firmware is signed with Ed25519.",
}
GREETING, ANSWER = "HELLO", "Noted by the model."
QUESTIONS = {"claude": "staging database port", "codex": "releases Tuesdays Mira", "gemini": "tide service Elixir"}
QUESTIONS |= {"copilot": "harbour desk opens", "opencode": "backups ledger kept", "qwen": "buoy firmware signed"}
SOURCES = {"claude": "claude-code"}
TURN_TIMEOUT_S = 180


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "memtape" / "clients")
    parser.add_argument("--only", nargs="*", choices=list(PACKAGES), default=list(PACKAGES))
    parser.add_argument("--keep", action="store_true", help="Keep the folder of the run.")
    asked = parser.parse_args()
    memtape = Path(sys.executable).with_name("memtape")
    if not memtape.exists():
        sys.exit(f"{memtape} is not there: run this by `make test-clients`.")
    programs = install(asked.cache, asked.only)
    folder = Path(tempfile.mkdtemp(prefix="memtape-clients-"))
    try:
        with FakeModel() as model:
            return Trial(folder, memtape, programs, model, asked.only).run()
    finally:
        if asked.keep:
            print(f"Kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def install(cache: Path, hosts: list[str]) -> Path:
    """Install what is missing with npm, and return the folder of the programs."""
    programs = cache / "node_modules" / ".bin"
    missing = [PACKAGES[host] for host in hosts if not (programs / host).exists()]
    if missing:
        cache.mkdir(parents=True, exist_ok=True)
        print(f"Installing {', '.join(missing)} into {cache}.")
        command = ["npm", "install", "--prefix", str(cache), "--no-audit", "--no-fund", "--silent", *missing]
        subprocess.run(command, check=True)
    return programs


SEEN_AS = {
    "claude": ("/messages", ""),
    "codex": ("/responses", ""),
    "gemini": ("GenerateContent", ""),
    "copilot": ("/chat/completions", "GitHub Copilot CLI"),
    "opencode": ("/chat/completions", "You are opencode"),
    "qwen": ("/chat/completions", "Qwen Code"),
}
"""A path of each host's requests, and words of its own."""


OURS = MARKETPLACE.encode()
KEPT = re.compile(
    r"/(projects|sessions|chats|session-state|logs?|debug|telemetry|backups|tmp|shell-snapshots)/|\.(db|wal)"
)
"""What hosts keep of conversations, and their logs, which say what was run."""


def opencode_settings(url: str) -> dict[str, object]:
    """Return settings by which OpenCode asks the model at `url`, and nobody for a newer version of itself."""
    models = {"fake": {"name": "Fake", "tool_call": True, "limit": {"context": 128_000, "output": 4_096}}}
    fake = {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "models": models}
    fake |= {"options": {"baseURL": f"{url}/v1", "apiKey": "none"}}
    return {"provider": {"fake": fake}, "model": "fake/fake", "autoupdate": False}


class Trial:
    """One run: homes of its own, one project, and the hosts one after another."""

    def __init__(self, folder: Path, memtape: Path, programs: Path, model: FakeModel, hosts: list[str]) -> None:
        self.model = model
        self.hosts = hosts
        self.failures = 0
        self.project = folder / "project"
        self.project.mkdir()
        subprocess.run(["git", "init", "--quiet", str(self.project)], check=True)
        # A script of its own, which can be deleted while the hosts have it.
        self.installed, self.command = memtape, folder / "an installation" / "memtape"
        self.command.parent.mkdir()
        shutil.copy(memtape, self.command)
        user = folder / "user"
        (user / ".codex").mkdir(parents=True)
        (user / ".gemini").mkdir()
        (user / ".config" / "opencode").mkdir(parents=True)
        (user / ".config" / "opencode" / "opencode.json").write_text(json.dumps(opencode_settings(model.url)))
        (user / ".gemini" / "settings.json").write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
        # What the environment says of hosts and keys of the user's own stays outside.
        kept = {key: os.environ[key] for key in ("LANG", "LC_ALL", "TERM", "TMPDIR") if key in os.environ}
        self.environment = kept | {
            "HOME": str(user),
            "PATH": os.pathsep.join([str(programs), str(self.command.parent), os.environ["PATH"]]),
            **{"MEMTAPE_HOME": str(folder / "memory"), "MEMTAPE_HOOKS": "alone", "ENABLE_TOOL_SEARCH": "false"},
            **dict.fromkeys(("ANTHROPIC_API_KEY", "FAKE_KEY", "GEMINI_API_KEY"), "none"),
            **dict.fromkeys(("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "IS_SANDBOX"), "1"),
            **dict.fromkeys(("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"), model.url),
            **{"COPILOT_PROVIDER_BASE_URL": f"{model.url}/v1", "COPILOT_MODEL": "gpt-fake"},
            **{"GEMINI_CLI_TRUST_WORKSPACE": "true", "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"},
        }
        provider = f'name="fake", base_url="{model.url}/v1", env_key="FAKE_KEY", wire_api="responses"'
        self.words = {
            "claude": ["claude", "-p", "{prompt}", "--dangerously-skip-permissions"],
            "codex": [
                "codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
                "--dangerously-bypass-hook-trust", "-c", f"model_providers.fake={{{provider}}}",
                "-c", 'model_provider="fake"', "-c", 'model="gpt-5-fake"', "-c", "mcp_optional_startup_grace_ms=5000",
                "{prompt}",
            ],
            "gemini": ["gemini", "--yolo", "-m", "gemini-2.5-flash", "-p", "{prompt}"],
            "copilot": ["copilot", "--allow-all-tools", "-s", "-p", "{prompt}"],
            "opencode": ["opencode", "run", "--auto", "{prompt}"],
            "qwen": [
                "qwen", "--auth-type", "openai", "--openai-api-key", "none", "--openai-base-url", f"{model.url}/v1",
                "-m", "fake", "-y", "-p", "{prompt}",
            ],
        }  # fmt: skip

    def run(self) -> int:
        """Connect each host, tell each something, ask each for what another was told, and disconnect."""
        for host in self.hosts:
            self.check(f"{host} is connected", self.memtape("agents", "connect", host).returncode == 0)
        for host in self.hosts:
            said = self.turn(host, f"REMEMBER: {SAID[host]}")
            self.check(f"{host} remembers over MCP", "Remembered in project:" in said, said)
        for asking in self.hosts:
            for told in self.hosts:
                begun = time.monotonic()
                said = self.turn(asking, f"RECALL: {QUESTIONS[told]}")
                took_s = time.monotonic() - begun
                self.check(
                    f"{asking} recalls what {told} was told ({took_s:.1f} s)", SAID[told].rstrip(".") in said, said
                )
        self.check_hooks()
        findings = json.loads(self.memtape("agents", "doctor", "--json").stdout)["findings"]
        bad = [finding for finding in findings if finding["state"] == "bad"]
        self.check("the doctor finds nothing bad", not bad, str(bad))
        self.check_gone()
        for host in self.hosts:
            done = self.ran([str(self.installed), "agents", "disconnect", host])
            self.check(f"{host} is disconnected", done.returncode == 0, done.stderr)
        self.check_left()
        print("All is well." if not self.failures else f"{self.failures} checks failed.")
        return 1 if self.failures else 0

    def check_gone(self) -> None:
        """A host goes on where the command is gone, and the doctor of another installation says so."""
        self.command.unlink()
        for host in self.hosts:
            words = [GREETING if word == "{prompt}" else word for word in self.words[host]]
            done = self.ran(words)
            said = done.stdout + done.stderr
            held = done.returncode == 0 and ANSWER in done.stdout and "failed" not in said.lower()
            self.check(f"{host} goes on without the command, and no hook fails", held, said)
        findings = json.loads(self.ran([str(self.installed), "agents", "doctor", "--json"]).stdout)["findings"]
        gone = [finding for finding in findings if f"gone at {self.command}" in finding["seen"]]
        self.check("the doctor of another installation says so", len(gone) == len(self.hosts), str(findings))

    def check_left(self) -> None:
        """Nothing of the user or the project names our plugin but what hosts keep of conversations and runs."""
        done = self.ran([str(self.installed), "agents", "disconnect", "--all"])
        self.check("nothing is left to disconnect", done.returncode == 0, done.stderr)
        found = [
            path for top in (Path(self.environment["HOME"]), self.project) for path in top.rglob("*")
            if not KEPT.search(str(path)) and path.is_file() and not path.is_symlink() and OURS in path.read_bytes()
        ]  # fmt: skip
        self.check("no host's file names our plugin", not found, "\n".join(map(str, found)))

    def check_hooks(self) -> None:
        """Prompts and answers are on the log under each host's name, and a start was given the memory."""
        self.memtape("import", "--all")  # What hooks have captured, an import of the transcripts does not add again.
        deadline = time.monotonic() + 30
        while True:
            log = json.loads(self.memtape("log", "--limit", "1000", "--type", "captured", "--json").stdout)
            bodies = [(event["event"]["body"], event["event"]["actor"]) for event in log["events"]]
            missing = []
            for host in self.hosts:
                source = SOURCES.get(host, host)
                turns = [(body["text"], actor) for body, actor in bodies if body["source"] == source]
                by = {
                    origin: [text for text, actor in turns if actor["origin"] == origin] for origin in ("user", "agent")
                }
                prompts = [text for text in by["user"] if text.strip('"').startswith("REMEMBER: ")]
                answers = [text for text in by["agent"] if "The tool said" in text]
                missing += [f"{host}: {prompts=} {answers=}"] * (len(prompts) != 1 or not answers)
            if not missing or time.monotonic() > deadline:
                break
            time.sleep(0.5)
        self.check("each host's prompts and answers are captured once by its hooks", not missing, "\n".join(missing))
        for host, (path, system) in SEEN_AS.items():
            # What a tool has answered says of itself that it is quoted; the context of a start does not.
            given = [
                seen for seen in self.model.seen
                if path in seen.path and system in seen.body and DATA_NOT_ORDERS not in seen.body
                and ("<memtape>" in seen.body or "&lt;memtape&gt;" in seen.body)
            ]  # fmt: skip
            self.check(f"{host}'s model is given the context of a start", bool(given) or host not in self.hosts)

    def turn(self, host: str, prompt: str) -> str:
        """Let a host take one turn and return what it printed."""
        return self.ran([prompt if word == "{prompt}" else word for word in self.words[host]]).stdout

    def memtape(self, *words: str) -> subprocess.CompletedProcess[str]:
        done = self.ran(["memtape", *words])
        if done.returncode:
            print(done.stdout, done.stderr)
        return done

    def ran(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                words, cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                text=True, errors="replace", timeout=TURN_TIMEOUT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            return subprocess.CompletedProcess(words, 124, str(error.stdout), str(error.stderr))

    def check(self, what: str, holds: bool, seen: str = "") -> None:
        self.failures += not holds
        print(f"{'ok  ' if holds else 'FAIL'} {what}" + (f"\n{seen[-3_000:]}" if not holds else ""), flush=True)


if __name__ == "__main__":
    sys.exit(main())
