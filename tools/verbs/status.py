"""The state of a home: the overview of a project, its status on one screen, and counts by day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from memtape.schemas.ids import short_id
from memtape.schemas.rows import PassMark, project_told
from memtape.schemas.scopes import check_scope
from memtape.schemas.times import format_day, format_time, parse_time
from memtape.schemas.visible import many, one_line
from memtape.sinks.page_files import kept_beside
from memtape.state.views.proposals import Proposal
from memtape.tools import query
from memtape.tools.capture.project import told_scope
from memtape.tools.capture.writing import now_us
from memtape.tools.query.results import Result
from memtape.tools.query.telling import held, lives_told, size_told, told_author
from memtape.tools.verb import AsOf, Output, Verb, said
from memtape.tools.verbs.deciding import waiting_rules
from memtape.tools.verbs.searching import ListAsks, recent

if TYPE_CHECKING:
    from memtape.sinks.home.marks import UseAmounts
    from memtape.state.views.health import Health
    from memtape.tools.query.status import DayStats, Stats, Status
    from memtape.tools.world import World

NAMED = 3
"""So many ids, letters and files are named where there are more; `--json` has them."""
SHOWN_SCOPES = 8
"""The number of scopes shown: the largest, and all with something waiting for a person."""
BEGINNING = (
    "Nothing is remembered here yet.",
    "`memtape agents connect` gives the agents on this machine this memory, and imports what they have kept.",
    '`memtape capture "We deploy on Tuesdays."` remembers, `memtape search "when do we deploy"` finds.',
)
LATEST = 5


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What a project remembers, what waits for people, the next steps. `scope` is None without a home."""

    home: str
    scope: str | None
    latest: tuple[Result, ...] = ()
    memories: int = 0
    turns: int = 0
    ended: str = ""
    conflicts: int = 0
    rules: tuple[Proposal, ...] = ()
    next: tuple[str, ...]


def overview(home: Path) -> Output:
    """Say what this project remembers, what waits for you, and the next step; without a home, how to begin.

    memtape overview --json
    """
    from memtape.tools.client import Client

    if not home.is_dir():
        yield Overview(home=str(home), scope=None, next=BEGINNING[1:])
        yield from BEGINNING
        return
    with Client(home) as world:
        world.catch_up()
        state, scope = status(world), world.scope
        latest, rules = recent(world, ListAsks(limit=LATEST)).results, tuple(waiting_rules(world))
    count = state.scopes.get(scope) or query.status.ScopeCount(memories=0, turns=0, hidden=0)
    steps = query.status.next_steps(state)
    steps = [step for step in steps if not (count.conflicts and "memtape settle" in step)]
    found = Overview(
        home=state.home,
        scope=scope,
        latest=latest,
        memories=count.memories,
        turns=count.turns,
        ended=project_told(state.lives[scope]) if scope in state.lives else "",
        conflicts=count.conflicts,
        rules=rules,
        next=tuple(steps or ["`memtape search WORDS` finds, and `memtape capture TEXT` adds."]),
    )
    yield found
    told = held(found.memories, found.turns) if found.memories or found.turns else "nothing yet"
    yield f"{told_scope(found.scope or '')} remembers {told}."
    for it in found.latest:
        about = f"{format_day(it.at)}  {told_author(it)}"
        yield f"  {short_id(it.id)}  {about}  {one_line(it.text, 80)}"
    waits = found.conflicts + len(found.rules)
    if waits:
        counts = {"conflict": found.conflicts, "rule": len(found.rules)}
        waiting = [many(count, name) for name, count in counts.items() if count]
        yield f"{' and '.join(waiting)} {'waits' if waits == 1 else 'wait'} for you: `memtape settle`."
    if found.ended:
        yield found.ended
    else:
        yield from found.next if told != "nothing yet" else BEGINNING[1:]


def status(world: World, as_of: AsOf = None) -> Status:
    """Print on one screen the contents of the home, the state of each view, and the next step.

        memtape status --json

    A view is ready, lagging (its missing events have waited for ten seconds), hydrating (it was never made)
    or failing.
    """
    profile, status_of = world.profile.name, query.status.status
    if as_of is None:
        return world.reader.reading(lambda views: status_of(world.home, world.log, views, profile))
    return world.read(lambda views, _: status_of(world.home, world.log, views, profile), as_of)


