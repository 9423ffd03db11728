"""The secrets that a home has met, as keyed digests: so one of them is known again where nothing tells that it is one.

A line of `redaction.met` says how a secret lies in a text (characters before its first word, of that word, of all), of
what kind it is, and its keyed digest; no character of it. A secret with capitals has a second line, for its digest
without case. Many processes append, each line whole, and none is ever taken out: what was erased stays known, so that
it does not come back in clear.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from memtape.tools.capture.secrets.assigned import names_a_secret
from memtape.tools.capture.secrets.known import FoundSecret

_WORD = re.compile(r"[0-9A-Za-z_]+|[^\W0-9A-Za-z_]+")
"""Scripts without spaces do not lengthen an ASCII word beside them."""
_LINE = re.compile(rb"^[0-9]+ [0-9]+ [0-9]+ [a-z0-9-]+ [0-9a-f]{32}$", re.MULTILINE)
_DIGEST_CHARS = 32
_MAX_ORDINARY = 20_000
_MAX_ORDINARY_CHARS = 40
_NONE: Mapping[tuple[int, int], dict[bytes, int]] = {}
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
        # By the length of the first word, and how a secret lies around it: its forms, each with its rank.
        self._forms: dict[int, dict[tuple[int, int], dict[bytes, int]]] = {}
        self._ranks = itertools.count()
        # What was looked up and is no secret: most words of a text stand in texts before it.
        self._ordinary: set[tuple[int, str]] = set()

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
        for first, last in map(re.Match.span, _WORD.finditer(text)):
            for said, start, end, kind in self._around(text, first, last, key):
                if _PLAIN.fullmatch(said):
                    names_one = names_a_secret(text) if names_one is None else names_one
                    if not names_one:
                        continue
                yield FoundSecret(start, end, kind)

    def _around(self, text: str, first: int, last: int, key: bytes) -> list[tuple[str, int, int, str]]:
        """Return the secrets whose first word stands at a place: as each is known, where it is, and its kind."""
        known = []
        for (before, chars), forms in self._forms.get(last - first, _NONE).items():
            start = first - before
            end = start + chars
            if start < 0 or end > len(text) or (before, secret := text[start:end]) in self._ordinary:
                continue
            if end != last and not _ends_word(text, end):
                continue
            cases = [(said, _digest(said, key)) for said in _cases(secret)]
            found = [
                (rank, said, start, end, form.split()[3].decode())
                for form, rank in forms.items()
                for said in [next((said for said, digest in cases if form + digest in self._lines), None)]
                if said is not None
            ]
            if not found and chars <= _MAX_ORDINARY_CHARS:
                if len(self._ordinary) == _MAX_ORDINARY:
                    self._ordinary.clear()
                self._ordinary.add((before, secret))
            known += found
        return [(said, start, end, kind) for _, said, start, end, kind in sorted(known)]

    def refresh(self) -> None:
        """Take in what other processes have added."""
        with suppress(FileNotFoundError):
            size = os.stat(self._name).st_size
            if size == self._read_bytes:
                return
            with self._path.open("rb") as file:
                file.seek(self._read_bytes if size > self._read_bytes else 0)
                data = file.read()
                whole = data.rfind(b"\n") + 1
                self._read_bytes = file.tell() - len(data) + whole
            self._take(_LINE.findall(data[:whole]))

    def _take(self, lines: list[bytes]) -> None:
        self._lines.update(lines)
        self._ordinary.clear()
        for form in dict.fromkeys(line[:-_DIGEST_CHARS] for line in lines):
            before, first, chars, _ = form.split()
            forms = self._forms.setdefault(int(first), {}).setdefault((int(before), int(chars)), {})
            if form not in forms:
                forms[form] = next(self._ranks)


def _ends_word(text: str, end: int) -> bool:
    """Whether no word goes on over a place of a text."""
    around = _WORD.match(text, end - 1)
    return around is None or around.end() == end


def _cases(secret: str) -> tuple[str, ...]:
    """Return a secret as it is written and, where that differs, without its case."""
    folded = secret.casefold()
    return (secret,) if folded == secret else (secret, folded)


def _digest(secret: str, key: bytes) -> bytes:
    said = secret.encode("utf-8", "surrogatepass")
    return blake2b(said, digest_size=_DIGEST_CHARS // 2, key=key, person=b"met").hexdigest().encode()
