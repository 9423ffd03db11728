"""The command that lets a shell complete commands, options and the ids of the latest memories."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from memtape.schemas.errors import MemtapeError
from memtape.tools.commands.options import Output, with_folder

VARIABLE = "_MEMTAPE_COMPLETE"
FILES = {
    "bash": ".local/share/bash-completion/completions/memtape",
    "zsh": ".local/share/zsh/site-functions/_memtape",
    "fish": ".config/fish/completions/memtape.fish",
}
"""The file below a user's own folder from which each shell takes the completion."""
THEN = {"zsh": " Where `fpath` in ~/.zshrc does not name its folder, add it there before `compinit`."}


@click.command()
@click.argument("shell", type=click.Choice(tuple(FILES)), required=False)
@click.option("--print", "only_print", is_flag=True, help="Print the script, and write nothing.")
@with_folder
def completion(home: Path, shell: str | None, only_print: bool) -> Output:
    """Install the completion for your shell, by default that of $SHELL; it completes ids too.

    \b
    Example:
      memtape admin completion
      memtape admin completion zsh --print
    """
    from memtape.tools.commands.cli import main

    shell = shell or Path(os.environ.get("SHELL", "")).name
    made = get_completion_class(shell) if shell in FILES else None
    if made is None:
        raise MemtapeError(f"No completion is known for the shell {shell[:40]!r}.", f"Name one: {', '.join(FILES)}.")
    script = made(main, {}, "memtape", VARIABLE).source_vars()
    text = made.source_template % script
    if only_print:
        yield {"shell": shell, "script": text}
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
    yield {"shell": shell, "file": str(path)}
    yield f"The completion for {shell} is in {path}; new shells have it.{THEN.get(shell, '')}"
