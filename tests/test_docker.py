"""The containers, as far as they can be held without an engine: files parse, commands and variables exist.

The broker's settings are started for real where there is a Kafka, with only its addresses and folder changed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import captured
from kafka_broker import Broker, free_ports, make_broker
from test_docs import parse

from memtape import __version__
from memtape.schemas.variables import SESSION_VARIABLE
from memtape.sinks.home.folders import HOME_VARIABLE
from memtape.sinks.logs.kafka import KafkaLog
from memtape.sinks.logs.kafka_topic import PASSWORD_VARIABLE, parse_kafka_url
from memtape.sinks.logs.opening import LOG_VARIABLE

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if name != "kafka"}
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
READ_BY_THE_CODE = {HOME_VARIABLE, LOG_VARIABLE, PASSWORD_VARIABLE, SESSION_VARIABLE}
KNOWN_TO_PYTHON = {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
READ_BY_THE_IMAGE = {"CLUSTER_ID", "KAFKA_HEAP_OPTS"}
"""What the image's own scripts read; every other variable is a setting of the broker."""


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile in order, lines that go on joined and comments left out."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE).replace("\\\n", " ")
    found = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    return [(name, " ".join(rest.split())) for name, rest in found]


def last(name: str) -> str:
    return [rest for found, rest in instructions() if found == name][-1]


def variables() -> dict[str, str]:
    """Return what the last stage of the Dockerfile sets."""
    return dict(word.split("=", 1) for word in shlex.split(last("ENV")))


def settings() -> dict[str, str]:
    """Return the broker's settings as the image makes them of its environment."""
    environment = SERVICES["kafka"]["environment"]
    names = [name for name in environment if name.startswith("KAFKA_") and name not in READ_BY_THE_IMAGE]
    return {name.removeprefix("KAFKA_").lower().replace("_", "."): str(environment[name]) for name in names}


def test_images_are_pinned_and_nothing_listens_for_other_machines() -> None:
    images = [service["image"] for service in SERVICES.values()]
    images += [rest.split()[0] for name, rest in instructions() if name == "FROM"]
    for image in images:
        assert re.fullmatch(r"[a-z/]+:\d+\.\d+\.\d+(-[a-z]+)*(@sha256:[0-9a-f]{64})?", image), image
    assert {service["image"] for service in OURS.values()} == {f"memtape:{__version__}"}
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports and all(port.startswith("127.0.0.1:") for port in ports)
    assert "network_mode" not in str(SERVICES)
    networks = {network for service in OURS.values() for network in service["networks"]}
    assert networks and all(COMPOSE["networks"][network].get("internal") is True for network in networks)


def test_no_secret_is_in_a_file_and_every_variable_is_one_that_is_read() -> None:
    for path in (ROOT / "docker").iterdir():
        text = path.read_text().replace("automountServiceAccountToken: false", "")
        assert not re.search(r"(?i)(password|secret|token|api_?key)\s*[:=]\s*[^\s\])]", text), path.name
        assert not re.search(r"://[^/\s]*@", text), path.name
        assert set(re.findall(r"\bMEMTAPE_\w+", text)) <= READ_BY_THE_CODE, path.name
    for service in SERVICES.values():
        assert not re.search(r"PASSWORD|SECRET|TOKEN|JAAS", " ".join(service["environment"]))
    assert all(set(service["environment"]) <= READ_BY_THE_CODE for service in OURS.values())
    assert set(variables()) <= READ_BY_THE_CODE | KNOWN_TO_PYTHON


def test_the_projector_reaches_the_broker_by_its_url() -> None:
    (url,) = {service["environment"][LOG_VARIABLE] for service in OURS.values()}
    target = parse_kafka_url(url)
    assert target.insecure
    advertised = dict(listener.split("://") for listener in settings()["advertised.listeners"].split(","))
    assert (target.servers[0], COMPOSE["networks"]["memory"]["internal"]) == (advertised["MEMORY"], True)
    host, published, inside = SERVICES["kafka"]["ports"][0].split(":")
    assert (advertised["HOST"], inside) == (f"{host}:{published}", published)
    assert f"HOST://:{inside}" in settings()["listeners"]
    test = SERVICES["kafka"]["healthcheck"]["test"]
    assert (test[0], test[test.index("--bootstrap-server") + 1]) == ("CMD", target.servers[0])
    assert OURS["projector"]["depends_on"]["kafka"]["condition"] == "service_healthy"


def test_what_is_remembered_is_on_volumes_and_is_kept() -> None:
    assert f"kafka:{settings()['log.dirs']}" in SERVICES["kafka"]["volumes"]
    for service in OURS.values():
        assert service["volumes"] == [f"home:{variables()[HOME_VARIABLE]}"]
    kept = {name: settings()[f"log.{name}"] for name in ("retention.ms", "retention.bytes", "cleanup.policy")}
    assert kept == {"retention.ms": "-1", "retention.bytes": "-1", "cleanup.policy": "delete"}


