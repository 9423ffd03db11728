"""The secrets that a home has met, as keyed digests: so one of them is known again where nothing tells that it is one.

A line of `redaction.met` says how a secret lies in a text (characters before its first word, of that word, of all), of
what kind it is, and its keyed digest; no character of it. A secret with capitals has a second line, for its digest
without case. Many processes append, each line whole, and none is ever taken out: what was erased stays known, so that
it does not come back in clear.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from memtape.tools.capture.secrets.assigned import names_a_secret
from memtape.tools.capture.secrets.known import FoundSecret

_WORD = re.compile(r"[0-9A-Za-z_]+|[^\W0-9A-Za-z_]+")
"""Scripts without spaces do not lengthen an ASCII word beside them."""
_WITHIN_WORD = re.compile(r"[0-9A-Za-z_]{2}|[^\W0-9A-Za-z_]{2}")
_LINE = re.compile(rb"^[0-9]+ [0-9]+ [0-9]+ [a-z0-9-]+ [0-9a-f]{32}$", re.MULTILINE)
_DIGEST_CHARS = 32
_MAX_ORDINARY = 20_000
_PLAIN = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+(?:[ -][^\W\d_A-Z]+)?|[A-Z]+|\d{1,8}")
"""Words and numbers that many texts have. As secrets they are known again only where a text names a secret's kind."""


class MetSecrets:
    """The secrets that a home has met. Unless it `writes`, those that are met now are kept in memory alone."""

    def __init__(self, path: Path, *, writes: bool = True) -> None:
        self._path = path
        self._name = os.fspath(path)  # `pathlib` takes as long as the system to ask for the size.
        self._writes = writes
        self._read_bytes = 0
        self._lines: set[bytes] = set()
        self._digests: set[bytes] = set()
        self._forms: dict[int, list[tuple[int, int, bytes]]] = {}
        # Words that were looked up and are no secrets: most words of a text stand in texts before it.
        self._ordinary: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._lines)

    def add(self, secret: str, kind: str, key: bytes) -> None:
        """Note a secret, once. One that cannot be written is known in this process alone."""
        word = _WORD.search(secret)
        if word is None:
            return
        form = b"%d %d %d %s " % (word.start(), word.end() - word.start(), len(secret), kind.encode())
        lines = [form + _digest(said, key) for said in _cases(secret)]
        new = [line for line in lines if line not in self._lines]
        if not new:
            return
        self._take(new)
        if self._writes:
            with suppress(OSError):
                file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                try:
                    # A line that was cut short by a crash ends where this one begins.
                    os.write(file, b"\n" + b"\n".join(new) + b"\n")
                finally:
                    os.close(file)

    def find(self, text: str, key: bytes) -> Iterator[FoundSecret]:
        """Yield where a secret that was met stands in a text, by itself. Takes time linear in the text."""
        names_one: bool | None = None
        for word in _WORD.finditer(text):
            first, last = word.span()
            for before, chars, form in self._forms.get(last - first, ()):
                start = first - before
                end = start + chars
                if start < 0 or (end != last and (end > len(text) or _WITHIN_WORD.match(text, end - 1))):
                    continue
                secret = text[start:end]
                if secret in self._ordinary:
                    continue
                known = self._known(secret, key)
                if not known and end == last and not before:
                    self._note_ordinary(secret)
                said = next((said for said, digest in known if form + digest in self._lines), None)
                if said is None:
                    continue
                if _PLAIN.fullmatch(said):
                    names_one = names_a_secret(text) if names_one is None else names_one
                    if not names_one:
                        continue
                yield FoundSecret(start, end, form.split()[3].decode())

    def _known(self, secret: str, key: bytes) -> list[tuple[str, bytes]]:
        """Return how a text is known, which is as it stands there or without its case, with the digests."""
        digests = ((said, _digest(said, key)) for said in _cases(secret))
        return [known for known in digests if known[1] in self._digests]

    def _note_ordinary(self, word: str) -> None:
        if len(self._ordinary) == _MAX_ORDINARY:
            self._ordinary.clear()
        self._ordinary.add(word)

    def refresh(self) -> None:
        """Take in what other processes have added."""
        try:
            size = os.stat(self._name).st_size
        except FileNotFoundError:
            return
        if size == self._read_bytes:
            return
        with suppress(FileNotFoundError), self._path.open("rb") as file:
            file.seek(self._read_bytes if size > self._read_bytes else 0)
            data = file.read()
            whole = data.rfind(b"\n") + 1
            self._read_bytes = file.tell() - len(data) + whole
            self._take(_LINE.findall(data[:whole]))

    def _take(self, lines: list[bytes]) -> None:
        self._lines.update(lines)
        self._digests.update(line[-_DIGEST_CHARS:] for line in lines)
        self._ordinary.clear()
        for form in {line[:-_DIGEST_CHARS] for line in lines}:
            before, first, chars, _ = form.split()
            found = (int(before), int(chars), form)
            forms = self._forms.setdefault(int(first), [])
            if found not in forms:
                forms.append(found)


def _cases(secret: str) -> tuple[str, ...]:
    """Return a secret as it is written and, where that differs, without its case."""
    folded = secret.casefold()
    return (secret,) if folded == secret else (secret, folded)


def _digest(secret: str, key: bytes) -> bytes:
    digest = _keyed(key).copy()
    digest.update(secret.encode("utf-8", "surrogatepass"))
    return digest.hexdigest().encode()


@lru_cache(maxsize=4)
def _keyed(key: bytes) -> blake2b:
    """Return what every digest under a key begins with."""
    return blake2b(digest_size=_DIGEST_CHARS // 2, key=key, person=b"met")
