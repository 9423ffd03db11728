"""What is installed is whole, also from a checkout that has no symbolic links.

Windows and some file systems check the links in `memtape/` out as small text files. setuptools' own lists
decide what is built: a wheel, an sdist and an editable install are made from such a checkout and compared
with what git holds. Only what is committed is tested.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("schemas", "state", "flows", "sinks", "tools")

IS_CLONE = (ROOT / ".git").exists()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not IS_CLONE, reason="this tree is no git checkout")]

# Import every room, and tell where each came from: no copy elsewhere may stand in for a missing one.
IMPORT_ROOMS = f"""
import importlib
for room in {ROOMS}:
    print(importlib.import_module("memtape." + room).__file__)
"""


def run(*command: object, cwd: Path, **variables: str) -> str:
    """Run a command as a fresh shell would and return what it printed; a failure shows its output."""
    # Inside a git hook these variables point at the repository that is being committed to.
    environment = {name: it for name, it in os.environ.items() if not name.startswith(("GIT_", "PYTHON"))}
    how: dict[str, Any] = {"env": environment | variables, "stdin": subprocess.DEVNULL}
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, **how)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout of HEAD without symbolic links."""
    path = tmp_path_factory.mktemp("packaging") / "clone"
    run("git", "-c", "core.symlinks=false", "clone", "--quiet", ROOT, path, cwd=path.parent)
    assert all((path / "memtape" / room).is_file() for room in ROOMS), "the links are links after all"
    return path


@pytest.fixture(scope="module")
def wheel(clone: Path) -> Path:
    """Return the wheel that is built straight from the checkout."""
    folder = clone.parent / "wheel"
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, cwd=clone)
    return next(folder.glob("*.whl"))


def committed(clone: Path) -> set[str]:
    """Return what git holds of the package and its rooms, by their names in a wheel, without notes."""
    paths = run("git", "ls-files", "-z", "memtape", *ROOMS, cwd=clone).split("\0")
    links = {f"memtape/{room}" for room in ROOMS}
    named = {path if path.startswith("memtape/") else f"memtape/{path}" for path in paths if path}
    return {name for name in named - links if name.endswith("/skill.md") or not name.endswith(".md")}


def packed(wheel: Path) -> set[str]:
    """Return the package's files in a wheel."""
    return {name for name in ZipFile(wheel).namelist() if name.startswith("memtape/")}


def test_the_wheel_holds_every_file(clone: Path, wheel: Path) -> None:
    assert committed(clone) - packed(wheel) == set(), "name the missing files under packages or package-data"
    assert packed(wheel) - committed(clone) == set(), "the wheel holds what git does not"


@pytest.mark.soak(short="test_the_wheel_holds_every_file")
def test_a_wheel_from_the_sdist_is_the_same(clone: Path, wheel: Path) -> None:
    # Without --wheel, build makes the sdist and then the wheel from that.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", clone.parent / "both", cwd=clone)
    assert packed(next((clone.parent / "both").glob("*.whl"))) == packed(wheel)


def test_each_room_imports_from_an_editable_install(clone: Path, tmp_path: Path) -> None:
    hook = "import sys, setuptools.build_meta as backend; backend.build_editable(sys.argv[1])"
    run(sys.executable, "-c", hook, tmp_path, cwd=clone)
    ZipFile(next(tmp_path.glob("*.whl"))).extractall(tmp_path)
    # Python runs without `site` and is handed the libraries itself: it sees no other editable install.
    code = f"import site, sys; site.addsitedir({str(tmp_path)!r})"
    code += f"; sys.path.append({sysconfig.get_path('purelib')!r})"
    places = run(sys.executable, "-S", "-c", code + IMPORT_ROOMS, cwd=tmp_path).split("\n")[:-1]
    assert places == [str(clone / room / "__init__.py") for room in ROOMS]
