"""Recall where a program hands over texts alone: `capture(text)`, without session, kind or speaker.

    python tests/bench/plain.py locomo-dev.json [--named] [--embedder local]

Each turn of a corpus is captured as it was said, one after the other, and each question is asked with
`client.search`. `--named` puts "NAME: " before each text. Never a part of the tests.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import click

from memtape.tools.client import Client
from memtape.tools.measure.corpus import read_corpus

AMONG = (5, 10)


@click.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--named", is_flag=True, help='Begin each text with "NAME: ".')
@click.option("--embedder", type=click.Choice(("floor", "local")), default="floor")
def main(path: Path, named: bool, embedder: str) -> None:
    """Print the mean share of the evidence among the first 5 and 10 results."""
    shares: dict[int, list[float]] = {count: [] for count in AMONG}
    for conversation in read_corpus(path):
        with tempfile.TemporaryDirectory() as folder:
            settings = f'catch_up = false\n[embedder]\nchoice = "{embedder}"\n'
            (Path(folder) / "settings.toml").write_text(settings)
            with Client(Path(folder), scope=conversation.scope, origin="user") as client:
                ids = {}
                for line in conversation.lines:
                    text = "\n".join((line.text, *(media.caption or "" for media in line.media)))
                    ids[line.native_id] = client.capture(f"{line.actor}: {text}" if named else text).id
                run = [sys.executable, "-m", "memtape", "run", "--once", "--home", folder]
                while b"goes on" in subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout:
                    pass
                for asked in (question for question in conversation.questions if question.evidence):
                    found = [result.id for result in client.search(asked.text, limit=max(AMONG)).results]
                    for count, own in shares.items():
                        held = [ids[id] in found[:count] for id in asked.evidence]
                        own.append(sum(held) / len(held))
    for count, own in shares.items():
        click.echo(f"@{count} {sum(own) / len(own):.4f} of {len(own)} questions")


if __name__ == "__main__":
    main()
