"""The topic of a log on Kafka: its URL, its creation without retention, and its settings.

A URL is `kafka://host:port[,host:port]/topic?security=SASL_SSL&mechanism=SCRAM-SHA-512&user=NAME`. Passwords
are never in it: they come by the environment, since URLs appear in histories, process lists and settings
files. A topic is refused if its settings would delete records.

Kafka changes no record in place, so that erasing copies a topic into its next generation: `captures`, then
`captures.g1`, `captures.g2`. A generation's state is in its own settings: one being filled retains a number
of bytes that is never reached instead of -1, and a closed one takes no message. The highest generation not
being filled is the log.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import Meta

from memtape.schemas.errors import DamagedLog, LogAway, LogExists, MemtapeError, StillHeld
from memtape.schemas.events import MAX_EVENT_BYTES
from memtape.schemas.log import DEFAULT_PARTITIONS

OPEN_TIMEOUT_S = 15.0
REQUEST_TIMEOUT_S = 10.0
RETRY_S = 0.2
MAX_REPLICATION = 3

FOR_EVER = {"cleanup.policy": "delete", "retention.bytes": "-1", "retention.ms": "-1"}
"""The settings without which a broker would delete memories."""

MESSAGE_BYTES = 1_048_588
"""`max.message.bytes` of a new topic, Kafka's default; the largest event fits with key, headers and batch."""

FILLING = {"retention.bytes": str(2**63 - 1)}
"""The setting of a generation that is not whole yet; nothing on it is deleted either."""

CLOSED = {"max.message.bytes": "0"}
"""The setting of a generation that takes no more events. A broker refuses every producer from then on."""

LEAST_MESSAGE_BYTES = MAX_EVENT_BYTES + 1_024
_LOGIN_ERRORS = ("SaslAuthenticationFailedError", "UnsupportedSaslMechanismError", "IllegalSaslStateError")

PASSWORD_VARIABLE = "MEMTAPE_KAFKA_PASSWORD"
OPTIONS = ("security", "mechanism", "user", "cafile", "replication", "insecure")
FORM = "Write kafka://host:port[,host:port]/topic[?security=…&mechanism=…&user=…&cafile=…&replication=…]."

_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}\Z")
_GENERATION = re.compile(r"\.g[1-9][0-9]*\Z")
_SERVER = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(?P<port>[0-9]{1,5})\Z")

T = TypeVar("T")


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
    if _GENERATION.search(topic):
        raise _bad(f"{topic[:60]!r} is the name of a topic's next generation")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        raise _bad("what follows the question mark is not name=value") from None
    names = [name for name, _ in pairs]
    for name in names:
        if name not in OPTIONS or names.count(name) > 1:
            why = "is given twice" if name in OPTIONS else "is no option"
            raise _bad(f"{name[:60]!r} {why}; there are {', '.join(OPTIONS)}")
    try:
        told = {**dict(pairs), "servers": servers, "topic": topic}
        target = msgspec.convert(told, KafkaTarget, strict=False)
    except msgspec.ValidationError as error:
        raise _bad(str(error)) from None
    wanted = target.security.startswith("SASL"), bool(target.mechanism), bool(target.user)
    if any(wanted) and not all(wanted):
        raise _bad("SASL_SSL and SASL_PLAINTEXT need a mechanism and a user, and nothing else takes them")
    cafile = target.cafile
    if cafile and target.readable_by_others:
        raise _bad("cafile is only for SSL and SASL_SSL")
    if cafile and not Path(cafile).is_file():
        raise MemtapeError(f"The CA file {cafile} is not there.", "Give a PEM file's path as cafile=.")
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


def _host(server: str) -> str:
    found = _SERVER.match(server)
    if not found or not 0 < int(found["port"]) < 65_536:
        raise _bad(f"{server[:60]!r} is no host:port")
    return found["host"].strip("[]")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bad(why: str) -> MemtapeError:
    return MemtapeError(f"That is no Kafka URL: {why}.", FORM)


class Description(NamedTuple):
    """The present state of a topic. A topic that was deleted and created again has another `id`."""

    id: str
    partitions: int
    replication: int


