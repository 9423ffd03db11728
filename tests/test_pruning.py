"""Pruning forgets what carries a tag and is old, hides nothing that anybody else has said, and comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commanding import call, document
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import DEV_TAG
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import MemoryLog
from memtape.state.subjects.captures import FAMILIES, normal_digest
from memtape.state.text.reading import read
from memtape.tools.capture import writing
from memtape.tools.client import Client
from memtape.tools.keep.states import state_at
from memtape.tools.verbs import erasing

NOW = 1_800_000_000_000_000
SCOPES = ("project:a", "project:b")


class Said(NamedTuple):
    """A capture: its words, kind and scope, if development made it, its age, and if it was forgotten."""

    text: str
    kind: Any
    scope: str
    dev: bool
    age_days: int
    forgotten: bool


SAID = st.builds(Said, st.sampled_from(["The crane is red.", "The  crane is red.", "Nine bells."]),
                 st.sampled_from(["fact", "journal", "goal", "turn"]), st.sampled_from([SCOPES[0], *SCOPES]),
                 st.booleans(), st.sampled_from([3, 9]), st.sampled_from([False, False, True]))  # fmt: skip


def hidden(client: Client, ids: list[str]) -> list[bool]:
    """Return of captures whether they are hidden, by the folded state."""
    states = {}
    for number in {partition_of(scope, client.log.partitions): None for scope in SCOPES}:
        states |= state_at(client.log, client.home.current(), number, client.log.ends()[number]).scopes
    captures = [states[scope].captures.get(id) for scope, id in (it.split() for it in ids)]
    return [capture.hidden for capture in captures if capture is not None]


@given(st.lists(SAID, min_size=3, max_size=8), st.sampled_from([0, 7, 7]), st.booleans())
def test_what_is_old_goes(tmp_path_factory: Any, said: list[Said], days: int, every: bool) -> None:
    home, log = Home(tmp_path_factory.mktemp("home")), MemoryLog()
    before = NOW - days * DAY_US
    with pytest.MonkeyPatch.context() as patch:
        ids = []
        for place, it in enumerate(said):
            patch.setattr(writing, "now_us", lambda it=it, place=place: NOW - it.age_days * DAY_US + place)
            profile = "dev_memory_test" if it.dev else "prod"
            speaker = Client(home, scope=it.scope, log=log, profile=profile, origin="user")
            ids.append(f"{it.scope} {speaker.capture(it.text, it.kind).id}")
        patch.setattr(writing, "now_us", lambda: NOW + 1_000)
        client = Client(home, scope=SCOPES[0], log=log, origin="user")
        for it, id in zip(said, ids, strict=True):
            if it.forgotten:
                Client(home, scope=it.scope, log=log).forget(id.split()[1], only=True)
        were = hidden(client, ids)
        moment = f"{NOW}"
        patch.setattr(erasing, "parse_time", lambda at, now: before if at == moment else now)
        ends = log.ends()
        planned = client.prune(before=moment, every=every, dry_run=True)
        assert log.ends() == ends and planned.dry_run
        made = client.prune(before=moment, every=every)
        assert made.items == planned.items and not made.dry_run
        asked = [every or it.scope == SCOPES[0] for it in said]
        sent = [NOW - it.age_days * DAY_US + place for place, it in enumerate(said)]
        old = [it.dev and of and at < before for it, of, at in zip(said, asked, sent, strict=True)]
        going = {item.id for item in made.items}
        now = hidden(client, ids)
        for place, (it, id) in enumerate(zip(said, ids, strict=True)):
            assert now[place] == (were[place] or id.split()[1] in going)
            same = [  # What a ban on its text would hide, and nobody asked for.
                n
                for n, other in enumerate(said)
                if {it.kind, other.kind} <= FAMILIES.keys() and other.scope == it.scope
                and normal_digest(read(other.text)) == normal_digest(read(it.text))
                and not (old[n] or were[n])
            ]  # fmt: skip
            assert (id.split()[1] in going) == (old[place] and not were[place] and not same)
        assert not client.prune(before=moment, every=every).items
        for item in made.items:
            Client(home, scope=item.scope, log=log).restore(item.id)
        assert [was or back for was, back in zip(were, hidden(client, ids), strict=True)] == were


def test_no_pruning_is_without_a_tag_and_global_is_an_operators(home: Path) -> None:
    with Client(home, scope="global", origin="operator", profile="dev_standard") as operator:
        id = operator.capture("The harbour has rules.").id
        for tags in ((), ("",), (" ",), (DEV_TAG, "")):
            with pytest.raises(MemtapeError, match="No tag is named, and nothing was forgotten"):
                operator.prune(tags, "0s")
    with Client(home, scope="global", origin="agent") as agent:
        assert not agent.prune(before="0s").items
    with Client(home, scope="project:a", origin="user") as user:
        assert not user.prune(before="0s", every=True).items
    with Client(home, scope="global", origin="operator") as operator:
        assert [item.id for item in operator.prune(before="0s").items] == [id]


def test_the_command_says_what_goes_asks_and_tells_how_to_undo_it(home: Path) -> None:
    def run(*words: str) -> Any:
        return call(*words, home=home, scope="project:a", code=None)

    def found(*words: str) -> Any:
        return document(*words, home=home, scope="project:a")

    for number in range(3):
        run("capture", f"Trial number {number} of the crane.", "--profile", "dev_standard")
    run("capture", "Trial number 1 of the crane.")
    run("capture", "The crane is ours.", "--tag", "mine")
    assert "Nothing that is shown is tagged env:dev" in run("admin", "prune").output  # Younger than 7 days.
    told = run("admin", "prune", "--before", "0s", "--dry-run").output
    assert "2 captures tagged env:dev" in told and "would be forgotten" in told and "Trial number 2" in told
    assert "1 of the kind stay: the same was also captured later, or without the tag." in told
    refused = run("admin", "prune", "--before", "0s")
    assert refused.exit_code == 1 and "Nothing was forgotten.\nConfirm it, or give --yes." in refused.output
    assert "Nothing was forgotten" in run("admin", "prune", "--before", "0s", "--json").output
    assert found("admin", "prune", "--tag", "other", "--before", "0s")["items"] == []
    done = run("admin", "prune", "--before", "0s", "--yes").output
    undo = done.partition("Undo: memtape ")[2].partition(", and so")[0].split()
    assert "Forgot 2 captures." in done and undo[0] == "restore"
    texts = sorted(it["text"] for it in found("search", "crane")["results"])
    assert texts == ["The crane is ours.", "Trial number 1 of the crane."]
    call(*undo, home=home)
    assert len(found("search", "crane")["results"]) == 3
    mine = run("admin", "prune", "--tag", "mine", "--before", "0s", "--yes").output
    assert "1 more are hidden already" not in mine
    assert "The views are what the log says." in call("verify", home=home).output
