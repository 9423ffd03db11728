"""The context of a starting agent, without a query: standing instructions, then valid goals, plans, facts.

The choice is pure and never exceeds a budget of tokens, in any tokenizer. Items are whole; only an item too
long for the whole budget is cut. The caller supplies the rows, the escaping of text, and the count of tokens.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from memtape.schemas.events import FLUSH_TAG, PEOPLE, STATED_TAG, Kind, Origin
from memtape.schemas.rows import MemoryRow, TurnRow, Wording, made_from
from memtape.schemas.times import DAY_US
from memtape.state.subjects.captures import TRUST
from memtape.state.subjects.weights import importance as importance_of
from memtape.state.subjects.weights import worth
from memtape.state.text.instructions import NOTHING_HEARD, Heard, heard_in, same_instruction
from memtape.state.text.opposites import oppose, standing_of
from memtape.state.text.orders import is_about, named_by
from memtape.state.text.passages import ending
from memtape.state.text.reading import Reading, read
from memtape.state.views.last_session import left_of, session_line

Section = Literal["left", "guardrails", "goal", "plan", "facts", "tasks", "journal"]
SECTIONS: tuple[Section, ...] = get_args(Section)
FIRST: tuple[Section, ...] = ("guardrails", "goal", "plan")
LAST: tuple[Section, ...] = ("journal", "facts", "tasks")
"""The sections chosen first, and the sections that take what is left."""

INSTRUCTING: tuple[Origin, ...] = PEOPLE
"""Origins whose words may set standing instructions; an agent's "always" sets none."""
JOURNAL_ENTRIES = 10
TASKS, TASK_DAYS = 10, 30
"""Maximum number of tasks, and their days: tasks come from talk, which hardly ever reports one as done."""
LEFT_TOKENS, LEFT_SHARE, TASKS_SHARE = 600, 3, 8
"""Shares of the budget's rest: sessions 600 tokens or a third, tasks an eighth."""
OF_OTHERS = ("asked: ", "done: ", "decided: ", "last answer: ")
"""The lines of the last session if its agent was not the last to work; otherwise all lines are shown.

Its files, commands and tests are mostly outdated by then: a reader who judged such lines one by one called
them noise.
"""
FACTS_SHARE = 4  # Facts take three quarters of the rest, before the journal.
CUT_SHARE = 4  # An item longer than the whole budget is cut to a quarter of it.
ENDS_SHARE = 5  # Ends of conversations take a fifth of the budget at most, all together.
CHARS_PER_TOKEN = 8  # No more are tried of a text's end; most tokenizers make a token of four.
MISSES = 30  # Items in a row without room that end a section.

Count = Callable[[str], int]


class StartText(msgspec.Struct, frozen=True, kw_only=True):
    """The fields shared by a candidate and an item of a context; `notes` are marks for readers."""

    id: str
    scope: str
    kind: Kind
    text: str
    at: int
    actor: str
    origin: Origin
    source: str | None = None
    valid_from: int = 0
    valid_to: int | None = None
    replaced_by: str | None = None
    replaces: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    wordings: tuple[Wording, ...] = ()


class Known(StartText, frozen=True, kw_only=True):
    """A memory or turn as a reader knows it, of the scope asked or of `global`.

    `valid_from`, `valid_to`, `replaced_by` and `replaces` are those of a memory's row; a turn holds since its
    time. `last_at` is the time of the last confirmation, `order` the order of capture, `importance_given` is
    in hundredths. `heard` are the instructions in the text, None if not read yet.
    """

    last_at: int
    order: int
    path: str | None = None
    confirmations: int = 0
    importance_given: int | None = None
    pinned: bool = False
    replaced: bool = False
    contradicts: bool = False
    tags: tuple[str, ...] = ()
    heard: Heard | None = None


class ContextItem(StartText, frozen=True, kw_only=True):
    """One line of a context. `text` is a memory's whole, or a turn's instructing sentence, unless `cut`.

    `ends` marks the end of a conversation, whose last sentences matter most. `wordings` are the memory's
    further texts, not in the context. `valid_from`, `valid_to`, `replaced_by` and `replaces` are those of
    `Known`.
    """

    section: Section
    cut: bool = False
    ends: bool = False


RankedItem = tuple[tuple[bool, bool, bool, int, int, str], ContextItem]
"""A fact with its sort key, least first."""


class Form(NamedTuple):
    """The layout of a context: its first and last line, its headings, and the line of an item."""

    begin: str
    end: str
    headings: Mapping[Section, str]
    line: Callable[[ContextItem], str]


