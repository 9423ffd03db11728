"""Keep a home: run the projector, verify and rebuild views, copy the log, show settings, serve the page."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memtape.schemas.errors import InvalidUse, Locked, MemtapeError
from memtape.schemas.scopes import check_scope
from memtape.schemas.visible import many, one_line
from memtape.sinks.home.files import write_new
from memtape.sinks.home.settings import change_setting, local_settings
from memtape.sinks.logs.opening import how_to_use
from memtape.sinks.page_files import kept_beside
from memtape.tools.capture.profiles import check_kept, opened_home
from memtape.tools.doors.terminal import is_json, logged, printed_json, say, some
from memtape.tools.verb import Asks, Failure, Output, Verb, said

if TYPE_CHECKING:
    from memtape.tools.keep.copying import Copied
    from memtape.tools.keep.heads import HeadVerdict
    from memtape.tools.keep.owner import Owner
    from memtape.tools.keep.rebuild import Rebuilt
    from memtape.tools.keep.verify import Verification
    from memtape.tools.world import World

SHOWN_CHARS = 80
PROJECTOR_WAIT_S = 5.0
"""So long `run --once` waits for a projector that does not end by itself."""


Port = Annotated[int, Meta(ge=0, le=65_535)]
LogFormat = Annotated[
    Literal["json", "text"] | None, said("Tell events of operation on stderr, a line each.")
]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"] | None,
    said("From which level on; by default info."),
]


class RunCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of events read and of the workers' results, and the duration."""

    events: int
    embedded: int
    distilled: int
    consolidated: int
    seconds: float
    stopped: bool
    unfinished: tuple[str, ...] = ()
    """The workers that go on in the next run."""


