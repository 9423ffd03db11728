"""Make memories of memories, and of talk: consolidate what is alike, and take facts from a session."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Captured, Event
from memtape.schemas.times import MIN_TIME_US
from memtape.schemas.visible import many, one_line
from memtape.tools.capture.profiles import check_kept
from memtape.tools.capture.writing import now_us
from memtape.tools.doors.terminal import say
from memtape.tools.verb import Failure, Output, Verb, inside, said

if TYPE_CHECKING:
    from memtape.flows.workers.distill import Distilled
    from memtape.state.consolidation.rules import ConcludedOperation
    from memtape.tools.keep.consolidating import Consolidated
    from memtape.tools.world import World

SHOWN_CHARS = 300
_STANDS = {
    "add": "drawn from",
    "conflict": "cannot hold beside (`memtape settle` asks people which holds)",
    "replace": "stands for",
    "remove": "says the same as, and stands for",
}


class ConsolidationReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a pass looked at and decided, whether it was done, and what could not be decided."""

    done: bool
    gate: dict[str, Any]
    clusters: int
    decided: list[dict[str, Any]]
    problems: list[str]


class DistillationReport(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that a model took from a session, and what it was asked."""

    turns: int
    asked: int
    facts: list[dict[str, Any]]
    problems: list[str]


def consolidate(
    world: World,
    dry_run: Annotated[bool, said("Print what the rules would do by now, and change nothing.")] = False,
    at_once: Annotated[
        bool,
        said("Do not wait until enough is new and a day has passed.", option="--now"),
    ] = False,
) -> Consolidated:
    """Consolidate similar memories: restatements, and a value with its earlier values.

        memtape admin consolidate --dry-run
        memtape admin consolidate --now

    Each decision is an event of the log. The sources stay, and return once one of them changes; `memtape
    update ID --unfold` separates them for good. `memtape run` does the same once a day if enough is new.
    Exits 1 where a model gave no usable answer.

    Raises `MemtapeError` where a configured model cannot be asked, and `Locked` where another process does
    the same.
    """
    check_kept(world.home, "A consolidation")
    from memtape.tools.keep.consolidating import consolidate_scope

    def told(done: int, total: int) -> None:
        world.on_phase("looking", done, total)

    place = world.home, world.log, world.scope
    return consolidate_scope(*place, dry_run=dry_run, at_once=at_once, on_cluster=told)


def distill(
    world: World,
    session: str,
    again: Annotated[
        bool,
        said("Ask about everything again, and add what is said beside what there is."),
    ] = False,
    scope: Annotated[str | None, inside("Only in this scope.")] = None,
    since_us: Annotated[int, inside("Only turns since a time, in microseconds.")] = MIN_TIME_US,
) -> Distilled:
    """Have the model that you named take facts from a session of any age.

        memtape admin distill 7f6c1e0a-58f4-4d0e-9d4f-0f8a6a3a1c55

    SESSION is the id that its host gave it, as `memtape show` prints it. The model is asked about messages
    without a usable answer so far; its facts are trusted less than anybody's words, and are erased with their
    messages. Exits 1 where an answer could not be used.

    Raises `MemtapeError` without a usable model.
    """
    check_kept(world.home, "What a model is asked")
    from memtape.flows.workers.distill import Talk, distill
    from memtape.sinks.home.marks import AskedWindows
    from memtape.tools.keep.facts import FactAsker

    def is_wanted(event: Event) -> bool:
        return event.session == session and event.at >= since_us

    talk = Talk(world.log, AskedWindows(world.home), FactAsker(world.home), now_us, is_wanted)
    return distill(talk, scope, again=again, on_window=partial(world.on_phase, "asking"))


def _pass_shell(world: World, asked: Any) -> Output:
    done = consolidate(world, asked.dry_run, asked.at_once)
    operations = [operation for conclusion in done.conclusions for operation in conclusion.operations]
    report = ConsolidationReport(
        done=done.is_done,
        gate={"open": done.gate.is_open, "reason": done.gate.reason},
        clusters=done.clusters,
        decided=[_told(operation) for operation in operations],
        problems=list(done.problems),
    )
    yield Failure(report) if done.problems else report
    for operation in operations:
        yield "\n".join(_lines(operation))
    what = f"{many(done.clusters, 'cluster')} of memories that are alike: {many(len(operations), 'decision')}"
    if done.is_done:
        yield f"Looked at {what}."
    elif asked.dry_run:
        when = "begin now" if done.gate.is_open else "not begin yet"
        yield f"The rules would look at {what}. By itself a pass would {when}: {done.gate.reason}."
    else:
        hint = "" if asked.at_once else " `memtape admin consolidate --now` does not wait."
        yield f"Nothing was done: {done.gate.reason}.{hint}"
    for problem in done.problems:
        say(f"Not decided: {problem}", err=True)


def _told(operation: ConcludedOperation) -> dict[str, object]:
    survivor = operation.survivor.id if operation.survivor else None
    ids = [candidate.id for candidate in operation.of]
    return {"op": operation.op, "ids": ids, "survivor": survivor, "text": operation.text or None}


def _lines(operation: ConcludedOperation) -> list[str]:
    text = operation.survivor.text if operation.survivor else operation.text
    told = [f"  {candidate.id} {one_line(candidate.text, SHOWN_CHARS)}" for candidate in operation.of]
    return [one_line(text, SHOWN_CHARS), f" {_STANDS[operation.op]}", *told]


def _facts_shell(world: World, asked: Any) -> Output:
    from memtape.tools.keep.models import is_named

    if not is_named(world.home):
        hint = "Name one under [model] in settings.toml, or by MEMTAPE_MODEL_URL."
        raise MemtapeError("No model is named.", hint)
    done = distill(world, asked.session, asked.again)
    if not done.turns:
        raise MemtapeError(
            f"Nothing was said in a session {asked.session}.",
            "`memtape show ID` prints the session of what a search found.",
        )
    facts = [(event, event.body) for event in done.events if isinstance(event.body, Captured)]
    told = [{"id": it.id, "scope": it.scope, "tags": body.tags, "text": body.text} for it, body in facts]
    report = DistillationReport(turns=done.turns, asked=done.asked, facts=told, problems=list(done.problems))
    yield Failure(report) if done.problems else report
    for _, body in facts:
        yield f"  {', '.join(body.tags[1:])}: {body.text}"
    new = many(len(facts), "new fact")
    yield f"Asked {many(done.asked, 'time')} about {many(done.turns, 'message')}: {new}."
    for problem in done.problems:
        say(f"Not answered: {problem} The same command asks again.", err=True)


VERBS = (
    Verb("admin consolidate", consolidate, answers=ConsolidationReport, shell=_pass_shell, effect="adds"),
    Verb("admin distill", distill, answers=DistillationReport, shell=_facts_shell, effect="adds", at="home"),
)
