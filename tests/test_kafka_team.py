"""A team on one topic: the views that machines share, whatever becomes of any of them."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from kafka_broker import Broker
from team import Team

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