class ChosenItems(NamedTuple):
    """The items that fit, in order, their text, its tokens, and the number of omitted items by section."""

    items: tuple[ContextItem, ...]
    text: str
    tokens: int
    omitted: dict[Section, int]


def known_of(row: MemoryRow | TurnRow, notes: tuple[str, ...] = (), heard: Heard | None = None) -> Known:
    """Return the known data of a row; `notes` are marks for readers, `heard` the text's instructions."""
    own: dict[str, Any] = {"last_at": row.at, "valid_from": row.at}
    if isinstance(row, MemoryRow):
        own = {"contradicts": row.contradicts is not None}
    return made_from(Known, row, order=row.seq, notes=notes, heard=heard, **own)


def heard_of(known: Known) -> Heard:
    """Return the instructions in a known text."""
    return known.heard if known.heard is not None else heard_in(read(known.text))


def left_out_by(known: Iterable[Known]) -> list[frozenset[str]]:
    """Return the terms of each order to leave a subject out, among known texts."""
    return [named_by(order) for it in known if it.origin in INSTRUCTING for order in heard_of(it).orders]


def is_left_out(reading: Reading, names: Sequence[frozenset[str]]) -> bool:
    """Return whether a text is about a subject to be left out, or is such an order itself."""
    return bool(heard_in(reading).orders) or is_about(reading, names)


MOST_TEXTS = 131_072
"""Answers in the cache: a start asks about all facts of a project, after each capture again."""


@lru_cache(MOST_TEXTS)
def _is_left_out(text: str, names: tuple[frozenset[str], ...]) -> bool:
    return is_left_out(read(text), names)


FEW_KINDS = ("goal", "plan", "journal")
"""The kinds of which a start tells the latest alone."""


def items_of(
    known: Sequence[Known],
    now: int,
    last: Sequence[Sequence[Known]] = (),
    asked: Mapping[frozenset[str], bool] = MappingProxyType({}),
    facts: Sequence[RankedItem] | None = None,
) -> list[ContextItem]:
    """Return all possible items of a context, in the order of sections, each by falling importance.

    `last` has the turns of the last session in order, of a long one its beginning and end, and then those of
    the last session of each other agent. No order about memory is an item, and nothing that a person ordered
    to leave out. Opposed wishes of one person are shown with a note of each other. `asked` has by pairs of
    ids whether people are still asked which of both holds. `facts` are the `ranked_facts` of `known` in any
    order, where the caller has kept them.
    """
    names, known = left_out_by(known), [it for it in known if it.valid_to is None]
    instructions, said = instructions_of(known)
    few = [it for it in known if it.kind in FEW_KINDS or _is_task(it)]  # Facts may be a hundred thousand.
    rest = [it for it in few if it.id not in said]
    ranked = sorted(ranked_facts(known, now) if facts is None else facts, key=itemgetter(0))
    told_facts = [item for _, item in ranked if item.id not in said]
    journal = sorted((it for it in rest if it.kind == "journal"), key=lambda it: (-it.at, -it.order, it.id))
    held, items = frozenset(it.text for it in told_facts), list[ContextItem]()
    for place, turns in enumerate(last):  # The end of a session, without the lines in a fact below.
        told = [line for line in left_of(turns) if line.held not in held]
        told = [line for line in told if place == 0 or line.text.startswith(OF_OTHERS)]
        items += [item_of("left", turns[it.turn], it.text) for it in (*session_line(turns), *told)]
    items += [*instructions, *_current(rest, "goal"), *_current(rest, "plan")]
    items += told_facts
    tasks = [it for it in rest if _is_task(it) and now - it.last_at <= TASK_DAYS * DAY_US]
    tasks.sort(key=lambda it: (-it.last_at, -it.order, it.id))
    items += [item_of("tasks", it, it.text) for it in tasks[:TASKS]]
    items += [item_of("journal", it, it.text) for it in journal[:JOURNAL_ENTRIES]]
    left_out = tuple(names)
    return _with_opposed([item for item in items if not _is_left_out(item.text, left_out)], asked)


def ranked_facts(known: Iterable[Known], now: int) -> list[RankedItem]:
    """Return the valid facts and insights among known texts as items, each with its sort key, unsorted."""
    facts = (it for it in known if it.kind in ("fact", "insight") and it.valid_to is None)
    return [(_order(it, now), item_of("facts", it, it.text)) for it in facts if not _is_task(it)]


