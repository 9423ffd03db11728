"""Recall@5 in Chinese, German, Spanish and Japanese: `python tests/bench/languages.py`.

`tests/data/languages.jsonl` has 75 notes of one person in each language, and a question to each. The words of
half of the questions differ from those of their note. The notes of a language are one project. The rules were
made with the half `read`; the half `held out` was not looked at meanwhile. Never a part of the tests.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click
import msgspec

from memtape.tools.client import Client

QUESTIONS = Path(__file__).parents[1] / "data" / "languages.jsonl"
AMONG = 5


class NoteQuestion(msgspec.Struct, frozen=True):
    """A note, and a question to it in its words (`same`) or others; `half` is the part of the file."""

    language: str
    place: str
    words: Literal["same", "other"]
    half: Literal["read", "held out"]
    note: str
    question: str


@click.command()
@click.option("--half", type=click.Choice(("read", "held out")), default="held out")
@click.option("--misses", is_flag=True, help="Also print each question of the half that misses its note.")
def main(half: str, misses: bool) -> None:
    """Print by embedder and language the share of questions that find their note among the first five."""
    lines = QUESTIONS.read_bytes().splitlines()
    every = [msgspec.json.decode(line, type=NoteQuestion) for line in lines]
    click.echo(f"{half:18} {'same words':>12} {'other words':>12}")
    for embedder in ("floor", "local"):
        for language in dict.fromkeys(one.language for one in every):
            notes = [one for one in every if one.language == language]
            asked = [one for one in notes if one.half == half]
            found = _found(notes, asked, embedder)
            shares = []
            for words in ("same", "other"):
                its = [ok for ok, one in zip(found, asked, strict=True) if one.words == words]
                shares.append(f"{sum(its):6} of {len(its)}")
            click.echo(f"{embedder:8} {language:9} {shares[0]:>12} {shares[1]:>12}")
            for ok, one in zip(found, asked, strict=True) if misses else ():
                if not ok:
                    click.echo(f"    {one.words}: {one.question} <- {one.note}")


def _found(notes: Sequence[NoteQuestion], asked: Sequence[NoteQuestion], embedder: str) -> list[bool]:
    """Return for each question whether its note is among the first results in a new home of all notes."""
    with tempfile.TemporaryDirectory() as folder:
        settings = f'catch_up = false\n[embedder]\nchoice = "{embedder}"\n'
        (Path(folder) / "settings.toml").write_text(settings)
        with Client(folder, scope="project:notes", origin="user") as client:
            ids = {one.note: client.capture(one.note).id for one in notes}
            subprocess.run(
                [sys.executable, "-m", "memtape", "run", "--once", "--home", folder],
                stdout=subprocess.DEVNULL,
                check=True,
            )
            results = (client.search(one.question, AMONG, quiet=True).results for one in asked)
            return [ids[one.note] in [it.id for it in its] for one, its in zip(asked, results, strict=True)]


if __name__ == "__main__":
    main()
