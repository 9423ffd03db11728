"""A team on one topic: the views that machines share, whatever becomes of any of them."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from builders import captured, make_id
from commanding import call
from kafka_broker import Broker, new_topic
from s3_server import BUCKET, serving_s3
from team import SCOPES, Team

from memtape.state.core import digests
from memtape.tools.client import Client
from memtape.tools.keep.verify import verify

A = "project:a"
SESSION_S = 6.0
"""The least that a broker allows unless its settings say otherwise."""


@pytest.mark.slow
def test_views_are_those_of_the_log_when_machines_are_killed_frozen_misled_and_closed(
    kafka: Broker, tmp_path: Path
) -> None:
    with Team(tmp_path, 3 * [kafka.url()], 4, SESSION_S) as team:
        one, two, three = team.machines
        two.signal(signal.SIGSTOP)
        team.await_progress(without=two.pid)
        one.end(signal.SIGKILL)
        team.await_progress(without=one.pid)
        two.signal(signal.SIGCONT)
        three.signal(signal.SIGUSR1)
        time.sleep(4)
        team.await_progress()
        one.start()
        team.await_progress(one.pid)
        assert three.end(signal.SIGTERM) == 0
        team.await_progress()
        assert team.finish() == (0, 0, True, [])


@pytest.mark.slow
@pytest.mark.soak
def test_a_machine_that_was_cut_off_for_longer_than_its_session_joins_again(
    kafka: Broker, tmp_path: Path
) -> None:
    topic = new_topic()
    with Team(tmp_path, [kafka.url(topic), kafka.network_url(topic)], 4, SESSION_S) as team:
        assert kafka.network is not None
        one, two = team.machines
        with kafka.network.cut():
            team.await_progress(without=two.pid)
            time.sleep(SESSION_S)  # It believes to be a member for as long as this.
        team.await_progress(one.pid, two.pid)
        assert team.finish() == (0, 0, True, [])


@pytest.mark.slow
def test_a_single_run_and_a_rebuild_write_shared_views_and_leave_the_group(
    kafka: Broker, tmp_path: Path
) -> None:
    team = Team(tmp_path, 2 * [kafka.url()], 3, SESSION_S)
    one, two = (machine.home for machine in team.machines)
    team.log.append([captured(f"number {n}", f"n{n}", scope=f"project:s{n % 5}") for n in range(30)])
    call("run", "--once", home=one.path)
    hashes = [verify(team.reader, team.log)]
    claims = team.shared.served().claims
    call("rebuild", home=two.path)
    assert all(team.shared.served().claims[number] > claim for number, claim in claims.items())
    hashes.append(verify(team.reader, team.log))
    damaged = team.reader.current().shard(0) / "watermark.json"
    damaged.write_bytes(b"{")
    team.reader.current().note_damage(0)
    call("run", "--once", home=one.path)
    hashes.append(verify(team.reader, team.log))
    assert all(it.ok for it in hashes) and len({it.state_hash for it in hashes}) == 1
    with Client(team.reader.path, scope="project:s1") as client:
        assert client.search("number").results
    team.log.close()


@pytest.mark.slow
def test_an_erasure_reaches_the_shared_views_of_machines_that_run(kafka: Broker, tmp_path: Path) -> None:
    """The command is given at a machine that only reads."""
    with Team(tmp_path, 2 * [kafka.url()], 2, SESSION_S) as team:
        secret = "The codename is Zebrafish."
        [position] = team.log.append([captured(secret, "secret", scope=A)])
        team.await_progress()
        assert secret.encode() in team.bytes_of(position.partition)
        call("erase", make_id("secret"), "--scope", A, "--yes", home=team.reader.path)
        assert secret.encode() not in b"".join(map(team.bytes_of, range(2)))
        team.await_progress()
        assert team.finish() == (0, 0, True, [])


@pytest.mark.slow
def test_an_erasure_takes_old_versions_out_of_a_bucket_too(kafka: Broker, tmp_path: Path) -> None:
    with (
        serving_s3(versions=True) as server,
        Team(tmp_path, [kafka.url()], 2, SESSION_S, f"s3://{BUCKET}/a/b") as team,
    ):
        secret = "The codename is Zebrafish."
        [position] = team.log.append([captured(secret, "secret", scope=A)])
        team.await_progress()
        assert secret.encode() in team.bytes_of(position.partition)
        server.faults = lambda method, path: 503 if len(server.requests) % 7 == 0 else None
        call("erase", make_id("secret"), "--scope", A, "--yes", home=team.reader.path)
        assert secret.encode() not in b"".join(map(team.bytes_of, range(2)))
        with Client(team.reader.path, scope="project:s1") as client:
            assert client.search("number", quiet=True).results
        assert team.finish() == (0, 0, True, [])


@pytest.mark.slow
@pytest.mark.soak
def test_a_team_is_upgraded_machine_by_machine(
    kafka: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The views of a partition are of its owner's rules, made out of sight; older readers go on meanwhile."""
    with Team(tmp_path, 2 * [kafka.url()], 4, SESSION_S) as team:
        for machine in team.machines:
            assert machine.end(signal.SIGTERM) == 0
            machine.newer = 1
            machine.start()
            team.await_progress(*(it.pid for it in team.machines))
            for scope in SCOPES:
                with Client(team.reader.path, scope=scope) as older:
                    answer = older.search("number")
                assert answer.results and not answer.warnings
            claims = team.reader.current().claims
        assert team.newer() == {1}
        team.await_progress()
        assert team.reader.current().claims == claims  # Nobody makes views of the same rules again.
        monkeypatch.setitem(digests.RULES, "views", digests.RULES["views"] + 1)
        assert team.finish() == (0, 0, True, [])
