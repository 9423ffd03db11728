"""Secrets that are known by what stands before them: `password=…`, `api_key: …`, headers, URLs with credentials.

What follows such a word is often no secret: a type, a name, a variable, an example. Here it is decided which is which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.tools.known_secrets import Finding
from recollect.tools.random_strings import looks_random

_PASSWORD = "|".join(
    r"""
    pass(?:word|wd|phrase|code) (?<![a-z])pwd (?<![a-z])pgpass passwort kennwort contrase[nñ]a mot\sde\spasse senha
    пароль 密码
    """.split()
)
_KEY = "|".join(
    r"""
    (?:api|access|auth|account|client|private|signing|encryption|master)[\s_-]?(?:secret[\s_-]?)?key
    (?:license|service|storage|app)[\s_-]?(?:secret[\s_-]?)?key secret(?:[_-]?access)?[_-]?key secret(?![a-z])
    (?<!max_)token(?![a-z]) credentials?(?![a-z]) sharedaccesskey
    """.split()
)
_ENDING = r"(?:_(?!hash|name|type|url|id|min|max|len|count|file|path|policy|field|ttl|exp|arn|ref)[a-z0-9]{1,16})?"
_QUOTED = r"(?P<quote>\\?[\"'`])(?P<quoted>[^\"'`\n\\]{4,512})(?P=quote)"
_BARE = r"(?P<bare>[^\s\"'`,;<>\[\](){}]{4,1024})"
_ASSIGNED = re.compile(
    rf"(?:(?P<password>{_PASSWORD})|(?:{_KEY})){_ENDING}"
    r"(?P<by>\\?[\"'`]?\]?\s{0,3}(?::\s?(?:str|string)\s?=|=>|:=|={1,3}|:)\s{0,3}|[\"']\s?,\s?(?=[\"'])|>|[ ](?=\S))"
    rf"(?:{_QUOTED}|{_BARE})",
    re.IGNORECASE,
)
_SAID = re.compile(
    rf"\b(?:(?P<password>{_PASSWORD})|(?:{_KEY}))(?:\s+(?:for|of|to|on|in|für|de|del)(?:\s+[\w.@:/-]{{1,40}}){{1,4}}?)?"
    r"\s+(?:is|was|=|to|will be|becomes|ist|lautet|est|es)(?:\s+now)?:?\s+"
    r"(?:(?P<quote>[\"'`“„])(?P<quoted>[^\"'`“”\n]{4,256})[\"'`”“]|(?P<bare>\S{4,512}))",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"authorization\\?[\"']?\s{0,2}[:=,]\s{0,2}\\?[\"']?(?:(?:basic|bearer|token|apikey|digest)\s+)?"
    r"(?P<value>[A-Za-z0-9._~+/=-]{8,8192})|\bbearer\s+(?P<bearer>[A-Za-z0-9._~+/=-]{16,8192})",
    re.IGNORECASE,
)
_URL_USER = re.compile(r"://(?P<user>[^\s/:@\"'<>`]{0,256})(?::(?P<password>[^\s/\"'<>`]{1,256}))?@(?=[\w\[$])")
_QUERY = re.compile(
    r"[?&;](?:access_token|refresh_token|id_token|api_?key|auth|key|password|passwd|pwd|secret|sig|signature|token"
    r"|x-amz-signature)=(?P<value>[^\s&#\"'<>`)\]]{6,2048})",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"(?:\bcurl\b[^\n|;]{0,200}?\s(?:-u|--user)\s*[\"']?[^\s:\"']{1,64}:|\bsshpass\s+-p\s*[\"']?"
    r"|\bredis-cli\b[^\n|;]{0,80}?\s-a\s+[\"']?|\bmysql(?:dump)?\b[^\n|;]{0,80}?\s-p(?=\S)"
    r"|\blogin\s+[\w.@-]{1,64}\s+password\s+)(?P<value>[^\s\"']{4,256})"
)

_EXAMPLE = re.compile(
    "|".join(
        r"""
        [x*.#•_-]+ x{3,}.* \.{3}.* .*\.{3} .*… .*\*{4}.* <.* .*> \[.* %[({].* your[-_]?.*
        my[-_]?(?:pass\w*|secret|token|key) foo(?:bar)?(?:baz)? bar baz
        .*example.* .*placeholder.* .*change[-_]?me.* .*redacted.* .*dummy.* insert.* replace.* todo.* fixme
        (?:pass|passwd|password|pwd|secret|token|key|apikey|api_key)[-_]?\d{0,3} user username admin_password
        none null nil true false undefined yes no required optional string hidden empty unset missing invalid expired
        disabled enabled default unknown text input
        """.split()
    ),
    re.IGNORECASE,
)
"""What people write where a secret would stand."""
_REFERENCE = re.compile(
    "|".join(
        r"""
        \$[A-Za-z_]\w* \$[({].* \$\w{1,8}\$.* %\w+% @\w+ &\w+ \*\w+ \{.* .*\}\}? ENC\[.* projects/.* .*[([].*
        (?:https?|file|vault|op|arn|ref|env|ssm|secretsmanager|gs|s3):.*
        (?:\./|\.\./|~/|/(?:run|etc|var|home|mnt|tmp|opt|usr|secrets?)/).*
        .*\.(?:txt|pem|json|ya?ml|py|js|ts|md|key|env|toml|cfg)
        (?:self|this|os|process|config|settings|env|req|request|args|options|opts|props|ctx|data|params|input|form)\b[.?].*
        (?:user|body|secrets|var|local)\b[.?].* [A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+ [A-Za-z_]\w*(?:->|::)\w.*
        """.split()
    )
)
"""What says where a secret is to be found: variables, paths, URLs, calls."""
_TECHNICAL = re.compile(
    r"(?:sha|md|base|utf|aes|rsa|bcrypt|argon|pbkdf|scrypt|oauth|hmac|blake|ed|ecdsa|hs|rs|es|iso|varchar|char|int|uint|float|v|ver"
    r"|version|k|ntlm|http|tls|ssl|x|ipv|bech|crc|id|step|min|max|len|length|mp|h)[-_]?\d+[a-z]{0,6}\d?(?:[-_].*)?"
    r"|\d+[-_ ]?(?:chars?|bytes?|bits?|days?|hours?|min\w{0,5}|digits?|tokens?|k|m|kb|mb|ms|s|fa|x|th|st|nd|rd)"
    r"(?:[-_ ].*)?"
    r"|\d{4}-\d\d(?:-\d\d.*)?|\d+(?:\.\d+)+|\d+%|(?:jwt|pat|bearer|basic)\w{0,4}",
    re.IGNORECASE,
)
"""What is said of passwords and tokens in general: how they are hashed, how long they are."""
_OPTION = re.compile(r"(?<![\w-])--[\w-]*$")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?=.{0,64}[0-9])(?=.{0,64}[a-f])[0-9a-f]{16,256}", re.IGNORECASE)
_MARKS = frozenset("!@#$%^&*?+~=|\\/")


def assigned_secrets(text: str) -> Iterator[Finding]:
    """Yield what is assigned, said or sent to be a password, key or token. Takes linear time."""
    for found in _ASSIGNED.finditer(text):
        yield from _assigned(text, found)
    for found in _SAID.finditer(text):
        yield from _said(found)
    for found in _HEADER.finditer(text):
        group = "value" if found["value"] else "bearer"
        value = found[group]
        if any(map(str.isdigit, value)) and not _no_secret(value) and (group == "value" or _key_like(value)):
            yield Finding(*found.span(group), "authorization")
    if "://" in text:
        yield from _in_urls(text)
    for found in _QUERY.finditer(text):
        if _key_like(found["value"]):
            yield Finding(*found.span("value"), "url-parameter")
    for found in _COMMAND.finditer(text):
        if re.search(r"[^a-z_]|^[a-z]+$", found["value"]) and not _no_secret(found["value"]):
            yield Finding(*found.span("value"), "password")


def _assigned(text: str, found: re.Match[str]) -> Iterator[Finding]:
    group = "quoted" if found["quoted"] is not None else "bare"
    value, by, word = found[group], found["by"], found[0][: found.start("by") - found.start()]
    start, end = found.span(group)
    if by == " " and not _OPTION.search(text, max(0, found.start() - 24), found.start()):
        return
    if group == "bare":
        value = value.rstrip(".:!?" if by != "=" else "")
        if "&" in value and "?" in text[max(0, found.start() - 256) : found.start()]:
            value = value.partition("&")[0]
        end = start + len(value)
    shouted = (word.isupper() and "=" in by) or (by == "=" and text[max(0, found.start() - 1) : found.start()] == ";")
    if found["password"]:
        if _password_like(value, quoted=group == "quoted", shouted=shouted):
            yield Finding(start, end, "password")
    elif _key_like(value):
        yield Finding(start, end, "assigned-secret")


def _said(found: re.Match[str]) -> Iterator[Finding]:
    group = "quoted" if found["quoted"] is not None else "bare"
    value = found[group]
    if group == "bare":
        value = value.rstrip(".,:;!?)'\"")
        if "-" in value and not _UUID.fullmatch(value) and not re.search(r"[0-9]{2}$|[!#$%+?*=@]", value):
            return  # It is a compound, as in "the password is plain-text".
    start = found.start(group)
    if found["password"]:
        if _password_like(value, quoted=group == "quoted", shouted=False):
            yield Finding(start, start + len(value), "password")
    elif _key_like(value):
        yield Finding(start, start + len(value), "assigned-secret")


def _in_urls(text: str) -> Iterator[Finding]:
    for found in _URL_USER.finditer(text):
        if found["password"] is not None:
            if not _no_secret(found["password"]):
                yield Finding(*found.span("password"), "url-password")
        elif len(found["user"]) >= 16 and _key_like(found["user"]):
            yield Finding(*found.span("user"), "url-password")


def _no_secret(value: str) -> bool:
    return bool(_EXAMPLE.fullmatch(value) or _REFERENCE.fullmatch(value))


def _password_like(value: str, *, quoted: bool, shouted: bool) -> bool:
    """Whether what is called a password is one: it mixes letters with digits or marks, or is nothing but digits."""
    if len(value) < 6 or " " in value or _no_secret(value) or _TECHNICAL.fullmatch(value):
        return False
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    marked = any(char in _MARKS for char in value)
    if digits and not letters:
        return marked or (value.isdigit() and len(value) >= 6)
    if letters and digits:
        return not re.fullmatch(r"[a-z]+(?:[_.][a-z0-9]+)+|[a-z]{3,}[0-9]", value)
    if marked and letters:
        return not re.search(r"[=|/\\&]", value) and value[-1] not in "?*+"
    return shouted and value.isalpha()


def _key_like(value: str) -> bool:
    """Whether what is called a key, secret or token is one: random, hexadecimal, a UUID, or short and of all sorts."""
    if len(value) < 8 or " " in value or _no_secret(value) or _TECHNICAL.fullmatch(value):
        return False
    if _UUID.fullmatch(value) or _HEX.fullmatch(value) or looks_random(value.replace("%", ""), 16, said=True):
        return True
    sorts = [str.isupper, str.islower, str.isdigit, _MARKS.__contains__]
    mixed = sum(any(map(sort, value)) for sort in sorts)
    return len(value) >= 10 and mixed >= 3 and looks_random(value, 10, said=True)
