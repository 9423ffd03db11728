"""Meaning by default: MiniLM decides in a new home, finds what is said in other words, and is offered."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from test_warm import Ready, warm

from memtape.flows.embed.embedder import FloorEmbedder
from memtape.flows.embed.target import first_embedder, packaged_minilm
from memtape.schemas.embedding import FLOOR, MINILM_KEY, EmbedderOptions
from memtape.schemas.log import settings_on
from memtape.sinks.home.folders import Home
from memtape.state.vectors.recorded import quantised
from memtape.tools.agents import server
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.query import recorded_vectors
from memtape.tools.query.recorded_vectors import EMBEDDERS, RecordedVectors, served_vector

FACTS = "We do our banking with Sparkasse.", "Rubbish goes out on Wednesday night.", "The cat is called Miro."


@pytest.mark.slow
def test_a_new_home_finds_what_is_said_in_other_words(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if packaged_minilm() is None:
        pytest.skip("MiniLM is not installed: pip install '.[meaning]'")
    monkeypatch.setenv("MEMTAPE_EMBEDDER", "auto")
    with Client(home, scope="project:a", origin="user") as client:
        assert settings_on(client.log).embedder == MINILM_KEY
        for fact in (*FACTS, "We  do our banking with Sparkasse!"):
            client.capture(fact)
        assert CliRunner().invoke(main, ["run", "--once", "--home", str(home)]).exit_code == 0
        asked = "Where does the household have its account?"
        (nearest, *_) = client.search(asked, quiet=True).results
        assert "Sparkasse" in nearest.text and nearest.confirmations == 1 and "perhaps" in nearest.marks
        assert client.search("When is trash pickup?", quiet=True).results[0].text == FACTS[1]
        assert not client.search("How many moons has Jupiter?", quiet=True).results
        assert client.status().embedder.waiting == 0


def test_a_person_who_wants_words_alone_has_no_other_embedder(home: Path) -> None:
    with Client(home) as client:
        assert settings_on(client.log).embedder == FLOOR and not client.status().embedder.offer


def test_minilm_decides_where_nothing_else_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_found in (True, False):
        place = Path("here") if is_found else None
        monkeypatch.setattr("memtape.flows.embed.target.packaged_minilm", lambda it=place: it)
        named = EmbedderOptions(choice="local", model="sentence-transformers/all-MiniLM-L6-v2")
        for options in (EmbedderOptions(), named):
            assert first_embedder(options, {}) == (MINILM_KEY if is_found else FLOOR)
        assert first_embedder(EmbedderOptions(), {"MEMTAPE_EMBED_URL": "http://localhost:9/v1"}) == FLOOR
        for other in ({"choice": "http"}, {"choice": "floor"}, {"choice": "local", "model": "other"}):
            assert first_embedder(EmbedderOptions(**other), {}) == FLOOR  # type: ignore[arg-type]


def test_a_home_of_words_is_offered_the_change(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Client(home, scope="project:a") as client:
        client.capture(FACTS[0])
        client.catch_up()
        monkeypatch.setenv("MEMTAPE_EMBEDDER", "auto")
        monkeypatch.setattr("memtape.flows.embed.target.packaged_minilm", lambda: Path("somewhere"))
        offer = client.status().embedder.offer
        assert "memtape admin embedder set local" in offer and "1 text" in offer
        monkeypatch.setenv("MEMTAPE_EMBEDDER", "floor")
        assert not client.status().embedder.offer


ONES = np.ones(384, np.int16)


def test_a_server_gives_others_the_vectors_of_questions(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = FloorEmbedder()
    key = embedder.key
    opened: list[str] = []

    def open_one(home: Home, key: str, loads_slow: bool) -> FloorEmbedder:
        opened.append(key)
        return embedder

    monkeypatch.setattr(recorded_vectors, "_open", open_one)
    Home(home)
    assert served_vector(home, key, "a question") is None
    with warm(home, Ready()):
        monkeypatch.setattr(EMBEDDERS, "is_server", True)
        vector = served_vector(home, key, "a question")
        asked_for = np.frombuffer(quantised(embedder.embed_query("a question")), "<i2")
        assert vector is not None and vector.tolist() == asked_for.tolist()
        assert served_vector(home, key, " ") is None, "a blank text has no vector"
        monkeypatch.setattr(EMBEDDERS, "is_server", False)
        EMBEDDERS.drop_idle(0)
        opened.clear()
        monkeypatch.setattr(server, "RecordedVectors", lambda _: SimpleNamespace(of_query=lambda *_: ONES))
        asked = RecordedVectors(Home(home)).of_query("a question", key)
        assert asked is not None and asked.tolist() == ONES.tolist()
    assert RecordedVectors(Home(home)).of_query("a question", key) is not None and opened == [key]


def test_a_model_that_nobody_asks_is_let_go(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(recorded_vectors, "_open", lambda home, key, _: opened.append(key) or FloorEmbedder())
    vectors = RecordedVectors(Home(home))
    for idle_s in (600, 600, 0):
        vectors.of_query("a question", "some@key/384")
        EMBEDDERS.drop_idle(idle_s)
    vectors.of_query("a question", "some@key/384")
    assert len(opened) == 2


def test_no_command_waits_for_a_model(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "another-model"
    model.mkdir()
    (model / "modules.json").write_text('[{"type": "sentence_transformers.models.Transformer"}]')
    (model / "model.safetensors").write_bytes(b"of another size")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.delenv("MEMTAPE_EMBEDDER", raising=False)
    monkeypatch.setattr("memtape.flows.embed.local._load", lambda folder: pytest.fail("loaded"))
    Home(home)
    (home / "settings.toml").write_text(f'[embedder]\nchoice = "local"\nmodel = "{model}"\n')
    vectors = RecordedVectors(Home(home))
    with EMBEDDERS.for_one_answer():
        assert vectors.of_query("a question", "another-model@0123456789ab/384") is None
    assert "takes seconds to load" in vectors.note and vectors.note.endswith("Found by words alone.")
