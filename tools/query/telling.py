"""The words for events, results and the parts of a score, a line each, and the tokens of a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memtape.schemas.events import PEOPLE, Captured, Decided, Event, Origin
from memtape.schemas.ids import short_id
from memtape.schemas.lanes import MOST_LOOKS
from memtape.schemas.patterns import lazy
from memtape.schemas.rows import LifeMark, signature
from memtape.schemas.times import DAY_US, format_day, format_time
from memtape.schemas.visible import many, one_line

if TYPE_CHECKING:
    from memtape.schemas.events import Traced
    from memtape.tools.query.results import Answer, QuestionReading, Result

SAID_CHARS = 120
WORDINGS_TOLD, WORDING_CHARS = 3, 200
"""The most further wordings shown beside a result, and the characters of each line."""
OLD_DAYS = 30
"""Unasked text of this age is shown with its day."""
NAME_CHARS = 40
SIZES = ("B", "kB", "MB", "GB", "TB")
AWAY = (
    "The broker of the log does not answer. What was captured waits in the spool of the home, and is"
    " delivered by the next command that reaches the broker."
)
_ID = lazy(r" by [0-9a-f]{8}-[0-9a-f-]{27}\b")
_NAMED = lazy(r"(?<=(?:by|in|ts|an) )[0-9a-f]{8}-[0-9a-f-]{27}(?=$|, which)")
_CONTRADICTS = lazy(r"\bcontradicts [0-9a-f]{8}-[0-9a-f-]{27}, which\b")


class Authored(Protocol):
    """A text whose author is known, or None where the text is gone."""

    @property
    def actor(self) -> str | None: ...

    @property
    def origin(self) -> Origin | None: ...


def told_author(it: Authored) -> str:
    """Return the author of a text and how far they are trusted: `Ada (user)`."""
    return f"{one_line(it.actor or '', 40)} ({it.origin})"


def told_who(actor: str, origin: Origin) -> str:
    """Return the speaker of a text for unasked context; empty for people."""
    if origin in PEOPLE:
        return ""
    return one_line(signature(actor, origin), NAME_CHARS)


def hidden_told(count: int, ids: Sequence[str]) -> str:
    """Return the message about hidden captures, empty for none; `ids` are the first of them."""
    told = f"Hidden, since the same was forgotten: {count:,}. To show one: memtape restore"
    return f"{told} {short_id(ids[0])}" if count else ""


def told_day(at: int, now: int, *, always: bool = False) -> str:
    """Return the day of a text for unasked context; empty for a recent text."""
    return format_day(at) if always or now - at > OLD_DAYS * DAY_US else ""


def brief(mark: str) -> str:
    """Return a mark of a memory without ids, for unasked context."""
    return _CONTRADICTS.sub("contradicts what", _ID.sub("", mark))


def with_short_id(mark: str) -> str:
    """Return a mark of a memory with its id as commands show ids."""
    return _NAMED.sub(lambda found: short_id(found[0]), mark)


def when_of(event: Event) -> str:
    """Return the time of an event, and the time of its appending if different."""
    at, sent = format_time(event.at), format_time(event.sent)
    return at if at == sent else f"{at} (appended {sent})"


def redacted(counts: Mapping[str, int]) -> str:
    """Return how many secrets of which kind were taken out of a text; empty for none."""
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
    return f"Redacted before it was stored: {kinds}." if kinds else ""


def held(memories: int, turns: int) -> str:
    """Return counts in words: `2 memories, 1 turn`."""
    return f"{many(memories, 'memory', 'memories')}, {many(turns, 'turn')}"


def size_told(size: float) -> str:
    """Return a size in bytes in the largest unit with a value of at least one."""
    unit = 0
    while size >= 1_000 and unit < len(SIZES) - 1:
        size, unit = size / 1_000, unit + 1
    return f"{size:.0f} {SIZES[unit]}" if unit < 2 else f"{size:.1f} {SIZES[unit]}"


def lives_told(lives: Iterable[LifeMark]) -> str:
    """Return how far texts have aged, of some scopes together, in one line."""
    marks = list(lives)
    names = ("mid", "long", "archived", "purged", "summaries")
    mid, long, archived, purged, made = (sum(getattr(mark, name) for mark in marks) for name in names)
    counts = [f"{mid:,} mid", f"{long:,} long", f"{archived - purged:,} archived"]
    counts += [f"{purged:,} purged"] if purged else []
    counts.append(many(made, "summary", "summaries"))
    states = Counter(mark.state for mark in marks if mark.state != "active")
    counts += [f"{many(count, 'project')} {state}" for state, count in sorted(states.items())]
    return ", ".join(counts)


def confirmed(count: int, last_at: int) -> str:
    """Return how often and when last a memory was said again."""
    return f"confirmed {many(count, 'time')}, last {format_time(last_at)[:10]}"


def other_wordings(result: Result) -> list[str]:
    """Return a line with the memory's own text if another wording matched, and a line with further wordings.

    Both are missing for a result with a single wording.
    """
    told = [] if result.matched is None else [f"its memory says: {one_line(result.text, WORDING_CHARS)}"]
    others = [wording for wording in result.wordings if wording != result.matched]
    if others:
        said = " / ".join(one_line(wording.text, WORDING_CHARS) for wording in others[:WORDINGS_TOLD])
        more = f" / and {len(others) - WORDINGS_TOLD:,} more" if len(others) > WORDINGS_TOLD else ""
        told.append(f"also said: {said}{more}")
    return told


def said_of(event: Event) -> str:
    """Return the beginning of an event's text, decision or reason; empty for an event without any."""
    if isinstance(event.body, Captured):
        return one_line(event.body.text, SAID_CHARS)
    if isinstance(event.body, Decided) and event.body.reason is None:
        done = Counter(operation.op for operation in event.body.operations)
        told = ", ".join(f"{count:,} {op}" for op, count in done.items())
        inputs = many(len(event.body.inputs), "memory", "memories")
        sure = "" if event.body.certainty is None else f", {event.body.certainty / 100:g} % sure"
        return f"of {inputs}: {told or 'apart'}{sure}" if event.body.inputs else "the end of a pass"
    reason = getattr(event.body, "reason", None)
    return f"reason: {one_line(reason, SAID_CHARS)}" if reason else ""


