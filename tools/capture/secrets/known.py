"""What a home keeps of secrets: the key of their placeholders, and keyed digests of the secrets that it has
met.

Each log has one key. Its first user creates the key; homes of one log share it. A key leaves its home only
wrapped (RFC 3394) under a passphrase, in a file with which another home joins.

By its digest a secret is recognised again without any context. A line of `redaction.met` has the secret's
form (characters before its first word, of the first word, of all), its kind, its keyed digest, the digits of
its placeholder, and the trust and scope of its source; no character of it. A secret with capitals has a
second line, for its digest without case. Many processes append, each line whole. A secret told by a person is
known in every scope of the home, any other in its scope alone. Erased secrets stay known, so that they do not
return in clear; a person forgets a known secret by a separate line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b, scrypt
from typing import Literal, NamedTuple

from memtape.schemas.errors import MemtapeError
from memtape.schemas.placeholders import DIGEST_BYTES
from memtape.sinks.home.files import private, write_whole
from memtape.sinks.home.folders import Home
from memtape.tools.capture.secrets.rules import FoundSecret, names_a_secret

KEY_BYTES = 32
MIN_PASSPHRASE_CHARS = 12
_MARK = b"memtape redaction key 1\n"
_SALT_BYTES = 16
_SCRYPT = {"n": 2**15, "r": 8, "p": 1, "maxmem": 2**26, "dklen": 32}
"""OWASP's recommendation for scrypt at 32 MiB of memory: a try takes some 0.1 s."""

Trust = Literal["person", "other"]
_WORD = re.compile(r"[0-9A-Za-z_]+|[^\W0-9A-Za-z_]+")
"""Scripts without spaces do not lengthen an ASCII word beside them."""
_WITHIN_WORD = re.compile(r"[0-9A-Za-z_]{2}|[^\W0-9A-Za-z_]{2}")
_LINE = re.compile(
    rb"^(?P<form>[0-9]+ [0-9]+ [0-9]+ [a-z0-9-]+ )(?P<digest>[0-9a-f]{32}) [0-9a-f]{8} (?:person|other) \S+$"
    rb"|^forgotten (?P<forgotten>[0-9a-f]{8})$"
)
_NO_SCOPE = "-"
_NEAR_CHARS = 200
_NAME = r"(?:[^\W\d_]+\d{0,4}|\d{1,8})"
_IDENTIFIER = re.compile(rf"{_NAME}(?:[-_./:]{_NAME})*|[^\W\d_]+ [^\W\d_]+")
"""Words, numbers and names made of them: regions, hosts, versions, releases. As secrets they are known again
only where their line names a secret's kind, since much else may be called so."""


class KnownSecret(NamedTuple):
    """A known secret: its placeholder's digits, kind, length, trust, and scope, if told in any."""

    id: str
    kind: str
    chars: int
    trust: Trust
    scope: str | None