def _with_opposed(items: list[ContextItem], asked: Mapping[frozenset[str], bool]) -> list[ContextItem]:
    """Return items, each wish with a note of an opposed statement by the same person.

    Statements not yet in any view are compared only if they are instructions, since facts are too many for a
    start.
    """
    pairs = [tuple(pair) for pair, is_pending in asked.items() if is_pending]
    about: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for item in items:
        if item.section == "guardrails" and (standing := standing_of(read(item.text))) is not None:
            about.setdefault((item.actor, standing.topic), []).append(item.id)
    pairs += [pair for ids in about.values() for pair in combinations(ids, 2) if frozenset(pair) not in asked]
    named = {id: None for pair in pairs for id in pair}
    by_id = {item.id: item for item in items if item.id in named} if pairs else {}
    against: dict[str, ContextItem] = {}
    for ids in pairs:
        sides = [by_id[id] for id in ids if id in by_id]
        if len(sides) == 2 and oppose(read(sides[0].text), read(sides[1].text)):
            against |= {sides[0].id: sides[1], sides[1].id: sides[0]}
    told = {id: (f"opposed to {other.text!r}: ask which holds",) for id, other in against.items()}
    noted = msgspec.structs.replace
    if not told:
        return items
    return [noted(it, notes=it.notes + told[it.id]) if it.id in told else it for it in items]


def _order(known: Known, now: int) -> tuple[bool, bool, bool, int, int, str]:
    """Return the sort key of facts, least first; `subjects.leading` has the same order for pages.

    Facts by models alone come after all others, and contradictions of a more trusted statement last.
    """
    worth_now = worth(importance(known), known.last_at, now)
    return known.contradicts, known.origin == "model", not known.pinned, -worth_now, -known.last_at, known.id


def importance(known: Known) -> int:
    """Return the importance of a memory in thousandths: the given importance, else by its confirmations."""
    return importance_of(known.importance_given, known.confirmations)


def render(form: Form, items: Sequence[ContextItem]) -> str:
    """Return the text of a context; nothing for nothing."""
    if not items:
        return ""
    lines = [form.begin]
    for section in SECTIONS:
        found = [form.line(item) for item in items if item.section == section]
        lines += ["", form.headings[section], *found] if found else []
    return "\n".join([*lines, *([form.end] if form.end else [])]) + "\n"


