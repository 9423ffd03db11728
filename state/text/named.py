"""The people, projects and files named in a text.

People and projects are named in English beside typical words, as "ask Anna" or "project Reef". Precision
comes before recall: products and places do not say, promise or have a sister. Files have a usual ending, or a
folder before a name with any ending; hosts and settings have dots too and are no files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import word_list
from memtape.state.text.statements import HIDDEN, MOST_TURN_CHARS, without_code

NAME_CHARS = 60
PROJECT_KEY = "\x1f"
"""Begins the key of a project; no key of a person has it, since it counts as a space."""
_NAME = r"(?P<name>[A-Z][a-zà-ÿ]+(?:[-'’][A-Z][a-zà-ÿ]+)?(?: [A-Z][a-zà-ÿ]+)?)"
_SAYS = lazy(
    _NAME
    + r" (?:said|says|told (?:me|us|you|him|her|them)|asked (?:me|us|you|him|her|them|if|whether|for|about)|thinks"
    r"|thought|agreed|suggested|promised|insisted|recommended (?:that|I|we)|wants (?:to|me|us)|wanted (?:to"
    r"|me|us)|prefers|loves|likes|and I\b|called me|emailed|texted|wrote to)\b"
)
_OF = lazy(
    r"\b(?:[Aa]sk(?:ed)?|[Tt]ell|[Tt]old|[Mm]et|[Mm]eet with|[Tt]alk(?:ed)? (?:to|with)|[Ss]poke (?:to|with)"
    r"|[Mm]y (?:friend|colleague"
    r"|boss|manager|partner|wife|husband|brother|sister|son|daughter|mom|dad|mother|father|cousin|aunt|uncle|mentor)"
    r"|Dr\.|Mr\.|Mrs\.|Ms\.),? " + _NAME
)
_NO_NAME = word_list("words that name nobody")


def key_of_name(name: str) -> str:
    """Return the key of a name, equal for all spellings in upper and lower case."""
    return " ".join(name.casefold().split())[:NAME_CHARS]


def people_named(text: str) -> list[str]:
    """Return the names of people that a text gives, each once, in their order."""
    if len(text) > MOST_TURN_CHARS:
        return []
    return list(dict.fromkeys(_names(without_code(text))))


def is_named(name: str, text: str) -> bool:
    """Return whether a name is in a text as separate words; a lower-case name counts as any word."""
    if name not in text or not name[:1].isupper():
        return False
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def projects_named(text: str) -> list[str]:
    """Return the names of projects that a text gives, each once, in their order."""
    if len(text) > MOST_TURN_CHARS:
        return []
    names = (found["name"] or found["after"] for found in _PROJECT.finditer(without_code(text)))
    return list(dict.fromkeys(name for name in names if name not in _NO_NAME))


_PROJECT = lazy(
    r"\b(?:[Tt]he|[Oo]ur|[Mm]y|[Ii]n|[Oo]f|[Ff]or|[Tt]o|[Oo]n) (?P<name>[A-Z][\w-]*\w|[a-z]\w*[-_][\w-]*\w)"
    r" (?:project|repo|repository|codebase)\b|\b[Pp]roject (?P<after>[A-Z][\w-]*\w)"
)


def _names(text: str) -> Iterator[str]:
    for cue in (_SAYS, _OF):
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
