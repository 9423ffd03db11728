"""How a home stands: states of views as a law and as commands tell them, counts without a table, what to do next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import used
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.rows import ScopeHeld
from memtape.sinks.home.folders import Home
from memtape.sinks.tables import Shard
from memtape.state.views.health import LAGGING_S, Health, health, worst
from memtape.tools.ask.status import next_steps
from memtape.tools.client import Client
from memtape.tools.commands.cli import main

SCOPE, US = "project:a", 1_000_000
ROOT = Path(__file__).parent.parent


def of(lag: int, waited_s: int | None, made: bool, why: str = "") -> Health:
    now = 10**15
    oldest = None if waited_s is None else now - waited_s * US
    return health("rows", 3, lag_events=lag, oldest_us=oldest, now_us=now, made=made, why=why)


@given(st.integers(0, 100), st.none() | st.integers(-10, 100), st.booleans(), st.sampled_from(["", "It is damaged."]))
def test_a_state_follows_from_what_a_view_lacks(lag: int, waited_s: int | None, made: bool, why: str) -> None:
    found = of(lag, waited_s, made, why)
    if why:
        assert found.state == "failing"
    elif not lag:
        assert found.state == "ready" and found.lag_s == 0
    elif not made:
        assert found.state == "hydrating"
    else:
        assert found.state == ("lagging" if waited_s is None or waited_s >= LAGGING_S else "ready")
    assert found.lag_events == lag and found.lag_s >= 0
    assert of(lag, waited_s, made, "x").state == "failing"


def test_the_worst_state_is_that_of_the_whole() -> None:
    ready, lagging, hydrating, failing = of(0, 0, True), of(1, 60, True), of(1, 0, False), of(0, 0, True, "x")
    assert worst([]) == worst([ready]) == "ready"
    assert worst([ready, lagging]) == "lagging" and worst([hydrating, lagging]) == "hydrating"
    assert worst([lagging, failing, hydrating]) == "failing"


def test_a_home_goes_through_its_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    with Client(home, scope=SCOPE, origin="user") as client:
        empty = client.status()
        assert empty.state == "ready" and not empty.views and "Nothing is remembered yet" in next_steps(empty)[0]
        client.capture("The staging database listens on port 5433.")
        new = client.status()
        assert new.state == "hydrating" and {its.view for its in new.views} == {"rows", "pages"}
        assert any("memtape run --once" in step for step in next_steps(new))
        client.project()
        ready = client.status()
        assert ready.state == "ready" and ready.lag == 0 and not next_steps(ready)
        assert ready.types == {"captured": 1} and ready.last_at > 0
        client.capture("Deployments happen on Tuesdays.")
        assert client.status().state == "ready"  # A projector looks ten times a second; it has not been ten seconds.
        monkeypatch.setattr("memtape.tools.ask.status.now_us", lambda: ready.last_at + 60 * US)
        late = client.status()
        assert late.state == "lagging" and {its.lag_events for its in late.views} == {1}
        assert all(50 <= its.lag_s <= 60 for its in late.views)
        client.project()
        number = client.status().views[0].partition
        client.home.current().note_damage(number)
        broken = client.status()
        assert broken.state == "failing" and any("cannot be served" in step for step in next_steps(broken))
        assert all(its.why for its in broken.views if its.state == "failing")
        client.project()
        assert client.status().state == "ready"


def test_pages_that_somebody_deleted_lag(tmp_path: Path) -> None:
    with Client(tmp_path / "home", scope=SCOPE, origin="user") as client:
        client.capture("The staging database listens on port 5433.")
        client.project()
        from shutil import rmtree

        rmtree(client.home.vault)
        states = {its.view: its.state for its in client.status().views}
        assert states == {"rows": "ready", "pages": "hydrating"}
        client.project()
        assert client.status().state == "ready"


def test_texts_that_wait_for_an_embedder_that_is_not_there_fail(tmp_path: Path) -> None:
    from memtape.schemas.settings import Settings
    from memtape.sinks.logs.embedded import EmbeddedLog

    home = Home(tmp_path / "home")
    log = EmbeddedLog(home.log_path, settings=Settings(embedder="nobody@1/3"))
    (home.path / "settings.toml").write_text('[embedder]\nchoice = "floor"\n')
    with Client(home, scope=SCOPE, origin="user", log=log) as client:
        client.capture("The staging database listens on port 5433.")
        client.project()
        vectors = [its for its in client.status().views if its.view == "vectors"]
        assert [its.lag_events for its in vectors] == [1]
        assert vectors[0].state in ("failing", "hydrating")
    log.close()


def test_counts_are_of_the_watermark_and_open_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Client(tmp_path / "home", scope=SCOPE, origin="user") as client:
        gone = client.capture("The staging database listens on port 5433.")
        client.capture("Deployments happen on Tuesdays.")
        client.capture("hello there", kind="turn")
        client.forget(gone.id)
        client.project()
    with Client(tmp_path / "home", scope=SCOPE) as client:
        counted = client.status()
        number = counted.views[0].partition
        slow = {name: opened.held() for name, opened in client.reader.retriever.shard(number).indexes().items()}
    assert (counted.memories, counted.turns, counted.hidden, counted.hidden_ids) == (1, 1, 1, (gone.id,))
    assert slow == {SCOPE: ScopeHeld(memories=1, turns=1, hidden=1, hidden_ids=(gone.id,))}

    def opened(*_: object) -> None:
        raise AssertionError("an index was opened")

    monkeypatch.setattr(Shard, "index", opened)
    with Client(tmp_path / "home", scope=SCOPE) as client:
        assert client.status().scopes == counted.scopes


@pytest.mark.parametrize("rebuilt", [False, True])
def test_counts_of_a_rebuild_and_of_views_that_know_none_are_the_same(tmp_path: Path, rebuilt: bool) -> None:
    home = tmp_path / "home"
    with Client(home, scope=SCOPE, origin="user") as client:
        for number in range(30):
            client.capture(f"Server {number} listens on port {5_000 + number}.")
            client.capture(f"turn {number}", kind="turn")
        client.project()
        before = client.status()
        if rebuilt:
            from memtape.tools.keep.owner import rebuild_or_ask

            rebuild_or_ask(client.home, client.log, lambda *_: None, lambda _: None)
        else:  # As where nobody has noted what a scope holds.
            for path in home.glob("builds/*/lance/*/watermark.json"):
                path.write_text(json.dumps({**json.loads(path.read_text()), "held": {}}))
    with Client(home, scope=SCOPE) as client:
        after = client.status()
        assert (after.scopes, after.memories, after.turns) == (before.scopes, before.memories, before.turns)
        assert after.types == before.types == {"captured": 60}


def test_a_home_that_counted_no_types_counts_them_from_the_beginning(tmp_path: Path) -> None:
    """What is counted is a part of what views are made from: snapshots that lack a count are made anew."""
    home = tmp_path / "home"
    with Client(home, scope=SCOPE, origin="user") as client:
        client.capture("The staging database listens on port 5433.")
        client.project()
        hash_before = client.verify().state_hash
    for path in home.glob("builds/*/lance/*/watermark.json"):
        mark = json.loads(path.read_text())
        mark["counters"].pop("types")
        mark["rules"] = ",".join(rule for rule in mark["rules"].split(",") if not rule.startswith("counters"))
        path.write_text(json.dumps(mark))
    with Client(home, scope=SCOPE, origin="user") as client:
        client.capture("Deployments happen on Tuesdays.")
        client.project()
        assert client.status().types == {"captured": 2}
        assert client.verify().ok and client.verify().state_hash != hash_before


def test_status_is_one_screen_however_much_there_is(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Client(home, scope=SCOPE, origin="user") as client:
        gone = [client.capture(f"Server {number} listens on port {number}.").id for number in range(30)]
        for id in gone:
            client.forget(id)
    for number in range(30):
        with Client(home, scope=f"project:p{number}", origin="user") as client:
            client.capture("The staging database listens on port 5433.")
    with Client(home, scope=SCOPE) as client:
        client.project()
    told = CliRunner().invoke(main, ["status", "--home", str(home)]).output
    assert len(told.splitlines()) <= 40 and "30 forgotten" in told and "23 more scopes" in told and "disk" in told
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


def test_an_event_that_no_view_shows_is_folded_all_the_same(tmp_path: Path) -> None:
    with Client(tmp_path / "home", scope=SCOPE, origin="user") as client:
        client.log.append([used([], "of nothing", scope=SCOPE)])
        assert client.status().lag == 1
        client.project()
        assert client.status().lag == 0 and client.search("the staging port").answer.lag == 0