def choose(items: Sequence[ContextItem], budget: int, form: Form, count: Count) -> ChosenItems:
    """Return the context of the first items that fit a budget of tokens, never exceeded by its text.

    An item that does not fit is left out, and later ones may still fit. If none fits, or none of the existing
    standing instructions, the first chosen item stands alone, cut if needed.
    """
    picker = _Picker(items, form, count, budget)
    for section in FIRST:
        picker.take(section, picker.left)
    picker.take("left", min(LEFT_TOKENS, picker.left // LEFT_SHARE))
    picker.take("tasks", picker.left // TASKS_SHARE)
    picker.take("facts", picker.left - picker.left // FACTS_SHARE)
    for section in LAST:
        picker.take(section, picker.left)
    chosen = [item for _, item in sorted(picker.taken.items())]
    # Tokens of parts do not always add up to those of the whole.
    while chosen and count(render(form, chosen)) > budget:
        chosen.pop()
    rules = [item for item in items if item.section == "guardrails"]
    if items and (not chosen or (rules and all(item.section != "guardrails" for item in chosen))):
        first = next((item for item in items if item.section in FIRST), items[0])
        cut = None if first.ends else first
        if cut is not None and count(render(form, [cut])) > budget:
            cut = _cut_to(cut, lambda it: count(render(form, [it])) <= budget)
        chosen = [] if cut is None else [cut]
    text = render(form, chosen)
    left = Counter(item.section for item in items)
    left.subtract(item.section for item in chosen)
    omitted = {name: left[name] for name in SECTIONS if left[name]}
    return ChosenItems(tuple(chosen), text, count(text) if text else 0, omitted)


class _Picker:
    """Picks items in order as long as they fit the rest of a budget, estimated by parts."""

    def __init__(self, items: Sequence[ContextItem], form: Form, count: Count, budget: int) -> None:
        self.left = self._room = max(0, budget - count(form.begin) - count(form.end) - 4)
        self._ends_left = budget // ENDS_SHARE
        self._form, self._count = form, count
        self._waiting: dict[Section, list[tuple[int, ContextItem]]] = {name: [] for name in SECTIONS}
        for number, item in enumerate(items):
            self._waiting[item.section].append((number, item))
        self.taken: dict[int, ContextItem] = {}
        self._opened: dict[Section, None] = {}

    def take(self, section: Section, room: int) -> None:
        """Pick the items of a section that fit a part of the budget; the rest waits."""
        misses = 0
        for number, item in self._waiting[section]:
            if number in self.taken:
                continue
            fitted, cost = self._fitted(item)
            if cost > (min(room, self._ends_left) if item.ends else room):
                misses += 1
                if misses == MISSES:
                    return
                continue
            misses, room = 0, room - cost
            self.left -= cost
            self._ends_left -= cost if item.ends else 0
            self._opened[section] = None
            self.taken[number] = fitted

    def _fitted(self, item: ContextItem) -> tuple[ContextItem, int]:
        """Return an item with its cost, cut if it alone would exceed the whole budget."""
        heading = 0 if item.section in self._opened else self._count(self._form.headings[item.section]) + 2
        cost = heading + self._count(self._form.line(item)) + 1
        cut = None
        if item.ends and cost > self._ends_left:
            # The last sentences that fit are shown, perhaps none.
            room = self._ends_left - heading - 1
            chars = min(len(item.text) - 1, room * CHARS_PER_TOKEN)
            while cut is None and chars > 0 and (text := ending(item.text, chars)):
                its = msgspec.structs.replace(item, text=f"… {text}", cut=True)
                cut = its if self._count(self._form.line(its)) <= room else None
                chars = len(text) - 1
        elif cost > self._room:
            room = self._room // CUT_SHARE - heading - 1
            cut = _cut_to(item, lambda it: self._count(self._form.line(it)) <= room)
        return (item, cost) if cut is None else (cut, heading + self._count(self._form.line(cut)) + 1)


def instructions_of(known: Sequence[Known]) -> tuple[list[ContextItem], dict[str, None]]:
    """Return people's standing instructions, by falling trust and then the latest first, each once.

    The ids are of texts that need no further line: their instructions are shown, and they have no other
    content.
    """
    found: dict[str, ContextItem] = {}
    said: dict[str, None] = {}
    silent = ("document", "page", "goal", "plan")
    stated = (STATED_TAG, "instruction")
    people = [it for it in known if it.origin in INSTRUCTING and it.kind not in silent]
    people = [it for it in people if it.heard is not NOTHING_HEARD or it.tags[:2] == stated]
    for it in sorted(people, key=lambda it: (-TRUST[it.origin], -it.at, -it.order, it.id)):
        heard, is_stated = heard_of(it), it.tags[:2] == stated
        texts = (it.text,) if is_stated or heard.instructs else ()
        for text in heard.standing if it.kind == "turn" or heard.orders else texts:
            told = found.setdefault(same_instruction(read(text)), item_of("guardrails", it, text))
            if told.id == it.id or text == it.text:
                said[it.id] = None
    return list(found.values()), said


def _is_task(known: Known) -> bool:
    return known.kind == "fact" and known.tags[:2] == (STATED_TAG, "task") and not known.replaced


def _current(known: Sequence[Known], kind: Literal["goal", "plan"]) -> list[ContextItem]:
    """Return the goal or plan that is in force in each scope, that of the asked scope first."""
    last: dict[str, Known] = {}
    aims = (it for it in known if it.kind == kind and not it.replaced)
    for it in sorted(aims, key=lambda it: (it.order, it.id)):
        last[it.scope] = it
    ordered = sorted(last.values(), key=lambda it: (it.scope == "global", it.scope))
    return [item_of(kind, it, it.text) for it in ordered]


def item_of(section: Section, known: Known, text: str) -> ContextItem:
    """Return a text of a memory or turn as an item of a section."""
    ends = known.kind == "journal" and FLUSH_TAG in known.tags
    return made_from(ContextItem, known, section=section, text=text, ends=ends)


def _cut_to(item: ContextItem, fits: Callable[[ContextItem], bool]) -> ContextItem | None:
    """Return an item cut as far as it must be to fit, None if not even one character fits."""
    # Tokens grow with the text but for some few.
    shortest = bisect_left(range(1, len(item.text)), True, key=lambda length: not fits(_cut(item, length)))
    while shortest and not fits(_cut(item, shortest)):
        shortest -= 1
    return _cut(item, shortest) if shortest else None


def _cut(item: ContextItem, length: int) -> ContextItem:
    return msgspec.structs.replace(item, text=item.text[:length].rstrip() + "…", cut=True)
