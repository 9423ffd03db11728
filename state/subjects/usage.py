"""The recalls and uses of each captured text, with times: looking at a result does not count as use.

A use is reported by a `used` event, or follows from a rule: the session's next turn by an agent carries the
specifics of a recall's result. The turn is all that the agent says from the recall on until the user speaks
again, by the times of the texts, since a transcript may be imported long after its recalls. The context of a
start counts as no recall, since every session gets it: memories carried by its first answer count as used all
the same. Counts are stored by captured id; later folding changes nothing here. Joint uses are the subject of
`edges`, and the present hotness is computed from the times at each question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from memtape.schemas.events import PEOPLE, Captured, Event, Recalled, Used
from memtape.schemas.lanes import unasked_by
from memtape.schemas.rows import Change, Context
from memtape.schemas.times import US_PER_S
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.memories import HasMemories, row_of_unit, unit_of
from memtape.state.subjects.recalls import put_latest
from memtape.state.subjects.weights import HOT_WINDOW_US, other_row_id
from memtape.state.text.carrying import answer_of, carries
from memtape.state.text.normal import words

MAX_TIMES = 64
"""Times of use stored of one capture; older uses are counted without a time."""
ANSWERING = ("agent", "model")
"""Origins whose turns are answers."""
SHOWN_RESULTS = 50
SHOWN_RECALLS = 16
"""How many recalls of a session are compared with its answers, beside a start, and the results of each."""
TURN_US = 60 * 60 * US_PER_S
"""Maximum duration of a recall's turn after the recall, unless the user speaks again."""
PROMPT_US = 10 * US_PER_S
"""A prompt this soon after a recall is the recall's own prompt, until an answer comes."""
ASKED = 3
"""Prompts of a session whose words count as known to its answers without a recall."""


class Use(msgspec.Struct):
    """The numbers of recalls and uses of one captured id, the last use, and sorted times in the window."""

    recalled: int = 0
    used: int = 0
    last: int | None = None
    times: tuple[int, ...] = ()


class Shown(msgspec.Struct):
    """A recall of a session: its query, its results (seqs), and the results already counted as used.

    Answers from `at` until `end` are compared with it; the first came at `answered`, None before it. A start
    has no query.
    """

    id: str
    at: int
    end: int
    query: str
    seqs: tuple[int, ...]
    used: tuple[int, ...] = ()
    start: bool = False
    answered: int | None = None


class Usage(msgspec.Struct, dict=True, array_like=True):
    """The uses of a scope's captures by seq, and of other ids (of `global`) by id.

    `counts` has the number of texts with a word, `counted` the seq (exclusive) up to which; both are updated
    only when an answer is judged. `moved` are the seqs with changed counts, until `leading` has read them.
    """

    own: dict[int, Use] = {}
    others: dict[str, Use] = {}
    shown: dict[str, tuple[Shown, ...]] = {}
    asked: dict[str, tuple[int, ...]] = {}
    counts: dict[str, int] = {}
    counted: int = 0
    texts: int = 0

    def __post_init__(self) -> None:
        self.moved: dict[int, None] = {}

    def frequency(self, word: str) -> int:
        """Return the number of counted texts with a word."""
        return self.counts.get(word, 0)


def evolve(state: Usage, event: Event, context: Context[HasMemories]) -> list[Change]:
    """Apply a `recalled`, a `used` or a turn; record the seqs of the captures reported or found to be used.

    An id that is neither captured here nor another event's is taken for one of `global`. Erased ids do not
    count.
    """
    changes: list[Change] = []
    match event.body:
        case Recalled(query=query, results=results, lanes=lanes):
            start = unasked_by(lanes) == "start"
            changes += [] if start else _count_recalled(state, results, context)
            if event.session is not None:
                told_of = context.of.captures.found(dict.fromkeys(results))
                # The session's own captures are known to its agent without a recall.
                others = tuple(capture.seq for capture in told_of if capture.session != event.session)
                end, seqs = context.at + TURN_US, others[:SHOWN_RESULTS]
                _show(state, event.session, Shown(event.id, context.at, end, query, seqs, start=start))
        case Used(ids=ids, recall=recall):
            found = [(id, context.of.captures.seq_of(id)) for id in dict.fromkeys(ids)]
            for id, seq in found:
                if seq is None and not context.of.captures.has_event(id):
                    _count_used(state.others.setdefault(id, Use()), context.at)
            told = [seq for _, seq in found if seq is not None]
            known = _mark(state, recall, told)
            context.used = [seq for seq in told if seq not in known]
            others_used = (other_row_id(id) for id, _ in found if id in state.others)
            changes += [Change("uses", context.scope, id) for id in others_used]
        case Captured(kind="turn"):
            context.used = _judge(state, context.of.captures.by_seq[context.seq], context.of)
        case _:
            return changes
    for seq in context.used:
        _count_used(state.own.setdefault(seq, Use()), context.at)
        state.moved[seq] = None
        changes.append(Change("uses", context.scope, context.of.captures.by_seq[seq].id))
        if seq in context.of.memories.birth_of:  # The row of a memory says how often and when it was used.
            changes.append(row_of_unit(context.scope, context.of, context.of.memories.birth_of[seq]))
    return changes


