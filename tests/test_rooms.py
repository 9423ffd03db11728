"""The rooms keep their places: who may import whom, and what a pure room may not touch.

The rules are read from the source with `ast`, so they hold for code that no test runs. Each rule is a
function from a parsed file to complaints, and is shown at the end of this file to find what it is there to
find.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TypeGuard

import pytest
from tables import table

from memtape.state.core.digests import rules_version

ROOT = Path(__file__).resolve().parent.parent
TOLD = table("rooms")
THIRD_PARTY_OF_STATE, FLOATS_ALLOWED = TOLD["third_party_of_state"], TOLD["floats_allowed"]

# Imports go one way: schemas <- state <- flows, sinks <- tools.
MAY_IMPORT = {
    "schemas": {"schemas"},
    "state": {"schemas", "state"},
    "flows": {"schemas", "state", "flows"},
    "sinks": {"schemas", "state", "sinks"},
    "tools": {"schemas", "state", "flows", "sinks", "tools"},
}
ROOMS = list(MAY_IMPORT)

PLACES_OF_TOOLS = TOLD["places_of_tools"]

# What is said is plain data: nothing in `schemas` reads or writes anything, or finds out what time it is.
SCHEMAS_MAY_NOT = {*TOLD["schemas_may_not"]}

# The one file of the pure room that reads a file, which ships with it and whose digest is a part of
# `rules_version`.
READS_ITS_DATA = "state/text/lexicon.py"

# The room that must be pure names what it may import instead, since the list of what is impure has no end. A
# module belongs here if its answers depend on its arguments alone: no clock, randomness, files, environment
# or threads.
STATE_MAY = {*TOLD["state_may"], *THIRD_PARTY_OF_STATE}

# What `math` does in integers alone; the rest of it gives floats, whose last bits differ from machine to
# machine.
EXACT_MATHS = {"comb", "factorial", "gcd", "isqrt", "lcm", "perm"}

# Builtins that reach outside, or whose answer is another one in the next process (`hash` of a text, `id`).
IMPURE_BUILTINS = {"__import__", "breakpoint", "eval", "exec", "hash", "id", "input", "open", "print"}

# What may be handed a walk over a set, since its answer is the same in any order; and what passes the order
# on.
ORDER_BLIND = {"all", "any", "frozenset", "len", "set", "sorted", "sum"}
ORDER_SEEING = {"dict", "enumerate", "fromkeys", "iter", "join", "list", "map", "tuple", "zip"}


Rule = Callable[[ast.Module], Iterator[str]]


def files_of(*rooms: str) -> list[str]:
    """Return the Python files of rooms, as paths from the root."""
    return sorted(path.relative_to(ROOT).as_posix() for room in rooms for path in (ROOT / room).rglob("*.py"))


@cache
def parse(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), path)


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of every import at any depth; relative imports keep their leading dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            # `from memtape import state` names a room in its last part.
            names = [f"memtape.{alias.name}" for alias in node.names] if module == "memtape" else [module]
            yield from ((node.lineno, name) for name in names)


def wrong_direction(tree: ast.Module, room: str) -> Iterator[str]:
    """Complain of imports within the project that go the wrong way or are spelled otherwise than in full."""
    for line, name in imported(tree):
        top, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if name.startswith(".") or top in MAY_IMPORT:
            yield f"line {line}: {name} must be spelled memtape.<room>"
        elif name in ("memtape.__version__", "memtape.STARTED_NS"):
            continue
        elif top == "memtape" and target not in MAY_IMPORT[room]:
            yield f"line {line}: {room} may not import {name}"


def does_io(tree: ast.Module) -> Iterator[str]:
    """Complain of what the room `schemas` may not import."""
    for line, name in imported(tree):
        if name.partition(".")[0] in SCHEMAS_MAY_NOT:
            yield f"line {line}: schemas do no I/O, so they may not import {name}"


def impure(tree: ast.Module) -> Iterator[str]:
    """Complain of imports, builtins and calls by which a pure room would see the world."""
    for line, name in imported(tree):
        if name.partition(".")[0] not in STATE_MAY or name.startswith("numpy.random"):
            yield f"line {line}: {name} is not among the modules that are known to be pure (STATE_MAY)"
    # A file may give these names to its own variables, as `id` often is.
    own = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own |= {node.id for node in named if isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in IMPURE_BUILTINS - own:
            yield f"line {node.lineno}: {node.id} is not pure"
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in {"np.random", "numpy.random"}:
            yield f"line {node.lineno}: {ast.unparse(node)} is not pure"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = len(node.args) + len(node.keywords)
            if node.func.attr in {"now", "today", "utcnow"}:
                yield f"line {node.lineno}: {ast.unparse(node.func)}() reads a clock"
            elif (node.func.attr, given) in {("fromtimestamp", 1), ("astimezone", 0)}:
                yield f"line {node.lineno}: {ast.unparse(node.func)}() without a zone reads the machine's"


def floating(tree: ast.Module) -> Iterator[str]:
    """Complain of floats: numbers that are stored or decide are integers, or go through `decimal`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(alias.name == "math" for alias in node.names):
            yield f"line {node.lineno}: name what is needed of math, so that it can be seen to be exact"
        elif isinstance(node, ast.ImportFrom) and node.module == "math":
            names = {alias.name for alias in node.names} - EXACT_MATHS
            yield from (f"line {node.lineno}: math.{name} gives floats" for name in sorted(names))
        elif isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            yield f"line {node.lineno}: {node.value!r} is a float"


