"""The URL of a log on Kafka, parsed and checked. Nothing here connects.

`kafka://host:port[,host:port]/topic?security=SASL_SSL&mechanism=SCRAM-SHA-512&user=NAME`. Passwords are never
in it: they come by the environment, since URLs appear in histories, process lists and settings files.
"""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, unquote, urlencode

import msgspec
from msgspec import Meta

from memtape.schemas.errors import MemtapeError

PASSWORD_VARIABLE = "MEMTAPE_KAFKA_PASSWORD"
OPTIONS = ("security", "mechanism", "user", "cafile", "replication", "insecure")
FORM = "Write kafka://host:port[,host:port]/topic[?security=…&mechanism=…&user=…&cafile=…&replication=…]."

_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}\Z")
_SERVER = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(?P<port>[0-9]{1,5})\Z")


class KafkaTarget(msgspec.Struct, frozen=True):
    """A topic on a cluster and the way to reach it. `replication` None follows the number of brokers.

    `generation` is one of the topic's, to be opened as it is; no URL has it.
    """

    servers: tuple[str, ...]
    topic: str
    security: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = None
    user: str | None = None
    cafile: str | None = None
    replication: Annotated[int, Meta(ge=1, le=32_767)] | None = None
    insecure: Literal["yes", "no"] = "no"
    generation: int | None = None

    @property
    def place(self) -> str:
        """The log's name in errors."""
        return f"topic {self.topic} at {','.join(self.servers)}"

    @property
    def url(self) -> str:
        """The URL of this target. `parse_kafka_url` makes an equal target of the URL in any folder."""
        options = {
            **{name: getattr(self, name) for name in OPTIONS},
            "security": None if self.security == "PLAINTEXT" else self.security,
            "cafile": os.path.abspath(self.cafile) if self.cafile else None,
            "insecure": self.insecure if self.insecure == "yes" else None,
        }
        query = urlencode({name: value for name, value in options.items() if value is not None})
        return f"kafka://{','.join(self.servers)}/{self.topic}" + (f"?{query}" if query else "")

    @property
    def readable_by_others(self) -> bool:
        """Return whether the network traffic is unencrypted."""
        return not self.security.endswith("SSL")

    def options(self) -> dict[str, Any]:
        """Return kafka-python's settings for any client. Raises `MemtapeError` without a needed password."""
        password = os.environ.get(PASSWORD_VARIABLE) if self.mechanism else None
        if self.mechanism and not password:
            told = f"The password of {self.user} is missing."
            raise MemtapeError(told, f"Set {PASSWORD_VARIABLE} in the environment.")
        options = {
            "bootstrap_servers": list(self.servers),
            "security_protocol": self.security,
            "ssl_cafile": self.cafile,
            "sasl_mechanism": self.mechanism,
            "sasl_plain_username": self.user,
            "sasl_plain_password": password,
        }
        return {name: value for name, value in options.items() if value}


def parse_kafka_url(url: str) -> KafkaTarget:
    """Return the target of a `kafka://` URL. Raises `MemtapeError` if it is invalid or unprotected."""
    scheme, _, rest = url.partition("://")
    if scheme != "kafka":
        raise _bad("it does not begin with kafka://")
    rest, _, query = rest.partition("?")
    authority, _, topic = rest.partition("/")
    if "@" in authority:
        # Not quoted: the text may be a password.
        raise MemtapeError(
            "A Kafka URL names no user before its hosts.", f"Say ?user=NAME, and set {PASSWORD_VARIABLE}."
        )
    servers = authority.split(",")
    hosts = [_host(server) for server in servers]
    if not _TOPIC.match(topic) or topic in (".", ".."):
        raise _bad(f"{topic[:60]!r} is no name of a topic")
    try:
        told = {**_options(query), "servers": servers, "topic": topic}
        target = msgspec.convert(told, KafkaTarget, strict=False)
    except msgspec.ValidationError as error:
        raise _bad(str(error)) from None
    _check_login(target)
    check_private(target, hosts)
    return target


def check_private(target: KafkaTarget, hosts: list[str]) -> None:
    """Raise `MemtapeError` if memories would go unencrypted to another machine without a person's consent."""
    strange = [host for host in hosts if not _is_loopback(host)]
    if target.readable_by_others and strange and target.insecure == "no":
        raise MemtapeError(
            f"What goes to {strange[0]} would be readable on the way.",
            "Say ?security=SSL or SASL_SSL, or ?insecure=yes if that network is yours alone.",
        )


def _check_login(target: KafkaTarget) -> None:
    wanted = target.security.startswith("SASL"), bool(target.mechanism), bool(target.user)
    if any(wanted) and not all(wanted):
        raise _bad("SASL_SSL and SASL_PLAINTEXT need a mechanism and a user, and nothing else takes them")
    if target.cafile and target.readable_by_others:
        raise _bad("cafile is only for SSL and SASL_SSL")
    if target.cafile and not Path(target.cafile).is_file():
        raise MemtapeError(f"The CA file {target.cafile} is not there.", "Give a PEM file's path as cafile=.")


def _options(query: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        raise _bad("what follows the question mark is not name=value") from None
    names = [name for name, _ in pairs]
    for name in names:
        if name not in OPTIONS or names.count(name) > 1:
            why = "is given twice" if name in OPTIONS else "is no option"
            raise _bad(f"{name[:60]!r} {why}; there are {', '.join(OPTIONS)}")
    return dict(pairs)


def _host(server: str) -> str:
    found = _SERVER.match(server)
    if not found or not 0 < int(found["port"]) < 65_536:
        raise _bad(f"{server[:60]!r} is no host:port")
    return unquote(found["host"]).strip("[]")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bad(why: str) -> MemtapeError:
    return MemtapeError(f"That is no Kafka URL: {why}.", FORM)
