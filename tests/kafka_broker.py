"""A real Kafka broker for tests: one node on loopback in a temporary folder, 370 MB, ready in some seconds.

It is started from `KAFKA_HOME`, by default `../shared/kafka` beside this checkout, and needs Java 17. With
`MEMTAPE_TEST_KAFKA=host:port` a broker that runs already is used, and tests that must stop it are skipped.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from cutting import Network
from tables import DATA

ROOT = Path(__file__).resolve().parent.parent
START_TIMEOUT_S = 300.0
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -XX:+UnlockDiagnosticVMOptions"
JVM += " -XX:-BytecodeVerificationRemote"
"""A broker of tests lives for a minute: what it spends on being quick or sure later never comes back."""
USERS, PASSWORD = ("ada", "bob", "eve", "keeper"), "a-secret-of-the-tests"
USER = USERS[0]


Place = Path | None


class Broker:
    """A broker that is running. `home` and `folder` are None where somebody else started it."""

    def __init__(self, server: str, home: Place = None, folder: Place = None, secret: str = "") -> None:
        self.server, self.home, self.folder = server, home, folder
        self.secret = secret
        """Where it speaks TLS and asks for a user and password; empty without OpenSSL."""
        self.network: Network | None = None
        """The network by which `network_url` leads to it."""
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, topic: str | None = None) -> str:
        """Return the URL of a topic, of one that nobody has made yet where none is named."""
        return f"kafka://{self.server}/{topic or new_topic()}"

    def network_url(self, topic: str) -> str:
        """Return the URL of a topic for a client that comes through the network."""
        if self.network is None:
            pytest.skip("the broker is not ours to be reached in another way")
        return f"kafka://{self.network.address}/{topic}"

    def url_of(self, user: str, topic: str) -> str:
        """Return the URL of a topic for one of `USERS`, over TLS."""
        if not self.secret or self.folder is None:
            pytest.skip("no OpenSSL to make a certificate with, or the broker is not ours")
        ask = f"security=SASL_SSL&mechanism=SCRAM-SHA-512&user={user}&cafile={self.folder / 'ca.pem'}"
        return f"kafka://{self.secret}/{topic}?{ask}"

    def allow(self, user: str, name: str, *operations: str) -> None:
        """Allow a user operations on the topics and groups of a name and on those that begin with it.

        Whoever is not named on a topic with such a rule may not use it, but for clients without a user.
        """
        self.url_of(user, name)  # It skips where the users are not ours.
        from kafka import KafkaAdminClient
        from kafka.admin import (
            ACL,
            ACLOperation,
            ACLPermissionType,
            ACLResourcePatternType,
            ResourcePattern,
            ResourceType,
        )

        admin = KafkaAdminClient(bootstrap_servers=[self.server])
        try:
            allowed, of = ACLPermissionType.ALLOW, ACLResourcePatternType.PREFIXED
            for kind in (ResourceType.TOPIC, ResourceType.GROUP):
                resource = ResourcePattern(kind, name, of)
                rules = [ACL(f"User:{user}", "*", ACLOperation[it], allowed, resource) for it in operations]
                admin.create_acls(rules)
        finally:
            admin.close()

    def start(self) -> None:
        """Start the broker, or start it again in the folder that it had, and wait until it answers."""
        assert self.home and self.folder
        notes = f"-Dlog4j2.configurationFile={self.home}/config/tools-log4j2.yaml"
        with (self.folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                [self.home / "bin" / "kafka-server-start.sh", self.folder / "server.properties"],
                env=os.environ | {"JAVA_TOOL_OPTIONS": JVM, "KAFKA_LOG4J_OPTS": notes},
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + START_TIMEOUT_S
        while not answers(self.server):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError((self.folder / "output").read_text()[-2_000:])
            time.sleep(0.1)

    def signal(self, number: signal.Signals) -> None:
        """Send the broker a signal; it must be one that the tests started."""
        if self._process is None:
            pytest.skip("the broker is not ours to stop")
        self._process.send_signal(number)

    def _states(self) -> list[str]:
        """Return the state of each thread of the broker, none where the system does not say."""
        assert self._process is not None
        found = []
        for path in Path(f"/proc/{self._process.pid}/task").glob("*/stat"):
            with suppress(OSError):  # A thread may have ended meanwhile.
                found.append(path.read_text().rpartition(")")[2].split()[0])
        return found

    def kill(self) -> None:
        """End the broker at once, as a crash would."""
        self.signal(signal.SIGKILL)
        self._wait()

    def stop(self) -> None:
        """End the broker in order, if it is running."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._wait()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let the broker hang: it holds its connections and says nothing."""
        self.signal(signal.SIGSTOP)
        # A signal stops the threads one by one, and one that still runs may answer.
        while any(state != "T" for state in self._states()):
            time.sleep(0.01)
        try:
            yield
        finally:
            self.signal(signal.SIGCONT)

    def tool(self, name: str, *arguments: str, given: str = "") -> str:
        """Run one of Kafka's own commands with some lines on its stdin, and return what it says."""
        if self.home is None:
            pytest.skip("KAFKA_HOME is not known")
        how: dict[str, Any] = {"input": given, "capture_output": True, "text": True}
        environment = os.environ | {"JAVA_TOOL_OPTIONS": JVM}
        run = subprocess.run([self.home / "bin" / name, *arguments], env=environment, **how)
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout

    def _wait(self) -> None:
        assert self._process
        try:
            self._process.wait(120)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def new_topic() -> str:
    """Return a name that no topic has."""
    return f"captures-{uuid.uuid4()}"


