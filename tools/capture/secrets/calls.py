"""Passwords in calls of code, recognised by their place among the arguments alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtape.tools.capture.secrets.known import FoundSecret
from memtape.tools.capture.secrets.places import Places, marks, stems
from memtape.tools.capture.secrets.said import is_no_name

_CALLED = (
    r"(?i)"
    r"(?:log_?in|sign_?in|authenticate|basic_?auth|http\w{0,16}auth|connect|getconnection|mysqli(?:_connect)?|pdo"
    r"|(?:set|with|using)_?pass(?:word)?|create_?(?:super_?)?user|add_?user|auth|\bpassword|passwd\.encode"
    r"|credentials?(?=[\s=]{0,3}\([^(),\n]{1,200},)"
    r"|client(?=\(\s?[\"'](?:AC|SK)[0-9a-f]{32}[\"'])"
    r"|(?:from_key|wallet|totp|hotp|fernet))(?:\(|\s=\s?\(|=\()(?P<given>[^()\n]{6,400})\)"
    r"|convertto-securestring\s+(?:-string\s+)?(?P<plain>[\"'][^\"'\n]{4,256}[\"'])"
)
_MARKS = marks(
    "login log_in sign auth connect pass user credential mysqli pdo fernet otp wallet".split(),
    ("from_key", "convertto", "client("),
)
_STEMS = stems(
    """
    login( log_in( signin( sign_in( authenticate( basicauth( basic_auth( httpbasic httpdigest httpproxy connect(
    getconnection( mysqli pdo( setpass set_pass withpass with_pass usingpass createuser( create_user( createsuperuser(
    create_superuser( add_user( adduser( credential auth( auth=( password( passwd.encode( from_key(
    wallet( totp( hotp( fernet( convertto client(
    """.split()
)
_GIVEN = marks(('("', "('", ', "', ", '", "convertto"))
MAY_CALL = _GIVEN
"""Every call with a password has one of these."""
_LITERAL = re.compile(r"(?<![\w=])(?:[bru]?)[\"'](?P<value>[^\"'\s]{6,256})[\"']")


def call_secrets(places: Places) -> Iterator[FoundSecret]:
    """Yield the passwords in calls of login functions. Takes linear time."""
    if not places.has(_GIVEN) or not places.has(_MARKS):
        return
    for found in places.matches(_CALLED, _STEMS):
        group = "plain" if found["plain"] else "given"
        for literal in _LITERAL.finditer(found.string, *found.span(group)):
            if is_no_name(literal["value"]):
                yield FoundSecret(*literal.span("value"), "password")
