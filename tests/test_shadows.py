"""Shadow retrievers answer beside the active one, later and unseen, change nothing, and use judges them."""

from __future__ import annotations

import json
import shutil
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import configured, event, histories, make_id, recalled, slots
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from met import events_of
from replaying import replay

from memtape import Client
from memtape.schemas import lanes as lanes_of
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import EVENT_TYPES, Event, Recalled
from memtape.schemas.lanes import LANES, RANKS, Recipe, ShadowLanes, recipe_of, shadow_lanes, shadow_of
from memtape.schemas.log import settings_on
from memtape.schemas.settings import Settings
from memtape.state.core.digests import state_leaves
from memtape.tools.doors import cli
from memtape.tools.keep.log_settings import set_state, states_on
from memtape.tools.measure import comparing
from memtape.tools.measure.comparing import Shadows, is_chosen, is_search, shadow_event

SCOPE = "project:mine"
BARE = "memtape without hot, edges"
TEXTS = ("The kayak is red.", "We went to the lake.", "Kayaks on lakes.", "Staging listens on port 5433.")


def run(*words: str) -> Result:
    return CliRunner().invoke(cli.main, words)


def project(home: Path) -> None:
    done = run("run", "--once", "--home", str(home))
    assert done.exit_code == 0, done.output


def shadows_of(client: Client) -> list[Event]:
    """Return the events of shadows on a log, in order."""
    found = events_of(client.log)
    return [one for one in found if isinstance(one.body, Recalled) and shadow_of(one.body.lanes)]