def stats(
    world: World,
    since: Annotated[str, said("From then on: ISO 8601, or an age as 3d.", time=True)] = "30d",
    scope: Annotated[str | None, said("Only this scope, by default all of the home.")] = None,
) -> Stats:
    """Draw daily counts (UTC): growth of the memory, searches and uses, and folds.

        memtape admin stats --since 90d
        memtape admin stats --scope project:shop

    A use rate above 100 % says that recalls were used more than once.
    """
    now, stats_of = now_us(), query.status.stats_of
    start, name = parse_time(since, now), None if scope is None else check_scope(scope)
    return world.reader.reading(lambda views: stats_of(world.log, views, name, start, now))


def _status_lines(world: World, asked: Any, state: Status) -> Iterator[str]:
    yield from (f"PAUSED        {pause}" for pause in state.paused)
    last = f"; the last came {format_time(state.last_at)[:16]}" if state.last_at else ""
    spooled = many(state.spooled, "capture waits", "captures wait")
    yield f"home          {state.home}"
    yield f"profile       {state.profile}"
    yield f"log           {state.log}"
    yield f"memories      {state.memories:,}"
    yield f"turns         {state.turns:,}"
    yield f"events        {state.events:,}{last}"
    yield f"redacted      {many(state.redacted, 'secret')}"
    yield f"lag           {many(state.lag, 'event')}"
    if state.spooled:
        yield f"spool         {spooled} for the broker of the log"
    yield from _view_lines(state.views)
    yield from (f"VIEWS         {warning}" for warning in state.warnings)
    embedder = state.embedder
    then = f", then {embedder.next}" if embedder.next else ""
    waits = f"; {embedder.waiting:,} of {embedder.texts:,} texts wait" if embedder.waiting else ""
    yield f"embedder      {embedder.configured}{then}{waits}"
    if embedder.degraded:
        yield f"DEGRADED      {embedder.warning.removeprefix('DEGRADED: ')}"
    if embedder.offer:
        yield f"offer         {embedder.offer}"
    if len(state.retrievers) > 1:
        named = ", ".join(f"{one_line(name, 200)} ({its})" for name, its in state.retrievers.items())
        asked_of = f"; shadows answer {state.shadow_percent} %"
        yield f"retrievers    {named}{asked_of if 'shadow' in state.retrievers.values() else ''}"
    projector = f"running (pid {state.projector_pid})" if state.projector_pid else "not running"
    yield f"projector     {projector}"
    yield from _beside_lines(state)
    yield from _unwell_lines(state)
    yield from _scope_lines(state)
    yield from (f"next          {step}" for step in query.status.next_steps(state))


def _view_lines(views: tuple[Health, ...]) -> Iterator[str]:
    """Yield a line for each view: its number of partitions by state, and its lag."""
    for name in dict.fromkeys(its.view for its in views):
        told = []
        for state in ("failing", "hydrating", "lagging", "ready"):
            if own := [its for its in views if (its.view, its.state) == (name, state)]:
                lacks = sum(its.lag_events for its in own)
                what = "text" if name == "vectors" else "event"
                lag = f" ({many(lacks, what)}, {max(its.lag_s for its in own):,} s)" if lacks else ""
                told.append(f"{state} in {many(len(own), 'partition')}{lag}")
        yield f"  {name:<12}{'; '.join(told)}"


def _beside_lines(state: Status) -> Iterator[str]:
    """Yield the lines beside the views: aged texts, the server of hooks, a model, and the disk."""

    def told(asked: UseAmounts) -> str:  # Tokens only where an endpoint tells them.
        tokens = f", {asked.tokens:,} tokens" if asked.tokens else ""
        return f"{many(asked.calls, 'call')}, {asked.characters:,} characters{tokens}"

    if state.lives:
        yield f"aging         {lives_told(state.lives.values())}"
    if state.hook_server_pid:
        yield f"hook server   running (pid {state.hook_server_pid}); it ends by itself"
    use = state.model
    if use.total.calls:
        most = told(state.model_budget)
        yield f"model         {told(use.today)} today, of at most {most}; {told(use.total)} in all"
    if state.judge.daily not in ("auto", "none"):
        most = many(state.judge.calls_per_pass, "call")
        yield f"judge         {state.judge.daily} in each daily pass, by at most {most} of a model"
    for owner, numbers in state.owners.items():
        yield f"written by    {one_line(owner)}: partitions {', '.join(map(str, numbers))}"
    if state.disk:
        sizes = ", ".join(f"{kind} {size_told(size)}" for kind, size in state.disk.items())
        yield f"disk          {size_told(sum(state.disk.values()))}: {sizes}"


