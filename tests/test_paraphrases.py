"""What was forgotten twice hides what says the same in other words, until it is restored or said again."""

from __future__ import annotations

from pathlib import Path

from builders import START, TINY, captured, configured, embedded, forgotten, restored, slots
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.events import Event
from memtape.schemas.settings import Settings
from memtape.state.core.erasures import Erasures
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.text.normal import content_key, normal_text
from memtape.tools.client import Client
from memtape.tools.doors.cli import main

FORMS = ("Staging port is 5433.", "staging port is 5433", "Staging Port is 5433!")
SAYINGS = (*FORMS, "staging port is 5434", "Dock 2.")


def shown(events: list[Event], embedder: str = "floor") -> list[bool]:
    """Whether each capture is visible after a history, also folded with a restore after every event."""
    settings = Settings(embedder=embedder, fold_cosine_hundredths=90)
    whole, parted = Partition(0, Erasures()), Partition(0, Erasures())
    for slot in slots([configured(settings), *events]):
        fold(whole, [slot])
        parted = restore(snapshot(parted))
        fold(parted, [slot])
    assert snapshot(whole) == snapshot(parted)
    scope = whole.scopes["project:test"]
    for memory in scope.memories.by_birth.values():
        members = [scope.captures.by_seq[join.seq] for join in memory.members]
        assert (memory.canonical >= 0) is any(not member.hidden for member in members)
    return [not capture.hidden for capture in scope.captures.by_seq.values()]


@st.composite
def told(draw: st.DrawFn) -> list[tuple[str, int]]:
    """What was said, forgotten and restored: each with the number of a text, or of what was said before.

    To repeat is to say as an agent, to import to say as a user before all else, to note to write in a zone.
    """
    acts: list[tuple[str, int]] = [("say", draw(st.integers(0, 4)))]
    for _ in range(draw(st.integers(0, 14))):
        said = sum(act not in ("forget", "restore") for act, _ in acts)
        act = draw(st.sampled_from(("say", "repeat", "import", "note", "forget", "forget", "restore")))
        acts.append((act, draw(st.integers(0, (said if act in ("forget", "restore") else 5) - 1))))
    return acts


@given(told())
def test_twice_forgotten_bans_what_says_the_same_as_a_plain_model_says(acts: list[tuple[str, int]]) -> None:
    said: list[str] = []
    banned, alike, times, hidden = set[str](), set[object](), dict[object, int](), dict[int, object]()
    events = []
    for number, (act, which) in enumerate(acts):
        sent = 1_790_000_000_000_000 + number
        if act not in ("forget", "restore"):
            text = SAYINGS[which]
            at = 1_780_000_000_000_000 if act == "import" else sent
            origin, source = "agent" if act == "repeat" else "user", "vault:a.md" if act == "note" else None
            events.append(captured(text, f"c{len(said)}", sent=sent, at=at, origin=origin, source=source))
            if act == "say":
                banned.discard(normal_text(text))
                if content_key(text) in alike:
                    alike.discard(content_key(text))
                    hidden = {place: root for place, root in hidden.items() if root != content_key(text)}
            if content_key(text) in alike and normal_text(text) not in banned:
                hidden[len(said)] = content_key(text)
            said.append(text)
            continue
        text = said[which]
        make = forgotten if act == "forget" else restored
        events.append(make([f"c{which}"], f"e{number}", sent=sent, at=sent))
        if act == "forget":
            banned.add(normal_text(text))
            times[content_key(text)] = times.get(content_key(text), 0) + 1
            if times[content_key(text)] >= 2:
                alike.add(content_key(text))
        else:
            banned.discard(normal_text(text))
            alike.discard(content_key(text))
            hidden = {place: root for place, root in hidden.items() if root != content_key(text)}
    expected = [normal_text(text) not in banned and place not in hidden for place, text in enumerate(said)]
    assert shown(events) == expected


def forgotten_twice(*between: Event) -> list[Event]:
    """Return a text that was forgotten twice, and then a paraphrase by an agent, each with its own vector."""
    said = [captured("the staging port is open", "a"), embedded("a", [2000, 0, 0]), forgotten(["a"], 1)]
    again = captured("the staging port is open.", "b", origin="agent")
    return [*said, *between, forgotten(["a"], 3), again, embedded("b", [1995, 50, 0])]


def test_under_an_embedder_paraphrases_are_banned_once_their_vector_has_come() -> None:
    events = forgotten_twice(restored(["a"], 2))
    assert shown(events[:-1], TINY) == [False, True]
    assert shown(events, TINY) == [False, False]
    other = [captured("Dogs bark.", "c"), embedded("c", [0, 2000, 0])]
    assert shown([*events, *other], TINY) == [False, False, True]
    assert shown([*events, restored(["b"], 4)], TINY) == [False, True]
    assert shown([*events, restored(["a"], 4)], TINY) == [True, True]
    events = forgotten_twice()
    said = captured("the staging port is open!", "c", at=START + 1, sent=START + 1)
    assert shown(events, TINY) == [False, False] and shown([*events, said], TINY) == [False, False, True]
    again = [said, embedded("c", [1995, 25, 0])]
    assert shown([*events, *again], TINY) == [False, True, True], "a person said it again"


def test_what_is_hidden_so_is_shown_with_how_to_restore_it(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:p", origin="user") as client:
        first = client.capture(SAYINGS[0]).id
        client.forget(first)
        client.restore(first)
        client.forget(first)
    with Client(tmp_path, scope="project:p", origin="agent") as client:
        second = client.capture(SAYINGS[1]).id
        client.project()
        assert client.search("staging port").results == []
        assert client.status().hidden == 2
    told = CliRunner().invoke(main, ["show", second, "--home", str(tmp_path)])
    assert "forgotten twice" in told.output and f"memtape restore {second[-8:]}" in told.output
    with Client(tmp_path, scope="project:p", origin="user") as client:
        client.restore(second)
        client.project()
        assert [result.id for result in client.search("staging port").results] == [second]
        assert client.verify().ok
