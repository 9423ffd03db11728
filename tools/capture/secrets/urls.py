"""Secrets in addresses: passwords of users, tokens among the parameters, and addresses that are themselves a key."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtape.tools.capture.secrets.assigned import UUID, is_cursor, is_no_secret, key_like, password_like
from memtape.tools.capture.secrets.known import FoundSecret
from memtape.tools.capture.secrets.places import Places, compiled, either, marks, signs

_URL_USER = r"://(?P<user>[^\s/:@\"'<>`]{0,256})(?::(?P<password>[^\s/\"'<>`]{1,256}))?@(?=[\w\[$])"
_URL_CUT = (
    r"(?i)"
    r"\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|amqp|mssql|sqlserver|clickhouse|s?ftp|smtp"
    r"|ldap)s?(?:\+\w{1,16})?://"
    r"[^\s/:@\"'<>`]{1,64}:(?P<password>[^\s/:@,?\"'<>`()\[\]]{6,256})(?![^\s\"'<>`/?,.;)\]])"
)
"""An address that ends, or goes on to its path, before it names a host; that may be a port, as far as it has digits."""
_QUERY = (
    r"(?i)"
    r"[?&;](?:(?:[a-z]{1,16}[_-]){0,2}(?P<name>api_?key|auth|key|passwd|password|pwd|secret|sig|signature|token)"
    r"|apptoken|appkey|authtoken|accesstoken|appid(?==[0-9a-f]{32}))=(?P<value>[^\s&#\"'<>`)\]]{6,2048})"
)
_DRIVER = re.compile(r"@(?:tcp|udp|unix)\d?\(|@//[\w.-]+[:/]")
_DRIVER_USER = r"(?<![^\s\"'`=:])[\w.$-]{1,64}[:/](?P<password>[^\s\"'`]{4,128})\Z"
"""Addresses for database drivers: `user:password@tcp(host)/name`, `user/password@//host/name`."""
_OPENING = (
    r"(?i)"
    r"://[^\s\"'<>`?#]{1,200}?[/.](?:(?:incoming)?(?:web)?hooks?\d?|magic(?:[_-]?link)?|reset|recover|invit\w{1,8}|verify|confirm|activate"
    r"|passwords?|one-time|login)(?:[._-]\w{1,20}){0,4}/(?P<path>[^\s\"'<>`?#)\]]{16,512})"
)
"""An address that admits every holder: it takes messages, or lets people in."""
_ADDRESSES = signs("://")
_DRIVERS = marks(("@tcp", "@udp", "@unix", "@//"))
_PARAMETERS = marks("key= auth= passwd= password= pwd= secret= sig= signature= token= appid=".split())
MAY_ADDRESS = either(_ADDRESSES, _DRIVERS, _PARAMETERS)
"""Every secret of an address has one of these."""


def url_secrets(places: Places) -> Iterator[FoundSecret]:
    """Yield the secrets in addresses: passwords, tokens, secret paths. Takes linear time."""
    text = places.text
    if places.may(_ADDRESSES):
        yield from _in_urls(text)
        yield from _opening(text)
    if places.may(_DRIVERS):
        yield from _of_drivers(text)
    for found in compiled(_QUERY).finditer(text) if places.may(_PARAMETERS) else ():
        if key_like(found["value"]) and not is_cursor(text, found.start("name")):
            yield FoundSecret(*found.span("value"), "url-parameter")


def _in_urls(text: str) -> Iterator[FoundSecret]:
    for found in compiled(_URL_USER).finditer(text) if "@" in text else ():
        if found["password"] is not None:
            if not is_no_secret(found["password"]):
                yield FoundSecret(*found.span("password"), "url-password")
        elif (
            "sentry" not in text[found.end() : found.end() + 64]
            and len(found["user"]) >= 16
            and key_like(found["user"])
        ):
            yield FoundSecret(*found.span("user"), "url-password")
    for found in compiled(_URL_CUT).finditer(text):
        value = found["password"]
        if any(map(str.isalpha, value)) and password_like(value, quoted=True, shouted=False):
            yield FoundSecret(*found.span("password"), "url-password")


def _opening(text: str) -> Iterator[FoundSecret]:
    """Yield the paths of addresses from the first part that was drawn; a UUID names a thing."""
    for found in compiled(_OPENING).finditer(text):
        place = found.start("path")
        for part in found["path"].split("/"):
            if len(part) >= 20 and key_like(part) and not UUID.fullmatch(part):
                yield FoundSecret(place, found.end("path"), "url-parameter")
                break
            place += len(part) + 1


def _of_drivers(text: str) -> Iterator[FoundSecret]:
    for driver in _DRIVER.finditer(text):
        found = compiled(_DRIVER_USER).search(text, max(0, driver.start() - 200), driver.start())
        if found and not is_no_secret(found["password"]):
            yield FoundSecret(*found.span("password"), "url-password")
