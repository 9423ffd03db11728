"""The crash harness: real projectors are killed with SIGKILL, and what they leave must come right by itself.

`python tests/crash.py --kills 300` plays as many lives of a home as that takes. In each life some projectors are killed
in a row, at named points, at random times, or at a random system call; between them events are appended. Then one run
that nobody disturbs must give what a home that was never disturbed has over the same log: a sound `verify`, the same
state hash, the same vault byte for byte, the same watermarks and dead letters, and no file that nobody owns.

The product has no hooks for this. A child wraps the function that a point names before it begins.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import msgspec

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # As a script it runs from a clone that nobody installed, as the tests do.
    sys.path.insert(0, str(ROOT))

from builders import (  # noqa: E402
    NAMING,
    QUICK,
    SLUGS,
    START,
    SWITCHING,
    TINY,
    captured,
    configured,
    edited,
    embedded,
    erased,
    event,
    failed,
    linked,
    make_id,
    page_link,
    recalled,
    scope_changed,
    settled,
    used,
)
from met import events_of  # noqa: E402

from memtape.schemas.events import Captured, Configured, Decided, Event, Input, Operation  # noqa: E402
from memtape.schemas.settings import Settings  # noqa: E402
from memtape.sinks.home.folders import UNFINISHED, Home  # noqa: E402
from memtape.sinks.logs.embedded import EmbeddedLog  # noqa: E402
from memtape.sinks.tables import WATERMARK  # noqa: E402

SCOPES = ("project:a", "project:b", "project:c", "global")
KILLS_A_LIFE = 5
CHILD_TIMEOUT_S = 300.0
SERVED_S = 2.5
"""How long a projector that serves is left alive when it does not come by the point at which it is to die."""
RANDOM_DELAY_S = 1.2
TEMPORARY = re.compile(rf"^\..*{re.escape(UNFINISHED)}\Z")
"""What is written whole and then renamed has this name until then."""

DECK = {"captured": 47, "recalled": 7, "used": 5, "forgotten": 4, "restored": 4, "unfolded": 3, "pinned": 2,
        "withdrawn": 2, "archived": 2, "scope_changed": 1, "decided": 3, "linked": 2, "settled": 1, "edited": 2,
        "erased": 1, "configured": 2, "embedded": 15, "failed": 2}  # fmt: skip
"""How often what happens in a hundred events of a history."""

SYSTEM_CALLS = tuple(
    "mkdir openat write rename renameat linkat unlink unlinkat rmdir pwrite64 fsync fdatasync ftruncate".split()
)
"""What Python, SQLite and LanceDB change files with."""


# Points


class Point(NamedTuple):
    """Where a projector dies: at the `nth` call (up to `most`) of `target`, `before` or `after` it or with half a file.

    A `target` is `module:attribute`; `only` is a part of a path that the call must be given. Without a target it is a
    random time, or with `system_call` a random call of that name. `first` says what is wrong with the home before.
    """

    name: str
    verb: str = "project"
    target: str = ""
    when: str = "before"
    most: int = 1
    only: str = ""
    first: str = ""
    system_call: str = ""


def _both(name: str, target: str, most: int = 1, **fields: Any) -> list[Point]:
    return [Point(f"{when} {name}", target=target, when=when, most=most, **fields) for when in ("before", "after")]


POINTS = (
    # An epoch: rows, pages, watermark.
    *_both("the rows of an epoch", "memtape.sinks.tables:Shard.write", 8),
    *_both("the commit of a table", "memtape.sinks.tables:Shard._merge", 20),
    *_both("a table is tidied", "memtape.sinks.tables:Shard._tidy", 4),
    Point("a table is tidied, its old versions stay", "project", "lance.dataset:LanceDataset.cleanup_old_versions",
          most=4),
    *_both("a table is made", "memtape.sinks.tables:Shard._create", 8, first="a lost shard"),
    *_both("the pages of an epoch", "memtape.sinks.vault:Vault.write", 8),
    Point("half a page or list", target="memtape.sinks.page_files:write_whole", when="torn", most=24),
    *_both("a list of pages", "memtape.sinks.page_files:ScopeFiles._write_list", 16),
    *_both("a file of the vault", "memtape.sinks.page_files:ScopeFiles._put", 16),
    *_both("a page is renamed", "pathlib:Path.replace", 8, only="vault"),
    *_both("the watermark", "memtape.sinks.tables:Shard.write_watermark", 8),
    *_both("the vault's note", "memtape.sinks.vault:Vault.cover", 8),
    # Snapshots.
    *_both("a snapshot", "memtape.sinks.snapshots:Snapshots.write", 4),
    Point("half a snapshot", target="memtape.sinks.snapshots:write_whole", when="torn", most=4),
    Point("a snapshot that is not on disk yet", target="os:fsync", most=4),
    *_both("a snapshot is renamed", "pathlib:Path.replace", 4, only=".snapshot"),
    # Recovery.
    *_both("the views are opened", "memtape.tools.keep.build_views:BuildViews.start"),
    *_both("a partition's recovery", "memtape.tools.keep.build_views:open_projection", 3),
    Point("in the middle of a partition's recovery", target="memtape.flows.projection:slots_between", when="after",
          most=3),
    *_both("a damaged shard is discarded", "memtape.sinks.tables:Shard.discard", first="a damaged watermark"),
    Point("a shard is half discarded", target="os:unlink", most=12, first="a damaged watermark"),
    *_both("damaged snapshots are passed over", "memtape.sinks.snapshots:Snapshots.newest", 2,
           first="damaged snapshots"),
    # A rebuild.
    *_both("a commit to the new build", "memtape.sinks.tables:Shard._merge", 20, verb="rebuild"),
    *_both("a table of the new build is made", "memtape.sinks.tables:Shard._create", 8, verb="rebuild"),
    *_both("the new build is verified", "memtape.tools.keep.rebuild:verify", verb="rebuild"),
    *_both("the vault's notes are taken back", "memtape.sinks.vault:Vault.uncover", 16, verb="rebuild"),
    *_both("the switch", "memtape.sinks.home.folders:Home.serve", verb="rebuild"),
    *_both("the pointer is renamed", "pathlib:Path.replace", only="current", verb="rebuild"),
    *_both("a partition's pages are mended", "memtape.tools.keep.rebuild:mend_vault", 16, verb="rebuild"),
    *_both("the old builds are discarded", "memtape.tools.keep.rebuild:discard_old_builds", verb="rebuild"),
    Point("an old build is half discarded", "rebuild", "os:unlink", most=60),
    Point("an old build is all but discarded", "rebuild", "os:rmdir", when="after", most=12),
    # Views of other rules are made anew.
    *_both("a table under changed rules", "memtape.sinks.tables:Shard._merge", 16, first="other rules"),
    *_both("a build for changed rules is served", "memtape.sinks.home.folders:Home.serve", first="other rules"),
    *_both("pages under changed rules are mended", "memtape.tools.keep.rebuild:mend_vault", 4, first="other rules"),
    # Mending the vault at the start.
    *_both("a lost vault is mended", "memtape.tools.keep.owner:mend_vault", 4, first="a lost vault"),
    *_both("the state of a lost page", "memtape.tools.keep.rebuild:state_at", 3, first="a lost vault"),
    *_both("pages of a lost vault", "memtape.sinks.vault:Vault.write", 4, first="a lost vault"),
    Point("a lost page is pruned", target="memtape.sinks.vault:Vault.prune", most=3, first="a lost vault"),
    # The past, and who only asks.
    *_both("a view of the past", "memtape.tools.ask.as_of:PastViews._make", 4, verb="ask the past"),
    *_both("rows of the past", "memtape.sinks.tables:Shard._merge", 8, verb="ask the past"),
    *_both("a search's own projecting", "memtape.sinks.tables:Shard._merge", 12, verb="search"),
    # Anywhere at all.
    *(Point(f"at a random time of `{verb}`", verb) for verb in ("project", "project", "serve", "serve", "rebuild",
                                                                 "ask the past")),
    Point("at a random time of a start with a lost vault", first="a lost vault"),
    Point("at a random time of a start with a lost shard", first="a lost shard"),
    Point("at a random time of a start under other rules", first="other rules"),
    *(Point(f"at a random `{call}` of `{verb}`", verb, system_call=call)
      for verb in ("project", "rebuild") for call in SYSTEM_CALLS),
)  # fmt: skip


# The child


def child() -> None:
    """Import everything, wait for one line of JSON that says what to do, and do it until the end or death."""
    for module in ("lance", "bytewax", "memtape.flows.views", "memtape.tools.ask.retrieval"):
        importlib.import_module(module)
    from memtape.flows import projection, views
    from memtape.sinks import tables as lance

    # A small history has many batches, snapshots and clean-ups.
    projection.SNAPSHOT_EVENTS = 12
    views.BATCH_EVENTS = 9
    lance.OPTIMIZE_EVERY = 4
    lance.KEEP_VERSIONS = timedelta(milliseconds=1)
    os.write(1, b"ready\n")
    orders = json.loads(sys.stdin.readline())
    if orders["largest_file"] is not None:
        sys.dont_write_bytecode = True  # It would be cut short.
        resource.setrlimit(resource.RLIMIT_FSIZE, (orders["largest_file"], resource.RLIM_INFINITY))
    if orders["target"]:
        arm(orders["target"], orders["when"], orders["nth"], orders["only"])
    os.write(1, b"started\n")
    VERBS[orders["verb"]](Path(orders["home"]))


def arm(target: str, when: str, nth: int, only: str) -> None:
    """Wrap what a point names, so that this process is killed by its nth call."""
    module, _, path = target.partition(":")
    owner: Any = importlib.import_module(module)
    *owners, name = path.split(".")
    for step in owners:
        owner = getattr(owner, step)
    original = getattr(owner, name)
    calls = itertools.count(1)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        paths = " ".join(str(value) for value in args if isinstance(value, Path))
        if only not in paths or next(calls) != nth:
            return original(*args, **kwargs)
        if when == "before":
            die()
        if when == "torn":
            path, data = args[:2]
            unfinished = kwargs.get("unfinished") or path.with_name(f".{path.name}{UNFINISHED}")
            unfinished.write_bytes(data[: len(data) // 2])
            die()
        result = original(*args, **kwargs)
        if isinstance(result, Iterator):  # Half of what it would have given is taken before death.
            return itertools.chain(itertools.islice(result, 5), iter(die, None))
        die()

    setattr(owner, name, wrapped)


def die() -> NoReturn:
    """End this process as nothing can catch, with whatever its other threads are at."""
    os.kill(os.getpid(), signal.SIGKILL)
    while True:
        time.sleep(1)


def _say(note: str) -> None:
    os.write(1, f"{note}\n".encode())


def _by_owner(*steps: str) -> Callable[[Path], None]:
    """Return what the owner of a home does, by the names of its methods."""

    def act(home: Path) -> None:
        from memtape.tools.keep.owner import Owner

        with Owner(Home(home), EmbeddedLog(Home(home).log_path), _say) as owner:
            for step in steps:
                getattr(owner, step)(*((lambda *_: None,) if step == "rebuild" else ()))

    return act


def _by_client(ask: Callable[[Any], object]) -> Callable[[Path], None]:
    """Return what a client of a home asks of it."""

    def act(home: Path) -> None:
        from memtape.tools.client import Client

        with Client(home, scope="project:a") as client:
            ask(client)

    return act


def _erase(client: Any) -> None:
    from memtape.tools.keep.erasing import plan

    made = plan(client.home, client.log, client.scope, [make_id(f"canary {it}") for it in range(3)], only=False)
    made.take_carriers()
    client.erase(made)


VERBS: dict[str, Callable[[Path], None]] = {
    "erase": _by_client(_erase),
    "project": _by_owner("project"),
    "serve": _by_owner("serve"),
    "rebuild": _by_owner("rebuild"),
    "search": _by_client(lambda client: client.search("port staging")),
    "ask the past": _by_client(lambda client: client.status(as_of=past_of(client.log))),
}


def past_of(log: Any) -> str:
    """Return the position at which the past is asked: the same while the log grows, so that a cached view is used."""
    return ",".join(f"{number}:{min(end, 9)}" for number, end in enumerate(log.ends()))


# The parent


class Kill(NamedTuple):
    """One try: `ended` says whether the child was killed, came to its end, or failed."""

    point: Point
    nth: int
    ended: str
    said: str

    def __str__(self) -> str:
        where = f" (call {self.nth})" if self.point.target or self.point.system_call else ""
        return f"{self.point.name}{where}: {self.ended}"


@dataclass
class Life:
    """What was done to one home, what was wrong at its end (empty where all came right), and which files were left.

    A temporary file that outlived its writer changes nothing that a view says, so it is counted by itself.
    """

    number: int
    kills: list[Kill] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def killed(self) -> int:
        """How many projectors were really killed; the others came to their ends before their points."""
        return sum(kill.ended == "killed" for kill in self.kills)


class Harness:
    """Plays lives. Everything but the timing follows from `seed`."""

    def __init__(self, folder: Path, seed: int, points: tuple[Point, ...] = POINTS) -> None:
        self.folder = folder
        self.seed = seed
        usable = [point for point in points if not point.system_call or find_strace()[0]]
        self._points = [point for cycle in range(1_000) for point in self._shuffled(usable, cycle)]
        self._spare: subprocess.Popen[bytes] | None = None
        self.met: list[Event] = []  # Of all lives: what stood on their logs.

    def live(self, number: int, kills: int = KILLS_A_LIFE) -> Life:
        """Play one life: append, kill, and so on; then one undisturbed run, compared with an undisturbed home."""
        rng = random.Random(f"{self.seed}/{number}")
        life = Life(number)
        home = Home(self.folder / f"life{number}")
        log = EmbeddedLog(home.log_path)
        events = iter(history(10_000, rng.randrange(2**32)))
        disturbed = False
        append(log, events, sum(DECK.values()), rng)  # So that each life has events of every type.
        for point in self._points[number * kills : (number + 1) * kills]:
            if rng.random() < 0.7:
                append(log, events, rng.randint(1, 40), rng)
            if point.verb == "ask the past" or (point.first and not disturbed):
                project(home, log)
            if point.first:
                DISTURBANCES[point.first](home, log, rng)
                disturbed = True
            kill = self._kill(home, log, events, point, rng)
            life.kills.append(kill)
            if kill.ended not in ("killed", "came to its end"):
                life.wrong.append(f"{kill}\n{kill.said[:4_000]}")
        if rng.random() < 0.5:
            append(log, events, rng.randint(1, 30), rng)
        self.met += events_of(log)
        life.wrong += self._judge(home, log)
        life.left = leftovers(home)
        log.close()
        if not life.wrong:
            shutil.rmtree(home.path)
        return life

    def close(self) -> None:
        """End the child that waits for a next time."""
        if self._spare is not None:
            self._spare.kill()
            self._spare.communicate()
            self._spare = None

    def _kill(self, home: Home, log: EmbeddedLog, events: Iterator[Event], point: Point, rng: random.Random) -> Kill:
        nth = min(rng.randint(1, point.most), rng.randint(1, point.most))  # The early calls are more often reached.
        delay = rng.uniform(0, RANDOM_DELAY_S)
        process = self.child()
        tracer = None
        if point.system_call:
            nth = int(2 ** rng.uniform(0, 6))
            tracer = attach(process.pid, point.system_call, f"signal=SIGKILL:when={nth}")
        order(process, home, point.verb, target=point.target, when=point.when, nth=nth, only=point.only)
        self.prepare()
        end = time.monotonic() + (SERVED_S if point.verb == "serve" else CHILD_TIMEOUT_S)
        if not point.target and not point.system_call:
            end = time.monotonic() + delay
        while process.poll() is None and time.monotonic() < end:
            time.sleep(min(0.05, max(0.0, end - time.monotonic())))
            if point.verb == "serve" and rng.random() < 0.2:
                append(log, events, rng.randint(1, 10), rng)
        hung = process.poll() is None and point.verb != "serve" and bool(point.target or point.system_call)
        process.kill()
        said = process.communicate()[0].decode(errors="replace")
        if tracer is not None:
            tracer.wait(CHILD_TIMEOUT_S)
        ended = {-signal.SIGKILL: "killed", 0: "came to its end"}.get(
            process.returncode, f"failed {process.returncode}"
        )
        return Kill(point, nth, "hung" if hung else ended, said)

    def prepare(self) -> None:
        """Start the next child, which imports what it needs while another works."""
        self._spare = self._spare or start_child()

    def child(self) -> subprocess.Popen[bytes]:
        """Return a child that has imported what it needs and waits for its orders."""
        process, self._spare = self._spare or start_child(), None
        assert process.stdout is not None
        line = process.stdout.readline()
        if line != b"ready\n":
            said = (line + process.communicate()[0]).decode(errors="replace")
            raise RuntimeError(f"The child could not begin and ended with {process.returncode}: {said}")
        return process

    def _judge(self, home: Home, log: EmbeddedLog) -> Iterator[str]:
        """Yield a sentence for whatever differs from a home over the same log that nothing ever happened to."""
        from memtape.tools.keep.verify import verify

        try:
            project(home, log)
            verdict = verify(home, log)
        except Exception as error:  # Whatever it is, a clean run should not have it, and the next life goes on.
            yield f"The clean run failed: {type(error).__name__}: {error}"
            return
        found = everything(home, log)
        log.close()  # Only then is all of it in the one file that is copied.
        other = Home(home.path.with_name(f"{home.path.name}-undisturbed"))
        shutil.copy(home.log_path, other.log_path)
        other_log = EmbeddedLog(other.log_path)
        project(other, other_log)
        expected_verdict, expected = verify(other, other_log), everything(other, other_log)
        other_log.close()
        shutil.rmtree(other.path)
        for difference in verdict.differences[:10]:
            yield f"verify: {difference.what}: {difference.view} {difference.scope} {difference.id}"
        if verdict.state_hash != expected_verdict.state_hash:
            yield f"The state hash is {verdict.state_hash}, undisturbed {expected_verdict.state_hash}."
        for name in sorted(found.keys() | expected.keys()):
            if found.get(name) != expected.get(name):
                yield f"{name}: {_short(found.get(name))}, undisturbed {_short(expected.get(name))}"

    def _shuffled(self, points: list[Point], cycle: int) -> list[Point]:
        return random.Random(f"{self.seed}/points/{cycle}").sample(points, len(points))


def start_child() -> subprocess.Popen[bytes]:
    """Start a child; it says `ready` when it has imported what it needs."""
    return subprocess.Popen(
        [sys.executable, str(Path(__file__)), "--child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1", "RUST_BACKTRACE": "0", "MEMTAPE_EMBEDDER": "floor"},
    )


def order(process: subprocess.Popen[bytes], home: Home, verb: str, **more: Any) -> None:
    """Tell a waiting child what to do, and by `more` where it dies, as `arm` takes it.

    `largest_file` is how many bytes the kernel lets it make a file long.
    """
    orders = {"home": str(home.path), "verb": verb, "largest_file": None, "target": "", **more}
    assert process.stdin is not None
    process.stdin.write(json.dumps(orders).encode() + b"\n")


@cache
def find_strace() -> tuple[str, str]:
    """Return where strace is, and why it cannot be used: one of the two is empty."""
    path = shutil.which("strace")
    if path is None:
        return "", "strace is not installed: apt-get install strace"
    command = [path, "-f", "-e", "inject=getppid:error=EIO", sys.executable, "-c", "import os; os.getppid()"]
    tried = subprocess.run(command, capture_output=True, text=True)
    works = tried.returncode == 0 and "INJECTED" in tried.stderr
    return (path, "") if works else ("", f"strace cannot trace here: {tried.stderr.strip()[-200:]}")


def attach(pid: int, system_call: str, effect: str, output: str = os.devnull) -> subprocess.Popen[bytes]:
    """Have strace do something (`signal=SIGKILL:when=3`) to a waiting process, in a thread's third call of a kind."""
    inject = f"inject={system_call}:{effect}"
    command = ["strace", "-f", "-qq", "-y", "-e", f"trace={system_call}", "-e", inject, "-o", output, "-p", str(pid)]
    tracer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    threads = Path(f"/proc/{pid}/task")
    while tracer.poll() is None:
        states = [(thread / "status").read_text() for thread in threads.iterdir()]
        if not any("TracerPid:\t0\n" in state for state in states):
            break
        time.sleep(0.005)
    return tracer


