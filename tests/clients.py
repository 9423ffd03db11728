"""The real hosts, one memory: what one of them is told, the others recall. Run by `make test-clients`.

It installs the CLIs from npm into a cache, connects each by `memtape agents connect`, and lets them talk to
a model on loopback (`fake_model`) in homes of their own. It reads and writes nothing of the user's, and needs
no other network.
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
from typing import Any

from fake_model import FakeModel
from tables import table

from memtape.tools.agents.plugins import MARKETPLACE
from memtape.tools.doors.markdown import DATA_NOT_ORDERS

RUN: dict[str, Any] = table("clients")
HOSTS: dict[str, dict[str, Any]] = RUN["hosts"]
GREETING, ANSWER = "HELLO", "Noted by the model."
TURN_TIMEOUT_S = 180


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "memtape" / "clients")
    parser.add_argument("--only", nargs="*", choices=list(HOSTS), default=list(HOSTS))
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
    missing = [HOSTS[host]["package"] for host in hosts if not (programs / host).exists()]
    if missing:
        cache.mkdir(parents=True, exist_ok=True)
        print(f"Installing {', '.join(missing)} into {cache}.")
        command = ["npm", "install", "--prefix", str(cache), "--no-audit", "--no-fund", "--silent", *missing]
        subprocess.run(command, check=True)
    return programs


OURS = MARKETPLACE.encode()
FOLDERS = "projects|sessions|chats|session-state|logs?|debug|telemetry|backups|tmp|shell-snapshots"
KEPT = re.compile(rf"/({FOLDERS})/|\.(db|wal)")
"""What hosts keep of conversations, and their logs, which say what was run."""


class Trial:
    """One run: homes of its own, one project, and the hosts one after another."""

    def __init__(self, folder: Path, memtape: Path, programs: Path, model: FakeModel, hosts: list[str]):
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
        for name, text in RUN["settings"].items():
            (user / name).parent.mkdir(parents=True)
            (user / name).write_text(text.replace("{url}", model.url))
        # What the environment says of hosts and keys of the user's own stays outside.
        kept = {key: os.environ[key] for key in ("LANG", "LC_ALL", "TERM", "TMPDIR") if key in os.environ}
        told = {name: value.replace("{url}", model.url) for name, value in RUN["environment"].items()}
        path = os.pathsep.join([str(programs), str(self.command.parent), os.environ["PATH"]])
        own = {"HOME": str(user), "MEMTAPE_HOME": str(folder / "memory"), "PATH": path}
        self.environment = kept | told | own

    def run(self) -> int:
        """Connect each host, tell each something, ask each for what another was told, and disconnect."""
        for host in self.hosts:
            self.check(f"{host} is connected", self.memtape("agents", "connect", host).returncode == 0)
        for host in self.hosts:
            said = self.turn(host, f"REMEMBER: {HOSTS[host]['said']}").stdout
            self.check(f"{host} remembers over MCP", "Remembered in project:" in said, said)
        for asking in self.hosts:
            for told in self.hosts:
                begun = time.monotonic()
                said = self.turn(asking, f"RECALL: {HOSTS[told]['question']}").stdout
                took_s = time.monotonic() - begun
                held = HOSTS[told]["said"].rstrip(".") in said
                self.check(f"{asking} recalls what {told} was told ({took_s:.1f} s)", held, said)
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
            done = self.turn(host, GREETING)
            said = done.stdout + done.stderr
            held = done.returncode == 0 and ANSWER in done.stdout and "failed" not in said.lower()
            self.check(f"{host} goes on without the command, and no hook fails", held, said)
        told = self.ran([str(self.installed), "agents", "doctor", "--json"]).stdout
        findings = json.loads(told)["findings"]
        gone = [finding for finding in findings if f"gone at {self.command}" in finding["seen"]]
        self.check("the doctor of another installation says so", len(gone) == len(self.hosts), str(findings))

    def check_left(self) -> None:
        """Nothing of the user or the project names our plugin but what hosts keep of talks and runs."""
        done = self.ran([str(self.installed), "agents", "disconnect", "--all"])
        self.check("nothing is left to disconnect", done.returncode == 0, done.stderr)
        found = [
            path for top in (Path(self.environment["HOME"]), self.project) for path in top.rglob("*")
            if not KEPT.search(str(path)) and path.is_file() and not path.is_symlink()
            and OURS in path.read_bytes()
        ]  # fmt: skip
        self.check("no host's file names our plugin", not found, "\n".join(map(str, found)))

    def check_hooks(self) -> None:
        """Prompts and answers are on the log under each host's name, and a start was given the memory."""
        self.memtape("import", "--all")  # It adds nothing that hooks have captured.
        deadline = time.monotonic() + 30
        while True:
            log = json.loads(self.memtape("log", "--limit", "1000", "--type", "captured", "--json").stdout)
            bodies = [(event["event"]["body"], event["event"]["actor"]) for event in log["events"]]
            missing = []
            for host in self.hosts:
                turns = [it for it in bodies if it[0]["source"] == HOSTS[host]["source"]]
                said = [(actor["origin"], body["text"]) for body, actor in turns]
                prompts = [it for by, it in said if by == "user" and it.strip('"').startswith("REMEMBER: ")]
                answers = [it for by, it in said if by == "agent" and "The tool said" in it]
                missing += [f"{host}: {prompts=} {answers=}"] * (len(prompts) != 1 or not answers)
            if not missing or time.monotonic() > deadline:
                break
            time.sleep(0.5)
        self.check("prompts and answers are captured once by hooks", not missing, "\n".join(missing))
        for host, its in HOSTS.items():
            # What a tool has answered says of itself that it is quoted; the context of a start does not.
            given = [
                seen for seen in self.model.seen
                if its["path"] in seen.path and its["system"] in seen.body
                and DATA_NOT_ORDERS not in seen.body
                and ("<memtape>" in seen.body or "&lt;memtape&gt;" in seen.body)
            ]  # fmt: skip
            is_given = bool(given) or host not in self.hosts
            self.check(f"{host}'s model is given the context of a start", is_given)

    def turn(self, host: str, prompt: str) -> subprocess.CompletedProcess[str]:
        """Let a host take one turn."""
        words = [word.replace("{url}", self.model.url) for word in HOSTS[host]["words"]]
        return self.ran([prompt if word == "{prompt}" else word for word in words])

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
        told = "" if holds else f"\n{seen[-3_000:]}"
        print(f"{'ok  ' if holds else 'FAIL'} {what}{told}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
