"""Redaction of texts before the log: private parts, secrets, and the content of some files.

This file handles the findings; the other files of this folder find secrets, and are pure but for `known`.
"""

from __future__ import annotations

import copy
import os
import posixpath
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache, partial
from pathlib import PurePosixPath
from typing import TypeVar

import msgspec

from memtape.schemas.errors import Denied
from memtape.schemas.events import PEOPLE, Event, Origin
from memtape.schemas.placeholders import PLACEHOLDER, head_of, placeholder
from memtape.schemas.private import MARK, without_marks, without_private
from memtape.schemas.texts import Said, with_texts
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.tools.capture.secrets.known import MetSecrets, Trust
from memtape.tools.capture.secrets.rules import (
    FoundSecret,
    asked_secrets,
    denied_paths,
    may_hold_secret,
    regex_of,
    secrets_in,
    table,
    told_secrets,
)

T = TypeVar("T", bound=msgspec.Struct)
Read = Callable[[str], Iterable[FoundSecret]]
Speaker = Callable[[], tuple[str | None, Origin]]
"""It tells the scope of a text, None outside of any, and the origin of its actor."""

MIN_SECRET_CHARS = 4
PASSES = 16
PRIVATE = "private"
"""The kind under which private parts are counted, beside the kinds of secrets."""
LOOKAHEAD_CHARS = 2_000
UNSURE_CHARS = 500
"""Text this near to the end of reading is dropped, since the words that reveal a secret there are unread."""
_PLACE_IN_FILE = re.compile(r"(?::\d+){1,2}$|[#?].*$")
_LINE_ENDS = ("\\\n", "\\\r\n", "^\n", "^\r\n", "`\n", "`\r\n")


class Redactor:
    """Redacts captures into one home. `counts` has the number of redactions so far, by kind.

    The random key is created at its first need and leaves the home only wrapped. A secret has the same
    placeholder wherever the key is, and cannot be found by trial without the key. A secret told by a person
    is a secret wherever it stands alone in a text, any other in its scope. `speaker` is the author of texts
    without a header. Without `keeps_key` nothing is written: a missing key is replaced by a key in memory.
    """

    def __init__(self, home: Home, *, keeps_key: bool = True, speaker: Speaker | None = None) -> None:
        self.home = home
        self._speaker: Speaker = speaker or (lambda: (None, "agent"))
        self._met = MetSecrets(home, keeps=keeps_key and not home.is_nowhere)
        self.counts: Counter[str] = Counter()

    def spoken(self, scope: str, origin: Origin) -> Redactor:
        """Return the redactor for texts of another scope, or of another kind of actor."""
        same = copy.copy(self)
        same._speaker = lambda: (scope, origin)
        return same

    def question(self, query: str) -> str:
        """Return a question without secrets; if it names a secret's kind, also without words like a secret.

        Nobody tells a password with the words of a sentence to ask for it. Private parts leave no mark to be
        searched for: a question of only these is empty.
        """
        return without_marks(self.text(query, asked=True))

    def name(self, name: str) -> str:
        """Return a name, as of a person or branch, without secrets of known forms. Names may look random."""
        return self.text(name, names=True)

    def head(self, text: str, chars: int, *, is_name: bool = False) -> str:
        """Return at most the first `chars` characters of a text, cut after the removal of its secrets.

        The words that reveal a secret may be behind the cut, so a little more is read, and nothing else of a
        long text.
        """
        text = self._public(text)  # Where a private part ends may stand anywhere.
        read = text[: chars + LOOKAHEAD_CHARS]
        redacted = self.name(read) if is_name else self.text(read)
        sure = len(redacted) if len(read) == len(text) else max(0, len(redacted) - UNSURE_CHARS)
        return head_of(redacted, min(chars, sure))

    def part(self, part: T) -> T:
        """Return an event's body, or a part of a body, without secrets in any text."""
        return with_texts(part, self._said)

    def event(self, event: Event) -> Event:
        """Return an event without secrets in any of its texts, the names in its header included."""
        own = self if event.scope is None else self.spoken(event.scope, event.actor.origin)
        return msgspec.structs.replace(
            event,
            actor=msgspec.structs.replace(event.actor, name=own.text(event.actor.name, names=True)),
            body=event.body and with_texts(event.body, own._said),
            session=event.session and own.text(event.session, names=True),
        )

    def _said(self, said: Said) -> str:
        if said.role == "program":
            return said.text
        return self.text(said.text, names=said.role == "name")

    def check_path(self, path: str) -> None:
        """Raise `Denied` for a path or source with content that is nobody's memory, as a file of keys.

        For a file on this machine the naming does not matter: from which folder, by a link, or with `..`.
        """
        names = [path]
        for named in without_place(path):
            place = os.path.expanduser(named.removeprefix("file://"))
            if os.path.lexists(place):
                names += [os.path.abspath(place), os.path.realpath(place)]
        if pattern := next(filter(None, (denied_by(name, self._denied) for name in names)), None):
            name = path.replace("\\", "/").rpartition("/")[2]
            raise Denied(
                "denied",
                f"{name} may hold secrets ({pattern}) and is not captured.",
                "$.body.path",
                "Capture what should be remembered of it in words of your own.",
            )

    @cached_property
    def _denied(self) -> tuple[str, ...]:
        """The globs by which the settings deny paths."""
        return tuple(map(os.path.expanduser, local_settings(self.home).denied_paths))

    def text(self, text: str, *, names: bool = False, asked: bool = False) -> str:
        """Return a text with a placeholder for every secret in it, and a mark for every private part."""
        self._met.read()
        text = self._public(text) if "<" in text else text
        may_hold = self._met.known or may_hold_secret(text, asked=asked) or plain_text(text) is not None
        if not may_hold:  # As of most texts, and then no rule is tried.
            return text
        here: set[str] = set()
        met: Read = partial(self._met.find, scope_of=lambda: self._speaker()[0], here=here)
        # A placeholder ends a word, so that what stood beside a secret may be one by itself at the next look.
        for _ in range(PASSES):
            found = findings(text, met, *([asked_secrets] if asked else []), names=names)
            if not found:
                break
            scope, origin = self._speaker()
            trust: Trust = "person" if origin in PEOPLE else "other"
            pieces, end = [], 0
            for finding in found:
                secret = text[finding.start : finding.end]
                secret = (plain_text(secret) or (secret,))[0]
                digits = self._met.add(secret, finding.kind, trust, scope)
                pieces += [text[end : finding.start], placeholder(finding.kind, digits)]
                here.add(secret)
                end = finding.end
                self.counts[finding.kind] += 1
            text = "".join([*pieces, text[end:]])
        return text

    def _public(self, text: str) -> str:
        public = without_private(text)
        if public is not text:
            self.counts[PRIVATE] += max(1, public.count(MARK) - text.count(MARK))
        return public


