"""Import the history of other programs, once or continually."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from memtape.schemas.errors import InvalidUse, MemtapeError
from memtape.schemas.log import Log
from memtape.schemas.scopes import GLOBAL, check_scope
from memtape.schemas.visible import many, one_line
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import MemoryLog
from memtape.sinks.logs.opening import log_url
from memtape.tools.capture.native_ids import SOURCES
from memtape.tools.client import Client
from memtape.tools.doors.terminal import is_json, logged, print_json, progress, say, say_all, some
from memtape.tools.query.telling import AWAY, hidden_told
from memtape.tools.verb import Asks, Failure, Output, Verb, said
from memtape.tools.verbs.keeping import LogFormat, LogLevel

# Parsers are loaded by the verbs alone, so that no other verb waits for them.
if TYPE_CHECKING:
    from memtape.tools.importing import finding
    from memtape.tools.importing.records import ImportProblem, ImportSummary

SHOWN_PROBLEMS = 20
SHOWN_LEFT = 5
"""So many places are shown of each reason that is no problem."""
Scope = Annotated[str | None, said("Take all into this scope, not into that of each session's project.")]


class ImportAsks(Asks, frozen=True):
    paths: Annotated[
        tuple[str, ...], said("A file, a folder or an export.", argument=True, metavar="PATH", path="any")
    ] = ()
    all: Annotated[bool, said("What Claude Code, Codex and Gemini have kept on this machine.")] = False
    dry_run: Annotated[bool, said("Only say what would be taken.")] = False
    gone: Annotated[bool, said("What is missing is gone for good: take back what it had said.")] = False
    scope: Scope = None


def import_files(home: Path, asked: ImportAsks) -> Output:
    """Import the history of other programs: PATH is a file, a folder or an export.

        memtape import --all --dry-run
        memtape import --watch
        memtape import ~/Downloads/chatgpt-export.zip --scope project:chats
        memtape import handbook.pdf

    Transcripts and memory files of Claude Code, rollouts of Codex, sessions of Gemini, exports of ChatGPT and
    Claude.ai (also as zip), memories of mem0, folders of Markdown, and lines of `memtape export`. PDF, HTML,
    Word, PowerPoint and Excel files need the extra `documents`; e-mail (.eml) does not. Sessions and exported
    lines go to the scope of their own project, everything else to that of this folder. Importing again adds
    nothing.

    Notes, documents and memories gone from their file or folder are withdrawn, and return with it; turns
    stay. A missing or emptied folder withdraws nothing without --gone, since its disk may only be away.

    With --watch it goes on until SIGTERM or Ctrl-C. A session is taken when it has grown by 100,000 bytes or
    50 messages, when it has been quiet for ten minutes, and at the end; your edits between the marks of a
    page, once it is saved. With --log-format each taking is a line on stderr instead of a sentence.
    """
    from memtape.tools.capture.profiles import check_storing
    from memtape.tools.capture.project import is_unmade
    from memtape.tools.importing.taking import Importer

    if bool(asked.paths) is asked.all:
        raise InvalidUse("Give one or more paths, or --all, or --watch.")
    own = _project(asked.scope)
    if not asked.dry_run:
        check_storing(home, None)
    with _reader(home) if asked.dry_run else _speaker(home) as speaker:
        sources, folders = _sources(list(map(Path, asked.paths)), asked.all, asked.gone)
        label = "Reading" if asked.dry_run else "Importing"
        with progress(sum(map(_size, sources)), label) as bar:
            importer = Importer(speaker, own, dry_run=asked.dry_run, gone=asked.gone, on_progress=bar.update)
            speaker.log.ends()  # Nobody should wait for files to be read before a broker is asked.
            summary = importer.take(sources, folders)
        told = "" if summary.dry_run else speaker.profile.told
        is_new = own is None and not summary.dry_run and is_unmade(speaker.scope)
    if summary.nothing_read:
        formats = ", ".join(SOURCES)
        say(f"Error: There was nothing that could be read.\nThe formats are {formats}.", err=True)
    yield Failure(summary) if summary.nothing_read else summary
    yield from _summary_lines(summary)
    if is_new and len(summary.scopes) == 1:
        (scope,) = summary.scopes
        yield f"This folder has no project yet: `memtape project adopt {scope}` gives it that one."
    if told:
        yield told


def watch(home: Path, log_format: LogFormat = None, log_level: LogLevel = None, scope: Scope = None) -> None:
    """Take sessions of Claude Code, Codex, Gemini as they grow, until stopped."""
    from memtape.tools.importing.watching import Indexed, Watcher
    from memtape.tools.keep.operations import operation

    with logged(log_format, log_level) as logs:

        def tell(taken: Indexed | str) -> None:
            if isinstance(taken, str):
                operation("noted") if logs else say(taken, err=True)
                return
            operation("taken", texts=taken.taken)
            if is_json():
                print_json(taken._asdict() | {"path": taken.path and str(taken.path)}, indent=False)
            elif taken.path is None:
                say(f"Your zones in pages: {many(taken.taken, 'text')} taken or taken back")
            elif taken.taken and not logs:
                say(f"{one_line(str(taken.path))}: {taken.taken:,} taken")

        with _speaker(home) as speaker:
            watcher = Watcher(speaker, _project(scope), tell=tell)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: watcher.stop.set())
            watcher.run()


def _sources(
    paths: Sequence[Path], everything: bool, gone: bool
) -> tuple[list[finding.ImportSource], list[Path]]:
    """Return the files to be read, of the paths or of all hosts, and the folders given whole."""
    from memtape.tools.importing.finding import host_files, memory_folders, named_files

    if everything:
        return list(host_files()), memory_folders()
    named = (path for path in dict.fromkeys(paths) if path.exists() or not gone)
    found = [source for path in named for source in named_files(path)]
    return found, [path for path in paths if not path.is_file()]


def _speaker(home: Path | Home, log: Log | None = None) -> Client:
    """Return the importing client: texts without a project go to this folder's, none to a shell's session."""
    speaker = Client(home, log=log)
    speaker.session = None
    return speaker


def _reader(path: Path) -> Client:
    """Return the client of a dry run: nothing is created; an empty log stands in for a missing one."""
    from memtape.tools.capture.secrets.redaction import Redactor

    home = Home(path, make=False)
    reader = _speaker(home, None if home.log_path.exists() or log_url(home) else MemoryLog())
    reader.redactor = Redactor(home, keeps_key=False)
    return reader


def _project(scope: str | None) -> str | None:
    if scope == GLOBAL:
        raise MemtapeError("Nothing is imported into the scope global.", "Name a project, as project:chats.")
    return check_scope(scope) if scope is not None else None


def _size(source: finding.ImportSource) -> int:
    try:
        return source.path.stat().st_size
    except OSError:
        return 0


def _summary_lines(summary: ImportSummary) -> Iterator[str]:
    """Yield the counts of an import; what a person should mend is printed on stderr."""
    verb = "Would take" if summary.dry_run else "Took"
    parts = [f"{many(summary.files, 'file')} read"]
    counts = {"unchanged": summary.unchanged, "could not be read": summary.unread, "denied": summary.denied}
    parts += [f"{count:,} {what}" for what, count in counts.items() if count]
    yield f"{verb} {summary.taken:,}; {summary.known:,} there already; {', '.join(parts)}."
    if summary.withdrawn or summary.again:
        again = f"shown again: {summary.again:,}"
        yield f"Withdrawn, since files say them no longer: {summary.withdrawn:,}; {again}."
    if told := hidden_told(summary.hidden, summary.hidden_ids):
        yield told
    if not (summary.files or summary.unchanged or summary.unread or summary.withdrawn):
        yield f"There is nothing to take. The formats are {', '.join(SOURCES)}."
    yield from (f"  {count:,} into {scope}" for scope, count in summary.scopes.items())
    skipped = sorted(summary.skipped.items(), key=lambda it: (-it[1], it[0]))
    for reason, count in skipped:
        yield f"  {count:,} skipped: {reason}"
        left = [it for it in summary.left if it.reason == reason]
        yield from some(left, lambda it: f"    {_place(it)}", most=SHOWN_LEFT)
    if summary.spooled:
        say(AWAY, err=True)
    if summary.missing:
        away = f"Nothing is withdrawn of {many(summary.missing, 'file')} that cannot be found: the folder"
        then = "Where they are gone for good: memtape import PATH --gone."
        say(f"{away} is missing or empty, or cannot be read whole. {then}", err=True)
    say_all(some(summary.problems, _problem, most=SHOWN_PROBLEMS), err=True)


def _problem(problem: ImportProblem) -> str:
    return f"{_place(problem)}: {problem.reason}"


def _place(problem: ImportProblem) -> str:
    place = f", {one_line(str(problem.place))}" if problem.place else ""
    return f"{one_line(str(problem.path))}{place}"


VERBS = (
    Verb("import", import_files, answers="ImportSummary", effect="adds", at="folder"),
    Verb("import --watch", watch, answers=dict, effect="adds", at="folder"),
)
