"""A module of functions as read from its text, without running it: names, parameters, types.

In: a file. Out: a module that has the decorated functions and classes, with the types that the text spells out, and bodies that do nothing. Of the
text only expressions of types are evaluated: names, constants, ``DataTypes.X(..)``, subscripts, and imports of modules that declare types.
"""

from __future__ import annotations

import ast
import builtins
import types
from typing import TYPE_CHECKING, Any

from sqlstream import udf
from sqlstream.udf import api
from sqlstream.udf.data_types import DataTypes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# What may be imported: nothing of the project's.
_MODULES = (
    "collections", "collections.abc", "dataclasses", "datetime", "decimal", "typing", "sqlstream.udf",
)  # fmt: skip
_PYFLINK = ("pyflink.table", "pyflink.table.udf", "pyflink.table.types", "pyflink.table.data_view", "pyflink.common", "pyflink.common.types")
_DECORATORS = (api.udf, api.udtf, api.udaf, api.udtaf)
_BUILTINS = (
    "str", "int", "float", "bool", "bytes", "list", "dict", "tuple", "set", "object", "None", "True", "False", "__build_class__", "__import__",
    "staticmethod", "classmethod", "Exception",
)  # fmt: skip
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def outline(path: Path) -> types.ModuleType:
    """The module ``path`` as it is declared. Raises SyntaxError, UnicodeDecodeError, OSError."""
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    vars(module)["__builtins__"] = {name: getattr(builtins, name) for name in _BUILTINS if hasattr(builtins, name)}
    tree = ast.parse(path.read_text("utf-8"), str(path))
    for node in _statements(tree.body):
        made = _Outline(vars(module)).statement(node)
        if made is None:
            continue
        code = compile(ast.fix_missing_locations(ast.Module([made], [])), str(path), "exec")
        try:
            exec(code, vars(module))
        except Exception:  # what is not known without running more: the name stays unknown
            continue
    del vars(module)["__builtins__"]
    return module


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from _statements([*node.body, *(s for h in node.handlers for s in h.body)])
        else:
            yield node


