"""Shadow retrievers answer beside the active one, later and unseen: they change nothing, and use says who was right."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import configured, event, histories, make_id, recalled, slots
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from memtape import Client
from memtape.flows.workers.shadow import AGAIN_US, ShadowAnswer, ShadowQuestion, Shadows, is_search, shadow_event
from memtape.schemas.codec import decode
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import EVENT_TYPES, Event, Recalled
from memtape.schemas.lanes import FAILURES, LANES, ShadowLanes, shadow_lanes, shadow_of, unasked_by
from memtape.schemas.retrievers import RANKS, Recipe, recipe_of
from memtape.schemas.settings import Settings
from memtape.sinks.home.offset_marks import OffsetMarks
from memtape.sinks.logs.configuring import settings_on
from memtape.state.core.digests import changed_settings, state_leaves
from memtape.state.core.replay import replay
from memtape.state.ranking.shadowing import is_chosen, judged
from memtape.tools.commands import cli
from memtape.tools.keep.retriever_states import set_state, states_on
from memtape.tools.keep.shadows import ShadowProcess

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
    found = [
        decode(slot.payload)
        for number, end in enumerate(client.log.ends())
        for slot in client.log.read(number, 0, end + 1, types=("recalled",))
    ]
    return [one for one in found if isinstance(one.body, Recalled) and shadow_of(one.body.lanes)]


def filled(home: Path) -> None:
    with Client(home, scope=SCOPE, origin="user") as client:
        for text in TEXTS:
            client.capture(text)
    project(home)


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


SAYING_NOTHING = (
    *("", "elastic", "bm25 without hot", "rrf with m@1/3", "memtape without", "memtape without hope", "x" * 500),
    *("memtape without hot, hot", "memtape without " + ", ".join(LANES), "memtape with " + "m" * 200),
)


@pytest.mark.parametrize("name", SAYING_NOTHING)
def test_what_says_nothing_is_refused(name: str) -> None:
    with pytest.raises(MemtapeError, match="no retriever"):
        recipe_of(name)


@given(st.text(max_size=40), st.integers(0, 10**9), st.sampled_from(FAILURES))
def test_lanes_say_what_a_shadow_did(name: str, took_us: int, failure: Any) -> None:
    told = ShadowLanes(name, 0 if failure else took_us, failure)
    lanes = shadow_lanes(told)
    assert shadow_of(lanes) == told and unasked_by(lanes) is None
    assert shadow_of(LANES) is None and shadow_of(("sparse", "prompt", "tokens:3")) is None


@given(st.uuids(), st.integers(0, 100), st.integers(0, 100))
def test_the_share_follows_from_the_id_alone_and_grows(id: Any, first: int, second: int) -> None:
    low, high = sorted((first, second))
    assert is_chosen(str(id), high) or not is_chosen(str(id), low)
    assert is_chosen(str(id), 100) and not is_chosen(str(id), 0)


def test_the_share_is_about_what_was_asked_for() -> None:
    chosen = sum(is_chosen(make_id(number), 10) for number in range(5_000))
    assert 400 < chosen < 600


@given(st.lists(st.sampled_from("abcdef"), unique=True), *[st.lists(st.sampled_from("abcdef"), unique=True)] * 2)
def test_a_win_of_one_is_a_loss_of_the_other(used: list[str], active: list[str], shadow: list[str]) -> None:
    its, other = judged(used, active, shadow, 2), judged(used, shadow, active, 2)
    assert (its.won, its.lost) == (other.lost, other.won)
    assert set(its.won) <= set(used) & set(shadow[:2]) and not set(its.won) & set(active[:2])


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


def test_a_log_without_shadows_has_the_hash_that_it_had() -> None:
    assert changed_settings(Settings()) == {}
    assert changed_settings(Settings(retrievers={"bm25": "shadow"})) == {"retrievers": {"bm25": "shadow"}}


def test_states_are_settings_that_a_replay_has(tmp_path: Path) -> None:
    where = ("--home", str(tmp_path))
    with Client(tmp_path, scope=SCOPE) as client:
        client.capture("We deploy on Tuesdays.")
        assert run("retriever", "set", "bm25", "shadow", "--percent", "30", *where).exit_code == 0
        told = json.loads(run("retriever", "set", "memtape without edges,hot", "deprecated", *where, "--json").stdout)
        assert told["retrievers"] == {"memtape": "active", "bm25": "shadow", BARE: "deprecated"}
        assert told["embedders"] == {"floor": "active"} and told["shadow_percent"] == 30
        listed = run("retriever", "list", *where).output
        assert "shadow      bm25" in listed and "30 %" in listed
        assert "retrievers    memtape (active), bm25 (shadow)" in run("status", *where).output
        log = [list(client.log.read(number, 0, 100)) for number in range(client.log.partitions)]
        for its in log:
            (partition,) = replay(its).partitions.values()
            assert partition.settings == settings_on(client.log) and partition.settings.shadows() == ["bm25"]
        revision = len(client.log.read(0, 0, 100, types=("configured",)))
        set_state(client.log, "bm25", "shadow", 30)
        assert len(client.log.read(0, 0, 100, types=("configured",))) == revision, "nothing has changed"
        for name, state in (("memtape", "off"), ("bm25", "active"), ("elastic", "shadow")):
            refused = run("retriever", "set", name, state, *where)
            assert refused.exit_code == 1 and "Traceback" not in refused.output, name
        assert run("retriever", "set", "memtape", "active", "--percent", "5", *where).exit_code == 0
        assert states_on(client.log).shadow_percent == 5
    assert "No shadow has answered" in run("compare", "--shadow", "--scope", SCOPE, *where).stderr


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
        for _ in range(2):
            with Client(home, scope=SCOPE, origin="user", session="s") as client:
                found = client.search("kayak lake")
                client.search("port staging")
                told.append(msgspec.json.encode([found.results, found.answer.lanes, found.answer.now]))
            project(home)
        with Client(home, scope=SCOPE, origin="user", session="s") as client:
            told.append(msgspec.json.encode(client.search("kayak lake", quiet=True).results))
            told.append(msgspec.json.encode([client.context().text, client.given()]))
            views, _ = client.reader.held(lambda views: views.found(SCOPE))
            told.append(msgspec.json.encode([sorted(views.opened.counts().items()), list(views.opened.rows("uses"))]))
            assert len(shadows_of(client)) == (8 if home == shadowed else 0)
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
        client.use([asked.results[0].id], asked.recall_id)
        late = client.capture("Staging port: staging listens on port 5433 now, staging port.")
    project(tmp_path)
    with Client(tmp_path, scope=SCOPE) as client:
        events = shadows_of(client)
        assert len(events) == 4, "what was asked before a retriever was a shadow it is not asked"
        assert all(one.session is None and getattr(one.body, "query", None) == "" for one in events)
        assert all(late.id not in getattr(one.body, "results", ()) for one in events), "as it was then"
        ends = client.log.ends()
    project(tmp_path)
    told = json.loads(run("compare", "--shadow", *where, "--json").stdout)
    with Client(tmp_path, scope=SCOPE) as client:
        assert client.log.ends()[: len(ends)] == ends and len(shadows_of(client)) == 4, "each is asked once"
    bm25, bare = told["shadows"]["bm25"], told["shadows"]["memtape without sparse"]
    assert (told["searches"], told["asked"], told["percent"]) == (3, 2, 100)
    assert (bm25["wins"], bm25["losses"], bm25["judged"]) == (1, 0, 2)
    assert (bare["wins"], bare["losses"]) == (0, 1)
    (won,) = bm25["examples"]["wins"]
    assert (won["query"], won["recall_id"], won["line"]) == ("staging port", missed.recall_id, TEXTS[3])
    assert won["places"] == {"active": None, "shadow": 1} and won["id"] == asked.results[0].id
    assert bm25["recall"] == {"active": {"5": 0.5, "10": 0.5}, "shadow": {"5": 1.0, "10": 1.0}}
    shown = run("compare", "--shadow", *where, "--svg", str(tmp_path / "shadow.svg"))
    assert "wins: 1 memory" in shown.output and "losses: 1 memory" in shown.output, shown.output
    assert "recall@10" in (tmp_path / "shadow.svg").read_text() and "bm25" in (tmp_path / "shadow.svg").read_text()
    with Client(tmp_path, scope=SCOPE) as client:
        set_state(client.log, "bm25", "off", None)
        set_state(client.log, "memtape without sparse", "deprecated", None)
    told = json.loads(run("compare", "--shadow", *where, "--json").stdout)
    assert [(name, its["state"]) for name, its in told["shadows"].items()] == [("memtape without sparse", "deprecated")]
    assert run("compare", "--shadow", "--since", "2100-01-01", *where).exit_code == 1
    assert run("compare", "--since", "1d", *where).exit_code == 2
    again = json.loads(run("compare", *where, "--json").stdout)
    assert again["recalls"] == 2, "what a shadow found is no search"


class Asking:
    """An asker that answers at once, or as it is told."""

    def __init__(self, answered: ShadowAnswer | None = None) -> None:
        self.answered = answered or ShadowAnswer()
        self.asked: list[ShadowQuestion] = []

    def ask(self, question: ShadowQuestion, stopping: threading.Event) -> ShadowAnswer | None:
        self.asked.append(question)
        return None if stopping.is_set() else self.answered

    def close(self) -> None:
        pass


def now_us(times: Iterator[int] = count(1_790_000_000_000_000, 2 * AGAIN_US)) -> int:  # noqa: B008
    """Return a time at which shadows are asked again."""
    return next(times)


def worker(client: Client, asker: Any, notes: list[str]) -> Shadows:
    marks = OffsetMarks(client.home.shadows_path, client.log)
    return Shadows(client.log, marks, asker, now_us, notes.append)


def test_a_share_is_asked_and_what_was_erased_is_not(tmp_path: Path) -> None:
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        client.capture("The kayak is red.")
        set_state(client.log, "bm25", "shadow", 40)
        ids = [client.search(f"kayak {number}").recall_id for number in range(30)]
        chosen = [id for id in ids if id is not None and is_chosen(id, 40)]
        asker = Asking()
        its = worker(client, asker, [])
        its.catch_up()
        assert [one.refs[0] for one in shadows_of(client)] == chosen and its.done == len(chosen) > 0
        client.home.shadows_path.unlink()
        again = Asking()
        worker(client, again, []).catch_up()
        assert not again.asked, "a worker that has lost its position asks nothing twice"
        set_state(client.log, "bm25", "off", None)
        client.search("kayak")
        set_state(client.log, "bm25", "shadow", 100)
        last = client.search("kayak")
        its.catch_up()
        assert shadows_of(client)[-1].refs == (last.recall_id,) and its.done == len(chosen) + 1, "it was off before"


def test_a_worker_that_is_ended_goes_on_where_it_was(tmp_path: Path) -> None:
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        set_state(client.log, "bm25", "shadow", 100)
        client.search("kayak"), client.search("lake")
        its = worker(client, Asking(), [])
        its.stopping.set()
        its.catch_up()
        assert not shadows_of(client)
        after = worker(client, Asking(), [])
        after.catch_up()
        assert len(shadows_of(client)) == after.done == 2


@pytest.mark.parametrize(
    ("code", "failures"),
    [("import time; time.sleep(600)", ["late", "skipped"]), ("raise SystemExit(3)", ["raised", "raised"])],
)
def test_a_shadow_that_hangs_or_dies_changes_nothing_and_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, failures: list[str]
) -> None:
    home, modules = tmp_path / "home", tmp_path / "modules"
    modules.mkdir()
    (modules / "bad_shadow.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(modules), os.environ.get("PYTHONPATH", "")))))
    filled(home)
    notes: list[str] = []
    with Client(home, scope=SCOPE, origin="user") as client:
        set_state(client.log, "bm25", "shadow", 100)
        before = client.search("kayak"), client.search("lake")
        its = worker(client, ShadowProcess(client.home, client.log, 1.0, "bad_shadow"), notes)
        its.catch_up()
        told = [shadow_of(getattr(one.body, "lanes", ())) for one in shadows_of(client)]
        assert [one.failure for one in told if one] == failures and its.done == 2
        assert any("bm25 failed" in note for note in notes)
        assert client.search("kayak", quiet=True).results == before[0].results
        its.catch_up()
        assert its.done == 2, "it is not tried for ever"
        assert client.compare_shadows()["shadows"]["bm25"]["failed"] == {
            why: failures.count(why) for why in FAILURES if why
        }


def test_a_shadow_that_cannot_answer_says_so_and_the_views_stay(tmp_path: Path) -> None:
    """Without vectors there is nothing by which `dense` could find; another embedder has none yet."""
    filled(tmp_path)
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        set_state(client.log, "dense", "shadow", 100)
        set_state(client.log, "memtape with m@1/3", "shadow", None)
        client.search("kayak")
    project(tmp_path)
    with Client(tmp_path, scope=SCOPE) as client:
        told = client.compare_shadows()["shadows"]
        assert [its["failed"]["raised"] for its in told.values()] == [1, 1]
        assert client.verify().ok and not list(tmp_path.rglob("*damage*"))
        text = run("compare", "--shadow", "--scope", SCOPE, "--home", str(tmp_path)).output
        assert "0 answers; 1 raised" in text


def test_what_a_shadow_told_goes_with_the_search_that_it_answered() -> None:
    asked = recalled(["a"], "r", "where is the secret")
    made = shadow_event(asked, "bm25", ShadowAnswer(results=(make_id("b"),), took_us=5), asked.sent)
    assert made.refs == (asked.id,) and is_search(asked) and not is_search(made)
    blank = event("erased", EVENT_TYPES["erased"].body(ids=(asked.id,)), "e")
    result = replay(slots([configured(), asked, made, blank]))
    (partition,) = result.partitions.values()
    assert partition.erasures.covers(made)
