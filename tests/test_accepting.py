"""Rules that a person says for all projects: proposed from what stands, answered by people, asked once."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from bench.instructing import Sentence, is_told
from commanding import call
from hypothesis import given
from hypothesis import strategies as st
from tables import rows

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Captured, Origin
from memtape.state.text.instructions import heard_in, is_for_all_projects
from memtape.state.text.reading import read
from memtape.state.views.context import Known
from memtape.state.views.proposals import proposal_id, proposed
from memtape.tools.client import Client
from memtape.tools.keep.erasing import plan
from memtape.tools.table import TOOLS

RULE, TALK = "In all my projects, use tabs.", "Thanks. In all my projects, use tabs. Now fix the test."
TOLD = "rule for all projects waits for the user: memtape settle"


def test_what_is_for_all_projects_is_told_and_nothing_else() -> None:
    for line in rows("rules-for-all-projects"):
        found = any(map(is_for_all_projects, heard_in(read(line["text"])).standing))
        assert found == line["everywhere"], line["text"]


@pytest.mark.parametrize("name", ["standing-instructions", "standing-instructions-seen-since"])
def test_of_the_sentences_the_rule_was_narrowed_by_none_is_told_wrongly(name: str) -> None:
    read = [msgspec.convert(line, Sentence) for line in rows(name)]
    told = [line for line in read if is_told(line.text)]
    assert [line.text for line in told if not line.standing] == []
    assert len(told) * 2 >= sum(line.standing for line in read)


texts = st.lists(st.sampled_from([RULE, "Fix it.", "in all my projects use  tabs", "Hm. "]))
knowns = st.lists(
    st.builds(
        Known, id=st.sampled_from("abcdef"), scope=st.sampled_from(["project:a", "global"]),
        kind=st.sampled_from(["turn", "fact", "document"]), text=texts.map(" ".join), at=st.integers(0, 3),
        last_at=st.just(0), order=st.integers(0, 3), actor=st.just(""), valid_to=st.none() | st.just(1),
        origin=st.sampled_from(["user", "operator", "agent", "tool", "web", "model"]),
    ),
    max_size=6, unique_by=lambda it: it.id,
)  # fmt: skip


@given(knowns, st.randoms())
def test_proposals_follow_from_what_people_said(known: list[Known], rng: object) -> None:
    shuffled = sorted(known, key=lambda it: rng.random())  # type: ignore[attr-defined]
    found = proposed(known)
    assert proposed(shuffled) == found
    assert len({it.id for it in found}) == len(found)
    said = {it.id: it for it in known}
    for it in found:
        assert it.id == proposal_id(it.text, it.into)
        for name in it.said_in:
            one = said[name]
            assert one.origin in ("user", "operator") and one.valid_to is None
            assert one.scope == it.into if it.is_doubted else one.scope != "global"
            assert one.kind != "document"
    assert proposed([it for it in known if not any(it.id in one.said_in for one in found)]) == []


def run(home: Path, *words: str, scope: str = "project:a", code: int = 0) -> str:
    return call(*words, home=home, scope=scope, code=code).output


def said(home: Path, text: str = TALK, origin: Origin = "user", scope: str = "project:a") -> str:
    with Client(home, scope=scope, actor="Ada", origin=origin, session="s") as client:
        return client.capture(text, "turn").id


def test_a_start_tells_what_waits_and_all_projects_have_what_is_accepted(tmp_path: Path) -> None:
    turn = said(tmp_path)
    said(tmp_path, "In all my projects, use vim.", "agent")
    assert f"1 {TOLD}" in run(tmp_path, "context")
    assert TOLD not in run(tmp_path, "context", scope="project:b")
    listed = json.loads(run(tmp_path, "settle", "--json"))["rules"]
    assert [(it["text"], it["actor"]) for it in listed] == [(RULE, "Ada")] and turn in listed[0]["said_in"]
    assert RULE in run(tmp_path, "settle")
    done = run(tmp_path, "settle", "--accept", listed[0]["id"][:8], "--origin", "user")
    assert "memtape forget" in done
    for scope in ("project:a", "project:b"):
        told = run(tmp_path, "context", scope=scope)
        assert TOLD not in told and told.count(f'- "{RULE}"') == 1 and "Standing instructions" in told
    with Client(tmp_path, scope="global") as client:
        event = client.why(listed[0]["id"]).events[0].event
        assert isinstance(event.body, Captured) and event.actor.origin == "operator" and turn in event.refs
    assert "No rule" in run(tmp_path, "settle", "--accept", "--all", "--origin", "user")


@pytest.mark.parametrize("answer", ["accept", "decline"])
def test_an_answer_survives_a_rebuild_and_is_asked_once(tmp_path: Path, answer: str) -> None:
    said(tmp_path)
    with Client(tmp_path, scope="project:a", origin="user") as client:
        ((rule, before),) = client.proposals()
        assert before == "waits"
        getattr(client, answer)([rule.id])
        expected = {"accept": "accepted", "decline": "declined"}[answer]
        assert [how for _, how in client.proposals()] == [expected], "from the tail or from the views"
        client.project()
        assert [how for _, how in client.proposals()] == [expected]
    said(tmp_path, "As I said: in all my projects, use tabs!", scope="project:b")
    call("rebuild", home=tmp_path)
    with Client(tmp_path, scope="project:a", origin="user") as client:
        assert client.verify().ok
        assert [how for _, how in client.proposals()] == [expected]
        assert TOLD not in client.context().text
        assert RULE in client.context().text, "the project keeps its own"


def test_what_was_declined_can_be_accepted_and_what_was_accepted_forgotten(tmp_path: Path) -> None:
    said(tmp_path)
    with Client(tmp_path, scope="project:a", origin="user") as client:
        rule = client.proposals()[0][0]
        client.decline([rule.id])
        client.accept([rule.id])
        assert [how for _, how in client.proposals()] == ["accepted"]
        with pytest.raises(MemtapeError, match="already"):
            client.decline([rule.id])
    assert RULE in run(tmp_path, "context", scope="project:b")
    with Client(tmp_path, scope="global", origin="operator") as everywhere:
        everywhere.forget(rule.id)
    with Client(tmp_path, scope="project:a", origin="user") as client:
        assert [how for _, how in client.proposals()] == ["declined"], "it is not asked again"
    assert RULE not in run(tmp_path, "context", scope="project:b")


@pytest.mark.parametrize("end", ["forget", "erase", "again"])
def test_a_proposal_goes_with_what_says_it(tmp_path: Path, end: str) -> None:
    turn = said(tmp_path)
    with Client(tmp_path, scope="project:a", origin="user") as client:
        client.project()
        rule = client.proposals()[0][0]
        if end == "erase":
            client.erase(plan(client.home, client.log, "project:a", [turn], only=False))
        else:
            for id in rule.said_in:
                client.forget(id)
        if end == "again":
            client.restore(turn)
        assert [how for _, how in client.proposals()] == (["waits"] if end == "again" else [])
        assert (TOLD in client.context().text) == (end == "again")


@pytest.mark.parametrize("origin", ["agent", "model"])
def test_only_people_answer_and_agents_have_no_tool_for_it(tmp_path: Path, origin: Origin) -> None:
    said(tmp_path)
    with Client(tmp_path, scope="project:a", origin=origin) as client:
        rule = client.proposals()[0][0]
        ends = client.log.ends()
        for answer in (client.accept, client.decline):
            with pytest.raises(MemtapeError, match="Only people"):
                answer([rule.id])
        assert client.log.ends() == ends
    assert "Only people" in run(tmp_path, "settle", "--accept", "--all", code=1)
    assert not [name for name in TOOLS if "accept" in name or "propos" in name]


def test_wrong_usage_is_told(tmp_path: Path) -> None:
    said(tmp_path)
    with Client(tmp_path, scope="project:a", origin="user") as client, pytest.raises(NotFound):
        client.accept(["01234567"])
    assert "Give ids, or --all" in run(tmp_path, "settle", "--accept", "01234567", "--all", code=2)
    assert "Give ids, or --all" in run(tmp_path, "settle", "--decline", code=2)
    assert "unexpected extra argument" in run(tmp_path, "settle", "01234567", code=2)
    assert "Give one of" in run(tmp_path, "settle", "01234567", "--keep", "A", "--accept", code=2)
