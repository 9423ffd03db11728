"""A team on one topic: the views that machines share, whatever becomes of any of them."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from builders import captured, make_id
from commanding import call
from kafka_broker import Broker
from team import Team

A = "project:a"
SESSION_S = 6.0
"""The least that a broker allows unless its settings say otherwise."""


@pytest.mark.slow
def test_views_are_those_of_the_log_when_machines_are_killed_frozen_misled_and_closed(
    kafka: Broker, tmp_path: Path
) -> None:
    with Team(tmp_path, kafka.url(), 3, 4, SESSION_S) as team:
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
def test_an_erasure_reaches_the_shared_views_of_machines_that_run(kafka: Broker, tmp_path: Path) -> None:
    """The command works at a machine that runs, and at one that only reads."""
    with Team(tmp_path, kafka.url(), 2, 2, SESSION_S) as team:
        for n, home in enumerate((team.machines[0].home, team.reader)):
            secret = f"The codename is Zebrafish{n}."
            [position] = team.log.append([captured(secret, f"secret {n}", scope=A)])
            team.await_progress()
            assert secret.encode() in team.bytes_of(position.partition)
            call("erase", make_id(f"secret {n}"), "--scope", A, "--yes", home=home.path)
            assert secret.encode() not in b"".join(map(team.bytes_of, range(2)))
            team.await_progress()
        assert team.finish() == (0, 0, True, [])