class KafkaTopic:
    """Requests to the cluster about one topic. Safe for threads."""

    def __init__(self, target: KafkaTarget, deadline_s: float = OPEN_TIMEOUT_S) -> None:
        if find_spec("kafka") is None:
            raise MemtapeError(
                "The log is on Kafka, and the client of Kafka is not installed.",
                "Install it in the checkout of Memtape with: pip install '.[kafka]'.",
            )
        from kafka import KafkaAdminClient

        self._target = target
        self.generation = target.generation or 0
        self._is_fixed = target.generation is not None
        self._deadline_s = min(OPEN_TIMEOUT_S, deadline_s)
        with explained(target), _causes_told():
            self._admin = KafkaAdminClient(
                **target.options(),
                request_timeout_ms=int(REQUEST_TIMEOUT_S * 1_000),
                bootstrap_timeout_ms=int(self._deadline_s * 1_000),
                reconnect_backoff_max_ms=1_000,
            )

    def name_of(self, generation: int | None = None) -> str:
        """Return the name of a generation of the log, of the one that is meant by default."""
        generation = self.generation if generation is None else generation
        return f"{self._target.topic}.g{generation}" if generation else self._target.topic

    def generations(self) -> list[int]:
        """Return the existing generations in order, complete or not."""
        names = self._retried(self._admin.list_topics)
        form = re.compile(rf"{re.escape(self._target.topic)}(?:\.g([1-9][0-9]*))?\Z")
        return sorted(int(found[1] or 0) for name in names if (found := form.match(name)))

    def follow(self) -> bool:
        """Move to the highest complete generation; return whether the generation changed."""
        before = self.generation
        while not self._is_fixed and (found := self.describe(self._deadline_s, self.generation + 1)):
            if self.is_filling(self.generation + 1):
                break
            self.generation, self.description = self.generation + 1, found
        return self.generation != before

    def is_filling(self, generation: int) -> bool:
        """Return whether a generation is not whole yet."""
        return self.settings(generation).get("retention.bytes") == FILLING["retention.bytes"]

    def is_closed(self) -> bool:
        """Return whether this generation takes no more events, because its next is being filled."""
        return self.settings().get("max.message.bytes") == "0"

    def set(self, settings: dict[str, str], generation: int | None = None) -> None:
        """Give a generation other settings."""
        from kafka.admin import ConfigResource, ConfigResourceType

        changed = ConfigResource(ConfigResourceType.TOPIC, self.name_of(generation), settings)
        self._retried(lambda: self._admin.alter_configs([changed]))

    def create(
        self, generation: int, partitions: int, replication: int, settings: dict[str, str]
    ) -> Description:
        """Create a generation if missing, and return its description once it appears."""
        from kafka.errors import KafkaTimeoutError, RequestTimedOutError, TopicAlreadyExistsError

        configs = FOR_EVER | settings
        configs |= {"max.message.bytes": str(MESSAGE_BYTES), "message.timestamp.type": "CreateTime"}
        if replication >= MAX_REPLICATION:
            configs["min.insync.replicas"] = "2"
        made = {"num_partitions": partitions, "replication_factor": replication, "configs": configs}
        # Another was first, or it still comes.
        later = suppress(TopicAlreadyExistsError, RequestTimedOutError, KafkaTimeoutError)
        with explained(self._target), later:
            self._admin.create_topics({self.name_of(generation): made})
        deadline = time.monotonic() + OPEN_TIMEOUT_S
        while (found := self.describe(generation=generation)) is None:
            if time.monotonic() > deadline:
                told = f"The {self._target.place} was made and does not appear."
                raise MemtapeError(told, "Look at the broker.")
            time.sleep(RETRY_S / 4)
        return found

    def delete(self, generation: int) -> None:
        """Delete a generation and wait until the brokers have taken it from their disks' folders."""
        from kafka.errors import UnknownTopicOrPartitionError

        name = self.name_of(generation)
        deadline = time.monotonic() + OPEN_TIMEOUT_S
        # kafka-python knows no setting of a topic that another process has just deleted: a `ValueError`.
        with suppress(UnknownTopicOrPartitionError, ValueError):
            self.set({"file.delete.delay.ms": "0"}, generation)
        while self.describe(generation=generation) is not None:
            with explained(self._target), suppress(UnknownTopicOrPartitionError):
                self._admin.delete_topics([name])
            if time.monotonic() > deadline:
                raise StillHeld(f"The broker has not deleted {name} yet.", "Give the same command again.")
            time.sleep(RETRY_S)

    def open(self, partitions: int | None) -> Description:
        """Return the topic, created if missing.

        Raises `LogExists` for another number of partitions than asked, and `MemtapeError` if a broker would
        delete events, or others could read them on the way.
        """
        brokers = self._retried(self._admin.describe_cluster)["brokers"]
        check_private(self._target, [broker["host"] for broker in brokers])
        if not self._is_fixed:
            there = self.generations()
            self.generation = max((number for number in there if not self.is_filling(number)), default=0)
        found = self.describe()
        if found is None:
            replication = self._target.replication or min(MAX_REPLICATION, len(brokers))
            found = self.create(self.generation, partitions or DEFAULT_PARTITIONS, replication, {})
        self.description = found
        if partitions is not None and partitions != found.partitions:
            raise LogExists(
                f"The {self._target.place} has {found.partitions} partitions, not {partitions}.",
                "The number never changes; copy the log into a new topic to have another.",
            )
        if not self._is_fixed:
            self.check_settings()
        return found

    def describe(self, wait_s: float = OPEN_TIMEOUT_S, generation: int | None = None) -> Description | None:
        """Return the description of the topic, or of another generation; None if it does not exist."""
        from kafka.errors import LeaderNotAvailableError, UnknownTopicOrPartitionError, for_code

        name = self.name_of(generation)

        def ask() -> Description | None:
            (topic,) = self._admin.describe_topics([name])
            if topic["error_code"] == UnknownTopicOrPartitionError.errno:
                return None
            if topic["error_code"]:
                raise for_code(topic["error_code"])()
            if any(partition["leader_id"] < 0 for partition in topic["partitions"]):
                raise LeaderNotAvailableError()
            replication = len(topic["partitions"][0]["replica_nodes"])
            return Description(str(topic["topic_id"]), len(topic["partitions"]), replication)

        return self._retried(ask, wait_s)

    def settings(self, generation: int | None = None) -> dict[str, str]:
        """Return the settings of a generation that matter to a log, and its replication."""
        from kafka.admin import ConfigResource, ConfigResourceType

        name = self.name_of(generation)
        wanted = ConfigResource(ConfigResourceType.TOPIC, name, [*FOR_EVER, "max.message.bytes"])
        answer = self._retried(lambda: self._admin.describe_configs([wanted], config_filter="all"))
        return {key: entry["value"] for key, entry in answer["topic"][name].items()}

    def check_settings(self) -> None:
        """Raise `MemtapeError`, with the command that helps, if the broker would delete or refuse events."""
        settings = self.settings()
        wrong = {name: value for name, value in FOR_EVER.items() if settings.get(name) != value}
        said = [f"{name} is {settings.get(name)}" for name in wrong]
        closed = settings.get("max.message.bytes") == "0"
        if not closed and int(settings.get("max.message.bytes") or 0) < LEAST_MESSAGE_BYTES:
            wrong["max.message.bytes"] = str(MESSAGE_BYTES)
            said.append(f"max.message.bytes is {settings.get('max.message.bytes')}")
        if wrong:
            login = "" if self._target.security == "PLAINTEXT" else " --command-config client.properties"
            raise MemtapeError(
                f"The {self._target.place} would not keep every event for ever: {', '.join(said)}.",
                f"kafka-configs.sh --bootstrap-server {self._target.servers[0]}{login} --alter --entity-type "
                f"topics --entity-name {self.name_of()} --add-config "
                + ",".join(f"{name}={value}" for name, value in wrong.items()),
            )

    def close(self) -> None:
        """End the connection. Closing twice is allowed."""
        self._admin.close()

    def _retried(self, call: Callable[[], T], deadline_s: float = OPEN_TIMEOUT_S) -> T:
        """Ask until there is an answer; the library's client gives up at the first broken connection."""
        from kafka.errors import RetriableError

        deadline = time.monotonic() + deadline_s
        with explained(self._target):
            while True:
                try:
                    return call()
                except RetriableError:
                    if time.monotonic() > deadline:
                        raise
                time.sleep(RETRY_S)


