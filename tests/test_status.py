"""How a home stands: states of views as a law and as commands tell them, counts, what to do next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import rmtree

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from met import events_of

from memtape.schemas.events import Embedded, Forgotten, make_embedded
from memtape.sinks.home.folders import Home
from memtape.state.views.health import LAGGING_S, health
from memtape.tools.ask.status import next_steps
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.commands.cli import main

SCOPE, US = "project:a", 1_000_000
ROOT = Path(__file__).parent.parent


@given(st.integers(0, 100), st.none() | st.integers(-10, 100), st.booleans(), st.sampled_from(["", "Bad."]))
def test_a_state_follows_from_what_a_view_lacks(lag: int, waited_s: int | None, made: bool, why: str) -> None:
    now = 10**15
    oldest = None if waited_s is None else now - waited_s * US
    found = health("rows", 3, lag_events=lag, oldest_us=oldest, now_us=now, made=made, why=why)
    if why:
        assert found.state == "failing"
    elif not lag:
        assert found.state == "ready" and found.lag_s == 0
    elif not made:
        assert found.state == "hydrating"
    else:
        assert found.state == ("lagging" if waited_s is None or waited_s >= LAGGING_S else "ready")
    assert found.lag_events == lag and found.lag_s >= 0


def test_a_home_goes_through_its_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    with Client(home, scope=SCOPE, origin="user") as client:
        empty = client.status()
        assert empty.state == "ready" and not empty.views
        assert "Nothing is remembered yet" in next_steps(empty)[0]
        client.capture("The staging database listens on port 5433.")
        new = client.status()
        assert new.state == "hydrating" and {its.view for its in new.views} == {"rows", "pages"}
        assert any("memtape run --once" in step for step in next_steps(new))
        client.project()
        ready = client.status()
        assert ready.state == "ready" and ready.lag == 0 and not next_steps(ready)
        assert ready.types == {"captured": 1} and ready.last_at > 0
        client.capture("Deployments happen on Tuesdays.")
        now = max(event.sent for event in events_of(client.log))
        monkeypatch.setattr("memtape.tools.ask.status.now_us", lambda: now + US)
        assert client.status().state == "ready"  # It has not been ten seconds.
        monkeypatch.setattr("memtape.tools.ask.status.now_us", lambda: now + 60 * US)
        late = client.status()
        assert late.state == "lagging" and {its.lag_events for its in late.views} == {1}
        assert {its.lag_s for its in late.views} == {60}
        client.project()
        number = client.status().views[0].partition
        client.home.current().note_damage(number)
        broken = client.status()
        assert broken.state == "failing" and any("cannot be served" in step for step in next_steps(broken))
        assert all(its.why for its in broken.views if its.state == "failing")
        client.project()
        assert client.status().state == "ready"
        rmtree(client.home.vault)
        states = {its.view: its.state for its in client.status().views}
        assert states == {"rows": "ready", "pages": "hydrating"}, "somebody deleted the pages"


def test_texts_that_wait_for_an_embedder_that_is_not_there_fail(tmp_path: Path) -> None:
    from memtape.schemas.settings import Settings
    from memtape.sinks.logs.embedded import EmbeddedLog

    home = Home(tmp_path / "home")
    log = EmbeddedLog(home.log_path, settings=Settings(embedder="nobody@1/3"))
    (home.path / "settings.toml").write_text('[embedder]\nchoice = "floor"\n')
    with Client(home, scope=SCOPE, origin="user", log=log) as client:
        client.capture("The staging database listens on port 5433.")
        second = client.capture("The backups run at noon.")
        client.project()
        vectors = [its for its in client.status().views if its.view == "vectors"]
        assert [its.lag_events for its in vectors] == [2]
        assert vectors[0].state in ("failing", "hydrating")
        vector = Embedded(attempt=1, dimensions=3, embedder="nobody@1/3", reason=None, vector=b"\1\0\0\0\0\0")
        log.append([make_embedded(SCOPE, second.id, vector, 1)])
        vectors = [its for its in client.status().views if its.view == "vectors"]
        assert [its.lag_events for its in vectors] == [1], "a vector counts before the views hold it"
    log.close()


def test_status_is_one_screen_however_much_there_is(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Client(home, scope=SCOPE, origin="user") as client:
        gone = client.capture_many(Line(text=f"Server {n} listens on port {n}.") for n in range(30))
        client.append("forgotten", Forgotten(ids=tuple(it.id for it in gone), reason=None), SCOPE)
        client.capture_many(Line(text="Staging is up.", scope=f"project:p{n}") for n in range(30))
        client.project()
    told = CliRunner().invoke(main, ["status", "--home", str(home)]).output
    assert len(told.splitlines()) <= 40
    assert all(said in told for said in ("30 forgotten", "23 more scopes", "disk"))
    named = json.loads(CliRunner().invoke(main, ["status", "--home", str(home), "--json"]).output)
    assert len(named["scopes"]) == 31 and named["state"] == "ready" and named["disk"]["log"] > 0
    assert {its["state"] for its in named["views"]} == {"ready"}


def test_status_loads_no_lancedb(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Client(home, scope=SCOPE, origin="user") as client:
        client.capture("The staging database listens on port 5433.")
        client.project()
    script = (
        "import sys\nfrom memtape.tools.client import Client\n"
        "with Client(sys.argv[1], scope='global') as client:\n    assert client.status().memories == 1\n"
        "assert not {'lance', 'lancedb', 'pyarrow'} & {*sys.modules}\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", script, str(home)], env=env, check=True)
