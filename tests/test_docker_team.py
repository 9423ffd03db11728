"""Deployments of a team: three brokers and two projectors by Compose, and projectors on Kubernetes.

The schemas of Kubernetes come with `pip install kubernetes-validate`; without it their test is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import captured, make_id
from kafka_broker import Broker, free_ports, make_broker
from test_docker import COMPOSE, DOCKERFILE, READ_BY_THE_CODE, last, variables
from test_docker import SERVICES as SINGLE
from test_docs import parse

from memtape.sinks.home.folders import HOME_VARIABLE
from memtape.sinks.home.settings import LocalSettings
from memtape.sinks.logs.kafka import KafkaLog
from memtape.sinks.logs.kafka_topic import PASSWORD_VARIABLE, parse_kafka_url
from memtape.sinks.logs.opening import LOG_VARIABLE

DOCKER = Path(__file__).resolve().parent.parent / "docker"
TEAM = yaml.safe_load((DOCKER / "team.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = TEAM["services"]
BROKERS = {name: it for name, it in SERVICES.items() if name.startswith("kafka")}
OURS = {name: it for name, it in SERVICES.items() if name not in BROKERS}
MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((DOCKER / "kubernetes.yaml").read_text()))
POD: dict[str, Any] = MANIFESTS[-1]["spec"]["template"]["spec"]
VERSIONS = ("1.30", "1.33")


def broker_settings(name: str) -> dict[str, str]:
    """Return the settings of a broker as the image makes them of its environment."""
    own = BROKERS[name]["environment"]
    names = [it for it in own if it.startswith("KAFKA_") and it != "KAFKA_HEAP_OPTS"]
    return {it.removeprefix("KAFKA_").lower().replace("_", "."): str(own[it]) for it in names}


def check_spoken(words: list[str]) -> None:
    """Check that a command exists, and that what it sets is a setting and a folder that is mounted."""
    parse(words)
    if words[:2] == ["admin", "settings"]:
        key, _, value = words[-1].partition("=")
        assert key in LocalSettings.__struct_fields__
        assert f"--mode 0700 {variables()[HOME_VARIABLE]} {value}" in DOCKERFILE


def test_a_team_is_made_of_the_images_and_the_commands_that_there_are() -> None:
    images = {it["image"] for it in OURS.values()} | {it["image"] for it in BROKERS.values()}
    assert images == {it["image"] for it in SINGLE.values()}
    assert {it["image"] for it in POD["containers"] + POD["initContainers"]} < images
    for words in (*(it["command"] for it in OURS.values()), *(it["args"] for it in _containers())):
        check_spoken(words)
    assert not any("ports" in it for it in SERVICES.values()) and COMPOSE["networks"]["memory"]["internal"]
    assert TEAM["networks"] == {"memory": {"internal": True}}


def test_projectors_have_homes_of_their_own_and_share_the_views() -> None:
    projectors = [it for it in OURS.values() if it["command"] == ["run"]]
    homes = [it["volumes"][0] for it in projectors]
    assert len(projectors) == 2 and len(dict.fromkeys(homes)) == 2
    assert len({it["volumes"][1] for it in projectors}) == 1
    assert {it["volumes"][0] for it in OURS.values()} == {*homes}
    names = {volume.split(":")[0] for it in SERVICES.values() for volume in it["volumes"]}
    assert names == TEAM["volumes"].keys()
    mounts = {it["name"]: it["mountPath"] for it in POD["containers"][0]["volumeMounts"]}
    assert mounts["home"] == variables()[HOME_VARIABLE]
    claimed = [it["metadata"]["name"] for it in MANIFESTS[-1]["spec"]["volumeClaimTemplates"]]
    assert mounts.keys() == {*claimed, *(it["name"] for it in POD["volumes"])}


def test_projectors_reach_the_brokers_by_their_url() -> None:
    (url,) = {it["environment"][LOG_VARIABLE] for it in OURS.values()}
    advertised = [broker_settings(name)["advertised.listeners"] for name in BROKERS]
    assert [f"MEMORY://{server}" for server in parse_kafka_url(url).servers] == advertised
    voters = broker_settings("kafka-1")["controller.quorum.voters"].split(",")
    assert voters == [f"{broker_settings(name)['node.id']}@{name}:9093" for name in BROKERS]
    for container in _containers():
        given = {it["name"]: it for it in container["env"]}
        assert given.keys() <= READ_BY_THE_CODE and "value" not in given[PASSWORD_VARIABLE]
        address = given[LOG_VARIABLE]["value"]
        assert "security=SASL_SSL" in address and f"cafile={_mount('ca')}/" in address


def test_pods_run_as_the_user_of_the_image_with_no_right_beyond() -> None:
    user = int(last("USER").partition(":")[0])
    context = POD["securityContext"]
    assert {context[name] for name in ("runAsUser", "runAsGroup", "fsGroup")} == {user}
    for container in _containers():
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert not POD["automountServiceAccountToken"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda it: it["kind"])
def test_manifests_are_of_the_schemas_of_kubernetes(manifest: dict[str, Any], version: str) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    validator.validate(manifest, version, strict=True)
    with pytest.raises(validator.ValidationError):
        validator.validate(manifest | {"replicaz": 2}, version, strict=True)


@pytest.fixture
def brokers(tmp_path: Path) -> Iterator[list[Broker]]:
    """The three brokers of the file, on other ports and in other folders."""
    (tmp_path / "model").mkdir()
    model, ports = make_broker(tmp_path / "model"), free_ports(6)
    controllers = dict(zip(BROKERS, ports[3:], strict=True))
    voters = ",".join(f"{broker_settings(it)['node.id']}@127.0.0.1:{controllers[it]}" for it in BROKERS)
    made = []
    for name, port in zip(BROKERS, ports[:3], strict=True):
        (folder := tmp_path / name).mkdir()
        own, controller = f"MEMORY://127.0.0.1:{port}", f"CONTROLLER://127.0.0.1:{controllers[name]}"
        changed = {"listeners": f"{controller},{own}", "advertised.listeners": own,
            "controller.quorum.voters": voters, "log.dirs": str(folder / "data")}  # fmt: skip
        assert changed.keys() <= broker_settings(name).keys()
        text = "".join(f"{key}={value}\n" for key, value in (broker_settings(name) | changed).items())
        (folder / "server.properties").write_text(text)
        cluster = BROKERS[name]["environment"]["CLUSTER_ID"]
        model.tool("kafka-storage.sh", "format", "-t", cluster, "-c", str(folder / "server.properties"))
        made.append(Broker(f"127.0.0.1:{port}", model.home, folder))
    try:
        with ThreadPoolExecutor(3) as starting:  # None answers before there are two.
            list(starting.map(Broker.start, made))
        yield made
    finally:
        for broker in made:
            broker.stop()


@pytest.mark.slow
@pytest.mark.soak(short="test_projectors_reach_the_brokers_by_their_url")
def test_the_brokers_of_a_team_keep_what_was_acknowledged_when_one_is_killed(brokers: list[Broker]) -> None:
    log = KafkaLog(f"kafka://{','.join(broker.server for broker in brokers)}/captures", 2)
    assert log.topic.description.replication == 3
    log.append([captured("before", "before", scope="project:a")])
    brokers[0].kill()
    log.append([captured("after", "after", scope="project:a")])
    log.check()
    assert len(log.known("project:a", [make_id("before"), make_id("after")])) == 2
    log.close()


def _containers() -> list[dict[str, Any]]:
    return [*POD["initContainers"], *POD["containers"]]


def _mount(name: str) -> str:
    """Return where a volume is mounted in the pods."""
    return next(it["mountPath"] for it in POD["containers"][0]["volumeMounts"] if it["name"] == name)
