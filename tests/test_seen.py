"""What agents were given unasked: what a person sees of it, how the log has it, and what has come of it."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from soaked import soaked
from test_handing import patient
from test_hooks import ANSWER, FIELD, PROMPT, events_of, hook, told
from test_warm import warm

from memtape.schemas.events import Recalled
from memtape.schemas.lanes import unasked_by
from memtape.sinks.home.folders import Home
from memtape.tools.agents.ready import HookResponder
from memtape.tools.capture.native_ids import HOSTS
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.measure.comparing import recalls_of
from memtape.tools.query.looking import edges_of

PORT = "The staging kayak listens on port 5433."
QUESTION = "On which port does the staging kayak listen?"
WAYS = [*product(HOSTS, (False, True))]
NOTE = r"memory: (\d+) given, (\d+) tokens"


@pytest.fixture(autouse=True)
def connected(home: Path) -> None:
    Home(home)


def remembered(home: Path, project: Path, *texts: str, **fields: Any) -> list[str]:
    with Client(home, folder=project, origin="user", session="before") as client:
        ids = [client.capture(text, **fields).id for text in texts]
        client.project()
        return ids


def at(home: Path, project: Path) -> Client:
    return Client(home, scope=scope_of_folder(project, Home(home)), origin="user")


@pytest.mark.parametrize(("host", "served"), soaked(WAYS, ("claude", False), ("codex", True)))
def test_a_person_sees_how_much_agents_were_given(host: str, served: bool, home: Path, project: Path) -> None:
    """The note says what the log says, whether a server answers or the hook does it alone."""
    remembered(home, project, PORT, "Mira likes green tea.")
    ready = HookResponder(home)
    with warm(home, ready) if served else nullcontext():
        asked = told(project, "SessionStart", source="startup"), told(project, PROMPT[host], prompt=QUESTION)
        answers = [json.loads(patient(home, host, each)) for each in asked]
    ready.close()
    with at(home, project) as client:
        prompt, start = client.given()
    assert (start.by, prompt.by) == ("start", "prompt")
    for answer, told_of in zip(answers, (start, prompt), strict=True):
        assert answer.keys() == {"hookSpecificOutput", "systemMessage"}
        noted = re.fullmatch(NOTE, answer["systemMessage"])
        assert noted is not None and (int(noted[1]), int(noted[2])) == (len(told_of.memories), told_of.tokens)
        assert told_of.session == "s-1" and told_of.actor == HOSTS[host] and told_of.origin == "agent"
        context = answer["hookSpecificOutput"]["additionalContext"]
        assert all(it.line is not None and it.line in context for it in told_of.memories)


def test_a_setting_keeps_the_note_away_and_nothing_given_has_none(home: Path, project: Path) -> None:
    assert hook(home, "codex", told(project, "SessionStart", source="startup")) == b""
    remembered(home, project, PORT)
    assert hook(home, "claude", told(project, PROMPT["claude"], prompt="Write a poem about rivers.")) == b""
    (home / "settings.toml").write_text("shown = false\n")
    for event, more in (("SessionStart", {"source": "startup"}), (PROMPT["claude"], {"prompt": QUESTION})):
        answer = json.loads(hook(home, "claude", told(project, event, **more)))
        assert answer.keys() == {"hookSpecificOutput"}
    with at(home, project) as client:
        assert [it.by for it in client.given()] == ["prompt", "start"]


def test_what_came_of_it(home: Path, project: Path) -> None:
    """Used by the rule, used as somebody said, forgotten, replaced, erased, or nothing."""
    port, tea, boat, old, plain = remembered(
        home, project, PORT, "Mira likes green tea.", "The boat of Otto is called Seahorse.",
        "The billing gateway listens on port 7001.", "Tides are read at noon.",
    )  # fmt: skip
    hook(home, "claude", told(project, "SessionStart", source="startup"))
    hook(home, "claude", told(project, ANSWER["claude"], **{FIELD["claude"]: "Staging is on 5433."}))
    with at(home, project) as client:
        (start,) = client.given()
        assert {it.id: (it.used, it.now) for it in start.memories} == {
            port: (True, "shown"), tea: (False, "shown"), boat: (False, "shown"), old: (False, "shown"),
            plain: (False, "shown"),
        }  # fmt: skip
        client.use([tea], start.id)
        client.forget(boat)
        client.update(old, "The billing gateway listens on port 7002.")
        (start,) = client.given(session="s-1", since="1h")
        states = {it.id: (it.used, it.now, it.line) for it in start.memories}
        assert states[port][:2] == (True, "shown") and states[tea][:2] == (True, "shown")
        assert states[boat] == (False, "forgotten", "The boat of Otto is called Seahorse.")
        assert states[old][:2] == (False, "replaced")
        assert client.given(session="another") == [] == client.given(since="2030-01-01")
    done = CliRunner().invoke(main, ["erase", plain, "--yes", "--home", str(home), "--scope", start.scope])
    assert done.exit_code == 0, done.output
    with at(home, project) as client:
        (start,) = client.given()
        assert {it.id: (it.line, it.now) for it in start.memories}[plain] == (None, "erased")
    words = ["agents", "given", "--home", str(home), "--scope", start.scope]
    shown = CliRunner().invoke(main, words)
    assert all(it in shown.output for it in ("(user), used]", "forgotten since", plain[-8:]))
    printed = json.loads(CliRunner().invoke(main, [*words, "--json"]).output)
    fields = {"id", "scope", "line", "actor", "origin", "used", "now"}
    assert printed["given"][0]["memories"][0].keys() == fields


def test_a_search_of_an_agent_is_not_listed_and_a_start_is_no_search(home: Path, project: Path) -> None:
    remembered(home, project, PORT)
    hook(home, "claude", told(project, "SessionStart", source="startup"))
    hook(home, "claude", told(project, PROMPT["claude"], prompt=QUESTION))
    with at(home, project) as client:
        client.session = "s-1"
        assert client.search("staging kayak").recall_id is not None
        bodies = [event.body for event in events_of(home, project, "recalled")]
        by = [unasked_by(body.lanes) for body in bodies if isinstance(body, Recalled)]
        assert by == ["start", "prompt", None]
        assert len(client.given()) == 2
        # What was asked can be asked again, and a start asked nothing.
        asked = [body.query for body, _, _ in recalls_of(client.log, client.scope)]
        assert asked == [QUESTION, "staging kayak"]


# --- What a reader keeps of rows while more is said ---

TEXTS = (
    "The staging port is 5433.", "The staging port is now 5434.", "Always run the tests before a commit.",
    "In all my projects, use British spelling.", "Never mention the ferry again.",
    "The ferry leaves at noon.", "The crane in Kiel lifts 44 tonnes.",
)  # fmt: skip


def seen(client: Client) -> tuple[object, ...]:
    """Return all that is worked out of rows: of a context, what it tells; of lists, their ids and texts."""
    edges = client.read(edges_of).edges
    return (
        client.context(800).text,
        [(rule.id, answer) for rule, answer in client.proposals()],
        [one.id for one in client.stale()],
        sorted((edge.source.id, edge.source.text, edge.target.id, edge.windows) for edge in edges),
        [(one.id, one.text, one.marks) for one in client.recent(20).results],
        [(one.id, one.memories) for one in client.given(searches=True)],
    )


STEPS = "say3 turn1 project0 use1 pin2 forget0 project0 restore0".split()


def test_who_has_looked_all_along_sees_what_one_sees_who_looks_now(home: Path) -> None:
    (home / "settings.toml").write_text("catch_up = false\n")
    ada: dict[str, Any] = {"scope": "project:kept", "actor": "Ada", "origin": "user"}
    with Client(home, **ada, session="s") as person, Client(home, **ada, wakes=False) as looking:
        ids = [person.capture(text).id for text in TEXTS[:3]]
        for step, number in ((it[:-1], int(it[-1])) for it in STEPS):
            id = ids[number % len(ids)]
            if step in ("say", "turn"):
                ids.append(person.capture(TEXTS[number], kind="turn" if step == "turn" else "fact").id)
            elif step == "project":
                person.project()
            elif step == "use":
                person.use([id, ids[0]] if id != ids[0] else [id])
            else:
                getattr(person, step)(id)
            with Client(home, **ada, wakes=False) as fresh:
                assert seen(looking) == seen(fresh), (step, number)
