"""What every test shares: how hard hypothesis tries, which tests come first, and how a soak is cut short."""

import atexit
import os
import random
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import forking
import pytest
from hypothesis import HealthCheck, settings
from kafka_broker import kafka  # noqa: F401  (a fixture: one broker for all tests that ask for one)

from memtape.tools.agents import hooks

# No deadline anywhere, and no health check by the clock: a loaded machine is not a wrong answer. Every run
# draws the same examples and remembers none of an earlier run, so that a failure is a failure of the change.
# Two soaks alone draw new examples: `soak` for some minutes, and `nightly` for a night.
PATIENT: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
FIXED = PATIENT | {"derandomize": True, "database": None, "print_blob": True}
settings.register_profile("fixed", max_examples=20, **FIXED)
settings.register_profile("soak", max_examples=200, **PATIENT)
settings.register_profile("nightly", max_examples=5_000, **PATIENT)
# No test writes to a log that whoever runs it works with.
os.environ.pop("MEMTAPE_LOG", None)
# What tests compile is kept: most of the time of a process that starts in an instant is the compiling.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Nor does any load a model or ask an endpoint that happens to be there; those of embedders choose their own.
os.environ["MEMTAPE_EMBEDDER"] = "floor"
# Nor does any hook leave a server behind; those of such servers ask for one.
os.environ["MEMTAPE_HOOKS"] = "alone"
# Nor is any that is started from a run in the background deaf to interrupts, as such a run itself is.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "fixed")
# A hook that is called in the process of its test neither ends that process where it is late, nor lowers its
# priority.
hooks.WAIT_S = hooks.START_WAIT_S = 120.0
os.nice = lambda increment: 0


MEMORY, ROOM_BYTES = Path("/dev/shm"), 4 * 1024**3


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--draw", type=int, metavar="N", help="Run one case each of N tests, drawn anew.")
    parser.addoption("--draw-seed", type=int, metavar="SEED", help="Draw what the run with this seed drew.")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose once where the files of tests stand, and the seed: processes of xdist take both over."""
    if hasattr(config, "workerinput"):
        config.option.draw_seed = config.workerinput["draw_seed"]
        return
    if config.option.draw and config.option.draw_seed is None:
        config.option.draw_seed = random.randrange(10**6)
    # Tests write through to the disk thousands of times, which proves nothing that a kill would not prove.
    if not config.option.basetemp and config.option.markexpr != "soak" and has_room(MEMORY):
        place = tempfile.mkdtemp(prefix="", dir=MEMORY)  # Paths of sockets must be short.
        config.option.basetemp = Path(place)
        atexit.register(free, place, os.getpid())


def has_room(folder: Path) -> bool:
    """Whether the files of all tests have room in a folder, and programs among them run there."""
    if not os.access(folder, os.W_OK):
        return False
    return shutil.disk_usage(folder).free >= ROOM_BYTES and not os.statvfs(folder).f_flag & os.ST_NOEXEC


def free(place: str, pid: int) -> None:
    """Delete a folder at the end of the process that made it; `--basetemp` names one that stays."""
    if os.getpid() == pid:
        shutil.rmtree(place, ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of xdist the seed."""
    node.workerinput["draw_seed"] = node.config.option.draw_seed


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say how the same tests are drawn again."""
    draw, seed = config.option.draw, config.option.draw_seed
    return [f"repeat with --draw {draw} --draw-seed {seed}"] if draw else []


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put slow tests last, so that most mistakes show within seconds; otherwise the order stays as it was."""
    asking = [item.nodeid for item in items if "kafka" in getattr(item, "fixturenames", ())]
    astray = [nodeid for nodeid in asking if not is_of_kafka(nodeid)]
    assert not astray, f"{astray} need `kafka` in their names."
    items.sort(key=is_slow)
    if hasattr(config, "workerinput"):  # Files are not shared out further: the long ones come first.
        weights: Counter[str] = Counter()
        for item in items:
            weights[scope_of(item.nodeid)] += 1 + 30 * is_slow(item)
        items.sort(key=lambda item: (-weights[scope_of(item.nodeid)], item.path))
    if config.option.draw:
        drawn = draw(items, config.option.draw, random.Random(config.option.draw_seed))
        config.hook.pytest_deselected(items=[item for item in items if item not in drawn])
        items[:] = [item for item in items if item in drawn]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share out whole files, and what needs Kafka to one process, so that one broker starts for all."""
    from xdist.scheduler import LoadFileScheduling

    class FilesScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    return FilesScheduling(config, log) if config.option.dist == "loadfile" else None


def scope_of(nodeid: str) -> str:
    """Return what of the tests is run by one process: those of a file without a broker, or all with one."""
    return "kafka" if is_of_kafka(nodeid) else nodeid.partition("::")[0]


def is_of_kafka(nodeid: str) -> bool:
    """Whether a test may ask for a broker, as the name of its file, class or function says."""
    return "kafka" in nodeid.partition("[")[0].lower()


def is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


def draw(items: list[pytest.Item], count: int, rng: random.Random) -> list[pytest.Item]:
    """Return one case each of so many tests."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return [rng.choice(cases[test]) for test in rng.sample(list(cases), min(count, len(cases)))]


@pytest.fixture(autouse=True, scope="session")
def nothing_serving() -> Iterator[None]:
    """What serves commands to tests ends with them."""
    yield
    forking.end()


@pytest.fixture(autouse=True)
def seeded(request: pytest.FixtureRequest) -> None:
    """In `make test` each test draws the same seeds at every run; a soak draws new ones."""
    if request.config.option.markexpr == "not soak":
        random.seed(request.node.nodeid)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where a home can be made; nothing is there yet."""
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that an agent works in, outside git."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder
