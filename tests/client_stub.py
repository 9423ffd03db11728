"""Writes `tools/client.pyi`, by which editors and type checkers know the methods of the client (`make docs`).

A method's arguments are the fields of what its verb asks. Its docstring is the verb's summary and details,
without paragraphs on the command line.
"""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, Union, get_args, get_origin

from memtape.state.views.filters import FILTERS
from memtape.tools.table import METHODS, VERBS
from memtape.tools.verb import Verb, VerbField, python_fields

ROOT = Path(__file__).resolve().parent.parent
CLIENT, STUB = ROOT / "tools/client.py", ROOT / "tools/client.pyi"
HEAD = '"""The methods of the client, made from the table of verbs by `make docs`."""\n'
MAX_CHARS = 110


def stub() -> str:
    """Return the text of the stub."""
    tree = ast.parse(CLIENT.read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    imports = [line for node in tree.body for line in _imports_in(node)]
    imports += ["from datetime import datetime", "from typing import Literal, TypedDict"]
    for name in METHODS.values():
        imports += _imports_of(sys.modules[VERBS[name].run.__module__])
    own = _signatures(classes["Client"])
    asked, *_ = own
    _, *awaited = _signatures(classes["AsyncClient"])
    made = [_method(method, VERBS[name]) for method, name in METHODS.items()]
    search = python_fields(VERBS["search"].asks)
    filters = [f"{name}: {_type(VERBS['search'], search[name])}" for name in FILTERS]
    functions = [
        _signature_of(it) for it in tree.body if isinstance(it, ast.FunctionDef) and it.name == "tables"
    ]
    return "\n".join(
        [
            f"{HEAD}\n",
            *dict.fromkeys(imports),
            *_class("Filters(TypedDict, total=False)", filters),
            *_class("Client(World)", (_doc(classes["Client"]), *own, *made)),
            *_class(
                "AsyncClient",
                (_doc(classes["AsyncClient"]), asked, *awaited, *(f"async {text}" for text in made)),
            ),
            *functions,
        ]
    )


def _class(head: str, parts: Iterable[str]) -> Iterator[str]:
    yield f"class {head}:"
    yield from (textwrap.indent(text, "    ") for text in parts)


def _signatures(node: ast.ClassDef) -> list[str]:
    """Return the signatures of a class, without those that are private."""
    functions = (it for it in node.body if isinstance(it, ast.FunctionDef | ast.AsyncFunctionDef))
    return [_signature_of(it) for it in functions if not it.name.startswith("_") or it.name.endswith("__")]


def _imports_in(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.If):
        return [line for inner in node.body for line in _imports_in(inner)]
    return [ast.unparse(node)] if isinstance(node, ast.ImportFrom | ast.Import) else []


def _imports_of(module: ModuleType) -> list[str]:
    """Return the imports of a verb's file, and the names that it defines itself."""
    tree = ast.parse(inspect.getsource(module))
    found = [line for node in tree.body for line in _imports_in(node)]
    defined = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    named = [
        node.targets[0].id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    return [
        *found,
        *(
            f"from {module.__name__} import {name}"
            for name in (*defined, *named)
            if name[0].isupper() and not name.isupper()
        ),
    ]


def _doc(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    told = ast.get_docstring(node) or ""
    return f'"""{told}\n"""' if "\n" in told else f'"""{told}"""'


def _signature_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    told = _doc(node) if ast.get_docstring(node) else "..."
    begun = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return f"{begun} {node.name}({ast.unparse(node.args)}){returns}:\n{textwrap.indent(told, '    ')}"


def _method(method: str, verb: Verb) -> str:
    fields = [*python_fields(verb.asks).values()]
    words = [field for field in fields if field.required]
    rest = [field for field in fields if not field.required]
    given = ["self", *(f"{field.name}: {_type(verb, field)}" for field in words)]
    given += [f"{field.name}: {_type(verb, field)} = {field.default!r}" for field in rest]
    result = verb.run.__annotations__["return"]
    told = "\n".join(f"{field.name}: {field.help}" for field in fields if field.help)
    doc = textwrap.indent(
        "\n\n".join(filter(None, (f'"""{verb.doc.summary}', *_details(verb), told))), "    "
    )
    doc += '"""' if "\n" not in doc else '\n    """'
    return f"def {method}({', '.join(given)}) -> {result}:\n{doc}"


def _details(verb: Verb) -> Iterator[str]:
    """Yield the paragraphs of a verb's docstring after its summary, without those on the command line."""
    _, *rest = inspect.cleandoc(verb.run.__doc__ or "").split("\n\n")
    for paragraph in rest:
        if not any(word in paragraph for word in ("memtape ", "--", "stdin")):
            yield textwrap.fill(" ".join(paragraph.split()), MAX_CHARS - 8)


def _type(verb: Verb, field: VerbField) -> str:
    """Return the type of a field without its marks, as Python takes it."""
    owner = next(base for base in verb.asks.__mro__ if field.name in vars(base).get("__annotations__", {}))
    written = ast.parse(owner.__annotations__[field.name], mode="eval").body
    told = _bare(written, vars(sys.modules[owner.__module__]))
    told = told.replace("tuple[", "Sequence[").replace(", ...]", "]")
    return told.replace("str", "str | datetime | int") if field.extra.get("time") else told


def _bare(node: ast.expr, names: dict[str, object]) -> str:
    """Return an annotation without `Annotated`, also where that has a name."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if node.value.id == "Annotated":
            return _bare(inner[0], names)
        if node.value.id != "Literal":
            return f"{node.value.id}[{', '.join(_bare(each, names) for each in inner)}]"
    if isinstance(node, ast.BinOp):
        return f"{_bare(node.left, names)} | {_bare(node.right, names)}"
    alias = names.get(node.id) if isinstance(node, ast.Name) else None
    return _told(alias) if hasattr(alias, "__metadata__") else ast.unparse(node)


def _told(kind: Any) -> str:
    """Return a type without marks, as it is written."""
    arguments = get_args(kind)
    if hasattr(kind, "__metadata__"):
        return _told(arguments[0])
    if get_origin(kind) in (Union, UnionType):
        return " | ".join(map(_told, arguments))
    if get_origin(kind) is tuple:
        return f"tuple[{_told(arguments[0])}, ...]"
    return "None" if kind is type(None) else str(kind.__name__)


def written() -> str:
    """Return the stub as it is written: in order, and formatted."""
    text = stub()
    for way in (["check", "--fix", "--quiet", "--ignore", "E501"], ["format", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *way, "--stdin-filename", str(STUB), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    STUB.write_text(written())
    print(STUB)
