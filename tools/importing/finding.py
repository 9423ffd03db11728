"""The folders of hosts, and the kind of a file by its name and first rows. Nothing is imported here."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from memtape.schemas.codec import KEYS
from memtape.tools.capture import native_ids
from memtape.tools.capture.injected import clean
from memtape.tools.capture.native_ids import CLAUDE_CODE, CLAUDE_MEMORY, CODEX, DOCUMENTS, GEMINI, MARKDOWN
from memtape.tools.importing import documents, exports, reading
from memtape.tools.importing.exported import TITLE
from memtape.tools.importing.records import NO_FORMAT, Skipped, text_of

EXPORT = "export"
EVENTS = "memtape"
ARCHIVE = "archive"

ROWS_LOOKED_AT = 50
SLUG_CHARS = 200
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "__MACOSX"})
_ROLLOUT = re.compile(r"\Arollout-.*?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl\Z")
_CLAUDE_TYPES = frozenset("user assistant system attachment summary".split())


class ImportSource(NamedTuple):
    """A file to import. `name` is its path below the named folder; `cwd` and `session` are from its place.

    `unfit` says why a file or folder cannot be imported; nothing but its path is known then.
    """

    path: Path
    format: str = ""
    name: str = ""
    cwd: str | None = None
    session: str | None = None
    unfit: Skipped | None = None


NO_TARGET = Skipped("a link to what is not there", problem=True)


def host_folders() -> dict[str, list[Path]]:
    """Return the folders in which each host keeps its sessions, by format, whether they are there or not.

    Claude Code's is moved by CLAUDE_CONFIG_DIR, Codex's by CODEX_HOME, and Gemini's by GEMINI_CLI_HOME.
    """
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    codex = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    gemini = Path(os.environ.get("GEMINI_CLI_HOME") or Path.home()) / ".gemini"
    return {
        CLAUDE_CODE: [claude / "projects"],
        CODEX: [codex / "sessions", codex / "archived_sessions"],
        GEMINI: [gemini / "tmp"],
    }


def host_files(all_folders: dict[str, list[Path]] | None = None) -> Iterator[ImportSource]:
    """Yield the sessions and memory files of every host in its folders, by default the usual ones."""
    for format, folders in (host_folders() if all_folders is None else all_folders).items():
        for folder in folders:
            for found in walk(folder):
                source = found if found.unfit is not None else host_file(found.path, format, folder)
                if source is not None:
                    yield source


def memory_folders() -> list[Path]:
    """Return the memory folders of Claude Code, one a project."""
    every = (path for folder in host_folders()[CLAUDE_CODE] for path in sorted(folder.glob("*/memory")))
    return [path for path in every if path.is_dir()]


def kept_by(host: str) -> tuple[int, int]:
    """Return how many sessions and how many memory files a host has kept on this machine."""
    formats = Counter(it.format for it in host_files())
    kept = native_ids.HOSTS.get(host, "")
    return formats[kept], formats[CLAUDE_MEMORY] if kept == CLAUDE_CODE else 0


def host_file(path: Path, format: str, folder: Path) -> ImportSource | None:
    """Return a host's file as a source, None for a file that is not imported."""
    name = path.relative_to(folder).as_posix()
    if format == CLAUDE_CODE and path.suffix == ".md":
        parts = name.split("/")
        return _memory_file(path, folder / parts[0]) if len(parts) > 2 and parts[1] == "memory" else None
    is_chat = path.parent.name == "chats" and path.name.startswith("session-")
    if format == GEMINI and not (is_chat or path.parent.parent.name == "chats"):
        return None
    is_session = path.suffix == ".jsonl" or (format == GEMINI and path.suffix == ".json")
    return session_file(path, format, name) if is_session else None


def named_files(path: Path) -> Iterator[ImportSource]:
    """Yield the importable files of a path."""
    if path.is_dir():
        for found in walk(path):
            yield found if found.unfit is not None else _source(found.path, found.name)
    elif path.is_file():
        source = _source(path, path.name)
        if source.unfit is not None:
            source = source._replace(unfit=Skipped(source.unfit.reason, problem=True))
        yield source
    else:
        yield ImportSource(path, unfit=Skipped("there is no such file", problem=True))


def walk(folder: Path) -> Iterator[ImportSource]:
    """Yield the files below a folder by name; hidden ones are left out, and no folder comes twice."""
    seen, refused = set[tuple[int, int]](), list[OSError]()
    for root, folders, files in os.walk(folder, followlinks=True, onerror=refused.append):
        with suppress(OSError):
            status = os.stat(root)
            if (status.st_dev, status.st_ino) in seen:
                folders.clear()
                continue
            seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _LEFT_OUT)
        for path in (Path(root, name) for name in sorted(files) if not name.startswith(".")):
            if path.is_file():
                yield ImportSource(path, name=path.relative_to(folder).as_posix())
            elif path.is_symlink() and not path.exists():  # As where a disk is not there now.
                yield ImportSource(path, unfit=NO_TARGET)
    for error in refused if folder.is_dir() else ():
        yield ImportSource(
            Path(str(error.filename)), unfit=Skipped("a folder that cannot be read", problem=True)
        )


