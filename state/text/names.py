"""The files named in a text.

Files have a usual ending, or a folder before a name with any ending; hosts and settings have dots too and are
no files.
"""

from __future__ import annotations

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import cues, word_list
from memtape.state.text.reading import HIDDEN, Reading

_CUES = cues("named")
ENDINGS = word_list("endings of files")  # Endings of files that people and agents work on.
BARE = word_list("files without an ending")  # Names of files without an ending.

_HOST = lazy(r"[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\Z")


def named_files(reading: Reading) -> list[str]:
    """Return the files named in a text, each once, in order of first mention."""
    plain = _CUES.address.sub(" ", reading.prose).replace(HIDDEN, " ")
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
