"""What a text does, told from its words: rules, facts, what is said about memory, corrections.

What may be pasted instructs nobody: `data/pasted-texts.jsonl` has 200 prompts of writers who knew no rule.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tables import rows, table

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Kind
from memtape.sinks.home.folders import Home
from memtape.state.text.instructions import heard_in, same_instruction
from memtape.state.text.orders import is_about, named_by
from memtape.state.text.own_words import MOST_CHARS, is_own
from memtape.state.text.polarity import corrections_in, polarity
from memtape.state.text.reading import Reading, read
from memtape.state.text.statements import statements
from memtape.tools.agents import hooks
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.doors.cli import main

SAID = table("polarity")


def test_a_text_is_what_its_words_do() -> None:
    kinds = {f"{kind}s": kind for kind in ("rule", "fact", "meta", "correction")} | {"no_corrections": "fact"}
    assert [
        (it, kind) for name, kind in kinds.items() for it in SAID[name] if polarity(read(it)) != kind
    ] == []
    assert [
        text for text in SAID["rules"] if heard_in(read(text)).standing != (text.removeprefix("- "),)
    ] == []
    assert [text for text in SAID["metas"] if heard_in(read(text)).orders != (text,)] == []
    others = (*SAID["facts"], *SAID["metas"], *SAID["corrections"])
    assert [text for text in others if heard_in(read(text)).standing] == []
    assert [text for text in SAID["no_orders"] if heard_in(read(text)).orders] == []


def test_an_order_is_about_what_holds_all_that_it_names() -> None:
    for order, about, other in SAID["ordered"]:
        named = [named_by(order)]
        assert is_about(read(about), named) and not is_about(read(other), named)
    for order in ("Please don't remember this.", "Vergiss das bitte.", "Forget what I said."):
        assert polarity(read(order)) == "meta" and not named_by(order)
        assert not is_about(read("I said this, please remember."), [named_by(order)])


def test_of_a_turn_only_the_sentences_that_instruct_stand() -> None:
    turn = "Thanks, great!\n- Always run `make test`.\nIt took a while. Never push to main! What next?"
    assert heard_in(read(turn)).standing == ("Always run `make test`.", "Never push to main!")
    assert heard_in(read("```\nAlways in code.\n```\n> Always in a quote.")).standing == ()


pieces = st.sampled_from(("always", "never ", "immer", "nunca", "\n", "。", "必ず", "不要提", *'"`- ?', "no"))


@given(st.one_of(st.text(max_size=60), st.lists(pieces, max_size=30).map("".join)))
def test_any_text_is_read(text: str) -> None:
    assert all(sentence in text for sentence in heard_in(read(text)).standing)
    assert (polarity(read(text)) in ("rule", "meta")) >= bool(heard_in(read(text)).standing)


def test_an_instruction_is_told_behind_what_leads_to_it_and_once_however_it_is_written() -> None:
    assert same_instruction(read("Always  test.")) == same_instruction(read("always test"))
    assert [text for text in SAID["led"] if not heard_in(read(text)).standing] == []
    assert [text for text in SAID["bare"] if heard_in(read(text)).standing] == []


@given(st.text(), st.text())
def test_a_reading_goes_to_another_process_with_all_that_was_found(text: str, other: str) -> None:
    reading = Reading(f"{text}. Always run `make test`. {other}")
    heard, terms = heard_in(reading), reading.worded_terms()
    sent: Reading = pickle.loads(pickle.dumps(reading))
    assert vars(sent) == vars(reading) and (heard_in(sent), sent.worded_terms()) == (heard, terms)


# --- Which part of a text is its sender's own ---

PASTED: list[str] = [row["text"] for row in rows("pasted-texts")]
AT = 1_790_000_000_000_000
OWN = "Always run the linter before you commit."
STATED = "write ADR-58 as a proper markdown file under docs/adr"
WAIT = "rules that may be pasted wait for the user: memtape settle"


def is_heard(text: str) -> bool:
    heard = heard_in(read(text))
    return bool(heard.standing or heard.orders or heard.instructs)


def instructing(client: Client) -> list[str]:
    items = client.context(budget_tokens=20_000).items
    return [item.text for item in items if item.section == "guardrails"]


def test_no_pasted_text_instructs_corrects_or_states() -> None:
    assert len(PASTED) == 200
    assert [text for text in PASTED if is_heard(text)] == []
    assert [text for text in PASTED if corrections_in(read(text))] == []
    # The person says this below a fence.
    assert [it.text for text in PASTED for it in statements(read(text), AT, of_agent=False)] == [STATED]


@pytest.mark.parametrize("door", ["capture", "hook"])
def test_a_start_tells_own_instructions_and_people_are_asked_of_others(tmp_path: Path, door: str) -> None:
    home = Home(tmp_path / "home")
    scope = scope_of_folder(tmp_path, home)
    with Client(home.path, scope=scope, actor="Ada", origin="user", session="s") as client:
        if door == "capture":
            client.capture_many(Line(text=text, kind="turn") for text in (OWN, *PASTED))
        pasted = PASTED if door == "capture" else PASTED[::10]
        told = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(tmp_path)}
        for number, text in enumerate((OWN, *pasted) if door == "hook" else ()):
            prompt = json.dumps(told | {"prompt": text, "prompt_id": f"p-{number}"})
            hooks.run("claude", home.path, prompt.encode(), alone=True)
        for step in (lambda: None, client.catch_up, client.project):
            step()
            assert instructing(client) == [OWN], "of the tail, of statements, of the views"
        assert [row.text for row in client.recent(500, kinds=("fact",)).results if row.text != STATED] == [
            OWN
        ]
        asked = {same_instruction(read(it)) for text in pasted for it in heard_in(read(text)).doubted}
        waits = {same_instruction(read(rule.text)) for rule, how in client.proposals() if how == "waits"}
        assert waits and (waits == asked if door == "capture" else waits <= asked)
        assert f"{len(waits)} {WAIT}" in client.context().text


@pytest.mark.parametrize("kind", ["turn", "fact"])
def test_who_accepts_what_may_be_pasted_is_told_it_and_else_asked_once(tmp_path: Path, kind: Kind) -> None:
    pasted = f"Hi Tom,\n{OWN} Never push on Fridays.\nThanks"
    with Client(tmp_path, scope="project:a", actor="Ada", origin="user", session="s") as client:
        client.capture(pasted, kind)
        ours, theirs = (rule for rule, _ in client.proposals())
        assert [ours.text, theirs.text] == [OWN, "Never push on Fridays."] and instructing(client) == []
        agent = Client(tmp_path, scope="project:a", origin="agent")
        with agent, pytest.raises(MemtapeError, match="people"):
            agent.accept([ours.id])
        client.accept([ours.id])
        client.decline([theirs.id])
        rebuild = ["rebuild", "--home", str(tmp_path)]
        for step in (bool, client.project, lambda: CliRunner().invoke(main, rebuild, catch_exceptions=False)):
            step()
            client.capture(f"Dear all,\n{OWN} Never push on Fridays.\nRegards", "turn")
            answers = {rule.text: how for rule, how in client.proposals()}
            assert answers == {ours.text: "accepted", theirs.text: "declined"}
            assert instructing(client) == [OWN] and "may be pasted" not in client.context().text
        with Client(tmp_path, scope="project:b", origin="user") as other:
            assert other.proposals() == [] and instructing(other) == []
        client.forget(ours.id)
        client.accept([theirs.id])
        assert instructing(client) == [theirs.text]


@pytest.mark.parametrize("block", SAID["set_off"])
@pytest.mark.parametrize("form", ["{own}\n\n{pasted}", "{pasted}\n\n{own}", "What is this?\n{pasted}\n{own}"])
def test_what_stands_around_a_block_that_is_set_off_is_own(block: str, form: str) -> None:
    assert heard_in(read(form.format(own=OWN, pasted=block.format("Always run as root.")))).standing == (OWN,)


@pytest.mark.parametrize(
    "form", [*SAID["other_voices"], "{} " * (MOST_CHARS // len(OWN) + 1)], ids=lambda form: form[:20]
)
def test_a_text_with_a_sign_of_another_voice_is_not_own(form: str) -> None:
    text = form.replace("{}", OWN)
    assert heard_in(read(OWN)).standing == (OWN,)
    assert not is_own(read(text)) and not is_heard(text)


def test_a_character_that_stands_for_a_block_sets_nothing_off() -> None:
    pasted = f"What is this? {OWN} \x00 It is."
    assert not is_own(read(pasted)) and not is_heard(pasted)
