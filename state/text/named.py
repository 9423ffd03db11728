"""The people, projects and files named in a text.

People and projects are named in English beside typical words, as "ask Anna" or "project Reef". Precision
comes before recall: products and places do not say, promise or have a sister. Files have a usual ending, or a
folder before a name with any ending; hosts and settings have dots too and are no files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import cues, word_list
from memtape.state.text.reading import HIDDEN, MOST_READ_CHARS, read

NAME_CHARS = 60
PROJECT_KEY = "\x1f"
"""Begins the key of a project; no key of a person has it, since it counts as a space."""
_CUES = cues("named")
_NO_NAME = word_list("words that name nobody")


def key_of_name(name: str) -> str:
    """Return the key of a name, equal for all spellings in upper and lower case."""
    return " ".join(name.casefold().split())[:NAME_CHARS]


def people_named(text: str) -> list[str]:
    """Return the names of people that a text gives, each once, in their order."""
    return [] if len(text) > MOST_READ_CHARS else list(dict.fromkeys(_names(read(text).prose)))


def is_named(name: str, text: str) -> bool:
    """Return whether a name is in a text as separate words; a lower-case name counts as any word."""
    if name not in text or not name[:1].isupper():
        return False
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def projects_named(text: str) -> list[str]:
    """Return the names of projects that a text gives, each once, in their order."""
    if len(text) > MOST_READ_CHARS:
        return []
    names = (found["name"] or found["after"] for found in _CUES.project.finditer(read(text).prose))
    return list(dict.fromkeys(name for name in names if name not in _NO_NAME))


def _names(text: str) -> Iterator[str]:
    for cue in (_CUES.says, _CUES.of):
        for found in cue.finditer(text):
            words = found["name"].split()
            words = words[1:] if words[0] in _NO_NAME else words
            if words and not any(word in _NO_NAME for word in words):
                yield " ".join(words)


# --- Files ---

ENDINGS = word_list("endings of files")
"""Endings of files that people and agents work on."""
BARE = word_list("files without an ending")
"""Names of files without an ending."""

_HOST = lazy(r"[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\Z")


def named_files(text: str) -> list[str]:
    """Return the files named in a text, each once, in order of first mention."""
    plain = _CUES.address.sub(" ", read(text).prose).replace(HIDDEN, " ")
    return list(dict.fromkeys(path for path in _CUES.path.findall(plain) if _is_file(path)))


def _is_file(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    first = folder.partition("/")[0]
    if first and not first.startswith(".") and _HOST.match(first):
        return False
    if not dot:
        return name.lower() in BARE and (name.isupper() or name.istitle() or bool(folder))
    if _CUES.no_file.match(path) or not ending.isascii():
        return False
    if ending.lower() in ENDINGS:
        return bool(stem) or bool(folder)
    return bool(folder) and bool(stem) and ending.isalpha() and len(ending) <= 8