def history(count: int, seed: int) -> Iterator[Event]:
    """Yield events of every type, in which scopes interleave, texts repeat, and things are hidden, shown and erased.

    Those that name others name what is there, what is hidden or gone, and what never came. Ticks are the log's own.
    """
    facts: dict[str, dict[str, int]] = {}
    seqs: dict[str, dict[str, int]] = {}
    for said in _history(count, seed, facts):
        if said.scope is not None:
            known = seqs.setdefault(said.scope, {})
            seq = known.setdefault(said.id, len(known))
            if isinstance(said.body, Captured) and said.body.kind == "fact":
                facts.setdefault(said.scope, {}).setdefault(said.id, seq)
        yield said


def _decided(seed: int, number: int, facts: dict[str, int], rng: random.Random, common: Any) -> Iterator[Event]:
    """What is decided about two facts as they were said, of which one may have changed, and now and then its text."""
    inputs = tuple(Input(id=id, seq=facts[id]) for id in rng.sample(list(facts), min(2, len(facts))))
    if len(inputs) < 2:
        yield event(
            "decided", Decided(attempt=1, inputs=(), operations=(), reason=None, until=number), number, **common
        )
        return
    ids = tuple(given.id for given in inputs)
    text = make_id(f"{seed}-{number}-made")
    operation = Operation(by=text, ids=ids, op="replace")
    if rng.random() < 0.4:
        operation = Operation(by=ids[0], ids=ids[1:], op=rng.choice(("remove", "conflict")))
    body = Decided(attempt=1, inputs=inputs, operations=(operation,), reason=None, until=None)
    said = event("decided", body, f"{seed}-{number}", **common)
    yield msgspec.structs.replace(said, refs=ids)
    if operation.op == "replace" and rng.random() < 0.9:
        made = captured(f"made of two {number}", f"{seed}-{number}-made", "fact", **common)
        yield msgspec.structs.replace(made, refs=(said.id, *ids))


