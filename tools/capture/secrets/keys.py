"""The key of the placeholders: one for each log. Its first user creates it; homes of one log share its key.

A key leaves its home only wrapped (RFC 3394) under a passphrase, in a file with which another home joins.
"""

from __future__ import annotations

import os
from hashlib import scrypt
from pathlib import Path

from memtape.schemas.errors import MemtapeError

KEY_BYTES = 32
MIN_PASSPHRASE_CHARS = 12
_MARK = b"memtape redaction key 1\n"
_SALT_BYTES = 16
_SCRYPT = {"n": 2**15, "r": 8, "p": 1, "maxmem": 2**26, "dklen": 32}
"""OWASP's recommendation for scrypt at 32 MiB of memory: a try takes some 0.1 s."""


class RedactionKey:
    """The key of a home; its first user creates the file, all others read it.

    Without `keeps`, a missing key is replaced by a key in memory.
    """

    def __init__(self, path: Path, *, keeps: bool = True) -> None:
        self.path = path
        self._keeps = keeps
        self._read: bytes | None = None

    def get(self) -> bytes:
        """Return the key, read once. Raises `MemtapeError` for a file that is none."""
        if self._read is None:
            self._read = self._found()
        return self._read

    def replace(self, key: bytes) -> None:
        """Replace the key's file; running processes keep the key that they have read."""
        self._unfinished(key).replace(self.path)
        self._read = key

    def _found(self) -> bytes:
        try:
            return _read(self.path)
        except FileNotFoundError:
            if not self._keeps:
                return os.urandom(KEY_BYTES)
        unfinished = self._unfinished(os.urandom(KEY_BYTES))
        try:
            os.link(unfinished, self.path)
        except FileExistsError:
            pass
        finally:
            unfinished.unlink()
        return _read(self.path)

    def _unfinished(self, key: bytes) -> Path:
        unfinished = self.path.with_name(f".{self.path.name}.{os.urandom(4).hex()}.new")
        write_secret(unfinished, key)
        return unfinished


def write_secret(path: Path, data: bytes) -> None:
    """Write a new file, readable by its owner alone. Raises `FileExistsError` for an existing path."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _read(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise MemtapeError(
            f"{path} is no key: it has {len(key)} bytes, not {KEY_BYTES}.",
            "Delete it; secrets get other placeholders from then on.",
        )
    return key


def wrapped(key: bytes, passphrase: str) -> bytes:
    """Return a key as a file that only the passphrase opens. Raises `MemtapeError` for a short passphrase."""
    from cryptography.hazmat.primitives.keywrap import aes_key_wrap

    if len(passphrase) < MIN_PASSPHRASE_CHARS:
        raise MemtapeError(f"A passphrase has at least {MIN_PASSPHRASE_CHARS} characters.", "Take a few random words.")
    salt = os.urandom(_SALT_BYTES)
    return _MARK + salt + aes_key_wrap(_wrapping_key(passphrase, salt), key)


def unwrapped(data: bytes, passphrase: str) -> bytes:
    """Return the key of such a file. Raises `MemtapeError` for another file and for a wrong passphrase."""
    from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap

    salt, rest = data[len(_MARK) :][:_SALT_BYTES], data[len(_MARK) + _SALT_BYTES :]
    if not data.startswith(_MARK) or len(rest) != KEY_BYTES + 8:
        raise MemtapeError("The file holds no wrapped key.", "`memtape admin secrets share FILE` writes one.")
    try:
        return aes_key_unwrap(_wrapping_key(passphrase, salt), rest)
    except InvalidUnwrap:
        raise MemtapeError("The passphrase does not open this file.", "Ask who wrote it.") from None


def _wrapping_key(passphrase: str, salt: bytes) -> bytes:
    return scrypt(passphrase.encode(), salt=salt, **_SCRYPT)
