"""Measuring recall: pure measures, both forms of file through the pipeline, and searches asked again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.times import format_time
from memtape.state.ranking import evaluation as ev
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.measure.corpus import read_corpus

DATA = Path(__file__).parent / "data"
PLAIN, LOCOMO = DATA / "corpus-plain.json", DATA / "corpus-locomo.json"
CASES = json.loads((DATA / "corpus-cases.json").read_text())


def run(*command: str) -> Result:
    return CliRunner().invoke(main, list(command))


def test_a_plain_file_is_measured(tmp_path: Path) -> None:
    command = ["admin", "eval", str(PLAIN), "--home", str(tmp_path / "home"), "--embedder", "floor"]
    command += ["--without", "sparse"]
    told = run(*command, "--json")
    assert told.exit_code == 0, told.output
    measured = json.loads(told.stdout)
    assert (measured["questions"], measured["turns"], measured["embedder"]) == (3, 4, "floor")
    retrievers = measured["retrievers"]
    assert list(retrievers) == ["bm25", "dense", "rrf", "memtape", "memtape without sparse"]
    for name in ("bm25", "memtape"):
        of = retrievers[name]
        assert of["turn"] == {"5": 1.0, "10": 1.0, "20": 1.0, "50": 1.0} == of["session"]
    assert set(retrievers["memtape without sparse"]["turn"].values()) == {0}
    categories = retrievers["bm25"]["by_category"]
    assert {name: its["questions"] for name, its in categories.items()} == {"all": 2, "colours": 1}
    assert list(retrievers["rrf"]["latency_ms"]) == ["p50", "p95"]
    assert not (tmp_path / "home" / "log.db").exists()
    shown = run(*command, "--retriever", "memtape").output
    assert "3 questions with evidence" in shown and "memtape without sparse" in shown and "bm25" not in shown


def test_the_published_form_is_read() -> None:
    told = run("admin", "eval", str(LOCOMO), "--embedder", "floor", "--retriever", "memtape", "--json")
    measured = json.loads(told.stdout)
    assert measured["questions"] == 1
    assert measured["retrievers"]["memtape"]["by_category"]["4"]["turn"]["5"] == 1.0, "a caption is found too"


def test_longmemeval_is_read_as_published() -> None:
    """A question without an answer in its history names no evidence."""
    first, second = read_corpus(DATA / "corpus-longmemeval.json")
    assert [line.session for line in first.lines] == ["answer_1", "answer_1", "other_1", "other_1"]
    assert [line.origin for line in first.lines[:2]] == ["user", "agent"]
    assert format_time(int(first.lines[2].at or 0)) == "2023-05-21T10:00:00Z"
    assert first.questions == [("Which pier has the heron?", ("0:0",), "single-session-user")]
    assert second.questions == [("Which gull did I see?", (), "multi-session")]


def test_a_folder_of_beam_is_read_as_published(tmp_path: Path) -> None:
    """The places in the plan are no part of what was said, and chats are in the order of their numbers."""
    first, second = read_corpus(DATA / "corpus-beam")
    assert [it.lines[0].text for it in (first, second)] == ["The winch takes grease.", "The gauge is brass."]
    assert [(line.session, line.native_id) for line in first.lines] == [("1", "0"), ("1", "1"), ("2", "2")]
    assert format_time(int(first.lines[2].at or 0)) == "2024-04-05T00:00:00Z"
    assert [(asked.category, asked.evidence) for asked in first.questions] == [
        ("abstention", ()), ("knowledge_update", ("0", "2")),
    ]  # fmt: skip
    told = run(
        "admin", "eval", str(DATA / "corpus-beam"), "--embedder", "floor", "--retriever", "memtape", "--json"
    )
    measured = json.loads(told.stdout)
    assert [line["conversation"] for line in measured["lines"]] == ["2", "10"]
    assert sorted(measured["lines"][0]["ranks"]["memtape"]) == [1, 2]
    assert measured["retrievers"]["memtape"]["all"]["5"] == 1
    assert "no question with evidence" in run("admin", "eval", str(tmp_path), "--embedder", "floor").output


@pytest.mark.parametrize("data", CASES["no corpus"])
def test_a_file_that_is_no_corpus_is_refused(tmp_path: Path, data: str) -> None:
    file = tmp_path / "corpus.json"
    file.write_text(data)
    told = run("admin", "eval", str(file), "--embedder", "floor")
    assert told.exit_code == 1 and told.stderr.startswith("Error: ") and "Traceback" not in told.output


def test_conversations_are_kept_apart_and_in_order() -> None:
    first, second = read_corpus(PLAIN)
    assert first.scope != second.scope and {line.scope for line in second.lines} == {second.scope}
    assert [line.native_id for line in first.lines] == ["1", "2", "3"], "a blank turn says nothing"
    assert [line.origin for line in first.lines] == ["user", "agent", "user"]
    times = [line.at for line in first.lines if line.session == "s"]
    assert times == sorted(set(times))


def test_what_was_asked_is_asked_again(tmp_path: Path) -> None:
    home, where = str(tmp_path), ["--scope", "project:mine", "--home", str(tmp_path)]
    nothing = run("admin", "compare", *where)
    assert nothing.exit_code == 1 and "Nothing in project:mine was asked" in nothing.stderr
    with Client(home, scope="project:mine") as client:
        for text in ("The kayak is red.", "We went to the lake.", "Kayaks on lakes."):
            client.capture(text)
        client.search("kayak"), client.search("going to a lake"), client.search("nothing of it, xyzzy")
        ends = client.log.ends()
        told = json.loads(run("admin", "compare", *where, "--json").stdout)
        assert client.log.ends() == ends
    assert (told["recalls"], told["truth"], told["views"]) == (2, "returned", "present")
    assert told["retrievers"]["memtape"]["overlap"] == {"5": 1.0, "10": 1.0}
    assert told["retrievers"]["memtape"]["recall"] == {"5": 1.0, "10": 1.0, "25": 1.0, "50": 1.0}
    assert told["retrievers"]["bm25"]["recall"]["10"] < 1, "plain words know no inflections"
    assert told["marginal"] == {"sparse": 1.0, "dense": 0.0, "hot": 0.0, "fresh": 0.0, "edges": 0.0}
    assert "says nothing about recall" in run("admin", "compare", *where).output
    with Client(home, scope="project:mine") as client:
        asked = client.search("kayak")
        assert asked.recall_id is not None
        used = run("agents", "used", asked.results[-1].id, "--recall", asked.recall_id, *where)
        assert used.exit_code == 0, used.output
    assert "what each lane adds" in run("admin", "compare", *where, "--retriever", "memtape").output
    told = json.loads(run("admin", "compare", *where, "--json").stdout)
    assert (told["truth"], told["judged"], told["recalls"]) == ("used", 1, 3)
    dense = run("admin", "compare", *where, "--retriever", "dense")
    assert dense.exit_code == 1 and "no vectors" in dense.stderr


def test_measures_say_what_they_mean() -> None:
    sessions = {"a": "s", "b": "s", "c": "t"}
    asked = [
        ev.EvaluatedQuestion("x", ("a", "c"), ("b", "a"), sessions, 2),
        ev.EvaluatedQuestion("y", ("c",), ("b", "a", "z", "q", "r", "c"), sessions, 4),
    ]
    told = ev.summary(asked, (1, 5, 10))
    assert told["turn"] == {"1": 0, "5": 0.25, "10": 0.75}
    assert told["session"] == {"1": 0.25, "5": 0.25, "10": 0.75}
    at_10 = {"1": 0, "5": 0, "10": 1}
    assert told["by_category"]["y"] == {"questions": 1, "turn": at_10, "session": at_10}
    assert told["latency_ms"] == {"p50": 2, "p95": 4}
    assert told["any"] == {"1": 0, "5": 0.5, "10": 1} and told["all"] == {"1": 0, "5": 0, "10": 0.5}
    assert told["tokens"] == {"p50": 0, "p75": None, "p90": None}, "the first lacks c"
    assert [one.ranks for one in asked] == [[2, None], [6]]
    counts = {"b": 5, "a": 7, "z": 2, "q": 1, "r": 1, "c": 4}
    assert [one._replace(tokens_of=counts).tokens for one in asked] == [float("inf"), 20]
    assert ev.overlap(("a", "b"), ("b", "c", "d"), 2) == 0.5 and ev.overlap((), (), 5) == 1


WORDS = st.lists(st.text(max_size=2), max_size=6)


@given(WORDS, WORDS, st.integers(1, 9))
def test_measures_stay_in_their_bounds(first: list[str], second: list[str], cut: int) -> None:
    assert 0 <= ev.recall(first, second[:cut]) <= ev.recall(first, second) <= 1
    assert 0 <= ev.overlap(list(dict.fromkeys(first)), list(dict.fromkeys(second)), cut) <= 1
    lengths = list(map(len, first))
    assert ev.percentile(lengths, 100) == max(lengths, default=0) >= ev.percentile(lengths, 50)


def test_the_baselines_are_plain() -> None:
    bm25 = ev.PlainBm25(["kayaks", "the kayak", "kayak kayak river river river", ""])
    assert bm25.rank("KAYAK!", 5) == [1, 2] and bm25.rank("?", 5) == []
    cosine = ev.PlainCosine(np.array([[3, 0], [0, 0], [2, 2], [-1, 0]], np.int16))
    assert cosine.rank(np.array([1, 0], np.int16), 3) == [0, 2, 3] and cosine.rank(None, 3) == []
    assert ev.reciprocal_rank_fusion([[1, 2], [2, 3]], 2) == [2, 1]


def plain(turns: list[dict[str, object]], evidence: object = ("1",), **more: object) -> str:
    asked = {"question": "harbour?", "evidence": evidence, **more}
    return json.dumps({"conversations": [{"id": "c-1", "turns": turns, "questions": [asked]}]})


@pytest.mark.parametrize(("at", "read"), CASES["times"])
def test_times_are_read_as_corpora_write_them(tmp_path: Path, at: object, read: str | None) -> None:
    file = tmp_path / "c.json"
    file.write_text(plain([{"id": "1", "text": "The harbour.", "at": at, "session": None}]))
    corpus = read_corpus(file)
    assert format_time(int(corpus[0].lines[0].at or 0)) == (read or "2020-01-01T00:00:00Z")
    assert corpus.notes == () and corpus[0].lines[0].session == "1"


@pytest.mark.parametrize(("turns", "evidence", "said"), CASES["wrong"])
def test_what_cannot_be_measured_is_named(
    tmp_path: Path, turns: list[dict[str, object]], evidence: object, said: tuple[str, ...]
) -> None:
    file = tmp_path / "c.json"
    file.write_text(plain(turns, evidence))
    result = run("admin", "eval", str(file), "--embedder", "floor", "--retriever", "bm25")
    assert result.exit_code == 1
    output = " ".join(result.output.split())
    assert all(words in output for words in said), output
    assert not any(name in output for name in ("Exception", "Struct", "`"))


def test_evidence_that_no_turn_has_is_counted_and_said(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    made = json.loads(plain([{"id": "1", "text": "The harbour."}], ["1", "D9:9"]))
    made["conversations"][0]["questions"].append({"question": "gauge?", "evidence": ["D1:7"]})
    file.write_text(json.dumps(made))
    told = run("admin", "eval", str(file), "--embedder", "floor", "--retriever", "bm25", "--json")
    assert told.exit_code == 0
    measured = json.loads(told.stdout)
    assert (measured["missing_evidence"], measured["questions"]) == (2, 1)
    assert "2 ids of evidence" in told.stderr and "Not asked: 1 question." in told.stderr
    assert measured["retrievers"]["bm25"]["turn"]["5"] == 1