def filled(home: Path) -> None:
    with Client(home, scope=SCOPE, origin="user") as client:
        for text in TEXTS:
            client.capture(text)
    project(home)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a maker of workers whose clock goes on by two minutes each time."""
    times = count(1_790_000_000_000_000, 120_000_000)
    monkeypatch.setattr(comparing, "now_us", lambda: next(times))
    return lambda client, notes: Shadows(client.home, client.log, notes.append)


recipes = st.one_of(
    st.sampled_from(RANKS).map(Recipe),
    st.builds(
        lambda lanes, key: Recipe("memtape", tuple(lane for lane in LANES if lane in lanes), key),
        st.sets(st.sampled_from(LANES), max_size=len(LANES) - 1),
        st.sampled_from(("", "all-MiniLM-L6-v2@c9745ed1d9f2/384")),
    ),
)


@given(recipes)
def test_a_name_says_how_a_retriever_finds(recipe: Recipe) -> None:
    assert recipe_of(recipe.name) == recipe and recipe_of(f" {recipe.name} ".strip()).name == recipe.name
    assert recipe_of("memtape without edges,hot").name == "memtape without hot, edges"


def test_what_says_nothing_is_refused() -> None:
    every = ", ".join(LANES)
    wrong = ("without", "without hope", "without hot, hot", f"without {every}", "with " + "m" * 200)
    others = ("", "elastic", "bm25 without hot", "rrf with m@1/3", "x" * 500)
    for name in (*others, *(f"memtape {it}" for it in wrong)):
        with pytest.raises(MemtapeError, match="no retriever"):
            recipe_of(name)


@given(st.text(max_size=40), st.integers(0, 10**9), st.booleans())
def test_lanes_say_what_a_shadow_did(name: str, took_us: int, failed: bool) -> None:
    told = ShadowLanes(name, 0 if failed else took_us, failed)
    lanes = shadow_lanes(told)
    assert shadow_of(lanes) == told and lanes_of.unasked_by(lanes) is None
    assert shadow_of(LANES) is None and shadow_of(("sparse", "prompt", "tokens:3")) is None


@given(st.uuids(), st.integers(0, 100), st.integers(0, 100))
def test_the_share_follows_from_the_id_alone_and_grows(id: Any, first: int, second: int) -> None:
    percents = (0, *sorted((first, second)), 100)
    chosen = [is_chosen(str(id), Settings(shadow_percent=percent)) for percent in percents]
    assert chosen == sorted(chosen) and chosen[-1] and not chosen[0]


@given(histories(), st.data())
def test_what_a_shadow_found_means_nothing(history: list[Event], data: st.DataObject) -> None:
    """Wherever its recalls stand, and whatever they say, they mean what an erased one does: nothing."""
    told, blank = [configured(), *history], [configured(), *history]
    scoped = [one for one in history if one.scope is not None]
    ids = tuple(one.id for one in scoped if one.type == "captured")
    for number in range(data.draw(st.integers(1, 4)) if scoped else 0):
        like = data.draw(st.sampled_from(scoped))
        lanes = shadow_lanes(ShadowLanes(BARE, 7))
        made = recalled([], f"shadow {number}", "", lanes, scope=like.scope, sent=like.sent, session="s")
        assert isinstance(made.body, Recalled)
        made = msgspec.structs.replace(made, body=msgspec.structs.replace(made.body, results=ids))
        place = data.draw(st.integers(1, len(told)))
        told.insert(place, made)
        blank.insert(place, msgspec.structs.replace(made, body=None))
    after, before = (state_leaves(replay(slots(events)).partitions.values()) for events in (told, blank))
    assert after == before


def test_states_are_settings_that_a_replay_has(tmp_path: Path) -> None:
    where = ("--home", str(tmp_path))
    with Client(tmp_path, scope=SCOPE) as client:
        client.capture("We deploy on Tuesdays.")
        assert run("admin", "retriever", "set", "bm25", "shadow", "--percent", "30", *where).exit_code == 0
        words = ("set", "memtape without edges,hot", "deprecated", *where, "--json")
        told = json.loads(run("admin", "retriever", *words).stdout)
        assert told["retrievers"] == {"memtape": "active", "bm25": "shadow", BARE: "deprecated"}
        assert told["embedders"] == {"floor": "active"} and told["shadow_percent"] == 30
        assert "30 %" in run("admin", "retriever", "list", *where).output
        assert "bm25 (shadow)" in run("status", *where).output
        for number in range(client.log.partitions):
            (partition,) = replay(client.log.read(number, 0, 100)).partitions.values()
            assert partition.settings == settings_on(client.log) and partition.settings.shadows() == ["bm25"]
        for name, state in (("memtape", "off"), ("bm25", "active"), ("elastic", "shadow")):
            assert run("admin", "retriever", "set", name, state, *where).exit_code == 1, name
        assert run("admin", "retriever", "set", "memtape", "active", "--percent", "5", *where).exit_code == 0
        assert states_on(client.log).shadow_percent == 5
    assert "No shadow has answered" in run("admin", "compare", "--shadow", "--scope", SCOPE, *where).stderr


def test_an_answer_is_byte_for_byte_the_same_beside_a_shadow(tmp_path: Path) -> None:
    """Of two copies of a home one has shadows; both tell the same, before and after these have answered."""
    plain, shadowed = tmp_path / "plain", tmp_path / "shadowed"
    filled(plain)
    shutil.copytree(plain, shadowed)
    with Client(shadowed) as client:
        set_state(client.log, BARE, "shadow", 100)
        set_state(client.log, "bm25", "shadow", 100)
    said: list[list[bytes]] = []
    for home in (plain, shadowed):
        told = []
        with Client(home, scope=SCOPE, origin="user", session="s") as client:
            found = client.search("kayak lake")
            client.search("port staging")
            told.append(msgspec.json.encode([found.results, found.lanes, found.now]))
        project(home)
        with Client(home, scope=SCOPE, origin="user", session="s") as client:
            told.append(msgspec.json.encode(client.search("kayak lake", quiet=True).results))
            told.append(msgspec.json.encode([client.context().text, client.given()]))
            assert len(shadows_of(client)) == (4 if home == shadowed else 0)
            assert client.verify().ok
        said.append(told)
    assert said[0] == said[1]


def test_use_decides_who_was_right(tmp_path: Path) -> None:
    filled(tmp_path)
    where = ("--scope", SCOPE, "--home", str(tmp_path))
    with Client(tmp_path, scope=SCOPE, origin="user", session="s") as client:
        client.search("kayak")  # Before there is a shadow.
        set_state(client.log, "memtape without sparse", "shadow", 100)
        set_state(client.log, "bm25", "shadow", None)
        missed = client.search("staging port", without=("sparse",))
        asked = client.search("staging port")
        assert not missed.results and asked.results[0].text == TEXTS[3]
        for recall in (missed, asked):
            client.use([asked.results[0].id], recall.recall_id)
        late = client.capture("Staging port: staging listens on port 5433 now, staging port.")
    for _ in range(2):
        project(tmp_path)
        with Client(tmp_path, scope=SCOPE) as client:
            events = shadows_of(client)
            assert len(events) == 4, "each is asked once, and not what was asked before it was a shadow"
            assert all(one.session is None and getattr(one.body, "query", None) == "" for one in events)
            assert all(late.id not in getattr(one.body, "results", ()) for one in events), "as it was then"
    told = json.loads(run("admin", "compare", "--shadow", *where, "--json").stdout)
    bm25, bare = told["shadows"]["bm25"], told["shadows"]["memtape without sparse"]
    assert (told["searches"], told["percent"], bm25["judged"], bare["judged"]) == (3, 100, 2, 2)
    assert bm25["recall"] == {"active": {"5": 0.5, "10": 0.5}, "shadow": {"5": 1.0, "10": 1.0}}
    assert bare["recall"]["shadow"] == {"5": 0.0, "10": 0.0}
    shown = run("admin", "compare", "--shadow", *where).output
    assert "bm25 (shadow): 2 answers" in shown and "recall of what was used (2)" in shown, shown
    with Client(tmp_path, scope=SCOPE) as client:
        set_state(client.log, "bm25", "off", None)
        set_state(client.log, "memtape without sparse", "deprecated", None)
    told = json.loads(run("admin", "compare", "--shadow", *where, "--json").stdout)
    states = {name: its["state"] for name, its in told["shadows"].items()}
    assert states == {"memtape without sparse": "deprecated"}
    again = json.loads(run("admin", "compare", *where, "--json").stdout)
    assert again["recalls"] == 2, "what a shadow found is no search"


def test_a_share_is_asked_once_and_a_worker_that_is_ended_goes_on(tmp_path: Path, worker: Any) -> None:
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        client.capture("The kayak is red.")
        set_state(client.log, "bm25", "shadow", 40)
        ids = [client.search(f"kayak {number}").recall_id for number in range(30)]
        chosen = [id for id in ids if id is not None and is_chosen(id, settings_on(client.log))]
        ended = worker(client, [])
        ended.stopping.set()
        ended.catch_up()
        assert not shadows_of(client)
        its = worker(client, [])
        its.catch_up()
        assert [one.refs[0] for one in shadows_of(client)] == chosen and its.done == len(chosen) > 0
        client.home.shadows_path.unlink()
        again = worker(client, [])
        again.catch_up()
        assert again.done == 0, "a worker that has lost its position asks nothing twice"


def test_a_shadow_that_cannot_answer_says_so_and_the_views_stay(tmp_path: Path, worker: Any) -> None:
    """Without vectors there is nothing by which `dense` could find; another embedder has none yet."""
    filled(tmp_path)
    notes: list[str] = []
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        set_state(client.log, "dense", "shadow", 100)
        set_state(client.log, "memtape with m@1/3", "shadow", None)
        before = client.search("kayak")
        its = worker(client, notes)
        its.catch_up()
        its.catch_up()
        assert its.done == 2 and any("dense failed" in note for note in notes), "it is not tried for ever"
        told = client.compare_shadows()["shadows"]
        assert [(its["answers"], its["failed"]) for its in told.values()] == [(0, 1), (0, 1)]
        assert client.search("kayak", quiet=True).results == before.results
        assert client.verify().ok and not list(tmp_path.rglob("*damage*"))


def test_what_a_shadow_told_goes_with_the_search_that_it_answered() -> None:
    asked = recalled(["a"], "r", "where is the secret")
    made = shadow_event(asked, ShadowLanes("bm25", 5), (make_id("b"),), (), asked.sent)
    assert made.refs == (asked.id,) and is_search(asked) and not is_search(made)
    blank = event("erased", EVENT_TYPES["erased"].body(ids=(asked.id,)), "e")
    result = replay(slots([configured(), asked, made, blank]))
    (partition,) = result.partitions.values()
    assert partition.erasures.covers(made)
