"""Which part of a text is its sender's own: what may be pasted instructs nobody, from the rule to the next start.

The texts are of two writers who knew no rule: 200 prompts with mails, logs, pages and the like in them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Kind
from memtape.sinks.home.folders import Home
from memtape.state.text.instructions import heard_in, same_instruction
from memtape.state.text.own_words import MOST_CHARS, own_words
from memtape.state.text.polarity import corrections_in
from memtape.state.text.statements import statements
from memtape.tools.agents import hooks
from memtape.tools.capture.lines import Line
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.client import Client
from memtape.tools.commands.cli import main

DATA = Path(__file__).parent / "data" / "pasted-texts.jsonl"
PASTED: list[str] = [json.loads(line)["text"] for line in DATA.read_text(encoding="utf-8").split("\n") if line]
AT = 1_790_000_000_000_000
OWN = "Always run the linter before you commit."
STATED = "write ADR-58 as a proper markdown file under docs/adr"
WAIT = "rules that may be pasted wait for the user: memtape settle"


def is_heard(text: str) -> bool:
    heard = heard_in(text)
    return bool(heard.standing or heard.orders or heard.instructs)


def instructing(client: Client) -> list[str]:
    items = client.context(budget_tokens=20_000).items
    return [item.text for item in items if item.section == "guardrails"]


def test_no_pasted_text_instructs_corrects_or_states() -> None:
    assert len(PASTED) == 200
    assert [text for text in PASTED if is_heard(text)] == []
    assert [text for text in PASTED if corrections_in(text)] == []
    # The person says this below a fence.
    assert [it.text for text in PASTED for it in statements(text, AT, of_agent=False)] == [STATED]


@pytest.mark.parametrize("door", ["capture", "hook"])
def test_a_start_is_told_of_own_instructions_alone_and_people_are_asked_of_all_others(
    tmp_path: Path, door: str
) -> None:
    home = Home(tmp_path / "home")
    scope = scope_of_folder(tmp_path, home)
    with Client(home.path, scope=scope, actor="Ada", origin="user", session="s") as client:
        if door == "capture":
            client.capture_many(Line(text=text, kind="turn") for text in (OWN, *PASTED))
        pasted = PASTED if door == "capture" else PASTED[::10]
        for number, text in enumerate((OWN, *pasted) if door == "hook" else ()):
            told = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(tmp_path), "prompt": text}
            hooks.run("claude", home.path, json.dumps(told | {"prompt_id": f"p-{number}"}).encode(), alone=True)
        for step in (lambda: None, client.catch_up, client.project):
            step()
            assert instructing(client) == [OWN], "of the tail, of statements, of the views"
        assert [row.text for row in client.recent(500, kinds=("fact",)) if row.text != STATED] == [OWN]
        asked = {same_instruction(it) for text in pasted for it in heard_in(text).doubted}
        waits = {same_instruction(rule.text) for rule, how in client.proposals() if how == "waits"}
        assert waits and (waits == asked if door == "capture" else waits <= asked)
        assert f"{len(waits)} {WAIT}" in client.context().text


@pytest.mark.parametrize("kind", ["turn", "fact"])
def test_who_accepts_what_may_be_pasted_is_told_it_and_who_declines_is_asked_no_more(
    tmp_path: Path, kind: Kind
) -> None:
    pasted = f"Hi Tom,\n{OWN} Never push on Fridays.\nThanks"
    with Client(tmp_path, scope="project:a", actor="Ada", origin="user", session="s") as client:
        client.capture(pasted, kind)
        ours, theirs = (rule for rule, _ in client.proposals())
        assert [ours.text, theirs.text] == [OWN, "Never push on Fridays."] and instructing(client) == []
        with Client(tmp_path, scope="project:a", origin="agent") as agent, pytest.raises(MemtapeError, match="people"):
            agent.accept([ours.id])
        client.accept([ours.id])
        client.decline([theirs.id])
        rebuild = ["rebuild", "--home", str(tmp_path)]
        for step in (lambda: None, client.project, lambda: CliRunner().invoke(main, rebuild, catch_exceptions=False)):
            step()
            client.capture(f"Dear all,\n{OWN} Never push on Fridays.\nRegards", "turn")
            assert {rule.text: how for rule, how in client.proposals()} == {
                ours.text: "accepted", theirs.text: "declined"
            }  # fmt: skip
            assert instructing(client) == [OWN] and "may be pasted" not in client.context().text
        with Client(tmp_path, scope="project:b", origin="user") as other:
            assert other.proposals() == [] and instructing(other) == []
        client.forget(ours.id)
        client.accept([theirs.id])
        assert instructing(client) == [theirs.text]


SET_OFF = "```\n{}\n```", "> {}\n> Thanks, Jo", "<mail>\n{}\n</mail>", '"""\n{}\n"""'


@pytest.mark.parametrize("block", SET_OFF)
@pytest.mark.parametrize("form", ["{own}\n\n{pasted}", "{pasted}\n\n{own}", "What is this?\n{pasted}\n{own}"])
def test_what_stands_around_a_block_that_is_set_off_is_own(block: str, form: str) -> None:
    assert heard_in(form.format(own=OWN, pasted=block.format("Always run as root."))).standing == (OWN,)


@pytest.mark.parametrize(
    "text",
    [
        f"Hi Tom,\n{OWN}\nThanks", f"The vendor says: {OWN}", f"{OWN} That is what my boss wrote.",
        f"Is this a good rule? {OWN}", f"Summarise: {OWN}", f"First paragraph.\n\n{OWN}", f"[12:01] <jo> {OWN}",
        f"{OWN} " * (MOST_CHARS // len(OWN) + 1), f"+ {OWN}", f'The docs have "{OWN} Never skip it." in them.',
    ],
)  # fmt: skip
def test_a_text_with_a_sign_of_another_voice_is_not_own(text: str) -> None:
    assert heard_in(OWN).standing == (OWN,)
    assert own_words(text) == "" and not is_heard(text)
