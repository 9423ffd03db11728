"""The recalls and uses of each captured text, with times: looking at a result does not count as use.

A use is reported by a `used` event, or follows from a rule: the session's next turn by an agent carries the
specifics of a recall's result. The turn is all that the agent says from the recall on until the user speaks
again, by the times of the texts, since a transcript may be imported long after its recalls. The context of a
start counts as no recall, since every session gets it: memories carried by its first answer count as used all
the same. Counts are stored by captured id; later folding changes nothing here. Joint uses are the subject of
`edges`, and the present hotness is computed from the times at each question.
"""

from __future__ import annotations

from itertools import chain, islice

import msgspec

from memtape.schemas.events import PEOPLE, Captured, Event, Recalled, Used
from memtape.schemas.lanes import unasked_by
from memtape.schemas.rows import Change, Context
from memtape.schemas.times import US_PER_S
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.memories import HasMemories, row_of_unit, unit_of
from memtape.state.subjects.recalls import put_latest
from memtape.state.subjects.weights import HOT_WINDOW_US, other_row_id
from memtape.state.text.carried_words import answer_of, carries
from memtape.state.text.normal import words
from memtape.state.text.reading import read

MAX_TIMES = 64  # Times of use stored of one capture; older uses are counted without a time.
ANSWERING = ("agent", "model")  # Origins whose turns are answers.
SHOWN_RESULTS = 50
SHOWN_RECALLS = 16
"""How many recalls of a session are compared with its answers, beside a start, and the results of each."""
TURN_US = 60 * 60 * US_PER_S
"""Maximum duration of a recall's turn after the recall, unless the user speaks again."""
PROMPT_US = 10 * US_PER_S
"""A prompt this soon after a recall is the recall's own prompt, until an answer comes."""
ASKED = 3  # Prompts of a session whose words count as known to its answers without a recall.


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


def evolve(state: Usage, event: Event, context: Context[HasMemories]) -> list[Change]:
    """Apply a `recalled`, a `used` or a turn; record the seqs of captures reported or found to be used."""
    of, scope = context.of, context.scope
    match event.body:
        case Recalled() as recalled:
            return _take_recall(state, event, recalled, context)
        case Used() as reported:
            others = _take_report(state, reported, context)
            changes = [Change("uses", scope, other_row_id(id)) for id in others]
        case Captured(kind="turn"):
            context.used, changes = _judge(state, of.captures.by_seq[context.seq], of), []
        case _:
            return []
    for seq in context.used:
        _count_used(state.own.setdefault(seq, Use()), context.at)
        state.moved[seq] = None
        changes.append(Change("uses", scope, of.captures.by_seq[seq].id))
        if seq in of.memories.birth_of:  # The row of a memory says how often and when it was used.
            changes.append(row_of_unit(scope, of, of.memories.birth_of[seq]))
    return changes


def _take_recall(
    state: Usage, event: Event, recalled: Recalled, context: Context[HasMemories]
) -> list[Change]:  # fmt: skip
    """Count a recall's results, unless a start's, and let the recall wait for its session's answer.

    Returns the memories whose order changes, as it does at powers of two.
    """
    captures, session, results = context.of.captures, event.session, dict.fromkeys(recalled.results)
    start, risen = unasked_by(recalled.lanes) == "start", list[Change]()
    for id in () if start else results:
        seq = captures.seq_of(id)
        if seq is not None:
            use = state.own.setdefault(seq, Use())
            use.recalled += 1
            state.moved[seq] = None
            if use.recalled & (use.recalled - 1) == 0 and context.of.memories.of(seq) is not None:
                risen.append(Change("standing", context.scope, captures.by_seq[seq].id))
        elif not captures.has_event(id):
            state.others.setdefault(id, Use()).recalled += 1
    if session is not None:
        # The session's own captures are known to its agent without a recall.
        others = tuple(capture.seq for capture in captures.found(results) if capture.session != session)
        end, seqs = context.at + TURN_US, others[:SHOWN_RESULTS]
        shown = Shown(event.id, context.at, end, recalled.query, seqs, start=start)
        before = state.shown.get(session, ())
        alike = (*(one for one in before if one.start is start), shown)
        kept = alike[-1 if start else -SHOWN_RECALLS :]  # The oldest of its kind goes beyond the limit.
        put_latest(state.shown, session, (*(one for one in before if one.start is not start), *kept))
    return risen


def _take_report(state: Usage, reported: Used, context: Context[HasMemories]) -> list[str]:
    """Find the captures that a report names and no report on the recall named before; return the other ids.

    An id that is neither captured here nor another event's is taken for one of `global`. Erased ids do not
    count.
    """
    captures, found = context.of.captures, dict.fromkeys(reported.ids)
    for id in found:
        if captures.get(id) is None and not captures.has_event(id):
            _count_used(state.others.setdefault(id, Use()), context.at)
    told, known = [capture.seq for capture in captures.found(found)], tuple[int, ...]()
    recalls = (shown for shown in chain.from_iterable(state.shown.values()) if shown.id == reported.recall)
    for shown in islice(recalls, 1):
        known = shown.used
        shown.used = (*known, *(seq for seq in told if seq not in known))
    context.used = [seq for seq in told if seq not in known]
    return [id for id in found if id in state.others]


def _judge(state: Usage, turn: Capture, of: HasMemories) -> list[int]:
    """Apply a turn; return the seqs shown to its session whose content the turn carries.

    Those counted for any of the recalls before are left out.
    """
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
    for seq in range(state.counted, turn.seq):
        capture = of.captures.by_seq.get(seq)
        if capture is not None and unit_of(of, capture) == seq:  # Repetition does not count.
            state.texts += 1
            for word in dict.fromkeys(words(of.captures.body(capture).text)):
                state.counts[word] = state.counts.get(word, 0) + 1
    state.counted = turn.seq
    asked = [_text(seq, of) for seq in state.asked.get(turn.session, ())]
    common = frozenset(word for text in (*asked, *(shown.query for shown in waiting)) for word in words(text))
    answer = answer_of(read(_text(turn.seq, of)))
    counted = dict.fromkeys(chain(*(shown.used for shown in waiting)))
    found = []
    for seq in dict.fromkeys(chain(*(shown.seqs for shown in waiting))):
        if seq in counted or carries(answer, _text(seq, of), common, state.counts, state.texts):
            found += [] if seq in counted else [seq]
            for shown in waiting:
                if seq in shown.seqs and seq not in shown.used:
                    shown.used = (*shown.used, seq)
    for shown in waiting:
        shown.answered = turn.at if shown.answered is None else min(shown.answered, turn.at)
    return found


def _count_used(use: Use, at: int) -> None:
    use.used += 1
    use.last = at if use.last is None else max(use.last, at)
    recent = (time for time in (*use.times, at) if use.last - time <= HOT_WINDOW_US)
    use.times = tuple(sorted(recent))[-MAX_TIMES:]


def _text(seq: int, of: HasMemories) -> str:
    memory = of.memories.of(seq)
    return of.captures.body(of.captures.by_seq[memory.canonical if memory and memory.lives else seq]).text
