"""What counts as use: said by an event, or by an answer that carries the specifics of what was recalled."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from builders import MINUTE, START, captured, configured, erased, forgotten, make_id, recalled, slots, used
from hypothesis import given
from hypothesis import strategies as st
from replaying import replay
from tables import table

from memtape import Client
from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Event, make_tick
from memtape.schemas.lanes import unasked_lanes
from memtape.schemas.rows import UseRow
from memtape.sinks.tables import Shard
from memtape.state.core.scope import Scope
from memtape.state.subjects.recalls import SESSIONS
from memtape.state.subjects.usage import MAX_TIMES
from memtape.state.subjects.weights import HALF_LIFE_US, HOT_WINDOW_US, decayed, other_row_id, times_of
from memtape.state.text.carried_words import answer_of, carries
from memtape.state.text.normal import words
from memtape.state.text.reading import read
from memtape.state.views.rows import all_changes, row_of

PORT = captured("Staging listens on port 8081.", "port")
PROXY = captured("The proxy is set up in infra/proxy.toml by Mira.", "proxy")


def scope_of(*events: Event) -> Scope:
    (state,) = replay(slots([configured(), *events])).partitions.values()
    return state.scopes["project:test"]


def turn(text: str, id: object, minute: int, origin: str = "agent", session: str | None = "s") -> Event:
    return captured(text, id, "turn", origin=origin, session=session, sent=START + minute * MINUTE)


def asked(
    results: list[object], id: object = "r", minute: int = 1, query: str = "staging port", **fields: Any
) -> Event:
    return recalled(results, id, query, session="s", sent=START + minute * MINUTE, **fields)


def counts(scope: Scope) -> dict[str, tuple[int, int]]:
    """Return of every captured id how often it was recalled and used."""
    ids = {make_id(name): name for name in ("port", "proxy", "other")}
    by_seq = scope.captures.by_seq
    return {ids.get(by_seq[seq].id, "?"): (use.recalled, use.used) for seq, use in scope.usage.own.items()}


SAID = turn("I opened 8081 for you.", "answer", 2)
LATER, LATE = turn("I opened 8081 for you.", "later", 4), turn("I opened 8081 for you.", "late", 62)
LATE_PROMPT = captured("Which port?", "p", "turn", session="s", sent=START + MINUTE + 1_000_000)
LOOK, THANKS = turn("Let me look.", "first", 2), turn("Thanks. What else?", "thanks", 3, origin="user")
MUCH_LATER = make_tick(0, START + 50 * MINUTE)
TWICE = (used(["port", "port"], "u1"), used(["port"], "u2"))
RECALL = asked(["port"])
START_ALL = asked(["port", "proxy"], "start", query="", lanes=unasked_lanes("start", 900))
STARTS = [asked(["proxy"], f"start {n}", query="", lanes=unasked_lanes("start", 900)) for n in range(4)]
SEARCHES = [asked(["port"], "r0"), asked([], "r1"), asked([], "r2")]
BOTH = turn("I opened 8081 in infra/proxy.toml of Mira.", "both", 2)
NOTE = captured("I opened 8081.", "note", "journal", origin="agent", session="s", sent=START + 2 * MINUTE)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((asked(["port", "proxy"]), asked(["port"], "r2", 2)), {"port": (2, 0), "proxy": (1, 0)}),  # Seen.
        ((turn("Is it 8081?", "q", 0, origin="user"), RECALL, SAID), {"port": (1, 0)}),  # The user knew it.
        ((RECALL, LATE_PROMPT, SAID), {"port": (1, 1)}),  # A prompt captured late ends nothing.
        ((RECALL, SAID, erased(["r"], "e")), {}),  # An erased recall was never shown.
        ((*TWICE, TWICE[0]), {"port": (0, 2)}),  # A repeated event counts once.
        ((used(["port"], "u"), forgotten(["port"], "f")), {"port": (0, 1)}),  # Forgetting does not count.
        ((asked(["port", "proxy"]), SAID), {"port": (1, 1), "proxy": (1, 0)}),  # It carries the port alone.
        # Neither the user, a tool, another session, none, a note, nor what names no specifics tells of use.
        ((RECALL, turn("Fine, 8081 then.", "user", 2, origin="user")), {"port": (1, 0)}),
        ((RECALL, turn("It was 8081 in the log.", "tool", 2, origin="tool")), {"port": (1, 0)}),
        ((RECALL, turn("I opened 8081 for you.", "elsewhere", 2, session="t")), {"port": (1, 0)}),
        ((RECALL, turn("I opened 8081 for you.", "nowhere", 2, session=None)), {"port": (1, 0)}),
        ((RECALL, NOTE), {"port": (1, 0)}),
        ((RECALL, turn("Staging listens on that port.", "vague", 2)), {"port": (1, 0)}),
        # All messages of the agent's next turn count, and none after it.
        ((RECALL, LOOK, LATER), {"port": (1, 1)}),
        ((RECALL, LOOK, THANKS, LATER), {"port": (1, 0)}),
        ((RECALL, turn("It is 8081.", "said", 2), LATER), {"port": (1, 1)}),
        # An agent that nobody speaks to is heard for an hour.
        ((RECALL, LOOK, MUCH_LATER, LATE), {"port": (1, 0)}),
        ((asked(["port"], minute=10), MUCH_LATER, LATE), {"port": (1, 1)}),
        # A start is no recall, its first answer tells of use, and it waits for that beside recalls.
        ((START_ALL,), {}),
        ((START_ALL, SAID, THANKS, turn("Mira wrote infra/proxy.toml.", "later", 4)), {"port": (0, 1)}),
        ((*SEARCHES, *STARTS, BOTH), {"port": (1, 1), "proxy": (0, 1)}),
        ((*STARTS, *SEARCHES, BOTH), {"port": (1, 1), "proxy": (0, 1)}),
    ],
)
def test_what_counts(events: tuple[Event, ...], expected: dict[str, tuple[int, int]]) -> None:
    assert counts(scope_of(PORT, PROXY, *events)) == expected


@given(st.integers(0, 1), st.integers(0, 4))
def test_a_transcript_in_pieces_says_the_same_uses(before_first: int, before_second: int) -> None:
    """Recalls stand on the log as they happen, and turns when they are captured or imported, however late."""
    recalls = [asked(["port"], "r1", 2), asked(["proxy", "port"], "r2", 6, query="proxy")]
    said = [turn("Where does staging listen?", "p1", 1, origin="user"),
            turn("Let me look into infra/proxy.toml.", "a1", 3), turn("I opened 8081 for you.", "a2", 4),
            turn("And the proxy?", "p2", 5, origin="user"), turn("Mira set that up.", "a3", 7)]  # fmt: skip
    second = max(before_first, before_second)
    events = [*said[:before_first], recalls[0], *said[before_first:second], recalls[1], *said[second:]]
    assert counts(scope_of(PORT, PROXY, *events)) == {"port": (2, 1), "proxy": (1, 1)}


def test_what_is_heard_and_imported_counts_once_and_ones_own_words_not() -> None:
    """Of the words between, which no hook is told, the import tells more; the last word it tells again."""
    live = [asked(["port", "proxy"]), turn("I opened 8081 for you.", "answer", 4)]
    thanks = turn("Thanks.", "thanks", 5, origin="user")
    imported = [turn("Mira set that up.", "between", 2), turn("I opened 8081 for you.", "answer", 4)]
    recall, said = live
    for events in ([*live, *imported, thanks], [*live, thanks, *imported], [recall, *imported, said, thanks]):
        assert counts(scope_of(PORT, PROXY, *events)) == {"port": (1, 1), "proxy": (1, 1)}
    said = turn("Staging listens on port 8081.", "port", 0, session="s")
    assert counts(scope_of(said, RECALL, SAID))["port"] == (1, 0)
    other = turn("Staging listens on port 8081.", "port", 0, session="t")
    assert counts(scope_of(other, RECALL, SAID))["port"] == (1, 1)


@pytest.mark.parametrize("answer_first", [True, False])
@pytest.mark.parametrize("session", ["s", None])
def test_a_use_that_is_said_and_seen_counts_once(answer_first: bool, session: str | None) -> None:
    said = used(["port"], "u", "r", session=session, origin="agent", sent=START + 2 * MINUTE)
    events = [SAID, said] if answer_first else [said, SAID]
    assert counts(scope_of(PORT, RECALL, *events))["port"] == (1, 1)


def test_uses_of_what_is_erased_or_elsewhere_times_of_ids_and_sessions_are_bounded() -> None:
    scope = scope_of(PORT, used(["port", "u", "elsewhere"], "u"), erased(["port"], "e"))
    assert scope.usage.own == {}
    assert list(scope.usage.others) == [make_id("elsewhere")]
    scope = scope_of(used(["global one"], "u"))
    rows = [row_of(scope, change) for change in all_changes(scope) if change.table == "uses"]
    used_of = [(row.id, row.used) for row in rows if isinstance(row, UseRow)]
    assert used_of == [(other_row_id(make_id("global one")), 1)]
    assert make_id("global one") not in repr(rows)
    rows = {"a": (1, 2), "b": (3,), other_row_id("g"): (4,)}
    assert times_of(["a", "b", "c"], rows, own=True) == [1, 2, 3]
    assert times_of(["g", "a"], rows, own=False) == [4]
    many = [recalled(["port"], f"r{n}", session=f"s{n}", sent=START + MINUTE) for n in range(SESSIONS + 5)]
    scope = scope_of(PORT, *many)
    assert len(scope.usage.shown) == SESSIONS
    assert "s4" not in scope.usage.shown


@given(st.lists(st.integers(0, 400), max_size=90))
def test_times_are_the_latest_within_the_window_of_the_last_use(hours: list[int]) -> None:
    at = [START + hour * 3_600_000_000 for hour in hours]
    # Without ticks the clock would clamp them.
    ticked = [(make_tick(0, sent), used(["port"], f"u{n}", sent=sent)) for n, sent in enumerate(at)]
    scope = scope_of(PORT, *chain(*ticked))
    if at:
        use = scope.usage.own[0]
        assert (use.used, use.last) == (len(at), max(at))
        # What fell out of the window once does not come back, so that only later times can be missing.
        assert list(use.times) == sorted(use.times)
        assert len(use.times) <= MAX_TIMES
        assert all(max(at) - time <= HOT_WINDOW_US for time in use.times)
        recent = [time for time in at if max(at) - time <= HOT_WINDOW_US]
        assert list(use.times) == sorted(recent)[-MAX_TIMES:]


@pytest.mark.parametrize(("known", "answer", "question", "is_use"), table("carrying")["cases"])
def test_what_carries_the_specifics(known: str, answer: str, question: str, is_use: bool) -> None:
    asked = words(question)
    assert carries(answer_of(read(answer)), known, asked, {}, 20) is is_use


@given(st.integers(0, 10**12), st.integers(0, 10**13), st.integers(0, 10**13))
def test_decay_is_halved_every_three_days_and_rounds_once(amount: int, first: int, second: int) -> None:
    assert decayed(amount, HALF_LIFE_US) == pytest.approx(amount / 2, abs=1)
    assert decayed(amount, first + second) <= decayed(amount, first)
    # Rounding in between would cost up to one unit, which is why amounts are never decayed in two steps.
    assert abs(decayed(decayed(amount, first), second) - decayed(amount, first + second)) <= 1


def test_a_client_says_what_it_used(tmp_path: Path) -> None:
    with Client(tmp_path, scope="global", actor="Ada", origin="operator") as everywhere:
        style = everywhere.capture("Answer in British English.").id
    with Client(tmp_path, scope="project:b", origin="user") as other:
        foreign = other.capture("A secret of another project.").id
    with Client(tmp_path, scope="project:a", origin="user", session="s") as memory:
        port = memory.capture("Staging listens on port 8081.").id
        assert memory.show(port).last_used_at is None
        recall = memory.search("staging port").recall_id
        receipt = memory.use([port, style, port], recall)
        memory.project()
        shard = Shard(memory.home.current().shard(receipt.partition), receipt.partition)
        counted = {row.id: row.used for row in shard.rows(UseRow, "project:a")}
        assert counted == {port: 1, other_row_id(style): 1}
        assert [memory.show(id).used for id in (port, style)] == [1, 1]
        assert memory.verify().ok
        end = sum(memory.log.ends())
        for wrong in ([], [foreign], [port, "no id"]):
            with pytest.raises((NotFound, MemtapeError)):
                memory.use(wrong)
        with pytest.raises(MemtapeError, match="has no recall it"):
            memory.use([port], "it")
        assert sum(memory.log.ends()) == end
    agent = Client(tmp_path, scope="global", origin="agent")
    with agent, pytest.raises(MemtapeError, match="operator"):
        agent.use([style])
