"""Secrets in sentences: "the password is …", "use the password …", "пароль: …", in many languages.

Sentences also say other things about passwords: required, wrong, hashed. The value must therefore look like a
password: digits or marks among its letters. Values assigned in files and code are in `assigned`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memtape.tools.capture.secrets.assigned import (
    KEY,
    KEY_STEMS,
    NAME_MARKS,
    PASSWORD,
    PASSWORD_STEMS,
    UUID,
    is_cursor,
    is_drawn,
    is_no_secret,
    is_passphrase,
    key_like,
    may_name_key,
    names_a_secret,
    password_like,
    stems_of_names,
)
from memtape.tools.capture.secrets.known import FoundSecret
from memtape.tools.capture.secrets.places import Places, compiled, either, stems
from memtape.tools.capture.secrets.plain_words import plain_words

_FOR = (
    "for|of|to|on|in|at|für|von|vom|zum|beim|pour|du|de|del|des|da|do|di|per|su|no|na|van|voor|bij|op|till|för|från|til"
    "|dla|для|от|к|на"
)
_PLACE = rf"(?:\s+(?:{_FOR})(?:\s+[\w.@:/-]{{1,40}}){{1,4}}?|['’]s|\s?\([^()\n]{{1,40}}\))?"
_CHANGED = (
    r"(?:(?:has|have|had)\s+been|was|is|got|will\s+be|wurde|a\s+été|ha\s+sido|fue|foi|è\s+stata)\s+(?:now\s+)?"
    r"(?:(?:changed|set|reset|rotated|updated|modified)\s+to|(?:chang|modifi|remplac)\w{1,4}\s+(?:en|par)"
    r"|(?:cambiad|alterad|mudad|cambiat)\w\s+(?:a|para|in)|auf)"
)
_IS = (
    r"is|was|has\salways\sbeen|=|→|->|to|will\s+be|becomes|remains|ist|lautet|heißt|auf|est|es|é|era|è|är|er|on|to\s+jest|jest"
    r"|brzmi|sarà|será|"
    r"wird|werd|wordt|—|–|-"
)
_SAID = (
    r"(?i)"
    rf"(?<![^\W_])(?:(?P<password>{PASSWORD}|pw(?=\s(?:is|was|for|to|of)\s))|(?:{KEY})){_PLACE}(?:\s(?:такой|currently|again))?"
    rf"(?P<by>\s*[:：][*_]{{0,2}}\s*|(?:(?<=ль)|(?<=ля)|(?<=ifrem)|(?<=arolam))\s+(?=[!-~])|\s+(?:{_CHANGED}|{_IS})(?:\s+(?:now|jetzt|nun|ahora|maintenant|agora|ora|nu|teraz|теперь))?:?\s+)"
    r"(?:(?P<quote>[\"'`“„«])(?P<quoted>[^\"'`“”«»\n]{4,256})[\"'`”“»]|(?P<bare>\S{3,512}))"
)
_SET = re.compile(r"\b(?:set|chang|reset|rotat|updat)\w*\s[^\n.]*\Z", re.IGNORECASE)
_BESIDE = (
    r"(?i)"
    rf"(?<![^\W_])(?:{PASSWORD}|pw|(?-i:[Pp]ass))(?!\w){_PLACE}[,:=]?\s+(?:(?:is|to|ist|est"
    rf"|c['’]est)\s+)?(?P<quote>[\"'`“„«]?)(?P<bare>[!-~]{{6,256}})"
)
"""Without a verb between: the value must look like nothing but a password."""
_BESIDE_KEY = r"(?i)" + rf"(?<![^\W_])(?:{KEY})(?!\w){_PLACE}[,:]?\s+(?P<bare>[A-Za-z0-9+/=_-]{{16,512}})(?![^\s.,;)])"
_LABEL = r"(?i)" + rf"(?<![^\W_])(?:{PASSWORD})"
_BEFORE = (
    r"(?i)(?<![^\s\"'`“„«(])(?P<word>[a-z]{6,32})[\"'`”»]?,?\s(?:is|was|ist|est|es|è|é|as)\s"
    r"(?:(?:the|my|our|a|das|mein|le|mon|la|mi|a|minha)\s)?(?:[\w-]{1,20}\s){0,2}\Z"
)
"""The value before the word: "… is the password"."""
_ENDS = re.compile(r"\s?(?:$|[.,;!\n])|\s(?:for|to|on)\s")
_NEAR = (
    rf"(?i)(?<![^\W_])(?:(?:{PASSWORD})s?|pws?|creds|credentials?|log[\s-]?in|sign[\s-]?in|get\s(?:you\s)?in\swith|unlocks?\s(?:with|by)"
    r"|vpn|nas|phpmyadmin|wp-admin|zugangsdaten|identifiants|anmeldung)(?![a-z_])"
)
_NO_WORD = (
    r"(?i)"
    r"(?:e-?mail|nothing|neither|security|some\w+|every\w+|question|problem|username|birthday|number|string|anything"
    r"|another|phone|weakest|variable|whatever|second|argument|parameter|column|credential|account|value|secret|token)s?"
)
_KEY_TOLD = (
    r"(?i)key(?:\s(?:for|to|of)\s[\w.-]{1,24})?(?:\sis|\s?:)?\s\s?[\"'`]?"
    r"(?P<bare>[A-Za-z0-9+/=_-]{20,512})(?![^\s\"'`.,;)])"
)
_KEY_OWNER = (
    r"(?i)"
    r"(?:^|\W)(?:(?:the|my|our)\s"
    r"(?!cache|restore|public|primary|partition|foreign|sort|object|idempotency|host|session|routing)(?:[\w.-]{1,24}\s)?"
    r"|master\.|(?:heroku|pagerduty|trello|datadog|algolia|cloudflare|sendgrid|mailgun)\s)\Z"
)
"""The owner of a key: without one, the word means a key of a lookup."""
_NEAR_STEMS = either(
    PASSWORD_STEMS,
    stems(
        "cred zugang identifiants anmeldung login log-in sign-in signin unlock vpn nas phpmyadmin".split(),
        ("wp-admin", "log in", "sign in", "get in", "get you in"),
    ),
)
_NEAR_WORD = (
    r"(?<![^\s\"'`“„«(|,])(?:[a-z][\w.@-]{0,24}[:/](?!/))?(?P<bare>(?=[^\s\"']{0,63}\d)[A-Za-z0-9!-&*-.:;=?@^_~+]{8,64})"
    r"(?![^\s\"'`”»),])"
)
_NAME_BEFORE = re.compile(r"[A-Za-z_]{2,}=(?=.{4})")
_OF_SYSTEMS = (
    r"[0-9a-f-]+|\+?\d[\d-]+|[a-z]+-[0-9a-f]{4,}|[A-Z0-9._-]+|(?:[a-z]{2,12}[_-]){1,3}[A-Za-z0-9]{10,64}|[a-z_]+\d?|v?\d[\d.:-]*[a-z]{0,4}|\w+[(:].*|[a-z]+(?:-[a-z]+)*-\d+(?:\.\d+)*"
    r"|[a-z]{2,4}(?:[A-Z][a-z]+)+\d*|(?:[A-Z][a-z]+)+[A-Z]{0,3}\d|[A-Za-z]+-\d(?:[.-]\w+)*|[a-z][\w.-]*:\w+|.*(?:SHA|sha|AES|aes|RSA|UTF|utf|TLS|OAuth|oauth|HTTP|http)-?\d.*|.*@.*|.*%20.*|.*\w\.(?:py|js|ts|md|go|rs|java|sql|sh|yml|yaml|json)"
)
"""Digests, constants, ids, versions, names in code, models, algorithms, addresses, files."""
_LIST = r"(?i)(?<![^\W_])(?:creds|credentials|passwords|logins)(?:\s(?:for|of|to|on|at)\s[^\n:]{1,40})?[ \t]*:?[ \t]*\n"
_LISTED = re.compile(r"[^\n]{1,60}?[\s:=/|](?P<bare>[!-~]{8,64})[ \t]*(?:\n|\Z)")
"""A line with a password at its end, after its purpose."""
_MAX_LISTED = 20
_WIFI = (
    r"(?i)(?<![^\W_])(?:wi-?fi|wlan|ssid|hotspot)[^\n]{0,60}?(?<![^\W_])(?:key|schlüssel|psk|pass|pw|code|pin|clé|clave|chave"
    r"|chiave|sleutel|nyckel|klucz|ключ)\s?(?:is|:|=|ist|est|es|é|è)?\s{0,2}[\"'`]?(?P<bare>[!-~]{8,63})"
)
_JOINED = (
    r"(?i)"
    r"(?:密[码碼钥鑰]|口令|令牌|パスワード|キー|トークン|비밀번호|암호|키|토큰)[^!-~\n、。，,]{0,12}?(?:已?[改换換设設](?:为|為|成)|是|为|為|は|が|を|는|은|가|이|를|을)?\s{0,2}[:：]?\s{0,2}"
    r"[「『“\"'`]?(?P<bare>[!-~]{6,256})"
)
"""Scripts without spaces: the value ends where ASCII ends."""
_JOINED_STEMS = stems(("密", "口令", "令牌", "パスワード", "キー", "トークン", "비밀번호", "암호", "키", "토큰"))
_KEY_TOLD_STEMS = stems(("key",))
_LIST_STEMS = stems(("creds", "credentials", "passwords", "logins"))
_WIFI_STEMS = stems(("wifi", "wi-fi", "wlan", "ssid", "hotspot"))
MAY_SAY = either(NAME_MARKS, _JOINED_STEMS)
MAY_STAND_BESIDE = either(NAME_MARKS, _NEAR_STEMS, _LIST_STEMS, _WIFI_STEMS)
"""Every text that says a secret, or has one beside its name, has one of these."""
_NAMED_VALUE = re.compile(r"[a-z_]{3,}=")
_SHORTEST_USED = 8
_WORD = re.compile(r"[!-~]{8,256}")
_NAMED = (
    r"[a-z]+(?:[._-][a-z]+)*[._-]?\d{1,3}|[A-Z]{2,}[A-Z0-9]*-\d+(?:-\d+)*|.*\d{4}-\d\d-\d\d.*"
    r"|[\w.+-]+@[\w.-]+|(?:[\w-]+\.)+[a-z]{2,}(?:[:/].*)?|v?\d+(?:\.\d+)+.*|.*://.*|.*[\w.-]/[\w.-]+/.*|/.*"
)
"""Subjects of a question with letters and digits: hosts, tickets, dates, addresses, versions, paths."""


def said_secrets(places: Places) -> Iterator[FoundSecret]:
    """Yield the values called a password, key or token. Takes linear time."""
    for found in places.matches(_SAID, stems_of_names(places)):
        yield from _said(found)
    for found in places.matches(_JOINED, _JOINED_STEMS):
        yield from of_sort(found, "bare", _sure)
        words = plain_words(found.string, found.start("bare"), quoted=False)
        if words and not is_no_secret(found.string[slice(*words)]):
            yield FoundSecret(*words, "password")
    for label in places.matches(_LABEL, PASSWORD_STEMS):
        before = _ENDS.match(places.text, label.end()) and compiled(_BEFORE).search(
            places.text, max(0, label.start() - 80), label.start()
        )
        if before and not compiled(_NO_WORD).fullmatch(before["word"]) and _is_word(before["word"]):
            yield FoundSecret(*before.span("word"), "password")


def secrets_beside(places: Places) -> Iterator[FoundSecret]:
    """Yield the values with a digit merely beside the name of a password or key. Takes linear time."""
    if not places.numbered:
        return
    for found in places.matches(_BESIDE, PASSWORD_STEMS):
        yield from of_sort(found, "bare", _sure if found["quote"] else _beside)
    for found in places.matches(_BESIDE_KEY, KEY_STEMS) if may_name_key(places) else ():
        if key_like(found["bare"]) and not is_cursor(places.text, found.start()) and not _is_compound(found["bare"]):
            yield FoundSecret(*found.span("bare"), "assigned-secret")
    for found in places.matches(_NEAR, _NEAR_STEMS):
        yield from _near(places.text, found)
    for found in places.matches(_KEY_TOLD, _KEY_TOLD_STEMS):
        owned = compiled(_KEY_OWNER).search(places.text, max(0, found.start() - 48), found.start())
        is_id = owned and owned[0].strip().lower() == "the" and UUID.fullmatch(found["bare"])
        if owned and not is_id and key_like(found["bare"]) and not _is_compound(found["bare"]):
            yield FoundSecret(*found.span("bare"), "assigned-secret")
    for found in places.matches(_LIST, _LIST_STEMS):
        yield from _listed(places.text, found.end())
    for found in places.matches(_WIFI, _WIFI_STEMS):
        yield from of_sort(found, "bare", _beside)


def asked_secrets(query: str) -> Iterator[FoundSecret]:
    """Yield the words of a question about a password, key or token that look like one."""
    if names_a_secret(query):
        for found in _WORD.finditer(query):
            value = ended(found[0])
            if is_no_name(value):
                yield FoundSecret(found.start(), found.start() + len(value), "password")


def _is_word(word: str) -> bool:
    return plain_words(word, 0, quoted=True) is not None and not is_no_secret(word)


def _near(text: str, label: re.Match[str]) -> Iterator[FoundSecret]:
    """Yield the words of the same line, not far from a word for passwords, that nothing else looks like."""
    first = max(0, label.start() - 60)
    start = max(text.rfind("\n", first, label.start()) + 1, first)
    stop = text.find("\n", label.end(), label.end() + 80)
    for found in compiled(_NEAR_WORD).finditer(text, start, stop if stop >= 0 else min(len(text), label.end() + 80)):
        value = ended(found["bare"])
        several = sum(map(str.isdigit, value)) > 1 or any(char in "!#$%*?+~" for char in value)
        if is_no_name(value) and (several or is_drawn(value)) and not compiled(_OF_SYSTEMS).fullmatch(value):
            name = _NAME_BEFORE.match(value)
            begin = found.start("bare") + (name.end() if name else 0)
            yield FoundSecret(begin, found.start("bare") + len(value), "password")


def _listed(text: str, place: int) -> Iterator[FoundSecret]:
    """Yield the passwords at the ends of a list's lines, up to the first line without one."""
    for _ in range(_MAX_LISTED):
        line = _LISTED.match(text, place)
        if line is None or not is_no_name(line["bare"]) or compiled(_OF_SYSTEMS).fullmatch(line["bare"]):
            return
        yield FoundSecret(*line.span("bare"), "password")
        place = line.end()


