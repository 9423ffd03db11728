"""Shell completion of commands, options and the ids of the latest memories."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import msgspec
from click.shell_completion import get_completion_class

from memtape.schemas.errors import MemtapeError
from memtape.tools.verb import Output, Verb, said

VARIABLE = "_MEMTAPE_COMPLETE"
FILES = {
    "bash": ".local/share/bash-completion/completions/memtape",
    "zsh": ".local/share/zsh/site-functions/_memtape",
    "fish": ".config/fish/completions/memtape.fish",
}
"""The file below a user's own folder from which each shell takes the completion."""
THEN = {"zsh": " Where `fpath` in ~/.zshrc does not name its folder, add it there before `compinit`."}


class Completion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The completion of a shell: the file in which it stands, or the script alone."""

    shell: str
    file: str = ""
    script: str = ""


def completion(
    home: Path,
    shell: Annotated[
        str | None, said("The shell, by default that of $SHELL.", argument=True, choices=tuple(FILES))
    ] = None,
    print: Annotated[bool, said("Print the script, and write nothing.")] = False,
) -> Output:
    """Install the completion for your shell, by default that of $SHELL; it completes ids too.

    memtape admin completion
    memtape admin completion zsh --print
    """
    from memtape.tools.doors.cli import main

    shell = shell or Path(os.environ.get("SHELL", "")).name
    made = get_completion_class(shell) if shell in FILES else None
    if made is None:
        known = ", ".join(FILES)
        raise MemtapeError(f"No completion is known for the shell {shell[:40]!r}.", f"Name one: {known}.")
    script = made(main, {}, "memtape", VARIABLE).source_vars()
    text = made.source_template % script
    if print:
        yield Completion(shell=shell, script=text)
        yield text
        return
    path = Path.home() / FILES[shell]
    try:
        if path.exists() and VARIABLE not in path.read_text():
            raise MemtapeError(f"{path} is not of Memtape, and stays.", "--print shows the script.")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except (OSError, UnicodeDecodeError) as error:
        raise MemtapeError(f"{path} cannot be written: {error}.", "--print shows the script.") from None
    yield Completion(shell=shell, file=str(path))
    yield f"The completion for {shell} is in {path}; new shells have it.{THEN.get(shell, '')}"


VERBS = (Verb("admin completion", completion, answers=Completion, effect="adds", at="folder"),)