def told_trace(trace: Sequence[Traced]) -> list[str]:
    """Return a line for each step of a deep search: its input, outcome, judge and duration."""
    lines = []
    for it in trace:
        asked = f' "{one_line(it.query, 200)}"' if it.query else ""
        end = "that was the last look" if it.look == MOST_LOOKS else "enough"
        done = {
            "scouts": f"{it.kept:,} found, {len(it.ids):,} new, for{asked}",
            "filter": f"{it.kept:,} of {it.given:,} kept",
            "walk": f"{it.kept:,} reached from the page tree",
            "edges": f"{it.kept:,} reached from {it.given:,}, {len(it.ids):,} new",
            "gate": f"{it.kept:,} of {it.given:,} kept; " + (f"look again for{asked}" if it.query else end),
        }[it.step]
        by = "" if it.by == "rules" else f", by {one_line(it.by, 60)} for {it.cost:,} characters"
        failed = f", failed ({it.failure})" if it.failure else ""
        lines.append(f"look {it.look} {it.step}: {done}{by}{failed}, {it.took_us / 1_000:.1f} ms")
    return lines


PARTS = {
    "words": "BM25 of a text with the turns around it and of members of a kind, as a share of the best's",
    "session": "BM25 of its whole session, as a share of the best session's",
    "cosine": "how near its vector is to the question's",
    "session cosine": "how near the nearest of its session is",
    "speaker": "the question names who says it (half for memories, and where nobody or several are named)",
    "prior": "said by whom the question is about: a person, or the assistant where its answers are asked for",
    "hint": "it holds the time, number or place that is asked for",
    "question": "it asks itself",
    "news": "its rare words are new: no earlier text has them",
    "hot": "lately used, against the hottest",
    "fresh": "said within three days",
}
"""The parts of a relevance, and the purpose of each."""
LOOKED = "looked: how the looks of a deep search together have moved it"
YIELDS = "yields: it only asks, or its session has just said it, and stands below what answers the same"