def findings(text: str, *more: Read, names: bool = False) -> list[FoundSecret]:
    """Return the disjoint secrets of a text, in order; in names only those of known forms.

    The text is read as it is and, where that differs, as people read it. `more` finds secrets by other means
    than the text. Overlapping secrets are one, of the kind of the first rule; placeholders are none.
    """
    if len(text) < MIN_SECRET_CHARS:
        return []
    plain, found = plain_text(text), list[FoundSecret]()
    for read in (_of_known_forms if names else secrets_in, *more):
        found += read(text)
        if plain is not None:
            said, places = plain
            found += (
                FoundSecret(places[start], places[end - 1] + 1, kind) for start, end, kind in read(said)
            )
    merged: list[FoundSecret] = []
    first = 0
    for rank, finding in sorted(enumerate(found), key=lambda item: (item[1].start, item[0])):
        if merged and finding.start < merged[-1].end:
            last = merged[-1]
            kind = last.kind if first < rank else finding.kind
            merged[-1], first = FoundSecret(last.start, max(last.end, finding.end), kind), min(first, rank)
        else:
            merged.append(finding)
            first = rank
    spared = [mark.span() for mark in _SPARED.finditer(text)] if merged else []
    begins, ends = [start for start, _ in spared], [0, *(end for _, end in spared)]
    # The last placeholder that begins before the end of a finding ends before its start.
    return [it for it in merged if ends[bisect_left(begins, it.end)] <= it.start]


_SPARED = re.compile(f"{PLACEHOLDER.pattern}|{re.escape(MARK)}")


@lru_cache(maxsize=1_000)  # Many events have the same names.
def _of_known_forms(name: str) -> list[FoundSecret]:
    return list(told_secrets(name, forms_only=True))


@lru_cache(maxsize=1_024)  # An import asks for the same source thousands of times.
def denied_by(path: str, more: tuple[str, ...] = ()) -> str | None:
    """Return the glob that denies a path or source, or None.

    Case does not matter; `more` denies besides the list.
    """
    for form in without_place(path.replace("\\", "/").strip()):
        file = PurePosixPath(posixpath.normpath(f"/{form.lower()}"))
        spared = regex_of("{SPARED}").fullmatch(file.name)
        for glob in more if spared else (*denied_paths(), *more):
            folder, _, name = glob.replace("\\", "/").lower().rpartition("/")
            # A glob holds for the last parts of a path, or for a folder that the path is in.
            within = bool(folder.strip("/")) and name in ("", "*", "**")
            wanted = (folder if within else f"{folder}/{name}").strip("/")
            places = file.parents if within else (file,)
            # A path takes no glob without a part, as `.` is.
            if PurePosixPath(wanted).parts and any(it.match(wanted) for it in places):
                return glob
    return None


def without_place(path: str) -> tuple[str, ...]:
    """Return a path as written, and without a line or part of the file at its end."""
    return tuple(dict.fromkeys((path, _PLACE_IN_FILE.sub("", path))))


def plain_text(text: str) -> tuple[str, list[int]] | None:
    """Return a text as people read it, with the original place of each character, None where that is the text
    itself.

    Takes linear time.
    """
    is_plain = text.isascii() and not any(end in text for end in _LINE_ENDS)
    if is_plain or not regex_of("{DIFFERS}").search(text):
        return None
    pieces: list[str] = []
    places: list[int] = []
    for found in regex_of("{PIECE}").finditer(text):
        piece, start = found[0], found.start()
        if found["goes_on"]:
            piece = " " if piece[-1] != "\n" and not text[start - 1 : start].isspace() else ""
        elif found["invisible"]:
            continue
        elif not piece.isascii():
            piece = "".join(map(_plain, piece))
        pieces.append(piece)
        places.extend(range(start, start + len(piece)))
    return "".join(pieces), places


@lru_cache(maxsize=4_096)
def _plain(char: str) -> str:
    """Return a character as people read it."""
    plain = unicodedata.normalize("NFKC", char)
    return (plain if len(plain) == 1 else char).translate(str.maketrans(*table("rules.toml")["look_alikes"]))