class MetSecrets:
    """The secrets that a home has met, and the key of their placeholders. `read` reads what others added.

    Without `keeps` nothing is written: a missing key and new secrets are in memory alone.
    """

    def __init__(self, home: Home, *, keeps: bool = True) -> None:
        self._path, self._key_path = home.met_secrets_path, home.redaction_key_path
        self._keeps = keeps
        self._read_bytes = 0
        self.known: dict[bytes, dict[KnownSecret, None]] = {}
        """The secrets by form and digest."""
        # Forms by the length of the first word.
        self._forms: dict[int, dict[tuple[int, int, bytes], None]] = {}
        self._forgotten: set[str] = set()

    @cached_property
    def key(self) -> bytes:
        """The key, read once; its first user creates the file. Raises `MemtapeError` for another file."""
        if not self._key_path.exists():
            made = os.urandom(KEY_BYTES)
            if not self._keeps:
                return made
            unfinished = self._key_path.with_name(f".{self._key_path.name}.{made[:4].hex()}.new")
            write_whole(unfinished, made, durable=True)
            try:
                with suppress(FileExistsError):
                    os.link(unfinished, self._key_path)
            finally:
                unfinished.unlink()
        key = self._key_path.read_bytes()
        if len(key) != KEY_BYTES:
            raise MemtapeError(
                f"{self._key_path} is no key: it has {len(key)} bytes, not {KEY_BYTES}.",
                "Delete it; secrets get other placeholders from then on.",
            )
        return key

    def replace_key(self, key: bytes) -> None:
        """Replace the key, and know no secret more; running processes keep the key that they have read."""
        self._path.unlink(missing_ok=True)
        write_whole(self._key_path, key, durable=True)

    def all(self) -> list[KnownSecret]:
        """Return the known secrets, in the order of their first meeting."""
        every = dict.fromkeys(secret for secrets in self.known.values() for secret in secrets)
        return [secret for secret in every if secret.id not in self._forgotten]

    def add(self, secret: str, kind: str, trust: Trust, scope: str | None) -> str:
        """Record a secret, once for its scope, and return the digits of its placeholder.

        A secret forgotten by a person is not recorded again.
        """
        said = secret.encode("utf-8", "surrogatepass")
        digits = blake2b(said, digest_size=DIGEST_BYTES, key=self.key).hexdigest()
        word = _WORD.search(secret)
        if word is not None and digits not in self._forgotten:
            known = KnownSecret(digits, kind, len(secret), trust, scope)
            form = b"%d %d %d %s " % (word.start(), word.end() - word.start(), len(secret), kind.encode())
            told = f" {digits} {trust} {scope or _NO_SCOPE}".encode()
            self._note(
                line + told
                for line in (form + self._digest(it) for it in _cases(secret))
                if not any(one.trust == "person" or one == known for one in self.known.get(line, ()))
            )
        return digits

    def forget(self, ids: Iterable[str]) -> None:
        """Know secrets no more, by the digits of their placeholders."""
        self._note(f"forgotten {id}".encode() for id in ids)

    def find(
        self, text: str, scope_of: Callable[[], str | None], here: Container[str] = ()
    ) -> Iterator[FoundSecret]:
        """Yield where a secret of a scope stands in a text by itself, in linear time.

        The scope is asked for where it decides. `here` are secrets that the same text tells.
        """
        for word in _WORD.finditer(text) if self.known else ():
            first, last = word.span()
            for before, chars, form in self._forms.get(last - first, ()):
                start = first - before
                end = start + chars
                if start < 0 or (end != last and (end > len(text) or _WITHIN_WORD.match(text, end - 1))):
                    continue
                secret = text[start:end]
                cases = (it for it in _cases(secret) if self._holds(form + self._digest(it), scope_of))
                said = next(cases, None)
                if said is None:
                    continue
                if _IDENTIFIER.fullmatch(said) and secret not in here:
                    begin = max(text.rfind("\n", 0, start) + 1, start - _NEAR_CHARS)
                    stop = text.find("\n", end, end + _NEAR_CHARS)
                    if not names_a_secret(text[begin : stop if stop >= 0 else end + _NEAR_CHARS]):
                        continue
                yield FoundSecret(start, end, form.split()[3].decode())

    def _holds(self, line: bytes, scope_of: Callable[[], str | None]) -> bool:
        secrets = [secret for secret in self.known.get(line, ()) if secret.id not in self._forgotten]
        if not secrets or any(secret.trust == "person" for secret in secrets):
            return bool(secrets)
        scope = scope_of()
        return any(secret.scope == scope for secret in secrets)

    def read(self) -> MetSecrets:
        """Read the lines added by other processes, and return these secrets."""
        with suppress(FileNotFoundError):
            size = os.stat(self._path).st_size
            if size != self._read_bytes:
                with self._path.open("rb") as file:
                    file.seek(self._read_bytes if size > self._read_bytes else 0)
                    data = file.read()
                    whole = data.rfind(b"\n") + 1
                    self._read_bytes = file.tell() - len(data) + whole
                    self._take(data[:whole].splitlines())
        return self

    def _note(self, lines: Iterable[bytes]) -> None:
        lines = list(lines)
        self._take(lines)
        if self._keeps and lines:
            # A line that was cut short by a crash ends where this one begins.
            with suppress(OSError), open(self._path, "ab", buffering=0, opener=private) as file:
                file.write(b"\n" + b"\n".join(lines) + b"\n")

    def _take(self, lines: Iterable[bytes]) -> None:
        for line in filter(None, map(_LINE.match, lines)):
            if line["forgotten"]:
                self._forgotten.add(line["forgotten"].decode())
                continue
            before, first, chars, kind, _, id, trust, scope = line[0].decode().split()
            told: Trust = "other" if trust == "other" else "person"
            known = KnownSecret(id, kind, int(chars), told, None if scope == _NO_SCOPE else scope)
            self.known.setdefault(line["form"] + line["digest"], {})[known] = None
            self._forms.setdefault(int(first), {})[int(before), int(chars), line["form"]] = None

    def _digest(self, secret: str) -> bytes:
        digest = self._begun.copy()
        digest.update(secret.encode("utf-8", "surrogatepass"))
        return digest.hexdigest().encode()

    @cached_property
    def _begun(self) -> blake2b:
        """The common beginning of every digest under the key."""
        return blake2b(digest_size=16, key=self.key, person=b"met")


def _cases(secret: str) -> tuple[str, ...]:
    """Return a secret as written and, if different, casefolded."""
    return tuple(dict.fromkeys((secret, secret.casefold())))


def wrapped(key: bytes, passphrase: str) -> bytes:
    """Return a key as a file that only the passphrase opens. Raises `MemtapeError` for a short passphrase."""
    from cryptography.hazmat.primitives.keywrap import aes_key_wrap

    if len(passphrase) < MIN_PASSPHRASE_CHARS:
        told = f"A passphrase has at least {MIN_PASSPHRASE_CHARS} characters."
        raise MemtapeError(told, "Take a few random words.")
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
