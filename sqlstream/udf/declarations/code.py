"""What the code of a function says, whatever its layout: by that a changed one is known from the same.

In: the texts of the project's modules. Out: a hash of the definition and of all definitions of these modules that it uses, through however many.
Comments, docstrings and other code of the modules change nothing; neither does another version of Python or of an installed package.
"""

from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlstream.udf.declarations.java import JavaFunction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sqlstream.udf.declarations.functions import PythonFunction

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def codes(functions: Iterable[PythonFunction | JavaFunction]) -> dict[str, str]:
    """The hashes of the code of functions, by their names; without those in Python that are not of the project's modules. In Java any other jar is
    other code.
    """
    found: dict[str, str] = {}
    parsed: dict[str, _Module] = {}
    for function in functions:
        if function.name in found:
            continue
        if isinstance(function, JavaFunction):
            found[function.name] = _hashed([function.implementation, *(jar.name for jar in function.jars)])
            continue
        if not parsed:
            parsed = {name: _Module(text) for name, _, text in function.modules.sources}
        if used := _used((function.found.module, function.found.attribute.partition(".")[0]), parsed):
            found[function.name] = _hashed(sorted(used))
    return dict(sorted(found.items()))


def _hashed(parts: list[str]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class _Module:
    text: str

    @cached_property
    def statements(self) -> Mapping[str, list[ast.stmt]]:
        """Those on the outermost level by the names that they bind."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in ast.parse(self.text).body:
            for name in _bound(statement):
                found.setdefault(name, []).append(statement)
        return found


def _used(first: tuple[str, str], modules: Mapping[str, _Module]) -> set[str]:
    """The definition of a name of a module, with all that it uses, each as text."""
    used: set[str] = set()
    waiting, seen = [first], {first}
    while waiting:
        module, name = waiting.pop()
        if module not in modules:
            continue
        for statement in modules[module].statements.get(name, ()):
            used.add(f"{module}.{name}: {json.dumps(_shape(statement))}")
            for other in _references(statement, module, name, modules):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
    return used


def _references(statement: ast.stmt, module: str, name: str, modules: Mapping[str, _Module]) -> Iterator[tuple[str, str]]:
    """The names of modules that ``statement`` uses."""
    match statement:
        case ast.ImportFrom(module=of, names=imported):
            source = _absolute(module, of or "", statement.level)
            for one in imported:
                if (one.asname or one.name) == name:
                    yield source, one.name
                    yield from _all_of(f"{source}.{one.name}", modules)
        case ast.Import(names=imported):
            for one in imported:
                if (one.asname or one.name.partition(".")[0]) == name:
                    yield from _all_of(one.name, modules)
        case _:
            yield from ((module, node.id) for node in ast.walk(statement) if isinstance(node, ast.Name))


def _all_of(module: str, modules: Mapping[str, _Module]) -> Iterator[tuple[str, str]]:
    """What is imported as a whole may be used as a whole."""
    yield from ((module, name) for name in (modules[module].statements if module in modules else ()))


def _absolute(module: str, of: str, level: int) -> str:
    return of if not level else ".".join([*module.split(".")[:-level], *filter(None, [of])])


def _bound(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names):
            return {one.asname or one.name.partition(".")[0] for one in names}
        case ast.ImportFrom(names=names):
            return {one.asname or one.name for one in names}
    inner = (_bound(node) for node in ast.iter_child_nodes(statement) if isinstance(node, ast.stmt))
    stored = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored.union(*inner)


def _shape(node: Any) -> Any:
    """A tree as JSON, without what is not there, which versions of Python write down differently, and without docstrings."""
    match node:
        case ast.AST():
            fields = {name: _shape(value) for name, value in ast.iter_fields(node) if name not in ("ctx", "kind", "type_comment")}
            if isinstance(node, _DEFINITIONS) and ast.get_docstring(node, clean=False) is not None:
                fields["body"] = fields["body"][1:]
            return [type(node).__name__, {name: value for name, value in fields.items() if value not in (None, [])}]
        case list():
            return [_shape(one) for one in node]
        case None | bool() | int() | float() | str():
            return node
    return repr(node)
