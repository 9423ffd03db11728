"""The embedded log: one SQLite database in WAL mode, with many writing and reading processes at once.

A log in memory is such a database without a file.

This file owns the format of `log.db`. An append is durable when it returns (`synchronous=FULL`), deleted
bytes are overwritten (`secure_delete`), and every slot carries a salted digest, so that damage is found. A
removed or replaced file stays open in its processes, so that every call compares the open files with those in
the folder.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

import uuid_utils

from memtape.schemas.codec import blanked, canonical, event_of
from memtape.schemas.errors import (
    DamagedLog,
    LogExists,
    LogGone,
    MemtapeError,
    OffsetOutOfRange,
    StillHeld,
)
from memtape.schemas.events import EVENT_TYPES, Embedded, Event, Ticked, make_configured
from memtape.schemas.ids import SHORT_CHARS
from memtape.schemas.log import DEFAULT_PARTITIONS, Log, Position, Slot
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.sinks.home.files import is_read_only
from memtape.sinks.home.sqlite_files import USE_WAL, WAIT_S, KeptConnection
from memtape.sinks.logs.admission import admit
from memtape.sinks.logs.packed_vectors import joined, parted

SCHEMA_VERSION = "2"
WHOLE_VECTORS = "1"
"""The version of a log whose vectors all stand in their payloads. The first process that opens it goes on."""
UNFINISHED = "copying"
"""Stored as the version of an incomplete copy of another log, so that no process opens it."""
PAGE_BYTES = 8_192
"""A slot of more than a quarter of a page takes a page of its own: vectors and long turns have 1 to 2 kB."""
SALT_BYTES = 16
CHECKPOINT_WAIT_S = 3.0
IN_MEMORY = Path(":memory:")  # The path by which SQLite makes a database without a file.
FILES = ("", "-wal", "-shm")
"""The endings of a log's files: SQLite keeps all three while any process has the log open."""

