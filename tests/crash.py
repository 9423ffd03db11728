"""The crash harness: real projectors are killed with SIGKILL, and what they leave must come right by itself.

`python tests/crash.py --kills 300` plays as many lives of a home as that takes. In each life some projectors
are killed in a row, at named points, at random times or system calls; between them events are appended. Then
one undisturbed run must give what a home that was never disturbed has over the same log: a sound `verify`,
one state hash, the vault byte for byte, watermarks and dead letters, and no file that nobody owns.

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

import builders as b  # noqa: E402
from met import events_of  # noqa: E402
from tables import table  # noqa: E402

from memtape.flows import projection, views  # noqa: E402
from memtape.schemas.events import Captured, Configured, Decided, Event, Input, Operation  # noqa: E402
from memtape.schemas.rows import TABLES  # noqa: E402
from memtape.schemas.settings import Settings  # noqa: E402
from memtape.sinks import row_tables  # noqa: E402
from memtape.sinks.home.files import UNFINISHED  # noqa: E402
from memtape.sinks.home.folders import Home  # noqa: E402
from memtape.sinks.logs.embedded import EmbeddedLog  # noqa: E402
from memtape.sinks.tables import WATERMARK, Shard  # noqa: E402
from memtape.state.core.digests import RULES  # noqa: E402
from memtape.tools.client import Client  # noqa: E402
from memtape.tools.keep.erasing import plan  # noqa: E402
from memtape.tools.keep.owner import Owner  # noqa: E402
from memtape.tools.keep.verify import verify  # noqa: E402
from memtape.tools.query.as_of import PastViews, parse_position  # noqa: E402

SCOPES = ("project:a", "project:b", "project:c", "global")
Rng = random.Random
KILLS_A_LIFE = 5
CHILD_TIMEOUT_S = 300.0
SERVED_S = 2.5
"""How long a projector that serves is left alive when it does not come by the point at which it is to die."""
RANDOM_DELAY_S = 1.2
TEMPORARY = re.compile(rf"^\..*{re.escape(UNFINISHED)}\Z")
"""What is written whole and then renamed has this name until then."""

DECK = {"captured": 47, "recalled": 7, "used": 5, "forgotten": 4, "restored": 4, "unfolded": 3, "pinned": 2,
        "withdrawn": 2, "archived": 2, "scope_changed": 1, "decided": 3, "linked": 2, "settled": 1,
        "edited": 2, "erased": 1, "configured": 2, "embedded": 15, "failed": 2}  # fmt: skip
"""How often what happens in a hundred events of a history."""

SYSTEM_CALLS = "mkdir openat write rename renameat linkat unlink unlinkat rmdir pwrite64 fsync".split()
SYSTEM_CALLS += ("fdatasync", "ftruncate")
"""What Python, SQLite and LanceDB change files with."""


# Points


class Point(NamedTuple):
    """A projector dies `before` or `after` the `nth` call (of `most`) of `target`, or at half a file.

    A `target` is `module:attribute`; `only` is a part of a path that the call must be given. Without a target
    it is a random time, or with `system_call` a random call. `first` says what is wrong with the home before.
    """

    name: str
    verb: str = "project"
    target: str = ""
    when: str = "before"
    most: int = 1
    only: str = ""
    first: str = ""
    system_call: str = ""


def _points() -> Iterator[Point]:
    """Yield the points of the table, and those at random anywhere at all."""
    for row in table("crash-points")["points"]:
        name = row.pop("around", None)
        each = [{"name": f"{when} {name}", "when": when} for when in ("before", "after")] if name else [{}]
        yield from (Point(**row, **more) for more in each)
    for verb in ("project", "project", "serve", "serve", "rebuild", "ask the past"):
        yield Point(f"at a random time of `{verb}`", verb)
    for verb, call in itertools.product(("project", "rebuild"), SYSTEM_CALLS):
        yield Point(f"at a random `{call}` of `{verb}`", verb, system_call=call)


POINTS = tuple(_points())


# The child


def child() -> None:
    """Import everything, wait for one line of JSON that says what to do, and do it until the end or death."""
    for module in ("lance", "bytewax", "memtape.tools.query.retrieval"):
        importlib.import_module(module)
    # A small history has many batches, snapshots and clean-ups.
    projection.SNAPSHOT_EVENTS = 12
    views.BATCH_EVENTS = 9
    row_tables.MOST_SMALL = 3
    row_tables.KEEP_VERSIONS = timedelta(milliseconds=1)
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


def _by_owner(*steps: str) -> Callable[[Path], None]:
    """Return what the owner of a home does, by the names of its methods."""

    def act(home: Path) -> None:
        with Owner(Home(home), EmbeddedLog(Home(home).log_path), lambda it: print(it, flush=True)) as owner:
            for step in steps:
                getattr(owner, step)()

    return act


def _by_client(ask: Callable[[Any], object]) -> Callable[[Path], None]:
    """Return what a client of a home asks of it."""

    def act(home: Path) -> None:
        with Client(home, scope="project:a") as client:
            ask(client)

    return act


def _erase(client: Any) -> None:
    canaries = [b.make_id(f"canary {it}") for it in range(3)]
    made = plan(client.home, client.log, client.scope, canaries, only=False)
    made.take_carriers(client.log)
    client.erase(made)


VERBS: dict[str, Callable[[Path], None]] = {"erase": _by_client(_erase), "project": _by_owner("project"),
    "serve": _by_owner("serve"), "rebuild": _by_owner("rebuild"),
    "search": _by_client(lambda client: client.search("port staging")),
    "ask the past": _by_client(lambda client: client.status(as_of=past_of(client.log)))}  # fmt: skip


def past_of(log: Any) -> str:
    """Return the position at which the past is asked: the same while the log grows, for a cached view."""
    return ",".join(f"{number}/{min(end, 9)}" for number, end in enumerate(log.ends()))


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
    """What was done to one home, what was wrong at its end, and which files outlived their writers."""

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
        decks = (random.Random(f"{seed}/points/{n}").sample(usable, len(usable)) for n in range(1_000))
        self._points = list(itertools.chain(*decks))
        self._spare: subprocess.Popen[bytes] | None = None
        self.met: list[Event] = []  # Of all lives: what stood on their logs.

    def live(self, number: int, kills: int = KILLS_A_LIFE) -> Life:
        """Play one life: append, kill, and so on; then an undisturbed run, compared with such a home."""
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
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.kill()
            spare.communicate()

    def _kill(self, home: Home, log: EmbeddedLog, events: Iterator[Event], point: Point, rng: Rng) -> Kill:
        nth = min(rng.randint(1, point.most) for _ in range(2))  # The early calls are more often reached.
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
        ends = {-signal.SIGKILL: "killed", 0: "came to its end"}
        ended = ends.get(process.returncode, f"failed {process.returncode}")
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
        """Yield a sentence for whatever differs from a home over the same log that nobody disturbed."""
        try:
            project(home, log)
            verdict = verify(home, log)
        except Exception as error:  # A clean run should have none, and the next life goes on.
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


def start_child() -> subprocess.Popen[bytes]:
    """Start a child; it says `ready` when it has imported what it needs."""
    own = {"PYTHONFAULTHANDLER": "1", "RUST_BACKTRACE": "0", "MEMTAPE_EMBEDDER": "floor"}
    return subprocess.Popen(
        [sys.executable, __file__, "--child"], env=os.environ | own | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
    )  # fmt: skip


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
    """Have strace do something (`signal=SIGKILL:when=3`) to a waiting process, at a thread's third call."""
    effects = ("-e", f"trace={system_call}", "-e", f"inject={system_call}:{effect}")
    command = ["strace", "-f", "-qq", "-y", *effects, "-o", output, "-p", str(pid)]
    tracer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    threads = Path(f"/proc/{pid}/task")
    while tracer.poll() is None:
        states = [(thread / "status").read_text() for thread in threads.iterdir()]
        if not any("TracerPid:\t0\n" in state for state in states):
            break
        time.sleep(0.005)
    return tracer