def _history(count: int, seed: int, facts: dict[str, dict[str, int]]) -> Iterator[Event]:
    rng = random.Random(seed)
    words = "port staging database redis anna deploys never on tuesday 8080 8081 the".split()
    vectors = ([4000, 0, 0], [3900, 800, 0], [3900, 0, 800], [0, 4000, 0])
    deck: list[str] = []
    pages: list[object] = ["_root"]
    for number in range(count):
        scope, name = rng.choice(SCOPES), f"{seed}-{number}"
        sent = START + number * 10 * 60_000_000  # So that days end, and texts age.
        common: dict[str, Any] = {"scope": scope, "sent": sent, "session": rng.choice("12")}
        common["origin"] = "operator" if scope == "global" else rng.choice(("user", "agent"))
        earlier: list[object] = [f"{seed}-{rng.randrange(number + 1)}" for _ in range(3)]
        deck = deck or rng.sample(list(DECK), sum(DECK.values()), counts=list(DECK.values()))
        match deck.pop():
            case "captured":
                kind = rng.choice(("fact", "fact", "turn", "turn", "journal", "goal", "document", "page"))
                path = rng.choice(SLUGS) if kind == "page" else None
                text = " ".join(rng.choices(words, k=rng.randint(1, 4)))
                yield captured(text, name, kind, path=path, **common)
                if kind == "page":
                    pages.append(name)
                    yield page_link("_root", "child", f"{name} below", slug=path, **common)
            case "recalled":
                yield recalled(earlier, name, looks=rng.choice(((), (earlier[:1], earlier[1:]))), **common)
            case "used":
                yield used(earlier, name, f"{seed}-{number - 1}", **common)
            case "forgotten" | "restored" | "unfolded" as type:
                yield NAMING[type](earlier, name, **common)
            case "pinned" | "archived" | "withdrawn" as type:
                yield SWITCHING[type](earlier, name, rng.random() < 0.7, **common)
            case "linked":
                relation = rng.choice(("holds", "replaced_by"))
                to = earlier[1] if relation == "replaced_by" else None
                yield linked(earlier[0], relation, to, name, rng.random() < 0.7, **common)
            case "edited":
                given = ({"slug": rng.choice(SLUGS)}, {"title": "Title"}, {"by": rng.choice(pages[1:] or [0])})
                yield edited(rng.choice(pages), name, **rng.choice(given), **common)
            case "settled":
                yield settled((earlier[0], f"{name} and none"), [earlier[0]], name, **common)
            case "scope_changed":
                yield scope_changed(name, state=rng.choice(("active", "finished", None)), git_at=sent, **common)
            case "decided":
                yield from _decided(seed, number, facts.get(scope, {}), rng, common)
            case "erased":
                yield erased(earlier[:1], name, **common)
            case "configured":
                aging = rng.choice(({}, QUICK, QUICK))
                anew = Settings(embedder=rng.choice((TINY, TINY, "floor")), refolded=rng.choice((0, number)), **aging)
                yield configured(anew, number + 1, sent=sent)
            case "embedded":
                yield embedded(earlier[0], rng.choice(vectors), scope=scope, sent=sent)
            case _:
                yield failed(earlier[0], rng.randint(1, 3), scope=scope, sent=sent)


