"""The files named in a text: names with a usual file ending, or with a folder before a name with any ending.

Names of hosts, settings and modules have dots too and are no files. Nothing is taken from code or addresses.
The caller chooses the texts to read.
"""

from __future__ import annotations

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import word_list
from memtape.state.text.statements import HIDDEN, without_code

ENDINGS = word_list("endings of files")
"""Endings of files that people and agents work on."""
BARE = word_list("files without an ending")
"""Names of files without an ending."""

_ADDRESS = lazy(r"\b[A-Za-z][\w+.-]{0,30}://\S+|\bwww\.\S+|\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}")
"""The parts have the greatest lengths of a scheme, a mailbox and a label of a host, so that no text is read twice."""
_PATH = lazy(r"(?<![\w/:.@=$-])@?((?:~/|\.{1,2}/|/)?(?:[\w.@+-]+/)*[\w.+-]*\w)(?![\w/(*@=]|\.\w)")
_HOST = lazy(r"[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\Z")
_NO_FILE = lazy(
    r"(?:[A-Z][\w-]*\.js|(?:node|next|vue|nuxt|three|d3|express|process|meta|import\.meta)\.(?:js|env)|docs\.rs)\Z"
)
"""Names of libraries, hosts and variables that end as files do."""


def named_files(text: str) -> list[str]:
    """Return the files named in a text, each once, in order of first mention."""
    plain = _ADDRESS.sub(" ", without_code(text)).replace(HIDDEN, " ")
    return list(dict.fromkeys(path for path in _PATH.findall(plain) if _is_file(path)))


def _is_file(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    first = folder.partition("/")[0]
    if first and not first.startswith(".") and _HOST.match(first):
        return False
    if not dot:
        return name.lower() in BARE and (name.isupper() or name.istitle() or bool(folder))
    if _NO_FILE.match(path) or not ending.isascii():
        return False
    if ending.lower() in ENDINGS:
        return bool(stem) or bool(folder)
    return bool(folder) and bool(stem) and ending.isalpha() and len(ending) <= 8