def explained(result: Result, reads: Sequence[QuestionReading]) -> list[str]:
    """Return the lines about a result: terms, and parts of the score."""
    why = result.why
    assert why is not None
    read = next(read for read in reads if read.scope == result.scope)
    lines, summed = [], sum(why.parts.values())
    if why.terms or why.around:
        around = f"; around it {_listed(why.around)}" if why.around else ""
        lines.append(f"holds {_listed(why.terms) or 'none of the terms'}{around}")
    lines.append("lanes: " + "  ".join(f"{lane} {score:.2f}" for lane, score in why.lanes.items()))
    if why.parts:
        parts = " ".join(f"{share:+.3f} {name}" for name, share in why.parts.items())
        lines.append(f"sum: {parts} = {summed:.3f}")
    if why.look > 1:
        came = f": first seen in look {why.look}, and by what that asked"
    elif "edges" in why.lanes:
        came = ": lent by what it was used with, more than its own"
    else:
        scaled = f"({summed:.3f} - {read.least:.3f}) / ({read.most:.3f} - {read.least:.3f})"
        came = f" = {scaled.replace('- -', '+ ')} x strength {read.strength:.3f}"
    lines.append(f"relevance {why.relevance:.3f}{came}")
    factors = f"age {why.age:.3f} x use {why.use:.2f} x confidence {why.confidence:.2f}"
    factors += f" x yields {why.yields:.3f}" if why.yields < 1 else ""
    factors += f" x looked {why.looked:.3f}" if why.looked != 1 else ""
    lines.append(f"score {result.score:.3f} = relevance {why.relevance:.3f} x {factors}")
    return ["    " + line for line in lines]


def explained_question(answer: Answer) -> list[str]:
    """Return the lines about a question: counts by source and lane, its readings, and parts of scores."""
    found = ((source, its) for source, its in answer.sources.items() if its.found)
    sources = ", ".join(f"{its.returned:,} of {its.found:,} {source}" for source, its in found)
    lines = [
        f"sources: {sources or 'nothing in any'}",
        *told_trace(answer.trace),
        "Lanes: " + ", ".join(f"{lane} {count:,}" for lane, count in answer.lanes.items()),
    ]
    for read in answer.read:
        recipe = "people" if read.recipe == "people" else "a user with an assistant"
        weights = (f"{one_line(term, 40)} {weight:.2f}" for term, weight in read.terms.items())
        told = {
            "terms with their weights": ", ".join(weights) or "none",
            "no text has": _listed(read.unheld),
            "passed over, they name who speaks": _listed(read.names),
            "passed over, too common": _listed(read.common),
        }
        lines.append(f"{read.scope}: as for {recipe}")
        lines += [f"  {what}: {terms}" for what, terms in told.items() if terms]
        share = "the share of the question's weight that the best text holds"
        lines.append(f"  strength {read.strength:.3f}: {share}")
    shown = dict.fromkeys(name for result in answer.results if result.why for name in result.why.parts)
    lines += [f"{name}: {PARTS[name]}" for name in PARTS if name in shown]
    whys = [result.why for result in answer.results if result.why]
    lines += [LOOKED] * any(why.looked != 1 for why in whys)
    return lines + [YIELDS] * any(why.yields < 1 for why in whys)


def _listed(terms: Iterable[str]) -> str:
    return ", ".join(one_line(term, 40) for term in terms)


class Tokenizer(NamedTuple):
    """A token counter and its name; the name tells how exact the counts are."""

    name: str
    count: Callable[[str], int]


CHARACTERS = Tokenizer("characters/4", lambda text: -(-len(text) // 4))
"""A rule of thumb for English prose; of ideographs a model makes up to four times as many."""


@cache
def tokenizer() -> Tokenizer:
    """Return the available tokenizer: o200k_base of the extra `tokens`, with its vocabulary, else characters.

    Models differ: even a real tokenizer is an estimate for other models. Nothing is downloaded.
    """
    try:
        from rs_bpe.bpe import openai
    except ImportError:
        return CHARACTERS
    return Tokenizer("o200k_base", openai.o200k_base().count)
