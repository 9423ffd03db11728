"""Secrets known by the words before them: `password=…`, `api_key: …`, headers.

The value is often no secret but a type, a name, a variable or an example; this module decides. Secrets in
sentences are in `tools/capture/secrets/said.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtape.tools.capture.secrets.encoded import decoded
from memtape.tools.capture.secrets.known import FoundSecret
from memtape.tools.capture.secrets.places import SPACES, Places, Stems, compiled, either, marks, signs, stems
from memtape.tools.capture.secrets.plain_words import plain_words
from memtape.tools.capture.secrets.random_strings import looks_random, turns

PASSWORD = "|".join(
    r"""
    pass(?:word|wd|phrase|code) (?<![a-z])pwd (?<![a-z])pgpass passwor[dt] kennwort contrase[nñ]a mot\sde\spasse
    senha(?![a-z]) palavra-passe wachtwoord lösenord(?:et)? kodeord(?:et)? adgangskoden? passord(?:et)?
    salasana(?:ni)? has[łl]o(?![a-z])
    heslo(?![a-z]) parola\sd['’]ordine
    parola(?:m|sı|nız)?(?![a-zı]) [şs]ifre(?:m|si|niz)?(?![a-z]) парол[ья] κωδικός 密[码碼] パスワード
    비밀번호 비번 암호(?!화) 口令 ww(?![a-z]) (?<!palabra\s)(?<!palabras\s)clave(?![a-z]) mdp(?![a-z])
    (?:wi-?fi|wlan|wpa2?)[\s_-]?(?:key|code|psk|schlüssel) psk(?![a-z]) clé\s(?:du\s)?wi-?fi
    """.split()
)
"""The words for a password, in several languages."""
_SHORT = "|".join(
    r"""
    (?:(?<=[a-z0-9][._-])|(?<=db)|(?<=pg)|(?<=smtp)|(?<=mail)|(?<=ftp)|(?<=ldap)|(?<=root)|(?<=admin)|(?<=user)|(?<=sql)|(?<=mongo)|(?<=redis))(?:pass|pw)(?![a-z])
    (?<![a-z])pw(?![a-z]) (?<![a-z_.-])pass(?=\s?=) (?<=[a-z0-9]_)auth(?==)
    sshpass(?==) (?<=[\"'])(?:auth|pass)(?=[\"']\s?:)
    """.split()
)
"""Short for one, and short for much else; `PASS: test_login2` tells of a test."""
_SERVICES = "algolia cloudflare datadog heroku mailgun pagerduty sendgrid sonar sonarqube trello".split()
"""A value assigned to the bare name of one of these, and looking like a key, is its key."""
KEY = "|".join(
    (
        *r"""
    api[\s-]?schlüssel (?:clé|clave|chave|chiave)\s(?:(?:de\s|da\s|do\s|d['’])?(?:la\s)?api)(?![a-z])
    api[\s-]?(?:ключ|sleutel|nyckel|nøkkel)
    (?:api|access|auth|account|client|private|signing|encryption|master)[\s_-]?(?:secret[\s_-]?)?key
    (?:license|product|activation|subscription|session|cookie|master|service|storage|app|wallet|deployer|signer|eth(?:ereum)?|metamask)[\s_-]?(?:(?:secret|private)[\s_-]?)?key
    (?:aes(?:-?\d{3})?(?:-(?:gcm|cbc|ctr))?|hmac|jwt|fernet|cipher|crypto|webhook|deploy|admin|global|write|server|shared)[\s_-]?key
    (?<=[a-z0-9])_(?:key|salt|pepper)(?=\\?[\"']?\]?\s?[,=:]) (?<=_)pk(?![a-z]) (?<![a-z])pat(?=\s?[:=]|\s(?:is|was)\s)
    session[\s_-]?(?:cookie|secret) cookie[\s_-]?secret secret(?:[_-]?access)?[_-]?key secret(?![a-z])
    (?<!max_)token(?![a-z]) (?<=[a-z0-9]_)pat(?![a-z]) credentials?(?![a-z]) sharedaccesskey
    """.split(),
        rf"(?:{'|'.join(_SERVICES)})(?==)",
    )
)
PASSWORD_STEMS = stems(
    """
    pass pw pwd pgpass kennwort contrase senha palavra-passe wachtwoord lösenord kodeord adgangskode salasana hasł
    haslo heslo parola
    şifre sifre парол κωδικός 密 パスワード 비밀번호 비번 암호 口令 ww clave mdp wifi wi-fi wlan wpa psk clé
    """.split(),
    (f"mot{space}d" for space in SPACES),
)
KEY_STEMS = stems(
    """
    api clé clave chave chiave access auth account client private signing encryption master license service
    storage app wallet
    deployer signer eth metamask
    session cookie secret token credential sharedaccesskey pat aes hmac jwt fernet cipher crypto webhook deploy
    admin global write server shared pk product activation subscription _key _salt _pepper
    """.split(),
    _SERVICES,
)
"""How the names begin; names that begin otherwise are not found."""
_KEY_MARKS = marks(
    (
        "key",
        "api",
        "secret",
        "token",
        "credential",
        "cookie",
        "pat",
        "_pk",
        "_salt",
        "_pepper",
        *(f"{name}=" for name in _SERVICES),
    )
)
"""Every name of a key has one of these."""
NAME_STEMS = either(PASSWORD_STEMS, KEY_STEMS)
NAME_MARKS = either(PASSWORD_STEMS, _KEY_MARKS)
"""Every text that names a password or key has one of these."""
_ASSIGNED_OTHERS = either(PASSWORD_STEMS, stems(("sshpass", "auth")))
_ASSIGNED_STEMS = either(NAME_STEMS, _ASSIGNED_OTHERS)
_HEADER_STEMS = stems(("authorization", "bearer", "basic ", "_auth"))
_COOKIES_STEMS = stems(("cookie", "set-cookie", "curl"))
_SIGNED_STEMS = stems(("jwt.",))
_VALUES = marks(("value", "default"))
_ENDING = (
    r"(?:_(?!hash|name|type|url|id|min|max|len|count|file|path|policy|field|ttl|exp|arn|ref|store|manager|reset|prompt"
    r"|mode|required|enabled)[a-z0-9]{1,16})?"
)
_QUOTED = r"(?P<quote>\\?[\"'`])(?P<quoted>[^\"'`\n\\]{4,512})(?P=quote)"
_BARE = r"(?P<bare>[^\s\"'`,;<>\[\](){}]{4,1024})"
_ASSIGNED = (
    r"(?i)"
    rf"(?:(?P<password>{PASSWORD})|(?P<short>{_SHORT})|(?:{KEY})){_ENDING}"
    r"(?P<by>\\?[\"'`]?\]?\s{0,3}(?::\s?(?:str|string)\s?=|=>|:=|={1,3}|\|\||\?\?|[:：](?:\s!!str|\s[>|]-?(?=\n))?)\s{0,3}"
    r"|[\"']\s?,\s?(?=[\"'])|[\"']?>|[ ](?=\S))"
    rf"(?:{_QUOTED}|{_BARE})"
)
_PAIRED = (
    r"(?i)"
    rf"(?:(?P<password>{PASSWORD}|{_SHORT})|(?:{KEY})){_ENDING}[\"'`]?[\s,{{]{{1,40}}"
    r"(?:(?:type|sensitive|description|nullable)\s{0,20}=[^\n]{0,80}\n\s{0,20}){0,3}"
    r"[\"']?(?:value|default)[\"']?\s{0,9}[:=]\s{0,3}[\"']?(?P<value>[^\s\"'`<>{}()]{4,512})"
)
"""A field with the name, the next with the value: variables of containers and modules, properties."""
_HEADER = (
    r"(?i)"
    r"authorization\\?[\"']?(?:\s{0,2}[:=,]|(?=\s[\"']))\s{0,2}\\?[\"']?(?:(?:basic|bearer|token|apikey|digest)\s+)?"
    r"(?P<value>[A-Za-z0-9._~+/=-]{8,8192})|\bbearer\s+(?P<bearer>[A-Za-z0-9._~+/=-]{16,8192})"
    r"|(?:\bbasic\s+|_auth\s?=\s?[\"']?)(?P<basic>[A-Za-z0-9+/]{8,1024}={0,2})"
)
_COOKIES = (
    r"(?i)"
    r"(?:\b(?:set-)?cookies?\\?[\"']?\s{0,2}[:=]|\bcurl(?:\s[^\n|;]{0,200}?)?\s(?:-b"
    r"|--cookie)[\s=])\s{0,2}\\?[\"']?(?P<pairs>[^\n\"'{]{8,8192})|\bcookies\s?[:=]\s?\{(?P<dict>[^}\n]{8,2000})"
)
_COOKIE = re.compile(r"(?<![\w.-])[\w.-]{1,64}(?:=|[\"']:\s?[\"'])(?P<value>[^\s;,&\"'<>`]{16,4096})")
_SESSION = (
    r"(?<![\w.-])(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|\.AspNetCore\.\w{1,40}|connect\.sid|sessionid"
    r"|laravel_session|_\w{1,32}_session"
    r"|remember_(?:user_)?token|__Secure-[\w.-]{1,64}|__Host-[\w.-]{1,64})=(?P<value>[^\s;,&\"'<>`]{16,4096})"
)
_SIGNED = r"jwt\.\w{1,16}\([^\n,]{1,120},\s*[\"'](?P<value>[^\"'\n]{6,256})[\"']"
_SESSION_STEMS = marks(
    "sessid jsessionid asp.net aspnetcore connect.sid sessionid _session remember_ __secure- __host-".split()
)
_HOST = re.compile(r"(?<![^\s\"'`])[^\s\"'`:]+\Z")
_PORT = re.compile(r":(?:\*|[0-9]{4,5}):")
_PGPASS = (
    r"(?:\*|[A-Za-z0-9][\w.-]{0,253}):(?:\*|[0-9]{4,5}):(?:\*|[\w-]{1,64}):(?:\*|[\w.@-]{1,64})"
    r":(?P<value>[^\s:\"'`]{6,256})(?![^\s\"'`])"
)
"""A line of `.pgpass`: host, port, database, user, password."""
_COLONS = signs(":", times=4)
MAY_ASSIGN = either(_ASSIGNED_OTHERS, _KEY_MARKS, _HEADER_STEMS, _COOKIES_STEMS, _SIGNED_STEMS, _SESSION_STEMS, _COLONS)
"""Every text that assigns a secret has one of these."""

_EXAMPLE = r"(?i)" + "|".join(
    r"""
        [x*.#•_-]+ x{3,}.* \.{3}.* .*\.{3} .*… .*\*{4}.* <.* .*> \[.* %[({].* your[-_]?.*
        my[-_]?(?:pass\w*|secret|token|key) foo(?:bar)?(?:baz)? bar baz
        .*example.* .*placeholder.* .*change[-_]?me.* .*redacted.* .*dummy.* insert.* replace.* todo.* fixme
        (?:pass|passwd|password|pwd|secret|token|key|apikey|api_key)[-_]?\d{0,3} user username admin_password
        1password none null nil true false undefined yes no required optional string hidden empty unset missing invalid
        expired disabled enabled default unknown text input
        """.split()
)
"""Placeholders that people write in the place of a secret."""
_REFERENCE = "|".join(
    r"""
        ![a-z_]+ \$[A-Za-z_]\w* \$[({].* \$\w{1,8}\$.* %\w+% @\w+ &\w+ \*\w+ \{.* .*\}\}? ENC\[.* projects/.* .*[([].*
        (?:https?|file|vault|op|arn|ref|env|ssm|secretsmanager|gs|s3):.*
        (?:\./|\.\./|~/|/(?:run|etc|var|home|mnt|tmp|opt|usr|secrets?)/).*
        .*\.(?:txt|pem|json|ya?ml|py|js|ts|md|key|env|toml|cfg)
        (?:self|this|os|process|config|settings|env|req|request|args|options|opts|props|ctx|data|params|input|form)\b[.?].*
        (?:user|body|secrets|var|local)\b[.?].* [A-Za-z_]\w*(?:->|::)\w.*
        """.split()
)
"""References to a secret's place: variables, paths, URLs, calls."""
_ATTRIBUTE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?<!\d\d)")
_ALGORITHM = (
    r"(?i)(?:[a-z]{3,8}[-_])?(?:sha|aes|hmac|argon|pbkdf|poly|salsa|md(?=5)|ed(?=25519|448))[-_]?\d+[a-z]{0,6}"
    r"(?:[-_](?:[a-z]{2,9}|\d{1,4}))*"
)
_TECHNICAL = (
    r"(?i)"
    r"(?:sha|md|base|utf|aes|rsa|bcrypt|argon|pbkdf|scrypt|oauth|hmac|blake|ed|ecdsa|hs|rs|es|iso|varchar"
    r"|char|int|uint|float|v|ver"
    r"|version|k|ntlm|http|tls|ssl|x|ipv|bech|crc|id|step|min|max|len|length|mp|h)[-_]?\d+[a-z]{0,6}\d?(?:[-_].*)?"
    r"|\d+[-_ ]?(?:chars?|bytes?|bits?|days?|hours?|min\w{0,5}|digits?|tokens?|k|m|kb|mb|ms|s|fa|x|th|st|nd|rd)"
    r"(?:[-_ ].*)?"
    r"|\d{4}-\d\d(?:-\d\d.*)?|\d+(?:\.\d+)+|\d+%|(?:jwt|pat|bearer|basic)\w{0,4}"
)
"""General words about passwords and tokens: hashing, lengths."""
_IDENTIFIER = re.compile(r"[a-z]+(?:[_.](?:[a-z]+[0-9]?|[0-9]))+")
_WORD_AND_DIGIT = re.compile(r"[a-z]{3,}[0-9]")
_NUMBERED = (
    r"(?:arg|param|value|field|string|str|test|text|input|label|column|name|step|item|option|group|user\w*"
    r"|\w*pass\w*|hash|key)\d"
)
"""Numbered things that are no secrets."""
_DRAWN = re.compile(r"[a-z]{3,12}")
_TELLING = (
    r"\b(?:and|are|but|for|from|has|its?|not|only|that|the|this|too|use|user|via|with|your|must|name|form"
    r"|field|reset|new)\b"
    r"|pass|secret|token|login|auth"
)
"""Words of sentences and of names, which no drawn passphrase has."""
_OF_CHOICE = re.compile(r"secret|encrypt|signing|master", re.IGNORECASE)
"""Names of keys whose values people make up."""
_OPTION = re.compile(r"(?<![\w-])--?[\w-]*$")
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_CURSOR = (
    r"(?i)"
    r"(?:public|cache|primary|foreign|sort|partition|hash|range|row|host|object|group|unique|natural|candidate|composite"
    r"|surrogate|lookup|idempotency|routing|s3|file|lock|queue|job|map|dict|site|translation|i18n|public\s?key|page|next|prev(?:ious)?|cursor|continu\w*|resume|sync|delta|skip|pagination|start|starting)[\s_-]?\Z|\d{12}:\Z"
)
_TYPE = re.compile(r"[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)+")
_WORD_AND_NUMBER = re.compile(r"[A-Za-z]{4,}[0-9]{3,}[!?#*$]?")
_HEX = r"(?i)(?:0x)?(?=.{0,64}[0-9])(?=.{0,64}[a-f])[0-9a-f]{16,256}(?:-[0-9a-f]{8}){0,2}"
_MARKS = frozenset("!@#$%^&*?+~=|\\/")


_NAMES = rf"(?i)(?<![^\W_])(?:{PASSWORD}|{KEY}|pin(?![a-z])|passwords)"


_NAMES_STEMS = either(NAME_STEMS, marks(("pin",)))


def names_a_secret(text: str) -> bool:
    """Whether a text speaks of a password, key or token."""
    return Places(text).may(_NAMES_STEMS) and compiled(_NAMES).search(text) is not None


def assigned_secrets(places: Places) -> Iterator[FoundSecret]:
    """Yield the values assigned, said or sent as a password, key or token. Takes linear time."""
    text = places.text
    for found in places.matches(_ASSIGNED, _ASSIGNED_STEMS if may_name_key(places) else _ASSIGNED_OTHERS):
        yield from _assigned(text, found)
    for found in places.matches(_PAIRED, stems_of_names(places)) if places.has(_VALUES) else ():
        if found["password"]:
            if password_like(found["value"], quoted=True, shouted=False):
                yield FoundSecret(*found.span("value"), "password")
        elif key_like(found["value"]):
            yield FoundSecret(*found.span("value"), "assigned-secret")
    for found in places.matches(_HEADER, _HEADER_STEMS):
        yield from _sent(found)
    for found in places.matches(_COOKIES, _COOKIES_STEMS):
        for cookie in _COOKIE.finditer(text, *found.span("pairs" if found["pairs"] else "dict")):
            if any(map(str.isdigit, cookie["value"])) and not is_no_secret(cookie["value"]):
                yield FoundSecret(*cookie.span("value"), "session-cookie")
    for found in places.matches(_SIGNED, _SIGNED_STEMS):
        if not is_no_secret(found["value"]):
            yield FoundSecret(*found.span("value"), "assigned-secret")
    for found in compiled(_SESSION).finditer(text) if places.has(_SESSION_STEMS) else ():
        if not is_no_secret(found["value"]):
            yield FoundSecret(*found.span("value"), "session-cookie")
    for port in _PORT.finditer(text) if places.may(_COLONS) else ():
        host = _HOST.search(text, max(0, port.start() - 256), port.start())
        line = compiled(_PGPASS).match(text, host.start()) if host else None
        if line and password_like(line["value"], quoted=True, shouted=False):
            yield FoundSecret(*line.span("value"), "password")


def may_name_key(places: Places) -> bool:
    """Whether the name of a key may be in a text."""
    return places.has(_KEY_MARKS)


def stems_of_names(places: Places) -> Stems:
    """Return how the names of passwords begin, and those of keys where one may be in a text."""
    return NAME_STEMS if may_name_key(places) else PASSWORD_STEMS


def is_cursor(text: str, place: int) -> bool:
    """Whether a token that is named at a place says where to read on, and opens nothing."""
    return compiled(_CURSOR).search(text, max(0, place - 16), place) is not None


def _assigned(text: str, found: re.Match[str]) -> Iterator[FoundSecret]:
    if is_cursor(text, found.start()):
        return
    group = "quoted" if found["quoted"] is not None else "bare"
    value, by, word = found[group], found["by"], found[0][: found.start("by") - found.start()]
    start, end = found.span(group)
    given = by == " " and _OPTION.search(text, max(0, found.start() - 24), found.start())
    if by == " " and not given and not (group == "quoted" and found["password"]):
        return
    if group == "bare":
        if text[end : end + 1] == "(":  # A call.
            return
        value = value.rstrip(".:!?" if by != "=" else "")
        if "&" in value and "?" in text[max(0, found.start() - 256) : found.start()]:
            value = value.partition("&")[0]
        end = start + len(value)
    shouted = (word.isupper() and "=" in by) or (by == "=" and text[max(0, found.start() - 1) : found.start()] == ";")
    quoted = group == "quoted"
    if quoted and len(value) >= 32 and is_drawn(re.sub(r"\W", "", value)):
        yield FoundSecret(start, end, "assigned-secret")
    elif found["short"]:
        told = "=" in by or "_" in text[max(0, found.start() - 1) : found.start("by")] or quoted
        plain = shouted and "auth" not in word.lower() and not is_no_secret(value)
        if (told and password_like(value, quoted=quoted, shouted=False)) or (
            plain and plain_words(text, start, quoted=False)
        ):
            yield FoundSecret(start, end, "password")
    elif found["password"]:
        if password_like(value, quoted=quoted, shouted=shouted):
            yield FoundSecret(start, end, "password")
        elif (
            quoted
            and (given or ":" in by or "=" in by)
            and (words := not is_no_secret(value) and plain_words(text, start, quoted=True))
        ):
            yield FoundSecret(*words, "password")
    elif key_like(value) or (_OF_CHOICE.search(word) and _secret_word(value, shouted)):
        yield FoundSecret(start, end, "assigned-secret")


def _sent(found: re.Match[str]) -> Iterator[FoundSecret]:
    """Yield the secrets in a header; for "basic" the base64 value is a user and a password."""
    group = found.lastgroup or "value"
    value = found[group]
    if group == "basic":
        holds = ":" in (decoded(value) or "")
    else:
        holds = any(map(str.isdigit, value)) and not is_no_secret(value) and (group == "value" or key_like(value))
    if holds:
        yield FoundSecret(*found.span(group), "authorization")


def _secret_word(value: str, shouted: bool) -> bool:
    """Whether a value called a secret is a word of a person; in capitals the test is laxer."""
    return bool(_WORD_AND_NUMBER.fullmatch(value)) or (shouted and password_like(value, quoted=True, shouted=False))


def is_no_secret(value: str) -> bool:
    """Whether a value in the place of a secret is an example, an algorithm, or a reference to the secret."""
    if any(compiled(pattern).fullmatch(value) for pattern in (_EXAMPLE, _REFERENCE, _ALGORITHM)):
        return True
    return _ATTRIBUTE.fullmatch(value) is not None and not (
        is_drawn(value) or is_passphrase(value) or any(map(is_drawn, value.split(".")))
    )


def password_like(value: str, *, quoted: bool, shouted: bool) -> bool:
    """Whether a value called a password is one: letters mixed with digits or marks, or only digits.

    In quotes, or assigned to a variable in capitals, a word with a digit counts too, since no name is
    expected there.
    """
    if len(value) < 6 or " " in value or is_no_secret(value):
        return False
    if is_drawn(value):
        return True
    if compiled(_TECHNICAL).fullmatch(value):
        return False
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    marked = any(char in _MARKS for char in value)
    if digits and not letters:
        return marked or (value.isdigit() and len(value) >= 6)
    if letters and digits:
        if _WORD_AND_DIGIT.fullmatch(value):
            return (quoted or shouted) and not compiled(_NUMBERED).fullmatch(value)
        return not _IDENTIFIER.fullmatch(value)
    if marked and letters:
        return not re.search(r"[=|/\\&]", value) and value[-1] not in "?*+"
    return (shouted and value.isalpha()) or is_passphrase(value)


def is_drawn(value: str) -> bool:
    """Whether the characters of a word look drawn one by one."""
    return looks_random(value, 8 if any(map(str.isdigit, value)) else 12, said=True)


def is_passphrase(value: str) -> bool:
    """Whether a value is four words or more that were drawn, and not a compound that says something."""
    parts = value.split("-" if "-" in value else ".")
    return len(parts) >= 4 and all(_DRAWN.fullmatch(part) for part in parts) and not compiled(_TELLING).search(value)


def key_like(value: str) -> bool:
    """Whether a value called a key, secret or token is one: random, hexadecimal, a UUID, short and mixed."""
    if len(value) < 8 or " " in value or is_no_secret(value) or compiled(_TECHNICAL).fullmatch(value):
        return False
    if value.isalnum() and not value.isdigit() and turns(value) >= 3 and not _TYPE.fullmatch(value):
        return True
    if UUID.fullmatch(value) or compiled(_HEX).fullmatch(value) or looks_random(value.replace("%", ""), 16, said=True):
        return True
    sorts = [str.isupper, str.islower, str.isdigit, _MARKS.__contains__]
    mixed = sum(any(map(sort, value)) for sort in sorts)
    return len(value) >= 10 and mixed >= 3 and looks_random(value, 10, said=True)
