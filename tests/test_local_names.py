"""No local name hides what its module imports or defines: a reader, and an edit, would take one for the other."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import sqlstream

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(sqlstream.__file__).parent
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def of_module(tree: ast.Module) -> set[str]:
    """What a module imports, wherever, and defines."""
    imported = {(a.asname or a.name).partition(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names}
    return imported | {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}


def own(function: ast.AST) -> Iterator[tuple[str, int]]:
    """The names that a function binds: its parameters, what it assigns, catches or matches."""
    assert isinstance(function, FUNCTION)
    given = function.args
    for parameter in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if parameter is not None:
            yield parameter.arg, function.lineno
    waiting: list[ast.AST] = list(function.body) if isinstance(function.body, list) else [function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*FUNCTION, ast.ClassDef)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
            yield node.name, node.lineno
        waiting += ast.iter_child_nodes(node)


def hiding(text: str) -> list[tuple[str, int]]:
    tree = ast.parse(text)
    known = of_module(tree)
    return sorted({(name, line) for node in ast.walk(tree) if isinstance(node, FUNCTION) for name, line in own(node) if name in known})


def test_no_local_name_hides_one_of_the_module() -> None:
    modules = [path for path in ROOT.rglob("*.py") if not path.is_symlink() and "example" not in path.relative_to(ROOT).parts]
    assert len(modules) > 300
    found = [f"{path.relative_to(ROOT)}:{line}: {name}" for path in modules for name, line in hiding(path.read_text("utf-8"))]
    assert found == []


def test_one_that_does_is_found() -> None:
    text = "from a import row, b\ndef f(): pass\ndef g(row): return [f for f in row]\ndef h():\n    try: pass\n    except E as b: pass\n"
    assert hiding(text) == [("b", 6), ("f", 3), ("row", 3)]
    assert hiding("import os\ndef f(x): y = os; return y\n") == []
