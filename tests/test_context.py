"""What a starting agent is told: within its budget, instructions of people first, nothing hidden."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from builders import slots, worlds
from hypothesis import given
from hypothesis import strategies as st
from overlaying import laid_over
from tables import table

from memtape import Client
from memtape.flows.workers.turns import statement_id
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Event
from memtape.schemas.times import DAY_US, format_day
from memtape.state.core.partition import Partition, fold
from memtape.state.text.instructions import heard_in
from memtape.state.text.names import named_files
from memtape.state.text.questions import is_goodbye, is_nod
from memtape.state.text.reading import read
from memtape.state.views.context import (
    SECTIONS,
    Form,
    Known,
    choose,
    importance,
    items_of,
    ranked_facts,
    render,
)
from memtape.state.views.rows import ROWS, all_changes, row_of
from memtape.tools.capture.injected import CONTEXT_BEGIN, CONTEXT_END
from memtape.tools.capture.writing import Line, now_us
from memtape.tools.keep.erasing import plan
from memtape.tools.query import context
from memtape.tools.query.context import FORMS, _form
from memtape.tools.query.found import known_among, known_in
from memtape.tools.query.telling import CHARACTERS, tokenizer

NOW = 1_790_000_000_000_000
COUNTS: dict[str, Callable[[str], int]] = {
    "characters": CHARACTERS.count,
    "bytes": lambda text: len(text.encode()),
    # The whole costs more than its parts, as no good tokenizer does but some rare text might.
    "more than its parts": lambda text: len(text) // 3 + (len(text) // 40) ** 2,
    "words": lambda text: len(text.split()),
    "the tokenizer": tokenizer().count,
}

ODD = ("Always run the tests.", "I prefer tabs.", "Never push to main!", "Staging listens on 8081.",
       "始终使用中文。", "会议在大阪。" * 40, "👩‍🚀🎉" * 30, "a" * 900, "A long tale. " * 60, "x",
       "`<b>` [a](b) <!-- memtape:end -->", "Immer testen.", "@/etc/passwd", "a\n- b\n# c")  # fmt: skip
any_text = st.text(st.characters(codec="utf-8"), min_size=1, max_size=200)
texts = st.sampled_from(ODD) | any_text.filter(str.strip)


@st.composite
def knowns(draw: st.DrawFn) -> list[Known]:
    return [
        Known(
            id=f"id-{number}", scope=draw(st.sampled_from(("project:a", "global"))), text=draw(texts),
            kind=draw(st.sampled_from(("fact", "insight", "goal", "plan", "journal", "turn", "document"))),
            at=NOW - draw(st.integers(0, 400)) * DAY_US, last_at=NOW - draw(st.integers(0, 400)) * DAY_US,
            actor=draw(st.sampled_from(("Ada", "<b>\n"))), order=number, replaced=draw(st.booleans()),
            origin=draw(st.sampled_from(("operator", "user", "agent", "tool", "web", "model"))),
            confirmations=draw(st.integers(0, 20)), importance_given=draw(st.none() | st.integers(0, 100)),
            tags=draw(st.sampled_from(((), (), ("flush",)))),
        )
        for number in range(draw(st.integers(0, 14)))
    ]  # fmt: skip


budgets = st.one_of(st.integers(1, 120), st.integers(100, 3_000))


@given(knowns(), budgets, st.sampled_from(sorted(COUNTS)), st.sampled_from(FORMS), st.randoms())
def test_budgets_hold(known: list[Known], budget: int, counted: str, form_name: str, random: object) -> None:
    count, form = COUNTS[counted], _form(form_name, "project:a", NOW)  # type: ignore[arg-type]
    items = items_of(known, NOW)
    chosen = choose(items, budget, form, count)
    assert count(chosen.text) <= budget or not chosen.text
    assert chosen.tokens == (count(chosen.text) if chosen.text else 0)
    assert chosen.text == render(form, chosen.items)
    by_id = {it.id: it for it in known}
    for item in chosen.items:
        assert item.cut or item in items
        if item.cut and item.ends:
            whole = next(it for it in items if it.id == item.id)
            assert item.text.startswith("… ") and whole.text.rstrip().endswith(item.text[2:])
        elif item.cut:
            whole = next(it for it in items if it.id == item.id and it.text.startswith(item.text[:-1]))
            assert count(render(form, [whole])) > budget - 4 * len(SECTIONS)
            assert item.text.endswith("…") and len(item.text) <= len(whole.text) + 2
        assert item.text in by_id[item.id].text or item.cut
    ends = [item for item in chosen.items if item.ends]
    assert sum(count(form.line(item)) + 1 for item in ends) <= budget // 5
    order = [SECTIONS.index(item.section) for item in chosen.items]
    assert order == sorted(order) and sum(chosen.omitted.values()) + len(chosen.items) == len(items)
    if chosen.items and items[0].section == "guardrails":
        assert chosen.items[0].section == "guardrails"
    shuffled = list(known)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert choose(items_of(shuffled, NOW), budget, form, count) == chosen
    kept = [*ranked_facts(known[::2], NOW), *ranked_facts(known[1::2], NOW)]
    assert items_of(known, NOW, facts=kept) == items


@given(knowns(), st.sampled_from(FORMS))
def test_every_item_is_one_line_that_acts_on_nothing(known: list[Known], form_name: str) -> None:
    form = _form(form_name, "project:a", NOW)  # type: ignore[arg-type]
    items = items_of(known, NOW)
    text = render(form, items)
    lines = text.split("\n")
    assert sum(line.startswith("- ") for line in lines) == len(items)
    assert len(text.splitlines()) == len(lines) - 1 or not items
    if form_name != "prompt" and items:
        assert (text.count(CONTEXT_BEGIN), text.count(CONTEXT_END)) == (1, 1)
        assert text.startswith(CONTEXT_BEGIN) and text.endswith(CONTEXT_END + "\n")
    if form_name == "gemini":  # Such a word would take in a file.
        assert not re.search(r"(?:^|\s)@", text)


def fact(text: str, id: str = "it", **fields: object) -> Known:
    said = {"scope": "project:a", "kind": "fact", "at": NOW, "last_at": NOW, "order": 0, "actor": "Ada"}
    return Known(id=id, text=text, **{**said, "origin": "user", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize("case", table("told-at-start")["cases"])
def test_what_is_told_stands_in_its_section_and_order(case: dict[str, Any]) -> None:
    """Only people instruct, each thing once; facts stand by importance and age; goals are those in force."""
    known = []
    for number, (text, its) in enumerate(case["known"]):
        said = dict(its)
        at, last_at = (NOW - said.pop(name, 0) * DAY_US for name in ("since", "days"))
        known.append(fact(text, f"id {number}", at=at, last_at=last_at, **said))
    assert [f"{item.section}: {item.text}" for item in items_of(known, NOW)] == case["told"]


def test_confirmations_add_to_importance_up_to_a_bound() -> None:
    assert [importance(fact("", confirmations=n)) for n in (0, 1, 3, 9, 500)] == [500, 575, 650, 750, 750]


def test_what_people_want_is_read_once_and_stands_in_the_index(home: Path) -> None:
    """A start is told the same whether the index says what a text wants or the text is read for it."""
    said = (
        ("Hello. Never push to main. Bye.", "turn", "user"), ("Never mention Ada again.", "turn", "user"),
        ("In all my projects use tabs.", "fact", "user"),
        ("Always run the tests. Never talk about Ben.", "fact", "user"),
        ("Always run the deploy first.", "fact", "agent"), ("Staging listens on 8081.", "fact", "user"),
        ("Ada.", "fact", "user"),
    )  # fmt: skip
    with Client(home, scope="project:a") as client:
        client.capture_many(Line(text=text, kind=kind, origin=origin) for text, kind, origin in said)
        client.project()
        found, _ = client.reader.found("project:a")
        known, read_anew = known_in(found, NOW), list(known_among(found.known(), [], NOW))
        assert all(it.heard in (None, heard_in(read(it.text))) for it in known if it.origin == "user")
        wanting = {it.text for it in known if it.origin == "user" and it.heard != heard_in(read(""))}
        assert wanting >= {text for text, _, origin in said[:4]} and not wanting & {said[5][0], said[6][0]}
        assert items_of(known, NOW) == items_of(read_anew, NOW)
        orders = [item.text for item in items_of(known, NOW) if item.section == "guardrails"]
        assert orders and not any("deploy" in order for order in orders), "an agent instructs nobody"


def test_what_exceeds_the_whole_budget_is_cut_and_leaves_room() -> None:
    form = Form("", "", dict.fromkeys(SECTIONS, "#"), lambda item: f"- {item.text}")
    items = items_of([fact("Always " + "a" * 5_000, "a"), fact("Short.", "b")], NOW)
    chosen = choose(items, 100, form, CHARACTERS.count)
    assert [(item.id, item.cut) for item in chosen.items] == [("a", True), ("b", False)]
    assert 60 < len(chosen.items[0].text) <= 100
    assert choose(items, 1, form, CHARACTERS.count).text == ""


@given(worlds(max_size=12))
def test_no_world_tells_what_is_hidden(events: list[Event]) -> None:
    """Wherever the views stand, nothing that came after is told if the whole fold hides it; whole views tell
    living memories with the text that speaks for them."""
    for cut in range(len(events) + 1):
        partition = Partition(0)
        fold(partition, slots(events[:cut]))
        changes = [(scope, change) for scope in partition.scopes.values() for change in all_changes(scope)]
        laid = laid_over([row_of(scope, it) for scope, it in changes if it.table in ROWS], events, cut)
        told = [row for row in laid if not isinstance(row, Event)]
        tail = [event for event in laid if isinstance(event, Event)]
        items = items_of(list(known_among(told, tail, NOW)), NOW)
        fold(partition, slots(events[cut:], start=cut))
        scopes = [(scope, it) for scope in partition.scopes.values() for it in scope.captures.by_seq.values()]
        visible = {it.id: scope.captures.body(it).text for scope, it in scopes if not it.hidden}
        late = {event.id for event in events[cut:] if event.type == "captured"}
        assert {item.id for item in items} & late <= visible.keys()
        if cut == len(events):
            assert all(it.id in visible and any(it.text in text for text in visible.values()) for it in items)


def item_ids(items: Iterable[Any]) -> list[str]:
    return [item.id for item in items]


def test_a_client_tells_what_may_be_seen_and_nothing_else(tmp_path: Path) -> None:
    with Client(tmp_path, scope="global", actor="Ada", origin="operator") as everywhere:
        style = everywhere.capture("Always answer in British English.").id
    with Client(tmp_path, scope="project:b", origin="user") as other:
        other.capture("Always keep the secret of another project.")
    with Client(tmp_path, scope="project:a", actor="Ada", origin="user") as memory:
        before = ",".join(f"{number}/{end}" for number, end in enumerate(memory.log.ends()))
        goal = memory.capture("Ship in November.", "goal").id
        said = memory.capture("Fine. I prefer short answers. Thanks.", "turn").id
        hidden = memory.capture("Never show this.").id
        erased = memory.capture("The door code is violet-marmalade.").id
        fact_id = memory.capture("Staging listens on port 8081.", source="runbook.md").id
        memory.forget(hidden)
        found = memory.context()
        stated = statement_id("project:a", said, 0)
        assert item_ids(found.items) == [said, said, style, stated, goal, fact_id, erased]
        assert '- "I prefer short answers."\n' in found.text, "said by the user, and just now"
        memory.erase(plan(memory.home, memory.log, "project:a", [erased], only=False))
        end = sum(memory.log.ends())
        for form in FORMS:
            text = memory.context(500, form).text
            assert all(word not in text for word in ("secret", "Never show", "violet", hidden, erased))
        assert item_ids(memory.context(as_of=before).items) == [style]
        assert memory.context(1).text == ""
        for wrong in (0, -1, 10**7):
            with pytest.raises(MemtapeError, match="budget"):
                memory.context(wrong)
        with pytest.raises(MemtapeError, match="form"):
            memory.context(form="word")  # type: ignore[arg-type]
        assert sum(memory.log.ends()) == end, "asking without a query puts nothing on the log"


def talk(client: Client, session: str, *said: tuple[str, str], day: int = 0) -> None:
    how: dict[str, Any] = {"kind": "turn", "session": session}
    placed = [(who, text, NOW + day * DAY_US + n) for n, (who, text) in enumerate(said)]
    client.capture_many(Line(text=text, origin=who, at=at, **how) for who, text, at in placed)  # type: ignore[arg-type]


LAST = (
    ("user", "Move the price calculation out of shop/views.py, please."),
    ("agent", "I moved the calculation from shop/views.py to shop/prices.py."),
    ("user", "We decided to keep prices in cents. Now look at the vouchers in shop/vouchers.py"),
    ("user", "go on"),
    ("agent", "The vouchers are rounded twice. Should I round them once, at the end?"),
)


def left(client: Client) -> list[str]:
    return [item.text for item in client.context().items if item.section == "left"]


def test_a_start_is_told_where_the_last_session_was_left(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:b", origin="user") as other:
        talk(other, "later", ("user", "Keep the secret of another project, please."), day=9)
    with Client(tmp_path, scope="project:a", actor="Ada", origin="user", session="own") as memory:
        assert left(memory) == []
        talk(memory, "early", ("user", "Write the first draft of the shop."), day=-1)
        talk(memory, "last", *LAST)
        talk(memory, "own", ("user", "What did we do last time, and what is next?"), day=1)
        assert left(memory) == [
            "session of Ada, 2026-09-21",
            "asked: Move the price calculation out of shop/views.py, please.",
            "done: I moved the calculation from shop/views.py to shop/prices.py.",
            "files: shop/views.py, shop/vouchers.py, shop/prices.py",
            "then asked: We decided to keep prices in cents. Now look at the vouchers in shop/vouchers.py",
            "last answer: The vouchers are rounded twice. Should I round them once, at the end?",
            "open question: Should I round them once, at the end?",
        ]
        facts = [it.text for it in memory.context().items if it.section == "facts"]
        assert "We decided to keep prices in cents." in facts
        before = left(memory)
        memory.project()
        assert left(memory) == before, "from the tail and from the views"
        assert "Where we were:" in memory.context().text
        memory.forget(next(item.id for item in memory.context().items if item.text.startswith("asked: Move")))
        assert left(memory)[1].startswith("asked: We decided")


def test_a_prompt_that_nobody_answered_leaves_the_session_before_it_told(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a", origin="user") as memory:
        talk(memory, "silent", ("user", "Which port is it?"))
        assert left(memory) == ["session without an answer, 2026-09-21", "asked: Which port is it?"]
        talk(memory, "last", *LAST, day=1)
        before = left(memory)
        assert before[0].startswith("session of ") and before[1].startswith("asked: Move")
        for n in range(2):
            talk(memory, f"unanswered {n}", ("user", f"Hello, number {n}: are you there?"), day=2 + n)
            assert left(memory) == before
            memory.project()
            assert left(memory) == before, "from the views"


def test_the_last_session_of_each_other_agent_is_told_in_short(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a", actor="Ada", origin="user") as memory:
        sessions = (("codex", "old"), ("gemini", "docs"), ("codex", "api"), ("claude-code", "cart"))
        for day, (agent, what) in enumerate(sessions):
            said = (
                ("user", "Ada", f"Please look at the {what} of the shop."),
                ("agent", agent, f"We decided to keep the {what} as it is."),
                ("agent", f"{agent} sub1", f"The {what} of the shop is in order."),
            )
            then = NOW + day * DAY_US
            memory.capture_many(
                Line(text=text, kind="turn", origin=who, actor=by, session=f"s{day}", at=then + n)
                for n, (who, by, text) in enumerate(said)
            )
        told = left(memory)
        agents = ("claude-code, 2026-09-24", "codex, 2026-09-23", "gemini, 2026-09-22")
        named = [f"session of {agent}" for agent in agents]
        asked = [f"asked: Please look at the {what} of the shop." for what in ("cart", "api", "docs")]
        assert [line for line in told if line.startswith("session of")] == named
        assert [line for line in told if line.startswith("asked")] == asked
        assert not any("the old of" in line for line in told)


@pytest.mark.parametrize(("text", "files"), table("sentences")["files"])
def test_files_are_what_looks_like_one(text: str, files: str) -> None:
    assert named_files(read(text)) == files.split()


@given(st.text(max_size=200), st.text(alphabet="thanks godbye,.! soit", max_size=200))
def test_any_text_names_only_files_that_it_holds(text: str, prompt: str) -> None:
    assert all(path in text for path in named_files(read(text)))
    assert not (is_nod(read(prompt)) and is_goodbye(read(prompt)))


def test_a_line_says_who_if_not_the_user_and_when_if_long_ago_and_what_was_before(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a", actor="Ada", origin="user") as memory:
        memory.capture("The staging database listens on port 5433.", at="50d")
        memory.capture("The staging database now listens on port 5434.", at="40d")
        memory.capture_many([Line(text="The tests take an hour.", actor="codex", origin="agent")])
        memory.capture_many([Line(text="The registry is down on Sundays.", at="50d", origin="web")])
        memory.project()
        told = memory.context().text.partition("What holds:\n")[2].splitlines()
        day, ago = format_day(now_us() - 40 * DAY_US), format_day(now_us() - 50 * DAY_US)
        assert sorted(told) == [
            f'- "The registry is down on Sundays." (web, {ago})',
            f'- "The staging database now listens on port 5434." (since {day}; before: 5433)',
            '- "The tests take an hour." (agent codex)',
        ]


def test_open_tasks_are_told_for_thirty_days(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a", actor="Ada", origin="user") as memory:
        memory.capture("I'll renew the licence by Friday.", "turn")
        memory.capture("We still need to renew the lease.", "turn", at="31d")
        memory.project()
        tasks = [item.text for item in memory.context().items if item.section == "tasks"]
        assert [task.partition(" (")[0].strip(".") for task in tasks] == ["I'll renew the licence by Friday"]


def test_what_is_not_projected_yet_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process holds the projector's lock, so that only the tail knows."""
    with Client(tmp_path, scope="project:a", actor="Ada", origin="user") as memory:
        old = memory.capture("Always use tabs.").id
        with Client(tmp_path, scope="project:a") as other:
            other.project()
        with memory.home.lock("projector"):
            new = memory.capture("Never use spaces.").id
            memory.forget(old)
            found = memory.context()
            assert (item_ids(found.items), found.lag) == ([new], 2)
            monkeypatch.setattr(context, "tokenizer", lambda: CHARACTERS)
            counted = memory.context(100)
            assert (counted.tokenizer, counted.tokens) == ("characters/4", -(-len(counted.text) // 4))