def history(count: int, seed: int) -> Iterator[Event]:
    """Yield events of every type: scopes interleave, texts repeat, and things are hidden, shown and erased.

    They name what is there, what is hidden or gone, and what never came. Ticks are the log's own.
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


def _decided(seed: int, number: int, facts: dict[str, int], rng: Rng, common: Any) -> Iterator[Event]:
    """What is decided about two facts as they were said, of which one may have changed; perhaps its text."""
    inputs = tuple(Input(id=id, seq=facts[id]) for id in rng.sample(list(facts), min(2, len(facts))))
    if len(inputs) < 2:
        ended = Decided(attempt=1, inputs=(), operations=(), reason=None, until=number)
        yield b.event("decided", ended, number, **common)
        return
    ids = tuple(given.id for given in inputs)
    text = b.make_id(f"{seed}-{number}-made")
    operation = Operation(by=text, ids=ids, op="replace")
    if rng.random() < 0.4:
        operation = Operation(by=ids[0], ids=ids[1:], op=rng.choice(("remove", "conflict", "outdate")))
    body = Decided(attempt=1, inputs=inputs, operations=(operation,), reason=None, until=None)
    said = b.event("decided", body, f"{seed}-{number}", **common)
    yield msgspec.structs.replace(said, refs=ids)
    if operation.op == "replace" and rng.random() < 0.9:
        made = b.captured(f"made of two {number}", f"{seed}-{number}-made", "fact", **common)
        yield msgspec.structs.replace(made, refs=(said.id, *ids))


def _history(count: int, seed: int, facts: dict[str, dict[str, int]]) -> Iterator[Event]:
    rng = random.Random(seed)
    words = "port staging database redis anna deploys never on tuesday 8080 8081 the".split()
    vectors = ([2000, 0, 0], [1950, 400, 0], [1950, 0, 400], [0, 2000, 0])
    deck: list[str] = []
    pages: list[object] = ["_root"]
    for number in range(count):
        scope, name = rng.choice(SCOPES), f"{seed}-{number}"
        sent = b.START + number * 10 * 60_000_000  # So that days end, and texts age.
        common: dict[str, Any] = {"scope": scope, "sent": sent, "session": rng.choice("12")}
        common["origin"] = "operator" if scope == "global" else rng.choice(("user", "agent"))
        earlier: list[object] = [f"{seed}-{rng.randrange(number + 1)}" for _ in range(3)]
        deck = deck or rng.sample(list(DECK), sum(DECK.values()), counts=list(DECK.values()))
        match deck.pop():
            case "captured":
                kind = rng.choice(("fact", "fact", "turn", "turn", "journal", "goal", "document", "page"))
                path = rng.choice(b.SLUGS) if kind == "page" else None
                text = " ".join(rng.choices(words, k=rng.randint(1, 4)))
                yield b.captured(text, name, kind, path=path, **common)
                if kind == "page":
                    pages.append(name)
                    yield b.page_link("_root", "child", f"{name} below", slug=path, **common)
            case "recalled":
                yield b.recalled(earlier, name, looks=rng.choice(((), (earlier[:1], earlier[1:]))), **common)
            case "used":
                yield b.used(earlier, name, f"{seed}-{number - 1}", **common)
            case "forgotten" | "restored" | "unfolded" as type:
                yield b.NAMING[type](earlier, name, **common)
            case "pinned" | "archived" | "withdrawn" as type:
                yield b.SWITCHING[type](earlier, name, rng.random() < 0.7, **common)
            case "linked":
                relation = rng.choice(("holds", "replaced_by"))
                to = earlier[1] if relation == "replaced_by" else None
                yield b.linked(earlier[0], relation, to, name, rng.random() < 0.7, **common)
            case "edited":
                by = rng.choice(pages[1:] or [0])
                given = rng.choice(({"slug": rng.choice(b.SLUGS)}, {"title": "Title"}, {"by": by}))
                yield b.edited(rng.choice(pages), name, **given, **common)
            case "settled":
                yield b.settled((earlier[0], f"{name} and none"), [earlier[0]], name, **common)
            case "scope_changed":
                state = rng.choice(("active", "finished", None))
                yield b.scope_changed(name, state=state, git_at=sent, **common)
            case "decided":
                yield from _decided(seed, number, facts.get(scope, {}), rng, common)
            case "erased":
                yield b.erased(earlier[:1], name, **common)
            case "configured":
                anew: dict[str, Any] = {"refolded": rng.choice((0, number))}
                anew |= rng.choice(({}, b.QUICK, b.QUICK))
                settings = Settings(embedder=rng.choice((b.TINY, b.TINY, "floor")), **anew)
                yield b.configured(settings, number + 1, sent=sent)
            case "embedded":
                yield b.embedded(earlier[0], rng.choice(vectors), scope=scope, sent=sent)
            case _:
                yield b.failed(earlier[0], rng.randint(1, 3), scope=scope, sent=sent)


def append(log: EmbeddedLog, events: Iterator[Event], count: int, rng: Rng) -> None:
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
    notes: list[str] = []
    with Owner(home, log, notes.append) as owner:
        owner.check()
        owner.project()
    return notes


def everything(home: Home, log: EmbeddedLog) -> dict[str, object]:
    """Return what a home says, by name: files of the vault, watermarks, dead letters, the past."""
    past = PastViews(home, log, parse_position(past_of(log), log, 0))
    found: dict[str, object] = {}
    for path in home.vault.rglob("*"):
        if path.is_file() and not TEMPORARY.search(path.name):
            found[f"vault/{path.relative_to(home.vault).as_posix()}"] = path.read_bytes()
    for number in range(log.partitions):
        shard = Shard(home.current().shard(number), number)
        if shard.exists():
            found[f"watermark {number}"] = shard.watermark()
        before = past.shard(number)
        for name in TABLES:
            found[f"past {name} {number}"] = before.rows(TABLES[name]) if before.exists() else []
    return found


def leftovers(home: Home) -> list[str]:
    """Return the temporary files that outlived who wrote them."""
    found = (path for path in home.path.rglob("*") if TEMPORARY.search(path.name) and path.is_file())
    return sorted(str(path.relative_to(home.path)) for path in found)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 300 else f"{text[:300]}…"


# What a home may meet with before a start


def _damage_snapshots(home: Home, log: EmbeddedLog, rng: Rng) -> None:
    for path in home.current().state.rglob("*.snapshot"):
        path.write_bytes(path.read_bytes()[: rng.randrange(200)])
    log.append([b.captured(f"after damage {rng.random()}", scope=scope) for scope in SCOPES[:3]])


def _make_views_under_other_rules(home: Home, log: EmbeddedLog, rng: Rng) -> None:
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
    harness: Harness, kills: int, on_life: Callable[[Life], object] = bool, only: Sequence[int] = ()
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
    return "\n  ".join([f"Life {life.number} went wrong:", *lines])


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