def test_the_image_runs_as_a_user_of_its_own_who_owns_the_home() -> None:
    user, _, group = last("USER").partition(":")
    assert user == group and int(user) >= 1_000
    made = next(rest for name, rest in instructions() if name == "RUN" and "useradd" in rest)
    assert f"--uid {user}" in made and f"--gid {group}" in made
    assert f"--owner {user} --group {group} --mode 0700 {variables()[HOME_VARIABLE]}" in made
    assert last("VOLUME") == f'["{variables()[HOME_VARIABLE]}"]'
    names = [name for name, _ in instructions()]
    assert names.index("VOLUME") > names.index("USER") > names.index("ENV")


def test_libraries_come_from_the_lock_files_by_hash_and_what_is_copied_is_let_through() -> None:
    runs = [rest for name, rest in instructions() if name == "RUN"]
    installs = [command for rest in runs for command in rest.split("&&") if " pip install " in command]
    assert installs
    for command in installs:
        is_locked = "--require-hashes" in command and "--only-binary :all:" in command
        assert "--no-index" in command or is_locked, command
    assert "://" not in re.sub(r"^#.*", "", DOCKERFILE, flags=re.MULTILINE), "no index or file is named"
    copied = [rest.split() for name, rest in instructions() if name == "COPY"]
    sources = {source for words in copied if not words[0].startswith("--from") for source in words[:-1]}
    patterns = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    assert patterns[0] == "*" and {it[1:] for it in patterns if it.startswith("!")} == sources
    assert all((ROOT / source).exists() for source in sources)
    assert {"memtape", "schemas", "state", "flows", "sinks", "tools", "pyproject.toml"} <= sources


def test_every_command_that_is_named_exists() -> None:
    spoken = [list(service["command"]) for service in OURS.values()] + [yaml.safe_load(last("CMD"))]
    readme = (ROOT / "docker" / "README.md").read_text().replace("\\\n", " ")
    for block in re.findall(r"```sh\n(.*?)```", readme, re.DOTALL):
        lines = [shlex.split(line, comments=True) for line in block.splitlines()]
        spoken += [words[words.index("memtape") + 1 :] for words in lines if "memtape" in words]
    assert len(spoken) > 5
    for words in spoken:
        parse(words)


@pytest.fixture
def composed(tmp_path: Path) -> Iterator[Broker]:
    """A broker with the settings of the compose file, on other ports and in another folder."""
    model = make_broker(tmp_path)  # It skips where there is no Kafka.
    ports = free_ports(3)
    own, host, controller = (f"127.0.0.1:{port}" for port in ports)
    changed = {"listeners": f"CONTROLLER://{controller},MEMORY://{own},HOST://{host}",
        "advertised.listeners": f"MEMORY://{own},HOST://{host}",
        "controller.quorum.voters": f"1@{controller}", "log.dirs": str(tmp_path / "data")}  # fmt: skip
    assert changed.keys() <= settings().keys()
    text = "".join(f"{name}={value}\n" for name, value in (settings() | changed).items())
    (tmp_path / "server.properties").write_text(text)
    cluster = SERVICES["kafka"]["environment"]["CLUSTER_ID"]
    model.tool("kafka-storage.sh", "format", "-t", cluster, "-c", str(tmp_path / "server.properties"))
    broker = Broker(host, model.home, tmp_path)
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()


@pytest.mark.slow
@pytest.mark.soak(short="test_what_is_remembered_is_on_volumes_and_is_kept")
def test_the_settings_of_the_compose_file_make_a_broker_that_keeps_everything(composed: Broker) -> None:
    from kafka import KafkaAdminClient
    from kafka.admin import ConfigResource, ConfigResourceType

    admin = KafkaAdminClient(bootstrap_servers=[composed.server])
    try:
        node = settings()["node.id"]
        wanted = ConfigResource(ConfigResourceType.BROKER, node)
        found = admin.describe_configs([wanted], config_filter="all")["broker"][node]
    finally:
        admin.close()
    assert set(settings()) <= set(found), "a setting that the broker does not know"
    of_keeping = re.compile(r"retention|policy|flush|factor|isr")
    kept = {name: value for name, value in settings().items() if of_keeping.search(name)}
    assert len(kept) > 6
    assert {name: found[name]["value"] for name in kept} == kept
    log = KafkaLog(composed.url())
    assert [position.offset for position in log.append([captured("kept", scope="project:a")])] == [2]
    log.check()
    log.close()
    tool, *words = SERVICES["kafka"]["healthcheck"]["test"][1:]
    assert tool.startswith("/opt/kafka/bin/")
    words = [composed.server if word == "kafka:9092" else word for word in words]
    said = composed.tool(Path(tool).name, *words)
    assert log.target.topic in said
