"""Passwords that stand beside the name of a user: "login: ada / …", "user ada, password …", "get in with ada / …"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtape.tools.capture.secrets.assigned import PASSWORD, PASSWORD_STEMS, is_no_secret, password_like
from memtape.tools.capture.secrets.known import FoundSecret
from memtape.tools.capture.secrets.places import Places, either, marks, stems
from memtape.tools.capture.secrets.plain_words import plain_words
from memtape.tools.capture.secrets.said import ended, is_no_name, of_sort, very_sure

_PAIR = (
    r"(?i)(?:(?<![^\W_])(?:admin(?:istrator)?|root|guest|demo)|@[\w-]+\.[\w.-]+)\s[/|]\s[\"'`]?(?P<bare>[!-~]{8,256})"
)
"""The names of many accounts, or an address, and the value beside them in a row."""
_USER = (
    r"(?i)"
    r"(?<![^\W_])(?:(?:wi-?fi|wlan|ssid|log[\s-]?in|sign[\s-]?in|credentials?|creds|account"
    r"|user(?:name)?(?!\s?:)|user(?:name)?(?=:\s?\S+\s[/|]\s)|zugangsdaten|anmeldedaten|login-?daten|benutzer"
    r"|identifiants?|connexion|credenciales|usuario|acceso|credenciais|usuário|acesso|credenziali|utente"
    r"|accesso|inloggegevens|inloggen|gebruiker"
    r"|dane\slogowania|użytkownik|inloggning\w*|användare|giriş(?:\sbilgileri)?|kullanıcı|логин"
    r"|учётные\sданные|учетные\sданные|доступы?)"
    r"(?:\s(?:details|data|for|to|with|as|met|met\s|mit|avec|con|com|på|is|are|sind|sont|son|são|sono|zijn"
    r"|är|to)(?:\s[\w.-]{1,20}){0,3}?)?"
    r"(?!\w)|账号|帐号|用户名|アカウント|ログイン|계정|로그인|아이디)"
    r"(?:\s?(?:[:：=→—]|->))?\s{0,2}[\"'`]?(?P<user>[\w.@+-]{2,64})[\"'`]?\s{0,2}(?:(?<=\s)[/|](?=\s)|[,;](?=\s)"
    r"|:(?=[^\s/])|[,;:]?\s[/|]?\s?(?:key|psk|pw|pass)[:=]?\s|\s(?:and|und|et|y|e|en|i|och|ve|и|with|mit)\s)\s{0,2}[\"'`]?"
    r"(?P<bare>[!-~]{6,256})"
)
_USER_STEMS = stems(
    """
    wifi wi-fi wlan ssid log sign cred account user zugangsdaten anmeldedaten benutzer identifiant connexion acceso
    usu acesso utente accesso inlog gebruiker
    dane użytkownik användare giriş kullanıcı логин учётные учетные доступ
    账号 帐号 用户名 アカウント ログイン 계정 로그인 아이디
    """.split()
)
_WITH = (
    r"(?i)(?<![^\W_])(?:access|accessible|get\sin(?:to)?|log(?:ged|s)?[\s-]?in(?:to)?|sign(?:ed)?[\s-]?in|connect\w{0,3}|creds"
    r"|credentials|anmelden|einloggen|entra|acceder|connecter|accedi)(?![a-z])[^\n]{0,60}?\s(?:with|using|as|via|mit|als|avec|con|com|met)\s"
    r"[\"'`]?[\w.@+-]{2,64}[\"'`]?(?P<by>\s[/|:]\s|[/:])[\"'`]?(?P<bare>[!-~]{6,128})"
)
_WITH_STEMS = stems(
    (
        *"access logged logs login connect cred anmelden einloggen entra acceder accedi".split(),
        *("get in", "log in", "log-in", "sign in", "sign-in", "signed in"),
    )
)
_NAMED = (
    rf"(?i)(?<![^\W_])(?:user(?:name)?|login|account|utilisateur|identifiant|usuario|usuário|utente|benutzer\w{{0,4}}|gebruiker|użytkownik"
    r"|användare|логин|kullanıcı)(?:\s?[:=]\s?|\sis\s|\s)[\"'`]?[\w.@+-]{2,64}[\"'`]?(?:\s?[,;/|\n]\s{0,4}|\s)(?:(?:and|und|et|y|e|en|i|och|ve|и|with|mit)\s)?"
    rf"(?:(?:the|le|la|das|o|a)\s)?(?:{PASSWORD}|pw|pass)(?:\s?[:=]\s?|\sis\s(?:just\s|still\s)?|\s)[\"'`]?(?P<bare>[^\s\"'`]{{6,128}})"
)
_NAMED_STEMS = stems(
    "user login account utilisateur identifiant usu utente benutzer gebruiker".split(),
    "użytkownik användare логин kullan".split(),
)
_BY = marks((" with ", " using ", " as ", " via ", " mit ", " als ", " avec ", " con ", " com ", " met "))
_PAIR_STEMS = stems(("admin", "root", "guest", "demo", "@"))
_BETWEEN = marks((" / ", " | "))
MAY_PAIR = either(PASSWORD_STEMS, _WITH_STEMS)
MAY_PAIR_IN_ROWS = either(_BETWEEN, _USER_STEMS)
"""One of these is in every text that has a password beside a user, or a row of both."""
_SHORT_VERSION = re.compile(r"v?\d[\w.-]{0,11}")


def pair_secrets(places: Places) -> Iterator[FoundSecret]:
    """Yield the passwords beside a user's name. Takes linear time."""
    for found in places.matches(_NAMED, _NAMED_STEMS) if places.has(PASSWORD_STEMS) else ():
        yield from _named(found)
    for found in places.matches(_WITH, _WITH_STEMS) if places.has(_BY) else ():
        yield from of_sort(found, "bare", is_beside_user)


def pairs_in_rows(places: Places) -> Iterator[FoundSecret]:
    """Yield the values with a digit in a row with a user's name. Takes linear time."""
    if not places.numbered:
        return
    for found in places.matches(_PAIR, _PAIR_STEMS) if places.has(_BETWEEN) else ():
        yield from of_sort(found, "bare", is_no_name)
    for found in places.matches(_USER, _USER_STEMS):
        yield from of_sort(found, "bare", very_sure)


def is_beside_user(value: str) -> bool:
    """Whether a value after a user and a slash is a password: with a digit or mark, no version or path."""
    return (
        password_like(value, quoted=True, shouted=False)
        and not value.isdigit()
        and not _SHORT_VERSION.fullmatch(value)
        and "/" not in value
    )


def _named(found: re.Match[str]) -> Iterator[FoundSecret]:
    value, start = ended(found["bare"]), found.start("bare")
    if password_like(value, quoted=True, shouted=False):
        yield FoundSecret(start, start + len(value), "password")
    elif not is_no_secret(value) and (words := plain_words(found.string, start, quoted=False)):
        yield FoundSecret(*words, "password")