def append(log: EmbeddedLog, events: Iterator[Event], count: int, rng: random.Random) -> None:
    """Append the next events, now and then some of them twice, and something that nobody can read."""
    batch = [_of_log(log, event) for event in itertools.islice(events, count)]
    log.append(batch)
    if rng.random() < 0.2:
        log.append(rng.choices(batch, k=2))
    if rng.random() < 0.2:
        log.append_raw(rng.randrange(log.partitions), [rng.randbytes(20)])


def _of_log(log: EmbeddedLog, event: Event) -> Event:
    if not isinstance(event.body, Configured):
        return event
    body = msgspec.structs.replace(event.body, log_id=log.log_id, partitions=log.partitions)
    return msgspec.structs.replace(event, body=body)


def project(home: Home, log: EmbeddedLog) -> list[str]:
    """Bring the views up to date in this process, undisturbed, and return what was said on the way."""
    from memtape.tools.keep.owner import Owner

    notes: list[str] = []
    with Owner(home, log, notes.append) as owner:
        owner.check()
        owner.project()
    return notes


def everything(home: Home, log: EmbeddedLog) -> dict[str, object]:
    """Return what a home has to say for itself, by name: files of the vault, watermarks, dead letters, the past."""
    from memtape.schemas.rows import TABLES
    from memtape.sinks.tables import Shard
    from memtape.tools.ask.as_of import PastViews, parse_position

    past = PastViews(home, log, parse_position(past_of(log), log, 0))
    found: dict[str, object] = {}
    for path in home.vault.rglob("*"):
        if path.is_file() and not TEMPORARY.search(path.name):
            found[f"vault/{path.relative_to(home.vault).as_posix()}"] = path.read_bytes()
    for number in range(log.partitions):
        shard = Shard(home.current().shard(number), number)
        if shard.exists():
            found[f"watermark {number}"] = shard.watermark()
            found[f"dead letters {number}"] = shard.dead_letters(1_000)
        before = past.shard(number)
        for table in TABLES:
            found[f"past {table} {number}"] = before.all_rows(table) if before.exists() else []
    return found


