"""The commands that take in what other programs have kept: import, once, and watch, as it grows."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.schemas.scopes import GLOBAL, check_scope
from memtape.schemas.visible import many
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.memory import MemoryLog
from memtape.sinks.logs.opening import log_url
from memtape.tools.capture.native_ids import SOURCES
from memtape.tools.client import Client
from memtape.tools.commands.options import print_json, progress, say, with_folder, with_home

# Parsers are loaded by the commands alone, so that no other command waits for them.
if TYPE_CHECKING:
    from memtape.tools.importing import finding
    from memtape.tools.importing.summary import Summary

SHOWN_PROBLEMS = 20

scope_option = click.option("--scope", help="Take all into this scope, not into that of each session's project.")


@click.command("import")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="What Claude Code, Codex and Gemini have kept on this machine.")
@click.option("--format", "format", type=click.Choice(SOURCES), help="What the files are, where it cannot be seen.")
@click.option("--dry-run", is_flag=True, help="Only say what would be taken.")
@click.option("--reread", is_flag=True, help="Read files again that have not changed since they were taken.")
@scope_option
@with_folder
def import_command(
    home: Path,
    paths: tuple[Path, ...],
    everything: bool,
    format: str | None,
    dry_run: bool,
    reread: bool,
    scope: str | None,
    as_json: bool,
) -> None:
    """Take in what other programs have kept: PATH is a file, a folder or an export.

    Transcripts and memory files of Claude Code, rollouts of Codex, sessions of Gemini, exports of ChatGPT and Claude.ai
    (also as zip), memories of mem0, and folders of Markdown. PDF, HTML, Word, PowerPoint and Excel files need the extra
    `documents`; e-mail (.eml) does not. Sessions go to the scope of the project that they were held in, everything else
    to that of this folder. Importing again adds nothing.

    \b
    Example:
      memtape import --all --dry-run
      memtape import ~/Downloads/chatgpt-export.zip --scope project:chats
      memtape import handbook.pdf
    """
    from memtape.tools.capture.pausing import check_storing
    from memtape.tools.importing.finding import Unfit, host_files
    from memtape.tools.importing.taking import Importer

    if bool(paths) == everything:
        raise click.UsageError("Give one or more paths, or --all.")
    own = _project(scope)
    if not dry_run:
        check_storing(home, None)
    with _reader(home) if dry_run else _speaker(home) as speaker:
        sources = list(host_files() if everything else _named(paths, format))
        with progress(sum(map(_size, sources)), "Importing") as bar:
            importer = Importer(speaker, own, dry_run=dry_run, reread=reread, only=format, on_progress=bar.update)
            # A folder of which something cannot be read is not known to lack what was there.
            unread = [source.path for source in sources if isinstance(source, Unfit) and source.path.is_dir()]
            summary = importer.take(sources, [path for path in paths if path.is_dir() and not unread])
    if as_json:
        print_json(summary)
    else:
        _print_summary(summary)
        if speaker.profile.told and not dry_run:
            say(speaker.profile.told)
    if summary.nothing_read:
        say("Error: There was nothing that could be read.\nThe formats are " + ", ".join(SOURCES) + ".", err=True)
        sys.exit(1)


@click.command()
@scope_option
@with_home
def watch(client: Client, scope: str | None, as_json: bool) -> None:
    """Take in the sessions of Claude Code, Codex and Gemini as they grow, until SIGTERM or Ctrl-C.

    It begins with what is there and has not been taken yet. A session is taken when it has grown by 100,000 bytes or
    50 messages, when it has been quiet for ten minutes, and at the end. It is what import does, and nothing is added
    twice. What you write between the marks of a page, as of MEMORY.md, is taken once you have saved it.

    \b
    Example:
      memtape watch
    """
    from memtape.tools.importing.watching import Indexed, Watcher

    def told(indexed: Indexed) -> None:
        if as_json:
            print_json({**indexed._asdict(), "path": str(indexed.path)}, indent=False)
        elif indexed.taken:
            say(f"{_shown(indexed.path)}: {indexed.taken:,} taken")

    def written(texts: int) -> None:
        if as_json:
            print_json({"written": texts}, indent=False)
        else:
            say(f"Your zones in pages: {many(texts, 'text')} taken or taken back")

    own = _project(scope)
    with _speaker(client.home.path, client.log) as speaker:
        watcher = Watcher(speaker, own, on_indexed=told, on_note=lambda note: say(note, err=True), on_written=written)
        before = {name: signal.signal(name, lambda *_: watcher.stop.set()) for name in (signal.SIGTERM, signal.SIGINT)}
        try:
            watcher.run()
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)


def _speaker(home: Path | Home, log: Log | None = None) -> Client:
    """Return who imports: what has no project goes to that of this folder, and nothing to the session of a shell."""
    speaker = Client(home, log=log)
    speaker.session = None
    return speaker


def _reader(path: Path) -> Client:
    """Return who only says what would be imported: nothing is made, and where no log is yet, an empty one stands in."""
    from memtape.tools.capture.secrets.redaction import Redactor

    home = Home(path, make=False)
    reader = _speaker(home, None if home.log_path.exists() or log_url(home) else MemoryLog())
    reader.redactor = Redactor(home, keeps_key=False)
    return reader


def _project(scope: str | None) -> str | None:
    if scope == GLOBAL:
        raise MemtapeError("Nothing is imported into the scope global.", "Name a project, as project:chats.")
    return check_scope(scope) if scope is not None else None


def _named(paths: Iterable[Path], format: str | None) -> Iterable[finding.Source | finding.Unfit]:
    from memtape.tools.importing.finding import named_files

    for path in dict.fromkeys(paths):
        yield from named_files(path, format)


def _size(source: finding.Source | finding.Unfit) -> int:
    try:
        return source.path.stat().st_size
    except OSError:
        return 0


def _print_summary(summary: Summary) -> None:
    verb = "Would take" if summary.dry_run else "Took"
    say(f"{verb} {summary.taken:,}; {summary.known:,} there already; {_files(summary)}.")
    if summary.withdrawn or summary.again:
        say(f"Withdrawn, since files say them no longer: {summary.withdrawn:,}; shown again: {summary.again:,}.")
    if not (summary.files or summary.unchanged or summary.unread):
        say("There is nothing to take. The formats are " + ", ".join(SOURCES) + ".")
    _print_table("Source", ("taken", "known"), [(name, t.taken, t.known) for name, t in summary.sources.items()])
    _print_table("Scope", ("taken",), list(summary.scopes.items()))
    _print_table("Skipped because", ("",), sorted(summary.skipped.items(), key=lambda pair: (-pair[1], pair[0])))
    for problem in summary.problems[:SHOWN_PROBLEMS]:
        place = f", {_shown(problem.place)}" if problem.place else ""
        say(f"{_shown(problem.path)}{place}: {problem.reason}", err=True)
    if summary.problem_count > SHOWN_PROBLEMS:
        say(f"… and {summary.problem_count - SHOWN_PROBLEMS:,} more; --json names them.", err=True)


def _files(summary: Summary) -> str:
    parts = [f"{many(summary.files, 'file')} read"]
    parts += [f"{summary.unchanged:,} unchanged"] if summary.unchanged else []
    parts += [f"{summary.unread:,} could not be read"] if summary.unread else []
    parts += [f"{summary.denied:,} denied"] if summary.denied else []
    return ", ".join(parts)


def _print_table(title: str, columns: tuple[str, ...], lines: list[tuple[Any, ...]]) -> None:
    if not lines:
        return
    width = max(len(title), *(len(str(line[0])) for line in lines))
    say(f"\n{title.ljust(width)}  " + "  ".join(name.rjust(9) for name in columns).rstrip())
    for name, *counts in lines:
        say(f"{str(name).ljust(width)}  " + "  ".join(f"{count:9,}" for count in counts))


def _shown(text: object) -> str:
    """Return a name of a file as a terminal may show it."""
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in str(text))