class _Outline:
    """What is kept of statements, in a module that knows ``names`` so far."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def statement(self, node: ast.stmt) -> ast.stmt | None:
        match node:
            case ast.Import(names=imported) if all(n.name in _MODULES for n in imported):
                return node
            case ast.ImportFrom(module=str() as module, level=0) if module in _MODULES:
                return node
            case ast.ImportFrom(module=str() as module, names=imported, level=0) if module in _PYFLINK:
                # Ours has the same names, whether pyflink is there or not.
                kept = [n for n in imported if hasattr(udf, n.name)]
                return ast.copy_location(ast.ImportFrom("sqlstream.udf", kept, 0), node) if kept else None
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self.function(node, [self.decorator(d) for d in node.decorator_list])
            case ast.ClassDef():
                return self.class_(node)
            case ast.Assign(value=value) if (known := self.value(value)) is not None:
                return ast.copy_location(ast.Assign(node.targets, known), node)
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value) if (known := self.value(value)) is not None:
                return ast.copy_location(ast.Assign([target], known), node)
        return None

    # --- what is known of a value -------------------------------------------------------------------------------------

    def known(self, node: ast.expr) -> Any:
        """The value of an expression of types. Raises what its evaluation raises, ValueError for any other expression."""
        if not self._plain(node):
            raise ValueError
        return eval(compile(ast.fix_missing_locations(ast.Expression(node)), "<types>", "eval"), self.names)

    def _plain(self, node: ast.AST) -> bool:
        match node:
            case ast.Constant() | ast.Name() | ast.Load() | ast.BitOr() | ast.USub():
                return True
            case ast.Attribute(attr=attr, value=value):
                return not attr.startswith("_") and self._plain(value)
            case ast.Call(func=function):
                return self._declares_type(function) and all(map(self._plain, [*node.args, *(k.value for k in node.keywords)]))
            case ast.BinOp(op=ast.BitOr()) | ast.UnaryOp(op=ast.USub()) | ast.Subscript() | ast.Tuple() | ast.List():
                return all(map(self._plain, ast.iter_child_nodes(node)))
        return False

    def _declares_type(self, function: ast.expr) -> bool:
        """Whether a call is one of ``DataTypes``."""
        return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name | ast.Attribute) and self._is(function.value, (DataTypes,))

    def _is(self, node: ast.expr, values: Sequence[Any]) -> bool:
        try:
            return any(self.known(node) is v for v in values)
        except Exception:
            return False

    def value(self, node: ast.expr) -> ast.expr | None:
        """An assigned value as far as it is of types: ``udf(..)``, a type, an object of a class of functions."""
        if isinstance(node, ast.Call) and self._is(node.func, _DECORATORS):
            return self.declaring(node)
        try:
            self.known(node)
        except Exception:
            return None
        return node

    def declaring(self, node: ast.Call) -> ast.Call:
        """``udf(function, result_type=..)`` with what is known in it."""
        keywords = [ast.keyword(k.arg, self._function(k.value)) if k.arg == "f" else k for k in node.keywords if k.arg == "f" or self._known(k.value)]
        args = [*map(self._function, node.args[:1]), *(a if self._known(a) else ast.Constant(None) for a in node.args[1:])]
        return ast.copy_location(ast.Call(node.func, args, keywords), node)

    def _known(self, node: ast.expr) -> bool:
        try:
            self.known(node)
        except Exception:
            return False
        return True

    def _function(self, node: ast.expr) -> ast.expr:
        """What is declared: a function or an object whose class is known; else one that accepts anything."""
        match node:
            case ast.Lambda(args=arguments):
                return ast.copy_location(ast.Lambda(self.arguments(arguments), ast.Constant(None)), node)
            case ast.Call(func=ast.Name() as name) if isinstance(self.names.get(name.id), type):
                return ast.copy_location(ast.Call(name, [], []), node)
            case ast.Name() if self._known(node):
                return node
        anything = ast.arguments(posonlyargs=[], args=[], vararg=ast.arg("args"), kwonlyargs=[], kw_defaults=[], defaults=[])
        return ast.copy_location(ast.Lambda(anything, ast.Constant(None)), node)

    # --- functions and classes ----------------------------------------------------------------------------------------

    def decorator(self, node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.Call) and self._is(node.func, _DECORATORS):
            return self.declaring(node)
        return node if self._is(node, (*_DECORATORS, staticmethod, classmethod, self._dataclass())) else None

    @staticmethod
    def _dataclass() -> Any:
        import dataclasses

        return dataclasses.dataclass

    def function(self, node: _Function, decorators: Sequence[ast.expr | None]) -> _Function:
        """A function that has the parameters of ``node``, its types and its text, and does nothing."""
        text = ast.get_docstring(node, clean=False)
        body: list[ast.stmt] = [] if text is None else [ast.Expr(ast.Constant(text))]
        if any(isinstance(n, ast.Yield | ast.YieldFrom) for s in node.body for n in ast.walk(s)):
            body.append(ast.Expr(ast.Yield(None)))
        last = node.body[-1]
        if isinstance(last, ast.Return) and last.value is not None and self._known(last.value):
            body.append(ast.Return(last.value))
        made = type(node)(
            name=node.name, args=self.arguments(node.args), body=body or [ast.Pass()], decorator_list=[d for d in decorators if d is not None],
            returns=self.annotation(node.returns),
        )  # fmt: skip
        return ast.copy_location(made, node)

    def class_(self, node: ast.ClassDef) -> ast.ClassDef:
        body: list[ast.stmt] = []
        for member in node.body:
            if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) and member.name != "__init__":
                body.append(self.function(member, [self.decorator(d) for d in member.decorator_list]))
            elif isinstance(member, ast.AnnAssign) and (annotation := self.annotation(member.annotation)) is not None:
                body.append(ast.copy_location(ast.AnnAssign(member.target, annotation, None, member.simple), member))
        text = ast.get_docstring(node, clean=False)
        body = [*([] if text is None else [ast.Expr(ast.Constant(text))]), *(body or [ast.Pass()])]
        decorators = [d for d in map(self.decorator, node.decorator_list) if d is not None]
        made = ast.ClassDef(node.name, [b for b in node.bases if self._known(b)], [], body, decorators)
        return ast.copy_location(made, node)

    def arguments(self, source: ast.arguments) -> ast.arguments:
        def plain(argument: ast.arg) -> ast.arg:
            return ast.copy_location(ast.arg(argument.arg, self.annotation(argument.annotation)), argument)

        def default(value: ast.expr | None) -> ast.expr | None:
            return value if value is None or isinstance(value, ast.Constant) else ast.Constant(None)

        return ast.arguments(
            posonlyargs=list(map(plain, source.posonlyargs)), args=list(map(plain, source.args)),
            vararg=plain(source.vararg) if source.vararg else None,
            kwonlyargs=list(map(plain, source.kwonlyargs)), kw_defaults=list(map(default, source.kw_defaults)),
            kwarg=plain(source.kwarg) if source.kwarg else None, defaults=[default(d) or ast.Constant(None) for d in source.defaults],
        )  # fmt: skip

    def annotation(self, node: ast.expr | None) -> ast.expr | None:
        """An annotation without texts, which would be evaluated later; None where it is not known."""
        if node is None:
            return None
        try:
            spelled: ast.expr = _Spelled().visit(ast.parse(ast.unparse(node), mode="eval").body)
            self.known(spelled)
        except Exception:
            return None
        return ast.copy_location(spelled, node)


class _Spelled(ast.NodeTransformer):
    """An annotation with the expressions in the place of their texts."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str):
            return node
        return self.visit(ast.parse(node.value, mode="eval").body)  # type: ignore[no-any-return]