def is_no_name(value: str) -> bool:
    """Whether a word looks like a password and not like the name of a host, a ticket, a date or a path."""
    return very_sure(value) and not compiled(_NAMED).fullmatch(value)


def _said(found: re.Match[str]) -> Iterator[FoundSecret]:
    if is_cursor(found.string, found.start()):
        return
    group = "quoted" if found["quoted"] is not None else "bare"
    value = found[group]
    if group == "bare":
        value = ended(value)
    start = found.start(group)
    if found["password"]:
        if password_like(value, quoted=True, shouted=False) if group == "quoted" else _sure(value):
            yield FoundSecret(start, start + len(value), "password")
        elif (
            not is_no_secret(value)
            and _tells(found)
            and (words := plain_words(found.string, start, quoted=group == "quoted"))
        ):
            yield FoundSecret(*words, "password")
    elif key_like(value) and (group == "quoted" or not _is_compound(value)):
        yield FoundSecret(start, start + len(value), "assigned-secret")


def _tells(found: re.Match[str]) -> bool:
    """Whether the match is followed by a password, as after "set the password to", and not by a purpose."""
    if found["by"].strip() != "to" or found[0][:3].lower() == "has":
        return True
    return _SET.search(found.string, max(0, found.start() - 40), found.start()) is not None