def answers(server: str) -> bool:
    """Whether a broker has come up at an address."""
    from kafka import KafkaAdminClient
    from kafka.errors import KafkaError

    host, _, port = server.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 1).close()
        admin = KafkaAdminClient(bootstrap_servers=[server], bootstrap_timeout_ms=2_000)
        try:
            return bool(admin.describe_cluster()["brokers"])
        finally:
            admin.close()
    except (KafkaError, OSError):
        return False


def make_broker(folder: Path) -> Broker:
    """Return a broker of this session that is not started yet, or skip the test that asked for it."""
    home = Path(os.environ.get("KAFKA_HOME") or ROOT.parent / "shared" / "kafka")
    if not (home / "bin" / "kafka-server-start.sh").is_file():
        pytest.skip(f"no Kafka at {home}; set KAFKA_HOME or MEMTAPE_TEST_KAFKA")
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else shutil.which("java")
    if not java or not Path(java).is_file():
        pytest.skip("no Java for Kafka; install a JRE 17 or newer")
    ports = free_ports(5)
    secret = f"127.0.0.1:{ports[2]}" if make_certificate(folder) else ""
    broker = Broker(f"127.0.0.1:{ports[0]}", home, folder, secret)
    broker.network = Network(ports[4], ports[3])
    broker.network.start()
    (folder / "server.properties").write_text(properties(folder, ports))
    # The id of a cluster may not begin with a dash.
    cluster = urlsafe_b64encode(bytes(1) + uuid.uuid4().bytes[1:]).decode().rstrip("=")
    words = ["--standalone", "-t", cluster, "-c", str(folder / "server.properties")]
    for user in USERS:
        words += ["--add-scram", f"SCRAM-SHA-512=[name={user},password={PASSWORD}]"]
    broker.tool("kafka-storage.sh", "format", *words)
    return broker


def make_certificate(folder: Path) -> bool:
    """Make a key and a certificate for 127.0.0.1, `broker.pem` of both and `ca.pem`, if there is OpenSSL."""
    if not shutil.which("openssl"):
        return False
    key, certificate = folder / "key.pem", folder / "ca.pem"
    made = "-x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=tests -addext subjectAltName=IP:127.0.0.1"
    command = ["openssl", "req", *made.split(), "-keyout", key, "-out", certificate]
    if subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode:
        return False
    (folder / "broker.pem").write_bytes(key.read_bytes() + certificate.read_bytes())
    return True


def properties(folder: Path, ports: list[int]) -> str:
    """Return the settings of one node."""
    own, controller, secret, behind, network = (f"127.0.0.1:{port}" for port in ports)
    filled = {"behind": behind, "network": network}
    filled |= {"own": own, "controller": controller, "folder": folder, "user": USER, "password": PASSWORD}
    filled["tls"] = f",SECRET://{secret}" if (folder / "broker.pem").exists() else ""
    return (DATA / "kafka.properties").read_text().format(**filled)


def free_ports(count: int) -> list[int]:
    """Return ports that were free a moment ago, each another one."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in sockets]
    for server in sockets:
        server.close()
    return ports


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """One broker for all tests of a session."""
    running = os.environ.get("MEMTAPE_TEST_KAFKA")
    if running:
        yield Broker(running)
        return
    broker = make_broker(tmp_path_factory.mktemp("kafka"))
    try:
        broker.start()
        yield broker
    finally:
        broker.kill()