class SettingsShown(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the log, those of this home alone, and their file."""

    log: dict[str, Any]
    own: dict[str, Any]
    file: str


def run(
    world: World,
    log_format: LogFormat = None,
    log_level: LogLevel = None,
    once: Annotated[bool, said("Project what there is and end.")] = False,
    workers: Annotated[int, Meta(description="Processes to project with.", ge=1, le=64)] = 1,
    embed: Annotated[
        bool, said("Give texts their vectors too; of several machines on one topic one is enough.")
    ] = True,
    metrics: Annotated[
        Port | None,
        said(
            "Serve OpenMetrics at http://127.0.0.1:PORT/metrics meanwhile; 0 takes any port that is free.",
            metavar="PORT",
        ),
    ] = None,
) -> Output:
    """Keep the views of a home up to date, until stopped by SIGINT or SIGTERM.

        memtape run --once
        memtape run --metrics 9464 --log-format json

    With --log-format or --log-level each event of operation is a line on stderr, in place of the usual
    sentences. No line has a text of a memory.

    Texts age at each hour, with --once at the hour of the run, also without new events. With --once each kind
    of other work, as giving vectors, ends after half a minute, and the next run goes on there; it exits 1
    where texts can get no vectors before somebody follows its message. An endpoint that does not answer now
    is only noted.

    One command at a time can do this; a second one waits for five seconds, and is then told the pid of the
    first. With --once it waits to the end of a projector that a search has started. With --workers it starts
    as many processes, which share the partitions by leases.
    """
    with logged(log_format, log_level) as logs:
        done, is_refused = _run(world, once, workers, embed, metrics, logs)
    yield Failure(done) if is_refused else done
    also = f", had {many(done.distilled, 'fact')} taken from talk" if done.distilled else ""
    also += f", decided {many(done.consolidated, 'time')} about what is alike" if done.consolidated else ""
    also += f" and embedded {many(done.embedded, 'text')}" if done.embedded else ""
    stopped = " Stopped." if done.stopped else ""
    yield f"Read {many(done.events, 'event')}{also} in {done.seconds:.1f} s.{stopped}"
    if done.unfinished:
        yield f"The next run goes on with what is left of: {', '.join(done.unfinished)}."


def _run(
    world: World, once: bool, workers: int, embed: bool, metrics: int | None, logs: bool
) -> tuple[RunCounts, bool]:
    """Return what was done, and whether something was refused or stopped before its end."""
    from memtape.tools.keep.operations import operation
    from memtape.tools.keep.owner import LOCK_WAIT_S
    from memtape.tools.keep.owning import owner_of
    from memtape.tools.keep.workers import WORKERS, WorkerKind
    from memtape.tools.measure.comparing import Shadows
    from memtape.tools.measure.metrics import served_metrics

    note = (lambda said: operation("noted")) if logs else world.on_note
    serving = nullcontext() if metrics is None else served_metrics(world.home, world.log, metrics)
    wait_s = PROJECTOR_WAIT_S if once else LOCK_WAIT_S
    kinds = {**WORKERS, "shadow": WorkerKind(Shadows, once="after")}
    kinds = {name: kind for name, kind in kinds.items() if embed or name != "embed"}
    owner = owner_of(world.home, world.log, note, workers, lock_wait_s=wait_s, kinds=kinds)
    ended = list[int]()

    def stop(number: int, frame: FrameType | None) -> None:
        ended.append(number)
        owner.stop()

    with _owned(owner, world) if once else owner, serving as port:
        if port is not None and not logs:
            say(f"Serving http://127.0.0.1:{port}/metrics.", err=True)
        operation("serving", port=port or 0)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        started = time.monotonic()
        owner.check()
        if not (once or is_json() or logs):
            say(f"Projecting {world.home.path}; stop with Ctrl-C.", err=True)
        done = dict[str, int]()
        if once:
            events = owner.project()
            if not ended:
                done = owner.work()
        else:
            events = owner.serve()
        seconds = time.monotonic() - started
    counts = {"embedded": "embed", "distilled": "distill", "consolidated": "consolidate"}
    told = {name: done.get(worker, 0) for name, worker in counts.items()}
    left = owner.unfinished if once else ()
    found = RunCounts(events=events, **told, seconds=round(seconds, 3), stopped=bool(ended), unfinished=left)
    return found, once and bool(ended or owner.refused)


@contextmanager
def _owned(owner: Owner, world: World) -> Iterator[None]:
    """Own a home in a block, after the end of a projector that a search has started. Raises `Locked`."""
    with ExitStack() as owned:
        while True:
            try:
                owned.enter_context(owner)
                break
            except Locked as refusal:
                if refusal.pid is None or refusal.pid != world.home.start_lock("projector").holder():
                    raise
        yield


def verify(
    world: World,
    repair: Annotated[
        bool, said("Where they differ, rebuild the views from the log and compare again.")
    ] = False,
) -> Verification:
    """Replay the log and compare it with the views, row by row and page by page.

        memtape verify --json
        memtape verify --repair

    Exits 1 and names each difference; --repair mends it.
    """
    from memtape.tools.keep import verify as views

    check_kept(world.home, "A verification")
    verdict = views.verify(world.home, world.log)
    if verdict.ok or not repair:
        return verdict
    made = rebuild(world)
    say(f"The views differed, and build {made.build} is served instead.", err=True)
    return verify(world)


def _verify_shell(world: World, asked: Any) -> Output:
    from memtape.tools.verbs.status import status

    verdict = verify(world, asked.repair)
    yield verdict if verdict.ok else Failure(verdict)
    yield f"{'The views are what the log says' if verdict.ok else 'The views differ from the log'}."
    yield f"state hash {verdict.state_hash} over {many(verdict.events, 'event')}"
    if lag := status(world).lag:
        yield f"{many(lag, 'event')} not in the views yet: memtape run --once"
    yield from some(verdict.differences, lambda it: f"  {it.what}: {it.view} {it.scope} {it.id}")
    if verdict.kept:
        yield kept_beside(verdict.kept)
    if not verdict.ok:
        kept = "a page that you changed is kept beside"
        yield f"`memtape verify --repair` makes the views anew from the log; {kept}."


class SavedHead(msgspec.Struct, frozen=True):
    """A new file with the head of the log, and the number of events up to it."""

    file: str
    events: int


def save_head(
    world: World,
    file: Annotated[
        str, said("Instead save what the log holds now in a new file.", 100, option="--save-head", path="new")
    ],
) -> SavedHead:
    """Save the head of the log, to hold the log against later.

    The file has digests and no text. Keep it where nobody who can change the log can change it.
    """
    from memtape.tools.keep.heads import head_of

    check_kept(world.home, "A head")
    head = head_of(world.log)
    write_new(Path(file), [msgspec.json.encode(head)])
    return SavedHead(file, head.events)


def verify_head(
    world: World,
    file: Annotated[str, said("Instead hold the log against a saved head.", option="--head", path="file")],
) -> HeadVerdict:
    """Prove that the log has lost, changed and moved no event since a head was saved.

    Events that were erased since have lost their bodies alone.
    """
    from memtape.tools.keep.heads import Head, check_head

    try:
        head = msgspec.json.decode(Path(file).read_bytes(), type=Head)
    except (OSError, msgspec.DecodeError) as error:
        raise MemtapeError(
            f"{file} is no head: {error}.", "`memtape verify --save-head` makes one."
        ) from None
    return check_head(world.log, head)


def _saved_head_lines(world: World, asked: Any, done: SavedHead) -> Iterator[str]:
    yield f"Saved the head of {many(done.events, 'event')} in {done.file}."
    yield f"Keep it elsewhere. `memtape verify --head {done.file}` holds the log against it."


def _head_shell(world: World, asked: Any) -> Output:
    verdict = verify_head(world, asked.file)
    yield verdict if verdict.ok else Failure(verdict)
    since = f"{verdict.erased:,} erased and {verdict.appended:,} appended since"
    if verdict.ok:
        yield f"The log holds all {many(verdict.events, 'event')} of the head, in their order; {since}."
    else:
        differing = f"{len(verdict.differences):,} of {many(verdict.events, 'event')} differ"
        yield f"The log is not what it was: {differing}."
        yield from some(verdict.differences, lambda it: f"  {it.what}: {it.place}")
        yield "A copy or an export from before has them: `memtape import` adds what is lost."


def rebuild(world: World) -> Rebuilt:
    """Rebuild the views from the log, beside the living ones, and switch once they are verified.

        memtape rebuild

    Searches are served from the old views meanwhile. A stopped or killed rebuild resumes when called again. A
    running projector gives way meanwhile.
    """
    from memtape.tools.keep.owning import rebuild_as_owner

    return rebuild_as_owner(world.home, world.log, world.on_note)


def _rebuild_lines(world: World, asked: Asks, made: Rebuilt) -> Iterator[str]:
    yield f"Build {made.build} is served: {many(made.events, 'event')} in {made.seconds:.1f} s, verified."
    yield f"state hash {made.state_hash}"


def copy(
    world: World,
    to: Annotated[
        str,
        said("kafka://host:port/topic, a new FILE.db, or a home.", option="--to", metavar="URL|PATH"),
    ],
) -> Copied:
    """Copy the log of a home to another place, slot for slot, and read it back.

        memtape admin copy --to kafka://localhost:9092/captures
        memtape admin copy --to /backup/memory.db

    The copy is the same log under the same id: every offset, id and time stays, and so do blank and
    unreadable slots. A second call resumes an interrupted copy, or adds the slots that came since; a place
    with another content is not changed. Stop all writers of the log, or copy once more, before the copy is
    used in its place, and let nobody use it before that. From then on write to one of the two: both have one
    id, by which views recognise their log. Erasing in one does not reach the other.

    Raises `LogExists`.
    """
    from memtape.tools.keep.copying import copy_log

    return copy_log(world.log, to)


def _copy_lines(world: World, asked: Any, made: Copied) -> Iterator[str]:
    read = f"all {made.slots:,} were read back the same"
    yield f"Copied {many(made.copied, 'slot')} in {made.seconds:.1f} s; {read}."
    yield f"log {made.log_id}, {many(made.partitions, 'partition')}, at {made.place}"
    if made.behind:
        more = many(made.behind, "slot")
        yield f"The log has got {more} more. Stop who writes to it and give the same command again."
    else:
        then = "the same command brings it over"
        yield f"What is appended to the old log from now on is not in the copy; {then}."
    yield "What is erased here stays in the copy until it is erased there too."
    yield f"To use the copy: {how_to_use(made.place)}"


def settings(world: World) -> SettingsShown:
    """Print the settings of the log, which all its homes share, and the file of this home's own settings.

        memtape admin settings --json
        memtape admin settings --set origin=user

    A setting of the log is changed by the command of its subject: `memtape admin embedder`, `lifecycle`,
    `retriever`.
    """
    from memtape.schemas.log import settings_on

    log, own = settings_on(world.log), local_settings(world.home)
    return SettingsShown(
        log=msgspec.to_builtins(log), own=msgspec.to_builtins(own), file=str(world.home.settings_path)
    )


def set_settings(
    world: World,
    changes: Annotated[tuple[str, ...], said("A setting of this home.", option="--set", metavar="KEY=VALUE")],
) -> SettingsShown:
    """Change settings of this home in their file.

    Raises `MemtapeError` for what is no setting; the changes before it stay.
    """
    for change in changes:
        key, sign, value = change.partition("=")
        if not sign:
            raise InvalidUse(f"{change} is no KEY=VALUE, as origin=user.")
        change_setting(world.home, key.strip(), value.strip())
    return settings(world)


def _settings_lines(world: World, asked: Asks, found: SettingsShown) -> Iterator[str]:
    for name, value in found.log.items():
        yield f"{name:<28}{one_line(str(value), SHOWN_CHARS)}"
    yield f"The settings of this home alone, in {found.file}:"
    for name, value in found.own.items():
        yield f"{name:<28}{one_line(str(value), SHOWN_CHARS)}"


def page(
    home: Path,
    log_format: LogFormat = None,
    log_level: LogLevel = None,
    port: Annotated[Port, said("The port, by default a free one.")] = 0,
    no_browser: Annotated[bool, said("Print the address alone.")] = False,
    scope: Annotated[
        str | None, said("Where to begin: global or project:NAME, by default the project of this folder.")
    ] = None,
) -> None:
    """Look into the memory with a browser: fresh texts, searches with reasons, agents' contexts, changes.

        memtape page
        memtape page --no-browser --port 8700 --log-format json

    The page is for this machine and for holders of its address alone: a cookie remembers a browser that
    opened it once. It shows every project of the home. Each action asks first, and says how it is undone.
    Ctrl-C ends the page. Pages of the tree are another thing: `memtape tree new` writes one.

    With --log-format each error is a line on stderr, and from --log-level debug on each view; no line has a
    text of a memory, a question or an address.

    Raises `MemtapeError`: the command alone serves it.
    """
    check_kept(opened_home(home), "A page")
    from memtape.tools.client import Client

    with Client(home) as client:
        begins = check_scope(scope) if scope else client.made_scope()
    from memtape.tools.keep.operations import operation
    from memtape.tools.page.app import Serving

    with logged(log_format, log_level):
        serving = Serving(home, begins, port)
        if not printed_json({"address": serving.address}):
            secret = "Keep this address to yourself: it lets in whoever opens it. Ctrl-C ends the page."
            say(f"{serving.address}\n{secret}")
        sys.stdout.flush()
        operation("serving", port=serving.port)
        try:
            serving.serve(open_browser=not no_browser and not is_json())
        finally:
            operation("stopped")


VERBS = (
    Verb("run", run, answers=RunCounts, effect="adds", at="home"),
    Verb("verify", verify, shell=_verify_shell, at="home"),
    Verb("verify --save-head", save_head, lines=_saved_head_lines, at="home"),
    Verb("verify --head", verify_head, shell=_head_shell, at="home"),
    Verb("rebuild", rebuild, lines=_rebuild_lines, effect="adds", at="home"),
    Verb("admin copy", copy, lines=_copy_lines, at="home"),
    Verb("admin settings", settings, lines=_settings_lines, at="home"),
    Verb("admin settings --set", set_settings, lines=_settings_lines, effect="adds", at="home"),
    Verb("page", page, answers=str, listed="address", at="folder"),
)