@contextmanager
def explained(target: KafkaTarget) -> Iterator[None]:
    """Turn kafka-python's errors into one sentence and the next step."""
    from kafka import errors

    try:
        yield
    except tuple(getattr(errors, name) for name in _LOGIN_ERRORS):
        raise MemtapeError(
            f"The broker of {target.place} does not let {target.user or 'a client without a user'} in.",
            f"See user= and mechanism= of the URL, and {PASSWORD_VARIABLE}.",
        ) from None
    except errors.AuthorizationError as error:
        raise MemtapeError(
            f"{target.user or 'This client'} may not use {target.place}, says the broker: {_said(error)}.",
            "It needs to describe, read and write the topic, and to create it where it is missing.",
        ) from error
    except (errors.CorruptRecordError, errors.LogTruncationError) as error:
        raise DamagedLog(
            f"What the broker gives of {target.place} is damaged: {_said(error)}.",
            "Restore the topic from a replica or a copy; nothing has been skipped.",
        ) from error
    except (errors.RetriableError, OSError) as error:
        # To a wrong password a broker may answer by nothing but the end of the connection.
        login = f", and user=, mechanism= and {PASSWORD_VARIABLE} too" if target.mechanism else ""
        raise LogAway(
            f"The broker of {target.place} does not answer: {_said(error)}.",
            f"See that it runs, and that its address and security= are right{login}.",
        ) from error
    except errors.KafkaError as error:
        told = f"The {target.place} cannot be used: {_said(error)}."
        raise MemtapeError(told, "Look at the broker.") from error


@contextmanager
def _causes_told() -> Iterator[None]:
    """Raise why a first connection failed: the library only logs the cause, and at last says "timeout"."""
    from kafka.errors import KafkaTimeoutError

    causes: list[BaseException] = []

    def note(record: logging.LogRecord) -> bool:
        causes.extend(it for it in record.args or () if isinstance(it, BaseException))
        return True

    logger = logging.getLogger("kafka.net.manager")
    logger.addFilter(note)
    try:
        yield
    except KafkaTimeoutError as error:
        raise next((it for it in reversed(causes) if not isinstance(it, KafkaTimeoutError)), error) from None
    finally:
        logger.removeFilter(note)


def _said(error: Any) -> str:
    name = type(error).__name__.removesuffix("Error")
    text = " ".join(str(error).split())[:200].rstrip(".")
    return text if name in text else f"{name}: {text}" if text else name
