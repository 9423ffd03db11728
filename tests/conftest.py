"""What every test shares: how hard hypothesis tries, and that fast tests come first."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from kafka_broker import kafka  # noqa: F401  (a fixture: one broker for the tests of a session that ask for one)

# No deadline anywhere: a loaded machine is not a wrong answer. CI draws the same examples every time, so that a failure
# there is a failure of the change; `nightly` is for a night, and finds new ones.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("nightly", deadline=None, max_examples=5_000, suppress_health_check=[HealthCheck.too_slow])
# No test writes to a log that whoever runs it works with.
os.environ.pop("MEMTAPE_LOG", None)
# Nor does any load a model or ask an endpoint that happens to be there; those of embedders choose their own.
os.environ["MEMTAPE_EMBEDDER"] = "floor"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow tests last, so that most mistakes show within seconds; otherwise the order stays as it was."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


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