def name_of(node: ast.expr) -> str:
    """Return the last part of a dotted name, or nothing for any other expression."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def is_call_of(node: ast.AST, names: set[str]) -> TypeGuard[ast.Call]:
    """Tell whether a node calls a function or method of one of these names."""
    return isinstance(node, ast.Call) and name_of(node.func) in names


def is_set(node: ast.expr, names: set[str]) -> bool:
    """Tell whether an expression is a set on the face of it, or has a name that is known to be a set's."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd | ast.BitXor | ast.Sub):
        # The algebra of dict keys gives a set, though the keys themselves are in order.
        return any(is_set(side, names) or is_call_of(side, {"keys"}) for side in (node.left, node.right))
    if isinstance(node, ast.IfExp):
        return is_set(node.body, names) or is_set(node.orelse, names)
    makers = {"set", "frozenset", "union", "intersection", "difference", "symmetric_difference"}
    is_made = isinstance(node, ast.Set | ast.SetComp) or is_call_of(node, makers | names)
    return is_made or name_of(node) in names


def names_of_sets(tree: ast.Module) -> set[str]:
    """Return the variables, attributes and functions that this file binds to sets and to nothing else."""
    sets: set[str] = set()
    others: set[str] = set()

    def note(name: str, a_set: bool) -> None:
        (sets if a_set else others).add(name)

    def says_set(annotation: ast.expr | None) -> bool:
        said = "" if annotation is None else ast.unparse(annotation)
        return re.match(r"(frozen)?set\b|\w*Set\b", said) is not None

    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            note(node.arg, says_set(node.annotation))
        elif isinstance(node, ast.FunctionDef):
            note(node.name, says_set(node.returns))
        elif isinstance(node, ast.AnnAssign):
            note(name_of(node.target), says_set(node.annotation))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                note(name_of(target), is_set(node.value, set()))
    return sets - others - {""}


def set_order(tree: ast.Module) -> Iterator[str]:
    """Complain of what would see the order of a set, which is another one in the next process."""
    names = names_of_sets(tree)
    blind = [argument for node in ast.walk(tree) if is_call_of(node, ORDER_BLIND) for argument in node.args]
    for node in ast.walk(tree):
        seen: list[ast.expr] = []
        if isinstance(node, ast.For):
            seen = [node.iter]
        elif isinstance(node, ast.ListComp | ast.DictComp | ast.GeneratorExp) and node not in blind:
            seen = [generator.iter for generator in node.generators]
        elif isinstance(node, ast.Starred) and node not in blind:
            seen = [node.value]
        elif is_call_of(node, ORDER_SEEING):
            seen = node.args
        walked = (it for it in seen if is_set(it, names))
        yield from (f"line {it.lineno}: sort {ast.unparse(it)} before walking it" for it in walked)


def without_docstring(tree: ast.Module) -> Iterator[str]:
    """Complain of a file that does not say what it is for."""
    if not ast.get_docstring(tree):
        yield "the file does not open with a docstring"


def test_every_room_is_there() -> None:
    assert [room for room in ROOMS if not (ROOT / room / "__init__.py").is_file()] == []
    assert not (ROOT / "__init__.py").exists(), "the root is not a package"


def complaints(rule: Rule, paths: Iterable[str]) -> list[str]:
    """Return what a rule complains of in files, each with the path."""
    return [f"{path}: {complaint}" for path in paths for complaint in rule(parse(path))]


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_one_way(room: str) -> None:
    assert complaints(partial(wrong_direction, room=room), files_of(room)) == []


