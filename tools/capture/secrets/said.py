"""Secrets that a sentence tells: "the password is …", "use the password …", "пароль: …", in the languages of people.

A sentence also says much of passwords that is none: that one is required, wrong or hashed. So what is said must look
like a password: digits or marks among its letters. What files and code assign is in `tools/capture/secrets/assigned.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memtape.tools.capture.secrets.assigned import (
    KEY,
    PASSWORD,
    UUID,
    is_passphrase,
    key_like,
    names_a_secret,
    password_like,
)
from memtape.tools.capture.secrets.known import Finding

_FOR = (
    "for|of|to|on|in|at|für|von|vom|zum|beim|pour|du|de|del|des|da|do|di|per|su|no|na|van|voor|bij|op|till|för|från|til"
    "|dla|для|от|к|на"
)
_PLACE = rf"(?:\s+(?:{_FOR})(?:\s+[\w.@:/-]{{1,40}}){{1,4}}?)?"
_CHANGED = (
    r"(?:(?:has|have|had)\s+been|was|is|got|will\s+be|wurde|a\s+été|ha\s+sido|fue|foi|è\s+stata)\s+(?:now\s+)?"
    r"(?:(?:changed|set|reset|rotated|updated|modified)\s+to|(?:chang|modifi|remplac)\w{1,4}\s+(?:en|par)"
    r"|(?:cambiad|alterad|mudad|cambiat)\w\s+(?:a|para|in)|auf)"
)
_IS = (
    r"is|was|=|to|will\s+be|becomes|remains|ist|lautet|heißt|auf|est|es|é|era|è|är|er|on|to\s+jest|jest|brzmi|sarà|será|"
    r"wird|werd|wordt|—|–|-"
)
_SAID = re.compile(
    rf"(?=[aceklmpsthwşпκ密パ비])(?<![^\W_])(?:(?P<password>{PASSWORD})|(?:{KEY})){_PLACE}"
    rf"(?:\s*[:：]\s*|\s+(?:{_CHANGED}|{_IS})(?:\s+(?:now|jetzt|nun|ahora|maintenant|agora|ora|nu|teraz|теперь))?:?\s+)"
    r"(?:(?P<quote>[\"'`“„«])(?P<quoted>[^\"'`“”«»\n]{4,256})[\"'`”“»]|(?P<bare>\S{4,512}))",
    re.IGNORECASE,
)
_USED = re.compile(
    r"\b(?:use|using|with|enter|type|try|mit|avec|con|com|met|med)\s+(?:(?:the|this|a|my|our|your|dem|das|le|la|el|a|het|de)\s+)?"
    rf"(?P<password>{PASSWORD})\s+(?P<quote>[\"'`“„«]?)(?P<bare>[^\s\"'`“”«»]{{6,256}})"
    r"|\b(?P<other>парол[ья]|[şs]ifre(?:m|si|niz)?|parola(?:m|sı|nız))\s+(?P<said>[!-~]{6,256})",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"(?:密[码碼]|口令|パスワード|비밀번호|암호)[^!-~\n、。，,]{0,12}?(?:已?[改换換设設](?:为|為|成)|是|为|為|は|が|を|는|은|가|이|를|을)\s{0,2}[:：]?\s{0,2}"
    r"[「『“\"'`]?(?P<bare>[!-~]{6,256})"
)
"""Scripts without spaces: what is said ends where ASCII ends."""
_SHORTEST_USED = 8
_WORD = re.compile(r"[!-~]{8,256}")
_NAMED = re.compile(
    r"[a-z]+(?:[._-][a-z]+)*[._-]?\d{1,3}|[A-Z]{2,}[A-Z0-9]*-\d+(?:-\d+)*|.*\d{4}-\d\d-\d\d.*"
    r"|[\w.+-]+@[\w.-]+|(?:[\w-]+\.)+[a-z]{2,}(?:[:/].*)?|v?\d+(?:\.\d+)+.*|.*://.*|.*[\w.-]/[\w.-]+/.*|/.*"
)
"""What has letters and digits in a question and is asked about: hosts, tickets, dates, addresses, versions, paths."""


def said_secrets(text: str) -> Iterator[Finding]:
    """Yield what is said to be a password, key or token. Takes linear time."""
    for found in _SAID.finditer(text):
        yield from _said(found)
    for found in _USED.finditer(text):
        group = "bare" if found["password"] else "said"
        yield from _of_sort(found, group, _sure if found["quote"] else _very_sure)
    for found in _JOINED.finditer(text):
        yield from _of_sort(found, "bare", _sure)


def asked_secrets(query: str) -> Iterator[Finding]:
    """Yield the words of a question about a password, key or token that look like one."""
    if names_a_secret(query):
        for found in _WORD.finditer(query):
            value = _ended(found[0])
            if _very_sure(value) and not _NAMED.fullmatch(value):
                yield Finding(found.start(), found.start() + len(value), "password")


def _said(found: re.Match[str]) -> Iterator[Finding]:
    group = "quoted" if found["quoted"] is not None else "bare"
    value = found[group]
    if group == "bare":
        value = _ended(value)
    start = found.start(group)
    if found["password"]:
        if password_like(value, quoted=True, shouted=False) if group == "quoted" else _sure(value):
            yield Finding(start, start + len(value), "password")
    elif key_like(value) and (group == "quoted" or not _is_compound(value)):
        yield Finding(start, start + len(value), "assigned-secret")


def _of_sort(found: re.Match[str], group: str, holds: Callable[[str], bool]) -> Iterator[Finding]:
    value = _ended(found[group])
    if holds(value):
        yield Finding(found.start(group), found.start(group) + len(value), "password")


def _ended(value: str) -> str:
    """Return what is said without the end of its sentence."""
    return value.rstrip(".,:;!?)'\"`。，；」』”»")


def _sure(value: str) -> bool:
    """Whether what a sentence calls a password is one; a compound, as in "the password is plain-text", is not."""
    return password_like(value, quoted=True, shouted=False) and (is_passphrase(value) or not _is_compound(value))


def _very_sure(value: str) -> bool:
    """Whether what merely stands beside the word is one: no name of anything has letters, several digits and more."""
    sorts = sum(any(map(sort, value)) for sort in (str.isupper, str.islower, lambda char: not char.isalnum()))
    digits = sum(map(str.isdigit, value))
    return len(value) >= _SHORTEST_USED and _sure(value) and digits >= 1 and sorts + (digits > 1) >= 2


def _is_compound(value: str) -> bool:
    if "-" not in value or UUID.fullmatch(value) or re.search(r"[0-9]{2}$|[!#$%+?*=@]", value):
        return False
    return not any(_MIXED.fullmatch(part) for part in value.split("-"))


_MIXED = re.compile(r"(?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9_]{4,}", re.IGNORECASE)
"""A part of a compound that no word is."""
