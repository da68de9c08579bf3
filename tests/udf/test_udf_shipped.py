"""Workers of a cluster have a part of this package alone: what it imports is in it."""

from __future__ import annotations

import ast
from pathlib import Path

import sqlstream
from sqlstream.runtime.lower.python_functions import SHIPPED

ROOT = Path(sqlstream.__file__).parent


def imported(file: Path) -> set[str]:
    """The modules of this package that a file imports when it runs: not those that only its types need."""
    names: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(file.read_text("utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.module.partition(".")[0] == "sqlstream":
            names |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
        elif isinstance(node, ast.Import):
            names |= {a.name for a in node.names if a.name.partition(".")[0] == "sqlstream"}
        else:
            waiting += ast.iter_child_nodes(node)
    return names


def test_what_is_shipped_is_whole() -> None:
    files = {file for pattern in SHIPPED for file in ROOT.glob(pattern)}
    assert len(files) > 15
    missing = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in files
        for name in imported(file)
        for path in (ROOT.parent / Path(*name.split(".")),)
        # Else it is a name in a module.
        if any(there.is_file() and there not in files for there in (path.with_suffix(".py"), path / "__init__.py"))
    }
    assert missing == set()
