"""What a reader keeps of rows while more is said: whoever has looked all along sees what one sees who looks now."""

from __future__ import annotations

from pathlib import Path

from memtape.tools.ask.looking import edges_of
from memtape.tools.client import Client

SCOPE = "project:kept"
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
        [(one.id, one.text, one.marks) for one in client.recent(20)],
        [(one.id, one.memories) for one in client.given(searches=True)],
    )


STEPS = [("say", 3), ("turn", 1), ("project", 0), ("use", 1), ("pin", 2), ("forget", 0), ("project", 0), ("restore", 0)]


def test_who_has_looked_all_along_sees_what_one_sees_who_looks_now(home: Path) -> None:
    home.mkdir()
    (home / "settings.toml").write_text("catch_up = false\n")
    with (
        Client(home, scope=SCOPE, actor="Ada", origin="user", session="s") as person,
        Client(home, scope=SCOPE, actor="Ada", origin="user", wakes=False) as looking,
    ):
        ids = [person.capture(text).id for text in TEXTS[:3]]
        for step, number in STEPS:
            id = ids[number % len(ids)]
            if step in ("say", "turn"):
                ids.append(person.capture(TEXTS[number], kind="turn" if step == "turn" else "fact").id)
            elif step == "project":
                person.project()
            elif step == "use":
                person.use([id, ids[0]] if id != ids[0] else [id])
            else:
                getattr(person, step)(id)
            with Client(home, scope=SCOPE, actor="Ada", origin="user", wakes=False) as fresh:
                assert seen(looking) == seen(fresh), (step, number)
