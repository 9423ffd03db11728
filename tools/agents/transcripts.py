"""Transcripts read while a session goes on: actions of the agent, turns of its subagents.

No hook reports these as they happen. Importers parse transcripts; here is decided which files are read, and
when.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from memtape.tools.agents.starts import told_at
from memtape.tools.capture.native_ids import HOSTS
from memtape.tools.client import Client
from memtape.tools.importing.finding import named_session
from memtape.tools.importing.summary import ImportSummary
from memtape.tools.importing.taking import Importer

MOST_AGENTS = 200
OPEN_DAYS = 7
"""A session that was cut off is looked for so long: that of a machine that went down over a weekend is found."""


def of_session(transcript: Path, agent: str = "") -> list[Path]:
    """Return the transcripts of a session and of its subagents.

    `agent` is the transcript of a subagent that just ended, where the host names the file.
    """
    folder = transcript.with_suffix("") / "subagents"
    others = sorted(folder.glob("*.jsonl"))[-MOST_AGENTS:] if folder.is_dir() else []
    named = [Path(agent)] if agent else []
    return [path for path in dict.fromkeys((transcript, *named, *others)) if path.is_file()]


def cut_off(home: Path, scope: str, transcript: Path) -> list[Path]:
    """Return the transcripts beside `transcript` whose sessions began with hooks and grew lately.

    A session with an orderly end was read to its end; reading its file again costs only a look at the size.
    """
    found = []
    oldest = time.time() - OPEN_DAYS * 86_400
    with suppress(OSError):
        for path in sorted(transcript.parent.glob(f"*{transcript.suffix}")):
            session = path.stem[-36:]  # Before it stand the words and the time of a rollout.
            if path != transcript and path.stat().st_mtime >= oldest and told_at(home, scope, session) is not None:
                found += of_session(path)
    return found


def take_up(home: Path, host: str, folder: Path, paths: Iterable[Path]) -> ImportSummary:
    """Import transcripts of a host from where they were read last; sessions of no known project go to no other."""
    with Client(home, folder=folder) as speaker:
        speaker.session = None
        importer = Importer(speaker)
        return importer.take(named_session(path, HOSTS[host]) for path in paths)