def format_of_row(row: dict[str, Any]) -> str | None:
    """Return the format of a row, None where several are possible."""
    type = text_of(row, "type")
    if row.keys() == KEYS:
        return EVENTS
    if "$set" in row or "$rewindTo" in row or "projectHash" in row or type == "gemini":
        return GEMINI
    if "payload" in row:
        return CODEX
    if ("sessionId" in row and type) or (type in _CLAUDE_TYPES and ("uuid" in row or "leafUuid" in row)):
        return CLAUDE_CODE
    return EXPORT if exports.source_of(row) is not None else None


def _source(path: Path, name: str) -> ImportSource:
    ending, unknown = path.suffix.lower(), ImportSource(path, unfit=NO_FORMAT)
    if ending == ".zip":
        return ImportSource(path, ARCHIVE, name)
    if ending in documents.MARKDOWN_ENDINGS:
        project = path.parent.parent
        in_memory = path.parent.name == "memory" and any(project.glob("*.jsonl"))
        if in_memory:
            return _memory_file(path, project)
        return ImportSource(path, EVENTS if _is_export(path) else MARKDOWN, name)
    # A page beside an export repeats it, as ChatGPT's.
    repeats = path.name == "chat.html" and (path.parent / "conversations.json").exists()
    if ending in documents.FORMATS and not repeats:
        has_library = documents.can_read(ending)
        return (
            ImportSource(path, DOCUMENTS, name) if has_library else ImportSource(path, unfit=documents.NEEDS)
        )
    if ending not in (".json", ".jsonl"):
        return unknown
    try:
        found = _format_in(path, in_rows=ending == ".jsonl")
    except OSError as error:
        return ImportSource(path, unfit=Skipped(f"cannot be read: {error.strerror}", problem=True))
    return unknown if found is None else session_file(path, found, name)


def _is_export(path: Path) -> bool:
    """Return whether a file of Markdown begins as an export of Memtape does."""
    with suppress(OSError), reading.opened(path) as file:
        return file.read(len(TITLE)) == TITLE.encode()
    return False


def _format_in(path: Path, *, in_rows: bool) -> str | None:
    """Return a file's format by its first rows or items; an unreadable file has one too."""
    bad = None
    with reading.opened(path) as file:
        values = (row.value for row in reading.rows(file)) if in_rows else reading.items(file)
        for value in islice(values, ROWS_LOOKED_AT):
            if isinstance(value, Skipped):
                bad = bad or (CLAUDE_CODE if in_rows else EXPORT)
            elif value is not None:
                found = format_of_row(value) if in_rows else exports.source_of(value)
                if found is not None:
                    return found if in_rows else EXPORT
    return CODEX if _ROLLOUT.match(path.name) else bad


def session_file(path: Path, format: str, name: str = "") -> ImportSource:
    """Return a session file, in any folder, with the session id and folder from its path."""
    found = _ROLLOUT.match(path.name) if format == CODEX else None
    cwd = _gemini_root(path) if format == GEMINI else None
    format = EXPORT if format == GEMINI and path.suffix == ".json" else format
    return ImportSource(path, format, name or path.name, cwd, found[1] if found else None)


def _gemini_root(path: Path) -> str | None:
    """Return the project of a session; subagents' sessions lie one folder deeper."""
    project = path.parent.parent if path.parent.name == "chats" else path.parent.parent.parent
    with suppress(OSError):
        return (project / ".project_root").read_text(errors="replace").strip() or None
    return None


def _memory_file(path: Path, project: Path) -> ImportSource:
    """Return a memory file of a Claude Code project.

    The project's folder is known by its sessions: the name of `project` may be that of several folders.
    """
    folder = project / "memory"
    name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
    cwd = next(filter(None, map(_first_cwd, sorted(project.glob("*.jsonl")))), None)
    for place in (Path(cwd), *Path(cwd).parents) if cwd else ():
        if re.sub(r"[^A-Za-z0-9]", "-", str(place))[:SLUG_CHARS] == project.name:
            cwd = str(place)
            break
    return ImportSource(path, CLAUDE_MEMORY, name, cwd=cwd)


def _first_cwd(path: Path) -> str | None:
    """Return the first folder that a transcript names in its head. Raises no error."""
    with suppress(OSError), reading.opened(path) as file:
        rows = (row.value for row in islice(reading.rows(file), ROWS_LOOKED_AT))
        known = (row for row in rows if isinstance(row, dict))
        told = (text_of(row, "cwd") or text_of(row.get("payload"), "cwd") for row in known)
        return next(filter(None, told), None)
    return None


def began_in(path: Path) -> Path | None:
    """Return the first folder of a transcript's session, None if unknown."""
    if path.parent.name == "subagents":  # A part of another session, which may have gone elsewhere before.
        parent = path.parent.parent.with_suffix(".jsonl")
        path = parent if parent.exists() else path
    found = _first_cwd(path) or _gemini_root(path)
    return folder_of(found) if found else None


def folder_of(cwd: str) -> Path:
    """Return a session's folder; a path of another system (`C:\\x`) is not below the current folder."""
    return Path("/", clean(cwd).replace("\\", "/"))