def leftovers(home: Home) -> list[str]:
    """Return the temporary files that outlived who wrote them."""
    return sorted(str(path.relative_to(home.path)) for path in home.path.rglob("*") if TEMPORARY.search(path.name)
                  and path.is_file())  # fmt: skip


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 300 else f"{text[:300]}…"


# What a home may meet with before a start


def _damage_snapshots(home: Home, log: EmbeddedLog, rng: random.Random) -> None:
    for path in home.current().state.rglob("*.snapshot"):
        path.write_bytes(path.read_bytes()[: rng.randrange(200)])
    log.append([captured(f"after damage {rng.random()}", scope=scope) for scope in SCOPES[:3]])


def _make_views_under_other_rules(home: Home, log: EmbeddedLog, rng: random.Random) -> None:
    from memtape.state.core.digests import RULES

    rules = dict(RULES)
    RULES[rng.choice(("memories", "usage", "edges", "tombstones"))] = rng.randint(1_000, 10_000)
    try:
        project(home, log)
    finally:
        RULES.update(rules)


def _shards(home: Home) -> list[Path]:
    return sorted((home.current().path / "lance").glob("p*"))


DISTURBANCES: dict[str, Callable[[Home, EmbeddedLog, random.Random], object]] = {
    "a lost vault": lambda home, log, rng: shutil.rmtree(home.vault, ignore_errors=True),
    "a lost shard": lambda home, log, rng: shutil.rmtree(rng.choice(_shards(home))),
    "a damaged watermark": lambda home, log, rng: (rng.choice(_shards(home)) / WATERMARK).write_bytes(b""),
    "damaged snapshots": _damage_snapshots,
    "other rules": _make_views_under_other_rules,
}