def _show(state: Usage, session: str, shown: Shown) -> None:
    """Let a recall wait for its session's answer; drop the oldest of its kind beyond the limit."""
    before = state.shown.get(session, ())
    others = tuple(one for one in before if one.start is not shown.start)
    alike = (*(one for one in before if one.start is shown.start), shown)
    put_latest(state.shown, session, others + alike[-1 if shown.start else -SHOWN_RECALLS :])


def _judge(state: Usage, turn: Capture, of: HasMemories) -> list[int]:
    """Apply a turn; return the seqs shown to its session whose content the turn carries."""
    if turn.session is None:
        return []
    waiting = [shown for shown in state.shown.get(turn.session, ()) if shown.at <= turn.at < shown.end]
    if turn.actor.origin in PEOPLE:
        put_latest(state.asked, turn.session, (*state.asked.get(turn.session, ()), turn.seq)[-ASKED:])
        for shown in waiting:
            if turn.at > shown.at + PROMPT_US or (shown.answered is not None and shown.answered <= turn.at):
                shown.end = turn.at
    if turn.actor.origin not in ANSWERING or not any(shown.seqs for shown in waiting):
        return []
    _count_words(state, of, turn.seq)
    return list(_carried(state, turn, waiting, of))


def _carried(state: Usage, turn: Capture, waiting: Sequence[Shown], of: HasMemories) -> Iterator[int]:
    """Yield the recalls' results carried by an answer and not counted for any of the recalls before."""
    asked = [_text(seq, of) for seq in state.asked.get(turn.session or "", ())]
    common = frozenset(word for text in (*asked, *(shown.query for shown in waiting)) for word in words(text))
    answer, counted = answer_of(_text(turn.seq, of)), dict.fromkeys(chain(*(shown.used for shown in waiting)))
    for seq in dict.fromkeys(chain(*(shown.seqs for shown in waiting))):
        if seq in counted or carries(answer, _text(seq, of), common, state.frequency, state.texts):
            for shown in waiting:
                if seq in shown.seqs and seq not in shown.used:
                    shown.used = (*shown.used, seq)
            if seq not in counted:
                yield seq
    for shown in waiting:
        shown.answered = turn.at if shown.answered is None else min(shown.answered, turn.at)


def _count_recalled(state: Usage, results: Iterable[str], context: Context[HasMemories]) -> list[Change]:
    """Count the results of a recall; return the memories whose order changes, as it does at powers of two."""
    of, risen = context.of, list[Change]()
    for id in dict.fromkeys(results):
        seq = of.captures.seq_of(id)
        if seq is not None:
            use = state.own.setdefault(seq, Use())
            use.recalled += 1
            state.moved[seq] = None
            if use.recalled & (use.recalled - 1) == 0 and of.memories.of(seq) is not None:
                risen.append(Change("standing", context.scope, of.captures.by_seq[seq].id))
        elif not of.captures.has_event(id):
            state.others.setdefault(id, Use()).recalled += 1
    return risen


def _count_used(use: Use, at: int) -> None:
    use.used += 1
    use.last = at if use.last is None else max(use.last, at)
    recent = (time for time in (*use.times, at) if use.last - time <= HOT_WINDOW_US)
    use.times = tuple(sorted(recent))[-MAX_TIMES:]


def _mark(state: Usage, recall: str | None, seqs: Sequence[int]) -> tuple[int, ...]:
    """Add seqs to the used results of a recall, by any reporter; return the results counted before."""
    for shown in chain.from_iterable(state.shown.values()):
        if shown.id == recall:
            before = shown.used
            shown.used = (*before, *(seq for seq in seqs if seq not in before))
            return before
    return ()


def _count_words(state: Usage, of: HasMemories, end: int) -> None:
    """Count the words of the texts before `end`, of a memory's only the first: repetition does not count."""
    for seq in range(state.counted, end):
        capture = of.captures.by_seq.get(seq)
        if capture is not None and unit_of(of, capture) == seq:
            state.texts += 1
            for word in dict.fromkeys(words(of.captures.body(capture).text)):
                state.counts[word] = state.counts.get(word, 0) + 1
    state.counted = end


def _text(seq: int, of: HasMemories) -> str:
    memory = of.memories.of(seq)
    return of.captures.body(of.captures.by_seq[memory.canonical if memory and memory.lives else seq]).text