def _unwell_lines(state: Status) -> Iterator[str]:
    """Yield the lines about files kept beside, not taken, unread and hidden."""

    def more(count: int) -> Iterator[str]:
        if count > 0:
            yield f"  … and {count:,} more; --json names some"

    if state.kept:
        yield f"kept          {one_line(kept_beside(state.kept))}"
    yield from (f"not taken     {one_line(problem)}" for problem in state.zones)
    if state.erasures:
        unfinished = many(len(state.erasures), "erasure")
        yield f"ERASURES      {unfinished} not finished; files may still hold the text"
    if state.dead_letters:
        yield f"DEAD LETTERS  {many(state.dead_letters, 'event')} on the log could not be read:"
        letters = state.latest_dead_letters[-NAMED:]
        yield from (f"  {letter.partition}/{letter.offset}  {letter.reason}" for letter in letters)
        yield from more(state.dead_letters - len(letters))
    if state.hidden:
        yield f"hidden        {state.hidden:,} forgotten or withdrawn; `memtape restore ID` shows one again:"
        yield from (f"  {short_id(id)}" for id in state.hidden_ids[:NAMED])
        yield from more(state.hidden - len(state.hidden_ids[:NAMED]))


def _scope_lines(state: Status) -> Iterator[str]:
    """Yield the lines of the largest scopes, and of all where something waits for a person."""
    largest = sorted(state.scopes, key=lambda name: -state.scopes[name].memories - state.scopes[name].turns)
    shown = {*largest[:SHOWN_SCOPES], *(name for name, count in state.scopes.items() if count.conflicts)}
    for scope, count in state.scopes.items():
        if scope not in shown:
            continue
        hidden = f", {count.hidden:,} hidden" if count.hidden else ""
        yield f"  {scope}: {held(count.memories, count.turns)}{hidden}"
        if (life := state.lives.get(scope)) and (told := project_told(life)):
            yield f"    {told}"
        if count.conflicts:
            waiting = many(count.conflicts, "conflict waits", "conflicts wait")
            yield f"    {waiting} for you: memtape settle --scope {scope}"
        if count.passes != PassMark() and count.next_pass:
            last = format_day(count.passes.at) if count.passes.at else "never"
            yield f"    consolidated: {last}; {count.next_pass}"
    if len(state.scopes) > len(shown):
        yield f"  … and {len(state.scopes) - len(shown):,} more scopes; --json has them all"


BLOCKS = "▁▂▃▄▅▆▇█"
COLUMNS = 60
"""So many columns a chart has at most: of more days each column is several."""


CHARTS = (
    ("captured", "texts", ("turns", "documents", "long_term"), ()),
    ("searches", "", ("searches",), ()),
    ("given unasked", "", ("given",), ()),
    ("used", "", ("used",), ()),
    ("found nothing", "% of searches", ("empty",), ("searches",)),
    ("use rate", "% of recalls", ("used",), ("searches", "given")),
    ("fold rate", "% of long-term captures", ("folded",), ("long_term",)),
)
"""The drawn charts: title, unit, the counts of a day that are added up, and those of which it is a share."""


def _value(days: Sequence[DayStats], names: Sequence[str], of: Sequence[str]) -> float | None:
    """Return the value of some days together; None for a share of nothing."""
    part, whole = (sum(getattr(day, name) for day in days for name in them) for them in (names, of))
    return (100 * part / whole if whole else None) if of else part


def _stats_lines(world: World, asked: Any, found: Stats) -> Iterator[str]:
    """Yield a line for each chart: its subject, a block for each column, the highest column, the total."""
    days = found.days
    size = -(-len(days) // COLUMNS)
    groups = [days[start : start + size] for start in range(0, len(days), size)]
    of_days = f", a column {many(size, 'day')}" if size > 1 else ""
    yield f"{days[0].day} to {days[-1].day}{of_days}; {found.before:,} events stood before."
    for title, unit, names, of in CHARTS:
        values, top = [_value(group, names, of) for group in groups], len(BLOCKS) - 1
        whole = _value(days, names, of)
        most = max((its for its in values if its is not None), default=0)
        blocks = "".join(" " if not its else BLOCKS[min(top, int(top * its / most + 0.5))] for its in values)
        told = "nothing to measure" if whole is None else f"{whole:,.0f}{f' {unit}' if unit else ''} in all"
        most_told = f", at most {most:,.0f}" if most else ""
        yield f"{title:<14}│{blocks:<{len(groups)}}│ {told}{most_told}"


VERBS = (
    Verb("overview", overview, answers=Overview, at="folder"),
    Verb("status", status, lines=_status_lines, at="home"),
    Verb("admin stats", stats, lines=_stats_lines, at="home"),
)