# The command


def play(
    harness: Harness, kills: int, on_life: Callable[[Life], None] = lambda life: None, only: Sequence[int] = ()
) -> list[Life]:
    """Play the lives of these numbers, by default until so many projectors have been killed."""
    lives: list[Life] = []
    try:
        for number in only or itertools.count():
            lives.append(harness.live(number, min(kills, KILLS_A_LIFE)))
            on_life(lives[-1])
            if not only and sum(life.killed for life in lives) >= kills:
                break
    finally:
        harness.close()
    return lives


def report(life: Life, seed: int, point: str = "") -> str:
    """Return what happened in a life that went wrong, and how to play it again."""
    again = f"python tests/crash.py --seed {seed} --kills {len(life.kills)} --life {life.number}"
    again += f" --point {shlex.quote(point)}" if point else ""
    lines = [*map(str, life.kills), *(f"-> {wrong}" for wrong in life.wrong), f"Repeat it with: {again}"]
    return f"Life {life.number} went wrong:\n  " + "\n  ".join(lines)


def main() -> int:
    """Play lives as the options say, print a table, and return 1 if one went wrong."""
    parser = argparse.ArgumentParser(description="Kill projectors and see that what they leave comes right.")
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--life", type=int, action="append", help="play only this life; may be repeated")
    parser.add_argument("--point", default="", help="only points with this in their names")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child()
        return 0
    folder = Path(tempfile.mkdtemp(prefix="memtape-crash-"))
    chosen = tuple(point for point in POINTS if options.point in point.name)
    print(f"seed {options.seed}, in {folder}", flush=True)
    harness = Harness(folder, options.seed, chosen)
    started = time.monotonic()

    def on_life(life: Life) -> None:
        print(f"life {life.number}: {life.killed} killed, {'wrong' if life.wrong else 'right'}", flush=True)
        if life.wrong:
            print(report(life, options.seed, options.point), flush=True)

    lives = play(harness, options.kills, on_life, options.life or ())
    kills, left = sum(life.killed for life in lives), [path for life in lives for path in life.left]
    wrong = sum(bool(life.wrong) for life in lives)
    print(f"{kills} kills in {len(lives)} lives, {wrong} went wrong, {time.monotonic() - started:.0f} s")
    if left:
        print(f"{len(left)} temporary files outlived who wrote them, such as {left[0]}.")
    print(f"Repeat all with: python tests/crash.py --kills {options.kills} --seed {options.seed}")
    return 1 if wrong or left else 0


if __name__ == "__main__":
    sys.exit(main())