def of_sort(found: re.Match[str], group: str, holds: Callable[[str], bool]) -> Iterator[FoundSecret]:
    """Yield a group of a match where it is of a sort."""
    value = ended(found[group])
    if holds(value):
        yield FoundSecret(found.start(group), found.start(group) + len(value), "password")


def ended(value: str) -> str:
    """Return a value without the punctuation at its end."""
    return value.rstrip(".,:;!?)'\"`。，；」』”»")


def _sure(value: str) -> bool:
    """Whether a value called a password is one; a compound, as in "the password is plain-text", is not."""
    return password_like(value, quoted=True, shouted=False) and (is_passphrase(value) or not _is_compound(value))


_STRUCTURE = re.compile(r"\":|,\w{1,20}=|\A\d{1,3}(?:\.\d{1,3}){3}(?!\d)|:\d{1,5}(?:\.\d{1,5})+\Z")
"""Never in a password: the next key of a JSON object, a list of settings, an address, a package version."""


def very_sure(value: str) -> bool:
    """Whether a value merely beside the word is a password: no name has letters, several digits and more."""
    if _NAMED_VALUE.match(value) or _STRUCTURE.search(value):
        return False
    sorts = sum(any(map(sort, value)) for sort in (str.isupper, str.islower, lambda char: not char.isalnum()))
    digits = sum(map(str.isdigit, value))
    return len(value) >= _SHORTEST_USED and _sure(value) and digits >= 1 and sorts + (digits > 1) >= 2


def _beside(value: str) -> bool:
    return very_sure(value) or (value.isdigit() and len(value) >= _SHORTEST_USED)


def _is_compound(value: str) -> bool:
    if "-" not in value or is_drawn(value) or UUID.fullmatch(value) or re.search(r"[0-9]{2}$|[!#$%+?*=@]", value):
        return False
    return not any(compiled(_MIXED).fullmatch(part) for part in value.split("-"))


_MIXED = r"(?i)(?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9_]{4,}"
"""A part of a compound that no word is."""