def test_files_open_with_a_docstring() -> None:
    assert complaints(without_docstring, files_of(*ROOMS)) == []


def test_schemas_do_no_io() -> None:
    assert complaints(does_io, files_of("schemas")) == []


def test_state_is_pure() -> None:
    assert complaints(impure, [path for path in files_of("state") if path != READS_ITS_DATA]) == []


def test_the_libraries_by_which_state_decides_are_named_and_no_file_of_one_is_read() -> None:
    found = {name.partition(".")[0] for path in files_of("state") for _, name in imported(parse(path))}
    assert found - sys.stdlib_module_names - {"memtape"} == THIRD_PARTY_OF_STATE.keys()
    finders = {path for path in files_of("state") if "importlib" in (ROOT / path).read_text()}
    assert finders == {READS_ITS_DATA}
    assert (ROOT / READS_ITS_DATA).read_text().count("find_spec(") == 1, "it finds its own package alone"
    assert {"stemmer", "words", "unicode"} <= {rule.partition("=")[0] for rule in rules_version().split(",")}


def test_state_never_sees_the_order_of_a_set() -> None:
    assert complaints(set_order, files_of("state")) == []


def test_state_holds_no_floats() -> None:
    assert complaints(floating, (path for path in files_of("state") if path not in FLOATS_ALLOWED)) == []


@cache
def arrows() -> dict[str, set[str]]:
    """Return which files of the rooms each imports at any depth, by dotted names without the package's."""
    stems = {path: path.removesuffix(".py").removesuffix("/__init__") for path in files_of(*ROOMS)}
    files = {stem.replace("/", "."): path for path, stem in stems.items()}
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        found[name] = set()
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memtape."):
                module = (node.module or "").removeprefix("memtape.")
                named = {f"{module}.{alias.name}" for alias in node.names} & files.keys()
                found[name] |= named or {module}
    return found


def test_there_is_no_circle_of_files() -> None:
    """Not even one that only types or late imports close."""
    left = dict(arrows())
    while ends := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in ends:
            del left[name]
    assert {name: sorted(targets & left.keys()) for name, targets in left.items()} == {}


def test_inside_tools_imports_go_down() -> None:
    """A place may import those that stand before, and its own files."""
    height = {place: number for number, places in enumerate(PLACES_OF_TOOLS) for place in places}
    wrong = []
    for name, targets in arrows().items():
        for target in sorted(targets):
            if name.startswith("tools.") and target.startswith("tools."):
                above, below = name.split(".")[1], target.split(".")[1]
                if above != below and height[above] <= height[below]:
                    wrong.append(f"{name} imports {target}")
    assert wrong == []


def test_every_exception_is_still_needed() -> None:
    assert all((ROOT / path).is_file() and list(floating(parse(path))) for path in FLOATS_ALLOWED)


def loaded_by(code: str) -> set[str]:
    """Return the names of all modules that a fresh Python has loaded after running some code at the root."""
    command = [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')"]
    run = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def test_no_room_is_loaded_by_its_bare_name() -> None:
    rooms = ", ".join(f"memtape.{room}" for room in ROOMS)
    loaded = loaded_by(f"import memtape.tools.doors.cli, {rooms}")
    assert {f"memtape.{room}" for room in ROOMS} <= loaded
    assert loaded & set(ROOMS) == set()


def test_importing_memtape_loads_nothing_else() -> None:
    loaded = loaded_by("import memtape")
    assert {name for name in loaded if name.startswith("memtape.")} == set()
    assert loaded.isdisjoint("bytewax click httpx kafka lance msgspec numpy orjson pyarrow".split())


def shown(how: str) -> Iterator[tuple[Rule, str]]:
    """Yield each rule, or that of a room's imports, with each code by which it is shown."""
    rules = {rule.__name__: rule for rule in (does_io, impure, floating, set_order, without_docstring)}
    for name, codes in TOLD[how].items():
        yield from ((rules.get(name) or partial(wrong_direction, room=name), code) for code in codes)


@pytest.mark.parametrize(("rule", "code"), [*shown("found")])
def test_each_rule_finds_what_it_is_for(rule: Rule, code: str) -> None:
    assert len(list(rule(ast.parse(code)))) == 1


@pytest.mark.parametrize(("rule", "code"), [*shown("fine")])
def test_no_rule_finds_what_is_not_there(rule: Rule, code: str) -> None:
    assert list(rule(ast.parse(code))) == []