_TABLES = """
CREATE TABLE slots (
    partition INTEGER NOT NULL, offset INTEGER NOT NULL, scope TEXT, id TEXT, type TEXT, sent INTEGER,
    salt BLOB NOT NULL, digest BLOB NOT NULL, payload BLOB NOT NULL, vector BLOB,
    PRIMARY KEY (partition, offset)
) WITHOUT ROWID;
CREATE INDEX slots_by_scope ON slots (scope, type, partition, offset);
CREATE INDEX slots_by_id ON slots (id);
CREATE INDEX slots_erased ON slots (partition, offset) WHERE type = 'erased';
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_INSERT = "INSERT INTO slots VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_STORED = "offset, salt, digest, payload, vector"


class EmbeddedLog(Log):
    """A `Log` on a file. Safe for threads; each process opens its own.

    `partitions` is only asked when the log is made; opened with another number it raises `LogExists`. With
    `copy_of`, another log's id, it is made without a slot, to be filled by `append_raw`, or opened to go on.
    In a folder that cannot be written it can be read.
    """

    def __init__(
        self,
        path: Path,
        partitions: int | None = None,
        settings: Settings | None = None,
        *,
        copy_of: str | None = None,
    ) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._files: tuple[tuple[int, int], ...] | None = None
        read_only = path != IN_MEMORY and is_read_only(path.parent)
        with self._explained():
            if path != IN_MEMORY and not os.path.exists(path):
                _make_private(path)
            self._db = _connected(path, read_only=read_only)
            meta = self._meta() or self._create(partitions or DEFAULT_PARTITIONS, settings, copy_of)
            schema = meta.get("schema")
            if schema == WHOLE_VECTORS and read_only:
                raise MemtapeError(
                    f"{path} has format {schema}, and is read once it was opened where it can be written.",
                    "Name a copy of its home with --home.",
                )
            if schema == WHOLE_VECTORS or (schema == UNFINISHED and copy_of is not None):
                self._add_vectors()
                schema = SCHEMA_VERSION
            self._files = _files(path)
        if schema == UNFINISHED:
            told = f"{path} is a copy that is not whole."
            raise DamagedLog(told, "Give `memtape admin copy` again: it goes on.")
        if schema != SCHEMA_VERSION:
            told = f"{path} has format {schema}, this version reads {SCHEMA_VERSION}."
            raise DamagedLog(told, "Upgrade Memtape.")
        try:
            self.log_id, self.partitions = meta["log_id"], int(meta["partitions"])
        except (KeyError, ValueError):
            raise DamagedLog(f"{path} does not say what it is.", "Restore it from a backup.") from None
        if partitions is not None and partitions != self.partitions:
            raise LogExists(
                f"{path} has {self.partitions} partitions, not {partitions}.",
                "The number never changes; copy the log into a new one to have another.",
            )
        if copy_of not in (None, self.log_id):
            raise LogExists(f"{path} holds another log.", "Name an empty place; nothing has been changed.")

    @property
    def place(self) -> str:
        return str(self.path)

    def append(self, events: Sequence[Event]) -> list[Position]:
        """See `Log.append`. It is one transaction; checks, encoding and digests come before its lock."""
        admitted = admit(events, self.partitions)
        made = [(entry, _row(entry.event, entry.payload)) for entry in admitted]
        held = "SELECT 1 FROM slots WHERE id = ? AND partition = ?"
        positions = [Position(0, 0)] * len(events)
        with self._writing():
            ends = {partition: self._end(partition) for partition in {entry.partition for entry in admitted}}
            rows = []
            for (partition, event, _, place), row in made:
                is_added = place is None and isinstance(event.body, Ticked)
                if is_added and self._db.execute(held, [event.id, partition]).fetchone():
                    continue
                offset = ends[partition]
                ends[partition] += 1
                rows.append((partition, offset, *row))
                if place is not None:
                    positions[place] = Position(partition, offset)
            self._db.executemany(_INSERT, rows)
            self._record(ends)
        return positions

    def append_raw(self, partition: int, payloads: Sequence[bytes]) -> list[Position]:
        """See `Log.append_raw`. It is one transaction; reading and digests come before its write lock."""
        self.check_partition(partition)
        rows = [_row(event_of(payload), payload) for payload in payloads]
        with self._writing():
            first = self._end(partition)
            placed = ((partition, offset, *row) for offset, row in enumerate(rows, first))
            self._db.executemany(_INSERT, placed)
            self._record({partition: first + len(payloads)})
        return [Position(partition, first + index) for index in range(len(payloads))]

    def finish_copy(self) -> None:
        """Mark a copy as a complete log, which any process may open, after the last slot was written."""
        with self._writing():
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", [SCHEMA_VERSION])

    def read(
        self, partition: int, offset: int, limit: int, *, scope: str | None = None, types: Sequence[str] = ()
    ) -> list[Slot]:
        self.check_partition(partition)
        if not 0 <= offset < 2**63:
            raise OffsetOutOfRange(f"Partition {partition} has no offset {offset}.")
        where, values = "partition = ? AND offset >= ?", list[object]([partition, offset])
        query = f"SELECT {_STORED} FROM slots"
        has_scope = any(EVENT_TYPES[type].has_scope for type in types)
        if types and (scope is not None or not has_scope):
            # Left to itself SQLite reads the whole partition in its order. So it merges a scope's types.
            its = f"{query} INDEXED BY slots_by_scope WHERE scope IS ? AND type = ? AND {where}"
            query = " UNION ALL ".join([its] * len(types))
            values = [value for type in types for value in (scope, type, *values)]
        else:
            query = f"{query} WHERE {where}"
            if scope is not None:
                query, values = f"{query} AND scope = ?", [*values, scope]
            if types:
                query, values = f"{query} AND type IN ({', '.join('?' * len(types))})", [*values, *types]
        query = f"{query} ORDER BY offset LIMIT ?"
        with self._lock, self._explained():
            rows = self._db.execute(query, [*values, limit]).fetchall()
            if not rows and not offset <= (end := self._end(partition)):
                raise OffsetOutOfRange(f"Partition {partition} has no offset {offset}; it ends at {end}.")
        whole = scope is None and not types
        slots = []
        for expected, row in enumerate(rows, offset):
            if whole and row[0] != expected:
                raise self._damaged(f"Slot {expected} of partition {partition} in {self.path} is missing.")
            slots.append(self._slot(partition, *row))
        return slots

    def erased(self, partition: int) -> list[Slot]:
        self.check_partition(partition)
        # Left to itself SQLite reads the whole partition in its order.
        query = (
            f"SELECT {_STORED} FROM slots AS it INDEXED BY slots_erased"
            " WHERE partition = ? AND type = 'erased' AND NOT EXISTS (SELECT 1 FROM slots AS first"
            " WHERE first.id = it.id AND +first.scope = it.scope"
            " AND +first.partition = it.partition AND +first.offset < it.offset) ORDER BY offset"
        )
        with self._lock, self._explained():
            rows = self._db.execute(query, [partition]).fetchall()
        return [self._slot(partition, *row) for row in rows]

    def known(self, scope: str, ids: Sequence[str]) -> dict[str, int]:
        query = "SELECT id, min(offset) FROM slots WHERE id IN (SELECT value FROM json_each(?))"
        query += " AND +scope = ? AND +partition = ? GROUP BY id"
        values = [canonical(list(ids)).decode(), scope, partition_of(scope, self.partitions)]
        with self._lock, self._explained():
            return dict(self._db.execute(query, values).fetchall())

    def matching(
        self, part: str, scopes: Sequence[str], types: Sequence[str], limit: int
    ) -> list[tuple[str, str]]:
        # In the order of bytes "g" comes after all that an id has.
        where, values = "id >= ? AND id < ?", [part, f"{part}g"]
        if len(part) == SHORT_CHARS:  # The index of ids alone is read whole, and no payload.
            ends = f"SELECT id FROM slots INDEXED BY slots_by_id WHERE substr(id, -{SHORT_CHARS}) = ?"
            where, values = f"({where} OR id IN ({ends}))", [*values, part]
        where += " AND +scope IS NOT NULL"
        for column, wanted in (("scope", scopes), ("type", types)):
            if wanted:
                where += f" AND +{column} IN ({', '.join('?' * len(wanted))})"
                values += wanted
        query = f"SELECT DISTINCT scope, id FROM slots WHERE {where} ORDER BY id, scope LIMIT ?"
        with self._lock, self._explained():
            return self._db.execute(query, [*values, limit]).fetchall()

    def blank(self, slots: Mapping[int, Sequence[int]]) -> None:
        """See `Log.blank`. Rewrites the database, some 100 MB a second, and empties the write-ahead file."""
        with self._writing():
            for partition, offset in ((number, offset) for number in slots for offset in slots[number]):
                (slot,) = self.read(partition, offset, 1)
                payload, salt = blanked(slot.payload), os.urandom(SALT_BYTES)
                self._db.execute(
                    "UPDATE slots SET salt = ?, digest = ?, payload = ?, vector = NULL"
                    " WHERE partition = ? AND offset = ?",
                    [salt, _digest(salt, payload), payload, partition, offset],
                )
        # Where SQLite moved a cell to another page it leaves a copy behind, which only new pages are rid of.
        with self._lock, self._explained():
            self._db.execute("VACUUM")
        self._empty_wal()

    def offset_after(self, partition: int, sent: int) -> int:
        query = "SELECT min(offset) FROM slots WHERE partition = ? AND sent > ?"
        with self._lock, self._explained():
            (offset,) = self._db.execute(query, [partition, sent]).fetchone()
            return self._end(partition) if offset is None else int(offset)

    def ends(self) -> list[int]:
        with self._lock, self._explained():
            return [self._end(partition) for partition in range(self.partitions)]

    def version(self) -> object:
        """See `Log.version`. SQLite counts the commits of others and the changes of this connection."""
        with self._lock, self._explained():
            return *self._db.execute("PRAGMA data_version").fetchone(), self._db.total_changes

    def check(self) -> None:
        """See `Log.check`. It is SQLite's full check, since a page may hide slots that nobody reads again."""
        with self._lock, self._explained():
            ((found,),) = self._db.execute("PRAGMA integrity_check(1)").fetchall()
        if found != "ok":
            said = " ".join(str(found).split())[:200]
            raise self._damaged(f"{self.path} is damaged: {said}.")
        self._check_length()

    def close(self) -> None:
        with self._lock:
            self._files = None  # SQLite removes two of them with the last process that has the log open.
            self._db.close()

    def check_briefly(self) -> None:
        """See `Log.check_briefly`. Slots are counted by each index, and the ends say how many there are."""
        with self._lock, self._explained():
            self._db.execute("BEGIN")  # So that all counts are of one moment.
            try:
                slots = sum(self._end(partition) for partition in range(self.partitions))
                by_id, by_scope, erased_by_scope, erased = (
                    self._db.execute(f"SELECT count(*) FROM slots INDEXED BY {how}").fetchone()[0]
                    for how in (
                        "slots_by_id",
                        "slots_by_scope",
                        "slots_by_scope WHERE type = 'erased'",
                        "slots_erased WHERE type = 'erased'",
                    )
                )
            finally:
                self._db.execute("ROLLBACK")
        if (by_id, by_scope, erased_by_scope) != (slots, slots, erased):
            raise self._damaged(f"{self.path} is damaged: an index lacks slots that it should have.")
        self._check_length()

    def _check_length(self) -> None:
        with self._lock, self._explained():
            ((page_bytes,),) = self._db.execute("PRAGMA page_size").fetchall()
        if self._files and self.path.stat().st_size % page_bytes:
            raise self._damaged(f"{self.path} is damaged: its last page was cut short.")

    def _damaged(self, sentence: str) -> DamagedLog:
        return DamagedLog(sentence, "Restore log.db from a backup; nothing has been skipped.")

    def _empty_wal(self) -> None:
        """Write the content of the write-ahead file to the database and truncate the file."""
        with self._lock, self._explained():
            self._db.execute(f"PRAGMA busy_timeout={int(CHECKPOINT_WAIT_S * 1_000)}")
            try:
                busy, _, _ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self._db.execute(f"PRAGMA busy_timeout={int(WAIT_S * 1_000)}")
        if busy:
            raise StillHeld(
                f"{self.path.name}-wal still holds what was taken out: another process reads an old state.",
                "End it (`fuser` names it) and give the same command again.",
            )

    def _slot(
        self, partition: int, offset: int, salt: bytes, digest: bytes, payload: bytes, vector: bytes | None
    ) -> Slot:
        sound = type(salt) is bytes is type(payload)  # A flipped bit can also change the type of a value.
        if sound and vector is not None:
            try:
                payload = joined(payload, vector)
            except (TypeError, ValueError, struct.error):
                sound = False
        if not sound or _digest(salt, payload) != digest:
            told = f"Slot {offset} of partition {partition} in {self.path} does not match its digest."
            raise self._damaged(told)
        return Slot(partition, offset, payload)

    def _end(self, partition: int) -> int:
        """Return the next offset of a partition. Raises `DamagedLog` where its last slots are hidden."""
        # One statement, so that both are of one moment.
        query = "SELECT (SELECT max(offset) FROM slots WHERE partition = ?),"
        query += " (SELECT value FROM meta WHERE key = 'end of ' || ?)"
        last, recorded = self._db.execute(query, [partition, partition]).fetchone()
        end = 0 if last is None else int(last) + 1
        if recorded is not None and end < int(recorded):
            raise self._damaged(
                f"The slots from {end} to {recorded} of partition {partition} in {self.path} are missing."
            )
        return end

    def _record(self, ends: Mapping[int, int]) -> None:
        """Store the ends of partitions: they reveal a damaged page that hides the last slots."""
        self._db.executemany(
            "INSERT INTO meta VALUES ('end of ' || ?, ?)"
            " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            ends.items(),
        )

    def _meta(self) -> dict[str, str]:
        tables = [name for (name,) in self._db.execute("SELECT name FROM sqlite_master")]
        if not tables:
            return {}
        if "meta" not in tables:
            raise DamagedLog(f"{self.path} is another program's database.", "Choose another path.")
        return dict(self._db.execute("SELECT key, value FROM meta"))

    def _add_vectors(self) -> None:
        """Give the slots a column for packed vectors, unless a process just did."""
        with self._writing():
            columns = [name for _, name, *_ in self._db.execute("PRAGMA table_info(slots)")]
            if "vector" not in columns:
                self._db.execute("ALTER TABLE slots ADD COLUMN vector BLOB")
            told = "UPDATE meta SET value = ? WHERE key = 'schema' AND value = ?"
            self._db.execute(told, [SCHEMA_VERSION, WHOLE_VECTORS])

    def _create(self, partitions: int, settings: Settings | None, copy_of: str | None) -> dict[str, str]:
        """Create the tables and append the settings first to every partition, unless a process just did.

        A copy gets the settings of its source, with all other slots.
        """
        with self._writing():
            if meta := self._meta():
                return meta
            for statement in _TABLES.split(";\n"):
                self._db.execute(statement)
            log_id = copy_of or str(uuid_utils.uuid7())
            schema = UNFINISHED if copy_of else SCHEMA_VERSION
            meta = {"log_id": log_id, "partitions": str(partitions), "schema": schema}
            self._db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            if copy_of:
                return meta
            now = time.time_ns() // 1_000
            configured = make_configured(log_id, partitions, settings or Settings(), 0, now, log_id)
            admitted = admit([configured], partitions)
            rows = [(entry.partition, 0, *_row(entry.event, entry.payload)) for entry in admitted]
            self._db.executemany(_INSERT, rows)
            self._record(dict.fromkeys(range(partitions), 1))
        return meta

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction, all or nothing, with the database's write lock from its start."""
        with self._lock, self._explained():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._check_files()  # It may have waited long for the lock.
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._check_files("nobody can say whether this was stored")

    def _check_files(self, outcome: str = "nothing was stored") -> None:
        """Raise `LogGone` if the open files are no longer those in the folder."""
        if self._files is not None and _files(self.path) != self._files:
            raise LogGone(
                f"The log {self.path} was removed, moved or replaced while it was open; {outcome}.",
                "Do it again: that opens the log that is there now, or makes one.",
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        self._check_files()
        try:
            yield
        except UnicodeDecodeError as error:  # Python cannot say a complaint that quotes damaged text.
            raise DamagedLog(f"{self.path} cannot be read as a log.", "Restore it from a backup.") from error
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorname", None) or str(error)
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(
                error, (sqlite3.OperationalError, sqlite3.ProgrammingError)
            ):
                raise DamagedLog(
                    f"{self.path} cannot be read as a log: {error}.", "Restore it from a backup."
                ) from error
            if isinstance(error, sqlite3.ProgrammingError):
                raise MemtapeError(f"The log {self.path} was closed.", "Open another client.") from error
            if code.startswith("SQLITE_READONLY"):
                raise MemtapeError(
                    f"{self.path.parent} cannot be written: nothing was stored.",
                    "It can be asked. To store something, make it writable, or name a copy with --home.",
                ) from error
            raise MemtapeError(
                f"The log {self.path} cannot be used: {error} ({code}).",
                "See that the folder can be written, that its disk has room, and that no limit on file sizes "
                "(`ulimit -f`) is in force; nothing of this call was stored.",
            ) from error


class MemoryLog(EmbeddedLog):
    """A log in this process's memory, lost with the process: for tests, and where nothing is stored."""

    place = "memory"

    def __init__(self, partitions: int = DEFAULT_PARTITIONS, settings: Settings | None = None) -> None:
        super().__init__(IN_MEMORY, partitions, settings)

    def close(self) -> None:
        """Do nothing: other clients of the process may use the log."""


def _make_private(path: Path) -> None:
    """Create a log's file, readable by its owner alone; SQLite gives its mode to further files.

    The file is closed before it gets its name: closing a SQLite file ends all locks of the process on it.
    """
    own = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    with suppress(OSError):  # SQLite says why it cannot open the file; another process may be first.
        try:
            os.close(os.open(own, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            os.link(own, path)
        finally:
            own.unlink(missing_ok=True)


def _files(path: Path) -> tuple[tuple[int, int], ...]:
    """Return (device, inode) of each existing file of a log."""
    found = []
    for ending in FILES:
        try:
            status = os.stat(f"{path}{ending}")
        except OSError:
            continue
        found.append((status.st_dev, status.st_ino))
    return tuple(found)


def _connected(path: Path, *, read_only: bool) -> KeptConnection:
    """Return a connection that commits durably and leaves no deleted bytes in the file."""
    db = KeptConnection(
        path,
        read_only=read_only,
        timeout=WAIT_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    if not read_only:
        settings = (
            f"PRAGMA page_size={PAGE_BYTES}",
            USE_WAL,
            "PRAGMA synchronous=FULL",
            "PRAGMA secure_delete=ON",
        )
        for setting in settings:
            db.execute(setting)
    return db


def _row(event: Event | None, payload: bytes) -> tuple[object, ...]:
    """Return the columns of a slot after partition and offset."""
    salt = os.urandom(SALT_BYTES)
    header = (event.scope, event.id, event.type, event.sent) if event else (None,) * 4
    stored = parted(payload) if event and isinstance(event.body, Embedded) else (payload, None)
    return *header, salt, _digest(salt, payload), *stored


def _digest(salt: bytes, payload: bytes) -> bytes:
    return blake2b(salt + payload, digest_size=16).digest()
